"""Faults of robots and recordings, each put in on purpose, and what is said of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.cli import main
from poise.common.array import Array
from poise.doctor import Finding, examine, examine_log

LINK = """<link name="{name}"><inertial><mass value="{mass}"/>
<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.02"/></geometry></collision></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{at}" rpy="{rpy}"/><axis xyz="{axis}"/>
<limit lower="{low}" upper="{high}" velocity="2" effort="1"/>{more}</joint>"""
AXES = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")


def arm(file: Path, count: int = 6, **faults: Any) -> Path:
    """The URDF of an arm of `count` joints with nothing wrong, but for `faults`: by what, the joint or link and it."""
    text = ['<robot name="arm">']

    def put(what: str, k: int, usual: object) -> object:
        return faults.get(what, {}).get(k, usual)

    for k in range(count + 1):
        numbers = {name: put(name, k, 0.01) for name in ("xx", "yy", "zz")}
        text.append(LINK.format(name=f"l{k}", mass=put("mass", k, 1.0), **numbers))
    for k in range(count):
        low, high = put("low", k, -2.0), put("high", k, 2.0)
        axis, more = put("axis", k, AXES[k % 6]), put("more", k, "")
        names = {"name": f"j{k}", "parent": f"l{k}", "child": f"l{k + 1}"}
        place = {"at": put("at", k, "0.3 0 0"), "rpy": put("rpy", k, "0 0 0")}
        text.append(JOINT.format(axis=axis, low=low, high=high, more=more, **names, **place))
    file.write_text("\n".join([*text, "</robot>"]))
    return file


def codes(found: list[Finding]) -> set[str]:
    return {finding.code for finding in found if finding.severity != "note"}


def only(found: list[Finding], code: str) -> Finding:
    (one,) = [finding for finding in found if finding.code == code]
    return one


def test_nothing_is_wrong_with_an_arm_that_is_right(tmp_path: Path) -> None:
    assert codes(examine(arm(tmp_path / "arm.urdf"))) == set()


@pytest.mark.parametrize(
    ("code", "place", "cure", "faults"),
    [
        ("limits-swapped", "joint 'j2'", "change them over", {"low": {2: 1.0}, "high": {2: -1.0}}),
        ("limits-closed", "joint 'j3'", "fixed", {"low": {3: 0.5}, "high": {3: 0.5}}),
        ("limits-in-degrees", "joint 'j1'", "-1.571 and 1.571", {"low": {1: -90.0}, "high": {1: 90.0}}),
        ("angles-in-degrees", "joint 'j2'", "write 0 1.571 0", {"rpy": {2: "0 90 0"}}),
        ("millimetres", "joint 'j4'", "write 0.3 0 0.05", {"at": {4: "300 0 50"}}),
        ("axis-length", "joint 'j0'", "0 0.6 0.8", {"axis": {0: "0 3 4"}}),
        ("inertia-impossible", "link 'l2'", "CAD", {"zz": {2: 0.05}}),
        ("inertia-negative", "link 'l1'", "CAD", {"xx": {1: -0.01}}),
        ("mass-missing", "link 'l4'", "mass", {"mass": {4: 0.0}}),
        (
            "follower-beyond",
            "joint 'j5'",
            "widen the limits of 'j5', ",
            {"more": {5: '<mimic joint="j4" multiplier="2"/>'}},
        ),
    ],
)
def test_a_fault_is_named_with_its_place_and_its_cure(
    tmp_path: Path, code: str, place: str, cure: str, faults: dict[str, Any]
) -> None:
    file = arm(tmp_path / "arm.urdf", **faults)
    finding = only(examine(file), code)
    assert place in finding.where
    assert cure in finding.mend
    if "line" in finding.where:
        line = int(finding.where.split("line ")[1].split(",")[0])
        assert (
            place.replace(" ", ' name="').replace("'", "", 1).replace("'", '"')
            in file.read_text().splitlines()[line - 1]
        )


def test_all_faults_of_a_file_are_told_and_not_the_first_alone(tmp_path: Path) -> None:
    file = arm(tmp_path / "arm.urdf", low={1: 2.0, 3: 2.0}, high={1: 1.0, 3: 1.0}, zz={2: 9.0}, axis={0: "0 0 2"})
    found = examine(file)
    assert codes(found) == {"limits-swapped", "inertia-impossible", "axis-length"}
    assert found[0].severity == "error"
    assert all(f"joint 'j{k}'" in found[0].where for k in (1, 3))
    assert "(the first of 2)" in found[0].what


def test_an_expanded_xacro_is_looked_at_as_a_urdf_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xacro")
    file = tmp_path / "arm.urdf.xacro"
    text = arm(
        tmp_path / "arm.urdf", axis={0: "0 0 $(arg length)"}, low={1: 2.0}, high={1: 1.0}, zz={2: 9.0}
    ).read_text()
    named = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="length" default="2"/>'
    file.write_text(text.replace('<robot name="arm">', named))
    found = examine(file)
    assert codes(found) == {"limits-swapped", "inertia-impossible", "axis-length"}
    assert all("(expanded), line " in finding.where for finding in found)
    assert codes(examine(file, xacro_args={"length": 1})) == {"limits-swapped", "inertia-impossible"}
    assert main(["doctor", str(file), "--json", "--xacro-args", "length=1", "--package-dirs", str(tmp_path)]) == 2
    told = {each["code"] for each in json.loads(capsys.readouterr().out)["findings"]}
    assert "axis-length" not in told
    assert "limits-swapped" in told
    assert main(["doctor", str(file), "--xacro-args", "length"]) == 1
    assert "name=value" in capsys.readouterr().err


def test_a_robot_is_looked_at_by_its_name_as_by_its_file() -> None:
    installed = pytest.importorskip("poise.io.installed").installed_robots()
    if "panda" not in installed:
        pytest.skip("needs example-robot-data")
    wanted, found = (
        {each.code for each in examine(robot)} for robot in (installed["panda"], "example-robot-data/panda")
    )
    assert found == wanted


def test_limits_of_a_hundred_to_both_sides_stand_for_none(tmp_path: Path) -> None:
    found = examine(arm(tmp_path / "arm.urdf", low={1: -100.0}, high={1: 100.0}))
    assert codes(found) == set()
    assert "stand for none" in only(found, "limits-placeholder").what


def test_a_joint_that_floats_in_a_chain_is_told(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    text = arm(file).read_text().replace('name="j3" type="revolute"', 'name="j3" type="floating"')
    file.write_text(text)
    assert only(examine(file), "floating-in-chain").where == "joint 'j3'"
    file.write_text(arm(file).read_text().replace('name="j0" type="revolute"', 'name="j0" type="floating"'))
    assert "floating-in-chain" not in codes(examine(file))


def test_postures_that_cannot_be_are_told(tmp_path: Path) -> None:
    file = arm(tmp_path / "arm.urdf")
    states = "".join(
        f'<group_state name="{name}" group="all">{joints}</group_state>'
        for name, joints in (
            ("far", '<joint name="j1" value="2.5"/>'),
            ("good", '<joint name="j1" value="0.5"/>'),
            ("deep", '<joint name="j0" value="1.5708"/><joint name="j2" value="1.5708"/>'),
        )
    )
    (tmp_path / "arm.srdf").write_text(
        f'<robot name="arm"><group name="all"><chain base_link="l0" tip_link="l6"/></group>{states}</robot>'
    )
    found = examine(file)
    assert only(found, "posture-outside").where == "posture 'far'"
    assert "'j1'" in only(found, "posture-outside").what


def test_what_loading_refuses_or_passes_over_is_told(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(arm(file).read_text().replace('parent link="l3"', 'parent link="nowhere"'))
    finding = only(examine(file), "not-loaded")
    assert "nowhere" in finding.what
    assert only(examine(tmp_path / "none.urdf"), "not-loaded").severity == "error"
    file.write_text(arm(file).read_text().replace('velocity="2"', 'velocity="0"', 1))
    assert "velocity limit of 0" in only(examine(file), "passed-over").what


def test_a_failure_to_load_is_told_beside_what_stands_on_its_line(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    text = arm(file, axis={0: "0 0 3"}).read_text().replace("\n", " ")
    file.write_text(text.replace('velocity="2"', 'velocity="-2"', 1))
    assert codes(examine(file)) == {"axis-length", "not-loaded"}


def test_what_is_no_number_hides_nothing_else(tmp_path: Path) -> None:
    found = examine(arm(tmp_path / "a, b.urdf", low={1: 2.0, 3: "x"}, high={1: 1.0}))
    assert codes(found) >= {"limits-swapped", "unreadable"}
    assert "joint 'j3'" in only(found, "unreadable").where


def test_a_mesh_that_is_not_there_is_a_finding_and_hides_no_other(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    text = arm(file, axis={0: "0 0 3"}).read_text()
    file.write_text(text.replace('<sphere radius="0.02"/>', '<mesh filename="package://nope/x.stl"/>', 1))
    assert codes(examine(file)) >= {"mesh-unreadable", "axis-length"}


def test_a_follower_that_stands_still_beyond_its_limits_is_told(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    text = arm(file, more={5: '<mimic joint="j4" multiplier="0" offset="5"/>'}).read_text()
    file.write_text(text.replace('name="j4" type="revolute"', 'name="j4" type="continuous"'))
    assert only(examine(file), "follower-beyond").where == "joint 'j5'"


def test_what_a_follower_does_to_its_leader_is_told_once(tmp_path: Path) -> None:
    narrowed = examine(arm(tmp_path / "arm.urdf", more={5: '<mimic joint="j4" multiplier="2"/>'}))
    only(narrowed, "follower-beyond")
    assert "velocity limits of joints that follow others slow these: 'j4'" in only(narrowed, "passed-over").what
    frozen = arm(tmp_path / "arm.urdf", low={5: 0.0, 4: 0.0}, more={5: '<mimic joint="j4" multiplier="-1"/>'})
    said = only(examine(frozen), "passed-over").what
    assert "passed over; widen them, or correct multipliers and offsets: 'j4' would keep 0 to 0 of 0 to 2 for" in said


def test_links_that_meet_at_home_are_told(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    text = arm(file).read_text()
    file.write_text(text.replace("<collision>", '<collision><origin xyz="1.21 0 0"/>', 1))
    finding = only(examine(file), "home-in-collision")
    assert finding.where == "links 'l0' and 'l4'"
    assert "not kept apart" in finding.what


ELLIPSOIDS = """<mujoco><worldbody>
<body name="a"><joint axis="0 0 1"/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
<body name="b" pos="0.15 {y} 0.05"><joint axis="0 0 1"/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(("y", "wanted"), [(0.3, set()), (0.265, {"home-near"}), (0.2, {"home-in-collision"})])
def test_ellipsoids_meet_at_home_or_only_the_shapes_around_them(tmp_path: Path, y: float, wanted: set[str]) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "two.xml"
    file.write_text(ELLIPSOIDS.format(y=y))
    found = [finding for finding in examine(file) if finding.code.startswith("home-")]
    assert {finding.code for finding in found} == wanted
    assert all(finding.where == "links 'a' and 'b'" for finding in found)
    if wanted == {"home-near"}:
        (near,) = found
        assert near.severity == "note"
        assert "the shapes around their ellipsoids meet at home" in near.what


