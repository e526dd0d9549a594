"""Joints that a posture makes dear: what the others cannot do they do, as soon as without weights.

In the measure of the weights the damping of a step all but holds a heavy joint up.  So what of the step without weights
joints that weigh little cannot do is seen, at whatever speed they went, and all joints do that as without.
"""

from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.working_set import NONE, Levels, Limits, along
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.views import section

_DEAR = 0.1
"""Of the least weight that of a joint: one that weighs more is asked for what the others cannot do, apart from them."""
ABLE = 1e-3
"""Share of it below which what M weighs lightly is taken not to move the tasks: a limb that is all but stretched."""


@kernel
def any_is_dear(p):
    """Whether a posture weighs any joint so much more than others that the damping all but holds it up."""
    dear = False
    for a in range(len(p.shares)):
        dear = dear or is_dear(p, a)
    return dear


@kernel
def is_dear(p, a):
    """Whether it weighs that one so much."""
    return len(p.shares) > 0 and p.shares[a] < _DEAR


@kernel
def keep_dear(p, w):
    """Let joints that are dear go as w.step does, which accelerations have bent, and w.apart be what others can do.

    Asked again for what they do because they cannot stop at once dear ones would speed up.
    """
    for a in range(len(p.rates)):
        if is_dear(p, a):
            x = w.step[a]
            w.apart[a] = x
            w.least[a], w.largest[a] = w.gone[a] + x, w.gone[a] + x


@kernel
def weigh_columns(p, w, limits):
    """Make the unknowns step / share, whose squares the weights of a posture weigh alike."""
    n, row = len(w.step), pitch(w.rows, len(w.step))
    for i in range(len(w.e)):
        for a in range(n):
            w.rows[i * row + a] = w.rows[i * row + a] * p.shares[a]
    for i in range(len(limits.most)):
        for a in range(n):
            limits.rows[i * row + a] = limits.rows[i * row + a] * p.shares[a]
    for a in range(n):
        inverse = 1.0 / p.shares[a]
        w.phi[a] = w.phi[a] * inverse
        limits.low[a] = limits.low[a] * inverse
        limits.high[a] = limits.high[a] * inverse


@kernel
def see_rest(p, w, count, first, order, stated):
    """w.y (m) is what of the step without weights, w.step, joints that are not dear cannot do, at whatever speed."""
    n, row, largest = len(w.step), pitch(w.rows, len(w.step)), 0.0
    for i in range(len(w.e)):
        w.y[i] = along(n, w.rows, i, w.step)
        square = 0.0
        for a in range(n):
            w.rows[i * row + a] = w.rows[i * row + a] * p.shares[a]
            square += w.rows[i * row + a] ** 2
        largest = max(largest, square)
    for a in range(n):
        w.other[a] = -NONE if stated.limits.low[a] < 0.0 else 0.0
        w.gradient[a] = NONE if stated.limits.high[a] > 0.0 else 0.0
        w.step[a] = 0.0
    for k in range(count):
        w.along[k], stated.squares[k] = stated.squares[k], ABLE * largest
    free = Limits(w.other, w.gradient, section(w.rows, 0, 0), section(w.y, 0, 0))
    able = Levels(count, first, order, w.rows, w.y, stated.squares, w.phi, 0)
    minimise(able, free, w.step, stated.side, stated.room)
    for i in range(len(w.e)):
        w.y[i] -= along(n, w.rows, i, w.step)
        for a in range(n):
            w.rows[i * row + a] = w.rows[i * row + a] / p.shares[a]
    for k in range(count):
        stated.squares[k] = w.along[k]


@kernel
def take_rest(p, w, count, first, order, stated):
    """w.step += a step without weights that takes w.y, what joints that weigh little cannot do, from the errors."""
    n, row = len(w.step), pitch(w.rows, len(w.step))
    for a in range(n):
        x, share = w.step[a], p.shares[a]
        w.other[a] = x
        stated.limits.low[a], stated.limits.high[a] = (
            stated.limits.low[a] * share - x,
            stated.limits.high[a] * share - x,
        )
        for i in range(len(w.e)):
            w.rows[i * row + a] = w.rows[i * row + a] / share
        for i in range(len(stated.limits.most)):
            stated.limits.rows[i * row + a] = stated.limits.rows[i * row + a] / share
    for i in range(len(stated.limits.most)):
        stated.limits.most[i] -= along(n, stated.limits.rows, i, w.step)
    rest = Levels(count, first, order, w.rows, w.y, stated.squares, w.phi, 0)
    minimise(rest, stated.limits, w.step, stated.side, stated.room)
    for a in range(n):
        w.step[a] += w.other[a]
        w.other[a] = 0.0
