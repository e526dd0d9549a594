"""Heavy joints, to which a posture gives large weights: what light joints cannot do, heavy ones do without delay.

In the weighted norm, damping all but holds a heavy joint still.  So the step without weights is found first; what of
it the light joints cannot do at any speed, the shortfall, is done by all joints in a step without weights.
"""

from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.working_set import NONE, Levels, Limits, along
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.views import section

_HEAVY = 0.1
"""A joint is heavy where the least weight is less than this share of its own."""
ABLE = 1e-3
"""Damping of what light joints can do, against the largest squared row: a direction that they move tasks in by less,
as a limb that is all but stretched, counts as one in which they cannot."""


@kernel
def any_heavy_joint(p):
    """Whether a posture makes any joint heavy."""
    heavy = False
    for a in range(len(p.weight_ratios)):
        heavy = heavy or is_heavy_joint(p, a)
    return heavy


@kernel
def is_heavy_joint(p, a):
    """Whether it makes velocity a heavy."""
    return len(p.weight_ratios) > 0 and p.weight_ratios[a] < _HEAVY


@kernel
def keep_heavy_joints(p, w):
    """Fix heavy joints at w.step, which accelerations have cut: their bounds and their w.clamped_step are equal to it.

    The step is then solved again for the others: clipped joint by joint, an arm that is all but stretched would swing
    about that pose.  Free, heavy joints would speed up to make good what light ones do only as they cannot stop.
    """
    for a in range(len(p.rates)):
        if is_heavy_joint(p, a):
            x = w.step[a]
            w.clamped_step[a] = x
            w.motion.least[a], w.motion.largest[a] = w.motion.step_so_far[a] + x, w.motion.step_so_far[a] + x


@kernel
def weigh_columns(p, w, limits):
    """Change the unknowns to dq / r, r being p.weight_ratios: the weighted norm of dq is their plain norm.

    w.rows, the rows of the limits, their box and w.phi are changed in place.
    """
    n, row = len(w.step), pitch(w.rows, len(w.step))
    for i in range(len(w.e)):
        for a in range(n):
            w.rows[i * row + a] = w.rows[i * row + a] * p.weight_ratios[a]
    for i in range(len(limits.most)):
        for a in range(n):
            limits.rows[i * row + a] = limits.rows[i * row + a] * p.weight_ratios[a]
    for a in range(n):
        inverse = 1.0 / p.weight_ratios[a]
        w.phi[a] = w.phi[a] * inverse
        limits.low[a] = limits.low[a] * inverse
        limits.high[a] = limits.high[a] * inverse


@kernel
def find_shortfall(p, w, count, first, order, constraints):
    """w.y (m), the shortfall: J times w.step, the step without weights, less the most that light joints can do of it.

    That is the minimum in the weighted unknowns, damped by ABLE, in a box that keeps only the signs of the limits.
    w.other, w.gradient and w.along are scratch; w.rows and the levels' lambda^2 end as they were.
    """
    n, row, largest = len(w.step), pitch(w.rows, len(w.step)), 0.0
    for i in range(len(w.e)):
        w.y[i] = along(n, w.rows, i, w.step)
        square = 0.0
        for a in range(n):
            w.rows[i * row + a] = w.rows[i * row + a] * p.weight_ratios[a]
            square += w.rows[i * row + a] ** 2
        largest = max(largest, square)
    for a in range(n):
        w.other[a] = -NONE if constraints.limits.low[a] < 0.0 else 0.0
        w.gradient[a] = NONE if constraints.limits.high[a] > 0.0 else 0.0
        w.step[a] = 0.0
    for k in range(count):  # the levels' own lambda^2 are kept aside in w.along
        w.along[k], constraints.squares[k] = constraints.squares[k], ABLE * largest
    free = Limits(w.other, w.gradient, section(w.rows, 0, 0), section(w.y, 0, 0))
    able = Levels(count, first, order, w.rows, w.y, constraints.squares, w.phi, 0)
    minimise(able, free, w.step, constraints.side, constraints.buffer)
    for i in range(len(w.e)):
        w.y[i] -= along(n, w.rows, i, w.step)
        for a in range(n):
            w.rows[i * row + a] = w.rows[i * row + a] / p.weight_ratios[a]
    for k in range(count):
        constraints.squares[k] = w.along[k]


@kernel
def add_shortfall_step(p, w, count, first, order, constraints):
    """w.step += the step without weights that does w.y, the shortfall, in what w.step leaves of the limits.

    w.rows and the limits, in the unknowns of `weigh_columns`, are changed back to dq.
    """
    n, row = len(w.step), pitch(w.rows, len(w.step))
    for a in range(n):
        x, share = w.step[a], p.weight_ratios[a]
        w.other[a] = x
        constraints.limits.low[a], constraints.limits.high[a] = (
            constraints.limits.low[a] * share - x,
            constraints.limits.high[a] * share - x,
        )
        for i in range(len(w.e)):
            w.rows[i * row + a] = w.rows[i * row + a] / share
        for i in range(len(constraints.limits.most)):
            constraints.limits.rows[i * row + a] = constraints.limits.rows[i * row + a] / share
    for i in range(len(constraints.limits.most)):
        constraints.limits.most[i] -= along(n, constraints.limits.rows, i, w.step)
    rest = Levels(count, first, order, w.rows, w.y, constraints.squares, w.phi, 0)
    minimise(rest, constraints.limits, w.step, constraints.side, constraints.buffer)
    for a in range(n):
        w.step[a] += w.other[a]
        w.other[a] = 0.0
