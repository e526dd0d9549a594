"""Steps of a method that keep all that must hold, where a search has come to nothing that does.

They begin at what it came to, which is near to the targets, then at the caller's start, which may be where all holds.
Where tasks may be missed, steps end at one minimum from here and at another from there: so a few random starts follow,
briefly, and from the best of them steps go on to rest.  Where none may be, random starts are made only where neither of
the first leads to where all holds.
"""

import numpy as np

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.layout import (
    ANSWER,
    BY_CLOSED_FORM,
    CALL,
    CODE,
    COST,
    ITERATIONS,
    RESTARTS,
    RUNNING,
    SOLVED,
    START,
)
from poise.kernels.machine.memory import RANK
from poise.kernels.machine.views import entry_at, narrow, problem_at, section
from poise.kernels.solver.feasibility import is_feasible
from poise.kernels.solver.inner import (
    BEST,
    ENDED,
    GOOD,
    PAUSED,
    TRIES,
    TRY,
    measure,
    pauses,
    put_same_question,
    run_inner,
)

_RESTARTS = 7
"""Random starts, at most, where nothing keeps all."""
_LESS = 1.0 - 1e-6
"""A cost that is less by this factor is lower."""
_SHORT = 50
"""Iterations, at most, where something that holds is known: what leads to the targets takes fewer."""


@kernel
def may_help(p, w, code, address):
    """Whether steps may lead to more than the answer in `out`, whose code this is; not where the posture alone is
    missed."""
    if code <= SOLVED or entry_at(address, CALL).keeps_by_steps == 0:
        return False
    return not (w.out[CODE] == SOLVED and _is_feasible(p, w, address))


@kernel
def are_made(p, address):
    """Whether the search by steps is there, with the random starts of this seed."""
    request = entry_at(address, CALL)
    return request.by_steps != 0 and (request.sampled == request.seed or not _has_soft(p))


@kernel
def put_starts(p, w):
    """Write where steps begin, NaN for what is no number, and that none is tried yet.

    In random starts what no task moves is as in w.start.
    """
    state, starts, samples, count = w.fallback.state, w.fallback.starts, w.fallback.samples, len(w.q)
    for i in range(count):
        starts[i], starts[count + i] = w.out[ANSWER + i], w.start[i]
    for k in range(2):
        for i in range(count):
            if not abs(starts[count * k + i]) < np.inf:
                starts[count * k] = np.nan
    for i in range(len(samples) if _has_soft(p) else 0):
        starts[2 * count + i] = samples[i]
    for k in range(2, _first_starts(p, w)):
        for r in range(len(p.idle)):
            starts[count * k + p.idle[r].q] = w.start[p.idle[r].q]
        for r in range(len(p.idle_balls)):
            for i in range(p.idle_balls[r].q, p.idle_balls[r].q + 4):
                starts[count * k + i] = w.start[i]
    state[TRY], state[TRIES], state[BEST], state[GOOD] = 0.0, _first_starts(p, w) + 1.0, -1.0, 0.5


@kernel
def _first_starts(p, w):
    """How many starts there are before random ones of the method's own, and those from which it goes on to rest."""
    return 2 + (len(w.fallback.samples) // len(w.q) if _has_soft(p) else 0)


@kernel
def keep_all(p, w, code, spent, address):
    """The code where `out` becomes an answer that keeps all, by steps from several starts in turn."""
    request, state, starts, best = entry_at(address, CALL), w.fallback.state, w.fallback.starts, w.fallback.answer
    count, soft, first = len(w.q), _has_soft(p), _first_starts(p, w)
    if starts[0] != starts[0] and starts[count] != starts[count]:
        return code
    steps = entry_at(request.by_steps, CALL)
    w1 = narrow(problem_at(steps.problem), steps.narrow, steps.routines)
    while state[TRY] < state[TRIES]:
        k = np.int64(state[TRY])
        at, known = count * (1 if k == first else k), state[BEST] >= 0.0
        brief = known and (not soft or (k >= 2 and k < first))
        if state[PAUSED] < 0.5:
            restarts = min(_RESTARTS, steps.usual_restarts) if k == first else 0
            if spent:
                break
            if starts[at] != starts[at] or (k == first and (known or restarts == 0)):
                state[TRY] += 1.0
                continue
            steps.max_restarts, steps.max_iterations = restarts, steps.usual_iterations
            if brief:
                steps.max_iterations = min(_SHORT, steps.usual_iterations)
            put_same_question(w, request.by_steps, section(starts, at, count), address)
        ended = run_inner(w, request.by_steps, spent)
        if pauses(ended):
            return ended
        rank = w1.loop[RANK] if ended >= 0 else 0.0
        if rank > state[GOOD] or (soft and known and rank == state[GOOD] and w1.out[COST] < _LESS * best[COST]):
            state[BEST], state[GOOD], state[ENDED] = k, rank, ended
            for i in range(len(best)):
                best[i] = w1.out[i]
            if soft and brief:
                for i in range(count):
                    starts[count * np.int64(state[TRIES]) + i] = best[ANSWER + i]
                state[TRIES] += 1.0
        state[TRY] += 1.0
        if spent or (rank > 1.5 and not soft):
            break
        if state[TRY] < state[TRIES]:
            return RUNNING  # the clock and signals are heard of between two starts
    if state[BEST] < 0.0:
        return code
    return _take_best(w, code, address)


@kernel
def _take_best(w, code, address):
    """Let `out` be the best answer of steps; the code."""
    request, out, best, state = entry_at(address, CALL), w.out, w.fallback.answer, w.fallback.state
    restarts, iterations, came_from = out[RESTARTS], out[ITERATIONS], out[START]
    for i in range(len(out)):
        out[i] = best[i]
    out[RESTARTS] += restarts
    out[ITERATIONS] += iterations
    if state[BEST] == 0.0 and (best[CODE] == SOLVED or came_from == BY_CLOSED_FORM):
        out[START] = came_from
    measure(problem_at(entry_at(request.by_steps, CALL).problem), w, w.start)
    return np.int64(state[ENDED]) if best[CODE] == SOLVED else code


@kernel
def _is_feasible(p, w, address):
    """Whether limits of sums hold at the answer in `out`, and shapes are as far apart as asked."""
    for i in range(len(w.q)):
        w.q[i] = w.out[ANSWER + i]
    if entry_at(address, CALL).check_feasibility == 0:
        return True
    w.clearance[1] = np.inf  # w.best is for the search alone
    return is_feasible(p, w, address)


@kernel
def _has_soft(p):
    """Whether some tasks may be missed."""
    soft = False
    for b in range(len(p.blocks)):
        soft = soft or p.blocks[b].soft > 0
    return soft
