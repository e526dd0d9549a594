"""Cubic splines through points, as pieces: knots, and four coefficients of x - knot for each piece.

Both solve for s, a sixth of the second derivatives at the knots: between them h_(i-1) s_(i-1) + 2 (h_(i-1) + h_i) s_i +
h_i s_(i+1) is the change of the slope of the chords, h their lengths.  They differ in what they say of the ends.
"""

import numpy as np

from poise.common.array import Array


def natural_cubic(x: Array, y: Array) -> Array:
    """(n - 1, 4) coefficients of the natural spline through n points: it does not bend at its ends."""
    h, matrix, right = _interior(x, y)
    matrix[0, 0] = matrix[-1, -1] = 1.0
    return _coefficients(h, y, matrix, right)


def simm_cubic(x: Array, y: Array) -> Array:
    """(n - 1, 4) coefficients of the spline whose third derivative at either end is that of the cubic through the four
    points there (Forsythe, Malcolm and Moler 1977, section 4.4), as SIMM and OpenSim have it.

    Three points give a parabola, two a line.
    """
    h, matrix, right = _interior(x, y)
    if len(x) > 2:
        third = np.array(y)
        for order in (1, 2, 3):  # divided differences
            third = np.diff(third) / (x[order:] - x[:-order]) if len(third) > 1 else np.zeros(1)
        matrix[0, :2] = -h[0], h[0]
        matrix[-1, -2:] = h[-1], -h[-1]
        right[0], right[-1] = h[0] ** 2 * third[0], -(h[-1] ** 2) * third[-1]
    else:
        matrix[0, 0] = matrix[-1, -1] = 1.0
    return _coefficients(h, y, matrix, right)


def _interior(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """(n - 1,) lengths; the equations of all knots but the ends: a matrix (n, n) and its right side (n,)."""
    h, count = np.diff(x), len(x)
    matrix, right = np.zeros((count, count)), np.zeros(count)
    inner = np.arange(1, count - 1)
    matrix[inner, inner - 1], matrix[inner, inner], matrix[inner, inner + 1] = h[:-1], 2.0 * (h[:-1] + h[1:]), h[1:]
    right[1:-1] = np.diff(np.diff(y) / h)
    return h, matrix, right


def _coefficients(h: Array, y: Array, matrix: Array, right: Array) -> Array:
    s = np.linalg.solve(matrix, right)
    slope = np.diff(y) / h - h * (s[1:] + 2.0 * s[:-1])
    return np.column_stack([y[:-1], slope, 3.0 * s[:-1], np.diff(s) / h])
