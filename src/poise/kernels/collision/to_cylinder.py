"""The nearest points of a convex core and a cylinder that are apart; one number wide.

As in `gjk` beside this a simplex of points of the first comes nearer and nearer, but the cylinder stays whole: it is
curved, and a search among its points would never end.  So the distance of the simplex is that of a point, an edge or
a triangle, which are known in closed form but for an edge that passes the rim.  All is seen from the cylinder.
"""

import functools

from poise.kernels.algebra.vectors import cross, dot, minus, opposite, plus, scaled, vector
from poise.kernels.collision.cylinders import farthest_of_cylinder, point_cylinder, segment_cylinder
from poise.kernels.collision.directions import NOTHING, ROUNDING, TOUCH
from poise.kernels.collision.gjk import FIRST, SECOND, SIMPLEX, support
from poise.kernels.collision.placing import ORIGIN, X, Y, Z, out_of, seen_along
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt

_SEEN = SIMPLEX + 12
"""Where the frame of the first in the cylinder's frame is; three corners, and a new one, come before it."""
_MOST = 64
"""Steps; among few corners a handful are enough."""
_ENOUGH = 1e-15
"""A new corner must promise to lower the distance by more than this, against distance and corner."""
_THIN = 1e-20
"""Squared area, against the squared lengths of two edges, up to which rounding decides the normal of a triangle."""


@kernel
def nearest_to_cylinder(first, second, vertices, numbers, below):
    """Distance [m], nearest points and unit vector from the first to the second, which is a cylinder.

    A distance of 0 says that they touch or overlap, NOTHING that it is not `below` that.
    """
    most = max(below, 0.0) + ROUNDING
    axes = vector(numbers, SECOND + X), vector(numbers, SECOND + Y), vector(numbers, SECOND + Z)
    origin, half = vector(numbers, SECOND + ORIGIN), second.half
    for row in (Z, X, Y):
        _put(numbers, _SEEN + row, seen_along(axes, vector(numbers, FIRST + row)))
    o = seen_along(axes, minus(vector(numbers, FIRST + ORIGIN), origin))
    _put(numbers, _SEEN + ORIGIN, o)
    _put(numbers, SIMPLEX, support(first, vertices, numbers, _SEEN, opposite(o)))
    count = 1
    distance, p, n = point_cylinder(vector(numbers, SIMPLEX), half)
    for _ in range(_MOST):
        if not distance > TOUCH:
            break
        w = support(first, vertices, numbers, _SEEN, opposite(n))
        gain = dot(n, minus(p, w))
        if distance - gain > most:  # so far apart are the planes across n that touch them
            return NOTHING, p, p, n
        if not gain > _ENOUGH * (distance + sqrt(dot(w, w))):
            break
        _put(numbers, SIMPLEX + 3 * count, w)
        mask, nearer, foot, out = _with_last(numbers, count, half)
        if not nearer < distance:
            break
        distance, p, n = nearer, foot, out
        count = _keep(numbers, count, mask)
    q = minus(p, scaled(distance, n))
    out = opposite(out_of(axes, n))
    p, q = plus(origin, out_of(axes, p)), plus(origin, out_of(axes, q))
    return 0.0 if distance <= TOUCH else distance, p, q, out


@kernel
def _with_last(numbers, count, half):
    """Which corners of `count` besides the last are next to the cylinder's nearest point, as bits; the distance of the
    simplex of all of them, its nearest point, and the unit vector away from the cylinder; 0 where it overlaps."""
    w = vector(numbers, SIMPLEX + 3 * count)
    mask = 0
    distance, p, n = point_cylinder(w, half)
    if not distance > 0.0:
        return mask, 0.0, p, n
    beginning = n
    for k in range(count):
        d = minus(vector(numbers, SIMPLEX + 3 * k), w)
        if dot(beginning, d) < 0.0:
            reach, foot, out = _edge(w, d, half)
            if reach < distance:
                mask, distance, p, n = 1 << k, reach, foot, out
    for k in range(count):
        i, j = k, (k + 1) % count
        if i != j and (count == 3 or k == 0):
            u, v = vector(numbers, SIMPLEX + 3 * i), vector(numbers, SIMPLEX + 3 * j)
            within, reach, foot, out = _triangle(u, v, w, half)
            if within and reach < distance:
                mask, distance, p, n = 1 << i | 1 << j, reach, foot, out
    if count == 3 and distance > 0.0:
        q = minus(p, scaled(distance, n))
        if _is_within(numbers, q):
            distance = 0.0
    return mask, distance, p, n


@functools.partial(kernel, inline=True)
def _edge(w, d, half):
    """The distance of the edge from w to w + d, its nearest point and the unit vector from the cylinder."""
    length = sqrt(dot(d, d))
    return segment_cylinder(plus(w, scaled(0.5, d)), scaled(1.0 / length, d), 0.5 * length, half)


@kernel
def _triangle(u, v, w, half):
    """Of a triangle: whether its nearest point is within it, then the distance, that point and the unit vector."""
    a, b = minus(u, w), minus(v, w)
    m = cross(a, b)
    size = dot(m, m)
    if not size > _THIN * dot(a, a) * dot(b, b):
        return False, 0.0, w, m
    m = scaled(1.0 / sqrt(size), m)
    low, high = farthest_of_cylinder(opposite(m), half), farthest_of_cylinder(m, half)
    below, above = dot(m, minus(low, w)), dot(m, minus(high, w))
    if below > 0.0:
        distance, n, p = below, opposite(m), minus(low, scaled(below, m))
    elif above < 0.0:
        distance, n, p = -above, m, minus(high, scaled(above, m))
    else:
        t = above / (above - below) if above > below else 0.0
        distance, n, p = 0.0, m, plus(high, scaled(t, minus(low, high)))
    r = minus(p, w)
    i, j = dot(m, cross(r, b)), dot(m, cross(a, r))
    return i >= 0.0 and j >= 0.0 and i + j <= sqrt(size), distance, p, n


@kernel
def _is_within(numbers, q):
    """Whether a point is in the tetrahedron of four corners."""
    s = vector(numbers, SIMPLEX + 9)
    u, v, w = (
        minus(vector(numbers, SIMPLEX), s),
        minus(vector(numbers, SIMPLEX + 3), s),
        minus(vector(numbers, SIMPLEX + 6), s),
    )
    r = minus(q, s)
    volume = dot(u, cross(v, w))
    i, j, k = dot(r, cross(v, w)), dot(u, cross(r, w)), dot(u, cross(v, r))
    if volume < 0.0:
        volume, i, j, k = -volume, -i, -j, -k
    return i > 0.0 and j > 0.0 and k > 0.0 and i + j + k < volume


@kernel
def _keep(numbers, count, mask):
    """Keep the corners with these bits, and the last; returns how many."""
    corners = 0
    for k in range(count):
        if mask >> k & 1:
            _put(numbers, SIMPLEX + 3 * corners, vector(numbers, SIMPLEX + 3 * k))
            corners += 1
    _put(numbers, SIMPLEX + 3 * corners, vector(numbers, SIMPLEX + 3 * count))
    return corners + 1


@kernel
def _put(numbers, at, v):
    numbers[at], numbers[at + 1], numbers[at + 2] = v
