"""What limits leave to a step: low <= dq <= high, and G dq <= h."""

import functools

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch, section
from poise.kernels.methods.settings import PACED, SETTINGS


@functools.partial(kernel, inline=True)
def left_to_limits(p, s, w, longest, low, high):
    """low = max(l - q, -v dt), high = min(u - q, v dt) (n each), neither farther from 0 than `longest` but for l and u.

    One number wide.
    """
    for a in range(low.shape[0]):
        high[a] = longest
        if s[PACED] == 1.0 and s[SETTINGS + a] > 0.0:
            high[a] = min(high[a], s[SETTINGS + a])
        low[a] = -high[a]
    for c in range(p.coords.shape[0]):
        i, a = p.coords[c, 0], p.coords[c, 1]
        low[a] = max(low[a], p.limits[c, 0] - w.q[i])
        high[a] = min(high[a], p.limits[c, 1] - w.q[i])


@functools.partial(kernel, inline=True)
def linear_rows(p, s, w, rows, most):
    """rows = A (in packs) and most = b - A q, of the limits A q <= b that stand at the end of `s` (see `inequalities`).

    There each row of A (n) is followed by its entry of b.
    """
    n, count = w.step.shape[0], most.shape[0]
    row, stated = pitch(rows, n), section(s, s.shape[0] - count * (n + 1), count * (n + 1))
    for i in range(count):
        at = i * (n + 1)
        for c in range(row):
            rows[i * row + c] = stated[at + c] if c < n else 0.0
        left = stated[at + n]
        for c in range(p.coords.shape[0]):
            left -= stated[at + p.coords[c, 1]] * w.q[p.coords[c, 0]]
        most[i] = left
