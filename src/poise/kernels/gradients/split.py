"""Sensitivity of a rest: the KKT equations, solved by the null space of the active rows.

With J the active rows over the free joints, Z a basis of their null space, H the Hessian of the Lagrangian, and changes
de of residuals and dg of the gradient, dq = J^+ de - Z (Z^T H Z)^-1 Z^T (dg + H J^+ de).  That is
w.kkt.residual_sensitivity de - w.kkt.gradient_sensitivity dg.
"""

from poise.kernels.algebra.rotations import turn_since
from poise.kernels.algebra.svd import decompose, identity
from poise.kernels.gradients.conditions import evaluate_conditions
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch, sqrt
from poise.kernels.requirements.integrate import move

WHOLE, FLAT, FALLING, NO_LEAST = 0, 1, 2, 3
"""What is found of the reduced Hessian Z^T H Z: positive definite; singular; with a negative curvature; or none, for
J^T e is not the gradient of |e|^2 / 2 of what is missed."""
STEP = 1e-5
"""Of central differences of exact rows [rad or m]: what they cut off and what they round are both about 1e-10."""
RANK = 1e-7
"""Against the largest singular value, or curvature, one that counts as 0."""
LEAST = 1e-9
"""The least scale of gradients and of curvatures: multipliers and curvatures below RANK or WEAK of it are rounding."""
_NO_GRADIENT = 1e-5
"""How far J^T e may be from differences of |e|^2 / 2, against |J| |e|."""


@kernel
def posture_gradient(p, posture, shares, q, out):
    """out (n) = D (q - posture) as velocities, D = diag(shares); 0 without a posture."""
    for a in range(len(out)):
        out[a] = 0.0
    if len(posture) == 0:
        return
    for k in range(len(p.coordinates)):
        c = p.coordinates[k]
        out[c.v] = shares[c.v] * (q[c.q] - posture[c.q])
    for k in range(len(p.balls)):
        v = p.balls[k].v
        u0, u1, u2 = turn_since(posture, q, p.balls[k].q)
        out[v], out[v + 1], out[v + 2] = shares[v] * u0, shares[v + 1] * u1, shares[v + 2] * u2


@kernel
def find_gradient(p, w, sign, out):
    """out (n) = D (q - posture) - sum over missed e_k J_k - sign sum multiplier_k J_k, the gradient of the Lagrangian
    at w.q, whose conditions are evaluated; `sign` is 1, or 0 for the gradient of f alone."""
    n = len(out)
    row = pitch(w.kkt.rows, n)
    posture_gradient(p, w.posture_goal, w.kkt.posture_hessian, w.q, out)
    for k in range(len(w.kkt.residual)):
        share = w.kkt.residual[k] if w.kkt.missed[k] > 0.5 else sign * w.kkt.multiplier[k]
        if share != 0.0:
            for a in range(n):
                out[a] = out[a] - share * w.kkt.rows[k * row + a]


@kernel
def decompose_active(w):
    """Decompose the active rows over the free joints into w.kkt.active_sigma, w.kkt.active_left, u_i, and
    w.kkt.active_right, sigma_i v_i; the number of rows."""
    n, active_rows = len(w.step), 0
    row = pitch(w.kkt.rows, n)
    for k in range(len(w.kkt.residual)):
        if w.kkt.active[k] > 0.5:
            for a in range(row):
                w.kkt.active_right[active_rows * row + a] = 0.0
            for a in range(n):
                w.kkt.active_right[active_rows * row + a] = w.kkt.rows[k * row + a] * w.free[a]
            active_rows += 1
    if active_rows > 0:
        identity(active_rows, w.kkt.active_left)
        decompose(active_rows, n, w.kkt.active_right, w.kkt.active_left, w.kkt.active_sigma)
    return active_rows


@kernel
def least_size(active_rows, w):
    """The largest singular value that counts as 0."""
    largest = 0.0
    for i in range(active_rows):
        largest = max(largest, w.kkt.active_sigma[i])
    return RANK * largest


@kernel
def rank_of(active_rows, w):
    """The rank of the active rows, which are decomposed."""
    rank, least = 0, least_size(active_rows, w)
    for i in range(active_rows):
        if w.kkt.active_sigma[i] > least:
            rank += 1
    return rank


@kernel
def find_multipliers(active_rows, w):
    """w.kkt.multiplier: argmin |g - J^T mu| over the free joints for the active rows, g = w.kkt.lagrangian_gradient;
    else 0."""
    n = len(w.step)
    row, side, least = pitch(w.kkt.rows, n), pitch(w.kkt.active_left, active_rows), least_size(active_rows, w)
    at = 0
    for k in range(len(w.kkt.residual)):
        w.kkt.multiplier[k] = 0.0
        if w.kkt.active[k] > 0.5:
            value = 0.0
            for i in range(active_rows):
                size = w.kkt.active_sigma[i]
                if size > least:
                    along = 0.0
                    for a in range(n):
                        along += w.kkt.active_right[i * row + a] * w.kkt.lagrangian_gradient[a]
                    value += w.kkt.active_left[i * side + at] * along / (size * size)
            w.kkt.multiplier[k], at = value, at + 1


