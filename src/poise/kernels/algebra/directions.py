"""An orthogonal basis that grows: rows take up directions one after the other, by Householder reflections.

Q is the product of the reflections, one mirror for each direction that is taken up.  In the coordinates y = Q^T x the
rows that took them up are a lower triangle, L, so the entries of y from `used` on move none of them.  Q itself is never
formed: rows that are still needed are reflected as it grows, and a step is turned back through all mirrors.  Within the
directions that are left, least squares of several rows are least squares of a triangle.  One problem at a time, with
rows of numbers in packs; `used` is how many directions are taken up, and mirror j is 0 before entry j.
"""

from poise.kernels.algebra.reflections import dot, mirror, reflect, tail
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack
from poise.kernels.machine.layout import WIDTH

RANK = 1e-9
"""A row of which less is left beside those before, against the longest of its level, depends on them."""
STILL = 1e-11
"""An entry of a step below this share of the largest is rounding; so is what is left of a constraint's row."""
_CLEAR = 1e-6
"""A row of which this squared share is left takes up a direction in its turn; if none has, the longest goes
first."""
_TAKEN = -1.0
"""In `mark`: the row has taken up a direction."""


@kernel
def copy_row(n, a, i, b, to):
    """Row `to` of b becomes row i of a."""
    wide = packs(a, n)
    for c in range(wide):
        store_pack(b, to * wide + c, load_pack(a, i * wide + c))


@kernel
def turn(n, mirrors, first, last, a, i):
    """Reflect row i of a by mirrors `first` to `last` - 1, in their order: from x to y."""
    wide = packs(a, n)
    for j in range(first, last):
        reflect(a, i * wide, mirrors, j * wide, j // WIDTH, wide)


@kernel
def turn_back(n, mirrors, first, last, a):
    """Undo `turn` for a single row: from y to x."""
    wide = packs(a, n)
    for j in range(last - 1, first - 1, -1):
        reflect(a, 0, mirrors, j * wide, j // WIDTH, wide)


@kernel
def turn_all(n, mirrors, first, last, a, start, stop):
    """`turn` for the rows of a from `start` on, before `stop`."""
    wide = packs(a, n)
    for j in range(first, last):
        for i in range(start, stop):
            reflect(a, i * wide, mirrors, j * wide, j // WIDTH, wide)


@kernel
def take_up(n, used, lower, mirrors, length):
    """Let row `used` of `lower`, in y, take up a direction; False if next to nothing of its `length` is left.

    Its mirror is written, and the row becomes row `used` of L.
    """
    row = pitch(lower, n)
    at = used * row
    square = tail(lower, at, used, row)
    if not square > STILL * STILL * length * length:
        return False
    end = mirror(lower, at, used, row, square, mirrors, at)
    for c in range(used, row):
        lower[at + c] = 0.0
    lower[at + used] = end
    return True


@kernel
def triangularise(n, used, size, least, s):
    """Rank-revealing triangle of the rows of s.part (size), whose squares are s.mark, in the directions from `used` on.

    A row takes up a direction in its turn where enough of it is left (_CLEAR), else the longest first; rows of which
    less than `least` is left take up none.  Returns the rank: so many of s.mirrors and of the rows of s.lower are
    written, from number `used` on.
    """
    part, mark, mirrors = s.part, s.mark, s.mirrors
    row, wide = pitch(part, n), packs(part, n)
    rank = 0
    while rank < size and used + rank < n:
        at = used + rank
        best, longest = -1, least * least
        for r in range(size):
            if mark[r] != _TAKEN:
                square = tail(part, r * row, at, row)
                if square > longest:
                    best, longest = r, square
                    if square > _CLEAR * mark[r]:
                        break
        if best < 0:
            break
        mark[best] = _TAKEN
        end = mirror(part, best * row, at, row, longest, mirrors, at * row)
        for r in range(size):
            if mark[r] != _TAKEN:
                reflect(part, r * wide, mirrors, at * wide, at // WIDTH, wide)
        for c in range(at, row):
            part[best * row + c] = 0.0
        part[best * row + at] = end
        copy_row(n, part, best, s.lower, at)
        rank += 1
    return rank


@kernel
def fit(n, used, size, rank, square, s):
    """s.z = argmin |L z - s.b|^2 + lambda^2 |z|^2, lambda^2 = `square`, by a QR decomposition of [L; lambda I].

    L is what `triangularise` left in the first `size` rows of s.part; z is 0 where L has no entries.  Columns lie one
    after the other in s.scratch, the right side behind them, then a mirror.
    """
    part, b, scratch, z = s.part, s.b, s.scratch, s.z
    row = pitch(part, n)
    height = size + rank
    tall, long = pitch(scratch, height), packs(scratch, height)
    for c in range(rank + 1):
        for r in range(size):
            scratch[c * tall + r] = part[r * row + used + c] if c < rank else b[r]
        for r in range(size, tall):
            scratch[c * tall + r] = 0.0
        if c < rank:
            scratch[c * tall + size + c] = sqrt(square)
    spare = rank + 1
    for c in range(rank):
        edge = (size + c) // WIDTH + 1  # of lambda I, no more rows than c + 1 have entries by then
        length = tail(scratch, c * tall, c, edge * WIDTH)
        end = mirror(scratch, c * tall, c, edge * WIDTH, length, scratch, spare * tall)
        for j in range(c + 1, rank + 1):
            reflect(scratch, j * long, scratch, spare * long, c // WIDTH, edge)
        scratch[c * tall + c] = end
    for c in range(row):
        z[c] = 0.0
    for c in range(rank - 1, -1, -1):
        value = scratch[rank * tall + c]
        for j in range(c + 1, rank):
            value = value - scratch[j * tall + c] * z[used + j]
        z[used + c] = value / scratch[c * tall + c]


@kernel
def solve_transposed(n, used, lower, v, nu):
    """nu (used), the solution of L^T nu = -v; v is overwritten."""
    row, wide = pitch(lower, n), packs(lower, n)
    for j in range(used - 1, -1, -1):
        nu[j] = -v[j] / lower[j * row + j]
        for c in range(j // WIDTH + 1):
            store_pack(v, c, load_pack(v, c) + nu[j] * load_pack(lower, j * wide + c))


@kernel
def dot_before(n, a, i, y, used):
    """The sum over the first `used` entries of row i of a, times y."""
    row, whole = pitch(a, n), used // WIDTH
    value = dot(a, i * packs(a, n), y, 0, 0, whole)
    for c in range(whole * WIDTH, used):
        value = value + a[i * row + c] * y[c]
    return value
