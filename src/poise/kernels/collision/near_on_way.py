"""Which shapes may meet on a part of a straight way in the joints: balls around those that move, beside eight others.

A ball's centre is d from another's, or from the box or the segment that another shape lies around, and n is the unit
vector along that way.  Along n both go on as they do in the middle of the part, but for half of what their
accelerations make of half of it; so they stay apart where d - reach - |n . v| > 0, v their velocities' difference.

`balls` are the accelerations of the centres over the whole way [m], their velocities (3 rows), and of each shape that
stands still, a column of its own: centre, axes, half edges and radius.  Rows are kept in packs.
"""

from poise.kernels.algebra.vectors import cross, dot, minus, plus, scaled, vector
from poise.kernels.collision.directions import absolute, clamped
from poise.kernels.collision.motion_bound import FAR
from poise.kernels.collision.near import looked_at, spine_of, ways_between
from poise.kernels.collision.placing import ORIGIN, X, Y, Z, part
from poise.kernels.kinematics.forward import is_curved
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load_pack, packs, pitch, sqrt, store_pack
from poise.kernels.machine.layout import BOX, PRISMATIC, WIDTH
from poise.kernels.machine.views import section

_AXES, _HALF, _RADIUS, _ROWS = 3, 12, 15, 16
"""Rows of what stands still."""


def balls_size(movers: int, count: int) -> int:
    """How many numbers `balls` have."""
    return 4 * (movers + WIDTH) + _ROWS * (count + WIDTH)


@kernel
def put_still(s, x, balls):
    """Write what stands still into `balls`."""
    movers, frames = s.scene[0].movers, x.proximity.shape_frames
    row, own = pitch(balls, s.scene[0].bounded - movers), 4 * pitch(balls, movers)
    walls = section(balls, own, len(balls) - own)
    for at in range(_ROWS * row):
        walls[at] = 0.0
    for k in range(row):
        walls[_RADIUS * row + k] = -FAR
    for k in range(s.scene[0].bounded - movers):
        shape, o = s.shapes[movers + k], part(frames, movers + k, ORIGIN)
        half, radius = spine_of(shape)
        for r in range(3):
            walls[r * row + k] = o[r]
        if shape.core == BOX:
            radius = shape.radius
            _put_edge(walls, row, k, 0, part(frames, movers + k, X), shape.half[0])
            _put_edge(walls, row, k, 1, part(frames, movers + k, Y), shape.half[1])
            _put_edge(walls, row, k, 2, part(frames, movers + k, Z), shape.half[2])
        elif half > 0.0:
            _put_edge(walls, row, k, 2, part(frames, movers + k, Z), half)
        walls[_RADIUS * row + k] = radius


@kernel
def _put_edge(walls, row, k, axis, direction, half):
    """Write an axis of shape k, and half its edge along it."""
    for r in range(3):
        walls[(_AXES + 3 * axis + r) * row + k] = direction[r]
    walls[(_HALF + axis) * row + k] = half


@kernel
def bound_accelerations(s, x, balls):
    """Write those of all centres along a way whose joints go as far as x.proximity.row says (nv), wherever they are.

    As in `way_and_bend`, with the longest levers.
    """
    for i in range(s.scene[0].movers):
        chain, way, bend = s.chains[i], 0.0, 0.0
        lever = chain.first_lever - chain.first_column
        for k in range(chain.last_column - 1, chain.first_column - 1, -1):
            c = s.columns[k]
            turn, arm = x.proximity.row[c.column], s.levers[lever + k]
            if turn > 0.0:
                if c.kind != PRISMATIC:
                    bend += abs(c.scale) * turn * (turn * arm + 2.0 * way)
                if is_curved(s, c):
                    bend = FAR
                way += turn * arm
        balls[i] = bend


