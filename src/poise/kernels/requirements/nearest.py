"""The step that is nearest to a wished one, of those that keep all that must hold, to first order.

A requirement that is no bound gives rows, G dq <= h.  Where a step that kept its rows is seen to lead beyond, the place
where it led gives another, a cutting plane (Kelley 1960); so edges, at which the slope of a distance jumps, are cut
from both sides.
"""

import numpy as np

from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.working_set import NONE, Limits, along
from poise.kernels.machine.jit import call, kernel
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import RANGE_ROWS
from poise.kernels.machine.memory import CUTTING, HELD, UPDATES
from poise.kernels.machine.views import section
from poise.kernels.requirements.limits import left_to_speeds, put_rows
from poise.kernels.requirements.loops import loop_level, open_at, want_closed

SEEN_MORE = 2.0
"""In CUTTING: the next step is to be another."""
_NOTHING = 1e-15
"""What a plane must at least take of a step [rad or m]."""


@kernel
def state_rows(p, w, ranged):
    """w.held_rows and w.held_most: what a step from w.begun must keep; of ranges nothing unless `ranged`."""
    for i in range(len(w.q)):
        w.q[i] = w.begun[i]
    if len(p.borders) > 0:
        call(w.routines[RANGE_ROWS], p, w)
    w.memory[HELD] = float(put_rows(p, w, w.held_rows, w.held_most))
    linear = len(p.inequalities) // (len(w.step) + 1)
    for i in range(0 if ranged else len(w.border_most)):
        w.held_most[linear + i] = NONE


@kernel
def state_box(p, w, has_rates):
    """w.lowest and w.highest: the bounds of a step from w.begun, of accelerations and jerks too if `has_rates`."""
    left_to_speeds(p, w.begun, w.memory[UPDATES] if len(p.rates) == 0 else 1.0, np.inf, w.lowest, w.highest)
    for a in range(len(w.step) if has_rates else 0):
        w.lowest[a], w.highest[a] = w.least[a], w.largest[a]


@kernel
def nearest(p, w, wish, step):
    """step (n) is the nearest to `wish` (n) within the box and the rows, which closes the loops to first order.

    Where there is none it is beyond the rows by the least sum of squares.
    """
    n, count = len(step), int(w.memory[HELD])
    row = pitch(w.held_rows, n)
    for c in range(n + count):
        w.held_side[c] = 0.0
    for a in range(n):
        step[a] = 0.0
    if len(w.loop_gap) > 0:
        open_at(p, w, w.begun)
        want_closed(w, step)
    limits = Limits(w.lowest, w.highest, section(w.held_rows, 0, count * row), section(w.held_most, 0, count))
    minimise(loop_level(p, w, wish), limits, step, section(w.held_side, 0, n + count), w.held_room)


@kernel
def cut(w, over):
    """One row more: of the next step w.slope^T dq is less by `over` than of w.step.

    But what all falls back on is never cut off: seen from afar, a border that bends lies before where it is.
    """
    _add(w, max(along_slope(w, w.step) - over, along_slope(w, base_of(w))))


@kernel
def cut_half(w):
    """One row more: of the next step w.slope^T dq is half way between that of w.step and of what it falls back on."""
    now, then = along_slope(w, w.step), along_slope(w, base_of(w))
    if now > then + _NOTHING:
        _add(w, 0.5 * (now + then))


@kernel
def base_of(w):
    """The step (n) that all falls back on."""
    return section(w.wishes, len(w.step), len(w.step))


@kernel
def along_slope(w, step):
    """w.slope^T step."""
    return along(len(w.step), w.slope, 0, step)


@kernel
def _add(w, most):
    """Add the row w.slope^T dq <= most, if there is room."""
    count = int(w.memory[HELD])
    if count < len(w.held_most):
        row = pitch(w.held_rows, len(w.step))
        for c in range(row):
            w.held_rows[count * row + c] = w.slope[c] if c < len(w.step) else 0.0
        w.held_most[count] = most
        w.memory[HELD], w.memory[CUTTING] = float(count + 1), SEEN_MORE
