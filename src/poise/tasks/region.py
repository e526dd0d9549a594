"""Keep a frame within a region: a box, a ball, a capsule, or one side of a plane."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.cached import cached_property
from poise.common.errors import InvalidType
from poise.geometry.shapes import Box, Capsule, HalfSpace, Rounded, Sphere
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.rows.frame import seen_frame
from poise.kernels.rows.range_side import put_side
from poise.spatial import SE3
from poise.tasks.effector import Measure
from poise.tasks.frame import OfFrame

_ENDLESS: Final = 1e300
"""A bound that is none [m]."""


@routine
def region_rows(p: Any, w: Any, k: Any) -> None:
    """The way from a point to the nearest point of a region [m]; 0 within.

    The region is all within a radius r of a box, which may be flat or without end.  With v the way to the box along the
    box's axes, d its length and u = v / d, the way to the region is (1 - r / d) v.  Its derivative by the point is
    -((1 - r / d) A + (r / d) u u^T), A the diagonal of the axes along which the point is outside.
    """
    f = seen_frame(p, w, k)
    at = p.effectors[k].first_number
    r0, r1, r2 = p.numbers[at], p.numbers[at + 1], p.numbers[at + 2]
    r3, r4, r5 = p.numbers[at + 3], p.numbers[at + 4], p.numbers[at + 5]
    r6, r7, r8 = p.numbers[at + 6], p.numbers[at + 7], p.numbers[at + 8]
    x, y, z = f.px - p.numbers[at + 9], f.py - p.numbers[at + 10], f.pz - p.numbers[at + 11]
    v0 = _way_back(r0 * x + r3 * y + r6 * z, p.numbers[at + 12], p.numbers[at + 15])
    v1 = _way_back(r1 * x + r4 * y + r7 * z, p.numbers[at + 13], p.numbers[at + 16])
    v2 = _way_back(r2 * x + r5 * y + r8 * z, p.numbers[at + 14], p.numbers[at + 17])
    radius = p.numbers[at + 18]
    length = sqrt(v0 * v0 + v1 * v1 + v2 * v2)
    outside = length > radius
    inverse = select(outside, 1.0 / select(outside, length, 1.0), 0.0)
    share = select(length <= radius, 0.0, 1.0 - radius * inverse)  # NaN stays
    u0, u1, u2, curve = v0 * inverse, v1 * inverse, v2 * inverse, radius * inverse
    e0, e1, e2 = share * v0, share * v1, share * v2
    store(f.e, 0, r0 * e0 + r1 * e1 + r2 * e2)
    store(f.e, 1, r3 * e0 + r4 * e1 + r5 * e2)
    store(f.e, 2, r6 * e0 + r7 * e1 + r8 * e2)
    o = splat(f.e, 0.0)
    a0, a1, a2 = select(v0 * v0 > 0.0, share, o), select(v1 * v1 > 0.0, share, o), select(v2 * v2 > 0.0, share, o)
    for j in range(0, len(f.linear), 3):
        x, y, z = load(f.linear, j), load(f.linear, j + 1), load(f.linear, j + 2)
        c0, c1, c2 = r0 * x + r3 * y + r6 * z, r1 * x + r4 * y + r7 * z, r2 * x + r5 * y + r8 * z
        along = curve * (u0 * c0 + u1 * c1 + u2 * c2)
        c0, c1, c2 = a0 * c0 + along * u0, a1 * c1 + along * u1, a2 * c2 + along * u2
        store(f.linear, j, r0 * c0 + r1 * c1 + r2 * c2)
        store(f.linear, j + 1, r3 * c0 + r4 * c1 + r5 * c2)
        store(f.linear, j + 2, r6 * c0 + r7 * c1 + r8 * c2)


@routine
def region_sides(p: Any, w: Any, b: Any) -> None:
    """How far a point is beyond each side of a region [m]: of a box and a half-space their planes, else one."""
    task_range = p.ranges[b]
    k, i = task_range.effector, task_range.first
    f, at = seen_frame(p, w, k), p.effectors[k].first_number
    x, y, z = f.px - p.numbers[at + 9], f.py - p.numbers[at + 10], f.pz - p.numbers[at + 11]
    radius, square, g0, g1, g2 = p.numbers[at + 18], 0.0, 0.0, 0.0, 0.0
    for axis in range(3):
        a0, a1, a2 = p.numbers[at + axis], p.numbers[at + 3 + axis], p.numbers[at + 6 + axis]
        low, high = p.numbers[at + 12 + axis], p.numbers[at + 15 + axis]
        along = a0 * x + a1 * y + a2 * z
        if radius > 0.0:
            v = -_way_back(along, low, high)
            square = square + v * v
            g0, g1, g2 = g0 + v * a0, g1 + v * a1, g2 + v * a2
        else:
            if high < _ENDLESS:
                put_side(p, w, k, i, along - high, f.linear, (a0, a1, a2))
                i = i + 1
            if low > -_ENDLESS:
                put_side(p, w, k, i, low - along, f.linear, (-a0, -a1, -a2))
                i = i + 1
    if radius > 0.0:
        length = sqrt(square)
        inverse = 1.0 / length if length > 0.0 else 0.0
        put_side(p, w, k, i, length - radius, f.linear, (inverse * g0, inverse * g1, inverse * g2))


@kernel
def _way_back(x: Any, low: Any, high: Any) -> Any:
    """From x to the nearest number of an interval."""
    return select(x < low, low - x, select(x > high, high - x, 0.0 * x))


@final
@dataclass(frozen=True, eq=False, repr=False)
class RegionTask(OfFrame):
    """Keep the origin of `frame` within `region`: a `Sphere`, a `Capsule`, a `Box` or a `HalfSpace`.

    Inside it asks for nothing; outside, what is left is the way to the nearest point of the region [m].  The region
    lies in the world, or in the `base`, with which it moves.  A plate, a segment and a point are regions too: a box
    with edges of 0, a capsule and a sphere with a radius of 0.  The weight [1/m] is one number.

    A `Tracker` does not leave the region, whatever other tasks ask for, where it is of the first priority; see
    `Tracker`.
    """

    region: Rounded | HalfSpace

    routine: ClassVar[Any] = staticmethod(region_rows)
    unit: ClassVar[Measure] = "m"
    shared: ClassVar[int] = 3
    side_routine: ClassVar[Any] = staticmethod(region_sides)

    def __post_init__(self) -> None:
        if not isinstance(self.region, Sphere | Capsule | Box | HalfSpace):
            raise InvalidType(
                "not-a-shape", f"region must be a Sphere, a Capsule, a Box or a HalfSpace, got {self.region!r}"
            )
        super().__post_init__()

    @cached_property
    def _bounds(self) -> tuple[Array, Array]:
        """(3,) the least and the largest coordinates of the region's core, along the axes of its pose [m]."""
        if isinstance(self.region, HalfSpace):
            return np.full(3, -np.inf), np.array([np.inf, np.inf, 0.0])
        half = self.region.core.half
        return -half, half

    @property
    def inequality_rows(self) -> int:
        """See `Task.inequality_rows`; a plate, a segment and a point have no inside."""
        if isinstance(self.region, HalfSpace):
            return 1
        return 0 if self.depth == 0.0 else 1 if self.region.core.radius > 0.0 else 6

    @property
    def depth(self) -> float:
        """See `Task.depth`."""
        low, high = self._bounds
        return self.region.core.radius + 0.5 * float((high - low).min())

    def constants(self, hang: SE3) -> list[float]:
        """The rotation of the region, row by row, its place, the bounds of its core and the radius around it."""
        pose, (low, high) = self.region.core.pose, self._bounds
        rows = pose.rotation.matrix().ravel()
        return [*rows.tolist(), *pose.xyz.tolist(), *low.tolist(), *high.tolist(), self.region.core.radius]

    def target_of(self, pose: SE3) -> None:
        """It takes no target."""

    def fulfilled(self, model: Any, q: Array) -> None:
        """It has no goal that a configuration fulfils."""

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) the ways to the region [m]."""
        core, (low, high) = self.region.core, self._bounds
        seen = core.pose.inverse().act(np.atleast_2d(pose.xyz))
        way = np.clip(seen, low, high) - seen
        length = np.linalg.norm(way, axis=-1, keepdims=True)
        return [way * np.maximum(1.0 - core.radius / np.where(length > 0.0, length, math.inf), 0.0)]
