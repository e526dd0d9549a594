"""Least squares in levels, within a box: each level takes what the levels before it leave.

Level k is the minimum of |J_k x - e_k|^2 + lambda_k^2 |x|^2 over the x of the box with J_j x = J_j x_j for j < k, where
x_j is what level j came to.  It is found by a primal active set: entries of x that have met a bound are held there,
and one is let go where its multiplier says that the level gains by it.  So x is in the box all the while, and what the
levels before have reached never changes.

The directions that are left are the last columns of an orthogonal matrix, the basis.  A row, of a level or of a held
entry, takes one of them up by a Householder reflection of the basis from the right: J_k [range, rest] = [L, 0].  One
problem at a time, with rows of numbers in packs.
"""

from poise.kernels.algebra.unbounded import minimise_freely
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack, total, zeros
from poise.kernels.machine.layout import WIDTH
from poise.kernels.machine.views import section

_RANK = 1e-9
"""Against the longest row of its level, a row that is left with less depends on the rows before."""
_STILL = 1e-11
"""Against the longest, an entry of a step, or of a held entry's row, that is rounding."""
_WRONG = 1e-11
"""Against the size of what it is the sum of, a multiplier whose sign counts."""


def room_for(m, n):
    """Numbers that `minimise` needs for itself: m rows in all, n unknowns."""
    row, column = WIDTH * ((n + WIDTH - 1) // WIDTH), WIDTH * ((2 * m + WIDTH - 1) // WIDTH)
    return (n + 2 * m + 8) * row + (m + 2) * column + 3 * m


@kernel
def minimise(count, levels, rows, e, squares, low, high, phi, pull, x, side, room):
    """x (n), the minimum in levels within low <= x <= high; see the module.

    `levels` holds the first place of each of the `count` levels and the end of the last, then the rows' numbers in the
    order of the levels; `rows` are J (m x n, in packs), `squares` lambda^2 of each level.  With `pull` a last level
    takes x as near to `phi` (n) as can be.  `side` (n) says which bounds to start from, -1 the lower and 1 the upper,
    and then which of them hold the first level.
    """
    if minimise_freely(count, levels, rows, e, squares, low, high, phi, pull, x, side, room):
        return
    m, n = len(e), len(x)
    row = pitch(room, n)
    basis = section(room, 0, n * row)
    part = section(room, n * row, m * row)
    mirrors = section(room, (n + m) * row, m * row)
    at = (n + 2 * m) * row
    y, own = section(room, at, row), section(room, at + row, row)
    step, slope = section(room, at + 2 * row, row), section(room, at + 3 * row, row)
    held, nu = section(room, at + 4 * row, row), section(room, at + 5 * row, row)
    now = section(room, at + 6 * row, row)
    mirror = section(room, at + 7 * row, row)
    b, mark = section(room, at + 8 * row, m), section(room, at + 8 * row + m, m)
    fit = section(room, at + 8 * row + 3 * m, (m + 2) * pitch(room, 2 * m))
    order = section(levels, count + 1, m)
    number = 0
    for a in range(n):
        now[a] = 0.0
        if side[a] < 0.0 and low[a] > -1e300:
            now[a], x[a] = -1.0, low[a]
        elif side[a] > 0.0 and high[a] < 1e300:
            now[a], x[a] = 1.0, high[a]
        else:
            x[a] = min(max(0.0, low[a]), high[a])
        if now[a] != 0.0:
            held[number] = a
            number += 1
    used = 0
    _unit(n, basis)
    if number:
        used, number = _rebuild(count, 0, levels, order, n, rows, basis, part, mirrors, mark, mirror, held, now, number)
    for k in range(count + pull):
        pulling = k == count
        size = 0 if pulling else levels[k + 1] - levels[k]
        first = 0 if pulling else levels[k]
        square = 0.0 if pulling else squares[k]
        rank = 0
        for turn in range(4 * n + 20):
            blocked = -1
            if used < n:
                _coordinates(n, basis, used, x, own)
                if pulling:
                    _coordinates(n, basis, used, phi, y)
                else:
                    _project(first, size, order, n, rows, basis, used, part)
                    _residuals(first, size, order, n, rows, e, x, part, used, own, b)
                    least = _RANK * _longest(first, size, order, n, rows)
                    rank = _triangularise(size, n, part, used, least, mark, mirrors)
                    _fit(size, rank, n, used, square, part, b, fit, mirrors, y)
                blocked, share = _way(n, basis, used, y, own, x, low, high, now, step)
                for a in range(n):
                    x[a] = min(max(x[a] + share * step[a], low[a]), high[a])
            if blocked >= 0:
                now[blocked] = 1.0 if step[blocked] > 0.0 else -1.0
                x[blocked] = high[blocked] if step[blocked] > 0.0 else low[blocked]
                _take_entry(n, basis, used, blocked, mirror)
                held[number] = blocked
                number, used = number + 1, used + 1
                continue
            if number == 0:
                break
            scale = _slope(first, size, order, n, rows, e, square, x, slope)
            if pulling:
                scale = _pull(n, x, phi, slope)
            leaving = _wrong(n, basis, used, held, number, now, slope, scale, turn > n, nu)
            if leaving < 0:
                break
            now[_whole(held[leaving])] = 0.0
            number = number - 1
            for i in range(leaving, number):
                held[i] = held[i + 1]
            used, number = _rebuild(
                count, k, levels, order, n, rows, basis, part, mirrors, mark, mirror, held, now, number
            )
        if k == 0:
            for a in range(n):
                side[a] = now[a]
        if k + 1 < count + pull:
            if number == 0:
                if used < n:
                    _turn(n, basis, used, rank, mirrors)
                    used = used + rank
                if used >= n:
                    break
            else:
                used, number = _rebuild(
                    count, k + 1, levels, order, n, rows, basis, part, mirrors, mark, mirror, held, now, number
                )


@kernel
def _whole(number):
    """A whole number that is kept among the others."""
    return int(number)


@kernel
def _unit(n, basis):
    row = pitch(basis, n)
    for i in range(n * row):
        basis[i] = 0.0
    for a in range(n):
        basis[a * row + a] = 1.0


@kernel
def _rebuild(count, k, levels, order, n, rows, basis, part, mirrors, mark, mirror, held, now, number):
    """The basis anew, with the rows of all levels before k taken up, then the held entries; (columns taken, held).

    An entry that cannot move anyway, the other rows being kept, is no longer held, so that all multipliers are unique.
    """
    _unit(n, basis)
    used = 0
    for j in range(k):
        if used < n:
            first, size = levels[j], levels[j + 1] - levels[j]
            _project(first, size, order, n, rows, basis, used, part)
            least = _RANK * _longest(first, size, order, n, rows)
            rank = _triangularise(size, n, part, used, least, mark, mirrors)
            _turn(n, basis, used, rank, mirrors)
            used = used + rank
    kept = 0
    for i in range(number):
        a = _whole(held[i])
        if used < n and _take_entry(n, basis, used, a, mirror):
            held[kept] = a
            kept, used = kept + 1, used + 1
        else:
            now[a] = 0.0
    return used, kept


@kernel
def _take_entry(n, basis, used, a, mirror):
    """Let the row of entry a take up a column of the basis; whether there was something of it left."""
    row, wide = pitch(basis, n), packs(basis, n)
    square = _tail(basis, a * row, used, row)
    if square <= _STILL * _STILL:
        return False
    _mirror(basis, a * row, used, row, square, mirror, 0)
    for i in range(n):
        _reflect(basis, i * wide, mirror, 0, used // WIDTH, wide)
    return True


@kernel
def _turn(n, basis, used, rank, mirrors):
    """Reflect the basis, so that its next `rank` columns are the range of the level's rows."""
    wide = packs(basis, n)
    for j in range(rank):
        for i in range(n):
            _reflect(basis, i * wide, mirrors, j * wide, (used + j) // WIDTH, wide)


@kernel
def _project(first, size, order, n, rows, basis, used, part):
    """part = J_k times the columns of the basis that are left, the others being 0."""
    row, wide, start = pitch(basis, n), packs(basis, n), used // WIDTH
    for r in range(size):
        at, i = r * wide, order[first + r] * row
        for c in range(wide):
            store_pack(part, at + c, zeros(part))
        for a in range(n):
            value = rows[i + a]
            if value != 0.0:
                for c in range(start, wide):
                    store_pack(part, at + c, load_pack(part, at + c) + value * load_pack(basis, a * wide + c))
        for c in range(start * WIDTH, used):
            part[r * row + c] = 0.0


@kernel
def _coordinates(n, basis, used, v, y):
    """y = N^T v, N being the columns of the basis that are left; its other entries are 0."""
    wide, start = packs(basis, n), used // WIDTH
    for c in range(wide):
        store_pack(y, c, zeros(y))
    for a in range(n):
        value = v[a]
        if value != 0.0:
            for c in range(start, wide):
                store_pack(y, c, load_pack(y, c) + value * load_pack(basis, a * wide + c))
    for c in range(start * WIDTH, used):
        y[c] = 0.0


@kernel
def _residuals(first, size, order, n, rows, e, x, part, used, own, b):
    """b = e_k - J_k (x - N N^T x): what the level wants from N^T x."""
    row, wide = pitch(part, n), packs(part, n)
    for r in range(size):
        i = order[first + r]
        value = e[i]
        for a in range(n):
            value = value - rows[i * row + a] * x[a]
        b[r] = value + _dot(part, r * wide, own, 0, used // WIDTH, wide)


@kernel
def _longest(first, size, order, n, rows):
    """The length of the level's longest row."""
    wide = packs(rows, n)
    longest = 0.0
    for r in range(size):
        i = order[first + r] * wide
        longest = max(longest, _dot(rows, i, rows, i, 0, wide))
    return sqrt(longest)


@kernel
def _triangularise(size, n, part, used, least, mark, mirrors):
    """Reflect the rows of `part` until each has but as many entries as came before it, the longest first; their rank.

    Rows that are shorter than `least` by then take up nothing.
    """
    row, wide = pitch(part, n), packs(part, n)
    for r in range(size):
        mark[r] = 0.0
    rank = 0
    while rank < size and used + rank < n:
        at = used + rank
        best, longest = -1, least * least
        for r in range(size):
            if mark[r] == 0.0:
                square = _tail(part, r * row, at, row)
                if square > longest:
                    best, longest = r, square
        if best < 0:
            break
        end = _mirror(part, best * row, at, row, longest, mirrors, rank * row)
        for r in range(size):
            if mark[r] == 0.0 and r != best:
                _reflect(part, r * wide, mirrors, rank * wide, at // WIDTH, wide)
        for c in range(at, row):
            part[best * row + c] = 0.0
        part[best * row + at] = end
        mark[best] = 1.0
        rank += 1
    return rank


@kernel
def _fit(size, rank, n, used, square, part, b, fit, mirrors, y):
    """y, the coordinates of the least |L z - b|^2 + lambda^2 |z|^2, by reflecting the columns of [L; lambda I]."""
    row, wide = pitch(part, n), packs(part, n)
    height = size + rank
    tall, long = pitch(fit, height), packs(fit, height)
    for c in range(rank + 1):
        for r in range(size):
            fit[c * tall + r] = part[r * row + used + c] if c < rank else b[r]
        for r in range(size, tall):
            fit[c * tall + r] = 0.0
        if c < rank:
            fit[c * tall + size + c] = sqrt(square)
    spare = rank + 1
    for c in range(rank):
        length = _tail(fit, c * tall, c, tall)
        end = _mirror(fit, c * tall, c, tall, length, fit, spare * tall)
        for j in range(c + 1, rank + 1):
            _reflect(fit, j * long, fit, spare * long, c // WIDTH, long)
        fit[c * tall + c] = end
    for c in range(row):
        y[c] = 0.0
    for c in range(rank - 1, -1, -1):
        value = fit[rank * tall + c]
        for j in range(c + 1, rank):
            value = value - fit[j * tall + c] * y[used + j]
        y[used + c] = value / fit[c * tall + c]
    for j in range(rank - 1, -1, -1):
        _reflect(y, 0, mirrors, j * wide, (used + j) // WIDTH, wide)


@kernel
def _way(n, basis, used, y, own, x, low, high, now, step):
    """step = N (y - own), the way to the level's best point; the entry that first meets a bound, and how far it is."""
    wide, start = packs(basis, n), used // WIDTH
    for c in range(start, wide):
        store_pack(y, c, load_pack(y, c) - load_pack(own, c))
    largest = 0.0
    for a in range(n):
        step[a] = 0.0 if now[a] != 0.0 else _dot(basis, a * wide, y, 0, start, wide)
        largest = max(largest, abs(step[a]))
    blocked, share = -1, 1.0
    for a in range(n):
        if abs(step[a]) > _STILL * largest:
            bound = high[a] if step[a] > 0.0 else low[a]
            if abs(bound) < 1e300 and abs(step[a]) * share > abs(bound - x[a]):
                blocked, share = a, abs(bound - x[a]) / abs(step[a])
    return blocked, share


@kernel
def _slope(first, size, order, n, rows, e, square, x, slope):
    """slope = J_k^T (J_k x - e_k) + lambda^2 x; the size of what it is the sum of."""
    row, wide = pitch(rows, n), packs(rows, n)
    scale, reach = 0.0, 0.0
    for a in range(n):
        slope[a] = square * x[a]
        reach = max(reach, abs(x[a]))
    for r in range(size):
        i = order[first + r]
        value = -e[i]
        for a in range(n):
            value = value + rows[i * row + a] * x[a]
        for a in range(n):
            slope[a] = slope[a] + rows[i * row + a] * value
        length = sqrt(_dot(rows, i * wide, rows, i * wide, 0, wide))
        scale = max(scale, length * (abs(e[i]) + length * reach))
    return scale + square * reach


@kernel
def _pull(n, x, phi, slope):
    """`_slope` of |x - phi|^2 / 2."""
    scale = 0.0
    for a in range(n):
        slope[a] = x[a] - phi[a]
        scale = max(scale, abs(x[a]) + abs(phi[a]))
    return scale


@kernel
def _wrong(n, basis, used, held, number, now, slope, scale, plainly, nu):
    """The place among the held entries of one that the level gains by letting go, or -1.

    The multipliers nu solve L^T nu = -Q^T slope, Q being the columns that the held entries took up and L their rows of
    them.  It is the one whose multiplier is most wrong, or, `plainly`, the first of the entries: that cannot go round
    in circles (Bland 1977).
    """
    row, first = pitch(basis, n), used - number
    for i in range(number - 1, -1, -1):
        value = 0.0
        for a in range(n):
            value = value - basis[a * row + first + i] * slope[a]
        for j in range(i + 1, number):
            value = value - basis[_whole(held[j]) * row + first + i] * nu[j]
        nu[i] = value / basis[_whole(held[i]) * row + first + i]
    leaving, worst = -1, -_WRONG * scale
    for i in range(number):
        a = _whole(held[i])
        value = nu[i] * now[a]
        if value < -_WRONG * scale:
            if plainly and (leaving < 0 or a < _whole(held[leaving])):
                leaving = i
            elif not plainly and value < worst:
                leaving, worst = i, value
    return leaving


@kernel
def _dot(a, i, b, j, start, stop):
    """The product of two rows, at packs i and j, over their packs from `start` to `stop`."""
    along = zeros(a)
    for k in range(start, stop):
        along = along + load_pack(a, i + k) * load_pack(b, j + k)
    return total(a, along)


@kernel
def _tail(a, at, start, stop):
    """The squared length of a row, at number `at`, from its entry `start` on."""
    edge = min(WIDTH * ((start + WIDTH - 1) // WIDTH), stop)
    square = 0.0
    for k in range(start, edge):
        square = square + a[at + k] * a[at + k]
    return square + _dot(a, at // WIDTH, a, at // WIDTH, edge // WIDTH, stop // WIDTH)


@kernel
def _mirror(a, at, start, stop, square, mirror, to):
    """v, with which I - v v^T takes a row's entries from `start` on into the first of them; what that becomes."""
    length = sqrt(square)
    head = a[at + start]
    scale = 1.0 / sqrt(square + length * abs(head))
    for k in range(WIDTH * (start // WIDTH), start):
        mirror[to + k] = 0.0
    for k in range(start, stop):
        mirror[to + k] = a[at + k] * scale
    end = length if head < 0.0 else -length
    mirror[to + start] = (head - end) * scale
    return end


@kernel
def _reflect(a, i, mirror, j, start, stop):
    """Row (I - v v^T), at packs i and j, v being zero before pack `start`."""
    across = _dot(a, i, mirror, j, start, stop)
    for k in range(start, stop):
        store_pack(a, i + k, load_pack(a, i + k) - across * load_pack(mirror, j + k))
