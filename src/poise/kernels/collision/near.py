"""Which shapes of a scene are near: bounding spheres eight at a time, then the distances of the pairs that are left.

`s` is the problem of a scene, `x` its workspace; x.q (nq) is the configuration.
"""

import functools

import numpy as np

from poise.kernels.algebra.vectors import dot, minus, scaled
from poise.kernels.collision.directions import absolute, clamped, smaller
from poise.kernels.collision.placing import ORIGIN, Z, part, place_shapes
from poise.kernels.collision.proximity import signed_distance
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.lanes import any_of, load, load_pack, packs, pitch, select, splat, sqrt, store, store_pack, zeros
from poise.kernels.machine.layout import FRAME, HULL, MEASURE, MOST_NEAR, NEAR, PRISMATIC, PROXIMITY, SEGMENT, WIDTH
from poise.kernels.machine.views import section

FIRST, SECOND, DISTANCE, POINTS, NORMAL = 0, 1, 2, 3, 9
"""Rows of a pair: its shapes' numbers, their distance [m], a point of each, the unit vector from the first on."""

_ROUNDING = 1e-9
"""What bounds of distances leave for the rounding of places [m]."""


@functools.partial(kernel, inline=True)
def place_movers(s, x):
    """Put the shapes that move where x.q has them."""
    forward(s.units, x.q, x.frames)
    movers = s.scene[0].movers
    place_shapes(s, 0, movers, x.frames, x.shape_frames)
    _put_centres(s, x, movers)


@kernel
def place_all(s, x):
    """Put all shapes where x.q has them."""
    forward(s.units, x.q, x.frames)
    place_shapes(s, 0, len(s.shapes), x.frames, x.shape_frames)
    _put_centres(s, x, s.scene[0].bounded)


@functools.partial(kernel, inline=True)
def _put_centres(s, x, count):
    """x.centres are the places of so many bounding spheres, x, y and z in a packed row each."""
    row = pitch(x.centres, s.scene[0].bounded)
    for k in range(count):
        for r in range(3):
            store(x.centres, r * row + k, load(x.shape_frames, FRAME * k + r))


@kernel
def looked_at(s, i, j):
    """Whether shapes i and j may meet."""
    return s.unmet[s.chains[i].group * s.scene[0].groups + s.chains[j].group] == 0


@routine
def measure(s, x, i, j):
    """x.pair is what is known of shapes i and j.

    A routine of its own, for it is by far the longest part of all that measure.
    """
    store(x.pair, FIRST, splat(x.pair, float(i))), store(x.pair, SECOND, splat(x.pair, float(j)))
    signed_distance(s.shapes, i, j, s.vertices, x.shape_frames, x.room, section(x.pair, DISTANCE, PROXIMITY))


@functools.partial(kernel, inline=True)
def distance_between(s, x, i, j):
    """x.pair is what is known of shapes i and j; their distance [m]."""
    call(x.routines[MEASURE], s, x, i, j)
    return load(x.pair, DISTANCE)


@functools.partial(kernel, inline=True)
def _ways(x, count, i, c):
    """From the place of shape i to those of eight more, pack c of `count`."""
    row = WIDTH * count
    return (
        load_pack(x.centres, c) - x.centres[i],
        load_pack(x.centres, c + count) - x.centres[row + i],
        load_pack(x.centres, c + 2 * count) - x.centres[2 * row + i],
    )


