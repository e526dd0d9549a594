"""Shapes around what is none of them: ellipsoids, and cylinders with round ends.

Descriptions of robots that know no capsules write a cylinder with a sphere at either end: these three are one capsule,
and nothing is added but what the spheres do not fit, if they do to 1 % of the radius.

An ellipsoid is within the points that are its shortest semi-axis away from a flat ellipse, whose semi-axes are shorter
by that much: a sphere if all are equal, a capsule if two are, else the hull of a polygon around that ellipse, whose 16
corners stand out by 1 / cos(pi / 16) - 1, which is 2 % of its semi-axes.  Half way to its ends such a shape stands out
by much more where the semi-axes differ much; then a hull of 162 corners that touches it is nearer to it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar, final

import numpy as np

from poise.common.array import Array
from poise.geometry.shapes import Capsule, ConvexHull, Cylinder, Point, Shape, Sphere, checked_point, single
from poise.geometry.smallest import directions
from poise.spatial import SE3

Other = TypeVar("Other")
_SIDES: Final = 16
_NEAR: Final = 0.01
"""How far a sphere may be from fitting the end of a cylinder, as a share of the radius: files have few digits."""
_ROUNDING: Final = 1e-9
"""What counts as nothing [m]."""
_DIRECTIONS: Final = np.concatenate([directions(81), -directions(81)])
"""Corners of a hull within a ball of radius 1, ..."""
_OUT: Final = 1.0255
"""... and by how much larger it is when the ball is within it."""


@final
@dataclass(frozen=True, slots=True)
class Ellipsoid:
    """An ellipsoid in the middle of `pose`, with three semi-axes along its x, y and z [m].

    Distances are measured to the shape `around` it.
    """

    pose: SE3
    semi_axes: Point

    def __post_init__(self) -> None:
        single(self.pose)
        object.__setattr__(self, "semi_axes", checked_point("semi_axes", self.semi_axes))

    def placed(self, pose: SE3) -> "Ellipsoid":
        """The ellipsoid seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return Ellipsoid(single(pose) @ self.pose, self.semi_axes)

    @property
    def around(self) -> Shape:
        """A shape that holds it, see `around_ellipsoid`."""
        return around_ellipsoid(self.pose, tuple(self.semi_axes))

    @property
    def within(self) -> ConvexHull:
        """A hull of points on it: where two of these meet, the ellipsoids do."""
        return ConvexHull.of_corners(_DIRECTIONS * self.semi_axes, pose=self.pose)


def polygon(semi_axes: Sequence[float]) -> Array:
    """(16, 2) corners of a polygon around an ellipse with these semi-axes along x and y [m]."""
    angles = 2.0 * math.pi / _SIDES * np.arange(_SIDES)
    return np.column_stack([np.cos(angles), np.sin(angles)]) * semi_axes / math.cos(math.pi / _SIDES)


def prism(cylinder: Cylinder) -> ConvexHull:
    """The prism of 16 sides around a cylinder, for those that need corners."""
    corners = np.zeros((2 * _SIDES, 3))
    corners[:, :2] = np.tile(polygon((cylinder.radius, cylinder.radius)), (2, 1))
    corners[:_SIDES, 2], corners[_SIDES:, 2] = -0.5 * cylinder.length, 0.5 * cylinder.length
    return ConvexHull.of_corners(corners, pose=cylinder.pose)


def around_ellipsoid(pose: SE3, semi_axes: Sequence[float]) -> Shape:
    """A shape around an ellipsoid with these three semi-axes along x, y and z of its pose [m]."""
    least, middle, longest = np.argsort(semi_axes, kind="stable").tolist()
    radius = semi_axes[least]
    short, long = semi_axes[middle] - radius, semi_axes[longest] - radius
    if long <= _ROUNDING:
        return Sphere(pose.xyz, semi_axes[longest])
    flat = np.zeros(3)
    flat[[longest, middle]] = (long, 0.0) if short <= _ROUNDING else polygon((long, short))[[0, _SIDES // 4], [0, 1]]
    if _stands_out(np.asarray(semi_axes), radius, flat) > (_OUT - 1.0) * semi_axes[longest]:
        return ConvexHull.of_corners(_OUT * _DIRECTIONS * semi_axes, pose=pose)
    if short <= _ROUNDING:
        return Capsule(pose.act(-flat), pose.act(flat), semi_axes[middle])
    corners = np.zeros((_SIDES, 3))
    corners[:, [longest, middle]] = polygon((long, short))
    return ConvexHull.of_corners(corners, radius, pose=pose)


def _stands_out(semi_axes: Array, radius: float, flat: Array) -> float:
    """By how much the points within `radius` of an ellipse with the semi-axes `flat` stand out of an ellipsoid [m]."""
    around, own = (np.linalg.norm(_DIRECTIONS * axes, axis=1) for axes in (flat, semi_axes))
    return float((radius + around - own).max())


def enclosed(parts: Iterable[Other | Shape]) -> tuple[Other | Shape, ...]:
    """The parts of a link, with a capsule for each cylinder with a sphere at either end, which are part of it."""
    parts = list(parts)
    spheres = [part for part in parts if isinstance(part, Sphere)]
    out: list[Other | Shape] = []
    caps: set[int] = set()
    for part in parts:
        if not isinstance(part, Cylinder):
            out.append(part)
            continue
        first, last = (_cap(part, end, spheres) for end in _ends(part))
        if first is None or last is None:
            out.append(part)
        else:
            out.append(_capsule(part, first, last))
            caps |= {id(first), id(last)}
    return tuple(part for part in out if id(part) not in caps)


def _ends(cylinder: Cylinder) -> tuple[Array, Array]:
    """(3,) and (3,) the middles of its flat ends [m]."""
    half = 0.5 * cylinder.length
    return cylinder.pose.act((0.0, 0.0, -half)), cylinder.pose.act((0.0, 0.0, half))


def _cap(cylinder: Cylinder, end: Array, spheres: list[Sphere]) -> Sphere | None:
    """The sphere that makes an end round, if there is one."""
    near = _NEAR * cylinder.radius
    return next((s for s in spheres if _beyond(cylinder, end, s) <= near and s.radius >= cylinder.radius - near), None)


def _beyond(cylinder: Cylinder, end: Array, cap: Sphere) -> float:
    """How far a cap goes beyond one that fits [m]."""
    return math.dist(cap.centre, end) + max(cap.radius - cylinder.radius, 0.0)


def _capsule(cylinder: Cylinder, first: Sphere, last: Sphere) -> Capsule:
    """The capsule of a cylinder and its caps, thicker by what those do not fit."""
    more = max(_beyond(cylinder, end, cap) for end, cap in zip(_ends(cylinder), (first, last), strict=True))
    return Capsule(first.centre, last.centre, cylinder.radius + (more if more > _ROUNDING else 0.0))
