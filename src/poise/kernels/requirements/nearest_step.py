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
from poise.kernels.requirements.loops import aim_at_closed, evaluate_loops, loop_level
from poise.kernels.rows.sums import sum_count

SEEN_MORE = 2.0
"""In CUTTING: rows were added or the wish was shortened, so the nearest step is another now."""
_NOTHING = 1e-15
"""What a plane must at least take of a step [rad or m]."""


@kernel
def state_rows(p, w, ranged):
    """w.constraints.rows and w.constraints.bounds: the rows of a whole step from w.begun; those of ranges if
    `ranged`."""
    for i in range(len(w.q)):
        w.q[i] = w.begun[i]
    if len(p.ranges) > 0:
        call(w.routines[RANGE_ROWS], p, w)
    w.memory[CONSTRAINTS] = float(put_rows(p, w, w.constraints.rows, w.constraints.bounds))
    linear = sum_count(p, len(w.q))
    for i in range(0 if ranged else len(w.sides.bounds)):
        w.constraints.bounds[linear + i] = NONE


@kernel
def state_box(p, w, has_rates):
    """w.constraints.lowest and w.constraints.highest (n): the bounds of a whole step from w.begun; with `has_rates`
    those of accelerations and jerks, else speeds and positions alone."""
    updates = w.memory[UPDATES] if len(p.rates) == 0 else 1.0
    left_to_speeds(p, w.begun, updates, np.inf, w.constraints.lowest, w.constraints.highest)
    for a in range(len(w.step) if has_rates else 0):
        w.constraints.lowest[a], w.constraints.highest[a] = w.motion.least[a], w.motion.largest[a]


@kernel
def nearest_step(p, w, desired, by_metric, step):
    """step (n) = argmin |dq - desired|^2 within the box and the rows, with closed loops to first order; `by_metric` as
    of `loop_level`.

    Where the box leaves none, it breaks the rows by the least sum of squares.  The active set begins empty, for rows
    are added between calls.
    """
    n, count = len(step), int(w.memory[CONSTRAINTS])
    row = pitch(w.constraints.rows, n)
    for c in range(n + count):
        w.constraints.sides[c] = 0.0
    for a in range(n):
        step[a] = 0.0
    if len(w.closure.residual) > 0:
        evaluate_loops(p, w, w.begun)
        aim_at_closed(w)
    rows, bounds = section(w.constraints.rows, 0, count * row), section(w.constraints.bounds, 0, count)
    limits = Limits(w.constraints.lowest, w.constraints.highest, rows, bounds)
    levels = loop_level(p, w, desired, by_metric)
    minimise(levels, limits, step, section(w.constraints.sides, 0, n + count), w.constraints.buffer)


@kernel
def cut(w, over):
    """Add the cutting plane w.constraints.slope^T dq <= w.constraints.slope^T w.step - over.

    The step to fall back on is never cut off: it keeps all, but the tangent of a border that bends may say otherwise.
    """
    add_plane(w, max(along_slope(w, w.step) - over, along_slope(w, base_of(w))))


@kernel
def cut_half(w):
    """Add the cutting plane w.constraints.slope^T dq <= the mean of its values at w.step and at the step to fall back
    on.

    For what is broken only on the way to rest: the slope there says in which direction, but not by how much.
    """
    now, then = along_slope(w, w.step), along_slope(w, base_of(w))
    if now > then + _NOTHING:
        add_plane(w, 0.5 * (now + then))


@kernel
def base_of(w):
    """The step (n) to fall back on: braking, or the least step that the rows ask for."""
    return section(w.constraints.candidate_steps, len(w.step), len(w.step))


@kernel
def along_slope(w, step):
    """w.constraints.slope^T step."""
    return along(len(w.step), w.constraints.slope, 0, step)


@kernel
def add_plane(w, most):
    """Add the row w.constraints.slope^T dq <= most, if there is room."""
    count = int(w.memory[CONSTRAINTS])
    if count < len(w.constraints.bounds):
        row = pitch(w.constraints.rows, len(w.step))
        for c in range(row):
            w.constraints.rows[count * row + c] = w.constraints.slope[c] if c < len(w.step) else 0.0
        w.constraints.bounds[count] = most
        w.memory[CONSTRAINTS], w.memory[CUTTING] = float(count + 1), SEEN_MORE
