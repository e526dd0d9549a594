"""Ranges that a step does not leave: inequalities for an update, and the look at where it led.

A range has sides, and h_i(q) is by how much a task is beyond side i, less than 0 inside.  What was inside of a side
stays inside, and what was outside gets no farther out.
"""

import numpy as np

from poise.kernels.algebra.working_set import NONE
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import SIDES
from poise.kernels.requirements.nearest_step import cut, cut_half

_ROUNDING = 1e-12
"""What counts as no farther out [m or rad]."""


@routine
def range_rows(p, w):
    """w.range_jacobian and w.range_bounds: what the sides of all ranges ask of the update from w.q.

    Where accelerations are limited a side may be approached no faster than the joints can brake for: b is by how much
    less the gap may grow an update later, and v^2 / 2 of b stop v.
    """
    evaluate_ranges(p, w, w.q)
    row = pitch(w.range_jacobian, len(w.step))
    for b in range(len(p.ranges)):
        task_range = p.ranges[b]
        for i in range(task_range.first, task_range.last):
            residual = w.range_residual[i]
            margin = -residual - task_range.reserve
            most = max(margin, -task_range.back) if residual > 0.0 else max(margin, 0.0)
            if len(p.rates) > 0 and most > 0.0:
                brake = 0.0
                for a in range(len(w.step)):
                    brake += abs(w.range_jacobian[i * row + a]) * p.rates[a].change
                most = min(most, np.sqrt(brake * most))
            w.range_residual_before[i], w.range_bounds[i] = residual, min(most, NONE)


@kernel
def evaluate_ranges(p, w, q):
    """w.range_residual and w.range_jacobian at q."""
    forward(p.units, q, w.frames)
    for b in range(len(p.ranges)):
        call(w.routines[p.effectors[p.ranges[b].effector].rows + SIDES], p, w, b)


@kernel
def _most(w, i):
    """The largest gap of a side that is no farther out than where the step began."""
    return max(w.range_residual_before[i], 0.0) + _ROUNDING


@kernel
def range_violation(w, i):
    """By how much side i is farther out than it may be, as measured."""
    return w.range_residual[i] - _most(w, i)


@kernel
def ranges_hold(p, w, q, cutting, resting):
    """Whether q (nq), where w.step led, is within all ranges, or no farther out than where the step began.

    `cutting`: each side that it is beyond becomes a row.  Where q is on the way to rest (`resting`) the side is to be
    approached half as fast, of what is more than braking now.
    """
    evaluate_ranges(p, w, q)
    row, satisfied = pitch(w.range_jacobian, len(w.step)), True
    for i in range(len(w.range_residual)):
        if not range_violation(w, i) <= 0.0:
            satisfied = False
            for c in range(row if cutting else 0):
                w.slope[c] = w.range_jacobian[i * row + c]
            if cutting and resting:
                cut_half(w)
            elif cutting:
                cut(w, w.range_residual[i] - w.range_residual_before[i] - w.range_bounds[i])
    return satisfied


@kernel
def ranges_hold_for(w):
    """For how many steps of braking, w.braking_distances to go at no more than w.braking_speeds, no side is crossed, as
    measured.

    If no lever becomes twice as long; one at least.
    """
    n, sure = len(w.step), NONE
    row = pitch(w.range_jacobian, n)
    for i in range(len(w.range_residual)):
        way, rate, margin = 0.0, 0.0, _most(w, i) - w.range_residual[i]
        for a in range(n):
            reach = 2.0 * w.range_column_norms[i * row + a]
            way, rate = way + reach * w.braking_distances[a], rate + reach * w.braking_speeds[a]
        if way > margin:
            sure = min(sure, max(np.floor(margin / rate), 1.0))
    return sure
