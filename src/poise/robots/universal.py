"""Arms of Universal Robots' e-series: UR3e, UR5e, UR10e and UR16e, with a shape around each link.

Source: Universal Robots, "DH parameters for calculations of kinematics and dynamics" (standard), and the technical
data; the elbow is held to half a turn, as in the ROS description, for it cannot pass the upper arm.  `base` is the base
frame of the controller and of the tables: the `base_link` of ROS is turned by 180 degrees about z.  Links have the
frames of the tables; `tool0` is the flange.

A link is the convex hull of the round housings at its two joints, each as a prism around it.  They hold the links as
Universal Robots draws them in version 2.4.5 of its ROS 2 description, to the next millimetre.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from poise.common.array import Array
from poise.model.dh import DH
from poise.model.model import Model
from poise.robots.arms import arm
from poise.spatial import SE3

if TYPE_CHECKING:
    from poise.geometry.shapes import ConvexHull

_RIGHT = 0.5 * math.pi
_JOINTS: Final = (
    ("shoulder_pan_joint", "shoulder_link"),
    ("shoulder_lift_joint", "upper_arm_link"),
    ("elbow_joint", "forearm_link"),
    ("wrist_1_joint", "wrist_1_link"),
    ("wrist_2_joint", "wrist_2_link"),
    ("wrist_3_joint", "wrist_3_link"),
)
_TURNS: Final = (2.0, 2.0, 1.0, 2.0, 2.0, 2.0)
"""How far each joint turns either way, in half turns."""

_Housing = tuple[int, int, int]
"""Radius, and from where to where it reaches along the axis of its joint, from the origin of the link's frame [mm]; of
the joint before, from the foot of the common normal there."""
_Housings = Sequence[Sequence[_Housing]]
"""Of the base its foot and its top; then of each link those of the joints before and after; of the last, one."""


def ur3e() -> Model:
    """Universal Robots UR3e: 6 joints, the last of which turns without end."""
    housings = [
        [(65, 0, 25), (46, 0, 95)],
        [(47, -58, 59), (47, -47, 63)],
        [(48, 62, 179), (40, 64, 178)],
        [(39, -10, 72), (33, -20, 78)],
        [(33, -54, 33), (33, -47, 50)],
        [(33, -36, 33), (33, -47, 51)],
        [(38, -42, 1)],
    ]
    lengths = (0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921)
    return _made("ur3e", lengths, (180, 180, 180, 360, 360, 360), housings, endless=True)


def ur5e() -> Model:
    """Universal Robots UR5e: 6 joints."""
    housings = [
        [(76, 0, 25), (58, 0, 100)],
        [(61, -64, 72), (61, -61, 75)],
        [(61, 70, 210), (61, 60, 210)],
        [(59, -42, 61), (40, -50, 61)],
        [(40, -74, 39), (40, -57, 54)],
        [(40, -47, 40), (40, -57, 54)],
        [(44, -46, 1)],
    ]
    return _made("ur5e", (0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996), (180,) * 6, housings)


def ur10e() -> Model:
    """Universal Robots UR10e: 6 joints."""
    arms = [(77, 94, 270), (61, 97, 252)], [(59, -19, 102), (48, -19, 107)]
    return _large("ur10e", -0.6127, -0.57155, arms)


def ur16e() -> Model:
    """Universal Robots UR16e: 6 joints."""
    arms = [(77, 94, 270), (61, 97, 252)], [(60, -19, 103), (48, -19, 107)]
    return _large("ur16e", -0.4784, -0.36, arms)


def _large(name: str, a2: float, a3: float, arms: _Housings) -> Model:
    """UR10e or UR16e, which share all but the lengths of upper arm and forearm [m], and their housings."""
    base = [(96, 0, 25), (75, 0, 100)], [(77, -82, 94), (77, -77, 95)]
    wrist = [(47, -69, 48), (47, -58, 67)], [(48, -54, 47), (48, -57, 68)], [(52, -49, 1)]
    lengths = (0.1807, a2, a3, 0.17415, 0.11985, 0.11655)
    return _made(name, lengths, (120, 120, 180, 180, 180, 180), [*base, *arms, *wrist])


def _made(
    name: str, lengths: Sequence[float], speeds: Sequence[float], housings: _Housings, *, endless: bool = False
) -> Model:
    """The arm of these lengths d1, a2, a3, d4, d5, d6 [m] and speeds [degrees/s].

    The last joint of one that is `endless` has no limits.
    """
    d1, a2, a3, d4, d5, d6 = lengths
    table = [(0.0, _RIGHT, d1), (a2, 0.0, 0.0), (a3, 0.0, 0.0), (0.0, _RIGHT, d4), (0.0, -_RIGHT, d5), (0.0, 0.0, d6)]
    ranges: list[tuple[float, float] | None] = [(-math.pi * turns, math.pi * turns) for turns in _TURNS]
    if endless:
        ranges[-1] = None
    rows = [
        DH(*numbers, limits=limits, velocity=math.radians(speed), name=joint, link=link)
        for numbers, limits, speed, (joint, link) in zip(table, ranges, speeds, _JOINTS, strict=True)
    ]
    shapes = {"base": _around(SE3.identity(), *housings[0])}
    for row, (_, link), some in zip(rows, _JOINTS, housings[1:], strict=True):
        shapes[link] = _around(SE3.from_xyz_rpy([-row.a, 0.0, 0.0], [-row.alpha, 0.0, 0.0]), *some)
    tools = {"tool0_joint": ("tool0", SE3.identity())}
    return arm(name, rows, "standard", "base", tools, (-_RIGHT, -_RIGHT, _RIGHT, -_RIGHT, -_RIGHT, 0.0), shapes)


def _corners(axis: SE3, housing: _Housing) -> Array:
    """(32, 3) the corners of the prism around a housing about z of `axis` [m]."""
    from poise.geometry.enclosing import prism
    from poise.geometry.shapes import Cylinder

    radius, low, high = (1e-3 * number for number in housing)
    around = prism(Cylinder(axis @ SE3.from_parts([0.0, 0.0, 0.5 * (low + high)]), radius, high - low))
    return around.pose.act(np.asarray(around.points))


def _around(before: SE3, first: _Housing, *others: _Housing) -> "ConvexHull":
    """The hull of a housing about z of `before`, and others about the frame's own z."""
    from poise.geometry.shapes import ConvexHull

    return ConvexHull(np.concatenate([_corners(before, first), *(_corners(SE3.identity(), x) for x in others)]))