@kernel
def find_null_space(active_rows, w):
    """w.kkt.null_rows = Z^T, an orthonormal basis of the null space of the active rows over the free joints; its rows.

    Each begins as the unit vector with the least part in the rows so far, w.other being 1 less that part squared, and
    is made orthogonal to them (Gram and Schmidt, twice for rounding).
    """
    n = len(w.step)
    row, least, count = pitch(w.kkt.rows, n), least_size(active_rows, w), 0
    for a in range(n):
        count += 1 if w.free[a] > 0.5 else 0
        w.other[a] = w.free[a]
    for i in range(active_rows):
        if w.kkt.active_sigma[i] > least:
            count -= 1
            for a in range(n):
                x = w.kkt.active_right[i * row + a] / w.kkt.active_sigma[i]
                w.other[a] = w.other[a] - x * x
    for t in range(count):
        best = 0
        for a in range(n):
            if w.other[a] > w.other[best]:
                best = a
        at = t * row
        for a in range(row):
            w.kkt.null_rows[at + a] = 0.0
        w.kkt.null_rows[at + best] = 1.0
        for _ in range(2):
            for i in range(active_rows):
                if w.kkt.active_sigma[i] > least:
                    _take(n, w.kkt.null_rows, at, w.kkt.active_right, i * row, w.kkt.active_sigma[i])
            for u in range(t):
                _take(n, w.kkt.null_rows, at, w.kkt.null_rows, u * row, 1.0)
            square = 0.0
            for a in range(n):
                square += w.kkt.null_rows[at + a] ** 2
            length = 1.0 / sqrt(square)
            for a in range(n):
                w.kkt.null_rows[at + a] = w.kkt.null_rows[at + a] * length
        for a in range(n):
            w.other[a] = w.other[a] - w.kkt.null_rows[at + a] ** 2
    return count


@kernel
def _take(n, rows, at, others, other, size):
    """Make a row (n) orthogonal to another one, whose length is `size`."""
    along = 0.0
    for a in range(n):
        along += rows[at + a] * others[other + a]
    along = along / (size * size)
    for a in range(n):
        rows[at + a] = rows[at + a] - along * others[other + a]


@kernel
def find_hessian(p, w, request, q, count):
    """w.kkt.hessian (count x n), H Z at q (nq) for the basis Z^T = w.kkt.null_rows, by central differences of the
    gradient; WHOLE or NO_LEAST.

    The conditions end as they were.  Without an f it is Z, so that dq is the least change.
    """
    n, m = len(w.step), len(w.kkt.residual)
    row, wanted, kind = pitch(w.kkt.rows, n), is_wanted(w), WHOLE
    for i in range(n * n):
        w.kkt.hessian[i] = 0.0
    if not wanted:
        for t in range(count):
            for a in range(n):
                w.kkt.hessian[t * n + a] = w.kkt.null_rows[t * row + a]
        return kind
    # left = |e|^2 of what is missed, whole = |J|^2, away: how far J^T e, w.phi, is from differences of |e|^2 / 2.
    left, whole, away = 0.0, 0.0, 0.0
    for a in range(n):
        w.phi[a] = 0.0
        for k in range(m):
            if w.kkt.missed[k] > 0.5:
                w.phi[a] = w.phi[a] - w.kkt.residual[k] * w.kkt.rows[k * row + a]
    for k in range(m):
        left += w.kkt.residual[k] ** 2 if w.kkt.missed[k] > 0.5 else 0.0
        for a in range(n):
            whole += w.kkt.rows[k * row + a] ** 2
    for t in range(count):
        slope = 0.0
        for a in range(n):
            w.step[a] = w.kkt.null_rows[t * row + a]
            slope -= w.step[a] * w.phi[a]
        for way in range(2):
            sign = 1.0 - 2.0 * way
            move(p, q, w.step, sign * STEP, w.q)
            evaluate_conditions(p, w, request, True)
            find_gradient(p, w, 1.0, w.kkt.lagrangian_gradient)
            for a in range(n):
                change = sign * w.free[a] * w.kkt.lagrangian_gradient[a] / (2.0 * STEP)
                w.kkt.hessian[t * n + a] = w.kkt.hessian[t * n + a] + change
            for k in range(m):
                if w.kkt.missed[k] > 0.5:
                    slope += sign * 0.5 * w.kkt.residual[k] ** 2 / (2.0 * STEP)
        away = max(away, abs(slope))
    for i in range(len(q)):
        w.q[i] = q[i]
    evaluate_conditions(p, w, request, True)
    return NO_LEAST if away > _NO_GRADIENT * sqrt(left) * sqrt(whole) else kind


@kernel
def is_wanted(w):
    """Whether there is an f: something missed, or a posture that counts."""
    for a in range(len(w.kkt.posture_hessian)):
        if w.kkt.posture_hessian[a] > 0.0:
            return True
    for k in range(len(w.kkt.missed)):
        if w.kkt.missed[k] > 0.5:
            return True
    return False


