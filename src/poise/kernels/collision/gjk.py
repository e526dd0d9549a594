"""GJK: the nearest points of two convex cores that are apart (Gilbert, Johnson and Keerthi 1988).

One number wide.  The distance is that of the origin from the set of all differences, a point of the second less one of
the first (the Minkowski difference).  `numbers` begin with two packs of scratch, the frames of both and half the edges
of the first, where that is a column of a height map; then come the corners of a simplex in that set.
"""

import functools

import numpy as np

from poise.kernels.algebra.vectors import cross, dot, minus, opposite, plus, scaled, vector
from poise.kernels.collision.boxes import beyond
from poise.kernels.collision.cylinders import farthest_of_cylinder
from poise.kernels.collision.directions import NOTHING, ROUNDING, TOUCH, sign
from poise.kernels.collision.placing import ORIGIN, X, Y, Z, out_of, seen_along
from poise.kernels.collision.simplex import on_edge, on_tetrahedron, on_triangle
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, select, sqrt, store_pack, zeros
from poise.kernels.machine.layout import BOX, CYLINDER, FRAME, HEIGHTS, HULL, SEGMENT, WIDTH

FIRST, SECOND, COLUMN = 2 * WIDTH, 2 * WIDTH + FRAME, 2 * WIDTH + 2 * FRAME
SIMPLEX = COLUMN + 3
"""Where the frames of the first and of the second are, the half edges of a column, and the simplex; two packs come
before them."""
CORNER = 9
"""Numbers of a corner: the difference, and the points of the first and of the second."""
_WEIGHTS = SIMPLEX + 4 * CORNER
"""Where the barycentric weights of the corners are."""
GJK_BUFFER = _WEIGHTS + 4
"""Size of `numbers`."""
_MOST = 128
"""Steps; a search among few corners needs a dozen."""
_ENOUGH = 1e-30
"""A new corner must promise to lower the distance by more than the root of this, against the corner's length."""
_ENOUGH_AT_BOX = 1e-28
"""The same of the first look where a search begins at a box: of faces that lie along each other rounding would find
other corners, now these and now those."""
_LEVEL = 1.0 + 1e-13
"""A step may lengthen the squared distance by rounding: a turn of 1e-8 does not shorten it, but finds a new corner."""
_TILT = 1e-6
"""By how much of the way to the box's middle the way to a box is tilted: far more than rounding, and far less than
what parts corners that are not along a face."""
_NEAR = 1e-12
"""Squared distance [m^2] below which the normal of a triangle is known better than the vector to its nearest point."""


@kernel
def half_of(shape, numbers):
    """(3) half the edges of a box, or of the column of a height map that is looked at [m]."""
    return vector(numbers, COLUMN) if shape.core == HEIGHTS else (shape.half[0], shape.half[1], shape.half[2])


@functools.partial(kernel, inline=True)
def support(shape, vertices, numbers, at, v):
    """The support point of a core, whose frame is at `at`: its farthest along v."""
    p, z, core, half = vector(numbers, at + ORIGIN), vector(numbers, at + Z), shape.core, half_of(shape, numbers)
    if core == SEGMENT:
        return plus(p, scaled(half[2] if dot(z, v) >= 0.0 else -half[2], z))
    if core not in (BOX, HULL, CYLINDER, HEIGHTS):
        return p
    x, y = vector(numbers, at + X), vector(numbers, at + Y)
    a, b, c = dot(x, v), dot(y, v), dot(z, v)
    if core in (BOX, HEIGHTS):
        a = half[0] if a >= 0.0 else -half[0]
        b = half[1] if b >= 0.0 else -half[1]
        c = half[2] if c >= 0.0 else -half[2]
    elif core == CYLINDER:
        a, b, c = farthest_of_cylinder((a, b, c), half)
    else:
        a, b, c = _farthest(shape, vertices, numbers, (a, b, c))
    return _placed(numbers, at, (a, b, c))


@functools.partial(kernel, inline=True)
def _placed(numbers, at, v):
    """A point that the frame at `at` sees at v, in the world."""
    x, y, z = vector(numbers, at + X), vector(numbers, at + Y), vector(numbers, at + Z)
    return plus(plus(vector(numbers, at + ORIGIN), scaled(v[0], x)), plus(scaled(v[1], y), scaled(v[2], z)))


@functools.partial(kernel, inline=True)
def _is_box(shape):
    return shape.core == BOX or shape.core == HEIGHTS


