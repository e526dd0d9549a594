"""A motion that is written for a controller says what the path does when it is read again."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.refusals import refused
from ways import across

import poise as pz
from poise.common.array import Array

UR, PANDA = pz.load("ur5e"), pz.load("panda")


@pytest.fixture(scope="module")
def path() -> pz.JointPath:
    poses = across(20) * [-1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    found = pz.solve_path(UR, pz.PoseTask("tool0"), poses, acceleration=5.0)
    assert found.success, found.explain()
    return found


def bracketed(line: str) -> list[float]:
    """The numbers between the innermost first brackets of a line."""
    found = re.search(r"\[([^\[\]]+)\]", line)
    assert found
    return [float(x) for x in found[1].split(",")]


def motion(path: pz.JointPath, dt: float) -> tuple[Array, Array]:
    """(n,) times and (n, nq) rows of it that are dt apart, but for how much slower it must be to end with one."""
    steps = int(np.ceil(path.duration / dt))
    times: Array = dt * np.arange(steps + 1, dtype=np.float64)
    return times, path.at(np.linspace(0.0, path.duration, steps + 1)).q


def test_a_joint_trajectory_of_ros_has_names_states_and_times(path: pz.JointPath, tmp_path: Path) -> None:
    path.save(tmp_path / "seam.yaml")
    message: Any = yaml.safe_load((tmp_path / "seam.yaml").read_text())
    times, q = motion(path, 0.02)
    assert message["joint_names"] == list(UR.coordinates)
    points = message["points"]
    stamps = [point["time_from_start"]["sec"] + 1e-9 * point["time_from_start"]["nanosec"] for point in points]
    assert np.allclose(stamps, times, atol=1e-9)
    assert np.allclose([point["positions"] for point in points], q, atol=1e-12)
    speeds = np.array([point["velocities"] for point in points])
    assert np.allclose(speeds[[0, -1]], 0.0, atol=1e-12)
    assert np.allclose(speeds[1:-1], (q[2:] - q[:-2]) / 0.04, atol=0.05)
    assert all(len(point["accelerations"]) == 6 for point in points)


def test_urscript_serves_all_rows_in_radians(path: pz.JointPath, tmp_path: Path) -> None:
    path.save(tmp_path / "seam.script")
    lines = (tmp_path / "seam.script").read_text().splitlines()
    _, q = motion(path, 0.008)
    assert "in the order shoulder_pan_joint" in lines[0]
    assert "joints in rad," in lines[0]
    assert lines[1] == "def seam():"
    assert lines[-1] == "end"
    first, *served = [line for line in lines if "([" in line]
    assert first.strip().startswith("movej(")
    assert all("t=0.008," in line for line in served)
    assert np.allclose([bracketed(line) for line in (first, *served)], q, atol=1e-9)


def test_rapid_moves_in_degrees_by_times_and_says_zones(path: pz.JointPath, tmp_path: Path) -> None:
    path.save(tmp_path / "seam.mod", dt=0.2)
    lines = (tmp_path / "seam.mod").read_text().splitlines()
    _, q = motion(path, 0.2)
    moves = [line for line in lines if "MoveAbsJ" in line]
    assert lines[0] == "MODULE seam"
    assert "joints in degrees" in lines[1]
    assert np.allclose([bracketed(line) for line in moves], np.rad2deg(q), atol=1e-7)
    assert "v50, fine" in moves[0]
    assert all("\\T:=0.2, z0, tool0;" in line for line in moves[1:-1])
    assert "\\T:=0.2, fine, tool0;" in moves[-1]
    assert all("[9E9,9E9,9E9,9E9,9E9,9E9]" in line for line in moves)


def test_krl_goes_by_axes_in_degrees_at_the_speeds_of_the_motion(path: pz.JointPath, tmp_path: Path) -> None:
    path.save(tmp_path / "seam.src")
    lines = (tmp_path / "seam.src").read_text().splitlines()
    times, q = motion(path, 0.1)
    moves = [line for line in lines if line.startswith("PTP")]
    axes = [[float(x) for x in re.findall(r"A\d (-?[\d.]+)", line)] for line in moves]
    assert np.allclose(axes, np.rad2deg(q), atol=1e-7)
    assert all(line.endswith("C_PTP") for line in moves[1:-1])
    assert not moves[0].endswith("C_PTP")
    assert not moves[-1].endswith("C_PTP")
    speeds = [int(line.partition("=")[2]) for line in lines if line.startswith("$VEL_AXIS")]
    assert speeds[:6] == [10] * 6
    rows = path.at(np.linspace(0.0, path.duration, len(times)))
    fastest = np.abs(rows.velocity).max(axis=0) * path.duration / times[-1] / UR.velocity
    assert np.array_equal(speeds[6:], np.clip(np.ceil(100.0 * fastest), 1, 100))


def test_a_joint_trajectory_ends_at_rest_without_accelerations_too(tmp_path: Path) -> None:
    """A controller of ROS 2 refuses another end."""
    poses = across(5) * [-1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    pz.solve_path(UR, pz.PoseTask("tool0"), poses).save(tmp_path / "seam.yaml")
    points = yaml.safe_load((tmp_path / "seam.yaml").read_text())["points"]
    assert points[-1]["velocities"] == [0.0] * 6
    assert np.abs(points[-2]["velocities"]).max() > 0.1


def test_the_arm_of_a_cell_has_a_program_of_its_own(tmp_path: Path) -> None:
    b = pz.ModelBuilder("cell")
    b.joint("track", "prismatic", parent="floor", child="link0", axis=(0, 1, 0), limits=(-1, 1), velocity=1.0)
    for k, axis in enumerate(["z", "y", "y", "z", "y", "z"], 1):
        origin = pz.SE3.from_parts([0.1 * (k == 2), 0.0, 0.3])
        vector = (0.0, float(axis == "y"), float(axis == "z"))
        b.joint(f"joint{k}", "revolute", parent=f"link{k - 1}", child=f"link{k}", axis=vector, origin=origin)
    cell = b.build()
    q0 = cell.q(track=0.25, joint2=0.4, joint3=0.8, joint5=0.6)
    here = cell.pose("link6", q0)
    poses = [here, pz.SE3.from_parts(here.xyz + np.array([0.0, 0.1, -0.1]), here.rotation)]
    found = pz.solve_path(cell, pz.PoseTask("link6"), poses, q0=q0, still="track", velocity=1.0, acceleration=5.0)
    assert found.success, found.explain()
    q = motion(found, 0.1)[1][:, 1:]
    for suffix, unit in ((".script", 1.0), (".mod", np.pi / 180.0), (".src", np.pi / 180.0)):
        found.save(tmp_path / f"seam{suffix}", dt=0.1)
        numbers = re.findall(r"-?\d+\.\d{7,9}", (tmp_path / f"seam{suffix}").read_text())
        assert np.allclose(unit * np.array(numbers, dtype=np.float64).reshape(-1, 6), q, atol=1e-7)
    found.save(tmp_path / "seam.yaml")
    assert yaml.safe_load((tmp_path / "seam.yaml").read_text())["joint_names"] == list(cell.coordinates)


def test_tables_go_by_the_same_door(path: pz.JointPath, tmp_path: Path) -> None:
    path.save(tmp_path / "a.csv")
    path.to_csv(tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    path.save(tmp_path / "c.csv", dt=0.1)
    rows = np.loadtxt(tmp_path / "c.csv", delimiter=",", skiprows=1, usecols=range(7))
    times, q = motion(path, 0.1)
    assert np.allclose(rows, np.column_stack([times, q]), atol=1e-9)


def test_what_a_program_has_no_place_for_is_refused(path: pz.JointPath, tmp_path: Path) -> None:
    with refused("wrong-format", ".script", ".src"):
        path.save(tmp_path / "seam.txt")
    with refused("wrong-format", "'my seam'", "letter"):
        path.save(tmp_path / "my seam.script")
    for name in ("while.script", "Module.mod", "PTP.src"):
        with refused("wrong-format", "a word of its language"):
            path.save(tmp_path / name)
    seven = pz.solve_path(PANDA, pz.PoseTask("panda_hand"), across(5))
    for suffix in (".script", ".mod", ".src"):
        with refused("not-supported", "six joints", "panda_joint7"):
            seven.save(tmp_path / f"seam{suffix}")
    seven.save(tmp_path / "seam.yaml")
    far = np.add(across(5), [3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    with refused("inconsistent", "waypoint 0"):
        pz.solve_path(UR, pz.PoseTask("tool0"), far).save(tmp_path / "seam.yaml")
    with refused("not-positive", "dt"):
        path.save(tmp_path / "seam.yaml", dt=0.0)
    assert {file.name for file in tmp_path.iterdir()} == {"seam.yaml"}


def test_a_joint_that_moves_in_a_later_part_is_not_left_out(tmp_path: Path) -> None:
    hand, places = pz.PositionTask("panda_hand"), across(6)[:, :3]
    first = pz.solve_path(PANDA, hand, places[:3], still="panda_joint1", acceleration=5.0)
    first.save(tmp_path / "first.script")
    moved = first.q[-1] + 0.1 * np.eye(PANDA.nq)[0]
    both = first.then(pz.plan(PANDA, pz.PostureTask(moved), [moved], q0=first.q[-1], acceleration=5.0))
    assert both.success
    with refused("not-supported", "7 joints", "panda_joint1"):
        both.save(tmp_path / "both.script")


def test_names_of_joints_are_quoted(tmp_path: Path) -> None:
    b = pz.ModelBuilder("odd")
    for k, name in enumerate(('a"b', "a\\b", "a: b")):
        b.joint(name, "revolute", parent=f"l{k}", child=f"l{k + 1}", limits=(-1.0, 1.0), velocity=1.0)
    model = b.build()
    target = np.full(3, 0.5)
    path = pz.plan(model, pz.PostureTask(target), [target], q0=model.home, acceleration=5.0)
    path.save(tmp_path / "odd.yaml")
    assert yaml.safe_load((tmp_path / "odd.yaml").read_text())["joint_names"] == list(model.coordinates)
