"""Keep a frame at a distance from a point."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import number, numbers
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.jit import routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import FAR
from poise.kernels.rows.frame import seen_frame
from poise.kernels.rows.range_side import put_side
from poise.spatial import SE3
from poise.tasks.aim import only
from poise.tasks.effector import Measure
from poise.tasks.fields import goal_of, point
from poise.tasks.frame import OfFrame

if TYPE_CHECKING:
    from poise.model.model import Model


@routine
def distance_rows(p: Any, w: Any, k: Any) -> None:
    """The nearest end of an interval less the distance to a point [m], in the first row; 0 within it."""
    f = seen_frame(p, w, k)
    x, y, z = load(f.target, 9) - f.px, load(f.target, 10) - f.py, load(f.target, 11) - f.pz
    square = x * x + y * y + z * z
    far = square > 1e-24  # at the point itself any direction leads away
    distance = sqrt(select(far, square, 1.0))
    u0, u1, u2 = select(far, -x / distance, 1.0), select(far, -y / distance, 0.0), select(far, -z / distance, 0.0)
    linear, o = f.linear, splat(f.e, 0.0)
    distance, least, most = (
        select(far, distance, select(square >= 0.0, o, square)),
        load(f.target, 0),
        load(f.target, 1),
    )
    inside = (distance > least) & (distance < most)
    lacking = select(distance < least, least, select(distance > most, most, distance)) - distance
    store(f.e, 0, lacking), store(f.e, 1, o), store(f.e, 2, o)
    u0, u1, u2 = select(inside, o, u0), select(inside, o, u1), select(inside, o, u2)
    for j in range(0, len(linear), 3):
        along = u0 * load(linear, j) + u1 * load(linear, j + 1) + u2 * load(linear, j + 2)
        store(linear, j, along), store(linear, j + 1, o), store(linear, j + 2, o)


@routine
def distance_sides(p: Any, w: Any, b: Any) -> None:
    """The two sides: distance less the largest, and the least less the distance [m], as far as there are ends."""
    task_range = p.ranges[b]
    k, i = task_range.effector, task_range.first
    f = seen_frame(p, w, k)
    x, y, z = f.px - load(f.target, 9), f.py - load(f.target, 10), f.pz - load(f.target, 11)
    distance = sqrt(x * x + y * y + z * z)
    far = distance > 1e-12  # at the point itself any direction leads away
    u0, u1, u2 = (x / distance, y / distance, z / distance) if far else (1.0, 0.0, 0.0)
    least, most = load(f.target, 0), load(f.target, 1)
    put_side(p, w, k, i, distance - most, f.linear, (u0, u1, u2))
    put_side(p, w, k, i + 1, least - distance if least > 0.0 else -FAR, f.linear, (-u0, -u1, -u2))


@final
@dataclass(frozen=True, eq=False, repr=False)
class DistanceTask(OfFrame):
    """Bring the origin of `frame` to the `distance` [m] from the point `target` [m], shape (3,).

    A distance of two numbers, (least, most), is an interval, within which it asks for nothing: (0.3, inf) is 0.3 m at
    least.  A `Tracker` does not leave an interval, see there.  With a `base`, the point is fixed in that
    frame: (0, 0, 0) keeps the distance between the two.
    """

    distance: float | tuple[float, float]
    target: ArrayLike | None = None

    routine: ClassVar[Any] = staticmethod(distance_rows)
    unit: ClassVar[Measure] = "m"
    shared: ClassVar[int] = 1
    to_point: ClassVar[bool] = True
    side_routine: ClassVar[Any] = staticmethod(distance_sides)

    @property
    def _interval(self) -> tuple[float, float]:
        """The least and the largest distance [m], finite."""
        least, most = self.distance if isinstance(self.distance, tuple) else (self.distance, self.distance)
        return least, min(most, FAR)

    def __post_init__(self) -> None:
        self._set("distance", _checked(self.distance))
        super().__post_init__()

    @property
    def swapped(self) -> str:
        """What asks the same of its base, seen from its frame."""
        place = "(0, 0, 0)" if self.offset is None else "offset.xyz"
        return f"DistanceTask({self.base!r}, distance, {place}, base={self.frame!r}, offset=SE3.from_parts(target))"

    @property
    def inequality_rows(self) -> int:
        """See `Task.inequality_rows`; one distance has no inside."""
        return 2 if self.depth > 0.0 else 0

    @property
    def depth(self) -> float:
        """See `Task.depth`."""
        least, most = self._interval
        return 0.5 * (most - least)

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of the point, and the least and the largest distance."""
        return goal_of(point(name, target), (*self._interval, 0.0, 0.0))

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils: the point where it is, the distance as it is.

        Of an interval it is as much more as it takes.
        """
        out = self.goal(np.zeros(3) if self.target is None else self.target)
        distance = float(np.linalg.norm(self.frame_pose(model, q).xyz - out[:3]))
        if isinstance(self.distance, tuple):
            out[3:5] = min(out[3], distance), max(out[4], distance)
        else:
            out[3:5] = distance
        return out

    def target_of(self, pose: SE3) -> Array:
        """A target that the frame fulfils where it is seen at `pose`: a point behind it."""
        least, most = self._interval
        return pose.act([0.0, 0.0, -(least if most >= FAR else 0.5 * (least + most))])

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) what the distances lack [m]."""
        distance = np.linalg.norm(pose.xyz - goal[:, :3], axis=-1)
        return [only(np.clip(distance, goal[:, 3], goal[:, 4]) - distance)]


def _checked(distance: Any) -> float | tuple[float, float]:
    """A distance or the two ends of an interval; raises ShapeError or ValueError for what is neither."""
    given = numbers("distance", distance, "one number or two, (least, most)")
    if given.size == 1:
        alone = number("distance", given)
        if alone < 0.0:
            raise InvalidValue("negative", f"distance is {alone}; it must be 0 or more")
        return alone
    if given.shape != (2,):
        raise ShapeError(f"distance must be one number or two, (least, most), got shape {given.shape}")
    least, most = given.tolist()
    if not (0.0 <= least < np.inf and most >= least):
        raise InvalidValue(
            "out-of-range",
            f"distance is ({least:g}, {most:g}); it must be (least, most), 0 <= least <= most, least finite",
        )
    return least, most
