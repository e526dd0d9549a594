"""Ranges that a step does not leave: inequalities for an update, and the look at where it led.

A range has sides, and h_i(q) is by how much a task is beyond side i, less than 0 inside.  Before an update h is
measured, and h + J_h dq <= -r becomes a row of the active set, r being a small reserve.  After it h is measured again.
Where the curvature of h took the step outside, the update is taken again with so much less left to it, a second order
correction of sequential quadratic programming (Nocedal and Wright 2006, section 18.3).  Where that does not help, the
step is bent back by all but the least change, with the slopes where it led, and at last shortened.  So what was inside
of a side stays inside, and what was outside gets no farther out.
"""

import numpy as np

from poise.kernels.algebra.rotations import quaternion_step
from poise.kernels.algebra.working_set import NONE
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import METHOD, SIDES
from poise.kernels.machine.views import section
from poise.kernels.methods.braking import NO_LIMIT, allowed, fastest
from poise.kernels.methods.limits import allow, allowed_from, jerking, left_to_limits, since_begun
from poise.kernels.methods.memory import ELSEWHERE, GUARDED, PREDICTED
from poise.kernels.methods.update import length_of, move

_TRIALS = 4
"""The update is taken again so often, with less left to it."""
_BENDS, _SWEEPS = 6, 16
"""A step is bent back so often, each time in so many rounds through all inequalities, before it is shortened."""
_HALVINGS = 16
"""It is halved so often before it is not taken."""
_STOPS, _RESTING = 4096, 1e-9
"""Braking is followed for so many steps, or until a step and its change are so small [rad or m]."""
_FLAT = 1e-18
"""The square of a slope along which nothing is gained [(m per rad or m)^2]."""
_ANYWHERE = 1e20
"""The room of a coordinate without limits [rad]."""
_ROUNDING = 1e-12
"""What counts as no farther out [m or rad]."""


@routine
def face(p, w):
    """w.border_rows and w.border_most: what the sides of all ranges ask of the update from w.q.

    Where accelerations are limited a side may be approached no faster than the joints can brake for: b is by how much
    less the gap may grow an update later, and v^2 / 2 of b stop v.
    """
    _measure(p, w, w.q)
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
    """Bend the update from w.before to w.q back to where it leaves no range; w.step is what was gone.

    What is taken back is that which it is more than none at all, or where accelerations are limited than braking.  A
    step must then leave a way to brake to rest, so that braking is always open: it was looked at a step before.
    """
    _measure(p, w, w.q)
    if _inside(w) and _can_stop(p, w):
        return
    n = len(w.step)
    low, high = section(w.bent, 0, n), section(w.bent, n, n)
    w.memory[PREDICTED] = ELSEWHERE
    for _ in range(_TRIALS):
        _tighten(p, w)
        call(w.routines[METHOD], p, w)
        _measure(p, w, w.q)
        if _inside(w) and _can_stop(p, w):
            return
    left_to_limits(p, w, NONE, low, high)
    for _ in range(_BENDS):
        if not _inside(w):
            _bend(p, w, low, high)
            _go(p, w)
    _measure(p, w, w.q)
    if _inside(w) and _can_stop(p, w):
        return
    if jerking(p):
        allow(p, w)
    left_to_limits(p, w, NONE, low, high)
    asked, base = section(w.bent, 2 * n, n), section(w.bent, 3 * n, n)
    _brake_first(p, w, base)
    for a in range(n):
        asked[a], base[a] = w.step[a], min(max(base[a], low[a]), high[a])
    for k in range(1, _HALVINGS + 1):
        share = 0.5**k if k < _HALVINGS else 0.0
        for a in range(n):
            w.step[a] = base[a] + share * (asked[a] - base[a])
        _go(p, w)
        if _inside(w) and _can_stop(p, w):
            return


@kernel
def _tighten(p, w):
    """Let what was measured outside get less near in the update, which begins anew at w.before.

    By as much as it is outside of where it was to be; where it is outside on the way to rest alone, the side is
    approached no faster than half way between w.step and braking.
    """
    n = len(w.step)
    row, base, astray = pitch(w.border_rows, n), section(w.bent, 3 * n, n), section(w.astray, 0, len(w.gap))
    for i in range(len(w.gap)):
        astray[i] = w.gap[i] - _most(w, i)
    asked = section(w.bent, 2 * n, n)
    for a in range(n):
        asked[a] = w.step[a]
    _brake_first(p, w, base)
    _measure(p, w, w.q)
    for i in range(len(w.gap)):
        if w.gap[i] > _most(w, i):
            w.border_most[i] -= w.gap[i] - w.gap_before[i] - w.border_most[i]
            astray[i] = 0.0
    _measure(p, w, w.before)
    for i in range(len(w.gap)):
        if astray[i] > 0.0:
            least, most = 0.0, 0.0
            for a in range(n):
                least += w.border_rows[i * row + a] * base[a]
                most += w.border_rows[i * row + a] * asked[a]
            w.border_most[i] = 0.5 * (least + min(most, w.border_most[i]))
    for i in range(len(w.q)):
        w.q[i] = w.before[i]


