"""The separating axis of two boxes with the widest gap; one number wide.

All differences of points of two boxes are a zonotope, whose faces lie across an edge of each or across a face of one:
fifteen axes tell whether it holds the origin, and how deep (Gottschalk, Lin and Manocha 1996).
"""

from poise.kernels.algebra.vectors import dot, minus, scaled, vector
from poise.kernels.collision.gjk import FIRST, SECOND
from poise.kernels.collision.placing import ORIGIN, X, Z
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt

_PARALLEL = 1e-24
_WORSE = 1e-13
"""Edges whose angle has this squared sine or less are parallel; by so much [m] a gap across two edges must be wider
than one across a face, or rounding would choose."""


@kernel
def axis(numbers, at, i):
    """The x, y or z axis of the frame at `at`."""
    return vector(numbers, at + Z if i == 2 else at + X + 3 * i)


@kernel
def widest_gap(half, other, numbers):
    """The widest gap between two boxes [m], negative where they overlap, and the unit vector across, to the second."""
    way = minus(vector(numbers, SECOND + ORIGIN), vector(numbers, FIRST + ORIGIN))
    best, n = -1e300, (0.0, 0.0, 1.0)
    for i in range(3):
        a, b = axis(numbers, FIRST, i), axis(numbers, SECOND, i)
        reach, other_reach = 0.0, 0.0
        for j in range(3):
            reach = reach + other[j] * abs(dot(a, axis(numbers, SECOND, j)))
            other_reach = other_reach + half[j] * abs(dot(b, axis(numbers, FIRST, j)))
        along = dot(way, a)
        gap = abs(along) - half[i] - reach
        if gap > best or gap != gap:
            best, n = gap, scaled(-1.0 if along < 0.0 else 1.0, a)
        along = dot(way, b)
        gap = abs(along) - other[i] - other_reach
        if gap > best or gap != gap:
            best, n = gap, scaled(-1.0 if along < 0.0 else 1.0, b)
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        a, a1, a2 = axis(numbers, FIRST, i), axis(numbers, FIRST, i1), axis(numbers, FIRST, i2)
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            b = axis(numbers, SECOND, j)
            r1, r2 = dot(a1, b), dot(a2, b)
            square = r1 * r1 + r2 * r2
            if square > _PARALLEL:
                # The unit vector along a x b, r1 a2 - r2 a1: reaches along it are true even where that is uncertain.
                per = 1.0 / sqrt(square)
                r1, r2 = r1 * per, r2 * per
                across = minus(scaled(r1, a2), scaled(r2, a1))
                along = dot(way, across)
                reach = half[i1] * abs(r2) + half[i2] * abs(r1)
                reach = reach + other[j1] * abs(dot(across, axis(numbers, SECOND, j1)))
                reach = reach + other[j2] * abs(dot(across, axis(numbers, SECOND, j2)))
                if abs(along) - reach > best + _WORSE:
                    best, n = abs(along) - reach, scaled(-1.0 if along < 0.0 else 1.0, across)
    return best, n
