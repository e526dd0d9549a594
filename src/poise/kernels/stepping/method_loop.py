"""The loops around an update: one time step, a whole rollout, a solve to tolerance."""

import numpy as np

from poise.kernels.algebra.blocks import spread
from poise.kernels.algebra.rotations import turn_since
from poise.kernels.algebra.svd import decompose, identity
from poise.kernels.machine.jit import call, entry_point, kernel, routine
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.lanes import any_of, load, pitch, sqrt, store
from poise.kernels.machine.layout import (
    ANSWER,
    BAD_GOAL,
    BAD_START,
    BEGIN,
    BLOCKED,
    CALL,
    CLOSED,
    COLLISION_ROWS,
    END,
    FOLLOW,
    GOAL,
    GOAL_NUMBERS,
    LEAP,
    LOOK_BACK,
    METHOD,
    NOT_FINITE,
    OPEN,
    PROJECT_STEP,
    PROPOSE,
    RANGE_ROWS,
    RUNNING,
    SCOUT,
    SOLVED,
    WIDTH,
)
from poise.kernels.machine.memory import (
    AGE,
    BEST,
    BEYOND,
    CERTIFIED,
    COST,
    CREPT,
    DAMPING,
    ELSEWHERE,
    ENDED,
    FAILED,
    FAILURES,
    FOLLOWING,
    LEAST,
    LENGTH,
    MARK,
    NEAR,
    NEAREST,
    OWNER,
    PREDICTED,
    RANK,
    SCORE,
    SHORTENED,
    SINCE,
    SPENT,
    STAGE,
    STARTS,
    STEP,
    TRACE,
    forget,
)
from poise.kernels.machine.memory import SCOUT as SCOUT_STATE
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, section, wide
from poise.kernels.requirements.approach import observe_targets, remember_target
from poise.kernels.requirements.balls import shorten_whole_step
from poise.kernels.requirements.limits import (
    clamp_whole_step,
    read_start,
    remember_step,
    set_step_bounds,
)
from poise.kernels.requirements.loops import evaluate_loops
from poise.kernels.requirements.ranges import evaluate_ranges
from poise.kernels.requirements.stages import LOOPS_OPEN, NO_ACCELERATION
from poise.kernels.requirements.trust_radius import (
    adapt_trust_radius,
    keep_still_targets,
    release_trust_radius,
    widen_trust_radius,
)
from poise.kernels.rows.sums import slack_of_sums
from poise.kernels.solver.ends import aim_at, clip_start, evaluate, finish, is_posture
from poise.kernels.solver.feasibility import is_feasible
from poise.kernels.solver.lane import begin, draw_offsets
from poise.kernels.solver.nearness import near_turn
from poise.kernels.solver.state import STARTED

_PATIENCE, _STUCK = 30, 2
_GAIN = 1.0 - 1e-4
"""A start is given up when its best error has not fallen by this factor in so many iterations; in the second number of
them where not all holds and no step was allowed, for the next would be refused for the same reasons."""
_ALIKE, _FULFILLED = 1e-6, 1e-12
"""Squared errors that differ by this share, or by this [m^2, rad^2], are equal: the nearer to a posture is better."""
_ROUNDING = 1e-7
"""A configuration that is beyond a range by no more than this is within [m or rad]."""


@kernel
def _update(p, w, updates, anti_chatter, address, method):
    """One step of a Tracker from w.q: so many updates of the method, then what must hold of the whole step.

    `method` is the place of its routine.  Bounds come first; where there is more to keep, `PROJECT_STEP` has the last
    word.  What the next step remembers is the step that was taken, not the one that was proposed.
    """
    has_rates, constrained = len(p.rates) > 0, len(p.braking_group) > 0
    if updates > 1 or has_rates or constrained:
        for i in range(len(w.q)):
            store(w.begun, i, load(w.q, i))
    if has_rates:
        set_step_bounds(p, w)
        observe_targets(p, w)
    if anti_chatter:
        release_trust_radius(p, w)
    for _ in range(updates):
        if len(p.collision) > 0:
            call(w.routines[COLLISION_ROWS], p, w, address)
        if len(p.ranges) > 0:
            call(w.routines[RANGE_ROWS], p, w)
        _step(p, w, address, method)
        if anti_chatter and not has_rates and not constrained:
            adapt_trust_radius(p, w)
    if has_rates:
        clamp_whole_step(p, w, updates)
        for a in range(len(w.step)):
            store(w.step, a, load(w.motion.step_so_far, a))
    elif updates > 1:
        shorten_whole_step(p, w, updates)
    if constrained:
        call(w.routines[PROJECT_STEP], p, w, address)
    if anti_chatter and (has_rates or constrained):
        adapt_trust_radius(p, w)
    if has_rates:
        remember_step(w, not constrained or any_of(load(w.memory, STAGE) < NO_ACCELERATION))
        remember_target(p, w)


