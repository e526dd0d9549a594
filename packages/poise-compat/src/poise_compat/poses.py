"""A pose as other libraries give it."""

import numpy as np

from poise import SE3
from poise.extending import ArrayLike, finite


def pose_of(name: str, matrix: ArrayLike) -> SE3:
    """A pose (4, 4), rounded to single precision or not; raises ShapeError, and ValueError for what is none."""
    if isinstance(matrix, np.ndarray) and matrix.dtype == np.float64 and matrix.shape == (4, 4):
        try:
            return SE3.from_matrix(matrix)
        except ValueError:
            pass
    return SE3.from_matrix(finite(name, matrix, 4, 4), orthonormalise=True)
