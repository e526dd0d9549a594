"""Shapes in space: spheres, capsules, cylinders, boxes, half-spaces and convex hulls.

Each is all points within a radius of its core: a point, a segment, a cylinder, a box, a half-space or the convex hull
of vertices.  A shape says its own place, in the world, or in the frame of a link that it belongs to.  It has a frame of
its own, its `pose`, by which it can be moved.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import finite, not_negative
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.geometry.hull import hull_faces
from poise.geometry.spine import around, spine
from poise.kernels.machine.layout import BOX, CYLINDER, HALF_SPACE, HULL, POINT, SEGMENT
from poise.quaternions import aligning
from poise.spatial import BOUND, LARGEST, SE3, frozen, pose_of

Point: TypeAlias = Sequence[float] | Array
_NONE = frozen(np.zeros((0, 3)))
_POINT = frozen(np.zeros(3))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """A shape as the kernels take it, see `SHAPE` in `poise.kernels.machine.layout`."""

    kind: int
    """POINT, SEGMENT, BOX, HALF_SPACE, HULL, CYLINDER or CLOUD."""
    pose: SE3
    """Where the core is: a segment and the axis of a cylinder lie along z, a half-space is all below z = 0."""
    half: Array
    """(3,) half the edges of a box; the radius of a cylinder, twice, and half its length; half the length of a segment
    or of a hull's spine along z; else 0 [m]."""
    radius: float
    """[m]"""
    vertices: Array
    """(n, 3) of a hull, seen from the pose [m]; none of the others."""
    bound: float
    """The radius of a sphere around the place of `pose` that holds the shape [m]; infinite for a half-space or a
    cloud."""
    girth: float
    """All of a segment, a hull or a cylinder is no farther than this from the segment along z [m]; of others, from
    their place."""
    tree: Array | None = None
    """Of a cloud of points, see `poise.kernels.collision.cloud`; none of the others."""

    @property
    def rounded(self) -> Array:
        """(16,) of a point, a segment or a box: the rotation, row by row, the centre, half the edges and the radius."""
        return np.concatenate([self.pose.rotation.matrix().ravel(), self.pose.xyz, self.half, [self.radius]])


@final
@dataclass(frozen=True)
class Sphere:
    """All points within `radius` [m] of `centre`; a point, if the radius is 0."""

    centre: Point
    """(3,) [m]"""
    radius: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", checked_point("centre", self.centre))
        checked_radius(self.radius)

    @property
    def pose(self) -> SE3:
        """Its frame: at the centre."""
        return _upright(self.centre)

    def at(self, pose: SE3) -> "Sphere":
        """The same shape with its frame at `pose`."""
        return Sphere(single(pose).xyz, self.radius)

    def placed(self, pose: SE3) -> "Sphere":
        """The shape seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return self.at(single(pose) @ self.pose)

    @cached_property
    def core(self) -> Core:
        """It as the kernels take it."""
        return Core(POINT, self.pose, _POINT, self.radius, _NONE, self.radius, self.radius)


@final
@dataclass(frozen=True)
class Capsule:
    """All points within `radius` [m] of the segment from `start` to `end`; a sphere, if those are one point."""

    start: Point
    """(3,) [m]"""
    end: Point
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", checked_point("start", self.start))
        object.__setattr__(self, "end", checked_point("end", self.end))
        checked_radius(self.radius)

    @property
    def length(self) -> float:
        """From `start` to `end` [m]; what is round at the ends comes to it."""
        return math.dist(self.start, self.end)

    @property
    def pose(self) -> SE3:
        """Its frame: halfway, z from `start` to `end`."""
        start, end = np.array(self.start), np.array(self.end)
        return _along(0.5 * (start + end), end - start)

    def at(self, pose: SE3) -> "Capsule":
        """The same shape with its frame at `pose`."""
        end = np.array([0.0, 0.0, 0.5 * self.length])
        return Capsule(single(pose).act(-end), pose.act(end), self.radius)

    def placed(self, pose: SE3) -> "Capsule":
        """The shape seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return Capsule(single(pose).act(self.start), pose.act(self.end), self.radius)

    @cached_property
    def core(self) -> Core:
        """It as the kernels take it."""
        half = 0.5 * self.length
        return Core(SEGMENT, self.pose, np.array([0.0, 0.0, half]), self.radius, _NONE, half + self.radius, self.radius)


