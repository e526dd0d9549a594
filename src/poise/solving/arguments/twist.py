"""A velocity as a target: it moves the target of a task, never far ahead of the frame."""

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite, one_of, positive
from poise.common.errors import InvalidValue
from poise.model.model import Model
from poise.quaternions import conjugate, quaternion_exp, quaternion_log, quaternion_product, rotate
from poise.spatial import BOUND, LARGEST
from poise.tasks.base import POSITION, ROTATION, Task
from poise.tasks.fields import point
from poise.tasks.frame import OfFrame

_BACK: Final = 0.1
"""Of the lead, what a target may be ahead against the direction of its twist: little, so that an arm answers at once,
and far more than the noise of encoders, which else would push the target on."""
_WIDEST: Final = 1.5
_SMALL: Final = 1e-4
"""Below this angle [rad] the first terms of a series are exact to rounding, in a product with another small number."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Twist:
    """A velocity as the target of a `Tracker.step`: `linear` (3,) [m/s] and `angular` (3,) [rad/s].

    Each step moves the task's target by it for dt, from where the target is and not from where the frame is, so that
    nothing drifts; the first step of a Tracker, and the first after `reset`, begins at the frame.  With `frame="world"`
    both parts are along the world's axes (of a task with a `base`, those of the base), and the target turns about its
    own origin.  With `frame="tool"` both are along the target's own axes, which turn with it: the target follows the
    screw motion.  Tasks with a position take a linear part, tasks with a rotation an angular one.

    Where the frame is held back, the target is no farther ahead of it than the Tracker's `max_target_lead`, and against
    the direction of the twist no farther than a tenth of that: an arm answers at once when the twist turns.

    Raises ShapeError or ValueError for numbers that are no velocity.
    """

    linear: ArrayLike = (0.0, 0.0, 0.0)
    angular: ArrayLike = (0.0, 0.0, 0.0)
    frame: Literal["world", "tool"] = "world"

    def __post_init__(self) -> None:
        for name in ("linear", "angular"):
            given = finite(name, point(name, getattr(self, name)), 3)
            if not (np.abs(given) <= LARGEST).all():
                raise InvalidValue("out-of-range", f"{name} is {given.tolist()}; {BOUND}")
            object.__setattr__(self, name, tuple(given.tolist()))
        one_of("frame", self.frame, ("world", "tool"))

    def frame_pose(self, task: Task, model: Model, q: Array, name: str) -> Array:
        """(7,) where the frame of a task is at `q` (nq,), seen as its target is.

        Raises ValueError for a task whose target it cannot move, or for a part that the task does not lead.
        """
        if not isinstance(task, OfFrame) or not task.frame_parts:
            raise InvalidValue(
                "not-supported",
                f"{name} is a Twist, and {task.label} takes none: give one to a PoseTask, PositionTask or "
                "OrientationTask",
            )
        for part, lead, what in (("linear", POSITION, "position"), ("angular", ROTATION, "rotation")):
            if lead not in task.frame_parts and any(getattr(self, part)):
                raise InvalidValue(
                    "not-supported", f"{name} has {part} velocity, and {task.label} has no {what}: leave it out"
                )
        return task.frame_pose(model, q).array

    def moved(self, target: Array, here: Array, dt: float, lead: "Lead") -> Array:
        """(7,) where the target (7,) is after `dt` seconds, for a frame that is `here` (7,); see `Lead`."""
        place, turn = target[:3], _unit(target[3:])
        frame, facing = here[:3], here[3:]
        way, spin = dt * np.array(self.linear), dt * np.array(self.angular)
        if self.frame == "tool":
            way, spin = rotate(turn, way), rotate(turn, spin)
        gone = _screwed(way, spin) if self.frame == "tool" else way
        place = frame + _limited(place + gone - frame, way, lead.distance)
        turned = quaternion_product(quaternion_exp(_limited(spin, spin, lead.angle)), turn)
        ahead = quaternion_log(quaternion_product(turned, conjugate(facing)))
        turned = quaternion_product(quaternion_exp(_limited(ahead, spin, lead.angle)), facing)
        return np.array([*place, *_unit(turned)])


@final
@dataclass(frozen=True, slots=True)
class Lead:
    """How far a target that is driven may be ahead of its frame."""

    distance: float = 0.1
    """[m]"""
    angle: float = 0.5
    """[rad], at most 1.5, for a target that is turned farther would come round from behind."""

    def __post_init__(self) -> None:
        positive("the distance of max_target_lead", self.distance)
        positive("the angle of max_target_lead", self.angle)
        if self.angle > _WIDEST:
            raise InvalidValue(
                "out-of-range", f"the angle of max_target_lead is {self.angle:g}; it must be at most {_WIDEST} rad"
            )

    @classmethod
    def of(cls, lead: Any) -> "Lead":
        """From metres, or metres and radians; raises ValueError for what is neither."""
        given = tuple(lead) if isinstance(lead, (list, tuple)) else (lead,)
        if len(given) not in (1, 2):
            raise InvalidValue(
                "wrong-length",
                f"max_target_lead must be metres or (metres, radians), as in max_target_lead=(0.1, 0.5), got {lead!r}",
            )
        return cls(*given)


def _limited(ahead: Array, way: Array, lead: float) -> Array:
    """(3,) `ahead` no longer than `max_target_lead`, nor than a tenth of that against the direction of `way` (3,)."""
    length = math.hypot(*way.tolist())
    if length > 0.0:
        ahead = ahead - min(0.0, float(ahead @ way) / length + _BACK * lead) / length * way
    size = math.hypot(*ahead.tolist())
    return ahead if size <= lead else lead / size * ahead


def _screwed(way: Array, spin: Array) -> Array:
    """(3,) how far a screw motion goes that begins along `way` [m] and turns by `spin` [rad] about the same point."""
    angle = math.hypot(*spin.tolist())
    if angle < _SMALL:
        side, back = 0.5, 1.0 / 6.0
    else:
        side, back = 2.0 * (math.sin(0.5 * angle) / angle) ** 2, (angle - math.sin(angle)) / angle**3
    across = _cross(spin, way)
    return way + side * across + back * _cross(spin, across)


def _cross(a: Array, b: Array) -> Array:
    """(3,) the vector product; NumPy's own takes ten times as long for two."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def _unit(q: Array) -> Array:
    """(4,) a quaternion of unit length; zero as it is."""
    return q / (math.hypot(*q.tolist()) or 1.0)
