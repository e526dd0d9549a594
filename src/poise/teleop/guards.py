"""What a target may not do, leave a box, run ahead, be too fast, and what no hand does: jump."""

from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite, finite_positive
from poise.common.errors import InvalidValue
from poise.quaternions import conjugate, rotate
from poise.spatial import SE3, one_pose, pose_of
from poise.teleop.displacements import length, moved_pose, pose_difference

_SILENCE: Final = 0.05
"""A hand that was not heard for longer is not believed to have gone farther [s]."""


@final
@dataclass(slots=True, eq=False)
class Jumps:
    """Tells a pose that no hand could have come to: after a glitch of the tracking, or where it began anew.

    A pose is believed if the way from the last one that was believed is no faster than `speed` [m/s] and
    `turn` [rad/s]; a silence counts for 0.05 s at most, for a tracking that stood still may be anywhere when it goes
    on.  So an outlier is left out.  A new place is believed by the second pose in a row that says so.
    It has a past: one for each device.

    Raises ValueError for a speed that is not positive.
    """

    speed: float = 4.0
    turn: float = 25.0
    _last: SE3 | None = field(default=None, init=False, repr=False)
    _doubted: SE3 | None = field(default=None, init=False, repr=False)
    _since: float = field(default=0.0, init=False, repr=False)

    def __post_init__(self) -> None:
        finite_positive("speed", self.speed)
        finite_positive("turn", self.turn)

    def reset(self) -> None:
        """Begin anew: the next pose is believed."""
        self._last = self._doubted = None

    def step(self, pose: SE3 | None, dt: float) -> bool:
        """Whether a pose is believed that came `dt` seconds after the last step; None, where none came, never is."""
        self._since += dt
        if pose is None:
            return False
        known = [each for each in (self._last, self._doubted) if each is not None]
        if self._last is not None and not any(self._near(each, pose) for each in known):
            self._doubted, self._since = pose, 0.0
            return False
        self._last, self._doubted, self._since = pose, None, 0.0
        return True

    def _near(self, here: SE3, there: SE3) -> bool:
        """Whether a hand can have gone from one to the other since a pose came."""
        place, turned = pose_difference(here, there)
        time = min(self._since, _SILENCE)
        return length(place) <= self.speed * time and length(turned) <= self.turn * time


@final
@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """A box that no target leaves: `lower` and `upper` (3,) [m], along the axes of `pose`, the world's if not given.

    A target outside is brought to the nearest place of the box; its rotation stays.  What begins outside gets no
    farther out.

    Raises ShapeError or ValueError for corners that are none.
    """

    lower: ArrayLike
    upper: ArrayLike
    pose: Any = None

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, finite(name, getattr(self, name), 3))
        object.__setattr__(self, "pose", SE3.identity() if self.pose is None else one_pose("pose", self.pose))
        lower, upper = self._corners
        if not (lower <= upper).all():
            raise InvalidValue(
                "inconsistent", f"lower is {lower.tolist()} and upper is {upper.tolist()}; lower must be below"
            )

    @property
    def _corners(self) -> tuple[Array, Array]:
        return np.asarray(self.lower), np.asarray(self.upper)

    def step(self, last: SE3, target: SE3) -> SE3:
        """The target, or the nearest one whose place is in the box, or no farther out than `last`."""
        back = conjugate(self.pose.wxyz)
        begin, seen = (rotate(back, each.xyz - self.pose.xyz) for each in (last, target))
        lower, upper = self._corners
        clamped = seen.clip(np.minimum(lower, begin), np.maximum(upper, begin))
        if (clamped == seen).all():
            return target
        return pose_of(np.concatenate([self.pose.xyz + rotate(self.pose.wxyz, clamped), target.wxyz]))


@final
@dataclass(frozen=True, slots=True)
class Lead:
    """How far the place of a target is ahead of the hand at most: `distance` [m].

    So an arm that cannot follow, at the end of its reach or before an obstacle, is at once with the operator who lets
    go and presses anew.  Rotations are left alone, for an arm of five joints never has the one it is told.  In a
    `Stream` it holds at every tick, whatever the hand did: where that goes away from the target faster than its
    `SpeedClip` lets the target go, the target goes along.  A box alone stands before it, where the hand is outside.

    Raises ValueError for a distance that is not positive.
    """

    distance: float = 0.2

    def __post_init__(self) -> None:
        finite_positive("distance", self.distance)

    def step(self, at: SE3, target: SE3) -> SE3:
        """The target, or one that is `distance` away from the hand, which is at `at`."""
        place = target.xyz - at.xyz
        far = length(place)
        if far <= self.distance:
            return target
        return pose_of(np.concatenate([at.xyz + self.distance / far * place, target.wxyz]))


@final
@dataclass(frozen=True, slots=True)
class SpeedClip:
    """How fast a target moves at most: `speed` [m/s] and `turn` [rad/s].

    Raises ValueError for what is not positive.
    """

    speed: float = 1.0
    turn: float = 3.0

    def __post_init__(self) -> None:
        finite_positive("speed", self.speed)
        finite_positive("turn", self.turn)

    def step(self, last: SE3, target: SE3, dt: float) -> SE3:
        """`target`, or as far on the way to it from `last` as goes in `dt` seconds."""
        place, turn = pose_difference(last, target)
        far, wide = length(place), length(turn)
        if far <= self.speed * dt and wide <= self.turn * dt:
            return target
        return moved_pose(
            last, min(1.0, self.speed * dt / (far or 1.0)) * place, min(1.0, self.turn * dt / (wide or 1.0)) * turn
        )
