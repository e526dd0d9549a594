"""Distances between polytopes that a search finds: a box from a box, a hull from anything; one number wide."""

from poise.kernels.algebra.vectors import minus, plus, scaled, vector
from poise.kernels.collision.box_axes import widest_gap
from poise.kernels.collision.epa import EPA_ROOM, way_out
from poise.kernels.collision.gjk import FIRST, SECOND, nearest_points
from poise.kernels.collision.placing import ORIGIN
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.layout import HULL

HULL_ROOM = EPA_ROOM
"""Numbers that are worked in."""
_CLEAR = 0.1
"""How far [m] shapes are moved apart to see where they were deepest."""


@kernel
def polytopes(first, second, vertices, numbers):
    """Distance [m], nearest or deepest points and unit vector from the first to the second, whose frames are `numbers`.

    All is seen from the first's place, so that digits count where the shapes are.
    """
    origin = vector(numbers, FIRST + ORIGIN)
    for i in range(3):
        numbers[SECOND + ORIGIN + i] = numbers[SECOND + ORIGIN + i] - numbers[FIRST + ORIGIN + i]
        numbers[FIRST + ORIGIN + i] = 0.0
    # Across fifteen axes boxes are apart, or it is a shortest way out; hulls have too many.
    boxes = second.core != HULL
    gap, n = 0.0, vector(numbers, SECOND + ORIGIN)
    if boxes:
        gap, n = widest_gap(first.half, second.half, numbers)
    distance = 0.0
    if gap > 0.0 or not boxes:
        distance, p, q, along = nearest_points(first, second, vertices, numbers, n)
    if distance > 0.0 or distance != distance:
        return distance, plus(origin, p), plus(origin, q), along
    if not boxes:
        gap, n = way_out(first, second, vertices, numbers)
    p, q = _deepest(first, second, vertices, numbers, gap, n)
    return gap, plus(origin, p), plus(origin, q), n


@kernel
def _deepest(first, second, vertices, numbers, gap, n):
    """The deepest points of two polytopes whose shortest way out is along n.

    With the second moved out and farther, they are the nearest.
    """
    way = scaled(_CLEAR - gap, n)
    for i in range(3):
        numbers[SECOND + ORIGIN + i] = numbers[SECOND + ORIGIN + i] + way[i]
    _, p, q, _ = nearest_points(first, second, vertices, numbers, n)
    return p, minus(q, way)
