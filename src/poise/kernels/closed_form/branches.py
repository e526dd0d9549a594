"""All branches of a target: eight candidates in eight lanes, polished, certified, merged, the nearest first.

A closed form makes three choices between two angles, so a target has eight candidates, and each takes a lane.  Where a
joint is swept, each of its values has eight.

1. `candidates` writes the closed form into w.q, each joint as whole turns bring it nearest to where it rests.
2. Where forward kinematics finds more than rounding, as near to a singular pose, Newton's steps follow.
3. What is within the tolerances is a branch; two that are alike are one.
"""

from poise.kernels.algebra.scalar import sincos
from poise.kernels.closed_form.families import six_angles
from poise.kernels.closed_form.vectors import (
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
from poise.kernels.machine.jit import WHOLE, entry_point, kernel
from poise.kernels.machine.lanes import any_of, floor, load, rint, select, splat, sqrt, store
from poise.kernels.machine.layout import BAD_GOAL, BAD_START, CALL, GOAL_NUMBERS, WIDTH
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, wide
from poise.kernels.solver.lm_solver import INSIDE, aim_at, clip_start, evaluate
from poise.kernels.solver.pose_step import pose_direction

NUMBER, LINE, SWEPT, DISTANCE, BRANCH = range(5)
"""Numbers of a branch that is found: which of the eight it is; 1 if it is one of a line of solutions; the value of the
swept joint; the distance from where the joints rest.  From BRANCH on stand q (nq) and the error of each block."""
CERTIFIED = 0
"""The number of `out` that says how many branches there are, within the limits or not."""
_SIGNS, _LOOSE, _FITS, _SCORE, _SQUARE = 0, 3, 4, 5, 6
"""Rows of `branches`: the signs of the three choices, whether an angle does not matter, whether the joints are within
their limits, the score, and the square of the distance."""
_TURN = 6.283185307179586
_ROUNDING = 1e-9
"""A joint that is beyond its limit by no more than this stands at it [rad]."""
_EXACT = 1e-26
"""A sum of squares of errors [m^2, rad^2] that is rounding."""
_STEPS = 4
"""Newton steps at most."""
_DAMPING = 1e-15
"""What keeps a step finite at a singular pose [m^2]."""
_ALIKE = 1e-6
"""Two branches whose joints differ by no more than this are one [rad]."""


@kernel
def displacement(arm, target, value):
    """R, row by row, and d [m] of the displacement x -> R x + d that the six joints have to make.

    It takes the frame from where it is at q = 0 to the `target`, less the share of the swept joint, at `value`.
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
    """R and d of the displacement that takes back the swept joint's."""
    axis, point = vector(arm.swept_axis, 0), vector(arm.swept_point, 0)
    slide, turn = (way, sincos(0.0)) if arm.slides else (0.0, sincos(way))
    x = turned_back(axis, turn, (1.0, 0.0, 0.0))
    y = turned_back(axis, turn, (0.0, 1.0, 0.0))
    z = turned_back(axis, turn, (0.0, 0.0, 1.0))
    r = transposed(x + y + z)
    return r, minus(minus(point, times(r, point)), scaled(slide, axis))


@kernel
def candidates(p, v, target, start, value):
    """Write the eight candidates of the closed form for a target into the lanes of v.q, certified by nothing yet.

    `target` are the rows that `aim_at` has read, one number wide; `start` (nq,) is where the joints rest: it decides
    the whole turns, stays where a joint is free or moves nothing, and must be finite.  `value` is the swept joint's.
    What is known of the lanes is in v.branches.  Where a branch does not exist, a lane holds what comes near to it.
    """
    arm, known = p.arms[0], v.branches
    for lane in range(WIDTH):
        known[_SIGNS, lane] = 1.0 - 2.0 * (lane & 1)
        known[_SIGNS + 1, lane] = 1.0 - (lane & 2)
        known[_SIGNS + 2, lane] = 1.0 - 0.5 * (lane & 4)
    for i in range(len(start)):
        store(v.q, i, start[i])
    if arm.swept != 0:
        store(v.q, p.coordinates[abs(arm.swept) - 1].q, value)
    r, d = displacement(arm, target, value)
    signs = load(known, _SIGNS), load(known, _SIGNS + 1), load(known, _SIGNS + 2)
    rest = (
        _rest(p, arm, start, 0), _rest(p, arm, start, 1), _rest(p, arm, start, 2),
        _rest(p, arm, start, 3), _rest(p, arm, start, 4), _rest(p, arm, start, 5),
    )  # fmt: skip
    t1, t2, t3, t4, t5, t6, loose = six_angles(v.q, arm, r, d, signs, rest)
    store(known, _LOOSE, loose), store(known, _FITS, 1.0)
    _place(p, v, arm, start, 0, t1), _place(p, v, arm, start, 1, t2), _place(p, v, arm, start, 2, t3)
    _place(p, v, arm, start, 3, t4), _place(p, v, arm, start, 4, t5), _place(p, v, arm, start, 5, t6)


@kernel
def _rest(p, arm, start, i):
    """Where axis i rests [rad]."""
    return arm.rates[i] * start[p.coordinates[arm.joints[i]].q]


@kernel
def _place(p, v, arm, start, i, angle):
    """Put joint i where its axis has this angle [rad], nearest to `start` within its limits, or out of them."""
    c, rate = p.coordinates[arm.joints[i]], arm.rates[i]
    turn = _TURN / abs(rate)
    x = angle * (1.0 / rate)
    up, down = floor((c.upper + _ROUNDING - x) / turn), -floor((x - c.lower + _ROUNDING) / turn)
    fits = up >= down
    turns = rint((start[c.q] - x) / turn)
    turns = select(fits & (turns > up), up, turns)
    turns = select(fits & (turns < down), down, turns)
    x = x + turns * turn
    x = select(fits & (x < c.lower), c.lower, x)
    x = select(fits & (x > c.upper), c.upper, x)
    store(v.q, c.q, x)
    store(v.branches, _FITS, select(fits, load(v.branches, _FITS), 0.0))


@kernel
def polish(p, v, start):
    """Newton's steps from the candidates in v.q, as far as they lower the errors; the score of each lane."""
    arm = p.arms[0]
    cost, score = evaluate(p, v)
    for _ in range(_STEPS):
        rough = (cost > _EXACT) & (cost < arm.near)
        if not any_of(rough):
            break
        for a in range(len(v.free)):
            store(v.free, a, 1.0)
        if arm.swept != 0:
            store(v.free, p.coordinates[abs(arm.swept) - 1].v, 0.0)
        pose_direction(p, v, cost >= 0.0, splat(v.q, _DAMPING))
        store(v.branches, _FITS, 1.0)
        for i in range(6):
            c = p.coordinates[arm.joints[i]]
            x = load(v.q, c.q)
            store(v.before, c.q, x)
            _place(p, v, arm, start, i, (x + select(rough, load(v.step, c.v), 0.0)) * arm.rates[i])
        last = cost
        cost, score = evaluate(p, v)
        better = cost < last
        if any_of(select(better, splat(v.q, 0.0), 1.0) * select(rough, splat(v.q, 1.0), 0.0) > 0.5):
            store(v.branches, _FITS, 1.0)
            for i in range(6):
                c = p.coordinates[arm.joints[i]]
                x = select(better, load(v.q, c.q), load(v.before, c.q))
                _place(p, v, arm, start, i, x * arm.rates[i])
            cost, score = evaluate(p, v)
    return score


@kernel
def _alike(p, v, a, b):
    """Whether two lanes hold the same branch, but for whole turns."""
    arm = p.arms[0]
    for i in range(6):
        c, turn = p.coordinates[arm.joints[i]], _TURN / abs(arm.rates[i])
        x = v.q[c.q, a] - v.q[c.q, b]
        if not abs(x - turn * rint(x / turn)) <= _ALIKE:
            return False
    return True


@kernel
def collect(p, v, score, start, value, found, count):
    """Write the branches among the lanes into `found` from row `count` on, the nearest to `start` first.

    Returns the number of rows then, and how many branches there are, within the limits or not.
    """
    known, many, certified = v.branches, len(v.q), 0
    width = BRANCH + many + len(p.blocks)
    square = splat(v.q, 0.0)
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x = load(v.q, c.q) - start[c.q]
        square = square + x * x
    store(known, _SQUARE, square), store(known, _SCORE, score)
    for lane in range(WIDTH):
        if not known[_SCORE, lane] <= INSIDE:
            known[_FITS, lane] = 0.0
            continue
        certified += 1
        for other in range(lane):
            if known[_SCORE, other] <= INSIDE and _alike(p, v, lane, other):
                certified -= 1
                # The one within the limits stays, where the other is beyond them by next to nothing.
                twin = other if known[_FITS, other] < 0.5 else lane
                known[_FITS, twin] = 0.0
                break
    while True:
        best = -1
        for lane in range(WIDTH):
            if known[_FITS, lane] > 0.5 and (best < 0 or known[_SQUARE, lane] < known[_SQUARE, best]):
                best = lane
        if best < 0:
            return count, certified
        known[_FITS, best] = 0.0
        at = count * width
        count += 1
        found[at + NUMBER], found[at + SWEPT], found[at + DISTANCE] = best, value, sqrt(known[_SQUARE, best])
        found[at + LINE] = 1.0 if known[_LOOSE, best] > 0.0 else 0.0
        for i in range(many):
            found[at + BRANCH + i] = v.q[i, best]
        for b in range(len(p.blocks)):
            inverse = p.blocks[b].inverse_weight
            x, y, z = (
                v.e[3 * b, best] * inverse[0],
                v.e[3 * b + 1, best] * inverse[1],
                v.e[3 * b + 2, best] * inverse[2],
            )
            found[at + BRANCH + many + b] = sqrt(x * x + y * y + z * z)


@kernel
def _all(p, w, v, samples, found, count):
    """All branches of the target in w.target, from row `count` of `found` on; the rows then, and how many there are.

    The values of a swept joint are `samples`, evenly spread over its range, or over a turn of it, from where it rests.
    """
    arm, total = p.arms[0], 0
    for i in range(len(w.target)):
        store(v.target, i, w.target[i])
    first = low = span = 0.0
    if arm.swept != 0:
        c = p.coordinates[abs(arm.swept) - 1]
        first = min(max(w.pool[c.q], c.lower), c.upper)
        low, span = c.lower, c.upper - c.lower
        if not arm.slides and not span < _TURN / abs(arm.swept_rate):
            span = _TURN / abs(arm.swept_rate)
            low = min(max(first - 0.5 * span, c.lower), c.upper - span)
    for k in range(samples):
        value = first + k * span / samples
        if value > low + span:
            value = max(value - span, low)
        candidates(p, v, w.target, w.pool, value)
        score = polish(p, v, w.pool)
        count, certified = collect(p, v, score, w.pool, value, found, count)
        total += certified
    return count, total


@kernel
def _begin(p, w):
    """Read where the joints rest into w.pool; False if a number is too large or a quaternion zero.

    Joints of the task rest where the caller says, beyond their limits too; the others are held within.
    """
    if not clip_start(p, w.start, w.pool):
        return False
    for r in range(len(p.coordinates)):
        i = p.coordinates[r].q
        w.pool[i] = w.start[i]
    return True


@kernel
def width_of(p):
    """Numbers of a branch."""
    return BRANCH + len(p.farthest) + len(p.blocks)


@entry_point(WHOLE)
def all_of_one(address):
    """All branches of the goal: fills `found`, WIDTH rows for each of the `samples`; how many there are, or a code.

    `out` says how many branches there are, within the limits or not.
    """
    told = entry_at(address, CALL)
    p = problem_at(told.problem)
    w, v = narrow(p, told.narrow, told.routines), wide(p, told.wide, told.wide_routines)
    if not aim_at(p, w.goal, w.target):
        return BAD_GOAL
    if not _begin(p, w):
        return BAD_START
    found = rows_at(told.found, told.samples * WIDTH * width_of(p))
    count, total = _all(p, w, v, told.samples, found, 0)
    w.out[CERTIFIED] = total
    return count


@entry_point(WHOLE)
def all_of_many(address):
    """The same for `steps` goals: `found` has room for each, its rows follow each other without a gap.

    `offsets` (steps + 1,) says where those of each goal begin.  Returns how many there are, or a code.
    """
    told = entry_at(address, CALL)
    p = problem_at(told.problem)
    w, v = narrow(p, told.narrow, told.routines), wide(p, told.wide, told.wide_routines)
    if not _begin(p, w):
        return BAD_START
    found = rows_at(told.found, told.steps * told.samples * WIDTH * width_of(p))
    goals, offsets = rows_at(told.goals, told.steps * GOAL_NUMBERS), rows_at(told.offsets, told.steps + 1)
    count = 0
    for k in range(told.steps):
        for i in range(GOAL_NUMBERS):
            w.goal[i] = goals[GOAL_NUMBERS * k + i]
        if not aim_at(p, w.goal, w.target):
            return BAD_GOAL
        offsets[k] = count
        count, _ = _all(p, w, v, told.samples, found, count)
    offsets[told.steps] = count
    return count
