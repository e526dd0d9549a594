"""The loops around an update: one time step, a whole rollout, a solve to tolerance."""

import numpy as np

from poise.kernels.algebra.blocks import spread
from poise.kernels.algebra.svd import decompose, identity
from poise.kernels.machine.jit import FROZEN, REALS, TABLE, WHOLE, WHOLES, border, call, kernel
from poise.kernels.machine.lanes import WIDTH, pitch, section, splat, store
from poise.kernels.methods.memory import (
    AGE,
    BEST,
    COST,
    DAMPING,
    ELSEWHERE,
    ENDED,
    FAILED,
    FAILURES,
    LENGTH,
    MARK,
    MEMORY,
    OWNER,
    PREDICTED,
    SCORE,
    SINCE,
    SPENT,
    STARTS,
    STEP,
    recall,
)
from poise.kernels.rows.residuals import GOAL, POSITION
from poise.kernels.solver.lm_solver import (
    BAD_GOAL,
    BAD_START,
    RUNNING,
    SOLVED,
    STARTED,
    UNSOLVED,
    aim_at,
    begin,
    clip_start,
    divide,
    draw_offsets,
    evaluate,
    finish,
    unpack,
)

NOT_FINITE = 3
BEGIN, GO_ON, END = 0, 1, 2
_PATIENCE = 30
_GAIN = 1.0 - 1e-4
"""A start is given up when its best error has not fallen by this factor in so many iterations."""
TRACE = 4
"""Numbers of a row of the trace before the singular values: sum of squares, score, largest step, lambda^2."""


@kernel
def forget(d):
    """Let the next update be the first."""
    for i in range(MEMORY):
        store(d.memory, i, splat(d.memory, 0.0))


@border(WHOLE, WHOLES, REALS, REALS, WHOLE, REALS)
def step(method, ints, floats, work, updates, q):
    """Take `updates` updates from q towards the goals in `work`, which the new q follows; a negative code if bad."""
    p = unpack(ints, floats)
    w = divide(ints, work)
    d = recall(ints, work)
    if not aim_at(p, d.goal, w.target):
        return BAD_GOAL
    if not clip_start(p, q, w.before):
        return BAD_START
    away = 0.0
    for i in range(w.q.shape[0]):
        away += (w.before[i] - w.q[i]) ** 2
        w.q[i] = w.before[i]
    if away > 1e-24:  # not where the last step led: there is nothing to take back
        d.memory[PREDICTED] = ELSEWHERE
    d.memory[FAILED] = 0.0
    for _ in range(updates):
        call(method, ints, floats, work)
    for i in range(w.q.shape[0]):
        d.answer[i] = w.q[i]
    return NOT_FINITE if d.memory[FAILED] > 0.5 else SOLVED


@border(WHOLE, WHOLES, REALS, REALS, REALS, REALS, REALS, WHOLE, WHOLE)
def rollout(method, ints, floats, goals, q, work, path, steps, updates):
    """`updates` updates towards each of the `steps` rows of `goals` in turn, from q; `path` (steps x nq) is the way."""
    p = unpack(ints, floats)
    w = divide(ints, work)
    d = recall(ints, work)
    width, count = 7 * p.effectors.shape[0], q.shape[0]
    if not clip_start(p, q, w.q):
        return BAD_START
    forget(d)
    for k in range(steps):
        if not aim_at(p, section(goals, k * width, width), w.target):
            return BAD_GOAL
        for _ in range(updates):
            call(method, ints, floats, work)
        for i in range(count):
            path[k * count + i] = w.q[i]
    return NOT_FINITE if d.memory[FAILED] > 0.5 else SOLVED


@border(WHOLE, WHOLES, REALS, REALS, REALS, REALS, TABLE, REALS, WHOLE, WHOLE, WHOLE)
def rollout_lanes(method, ints, floats, goals, q, work1, work8, path, characters, steps, updates):
    """`rollout` of up to eight characters, one a lane: goals (characters x steps x .), q (characters x nq)."""
    p = unpack(ints, floats)
    w = divide(ints, work1)
    v = divide(ints, work8)
    d = recall(ints, work8)
    width, count = 7 * p.effectors.shape[0], w.q.shape[0]
    for lane in range(WIDTH):
        c = min(lane, characters - 1)
        if not clip_start(p, section(q, c * count, count), w.q):
            return BAD_START
        for i in range(count):
            v.q[i, lane] = w.q[i]
    forget(d)
    for k in range(steps):
        for lane in range(WIDTH):
            c = min(lane, characters - 1)
            if not aim_at(p, section(goals, (c * steps + k) * width, width), w.target):
                return BAD_GOAL
            for e in range(p.effectors.shape[0]):
                # A place alone needs three rows of its target, a frame without weights the first twelve.
                at = GOAL * e
                first = at + 9 if p.effectors[e, 1] == POSITION else at
                for i in range(first, at + (GOAL if p.effectors[e, 7] else 12)):
                    v.target[i, lane] = w.target[i]
        for _ in range(updates):
            call(method, ints, floats, work8)
        for c in range(characters):
            for i in range(count):
                path[(c * steps + k) * count + i] = v.q[i, c]
    for c in range(characters):
        if d.memory[FAILED, c] > 0.5:
            return NOT_FINITE
    return SOLVED


