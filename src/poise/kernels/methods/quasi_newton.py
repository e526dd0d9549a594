"""Quasi-Newton updates of the sum of squares f = |e|^2, whose gradient is -2 J^T e: see `poise.methods.quasi_newton`.

What the steps taken so far tell of the curvature is kept in `w.room`, and how many of them have told it in row PAIRS of
`w.memory`.  Steps and gradients are velocities, so joints that are balls need nothing of their own.  One number wide.
"""

from poise.kernels.algebra.blocks import transpose_times
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.views import section
from poise.kernels.methods.memory import FRESH, PAIRS, STEP
from poise.kernels.methods.settings import BFGS, METHOD, OPTION
from poise.kernels.methods.transpose import transpose_step
from poise.kernels.methods.update import hold_joints_at_limits, move, remember, restrain
from poise.kernels.solver.lm_solver import evaluate

_ARMIJO = 1e-4
"""Share of the fall that the slope promises which a step must bring."""
_TRIALS = 20
_CURVED = 1e-10
"""Cosine of a step and the change of the gradient above which the pair tells of a positive curvature."""


@kernel
def quasi_newton_update(p, s, w):
    """Move w.q by one quasi-Newton step with a line search; the sum of squares and the score before it.

    A pair is measured within one update, towards one target, so that the pairs outlive the targets' moving.
    """
    cost, score = evaluate(p, w)
    remember(w, cost)
    for i in range(len(w.e)):
        w.clamped[i] = w.e[i]
    transpose_times(p, w.jacobian, w.e, w.phi)
    hold_joints_at_limits(p, w)
    if w.memory[FRESH] < 0.5:
        w.memory[PAIRS] = 0.0
    gone = False
    if w.memory[PAIRS] > 0.5:
        if s[METHOD] == BFGS:
            through_matrix(w)
        else:
            through_pairs(w, int(s[OPTION]))
        gone = search(p, s, w, cost)
    if not gone:
        # What was learnt, if anything, misleads here: begin again with the first step of all.
        w.memory[PAIRS] = 0.0
        transpose_step(p, s, w)
        gone = search(p, s, w, cost)
    if gone:
        learn(p, s, w)
    w.memory[FRESH] = 1.0
    return cost, score


@kernel
def search(p, s, w, cost):
    """Go along w.step, bent into the limits, as far as the error falls enough (Armijo); False, at rest, if nowhere.

    After a trial too far, the next is at the least point of the parabola through what is known.
    """
    restrain(p, s, w)
    n, scale = len(w.step), 1.0
    for a in range(n):
        w.other[a] = w.step[a]
    for _ in range(_TRIALS):
        for a in range(n):
            w.step[a] = scale * w.other[a]
        move(p, w)
        promised = 0.0
        for a in range(n):
            promised += 2.0 * w.gradient[a] * w.step[a]
        now, _score = evaluate(p, w)
        if promised > 0.0 and now <= cost - _ARMIJO * promised:
            return True
        if promised > 0.0:
            scale *= min(max(0.5 * promised / (now - cost + promised), 0.1), 0.5)
        else:
            scale *= 0.5
    for i in range(len(w.q)):
        w.q[i] = w.before[i]
    for a in range(n):
        w.step[a] = 0.0
    evaluate(p, w)
    w.memory[STEP] = 0.0
    return False


@kernel
def learn(p, s, w):
    """Take in the step that was gone and the change of the gradient along it, unless the curvature is not positive."""
    n = len(w.step)
    transpose_times(p, w.jacobian, w.e, w.gradient)
    along = steps = changes = longest = 0.0
    for a in range(n):
        x, y = w.step[a], 2.0 * (w.phi[a] - w.gradient[a])
        w.other[a] = y
        along += x * y
        steps += x * x
        changes += y * y
        longest = max(longest, abs(x))
    w.memory[STEP] = longest
    if along * along > _CURVED * _CURVED * steps * changes and along > 0.0:
        if s[METHOD] == BFGS:
            bend_matrix(w, along, changes)
        else:
            keep_pair(w, int(s[OPTION]))
        w.memory[PAIRS] += 1.0


@kernel
def through_matrix(w):
    """w.step = H 2 J^T e, H (n x n) the estimate of the inverse Hessian."""
    n = len(w.step)
    for a in range(n):
        total = 0.0
        for b in range(n):
            total += w.room[a * n + b] * w.gradient[b]
        w.step[a] = 2.0 * total


@kernel
def bend_matrix(w, along, changes):
    """H = (I - s y^T / s^T y) H (I - y s^T / s^T y) + s s^T / s^T y; at first, H = (s^T y / y^T y) I (Nocedal 1980).

    s is w.step, y is w.other; `along` is s^T y and `changes` y^T y.
    """
    n = len(w.step)
    if w.memory[PAIRS] < 0.5:
        for a in range(n):
            for b in range(n):
                w.room[a * n + b] = along / changes if a == b else 0.0
    square = 0.0
    for a in range(n):
        total = 0.0
        for b in range(n):
            total += w.room[a * n + b] * w.other[b]
        w.phi[a] = total
        square += total * w.other[a]
    rho = 1.0 / along
    for a in range(n):
        for b in range(n):
            x, y = w.step[a], w.step[b]
            w.room[a * n + b] += rho * ((1.0 + rho * square) * x * y - x * w.phi[b] - w.phi[a] * y)


@kernel
def keep_pair(w, memory):
    """Put the step w.step and the gradient's change w.other in the place of the oldest pair of `memory`."""
    n = len(w.step)
    at = n * (int(w.memory[PAIRS]) % memory)
    for a in range(n):
        w.room[at + a] = w.step[a]
        w.room[memory * n + at + a] = w.other[a]


@kernel
def through_pairs(w, memory):
    """w.step = H 2 J^T e by the two loops over the pairs, newest first and then back (Nocedal 1980, section 3).

    Only the joints that w.free leaves count: what is used of H^-1 is its part between them, as in Byrd et al. 1995.
    A pair whose curvature is not positive in them is left out.
    """
    n, count = len(w.step), int(w.memory[PAIRS])
    held, last = min(count, memory), count - 1
    steps, changes = section(w.room, 0, memory * n), section(w.room, memory * n, memory * n)
    inverse, pulled = section(w.room, 2 * memory * n, memory), section(w.room, 2 * memory * n + memory, memory)
    size = 0.0
    for a in range(n):
        w.step[a] = 2.0 * w.gradient[a]
    for k in range(held):
        i = (last - k) % memory
        along = pull = square = 0.0
        for a in range(n):
            x, y = steps[i * n + a] * w.free[a], changes[i * n + a] * w.free[a]
            along += x * y
            pull += x * w.step[a]
            square += y * y
        inverse[i] = 1.0 / along if along > 0.0 else 0.0
        pulled[i] = pull * inverse[i]
        if size == 0.0 and along > 0.0:
            size = along / square
        for a in range(n):
            w.step[a] -= pulled[i] * changes[i * n + a] * w.free[a]
    for a in range(n):
        w.step[a] *= size
    for k in range(held):
        i = (last - held + 1 + k) % memory
        back = 0.0
        for a in range(n):
            back += changes[i * n + a] * w.step[a]
        back *= inverse[i]
        for a in range(n):
            w.step[a] += (pulled[i] - back) * steps[i * n + a] * w.free[a]
