"""LeRobot's face: degrees, joints beside the named ones, a soft orientation, limits."""

import runpy
import sys
from inspect import signature
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise_compat.lerobot import RobotKinematics

JOINTS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll"]
AXES = {"shoulder_pan": "0 0 1", "shoulder_lift": "0 1 0", "elbow_flex": "0 1 0", "wrist_flex": "0 1 0"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arm of five joints and a gripper, without meshes."""
    text, parent = '<robot name="arm"><link name="base"/>', "base"
    for name in [*JOINTS, "gripper"]:
        axis = AXES.get(name, "1 0 0")
        text += (
            f'<link name="{name}_link"/><joint name="{name}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{name}_link"/><origin xyz="0.11 0 {0.05 if parent == "base" else 0}"/><axis xyz="{axis}"/>'
            '<limit lower="-1.7" upper="1.7" effort="1" velocity="1"/></joint>'
        )
        parent = f"{name}_link"
    text += '<link name="gripper_frame_link"/><joint name="tip" type="fixed"><parent link="wrist_roll_link"/>'
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    path.write_text(text + '<child link="gripper_frame_link"/><origin xyz="0.1 0 0"/></joint></robot>')
    return path


def poses(arm: RobotKinematics, count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """A start [deg], the angles of another place, and the pose there."""
    rng = np.random.default_rng(0)
    starts, ends = rng.uniform(-97.0, 97.0, (2, count, 5))
    return [(a, b, arm.forward_kinematics(b)) for a, b in zip(starts, ends, strict=True)]


def test_the_signatures_are_as_published() -> None:
    made, solved = signature(RobotKinematics), signature(RobotKinematics.inverse_kinematics)
    assert list(made.parameters) == ["urdf_path", "target_frame_name", "joint_names"]
    assert list(solved.parameters)[1:] == [
        "current_joint_pos", "desired_ee_pose", "position_weight", "orientation_weight",
    ]  # fmt: skip
    assert solved.parameters["orientation_weight"].default == 0.01


def test_degrees_go_in_and_out_and_the_frame_comes_to_its_pose(file: Path) -> None:
    arm, model = RobotKinematics(file, joint_names=JOINTS), pz.load(file)
    for start, end, pose in poses(arm, 30):
        q = model.q(dict(zip(JOINTS, np.radians(end), strict=True)))
        assert np.allclose(pose, model.pose("gripper_frame_link", q).matrix(), atol=1e-12)
        found = arm.inverse_kinematics(start, pose)
        assert np.abs(arm.forward_kinematics(found)[:3, 3] - pose[:3, 3]).max() < 1e-5
        assert (np.abs(found) <= np.degrees(1.7)).all()
        assert arm.solution is not None
        assert arm.solution.success


def test_numbers_after_those_of_the_joints_pass(file: Path) -> None:
    arm = RobotKinematics(file, joint_names=JOINTS)
    start, _, pose = poses(arm, 1)[0]
    found = arm.inverse_kinematics(np.append(start, [42.0, 7.0]), pose)
    assert found[5:].tolist() == [42.0, 7.0]
    assert np.array_equal(found[:5], arm.inverse_kinematics(start, pose))


def test_five_joints_are_where_they_shall_be_and_turned_as_well_as_they_can(file: Path) -> None:
    """No turn about the axis that five joints lack is possible: the place is exact, the rest of the turn small."""
    arm = RobotKinematics(file, joint_names=JOINTS)
    for start, _, pose in poses(arm, 10):
        asked = pose @ pz.SE3.from_rotvec([0, 0, 0], [0, 0, 0.2]).matrix()
        place = pose[:3, 3]
        soft, free = arm.inverse_kinematics(start, asked), arm.inverse_kinematics(start, asked, orientation_weight=0.0)
        left = [
            pz.SO3.from_matrix(asked[:3, :3].T @ arm.forward_kinematics(q)[:3, :3], orthonormalise=True).log()
            for q in (soft, free)
        ]
        assert np.abs(arm.forward_kinematics(soft)[:3, 3] - place).max() < 1e-5
        assert np.linalg.norm(left[0]) < np.linalg.norm(left[1]) + 1e-6


def test_out_of_reach_is_the_nearest_and_is_told(file: Path) -> None:
    arm = RobotKinematics(file, joint_names=JOINTS)
    far = np.eye(4)
    far[:3, 3] = [5.0, 0.0, 0.0]
    found = arm.inverse_kinematics(np.zeros(5), far, orientation_weight=0.0)
    assert np.isfinite(found).all()
    assert arm.solution is not None
    assert not arm.solution.success
    assert "reach" in arm.solution.explain()


def test_joints_that_are_not_named_stay_at_zero(file: Path) -> None:
    few = RobotKinematics(file, joint_names=JOINTS[:3])
    end = np.array([20.0, 30.0, -40.0])
    whole = RobotKinematics(file, joint_names=JOINTS)
    pose = few.forward_kinematics(end)
    assert np.allclose(pose, whole.forward_kinematics([*end, 0.0, 0.0]), atol=1e-12)
    found = few.inverse_kinematics([10.0, 20.0, -30.0], pose)
    assert np.abs(few.forward_kinematics(found)[:3, 3] - pose[:3, 3]).max() < 1e-5


def test_bad_input_is_told_in_a_sentence(file: Path) -> None:
    arm = RobotKinematics(file, joint_names=JOINTS)
    with pytest.raises(pz.ShapeError, match="current_joint_pos must have 5 numbers or more"):
        arm.inverse_kinematics([0.0] * 4, np.eye(4))
    with pytest.raises(pz.ShapeError, match="desired_ee_pose must have shape"):
        arm.inverse_kinematics([0.0] * 5, np.eye(3))
    with pytest.raises(ValueError, match=r"current_joint_pos\[1\] is nan"):
        arm.inverse_kinematics([0.0, np.nan, 0.0, 0.0, 0.0], np.eye(4))
    with pytest.raises(ValueError, match="both 0"):
        arm.inverse_kinematics([0.0] * 5, np.eye(4), 0.0, 0.0)
    with pytest.raises(pz.JointNotFound, match="did you mean 'elbow_flex'"):
        RobotKinematics(file, joint_names=["elbow_flx"])
    with pytest.raises(pz.FrameNotFound):
        RobotKinematics(file, "grip")


def test_beside_the_original(file: Path) -> None:
    """The same forward kinematics, and nearer to the pose after one call."""
    pytest.importorskip("placo")
    theirs = pytest.importorskip("lerobot.model.kinematics").RobotKinematics(str(file), joint_names=JOINTS)
    ours = RobotKinematics(file, joint_names=JOINTS)
    for start, end, pose in poses(ours, 10):
        assert np.allclose(theirs.forward_kinematics(end), pose, atol=1e-9)
        theirs.forward_kinematics(start)  # so that its frames are those of the start
        there, here = theirs.inverse_kinematics(start, pose), ours.inverse_kinematics(start, pose)
        left = [np.linalg.norm(ours.forward_kinematics(q)[:3, 3] - pose[:3, 3]) for q in (there, here)]
        assert left[1] < max(left[0], 1e-5)


# The plug-in, with stand-ins for what it takes of LeRobot ------------------------------------------------------------


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    steps: dict[str, Any] = {}

    def register(name: str) -> Any:
        return lambda step: steps.setdefault(name, step)

    for name in ("lerobot", "lerobot.configs", "lerobot.configs.types", "lerobot.processor"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    types, processor = sys.modules["lerobot.configs.types"], sys.modules["lerobot.processor"]
    vars(types).update(
        FeatureType=SimpleNamespace(ACTION="action"),
        PipelineFeatureType=SimpleNamespace(ACTION="action"),
        PolicyFeature=SimpleNamespace,
    )
    vars(processor).update(
        ProcessorStepRegistry=SimpleNamespace(register=register),
        RobotAction=dict,
        RobotActionProcessorStep=object,
        TransitionKey=SimpleNamespace(OBSERVATION="observation"),
    )
    root = Path(__file__).parents[3] / "lerobot_teleoperator_poise"
    runpy.run_path(str(root / "lerobot_teleoperator_poise" / "__init__.py"))
    return steps


def test_the_step_makes_joints_of_a_pose_by_their_names(file: Path, plug_in: dict[str, Any]) -> None:
    arm = RobotKinematics(file, joint_names=JOINTS)
    step = plug_in["poise_ee_to_joints"](arm)
    start, _, pose = poses(arm, 1)[0]
    at = pz.SE3.from_matrix(pose)
    ee = dict(zip(("x", "y", "z", "wx", "wy", "wz"), [*at.xyz, *at.rotation.log()], strict=True)) | {
        "gripper_pos": 30.0
    }
    action = {f"ee.{name}": value for name, value in ee.items()}
    seen = {f"{name}.pos": value for name, value in zip(JOINTS, start, strict=True)}
    step.transition = {"observation": dict(reversed(seen.items()))}
    found = step.action(dict(action))
    assert found.pop("gripper.pos") == 30.0
    np.testing.assert_allclose(
        [found[f"{name}.pos"] for name in JOINTS], arm.inverse_kinematics(start, pose), atol=1e-6
    )
    step.transition = {"observation": {"shoulder_pan.pos": 0.0}}
    with pytest.raises(ValueError, match=r"ee.wz, shoulder_lift.pos, .*lack them"):
        step.action({name: value for name, value in action.items() if name != "ee.wz"})
    features = step.transform_features({"action": dict.fromkeys(action)})
    assert list(features["action"]) == [*(f"{name}.pos" for name in JOINTS), "gripper.pos"]
