"""The inequalities G x <= h that x breaks: the way to the least sum of squares of what is beyond h.

The sum is convex, once differentiable and quadratic in pieces: the rows that are broken are a least-squares problem,
and the way to its solution ends where the sum is least along it, rows that get broken or kept on the way included (a
finite Newton method, as that of Madsen and Nielsen 1990 for Huber's estimator).
"""

import functools

from poise.kernels.algebra.directions import RANK, copy_row, fit, triangularise, turn, turn_back
from poise.kernels.algebra.reflections import dot
from poise.kernels.algebra.working_set import NONE, way
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, store_pack, zeros

_TOUCH = 1e-13
"""Against what its terms add up to, how far beyond h a row is touched, not broken."""
_FALL = 1e-24
"""Against the sum of squares, a fall by the next step that is rounding; so is one below the squares of all touches."""


@functools.partial(kernel, inline=True)
def toward_rows(n, limits, s, used):
    """s.step = the way in the directions left to where x breaks the rows less, and how far to go along it.

    That is 0 where they are broken least as it is, and negative where none is broken.
    """
    size, squares, rounding = _broken(n, limits, s)
    if size == 0:
        return -1.0
    if used == n:
        return 0.0
    _newton_step(n, limits, s, used, size)
    if -_changes(n, limits, s) > _FALL * squares + rounding:
        return _least_along(len(limits.most), s)
    return 0.0


@functools.partial(kernel, inline=True)
def relax_bounds(n, limits, s):
    """s.most is h, raised to where x is; the most that a row is raised by.

    At the least sum of squares that is the same for every x.
    """
    beyond, reach, wide = 0.0, largest(n, s.x), packs(limits.rows, n)
    for i in range(len(limits.most)):
        s.over[i] = dot(limits.rows, i * wide, s.x, 0, 0, wide) - limits.most[i]
        s.most[i] = limits.most[i] if s.over[i] < 0.0 else limits.most[i] + s.over[i]
        if s.over[i] > touch(limits, s, i, reach):
            beyond = max(beyond, s.over[i])
    return beyond


@kernel
def largest(n, x):
    """The largest absolute value of x."""
    value = 0.0
    for a in range(n):
        value = max(value, abs(x[a]))
    return value


@kernel
def touch(limits, s, i, reach):
    """How far row i may be exceeded by rounding at an x whose entries are up to `reach`."""
    return _TOUCH * (abs(limits.most[i]) + s.length[i] * reach)


@functools.partial(kernel, inline=True)
def _broken(n, limits, s):
    """s.over is how far x is beyond each row, s.b what the broken ones want, in their order.

    How many they are, their sum of squares, and that of what would be rounding.
    """
    size, squares, rounding, reach, wide = 0, 0.0, 0.0, largest(n, s.x), packs(limits.rows, n)
    for i in range(len(limits.most)):
        s.over[i] = dot(limits.rows, i * wide, s.x, 0, 0, wide) - limits.most[i]
        least = touch(limits, s, i, reach)
        if s.over[i] > least:
            s.b[size] = -s.over[i]
            squares = squares + s.over[i] * s.over[i]
            rounding = rounding + least * least
            size += 1
        elif s.over[i] > 0.0:
            s.over[i] = 0.0
    return size, squares, rounding


@functools.partial(kernel, inline=True)
def _newton_step(n, limits, s, used, size):
    """s.step is the shortest way to the least squares of the rows that are broken."""
    r, furthest = 0, 0.0
    for i in range(len(limits.most)):
        if s.over[i] > 0.0:
            copy_row(n, limits.rows, i, s.part, r)
            turn(n, s.mirrors, 0, used, s.part, r)
            s.mark[r] = s.length[i] * s.length[i]
            furthest = max(furthest, s.length[i])
            r += 1
    rank = triangularise(n, used, size, RANK * furthest, s)
    fit(n, used, size, rank, 0.0, s)
    copy_row(n, s.z, 0, s.move, 0)
    turn_back(n, s.mirrors, used, used + rank, s.move)
    way(n, s, used)


@functools.partial(kernel, inline=True)
def _changes(n, limits, s):
    """s.change = G step; how half the sum of squares begins to change along the step."""
    wide, fall = packs(limits.rows, n), 0.0
    for i in range(len(limits.most)):
        s.change[i] = dot(limits.rows, i * wide, s.step, 0, 0, wide)
        if s.over[i] > 0.0:
            fall = fall + s.over[i] * s.change[i]
    return fall


@kernel
def _least_along(p, s):
    """The t at which the sum of squares of over + t change, where that is positive, is least."""
    t = 0.0
    for _ in range(p + 1):
        rate, curve, end = 0.0, 0.0, NONE
        for i in range(p):
            change = s.change[i]
            touch = -s.over[i] / change if change != 0.0 else NONE
            if touch > t:
                end = min(end, touch)
            if (change > 0.0 and t >= touch) or (change < 0.0 and t < touch):
                rate = rate + (s.over[i] + t * change) * change
                curve = curve + change * change
        if not (rate < 0.0 and curve > 0.0):
            return t
        if t - rate / curve <= end:
            return t - rate / curve
        t = end
    return t


@functools.partial(kernel, inline=True)
def slope_of_rows(n, limits, s, used):
    """s.slope = G^T max(0, G x - h), in the coordinates of L; the size of what it is the sum of."""
    scale, wide = 0.0, packs(limits.rows, n)
    for c in range(wide):
        store_pack(s.slope, c, zeros(s.slope))
    for i in range(len(limits.most)):
        if s.over[i] > 0.0:
            scale = max(scale, s.length[i] * s.over[i])
            for c in range(wide):
                more = s.over[i] * load_pack(limits.rows, i * wide + c)
                store_pack(s.slope, c, load_pack(s.slope, c) + more)
    turn(n, s.mirrors, 0, used, s.slope, 0)
    return scale