@kernel
def _put_velocities(s, x, balls, step):
    """Write those of all centres with a step (nv).

    A shape that hangs on the chain of the one before it moves as that does, and by what comes between.
    """
    movers, last, done = s.scene[0].movers, -1, 0
    row, p, v, w = pitch(balls, movers), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(movers):
        chain, o = s.chains[i], part(x.proximity.shape_frames, i, ORIGIN)
        count = chain.last_column - chain.first_column
        if not 0 < done <= count or s.columns[chain.first_column + done - 1].axis != last:
            v, w, done = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0
        v, p = plus(v, cross(w, minus(o, p))), o
        for k in range(chain.first_column + done, chain.last_column):
            c = s.columns[k]
            z, last = scaled(c.scale * step[c.column], vector(x.frames, c.axis)), c.axis
            if c.kind == PRISMATIC:
                v = plus(v, z)
            else:
                v = plus(v, plus(cross(z, minus(o, vector(x.frames, c.place))), scaled(c.pitch, z)))
                w = plus(w, z)
        done = count
        for r in range(3):
            balls[(1 + r) * row + i] = v[r]


@kernel
def list_near(s, x, balls, step, half, least, pairs, listed):
    """List the pairs that may come nearer than `least` within `half` of a step of where they are; how many there are
    then.  A pair is its first number times all shapes, and its second."""
    movers, bounded, total = s.scene[0].movers, s.scene[0].bounded, s.scene[0].count
    count, own, still = packs(x.proximity.centres, bounded), packs(balls, movers), packs(balls, bounded - movers)
    walls, row, bent = section(balls, 4 * WIDTH * own, len(balls) - 4 * WIDTH * own), WIDTH * own, 0.5 * half * half
    _put_velocities(s, x, balls, step)
    for i in range(movers - 1, -1, -1):  # the hand is more often in the way than what carries it
        o, reach = part(x.proximity.shape_frames, i, ORIGIN), s.shapes[i].bound + least + bent * balls[i]
        v = half * balls[row + i], half * balls[2 * row + i], half * balls[3 * row + i]
        for c in range((i + 1) // WIDTH, own):
            d = ways_between(x, count, i, c)
            far = load_pack(x.proximity.reach, count * i + c) + (bent * load_pack(balls, c) + reach)
            u = (
                half * load_pack(balls, own + c) - v[0],
                half * load_pack(balls, 2 * own + c) - v[1],
                half * load_pack(balls, 3 * own + c) - v[2],
            )
            square = dot(d, d)
            slack = square - far * sqrt(square) - absolute(dot(d, u))
            if any_of(slack <= 0.0):
                store_pack(x.proximity.squares, 0, slack)
                for j in range(max(i + 1, WIDTH * c), min(movers, WIDTH * (c + 1))):
                    listed = _list(s, x, i, j, WIDTH * c, pairs, listed)
        for c in range(still):
            d = load_pack(walls, c), load_pack(walls, still + c), load_pack(walls, 2 * still + c)
            d = o[0] - d[0], o[1] - d[1], o[2] - d[2]
            u = d
            for a in range(3):
                at = still * (_AXES + 3 * a) + c
                z = load_pack(walls, at), load_pack(walls, at + still), load_pack(walls, at + 2 * still)
                u = minus(u, scaled(clamped(dot(d, z), load_pack(walls, still * (_HALF + a) + c)), z))
            square = dot(u, u)
            slack = square - (load_pack(walls, still * _RADIUS + c) + reach) * sqrt(square) - absolute(dot(u, v))
            if any_of(slack <= 0.0):
                store_pack(x.proximity.squares, 0, slack)
                for j in range(movers + WIDTH * c, min(bounded, movers + WIDTH * (c + 1))):
                    listed = _list(s, x, i, j, movers + WIDTH * c, pairs, listed)
        for j in range(bounded, total):
            if looked_at(s, i, j):
                pairs[listed] = float(i * total + j)
                listed += 1
    return listed


@kernel
def _list(s, x, i, j, first, pairs, listed):
    """List shapes i and j if they have no slack in x.proximity.squares, from shape `first` on; how many are listed."""
    if x.proximity.squares[j - first] <= 0.0 and looked_at(s, i, j):
        pairs[listed] = float(i * s.scene[0].count + j)
        listed += 1
    return listed