@kernel
def _step(p, w, address, method):
    """One update of the method from w.q; before it, the method that leads delegated tasks proposes its step."""
    if len(p.delegated) > 0:
        call(w.routines[PROPOSE], p, w, address)
    call(w.routines[method], p, w)


@kernel
def _update_or_follow(p, w, updates, anti_chatter, address):
    """`_update` by the method, or by FOLLOW where a scout has arrived, or by LEAP while a leap lasts."""
    if anti_chatter:
        keep_still_targets(p, w)
    scouting, leaping = anti_chatter and entry_at(address, CALL).scout != 0, anti_chatter and len(w.stall.trail) > 0
    method = LEAP if leaping and w.memory[CREPT] < 0.0 else METHOD
    _update(p, w, updates, anti_chatter, address, FOLLOW if scouting and w.memory[SCOUT_STATE] == FOLLOWING else method)
    if leaping:
        call(w.routines[LOOK_BACK], p, w)
    if scouting:
        call(w.routines[SCOUT], p, w, address)


@kernel
def step_towards_goal(p, w, updates, anti_chatter, address):
    """`updates` updates from w.start towards w.goal; a code.  The new q is in w.out from ANSWER on."""
    if not (aim_at(p, w.goal, w.target) and is_posture(p, w.guide)):
        return BAD_GOAL
    if not read_start(p, w.start, w.before):
        return BAD_START
    away = 0.0
    for i in range(len(w.q)):
        away += (w.before[i] - w.q[i]) ** 2
        w.q[i] = w.before[i]
    if away > 1e-24:  # not where the last step led: no step to take back, and no braking that was checked
        w.memory[PREDICTED], w.memory[CERTIFIED] = ELSEWHERE, 0.0
        widen_trust_radius(w, sqrt(away))
    w.memory[FAILED], w.memory[SHORTENED] = 0.0, 0.0
    _update_or_follow(p, w, updates, anti_chatter, address)
    for i in range(len(w.q)):
        w.out[ANSWER + i] = w.q[i]
    if w.memory[FAILED] > 0.5:
        return NOT_FINITE
    return OPEN if len(p.loops) > 0 and w.memory[STAGE] == LOOPS_OPEN else SOLVED


@entry_point(WHOLE)
def steps(address):
    """A step towards each of the `steps` rows of `goals` in turn, each from where the last one led; `path` is the way.

    Where a posture is followed, each step has its own of `postures` (steps x nq).
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    width, count = GOAL_NUMBERS * len(p.effectors), len(w.q)
    goals, path = rows_at(request.goals, request.steps * width), rows_at(request.path, request.steps * count)
    postures, failed = rows_at(request.postures, request.steps * count), False
    for k in range(request.steps):
        if k > 0:
            for i in range(count):
                w.start[i] = w.q[i]
        for i in range(width):
            w.goal[i] = goals[k * width + i]
        for i in range(len(w.guide)):
            w.guide[i] = postures[k * count + i]
        code = step_towards_goal(p, w, request.updates, request.anti_chatter, address)
        if code < 0:
            return code
        failed = failed or code == NOT_FINITE
        for i in range(count):
            path[k * count + i] = w.q[i]
    return NOT_FINITE if failed else SOLVED


@entry_point(WHOLE)
def rollout(address):
    """`updates` updates towards each of the `steps` rows of `goals` in turn, from `start`; `path` is the way.

    Where a posture is followed, each step has its own of `postures` (steps x nq).
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    width, count = GOAL_NUMBERS * len(p.effectors), len(w.q)
    goals, path = rows_at(request.goals, request.steps * width), rows_at(request.path, request.steps * count)
    postures = rows_at(request.postures, request.steps * count)
    if not read_start(p, w.start, w.q):
        return BAD_START
    forget(w)
    for k in range(request.steps):
        for i in range(len(w.guide)):
            w.guide[i] = postures[k * count + i]
        if not (aim_at(p, section(goals, k * width, width), w.target) and is_posture(p, w.guide)):
            return BAD_GOAL
        _update_or_follow(p, w, request.updates, request.anti_chatter, address)
        for i in range(count):
            path[k * count + i] = w.q[i]
    return NOT_FINITE if w.memory[FAILED] > 0.5 else SOLVED


