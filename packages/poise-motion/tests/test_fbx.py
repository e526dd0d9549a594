"""FBX, against products of SciPy's rotations, of texts that are written here; skipped without ufbx."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.captures import ASSIMP, needs_assimp
from support.refusals import refused

import poise as pz

SECOND = 46186158000
"""A second in FBX's time."""
BODY = {
    "Hips": ("", (0, 95, 0)), "Spine": ("Hips", (0, 10, 0)), "Head": ("Spine", (0, 50, 0)),
    **{f"{s}{name}": (f"{s}{above}" if above in ("UpLeg", "Leg", "Arm", "ForeArm") else above, (x * sign, y, 0))
       for s, sign in (("Left", 1), ("Right", -1))
       for name, above, x, y in (("UpLeg", "Hips", 9, -5), ("Leg", "UpLeg", 0, -42), ("Foot", "Leg", 0, -42),
                                 ("Arm", "Spine", 15, 40), ("ForeArm", "Arm", 28, 0), ("Hand", "ForeArm", 25, 0))},
}  # fmt: skip
TURNED = {"Hips": (10.0, 20.0, 30.0), "LeftArm": (0.0, 0.0, -70.0), "LeftUpLeg": (-30.0, 5.0, 0.0)}
"""By joint, the angles about x, y and z that it has after a second [degrees]."""


def block(name: str, *properties: str) -> str:
    return f"{name} {{\n Properties70:  {{\n  " + "\n  ".join(properties) + "\n }\n}"


def fbx(*, prefix: str = "mixamorig:", scale: float = 1.0, up: int = 1, kind: str = "LimbNode") -> str:
    """A text of FBX: the body above, in units of `scale` centimetres, with one animation of a second."""
    ids = {name: 100 + k for k, name in enumerate(BODY)}
    objects, links = list[str](), list[str]()
    for name, (above, place) in BODY.items():
        x, y, z = place
        objects.append(
            block(
                f'Model: {ids[name]}, "Model::{prefix}{name}", "{kind}"',
                f'P: "Lcl Translation", "Lcl Translation", "", "A",{x},{y},{z}',
            )
        )
        links.append(f'C: "OO",{ids[name]},{ids.get(above, 0)}')
    span = [f'P: "Local{end}", "KTime", "Time", "",{time}' for end, time in (("Start", 0), ("Stop", SECOND))]
    objects += [
        block('AnimationStack: 900, "AnimStack::walk", ""', *span),
        'AnimationLayer: 901, "AnimLayer::Base", "" {\n}',
    ]
    links.append('C: "OO",901,900')
    for k, (name, angles) in enumerate(TURNED.items()):
        node = 1000 + 10 * k
        objects.append(
            block(
                f'AnimationCurveNode: {node}, "AnimCurveNode::R", ""',
                *(f'P: "d|{axis}", "Number", "", "A",0' for axis in "XYZ"),
            )
        )
        links += [f'C: "OO",{node},901', f'C: "OP",{node},{ids[name]}, "Lcl Rotation"']
        for i, (axis, angle) in enumerate(zip("XYZ", angles, strict=True), 1):
            objects.append(
                f'AnimationCurve: {node + i}, "AnimCurve::", "" {{\n Default: 0\n KeyVer: 4009\n'
                f" KeyTime: *2 {{\n  a: 0,{SECOND}\n }}\n KeyValueFloat: *2 {{\n  a: 0,{angle}\n }}\n"
                " KeyAttrFlags: *1 {\n  a: 4\n }\n KeyAttrDataFloat: *4 {\n  a: 0,0,0,0\n }\n"
                " KeyAttrRefCount: *1 {\n  a: 2\n }\n}"
            )
            links.append(f'C: "OP",{node + i},{node}, "d|{axis}"')
    front, sign = (2, 1) if up == 1 else (1, -1)
    settings = block(
        "GlobalSettings: ",
        *(
            f'P: "{name}", "int", "Integer", "",{value}'
            for name, value in (
                ("UpAxis", up), ("UpAxisSign", 1), ("FrontAxis", front), ("FrontAxisSign", sign), ("CoordAxis", 0),
                ("CoordAxisSign", 1),
            )
        ),
        f'P: "UnitScaleFactor", "double", "Number", "",{scale}',
        'P: "TimeMode", "enum", "", "",6',
    )  # fmt: skip
    header = "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n FBXHeaderVersion: 1003\n FBXVersion: 7400\n}"
    tree = "Connections:  {\n " + "\n ".join(links) + "\n}"
    return "\n".join([header, settings, "Objects:  {", *objects, "}", tree, ""])


@pytest.fixture(autouse=True)
def needs_ufbx() -> None:
    pytest.importorskip("ufbx", reason="FBX is read by ufbx")


def placed(share: float) -> dict[str, np.ndarray]:
    """By joint, where it is [cm] after a share of the second."""
    turns, out = {"": Rotation.identity()}, {"": np.zeros(3)}
    for name, (above, place) in BODY.items():
        turn = Rotation.from_euler("xyz", np.multiply(share, TURNED.get(name, (0.0, 0.0, 0.0))), degrees=True)
        turns[name] = turns[above] * turn
        out[name] = out[above] + turns[above].apply(place)
    return out


