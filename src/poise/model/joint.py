"""One joint of the tree: what it is, where it sits, how far it goes.

A joint moves its child link relative to its parent link.  At zero its child frame coincides with its own
frame, `origin`, which is fixed in the parent link.

| kind | q | v | motion |
|---|---|---|---|
| fixed | 0 | 0 | none |
| revolute, continuous | 1 | 1 | turn about `axis` [rad]; continuous has no limits |
| prismatic | 1 | 1 | slide along `axis` [m] |
| helical | 1 | 1 | turn about `axis` [rad] and slide `pitch` metres per radian along it |
| planar | 3 | 3 | slide along two directions normal to `axis`, then turn about it |
| spherical | 4 | 3 | unit quaternion w x y z; velocity is angular, along the joint frame's fixed axes |
| floating | 7 | 6 | pose x y z, w x y z; velocity is linear then angular, along the joint frame's fixed axes |

A spherical joint may have limits of its own, `ball`: see `poise.model.swing`.
"""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import final

import numpy as np

from poise.common.array import Array
from poise.model.joint_function import JointFunction
from poise.model.swing import SwingTwist
from poise.quaternions import aligning
from poise.spatial import SE3

_DEGREES = (20.0, 360.0)
"""Limits of revolute joints that are rather degrees than radians: more than three turns, and no more than one."""
_NONE = 100.0
"""What is written to both sides for no limit."""


class JointKind(StrEnum):
    """What a joint lets its child link do."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    HELICAL = "helical"
    PLANAR = "planar"
    SPHERICAL = "spherical"
    FLOATING = "floating"


_SIZES = {
    JointKind.FIXED: (0, 0),
    JointKind.PLANAR: (3, 3),
    JointKind.SPHERICAL: (4, 3),
    JointKind.FLOATING: (7, 6),
}
_QUATERNION_AT = {JointKind.SPHERICAL: 0, JointKind.FLOATING: 3}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Mimic:
    """A joint that follows another: its position is `multiplier * (position of joint) + offset`, or, where one is
    given, a `function` of that position."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0
    function: JointFunction | None = None

    @property
    def rule(self) -> JointFunction:
        """Its position as a function of the other's."""
        return self.function or JointFunction.polynomial([self.offset, self.multiplier])

    @property
    def words(self) -> tuple[str, str]:
        """It for people: what is taken of the other's position, and what is added."""
        if self.function is not None:
            return f"= f({self.joint})", ""
        return f"= {self.multiplier:g} {self.joint}", f"+ {self.offset:g}"


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Joint:
    """One joint; `lower` and `upper` hold one number for each coordinate of q, `velocity` one for each of v."""

    name: str
    kind: JointKind
    parent: str
    """Link that carries the joint."""
    child: str
    """Link that the joint moves."""
    origin: SE3 = field(default_factory=SE3.identity)
    """Pose of the joint's frame in the parent link."""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Unit axis in the joint's frame."""
    pitch: float = 0.0
    """Metres along the axis for each radian about it (helical only)."""
    lower: tuple[float, ...] = ()
    """[rad or m]; -inf where there is none."""
    upper: tuple[float, ...] = ()
    """[rad or m]; inf where there is none."""
    velocity: tuple[float, ...] = ()
    """Largest speed [rad/s or m/s]; inf where there is none."""
    acceleration: tuple[float, ...] = ()
    """Largest acceleration [rad/s^2 or m/s^2], one for each of v; empty where none is stated."""
    jerk: tuple[float, ...] = ()
    """Largest jerk [rad/s^3 or m/s^3], likewise."""
    effort: float = math.inf
    """Largest torque or force [N m or N] of a joint of one axis; inf where none is stated."""
    ball: SwingTwist | None = None
    """Limits of swing and twist (spherical only)."""
    mimic: Mimic | None = None

    @property
    def nq(self) -> int:
        """Numbers that its position takes in q: 0 if it is fixed or follows another."""
        return 0 if self.mimic else self.size

    @property
    def nv(self) -> int:
        """Numbers that its velocity takes in v: 0 if it is fixed or follows another."""
        return 0 if self.mimic else self.speeds

    @property
    def size(self) -> int:
        """Numbers that its own position has, even if they follow another joint's."""
        return _SIZES.get(self.kind, (1, 1))[0]

    @property
    def speeds(self) -> int:
        """Numbers that its own velocity has, even if they follow another joint's."""
        return _SIZES.get(self.kind, (1, 1))[1]

    @property
    def quaternion_at(self) -> int | None:
        """Where its unit quaternion starts within its coordinates; None if it has none."""
        return _QUATERNION_AT.get(self.kind)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """A name for each of its numbers in q: the joint's own, or `name.x` and so on if there are several."""
        tails = {
            JointKind.PLANAR: ("x", "y", "angle"),
            JointKind.SPHERICAL: ("qw", "qx", "qy", "qz"),
            JointKind.FLOATING: ("x", "y", "z", "qw", "qx", "qy", "qz"),
        }.get(self.kind)
        if tails:
            return tuple(f"{self.name}.{tail}" for tail in tails)
        return (self.name,) if self.size else ()

    def motion(self, position: Array) -> SE3:
        """Pose of the child in the joint's frame at `position` (`size` numbers)."""
        axis = np.array(self.axis)
        match self.kind:
            case JointKind.FIXED:
                return SE3.identity()
            case JointKind.REVOLUTE | JointKind.CONTINUOUS:
                return SE3.from_rotvec(np.zeros(3), position[0] * axis)
            case JointKind.PRISMATIC:
                return SE3.from_parts(position[0] * axis)
            case JointKind.HELICAL:
                return SE3.from_rotvec(self.pitch * position[0] * axis, position[0] * axis)
            case JointKind.PLANAR:
                slide = SE3(np.concatenate([np.zeros(3), aligning(self.axis)])).act([position[0], position[1], 0.0])
                return SE3.from_rotvec(slide, position[2] * axis)
            case JointKind.SPHERICAL:
                return SE3(np.concatenate([np.zeros(3), position]))
            case JointKind.FLOATING:
                return SE3(position)


def like_degrees(kind: JointKind, *limits: float) -> bool:
    """Whether limits of a joint look like degrees: three turns in radians are more than a hinge has.

    -100 to 100 are written for none.
    """
    if kind is not JointKind.REVOLUTE or (min(limits), max(limits)) == (-_NONE, _NONE):
        return False
    return any(_DEGREES[0] < abs(limit) <= _DEGREES[1] for limit in limits)
