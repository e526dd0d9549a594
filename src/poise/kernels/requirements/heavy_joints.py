"""Joints that a posture makes dear: what the others cannot do they do, as soon as without weights.

In the measure of the weights the damping of a step all but holds a heavy joint up.  So what of the step without weights
joints that weigh little cannot do is seen, at whatever speed they went, and all joints do that as without.
"""

from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.working_set import NONE, Levels, Limits, along
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.views import section

_HEAVY = 0.1
"""Of the least weight that of a joint: one that weighs more is asked for what the others cannot do, apart from them."""
ABLE = 1e-3
"""Share of it below which what M weighs lightly is taken not to move the tasks: a limb that is all but stretched."""


@kernel
def any_heavy_joint(p):
    """Whether a posture weighs any joint so much more than others that the damping all but holds it up."""
    heavy = False
    for a in range(len(p.weight_ratios)):
        heavy = heavy or is_heavy_joint(p, a)
    return heavy


@kernel
def is_heavy_joint(p, a):
    """Whether it weighs that one so much."""
    return len(p.weight_ratios) > 0 and p.weight_ratios[a] < _HEAVY


@kernel
def keep_heavy_joints(p, w):
    """Let joints that are dear go as w.step does, which accelerations have bent, and w.clamped_step be what others can
    do.

    Asked again for what they do because they cannot stop at once dear ones would speed up.
    """
    for a in range(len(p.rates)):
        if is_heavy_joint(p, a):
            x = w.step[a]
            w.clamped_step[a] = x
            w.least[a], w.largest[a] = w.step_so_far[a] + x, w.step_so_far[a] + x


@kernel
def weigh_columns(p, w, limits):
    """Make the unknowns step / share, whose squares the weights of a posture weigh alike."""
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
    """w.y (m) is what of the step without weights, w.step, joints that are not dear cannot do, at whatever speed."""
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
    for k in range(count):
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
    """w.step += a step without weights that takes w.y, what joints that weigh little cannot do, from the errors."""
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