@kernel
def find_near(s, x, margin, ahead):
    """x.near are the pairs nearer than `margin` at x.q; `ahead`: than that and what x.advance lets both come [m].

    x.row then is how far each velocity goes at most.
    """
    place_movers(s, x)
    movers, bounded = s.scene[0].movers, s.scene[0].bounded
    count = packs(x.centres, bounded)
    x.near[0], longest = 0.0, 0.0
    for i in range(movers if ahead else 0):
        longest = max(longest, x.advance[i])
    for i in range(movers):
        for c in range((i + 1) // WIDTH, count):
            reach = s.shapes[i].bound + margin
            if ahead:
                reach = reach + x.advance[i] + (longest if WIDTH * c < movers else 0.0)
            way, far = _ways(x, count, i, c), load_pack(x.reach, count * i + c) + reach
            if any_of((far > 0.0) & (dot(way, way) < far * far)):
                for j in range(max(i + 1, WIDTH * c), min(bounded, WIDTH * (c + 1))):
                    _keep_near(s, x, i, j, margin, ahead)
        for j in range(bounded, len(s.shapes)):
            _keep_near(s, x, i, j, margin, ahead)


@kernel
def _keep_near(s, x, i, j, margin, ahead):
    """Note shapes i and j in x.near if they are near, in place of the farthest where there is no room."""
    if not looked_at(s, i, j):
        return
    if ahead:
        margin = margin + _approach(s, x, i, j)
    if not spheres_within(s, x, i, j, margin):
        return
    if not distance_between(s, x, i, j) < margin:
        return
    place = np.int64(x.near[0])
    if place == MOST_NEAR:
        place = 0
        for k in range(1, MOST_NEAR):
            if x.near[1 + NEAR * k + DISTANCE] > x.near[1 + NEAR * place + DISTANCE]:
                place = k
        if not x.pair[DISTANCE] < x.near[1 + NEAR * place + DISTANCE]:
            return
    else:
        x.near[0] = place + 1.0
    for r in range(NEAR):
        x.near[1 + NEAR * place + r] = x.pair[r]


@kernel
def _approach(s, x, i, j):
    """How much nearer to each other shapes i and j come at most [m].

    What moves both alike is left out where it has no limit of speed, as a floating base.
    """
    apart = x.advance[i] + (x.advance[j] if j < s.scene[0].movers else 0.0)
    first = s.chains[i].first_column
    if x.row[s.columns[first].column] < 1e300:
        return apart
    shared = shared_columns(s, i, j)
    return min(apart, travel(s, i, shared, x.row) + travel(s, j, shared, x.row)) if shared > 0 else apart


@kernel
def spheres_within(s, x, i, j, margin):
    """Whether the bounding spheres of shapes i and j are nearer than `margin`, in any lane, or one has none."""
    reach = s.shapes[i].bound + s.shapes[j].bound
    if not reach < 1e300:
        return True
    square = splat(x.shape_frames, 0.0)
    for r in range(3):
        gap = load(x.shape_frames, FRAME * i + r) - load(x.shape_frames, FRAME * j + r)
        square = square + gap * gap
    far = reach + margin
    return any_of((far > 0.0) & (square < far * far))


@kernel
def nearest_pair(s, x):
    """x.near holds one pair: that with the least distance at x.q; which is returned, infinite where no pair may meet.

    One configuration.  The pair that seems to be the nearest is measured first, then those that may be nearer still.
    """
    place_movers(s, x)
    movers, bounded = s.scene[0].movers, s.scene[0].bounded
    count, best = packs(x.centres, bounded), 1e300
    likely = _likely(s, x, count)
    if likely >= 0:
        best = _keep_nearest(s, x, likely // bounded, likely % bounded, best, True)
    for i in range(movers):
        h, outer = _spine(s.shapes[i])
        for c in range((i + 1) // WIDTH, count):
            far = load_pack(x.reach, count * i + c) + (outer + _ROUNDING + best)
            if any_of((far > 0.0) & (load_pack(x.squares, count * i + c) < far * far)):
                for j in range(max(i + 1, WIDTH * c), min(bounded, WIDTH * (c + 1))):
                    at = WIDTH * count * i + j
                    far_j = x.reach[at] + outer + _ROUNDING + best
                    if far_j > 0.0 and x.squares[at] < far_j * far_j and i * bounded + j != likely:
                        kept = x.near[1 + FIRST] * bounded + x.near[1 + SECOND]
                        best = _keep_nearest(s, x, i, j, best, i * bounded + j < kept)
    for i in range(movers):
        for j in range(bounded, len(s.shapes)):
            if looked_at(s, i, j):
                best = _keep_nearest(s, x, i, j, best, False)
    x.near[0] = 1.0 if best < 1e300 else 0.0
    return best


@functools.partial(kernel, inline=True)
def _spine(shape):
    """All of a shape is within a radius of a segment along its z axis: half its length, and that radius [m]."""
    segment = shape.core == SEGMENT
    return shape.half[2] if segment else 0.0, shape.radius if segment else shape.bound


@functools.partial(kernel, inline=True)
def _inner(shape):
    """A point of the shape is so much nearer than its place is, at least [m]: a ball there is part of it.

    The place of a hull may be outside.
    """
    held = shape.radius + min(shape.half[0], min(shape.half[1], shape.half[2]))
    return -shape.bound if shape.core == HULL else held


@functools.partial(kernel, inline=True)
def _likely(s, x, count):
    """The pair that seems to be the nearest, first shape * bounded + second; -1: there is none.

    x.squares are the squared distances from the segments of shapes that move to the places of all with a bounding
    sphere [m^2], in a packed row each.
    """
    least, at = zeros(x.centres) + 1e300, zeros(x.centres) - 1.0
    for i in range(s.scene[0].movers):
        z, (h, outer) = part(x.shape_frames, i, Z), _spine(s.shapes[i])
        for c in range((i + 1) // WIDTH, count):
            way = _ways(x, count, i, c)
            way = minus(way, scaled(clamped(dot(way, z), h), z))
            square, far = dot(way, way), load_pack(x.reach, count * i + c) + outer
            store_pack(x.squares, count * i + c, square)
            power = square - far * absolute(far)
            nearer = power < least
            least, at = select(nearer, power, least), select(nearer, float(count * i + c), at)
    store_pack(x.guess, 0, least), store_pack(x.guess, 1, at)
    best, found = 1e300, -1
    for k in range(WIDTH):
        if x.guess[k] < best:
            place = np.int64(x.guess[WIDTH + k])
            best, found = x.guess[k], place // count * s.scene[0].bounded + place % count * WIDTH + k
    return found


@kernel
def _keep_nearest(s, x, i, j, best, before):
    """Note shapes i and j as the first pair of x.near if they are nearer than `best`, or as near and come `before`.

    The less of both.
    """
    distance = distance_between(s, x, i, j)
    if not (distance < best or (before and distance <= best)):
        return best
    for r in range(NEAR):
        x.near[1 + r] = x.pair[r]
    return distance


@kernel
def nearest_pairs(s, x):
    """`nearest_pair` of eight configurations, one a lane.

    Of the pairs that may be the nearest bounds are told first, then those are measured that may be nearer still.
    """
    place_movers(s, x)
    least = splat(x.pair, 1e300)
    for lane in range(WIDTH):
        i, j = np.int64(x.near[1 + FIRST, lane]), np.int64(x.near[1 + SECOND, lane])
        if i < j:  # they were the nearest before
            _, least = _bounds(s, x, i, j, least)
    count, least = _candidates(s, x, least)
    best = splat(x.pair, 1e300)
    store(x.near, 1 + DISTANCE, best)
    for k in range(count):
        if any_of(load(x.lower, k) <= least):
            best = _keep_nearer(s, x, np.int64(x.candidates[k, 0]), np.int64(x.candidates[k, 1]), best)
            least = smaller(least, best)
    for i in range(s.scene[0].movers):
        for j in range(s.scene[0].bounded, len(s.shapes)):
            if looked_at(s, i, j):
                best = _keep_nearer(s, x, i, j, best)
    return best


@kernel
def _candidates(s, x, least):
    """x.candidates are the pairs that may have the least distance, two numbers a row, x.lower what it is not below.

    How many, and what the least distance is not above, from `least` down.
    """
    count = 0
    for i in range(s.scene[0].movers):
        first, p, reach = count, part(x.shape_frames, i, ORIGIN), least + s.shapes[i].bound
        for j in range(i + 1, s.scene[0].bounded):
            if looked_at(s, i, j):
                way, far = minus(part(x.shape_frames, j, ORIGIN), p), reach + s.shapes[j].bound
                x.candidates[count, 0], x.candidates[count, 1] = float(i), float(j)
                count += 1 if any_of(dot(way, way) < far * far) else 0
        for k in range(first, count):
            lower, least = _bounds(s, x, i, np.int64(x.candidates[k, 1]), least)
            store(x.lower, k, lower)
    return count, least


@functools.partial(kernel, inline=True)
def _bounds(s, x, i, j, least):
    """What the distance of shapes i and j is not below [m], and the less of `least` and what it is not above.

    The way is that from the segment of one, the longer one, to the place of the other.
    """
    if _spine(s.shapes[j])[0] > _spine(s.shapes[i])[0]:
        i, j = j, i
    (h, outer), z = _spine(s.shapes[i]), part(x.shape_frames, i, Z)
    way = minus(part(x.shape_frames, j, ORIGIN), part(x.shape_frames, i, ORIGIN))
    way = minus(way, scaled(clamped(dot(z, way), h), z))
    gap = sqrt(dot(way, way))
    above = gap - (_inner(s.shapes[i]) + _inner(s.shapes[j]) - _ROUNDING)
    return gap - (outer + s.shapes[j].bound), smaller(least, above)


@functools.partial(kernel, inline=True)
def _keep_nearer(s, x, i, j, best):
    """Note shapes i and j as the first pair of x.near in the lanes where they are nearer than `best`; the less."""
    distance = distance_between(s, x, i, j)
    nearer = distance < best
    for r in range(NEAR):
        store(x.near, 1 + r, select(nearer, load(x.pair, r), load(x.near, 1 + r)))
    return select(nearer, distance, best)


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
    """x.row (nv) = how fast each velocity of the model lets the distance of a pair (NEAR rows) grow.

    It is n . (J_b - J_a), J_a and J_b being the Jacobians of the pair's points.
    """
    for v in range(len(x.row)):
        x.row[v] = 0.0
    i, j = np.int64(pair[FIRST]), np.int64(pair[SECOND])
    shared = shared_columns(s, i, j)
    _add_columns(s, x, i, shared, pair, POINTS, -1.0)
    _add_columns(s, x, j, shared, pair, POINTS + 3, 1.0)


@kernel
def _add_columns(s, x, i, shared, pair, point, sign):
    """x.row += sign n . J, J of the point at row `point` of the pair, which belongs to shape i."""
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
        x.row[c.column] = x.row[c.column] + c.scale * rate


@kernel
def travel(s, i, first, speeds):
    """How far a point of shape i can go with changes of up to |speeds| (nv), but for its first columns' [m]."""
    chain, way = s.chains[i], 0.0
    for k in range(chain.first_column + first, chain.last_column):
        way += abs(speeds[s.columns[k].column]) * s.levers[chain.first_lever + k - chain.first_column]
    return way