@entry_point(WHOLE)
def rollout_lanes(address):
    """`rollout` of any number of characters, eight at a time, one a lane: goals (characters x steps x .), and postures.

    The starts (characters x nq) are the first rows of `path` (characters x steps x nq), which the way overwrites.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w, v = narrow(p, request.narrow, request.routines), wide(p, request.wide, request.wide_routines)
    width, count, steps, characters = GOAL_NUMBERS * len(p.effectors), len(w.q), request.steps, request.characters
    goals, path = rows_at(request.goals, characters * steps * width), rows_at(request.path, characters * steps * count)
    postures = rows_at(request.postures, characters * steps * count)
    failed = False
    for first in range(0, characters, WIDTH):
        some = min(WIDTH, characters - first)
        for lane in range(WIDTH):
            c = first + min(lane, some - 1)
            if not read_start(p, section(path, c * steps * count, count), w.q):
                return BAD_START
            for i in range(count):
                v.q[i, lane] = w.q[i]
        forget(v)
        for k in range(steps):
            for lane in range(WIDTH):
                at = (first + min(lane, some - 1)) * steps + k
                for i in range(len(w.guide)):
                    w.guide[i] = postures[at * count + i]
                    v.guide[i, lane] = w.guide[i]
                if not (aim_at(p, section(goals, at * width, width), w.target) and is_posture(p, w.guide)):
                    return BAD_GOAL
                # Copies into lanes cost: only the rows of a target that its task reads.
                for e in range(len(p.effectors)):
                    # A place alone needs three rows of its target, a frame without weights the first twelve.
                    effector, row = p.effectors[e], GOAL * e
                    place_alone = effector.position >= 0 and effector.rotation < 0 and not effector.weighing
                    for i in range(row + 9 if place_alone else row, row + (GOAL if effector.weighing else 12)):
                        v.target[i, lane] = w.target[i]
            _update(p, v, request.updates, request.anti_chatter, address, METHOD)
            for lane in range(some):
                for i in range(count):
                    path[((first + lane) * steps + k) * count + i] = v.q[i, lane]
        for lane in range(some):
            failed = failed or v.memory[FAILED, lane] > 0.5
    return NOT_FINITE if failed else SOLVED


@kernel
def _note_trace(p, w, trace, row):
    """Write row `row` of the trace at w.q: sum of squares, score, singular values (m), q (nq).

    The largest step and lambda^2 are written after the update.
    """
    cost, score = evaluate(p, w)
    m, n, count = len(w.e), len(w.free), len(w.q)
    for a in range(n):
        w.free[a] = 1.0
    stride = pitch(w.rows, n)
    for i in range(m * stride):
        w.rows[i] = 0.0
    spread(p, w.jacobian, w.free, stride, w.rows)
    identity(m, w.spare)
    decompose(m, n, w.rows, w.spare, w.sigma)
    at = row * (TRACE + m + count)
    trace[at], trace[at + 1] = cost, score
    for i in range(m):
        trace[at + TRACE + i] = w.sigma[i]
    for i in range(count):
        trace[at + TRACE + m + i] = w.q[i]


@kernel
def _start(p, w, number):
    """Begin start `number` from the caller's q, which is 0, or from a random one."""
    store(w.state, STARTED, number)
    begin(p, w, True, w.offsets, w.pool)
    forget(w)
    w.loop[AGE], w.loop[SINCE], w.loop[MARK], w.loop[NEAR] = 0.0, 0.0, np.inf, 0.0


