"""All branches of a target: eight candidates in eight lanes, polished, certified, merged, the nearest first.

A closed form makes three choices between two angles, so a target has eight candidates, and each takes a lane.  Where a
joint is swept, each of its values has eight.  Of axes that lie anyhow the candidates come by elimination, eight after
eight, and rows as they are found.

1. `candidates` writes the closed form into w.q, each joint as whole turns bring it nearest to where it rests.
2. Where forward kinematics finds more than rounding, Newton's steps follow.
3. Where a joint is free, and the others cannot follow where it rests, it is put elsewhere, the nearest first.
4. What is within the tolerances is a branch; two that are alike are one.
"""

import numpy as np

from poise.kernels.algebra.rotations import rotation_error
from poise.kernels.algebra.vectors import dot, minus, times, transposed
from poise.kernels.closed_form.candidates import DISTANCE as LANE_DISTANCE
from poise.kernels.closed_form.candidates import (
    FITS,
    LOOSE,
    PLACE,
    PLACE_ERROR,
    SCORE,
    SQUARE,
    TURN,
    TURN_ERROR,
    candidates,
    displacement,
    give_choices,
    put,
)
from poise.kernels.closed_form.candidates import NUMBER as LANE_NUMBER
from poise.kernels.closed_form.elimination import CHOICES
from poise.kernels.closed_form.families import GENERAL
from poise.kernels.closed_form.general import (
    MOST,
    NO,
    PERHAPS,
    WORK,
    YES,
    all_there,
    choice_of,
    find_starts,
    put_starts,
    sort_out,
)
from poise.kernels.kinematics.forward import forward, tool_point
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.lanes import any_of, load, rint, select, splat, sqrt, store
from poise.kernels.machine.layout import BAD_GOAL, BAD_START, CALL, FRAME, GOAL_NUMBERS, WIDTH
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, section, wide
from poise.kernels.rows.frame import hung
from poise.kernels.solver.ends import aim_at, clip_start, evaluate
from poise.kernels.solver.pose_step import pose_direction
from poise.kernels.solver.state import INSIDE

NUMBER, LINE, SWEPT, DISTANCE, BRANCH = range(5)
"""Numbers of a branch that is found: which of the eight it is; above 0 if it is one of a line of solutions; the value
of the swept joint; the distance from where the joints rest.  From BRANCH on stand q (nq) and the two errors [m, rad].
"""
ROWS_OF, CERTIFIED, MISSED, DOUBT, TAKEN, SAID = range(6)
"""Numbers of the report on a goal: how many rows it has; how many branches, within the limits or not, or a negative
code; 1 if there is a line of solutions of which those tried are none, or are beyond the limits; of axes that lie anyhow
1 if elimination may have missed some, and which of its choices has them all.  SAID: how many."""
_EXACT = 1e-26
"""A sum of squares of errors [m^2, rad^2] that is rounding."""
_STEPS = 16
"""Newton steps at most."""
_GAIN = 0.5
"""A step after which the sum of squares is no less than this share of what it was is the last."""
_DAMPING = 1e-15
"""What keeps a step finite at a singular pose [m^2]."""
_PLACES = 16
"""A free joint is put at so many places of its turn, one after the other, till the others can follow."""
_ALIKE = 1e-6
"""Two branches whose joints differ by no more than this are one [rad]."""
_ALIKE_SQUARES = 1e-4
"""The squares of their distances then differ by less than this share, or this [rad^2]: a first look at all lanes."""


@kernel
def measure(p, v):
    """Errors at v.q by forward kinematics alone: the sum of their squares, and the largest (error / tolerance)^2.

    The two errors [m, rad] go to v.search.branches.
    """
    forward(p.units, p.pieces, v.q, v.frames)
    effector, t, f, known = p.effectors[0], v.target, v.frames, v.search.branches
    at = FRAME * effector.tip
    place = tool_point(effector, f)
    x, y, z = _loaded(f, at + 6), _loaded(f, at + 9), _loaded(f, at + 3)
    if effector.base > 0:
        b0, b1, b2, b3, b4, b5, b6, b7, b8, o0, o1, o2 = hung(effector.base - 2, effector.base_tool, f)
        base = transposed((b0, b1, b2, b3, b4, b5, b6, b7, b8))
        place = times(base, minus(place, (o0, o1, o2)))
        x, y, z = times(base, x), times(base, y), times(base, z)
    left = minus(_loaded(t, 9), place)
    turn = rotation_error(
        (load(t, 0), load(t, 1), load(t, 2), load(t, 3), load(t, 4), load(t, 5), load(t, 6), load(t, 7), load(t, 8)),
        (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]),
    )  # fmt: skip
    metres, radians = dot(left, left), dot(turn, turn)
    store(known, PLACE_ERROR, sqrt(metres)), store(known, TURN_ERROR, sqrt(radians))
    one, two = metres * p.blocks[0].inverse_square_tolerance, radians * p.blocks[1].inverse_square_tolerance
    cost = metres + radians
    return cost, select(cost < 1e300, select(one > two, one, two), 1e300)


