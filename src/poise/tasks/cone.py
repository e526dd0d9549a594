"""Keep an axis of a frame within a cone about a direction, such as a glass that shall not be tipped far."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import number
from poise.common.errors import InvalidValue
from poise.kernels.algebra.rotations import aim_error
from poise.kernels.machine.jit import routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import DIRECTION
from poise.kernels.rows.frame import seen_frame
from poise.kernels.rows.range_side import put_side
from poise.quaternions import rotate
from poise.spatial import SE3
from poise.tasks.aim import angles, axis_of, only
from poise.tasks.effector import Measure
from poise.tasks.fields import direction
from poise.tasks.frame import OfFrame


@routine
def cone_rows(p: Any, w: Any, k: Any) -> None:
    """Opening less the angle between axis and direction [rad], in the first row: negative outside, 0 inside.

    With u the unit vector about which the shortest turn takes the axis to the direction, the angle falls by u w for an
    angular velocity w, and so the residual -excess has the Jacobian -u^T J_w.
    """
    f = seen_frame(p, w, k)
    a0, a1, a2 = axis_of(p, k, f)
    e0, e1, e2 = aim_error(a0, a1, a2, load(f.target, 9), load(f.target, 10), load(f.target, 11))
    square = e0 * e0 + e1 * e1 + e2 * e2
    angle = sqrt(square)
    excess = angle - p.numbers[p.effectors[k].first_number + 3]
    outside = (excess > 0.0) & (square > 1e-24)
    inverse, o = select(outside, -1.0 / select(outside, angle, 1.0), 0.0), splat(f.e, 0.0)
    u0, u1, u2 = e0 * inverse, e1 * inverse, e2 * inverse
    store(f.e, 0, select(excess > 0.0, -excess, select(excess <= 0.0, 0.0, excess)))  # NaN stays
    store(f.e, 1, o), store(f.e, 2, o)
    for j in range(0, len(f.angular), 3):
        along = u0 * load(f.angular, j) + u1 * load(f.angular, j + 1) + u2 * load(f.angular, j + 2)
        store(f.angular, j, along), store(f.angular, j + 1, o), store(f.angular, j + 2, o)


@routine
def cone_sides(p: Any, w: Any, b: Any) -> None:
    """The angle between axis and direction beyond the opening [rad], less than 0 within."""
    task_range = p.ranges[b]
    k = task_range.effector
    f = seen_frame(p, w, k)
    a0, a1, a2 = axis_of(p, k, f)
    e0, e1, e2 = aim_error(a0, a1, a2, load(f.target, 9), load(f.target, 10), load(f.target, 11))
    angle = sqrt(e0 * e0 + e1 * e1 + e2 * e2)
    inverse = -1.0 / angle if angle > 1e-12 else 0.0
    excess = angle - p.numbers[p.effectors[k].first_number + 3]
    put_side(p, w, k, task_range.first, excess, f.angular, (inverse * e0, inverse * e1, inverse * e2))


@final
@dataclass(frozen=True, eq=False, repr=False)
class ConeTask(OfFrame):
    """Keep `axis`, fixed in `frame`, within `angle` [rad] of the direction `target` (3,), of any length but 0.

    Inside the cone it asks for nothing; outside, what is left is the angle to its side.  The weight [1/rad] is one
    number, the tolerance an angle [rad].  A `Tracker` does not leave the cone, see there.
    """

    axis: ArrayLike = (0.0, 0.0, 1.0)
    """(3,), fixed in the frame, of any length but 0."""
    target: ArrayLike | None = None
    angle: float = field(kw_only=True)
    """Between the axis of the cone and its side, from 0 to pi [rad]."""

    routine: ClassVar[Any] = staticmethod(cone_rows)
    unit: ClassVar[Measure] = "rad"
    shared: ClassVar[int] = 1
    to_point: ClassVar[bool] = True
    side_routine: ClassVar[Any] = staticmethod(cone_sides)
    goal_kind: ClassVar[int] = DIRECTION

    def __post_init__(self) -> None:
        self._set("axis", direction("axis", self.axis))
        self._set("angle", number("angle", self.angle))
        if not 0.0 <= self.angle <= np.pi:
            question = ": degrees? numpy.radians makes them radians" if np.pi < self.angle <= 180.0 else ""
            raise InvalidValue("out-of-range", f"angle is {self.angle}; it must be from 0 to pi{question}")
        super().__post_init__()

    @property
    def inequality_rows(self) -> int:
        """See `Task.inequality_rows`; a cone that is a line has no inside, and one of pi no outside."""
        return int(0.0 < self.angle < np.pi)

    @property
    def depth(self) -> float:
        """See `Task.depth`."""
        return float(self.angle)

    def constants(self, hang: SE3) -> list[float]:
        """The axis, as the frame's unit has it, and the angle."""
        return [*hang.rotation.act(np.array(self.axis)).tolist(), self.angle]

    def target_of(self, pose: SE3) -> Array:
        """A target that the frame fulfils where it is seen at `pose`: the cone about its axis."""
        return pose.rotation.act(self.axis)

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) the angles beyond the side of the cone [rad]."""
        return [only(np.maximum(angles(rotate(pose.wxyz, np.array(self.axis)), goal[:, :3]) - self.angle, 0.0))]
