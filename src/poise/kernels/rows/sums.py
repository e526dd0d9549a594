"""Limits A q <= b of sums of joints: the slack of a sum, and how much of it is rounding."""

import numpy as np

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch
from poise.kernels.rows.rounding import ROUNDING


@kernel
def sum_count(p, nq):
    """How many limits of sums there are, of the numbers of q (nq)."""
    return len(p.inequalities) // (nq + 1)


@kernel
def slack_of_sum(p, i, q):
    """The slack b - A q of sum i at q (nq) [rad or m], and its rounding: below 0 by no more than that, it holds.

    The size of a sum, of which rounding is a share, is the sum of |A_i| max(1, |q_i|): a joint near 0 counts as 1, for
    what steps to there rounds like a turn.
    """
    at = i * (len(q) + 1)
    slack, size = p.inequalities[at + len(q)], 0.0
    for k in range(len(q)):
        factor, x = p.inequalities[at + k], q[k]
        slack, size = slack - factor * x, size + abs(factor) * max(1.0, abs(x))
    return slack, ROUNDING * size


@kernel
def slack_of_sums(p, q):
    """The least slack at q (nq) [rad or m], with its rounding: negative where a limit is broken, infinite without."""
    least = np.inf
    for i in range(sum_count(p, len(q))):
        slack, rounding = slack_of_sum(p, i, q)
        least = min(least, slack + rounding)
    return least


@kernel
def sums_hold(p, w, x):
    """Whether all sums hold at q = x (nq), those that do not at w.begun being no farther beyond."""
    for i in range(sum_count(p, len(x))):
        (slack, rounding), (before, slight) = slack_of_sum(p, i, x), slack_of_sum(p, i, w.begun)
        if not slack >= (before if before < -slight else 0.0) - rounding:
            return False
    return True


@kernel
def put_sum(p, w, i, rows, k):
    """Write A of sum i by the active velocities as row k of rows in packs."""
    n, at = len(w.step), i * (len(w.q) + 1)
    row = pitch(rows, n)
    for c in range(row):
        rows[k * row + c] = 0.0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        rows[k * row + c.v] = p.inequalities[at + c.q]
