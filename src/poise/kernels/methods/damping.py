"""Damping: every rule gives lambda squared, the number on the diagonal of J J^T + lambda^2 I.

The papers are named at the settings of each rule, in `poise.methods.damping`.
"""

import functools

from poise.kernels.algebra.tiles import back_substitute, factor
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.machine.views import section
from poise.kernels.methods.memory import FRESH, MU
from poise.kernels.methods.settings import (
    CHAN,
    CURVATURE,
    DROP,
    ESTIMATED,
    ESTIMATED_TWO,
    GAIN,
    MAX_NORM,
    NAKAMURA,
    RATE,
    RULE,
    RULE_A,
    RULE_B,
    RULE_C,
    SMALLEST,
    SUGIHARA,
    TRUST,
)

_STARTING = 4
"""Inverse iterations of a first estimate; afterwards one an update follows the pose."""


@functools.partial(kernel, inline=True)
def from_errors(p, s, w):
    """lambda^2 of the rules that look at no singular values."""
    rule = s[RULE]
    square = splat(w.clamped, 0.0)
    for i in range(len(w.clamped)):
        e = load(w.clamped, i)
        square = square + e * e
    damping = splat(w.clamped, s[RULE_A])
    if rule == CHAN:
        damping = (0.5 * s[RULE_A]) * square + s[RULE_B]
    elif rule == SUGIHARA:
        damping = 0.5 * square + s[RULE_A]
    elif rule == CURVATURE:
        damping = s[RULE_A] * curvature(p, w) + s[RULE_B]
    elif rule == GAIN:
        damping = load(w.memory, MU)
    elif rule == RATE:
        change = splat(w.clamped, 0.0)
        for i in range(len(w.jacobian)):
            x = load(w.jacobian, i) - load(w.last_jacobian, i)
            change = change + x * x
            store(w.last_jacobian, i, load(w.jacobian, i))
        bound = (1.25 / s[RULE_B]) * sqrt(select(load(w.memory, FRESH) < 0.5, 0.0, change))
        damping = (0.25 / (s[RULE_A] * s[RULE_A])) * square
        damping = select(bound > damping, bound, damping) + s[RULE_C]
    return damping


@functools.partial(kernel, inline=True)
def longest_column(p, w):
    """The largest square of a Jacobian column, over the effectors."""
    largest = splat(w.e, 0.0)
    for k in range(len(p.effectors)):
        for c in range(p.effectors[k].columns):
            square = splat(w.e, 0.0)
            for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
                j = p.blocks[b].start + 3 * c
                x, y, z = load(w.jacobian, j), load(w.jacobian, j + 1), load(w.jacobian, j + 2)
                square = square + (x * x + y * y + z * z)
            largest = select(square > largest, square, largest)
    return largest


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
def damp_estimated(s, w, size, matrix):
    """Add to `matrix` = J J^T the damping of its one or two smallest singular values alone; lambda^2 of the smallest.

    They are estimated by inverse iteration on J J^T + RULE_C I, whose vectors are kept from one update to the next.
    Source: Maciejewski and Klein 1988; Chiaverini 1993.
    """
    big = section(w.room, 0, size * size)
    for i in range(size * size):
        store(big, i, load(matrix, i))
    factor(size, splat(matrix, s[RULE_C]), big)
    u, v = section(w.estimate, 0, size), section(w.estimate, size, size)
    two = s[RULE] == ESTIMATED_TWO
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
    damping = _damp_along(s, first, u, size, matrix)
    if two:
        _damp_along(s, second, v, size, matrix)
    return damping


@kernel
def _damp_along(s, length, u, size, matrix):
    """matrix += beta^2 u u^T, u's singular value being known from the length that inverse iteration gave it."""
    square = 1.0 / length - s[RULE_C]
    beta = shaped(sqrt(select(square > 0.0, square, 0.0)), s[RULE_A], s[RULE_B])
    for i in range(size):
        x = beta * load(u, i)
        for j in range(size):
            store(matrix, i * size + j, load(matrix, i * size + j) + x * load(u, j))
    return beta


@kernel
def _normalise(u):
    """Scale u to length 1; its length before."""
    square = splat(u, 0.0)
    for i in range(len(u)):
        square = square + load(u, i) * load(u, i)
    length = sqrt(square)
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
    """The singular value that has `rank` others below it."""
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


@functools.partial(kernel, inline=True)
def from_values(p, s, w):
    """lambda^2 of every rule, the singular values of J and c = U^T e being known."""
    rule = s[RULE]
    if rule == NAKAMURA:
        return _of_manipulability(s, w.sigma)
    if rule == SMALLEST:
        return shaped(ranked(w.sigma, s[DROP]), s[RULE_A], s[RULE_B])
    if rule in (ESTIMATED, ESTIMATED_TWO):
        return shaped(ranked(w.sigma, s[DROP]), s[RULE_A], s[RULE_B]) + s[RULE_C]
    if rule == TRUST:
        return _of_trust(w.sigma, w.along, s[RULE_A])
    if rule == MAX_NORM:
        return _of_norm(w.along, ranked(w.sigma, s[DROP]), s[RULE_A])
    return from_errors(p, s, w)


@kernel
def _of_manipulability(s, sigma):
    """k0 (1 - w / w0)^2 below w0: Nakamura and Hanafusa 1986."""
    low, w = ranked(sigma, s[DROP]), splat(sigma, 1.0)
    for i in range(len(sigma)):
        x = load(sigma, i)
        w = w * select(x < low, 1.0, x)
    rest = 1.0 - w * (1.0 / s[RULE_B])
    return select(rest > 0.0, rest * rest * s[RULE_A], 0.0)


@kernel
def _of_norm(c, low, longest):
    """The least lambda^2 by which no step is longer than `longest`: Maciejewski and Klein 1988."""
    square = splat(c, 0.0)
    for i in range(len(c)):
        square = square + load(c, i) * load(c, i)
    d = sqrt(square) * (1.0 / longest)
    return select(low >= d, 0.0, select(low >= 0.5 * d, low * (d - low), 0.25 * d * d))


@kernel
def _of_trust(sigma, c, longest):
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