@kernel
def _loaded(rows, i):
    """The vector whose first number is in row i."""
    return load(rows, i), load(rows, i + 1), load(rows, i + 2)


@kernel
def polish(p, v, start):
    """Newton's steps from the candidates in v.q, as long as they lower the errors; the score of each lane.

    A step that raises the sum of squares is taken back.  Lanes with errors above arm.near are no branch, and stay.
    """
    arm = p.arms[0]
    cost, score = measure(p, v)
    rough = (cost > _EXACT) & (cost < arm.near)
    for _ in range(_STEPS):
        if not any_of(rough):
            break
        for a in range(len(v.free)):
            store(v.free, a, 1.0)
        if arm.swept != 0:
            store(v.free, p.coordinates[abs(arm.swept) - 1].v, 0.0)
        evaluate(p, v)
        pose_direction(p, v, cost >= 0.0, splat(v.q, _DAMPING))
        store(v.search.branches, FITS, 1.0)
        for i in range(6):
            c = p.coordinates[arm.joints[i]]
            x = load(v.q, c.q)
            store(v.before, c.q, x)
            put(p, v, arm, start, i, (x + select(rough, load(v.step, c.v), 0.0)) * arm.rates[i])
        last = cost
        cost, score = measure(p, v)
        better = cost < last
        if any_of(select(better, splat(v.q, 0.0), 1.0) * select(rough, splat(v.q, 1.0), 0.0) > 0.5):
            store(v.search.branches, FITS, 1.0)
            for i in range(6):
                c = p.coordinates[arm.joints[i]]
                x = select(better, load(v.q, c.q), load(v.before, c.q))
                put(p, v, arm, start, i, x * arm.rates[i])
            cost, score = measure(p, v)
        # Where a step gains little, what is left is rounding.
        rough = rough & (cost > _EXACT) & (cost < _GAIN * last)
    return score


@kernel
def _alike(p, v, a, b):
    """Whether two lanes hold the same branch, but for whole turns."""
    arm = p.arms[0]
    for i in range(6):
        c, turn = p.coordinates[arm.joints[i]], TURN / abs(arm.rates[i])
        way = v.q[c.q, a] - v.q[c.q, b]
        if not abs(way - turn * rint(way / turn)) <= _ALIKE:
            return False
    return True


@kernel
def _drop_twins(p, v):
    """Of lanes within the tolerances that hold the same branch keep one in FITS; how many repeat an earlier one."""
    known, twins = v.search.branches, 0
    for lane in range(WIDTH):
        for other in range(lane):
            if known[SCORE, lane] <= INSIDE and known[SCORE, other] <= INSIDE and _alike(p, v, lane, other):
                twins += 1
                # The one within the limits stays, where the other is beyond them by next to nothing.
                known[FITS, other if known[FITS, other] < 0.5 else lane] = 0.0
                break
    return twins


