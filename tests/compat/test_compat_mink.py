"""mink's face: steps, limits that are kept, what it says of bad input; beside the original where it is installed."""

from inspect import signature
from typing import Any

import mujoco
import numpy as np
import pytest

import poise.compat.mink as ours

NAMES = "abcdefg"
AXES = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 0 1", "0 1 0", "1 0 0")


@pytest.fixture(scope="module")
def model() -> Any:
    """Seven hinges with balls on them above a floor, and a mocap body."""
    text = '<mujoco><compiler angle="radian"/><worldbody><geom name="floor" type="plane" size="1 1 .1"/>'
    text += '<body name="goal" mocap="true"/>'
    for i, (name, axis) in enumerate(zip(NAMES, AXES, strict=True)):
        text += (
            f'<body name="link{i}" pos="0 0 {0.1 + 0.02 * i}"><joint name="{name}" axis="{axis}" range="-2 2" '
            f'limited="true"/><geom name="ball{i}" size="0.03"/>'
        )
    text += '<site name="tip" pos="0 0 .05"/>' + "</body>" * 7
    return mujoco.MjModel.from_xml_string(
        text + '</worldbody><keyframe><key name="bent" qpos=".3 .3 .3 .3 .3 .3 .3"/></keyframe></mujoco>'
    )


def tasks(mink: Any, model: Any, configuration: Any, off: tuple[float, float, float]) -> list[Any]:
    """The tip is led from where it is by `off`, and the posture is held."""
    hand = mink.FrameTask("tip", "site", 1.0, 1.0, lm_damping=1.0)
    posture = mink.PostureTask(model, cost=1e-3)
    posture.set_target_from_configuration(configuration)
    mink.move_mocap_to_frame(model, configuration.data, "goal", "tip", "site")
    configuration.data.mocap_pos[0] += off
    hand.set_target(mink.SE3.from_mocap_name(model, configuration.data, "goal"))
    return [hand, posture]


def started(mink: Any, model: Any) -> Any:
    configuration = mink.Configuration(model)
    configuration.update_from_keyframe("bent")
    return configuration


def test_the_signature_is_as_published() -> None:
    given = signature(ours.solve_ik).parameters
    assert list(given)[:7] == ["configuration", "tasks", "dt", "solver", "damping", "safety_break", "limits"]


def test_the_frame_comes_there_and_the_speeds_are_kept(model: Any) -> None:
    at = started(ours, model)
    goals = tasks(ours, model, at, (-0.1, -0.08, -0.1))
    limits = [ours.ConfigurationLimit(model), ours.VelocityLimit(model, dict.fromkeys(NAMES, 2.0))]
    for _ in range(200):
        velocity = ours.solve_ik(at, goals, 0.01, "daqp", limits=limits)
        assert np.abs(velocity).max() <= 2.0 + 1e-9
        at.integrate_inplace(velocity, 0.01)
        assert np.abs(at.q).max() <= 2.0
    there = at.get_transform_frame_to_world("tip", "site")
    assert np.linalg.norm(there.translation() - at.data.mocap_pos[0]) < 1e-3
    assert np.linalg.norm(goals[0].compute_error(at)) < 3e-3
    assert np.allclose(at.data.site("tip").xpos, there.translation(), atol=1e-12)


def test_joints_stay_within_their_ranges_where_the_target_is_beyond(model: Any) -> None:
    at = started(ours, model)
    goals = tasks(ours, model, at, (0.2, 0.2, -2.0))
    limits = [ours.ConfigurationLimit(model, min_distance_from_limits=0.1)]
    for _ in range(100):
        at.integrate_inplace(ours.solve_ik(at, goals, 0.05, "daqp", limits=limits), 0.05)
        assert np.abs(at.q).max() <= 1.9 + 1e-9
    assert np.abs(at.q).max() > 1.8


