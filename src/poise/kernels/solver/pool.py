"""The pool of candidates: the ends of starts that did not converge, and their last descent together.

Where a candidate has next to no error left, it is tested whether it is a local minimum: the gradient is zero and the
error convex around it, as where a model's file is rounded and a target is off by that.  Then no solution is near, and
its small error is no reason for more starts: without the test such a target uses up all of `max_restarts`.
"""

import numpy as np

from poise.kernels.algebra.cholesky import factor, substitute
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, sqrt, store
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
    POOL_SHUT,
    POOL_START,
    SCORE,
    SLOW,
    STARTED,
)
from poise.kernels.solver.step import advance, hold

POLISH, MOST_POLISH = 300, 20_000
"""Iterations of the last descent, at most: as many as a start may take, but no fewer and no more than these."""
_LEVEL = 1.0 - 1e-7
"""A lane that falls by less than this factor in that time is at rest."""
_PAUSE = 10
"""Iterations between two looks at whether the last descent still gains."""
_BETTER = 0.99
"""A candidate must undercut the caller's own start by this factor, so that two that are much alike do not take turns
as a target moves."""
_SLIGHT = 4e-6
"""Below this error [m^2, rad^2 a block] it is asked whether there is a solution around a candidate: two milliradians
are what a right angle with three digits is off by."""
_BEND = 1.0
"""A bound of second derivatives of rows [m or rad a rad^2]: of rotations it is 1, of places the length of the arm."""
_FALL, _NEWTON = 1e-4, 6
"""Newton's steps end where the next one is predicted to lower the squared error by no more than this share; steps at
most."""
_MARGIN = 1.02
"""Factor by which more must be left than tolerances allow, for what Newton's steps leave open."""


@kernel
def keep_candidate(p, own, w, lane):
    """Put the best q of a lane into the pool, in place of the worst there if it is better; place 0 holds the caller's.

    `own` is a workspace of one number, whose q is written over.
    """
    cost, best = w.state[LANE_COST, lane], True
    # The last step may have been a bold one uphill: then the q before it is better.
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
    w.state[POOL_START, slot], w.state[POOL_SHUT, slot] = w.state[STARTED, lane], 0.0
    for i in range(len(w.q)):
        w.pool[i, slot] = w.q[i, lane] if best else w.before[i, lane]
    if cost < _SLIGHT * len(p.blocks) and len(w.step) < len(w.e):
        for i in range(len(w.q)):
            own.q[i] = w.pool[i, slot]
        w.state[POOL_SHUT, slot] = 1.0 if is_shut(p, own) else 0.0


@kernel
def is_shut(p, w):
    """Whether w.q, one number wide, is next to a local minimum with no solution around it; w.q is written over.

    The Hessian of |e|^2 / 2 is J^T J + sum e_i H_i, and the second term is no less than -_BEND |e| I.  Where
    J^T J - _BEND |e| I is positive definite, which takes no more joints than rows, the error is convex, and Newton's
    steps lead to its minimum e*.  There J^T e* = 0, so to first order a solution near it with residuals r has
    e* . r = |e*|^2; within tolerances e* . r is at most what `_within_tolerances` sums up.
    """
    n = len(w.step)
    for _ in range(_NEWTON):
        cost = evaluate(p, w)[0]
        hold(p, w)
        _fill_curvature(p, w, _BEND * sqrt(cost))
        for a in range(n):
            w.step[a] = w.step[a] * w.free[a]
            w.y[a] = w.step[a]
        if not factor(n, w.matrix) > 0.0:  # not positive definite
            return False
        substitute(n, w.matrix, w.y)
        fall = 0.0
        for a in range(n):
            fall += w.step[a] * w.y[a]
            w.step[a] = w.y[a]
        if fall < _FALL * cost:
            return cost > _MARGIN * _within_tolerances(p, w)
        advance(p, w, cost >= 0.0, 0.0)
    return False


@kernel
def _within_tolerances(p, w):
    """The largest product of the residuals at w.q with any that are within all tolerances: sum |e_b| tolerance_b."""
    product = 0.0
    for b in range(len(p.blocks)):
        size = w.e[3 * b] ** 2 + w.e[3 * b + 1] ** 2 + w.e[3 * b + 2] ** 2
        product += sqrt(size / p.blocks[b].inverse_square_tolerance)
    return product


@kernel
def _fill_curvature(p, w, less):
    """w.matrix (n x n) = J^T J - less I over the free joints, and the identity over those that are held."""
    n = len(w.step)
    for i in range(n * n):
        w.matrix[i] = 0.0
    for a in range(n):
        w.matrix[n * a + a] = -less if w.free[a] > 0.5 else 1.0
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        for block in range(effector.first_block, effector.last_block):
            for s in range(effector.columns):
                a, i = p.slots[effector.first_slot + s], p.blocks[block].start + 3 * s
                for t in range(effector.columns):
                    b, j = p.slots[effector.first_slot + t], p.blocks[block].start + 3 * t
                    product = w.jacobian[i] * w.jacobian[j]
                    product += w.jacobian[i + 1] * w.jacobian[j + 1] + w.jacobian[i + 2] * w.jacobian[j + 2]
                    w.matrix[n * a + b] = w.matrix[n * a + b] + product * w.free[a] * w.free[b]


@kernel
def polish(p, w, max_iterations):
    """Descend from all of the pool until it falls no more; the best lane, whether it came to rest, the iterations."""
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
