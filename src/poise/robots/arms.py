"""Well-known arms from their published Denavit-Hartenberg tables, without meshes or masses.

Each stands with its base link at the world's origin and starts at the posture `ready`, away from singularities.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from poise.model.builder import ModelBuilder
from poise.model.dh import DH, Convention, add_rows
from poise.model.model import Model
from poise.spatial import SE3

if TYPE_CHECKING:
    from poise.geometry.shapes import Shape

_PI = math.pi
_RIGHT = 0.5 * math.pi


def panda() -> Model:
    """Franka Emika Panda: 7 joints and the hand, without its fingers.

    Source: Franka's control interface documentation, "Denavit-Hartenberg parameters" (modified) and "Limits for
    Panda".  The flange is `panda_link8`; the hand is turned by -45 degrees on it, and `panda_hand_tcp` lies 0.1034 m
    beyond, between the finger tips.  Names and link frames are those of franka_description.
    """
    # a, alpha, d, lower, upper, velocity
    table = [
        (0.0, 0.0, 0.333, -2.8973, 2.8973, 2.175),
        (0.0, -_RIGHT, 0.0, -1.7628, 1.7628, 2.175),
        (0.0, _RIGHT, 0.316, -2.8973, 2.8973, 2.175),
        (0.0825, _RIGHT, 0.0, -3.0718, -0.0698, 2.175),
        (-0.0825, -_RIGHT, 0.384, -2.8973, 2.8973, 2.61),
        (0.0, _RIGHT, 0.0, -0.0175, 3.7525, 2.61),
        (0.088, _RIGHT, 0.0, -2.8973, 2.8973, 2.61),
    ]
    rows = [
        DH(a, alpha, d, limits=(lower, upper), velocity=speed, name=f"panda_joint{i}", link=f"panda_link{i}")
        for i, (a, alpha, d, lower, upper, speed) in enumerate(table, start=1)
    ]
    tools = {
        "panda_joint8": ("panda_link8", SE3.from_parts([0.0, 0.0, 0.107])),
        "panda_hand_joint": ("panda_hand", SE3.from_xyz_rpy(np.zeros(3), [0.0, 0.0, -0.25 * _PI])),
        "panda_hand_tcp_joint": ("panda_hand_tcp", SE3.from_parts([0.0, 0.0, 0.1034])),
    }
    ready = (0.0, -0.25 * _PI, 0.0, -0.75 * _PI, 0.0, _RIGHT, 0.25 * _PI)
    return arm("panda", rows, "modified", "panda_link0", tools, ready)


def iiwa14() -> Model:
    """KUKA LBR iiwa 14 R820: 7 joints.

    Source: KUKA's data sheet (360, 420, 400 and 126 mm; ranges and speeds of the axes), here as a modified table.
    Joints turn as in the ROS descriptions, whose link frames lie elsewhere along the same axes; the flange is
    `iiwa_link_ee`.
    """
    # alpha, d, limit, velocity
    table = [
        (0.0, 0.36, 170.0, 85.0),
        (-_RIGHT, 0.0, 120.0, 85.0),
        (_RIGHT, 0.42, 170.0, 100.0),
        (_RIGHT, 0.0, 120.0, 75.0),
        (-_RIGHT, 0.4, 170.0, 130.0),
        (-_RIGHT, 0.0, 120.0, 135.0),
        (_RIGHT, 0.0, 175.0, 135.0),
    ]
    rows = [
        DH(
            0.0,
            alpha,
            d,
            limits=_degrees(-limit, limit),
            velocity=math.radians(speed),
            name=f"iiwa_joint_{i}",
            link=f"iiwa_link_{i}",
        )
        for i, (alpha, d, limit, speed) in enumerate(table, start=1)
    ]
    tools = {"iiwa_joint_ee": ("iiwa_link_ee", SE3.from_parts([0.0, 0.0, 0.126]))}
    ready = (0.0, 0.25 * _PI, 0.0, -_RIGHT, 0.0, 0.25 * _PI, 0.0)
    return arm("iiwa14", rows, "modified", "iiwa_link_0", tools, ready)


def puma560() -> Model:
    """Unimation Puma 560: 6 joints, named `joint1` to `joint6`.

    Source: P. Corke and B. Armstrong-Helouvry, "A search for consensus among model parameters reported for the Puma
    560 robot", ICRA 1994 (standard), with the shoulder 0.672 m above the base and the joint limits of the Robotics
    Toolbox.
    """
    rows = [
        DH(0.0, _RIGHT, 0.672, limits=_degrees(-160, 160)),
        DH(0.4318, 0.0, 0.0, limits=_degrees(-45, 225)),
        DH(0.0203, -_RIGHT, 0.15005, limits=_degrees(-225, 45)),
        DH(0.0, _RIGHT, 0.4318, limits=_degrees(-110, 170)),
        DH(0.0, -_RIGHT, 0.0, limits=_degrees(-100, 100)),
        DH(0.0, 0.0, 0.0, limits=_degrees(-266, 266)),
    ]
    return arm("puma560", rows, "standard", "link0", {}, (0.0, 0.25 * _PI, -_PI, 0.0, 0.25 * _PI, 0.0))


def stanford() -> Model:
    """Stanford arm: 6 joints, named `joint1` to `joint6`; the third slides.

    Source: R. P. Paul, "Robot Manipulators: Mathematics, Programming, and Control", 1981 (standard), with the
    shoulder 0.412 m above the base and the limits of the Robotics Toolbox.
    """
    rows = [
        DH(0.0, -_RIGHT, 0.412, limits=_degrees(-170, 170)),
        DH(0.0, _RIGHT, 0.154, limits=_degrees(-170, 170)),
        DH(0.0, 0.0, 0.0, kind="prismatic", limits=(0.3048, 1.27)),
        DH(0.0, -_RIGHT, 0.0, limits=_degrees(-170, 170)),
        DH(0.0, _RIGHT, 0.0, limits=_degrees(-90, 90)),
        DH(0.0, 0.0, 0.0, limits=_degrees(-170, 170)),
    ]
    return arm("stanford", rows, "standard", "link0", {}, (0.0, 0.25 * _PI, 0.6, 0.0, 0.25 * _PI, 0.0))


def _degrees(lower: float, upper: float) -> tuple[float, float]:
    return math.radians(lower), math.radians(upper)


def arm(
    name: str,
    rows: Sequence[DH],
    convention: Convention,
    root: str,
    tools: Mapping[str, tuple[str, SE3]],
    ready: Sequence[float],
    shapes: "Mapping[str, Shape]" = MappingProxyType({}),
) -> Model:
    """The rows, then a chain of fixed joints: link and pose in the link before, by joint; `shapes` by link."""
    builder = ModelBuilder(name)
    tip = add_rows(builder, rows, convention, root=root)
    for joint, (link, origin) in tools.items():
        builder.joint(joint, "fixed", parent=tip, child=link, origin=origin)
        tip = link
    for link, shape in shapes.items():
        builder.shape(link, shape)
    names = [row.name or f"joint{i}" for i, row in enumerate(rows, start=1)]
    builder.posture("ready", {joint: [position] for joint, position in zip(names, ready, strict=True)})
    return builder.build(home="ready")
