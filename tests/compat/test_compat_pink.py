"""pink's face: models of Pinocchio's, steps, limits that are kept; beside the original where it is installed."""

from inspect import signature
from typing import Any

import numpy as np
import pytest

import poise as pz

pin = pytest.importorskip("pinocchio")

import poise.compat.pink as ours  # noqa: E402

JOINTS = (
    ("turn", "continuous", "0 0 1"), ("lift", "revolute", "0 1 0"), ("slide", "prismatic", "1 0 0"),
    ("elbow", "revolute", "0 1 0"), ("roll", "revolute", "1 0 0"), ("bend", "revolute", "0 1 0"),
    ("wrist", "revolute", "0.6 0 0.8"),
)  # fmt: skip


def built(*root: Any) -> Any:
    """Seven joints of three kinds with a mass on each, and a tip."""
    inertial = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text, parent = f'<robot name="arm"><link name="base">{inertial}</link>', "base"
    for name, kind, axis in JOINTS:
        text += (
            f'<link name="{name}_link">{inertial}</link><joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{name}_link"/><origin xyz="0.1 0 0.15" rpy="0.1 0 0.2"/><axis xyz="{axis}"/>'
            '<limit lower="-0.5" upper="0.5" effort="1" velocity="2"/></joint>'
        )
        parent = f"{name}_link"
    text += '<link name="tip"/><joint name="end" type="fixed"><parent link="wrist_link"/><child link="tip"/>'
    return pin.buildModelFromXML(text + '<origin xyz="0.1 0 0" rpy="0.3 0 0"/></joint></robot>', *root)


@pytest.fixture(params=["fixed", "floating"])
def model(request: Any) -> Any:
    return built() if request.param == "fixed" else built(pin.JointModelFreeFlyer())


def started(pink: Any, model: Any) -> Any:
    q = pin.integrate(model, pin.neutral(model), np.linspace(0.1, 0.3, model.nv))
    return pink.Configuration(model, model.createData(), q)


def led(tasks: Any, at: Any, off: Any, cost: float = 1e-2) -> list[Any]:
    """The tip goes `off` from where it is; the posture is held, and motion costs."""
    tip, posture = tasks.FrameTask("tip", 1.0, 0.5, lm_damping=0.1, gain=0.5), tasks.PostureTask(cost=cost)
    goal = at.get_transform_frame_to_world("tip")
    goal.translation += np.array(off)
    tip.set_target(goal)
    posture.set_target_from_configuration(at)
    return [tip, posture, tasks.DampingTask(cost=cost)]


def test_the_signature_is_as_published() -> None:
    given = signature(ours.solve_ik).parameters
    assert list(given)[:4] == ["configuration", "tasks", "dt", "solver"]
    assert {"damping", "limits", "safety_break"} <= set(given)


def test_the_model_is_the_same(model: Any) -> None:
    at = started(ours, model)
    q = at.known.q(at.q)
    assert np.allclose(at.known.theirs(q, model.nq), at.q, atol=1e-12)
    for name in ("tip", "elbow_link"):
        frame = model.frames[model.getFrameId(name)]
        there = at.known.model.pose(str(frame.parentJoint), q).matrix() @ frame.placement.homogeneous
        assert np.allclose(there, at.get_transform_frame_to_world(name).homogeneous, atol=1e-12)


def test_the_frame_comes_there_and_the_speeds_are_kept(model: Any) -> None:
    at = started(ours, model)
    tip, *_ = led(ours, at, (0.03, 0.05, -0.04))
    for _ in range(80):
        velocity = ours.solve_ik(at, [tip], 0.02, solver="daqp")
        assert np.abs(velocity[-7:]).max() <= 2.0 + 1e-9
        at.integrate_inplace(velocity, 0.02)
    assert np.linalg.norm(tip.compute_error(at)) < 1e-3


def test_joints_stay_within_their_limits_where_the_target_is_beyond() -> None:
    model = built()
    at = started(ours, model)
    tasks = led(ours, at, (0.5, 0.5, -1.0), cost=1e-4)
    for _ in range(60):
        at.integrate_inplace(ours.solve_ik(at, tasks, 0.05), 0.05)
        assert np.abs(at.q[2:]).max() <= 0.5 + 1e-12
    assert np.abs(at.q[2:]).max() > 0.5 - 1e-9
    free = ours.Configuration(model, model.createData(), at.q)
    for _ in range(20):
        free.integrate_inplace(ours.solve_ik(free, tasks, 0.05, limits=[], safety_break=False), 0.05)
    assert np.abs(free.q[2:]).max() > 0.5


def test_the_centre_of_mass_comes_to_its_place(model: Any) -> None:
    at, task = started(ours, model), ours.ComTask(cost=[1.0, 1.0, 0.0])
    task.set_target_from_configuration(at)
    task.set_target(task.target + np.array([0.02, 0.02, 1.0]))
    for _ in range(60):
        at.integrate_inplace(ours.solve_ik(at, [task], 0.02), 0.02)
    assert np.abs((pin.centerOfMass(model, at.data, at.q) - task.target)[:2]).max() < 1e-4


def test_bad_input_is_told_in_a_sentence() -> None:
    model = built()
    at = started(ours, model)
    with pytest.raises(ours.TargetNotSet, match="call its set_target first"):
        ours.solve_ik(at, [ours.FrameTask("tip", 1.0, 1.0)], 0.01)
    with pytest.raises(pz.FrameNotFound, match="did you mean"):
        at.get_transform_frame_to_world("tipp")
    with pytest.raises(ValueError, match="cost is"):
        ours.ComTask([1.0, 2.0])
    with pytest.raises(TypeError, match="are not read here"):
        ours.solve_ik(at, [], 0.01, limits=["speed"])
    at.update(np.where(np.arange(model.nq) == 2, 0.7, at.q))
    with pytest.raises(ours.NotWithinConfigurationLimits, match=r"joint 'lift' is at 0\.7, outside -0\.5"):
        ours.solve_ik(at, led(ours, at, (0.0, 0.0, 0.1)), 0.01)
    ball = pin.Model()
    ball.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    with pytest.raises(pz.ModelError, match="joint 'ball' is a JointModelSpherical"):
        ours.Configuration(ball, ball.createData(), pin.neutral(ball))


def test_a_step_is_that_of_the_original(model: Any) -> None:
    theirs = pytest.importorskip("pink")
    velocities = []
    for pink, tasks in ((theirs, theirs.tasks), (ours, ours)):
        at = started(pink, model)
        velocities.append(pink.solve_ik(at, led(tasks, at, (0.003, 0.005, -0.004)), 0.02, solver="daqp"))
    there, here = velocities
    assert np.allclose(here, there, atol=1e-2 * np.abs(there).max())
