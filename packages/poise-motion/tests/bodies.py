"""Skeletons in the naming of many programs, all with the same bones."""

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

import poise as pz
from poise.io import robot_names

Base = Literal["fixed", "planar", "floating"]
Points = Mapping[str, tuple[str | None, npt.ArrayLike]]
"""By joint, its parent and its place [m]."""

LEFT = {
    "clavicle": (0.03, 0.0, 1.42),
    "shoulder": (0.18, 0.0, 1.42),
    "elbow": (0.46, 0.0, 1.42),
    "wrist": (0.71, 0.0, 1.42),
    "hip": (0.09, 0.0, 0.92),
    "knee": (0.09, -0.01, 0.50),
    "ankle": (0.09, 0.02, 0.08),
    "toe": (0.09, -0.12, 0.02),
}
"""Of a human in a T pose that looks along -y, its left side."""
MIDDLE = {"hips": (0.0, 0.0, 0.95), "spine": (0.0, 0.0, 1.10), "chest": (0.0, 0.0, 1.30)}
MIDDLE |= {"neck": (0.0, 0.0, 1.48), "head": (0.0, -0.02, 1.58)}
ARM = ("clavicle", "shoulder", "elbow", "wrist")
LEG = ("hip", "knee", "ankle", "toe")
HEAD = ("neck", "head")


def robot(name: str, base: Base = "floating") -> pz.Model:
    """A robot, the same to all who ask: what is measured of its shapes is so once."""
    if name not in _names():
        pytest.skip("needs the package example-robot-data")
    return _loaded(name, base)


@cache
def _loaded(name: str, base: Base) -> pz.Model:
    with warnings.catch_warnings():  # files of example-robot-data are not all without fault
        warnings.simplefilter("ignore", pz.ModelWarning)
        return pz.load(name, base=base)


_names = cache(robot_names)


def skeleton(points: Points, *, name: str = "skeleton") -> pz.Model:
    """A model of balls at these places, its root floating."""
    builder = pz.ModelBuilder(name)
    at = {joint: np.asarray(place, dtype=float) for joint, (_, place) in points.items()}
    for joint, (parent, _) in points.items():
        if parent is None:
            builder.joint(joint, "floating", parent="world", child=joint)
        else:
            origin = pz.SE3.from_parts(at[joint] - at[parent])
            builder.joint(joint, "spherical", parent=parent, child=joint, origin=origin)
    return builder.build()


def human(names: Mapping[str, str], sides: tuple[str, str], *, scale: float = 1.0) -> Points:
    """The points of a human whose joints are called so; `{}` in a name stands for the side."""
    points: dict[str, tuple[str | None, npt.ArrayLike]] = {}

    def chain(parts: tuple[str, ...], parent: str | None, side: int | None) -> str | None:
        for part in parts:
            if part not in names:
                continue
            place = np.array(MIDDLE[part] if side is None else LEFT[part]) * scale
            called = names[part]
            if side is not None:
                place = place * (1 - 2 * side, 1, 1)
                called = called.format(sides[side])
            points[called] = (parent, place)
            parent = called
        return parent

    root = chain(("hips",), None, None)
    chest = chain(("spine", "chest"), root, None)
    chain(HEAD, chest, None)
    for side in (0, 1):
        chain(ARM, chest, side)
        chain(LEG, root, side)
    return points


def called(text: str) -> dict[str, str]:
    """Names of joints by part, in the order hips, spine, chest, neck, head, arm, leg; `-` for none."""
    parts = ("hips", "spine", "chest", "neck", "head", *ARM, *LEG)
    return {part: name for part, name in zip(parts, text.split(" | "), strict=True) if name != "-"}


