"""Quantities that damping rules use, which are in `poise.methods.damping`: curvature, singular values, trust."""

import functools

from poise.kernels.algebra.tiles import back_substitute, factor
from poise.kernels.machine.jit import call, kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.machine.layout import RULE
from poise.kernels.machine.memory import DAMPING, FRESH
from poise.kernels.machine.views import section

_STARTING = 4
"""Inverse iterations of a first estimate; afterwards one an update follows the pose."""


@functools.partial(kernel, inline=True)
def damp(p, w):
    """lambda^2 by the rule at hand."""
    call(w.routines[RULE], p, w)
    return load(w.memory, DAMPING)


@functools.partial(kernel, inline=True)
def squared(x):
    """The sum of squares of rows."""
    square = splat(x, 0.0)
    for i in range(len(x)):
        square = square + load(x, i) * load(x, i)
    return square


@functools.partial(kernel, inline=True)
def curvature(p, w):
    """A bound of the norm of sum e_k Hess f_k, the part of the Hessian of |e|^2 / 2 that J^T J lacks.

    The second derivative by joints i <= j along a chain is axis i times column j, hence no longer than column j; with
    the columns of all effectors weighed by their errors that bounds the 2 depth - 1 entries of the Hessian that belong
    to j and the joints before it, and so its Frobenius norm.
    """
    for a in range(len(w.other)):
        store(w.other, a, splat(w.e, 0.0))
    for k in range(len(p.effectors)):
        slot0 = p.effectors[k].first_slot
        for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
            x, y, z = load(w.clamped, 3 * b), load(w.clamped, 3 * b + 1), load(w.clamped, 3 * b + 2)
            size = sqrt(x * x + y * y + z * z)
            if not any_of(size > 0.0):
                continue
            j = p.blocks[b].start
            for c in range(p.effectors[k].columns):
                a = p.slots[slot0 + c]
                x, y, z = load(w.jacobian, j), load(w.jacobian, j + 1), load(w.jacobian, j + 2)
                store(w.other, a, load(w.other, a) + size * sqrt(x * x + y * y + z * z))
                j += 3
    square = splat(w.e, 0.0)
    for k in range(len(p.effectors)):
        slot0 = p.effectors[k].first_slot
        for c in range(p.effectors[k].columns):
            a = p.slots[slot0 + c]
            square = square + (2.0 * c + 1.0) * (load(w.other, a) * load(w.other, a))
            store(w.other, a, splat(w.e, 0.0))  # a joint that several effectors share counts once
    return sqrt(square)


@kernel
def shaped(sigma, largest, damping):
    """(1 - (sigma / largest)^2) * damping below `largest`, else 0: Chiaverini, Siciliano and Egeland's curve."""
    ratio = sigma * (1.0 / largest)
    return select(ratio < 1.0, (1.0 - ratio * ratio) * damping, 0.0)


@functools.partial(kernel, inline=True)
def damp_estimated(w, two, epsilon, largest, floor):
    """Damp J J^T, w.matrix, along the vectors u of its one or `two` smallest singular values: += beta^2 u u^T.

    They are estimated by inverse iteration on J J^T + `floor` I, whose vectors, w.estimate, are kept from one update to
    the next.  Returns beta^2 of the smallest.  Source: Maciejewski and Klein 1988; Chiaverini 1993.
    """
    size, matrix = len(w.e), w.matrix
    big = section(w.room, 0, size * size)
    for i in range(size * size):
        store(big, i, load(matrix, i))
    factor(size, splat(matrix, floor), big)
    u, v = section(w.estimate, 0, size), section(w.estimate, size, size)
    fresh = load(w.memory, FRESH) < 0.5
    rounds = 1
    if any_of(fresh):
        rounds = _STARTING
        sign = 1.0
        for i in range(size):
            store(u, i, select(fresh, 1.0, load(u, i)))
            store(v, i, select(fresh, sign, load(v, i)))
            sign = -sign
        _normalise(u), _orthonormalise(u, v)
    first = second = splat(matrix, 0.0)
    for _ in range(rounds):
        back_substitute(size, big, u, u)
        first = _normalise(u)
        if two:
            back_substitute(size, big, v, v)
            second = _orthonormalise(u, v)
    damping = _damp_along(first, u, size, matrix, epsilon, largest, floor)
    if two:
        _damp_along(second, v, size, matrix, epsilon, largest, floor)
    return damping


@kernel
def _damp_along(length, u, size, matrix, epsilon, largest, floor):
    """matrix += beta^2 u u^T; inverse iteration made u this long, so sigma^2 = 1 / length - floor."""
    square = 1.0 / length - floor
    beta = shaped(sqrt(select(square > 0.0, square, 0.0)), epsilon, largest)
    for i in range(size):
        x = beta * load(u, i)
        for j in range(size):
            store(matrix, i * size + j, load(matrix, i * size + j) + x * load(u, j))
    return beta


@kernel
def _normalise(u):
    """Scale u to length 1; its length before."""
    length = sqrt(squared(u))
    inverse = 1.0 / length
    for i in range(len(u)):
        store(u, i, load(u, i) * inverse)
    return length


@kernel
def _orthonormalise(u, v):
    """Take u's part out of v and scale it to length 1; its length before."""
    across = splat(u, 0.0)
    for i in range(len(u)):
        across = across + load(u, i) * load(v, i)
    for i in range(len(u)):
        store(v, i, load(v, i) - across * load(u, i))
    return _normalise(v)


@kernel
def ranked(sigma, rank):
    """The singular value that has `rank` others below it; of equal ones the later counts as larger."""
    m = len(sigma)
    found = splat(sigma, 0.0)
    for i in range(m):
        x = load(sigma, i)
        below = splat(sigma, 0.0)
        for j in range(m):
            y = load(sigma, j)
            below = below + (select(y <= x, 1.0, splat(sigma, 0.0)) if j < i else select(y < x, 1.0, 0.0 * x))
        found = select((below > rank - 0.5) & (below < rank + 0.5), x, found)
    return found


@kernel
def trust(sigma, c, longest):
    """The least p = lambda^2 by which the step is no longer than `longest`, exactly: Deo and Walker 1992.

    Newton's method on 1 / |dq(p)| = 1 / longest, which is concave and almost straight, from p = 0.
    """
    top = splat(sigma, 0.0)
    for i in range(len(sigma)):
        x = load(sigma, i)
        top = select(x > top, x, top)
    p = splat(sigma, 0.0)
    for _ in range(60):
        f, slope = splat(sigma, 0.0), splat(sigma, 1e-300)
        for i in range(len(sigma)):
            x = load(sigma, i)
            y = 1.0 / select(x > 1e-12 * top, x * x + p, 1.0)
            step = select(x > 1e-12 * top, x * load(c, i), 0.0) * y
            f = f + step * step
            slope = slope + step * step * y
        size = sqrt(f)
        over = size > longest * (1.0 + 1e-13)
        if not any_of(over):
            break
        p = select(over, p + (size * (1.0 / longest) - 1.0) * f / slope, p)
    return p
