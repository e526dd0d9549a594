"""Distances between polytopes that a search finds: a box from a box, a hull from anything; one number wide."""

import numpy as np

from poise.kernels.algebra.vectors import minus, plus, scaled, vector
from poise.kernels.collision.box_axes import widest_gap
from poise.kernels.collision.gjk import FIRST, GJK_ROOM, SECOND, nearest_points
from poise.kernels.collision.placing import ORIGIN
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import HULL

HULL_ROOM = GJK_ROOM


@kernel
def polytopes(first, second, vertices, numbers):
    """Distance [m], nearest or deepest points and unit vector from the first to the second, whose frames are `numbers`.

    All is seen from the first's place, so that digits count where the shapes are.
    """
    origin = vector(numbers, FIRST + ORIGIN)
    for i in range(3):
        numbers[SECOND + ORIGIN + i] = numbers[SECOND + ORIGIN + i] - numbers[FIRST + ORIGIN + i]
        numbers[FIRST + ORIGIN + i] = 0.0
    if second.core == HULL:
        nothing = (np.nan, np.nan, np.nan)
        return np.nan, nothing, nothing, nothing
    distance, p, q, n = _boxes(first, second, vertices, numbers)
    return distance, plus(origin, p), plus(origin, q), n


@kernel
def _boxes(first, second, vertices, numbers):
    """The same of two boxes: a search where they are apart, else the shortest of fifteen ways out."""
    gap, n = widest_gap(first.half, second.half, numbers)
    if gap > 0.0:
        distance, p, q, along, _ = nearest_points(first, second, vertices, numbers, n)
        if distance > 0.0:
            return distance, p, q, along
    # With the second moved out and farther, what was deepest is nearest.
    p, q = _moved_out(first, second, vertices, numbers, gap, n)
    return gap, p, q, n


@kernel
def _moved_out(first, second, vertices, numbers, gap, n):
    """The deepest points of two polytopes whose shortest way out is along n."""
    half, other = first.half, second.half
    margin = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2])
    margin = margin + sqrt(other[0] * other[0] + other[1] * other[1] + other[2] * other[2])
    way = scaled(margin - gap, n)
    for i in range(3):
        numbers[SECOND + ORIGIN + i] = numbers[SECOND + ORIGIN + i] + way[i]
    _, p, q, _, _ = nearest_points(first, second, vertices, numbers, n)
    return p, minus(q, way)
