"""Where files of motion capture are that are too large to stand here; CONTRIBUTING.md says how to get them."""

import importlib.util
import os
import re
from pathlib import Path

import pytest

ASSIMP = Path(os.environ.get("ASSIMP_TESTMODELS", "/usr/share/assimp/models"))
"""Debian's package assimp-testmodels: BVH files of CMU, and a glTF corpus."""
needs_assimp = pytest.mark.skipif(not ASSIMP.is_dir(), reason="needs Debian's assimp-testmodels")

WEBXR = Path(os.environ.get("WEBXR_HANDS", Path(__file__).parents[2] / ".venv" / "webxr-hands"))
"""`dist/profiles/generic-hand` of npm's @webxr-input-profiles/assets: the two hands of 25 joints."""
needs_webxr = pytest.mark.skipif(not WEBXR.is_dir(), reason="needs the hands of npm's @webxr-input-profiles/assets")


def package(name: str, *, variable: str) -> Path | None:
    """The folder of a package, which is not imported: what `variable` of the environment says, or of pip."""
    if variable in os.environ:
        return Path(os.environ[variable])
    found = importlib.util.find_spec(name)
    return Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None


HOLOSOMA = package("holosoma_retargeting", variable="HOLOSOMA")
"""The package holosoma-retargeting: climbs of a human as positions of 53 joints, 30 a second, z up."""
needs_holosoma = pytest.mark.skipif(
    HOLOSOMA is None, reason="needs the wheel of holosoma-retargeting, without the rest"
)


def climbs() -> list[Path]:
    """The positions (frames, 53, 3) of each climb [m]."""
    assert HOLOSOMA is not None
    return sorted(HOLOSOMA.glob("demo_data/climb/*/*_joint_positions_*.npy"))


def climber() -> tuple[list[str], list[str | None]]:
    """The names of the joints of a climb, and the parent of each."""
    assert HOLOSOMA is not None
    text = (HOLOSOMA / "config_types" / "data_type.py").read_text()
    listed = re.search(r"MOCAP_DEMO_JOINTS = \[(.*?)\]", text, re.DOTALL)
    assert listed is not None
    names = re.findall(r'"(\w+)"', listed[1])
    return names, [_parent(name) for name in names]


def _parent(name: str) -> str | None:
    trunk = {"Hips": None, "Spine": "Hips", "Spine1": "Spine", "Neck": "Spine1", "Head": "Neck"}
    if name in trunk:
        return trunk[name]
    side = "Left" if name.startswith("Left") else "Right"
    part = name.removeprefix(side)
    if finger := re.fullmatch(r"(Hand\D+)(\d)", part):
        return f"{side}Hand" if finger[2] == "1" else f"{side}{finger[1]}{int(finger[2]) - 1}"
    above = {"Arm": "Shoulder", "ForeArm": "Arm", "Hand": "ForeArm"}
    above |= {"Leg": "UpLeg", "Foot": "Leg", "ToeBase": "Foot", "FootMod": "Foot"}
    return side + above[part] if part in above else {"Shoulder": "Spine1", "UpLeg": "Hips"}[part]
