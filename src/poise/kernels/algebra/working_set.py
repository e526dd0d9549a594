"""The inequalities that an active set holds as equations: bounds of entries, and rows.

Constraint c is the bound of entry c for c < n, lower or upper, and row c - n else.  Those that are held stand in the
order in which they took up columns of the basis, behind the rows of the levels that are kept: [kept; held] Q = L, so
that their multipliers follow by substitution.
"""

import functools
from collections import namedtuple

from poise.kernels.algebra.directions import (
    RANK,
    STILL,
    all_directions,
    combine,
    express,
    project,
    take_up,
    triangularise,
    turn,
)
from poise.kernels.algebra.reflections import dot
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack
from poise.kernels.machine.layout import WIDTH
from poise.kernels.machine.views import section

Levels = namedtuple("Levels", "count first order rows e squares phi pull")
"""Level k has the rows `order[first[k]]` to `order[first[k + 1] - 1]` of J, which is `rows` (m x n, in packs, the
padding 0), and of `e` (m); `squares` are lambda^2 (count).  With `pull` (0 or 1) a last level draws x to `phi` (n)."""
Limits = namedtuple("Limits", "low high rows most")
"""low <= x <= high (n each), and rows x <= most (p; p x n, in packs, the padding 0)."""
Working = namedtuple(
    "Working", "basis part mirrors triangle scratch y own step slope v nu held now length most over change b mark"
)
"""Room: the basis; what is left of a level's rows, and the mirrors that made it so; the held rows in the coordinates of
the basis; coordinates, a step and a level's slope; multipliers; the constraints held, and for every one (n + p) whether
it is: -1 at a lower bound, 1 at an upper or of a row; of the rows (p) their lengths, what they must keep after all, how
far x is beyond them, and how a step changes that."""

WRONG = 1e-11
"""Against the size of what it is the sum of, a multiplier whose sign counts."""
NONE = 1e300
"""A bound this far away is none."""


