"""The candidates: where starts ended that converged to nothing, and their last descent together."""

import numpy as np

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, store
from poise.kernels.machine.layout import (
    WIDTH,
)
from poise.kernels.solver.descent import MU_LOW, improve
from poise.kernels.solver.ends import evaluate
from poise.kernels.solver.state import (
    AGE,
    INSIDE,
    LANE_COST,
    LIMIT,
    MU,
    POOL_AGE,
    POOL_COST,
    POOL_START,
    SCORE,
    SLOW,
    STARTED,
)

POLISH = 300
"""Iterations of the last descent, at most."""
_LEVEL = 1.0 - 1e-7
"""A lane that falls by less than this factor in that time is at rest."""
_PAUSE = 10
"""Iterations between two looks at whether the last descent still gains."""
_BETTER = 0.99
"""A candidate must undercut the caller's own start by this factor, so that two that are much alike do not take turns
as a target moves."""


@kernel
def keep_candidate(w, lane):
    """Put what a lane found into the pool, in place of the worst there; place 0 holds the caller's own start."""
    cost, best = w.state[LANE_COST, lane], True
    if not cost <= w.state[LIMIT, lane]:
        cost, best = w.state[LIMIT, lane], False
    if not 0.0 <= cost < np.inf:
        return
    slot = 1
    for k in range(1, WIDTH):
        other = w.state[POOL_COST, k]
        if abs(other - cost) < 0.001 * cost:  # most likely the same valley; the others are worth more
            slot = k
            break
        if other > w.state[POOL_COST, slot]:
            slot = k
    if w.state[POOL_COST, slot] <= cost:
        return
    w.state[POOL_COST, slot], w.state[POOL_AGE, slot] = cost, w.state[AGE, lane]
    w.state[POOL_START, slot] = w.state[STARTED, lane]
    for i in range(len(w.q)):
        w.pool[i, slot] = w.q[i, lane] if best else w.before[i, lane]


@kernel
def polish(p, w, max_iterations):
    """Let the pool descend to where it falls no more; the best lane, whether it came to rest, and the iterations."""
    for lane in range(WIDTH):
        empty = not w.state[POOL_COST, lane] < np.inf
        for i in range(len(w.q)):
            w.q[i, lane] = w.pool[i, 0] if empty else w.pool[i, lane]
            w.before[i, lane] = w.q[i, lane]
        w.state[MU, lane] = MU_LOW
        w.state[LIMIT, lane] = np.inf
        w.state[SLOW, lane] = np.inf
    resting, spent = False, 0
    for k in range(1, max_iterations + 1):
        spent = k
        cost, score = evaluate(p, w)
        store(w.state, LANE_COST, cost), store(w.state, SCORE, score)
        if any_of(score <= INSIDE):
            break
        if k % _PAUSE == 0:
            resting = rested(w)
            if resting:
                break
        improve(p, w, cost, cost < 0.0, False)
    best = 0
    for lane in range(WIDTH):
        if not w.state[LANE_COST, lane] <= w.state[LIMIT, lane]:
            w.state[LANE_COST, lane] = w.state[LIMIT, lane]
            for i in range(len(w.q)):
                w.q[i, lane] = w.before[i, lane]
        margin = _BETTER if best == 0 else 1.0
        if w.state[LANE_COST, lane] < margin * w.state[LANE_COST, best]:
            best = lane
    return best, resting, np.int64(spent + max(w.state[POOL_AGE, best], 0.0))


@kernel
def rested(w):
    """Whether no lane that can still win has fallen by more than rounding since this was last asked."""
    best = np.inf
    for lane in range(WIDTH):
        best = min(best, w.state[LIMIT, lane])
    resting = True
    for lane in range(WIDTH):
        now, then = w.state[LIMIT, lane], w.state[SLOW, lane]
        if now < 2.0 * best and not now > _LEVEL * then:
            resting = False
        w.state[SLOW, lane] = now
    return resting
