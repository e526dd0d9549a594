"""Limits A q <= b of sums of joints: the slack of a sum, and how much of it is rounding."""

import numpy as np

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch
from poise.kernels.rows.rounding import ROUNDING


@kernel
def sum_count(p, n):
    """How many limits of sums there are, of n velocities."""
    return len(p.inequalities) // (n + 1)


@kernel
def slack_of_sum(p, n, i, q):
    """The slack b - A q of sum i at q (nq) [rad or m], and its rounding: below 0 by no more than that, it holds.

    The size of a sum, of which rounding is a share, is the sum of |A_i| max(1, |q_i|): a joint near 0 counts as 1, for
    what steps to there rounds like a turn.
    """
    at, slack, size = i * (n + 1), p.inequalities[i * (n + 1) + n], 0.0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        factor, x = p.inequalities[at + c.v], q[c.q]
        slack, size = slack - factor * x, size + abs(factor) * max(1.0, abs(x))
    return slack, ROUNDING * size


@kernel
def slack_of_sums(p, w, q):
    """The least slack at q (nq) [rad or m], with its rounding: negative where a limit is broken, infinite without."""
    n, least = len(w.step), np.inf
    for i in range(sum_count(p, n)):
        slack, rounding = slack_of_sum(p, n, i, q)
        least = min(least, slack + rounding)
    return least


@kernel
def sums_hold(p, w, x):
    """Whether all sums hold at q = x (nq), those that do not at w.begun being no farther beyond."""
    n = len(w.step)
    for i in range(sum_count(p, n)):
        (slack, rounding), (before, slight) = slack_of_sum(p, n, i, x), slack_of_sum(p, n, i, w.begun)
        if not slack >= (before if before < -slight else 0.0) - rounding:
            return False
    return True


@kernel
def put_sum(p, n, i, rows, k):
    """Write A of sum i (n) as row k of rows in packs."""
    for c in range(pitch(rows, n)):
        rows[k * pitch(rows, n) + c] = p.inequalities[i * (n + 1) + c] if c < n else 0.0