def test_arms_of_few_joints_and_fingers_are_told(tmp_path: Path) -> None:
    few = only(examine(arm(tmp_path / "arm.urdf", count=5)), "few-joints")
    assert "5 joints" in few.what
    assert few.severity == "note"


def test_an_arm_that_is_special_but_for_rounding_is_told(tmp_path: Path) -> None:
    """A wrist whose axes miss each other by a tenth of a millimetre."""
    joints, parent = [], "base"
    places = ["0 0 0.3", "0.1 0 0.2", "0 0 0.5", "0.4 0 0.1", "0.3 0 0.0001", "0.0001 0 0"]
    axes = ["0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0"]
    for i, (place, axis) in enumerate(zip(places, axes, strict=True)):
        joints.append(
            f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{place}"/><axis xyz="{axis}"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>'
        )
        parent = f"l{i}"
    file = tmp_path / "rounded.urdf"
    file.write_text(f'<robot name="rounded"><link name="base"/>{"".join(joints)}</robot>')
    told = only(examine(file), "almost-special")
    assert told.severity == "note"
    assert "but for rounding its class is 'spherical wrist': axes 4, 5 and 6 meet but for" in told.what


# Recordings ------------------------------------------------------------------------------------------------------


def smooth(arm_: pz.Model, count: int = 60) -> Array:
    """A motion without jumps, far from limits and singular poses."""
    begin = 0.3 * np.array([1.0, -2.0, 2.0, 1.0, 3.0, 1.0])[: arm_.nq]
    return begin + 0.01 * np.arange(count)[:, None] * np.linspace(0.5, 1.0, arm_.nq)


