"""Voxels: the cubes around the whole multiples of a length, among them those that a frame could come to."""

import math
from typing import Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite
from poise.common.errors import InvalidValue, ShapeError
from poise.solving.problem.reach_bound import ReachBound

_MOST: Final = 4e9
"""Bytes that a map may take."""
_EDGE: Final = 1e-9
"""Part of a voxel by which rounding may move a bound."""


def checked_bounds(bounds: ArrayLike | None) -> Array:
    """(2, 3) lower and upper corner of a box in the world [m]; infinite without `bounds`."""
    if bounds is None:
        return np.array([[-np.inf] * 3, [np.inf] * 3])
    if np.shape(bounds) != (2, 3):
        raise ShapeError(f"bounds must be two corners, ((x, y, z), (x, y, z)) [m], got shape {np.shape(bounds)}")
    box = finite("bounds", bounds, 2, 3)
    if (box[0] > box[1]).any():
        raise InvalidValue(
            "inconsistent", f"bounds begin at {box[0]} and end at {box[1]}; the lower corner must come first"
        )
    return box


def voxels(ball: ReachBound, grid: float, box: Array, bytes_each: int) -> Array:
    """(n, 3) centres of the voxels in the box that are within the ball, x slowest [m].

    Raises ValueError if nothing bounds them, if there are none, or if `bytes_each` of them are too many.
    """
    slack = 1e-6 + _EDGE * grid
    lower = np.maximum(box[0], ball.centre - ball.radius - slack)
    upper = np.minimum(box[1], ball.centre + ball.radius + slack)
    if not np.isfinite(upper - lower).all():
        raise InvalidValue(
            "no-limits", "nothing bounds where the frame can go, for it is on a slide without limits; give bounds"
        )
    first, last = np.ceil(lower / grid - _EDGE), np.floor(upper / grid + _EDGE)
    counts = np.maximum(last - first + 1.0, 0.0)
    count = float(np.prod(counts))
    if count > 1e6:
        count = min(count, 4.0 / 3.0 * math.pi * (ball.radius / grid) ** 3)
    if count * bytes_each > _MOST:
        enough = grid * (count * bytes_each / _MOST) ** (1.0 / 3.0)
        digit = 10.0 ** math.floor(math.log10(enough) - 1.0)
        raise InvalidValue(
            "too-many",
            f"grid={grid:g} makes about {count:.2g} voxels, whose map would take {count * bytes_each / 1e9:,.0f} GB; "
            f"grid={math.ceil(enough / digit) * digit:.2g} would do, or bounds around what matters",
        )
    axes = [np.arange(a, b + 1.0) * grid + 0.0 for a, b in zip(first, last, strict=True)]  # no negative zeros
    centres = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    centres = centres[np.linalg.norm(centres - ball.centre, axis=1) <= ball.radius + slack]
    if not len(centres):
        raise InvalidValue(
            "empty",
            f"no voxel's centre, a whole multiple of grid={grid:g} along each axis, is within the bounds and within "
            f"{ball.radius:.4g} m of {np.round(ball.centre, 4)}; widen the bounds or refine the grid",
        )
    return centres
