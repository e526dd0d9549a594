"""Cholesky's factorisation of a small symmetric matrix of any size; `algebra.tiles` has the one by tiles."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, sqrt, store


@kernel
def solve_symmetric(n, matrix, x):
    """Replace x (n) by matrix^-1 x, and the lower triangle of `matrix` (n x n) by its Cholesky factor."""
    for i in range(n):
        for j in range(i + 1):
            value = load(matrix, i * n + j)
            for k in range(j):
                value = value - load(matrix, i * n + k) * load(matrix, j * n + k)
            store(matrix, i * n + j, sqrt(value) if i == j else value / load(matrix, j * n + j))
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
