"""Least squares in levels, within a box and inequalities: each level takes what the levels before it leave.

Level k is the minimum of |J_k x - e_k|^2 + lambda_k^2 |x|^2 over the x with low <= x <= high, G x <= h and J_j x =
J_j x_j for j < k, where x_j is what level j came to.  The box always holds; where it leaves no x with G x <= h, what is
beyond h has the least sum of squares that can be, in every level.  It is the problem of Escande, Mansard and Wieber
2014 with its inequalities on top.

A level is found by a primal active set (Nocedal and Wright 2006, section 16.5): bounds and rows that x has met are held
as equations, and one is released where its multiplier has the wrong sign.  So x keeps the inequalities all the while,
and what the levels before have reached never changes: their rows take up directions, as held constraints do, and later
levels move x in the directions that are left.  One problem at a time, with rows in packs.
"""

import functools

from poise.kernels.algebra.directions import copy_row, dot_before, fit, turn, turn_back
from poise.kernels.algebra.feasibility import largest, relax_bounds, slope_of_rows, touch, toward_rows
from poise.kernels.algebra.reflections import dot
from poise.kernels.algebra.working_set import (
    NONE,
    between,
    divide,
    first_bound,
    first_row,
    go,
    keep_level,
    level_end,
    meet,
    put,
    rebuild,
    reduce_level,
    rows_that_ask,
    wait_again,
    way,
    whole,
    wrong,
)
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack, total, zeros


@kernel
def minimise(levels, limits, x, side, buffer):
    """x (n), the minimum in levels (`Levels`) within `limits` (`Limits`); by how much x breaks a row of `limits` most.

    That is 0 where x keeps them all.  Bounds with low > high meet in their middle.  `side` (n + p) is a warm start, the
    active set to begin with: of each entry -1 for the lower bound, 1 for the upper, then 1 for each row that is held,
    else 0; it becomes the active set of the first level.  `buffer` is of `buffer_size`.  x and the result are NaN where
    a number is NaN, or infinite and no bound.
    """
    n, p = len(x), len(limits.most)
    if not _finite(len(levels.e), n, p, levels, limits):
        for a in range(n):
            x[a] = float("nan")
        for c in range(n + p):
            side[c] = 0.0
        return float("nan")
    s = divide(len(levels.e), n, p, buffer)
    m = rows_that_ask(n, levels, s)
    used, number = _begin(n, levels, limits, m, s, side)
    stages, start, stop, beyond = levels.count + levels.pull, 0, 0, 0.0
    # Stage -1: x to the least violation of the rows, which are relaxed to that.  Then the levels; then the pull to phi.
    # Rows start to stop of s.rows are the level's, `used` directions are taken up, `number` of them by constraints.
    for k in range(-1 if p else 0, stages):
        start, rank = stop, 0
        if 0 <= k < levels.count:
            stop = level_end(levels, k, m, s, start)
        # Each pass takes one pivot; after n of them Bland's rule prevents cycles, and the bound those of rounding.
        for pivot in range(4 * (n + p) + 20):
            share, blocked, rank = 0.0, -1, 0
            if k < 0:
                share = toward_rows(n, limits, s, used)
            elif used < n:
                rank = _toward_stage(n, levels, k, s, used, start, stop)
                share = 1.0
            if share < 0.0:  # no row is broken
                break
            moving = share > 0.0
            if moving:
                blocked, share = first_bound(n, limits, s, share)
                if k >= 0:
                    blocked, share = first_row(n, limits, s, blocked, share)
                go(n, limits, s, share)
            if blocked >= 0:
                active = meet(n, limits, s, used, blocked, start, m)
                number += active - used
                used = active
                rank = 0
            elif k >= 0 or not moving:
                # At the minimum over the directions left: release a constraint of wrong sign, or be done.
                if number == 0:
                    break
                if k < 0:
                    scale = slope_of_rows(n, limits, s, used)
                elif k == levels.count:
                    scale = _slope_of_pull(n, levels, s, used)
                else:
                    scale = _slope_of_level(n, levels, k, s, start, stop)
                leaving = wrong(n, s, used, scale, pivot > n)
                if leaving < 0:
                    break
                s.now[whole(s.constraint_of[leaving])] = 0.0
                used, number = rebuild(n, levels, limits, max(k, 0), m, s, wait_again(s, used))
                rank = 0
        if k < 0:
            beyond = relax_bounds(n, limits, s)
            continue
        if k == 0:
            for c in range(n + p):
                side[c] = s.now[c]
        if rank:
            # y at the minimum itself, not what steps have added up to; later levels must not move it.
            for c in range(used, pitch(s.y, n)):
                s.y[c] = s.z[c]
            used = keep_level(n, s, used, rank, stop, m)
        if used == n and number == 0:
            break
    for a in range(n):
        x[a] = s.x[a]
    return beyond


