"""Where the hand is to go: a target that held keys and sticks push ahead of the hand."""

from dataclasses import dataclass
from typing import Final, Literal, final

import numpy as np

from poise.checks import finite, one_of
from poise.geometry.shapes import checked_point
from poise.solving.twist import Lead
from poise.spatial import SE3, SO3, Array

Axes = Literal["base", "tool"]


@final
@dataclass(frozen=True, slots=True)
class Drive:
    """Velocities of the target, as held keys or a stick ask for them; raises ShapeError or ValueError for others."""

    linear: tuple[float, ...] = (0.0, 0.0, 0.0)
    """(3,) [m/s]"""
    angular: tuple[float, ...] = (0.0, 0.0, 0.0)
    """(3,) [rad/s]"""
    axes: Axes = "base"
    """Along which they are taken: those of the world, in which the base stands, or those of the tool."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "linear", checked_point("linear", self.linear))
        object.__setattr__(self, "angular", checked_point("angular", self.angular))
        one_of("axes", self.axes, ("base", "tool"))

    @property
    def moves(self) -> bool:
        """Whether anything is held."""
        return any(self.linear) or any(self.angular)

    def moved(self, target: SE3, hand: SE3, dt: float, lead: Lead, *, turns: bool) -> SE3:
        """The target after `dt` seconds.

        It gets no farther from the hand than `lead`, or than it was, if that is more.  Where the task `turns` nothing,
        the target has the rotation of the hand.
        """
        turned = target.rotation if turns else hand.rotation
        linear, angular = dt * np.array(self.linear), dt * np.array(self.angular)
        if self.axes == "tool":
            linear, angular = turned.act(linear), turned.act(angular)
        before = target.xyz - hand.xyz
        xyz = hand.xyz + _held(before + linear, lead.distance, before)
        if not turns or not any(self.angular):
            return SE3.from_parts(xyz, turned)
        back = hand.rotation.inverse()
        ahead = (target.rotation @ back).log()
        after = (SO3.from_rotvec(_at_most_a_turn(angular)) @ target.rotation @ back).log()
        return SE3.from_parts(xyz, SO3.from_rotvec(_held(after, lead.angle, ahead)) @ hand.rotation)


_MOST_TURN: Final = 1.0
"""A target turns no farther in one update [rad], or it would come round from behind."""


def _held(ahead: Array, lead: float, before: Array) -> Array:
    """(3,) `ahead` shortened to `lead`, or to the length of `before`, if that is more."""
    size, most = float(np.linalg.norm(ahead)), max(lead, float(np.linalg.norm(before)))
    return ahead if size <= most else most / size * ahead


def _at_most_a_turn(rotvec: Array) -> Array:
    size = float(np.linalg.norm(rotvec))
    return rotvec if size <= _MOST_TURN else _MOST_TURN / size * rotvec


def aimed(goal: object, rotation: SO3) -> SE3:
    """A target from a pose, as `SE3.parse` takes it, or from a point (3,), which keeps `rotation`.

    Raises ShapeError or ValueError for what is neither.
    """
    if isinstance(goal, SE3):
        pose = goal
    else:
        numbers = finite("target", goal)  # type: ignore[arg-type]
        pose = SE3.from_parts(numbers, rotation) if numbers.shape == (3,) else SE3.parse(numbers, "target")
    if pose.array.ndim != 1:
        raise ValueError(f"target must be one pose or point, got a batch of {pose.array.shape[:-1]}")
    checked_point("target", pose.xyz)
    return pose
