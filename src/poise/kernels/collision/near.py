"""Which pairs of a scene's shapes are near: bounding spheres eight at a time, then distances of the pairs left.

`s` is the problem of a scene, `x` its workspace; x.q (nq) is the configuration.
"""

import functools

import numpy as np

from poise.kernels.algebra.vectors import dot, minus
from poise.kernels.collision.boxes import point_box, segment_box
from poise.kernels.collision.placing import ORIGIN, Z, along_axes, part, place_shapes
from poise.kernels.collision.proximity import signed_distance
from poise.kernels.collision.segments import point_segment, segment_segment
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.lanes import any_of, load, load_pack, packs, pitch, splat, store, store_pack
from poise.kernels.machine.layout import (
    BOX,
    CYLINDER,
    FRAME,
    HALF_SPACE,
    HEIGHTS,
    HULL,
    MEASURE,
    MOST_NEAR,
    NEAR,
    POINT,
    PRISMATIC,
    PROXIMITY,
    SEGMENT,
    WIDTH,
)
from poise.kernels.machine.views import section

FIRST, SECOND, DISTANCE, POINTS, NORMAL = 0, 1, 2, 3, 9
"""Rows of a pair: its shapes' numbers, their distance [m], the nearest point of each, the unit vector from the first to
the second."""


@functools.partial(kernel, inline=True)
def place_movers(s, x):
    """Put the shapes that move where x.q has them."""
    forward(s.units, s.pieces, x.q, x.frames)
    movers = s.scene[0].movers
    place_shapes(s, 0, movers, x.frames, x.proximity.shape_frames)
    _put_centres(s, x, movers)


@kernel
def place_all(s, x):
    """Put all shapes where x.q has them."""
    forward(s.units, s.pieces, x.q, x.frames)
    place_shapes(s, 0, s.scene[0].count, x.frames, x.proximity.shape_frames)
    _put_centres(s, x, s.scene[0].bounded)


@functools.partial(kernel, inline=True)
def _put_centres(s, x, count):
    """x.proximity.centres are the places of so many bounding spheres, x, y and z in a packed row each."""
    row = pitch(x.proximity.centres, s.scene[0].bounded)
    for k in range(count):
        for r in range(3):
            store(x.proximity.centres, r * row + k, load(x.proximity.shape_frames, FRAME * k + r))


@kernel
def looked_at(s, i, j):
    """Whether shapes i and j may meet."""
    return s.ignored[s.chains[i].group * s.scene[0].groups + s.chains[j].group] == 0


@routine
def measure(s, x, i, j):
    """x.proximity.pair (NEAR rows) = the proximity of shapes i and j, whose distance is longer by their ease.

    On entry DISTANCE is the bound below which the distance is asked for.  A routine of its own, for its code is by far
    the longest part of all that measures.
    """
    pair = x.proximity.pair
    store(pair, FIRST, splat(pair, float(i))), store(pair, SECOND, splat(pair, float(j)))
    signed_distance(s.shapes, i, j, s.vertices, x.proximity.shape_frames, x.room, section(pair, DISTANCE, PROXIMITY))
    eased = ease(s, i, j)
    if eased > 0.0:
        store(x.proximity.pair, DISTANCE, load(x.proximity.pair, DISTANCE) + eased)


@kernel
def ease(s, i, j):
    """By how much shapes i and j may come nearer than others [m]; the point behind all shapes by nothing."""
    if len(s.eases) == 0 or max(i, j) == s.scene[0].count:
        return 0.0
    return s.eases[s.chains[i].group * s.scene[0].groups + s.chains[j].group]


@functools.partial(kernel, inline=True)
def distance_between(s, x, i, j, below):
    """Measure shapes i and j into x.proximity.pair; their distance, with their ease [m].

    It may be a large number unless `below` that: what takes a search need not be searched to its end then.
    """
    store(x.proximity.pair, DISTANCE, below)
    call(x.routines[MEASURE], s, x, i, j)
    return load(x.proximity.pair, DISTANCE)


@functools.partial(kernel, inline=True)
def ways_between(x, count, i, c):
    """The vectors from the centre of shape i to those of the eight shapes of pack c, of `count` packs."""
    row = WIDTH * count
    return (
        load_pack(x.proximity.centres, c) - x.proximity.centres[i],
        load_pack(x.proximity.centres, c + count) - x.proximity.centres[row + i],
        load_pack(x.proximity.centres, c + 2 * count) - x.proximity.centres[2 * row + i],
    )


