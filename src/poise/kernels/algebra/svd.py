"""One-sided Jacobi singular value decomposition (Hestenes 1958), of a few rows.

Rotating pairs of rows of J until all are orthogonal leaves W J = B, whose rows are sigma_i v_i, and W has the rows u_i:
J = sum_i sigma_i u_i v_i^T.  It is as accurate as any SVD, finds small singular values to full relative accuracy, and
for a dozen rows is quicker than a library's call.  The rows are kept in packs, see `poise.kernels.machine.lanes.packs`.
"""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import (
    any_of,
    load,
    load_pack,
    packs,
    pitch,
    select,
    splat,
    sqrt,
    store,
    store_pack,
    total,
    zeros,
)

_SWEEPS = 30
"""Sweeps at most."""
_DONE = 1e-15
"""Squared cosine of two rows below which, convergence being quadratic, the sweep that rotates them is the last."""
_SKIP = 1e-31
"""Squared cosine of two rows that are orthogonal to rounding."""
_NOTHING = 1e-60
"""Squared product of two rows, against the fourth power of the norm of all, that rounding alone makes: each row is then
some 1e-15 of the whole."""


@kernel
def identity(m, w):
    """w = I (m x m), in packs."""
    step = pitch(w, m)
    for i in range(m * step):
        store(w, i, 0.0)
    for i in range(m):
        store(w, i * step + i, 1.0)


@kernel
def multiply(m, n, w, a, b):
    """b = W A, W being m x m, A and b m x n, all in packs."""
    long, side = packs(b, n), pitch(w, m)
    for i in range(m):
        for k in range(long):
            value = zeros(b)
            for j in range(m):
                value = value + load(w, i * side + j) * load_pack(a, j * long + k)
            store_pack(b, i * long + k, value)


@kernel
def decompose(m, n, b, w, sigma):
    """Rows of b = W J (m x n) become sigma_i v_i, those of w = W (m x m) u_i; singular values (m) in no order.

    W is any rotation, such as the identity: with that of a Jacobian nearby the rows are almost orthogonal already
    (Maciejewski and Klein 1989).  Rows are in packs, filled up with zeros.
    """
    long, short = packs(b, n), packs(w, m)
    going = splat(sigma, 1.0) > 0.5  # a lane that is done stays as it is, whatever the others need
    for _ in range(_SWEEPS):
        whole = _squares(m, long, b, sigma)
        rotating = splat(sigma, 0.0)
        for i in range(m - 1):
            for j in range(i + 1, m):
                along = zeros(b)
                for k in range(long):
                    along = along + load_pack(b, i * long + k) * load_pack(b, j * long + k)
                p = total(b, along)
                si, sj = load(sigma, i), load(sigma, j)
                across, both = p * p, si * sj
                active = going & (across > _SKIP * both) & (across > (_NOTHING * whole) * whole)
                if any_of(active):
                    # The rotation that makes p 0: t = tan, the smaller root of t^2 + 2 tau t = 1.
                    rotating = select(active & (across > _DONE * both), 1.0, rotating)
                    tau = 0.5 * (sj - si) / select(active, p, 1.0)
                    size = select(tau < 0.0, -tau, tau)
                    t = 1.0 / (size + sqrt(1.0 + size * size))
                    t = select(active, select(tau < 0.0, -t, t), 0.0)
                    c = 1.0 / sqrt(1.0 + t * t)
                    s = c * t
                    store(sigma, i, si - t * p), store(sigma, j, sj + t * p)
                    _rotate(b, i * long, j * long, long, c, s)
                    _rotate(w, i * short, j * short, short, c, s)
        going = rotating > 0.5
        if not any_of(going):
            break
    _squares(m, long, b, sigma)
    for i in range(m):
        store(sigma, i, sqrt(load(sigma, i)))


@kernel
def _squares(m, long, b, sigma):
    """The squared lengths of all rows, and their sum."""
    whole = splat(sigma, 0.0)
    for i in range(m):
        square = zeros(b)
        for k in range(i * long, i * long + long):
            x = load_pack(b, k)
            square = square + x * x
        store(sigma, i, total(b, square))
        whole = whole + load(sigma, i)
    return whole


@kernel
def _rotate(b, i, j, long, c, s):
    """Turn the rows at packs i and j against each other."""
    for k in range(long):
        x, y = load_pack(b, i + k), load_pack(b, j + k)
        store_pack(b, i + k, c * x - s * y)
        store_pack(b, j + k, s * x + c * y)
