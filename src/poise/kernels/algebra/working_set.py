"""The working set: the inequalities that an active set holds as equations, bounds of entries and rows.

Constraint c is the bound of entry c for c < n, lower or upper, and row c - n else.  Those that are held and the rows of
the levels that are kept take up directions in the order in which they come: [kept; held] Q = L, lower triangular, so
that the multipliers follow by substitution.  A release takes up all directions anew, those of the levels first.
"""

import functools
from collections import namedtuple

from poise.kernels.algebra.directions import (
    RANK,
    STILL,
    copy_row,
    solve_transposed,
    take_up,
    triangularise,
    turn,
    turn_all,
    turn_back,
)
from poise.kernels.algebra.reflections import dot
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack, zeros
from poise.kernels.machine.layout import WIDTH
from poise.kernels.machine.views import section

Levels = namedtuple("Levels", "count first order rows e squares phi pull")
"""Level k has the rows `order[first[k]]` to `order[first[k + 1] - 1]` of J, which is `rows` (m x n, in packs, the
padding 0), and of `e` (m); `squares` are lambda^2 (count).  With `pull` (0 or 1) a last level draws x to `phi` (n)."""
Limits = namedtuple("Limits", "low high rows most")
"""low <= x <= high (n each), and rows x <= most (p; p x n, in packs, the padding 0)."""
Working = namedtuple(
    "Working",
    "mirrors lower rows part scratch x y z move step slope nu now constraint_of waiting "
    "length most over change places squares b mark",
)
"""Room of an active set, rows in packs.

- `mirrors` and `lower` (n x n each): the Householder vectors of Q, and L, row by row.
- `rows`: rows of J that are not all zeros, in the coordinates y = Q^T x; `part`: those of one level, on their way to a
  triangle; `scratch`: its columns in `fit`; `b`: its right side; `mark`: its squares, -1 of rows that are done.
- `x`; `y` = Q^T x; `z`: y at the level's minimum; `move`, `step`: the way there, in y and in x; `slope`: a gradient in
  y; `nu`: multipliers (n each).
- `now` (n + p): -1 where a constraint is held at a lower bound, 1 at an upper bound or a row, else 0.
- `constraint_of` (n): the constraint that took up a direction, or LEVEL; `waiting` (n + p): those that are to be held.
- `length`, `most`, `over`, `change` (p each): of rows of the limits their lengths, what they must keep, relaxed where
  they cannot be met, G x - h, and G step.
- `places`, `squares`: of `rows` their places in the order of the levels, and their squared lengths."""

LEVEL = -1.0
"""In `constraint_of`: a row of a level took up the direction."""
WRONG = 1e-11
"""A multiplier above this, against the size of its terms, has a sign; below it rounding decides."""
NONE = 1e300
"""A bound this far away is none."""


