"""Least squares in levels, within a box and inequalities: each level takes what the levels before it leave.

Level k is the minimum of |J_k x - e_k|^2 + lambda_k^2 |x|^2 over the x with low <= x <= high, G x <= h and J_j x =
J_j x_j for j < k, where x_j is what level j came to.  The box always holds; where it leaves no x with G x <= h, what is
beyond h has the least sum of squares that can be, in every level.  It is the problem of Escande, Mansard and Wieber
2014 with its inequalities on top.

A level is found by a primal active set (Nocedal and Wright 2006, section 16.5): bounds and rows that x has met are held
as equations, and one is let go where its multiplier says that the level gains by it.  So x keeps the inequalities all
the while, and what the levels before have reached never changes.  One problem at a time, with rows in packs.
"""

import functools

from poise.kernels.algebra.directions import coordinates, fit, turn
from poise.kernels.algebra.feasibility import largest, make_room, slope_of_rows, touch, toward_rows
from poise.kernels.algebra.reflections import dot
from poise.kernels.algebra.unconstrained import minimise_unconstrained
from poise.kernels.algebra.working_set import (
    NONE,
    along,
    between,
    divide,
    first_bound,
    first_row,
    go,
    let_go,
    meet,
    project_level,
    rebuild,
    reduce_level,
    way,
    whole,
    wrong,
)
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack, total, zeros
from poise.kernels.machine.layout import WIDTH


@kernel
def minimise(levels, limits, x, side, room):
    """x (n), the minimum in levels (`Levels`) within `limits` (`Limits`); the most that a row of `limits` is beyond.

    That is 0 where x keeps them all.  Bounds with low > high meet in their middle.  `side` (n + p) says what to try to
    hold from the start: -1 the lower bound and 1 the upper, then 1 for a row; and then what of it holds the first
    level.  `room` is of `room_for`.  x and the result are NaN where a number is none, or infinite but for a bound.
    """
    if minimise_unconstrained(levels, limits, x, side, room):
        return 0.0
    m, n, p = len(levels.e), len(x), len(limits.most)
    if not _finite(m, n, p, levels, limits):
        for a in range(n):
            x[a] = float("nan")
        for c in range(n + p):
            side[c] = 0.0
        return float("nan")
    s = divide(m, n, p, room)
    used, number = _begin(n, levels, limits, s, x, side)
    stages, stale, beyond = levels.count + levels.pull, False, 0.0
    for k in range(-1 if p else 0, stages):
        rank = 0
        for pivot in range(4 * (n + p) + 20):
            if stale:
                used, number = rebuild(n, levels, limits, max(k, 0), s, number)
                stale = False
            share, blocked = 0.0, -1
            if k < 0:
                share = toward_rows(n, limits, s, used, x)
            elif used < n:
                rank = _toward_level(n, levels, k, s, used, x)
                share = 1.0
            if share < 0.0:
                break
            moving = share > 0.0
            if moving:
                blocked, share = first_bound(n, limits, s, x, share)
                if k >= 0:
                    blocked, share = first_row(n, limits, s, x, blocked, share)
                go(n, limits, x, s.step, share)
            if blocked >= 0:
                used, number = meet(n, limits, s, used, number, blocked, x)
            elif k >= 0 or not moving:
                leaving = wrong(n, s, used, number, _slope(n, levels, limits, k, s, x), pivot > n) if number else -1
                if leaving < 0:
                    break
                number = let_go(s, leaving, number)
                stale = True
        if k < 0:
            beyond = make_room(n, limits, s, x)
            continue
        if k == 0:
            for c in range(n + p):
                side[c] = s.now[c]
        if number:
            stale = True
        elif used < n and not stale:
            turn(n, s.basis, used, rank, s.mirrors)
            used = used + rank
            if used == n:
                break
    return beyond


@functools.partial(kernel, inline=True)
def _finite(m, n, p, levels, limits):
    """Whether all are numbers, and none infinite that must not be."""
    wide, nothing = packs(levels.rows, n), zeros(levels.rows)
    for c in range(m * wide):
        nothing = nothing + 0.0 * load_pack(levels.rows, c)
    for c in range(p * wide):
        nothing = nothing + 0.0 * load_pack(limits.rows, c)
    sum = total(levels.rows, nothing)
    for i in range(m):
        sum = sum + 0.0 * levels.e[i]
    for k in range(levels.count):
        sum = sum + 0.0 * levels.squares[k]
    good = sum == 0.0
    for a in range(n):
        if levels.pull:
            good = good and 0.0 * levels.phi[a] == 0.0
        good = good and limits.low[a] < NONE and limits.high[a] > -NONE
    for i in range(p):
        good = good and limits.most[i] > -NONE
    return good