@functools.partial(kernel, inline=True)
def _finite(m, n, p, levels, limits):
    """Whether no number is NaN, and none infinite but bounds; 0 times such a number is NaN."""
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
def _begin(n, levels, limits, m, s, side):
    """Begin with the active set `side`: s.x on its bounds, other entries nearest to 0; (used, held).

    First its rows are tried as equations; where that leads beyond anything else, only its bounds stay held.
    """
    number = 0
    for c in range(packs(s.x, n)):
        store_pack(s.x, c, zeros(s.x))
    for a in range(n):
        s.now[a] = 0.0
        low, high = limits.low[a], limits.high[a]
        if low > high:
            limits.low[a] = limits.high[a] = 0.5 * (low + high)
            low = high = limits.low[a]
        if side[a] < 0.0 and low > -NONE:
            s.now[a], s.x[a] = -1.0, low
        elif side[a] > 0.0 and high < NONE:
            s.now[a], s.x[a] = 1.0, high
        else:
            s.x[a] = between(low, 0.0, high)
        if s.now[a] != 0.0:
            s.waiting[number] = a
            number += 1
    wide = packs(limits.rows, n)
    for i in range(len(limits.most)):
        s.length[i] = sqrt(dot(limits.rows, i * wide, limits.rows, i * wide, 0, wide))
        s.most[i] = limits.most[i]
        s.now[n + i] = 0.0
        if side[n + i] > 0.0 and limits.most[i] < NONE:
            s.now[n + i] = 1.0
            s.waiting[number] = n + i
            number += 1
    used, number = rebuild(n, levels, limits, 0, m, s, number)
    if not _solve_first_level(n, levels, limits, m, s, used):
        used, number = rebuild(n, levels, limits, 0, m, s, wait_again(s, used))
    return used, number


@functools.partial(kernel, inline=True)
def _solve_first_level(n, levels, limits, m, s, used):
    """Move s.x to the first level's minimum with all held rows as equations; whether they may stay held.

    Where x then breaks another constraint, the rows are released and x is clipped to the box.
    """
    row, wide, bounds, inside = pitch(s.lower, n), packs(s.lower, n), 0, True
    # Bounds come first among what is held: x is on them already, rows are met by substitution in L move = h - G x.
    while bounds < used and whole(s.constraint_of[bounds]) < n:
        bounds += 1
    if bounds == used:
        return True
    for c in range(packs(s.move, n)):
        store_pack(s.move, c, zeros(s.move))
    for i in range(bounds, used):
        c = whole(s.constraint_of[i]) - n
        value = limits.most[c] - dot(limits.rows, c * wide, s.x, 0, 0, wide)
        for j in range(bounds, i):
            value = value - s.lower[i * row + j] * s.move[j]
        s.move[i] = value / s.lower[i * row + i]
    way(n, s, used)
    _step(n, s)
    if used < n:
        _toward_stage(n, levels, 0, s, used, 0, level_end(levels, 0, m, s, 0) if levels.count else 0)
        _step(n, s)
    for a in range(n):
        clipped = between(limits.low[a], s.x[a], limits.high[a])
        inside = inside and s.x[a] == clipped
        s.x[a] = clipped
    reach = largest(n, s.x)
    for i in range(len(limits.most)):
        over = dot(limits.rows, i * wide, s.x, 0, 0, wide) - limits.most[i]
        inside = inside and over <= touch(limits, s, i, reach)
    if not inside:
        for i in range(bounds, used):
            s.now[whole(s.constraint_of[i])] = 0.0
    return inside


@kernel
def _step(n, s):
    """Take the whole step: s.x += s.step, s.y += s.move."""
    for c in range(packs(s.y, n)):
        store_pack(s.x, c, load_pack(s.x, c) + load_pack(s.step, c))
        store_pack(s.y, c, load_pack(s.y, c) + load_pack(s.move, c))


@functools.partial(kernel, inline=True)
def _toward_stage(n, levels, k, s, used, start, stop):
    """s.step, in the directions left, to the minimum of stage k, whose y is s.z; the rank of a level's rows there."""
    row, rank = pitch(s.y, n), 0
    if k == levels.count:  # the pull: |x - phi| is least at y = Q^T phi
        put(n, levels.phi, s.z)
        turn(n, s.mirrors, 0, used, s.z, 0)
        copy_row(n, s.z, 0, s.move, 0)
    else:
        for r in range(start, stop):
            s.b[r - start] = _wanted(levels, s, r) - dot_before(n, s.rows, r, s.y, used)
        rank = reduce_level(n, s, used, start, stop)
        fit(n, used, stop - start, rank, levels.squares[k], s)
        copy_row(n, s.z, 0, s.move, 0)
        turn_back(n, s.mirrors, used, used + rank, s.move)
    for c in range(row):
        s.move[c] = s.move[c] - s.y[c] if c >= used else 0.0
    way(n, s, used)
    return rank


@kernel
def _wanted(levels, s, r):
    """The error that row r of s.rows is to take away."""
    return levels.e[levels.order[whole(s.places[r])]]


@functools.partial(kernel, inline=True)
def _slope_of_level(n, levels, k, s, start, stop):
    """s.slope = J_k^T (J_k x - e_k) + lambda_k^2 x in the coordinates y; the size of its terms.

    A multiplier below rounding of that size says nothing.
    """
    wide, square, reach, scale = packs(s.rows, n), levels.squares[k], largest(n, s.x), 0.0
    for c in range(wide):
        store_pack(s.slope, c, square * load_pack(s.y, c))
    for r in range(start, stop):
        wanted = _wanted(levels, s, r)
        value = dot(s.rows, r * wide, s.y, 0, 0, wide) - wanted
        for c in range(wide):
            store_pack(s.slope, c, load_pack(s.slope, c) + value * load_pack(s.rows, r * wide + c))
        length = sqrt(s.squares[r])
        scale = max(scale, length * (abs(wanted) + length * reach))
    return scale + square * reach


@functools.partial(kernel, inline=True)
def _slope_of_pull(n, levels, s, used):
    """s.slope = x - phi of the last stage, likewise."""
    put(n, levels.phi, s.slope)
    turn(n, s.mirrors, 0, used, s.slope, 0)
    for c in range(packs(s.y, n)):
        store_pack(s.slope, c, load_pack(s.y, c) - load_pack(s.slope, c))
    scale = 0.0
    for a in range(n):
        scale = max(scale, abs(s.x[a]) + abs(levels.phi[a]))
    return scale
