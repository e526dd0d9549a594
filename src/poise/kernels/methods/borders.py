"""Ranges that a step does not leave: inequalities for an update, and the look at where it led.

A range has sides, and h_i(q) is by how much a task is beyond side i, less than 0 inside.  Before an update h is
measured, and h + J_h dq <= -r becomes a row of the active set, r being a small reserve.  After it h is measured again.
Where the curvature of h took the step outside, it is bent back by all but the least change, with the slopes where it
led, as sequential quadratic programming does (Nocedal and Wright 2006, chapter 18); where that does not help, it is
shortened.  So what was inside stays inside, and what was outside gets no farther out.
"""

import numpy as np

from poise.kernels.algebra.working_set import NONE
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import SIDES
from poise.kernels.machine.views import section
from poise.kernels.methods.limits import left_to_limits, since_begun
from poise.kernels.methods.memory import ELSEWHERE, GUARDED, PREDICTED
from poise.kernels.methods.update import length_of, move

_BENDS, _SWEEPS = 6, 16
"""A step is bent back so often, each time in so many rounds through all inequalities, before it is shortened."""
_HALVINGS = 16
"""It is halved so often before it is not taken."""
_ROUNDING = 1e-12
"""What counts as no farther out [m or rad]."""


@routine
def face(p, w):
    """w.border_rows and w.border_most: what the sides of all ranges ask of the update from w.q.

    Where accelerations are limited a side may be approached no faster than the joints can brake for: b is by how much
    less the gap may grow an update later, and v^2 / 2 of b stop v.
    """
    _measure(p, w)
    row = pitch(w.border_rows, len(w.step))
    for b in range(len(p.borders)):
        border = p.borders[b]
        for i in range(border.first, border.last):
            gap = w.gap[i]
            room = -gap - border.reserve
            most = max(room, -border.back) if gap > 0.0 else max(room, 0.0)
            if len(p.paces) > 0 and most > 0.0:
                brake = 0.0
                for a in range(len(w.step)):
                    brake += abs(w.border_rows[i * row + a]) * p.paces[a].change
                most = min(most, np.sqrt(brake * most))
            w.gap_before[i], w.border_most[i] = gap, min(most, NONE)


@routine
def stay(p, w):
    """Bend the update from w.before to w.q back to where it leaves no range; w.step is what was gone."""
    if _inside(p, w):
        return
    n = len(w.step)
    low, high = section(w.bent, 0, n), section(w.bent, n, n)
    if len(p.paces) > 0:
        since_begun(p, w, w.before)
    left_to_limits(p, w, NONE, low, high)
    w.memory[PREDICTED] = ELSEWHERE
    for _ in range(_BENDS):
        _bend(p, w, low, high)
        move(p, w)
        if _inside(p, w):
            return
    asked, base = section(w.bent, 2 * n, n), section(w.bent, 3 * n, n)
    for a in range(n):
        asked[a], base[a] = w.step[a], min(max(0.0, low[a]), high[a])
    for k in range(1, _HALVINGS + 1):
        share = 0.5**k if k < _HALVINGS else 0.0
        for a in range(n):
            w.step[a] = base[a] + share * (asked[a] - base[a])
        move(p, w)
        if _inside(p, w):
            return


@kernel
def _measure(p, w):
    """w.gap and w.border_rows at w.q."""
    forward(p.units, w.q, w.frames)
    for b in range(len(p.borders)):
        call(w.routines[p.effectors[p.borders[b].effector].rows + SIDES], p, w, b)


@kernel
def _inside(p, w):
    """Whether w.q is within all ranges, or no farther out than the update began; w.gap and w.border_rows are of w.q."""
    _measure(p, w)
    for i in range(len(w.gap)):
        if w.gap[i] > max(w.gap_before[i], 0.0) + _ROUNDING:
            return False
    return True


@kernel
def _bend(p, w, low, high):
    """Change w.step by all but the least that takes each gap to where the update was to leave it.

    By projections onto each inequality in turn (Kaczmarz), within low <= w.step <= high (n each).  What limits between
    joints and pairs of shapes ask for is kept as the step had it.
    """
    n = len(w.step)
    row, stated = pitch(w.border_rows, n), len(p.inequalities) // (n + 1)
    first, slope = section(w.bent, 2 * n, n), section(w.bent, 3 * n, n)
    for a in range(n):
        first[a] = w.step[a]
    for _ in range(_SWEEPS):
        kept = True
        for i in range(len(w.gap)):
            over = w.gap[i] - w.gap_before[i] - w.border_most[i]
            over += _change(section(w.border_rows, i * row, n), w.step, first)
            if over > _ROUNDING:
                kept = False
                _project(section(w.border_rows, i * row, n), over, w.step, low, high)
        for i in range(stated):
            most = p.inequalities[i * (n + 1) + n]
            for r in range(len(p.coordinates)):
                c = p.coordinates[r]
                most -= p.inequalities[i * (n + 1) + c.v] * w.before[c.q]
            for a in range(n):
                slope[a] = p.inequalities[i * (n + 1) + a]
            kept = _keep(slope, most, first, w.step, low, high) and kept
        for k in range(np.int64(w.memory[GUARDED])):
            kept = _keep(section(w.guard_rows, k * row, n), w.guard_most[k], first, w.step, low, high) and kept
        for k in range(len(p.twists)):
            twist = p.twists[k]
            longer = max(length_of(twist, w.step) / twist.most, 1.0)
            for a in range(twist.first, twist.first + twist.count):
                w.step[a] = w.step[a] / longer
        if kept:
            return


@kernel
def _keep(slope, most, first, step, low, high):
    """Whether slope^T step is no more than `most`, or than it was of the step `first`; else it is projected there."""
    before, now = 0.0, 0.0
    for a in range(len(step)):
        before += slope[a] * first[a]
        now += slope[a] * step[a]
    over = now - max(before, most)
    if over <= _ROUNDING:
        return True
    _project(slope, over, step, low, high)
    return False


@kernel
def _change(slope, step, first):
    """slope^T (step - first)."""
    change = 0.0
    for a in range(len(step)):
        change += slope[a] * (step[a] - first[a])
    return change


@kernel
def _project(slope, over, step, low, high):
    """Lessen slope^T step by `over`, along the slope of those entries that their bounds let go that way."""
    square = 0.0
    for a in range(len(step)):
        square += slope[a] ** 2 if _free(slope[a], step[a], low[a], high[a]) else 0.0
    if square < 1e-18:
        return
    for a in range(len(step)):
        if _free(slope[a], step[a], low[a], high[a]):
            step[a] = min(max(step[a] - over / square * slope[a], low[a]), high[a])


@kernel
def _free(slope, x, low, high):
    """Whether x can go against its slope."""
    return x > low if slope > 0.0 else x < high
