"""Keep the centre of mass above a polygon, so that a robot that stands on it does not fall."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import finite, number
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.kinematics.mass import mass_columns, mass_moments
from poise.kernels.machine.jit import routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.views import section
from poise.kernels.rows.range_side import put_side
from poise.model.model import Model
from poise.spatial import frozen
from poise.tasks.effector import Effector, Measure, Units
from poise.tasks.mass import OfMass


@routine
def support_rows(p: Any, w: Any, k: Any) -> None:
    """The way from the centre of mass to the nearest point of a convex polygon, seen from above [m]; 0 within.

    Its derivative is that of the nearest point of the nearest edge less the identity: u u^T for the way out u where
    that is within the edge, the identity where it is a corner.
    """
    effector = p.effectors[k]
    mass_moments(p.units, p.bodies, w.frames, w.scratch)
    row, world = 3 * effector.first_block, 3 * len(p.units)
    x, y, o = load(w.scratch, world), load(w.scratch, world + 1), splat(w.e, 0.0)
    least, e0, e1, out, end = splat(w.e, np.inf), o, o, o, o
    for i in range(effector.first_number, effector.last_number, 4):
        from_x, from_y, along_x, along_y = p.numbers[i], p.numbers[i + 1], p.numbers[i + 2], p.numbers[i + 3]
        square = along_x * along_x + along_y * along_y
        dx, dy = x - from_x, y - from_y
        share = (dx * along_x + dy * along_y) / square
        t = select(share < 0.0, 0.0, select(share > 1.0, 1.0, share))
        wx, wy = t * along_x - dx, t * along_y - dy
        distance = wx * wx + wy * wy
        nearer = distance < least
        least = select(nearer, distance, least)
        e0, e1 = select(nearer, wx, e0), select(nearer, wy, e1)
        end = select(nearer, select((share < 0.0) | (share > 1.0), 1.0 + o, o), end)
        out = select(
            along_x * dy - along_y * dx < 0.0, 1.0 + o, out
        )  # to the right of an edge: the polygon is to the left of all
    outside, there = out > 0.5, x * x + y * y >= 0.0  # NaN stays
    store(w.e, row, select(there, select(outside, e0, o), x))
    store(w.e, row + 1, select(there, select(outside, e1, o), y)), store(w.e, row + 2, o)
    away = outside & (least > 0.0)
    inverse = select(away, 1.0 / sqrt(select(away, least, 1.0)), o)
    u0, u1, corner = e0 * inverse, e1 * inverse, select(away, end, o)
    jacobian = section(w.jacobian, p.blocks[effector.first_block].start, 3 * effector.columns)
    mass_columns(p.columns, effector.first_column, effector.last_column, p.bodies, w.frames, w.scratch, jacobian)
    for j in range(0, len(jacobian), 3):
        c0, c1 = load(jacobian, j), load(jacobian, j + 1)
        along = (1.0 - corner) * (u0 * c0 + u1 * c1)
        store(jacobian, j, corner * c0 + along * u0), store(jacobian, j + 1, corner * c1 + along * u1)
        store(jacobian, j + 2, o)


@routine
def support_sides(p: Any, w: Any, b: Any) -> None:
    """How far the centre of mass is beyond each side of a convex polygon, seen from above [m]."""
    task_range = p.ranges[b]
    k = task_range.effector
    effector = p.effectors[k]
    mass_moments(p.units, p.bodies, w.frames, w.scratch)
    world = 3 * len(p.units)
    x, y = load(w.scratch, world), load(w.scratch, world + 1)
    jacobian = section(w.jacobian, p.blocks[effector.first_block].start, 3 * effector.columns)
    mass_columns(p.columns, effector.first_column, effector.last_column, p.bodies, w.frames, w.scratch, jacobian)
    for i in range(task_range.first, task_range.last):
        at = effector.first_number + 4 * (i - task_range.first)
        along_x, along_y = p.numbers[at + 2], p.numbers[at + 3]
        length = sqrt(along_x * along_x + along_y * along_y)
        u0, u1 = along_y / length, -along_x / length  # to the right of the edges of a polygon to their left
        residual = u0 * (x - p.numbers[at]) + u1 * (y - p.numbers[at + 1])
        put_side(p, w, k, i, residual, jacobian, (u0, u1, 0.0))


@dataclass(frozen=True, eq=False, repr=False)
class OverPolygon(OfMass):
    """A task that keeps the centre of mass above a convex polygon, by a margin."""

    margin: float = field(default=0.0, kw_only=True)
    """How far inside the sides of the polygon [m], 0 or more."""

    routine: ClassVar[Any] = staticmethod(support_rows)
    unit: ClassVar[Measure] = "m"
    shared: ClassVar[int] = 2
    side_routine: ClassVar[Any] = staticmethod(support_sides)
    goal_kind: ClassVar[int] = 0

    def __post_init__(self) -> None:
        self._set("margin", number("margin", self.margin))
        if self.margin < 0.0:
            raise InvalidValue("negative", f"margin is {self.margin}; it must be 0 or more")
        super().__post_init__()
        if len(self.corners) < 3:
            left = f"a margin of {self.margin:g} m leaves nothing of the polygon"
            raise InvalidValue("empty", left if len(convex_hull(self._points)) > 2 else self._flat)

    @cached_property
    def _points(self) -> Array:
        """(n, 2) points of which it is the convex hull [m]."""
        raise NotImplementedError

    @property
    def _flat(self) -> str:
        """What is said where it has no inside."""
        raise NotImplementedError

    @cached_property
    def corners(self) -> Array:
        """(n, 2) corners of the polygon within which the centre of mass is kept, counterclockwise [m]."""
        hull = convex_hull(self._points)
        shrunk = hull
        for start, end in zip(hull, np.roll(hull, -1, axis=0), strict=True):
            shrunk = _cut(shrunk, start, end - start, self.margin)
        return frozen(shrunk)

    @property
    def inequality_rows(self) -> int:
        """See `Task.inequality_rows`."""
        return len(self.corners)

    @property
    def depth(self) -> float:
        """See `Task.depth`; of the mean of the corners."""
        along = np.roll(self.corners, -1, axis=0) - self.corners
        to_mean = self.corners.mean(axis=0) - self.corners
        across = along[:, 0] * to_mean[:, 1] - along[:, 1] * to_mean[:, 0]
        return float((across / np.linalg.norm(along, axis=1)).min())

    def effector(self, units: Units) -> Effector:
        """It among the units of a problem."""
        along = np.roll(self.corners, -1, axis=0) - self.corners
        found = super().effector(units)
        return Effector(columns=found.columns, heavy=True, numbers=np.hstack([self.corners, along]).ravel().tolist())

    def judged(self, model: Model, goal: Array, q: Array) -> Array:
        """(N, 1) the ways to the polygon at `q` (N, nq) [m]."""
        centres = np.atleast_2d(model.centre_of_mass(q))[:, None, :2]
        starts, along = self.corners, np.roll(self.corners, -1, axis=0) - self.corners
        from_start = centres - starts
        share = np.clip((from_start * along).sum(-1) / (along**2).sum(-1), 0.0, 1.0)
        ways = np.linalg.norm(share[..., None] * along - from_start, axis=-1).min(axis=1)
        outside = (along[:, 0] * from_start[..., 1] - along[:, 1] * from_start[..., 0] < 0.0).any(axis=1)
        return np.where(outside, ways, 0.0)[:, None] * (float(self.weight) != 0.0)  # type: ignore[arg-type]


@final
@dataclass(frozen=True, eq=False, repr=False)
class SupportTask(OverPolygon):
    """Keep the centre of all masses of the model above the convex hull of `polygon` (n, 2), x and y in the world [m].

    The points are where the robot touches the ground, such as the corners of its feet, in any order; where it touches
    other things as well, or may slip, an `EquilibriumTask` finds the polygon.  With a `margin` the centre of mass keeps
    that far from the polygon's sides, and so within what can be held where the model is not quite right.  Inside it
    asks for nothing; outside, what is left is the way to the nearest point [m], seen from above.  A `Tracker` does not
    leave the polygon, see there.  The weight [1/m] is one number.  Raises ValueError for points on one line and for a
    margin that leaves nothing.
    """

    polygon: ArrayLike

    def __post_init__(self) -> None:
        given: Array = finite("polygon", self.polygon)
        if given.ndim != 2 or given.shape[1] != 2 or len(given) < 3:
            raise ShapeError(f"polygon must have shape (n, 2) with n at least 3, got {given.shape}")
        self._set("polygon", frozen(given))
        super().__post_init__()

    @cached_property
    def _points(self) -> Array:
        """(n, 2) points of which it is the convex hull [m]."""
        return np.asarray(self.polygon)

    @property
    def _flat(self) -> str:
        """What is said where it has no inside."""
        return "the points of polygon are all on one line: nothing can stand there"


def convex_hull(points: Array) -> Array:
    """(k, 2) corners of the convex hull, counterclockwise (Andrew 1979); fewer than 3 for points on one line."""
    slight = 1e-9 * float(np.ptp(points, axis=0).max()) ** 2
    order = np.unique(points, axis=0)

    def chain(ordered: Array) -> list[Array]:
        found: list[Array] = []
        for p in ordered:
            while len(found) > 1 and _left_of(found[-2], found[-1], p) <= 0.0:
                found.pop()
            found.append(p)
        return found[:-1]

    hull = np.array(chain(order) + chain(order[::-1])).reshape(-1, 2)
    while len(hull) > 2:  # what rounding alone makes a corner goes, the least first
        around = zip(np.roll(hull, 1, axis=0), hull, np.roll(hull, -1, axis=0), strict=True)
        areas = [_left_of(*three) for three in around]
        if min(areas) > slight:
            break
        hull = np.delete(hull, int(np.argmin(areas)), axis=0)
    return hull


def _left_of(a: Array, b: Array, c: Array) -> float:
    """Twice the area of the triangle a b c, positive where c is to the left of the way from a to b."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _cut(polygon: Array, start: Array, along: Array, margin: float) -> Array:
    """What of a convex polygon is at least `margin` to the left of a line (Sutherland and Hodgman 1974)."""
    if len(polygon) < 3:
        return polygon[:0]
    inward = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    depths = (polygon - start) @ inward - margin
    found: list[Array] = []
    for p, q, a, b in zip(polygon, np.roll(polygon, -1, axis=0), depths, np.roll(depths, -1), strict=True):
        if a >= -1e-12:
            found.append(p)
        if (a > 1e-12 and b < -1e-12) or (a < -1e-12 and b > 1e-12):
            found.append(p + a / (a - b) * (q - p))
    return convex_hull(np.array(found)) if len(found) > 2 else polygon[:0]
