"""A velocity as a target: it moves the target of a task, never far ahead of the frame."""

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import numpy as np
import numpy.typing as npt

from poise.methods.checks import one_of, positive
from poise.model.model import Model
from poise.spatial import BOUND, LARGEST, Array, finite
from poise.tasks.base import POSITION, ROTATION, Task, point
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

    Where the frame is held back, the target is no farther ahead of it than the Tracker's `lead`, and against the
    direction of the twist no farther than a tenth of that: an arm answers at once when the twist turns.

    Raises ShapeError or ValueError for numbers that are no velocity.
    """

    linear: npt.ArrayLike = (0.0, 0.0, 0.0)
    angular: npt.ArrayLike = (0.0, 0.0, 0.0)
    frame: Literal["world", "tool"] = "world"

    def __post_init__(self) -> None:
        for name in ("linear", "angular"):
            given = finite(name, point(name, getattr(self, name)), 3)
            if not (np.abs(given) <= LARGEST).all():
                raise ValueError(f"{name} is {given.tolist()}; {BOUND}")
            object.__setattr__(self, name, tuple(given.tolist()))
        one_of("frame", self.frame, ("world", "tool"))

    def seen(self, task: Task, model: Model, q: Array, name: str) -> Array:
        """(7,) where the frame of a task is at `q` (nq,), seen as its target is.

        Raises ValueError for a task whose target it cannot move, or for a part that the task does not lead.
        """
        if not isinstance(task, OfFrame) or not task.leads:
            raise ValueError(
                f"{name} is a Twist, and {task.label} takes none: give one to a PoseTask, PositionTask or "
                "OrientationTask"
            )
        for part, lead, what in (("linear", POSITION, "position"), ("angular", ROTATION, "rotation")):
            if lead not in task.leads and any(getattr(self, part)):
                raise ValueError(f"{name} has {part} velocity, and {task.label} has no {what}: leave it out")
        return task.seen(model, q).array

    def moved(self, target: Array, here: Array, dt: float, lead: "Lead") -> Array:
        """(7,) where the target (7,) is after `dt` seconds, for a frame that is `here` (7,); see `Lead`."""
        place, turn = target[:3].tolist(), _unit(target[3:].tolist())
        frame, facing = here[:3].tolist(), here[3:].tolist()
        parts: Any = (self.linear, self.angular)
        way, spin = ([dt * x for x in part] for part in parts)
        if self.frame == "tool":
            way, spin = _rotated(turn, way), _rotated(turn, spin)
        gone = _screwed(way, spin) if self.frame == "tool" else way
        ahead = [p + x - q for p, x, q in zip(place, gone, frame, strict=True)]
        place = [q + x for q, x in zip(frame, _held(ahead, way, lead.distance), strict=True)]
        turned = _product(_exponential(_held(spin, spin, lead.angle)), turn)
        ahead = _held(_logarithm(_product(turned, _inverse(facing))), spin, lead.angle)
        return np.array([*place, *_unit(_product(_exponential(ahead), facing))])


@final
@dataclass(frozen=True, slots=True)
class Lead:
    """How far a target that is driven may be ahead of its frame."""

    distance: float = 0.1
    """[m]"""
    angle: float = 0.5
    """[rad], at most 1.5, for a target that is turned farther would come round from behind."""

    def __post_init__(self) -> None:
        positive("the distance of lead", self.distance)
        positive("the angle of lead", self.angle)
        if self.angle > _WIDEST:
            raise ValueError(f"the angle of lead is {self.angle:g}; it must be at most {_WIDEST} rad")

    @classmethod
    def of(cls, lead: Any) -> "Lead":
        """From metres, or metres and radians; raises ValueError for what is neither."""
        given = tuple(lead) if isinstance(lead, (list, tuple)) else (lead,)
        if len(given) not in (1, 2):
            raise ValueError(f"lead must be metres or (metres, radians), as in lead=(0.1, 0.5), got {lead!r}")
        return cls(*given)


Numbers = list[float]


def _held(ahead: Numbers, way: Numbers, lead: float) -> Numbers:
    """(3,) `ahead` no longer than `lead`, nor than a tenth of that against the direction of `way` (3,)."""
    x, y, z = ahead
    a, b, c = way
    length = math.hypot(a, b, c)
    if length > 0.0:
        short = min(0.0, (x * a + y * b + z * c) / length + _BACK * lead) / length
        x, y, z = x - short * a, y - short * b, z - short * c
    size = math.hypot(x, y, z)
    share = 1.0 if size <= lead else lead / size
    return [share * x, share * y, share * z]


# One rotation is so few numbers that Python's own arithmetic is many times as fast on them as NumPy's.


def _screwed(way: Numbers, spin: Numbers) -> Numbers:
    """(3,) how far a screw motion goes that begins along `way` [m] and turns by `spin` [rad] about the same point."""
    angle = math.hypot(*spin)
    if angle < _SMALL:
        side, back = 0.5, 1.0 / 6.0
    else:
        side, back = 2.0 * (math.sin(0.5 * angle) / angle) ** 2, (angle - math.sin(angle)) / angle**3
    across = _cross(spin, way)
    return [x + side * y + back * z for x, y, z in zip(way, across, _cross(spin, across), strict=True)]


def _cross(a: Numbers, b: Numbers) -> Numbers:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _product(a: Numbers, b: Numbers) -> Numbers:
    """Hamilton product, scalar first."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]


def _unit(q: Numbers) -> Numbers:
    """A quaternion of unit length; zero as it is."""
    size = math.hypot(*q) or 1.0
    return [x / size for x in q]


def _inverse(q: Numbers) -> Numbers:
    return [q[0], -q[1], -q[2], -q[3]]


def _rotated(q: Numbers, x: Numbers) -> Numbers:
    return _product(_product(q, [0.0, *x]), _inverse(q))[1:]


def _exponential(rotvec: Numbers) -> Numbers:
    """The unit quaternion of a rotation vector [rad]."""
    x, y, z = rotvec
    half = 0.5 * math.hypot(x, y, z)
    scale = 0.5 * math.sin(half) / half if half > 0.0 else 0.5
    return [math.cos(half), scale * x, scale * y, scale * z]


def _logarithm(q: Numbers) -> Numbers:
    """The rotation vector [rad], of length at most pi, of a unit quaternion."""
    w, x, y, z = q
    sine = math.hypot(x, y, z)
    scale = 2.0 * math.atan2(sine, abs(w)) / sine if sine > 0.0 else 2.0
    scale = math.copysign(scale, w)
    return [scale * x, scale * y, scale * z]