@kernel
def collect(p, v, score, start, value, found, count):
    """Write the branches among the lanes into `found` from row `count` on, the nearest to `start` first.

    Returns the number of rows then, how many branches there are, within the limits or not, and whether one of a line of
    solutions is missed.
    """
    known, many, certified = v.search.branches, len(v.q), 0
    width = width_of(p)
    square = splat(v.q, 0.0)
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x = load(v.q, c.q) - start[c.q]
        square = square + x * x
    store(known, SQUARE, square), store(known, LANE_DISTANCE, sqrt(square)), store(known, SCORE, score)
    inside, number = score <= INSIDE, load(known, LANE_NUMBER)
    store(known, FITS, select(inside, load(known, FITS), 0.0))
    missed = any_of((load(known, LOOSE) > 0.5) & (load(known, FITS) < 0.5))
    # Lanes whose distances from `start` differ clearly cannot hold the same branch: only the others are compared.
    tolerance, close = _ALIKE_SQUARES * (1.0 + square), number < 0.0
    for lane in range(WIDTH):
        gap = square - known[SQUARE, lane]
        close = close | ((gap * gap <= tolerance * tolerance) & (number > lane))
        if known[SCORE, lane] <= INSIDE:
            certified += 1
    if any_of(close & inside):
        certified -= _drop_twins(p, v)
    # Its place among those that stay: how many are nearer, or as near and before it.
    place = splat(v.q, 0.0)
    for lane in range(WIDTH):
        if known[FITS, lane] > 0.5:
            nearer = (square > known[SQUARE, lane]) | ((square >= known[SQUARE, lane]) & (number > lane))
            place = place + select(nearer, splat(v.q, 1.0), 0.0)
    store(known, PLACE, place)
    chosen = 0
    for lane in range(WIDTH):
        if known[FITS, lane] > 0.5:
            chosen += 1
            at = (count + np.int64(known[PLACE, lane])) * width
            found[at + NUMBER], found[at + SWEPT] = lane, value
            found[at + LINE], found[at + DISTANCE] = known[LOOSE, lane], known[LANE_DISTANCE, lane]
            for i in range(many):
                found[at + BRANCH + i] = v.q[i, lane]
            found[at + BRANCH + many] = known[PLACE_ERROR, lane]
            found[at + BRANCH + many + 1] = known[TURN_ERROR, lane]
    return count + chosen, certified, missed


@kernel
def _is_missed(v):
    """Whether a lane with a free joint is no branch within the limits."""
    known = v.search.branches
    return any_of((load(known, LOOSE) > 0.5) & ((load(known, SCORE) > INSIDE) | (load(known, FITS) < 0.5)))


