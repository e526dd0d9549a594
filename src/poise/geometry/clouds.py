"""Clouds of points, as a camera sees them."""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, final

import numpy as np

from poise.cached import cached_property
from poise.checks import numbers
from poise.errors import ShapeError
from poise.geometry.shapes import Core, Shape, checked_radius, single
from poise.kernels.collision.cloud import BALLS, CLOUD, HEAD, POINTS
from poise.kernels.collision.cloud_tree import GRID, SLICES
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.lanes import workspace
from poise.kernels.machine.layout import WIDTH
from poise.spatial import BOUND, SE3, Array, ArrayLike, frozen

_NONE = frozen(np.zeros((0, 3)))
_POINT = frozen(np.zeros(3))


@final
@dataclass(frozen=True, eq=False)
class PointCloud:
    """All points within `radius` [m] of some points, as a camera sees them; nothing, if there are none.

    It stands in a world, and no link carries it.  A tree over the points is built once, when it is made: 100,000 take
    some milliseconds.  So `world.replace(name, PointCloud(points, radius))` takes over each picture of a camera.

    >>> PointCloud([[0.4, 0, 0.1], [0.4, 0.1, float("nan")]], 0.01)
    PointCloud(1 point, radius 0.01 m)
    """

    points: ArrayLike
    """(n, 3) seen from `pose` [m]; kept as a read-only array.  Points with a NaN, a camera's holes, are left out."""
    radius: float
    """[m] At least half the distance of neighbours, so that nothing fits through between them."""
    pose: SE3 = field(default=SE3.identity(), kw_only=True)
    """Its frame, from which the points are seen."""

    def __post_init__(self) -> None:
        points = numbers("points", self.points, "numbers of shape (n, 3)")
        if points.ndim != 2 or points.shape[1] != 3:
            raise ShapeError(f"points must have shape (n, 3), got {points.shape}")
        single(self.pose)
        checked_radius(self.radius)
        object.__setattr__(self, "points", frozen(points))
        vars(self)["_tree"] = _tree(points)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointCloud) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(PointCloud, pose=self.pose), (self.points, self.radius)

    def __repr__(self) -> str:
        return f"PointCloud({len(self):,} point{'s' * (len(self) != 1)}, radius {self.radius:g} m)"

    def __len__(self) -> int:
        """How many points there are, without the holes."""
        return int(vars(self)["_tree"][1])

    @property
    def seen(self) -> Array:
        """(m, 3) the points without the holes, seen from `pose` [m]."""
        points = np.asarray(self.points)
        return points[~np.isnan(points).any(axis=1)]

    @property
    def _numbers(self) -> tuple[bytes, bytes, float]:
        return (np.asarray(self.points) + 0.0).tobytes(), (self.pose.array + 0.0).tobytes(), self.radius

    def at(self, pose: SE3) -> "PointCloud":
        """The same shape with its frame at `pose`."""
        moved = object.__new__(PointCloud)  # whose tree is seen from the pose, and so the same
        vars(moved).update(points=self.points, radius=self.radius, pose=single(pose), _tree=vars(self)["_tree"])
        return moved

    def placed(self, pose: SE3) -> "PointCloud":
        """The shape seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return self.at(single(pose) @ self.pose)

    @cached_property
    def core(self) -> Core:
        """It as the kernels take it."""
        tree, _ = vars(self)["_tree"]
        return Core(CLOUD, self.pose, _POINT, self.radius, _NONE, math.inf, math.inf, tree)


Obstacle: TypeAlias = Shape | PointCloud
"""What may stand in a world."""


def _tree(points: Array) -> tuple[Array, int]:
    """The tree over points (n, 3) without a NaN, see `poise.kernels.collision.cloud`, and how many these are."""
    n = len(points)
    numbers = points.reshape(-1) if points.flags.carray else np.array(points, order="C").ravel()
    cells, order = np.empty((2, n), dtype=np.int64)
    slices, counts = np.empty(3 * SLICES, dtype=np.int64), np.empty(1 << n.bit_length(), dtype=np.int64)
    found = prepare("collision.cloud_tree.sort_points")(numbers, np.empty(GRID), slices, counts, cells, order)
    if found < 0:
        place = points[-1 - found].tolist()
        raise ValueError(f"points[{-1 - found}] is {place}; {BOUND}")
    sizes = [max(1, -(-found // WIDTH))]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // WIDTH))
    levels = np.cumsum([0, *sizes[::-1]])
    inner = int(levels[-2])
    tree = workspace(HEAD + -(-inner // WIDTH) * WIDTH + BALLS * inner + POINTS * sizes[0])
    prepare("collision.cloud_tree.grow")(numbers, order[:found], levels, tree, np.empty(WIDTH))
    return tree, found
