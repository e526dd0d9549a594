"""A URDF that is written anew: its origins are others, each other byte is as it was, and Pinocchio agrees."""

from pathlib import Path

import numpy as np
import pinocchio
import pytest

import poise as pz
from poise.calibration import Measurements

URDF = """<?xml version="1.0" encoding="UTF-8"?>
<!-- A robot with a remark; é is no ASCII. -->
<robot name="two">
  <link name="foot"/> <link name='shank'/>   <!-- > in a remark -->
  <link name="thigh"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
  <link name="toe"/>
  <joint type="revolute" name="knee">
    <!-- its origin stands between others -->
    <parent link="foot"/> <child link="shank"/>
    <origin rpy='0.1 0.2
      0.3' xyz = "0.1 0 0.4"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/>
  </joint>
  <joint name="hip" type="revolute"><parent link="shank"/><child link="thigh"/>
    <axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="curl" type="revolute"><parent link="thigh"/><child link="toe"/><origin xyz="0 0 0.1"/>
    <axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/>
    <mimic joint="knee" multiplier="-0.5"/></joint>
</robot>
<!-- the end -->
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.urdf"
    path.write_text(URDF, encoding="utf-8")
    return path


def pinocchio_poses(file: Path, frame: str, q: np.ndarray, model: pz.Model) -> np.ndarray:
    """(n, 4, 4) of a frame by Pinocchio, which reads mimic joints as joints of their own."""
    oracle = pinocchio.buildModelFromUrdf(str(file))
    data, out = oracle.createData(), []
    for each in q:
        named = model.named(each)
        at = np.array([named[name] for name in list(oracle.names)[1:]])
        pinocchio.framesForwardKinematics(oracle, data, at)
        out.append(data.oMf[oracle.getFrameId(frame)].homogeneous)
    return np.array(out)


def calibrated(file: Path, free: list[str]) -> tuple[pz.results.Calibration, pz.Model]:
    """What is found of a robot whose joints read 0.1 and 0.2 rad too little and that stands 1 m to the side."""
    arm = pz.load(file).with_frame("tool", link="toe", origin=pz.SE3.from_parts([0, 0, 0.1]))
    arm = arm.with_frame("post", link="world", origin=pz.SE3.from_parts([1, 0, 0]))
    q = arm.sample(20, seed=1)
    stand = pz.SE3.from_xyz_rpy([0.0, 1.0, 0.2], [0.1, 0.2, 0.3])
    tip = pz.SE3.from_xyz_rpy([0.01, 0.02, 0.1], [0.2, 0, 0])
    poses = arm.with_base(stand).pose("toe", q + np.array([0.1, 0.2])) @ tip
    seen = arm.pose("post", q).inverse() @ poses
    return pz.calibrate(arm, Measurements("tool", q, seen, base="post"), free=free), arm


def test_everything_that_was_found_is_in_the_file_and_nothing_else_changed(file: Path) -> None:
    found, arm = calibrated(file, ["base", "knee.offset", "hip.offset", "tool"])
    assert found.after[0] == pytest.approx(0.0, abs=1e-9)
    out = file.with_name("out.urdf")
    found.save_urdf(out, source=file)
    again, q = pz.load(out), arm.sample(20, seed=2)
    assert np.allclose(again.pose("tool", q).array, found.model.pose("tool", q).array, atol=1e-12)
    assert np.allclose(pinocchio_poses(out, "tool", q, again), found.model.pose("tool", q).matrix(), atol=1e-12)
    changed = ("origin", "0.3'", "curl", "mimic", "hip")
    kept = [line for line in URDF.splitlines() if not any(word in line for word in changed)]
    written = out.read_text(encoding="utf-8").splitlines()
    assert len(kept) > 8
    assert not [line for line in kept if line not in written]
    assert 'multiplier="-0.5" offset="' in out.read_text(encoding="utf-8")


def test_a_file_whose_robot_is_as_it_should_be_stays_to_the_byte(file: Path) -> None:
    found, _ = calibrated(file, ["post"])
    found.save_urdf(file.with_name("out.urdf"), source=file)
    text = file.with_name("out.urdf").read_text(encoding="utf-8")
    head, tail = URDF.split("</robot>")
    assert text.startswith(head)
    assert text.endswith("</robot>" + tail)
    assert (
        pz.load(file.with_name("out.urdf")).pose("post", [0, 0]).isclose(found.model.frame("post").origin, atol=1e-12)
    )


def test_a_file_can_be_written_over_itself(file: Path) -> None:
    found, arm = calibrated(file, ["knee", "base"])
    found.save_urdf(file, source=file)
    assert pz.load(file).pose("toe", arm.home).isclose(found.model.pose("toe", arm.home), atol=1e-12)


def test_a_robot_that_hangs_on_a_world_of_its_file_moves_with_its_joint(file: Path) -> None:
    fixed = (
        '<link name="world"/><joint name="bolt" type="fixed"><parent link="world"/><child link="foot"/></joint></robot>'
    )
    file.write_text(URDF.replace("</robot>", fixed))
    found, arm = calibrated(file, ["base"])
    found.save_urdf(file, source=file)
    assert pz.load(file).pose("toe", arm.home).isclose(found.model.pose("toe", arm.home), atol=1e-12)
    assert file.read_text().count("world") == 2


def test_another_robots_file_is_refused(file: Path, tmp_path: Path) -> None:
    found, _ = calibrated(file, ["base"])
    other = tmp_path / "other.urdf"
    other.write_text(URDF.replace('"knee"', '"wheel"'))
    with pytest.raises(pz.ModelError, match=r"other\.urdf: has a joint 'wheel', which two has not"):
        found.save_urdf(tmp_path / "out.urdf", source=other)
    with pytest.raises(pz.ModelError, match="no such file"):
        found.save_urdf(tmp_path / "out.urdf", source=tmp_path / "missing.urdf")
    with pytest.raises(OSError, match="there is no folder"):
        found.save_urdf(tmp_path / "nowhere" / "out.urdf", source=file)
    assert not (tmp_path / "out.urdf").exists()
    other.write_bytes(URDF.replace("UTF-8", "UTF-16").encode("utf-16"))
    with pytest.raises(pz.ModelError, match="not written in UTF-8"):
        found.save_urdf(tmp_path / "out.urdf", source=other)