@functools.partial(kernel, inline=True)
def _begin(n, levels, limits, s, x, side):
    """x at the bounds and rows that `side` names, as far as that can be, else nearest to 0; (columns taken, held)."""
    number, used, row = 0, 0, pitch(s.step, n)
    for c in range(row):
        s.step[c] = 0.0
    for a in range(n):
        s.now[a] = 0.0
        low, high = limits.low[a], limits.high[a]
        if low > high:
            limits.low[a] = limits.high[a] = 0.5 * (low + high)
            low = high = limits.low[a]
        if side[a] < 0.0 and low > -NONE:
            s.now[a], x[a] = -1.0, low
        elif side[a] > 0.0 and high < NONE:
            s.now[a], x[a] = 1.0, high
        else:
            x[a] = between(low, 0.0, high)
        if s.now[a] != 0.0:
            s.held[number] = a
            number += 1
    wide = packs(limits.rows, n)
    for i in range(len(limits.most)):
        s.length[i] = sqrt(dot(limits.rows, i * wide, limits.rows, i * wide, 0, wide))
        s.most[i] = limits.most[i]
        s.now[n + i] = 0.0
        if side[n + i] > 0.0 and limits.most[i] < NONE:
            s.now[n + i] = 1.0
            s.held[number] = n + i
            number += 1
    for _ in range(2):
        used, number = rebuild(n, levels, limits, 0, s, number)
        remaining = _settle(n, levels, limits, s, used, number, x)
        if remaining == number:
            break
        number = remaining
    return used, number


@functools.partial(kernel, inline=True)
def _settle(n, levels, limits, s, used, number, x):
    """Move x to the first level's minimum with all rows that are held as equations; how many constraints may stay held.

    If x is then beyond anything else, none of the rows may, and x is what the box leaves of the way.
    """
    row, first, bounds = pitch(s.basis, n), used - number, 0
    for i in range(number):
        bounds += whole(s.held[i]) < n
    for i in range(bounds, number):
        c = whole(s.held[i]) - n
        value = limits.most[c] - along(n, limits.rows, c, x)
        for j in range(bounds, i):
            value = value - s.triangle[i * row + first + j] * s.nu[j]
        s.nu[i] = value / s.triangle[i * row + first + i]
    if bounds == number:
        return number
    inside = True
    for a in range(n):
        if s.now[a] == 0.0:
            for i in range(bounds, number):
                x[a] = x[a] + s.basis[a * row + first + i] * s.nu[i]
    if used < n:
        _toward_level(n, levels, 0, s, used, x)
    for a in range(n):
        if s.now[a] == 0.0:
            if used < n:
                x[a] = x[a] + s.step[a]
            clipped = between(limits.low[a], x[a], limits.high[a])
            inside = inside and x[a] == clipped
            x[a] = clipped
    reach = largest(n, x)
    for i in range(len(limits.most)):
        inside = inside and along(n, limits.rows, i, x) - limits.most[i] <= touch(limits, s, i, reach)
    if inside:
        return number
    for i in range(bounds, number):
        s.now[whole(s.held[i])] = 0.0
    return bounds


@functools.partial(kernel, inline=True)
def _toward_level(n, levels, k, s, used, x):
    """s.step = the way in the directions left to the minimum of level k; the rank of the level's rows."""
    coordinates(n, s.basis, used, x, s.own)
    rank = 0
    if k == levels.count:
        coordinates(n, s.basis, used, levels.phi, s.y)
    else:
        project_level(n, levels, k, s, used)
        _wants(n, levels, k, s, used, x)
        rank = reduce_level(n, levels, k, s, used)
        size = levels.first[k + 1] - levels.first[k]
        fit(size, rank, n, used, levels.squares[k], s)
    for c in range(used // WIDTH, packs(s.y, n)):
        store_pack(s.y, c, load_pack(s.y, c) - load_pack(s.own, c))
    way(n, s, used)
    return rank


@functools.partial(kernel, inline=True)
def _wants(n, levels, k, s, used, x):
    """s.b = e_k - J_k (x - N N^T x): what the level wants from N^T x."""
    wide, first = packs(s.part, n), levels.first[k]
    for r in range(levels.first[k + 1] - first):
        i = levels.order[first + r]
        value = levels.e[i] - along(n, levels.rows, i, x)
        s.b[r] = value + dot(s.part, r * wide, s.own, 0, used // WIDTH, wide)


@functools.partial(kernel, inline=True)
def _slope(n, levels, limits, k, s, x):
    """s.slope of half of what stage k minimises, the rows for k < 0; the size of what it is the sum of."""
    if k < 0:
        return slope_of_rows(n, limits, s)
    scale, reach = 0.0, largest(n, x)
    if k == levels.count:
        for a in range(n):
            s.slope[a] = x[a] - levels.phi[a]
            scale = max(scale, abs(x[a]) + abs(levels.phi[a]))
        return scale
    row, wide, square = pitch(levels.rows, n), packs(levels.rows, n), levels.squares[k]
    for a in range(n):
        s.slope[a] = square * x[a]
    for r in range(levels.first[k], levels.first[k + 1]):
        i = levels.order[r]
        value = along(n, levels.rows, i, x) - levels.e[i]
        for a in range(n):
            s.slope[a] = s.slope[a] + levels.rows[i * row + a] * value
        length = sqrt(dot(levels.rows, i * wide, levels.rows, i * wide, 0, wide))
        scale = max(scale, length * (abs(levels.e[i]) + length * reach))
    return scale + square * reach
