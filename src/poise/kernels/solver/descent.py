"""One step of a descent, in one lane or eight: along the screw to a pose, or down the sum of squares."""

import functools

import numpy as np

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, store
from poise.kernels.solver.limits import hold_balls, hold_pushed, limited_balls
from poise.kernels.solver.pose_step import hold_for_pose, pose_direction
from poise.kernels.solver.state import AGE, LIMIT, MU, NU, PATIENCE, PREDICTED
from poise.kernels.solver.step import advance, damping_factor, direction, hold, longest_column

MU_LOW = 0.03
"""Chan and Lawrence's gain; the smallest mu."""
_MU_LAST = 1e-5
"""The smallest mu of the last descent, which has flat valleys to follow."""
_FLOOR = 1e-13
"""Damping that remains at the target, so that a singular pose is no division by zero [m^2]."""
_FAR = 1.0
"""Errors beyond this [m^2, rad^2 a block] damp no more: a base that can travel is not held back by the distance."""
_BOLD = 4.0
"""A step of the search may raise the error this much: the way to a solution often leads over a ridge."""
_CAREFUL = 1.000000001
"""A step of the last descent may not raise it, but by rounding."""


@functools.partial(kernel, inline=True)
def improve(p, w, cost, bold, some_careful):
    """Judge the last step by `cost`, the sum of squares at w.q, and move w.q by the next one.

    A bold lane goes along the screw to a pose and may raise the error; the others descend on the sum of squares, and
    the careful ones damp by the gain ratio of their last step.  A rejected step is taken back, but for its share
    `back`, and the next one is damped more.
    """
    slack, low = select(bold, _BOLD, _CAREFUL), select(bold, MU_LOW, _MU_LAST)
    limit, mu = load(w.state, LIMIT), load(w.state, MU)
    accepted = cost <= limit * slack
    far = _FAR * len(p.blocks)
    damping = select(cost < far, cost, far) * mu + _FLOOR  # lambda^2 = mu |e|^2
    # From the border of a ball's limits the straight way to where a step has led goes through the inside, not along.
    back = splat(w.q, 0.0 if limited_balls(p) > 0 else 0.25)
    after = select(accepted, select(mu > 2.0 * low, 0.5 * mu, low), mu * 4.0)
    if some_careful:
        careful = load(w.state, PATIENCE) > 0.0
        judged = gain_damping(p, w, cost, limit, accepted, mu)
        damping = select(careful, judged, damping)
        after, back = select(careful, judged, after), select(careful, 0.0, back)
    damped_direction(p, w, bold, damping)
    advance(p, w, accepted, back)
    if some_careful:
        predict(w, cost, damping, accepted)
    store(w.state, MU, after)
    # A limit below zero marks a start that has not been looked at yet.
    store(w.state, LIMIT, select(accepted, cost, select(limit < 0.0, np.inf, limit)))


@functools.partial(kernel, inline=True)
def damped_direction(p, w, bold, damping):
    """The damped step into w.step, joints held that the gradient pushes out of their limits.

    In lanes that are not bold, those are held too that the step itself would push out; it is then solved once more.
    """
    if len(p.effectors) == 1 and p.effectors[0].rows < 0:
        hold_for_pose(p, w)
        hold_balls(p, w, splat(w.free, 1.0) > 0.0, w.step, w.step, 0.0)
        pose_direction(p, w, bold, damping)
        if hold_pushed(p, w, bold):
            pose_direction(p, w, bold, damping)
    else:
        hold(p, w)
        hold_balls(p, w, splat(w.free, 1.0) > 0.0, w.step, w.step, 0.0)
        direction(p, w, bold, damping)
        if hold_pushed(p, w, bold):
            direction(p, w, bold, damping)


@functools.partial(kernel, inline=True)
def gain_damping(p, w, cost, limit, accepted, mu):
    """lambda^2 of a careful lane, by the gain ratio of its last step (Nielsen 1999).

    It begins as the largest squared column, and grows by nu, which doubles, with each step that is rejected.
    """
    predicted, nu = load(w.state, PREDICTED), load(w.state, NU)
    judged = predicted > 0.0
    change = damping_factor(limit - cost, select(judged, predicted, 1.0))
    store(w.state, NU, select(accepted, 2.0, 2.0 * nu))
    mu = mu * select(accepted, select(judged, change, 1.0), nu)
    return select(load(w.state, AGE) > 0.5, mu, longest_column(p, w))


@functools.partial(kernel, inline=True)
def predict(w, cost, damping, accepted):
    """Remember by how much the linear model says that the step, within limits, lowers the error.

    With y = (J J^T + lambda^2 I)^-1 e, which is in w.y, what is left of e is lambda^2 y.
    """
    left = splat(w.e, 0.0)
    for i in range(len(w.y)):
        left = left + load(w.y, i) * load(w.y, i)
    fall = cost - damping * damping * left
    store(w.state, PREDICTED, select(accepted, select(fall > 1e-300, fall, 1e-300), 0.0))
