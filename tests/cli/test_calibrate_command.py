"""`poise calibrate`: what it reads, prints and writes."""

import json
from pathlib import Path

import numpy as np
import pytest

import poise as pz
from poise.cli import main

URDF = """<robot name="two"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="knee" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
  <joint name="ankle" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0 0.4"/><axis xyz="1 0 0"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
</robot>
"""
FREE = ["--free", "base.xyz", "knee.offset", "probe.z"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A robot and 20 measurements of it, 0.02 rad off at the knee, 1 cm longer at the probe and 0.1 m to the side."""
    monkeypatch.chdir(tmp_path)
    Path("two.urdf").write_text(URDF)
    arm = pz.load("two.urdf")
    q = arm.sample(20, seed=1)
    seen = arm.with_frame("probe", link="c", origin=pz.SE3.from_parts([0, 0.1, 0.31])).pose(
        "probe", q + np.array([0.02, 0])
    )
    rows = np.column_stack([q, seen.xyz + np.array([0, 0.1, 0]), seen.wxyz])
    np.savetxt("poses.csv", rows, delimiter=",", header="knee,ankle,x,y,z,qw,qx,qy,qz", comments="")
    np.savetxt("places.csv", rows[:, :5], delimiter=",", header="knee,ankle,x,y,z", comments="")
    return tmp_path


def test_it_prints_a_table_and_writes_the_robot(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["two.urdf", "places.csv", "--probe", "0", "0.1", "0.3", "--position-std", "1e-4", "-o", "out.urdf"]
    assert main(["calibrate", *words, *FREE]) == 0
    said = capsys.readouterr().out
    assert "knee.offset  +0.020000" in said
    assert "20 positions of 'probe' from 'world' are off by" in said
    again = pz.load("out.urdf")
    rows = np.loadtxt("places.csv", delimiter=",", skiprows=1)
    assert np.allclose(again.pose("probe", rows[:, :2]).xyz, rows[:, 2:], atol=1e-9)


def test_poses_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["two.urdf", "poses.csv", "--probe", "0", "0.1", "0.3", "--json"]
    assert main(["calibrate", *words, *FREE]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["names"] == ["base.x", "base.y", "base.z", "knee.offset", "probe.z"]
    assert np.allclose(found["values"], [0, 0.1, 0, 0.02, 0.01], atol=1e-9)
    assert found["undetermined"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["poses.csv", "--position-std", "1"], "state --position-std and --rotation-std, or neither"),
        (["places.csv", "--rotation-std", "1"], "places.csv has no rotations: leave --rotation-std out"),
        (["places.csv", "-o", "out.txt"], "a robot goes into a file whose name ends in .urdf"),
        (["places.csv", "-o", "two.urdf", "--force"], "two.urdf is a file that is read"),
        (["none.csv"], "none.csv cannot be read"),
    ],
)
def test_what_does_not_go_is_said(
    words: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "two.urdf", *words, "--free", "base"]) == 1
    assert said in " ".join(capsys.readouterr().err.split())
    assert not Path("out.urdf").exists()


def test_a_robot_that_is_no_file_cannot_be_written_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "planar2", "places.csv", "-o", "out.urdf", "--free", "base"]) == 1
    assert "planar2 is no URDF file" in " ".join(capsys.readouterr().err.split())
