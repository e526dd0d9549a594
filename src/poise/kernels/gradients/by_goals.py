"""Derivatives of a rest by the numbers of its targets, by a posture, and by the placement of the base."""

from poise.kernels.algebra.rotations import change_of_turn, quaternion_step, square_share, turn_since
from poise.kernels.gradients.conditions import evaluate_conditions
from poise.kernels.gradients.split import STEP, find_gradient
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, WHOLE
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import CALL
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.requirements.integrate import move
from poise.kernels.solver.ends import aim_at


@entry_point(WHOLE, REALS, REALS)
def by_goals(address, cotangent, out):
    """out (n, columns): dq at w.kkt.stationary by each of the problem's goal steps, then by the velocities of the
    posture, if there is one.  With a cotangent (n), out (columns) is their product, for which one pair of products with
    w.kkt.residual_sensitivity and w.kkt.gradient_sensitivity serves all columns.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    for i in range(len(w.q)):
        w.q[i] = w.kkt.stationary[i]
    if not aim_at(p, w.goal, w.target):
        return 0
    evaluate_conditions(p, w, request, True)
    n, m, steps, pulled = len(w.step), len(w.kkt.residual), len(p.goal_steps), len(cotangent) > 0
    columns = steps + (n if len(w.posture_goal) > 0 else 0)
    if pulled:
        for k in range(m):
            w.kkt.active_sigma[k] = 0.0
            for a in range(n):
                w.kkt.active_sigma[k] = w.kkt.active_sigma[k] + cotangent[a] * w.kkt.residual_sensitivity[a * m + k]
        for b in range(n):
            w.moved[b] = 0.0
            for a in range(n):
                w.moved[b] = w.moved[b] + cotangent[a] * w.kkt.gradient_sensitivity[a * n + b]
    for s in range(columns):
        if s < steps:
            _differ(p, w, request, s)
        else:
            _lead(p, w, s - steps)
        if pulled:
            out[s] = 0.0
            for k in range(m):
                out[s] = out[s] + w.kkt.active_sigma[k] * w.kkt.residual_change[k]
            for b in range(n):
                out[s] = out[s] - w.moved[b] * w.kkt.gradient_change[b]
        else:
            for a in range(n):
                value = 0.0
                for k in range(m):
                    value += w.kkt.residual_sensitivity[a * m + k] * w.kkt.residual_change[k]
                for b in range(n):
                    value -= w.kkt.gradient_sensitivity[a * n + b] * w.kkt.gradient_change[b]
                out[a * columns + s] = value
    return 1


@kernel
def _differ(p, w, request, s):
    """w.kkt.residual_change (c) and w.kkt.gradient_change (n): the derivatives of residuals and of the gradient by goal
    step s, central differences at fixed q and multipliers."""
    n, m, step = len(w.step), len(w.kkt.residual), p.goal_steps[s]
    row, at = pitch(w.kkt.rows, n), step.at
    g0, g1, g2, g3 = w.goal[at], 0.0, 0.0, 0.0
    if step.turn >= 0:
        g1, g2, g3 = w.goal[at + 1], w.goal[at + 2], w.goal[at + 3]
    for k in range(m):
        w.kkt.residual_change[k] = 0.0
    for a in range(n):
        w.kkt.gradient_change[a] = 0.0
    for way in range(2):
        sign = 1.0 - 2.0 * way
        if step.turn < 0:
            w.goal[at] = g0 + sign * STEP * step.scale
        else:
            x = sign * STEP if step.turn == 0 else 0.0
            y = sign * STEP if step.turn == 1 else 0.0
            z = sign * STEP if step.turn == 2 else 0.0
            w.goal[at], w.goal[at + 1], w.goal[at + 2], w.goal[at + 3] = quaternion_step(g0, g1, g2, g3, x, y, z)
        aim_at(p, w.goal, w.target)
        evaluate_conditions(p, w, request, False)
        for k in range(m):
            w.kkt.residual_change[k] = w.kkt.residual_change[k] + sign * w.kkt.residual[k] / (2.0 * STEP)
            share = w.kkt.residual[k] if w.kkt.missed[k] > 0.5 else w.kkt.multiplier[k]
            if share != 0.0:
                for a in range(n):
                    w.kkt.gradient_change[a] = w.kkt.gradient_change[a] - sign * share * w.kkt.rows[k * row + a] / (
                        2.0 * STEP
                    )
    w.goal[at] = g0
    if step.turn >= 0:
        w.goal[at + 1], w.goal[at + 2], w.goal[at + 3] = g1, g2, g3


@kernel
def _lead(p, w, v):
    """`_differ` by velocity `v` of the posture, exactly.

    The vector t of the turn from one rotation to another changes with a turn of the first by -(1 + [t] / 2 + share
    [t]^2), the inverse of the right Jacobian of SO(3).
    """
    for k in range(len(w.kkt.residual)):
        w.kkt.residual_change[k] = 0.0
    for a in range(len(w.step)):
        w.kkt.gradient_change[a] = 0.0
    w.kkt.gradient_change[v] = -w.kkt.posture_hessian[v]
    for k in range(len(p.balls)):
        i, first, q, r = p.balls[k].q, p.balls[k].v, w.kkt.stationary, w.posture_goal
        if first <= v < first + 3:
            x, y, z = turn_since(r, q, i)
            share = square_share(x, y, z)
            a, b, c = 1.0 if v == first else 0.0, 1.0 if v == first + 1 else 0.0, 1.0 if v == first + 2 else 0.0
            a, b, c = change_of_turn((x, y, z), share, a, b, c)
            w.kkt.gradient_change[first] = -w.kkt.posture_hessian[first] * a
            w.kkt.gradient_change[first + 1] = -w.kkt.posture_hessian[first + 1] * b
            w.kkt.gradient_change[first + 2] = -w.kkt.posture_hessian[first + 2] * c


@entry_point(WHOLE, WHOLE, REALS, REALS)
def by_placement(address, first, lacks, pulls):
    """Derivatives of the conditions' residuals, `lacks` (6, c), and of the gradient, `pulls` (6, n), by each of the six
    velocities from `first` on, those of a free placement; at w.start, for the multipliers of w."""
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    n, m = len(w.step), len(w.kkt.residual)
    for i in range(len(w.q)):
        w.q[i] = w.start[i]
    if not aim_at(p, w.goal, w.target):
        return 0
    evaluate_conditions(p, w, request, True)
    row = pitch(w.kkt.rows, n)
    for a in range(n):
        w.moved[a] = 0.0
    for s in range(6):
        for k in range(m):
            lacks[s * m + k] = -w.kkt.rows[k * row + first + s]
    for s in range(6):
        for a in range(n):
            pulls[s * n + a] = 0.0
        w.moved[first + s] = 1.0
        for way in range(2):
            sign = 1.0 - 2.0 * way
            move(p, w.start, w.moved, sign * STEP, w.q)
            evaluate_conditions(p, w, request, True)
            find_gradient(p, w, 1.0, w.kkt.lagrangian_gradient)
            for a in range(n):
                pulls[s * n + a] = pulls[s * n + a] + sign * w.kkt.lagrangian_gradient[a] / (2.0 * STEP)
        w.moved[first + s] = 0.0
    return 1
