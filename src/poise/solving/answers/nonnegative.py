"""Least squares whose unknowns are not negative, as forces of walls are (Lawson and Hanson 1974, chapter 23)."""

from typing import Final

import numpy as np

from poise.common.array import Array

_NOTHING: Final = 1e-10
"""Against the largest column times the right side, a slope that is rounding."""


def nonnegative(matrix: Array, right: Array) -> Array:
    """(n,) x >= 0 with the least |matrix x - right|, for a matrix (m, n)."""
    x = np.zeros(matrix.shape[1])
    held = np.ones(len(x), dtype=bool)
    least = _NOTHING * float(np.linalg.norm(matrix, axis=0).max(initial=0.0)) * float(np.linalg.norm(right))
    for _ in range(3 * len(x)):
        slope = np.where(held, matrix.T @ (right - matrix @ x), -np.inf)
        if float(slope.max(initial=-np.inf)) <= least:
            break
        held[int(slope.argmax())] = False
        while True:
            wanted = np.zeros(len(x))
            wanted[~held] = np.linalg.lstsq(matrix[:, ~held], right, rcond=None)[0]
            back = ~held & (wanted <= 0.0)
            if not back.any():
                break
            share = float(np.min(x[back] / np.maximum(x[back] - wanted[back], 1e-300)))
            x += share * (wanted - x)
            held |= ~held & (x <= 0.0)
            x[held] = 0.0
            if held.all():
                break
        x = np.where(held, 0.0, wanted)
    return x
