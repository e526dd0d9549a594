"""A segment through points and how far they are from it: a capsule that bounds them, quick to measure distances to."""

import math

import numpy as np

from poise.common.array import Array


def spine(points: Array) -> tuple[Array, Array]:
    """The middle (3,) [m] and the direction (3,) of the axis of a small capsule around points (n, 3).

    It is the best of the principal axes of the points.
    """
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    offsets = points - middle
    axes = np.linalg.eigh(offsets.T @ offsets)[1].T
    best, found = math.inf, (middle, axes[2])
    for k in range(3):
        along, across = offsets @ axes[k], offsets @ np.delete(axes, k, axis=0).T
        centre = 0.5 * (across.min(axis=0) + across.max(axis=0))
        place = np.column_stack([across - centre, along])
        low, high, girth = _ends(place)
        size = girth**2 * (high - low + 4.0 / 3.0 * girth)
        if size < best:
            best = size
            found = middle + centre @ np.delete(axes, k, axis=0) + 0.5 * (low + high) * axes[k], axes[k]
    return found


def around(points: Array) -> tuple[float, float]:
    """Half the length of a segment along z, about 0, and how far points (n, 3) are from it at most [m]."""
    low, high, girth = _ends(points)
    half = max(high, -low, 0.0)
    return half, girth


def _ends(points: Array) -> tuple[float, float, float]:
    """From where to where along z a segment goes from which points (n, 3) are no farther than from the axis [m]."""
    squares = points[:, 0] ** 2 + points[:, 1] ** 2
    girth = math.sqrt(squares.max())
    caps = np.sqrt(squares.max() - squares)
    low, high = float((points[:, 2] + caps).min()), float((points[:, 2] - caps).max())
    return (low, high, girth) if low < high else (0.5 * (low + high), 0.5 * (low + high), girth)
