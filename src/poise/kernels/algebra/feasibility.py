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
"""A row that is beyond h by no more than this, against the size of its terms, is touched by rounding, not broken."""
_FALL = 1e-24
"""A step that lowers the sum of squares by no more than this share, or than the squares of all touches, is rounding."""


@functools.partial(kernel, inline=True)
def toward_rows(n, limits, s, used):
    """s.step, a descent of |max(0, G x - h)|^2 in the directions left, and the share of it to go.

    That is 0 where the sum cannot fall, and negative where no row is broken.
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
    """s.most = h, raised to G x for the rows that x breaks; by how much a row is raised most.

    The levels keep these rows: the sum of squares is convex, so max(0, G x - h) is the same at each of its minima.
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
    """s.over = G x - h, 0 of rows that are touched, and s.b = -over of the broken ones, in their order.

    How many are broken, their sum of squares, and that of what would be rounding of them.
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
    """s.step, the shortest one to the least squares of the broken rows as equations, in the directions left."""
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
    """s.change = G step; the derivative of half the sum of squares along the step."""
    wide, fall = packs(limits.rows, n), 0.0
    for i in range(len(limits.most)):
        s.change[i] = dot(limits.rows, i * wide, s.step, 0, 0, wide)
        if s.over[i] > 0.0:
            fall = fall + s.over[i] * s.change[i]
    return fall


@kernel
def _least_along(p, s):
    """The t >= 0 at which sum max(0, over + t change)^2 is least.

    Between the t at which a row gets broken or kept the sum is a parabola; its pieces are walked through from 0.
    """
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
    """s.slope = G^T max(0, G x - h) in the coordinates y; the size of its terms, to judge rounding by."""
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