def buffer_size(m, n, p):
    """Numbers that an active set needs for m rows of levels, n unknowns and p rows of inequalities."""
    most = max(m, p)
    row, column = WIDTH * ((n + WIDTH - 1) // WIDTH), WIDTH * ((2 * most + WIDTH - 1) // WIDTH)
    return (2 * n + m + most + 7) * row + (most + 2) * column + 3 * n + 6 * p + 2 * m + 2 * most


@functools.partial(kernel, inline=True)
def divide(m, n, p, buffer):
    """The sections of `buffer`."""
    row, most = pitch(buffer, n), max(m, p)
    a0 = n * row
    a1 = a0 + n * row
    a2 = a1 + m * row
    a3 = a2 + most * row
    a4 = a3 + (most + 2) * pitch(buffer, 2 * most)
    a5 = a4 + 7 * row
    a6 = a5 + 3 * n + 2 * p
    a7 = a6 + 4 * p
    return Working(
        section(buffer, 0, n * row),
        section(buffer, a0, n * row),
        section(buffer, a1, m * row),
        section(buffer, a2, most * row),
        section(buffer, a3, (most + 2) * pitch(buffer, 2 * most)),
        section(buffer, a4, row),
        section(buffer, a4 + row, row),
        section(buffer, a4 + 2 * row, row),
        section(buffer, a4 + 3 * row, row),
        section(buffer, a4 + 4 * row, row),
        section(buffer, a4 + 5 * row, row),
        section(buffer, a4 + 6 * row, row),
        section(buffer, a5, n + p),
        section(buffer, a5 + n + p, n),
        section(buffer, a5 + 2 * n + p, n + p),
        section(buffer, a6, p),
        section(buffer, a6 + p, p),
        section(buffer, a6 + 2 * p, p),
        section(buffer, a6 + 3 * p, p),
        section(buffer, a7, m),
        section(buffer, a7 + m, m),
        section(buffer, a7 + 2 * m, most),
        section(buffer, a7 + 2 * m + most, most),
    )


@kernel
def whole(number):
    """The whole number that a real holds: indices are kept in the same buffer."""
    return int(number)


@kernel
def along(n, rows, i, x):
    """Row i times x (n)."""
    at, value = i * pitch(rows, n), 0.0
    for a in range(n):
        value = value + rows[at + a] * x[a]
    return value


@kernel
def between(low, x, high):
    """x, or the bound that it is beyond; NaN stays."""
    return low if x < low else (high if x > high else x)


@kernel
def put(n, x, v):
    """v = x, with the padding that a row has."""
    for c in range(pitch(v, n)):
        v[c] = x[c] if c < n else 0.0


@kernel
def rows_that_ask(n, levels, s):
    """Fill s.places and s.squares by the rows of the levels that are not all zeros; how many there are."""
    wide, m = packs(levels.rows, n), 0
    for i in range(len(levels.e)):
        at = levels.order[i] * wide
        square = dot(levels.rows, at, levels.rows, at, 0, wide)
        if square != 0.0:
            s.places[m], s.squares[m] = i, square
            m += 1
    return m


@kernel
def level_end(levels, k, m, s, start):
    """One more than the last of the m rows of s.rows that belongs to level k, whose first is `start`."""
    stop = start
    while stop < m and whole(s.places[stop]) < levels.first[k + 1]:
        stop += 1
    return stop


@kernel
def reduce_level(n, s, used, start, stop):
    """Copy rows `start` to `stop` of s.rows, those of a level, into s.part and make a triangle of them; its rank."""
    square = 0.0
    for r in range(start, stop):
        copy_row(n, s.rows, r, s.part, r - start)
        s.mark[r - start] = s.squares[r]
        square = max(square, s.squares[r])
    return triangularise(n, used, stop - start, RANK * sqrt(square), s)


@kernel
def keep_level(n, s, used, rank, stop, m):
    """Let a reduced level of this rank take up directions, and reflect the rows from `stop` on; `used` then."""
    for j in range(used, used + rank):
        s.constraint_of[j] = LEVEL
    turn_all(n, s.mirrors, used, used + rank, s.rows, stop, m)
    return used + rank


@functools.partial(kernel, inline=True)
def hold(n, limits, s, used, c):
    """Let constraint c take up a direction; False if its row depends on those that are held."""
    length = 1.0
    if c < n:
        for k in range(packs(s.lower, n)):
            store_pack(s.lower, used * packs(s.lower, n) + k, zeros(s.lower))
        s.lower[used * pitch(s.lower, n) + c] = 1.0
    else:
        copy_row(n, limits.rows, c - n, s.lower, used)
        length = s.length[c - n]
    turn(n, s.mirrors, 0, used, s.lower, used)
    if not take_up(n, used, s.lower, s.mirrors, length):
        return False
    s.constraint_of[used] = c
    return True


@kernel
def rebuild(n, levels, limits, k, m, s, number):
    """Take up all directions anew: the levels before k, then the constraints of s.waiting; (used, held).

    A constraint that depends on those before it is no longer held, so that all multipliers are unique.
    """
    used, start, active = 0, 0, 0
    for i in range(m):
        copy_row(n, levels.rows, levels.order[whole(s.places[i])], s.rows, i)
    for j in range(k):
        stop = level_end(levels, j, m, s, start)
        if used < n:
            used = keep_level(n, s, used, reduce_level(n, s, used, start, stop), stop, m)
        start = stop
    first = used
    for i in range(number):
        c = whole(s.waiting[i])
        if used < n and hold(n, limits, s, used, c):
            active, used = active + 1, used + 1
        else:
            s.now[c] = 0.0
    turn_all(n, s.mirrors, first, used, s.rows, start, m)
    copy_row(n, s.x, 0, s.y, 0)
    turn(n, s.mirrors, 0, used, s.y, 0)
    return used, active


@functools.partial(kernel, inline=True)
def meet(n, limits, s, used, c, start, m):
    """Hold constraint c, which the step has met, and reflect s.rows from `start` on; how many directions are taken up.

    An entry is put to its bound exactly.
    """
    s.now[c] = 1.0
    if c < n:
        up = s.step[c] > 0.0
        s.now[c] = 1.0 if up else -1.0
        s.x[c] = limits.high[c] if up else limits.low[c]
    if hold(n, limits, s, used, c):
        turn_all(n, s.mirrors, used, used + 1, s.rows, start, m)
        turn(n, s.mirrors, used, used + 1, s.y, 0)
        return used + 1
    s.now[c] = 0.0
    return used


@kernel
def wait_again(s, used):
    """Put the constraints that are still held into s.waiting, in their order; how many they are."""
    number = 0
    for j in range(used):
        if s.constraint_of[j] != LEVEL and s.now[whole(s.constraint_of[j])] != 0.0:
            s.waiting[number] = s.constraint_of[j]
            number += 1
    return number


@functools.partial(kernel, inline=True)
def way(n, s, used):
    """s.step = Q s.move; entries at a bound that is held stay exactly there."""
    copy_row(n, s.move, 0, s.step, 0)
    turn_back(n, s.mirrors, 0, used, s.step)
    for a in range(n):
        if s.now[a] != 0.0:
            s.step[a] = 0.0


@functools.partial(kernel, inline=True)
def first_bound(n, limits, s, share):
    """The entry that first meets a bound on the way x + t step, 0 <= t <= share, or -1, and the t at which it does."""
    largest = 0.0
    for a in range(n):
        largest = max(largest, abs(s.step[a]))
    blocked = -1
    for a in range(n):
        if abs(s.step[a]) > STILL * largest:
            bound = limits.high[a] if s.step[a] > 0.0 else limits.low[a]
            if abs(bound) < NONE and abs(s.step[a]) * share > abs(bound - s.x[a]):
                blocked, share = a, abs(bound - s.x[a]) / abs(s.step[a])
    return blocked, share


@functools.partial(kernel, inline=True)
def first_row(n, limits, s, blocked, share):
    """`first_bound`, which has found `blocked` and `share`, with the rows too."""
    wide = packs(limits.rows, n)
    size = sqrt(dot(s.step, 0, s.step, 0, 0, wide))
    for i in range(len(limits.most)):
        if s.now[n + i] == 0.0:
            rise = dot(limits.rows, i * wide, s.step, 0, 0, wide)
            if rise > STILL * s.length[i] * size:
                left = max(s.most[i] - dot(limits.rows, i * wide, s.x, 0, 0, wide), 0.0)
                if rise * share > left:
                    blocked, share = n + i, left / rise
    return blocked, share


@functools.partial(kernel, inline=True)
def go(n, limits, s, share):
    """x += share step, clipped to the box, and y with it."""
    for a in range(n):
        s.x[a] = between(limits.low[a], s.x[a] + share * s.step[a], limits.high[a])
    for c in range(packs(s.y, n)):
        store_pack(s.y, c, load_pack(s.y, c) + share * load_pack(s.move, c))


@functools.partial(kernel, inline=True)
def wrong(n, s, used, scale, plainly):
    """The direction of the constraint to be released, whose multiplier has the wrong sign, or -1.

    The multipliers nu solve L^T nu = -slope, the gradient in y.  It is the one whose multiplier is most wrong, or,
    `plainly`, the first by its number: that cannot cycle (Bland 1977).
    """
    solve_transposed(n, used, s.lower, s.slope, s.nu)
    place, worst = -1, -WRONG * scale
    for j in range(used):
        if s.constraint_of[j] != LEVEL:
            c = whole(s.constraint_of[j])
            value = s.nu[j] * s.now[c]
            if c >= n:
                value = value * s.length[c - n]
            if value < -WRONG * scale:
                if plainly and (place < 0 or c < whole(s.constraint_of[place])):
                    place = j
                elif not plainly and value < worst:
                    place, worst = j, value
    return place