@kernel
def find_near(s, x, margin, ahead):
    """x.proximity.near = the pairs nearer than `margin` [m], with `ahead` than that and what x.proximity.advance lets
    both come.

    Shapes are where they were placed.  With `ahead`, x.proximity.row (nv) is how far each velocity goes at most.  Of
    more than MOST_NEAR pairs the nearest stay.
    """
    movers, bounded = s.scene[0].movers, s.scene[0].bounded
    count = packs(x.proximity.centres, bounded)
    x.proximity.near[0], longest = 0.0, 0.0
    for i in range(movers if ahead else 0):
        longest = max(longest, x.proximity.advance[i])
    for i in range(movers):
        for c in range((i + 1) // WIDTH, count):
            reach = s.shapes[i].bound + margin
            if ahead:
                reach = reach + x.proximity.advance[i] + (longest if WIDTH * c < movers else 0.0)
            way, far = ways_between(x, count, i, c), load_pack(x.proximity.reach, count * i + c) + reach
            square = dot(way, way)
            if any_of((far > 0.0) & (square < far * far)):
                store_pack(x.proximity.squares, count * i + c, square)
                for j in range(max(i + 1, WIDTH * c), min(bounded, WIDTH * (c + 1))):
                    at = WIDTH * count * i + j
                    far_j = x.proximity.reach[at] + reach
                    if far_j > 0.0 and x.proximity.squares[at] < far_j * far_j:
                        _keep_near(s, x, i, j, margin, ahead)
        for j in range(bounded, s.scene[0].count):
            _keep_near(s, x, i, j, margin, ahead)


@kernel
def _keep_near(s, x, i, j, margin, ahead):
    """Note shapes i and j in x.proximity.near if they are near, in place of the farthest where there is no room."""
    if not looked_at(s, i, j):
        return
    # From cheap to dear: spheres, then spheres without the motion that both shapes share, then spines, then distances.
    if ahead:
        approach = x.proximity.advance[i] + (x.proximity.advance[j] if j < s.scene[0].movers else 0.0)
        if not spheres_within(s, x, i, j, margin + approach):
            return
        margin = margin + min(approach, _approach(s, x, i, j))
    if not spheres_within(s, x, i, j, margin) or not may_be_within(s, x, i, j, margin):
        return
    if not distance_between(s, x, i, j, margin) < margin:
        return
    place = np.int64(x.proximity.near[0])
    if place == MOST_NEAR:
        place = 0
        for k in range(1, MOST_NEAR):
            if x.proximity.near[1 + NEAR * k + DISTANCE] > x.proximity.near[1 + NEAR * place + DISTANCE]:
                place = k
        if not x.proximity.pair[DISTANCE] < x.proximity.near[1 + NEAR * place + DISTANCE]:
            return
    else:
        x.proximity.near[0] = place + 1.0
    for r in range(NEAR):
        x.proximity.near[1 + NEAR * place + r] = x.proximity.pair[r]


@kernel
def _approach(s, x, i, j):
    """A bound of how much nearer shapes i and j come [m], without joints that move both; infinite if there are none."""
    shared = shared_columns(s, i, j)
    ways = x.proximity.row
    return max_displacement(s, i, shared, ways) + max_displacement(s, j, shared, ways) if shared > 0 else np.inf


@kernel
def spheres_within(s, x, i, j, margin):
    """Whether the bounding spheres of shapes i and j are nearer than `margin`, in any lane, or one has none."""
    reach = s.shapes[i].bound + s.shapes[j].bound
    if not reach < 1e300:
        return True
    square = splat(x.proximity.shape_frames, 0.0)
    for r in range(3):
        gap = load(x.proximity.shape_frames, FRAME * i + r) - load(x.proximity.shape_frames, FRAME * j + r)
        square = square + gap * gap
    far = reach + margin
    return any_of((far > 0.0) & (square < far * far))


@functools.partial(kernel, inline=True)
def spine_of(shape):
    """Half the length of a shape's spine, a segment along its z axis, and its girth, within which of it all is [m]."""
    long = shape.core == SEGMENT or shape.core == HULL or shape.core == CYLINDER
    return shape.half[2] if long else 0.0, shape.girth


@functools.partial(kernel, inline=True)
def _is_searched(first, second):
    """Whether the distance of two shapes, not two boxes, takes a search: that of a hull, or of a cylinder from a box or
    another cylinder."""
    hull, round_ = first.core == HULL or second.core == HULL, first.core == CYLINDER or second.core == CYLINDER
    return hull or (round_ and min(first.core, second.core) >= BOX)


@kernel
def may_be_within(s, x, i, j, margin):
    """Whether shapes i and j may be nearer than `margin`, where their distance takes a search.

    By the spines of hulls and cylinders; of two boxes by the ball around the smaller one, for beside a wall or a table
    it is small.
    """
    first, second = s.shapes[i], s.shapes[j]
    if first.core == BOX and second.core == BOX:
        if first.bound > second.bound:
            i, j = j, i
        c = along_axes(
            x.proximity.shape_frames,
            j,
            minus(part(x.proximity.shape_frames, i, ORIGIN), part(x.proximity.shape_frames, j, ORIGIN)),
        )
        return point_box(c, s.shapes[j].half)[0] - s.shapes[j].radius < margin + s.shapes[i].bound
    if second.core == HALF_SPACE or second.core >= HEIGHTS or not _is_searched(first, second):
        return True
    if s.shapes[i].core == BOX:
        i, j = j, i
    (h1, g1), (h2, g2) = spine_of(s.shapes[i]), spine_of(s.shapes[j])
    p, z = part(x.proximity.shape_frames, i, ORIGIN), part(x.proximity.shape_frames, i, Z)
    if s.shapes[j].core == BOX:
        c = along_axes(x.proximity.shape_frames, j, minus(p, part(x.proximity.shape_frames, j, ORIGIN)))
        gap = segment_box(c, along_axes(x.proximity.shape_frames, j, z), h1, s.shapes[j].half)[0] - s.shapes[j].radius
        return gap < margin + g1
    if s.shapes[j].core == POINT:
        gap = point_segment(part(x.proximity.shape_frames, j, ORIGIN), p, z, h1)[0]
    elif s.shapes[i].core == POINT:
        gap = point_segment(p, part(x.proximity.shape_frames, j, ORIGIN), part(x.proximity.shape_frames, j, Z), h2)[0]
    else:
        gap = segment_segment(
            p, z, h1, part(x.proximity.shape_frames, j, ORIGIN), part(x.proximity.shape_frames, j, Z), h2
        )[0]
    return gap < margin + g1 + g2


@kernel
def shared_columns(s, i, j):
    """How many of the first columns of the chains of shapes i and j are the same: they move both alike."""
    a, b, count = s.chains[i], s.chains[j], 0
    most = min(a.last_column - a.first_column, b.last_column - b.first_column)
    while count < most and s.columns[a.first_column + count].axis == s.columns[b.first_column + count].axis:
        count += 1
    return count


@kernel
def distance_row(s, x, pair):
    """x.proximity.row (nv) = d distance / dq of a pair (NEAR rows): n . (J_b - J_a), the Jacobians of its two points.

    Columns that both chains share cancel and are left out.
    """
    for v in range(len(x.proximity.row)):
        x.proximity.row[v] = 0.0
    i, j = np.int64(pair[FIRST]), np.int64(pair[SECOND])
    shared = shared_columns(s, i, j)
    _add_columns(s, x, i, shared, pair, POINTS, -1.0)
    _add_columns(s, x, j, shared, pair, POINTS + 3, 1.0)


@kernel
def _add_columns(s, x, i, shared, pair, point, sign):
    """x.proximity.row += sign n . J, J of the point at row `point` of the pair, which belongs to shape i."""
    n0, n1, n2 = sign * pair[NORMAL], sign * pair[NORMAL + 1], sign * pair[NORMAL + 2]
    chain = s.chains[i]
    for k in range(chain.first_column + shared, chain.last_column):
        c = s.columns[k]
        z0, z1, z2 = x.frames[c.axis], x.frames[c.axis + 1], x.frames[c.axis + 2]
        along = z0 * n0 + z1 * n1 + z2 * n2
        rate = along
        if c.kind != PRISMATIC:
            d0, d1, d2 = pair[point] - x.frames[c.place], pair[point + 1] - x.frames[c.place + 1], (
                pair[point + 2] - x.frames[c.place + 2]
            )  # fmt: skip
            rate = n0 * (z1 * d2 - z2 * d1) + n1 * (z2 * d0 - z0 * d2) + n2 * (z0 * d1 - z1 * d0) + c.pitch * along
        x.proximity.row[c.column] = x.proximity.row[c.column] + c.scale * rate


@kernel
def max_displacement(s, i, first, speeds):
    """A bound of how far a point of shape i goes with changes of up to |speeds| (nv), without its first columns [m].

    s.levers are the largest levers in any configuration.
    """
    chain, way = s.chains[i], 0.0
    for k in range(chain.first_column + first, chain.last_column):
        way += abs(speeds[s.columns[k].column]) * s.levers[chain.first_lever + k - chain.first_column]
    return way


@kernel
def sweep(s, x, i, first, ways, rates):
    """`max_displacement` with `ways` (nv) from where x.frames have shape i, and with `rates`, a part of these [m].

    It is tighter: the lever of an axis is no longer than now, plus how far the joints between it and the shape move
    that, which is the `way` summed up so far, from the shape to the root.
    """
    chain, way, rate = s.chains[i], 0.0, 0.0
    lever = chain.first_lever - chain.first_column
    for k in range(chain.last_column - 1, chain.first_column + first - 1, -1):
        c = s.columns[k]
        if ways[c.column] != 0.0:
            arm = s.levers[lever + k]
            if c.kind != PRISMATIC:
                square = 0.0
                for r in range(3):
                    square += (x.proximity.shape_frames[FRAME * i + r] - x.frames[c.place + r]) ** 2
                arm = min(arm, abs(c.scale) * (np.sqrt(square) + s.shapes[i].bound + abs(c.pitch) + way))
            way, rate = way + abs(ways[c.column]) * arm, rate + abs(rates[c.column]) * arm
    return way, rate
