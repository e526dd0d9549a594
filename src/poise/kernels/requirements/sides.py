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
from poise.kernels.requirements.nearest import cut, cut_half

_ROUNDING = 1e-12
"""What counts as no farther out [m or rad]."""


@routine
def range_rows(p, w):
    """w.border_rows and w.border_most: what the sides of all ranges ask of the update from w.q.

    Where accelerations are limited a side may be approached no faster than the joints can brake for: b is by how much
    less the gap may grow an update later, and v^2 / 2 of b stop v.
    """
    measure(p, w, w.q)
    row = pitch(w.border_rows, len(w.step))
    for b in range(len(p.borders)):
        border = p.borders[b]
        for i in range(border.first, border.last):
            gap = w.gap[i]
            room = -gap - border.reserve
            most = max(room, -border.back) if gap > 0.0 else max(room, 0.0)
            if len(p.rates) > 0 and most > 0.0:
                brake = 0.0
                for a in range(len(w.step)):
                    brake += abs(w.border_rows[i * row + a]) * p.rates[a].change
                most = min(most, np.sqrt(brake * most))
            w.gap_before[i], w.border_most[i] = gap, min(most, NONE)


@kernel
def measure(p, w, q):
    """w.gap and w.border_rows at q."""
    forward(p.units, q, w.frames)
    for b in range(len(p.borders)):
        call(w.routines[p.effectors[p.borders[b].effector].rows + SIDES], p, w, b)


@kernel
def _most(w, i):
    """The largest gap of a side that is no farther out than where the step began."""
    return max(w.gap_before[i], 0.0) + _ROUNDING


@kernel
def beyond(w, i):
    """By how much side i is farther out than it may be, as measured."""
    return w.gap[i] - _most(w, i)


@kernel
def inside(p, w, q, cutting, resting):
    """Whether q (nq), where w.step led, is within all ranges, or no farther out than where the step began.

    `cutting`: each side that it is beyond becomes a row.  Where q is on the way to rest (`resting`) the side is to be
    approached half as fast, of what is more than braking now.
    """
    measure(p, w, q)
    row, within = pitch(w.border_rows, len(w.step)), True
    for i in range(len(w.gap)):
        if not beyond(w, i) <= 0.0:
            within = False
            for c in range(row if cutting else 0):
                w.slope[c] = w.border_rows[i * row + c]
            if cutting and resting:
                cut_half(w)
            elif cutting:
                cut(w, w.gap[i] - w.gap_before[i] - w.border_most[i])
    return within


@kernel
def sure_inside(w):
    """For how many steps of braking, w.ways to go at no more than w.fastest, no side is crossed, as measured.

    If no lever becomes twice as long; one at least.
    """
    n, sure = len(w.step), NONE
    row = pitch(w.border_rows, n)
    for i in range(len(w.gap)):
        way, rate, room = 0.0, 0.0, _most(w, i) - w.gap[i]
        for a in range(n):
            reach = 2.0 * w.border_reach[i * row + a]
            way, rate = way + reach * w.ways[a], rate + reach * w.fastest[a]
        if way > room:
            sure = min(sure, max(np.floor(room / rate), 1.0))
    return sure
