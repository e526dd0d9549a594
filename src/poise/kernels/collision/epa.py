"""EPA: the penetration depth of polytopes that overlap, by an expanding polytope (van den Bergen 2001).

One number wide.  Within the set of all differences, a point of the second less one of the first, a polytope grows from
a tetrahedron wherever its boundary is nearest to the origin, until it has reached the set's own face there.  A face has
its distance from the origin with a sign, so the polytope need not hold the origin before it has grown.
"""

from poise.kernels.algebra.vectors import cross, dot, minus, opposite, scaled, vector
from poise.kernels.collision.directions import across
from poise.kernels.collision.gjk import CORNER, SIMPLEX, add_corner
from poise.kernels.collision.out_of_cylinder import refined
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import CYLINDER

_MOST = 96
"""Corners of the polytope."""
_FACE, _EDGE = 7, 2
"""Numbers of a face, its corners, its unit vector outwards and its distance from the origin [m], and of an edge."""
_FACES = SIMPLEX + _MOST * CORNER
_EDGES = _FACES + 2 * _MOST * _FACE
EPA_BUFFER = _EDGES + 2 * _MOST * _EDGE
"""Size of `numbers`."""
_FLAT = 1e-10
"""A set of differences that is no longer, wider or higher than this [m] has no extent there."""
_ENOUGH = 1e-13
"""A face that can grow by no more [m] is one of the set's own."""
_NEARLY = 1e-9
"""The same of a curved set, of which no face is its own; `refined` then finds the rest."""
_LEVEL = 1e-15
"""A corner sees the faces from which it stands out by more [m]."""
_FAR = 1e300


@kernel
def way_out(first, second, vertices, numbers):
    """The gap between two polytopes [m], negative where they overlap, and the unit vector that leads the second out."""
    full, n = _begin(first, second, vertices, numbers)
    if not full:
        return 0.0, n
    corners, faces, gap = 4, _tetrahedron(numbers), -_FAR
    curved = second.core == CYLINDER
    while True:
        at = _nearest_face(numbers, faces)
        n, height = vector(numbers, at + 3), numbers[at + 6]
        w = add_corner(first, second, vertices, numbers, SIMPLEX + corners * CORNER, n)
        reach = dot(n, w)
        # Along any n the depth is at most `reach`: the best bound so far is kept.
        if -reach > gap:
            gap, best = -reach, n
        if not reach - height > (_NEARLY if curved else _ENOUGH) or corners + 1 == _MOST:
            if curved:
                gap, best = refined(first, second, vertices, numbers, corners + 1, gap, best)
            return gap, opposite(best)
        faces = _grow(numbers, faces, corners)
        corners += 1


@kernel
def _begin(first, second, vertices, numbers):
    """Write a tetrahedron of differences as first four corners.

    Two of the corners are the ends of its longest extent along an axis, the third is the farthest off that edge, the
    fourth off that triangle.  Returns True and a vector, or where the set is flat False and a unit vector across it.
    """
    longest = -1.0
    for i in range(3):
        axis = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
        u = add_corner(first, second, vertices, numbers, SIMPLEX + 2 * CORNER, axis)
        v = add_corner(first, second, vertices, numbers, SIMPLEX + 3 * CORNER, opposite(axis))
        length = dot(minus(u, v), axis)
        if length > longest:
            longest = length
            _copy(numbers, 2, 0)
            _copy(numbers, 3, 1)
    if not longest > _FLAT:
        return False, (0.0, 0.0, 1.0)
    origin = vector(numbers, SIMPLEX)
    along = _unit(minus(vector(numbers, SIMPLEX + CORNER), origin))
    side = _unit(across(along))
    up = cross(along, side)
    farthest = -1.0
    for i in range(4):
        v = side if i < 2 else up
        w = minus(
            add_corner(first, second, vertices, numbers, SIMPLEX + 3 * CORNER, opposite(v) if i % 2 else v), origin
        )
        off = cross(along, w)
        size = sqrt(dot(off, off))
        if size > farthest:
            farthest, normal = size, off
            _copy(numbers, 3, 2)
    if not farthest > _FLAT:
        return False, side
    normal = _unit(normal)
    w = add_corner(first, second, vertices, numbers, SIMPLEX + 3 * CORNER, normal)
    if not dot(normal, minus(w, origin)) > _FLAT:
        w = add_corner(first, second, vertices, numbers, SIMPLEX + 3 * CORNER, opposite(normal))
        if not dot(normal, minus(origin, w)) > _FLAT:
            return False, normal
    return True, normal


