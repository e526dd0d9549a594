"""mink's helpers of motions."""

from typing import Any, Final

import numpy as np

from poise.extending import Array, ArrayLike

_EPSILON: Final = {"float32": 1e-5, "float64": 1e-10}


def skew(x: ArrayLike) -> Array:
    """(3, 3) the cross product with x (3,)."""
    a, b, c = np.asarray(x, dtype=np.float64).tolist()
    return np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])


def get_epsilon(dtype: Any) -> float:
    """What counts as 0 in numbers of single or of double precision; raises KeyError for other numbers."""
    return _EPSILON[np.dtype(dtype).name]