@pytest.mark.parametrize(("scale", "up"), [(1.0, 1), (2.54, 1), (100.0, 1), (1.0, 2)])
def test_joints_are_where_the_curves_bring_them(tmp_path: Path, scale: float, up: int) -> None:
    (tmp_path / "walk.fbx").write_text(fbx(scale=scale, up=up))
    motion = pz.load_motion(tmp_path / "walk.fbx")
    assert motion.name == "walk"
    assert motion.fps == pytest.approx(30.0)
    assert len(motion) == 31
    assert set(motion.model.joint_names) == {f"mixamorig:{name}" for name in BODY}
    for frame in (0, 15, 30):
        for name, place in placed(frame / 30).items():
            if name:
                x, y, z = 0.01 * scale * place
                expected = (x, -z, y) if up == 1 else (x, y, z)
                found = motion.positions([f"mixamorig:{name}"])[frame, 0]
                np.testing.assert_allclose(found, expected, atol=1e-5 * scale)


def test_what_is_said_takes_the_place_of_what_the_file_says(tmp_path: Path) -> None:
    file = tmp_path / "walk.fbx"
    file.write_text(fbx())
    assert len(pz.load_motion(file, fps=60.0)) == 61
    metres = pz.load_motion(file, unit=1.0)
    assert metres.positions(["mixamorig:Hips"])[0, 0, 2] == pytest.approx(95.0)
    assert pz.load_motion(file, up="z").positions(["mixamorig:Hips"])[0, 0, 1] == pytest.approx(0.95)
    assert len(pz.load_motion(file, animation="walk")) == 31
    file.write_text(file.read_text().replace("LocalSt", "Other"))  # from the first key to the last
    assert len(pz.load_motion(file)) == 31
    with refused("unknown-name", "no animation 'wlk'; did you mean 'walk'"):
        pz.load_motion(file, animation="wlk")
    with refused("conflict", "skin"):
        pz.load_motion(file, skin=0)


@pytest.mark.parametrize("prefix", ["mixamorig:", ""])
def test_names_of_mixamo_and_ready_player_me_are_parts(tmp_path: Path, prefix: str) -> None:
    (tmp_path / "walk.fbx").write_text(fbx(prefix=prefix))
    motion = pz.load_motion(tmp_path / "walk.fbx")
    found = pz.BodyMap.found(motion, motion.model).source
    assert found["left_elbow"] == f"{prefix}LeftForeArm"
    assert found["right_ankle"] == f"{prefix}RightFoot"
    assert found["pelvis"] == f"{prefix}Hips"


def test_nodes_are_joints_where_no_bones_are(tmp_path: Path) -> None:
    (tmp_path / "walk.fbx").write_text(fbx(kind="Null"))
    motion = pz.load_motion(tmp_path / "walk.fbx")
    assert len(motion.model.joint_names) == len(BODY)
    assert "it has no bones; the nodes that are nothing else were taken for joints" in motion.notes


def test_what_is_no_fbx_is_told(tmp_path: Path) -> None:
    file = tmp_path / "walk.fbx"
    with refused("invalid-model", "no such file"):
        pz.load_motion(file)
    file.write_text("hello")
    with refused("invalid-model", "this is no FBX, by how it begins"):
        pz.load_motion(file)
    file.write_bytes(b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(10))
    with refused("invalid-model", "walk.fbx: the FBX cannot be read: "):
        pz.load_motion(file)
    text = fbx()
    file.write_text(text[: text.index("Objects:")])
    with refused("invalid-model", "no bones, so no skeleton"):
        pz.load_motion(file)
    stretched = 'P: "Lcl Scaling", "Lcl Scaling", "", "A",1,2,1\n  P: "Lcl Translation"'
    file.write_text(text.replace('P: "Lcl Translation"', stretched, 1))
    with refused("invalid-model", "only a scale above 0 that is the same along all axes"):
        pz.load_motion(file)


DAMAGED = """
import sys, numpy as np, poise as pz
from pathlib import Path
file = Path(sys.argv[1])
whole, rng = file.read_bytes(), np.random.default_rng(0)
for _ in range(150):
    data = bytearray(whole)
    for at in rng.integers(0, len(data), 4):
        data[at] = rng.integers(256)
    file.write_bytes(data[: rng.integers(1, len(data))] if rng.random() < 0.3 else data)
    try:
        pz.load_motion(file)
    except pz.ModelError:
        pass
print("done")
"""


def test_damaged_files_end_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "walk.fbx").write_text(fbx())
    run = subprocess.run(  # apart, for the library is of C
        [sys.executable, "-c", DAMAGED, str(tmp_path / "walk.fbx")], capture_output=True, text=True, timeout=300
    )
    assert run.stdout == "done\n", run.stderr


@needs_assimp
def test_files_of_blender_are_read() -> None:
    motion = pz.load_motion(ASSIMP / "FBX" / "huesitos.fbx")
    assert motion.model.joint_names[0] == "Bone"
    assert motion.fps == pytest.approx(25.0)
    length = np.linalg.norm(motion.positions(["Bone.002"]) - motion.positions(["Bone.001"]), axis=-1)
    np.testing.assert_allclose(length, length[0, 0])
    with suppress(pz.ModelError):
        pz.load_motion(ASSIMP / "FBX" / "spider.fbx")