@kernel
def _note_trace(p, w, d, trace, row):
    """Row `row` of the trace, but for what the step will add."""
    cost, score = evaluate(p, w)
    m, n, count = w.e.shape[0], w.free.shape[0], w.q.shape[0]
    for a in range(n):
        w.free[a] = 1.0
    apart = pitch(d.rows, n)
    for i in range(m * apart):
        d.rows[i] = 0.0
    spread(p.effectors, p.blocks, p.slots, w.jacobian, w.free, apart, d.rows)
    identity(m, d.spare)
    decompose(m, n, d.rows, d.spare, d.sigma)
    trace[row, 0], trace[row, 1] = cost, score
    for i in range(m):
        trace[row, TRACE + i] = d.sigma[i]
    for i in range(count):
        trace[row, TRACE + m + i] = w.q[i]


@kernel
def _start(p, w, d, number):
    """Begin start `number` from the caller's q, which is 0, or from a random one."""
    store(w.state, STARTED, number)
    begin(p, w, True, w.offsets, w.pool)
    forget(d)
    d.loop[AGE], d.loop[SINCE], d.loop[MARK] = 0.0, 0.0, np.inf


@border(WHOLE, WHOLES, REALS, FROZEN, REALS, REALS, REALS, TABLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE)
def iterate(method, ints, floats, goal, q0, work, out, trace, seed, max_iterations, max_restarts, chunk, phase):
    """Solve one problem by updates from q0, then from random starts; returns a code and fills `out`, see `finish`.

    A start ends when the tasks are within their tolerances, after `max_iterations`, when its least error has all but
    stopped falling, or when a step is no finite number.  Phases and `chunk` are those of `lm_solver.solve`.
    """
    p = unpack(ints, floats)
    w = divide(ints, work)
    d = recall(ints, work)
    loop, count = d.loop, q0.shape[0]
    if phase == BEGIN:
        if not aim_at(p, goal, w.target):
            return BAD_GOAL
        if not clip_start(p, q0, w.pool):
            return BAD_START
        draw_offsets(w.offsets, seed)
        loop[STARTS], loop[BEST], loop[ENDED], loop[FAILURES] = 0.0, np.inf, 0.0, 0.0
        loop[SPENT] = 0.0
        for i in range(count):
            w.q[i], w.before[i], d.best[i] = w.pool[i], w.pool[i], w.pool[i]
        _start(p, w, d, 0.0)
    if phase != END:
        for _ in range(chunk):
            age = loop[AGE]
            row = np.int64(age)
            if row < trace.shape[0]:
                _note_trace(p, w, d, trace, row)
            call(method, ints, floats, work)
            cost, score = d.memory[COST], d.memory[SCORE]
            if row < trace.shape[0]:
                trace[row, 2], trace[row, 3] = d.memory[STEP], d.memory[DAMPING]
            loop[LENGTH] = age + 1.0
            if cost < loop[BEST]:
                loop[BEST], loop[SPENT], loop[ENDED] = cost, age, 0.0
                loop[OWNER] = loop[STARTS]
                for i in range(count):
                    d.best[i] = w.before[i]
            if score <= 1.0:
                for i in range(count):
                    w.q[i] = w.before[i]
                return finish(p, w, out, np.int64(age), np.int64(loop[STARTS]), False, count)
            if cost < _GAIN * loop[MARK]:
                loop[MARK], loop[SINCE] = cost, age
            failed = d.memory[FAILED] > 0.5
            stalled = age - loop[SINCE] >= _PATIENCE
            loop[AGE] = age + 1.0
            if failed or stalled or age >= max_iterations:
                if failed:
                    loop[FAILURES] += 1.0
                elif stalled and loop[OWNER] == loop[STARTS]:
                    loop[ENDED] = 1.0
                if loop[STARTS] >= max_restarts:
                    phase = END
                    break
                loop[STARTS] += 1.0
                _start(p, w, d, loop[STARTS])
        if phase != END:
            return RUNNING
    for i in range(count):
        w.q[i] = d.best[i]
    code = finish(p, w, out, np.int64(loop[SPENT]), np.int64(loop[STARTS]), loop[ENDED] > 0.5, count)
    return NOT_FINITE if code == UNSOLVED and loop[FAILURES] > loop[STARTS] else code
