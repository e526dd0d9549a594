"""Keep the origin of a frame on a plane or on a line; along them it is free."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.kernels.machine.layout import PLACE, TURN
from poise.quaternions import aligning, conjugate, rotate
from poise.spatial import SE3
from poise.tasks.effector import Block
from poise.tasks.fields import direction, point
from poise.tasks.frame import OfFrame
from poise.tasks.pose import position_rows

Axis = tuple[float, float, float]


@dataclass(frozen=True, eq=False, repr=False)
class _OnSurface(OfFrame):
    """What planes and lines have in common: a point that the frame lacks along some axes of a turned cross.

    The weight [1/m] is one number, the tolerance a distance [m].
    """

    routine: ClassVar[Any] = staticmethod(position_rows)
    goal_kind: ClassVar[int] = PLACE | TURN
    along_target: ClassVar[bool] = True
    to_point: ClassVar[bool] = True
    axis_name: ClassVar[str]
    bound: ClassVar[Axis]
    """1 for the axes of the cross along which it is bound, 0 for the others; z is the normal or the direction."""

    def __post_init__(self) -> None:
        self._set(self.axis_name, direction(self.axis_name, getattr(self, self.axis_name)))
        super().__post_init__()

    @cached_property
    def _turn(self) -> Array:
        """(4,) the rotation that takes z to the normal or the direction."""
        return np.asarray(aligning(getattr(self, self.axis_name)))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows of its residual, three by three."""
        x, y, z = (float(self.weight) * one for one in self.bound)  # type: ignore[arg-type]
        return (Block((x, y, z), self.tolerance, "m", whole=True),)

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a point on the surface, and of the rotation that takes z to its normal or direction."""
        return np.concatenate([point(name, target), self._turn])

    def target_of(self, pose: SE3) -> Array:
        """A target that the frame fulfils where it is seen at `pose`."""
        return pose.xyz

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) what the positions lack [m], along the axes of the cross."""
        return [rotate(conjugate(goal[:, 3:]), goal[:, :3] - pose.xyz)]


@final
@dataclass(frozen=True, eq=False, repr=False)
class PlaneTask(_OnSurface):
    """Bring the origin of `frame` onto the plane through the point `target` [m], shape (3,), normal to `normal`."""

    normal: ArrayLike = (0.0, 0.0, 1.0)
    target: ArrayLike | None = None

    axis_name: ClassVar[str] = "normal"
    bound: ClassVar[Axis] = (0.0, 0.0, 1.0)


@final
@dataclass(frozen=True, eq=False, repr=False)
class LineTask(_OnSurface):
    """Bring the origin of `frame` onto the line through the point `target` [m], shape (3,), along `direction`."""

    direction: ArrayLike = (0.0, 0.0, 1.0)
    target: ArrayLike | None = None

    axis_name: ClassVar[str] = "direction"
    bound: ClassVar[Axis] = (1.0, 1.0, 0.0)