CONVENTIONS = {
    "cmu": (
        "Hips | LowerBack | Spine1 | Neck1 | Head | {}Shoulder | {}Arm | {}ForeArm | {}Hand"
        " | {}UpLeg | {}Leg | {}Foot | {}ToeBase",
        ("Left", "Right"),
    ),
    "mixamo": (
        "mixamorig:Hips | mixamorig:Spine | mixamorig:Spine2 | mixamorig:Neck | mixamorig:Head | mixamorig:{}Shoulder"
        " | mixamorig:{}Arm | mixamorig:{}ForeArm | mixamorig:{}Hand | mixamorig:{}UpLeg | mixamorig:{}Leg"
        " | mixamorig:{}Foot | mixamorig:{}ToeBase",
        ("Left", "Right"),
    ),
    "poser": (
        "hip | abdomen | chest | neck | head | {}Collar | {}Shldr | {}ForeArm | {}Hand | {}Thigh | {}Shin | {}Foot"
        " | {}Toe",
        ("l", "r"),
    ),
    "smpl": (
        "Pelvis | Spine1 | Spine3 | Neck | Head | {}_Collar | {}_Shoulder | {}_Elbow | {}_Wrist | {}_Hip | {}_Knee"
        " | {}_Ankle | {}_Foot",
        ("L", "R"),
    ),
    "amass": (
        "pelvis | spine1 | spine3 | neck | head | {}_collar | {}_shoulder | {}_elbow | {}_wrist | {}_hip | {}_knee"
        " | {}_ankle | {}_foot",
        ("left", "right"),
    ),
    "soma": (
        "Hips | Spine1 | Chest | Neck1 | Head | {}Shoulder | {}Arm | {}ForeArm | {}Hand | {}Leg | {}Shin | {}Foot"
        " | {}ToeBase",
        ("Left", "Right"),
    ),
    "biped": (
        "Bip01 Pelvis | Bip01 Spine | Bip01 Spine1 | Bip01 Neck | Bip01 Head | Bip01 {} Clavicle | Bip01 {} UpperArm"
        " | Bip01 {} Forearm | Bip01 {} Hand | Bip01 {} Thigh | Bip01 {} Calf | Bip01 {} Foot | Bip01 {} Toe0",
        ("L", "R"),
    ),
    "unreal": (
        "pelvis | spine_01 | spine_03 | neck_01 | head | clavicle_{} | upperarm_{} | lowerarm_{} | hand_{} | thigh_{}"
        " | calf_{} | foot_{} | ball_{}",
        ("l", "r"),
    ),
    "blender": (
        "pelvis | spine | spine.001 | neck | head | shoulder.{} | upper_arm.{} | forearm.{} | hand.{} | thigh.{}"
        " | shin.{} | foot.{} | toe.{}",
        ("L", "R"),
    ),
    "vrm": (
        "J_Bip_C_Hips | J_Bip_C_Spine | J_Bip_C_Chest | J_Bip_C_Neck | J_Bip_C_Head | J_Bip_{}_Shoulder"
        " | J_Bip_{}_UpperArm | J_Bip_{}_LowerArm | J_Bip_{}_Hand | J_Bip_{}_UpperLeg | J_Bip_{}_LowerLeg"
        " | J_Bip_{}_Foot | J_Bip_{}_ToeBase",
        ("L", "R"),
    ),
    "xsens": (
        "Hips | L5 | T8 | Neck | Head | {}Collar | {}UpperArm | {}Forearm | {}Hand | {}UpperLeg | {}LowerLeg | {}Foot"
        " | {}Toe",
        ("Left", "Right"),
    ),
    "optitrack": (
        "Hip | Ab | Chest | Neck | Head | {}Shoulder | {}UArm | {}FArm | {}Hand | {}Thigh | {}Shin | {}Foot | {}Toe",
        ("L", "R"),
    ),
    "kinect": (
        "SpineBase | SpineMid | SpineShoulder | Neck | Head | - | Shoulder{} | Elbow{} | Wrist{} | Hip{} | Knee{}"
        " | Ankle{} | Foot{}",
        ("Left", "Right"),
    ),
    "old": (
        "Hips | Ab | Chest | Neck | Head | {}Collar | {}Shoulder | {}Elbow | {}Wrist | {}Hip | {}Knee | {}Ankle"
        " | {}Toes",
        ("Left", "Right"),
    ),
    "lower": (
        "hips | spine | chest | neck | head | {}shoulder | {}arm | {}forearm | {}hand | {}upleg | {}leg | {}foot"
        " | {}toe",
        ("left", "right"),
    ),
}
"""Names by program, and what they call left and right."""


def exercised(model: pz.Model, names: Mapping[str, str], sides: tuple[str, str], *, frames: int = 40) -> pz.Motion:
    """A human that looks along -y and squats on flat feet, lifts its arms from its sides, and bends its elbows."""
    t = np.linspace(0.0, 1.0, frames)
    q = np.tile(model.neutral, (frames, 1))
    squat, lift, bend = 0.5 * (1 - np.cos(2 * np.pi * t)), np.sin(np.pi * t), 0.2 + np.sin(np.pi * t) ** 2

    def turn(joint: str, axis: tuple[int, int, int], angle: npt.NDArray[np.float64]) -> None:
        q[:, model.index(joint)] = pz.SO3.from_rotvec(np.outer(angle, axis)).wxyz

    root = model.index(names["hips"])
    q[:, root.start + 2] = 0.95
    for side, sign in zip(sides, (1, -1), strict=True):
        joint = {part: name.format(side) for part, name in names.items()}
        turn(joint["hip"], (-1, 0, 0), squat)
        turn(joint["knee"], (1, 0, 0), 2.0 * squat)
        turn(joint["ankle"], (-1, 0, 0), squat)
        turn(joint["shoulder"], (0, sign, 0), 1.4 - lift)
        turn(joint["elbow"], (0, 0, -sign), bend)
    knees = model.poses(q, [names["ankle"].format(side) for side in sides]).xyz
    q[:, root.start : root.start + 3] += np.array([0.0, 0.02, 0.08]) - knees.mean(axis=1) * (0, 1, 1)
    return pz.Motion(model, t, q)


def resting(motion: pz.Motion, seed: int) -> pz.Motion:
    """The same motion of a skeleton whose joints' frames lie anyhow, so that its rest is no pose at all."""
    model, rng = motion.model, np.random.default_rng(seed)
    wxyz = rng.normal(size=(len(model.links), 4))
    other = pz.SO3(wxyz=wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True))
    number = {link: i for i, link in enumerate(model.links)}
    builder = pz.ModelBuilder(model.name)
    poses = motion.model.poses(motion.q, model.links)
    turned = poses.rotation @ other
    columns = []
    for joint in model.joints:
        i = number[joint.child]
        if joint.parent == "world":
            builder.joint(joint.name, "floating", parent="world", child=joint.child)
            columns += [poses.xyz[:, i], turned.wxyz[:, i]]
            continue
        k = number[joint.parent]
        offset = pz.SO3(wxyz=other.wxyz[k]).inverse() @ joint.origin.xyz
        origin = pz.SE3.from_parts(offset)
        builder.joint(joint.name, "spherical", parent=joint.parent, child=joint.child, origin=origin)
        columns.append((pz.SO3(wxyz=turned.wxyz[:, k]).inverse() @ pz.SO3(wxyz=turned.wxyz[:, i])).wxyz)
    return pz.Motion(builder.build(), motion.times, np.concatenate(columns, axis=1))
