"""The directions that are left: the last columns of an orthogonal matrix, the basis, whose first ones are taken up.

A row takes one of them up by a Householder reflection of the basis from the right: rows [range, rest] = [L, 0].  Within
the span of what is left, least squares of several rows are least squares of a triangle.  One problem at a time, with
rows of numbers in packs; `used` is how many columns are taken up.
"""

from poise.kernels.algebra.reflections import dot, mirror, reflect, tail
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack, zeros
from poise.kernels.machine.layout import WIDTH

RANK = 1e-9
"""Against the longest row of its kind, a row that is left with less depends on the rows before."""
STILL = 1e-11
"""Against the longest, an entry of a step, or of a held row, that is rounding."""


@kernel
def all_directions(n, basis):
    """Nothing is taken up: the basis is the unit matrix."""
    row = pitch(basis, n)
    for i in range(n * row):
        basis[i] = 0.0
    for a in range(n):
        basis[a * row + a] = 1.0


@kernel
def express(n, basis, start, rows, i, out, to):
    """Row i of `rows` times the columns of the basis from pack `start` on, into row `to` of `out`."""
    row, wide = pitch(basis, n), packs(basis, n)
    for c in range(start, wide):
        store_pack(out, to * wide + c, zeros(out))
    for a in range(n):
        value = rows[i * row + a]
        if value != 0.0:
            for c in range(start, wide):
                at = to * wide + c
                store_pack(out, at, load_pack(out, at) + value * load_pack(basis, a * wide + c))


@kernel
def project(n, basis, used, rows, i, part, to):
    """Row i of `rows` times the columns that are left, into row `to` of `part`, whose other entries are 0."""
    row, wide, start = pitch(basis, n), packs(basis, n), used // WIDTH
    for c in range(start):
        store_pack(part, to * wide + c, zeros(part))
    express(n, basis, start, rows, i, part, to)
    for c in range(start * WIDTH, used):
        part[to * row + c] = 0.0


@kernel
def coordinates(n, basis, used, v, y):
    """y = N^T v, N being the columns that are left; its other entries are 0."""
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
def take_up(n, basis, used, own, i, length, v):
    """Row i of `own`, in the coordinates of the basis, takes up a column; False if nothing of its `length` is left.

    Entry `used` of the row becomes what the reflection makes of it, which is its entry of L.
    """
    row, wide = pitch(basis, n), packs(basis, n)
    square = tail(own, i * row, used, row)
    if not square > STILL * STILL * length * length:
        return False
    own[i * row + used] = mirror(own, i * row, used, row, square, v, 0)
    for a in range(n):
        reflect(basis, a * wide, v, 0, used // WIDTH, wide)
    return True


@kernel
def turn(n, basis, used, rank, mirrors):
    """Reflect the basis, so that its next `rank` columns are the range of what `triangularise` was given."""
    wide = packs(basis, n)
    for j in range(rank):
        for a in range(n):
            reflect(basis, a * wide, mirrors, j * wide, (used + j) // WIDTH, wide)


@kernel
def triangularise(size, n, part, used, least, mark, mirrors):
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
                square = tail(part, r * row, at, row)
                if square > longest:
                    best, longest = r, square
        if best < 0:
            break
        end = mirror(part, best * row, at, row, longest, mirrors, rank * row)
        for r in range(size):
            if mark[r] == 0.0 and r != best:
                reflect(part, r * wide, mirrors, rank * wide, at // WIDTH, wide)
        for c in range(at, row):
            part[best * row + c] = 0.0
        part[best * row + at] = end
        mark[best] = 1.0
        rank += 1
    return rank


@kernel
def fit(size, rank, n, used, square, s):
    """s.y, the coordinates of the least |L z - s.b|^2 + lambda^2 |z|^2, by reflecting the columns of [L; lambda I]."""
    part, b, scratch, mirrors, y = s.part, s.b, s.scratch, s.mirrors, s.y
    row, wide = pitch(part, n), packs(part, n)
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
        length = tail(scratch, c * tall, c, tall)
        end = mirror(scratch, c * tall, c, tall, length, scratch, spare * tall)
        for j in range(c + 1, rank + 1):
            reflect(scratch, j * long, scratch, spare * long, c // WIDTH, long)
        scratch[c * tall + c] = end
    for c in range(row):
        y[c] = 0.0
    for c in range(rank - 1, -1, -1):
        value = scratch[rank * tall + c]
        for j in range(c + 1, rank):
            value = value - scratch[j * tall + c] * y[used + j]
        y[used + c] = value / scratch[c * tall + c]
    for j in range(rank - 1, -1, -1):
        reflect(y, 0, mirrors, j * wide, (used + j) // WIDTH, wide)


@kernel
def combine(n, basis, used, y, step):
    """step = N y."""
    wide, start = packs(basis, n), used // WIDTH
    for a in range(n):
        step[a] = dot(basis, a * wide, y, 0, start, wide)