@kernel
def _farthest(shape, vertices, numbers, v):
    """The vertex of a hull that lies farthest along v, both seen from its pose; the first of those that are as far.

    Most of a search is spent here, so eight are looked at side by side, and their pack's number alone is carried along.
    """
    most, where = zeros(vertices) - np.inf, zeros(vertices) + 3.0 * shape.first_pack
    for pack in range(3 * shape.first_pack, 3 * shape.last_pack, 3):
        x, y, z = load_pack(vertices, pack), load_pack(vertices, pack + 1), load_pack(vertices, pack + 2)
        along = v[0] * x + v[1] * y + v[2] * z
        more = along > most
        most, where = select(more, along, most), select(more, float(pack), where)
    store_pack(numbers, 0, most), store_pack(numbers, 1, where)
    best = 0
    for k in range(1, WIDTH):
        more = numbers[k] - numbers[best]
        if more > 0.0 or (more == 0.0 and numbers[WIDTH + k] < numbers[WIDTH + best]):
            best = k
    at = WIDTH * np.int64(numbers[WIDTH + best]) + best
    return vertices[at], vertices[at + WIDTH], vertices[at + 2 * WIDTH]


@kernel
def add_corner(first, second, vertices, numbers, at, v):
    """Write at `at` the support point of the differences along v, with its two points, and return it."""
    p, q = support(first, vertices, numbers, FIRST, opposite(v)), support(second, vertices, numbers, SECOND, v)
    return _put_corner(numbers, at, p, q)


@functools.partial(kernel, inline=True)
def _put_corner(numbers, at, p, q):
    """Write at `at` the difference of a point of the first and one of the second, and return it."""
    w = minus(q, p)
    for i in range(3):
        numbers[at + i], numbers[at + 3 + i], numbers[at + 6 + i] = w[i], p[i], q[i]
    return w


@kernel
def nearest_points(first, second, vertices, numbers, n, below):
    """Distance [m], nearest points and unit vector between two polytopes.

    The search begins along n, or at a box.  A distance of 0 says that they touch or overlap, NOTHING that it is not
    `below` that: a plane between them, across the way of the search, shows it soon.
    """
    most = max(below, 0.0) + ROUNDING
    count, square, v, enough = _begun(first, second, vertices, numbers, n)
    # v is the point of the simplex that is nearest to the origin; the set's support point against v bounds how much
    # nearer any point is: the search ends where that is nothing.
    for _ in range(_MOST):
        if count == 4 or square < TOUCH * TOUCH:
            return 0.0, _weighted(numbers, count, 3), _weighted(numbers, count, 6), n
        along = _direction(numbers, count, v, square)
        w = add_corner(first, second, vertices, numbers, SIMPLEX + count * CORNER, opposite(along))
        gap = dot(along, w)  # of the two planes across `along` that touch them, times its length
        if gap > 0.0 and gap * gap > most * most * dot(along, along):
            return NOTHING, v, v, n
        more, square, v = _nearer(numbers, count, square, v, enough, along, w)
        if more == 0:
            break
        count, enough = more, _ENOUGH
    distance, along = sqrt(square), _direction(numbers, count, v, square)
    n = scaled(1.0 / sqrt(dot(along, along)), along)
    return distance, _weighted(numbers, count, 3), _weighted(numbers, count, 6), n


@kernel
def bounds_between(first, second, vertices, numbers, n, low, high):
    """Bounds of the distance [m] of two polytopes, and the direction of the lower one.

    The search of `nearest_points` ends as soon as it is known whether the distance is below `low`, above `high` or
    between.
    """
    count, square, v, enough = _begun(first, second, vertices, numbers, n)
    for _ in range(_MOST):
        if count == 4 or square < TOUCH * TOUCH:
            return 0.0, 0.0, n
        along = _direction(numbers, count, v, square)
        w = add_corner(first, second, vertices, numbers, SIMPLEX + count * CORNER, opposite(along))
        length = sqrt(dot(along, along))
        lower, upper, n = dot(along, w) / length, sqrt(square), scaled(1.0 / length, along)
        if lower > high or upper < low or (lower >= low and upper <= high):
            return lower, upper, n
        more, square, v = _nearer(numbers, count, square, v, enough, along, w)
        if more == 0:
            break
        count, enough = more, _ENOUGH
    return sqrt(square), sqrt(square), n


@functools.partial(kernel, inline=True)
def _begun(first, second, vertices, numbers, n):
    """The simplex that a search begins with: how many corners it keeps, the square of its distance from the origin, its
    point there, and what a new corner must promise."""
    count = _begin(first, second, vertices, numbers, n)
    enough = _ENOUGH if count == 1 else _ENOUGH_AT_BOX
    square, a, b, c, d = _nearest_of(numbers, count)
    count = _keep(numbers, count, (a, b, c, d))
    return count, square, _weighted(numbers, count, 0), enough


@functools.partial(kernel, inline=True)
def _nearer(numbers, count, square, v, enough, along, w):
    """The step of a search: the same of the simplex with a new corner w, the farthest against `along`; 0 corners where
    that brings it no nearer."""
    gain = dot(along, minus(v, w))
    if gain <= 0.0 or gain * gain <= enough * dot(along, along) * dot(w, w) or _is_known(numbers, count, w):
        return 0, square, v
    size, a, b, c, d = _nearest_of(numbers, count + 1)
    # Rounding: not nearer, or the new corner has no weight.
    if not size <= square * _LEVEL or not (d if count == 3 else c if count == 2 else b) > 0.0:
        return 0, square, v
    count = _keep(numbers, count + 1, (a, b, c, d))
    return count, size, _weighted(numbers, count, 0)