@kernel
def _propose(p, w, address):
    """One update; whether all that must hold did at the q before it, and the sum of squares and the score there."""
    if len(p.braking_group) == 0:
        _step(p, w, address, METHOD)
        return True, w.memory[COST], w.memory[SCORE]
    feasible = slack_of_sums(p, w.q) >= 0.0 and _ranges_and_loops_hold(p, w)
    _update(p, w, 1, True, address, METHOD)
    if len(p.collision) > 0:  # the update has measured the pairs that were near before it
        feasible = feasible and w.clearance[0] >= p.collision[0].distance
    return feasible, w.memory[COST], w.memory[SCORE]


@kernel
def _stays(w):
    """Whether the last update was no step."""
    stays = True
    for a in range(len(w.step)):
        stays = stays and w.step[a] == 0.0
    return stays


@kernel
def _all_hold(p, w, address):
    """Whether limits of sums, distances of shapes, ranges and loops hold at w.q, which stays."""
    return is_feasible(p, w, address) and _ranges_and_loops_hold(p, w)


@kernel
def _ranges_and_loops_hold(p, w):
    """Whether ranges and loops hold at w.q."""
    if len(p.ranges) > 0:
        evaluate_ranges(p, w, w.q)
        for i in range(len(w.sides.residual)):
            if not w.sides.residual[i] <= _ROUNDING:
                return False
    return len(p.loops) == 0 or evaluate_loops(p, w, w.q) <= CLOSED


@kernel
def _away(p, w):
    """|M (guide - before)|^2, M being p.posture_mask, and the posture clipped to the limits; 0 without a posture."""
    square = 0.0
    if len(p.posture_mask) == 0:
        return square
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x = p.posture_mask[c.v] * (min(max(w.guide[c.q], c.lower), c.upper) - w.before[c.q])
        square += x * x
    for b in range(len(p.balls)):
        a = p.balls[b].v
        u0, u1, u2 = turn_since(w.before, w.guide, p.balls[b].q)
        square += (p.posture_mask[a] * u0) ** 2 + (p.posture_mask[a + 1] * u1) ** 2 + (p.posture_mask[a + 2] * u2) ** 2
    return square


@kernel
def _is_better(p, loop, rank, cost, away):
    """Whether this is better than the best: by rank, then by squared error, then by the distance from a posture.

    Errors that are equal but for _ALIKE are compared with the least of them, LEAST, so that they cannot creep up.
    """
    if rank != loop[RANK]:
        return rank > loop[RANK]
    if len(p.posture_mask) == 0:
        return cost < loop[BEST]
    less = cost < (1.0 - _ALIKE) * loop[BEST] - _FULFILLED
    return less or (cost <= (1.0 + _ALIKE) * loop[LEAST] + _FULFILLED and away < loop[NEAREST])


@kernel
def _put_best(p, w, address):
    """Put the best q into w.q, joints by whole turns near to the start unless something does not hold there."""
    for i in range(len(w.q)):
        w.q[i] = w.best[i]
    if near_turn(p, w, w.pool) and len(p.braking_group) > 0 and not _all_hold(p, w, address):
        for i in range(len(w.q)):
            w.q[i] = w.best[i]


@entry_point(WHOLE)
def iterate(address):
    """Solve one problem by updates from `start`, then from random starts; returns a code and fills `out`.

    A start ends when the tasks are within their tolerances and all that must hold does, after `max_iterations`, when
    its least error has all but stopped falling, or when a step is not finite.  Where some tasks are soft, or a posture
    is followed (`lessening`), it goes on within the tolerances while what is left falls.  Phases and `chunk` are those
    of `lm_solver.solve`.  Ranks: 0, something does not hold; 1, all holds; 2, and the tasks are within tolerances.
    """
    return _iterate(address)


@routine
def iterate_stage(address):
    """`iterate` as a stage of a search; its code is that of the call."""
    request = entry_at(address, CALL)
    request.code = _iterate(address)