def test_geoms_stay_apart(model: Any) -> None:
    at = started(ours, model)
    goals = tasks(ours, model, at, (0.3, 0.0, -2.0))
    tips = ours.get_subtree_geom_ids(model, model.body("link4").id)
    limits = [
        ours.ConfigurationLimit(model),
        ours.CollisionAvoidanceLimit(model, [(tips, ["floor"])], minimum_distance_from_collisions=0.05),
    ]
    for _ in range(150):
        at.integrate_inplace(ours.solve_ik(at, goals, 0.02, "daqp", limits=limits), 0.02)
        assert min(at.data.geom_xpos[tips, 2]) - 0.03 >= 0.05 - 1e-6


def test_a_relative_frame_and_damping(model: Any) -> None:
    at = started(ours, model)
    task = ours.RelativeFrameTask("tip", "site", "link1", "body", 1.0, 0.0)
    task.set_target_from_configuration(at)
    task.set_target(ours.SE3.from_translation(np.array([0.02, 0.03, -0.04])) @ task.target)
    still = ours.DampingTask(model, [0.0, 0.0, 0.0, 100.0, 0.0, 0.0, 0.0])
    for _ in range(60):
        at.integrate_inplace(ours.solve_ik(at, [task, still], 0.02, "daqp"), 0.02)
    assert np.linalg.norm(task.compute_error(at)[:3]) < 1e-4
    assert abs(at.q[3] - 0.3) < 1e-3
    assert at.q[0] == pytest.approx(0.3)


def test_poses_are_as_they_are_written(model: Any) -> None:
    turn = ours.SO3.from_rpy_radians(0.1, 0.2, 0.3)
    pose = ours.SE3.from_rotation_and_translation(turn, np.array([1.0, 2.0, 3.0]))
    assert np.allclose(pose.as_matrix()[:3, :3], turn.as_matrix())
    assert np.allclose((pose @ pose.inverse()).as_matrix(), np.eye(4), atol=1e-12)
    assert np.allclose(ours.SE3.exp(pose.log()).as_matrix(), pose.as_matrix(), atol=1e-12)
    assert np.allclose(pose @ np.ones(3), pose.as_matrix()[:3] @ np.ones(4))


def test_bad_input_is_told_in_a_sentence(model: Any) -> None:
    at = started(ours, model)
    with pytest.raises(ours.TargetNotSet, match="call its set_target first"):
        ours.solve_ik(at, [ours.FrameTask("tip", "site", 1.0, 1.0)], 0.01, "daqp")
    with pytest.raises(ours.InvalidFrame, match="did you mean"):
        at.get_transform_frame_to_world("tipp", "site")
    with pytest.raises(ours.InvalidFrame, match="must be 'body', 'geom' or 'site'"):
        at.get_transform_frame_to_world("tip", "joint")
    with pytest.raises(ours.InvalidKeyframe, match="bent"):
        at.update_from_keyframe("home")
    with pytest.raises(ours.InvalidMocapBody, match="no mocap body"):
        ours.move_mocap_to_frame(model, at.data, "link0", "tip", "site")
    with pytest.raises(ValueError, match="position_cost is"):
        ours.FrameTask("tip", "site", [1.0, 2.0], 1.0)
    at.update(np.full(7, 3.0))
    with pytest.raises(ours.NotWithinConfigurationLimits, match="joint 'a' is at 3, outside -2 to 2"):
        ours.solve_ik(at, tasks(ours, model, at, (0.0, 0.0, 0.1)), 0.01, "daqp", safety_break=True)


def test_a_step_is_that_of_the_original(model: Any) -> None:
    theirs = pytest.importorskip("mink")
    velocities = []
    for mink in (theirs, ours):
        at = started(mink, model)
        goals = tasks(mink, model, at, (-0.1, -0.08, -0.1))
        limits = [mink.ConfigurationLimit(model), mink.VelocityLimit(model, dict.fromkeys(NAMES, 1.0))]
        velocities.append(mink.solve_ik(at, goals, 0.01, "daqp", limits=limits))
        assert np.allclose(goals[0].compute_error(at)[:3] != 0, True)
    assert np.allclose(*velocities, atol=1e-3)
