"""Small symmetric systems in tiles of 3 x 3: a tile fits the registers in either width, and residuals come in threes.

A matrix of `3 n x 3 n` numbers is stored row by row; only its lower triangle of tiles is used.  `algebra.cholesky` is
for any size, and slower: a system of 6 rows takes it 1.3 to 1.5 times as long, one of 24 rows two to three times.
"""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, splat, sqrt, store


@kernel
def gram(p, size, jacobian, free, matrix):
    """Lower tiles of J F J^T, F the diagonal of `free`, J given by blocks of three rows."""
    pairs = p.pairs
    for k in range(len(p.tiles)):
        tile = p.tiles[k]
        ja, jb = tile.first_block, tile.second_block
        c00 = c01 = c02 = c10 = c11 = c12 = c20 = c21 = c22 = splat(free, 0.0)
        for r in range(tile.first_pair, tile.last_pair):
            i, j = ja + 3 * pairs[r].first, jb + 3 * pairs[r].second
            f = load(free, pairs[r].v)
            b0, b1, b2 = load(jacobian, j) * f, load(jacobian, j + 1) * f, load(jacobian, j + 2) * f
            a0, a1, a2 = load(jacobian, i), load(jacobian, i + 1), load(jacobian, i + 2)
            c00, c01, c02 = c00 + a0 * b0, c01 + a0 * b1, c02 + a0 * b2
            c10, c11, c12 = c10 + a1 * b0, c11 + a1 * b1, c12 + a1 * b2
            c20, c21, c22 = c20 + a2 * b0, c21 + a2 * b1, c22 + a2 * b2
        at = 3 * tile.row * size + 3 * tile.column
        store(matrix, at, c00), store(matrix, at + 1, c01), store(matrix, at + 2, c02)
        at = at + size
        store(matrix, at, c10), store(matrix, at + 1, c11), store(matrix, at + 2, c12)
        at = at + size
        store(matrix, at, c20), store(matrix, at + 1, c21), store(matrix, at + 2, c22)


@kernel
def factor(size, damping, matrix):
    """Cholesky factor L of `matrix + damping I`, in place; each diagonal tile of L is stored inverted."""
    n = size // 3
    for k in range(n):
        for i in range(k, n):
            at = 3 * i * size + 3 * k
            a, b, c = at, at + size, at + 2 * size
            c00, c01, c02 = load(matrix, a), load(matrix, a + 1), load(matrix, a + 2)
            c10, c11, c12 = load(matrix, b), load(matrix, b + 1), load(matrix, b + 2)
            c20, c21, c22 = load(matrix, c), load(matrix, c + 1), load(matrix, c + 2)
            for p in range(k):
                x, y = 3 * i * size + 3 * p, 3 * k * size + 3 * p
                x0, x1, x2 = load(matrix, x), load(matrix, x + 1), load(matrix, x + 2)
                x3, x4, x5 = load(matrix, x + size), load(matrix, x + size + 1), load(matrix, x + size + 2)
                x6, x7, x8 = load(matrix, x + 2 * size), load(matrix, x + 2 * size + 1), load(matrix, x + 2 * size + 2)
                y0, y1, y2 = load(matrix, y), load(matrix, y + 1), load(matrix, y + 2)
                y3, y4, y5 = load(matrix, y + size), load(matrix, y + size + 1), load(matrix, y + size + 2)
                y6, y7, y8 = load(matrix, y + 2 * size), load(matrix, y + 2 * size + 1), load(matrix, y + 2 * size + 2)
                c00 = c00 - x0 * y0 - x1 * y1 - x2 * y2
                c01 = c01 - x0 * y3 - x1 * y4 - x2 * y5
                c02 = c02 - x0 * y6 - x1 * y7 - x2 * y8
                c10 = c10 - x3 * y0 - x4 * y1 - x5 * y2
                c11 = c11 - x3 * y3 - x4 * y4 - x5 * y5
                c12 = c12 - x3 * y6 - x4 * y7 - x5 * y8
                c20 = c20 - x6 * y0 - x7 * y1 - x8 * y2
                c21 = c21 - x6 * y3 - x7 * y4 - x8 * y5
                c22 = c22 - x6 * y6 - x7 * y7 - x8 * y8
            d = 3 * k * size + 3 * k
            if i == k:
                i00 = 1.0 / sqrt(c00 + damping)
                l10, l20 = c10 * i00, c20 * i00
                i11 = 1.0 / sqrt(c11 + damping - l10 * l10)
                l21 = (c21 - l20 * l10) * i11
                i22 = 1.0 / sqrt(c22 + damping - l20 * l20 - l21 * l21)
                i10 = -l10 * i00 * i11
                i21 = -l21 * i11 * i22
                i20 = -(l20 * i00 + l21 * i10) * i22
                store(matrix, d, i00)
                store(matrix, d + size, i10), store(matrix, d + size + 1, i11)
                d = d + 2 * size
                store(matrix, d, i20), store(matrix, d + 1, i21), store(matrix, d + 2, i22)
            else:
                i00, i10, i11 = load(matrix, d), load(matrix, d + size), load(matrix, d + size + 1)
                d = d + 2 * size
                i20, i21, i22 = load(matrix, d), load(matrix, d + 1), load(matrix, d + 2)
                store(matrix, a, c00 * i00)
                store(matrix, a + 1, c00 * i10 + c01 * i11)
                store(matrix, a + 2, c00 * i20 + c01 * i21 + c02 * i22)
                store(matrix, b, c10 * i00)
                store(matrix, b + 1, c10 * i10 + c11 * i11)
                store(matrix, b + 2, c10 * i20 + c11 * i21 + c12 * i22)
                store(matrix, c, c20 * i00)
                store(matrix, c + 1, c20 * i10 + c21 * i11)
                store(matrix, c + 2, c20 * i20 + c21 * i21 + c22 * i22)


@kernel
def back_substitute(size, matrix, e, y):
    """y = (L L^T)^-1 e, with the L of `factor`; y may be e itself."""
    n = size // 3
    for i in range(n):
        y0, y1, y2 = load(e, 3 * i), load(e, 3 * i + 1), load(e, 3 * i + 2)
        a = 3 * i * size
        b, c = a + size, a + 2 * size
        for p in range(3 * i):
            x = load(y, p)
            y0, y1, y2 = y0 - load(matrix, a + p) * x, y1 - load(matrix, b + p) * x, y2 - load(matrix, c + p) * x
        d = 3 * i
        store(y, d, load(matrix, a + d) * y0)
        store(y, d + 1, load(matrix, b + d) * y0 + load(matrix, b + d + 1) * y1)
        store(y, d + 2, load(matrix, c + d) * y0 + load(matrix, c + d + 1) * y1 + load(matrix, c + d + 2) * y2)
    for i in range(n - 1, -1, -1):
        d = 3 * i
        y0, y1, y2 = load(y, d), load(y, d + 1), load(y, d + 2)
        for p in range(3 * i + 3, size):
            x, at = load(y, p), p * size + d
            y0, y1, y2 = y0 - load(matrix, at) * x, y1 - load(matrix, at + 1) * x, y2 - load(matrix, at + 2) * x
        a = 3 * i * size + d
        b, c = a + size, a + 2 * size
        store(y, d, load(matrix, a) * y0 + load(matrix, b) * y1 + load(matrix, c) * y2)
        store(y, d + 1, load(matrix, b + 1) * y1 + load(matrix, c + 1) * y2)
        store(y, d + 2, load(matrix, c + 2) * y2)
