"""One-sided Jacobi singular value decomposition (Hestenes 1958), of a few rows.

Rotating pairs of rows of J until all are orthogonal leaves W J = B, whose rows are sigma_i v_i, and W has the rows u_i:
J = sum_i sigma_i u_i v_i^T.  It is as accurate as any SVD, finds small singular values to full relative accuracy, and
for a dozen rows is quicker than a library's call.
"""

from poise.kernels._jit import kernel
from poise.kernels.lanes import any_of, load, select, splat, sqrt, store

_SWEEPS = 30
_DONE = 1e-15
"""Squared cosine of two rows below which, convergence being quadratic, the sweep that rotates them is the last."""
_SKIP = 1e-31
_NOTHING = 1e-26
"""Against the square of the whole, what is rounding and no row."""


@kernel
def decompose(m, n, b, w, sigma):
    """Rows b (m x n) become sigma_i v_i, rows of w (m x m) u_i; singular values (m) in no order."""
    for i in range(m * m):
        store(w, i, 0.0)
    for i in range(m):
        store(w, i * m + i, 1.0)
    for _ in range(_SWEEPS):
        total = splat(b, 0.0)
        for i in range(m):
            square = splat(b, 0.0)
            for k in range(i * n, i * n + n):
                x = load(b, k)
                square = square + x * x
            store(sigma, i, square)
            total = total + square
        rotating = splat(b, 0.0)
        for i in range(m - 1):
            for j in range(i + 1, m):
                p = splat(b, 0.0)
                for k in range(n):
                    p = p + load(b, i * n + k) * load(b, j * n + k)
                si, sj = load(sigma, i), load(sigma, j)
                across, along = p * p, si * sj
                active = (across > _SKIP * along) & (across > (_NOTHING * total) * total)
                if any_of(active):
                    rotating = select(active & (across > _DONE * along), 1.0, rotating)
                    tau = 0.5 * (sj - si) / select(active, p, 1.0)
                    size = select(tau < 0.0, -tau, tau)
                    t = 1.0 / (size + sqrt(1.0 + size * size))
                    t = select(active, select(tau < 0.0, -t, t), 0.0)
                    c = 1.0 / sqrt(1.0 + t * t)
                    s = c * t
                    store(sigma, i, si - t * p), store(sigma, j, sj + t * p)
                    for k in range(n):
                        x, y = load(b, i * n + k), load(b, j * n + k)
                        store(b, i * n + k, c * x - s * y)
                        store(b, j * n + k, s * x + c * y)
                    for k in range(m):
                        x, y = load(w, i * m + k), load(w, j * m + k)
                        store(w, i * m + k, c * x - s * y)
                        store(w, j * m + k, s * x + c * y)
        if not any_of(rotating > 0.5):
            break
    for i in range(m):
        square = splat(b, 0.0)
        for k in range(i * n, i * n + n):
            x = load(b, k)
            square = square + x * x
        store(sigma, i, sqrt(square))
