"""The eight candidates of a closed form for a target, one for each way to make its three choices."""

from poise.kernels.algebra.scalar import sincos
from poise.kernels.algebra.vectors import (
    minus,
    opposite,
    plus,
    product,
    scaled,
    times,
    transposed,
    turned_back,
    vector,
)
from poise.kernels.closed_form.families import six_angles
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import floor, load, rint, select, store
from poise.kernels.machine.layout import WIDTH

SIGNS, LOOSE, FITS, NUMBER = 0, 3, 4, 5
"""Rows of `branches`: the signs of the three choices, how many angles do not matter, whether the joints are within
their limits, the lane's number."""
SCORE, SQUARE, DISTANCE, PLACE, PLACE_ERROR, TURN_ERROR = range(6, 12)
"""Rows that `branches` writes: the score, the square of the distance and its root, the place among the branches, and
the errors of position [m] and rotation [rad]."""
TURN = 6.283185307179586
_ROUNDING = 1e-9
"""A joint that is beyond its limit by no more than this stands at it [rad]."""


@kernel
def displacement(arm, target, value):
    """R, row by row, and d [m] of the displacement G: x -> R x + d that the six joints have to make.

    It takes the frame from where it is at q = 0 to the `target`, without the swept joint's part, at `value`.  For an
    arm that is taken from the tip it is G^-1.
    """
    home = arm.home
    r = times(home, vector(target, 0)) + times(home, vector(target, 3)) + times(home, vector(target, 6))
    d = minus(vector(target, 9), times(r, vector(arm.tool, 0)))
    if arm.swept != 0:
        back, e = _unswept(arm, arm.swept_rate * value)
        if arm.swept < 0:
            r, d = product(back, r), plus(times(back, d), e)
        else:
            r, d = product(r, back), plus(times(r, e), d)
    if arm.reverse:
        r = transposed(r)
        d = opposite(times(r, d))
    return r, d


@kernel
def _unswept(arm, way):
    """R and d of the inverse of the swept joint's displacement, a turn [rad] or a slide [m] by `way`."""
    axis, point = vector(arm.swept_axis, 0), vector(arm.swept_point, 0)
    slide, turn = (way, sincos(0.0)) if arm.slides else (0.0, sincos(way))
    x = turned_back(axis, turn, (1.0, 0.0, 0.0))
    y = turned_back(axis, turn, (0.0, 1.0, 0.0))
    z = turned_back(axis, turn, (0.0, 0.0, 1.0))
    r = transposed(x + y + z)
    return r, minus(minus(point, times(r, point)), scaled(slide, axis))


@kernel
def give_choices(v):
    """Number the lanes, and give each its choices: once for a workspace, before `candidates`."""
    known = v.search.branches
    for lane in range(WIDTH):
        known[NUMBER, lane] = lane
        known[SIGNS, lane] = 1.0 - 2.0 * (lane & 1)
        known[SIGNS + 1, lane] = 1.0 - (lane & 2)
        known[SIGNS + 2, lane] = 1.0 - 0.5 * (lane & 4)


@kernel
def candidates(p, v, target, start, value, way):
    """Write the eight candidates of the closed form for a target into the lanes of v.q, certified by nothing yet.

    `target` are the rows that `aim_at` has read, one number wide; `start` (nq,) is where the joints rest: it decides
    the whole turns, stays where a joint moves nothing, and must be finite.  `value` is the swept joint's.  The axis of
    a joint that is free turns by `way` [rad] from there.  What is known of the lanes is in v.search.branches.  Where a
    branch does not exist, a lane holds what comes near to it.
    """
    arm, known = p.arms[0], v.search.branches
    for i in range(len(start)):
        store(v.q, i, start[i])
    if arm.swept != 0:
        store(v.q, p.coordinates[abs(arm.swept) - 1].q, value)
    r, d = displacement(arm, target, value)
    signs = load(known, SIGNS), load(known, SIGNS + 1), load(known, SIGNS + 2)
    rest = (
        way + _rest(p, arm, start, 0), way + _rest(p, arm, start, 1), way + _rest(p, arm, start, 2),
        way + _rest(p, arm, start, 3), way + _rest(p, arm, start, 4), way + _rest(p, arm, start, 5),
    )  # fmt: skip
    t1, t2, t3, t4, t5, t6, loose = six_angles(v.q, arm, r, d, signs, rest)
    store(known, LOOSE, loose), store(known, FITS, 1.0)
    put(p, v, arm, start, 0, t1), put(p, v, arm, start, 1, t2), put(p, v, arm, start, 2, t3)
    put(p, v, arm, start, 3, t4), put(p, v, arm, start, 4, t5), put(p, v, arm, start, 5, t6)


@kernel
def _rest(p, arm, start, i):
    """The angle of axis i at `start` [rad]."""
    return arm.rates[i] * start[p.coordinates[arm.joints[i]].q]


@kernel
def put(p, v, arm, start, i, angle):
    """Put joint i where its axis has this angle [rad], nearest to `start` within its limits, or out of them."""
    c, rate = p.coordinates[arm.joints[i]], arm.rates[i]
    turn, inverse = TURN / abs(rate), abs(rate) / TURN
    x = angle * (1.0 / rate)
    up, down = floor((c.upper + _ROUNDING - x) * inverse), -floor((x - c.lower + _ROUNDING) * inverse)
    fits = up >= down
    turns = rint((start[c.q] - x) * inverse)
    turns = select(fits & (turns > up), up, turns)
    turns = select(fits & (turns < down), down, turns)
    x = x + turns * turn
    x = select(fits & (x < c.lower), c.lower, x)
    x = select(fits & (x > c.upper), c.upper, x)
    store(v.q, c.q, x)
    store(v.search.branches, FITS, select(fits, load(v.search.branches, FITS), 0.0))
