"""How far two shapes may come to each other on a part of a straight way in the joints, and when a plane parts them.

Along a direction n each point of a shape goes straight on, but for half of `bend`, the most that its acceleration makes
of half a part.  The gap between two shapes along n, if all points went straight on, is the least of many linear
functions, so it is concave, and with - bend share^2 / 2 it still is: from the middle of a part to an end the gap is
nowhere less than at one of these two.
"""

from poise.kernels.algebra.vectors import cross, dot, minus, opposite, plus, scaled, vector
from poise.kernels.collision.gjk import FIRST, SECOND, support
from poise.kernels.collision.placing import ORIGIN, part
from poise.kernels.kinematics.forward import is_curved
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import FRAME, PRISMATIC, REVOLUTE
from poise.kernels.machine.views import flat

FAR = 1e300
"""A bend of which nothing is known."""


@kernel
def way_and_bend(s, x, i, shared, share):
    """How far a point of shape i may come with a share of x.proximity.row, without its first columns, and its largest
    acceleration over that share [m].

    From the shape to the root: an axis takes it no farther than its lever, which is no longer than now and what the
    joints between can add.  It turns the velocity that the joints between make as well, and these turn with its own:
    d2 p / dq_a dq_b = z_a x (z_b x (p - o_b)) for a before b.
    """
    chain, way, bend, p = s.chains[i], 0.0, 0.0, part(x.proximity.shape_frames, i, ORIGIN)
    lever = chain.first_lever - chain.first_column
    for k in range(chain.last_column - 1, chain.first_column + shared - 1, -1):
        c = s.columns[k]
        turn = share * x.proximity.row[c.column]
        if turn > 0.0:
            arm = s.levers[lever + k]
            if c.kind != PRISMATIC:
                d = minus(p, vector(x.frames, c.place))
                square = dot(d, d)
                # Across the axis alone, unless other axes of a ball turn about the same place and not this one with it.
                if c.kind == REVOLUTE and (k == chain.first_column or s.columns[k - 1].place != c.place):
                    along = dot(d, vector(x.frames, c.axis))
                    square = max(square - along * along, 0.0) if c.axis == c.place + 3 else square
                arm = min(arm, abs(c.scale) * (sqrt(square) + s.shapes[i].bound + abs(c.pitch) + way))
                bend += abs(c.scale) * turn * (turn * arm + 2.0 * way)
            if is_curved(s, c):
                bend = FAR
            way += turn * arm
    return way, bend


@kernel
def twist(s, x, i, shared, step):
    """Velocity of the place of shape i and its angular velocity with a step (nv), without its first columns."""
    chain, p = s.chains[i], part(x.proximity.shape_frames, i, ORIGIN)
    v, w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(chain.first_column + shared, chain.last_column):
        c = s.columns[k]
        z = scaled(c.scale * step[c.column], vector(x.frames, c.axis))
        if c.kind == PRISMATIC:
            v = plus(v, z)
        else:
            v = plus(v, plus(cross(z, minus(p, vector(x.frames, c.place))), scaled(c.pitch, z)))
            w = plus(w, z)
    return v, w


@kernel
def put_pair(s, x, i, j):
    """x.room has the frames of shapes i and j, as searches read them."""
    numbers = flat(x.room)
    for r in range(FRAME):
        numbers[FIRST + r] = x.proximity.shape_frames[FRAME * i + r]
        numbers[SECOND + r] = x.proximity.shape_frames[FRAME * j + r]


@kernel
def gap_along(s, x, i, j, n):
    """How far the cores of shapes i and j of `put_pair` are apart along n, a lower bound of their distance."""
    p = support(s.shapes[i], s.vertices, flat(x.room), FIRST, n)
    q = support(s.shapes[j], s.vertices, flat(x.room), SECOND, opposite(n))
    return dot(n, minus(q, p))


@kernel
def gaps_at_ends(s, x, i, j, shared, step, half, n):
    """The gaps of the cores of shapes i and j of `put_pair` along n, `half` of a step (nv) before and after where they
    are, if all points go straight on."""
    v, w = twist(s, x, i, shared, step)
    before = _extent(s, x, i, FIRST, -half, n, v, w)
    after = _extent(s, x, i, FIRST, half, n, v, w)
    m = opposite(n)
    if j < s.scene[0].movers:
        v, w = twist(s, x, j, shared, step)
        before, after = (
            before + _extent(s, x, j, SECOND, -half, m, v, w),
            after + _extent(s, x, j, SECOND, half, m, v, w),
        )
    else:
        still = dot(m, support(s.shapes[j], s.vertices, flat(x.room), SECOND, m))
        before, after = before + still, after + still
    return -before, -after


@kernel
def _extent(s, x, i, at, share, n, v, w):
    """How far the core of a shape, whose frame is at `at` and whose twist is v, w, reaches along n, a share on.

    n . (p + share (v + w x (p - o))) = n . o + share n . v + (n + share n x w) . (p - o): of all its points the support
    point along the last vector is farthest.
    """
    o, m = vector(flat(x.room), at + ORIGIN), plus(n, scaled(share, cross(n, w)))
    p = support(s.shapes[i], s.vertices, flat(x.room), at, m)
    return dot(n, o) + share * dot(n, v) + dot(m, minus(p, o))
