"""TOPP-RA, the time-optimal parametrisation of a path: the largest speed at each of its points.

With a path q(s), x is the square of ds/dt and u = d^2 s / dt^2.  Speeds bound x, and accelerations
|q' u + q'' x| <= a bound both.  From the end backwards the largest x is found from which the next ones can be kept,
from the beginning on the largest u is taken that stays below it (Pham and Pham 2018, "A New Approach to Time-Optimal
Path Parameterization Based on Reachability Analysis", doi:10.1109/TRO.2018.2819195).
"""

import numpy as np

from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, TABLE


@kernel
def _range(first, second, acceleration, x):
    """The least and the largest u at x; the least is the larger one where there is none."""
    low, high = -np.inf, np.inf
    for j in range(len(acceleration)):
        a, slope, bend = acceleration[j], first[j], second[j] * x
        if abs(slope) > 1e-12:
            one, other = (-a - bend) / slope, (a - bend) / slope
            low, high = max(low, min(one, other)), min(high, max(one, other))
        elif abs(bend) > a:
            return np.inf, -np.inf
    return low, high


@kernel
def _keeps(first, second, acceleration, x, ds, after):
    """Whether some u leads from x over ds to a next x between 0 and `after`: x + 2 u ds, for dx/ds = 2 u."""
    least, largest = _range(first, second, acceleration, x)
    least, largest = max(least, -0.5 * x / ds), min(largest, 0.5 * (after - x) / ds)
    return least <= largest + 1e-12 * (1.0 + abs(largest))


@entry_point(REALS, TABLE, TABLE, REALS, REALS, REALS)
def least_times(steps, first, second, velocity, acceleration, x):
    """Write into x (n,) the squares of ds/dt, at most 1 and at rest at both ends, over steps (n - 1,) of s.

    `first`, `second` (n, joints) are the derivatives of q by s, `velocity` and `acceleration` (joints,) the limits.
    """
    n = len(x)
    x[n - 1] = 0.0
    for i in range(n - 2, -1, -1):
        top = 1.0
        for j in range(len(velocity)):
            if abs(first[i, j]) > 1e-12:
                top = min(top, (velocity[j] / first[i, j]) ** 2)
        low, high = 0.0, top
        if _keeps(first[i], second[i], acceleration, top, steps[i], x[i + 1]):
            low = top
        # To a share of what is found: a 0 where little is allowed would be a rest without an end.
        while high - low > 1e-9 * high and high > 1e-30:
            middle = 0.5 * (low + high)
            if _keeps(first[i], second[i], acceleration, middle, steps[i], x[i + 1]):
                low = middle
            else:
                high = middle
        x[i] = low
    x[0] = 0.0
    for i in range(n - 1):
        _, largest = _range(first[i], second[i], acceleration, x[i])
        x[i + 1] = max(0.0, min(x[i + 1], x[i] + 2.0 * steps[i] * largest))
