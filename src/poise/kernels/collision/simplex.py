"""The point of a simplex that is nearest to the origin; one number wide.

Each kernel gives the squared distance [m^2] and the weights of the corners.  A simplex without extent is as good as its
edges or faces.
"""

from poise.kernels.algebra.vectors import cross, dot, minus, plus, scaled
from poise.kernels.machine.jit import kernel

_THIN = 1e-12
"""Squared area, against the squared lengths of two edges, up to which rounding decides the weights of a triangle."""
_FLAT = 1e-24
"""Squared volume, against the squared lengths of three edges, up to which a tetrahedron counts as flat."""
_FAR = 1e300


@kernel
def on_edge(p, q):
    """Of the edge from p to q."""
    d = minus(q, p)
    size, along = dot(d, d), -dot(p, d)
    t = 0.0 if along <= 0.0 else 1.0 if along >= size else along / size
    x = plus(p, scaled(t, d))
    return dot(x, x), 1.0 - t, t


@kernel
def on_triangle(p, q, r):
    """Of a triangle: within it if the foot of the origin is, else on an edge that the foot is beyond.

    Of a thin one whatever is nearest, for rounding moves the foot along it.
    """
    u, v = minus(q, p), minus(r, p)
    n = cross(u, v)
    size = dot(n, n)
    # Barycentric coordinates of the foot of the origin, times |n|^2.
    i, j, k = dot(n, cross(q, r)), dot(n, cross(r, p)), dot(n, cross(p, q))
    thin = size <= _THIN * dot(u, u) * dot(v, v)
    best, a, b, c = _FAR, 0.0, 0.0, 0.0
    if i >= 0.0 and j >= 0.0 and k >= 0.0 and i + j + k > 0.0:
        per = 1.0 / (i + j + k)
        a, b, c = i * per, j * per, k * per
        if not thin:
            height = dot(n, p)
            return height * height / size, a, b, c
        foot = plus(plus(scaled(a, p), scaled(b, q)), scaled(c, r))
        best = dot(foot, foot)
    if thin or i < 0.0:
        square, y, z = on_edge(q, r)
        if square < best:
            best, a, b, c = square, 0.0, y, z
    if thin or j < 0.0:
        square, x, y = on_edge(r, p)
        if square < best:
            best, a, b, c = square, y, 0.0, x
    if thin or k < 0.0:
        square, x, y = on_edge(p, q)
        if square < best:
            best, a, b, c = square, x, y, 0.0
    return best, a, b, c


@kernel
def on_tetrahedron(p, q, r, s):
    """Of a tetrahedron: the origin itself if it is within, else on a face that the origin is beyond."""
    u, v, w = minus(p, s), minus(q, s), minus(r, s)
    volume = dot(u, cross(v, w))
    i, j, k = -dot(s, cross(v, w)), -dot(u, cross(s, w)), -dot(u, cross(v, s))
    if volume < 0.0:
        volume, i, j, k = -volume, -i, -j, -k
    rest = volume - i - j - k
    flat = volume * volume <= _FLAT * dot(u, u) * dot(v, v) * dot(w, w)
    if not flat and i > 0.0 and j > 0.0 and k > 0.0 and rest > 0.0:
        per = 1.0 / volume
        return 0.0, i * per, j * per, k * per, rest * per
    best, a, b, c, d = _FAR, 0.0, 0.0, 0.0, 0.0
    if flat or i <= 0.0:
        square, x, y, z = on_triangle(q, r, s)
        if square < best:
            best, a, b, c, d = square, 0.0, x, y, z
    if flat or j <= 0.0:
        square, x, y, z = on_triangle(p, r, s)
        if square < best:
            best, a, b, c, d = square, x, 0.0, y, z
    if flat or k <= 0.0:
        square, x, y, z = on_triangle(p, q, s)
        if square < best:
            best, a, b, c, d = square, x, y, 0.0, z
    if flat or rest <= 0.0:
        square, x, y, z = on_triangle(p, q, r)
        if square < best:
            best, a, b, c, d = square, x, y, z, 0.0
    return best, a, b, c, d
