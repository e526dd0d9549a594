"""Move within the null space of the tasks towards a posture.

Step.     dq = c + M J^T (J M J^T)^-1 (e - J c) over the free joints, with c = posture - q and M = W^-2: the exact
          minimum of sum (w_i (dq_i - c_i))^2 subject to J dq = e, after Liegeois 1977, not the leaky damped projector.
Limits.   A primal active set: a joint at a limit that the step would push out is held and the step found anew; the
          step ends where the first free joint meets its limit.
"""

import numpy as np

from poise.kernels.algebra.blocks import times
from poise.kernels.algebra.rotations import normalised, small_quaternion_step
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.machine.jit import WHOLE, entry_point, kernel
from poise.kernels.machine.layout import ANSWER, CALL, ITERATIONS, RESTARTS, START
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.solver.lm_solver import evaluate, finish

_DAMPING = 1e-12
_LEAST, _NONE = 0.01, 0.1
"""The smallest weight that the metric knows, and what it takes for none: such a joint moves easily, not wildly."""
_LONGEST = 0.2
"""Largest joint change of a step [rad or m]: beyond it the null space has turned away."""


@kernel
def _posture_errors(p, w):
    """Fill w.phi with posture - q, 0 without a weight; return sum (w_i (q_i - posture_i))^2."""
    q, posture, weight, c, cost = w.q, w.posture_goal, p.posture_weights, w.phi, 0.0
    for k in range(len(p.coordinates)):
        i, a = p.coordinates[k].q, p.coordinates[k].v
        c[a] = posture[i] - q[i] if weight[a] > 0.0 else 0.0
        cost += (weight[a] * c[a]) ** 2
    for k in range(len(p.balls)):
        i, a = p.balls[k].q, p.balls[k].v
        # Twice the vector part of posture * q^-1, which is the turn that is left to first order.
        w0, x0, y0, z0 = posture[i], posture[i + 1], posture[i + 2], posture[i + 3]
        w1, x1, y1, z1 = q[i], -q[i + 1], -q[i + 2], -q[i + 3]
        sign = 2.0 if w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1 >= 0.0 else -2.0
        turn = (
            sign * (w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1),
            sign * (w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1),
            sign * (w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1),
        )
        for j in range(3):
            c[a + j] = turn[j] if weight[a + j] > 0.0 else 0.0
            cost += (weight[a + j] * c[a + j]) ** 2
    return cost


@kernel
def _null_step(p, w):
    """The step above into w.step, c being w.phi; joints are held as the active set demands."""
    count, size = len(w.step), len(w.e)
    weight, c, rest = p.posture_weights, w.phi, w.along
    for a in range(count):
        w.free[a] = 1.0 / (max(weight[a], _LEAST) if weight[a] > 0.0 else _NONE) ** 2
    for _ in range(count + 1):
        for a in range(count):
            w.step[a] = c[a] if w.free[a] > 0.0 else 0.0
        times(p, w.jacobian, w.step, w.y)
        for i in range(size):
            rest[i] = w.e[i] - w.y[i]
        gram(p, size, w.jacobian, w.free, w.matrix)
        factor(size, _DAMPING, w.matrix)
        back_substitute(size, w.matrix, rest, w.y)
        for k in range(len(p.effectors)):
            slot0 = p.effectors[k].first_slot
            for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
                j = p.blocks[b].start
                for s in range(p.effectors[k].columns):
                    a = p.slots[slot0 + s]
                    for r in range(3):
                        w.step[a] += w.jacobian[j + 3 * s + r] * w.y[3 * b + r] * w.free[a]
        held = False
        for k in range(len(p.coordinates)):
            i, a = p.coordinates[k].q, p.coordinates[k].v
            down = w.q[i] <= p.coordinates[k].lower and w.step[a] < 0.0
            up = w.q[i] >= p.coordinates[k].upper and w.step[a] > 0.0
            if w.free[a] > 0.0 and (down or up):
                w.free[a] = 0.0
                held = True
        if not held:
            return


@entry_point(WHOLE)
def settle(address):
    """Bring the solved configuration of `out` as near to `posture_goal` as the tasks allow, and certify it anew.

    The workspace is as `lm_solver.solve` left it.  The tasks stay within their tolerances: the best configuration that
    does is kept, after `max_iterations` at most.
    """
    call = entry_at(address, CALL)
    p = problem_at(call.problem)
    w = narrow(p, call.narrow, call.routines)
    count, out, c = len(w.q), w.out, w.phi
    for i in range(count):
        w.q[i] = out[ANSWER + i]
        w.before[i] = w.q[i]
    best, size, last, iterations = np.inf, 1.0, np.inf, 0
    for _ in range(call.max_iterations):
        _, score = evaluate(p, w)
        cost = _posture_errors(p, w)
        if score <= 1.0 and cost < best:
            best = cost
            for i in range(count):
                w.before[i] = w.q[i]
        size = max(0.5 * size, 0.05) if cost > last else min(1.2 * size, 1.0)
        last = cost
        for a in range(len(c)):
            c[a] *= size
        _null_step(p, w)
        longest = 0.0
        for a in range(len(w.step)):
            longest = max(longest, abs(w.step[a]))
        if not longest > 1e-10:
            break
        t = min(1.0, _LONGEST / longest)
        meets = -1
        for k in range(len(p.coordinates)):
            i, a = p.coordinates[k].q, p.coordinates[k].v
            if w.q[i] + t * w.step[a] < p.coordinates[k].lower:
                t, meets = (p.coordinates[k].lower - w.q[i]) / w.step[a], k
            elif w.q[i] + t * w.step[a] > p.coordinates[k].upper:
                t, meets = (p.coordinates[k].upper - w.q[i]) / w.step[a], k
        for k in range(len(p.coordinates)):
            i, a = p.coordinates[k].q, p.coordinates[k].v
            x = w.q[i] + t * w.step[a]
            if k == meets:
                x = p.coordinates[k].lower if w.step[a] < 0.0 else p.coordinates[k].upper
            w.q[i] = min(max(x, p.coordinates[k].lower), p.coordinates[k].upper)
        for k in range(len(p.balls)):
            i, a = p.balls[k].q, p.balls[k].v
            turned = small_quaternion_step(
                w.q[i], w.q[i + 1], w.q[i + 2], w.q[i + 3], t * w.step[a], t * w.step[a + 1], t * w.step[a + 2]
            )
            w.q[i], w.q[i + 1], w.q[i + 2], w.q[i + 3] = normalised(*turned)
        iterations += 1
    for i in range(count):
        w.q[i] = w.before[i]
    return finish(p, w, np.int64(out[ITERATIONS]) + iterations, np.int64(out[RESTARTS]), np.int64(out[START]), False)