@kernel
def _iterate(address):
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    loop, count, phase = w.loop, len(w.q), request.phase
    constrained, lessening = len(p.braking_group) > 0, len(p.posture_mask) > 0
    for b in range(len(p.blocks)):
        lessening = lessening or p.blocks[b].soft > 0
    columns = TRACE + len(w.e) + count
    trace = rows_at(request.trace, request.trace_rows * columns)
    if phase == BEGIN:
        if not aim_at(p, w.goal, w.target):
            return BAD_GOAL
        if not clip_start(p, w.start, w.pool):
            return BAD_START
        draw_offsets(w.offsets, request.seed)
        if constrained:
            w.clearance[1] = np.inf  # w.best is not for what does not hold
        for i in range(len(w.guide)):
            w.guide[i] = w.posture_goal[i]
        loop[STARTS], loop[BEST], loop[ENDED], loop[FAILURES] = 0.0, np.inf, 0.0, 0.0
        loop[SPENT], loop[RANK], loop[BEYOND], loop[LEAST], loop[NEAREST] = 0.0, -1.0, 0.0, np.inf, 0.0
        for i in range(count):
            w.q[i], w.before[i], w.best[i] = w.pool[i], w.pool[i], w.pool[i]
        _start(p, w, 0.0)
    if phase != END:
        for _ in range(request.chunk):
            age = loop[AGE]
            row = np.int64(age)
            if row < request.trace_rows:
                _note_trace(p, w, trace, row)
            # What is measured is of the q before the update, w.before: so are rank, best and trace.
            feasible, cost, score = _propose(p, w, address)
            if row < request.trace_rows:
                trace[row * columns + 2], trace[row * columns + 3] = w.memory[STEP], w.memory[DAMPING]
            loop[LENGTH] = age + 1.0
            if score <= 1.0 and not feasible:
                loop[BEYOND] = 1.0  # a solution but for what must hold: the code is BLOCKED, not UNSOLVED
            rank = (2.0 if score <= 1.0 else 1.0) if feasible else 0.0
            away = _away(p, w)
            if _is_better(p, loop, rank, cost, away):
                loop[BEST], loop[NEAREST], loop[SPENT], loop[ENDED] = cost, away, age, 0.0
                loop[LEAST] = min(cost, loop[LEAST]) if rank == loop[RANK] else cost
                loop[OWNER], loop[RANK] = loop[STARTS], rank
                for i in range(count):
                    w.best[i] = w.before[i]
            if rank > 1.5 and not lessening:
                _put_best(p, w, address)
                return finish(p, w, np.int64(age), np.int64(loop[STARTS]), np.int64(loop[STARTS]), False)
            if cost < _GAIN * loop[MARK]:
                loop[MARK], loop[NEAR], loop[SINCE] = cost, away, age
            elif away < _GAIN * loop[NEAR]:
                loop[NEAR], loop[SINCE] = away, age
            failed = w.memory[FAILED] > 0.5
            stalled = age - loop[SINCE] >= (_STUCK if rank == 0.0 and _stays(w) else _PATIENCE)
            loop[AGE] = age + 1.0
            if failed or stalled or age >= request.max_iterations:
                if failed:
                    loop[FAILURES] += 1.0
                elif stalled and loop[OWNER] == loop[STARTS]:
                    loop[ENDED] = 1.0
                if lessening and loop[RANK] > 1.5:
                    _put_best(p, w, address)
                    starts = np.int64(loop[STARTS])
                    code = finish(p, w, np.int64(loop[SPENT]), starts, np.int64(loop[OWNER]), loop[ENDED] > 0.5)
                    if code == SOLVED:
                        return code
                if loop[STARTS] >= request.max_restarts:
                    phase = END
                    break
                loop[STARTS] += 1.0
                _start(p, w, loop[STARTS])
        if phase != END:
            return RUNNING
    _put_best(p, w, address)
    code = finish(p, w, np.int64(loop[SPENT]), np.int64(loop[STARTS]), np.int64(loop[OWNER]), loop[ENDED] > 0.5)
    if code == SOLVED and loop[RANK] > 0.5:
        return code
    if code == SOLVED or loop[BEYOND] > 0.5:
        return BLOCKED
    return NOT_FINITE if loop[FAILURES] > loop[STARTS] else code