def room_for(m, n, p):
    """Numbers that an active set needs for m rows of levels, n unknowns and p rows of inequalities."""
    most = max(m, p)
    row, column = WIDTH * ((n + WIDTH - 1) // WIDTH), WIDTH * ((2 * most + WIDTH - 1) // WIDTH)
    return (2 * n + 2 * most + 6) * row + (most + 2) * column + 2 * (n + p) + 4 * p + 2 * most


@functools.partial(kernel, inline=True)
def divide(m, n, p, room):
    """The sections of `room`."""
    row, most = pitch(room, n), max(m, p)
    a0 = n * row
    a1 = a0 + most * row
    a2 = a1 + most * row
    a3 = a2 + n * row
    a4 = a3 + (most + 2) * pitch(room, 2 * most)
    a5 = a4 + 6 * row
    a6 = a5 + 2 * (n + p)
    a7 = a6 + 4 * p
    return Working(
        section(room, 0, n * row),
        section(room, a0, most * row),
        section(room, a1, most * row),
        section(room, a2, n * row),
        section(room, a3, (most + 2) * pitch(room, 2 * most)),
        section(room, a4, row),
        section(room, a4 + row, row),
        section(room, a4 + 2 * row, row),
        section(room, a4 + 3 * row, row),
        section(room, a4 + 4 * row, row),
        section(room, a4 + 5 * row, row),
        section(room, a5, n + p),
        section(room, a5 + n + p, n + p),
        section(room, a6, p),
        section(room, a6 + p, p),
        section(room, a6 + 2 * p, p),
        section(room, a6 + 3 * p, p),
        section(room, a7, most),
        section(room, a7 + most, most),
    )


@kernel
def whole(number):
    """A whole number that is kept among the others."""
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
def longest(n, levels, k):
    """The length of the level's longest row."""
    wide = packs(levels.rows, n)
    square = 0.0
    for r in range(levels.first[k], levels.first[k + 1]):
        i = levels.order[r] * wide
        square = max(square, dot(levels.rows, i, levels.rows, i, 0, wide))
    return sqrt(square)


@functools.partial(kernel, inline=True)
def project_level(n, levels, k, s, used):
    """s.part: the rows of level k in the directions that are left."""
    first = levels.first[k]
    for r in range(levels.first[k + 1] - first):
        project(n, s.basis, used, levels.rows, levels.order[first + r], s.part, r)


@functools.partial(kernel, inline=True)
def reduce_level(n, levels, k, s, used):
    """Make a triangle of s.part, by s.mirrors; its rank."""
    size = levels.first[k + 1] - levels.first[k]
    return triangularise(size, n, s.part, used, RANK * longest(n, levels, k), s.mark, s.mirrors)


@functools.partial(kernel, inline=True)
def hold(n, limits, s, used, number, c):
    """Constraint c takes up a column, as number `number` of those that are held; False if nothing of it is left."""
    wide = packs(s.basis, n)
    length = 1.0
    if c < n:
        for k in range(wide):
            store_pack(s.triangle, number * wide + k, load_pack(s.basis, c * wide + k))
    else:
        express(n, s.basis, 0, limits.rows, c - n, s.triangle, number)
        length = s.length[c - n]
    if not take_up(n, s.basis, used, s.triangle, number, length, s.v):
        return False
    s.held[number] = c
    return True


@kernel
def rebuild(n, levels, limits, k, s, number):
    """The basis anew, with the rows of all levels before k taken up, then those that are held; (columns taken, held).

    What cannot move anyway, the other rows being kept, is no longer held, so that all multipliers are unique.
    """
    all_directions(n, s.basis)
    used = 0
    for j in range(k):
        if used < n:
            project_level(n, levels, j, s, used)
            rank = reduce_level(n, levels, j, s, used)
            turn(n, s.basis, used, rank, s.mirrors)
            used = used + rank
    held = 0
    for i in range(number):
        c = whole(s.held[i])
        if used < n and hold(n, limits, s, used, held, c):
            held, used = held + 1, used + 1
        else:
            s.now[c] = 0.0
    return used, held


@functools.partial(kernel, inline=True)
def meet(n, limits, s, used, number, c, x):
    """Hold constraint c, which the step has met; (columns taken, held)."""
    s.now[c] = 1.0
    if c < n:
        up = s.step[c] > 0.0
        s.now[c] = 1.0 if up else -1.0
        x[c] = limits.high[c] if up else limits.low[c]
    if hold(n, limits, s, used, number, c):
        return used + 1, number + 1
    s.now[c] = 0.0
    return used, number


@functools.partial(kernel, inline=True)
def let_go(s, place, number):
    """Take the constraint at `place` out of those that are held; how many are left."""
    s.now[whole(s.held[place])] = 0.0
    for i in range(place, number - 1):
        s.held[i] = s.held[i + 1]
    return number - 1


@functools.partial(kernel, inline=True)
def way(n, s, used):
    """s.step = N y; entries that are held stay exactly where they are."""
    combine(n, s.basis, used, s.y, s.step)
    for a in range(n):
        if s.now[a] != 0.0:
            s.step[a] = 0.0


@functools.partial(kernel, inline=True)
def first_bound(n, limits, s, x, share):
    """The entry that first meets a bound on the way x + t step, 0 <= t <= share, or -1, and the t at which it does."""
    largest = 0.0
    for a in range(n):
        largest = max(largest, abs(s.step[a]))
    blocked = -1
    for a in range(n):
        if abs(s.step[a]) > STILL * largest:
            bound = limits.high[a] if s.step[a] > 0.0 else limits.low[a]
            if abs(bound) < NONE and abs(s.step[a]) * share > abs(bound - x[a]):
                blocked, share = a, abs(bound - x[a]) / abs(s.step[a])
    return blocked, share


@functools.partial(kernel, inline=True)
def first_row(n, limits, s, x, blocked, share):
    """`first_bound`, which has found `blocked` and `share`, with the rows too."""
    wide = packs(limits.rows, n)
    size = sqrt(dot(s.step, 0, s.step, 0, 0, wide))
    for i in range(len(limits.most)):
        if s.now[n + i] == 0.0:
            rise = dot(limits.rows, i * wide, s.step, 0, 0, wide)
            if rise > STILL * s.length[i] * size:
                left = max(s.most[i] - along(n, limits.rows, i, x), 0.0)
                if rise * share > left:
                    blocked, share = n + i, left / rise
    return blocked, share


@functools.partial(kernel, inline=True)
def go(n, limits, x, step, share):
    """x += share step, which stays in the box."""
    for a in range(n):
        x[a] = between(limits.low[a], x[a] + share * step[a], limits.high[a])


@functools.partial(kernel, inline=True)
def wrong(n, s, used, number, scale, plainly):
    """The place among those held of one that is to be let go, for s.slope falls away from it, or -1.

    The multipliers nu solve L^T nu = -Q^T slope.  It is the one whose multiplier is most wrong, or, `plainly`, the
    first of the constraints: that cannot go round in circles (Bland 1977).
    """
    row, first = pitch(s.basis, n), used - number
    for i in range(number - 1, -1, -1):
        value = 0.0
        for a in range(n):
            value = value - s.basis[a * row + first + i] * s.slope[a]
        for j in range(i + 1, number):
            value = value - s.triangle[j * row + first + i] * s.nu[j]
        s.nu[i] = value / s.triangle[i * row + first + i]
    place, worst = -1, -WRONG * scale
    for i in range(number):
        c = whole(s.held[i])
        value = s.nu[i] * s.now[c]
        if c >= n:
            value = value * s.length[c - n]
        if value < -WRONG * scale:
            if plainly and (place < 0 or c < whole(s.held[place])):
                place = i
            elif not plainly and value < worst:
                place, worst = i, value
    return place
