"""What limits leave to a step: low <= dq <= high, and G dq <= h."""

import functools

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch


@functools.partial(kernel, inline=True)
def left_to_limits(p, w, longest, low, high):
    """low = max(l - q, -v dt), high = min(u - q, v dt) (n each), neither farther from 0 than `longest` but for l and u.

    One number wide.
    """
    for a in range(len(low)):
        high[a] = longest
        if p.speeds[a] > 0.0:
            high[a] = min(high[a], p.speeds[a])
        low[a] = -high[a]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        low[c.v] = max(low[c.v], c.lower - w.q[c.q])
        high[c.v] = min(high[c.v], c.upper - w.q[c.q])


@functools.partial(kernel, inline=True)
def inequalities(p, w):
    """The number of limits A q <= b."""
    return len(p.inequalities) // (len(w.step) + 1)


@functools.partial(kernel, inline=True)
def linear_rows(p, w, rows, most):
    """rows = A (in packs) and most = b - A q, of the limits A q <= b."""
    n, stated = len(w.step), p.inequalities
    row = pitch(rows, n)
    for i in range(len(most)):
        at = i * (n + 1)
        for c in range(row):
            rows[i * row + c] = stated[at + c] if c < n else 0.0
        left = stated[at + n]
        for r in range(len(p.coordinates)):
            left -= stated[at + p.coordinates[r].v] * w.q[p.coordinates[r].q]
        most[i] = left
