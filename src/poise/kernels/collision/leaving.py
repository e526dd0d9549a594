"""How far a convex core must go along a direction to leave another that it overlaps; one number wide.

By portals (Snethen 2008, XenoCollide).

The differences of the two, a point of the second less one of the first, are a convex set that holds the origin.  A
portal is a triangle of its points that a ray from the origin passes.  A point beyond it makes a portal farther out with
one of its edges, until there is none.
"""

from poise.kernels.algebra.vectors import cross, dot, minus, opposite, plus, scaled, vector
from poise.kernels.collision.gjk import CORNER, SIMPLEX, add_corner
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt

_MOST = 64
"""Portals; among few corners a handful are enough."""
_ENOUGH = 1e-13
"""A portal beyond which nothing lies farther [m] is in the boundary."""
_ALONG = 1e-24
"""Against the squared length of a point, the square of how far off the ray it is that counts as none."""


@kernel
def way_along(first, second, vertices, numbers, d):
    """How far [m] the second must go along the unit vector d to leave the first, and its point that leaves last.

    0 where they do not overlap, and nothing of the first lies ahead.
    """
    u = opposite(d)
    v = add_corner(first, second, vertices, numbers, SIMPLEX, u)
    side = cross(u, v)
    if dot(side, side) <= _ALONG * dot(v, v):
        return max(dot(u, v), 0.0), vector(numbers, SIMPLEX + 6)
    if not _find_portal(first, second, vertices, numbers, u, side):
        return 0.0, vector(numbers, SIMPLEX + 6)
    # Replace the corner of the portal that the ray does not need with the support point beyond it.
    for step in range(_MOST):
        a, b, c = _corner(numbers, 0), _corner(numbers, 1), _corner(numbers, 2)
        n = cross(minus(b, a), minus(c, a))
        w = add_corner(first, second, vertices, numbers, SIMPLEX + 3 * CORNER, n)
        if not dot(n, minus(w, a)) > _ENOUGH * sqrt(dot(n, n)) or step + 1 == _MOST:
            break
        i, j, k = dot(cross(a, w), u), dot(cross(b, w), u), dot(cross(c, w), u)
        _put_last(numbers, 2 if i <= 0.0 and j >= 0.0 else 0 if j <= 0.0 and k >= 0.0 else 1)
    # Where the ray passes the last portal, in barycentric coordinates.
    i, j, k = dot(cross(b, c), u), dot(cross(c, a), u), dot(cross(a, b), u)
    p, q, r = _own(numbers, 0), _own(numbers, 1), _own(numbers, 2)
    per = 1.0 / (i + j + k)
    return per * dot(n, a), scaled(per, plus(plus(scaled(i, p), scaled(j, q)), scaled(k, r)))


@kernel
def _find_portal(first, second, vertices, numbers, u, side):
    """Write three points in whose cone the ray along u lies; whether there are any.

    The first is that farthest along u, and `side` is across it and u.
    """
    v = add_corner(first, second, vertices, numbers, SIMPLEX + CORNER, side)
    if not dot(v, side) > 0.0:
        return False
    for _ in range(_MOST):
        a, b = _corner(numbers, 0), _corner(numbers, 1)
        n = cross(a, b)
        w = add_corner(first, second, vertices, numbers, SIMPLEX + 3 * CORNER, n)
        if not dot(w, n) > 0.0:
            return False
        if dot(cross(a, w), u) > 0.0:
            _put_last(numbers, 1)
        elif dot(cross(w, b), u) > 0.0:
            _put_last(numbers, 0)
        else:
            _put_last(numbers, 2)
            return True
    return False


@kernel
def _corner(numbers, k):
    return vector(numbers, SIMPLEX + k * CORNER)


@kernel
def _own(numbers, k):
    """The point of the second in a corner."""
    return vector(numbers, SIMPLEX + k * CORNER + 6)


@kernel
def _put_last(numbers, k):
    """Put the fourth corner in the place of another."""
    for i in range(CORNER):
        numbers[SIMPLEX + k * CORNER + i] = numbers[SIMPLEX + 3 * CORNER + i]
