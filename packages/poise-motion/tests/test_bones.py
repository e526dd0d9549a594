"""A map from bones that a file names: exact, whatever joints are called."""

import numpy as np
from bodies import robot

import poise as pz
from poise_motion.anatomy.parts import parts_of_bones


def body() -> tuple[pz.Model, dict[str, str]]:
    """A humanoid whose names mislead, and its bones."""
    b = pz.ModelBuilder("character")
    b.joint("left_foot", "floating", parent="world", child="left_foot")
    bones = {"hips": "left_foot"}
    for bone, parent, place in (
        ("chest", "hips", (0.0, 0.0, 0.35)), ("head", "chest", (0.0, 0.0, 0.3)),
        *((f"{s}UpperLeg", "hips", (0.0, 0.1 * y, -0.05)) for s, y in (("left", 1), ("right", -1))),
        *((f"{s}LowerLeg", f"{s}UpperLeg", (0.0, 0.0, -0.4)) for s in ("left", "right")),
        *((f"{s}Foot", f"{s}LowerLeg", (0.0, 0.0, -0.4)) for s in ("left", "right")),
    ):  # fmt: skip
        bones[bone] = name = f"node{len(bones)}"
        b.joint(name, "spherical", parent=bones[parent], child=name, origin=pz.SE3.from_parts(place))
    return b.build(), bones


def test_the_map_is_that_of_the_bones_and_no_other() -> None:
    model, bones = body()
    q = np.tile(model.neutral, (5, 1))
    q[:, 2] = 0.9
    motion = pz.Motion(model, np.arange(5) / 30.0, q, bones=bones)
    found = pz.BodyMap.found(motion, robot("g1"))
    assert found.source == {
        "pelvis": bones["hips"], "chest": bones["chest"], "head": bones["head"],
        **{f"{s}_{part}": bones[f"{s}{bone}"] for s in ("left", "right") for part, bone in (
            ("hip", "UpperLeg"), ("knee", "LowerLeg"), ("ankle", "Foot"))},
    }  # fmt: skip
    assert "the file names no such bone" in found.missing["left_elbow"]
    assert found.contacts == ("left_ankle", "right_ankle")
    assert pz.retarget(motion, robot("g1"), fps=60.0).body.source == found.source


def test_the_thumb_of_both_versions_and_the_highest_chest() -> None:
    parts, fingers = parts_of_bones(
        {"chest": "a", "upperChest": "b", "leftThumbProximal": "c", "rightThumbProximal": "d"}
        | {"rightThumbMetacarpal": "e", "leftLittleProximal": "f", "neck": "g"}
    )
    assert parts == {"chest": "b", "head": "g"}
    assert fingers == {"left_thumb": "c", "right_thumb": "e", "left_pinky": "f"}