@kernel
def _unit(v):
    return scaled(1.0 / sqrt(dot(v, v)), v)


@kernel
def _copy(numbers, source, target):
    """Copy a corner."""
    for i in range(CORNER):
        numbers[SIMPLEX + target * CORNER + i] = numbers[SIMPLEX + source * CORNER + i]


@kernel
def _tetrahedron(numbers):
    """Write the faces of the first four corners, each seen from without in the same turn; returns their number."""
    p, q = vector(numbers, SIMPLEX), vector(numbers, SIMPLEX + CORNER)
    r, s = vector(numbers, SIMPLEX + 2 * CORNER), vector(numbers, SIMPLEX + 3 * CORNER)
    i, j = (0, 1) if dot(cross(minus(q, p), minus(r, p)), minus(s, p)) < 0.0 else (1, 0)
    _write_face(numbers, 0, i, j, 2)
    _write_face(numbers, 1, j, i, 3)
    _write_face(numbers, 2, 2, j, 3)
    _write_face(numbers, 3, i, 2, 3)
    return 4


@kernel
def _write_face(numbers, face, i, j, k):
    """Write a face; one without extent is never the nearest, nor seen."""
    p = vector(numbers, SIMPLEX + i * CORNER)
    u, v = minus(vector(numbers, SIMPLEX + j * CORNER), p), minus(vector(numbers, SIMPLEX + k * CORNER), p)
    n = cross(u, v)
    size = dot(n, n)
    at = _FACES + face * _FACE
    numbers[at], numbers[at + 1], numbers[at + 2] = i, j, k
    if size > 1e-26 * dot(u, u) * dot(v, v):
        n = scaled(1.0 / sqrt(size), n)
        numbers[at + 6] = dot(n, p)
    else:
        n = (0.0, 0.0, 0.0)
        numbers[at + 6] = _FAR
    numbers[at + 3], numbers[at + 4], numbers[at + 5] = n


@kernel
def _nearest_face(numbers, faces):
    """Where the face with the least signed distance from the origin is."""
    best = _FACES
    for face in range(1, faces):
        at = _FACES + face * _FACE
        if numbers[at + 6] < numbers[best + 6]:
            best = at
    return best


@kernel
def _grow(numbers, faces, corner):
    """Replace the faces that a corner sees by those from it to their silhouette; returns how many there are."""
    w, edges, face = vector(numbers, SIMPLEX + corner * CORNER), 0, 0
    while face < faces:
        at = _FACES + face * _FACE
        if dot(vector(numbers, at + 3), w) - numbers[at + 6] > _LEVEL:
            for k in range(3):
                edges = _toggle(numbers, edges, numbers[at + k], numbers[at + (k + 1) % 3])
            faces -= 1
            for i in range(_FACE):
                numbers[at + i] = numbers[_FACES + faces * _FACE + i]
        else:
            face += 1
    for k in range(edges):
        if faces < 2 * _MOST:
            at = _EDGES + k * _EDGE
            _write_face(numbers, faces, int(numbers[at]), int(numbers[at + 1]), corner)
            faces += 1
    return faces


@kernel
def _toggle(numbers, edges, i, j):
    """Add an edge, or drop it if it is there the other way round, between seen faces; returns how many there are."""
    for k in range(edges):
        at = _EDGES + k * _EDGE
        if numbers[at] == j and numbers[at + 1] == i:
            last = _EDGES + (edges - 1) * _EDGE
            numbers[at], numbers[at + 1] = numbers[last], numbers[last + 1]
            return edges - 1
    if edges < 2 * _MOST:
        at = _EDGES + edges * _EDGE
        numbers[at], numbers[at + 1] = i, j
        edges += 1
    return edges