@final
@dataclass(frozen=True, eq=False)
class Cylinder:
    """A cylinder about z of `pose`, with flat ends; a disc, if its length is 0, and a line, if its radius is.

    >>> Cylinder(SE3.from_parts((0.5, 0, 0.4)), 0.04, 0.8).length
    0.8
    """

    pose: SE3
    """Its frame: in the middle, z along the axis."""
    radius: float
    """[m]"""
    length: float
    """From one flat end to the other [m]."""

    def __post_init__(self) -> None:
        if not isinstance(self.pose, SE3) or self.pose.array.ndim != 1:
            raise InvalidType(
                "not-a-pose", f"pose must be one SE3, the middle of the cylinder and its axis as z, got {self.pose!r}"
            )
        _refuse_far("pose", self.pose.xyz)
        checked_size("radius", self.radius)
        checked_size("length", self.length)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cylinder) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    @property
    def _numbers(self) -> tuple[float, ...]:
        return (*self.pose.array.tolist(), self.radius, self.length)

    def at(self, pose: SE3) -> "Cylinder":
        """The same shape with its frame at `pose`."""
        return Cylinder(single(pose), self.radius, self.length)

    def placed(self, pose: SE3) -> "Cylinder":
        """The shape seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return self.at(single(pose) @ self.pose)

    @cached_property
    def core(self) -> Core:
        """It as the kernels take it."""
        half = np.array([self.radius, self.radius, 0.5 * self.length])
        return Core(CYLINDER, self.pose, half, 0.0, _NONE, math.hypot(self.radius, half[2]), self.radius)


@final
@dataclass(frozen=True, eq=False)
class Box:
    """A box with its centre and its edges' directions at `pose`; a plate, if an edge is 0."""

    pose: SE3
    """Its frame: in the middle, along the edges."""
    size: Point
    """(3,) whole lengths of the edges along the x, y and z axes of `pose` [m]."""

    def __post_init__(self) -> None:
        if not isinstance(self.pose, SE3) or self.pose.array.ndim != 1:
            raise InvalidType(
                "not-a-pose", f"pose must be one SE3, the middle of the box and its directions, got {self.pose!r}"
            )
        _refuse_far("pose", self.pose.xyz)
        object.__setattr__(self, "size", checked_point("size", self.size))
        for i, edge in enumerate(self.size):
            if edge < 0.0:
                raise InvalidValue("negative", f"size[{i}] is {edge}; the length of an edge must be 0 or more")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    @property
    def _numbers(self) -> tuple[float, ...]:
        return (*self.pose.array.tolist(), *self.size)

    def at(self, pose: SE3) -> "Box":
        """The same shape with its frame at `pose`."""
        return Box(single(pose), self.size)

    def placed(self, pose: SE3) -> "Box":
        """The shape seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return self.at(single(pose) @ self.pose)

    @cached_property
    def core(self) -> Core:
        """It as the kernels take it."""
        half = 0.5 * np.array(self.size)
        bound = float(np.linalg.norm(half))
        return Core(BOX, self.pose, half, 0.0, _NONE, bound, bound)


@final
@dataclass(frozen=True)
class HalfSpace:
    """All that lies below a plane: a floor, or a wall without end.

    >>> HalfSpace((0, 0, 0.5), (0, 0, 2)).normal
    (0.0, 0.0, 1.0)
    """

    point: Point
    """(3,) a point of the plane [m]."""
    normal: Point
    """(3,) the way out, of any length but 0; kept as a unit vector."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", checked_point("point", self.point))
        normal = finite("normal", self.normal, 3)
        largest = np.abs(normal).max()
        if normal.ndim > 1:
            raise ShapeError(f"normal must have shape (3,), got {normal.shape}")
        if largest == 0.0:
            raise InvalidValue("zero-vector", "normal is 0 0 0; it must point out of the half-space")
        scaled = normal / largest  # its squares neither vanish nor overflow
        object.__setattr__(self, "normal", tuple((scaled / np.linalg.norm(scaled)).tolist()))

    @property
    def pose(self) -> SE3:
        """Its frame: at the point, z along the normal."""
        return _along(self.point, np.array(self.normal))

    def at(self, pose: SE3) -> "HalfSpace":
        """The same shape with its frame at `pose`."""
        return HalfSpace(single(pose).xyz, pose.rotation.matrix()[:, 2])

    def placed(self, pose: SE3) -> "HalfSpace":
        """The shape seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return HalfSpace(single(pose).act(self.point), pose.rotation.act(self.normal))

    @cached_property
    def core(self) -> Core:
        """It as the kernels take it."""
        return Core(HALF_SPACE, self.pose, _POINT, 0.0, _NONE, math.inf, math.inf)


@final
@dataclass(frozen=True, eq=False)
class ConvexHull:
    """All points within `radius` [m] of the convex hull of `points`."""

    points: ArrayLike
    """(n, 3) seen from `pose` [m], at least one; kept as a read-only array.  Those inside the hull change nothing."""
    radius: float = 0.0
    pose: SE3 = field(default=SE3.identity(), kw_only=True)
    """Its frame, from which the points are seen."""

    def __post_init__(self) -> None:
        points = finite("points", self.points, 3)
        if points.ndim != 2 or len(points) == 0:
            raise ShapeError(f"points must have shape (n, 3) with n at least 1, got {points.shape}")
        if not isinstance(self.pose, SE3) or self.pose.array.ndim != 1:
            raise InvalidType("not-a-pose", f"pose must be one SE3, from which the points are seen, got {self.pose!r}")
        _refuse_far("points", points)
        _refuse_far("pose", self.pose.xyz)
        object.__setattr__(self, "points", frozen(points))
        checked_radius(self.radius)

    @classmethod
    def of_corners(cls, corners: ArrayLike, radius: float = 0.0, *, pose: SE3) -> "ConvexHull":
        """The hull of points of which none is inside, so that it need not be looked for."""
        hull = cls(corners, radius, pose=pose)
        vars(hull)["_corners"] = _along_spine(np.asarray(hull.points))
        return hull

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConvexHull) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ConvexHull, pose=self.pose), (self.points, self.radius)

    @property
    def _numbers(self) -> tuple[bytes, bytes, float]:
        return (np.asarray(self.points) + 0.0).tobytes(), (self.pose.array + 0.0).tobytes(), self.radius

    @cached_property
    def _corners(self) -> tuple[SE3, Array]:
        """A frame along the hull's spine, and the corners of the hull seen from there."""
        return _corners_among(np.asarray(self.points).tobytes())

    def at(self, pose: SE3) -> "ConvexHull":
        """The same shape with its frame at `pose`."""
        moved = ConvexHull(self.points, self.radius, pose=single(pose))
        vars(moved)["_corners"] = self._corners  # which do not depend on the pose, and take a while
        return moved

    def placed(self, pose: SE3) -> "ConvexHull":
        """The shape seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return self.at(single(pose) @ self.pose)

    @cached_property
    def core(self) -> Core:
        """It as the kernels take it."""
        frame, corners = self._corners
        bound = float(np.linalg.norm(corners, axis=1).max()) + self.radius
        half, girth = around(corners)
        along = frozen(np.array([0.0, 0.0, half]))
        return Core(HULL, self.pose @ frame, along, self.radius, corners, bound, girth + self.radius)


Rounded: TypeAlias = Sphere | Capsule | Box
"""Shapes that are boxes with rounded edges, all points within a radius of a box, which may have no length, no breadth
and no height."""
Shape: TypeAlias = Rounded | Cylinder | HalfSpace | ConvexHull


def checked_point(name: str, value: Point) -> tuple[float, ...]:
    """The numbers of `value` (3,); raises ShapeError, or ValueError for one that is no length."""
    array = finite(name, value, 3)
    if array.ndim > 1:
        raise ShapeError(f"{name} must have shape (3,), got {array.shape}")
    _refuse_far(name, array)
    return tuple(array.tolist())


def _refuse_far(name: str, numbers: Array) -> None:
    """Raises ValueError for a number that no length has."""
    if (np.abs(numbers) > LARGEST).any():
        index = tuple(int(i) for i in np.argwhere(np.abs(numbers) > LARGEST)[0])
        raise InvalidValue("out-of-range", f"{name}[{', '.join(map(str, index))}] is {numbers[index]:g}; {BOUND}")


def checked_radius(value: float) -> None:
    """Raises ValueError unless `value` is a finite number of 0 or more."""
    checked_size("radius", value)


def checked_size(name: str, value: float) -> None:
    """The same of another length, which has this name."""
    not_negative(name, value, unit=" [m]")
    if value > LARGEST:
        raise InvalidValue("out-of-range", f"{name} is {value:g}; {BOUND}")


def single(pose: SE3) -> SE3:
    """`pose`; raises TypeError unless it is one SE3."""
    if not isinstance(pose, SE3) or pose.array.ndim != 1:
        raise InvalidType("not-a-pose", f"pose must be one SE3, got {pose!r}")
    _refuse_far("pose", pose.xyz)
    return pose


@functools.lru_cache(maxsize=32)
def _corners_among(points: bytes) -> tuple[SE3, Array]:
    """`ConvexHull._corners` of points (n, 3); things of one kind, such as cans on a shelf, are looked at once."""
    every = np.unique(np.frombuffer(points).reshape(-1, 3), axis=0)
    faces = hull_faces(every)
    return _along_spine(every if faces is None else every[np.unique(faces)])


def _along_spine(corners: Array) -> tuple[SE3, Array]:
    """A frame in the middle of the corners' spine and along it, and the corners seen from there."""
    frame = _along(*spine(corners))
    return frame, frozen(frame.inverse().act(corners))


def _upright(place: Point) -> SE3:
    return pose_of(np.array([*place, 1.0, 0.0, 0.0, 0.0]))


def _along(place: Point, way: Array) -> SE3:
    """A frame at `place` with z along `way`; upright if that is 0."""
    length = float(np.linalg.norm(way))
    x, y, z = way / length if length > 0.0 else (0.0, 0.0, 1.0)
    return pose_of(np.array([*place, *aligning((x, y, z))]))
