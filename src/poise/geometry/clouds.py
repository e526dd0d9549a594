"""Clouds of points, as a camera sees them."""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import with_holes
from poise.common.errors import InvalidValue, ShapeError
from poise.geometry.height_map import HeightMap
from poise.geometry.shapes import Core, Shape, checked_radius, single
from poise.kernels.collision.cloud import BALLS, HEAD, POINTS
from poise.kernels.collision.cloud_tree import GRID, ROW
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import CLOUD, WIDTH
from poise.spatial import BOUND, SE3, frozen

_NONE = frozen(np.zeros((0, 3)))
_POINT = frozen(np.zeros(3))
_UPRIGHT = SE3.identity()


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class PointCloud:
    """All points within `radius` [m] of some points, as a camera sees them; nothing, if there are none.

    It stands in a world, and no link carries it.  A tree over the points is all that it keeps, built when it is made:
    of 100,000 in some milliseconds.  So `world.replace(name, PointCloud(points, radius))` takes over each picture of a
    camera.

    >>> PointCloud([[0.4, 0, 0.1], [0.4, 0.1, float("nan")]], 0.01)
    PointCloud(1 point, radius 0.01 m)
    """

    radius: float
    """[m] At least half the distance of neighbours, so that nothing fits through between them."""
    pose: SE3
    """Its frame, from which the points are seen."""
    tree: Array
    """See `poise.kernels.collision.cloud`; read-only."""

    def __init__(self, points: ArrayLike, radius: float, *, pose: SE3 = _UPRIGHT) -> None:
        """`points` (n, 3) are seen from `pose` [m].  What is not finite or masked is a hole and left out: a NaN, or an
        infinite number as cameras write it for what is out of range; a picture of holes alone is a cloud of no points.

        Raises ShapeError or ValueError for what are no points, or too far away to compute with.
        """
        given = with_holes("points", points, "numbers of shape (n, 3)")
        if given.ndim != 2 or given.shape[1] != 3:
            raise ShapeError(f"points must have shape (n, 3), got {given.shape}")
        checked_radius(radius)
        vars(self).update(radius=radius, pose=single(pose), tree=_tree(given))

    @classmethod
    def of_tree(cls, tree: Array, radius: float, pose: SE3) -> "PointCloud":
        """The cloud of a tree that is there."""
        cloud = object.__new__(cls)
        tree.flags.writeable = False
        vars(cloud).update(radius=radius, pose=single(pose), tree=tree)
        return cloud

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointCloud) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return PointCloud.of_tree, (self.tree, self.radius, self.pose)

    def __repr__(self) -> str:
        return f"PointCloud({len(self):,} point{'s' * (len(self) != 1)}, radius {self.radius:g} m)"

    def __len__(self) -> int:
        """How many points there are, without the holes."""
        return len(self.points)

    @cached_property
    def points(self) -> Array:
        """(n, 3) the points without the holes, seen from `pose` [m], those that are near each other side by side."""
        inner = int(self.tree[0])
        leaves = self.tree[HEAD + -(-inner // WIDTH) * WIDTH + BALLS * inner :]
        points = leaves.reshape(-1, 3, WIDTH).swapaxes(1, 2).reshape(-1, 3)
        points = points[: int(self.tree[1])]
        return frozen(points[~np.isnan(points[:, 0])])

    @property
    def _numbers(self) -> tuple[bytes, bytes, float]:
        return (self.points + 0.0).tobytes(), (self.pose.array + 0.0).tobytes(), self.radius

    def at(self, pose: SE3) -> "PointCloud":
        """The same shape with its frame at `pose`."""
        return PointCloud.of_tree(self.tree, self.radius, pose)

    def placed(self, pose: SE3) -> "PointCloud":
        """The shape seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return self.at(single(pose) @ self.pose)

    @cached_property
    def core(self) -> Core:
        """It as the kernels take it."""
        return Core(CLOUD, self.pose, _POINT, self.radius, _NONE, math.inf, math.inf, self.tree)


Obstacle: TypeAlias = Shape | PointCloud | HeightMap
"""What may stand in a world."""


def _tree(points: Array) -> Array:
    """The tree over points (n, 3), but for those that are not finite, see `poise.kernels.collision.cloud`."""
    n = len(points)
    flat = points.reshape(-1) if points.flags.carray else np.array(points, order="C").ravel()
    places, order = np.empty((2, n), dtype=np.int64)
    slices, counts = np.empty(3 * ROW, dtype=np.int64), np.empty(1 << n.bit_length(), dtype=np.int64)
    found = prepare("collision.cloud_tree.sort_points")(flat, np.empty(GRID), slices, counts, places, order)
    if found < 0:
        known = np.where(np.isfinite(points).all(axis=1, keepdims=True), points, np.nan)
        if not np.array_equal(known, points, equal_nan=True):
            return _tree(known)
        raise InvalidValue("out-of-range", f"points[{-1 - found}] is {points[-1 - found].tolist()}; {BOUND}")
    sizes = [max(1, -(-found // WIDTH))]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // WIDTH))
    levels = np.cumsum([0, *sizes[::-1]])
    inner = int(levels[-2])
    tree = np.empty(HEAD + -(-inner // WIDTH) * WIDTH + BALLS * inner + POINTS * sizes[0])
    prepare("collision.cloud_tree.grow")(flat, order[:found], levels, tree, np.empty(WIDTH))
    tree.flags.writeable = False
    return tree