@kernel
def largest_curvature(w):
    """The largest entry of w.kkt.hessian, and of the weights of the posture and the squares of the missed rows."""
    largest, n = LEAST, len(w.step)
    row = pitch(w.kkt.rows, n)
    for i in range(len(w.kkt.hessian)):
        largest = max(largest, abs(w.kkt.hessian[i]))
    for a in range(n):
        square = w.free[a] * w.kkt.posture_hessian[a]
        for k in range(len(w.kkt.missed)):
            if w.kkt.missed[k] > 0.5:
                square += w.free[a] * w.kkt.rows[k * row + a] ** 2
        largest = max(largest, square)
    return largest


@kernel
def decompose_inner(count, w):
    """Decompose Z^T H Z: w.kkt.inner_sizes, |curvatures|, w.kkt.inner_left, u_t, and w.kkt.inner_right, size_t v_t."""
    n = len(w.step)
    row, side = pitch(w.kkt.null_rows, n), pitch(w.kkt.inner_right, count)
    for t in range(count):
        for u in range(side):
            w.kkt.inner_right[t * side + u] = 0.0
    for t in range(count):
        for u in range(count):
            value = 0.0
            for a in range(n):
                value += 0.5 * w.kkt.null_rows[u * row + a] * w.kkt.hessian[t * n + a]
                value += 0.5 * w.kkt.null_rows[t * row + a] * w.kkt.hessian[u * n + a]
            w.kkt.inner_right[t * side + u] = value
    if count > 0:
        identity(count, w.kkt.inner_left)
        decompose(count, count, w.kkt.inner_right, w.kkt.inner_left, w.kkt.inner_sizes)


@kernel
def split(p, w, request, q, active_rows):
    """w.kkt.residual_sensitivity and w.kkt.gradient_sensitivity at q (nq), whose active rows are decomposed.

    Returns the dimension of their null space, how many of its directions are flat, and what is found of the Hessian.
    """
    n, c = len(w.step), len(w.kkt.residual)
    count, flat = find_null_space(active_rows, w), 0
    kind = find_hessian(p, w, request, q, count)
    decompose_inner(count, w)
    _put_inverse(active_rows, w)
    row, inner_row = pitch(w.kkt.null_rows, n), pitch(w.kkt.inner_right, count)
    bound = RANK * largest_curvature(w)
    # With z_t = Z u_t, w.other, and H z_t, w.phi: G = sum z_t z_t^T / size_t without the flat directions, and
    # (1 - G H) J^+ takes z_t (H z_t)^T J^+ / size_t from J^+.
    for i in range(n * n):
        w.kkt.gradient_sensitivity[i] = 0.0
    for t in range(count):
        size = w.kkt.inner_sizes[t]
        if not size > bound:
            flat += 1
            continue
        along = 0.0
        for u in range(count):
            along += w.kkt.inner_left[t * inner_row + u] * w.kkt.inner_right[t * inner_row + u]
        if not along > 0.5 * size:  # v_t = -u_t: a negative curvature
            kind = max(kind, FALLING)
        for a in range(n):
            w.other[a], w.phi[a] = 0.0, 0.0
            for u in range(count):
                share = w.kkt.inner_left[t * inner_row + u]
                w.other[a] = w.other[a] + share * w.kkt.null_rows[u * row + a]
                w.phi[a] = w.phi[a] + share * w.kkt.hessian[u * n + a]
        for a in range(n):
            for b in range(n):
                w.kkt.gradient_sensitivity[a * n + b] = (
                    w.kkt.gradient_sensitivity[a * n + b] + w.other[a] * w.other[b] / size
                )
        for k in range(c):
            if w.kkt.active[k] > 0.5:
                along = 0.0
                for a in range(n):
                    along += w.phi[a] * w.kkt.residual_sensitivity[a * c + k]
                for a in range(n):
                    w.kkt.residual_sensitivity[a * c + k] = (
                        w.kkt.residual_sensitivity[a * c + k] - w.other[a] * along / size
                    )
    return count, flat, FLAT if flat > 0 and kind == WHOLE else kind


@kernel
def _put_inverse(active_rows, w):
    """w.kkt.residual_sensitivity (n x c) = J^+ = sum sigma_i v_i u_i^T / sigma_i^2, 0 for rows that are not active."""
    n, c, at = len(w.step), len(w.kkt.residual), 0
    row, side, least = pitch(w.kkt.rows, n), pitch(w.kkt.active_left, active_rows), least_size(active_rows, w)
    for k in range(c):
        for a in range(n):
            w.kkt.residual_sensitivity[a * c + k] = 0.0
        if w.kkt.active[k] < 0.5:
            continue
        for i in range(active_rows):
            size = w.kkt.active_sigma[i]
            if size > least:
                share = w.kkt.active_left[i * side + at] / (size * size)
                for a in range(n):
                    w.kkt.residual_sensitivity[a * c + k] = (
                        w.kkt.residual_sensitivity[a * c + k] + share * w.kkt.active_right[i * row + a]
                    )
        at += 1
