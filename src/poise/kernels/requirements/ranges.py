"""Ranges that a step does not leave: inequalities of an update, and the check of where it led.

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
from poise.kernels.rows.rounding import ROUNDING


@routine
def range_rows(p, w):
    """w.sides.jacobian and w.sides.bounds: J_i dq <= b_i of each side i, for the update from w.q.

    b = -h - reserve, but inside no less than 0, and outside no less than -back: nothing is to come back faster.  Where
    accelerations are limited it is at most sqrt(brake b), brake being by how much less h can grow an update later, so
    that joints can stop at the side.
    """
    evaluate_ranges(p, w, w.q)
    row = pitch(w.sides.jacobian, len(w.step))
    for b in range(len(p.ranges)):
        task_range = p.ranges[b]
        for i in range(task_range.first, task_range.last):
            residual = w.sides.residual[i]
            margin = -residual - task_range.reserve
            most = max(margin, -task_range.back) if residual > 0.0 else max(margin, 0.0)
            if len(p.rates) > 0 and most > 0.0:
                brake = 0.0
                for a in range(len(w.step)):
                    brake += abs(w.sides.jacobian[i * row + a]) * p.rates[a].change
                most = min(most, np.sqrt(brake * most))
            w.sides.residual_before[i], w.sides.bounds[i] = residual, min(most, NONE)


@kernel
def evaluate_ranges(p, w, q):
    """w.sides.residual and w.sides.jacobian at q."""
    forward(p.units, p.pieces, q, w.frames)
    for b in range(len(p.ranges)):
        call(w.routines[p.effectors[p.ranges[b].effector].rows + SIDES], p, w, b)


@kernel
def _most(w, i):
    """The largest h_i that is no farther out than before the step."""
    return max(w.sides.residual_before[i], 0.0) + ROUNDING


@kernel
def range_violation(w, i):
    """By how much side i is farther out than it may be, as last evaluated [m or rad]."""
    return w.sides.residual[i] - _most(w, i)


@kernel
def ranges_hold(p, w, q, cutting, resting):
    """Whether q (nq), where w.step led, is within all ranges, or no farther out than where the step began.

    With `cutting` each broken side adds a cutting plane: by how much more than its row said h grew (`cut`), or for q on
    the way to rest (`resting`) half way to braking (`cut_half`).
    """
    evaluate_ranges(p, w, q)
    row, satisfied = pitch(w.sides.jacobian, len(w.step)), True
    for i in range(len(w.sides.residual)):
        if not range_violation(w, i) <= 0.0:
            satisfied = False
            for c in range(row if cutting else 0):
                w.constraints.slope[c] = w.sides.jacobian[i * row + c]
            if cutting and resting:
                cut_half(w)
            elif cutting:
                cut(w, w.sides.residual[i] - w.sides.residual_before[i] - w.sides.bounds[i])
    return satisfied


@kernel
def ranges_hold_for(w):
    """For how many steps of braking no side can be crossed from where it was last evaluated; one at least.

    w.braking.distances (n) are left to go, in steps of at most w.braking.speeds (n).  It is assumed that no lever
    w.sides.column_norms becomes twice as long on the way.
    """
    n, sure = len(w.step), NONE
    row = pitch(w.sides.jacobian, n)
    for i in range(len(w.sides.residual)):
        way, rate, margin = 0.0, 0.0, _most(w, i) - w.sides.residual[i]
        for a in range(n):
            reach = 2.0 * w.sides.column_norms[i * row + a]
            way, rate = way + reach * w.braking.distances[a], rate + reach * w.braking.speeds[a]
        if way > margin:
            sure = min(sure, max(np.floor(margin / rate), 1.0))
    return sure
