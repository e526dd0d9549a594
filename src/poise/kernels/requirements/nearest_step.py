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
from poise.kernels.machine.memory import CONSTRAINTS, CUTTING, UPDATES
from poise.kernels.machine.views import section
from poise.kernels.requirements.limits import left_to_speeds, put_rows
from poise.kernels.requirements.loops import evaluate_loops, loop_level, set_loop_target

SEEN_MORE = 2.0
"""In CUTTING: the next step is to be another."""
_NOTHING = 1e-15
"""What a plane must at least take of a step [rad or m]."""


@kernel
def state_rows(p, w, ranged):
    """w.constraint_rows and w.constraint_bounds: what a step from w.begun must keep; of ranges nothing unless
    `ranged`."""
    for i in range(len(w.q)):
        w.q[i] = w.begun[i]
    if len(p.ranges) > 0:
        call(w.routines[RANGE_ROWS], p, w)
    w.memory[CONSTRAINTS] = float(put_rows(p, w, w.constraint_rows, w.constraint_bounds))
    linear = len(p.inequalities) // (len(w.step) + 1)
    for i in range(0 if ranged else len(w.range_bounds)):
        w.constraint_bounds[linear + i] = NONE


@kernel
def state_box(p, w, has_rates):
    """w.lowest and w.highest: the bounds of a step from w.begun, of accelerations and jerks too if `has_rates`."""
    left_to_speeds(p, w.begun, w.memory[UPDATES] if len(p.rates) == 0 else 1.0, np.inf, w.lowest, w.highest)
    for a in range(len(w.step) if has_rates else 0):
        w.lowest[a], w.highest[a] = w.least[a], w.largest[a]


@kernel
def nearest_step(p, w, desired, step):
    """step (n) is the nearest to `desired` (n) within the box and the rows, which closes the loops to first order.

    Where there is none it is beyond the rows by the least sum of squares.
    """
    n, count = len(step), int(w.memory[CONSTRAINTS])
    row = pitch(w.constraint_rows, n)
    for c in range(n + count):
        w.constraint_sides[c] = 0.0
    for a in range(n):
        step[a] = 0.0
    if len(w.loop_residual) > 0:
        evaluate_loops(p, w, w.begun)
        set_loop_target(w, step)
    limits = Limits(
        w.lowest, w.highest, section(w.constraint_rows, 0, count * row), section(w.constraint_bounds, 0, count)
    )
    minimise(loop_level(p, w, desired), limits, step, section(w.constraint_sides, 0, n + count), w.constraint_buffer)


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
    return section(w.candidate_steps, len(w.step), len(w.step))


@kernel
def along_slope(w, step):
    """w.slope^T step."""
    return along(len(w.step), w.slope, 0, step)


@kernel
def _add(w, most):
    """Add the row w.slope^T dq <= most, if there is room."""
    count = int(w.memory[CONSTRAINTS])
    if count < len(w.constraint_bounds):
        row = pitch(w.constraint_rows, len(w.step))
        for c in range(row):
            w.constraint_rows[count * row + c] = w.slope[c] if c < len(w.step) else 0.0
        w.constraint_bounds[count] = most
        w.memory[CONSTRAINTS], w.memory[CUTTING] = float(count + 1), SEEN_MORE
