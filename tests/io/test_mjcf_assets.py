"""MJCF files whose meshes are not there: all but shapes and their masses is what it is with them."""

import struct
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise.common.errors import ModelError, ModelWarning
from poise.io import load
from poise.io.mjcf import read_mjcf
from poise.model.model import Model

mujoco: Any = pytest.importorskip("mujoco")

MJCF = """<mujoco model="m">
<compiler angle="radian" meshdir="meshes" texturedir="pictures"/>
<default><mesh scale="0.001 0.001 0.001"/></default>
<asset>
<mesh name="shell" file="shell.stl"/><mesh file="inner/hand.stl" scale="1 1 1"/>
<texture name="t" type="2d" file="t.png"/><texture name="s" type="skybox" fileup="up.png"/>
<material name="paint" texture="t" rgba="1 0 0 1"/>
</asset>
<worldbody>
<body name="base" pos="0 0 0.1"><freejoint name="float"/><geom type="mesh" mesh="shell"/>
<body name="upper" pos="0.1 0.2 0.3" quat="1 1 0 0"><joint name="a" axis="0 1 1" range="-1 2" ref="0.3"/>
<inertial pos="0 0 0.1" mass="2" diaginertia="1 1 1"/><geom type="mesh" mesh="hand" material="paint"/>
<geom size="0.05"/>
<body name="lower" pos="0 0 0.4"><joint name="b" type="slide" range="0 0.2"/>
<geom type="box" size="0.1 0.1 0.2" mass="3"/>
<geom type="mesh" mesh="hand" mass="0" contype="0" conaffinity="0"/>
<site name="tool" pos="0 0 0.2" euler="0.1 0.2 0.3"/>
<body name="fitted" pos="0 0 1"><joint name="c"/><geom type="capsule" mesh="hand"/></body>
</body></body></body></worldbody>
<equality><joint joint1="c" joint2="a" polycoef="0.1 0.5 0 0 0"/></equality>
<keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.4 0.1 0.15"/></keyframe>
</mujoco>"""
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


def box_stl(half: tuple[float, float, float]) -> bytes:
    corners = np.array(list(product(*[(-h, h) for h in half])))
    faces = [(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5), (2, 3, 7), (2, 7, 6)]
    faces += [(0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0) for face in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + body


@pytest.fixture
def robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with its meshes, but no textures."""
    (tmp_path / "logs").mkdir()
    monkeypatch.chdir(tmp_path / "logs")  # where MuJoCo writes MUJOCO_LOG.TXT
    (tmp_path / "meshes" / "inner").mkdir(parents=True)
    (tmp_path / "meshes" / "shell.stl").write_bytes(box_stl((100.0, 200.0, 300.0)))
    (tmp_path / "meshes" / "inner" / "hand.stl").write_bytes(box_stl((0.1, 0.1, 0.3)))
    path = tmp_path / "robot.xml"
    path.write_text(MJCF)
    return path


def without(robot: Path, *meshes: str) -> None:
    for name in meshes:
        (robot.parent / "meshes" / name).unlink()


def check_same(ours: Model, whole: Model) -> None:
    """All frames, joints, limits and postures are the same, number for number."""
    assert ours.links == whole.links
    assert list(ours.frames) == list(whole.frames)
    assert ours.coordinates == whole.coordinates
    np.testing.assert_array_equal(ours.lower, whole.lower)
    np.testing.assert_array_equal(ours.upper, whole.upper)
    assert ours.postures.keys() == whole.postures.keys()
    for q in (*whole.postures.values(), whole.sample(seed=1)):
        for frame in whole.frames:
            np.testing.assert_array_equal(ours.pose(frame, q).array, whole.pose(frame, q).array)


def test_textures_are_not_needed(robot: Path) -> None:
    model = load(robot)  # a warning would be an error
    assert set(model.masses) == {"base", "upper", "lower", "fitted"}
    assert model.masses["base"][0] == pytest.approx(1000 * 0.2 * 0.4 * 0.6)


@pytest.mark.parametrize("empty", [Path.unlink, lambda path: path.write_bytes(POINTER)])
def test_kinematics_needs_no_meshes(robot: Path, empty: Callable[[Path], object]) -> None:
    whole = load(robot)
    for name in ("shell.stl", "inner/hand.stl"):
        empty(robot.parent / "meshes" / name)
    with pytest.warns(ModelWarning) as caught:
        bare = read_mjcf(robot)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    message = str(caught[0].message)
    assert (
        "2 mesh files are not found, which kinematics does not need, and geoms made of them are left out: " in message
    )
    assert str(robot.parent / "meshes") in message
    assert "masses that come of these meshes are left out: 'base', 'fitted'" in message
    assert ("Git LFS pointers: run 'git lfs pull'" in message) == (empty is not Path.unlink)
    check_same(bare, whole)
    assert set(bare.masses) == {"upper", "lower"}
    for link in bare.masses:
        assert bare.masses[link][0] == whole.masses[link][0]
        np.testing.assert_array_equal(bare.masses[link][1], whole.masses[link][1])
    assert {link: len(shapes) for link, shapes in bare.shapes.items() if shapes} == {"upper": 1, "lower": 1}


def test_what_is_there_is_kept(robot: Path) -> None:
    whole = load(robot)
    without(robot, "shell.stl")
    with pytest.warns(ModelWarning, match=r"1 mesh file is not found, .*: .*meshes/shell.stl; masses .* out: 'base'$"):
        part = load(robot)
    check_same(part, whole)
    assert part.masses.keys() == whole.masses.keys() - {"base"}
    assert part.shapes["upper"] == whole.shapes["upper"]
    assert part.shapes["fitted"] == whole.shapes["fitted"]


def test_other_errors_are_told_as_before(robot: Path) -> None:
    without(robot, "shell.stl")
    robot.write_text(MJCF.replace('joint2="a"', 'joint2="z"'))
    with pytest.raises(ModelError, match=r"robot.xml:?\d*: MuJoCo refuses the file: unknown element 'z'"):
        load(robot)
    robot.write_text(MJCF.replace("<worldbody>", '<worldbody><include file="no.xml"/>'))
    with pytest.raises(
        ModelError, match=rf"Error opening file '.*no.xml'.* is looked for in {robot.parent}: put it there"
    ):
        load(robot)


def test_as_text_all_files_are_missing(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = load(robot)
    monkeypatch.chdir(robot.parent)  # even if they happen to be here
    with pytest.warns(
        ModelWarning, match=r"the text: 2 mesh files are not found, .* left out: meshes/shell.stl and 1 more"
    ):
        check_same(load(MJCF), whole)
    include = MJCF.replace("<worldbody>", '<worldbody>\n<include file="part.xml"/>')
    with pytest.raises(ModelError, match=r"the text:10: it names the file 'part.xml', and a text has no folder"):
        load(include)
    with pytest.raises(ModelError, match=r"the text:3: MuJoCo refuses the file: Schema violation"):
        load(MJCF.replace("<default>", '<default foo="1">'))


def test_height_fields_and_skins_are_not_needed(robot: Path) -> None:
    extra = '<asset><hfield name="h" file="h.png" size="1 1 1 1"/>'
    skin = '</worldbody><deformable><skin file="s.skn"/></deformable>'
    robot.write_text(
        MJCF.replace("<asset>", extra)
        .replace("</worldbody>", f'<geom type="hfield" hfield="h"/>{skin}')
        .replace('mesh="shell"', 'mesh="hand"')
    )
    with pytest.warns(ModelWarning, match=r"files are not found"):
        assert load(robot).nq == 9
