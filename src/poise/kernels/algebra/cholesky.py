"""Cholesky's factorisation of a symmetric matrix of any size; `algebra.tiles` has one by tiles of 3 x 3.

That one is for J J^T, whose rows come in threes: it takes from a third (24 rows) to four fifths (6 rows) of the time.
"""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, sqrt, store


@kernel
def solve_symmetric(n, matrix, x):
    """Replace x (n) by matrix^-1 x, and the lower triangle of `matrix` (n x n) by its Cholesky factor."""
    factor(n, matrix)
    substitute(n, matrix, x)


@kernel
def factor(n, matrix):
    """Replace the lower triangle of `matrix` (n x n, n > 0) by its Cholesky factor L; the least pivot, L_ii^2.

    That is positive if the matrix is positive definite; else the factor has places that are no numbers.
    """
    least = load(matrix, 0)
    for i in range(n):
        for j in range(i + 1):
            value = load(matrix, i * n + j)
            for k in range(j):
                value = value - load(matrix, i * n + k) * load(matrix, j * n + k)
            if i == j:
                least = select(value > least, least, value)
            store(matrix, i * n + j, sqrt(value) if i == j else value / load(matrix, j * n + j))
    return least


@kernel
def substitute(n, matrix, x):
    """Replace x (n) by (L L^T)^-1 x, with the L of `factor`."""
    for i in range(n):
        value = load(x, i)
        for k in range(i):
            value = value - load(matrix, i * n + k) * load(x, k)
        store(x, i, value / load(matrix, i * n + i))
    for i in range(n - 1, -1, -1):
        value = load(x, i)
        for k in range(i + 1, n):
            value = value - load(matrix, k * n + i) * load(x, k)
        store(x, i, value / load(matrix, i * n + i))