def test_a_motion_without_jumps_has_no_findings() -> None:
    ur = pz.load("ur5e")
    assert examine_log(ur, smooth(ur)) == []


def test_each_cause_is_told_apart() -> None:
    ur = pz.load("ur5e")
    q = smooth(ur)
    time = 0.02 * np.arange(len(q))
    targets = ur.pose("tool0", q)

    late = q.copy()
    late[30:] += 0.4
    stamps = time.copy()
    stamps[30:] += 1.0
    assert [f.code for f in examine_log(ur, late, time=stamps)] == ["lag"]

    moved = targets.array.copy()
    moved[30:, :3] += [0.2, 0.0, 0.0]
    assert [f.code for f in examine_log(ur, late, targets=moved, time=time)] == ["target"]
    assert [f.code for f in examine_log(ur, late, targets=moved[:, :3], time=time)] == ["target"]
    with refused("masked", "targets[0, 1]"):
        examine_log(ur, late, targets=np.ma.masked_equal(moved[:, :3], moved[0, 1]), time=time)

    turned = q.copy()
    turned[30:, 5] += 2 * np.pi
    assert [f.code for f in examine_log(ur, turned, targets=targets)] == ["turn"]

    branches = pz.solve_all(ur, pz.PoseTask("tool0", targets[30]))
    other = max(branches, key=lambda branch: np.abs(branch.q - q[30]).max()).q
    jumped = q.copy()
    jumped[30:] = other + (q[30:] - q[30])
    assert [f.code for f in examine_log(ur, jumped, targets=targets)] == ["branch"]

    narrow = ur.with_limits({ur.coordinates[1]: (-6.0, float(q[29, 1]) + 1e-4)})
    assert [f.code for f in examine_log(narrow, jumped, targets=targets)] == ["limit"]


