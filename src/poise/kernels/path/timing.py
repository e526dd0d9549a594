"""TOPP-RA, the time-optimal parametrisation of a path: the largest speed at each of its points.

With a path q(s), x is the square of ds/dt and u = d^2 s / dt^2.  Speeds bound x.  Accelerations q' u + q'' x bound
both, and so do torques, which are linear in both beside the weight.  From the end backwards the largest x is found from
which the next ones can be kept, from the beginning on the largest u is taken that stays below it (Pham and Pham 2018,
"A New Approach to Time-Optimal Path Parameterization Based on Reachability Analysis", doi:10.1109/TRO.2018.2819195).
"""

import numpy as np

from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, TABLE


@kernel
def _range(slope, bend, low, high, x):
    """The least and the largest u at x; the least is the larger one where there is none."""
    least, largest = -np.inf, np.inf
    for j in range(len(slope)):
        below, above = low[j] - bend[j] * x, high[j] - bend[j] * x
        if abs(slope[j]) > 1e-12:
            one, other = below / slope[j], above / slope[j]
            least, largest = max(least, min(one, other)), min(largest, max(one, other))
        elif below > 0.0 or above < 0.0:
            return np.inf, -np.inf
    return least, largest


@kernel
def _keeps(slope, bend, low, high, x, ds, after):
    """Whether some u leads from x over ds to a next x between 0 and `after`: x + 2 u ds, for dx/ds = 2 u."""
    least, largest = _range(slope, bend, low, high, x)
    least, largest = max(least, -0.5 * x / ds), min(largest, 0.5 * (after - x) / ds)
    return least <= largest + 1e-12 * (1.0 + abs(largest))


@entry_point(REALS, REALS, TABLE, TABLE, TABLE, TABLE, REALS)
def least_times(steps, top, slope, bend, low, high, x):
    """Write into x (n,) the squares of ds/dt, at most `top` (n,) and at rest at both ends, over steps (n - 1,) of s.

    low <= slope u + bend x <= high, each (n, rows), low at most 0 and high at least 0.
    """
    n = len(x)
    x[n - 1] = 0.0
    for i in range(n - 2, -1, -1):
        least, most = 0.0, top[i]
        if _keeps(slope[i], bend[i], low[i], high[i], most, steps[i], x[i + 1]):
            least = most
        # To a share of what is found: a 0 where little is allowed would be a rest without an end.
        while most - least > 1e-9 * most and most > 1e-30:
            middle = 0.5 * (least + most)
            if _keeps(slope[i], bend[i], low[i], high[i], middle, steps[i], x[i + 1]):
                least = middle
            else:
                most = middle
        x[i] = least
    x[0] = 0.0
    for i in range(n - 1):
        _, largest = _range(slope[i], bend[i], low[i], high[i], x[i])
        x[i + 1] = max(0.0, min(x[i + 1], x[i] + 2.0 * steps[i] * largest))
