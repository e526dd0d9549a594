"""Damped least squares through orthogonal rows: no product J J^T, and so no squared condition number."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, splat, sqrt, store


@kernel
def least_norm(m, n, damping, rows, e, rest, x):
    """x (n) of least |x|^2 + |z|^2 with J x + lambda z = e, J being `rows` (m x n) and lambda^2 = `damping`.

    That is the damped least-squares step.  The rows [J, lambda I] are made orthonormal one after the other by the
    modified Gram-Schmidt process (Bjorck 1967), e along with them; `rows` has room for m x (n + m) numbers, J in the
    first m x n of them; `rest` (m) is scratch.  Where the rows of J depend on one another, so that an error can be out
    of reach, rounding grows like 1 / lambda^2.
    """
    width = n + m
    root = sqrt(damping)
    # J is spread to rows of n + m in place, from the end so that nothing is overwritten before it is moved.
    for i in range(m - 1, -1, -1):
        for k in range(n - 1, -1, -1):
            store(rows, i * width + k, load(rows, i * n + k))
        for k in range(m):
            store(rows, i * width + n + k, root if k == i else splat(rows, 0.0))
    for k in range(n):
        store(x, k, 0.0)
    for i in range(m):
        store(rest, i, load(e, i))
    for i in range(m):
        at = i * width
        square = splat(rows, 0.0)
        for k in range(width):
            value = load(rows, at + k)
            square = square + value * value
        inverse = 1.0 / sqrt(square)
        for k in range(width):
            store(rows, at + k, load(rows, at + k) * inverse)
        y = load(rest, i) * inverse
        # x is the sum of the orthonormal rows times what e becomes with them, of which only the first n count.
        for k in range(n):
            store(x, k, load(x, k) + y * load(rows, at + k))
        for j in range(i + 1, m):
            across = splat(rows, 0.0)
            for k in range(width):
                across = across + load(rows, at + k) * load(rows, j * width + k)
            for k in range(width):
                store(rows, j * width + k, load(rows, j * width + k) - across * load(rows, at + k))
            store(rest, j, load(rest, j) - across * y)