def test_a_singular_pose_is_told() -> None:
    ur = pz.load("ur5e")
    q = smooth(ur)
    q[:, 4] = np.linspace(-0.3, 0.3, len(q))  # the wrist is stretched on the way
    q[30:, 3] += 1.5
    q[30:, 5] -= 1.5
    (finding,) = examine_log(ur, q)
    assert finding.code == "singularity"
    assert finding.where.startswith("step 29")


def test_a_recording_in_degrees_is_asked_about_and_nothing_else() -> None:
    panda = pz.load("panda")
    q = np.tile(panda.home, (40, 1)) + 0.01 * np.arange(40)[:, None]
    q[20:] += 0.4
    (finding,) = examine_log(panda, np.degrees(q))
    assert finding.code == "degrees"
    assert finding.where in panda.coordinates
    assert "radians" in finding.mend
    assert [each.code for each in examine_log(panda, q)] == ["branch"]
    turned = np.degrees(q)
    turned[20:, 6] += 360.0
    assert [each.code for each in examine_log(panda, turned)] == ["degrees"]
    alone = q.copy()
    alone[:, 3] = np.degrees(q[:, 3])
    assert [(each.code, each.where) for each in examine_log(panda, alone)] == [("degrees", panda.coordinates[3])]


def test_one_wild_row_is_no_unit() -> None:
    panda = pz.load("panda")
    q = np.tile(panda.home, (200, 1)) + 1e-3 * np.arange(200)[:, None]
    q[100] = np.degrees(q[100])
    found = examine_log(panda, q)
    assert [each.where for each in found] == ["step 99", "step 100"]
    assert not {"degrees", "limit"} & {each.code for each in found}