@kernel
def _elsewhere_on_lines(p, w, v, value, kept, count):
    """Lanes that `_is_missed` means become a branch elsewhere on their line, where there is one within the limits.

    The lanes wait in `kept` from row `count` on, which has room for them.
    """
    known = v.search.branches
    for lane in range(WIDTH):
        _keep_lane(p, v, lane, kept, count)
    for k in range(1, _PLACES):
        way = TURN / _PLACES * ((k + 1) // 2) * (1.0 - 2.0 * (k & 1))
        candidates(p, v, w.target, w.pool, value, way)
        store(known, SCORE, polish(p, v, w.pool))
        left = 0
        for lane in range(WIDTH):
            at = (count + lane) * width_of(p)
            if kept[at + LINE] > 0.5 and not (kept[at + DISTANCE] <= INSIDE and kept[at + SWEPT] > 0.5):
                if known[LOOSE, lane] > 0.5 and known[SCORE, lane] <= INSIDE and known[FITS, lane] > 0.5:
                    _keep_lane(p, v, lane, kept, count)
                else:
                    left += 1
        if left == 0:
            break
    many = len(v.q)
    for lane in range(WIDTH):
        at = (count + lane) * width_of(p)
        known[LOOSE, lane], known[FITS, lane], known[SCORE, lane] = (
            kept[at + LINE],
            kept[at + SWEPT],
            kept[at + DISTANCE],
        )
        for i in range(many):
            v.q[i, lane] = kept[at + BRANCH + i]
        known[PLACE_ERROR, lane], known[TURN_ERROR, lane] = kept[at + BRANCH + many], kept[at + BRANCH + many + 1]


@kernel
def _keep_lane(p, v, lane, kept, count):
    """Write a lane into row `count` + `lane`, as a branch, with FITS and SCORE where SWEPT and DISTANCE will be."""
    known, at, many = v.search.branches, (count + lane) * width_of(p), len(v.q)
    kept[at + LINE], kept[at + SWEPT], kept[at + DISTANCE] = known[LOOSE, lane], known[FITS, lane], known[SCORE, lane]
    for i in range(many):
        kept[at + BRANCH + i] = v.q[i, lane]
    kept[at + BRANCH + many], kept[at + BRANCH + many + 1] = known[PLACE_ERROR, lane], known[TURN_ERROR, lane]


@kernel
def _by_elimination(p, w, v, value, found, count, work):
    """All branches of axes that lie anyhow, as `collect`, and which choice has them all, -1 if none has."""
    arm, width, first = p.arms[0], width_of(p), count
    r, d = displacement(arm, w.target, value)
    total, kept, agreeing = 0, 0, 0
    for attempt in range(CHOICES):
        choice, known = choice_of(arm, attempt), kept
        starts, zeros, doubt = find_starts(arm, r, d, choice, work)
        for eight in range(0, starts, WIDTH):
            put_starts(p, v, w.pool, value, work, eight, starts)
            score = polish(p, v, w.pool)
            kept, twice = sort_out(p, v, score, work, eight, starts, attempt, kept)
            before = count
            count, certified, _ = collect(p, v, load(v.search.branches, SCORE), w.pool, value, found, count)
            for row in range(before, count):
                found[row * width + NUMBER] = row - first
            total, doubt = total + certified, doubt or twice
        said = NO if doubt else all_there(arm, work, zeros, attempt, kept)
        if said == YES:
            return count, total, choice
        # Two that have the same are as good as one that is sure of it.
        agreeing = 0 if kept > known else agreeing
        if said == PERHAPS:
            agreeing += 1
            if agreeing == 2:
                return count, total, choice
    return count, total, -1


@kernel
def _all(p, w, v, samples, found, count, work):
    """All branches of the target in w.target, from row `count` of `found` on; as `collect`, then what DOUBT and TAKEN
    say.

    The values of a swept joint are `samples`, evenly spread over its range, or over a turn of it, from where it rests.
    """
    arm, total, missing, doubt, choice = p.arms[0], 0, False, False, -1
    for i in range(len(w.target)):
        store(v.target, i, w.target[i])
    first = low = spread = 0.0
    if arm.swept != 0:
        c = p.coordinates[abs(arm.swept) - 1]
        first = min(max(w.pool[c.q], c.lower), c.upper)
        low, spread = c.lower, c.upper - c.lower
        if not arm.slides and not spread < TURN / abs(arm.swept_rate):
            spread = TURN / abs(arm.swept_rate)
            low = min(max(first - 0.5 * spread, c.lower), c.upper - spread)
    for k in range(samples):
        value = first + k * spread / samples
        if value > low + spread:
            value = max(value - spread, low)
        if arm.family == GENERAL:
            count, certified, choice = _by_elimination(p, w, v, value, found, count, work)
            missed, doubt = False, doubt or choice < 0
        else:
            candidates(p, v, w.target, w.pool, value, 0.0)
            store(v.search.branches, SCORE, polish(p, v, w.pool))
            if _is_missed(v):
                _elsewhere_on_lines(p, w, v, value, found, count)
            score = load(v.search.branches, SCORE)
            count, certified, missed = collect(p, v, score, w.pool, value, found, count)
        total, missing = total + certified, missing or missed
    return count, total, missing, doubt, choice


@kernel
def _rest_at(p, w):
    """Read the configuration that branches are compared with, w.start, into w.pool; False if it is none.

    Joints of the task stay where the caller says, beyond their limits too; the others are clipped.
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
    return BRANCH + len(p.farthest) + 2


@entry_point(WHOLE)
def all_branches(address):
    """All branches of `problems` goals from starts (n, nq): fills `found`, whose rows follow each other without a gap.

    `found` has room for WIDTH rows for each of the `samples` of each goal, of axes that lie anyhow for MOST, for which
    `path` has room for WORK numbers.  What is said of each goal goes to `answers`
    (n, SAID); one that is no goal, or whose start is none, has no rows.  Returns the number of rows.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w, v = narrow(p, request.narrow, request.routines), wide(p, request.wide, request.wide_routines)
    give_choices(v)
    n, joints, count = request.problems, len(w.start), 0
    general = p.arms[0].family == GENERAL
    found = rows_at(request.found, n * request.samples * (MOST if general else WIDTH) * width_of(p))
    work = rows_at(request.path, WORK) if general else found
    goals, starts, answers = (
        rows_at(request.goals, n * GOAL_NUMBERS),
        rows_at(request.starts, n * joints),
        rows_at(request.answers, n * SAID),
    )
    for k in range(n):
        first = count
        for i in range(joints):
            w.start[i] = starts[joints * k + i]
        if not aim_at(p, section(goals, GOAL_NUMBERS * k, GOAL_NUMBERS), w.target):
            certified, missing, doubt, choice = BAD_GOAL, False, False, -1
        elif not _rest_at(p, w):
            certified, missing, doubt, choice = BAD_START, False, False, -1
        else:
            count, certified, missing, doubt, choice = _all(p, w, v, request.samples, found, count, work)
        at = SAID * k
        answers[at + DOUBT], answers[at + TAKEN] = doubt, choice
        answers[at + ROWS_OF], answers[at + CERTIFIED], answers[at + MISSED] = count - first, certified, missing
    return count
