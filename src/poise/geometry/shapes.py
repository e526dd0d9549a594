"""Shapes in space: spheres, capsules and boxes.

Each is a box with rounded edges, all points within a radius of a box, the core: that of a sphere is a point, that of a
capsule a segment, and a box is its own, with a radius of 0.  So one kernel measures the distance to all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from poise.errors import ShapeError
from poise.spatial import SE3, Array, aligning, finite, quaternion_matrix

Point: TypeAlias = Sequence[float] | Array


@final
@dataclass(frozen=True, slots=True)
class Sphere:
    """All points within `radius` [m] of `centre`; a point, if the radius is 0."""

    centre: Point
    """(3,) [m] in the world."""
    radius: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", _point("centre", self.centre))
        _radius(self.radius)

    @property
    def rounded(self) -> Array:
        """(16,) the core's rotation, row by row, its centre and half its edges [m], and the radius [m]."""
        return _rounded(np.eye(3), self.centre, np.zeros(3), self.radius)


@final
@dataclass(frozen=True, slots=True)
class Capsule:
    """All points within `radius` [m] of the segment from `start` to `end`."""

    start: Point
    """(3,) [m] in the world."""
    end: Point
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", _point("start", self.start))
        object.__setattr__(self, "end", _point("end", self.end))
        _radius(self.radius)

    @property
    def rounded(self) -> Array:
        """(16,) the core's rotation, row by row, its centre and half its edges [m], and the radius [m]."""
        start, end = np.array(self.start), np.array(self.end)
        length = float(np.linalg.norm(end - start))
        x, y, z = (end - start) / length if length > 0.0 else (0.0, 0.0, 1.0)
        rotation = quaternion_matrix(aligning((x, y, z)))
        return _rounded(rotation, 0.5 * (start + end), np.array([0.0, 0.0, 0.5 * length]), self.radius)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A box with its centre and its edges' directions at `pose`."""

    pose: SE3
    """In the world."""
    size: Point
    """(3,) whole lengths of the edges along the x, y and z axes of `pose` [m]."""

    def __post_init__(self) -> None:
        if not isinstance(self.pose, SE3) or self.pose.array.ndim != 1:
            raise TypeError(f"pose must be one SE3, the middle of the box and its directions, got {self.pose!r}")
        object.__setattr__(self, "size", _point("size", self.size))
        for i, edge in enumerate(self.size):
            if edge < 0.0:
                raise ValueError(f"size[{i}] is {edge}; the length of an edge must be 0 or more")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    @property
    def _numbers(self) -> tuple[float, ...]:
        return (*self.pose.array.tolist(), *self.size)

    @property
    def rounded(self) -> Array:
        """(16,) the core's rotation, row by row, its centre and half its edges [m], and the radius [m]."""
        return _rounded(self.pose.rotation.matrix(), self.pose.xyz, 0.5 * np.array(self.size), 0.0)


Shape: TypeAlias = Sphere | Capsule | Box


def _rounded(rotation: Array, centre: Point, half: Array, radius: float) -> Array:
    return np.concatenate([rotation.ravel(), centre, half, [radius]])


def _point(name: str, value: Point) -> tuple[float, ...]:
    array = finite(name, value, 3)
    if array.ndim > 1:
        raise ShapeError(f"{name} must have shape (3,), got {array.shape}")
    return tuple(array.tolist())


def _radius(value: float) -> None:
    """Raises ValueError unless `value` is a finite number of 0 or more."""
    number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    if not number or not 0.0 <= value < math.inf:
        raise ValueError(f"radius is {value!r}; it must be a finite number, 0 or more [m]")
