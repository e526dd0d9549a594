"""Characters whose file says which node is which bone: VRM 0, VRM 1 and their animation."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz

BONES = {
    "hips": (None, (0.0, 0.9, 0.0)), "spine": ("hips", (0.0, 0.15, 0.0)), "chest": ("spine", (0.0, 0.2, 0.0)),
    "head": ("chest", (0.0, 0.3, 0.0)),
}  # fmt: skip
for side, sign in (("left", 1.0), ("right", -1.0)):
    BONES |= {
        f"{side}UpperLeg": ("hips", (0.1 * sign, -0.05, 0.0)),
        f"{side}LowerLeg": (f"{side}UpperLeg", (0.0, -0.4, 0.0)),
        f"{side}Foot": (f"{side}LowerLeg", (0.0, -0.4, 0.0)),
        f"{side}Toes": (f"{side}Foot", (0.0, -0.05, 0.12)),
        f"{side}UpperArm": ("chest", (0.15 * sign, 0.15, 0.0)),
        f"{side}LowerArm": (f"{side}UpperArm", (0.28 * sign, 0.0, 0.0)),
        f"{side}Hand": (f"{side}LowerArm", (0.25 * sign, 0.0, 0.0)),
    }
ORDER = list(BONES)


def character(version: int) -> dict[str, Any]:
    """A humanoid whose joints have names that say nothing, and whose hair is the skin with the most joints."""
    nodes: list[dict[str, Any]] = [
        {
            "name": f"J_{len(bone) * 7 + at}",
            "translation": list(BONES[bone][1]),
            "children": [ORDER.index(other) for other in ORDER if BONES[other][0] == bone],
        }
        for at, bone in enumerate(ORDER)
    ]
    hair = [{"name": f"hair{k}", "translation": [0.0, 0.05, 0.0], "children": [len(nodes) + k + 1]} for k in range(30)]
    hair[-1]["children"] = []
    nodes[ORDER.index("head")]["children"].append(len(nodes))
    for node in (*nodes, *hair):
        if not node["children"]:
            del node["children"]
    skins = [{"joints": list(range(len(nodes)))}, {"joints": list(range(len(nodes), len(nodes) + 30))}]
    bones = {bone: {"node": at} for at, bone in enumerate(ORDER)}
    if version == 0:
        extension = {"VRM": {"humanoid": {"humanBones": [{"bone": b, **node} for b, node in bones.items()]}}}
    else:
        name = "VRMC_vrm" if version == 1 else "VRMC_vrm_animation"
        extension = {name: {"specVersion": "1.0", "humanoid": {"humanBones": bones}}}
    return {"asset": {"version": "2.0"}, "nodes": [*nodes, *hair], "skins": skins, "extensions": extension}


def saved(document: dict[str, Any], file: Path) -> Path:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    file.write_bytes(b"glTF" + struct.pack("<IIII", 2, 20 + len(text), len(text), 0x4E4F534A) + text)
    return file


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("suffix", [".vrm", ".glb"])
def test_the_joints_are_the_bones_that_are_named(tmp_path: Path, version: int, suffix: str) -> None:
    document = character(version)
    motion = pz.load_motion(saved(document, tmp_path / f"one{suffix}"))
    assert set(motion.bones) == set(BONES)
    assert len(motion.model.joint_names) == len(BONES)
    for at, bone in enumerate(ORDER):
        assert motion.bones[bone] == document["nodes"][at]["name"]
    head = motion.positions([motion.bones["head"]])[0, 0]
    np.testing.assert_allclose(head, [0.0, 0.0, 1.55], atol=1e-12)
    assert pz.load(tmp_path / f"one{suffix}").joint_names == motion.model.joint_names


def test_a_skin_that_is_asked_for_keeps_the_bones_that_it_has(tmp_path: Path) -> None:
    file = saved(character(1), tmp_path / "one.vrm")
    assert len(pz.load_motion(file, skin=1).model.joint_names) == 30
    assert not pz.load_motion(file, skin=1).bones
    assert pz.load_motion(file, skin=0).bones == pz.load_motion(file).bones


def test_a_map_that_cannot_be_is_refused_with_its_place(tmp_path: Path) -> None:
    document = character(1)
    bones = document["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"]
    bones["head"] = {"node": 0}
    with refused("invalid-model", "humanBones.head.node: node 0 is 'hips' and 'head'"):
        pz.load_motion(saved(document, tmp_path / "one.vrm"))
    bones["head"] = {"node": 4000}
    with refused("invalid-model", "humanBones.head.node: 4000 is out of range"):
        pz.load_motion(saved(document, tmp_path / "one.vrm"))
    bones["head"] = {}
    with refused("invalid-model", "humanBones.head.node: is missing"):
        pz.load_motion(saved(document, tmp_path / "one.vrm"))
    bones["head"] = 3
    with refused("invalid-model", "humanBones.head: 3 is not an object"):
        pz.load_motion(saved(document, tmp_path / "one.vrm"))
    document["extensions"]["VRMC_vrm"]["humanoid"] = []
    with refused("invalid-model", "VRMC_vrm.humanoid: [] is not an object"):
        pz.load_motion(saved(document, tmp_path / "one.vrm"))
