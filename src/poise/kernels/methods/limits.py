"""What limits leave to a step: low <= dq <= high, and G dq <= h; and to the updates of a Tracker's step together."""

import functools
from collections import namedtuple

import numpy as np

from poise.kernels.algebra.rotations import quaternion_step
from poise.kernels.algebra.working_set import Limits
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, pitch, select, splat, sqrt, store
from poise.kernels.machine.views import section
from poise.kernels.methods.memory import ELSEWHERE, FRESH, GUARDED, GUARDS_NEW, PREDICTED
from poise.kernels.methods.turns import angle

Stated = namedtuple("Stated", "limits side squares room")
"""The limits of an update, what to try to hold of them, and room for the levels' lambda^2 and for the active set."""


@functools.partial(kernel, inline=True)
def left_to_limits(p, w, longest, low, high):
    """low = max(l - q, -v dt), high = min(u - q, v dt) (n each), neither farther from 0 than `longest` but for l and u.

    One number wide.
    """
    for a in range(len(low)):
        high[a] = min(longest, p.speeds[a])
        low[a] = -high[a]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        low[c.v] = max(low[c.v], c.lower - w.q[c.q])
        high[c.v] = min(high[c.v], c.upper - w.q[c.q])


@functools.partial(kernel, inline=True)
def stated_limits(p, w, levels, longest):
    """What limits leave to an update: box and rows, what held the last one, room for `levels` lambda^2, and more room.

    The room is that of `poise.methods.ranking`.
    """
    n = len(w.step)
    stated = len(p.inequalities) // (n + 1)
    held, most = stated + np.int64(w.memory[GUARDED]), stated + len(w.guard_most)
    row = pitch(w.rows, n)
    rows, ends = section(w.room, 0, held * row), section(w.room, most * row, held)
    side, at = section(w.room, most * row + most, n + held), most * (row + 2) + n
    squares, low, high = (
        section(w.room, at, levels),
        section(w.room, at + levels, n),
        section(w.room, at + levels + n, n),
    )
    at = at + levels + 2 * n
    left_to_limits(p, w, longest, low, high)
    _linear_rows(p, w, stated, rows, ends)
    for k in range(held - stated):
        for c in range(row):
            rows[(stated + k) * row + c] = w.guard_rows[k * row + c]
        ends[stated + k] = w.guard_most[k]
    if w.memory[FRESH] < 0.5:
        for c in range(n + held):
            side[c] = 0.0
    elif w.memory[GUARDS_NEW] > 0.5:
        for c in range(n + stated, n + held):
            side[c] = 0.0
    return Stated(Limits(low, high, rows, ends), side, squares, section(w.room, at, len(w.room) - at))


@functools.partial(kernel, inline=True)
def _linear_rows(p, w, count, rows, most):
    """rows = A (in packs) and most = b - A q, of the limits A q <= b."""
    n, stated = len(w.step), p.inequalities
    row = pitch(rows, n)
    for i in range(count):
        at = i * (n + 1)
        for c in range(row):
            rows[i * row + c] = stated[at + c] if c < n else 0.0
        left = stated[at + n]
        for r in range(len(p.coordinates)):
            left -= stated[at + p.coordinates[r].v] * w.q[p.coordinates[r].q]
        most[i] = left


@kernel
def shorten_whole_step(p, w, updates):
    """Let w.q go less far from w.begun, along the same way, until no ball has turned faster than `updates` of w.speeds.

    Updates that keep the speeds add up to a step that does, but for turns about different axes: along a third axis they
    can add up to more.
    """
    ratio = splat(w.q, 1.0)
    for b in range(len(p.balls)):
        a = p.balls[b].v
        u0, u1, u2 = _turn_since(w, p.balls[b].q)
        ratio = _larger(ratio, u0 * (1.0 / (updates * p.speeds[a])))
        ratio = _larger(ratio, u1 * (1.0 / (updates * p.speeds[a + 1])))
        ratio = _larger(ratio, u2 * (1.0 / (updates * p.speeds[a + 2])))
    over = ratio > 1.0
    if not any_of(over):
        return
    scale = 1.0 / ratio
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, x0 = load(w.q, c.q), load(w.begun, c.q)
        nearer = x0 + (x - x0) * scale
        nearer = select(nearer < c.lower, c.lower, nearer)
        nearer = select(nearer > c.upper, c.upper, nearer)
        store(w.q, c.q, select(over, nearer, x))
    for b in range(len(p.balls)):
        i = p.balls[b].q
        u0, u1, u2 = _turn_since(w, i)
        w0, x0, y0, z0 = load(w.begun, i), load(w.begun, i + 1), load(w.begun, i + 2), load(w.begun, i + 3)
        w1, x1, y1, z1 = quaternion_step(w0, x0, y0, z0, u0 * scale, u1 * scale, u2 * scale)
        store(w.q, i, select(over, w1, load(w.q, i))), store(w.q, i + 1, select(over, x1, load(w.q, i + 1)))
        store(w.q, i + 2, select(over, y1, load(w.q, i + 2))), store(w.q, i + 3, select(over, z1, load(w.q, i + 3)))
    store(w.memory, PREDICTED, select(over, ELSEWHERE, load(w.memory, PREDICTED)))


@kernel
def _turn_since(w, i):
    """Rotation vector [rad] of the shortest turn that took the quaternion at row i from w.begun to w.q."""
    w0, x0, y0, z0 = load(w.begun, i), load(w.begun, i + 1), load(w.begun, i + 2), load(w.begun, i + 3)
    w1, x1, y1, z1 = load(w.q, i), load(w.q, i + 1), load(w.q, i + 2), load(w.q, i + 3)
    cosine = w1 * w0 + x1 * x0 + y1 * y0 + z1 * z0
    v0 = x1 * w0 - w1 * x0 + z1 * y0 - y1 * z0
    v1 = y1 * w0 - w1 * y0 + x1 * z0 - z1 * x0
    v2 = z1 * w0 - w1 * z0 + y1 * x0 - x1 * y0
    sine = sqrt(v0 * v0 + v1 * v1 + v2 * v2)
    short = angle(select(cosine < 0.0, -cosine, cosine), sine)
    still = sine < 1e-150
    scale = select(still, 2.0, 2.0 * short / select(still, 1.0, sine))
    scale = select(cosine < 0.0, -scale, scale)
    return v0 * scale, v1 * scale, v2 * scale


@kernel
def _larger(ratio, x):
    """The larger of `ratio` and |x|."""
    x = select(x < 0.0, -x, x)
    return select(x > ratio, x, ratio)
