"""Least squares in levels where no bound and no row is met: the quick way of `.active_set`.

The rows of all levels, in their order, become orthonormal one after the other (Gram and Schmidt, in the modified form):
J = L Q.  In the coordinates z = Q x each level has its own entries, z_k, and what the levels before have chosen enters
it through L alone: z_k is the minimum of |L_kk z_k - b_k|^2 + lambda_k^2 |z_k|^2, b_k = e_k - sum_(j<k) L_kj z_j.
One problem at a time, with rows of numbers in packs.
"""

from poise.kernels.algebra.cholesky import solve_symmetric
from poise.kernels.algebra.reflections import dot, reflect
from poise.kernels.algebra.working_set import whole
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack, zeros
from poise.kernels.machine.views import section

_CLEAR = 1e-6
"""Square of the share of a row that must be left beside the rows before, so that rounding turns Q by little."""


@kernel
def minimise_unconstrained(levels, limits, x, side, room):
    """`active_set.minimise` if its x meets no bound and no row, and no row of J depends on the others; whether it was.

    Rows of zeros, such as those of a range that a point is within, are left out.  Bounds that are in the way of the
    first level are left in `side`: most will hold it.
    """
    n, most = len(x), min(len(levels.e), len(x))
    row, wide = pitch(room, n), packs(room, n)
    for c in range(len(side)):
        if side[c] != 0.0:
            return False
    some = section(room, (most + 2) * row + 2 * most * most + most, most)
    m = _rows_that_ask(levels, wide, some)
    if m > n:
        return False
    q, own, rest = section(room, 0, m * row), section(room, m * row, row), section(room, (m + 1) * row, row)
    at = (m + 2) * row
    lower, matrix = section(room, at, m * m), section(room, at + m * m, m * m)
    z = section(room, at + 2 * m * m, m)
    if not _orthonormal(m, n, levels.order, some, levels.rows, q, lower):
        return False
    for c in range(wide):
        store_pack(own, c, zeros(own))
    stop = 0
    for k in range(levels.count):
        first = stop
        while stop < m and whole(some[stop]) < levels.first[k + 1]:
            stop += 1
        _choose(first, stop, levels, k, some, lower, matrix, z)
        for i in range(first, stop):
            _add(z[i], q, i * wide, own, wide)
        if not _inside(n, limits, own):
            if k == 0:
                for a in range(n):
                    if own[a] < limits.low[a]:
                        side[a] = -1.0
                    elif own[a] > limits.high[a]:
                        side[a] = 1.0
            return False
    if levels.pull:
        for c in range(row):
            rest[c] = levels.phi[c] if c < n else 0.0
        for i in range(m):
            _add(-dot(q, i * wide, rest, 0, 0, wide), q, i * wide, rest, wide)
        for c in range(wide):
            store_pack(own, c, load_pack(own, c) + load_pack(rest, c))
        if not _inside(n, limits, own):
            return False
    for a in range(n):
        x[a] = own[a]
    return True


@kernel
def _rows_that_ask(levels, wide, some):
    """How many rows of the levels are not all zeros; the places of these in the order, as far as `some` has room."""
    m = 0
    for i in range(len(levels.e)):
        at = levels.order[i] * wide
        if dot(levels.rows, at, levels.rows, at, 0, wide) != 0.0:
            if m < len(some):
                some[m] = i
            m += 1
    return m


@kernel
def _inside(n, limits, x):
    """Whether x keeps its limits; not if it is no number."""
    for a in range(n):
        if not limits.low[a] <= x[a] <= limits.high[a]:
            return False
    wide = packs(x, n)
    for i in range(len(limits.most)):
        if not dot(limits.rows, i * wide, x, 0, 0, wide) <= limits.most[i]:
            return False
    return True


@kernel
def _add(scale, q, i, to, wide):
    """to += scale times the row at pack i."""
    for c in range(wide):
        store_pack(to, c, load_pack(to, c) + scale * load_pack(q, i + c))


@kernel
def _orthonormal(m, n, order, some, rows, q, lower):
    """J = L Q; False if a row depends on those before."""
    wide = packs(q, n)
    for i in range(m):
        for c in range(wide):
            store_pack(q, i * wide + c, load_pack(rows, order[whole(some[i])] * wide + c))
        lower[i * m + i] = dot(q, i * wide, q, i * wide, 0, wide)
    for i in range(m):
        square = dot(q, i * wide, q, i * wide, 0, wide)
        if not square > _CLEAR * lower[i * m + i]:
            return False
        length = sqrt(square)
        lower[i * m + i] = length
        scale = 1.0 / length
        for c in range(wide):
            store_pack(q, i * wide + c, load_pack(q, i * wide + c) * scale)
        for j in range(i + 1, m):
            lower[j * m + i] = reflect(q, j * wide, q, i * wide, 0, wide)
    return True


@kernel
def _choose(first, stop, levels, k, some, lower, matrix, z):
    """The entries of z from `first` to `stop`, those of level k, from those before."""
    size, m, square = stop - first, len(z), levels.squares[k]
    for i in range(first, stop):
        value = levels.e[levels.order[whole(some[i])]]
        for j in range(first):
            value = value - lower[i * m + j] * z[j]
        z[i] = value
    if square == 0.0:
        for i in range(first, stop):
            value = z[i]
            for j in range(first, i):
                value = value - lower[i * m + j] * z[j]
            z[i] = value / lower[i * m + i]
        return
    for i in range(size):
        for j in range(i + 1):
            value = square if i == j else 0.0
            for k in range(j + 1):
                value = value + lower[(first + i) * m + first + k] * lower[(first + j) * m + first + k]
            matrix[i * size + j] = value
    part = section(z, first, size)
    solve_symmetric(size, matrix, part)
    for k in range(first, stop):
        value = 0.0
        for i in range(k, stop):
            value = value + lower[i * m + k] * z[i]
        z[k] = value
