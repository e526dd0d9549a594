"""The penetration depth of a convex core in a cylinder, refined from where a search has come near; one number wide.

An expanding polytope comes near a curved face only by and by.  But where the way out is shortest one of few things is
outermost: a flat end of either, a corner, whose way leads off the axis, or an edge, against the side or against the
rim.  What these promise is measured as any gap is, and the widest wins.
"""

import numpy as np

from poise.kernels.algebra.vectors import cross, dot, minus, plus, scaled, vector
from poise.kernels.collision.cylinders import farthest_of_cylinder
from poise.kernels.collision.directions import TOUCH
from poise.kernels.collision.gjk import CORNER, FIRST, SECOND, SIMPLEX, add_corner
from poise.kernels.collision.placing import ORIGIN, X, Y, Z
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import CYLINDER

_MOST = 12
"""Steps along the rim; it takes a handful."""
_FAR = 0.3
"""The longest of them [rad]."""
_NOWHERE = np.inf


@kernel
def refined(first, second, vertices, numbers, corners, gap, n):
    """The widest gap of a core and a cylinder [m], negative where they overlap, and the unit vector into the first.

    `gap` and `n` are what EPA found, with so many corners; behind these is room for another.  Tried are the directions
    of the module: axes, and of the three outermost corners the ways off the axis and the edges between them.
    """
    axis, place, found = vector(numbers, SECOND + Z), vector(numbers, SECOND + ORIGIN), n
    spare = SIMPLEX + corners * CORNER
    gap, n = _wider_along(first, second, vertices, numbers, spare, axis, gap, n)
    if first.core == CYLINDER:
        own, z = vector(numbers, FIRST + ORIGIN), vector(numbers, FIRST + Z)
        gap, n = _wider_along(first, second, vertices, numbers, spare, z, gap, n)
        p, q = minus(own, scaled(first.half[2], z)), plus(own, scaled(first.half[2], z))
        r = p
    else:
        none = (_NOWHERE, _NOWHERE, _NOWHERE)
        p = _outermost(numbers, corners, found, none, none)
        q = _outermost(numbers, corners, found, p, none)
        r = _outermost(numbers, corners, found, p, q)
    for _ in range(3):
        way, edge = minus(p, place), minus(q, p)
        gap, n = _wider(first, second, vertices, numbers, spare, minus(way, scaled(dot(way, axis), axis)), gap, n)
        gap, n = _wider_along(first, second, vertices, numbers, spare, cross(edge, axis), gap, n)
        if first.core != CYLINDER and dot(edge, edge) > TOUCH * TOUCH:
            v = _against_rim(second.half, numbers, way, edge, found)
            gap, n = _wider(first, second, vertices, numbers, spare, v, gap, n)
        p, q, r = q, r, p
    return gap, n


@kernel
def _outermost(numbers, corners, n, p, q):
    """Of the points of the first in the corners, but p and q, the farthest against n; p if there is no other."""
    best, found = -np.inf, p
    for k in range(corners):
        v = vector(numbers, SIMPLEX + k * CORNER + 3)
        along = -dot(n, v)
        if along > best and not _are_one(v, p) and not _are_one(v, q):
            best, found = along, v
    return found


@kernel
def _are_one(p, q):
    return p[0] == q[0] and p[1] == q[1] and p[2] == q[2]


@kernel
def _wider_along(first, second, vertices, numbers, spare, v, gap, n):
    """The wider of a gap and those along v and against it."""
    gap, n = _wider(first, second, vertices, numbers, spare, v, gap, n)
    return _wider(first, second, vertices, numbers, spare, scaled(-1.0, v), gap, n)


@kernel
def _wider(first, second, vertices, numbers, spare, v, gap, n):
    """The wider of a gap and that along v, each with its unit vector; v may be 0."""
    square = dot(v, v)
    if square > TOUCH * TOUCH:
        v = scaled(1.0 / sqrt(square), v)
        reach = dot(v, add_corner(first, second, vertices, numbers, spare, v))
        if -reach > gap:
            return -reach, v
    return gap, n


@kernel
def _against_rim(half, numbers, way, edge, n):
    """The unit vector across an edge for which the gap to the rim is widest; Newton's steps from n.

    `way` leads from the cylinder's middle to a point of the edge.  With the angle about the edge the depth has n . d as
    its value, d being the way from that point to the rim's farthest, t . d as its derivative, t = e x n, and
    r e_z^2 / |n_xy|^3 - n . d as its second one.
    """
    x, y, z = vector(numbers, SECOND + X), vector(numbers, SECOND + Y), vector(numbers, SECOND + Z)
    e = scaled(1.0 / sqrt(dot(edge, edge)), edge)
    for _ in range(_MOST):
        n = minus(n, scaled(dot(n, e), e))
        size = sqrt(dot(n, n))
        if not size > TOUCH:
            break
        n = scaled(1.0 / size, n)
        a, b, c = dot(x, n), dot(y, n), dot(z, n)
        off = sqrt(a * a + b * b)
        if not off > TOUCH:
            break
        a, b, c = farthest_of_cylinder((a, b, c), half)
        d, t = minus(plus(plus(scaled(a, x), scaled(b, y)), scaled(c, z)), way), cross(e, n)
        along = dot(z, e)
        slope, bend = dot(t, d), half[0] * along * along / (off * off * off) - dot(n, d)
        if not bend > 0.0:
            break
        step = min(max(slope / bend, -_FAR), _FAR)
        n = minus(n, scaled(step, t))
        if not abs(step) > TOUCH:
            break
    return n