@kernel
def _begin(first, second, vertices, numbers, n):
    """Write the first corners of the simplex; returns how many.

    Of a box they are those of its face, edge or corner that is nearest to the other's farthest point towards it: the
    corners of a wall are so far apart that a search would find one after the other.  Else there is one, along n.
    """
    if _is_box(second) and not (_is_box(first) and first.bound > second.bound):
        count = _begin_at_box(second, first, vertices, numbers, SECOND, FIRST)
    elif _is_box(first):
        count = _begin_at_box(first, second, vertices, numbers, FIRST, SECOND)
    else:
        count = 0
    if count == 0:
        add_corner(first, second, vertices, numbers, SIMPLEX, opposite(n))
        count = 1
    return count


@kernel
def _begin_at_box(box, other, vertices, numbers, at, other_at):
    """The same of a box and another core, whose frames are there; 0 where these may overlap."""
    axes, o = (vector(numbers, at + X), vector(numbers, at + Y), vector(numbers, at + Z)), vector(numbers, at + ORIGIN)
    half = half_of(box, numbers)
    way = minus(vector(numbers, other_at + ORIGIN), o)
    out = out_of(axes, beyond(seen_along(axes, way), half))
    if not dot(out, out) > 0.0:
        return 0
    # Of a face along that of the box rounding would choose the corner, each time another one.
    farthest = support(other, vertices, numbers, other_at, opposite(plus(out, scaled(_TILT, way))))
    c, count = seen_along(axes, minus(farthest, o)), 0
    if abs(c[0]) < half[0] and abs(c[1]) < half[1] and abs(c[2]) < half[2]:
        return 0
    corner = half[0] * sign(c[0]), half[1] * sign(c[1]), half[2] * sign(c[2])
    for i in range(-1, 3):  # the corner itself, and those at the other end of the edges beside the farthest point
        if i < 0 or abs(c[i]) < half[i]:
            x, y, z = -corner[0] if i == 0 else corner[0], -corner[1] if i == 1 else corner[1], (
                -corner[2] if i == 2 else corner[2]
            )  # fmt: skip
            q = _placed(numbers, at, (x, y, z))
            p, q = (farthest, q) if at == SECOND else (q, farthest)
            _put_corner(numbers, SIMPLEX + count * CORNER, p, q)
            count += 1
    return count


@functools.partial(kernel, inline=True)
def _direction(numbers, count, v, square):
    """The direction of v, the nearest point; for a triangle next to the origin its normal, for v is rounded there."""
    if count == 3 and square < _NEAR:
        w = vector(numbers, SIMPLEX)
        m = cross(minus(vector(numbers, SIMPLEX + CORNER), w), minus(vector(numbers, SIMPLEX + 2 * CORNER), w))
        if dot(m, m) > 0.0:
            return m if dot(m, v) > 0.0 else opposite(m)
    return v


@kernel
def _is_known(numbers, count, w):
    """Whether a corner is one of the simplex already."""
    for k in range(count):
        at = SIMPLEX + k * CORNER
        if w[0] == numbers[at] and w[1] == numbers[at + 1] and w[2] == numbers[at + 2]:
            return True
    return False


@functools.partial(kernel, inline=True)
def _nearest_of(numbers, count):
    """Squared distance of the simplex from the origin, and the weights of its corners."""
    p, q = vector(numbers, SIMPLEX), vector(numbers, SIMPLEX + CORNER)
    if count == 1:
        return dot(p, p), 1.0, 0.0, 0.0, 0.0
    if count == 2:
        size, a, b = on_edge(p, q)
        return size, a, b, 0.0, 0.0
    r = vector(numbers, SIMPLEX + 2 * CORNER)
    if count == 3:
        size, a, b, c = on_triangle(p, q, r)
        return size, a, b, c, 0.0
    return on_tetrahedron(p, q, r, vector(numbers, SIMPLEX + 3 * CORNER))


@functools.partial(kernel, inline=True)
def _keep(numbers, count, weights):
    """Keep the corners that have a weight; returns how many."""
    corners = 0
    for k in range(count):
        if weights[k] > 0.0:
            if corners < k:
                for i in range(CORNER):
                    numbers[SIMPLEX + corners * CORNER + i] = numbers[SIMPLEX + k * CORNER + i]
            numbers[_WEIGHTS + corners] = weights[k]
            corners += 1
    return corners


@functools.partial(kernel, inline=True)
def _weighted(numbers, count, i):
    """The weighted sum of the vectors that begin at number i of each corner."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(count):
        at, weight = SIMPLEX + k * CORNER + i, numbers[_WEIGHTS + k]
        x, y, z = x + weight * numbers[at], y + weight * numbers[at + 1], z + weight * numbers[at + 2]
    return x, y, z
