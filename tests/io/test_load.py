"""`load`: paths, names and formats; and every installed robot against Pinocchio and yourdfpy."""

import importlib
import math
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

from poise.common.errors import MissingExtra, ModelError, ModelWarning
from poise.io import load, robot_names
from poise.io.installed import installed_robots
from poise.io.srdf_file import find_srdf
from poise.io.urdf import read_urdf
from poise.io.xacro import read_xacro
from poise.model.joint import Joint
from poise.model.model import Model
from poise.robots import TEXTBOOK
from poise.spatial import SE3

URDF = '<robot name="r"><link name="a"/></robot>'
XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:include filename="parts/arm.xacro"/>
<xacro:arg name="length" default="2"/>
<link name="base"/>
<xacro:arm length="$(arg length)"/>
</robot>"""
PART = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="arm" params="length"><link name="tip"/>
<joint name="j" type="continuous"><parent link="base"/><child link="tip"/><origin xyz="0 0 ${2 * length}"/></joint>
</xacro:macro></robot>"""


# Paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["r.urdf", "r.URDF", "r.xml", "r", "r.robot"])
def test_a_urdf_by_path(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / name
    path.write_text(URDF)
    assert load(path).links == ("a",)
    assert load(str(path), base="planar").nq == 3
    monkeypatch.chdir(tmp_path)
    assert load(f"./{name}").links == ("a",)


def test_an_mjcf_by_its_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = importlib.import_module("poise.io.mjcf")
    seen = []
    monkeypatch.setattr(reader, "read_mjcf", lambda path, *, base: seen.append((path, base)))
    for suffix in (".xml", ".mjcf"):
        path = tmp_path / f"r{suffix}"
        path.write_text("<mujoco/>")
        load(path, base="floating")
        assert seen.pop() == (path, "floating")


def test_files_that_are_no_robots_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    for content, message in [("<sdf/>", "this is an SDF"), ("<a/>", "not <a>"), ("", "is empty"), ("\0", "not XML")]:
        path.write_text(content)
        with pytest.raises(ModelError, match=message):
            load(path)
    for missing in ("no/such/robot", "missing.urdf", "missing.xacro", "missing.xml", tmp_path / "no"):
        with pytest.raises(ModelError, match="no such file"):
            load(missing)


def test_package_dirs_reach_the_reader(tmp_path: Path) -> None:
    (tmp_path / "given" / "pkg").mkdir(parents=True)
    (tmp_path / "given" / "pkg" / "a.stl").touch()
    path = tmp_path / "r.urdf"
    mesh = '<link name="a"><visual><geometry><mesh filename="package://pkg/a.stl"/></geometry></visual>'
    path.write_text(URDF.replace('<link name="a"/>', mesh + "</link>"))
    with pytest.warns(ModelWarning, match="mesh not found"):
        load(path)
    load(path, package_dirs=[tmp_path / "given"])


# xacro -----------------------------------------------------------------------------------------------------------


def write_xacro(folder: Path) -> Path:
    (folder / "parts").mkdir()
    (folder / "parts" / "arm.xacro").write_text(PART)
    path = folder / "arm.urdf.xacro"
    path.write_text(XACRO)
    return path


def test_xacro_files_are_expanded(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    path = write_xacro(tmp_path)
    (tmp_path / "arm.srdf").write_text('<robot><group name="g"><joint name="j"/></group></robot>')
    model = load(path)
    assert model.joint("j").origin.xyz[2] == 4.0
    assert model.groups["g"] == ("j",)
    assert read_xacro(path, arguments={"length": "3"}).joint("j").origin.xyz[2] == 6.0


def test_packages_of_xacro_files_are_found(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    package = tmp_path / "given" / "poise_test_parts"
    package.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>poise_test_parts</name><version>1.0.0</version></package>")
    (package / "arm.xacro").write_text(PART)
    path = tmp_path / "robot.xacro"
    path.write_text(XACRO.replace("parts/arm.xacro", "$(find poise_test_parts)/arm.xacro"))
    with pytest.raises(ModelError, match=r"robot.xacro:2: xacro cannot expand it: .*poise_test_parts"):
        load(path)
    assert load(path, package_dirs=[tmp_path / "given"]).nq == 1


def test_errors_in_xacro_files_name_the_file(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    path = write_xacro(tmp_path)
    part = tmp_path / "parts" / "arm.xacro"
    part.write_text(PART.replace("2 * length", "2 * lentgh"))
    with pytest.raises(
        ModelError, match=rf"{re.escape(str(part))}:2: xacro cannot expand it: 'lentgh' in .* is neither"
    ):
        load(path)
    part.write_text("<robot>")
    with pytest.raises(
        ModelError, match=f"{re.escape(str(part))}:1: xacro cannot expand it: not XML: no element found"
    ):
        load(path)
    part.write_text(PART.replace('"continuous"', '"continous"'))
    with pytest.raises(ModelError, match=r"arm.urdf.xacro \(expanded\):\d+: joint 'j' has the unknown type"):
        load(path)


def test_xacro_without_the_extra_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "xacro"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(MissingExtra, match=re.escape('reading xacro files needs xacro: pip install "poise[xacro]"')):
        load(write_xacro(tmp_path))


# Names -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small example-robot-data that is found before any other."""
    robots = tmp_path / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    for name in (
        "panda_description/urdf/panda",
        "x_data/robots/x_full",
        "y_description/urdf/y1",
        "y_description/urdf/y2",
    ):
        file = robots / f"{name}.urdf"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(URDF.replace('name="r"', f'name="installed {file.stem}"'))
    monkeypatch.syspath_prepend(str(tmp_path))
    return robots


def test_installed_robots_have_the_names_of_their_files_and_folders(share: Path) -> None:
    robots = installed_robots()
    assert list(robots) == ["panda", "x", "x_full", "y1", "y2"]
    assert robots["x"] == robots["x_full"] == share / "x_data" / "robots" / "x_full.urdf"
    assert load("y2", base="floating").nq == 7


def test_names_that_two_folders_have_need_a_nickname(share: Path) -> None:
    for folder in ("anymal_b_simple_description/robots", "anymal_c_simple_description/urdf"):
        (share / folder).mkdir(parents=True)
        (share / folder / "anymal.urdf").write_text(URDF)
    robots = installed_robots()
    assert robots["anymal"] == robots["anymal_b"] == share / "anymal_b_simple_description" / "robots" / "anymal.urdf"
    assert robots["anymal_c"] == robots["anymal_c_simple"] != robots["anymal"]


@pytest.mark.usefixtures("share")
def test_textbook_robots_go_before_installed_ones() -> None:
    assert load("panda").name != "installed panda"
    assert load("example-robot-data/panda").name == "installed panda"
    names = robot_names()
    assert names[: len(TEXTBOOK)] == tuple(TEXTBOOK)
    assert names[len(TEXTBOOK) :] == ("x", "x_full", "y1", "y2")


@pytest.mark.usefixtures("share")
def test_arguments_that_a_name_cannot_take_are_refused() -> None:
    with refused("conflict", "package_dirs"):
        load("y1", package_dirs=["."])
    with refused("conflict", "xacro_args"):
        load("y1", xacro_args={})
    with refused("conflict", "'panda'"):
        load("panda", base="floating")
    with refused("unknown-word", "base"):
        load("y1", base="mobile")  # type: ignore[arg-type]


@pytest.mark.usefixtures("share")
def test_unknown_names_are_answered_with_the_nearest() -> None:
    words = "the list of robots has no name 'pnada'; did you mean 'panda'? `poise info` lists them"
    with pytest.raises(ModelError, match=re.escape(words)):
        load("pnada")
    with pytest.raises(ModelError, match="no name 'x_fulll'; did you mean 'x_full'"):
        load("example-robot-data/x_fulll")


def test_without_the_installed_robots_the_answer_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.io.installed._files", dict)
    with pytest.raises(ModelError, match=re.escape('more robots come with: pip install "poise[robots]"')):
        load("talos")
    assert robot_names() == tuple(TEXTBOOK)


# Every installed robot -------------------------------------------------------------------------------------------

ROBOTS = installed_robots()
ROOT = next(iter(ROBOTS.values())).parents[2] if ROBOTS else Path()
BROKEN = {"ur3.urdf": "the robot has no <link>"}
"""Files that no tree can be made of, and why."""
FILES = [file for file in sorted(ROOT.glob("*/*/*.urdf")) if file.name not in BROKEN] if ROBOTS else []


def some(values: Iterable[Any], *kept: str) -> list[Any]:
    """Each third, and what is named so; the rest is for the long run."""
    return [
        value if k % 3 == 0 or Path(value).stem in kept else pytest.param(value, marks=pytest.mark.slow)
        for k, value in enumerate(values)
    ]


each_file = pytest.mark.parametrize("file", some(FILES), ids=[str(file.relative_to(ROOT)) for file in FILES])


def read(file: Path, base: str = "fixed") -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return read_urdf(file, base=base)  # type: ignore[arg-type]


def carrier(model: Model, joint: Joint) -> tuple[str, SE3]:
    """The moving joint that carries this one (the world: "universe"), and this one's pose in it."""
    placement = joint.origin
    for above in reversed(model.root_path(joint.parent)):
        if above.size:
            return above.name, placement
        placement = above.origin @ placement
    return "universe", placement


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is not installed")
@pytest.mark.parametrize("name", BROKEN)
def test_broken_installed_robots_are_refused(name: str) -> None:
    with pytest.raises(ModelError, match=re.escape(BROKEN[name])):
        read(next(ROOT.glob(f"*/*/{name}")))


@pytest.mark.parametrize("name", some(ROBOTS))
def test_every_robot_that_is_listed_loads(name: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        assert load(f"example-robot-data/{name}").links
    assert not any("degrees" in str(warning.message) for warning in caught)


@each_file
def test_installed_robots_are_what_pinocchio_reads(file: Path) -> None:
    pin: Any = pytest.importorskip("pinocchio")
    model, theirs = read(file), pin.buildModelFromUrdf(str(file))
    ours = {joint.name: joint for joint in model.joints if joint.size}
    assert set(ours) == set(theirs.names[1:])
    assert sum(joint.size + (joint.kind == "continuous") for joint in ours.values()) == theirs.nq
    data = theirs.createData()
    for index, name in list(enumerate(theirs.names))[1:]:
        joint, their_joint = ours[name], theirs.joints[index]
        above, placement = carrier(model, joint)
        assert theirs.names[theirs.parents[index]] == above
        np.testing.assert_allclose(placement.matrix(), theirs.jointPlacements[index].homogeneous, atol=1e-12)
        subspace = pin.computeJointJacobian(theirs, data, pin.neutral(theirs), index)[:, their_joint.idx_v]
        np.testing.assert_allclose(joint.axis, subspace[:3] if joint.kind == "prismatic" else subspace[3:], atol=1e-12)
        gave_way = joint.mimic is not None and math.isinf(joint.upper[0])  # with what would freeze the leader
        if joint.kind != "continuous" and not gave_way:
            ends = theirs.lowerPositionLimit[their_joint.idx_q], theirs.upperPositionLimit[their_joint.idx_q]
            ends = tuple(math.copysign(math.inf, x) if abs(x) == 1e16 else x for x in ends)  # SDF's way to write none
            assert (*joint.lower, *joint.upper) == ends
        assert joint.velocity == (theirs.velocityLimit[their_joint.idx_v] or np.inf,)
        assert joint.effort == (theirs.effortLimit[their_joint.idx_v] or np.inf)


@pytest.mark.parametrize("file", some([f for f in FILES if find_srdf(f)], "pr2"), ids=lambda file: file.stem)
def test_postures_are_what_pinocchio_reads(file: Path) -> None:
    pin: Any = pytest.importorskip("pinocchio")
    srdf = find_srdf(file)
    grounded = any(joint.parent == "world" for joint in read(file).joints)
    model = read(file, base="fixed" if grounded else "floating")
    theirs = pin.buildModelFromUrdf(str(file), *([] if grounded else [pin.JointModelFreeFlyer()]))
    pin.loadReferenceConfigurations(theirs, str(srdf), False)
    postures = theirs.referenceConfigurations
    assert set(model.postures) == {entry.key() for entry in postures}
    for name, q in model.postures.items():
        for joint in model.joints:
            if not joint.nq:
                continue
            their_joint = theirs.joints[theirs.getJointId("root_joint" if joint.name == "root" else joint.name)]
            wanted = postures[name][their_joint.idx_q : their_joint.idx_q + their_joint.nq]
            if joint.name == "root":
                wanted = SE3.from_xyz_xyzw(wanted[:3], wanted[3:]).array
            elif joint.kind == "continuous":
                wanted = np.arctan2(wanted[1:], wanted[:1])
            np.testing.assert_allclose(q[model.index(joint.name)], wanted, atol=1e-6, err_msg=f"{name} {joint.name}")


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is not installed")
@pytest.mark.parametrize("name", ["example-robot-data/panda", "talos", "pr2", "tiago", "ur10", "g1"])
def test_joints_and_mimics_are_what_yourdfpy_reads(name: str) -> None:
    yourdfpy: Any = pytest.importorskip("yourdfpy")
    file = ROBOTS[name.removeprefix("example-robot-data/")]
    model = read(file)
    theirs = yourdfpy.URDF.load(str(file), build_scene_graph=False, load_meshes=False)
    assert set(model.joint_names) == set(theirs.actuated_joint_names)
    assert set(model.links) | {"world"} == set(theirs.link_map) | {"world"}
    for joint in model.joints:
        their_mimic = theirs.joint_map[joint.name].mimic
        if joint.mimic is not None:
            written = (their_mimic.joint, their_mimic.multiplier or 1.0, their_mimic.offset or 0.0)
            assert (joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset) == written
