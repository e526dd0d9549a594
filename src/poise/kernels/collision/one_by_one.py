"""Distances between polytopes that a search finds: a box from a box, a hull from anything; one number wide."""

from poise.kernels.algebra.vectors import minus, plus, scaled, vector
from poise.kernels.collision.box_axes import widest_gap
from poise.kernels.collision.directions import NOTHING
from poise.kernels.collision.epa import EPA_BUFFER, way_out
from poise.kernels.collision.gjk import FIRST, GJK_BUFFER, SECOND, half_of, nearest_points
from poise.kernels.collision.placing import ORIGIN
from poise.kernels.collision.to_cylinder import nearest_to_cylinder
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.layout import BOX, CYLINDER

BOX_BUFFER, HULL_BUFFER = GJK_BUFFER, EPA_BUFFER
"""Numbers that are worked in, where both are boxes and where one is a hull."""
NEARLY = 1e-6
"""Nearer than this [m] the search may take an overlap between edges that are almost parallel for none."""
_CLEAR = 0.1
"""How far [m] shapes are moved apart, beyond touching, to find their deepest points as nearest ones."""


@kernel
def polytopes(first, second, vertices, numbers, below):
    """Distance [m], nearest or deepest points and unit vector from the first to the second, whose frames are `numbers`.

    NOTHING where the distance is not `below` that.  All is seen from the first's place, so that digits count where the
    shapes are.
    """
    origin = vector(numbers, FIRST + ORIGIN)
    for i in range(3):
        numbers[SECOND + ORIGIN + i] = numbers[SECOND + ORIGIN + i] - numbers[FIRST + ORIGIN + i]
        numbers[FIRST + ORIGIN + i] = 0.0
    distance, p, q, n = nearest_cores(first, second, vertices, numbers, vector(numbers, SECOND + ORIGIN), below)
    if not distance <= NEARLY:
        return distance, plus(origin, p), plus(origin, q), n
    # Touching or overlapping, it seems: the separating axes of boxes, or EPA, find the depth, or confirm the distance.
    if second.core == BOX:
        gap, out = widest_gap(half_of(first, numbers), second.half, numbers)
    else:
        gap, out = way_out(first, second, vertices, numbers)
    if distance > 0.0 and gap > 0.0:
        return distance, plus(origin, p), plus(origin, q), n
    p, q = _deepest(first, second, vertices, numbers, gap, out)
    if second.core == CYLINDER:  # whose way out is known no better than a curve can be come near
        q = plus(p, scaled(gap, out))
    return gap, plus(origin, p), plus(origin, q), out


@kernel
def nearest_cores(first, second, vertices, numbers, n, below):
    """Distance [m], nearest points and unit vector; 0 where they touch or overlap, NOTHING where it is not `below`.

    A search may begin along n.
    """
    if second.core == CYLINDER:
        return nearest_to_cylinder(first, second, vertices, numbers, below)
    return nearest_points(first, second, vertices, numbers, n, below)


@kernel
def _deepest(first, second, vertices, numbers, gap, n):
    """The deepest points of two polytopes whose shortest way out is along n.

    With the second moved out and farther, they are the nearest.
    """
    way = scaled(_CLEAR - gap, n)
    for i in range(3):
        numbers[SECOND + ORIGIN + i] = numbers[SECOND + ORIGIN + i] + way[i]
    _, p, q, _ = nearest_cores(first, second, vertices, numbers, n, NOTHING)
    return p, minus(q, way)