@kernel
def _go(p, w):
    """Let w.q be where w.step leads from w.before, and measure there."""
    move(p, w)
    _measure(p, w, w.q)


@kernel
def _measure(p, w, q):
    """w.gap and w.border_rows at q."""
    forward(p.units, q, w.frames)
    for b in range(len(p.borders)):
        call(w.routines[p.effectors[p.borders[b].effector].rows + SIDES], p, w, b)


@kernel
def _inside(w):
    """Whether what was measured is within all ranges, or no farther out than where the update began."""
    for i in range(len(w.gap)):
        if w.gap[i] > _most(w, i):
            return False
    return True


@kernel
def _most(w, i):
    """The largest gap of a side that is no farther out than where the update began."""
    return max(w.gap_before[i], 0.0) + _ROUNDING


@kernel
def _can_stop(p, w):
    """Whether braking from w.q, where w.step led, leaves no range; what was measured is of w.q, and is used up.

    It is measured again only where what a side had to spare may be used up.
    """
    if len(p.paces) == 0:
        return True
    n = len(w.step)
    v, s, x = section(w.stopping, 0, n), section(w.stopping, n, n), section(w.stopping, 2 * n, len(w.q))
    since_begun(p, w, w.before)
    for a in range(n):
        v[a] = w.gone[a] + w.step[a]
        s[a] = v[a] - w.travel[a]
    for i in range(len(x)):
        x[i] = w.q[i]
    sure = _sure_for(w, v)
    for k in range(1, _STOPS + 1):
        if _brake(p, v, s, x) < _RESTING:
            break
        if k >= sure:
            _measure(p, w, x)
            if not _inside(w):
                return False
            sure = k + _sure_for(w, v)
    return True


@kernel
def _sure_for(w, v):
    """For how many steps no faster than v no side is crossed, if no lever becomes twice as long; one at least."""
    n, sure = len(v), float(_STOPS)
    row = pitch(w.border_rows, n)
    for i in range(len(w.gap)):
        pace = 0.0
        for a in range(n):
            pace += 2.0 * w.border_reach[i * row + a] * abs(v[a])
        room = _most(w, i) - w.gap[i]
        if pace * sure > room:
            sure = room / pace
    return max(np.floor(sure), 1.0)


@kernel
def _brake_first(p, w, step):
    """`step` (n) is what is left of a whole step that brakes, after the updates before."""
    n = len(step)
    v, s, x = section(w.stopping, 0, n), section(w.stopping, n, n), section(w.stopping, 2 * n, len(w.q))
    for a in range(n if len(p.paces) > 0 else 0):
        v[a], s[a] = w.travel[a], w.surge[a]
    for i in range(len(x)):
        x[i] = w.begun[i]
    if len(p.paces) > 0:
        _brake(p, v, s, x)
        since_begun(p, w, w.before)
    for a in range(n):
        step[a] = v[a] - w.gone[a] if len(p.paces) > 0 else 0.0


@kernel
def _brake(p, v, s, x):
    """The step after v (n), whose change was s (n), that comes nearest to rest, from x (nq), which goes along.

    The largest entry of it and of its change.
    """
    largest = 0.0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        low, high = allowed_from(p.paces[c.v], c, x[c.q], v[c.v], s[c.v])
        largest = max(largest, _slow(p.paces[c.v], c.v, low, high, v, s))
        x[c.q] = x[c.q] + v[c.v]
    for b in range(len(p.balls)):
        i, a = p.balls[b].q, p.balls[b].v
        for k in range(3):
            pace = p.paces[a + k]
            low, high = allowed(_ANYWHERE, _ANYWHERE, v[a + k], s[a + k], pace.speed, pace.change, pace.jerk)
            largest = max(largest, _slow(pace, a + k, low, high, v, s))
        x[i], x[i + 1], x[i + 2], x[i + 3] = quaternion_step(
            x[i], x[i + 1], x[i + 2], x[i + 3], v[a], v[a + 1], v[a + 2]
        )
    return largest


@kernel
def _slow(pace, a, low, high, v, s):
    """The same of one velocity, from `low` to `high`: the larger of |v[a]| and |s[a]|, which are new."""
    last = v[a]
    if pace.jerk < NO_LIMIT:  # to come to rest with no acceleration left
        if last <= 0.0:
            high = max(low, min(high, last + fastest(-last, pace.jerk)))
        if last >= 0.0:
            low = min(high, max(low, last - fastest(last, pace.jerk)))
    v[a] = min(max(0.0, low), high)
    s[a] = v[a] - last
    return max(abs(v[a]), abs(s[a]))


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
    for _ in range(len(step)):
        square = 0.0
        for a in range(len(step)):
            square += slope[a] ** 2 if _free(slope[a], step[a], low[a], high[a]) else 0.0
        if square < _FLAT or over <= 0.0:
            return
        share = over / square
        for a in range(len(step)):
            if _free(slope[a], step[a], low[a], high[a]):
                x = step[a]
                step[a] = min(max(x - share * slope[a], low[a]), high[a])
                over -= slope[a] * (x - step[a])


@kernel
def _free(slope, x, low, high):
    """Whether x can go against its slope."""
    return x > low if slope > 0.0 else x < high