def test_a_time_that_goes_back_is_told() -> None:
    ur = pz.load("ur5e")
    q = smooth(ur)
    stamps = 0.02 * np.arange(len(q))
    stamps[20:] -= 0.1
    stamps[31] = stamps[30]
    codes = [(finding.code, finding.where.partition(",")[0]) for finding in examine_log(ur, q, time=stamps)]
    assert codes == [("time", "step 19"), ("time", "step 30")]


@pytest.mark.parametrize(
    ("bad", "code", "name"),
    [
        ({"q": np.zeros(6)}, "wrong-shape", "q"),
        ({"q": np.full((5, 6), np.nan)}, "not-finite", "q"),
        ({"q": np.zeros((5, 6)), "time": np.zeros(4)}, "wrong-shape", "time"),
        ({"q": np.zeros((5, 6)), "targets": np.zeros((4, 3))}, "wrong-shape", "targets"),
        ({"q": np.zeros((5, 6)), "targets": np.full((5, 3), np.nan)}, "not-finite", "targets"),
    ],
)
def test_a_recording_that_is_none_is_refused(bad: dict[str, Any], code: str, name: str) -> None:
    with refused(code, name):
        examine_log(pz.load("ur5e"), **bad)


# The command -----------------------------------------------------------------------------------------------------


def test_the_command_prints_findings_and_leaves_with_their_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(arm(tmp_path / "right.urdf"))]) == 0
    wrong = str(arm(tmp_path / "wrong.urdf", low={1: 2.0}, high={1: 1.0}))
    capsys.readouterr()
    assert main(["doctor", wrong]) == 2
    assert "limits are swapped" in capsys.readouterr().out
    assert main(["doctor", wrong, "--json"]) == 2
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["code"] == "limits-swapped"
    assert finding["mend"] == "change them over"


def test_the_command_looks_at_a_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ur = pz.load("ur5e")
    q = smooth(ur)
    q[30:, 5] += 2 * np.pi
    log = tmp_path / "log.csv"
    rows = np.column_stack([0.02 * np.arange(len(q)), q])
    np.savetxt(log, rows, delimiter=",", header=",".join(["time", *ur.coordinates]), comments="")
    assert main(["doctor", "ur5e", "--log", str(log)]) == 2
    out = capsys.readouterr().out
    assert "step 29, 0.58 s" in out
    assert "whole turn" in out
    rows[50:, 0] -= 0.1
    np.savetxt(log, rows, delimiter=",", header=",".join(["time", *ur.coordinates]), comments="")
    assert main(["doctor", "ur5e", "--log", str(log), "--json"]) == 2
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(each["code"], each["where"].partition(",")[0]) for each in findings] == [
        ("time", "step 49"), ("turn", "step 29"),
    ]  # fmt: skip
    assert main(["doctor", "ur5e", "--frame", "tool0"]) == 1
