"""pink's face: models of Pinocchio's, steps, limits that are kept; beside the original where it is installed."""

from inspect import signature
from typing import Any

import numpy as np
import pytest

import poise as pz

pin = pytest.importorskip("pinocchio")

import poise_compat.pink as ours  # noqa: E402

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
    task.set_target(task.target_com + np.array([0.02, 0.02, 1.0]))
    for _ in range(60):
        at.integrate_inplace(ours.solve_ik(at, [task], 0.02), 0.02)
    assert np.abs((pin.centerOfMass(model, at.data, at.q) - task.target_com)[:2]).max() < 1e-4


def test_bad_input_is_told_in_a_sentence() -> None:
    model = built()
    at = started(ours, model)
    with pytest.raises(ours.TargetNotSet, match="call its set_target first"):
        ours.solve_ik(at, [ours.FrameTask("tip", 1.0, 1.0)], 0.01)
    with pytest.raises(pz.FrameNotFound, match="did you mean"):
        at.get_transform_frame_to_world("tipp")
    with pytest.raises(ValueError, match="cost is"):
        ours.ComTask([1.0, 2.0])
    words: list[Any] = ["speed"]
    with pytest.raises(TypeError, match="'speed' is no Limit"):
        ours.solve_ik(at, [], 0.01, limits=words)
    with pytest.raises(ours.PinkError, match="velocity_limit has 2 numbers; the model has 7 velocities"):
        ours.limits.VelocityLimit(model, [1.0, 2.0])
    with pytest.raises(ours.PinkError, match="has no p_min and no p_max"):
        ours.barriers.PositionBarrier("tip")
    with pytest.raises(ValueError, match='no joint "root_joint"'):
        ours.limits.FloatingBaseVelocityLimit(model, None, 1.0, 1.0)
    with pytest.raises(ValueError, match="joint 'slide' on the way to 'tip' is a JointModelPX"):
        ours.tasks.ManipulabilityTask("tip", model)
    at.update(np.where(np.arange(model.nq) == 2, 0.7, at.q))
    with pytest.raises(ours.NotWithinConfigurationLimits, match=r"joint 'lift' is at 0\.7, outside -0\.5"):
        ours.solve_ik(at, led(ours, at, (0.0, 0.0, 0.1)), 0.01)


def all_tasks(tasks: Any, at: Any) -> list[Any]:
    """One of each of which the original's error and Jacobian belong together."""
    model = at.model
    frame = tasks.FrameTask("tip", [1.0, 2.0, 3.0], 0.5, lm_damping=0.1, gain=0.7)
    frame.set_target(pin.exp6(np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1])))
    seen = tasks.RelativeFrameTask("tip", "lift_link", 1.0, 0.5)
    seen.set_target(pin.exp6(np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1])))
    posture, mass = tasks.PostureTask(0.3), tasks.ComTask([1.0, 2.0, 3.0])
    posture.set_target(pin.integrate(model, at.q, np.linspace(-0.2, 0.2, model.nv)))
    mass.set_target(np.ones(3))
    tied = tasks.JointCouplingTask(["lift", "elbow"], [1.0, -2.0], 0.5, at)
    rolls, slips = (k("wrist_link", "universe", 0.1, cost=1.0) for k in (tasks.RollingTask, tasks.OmniwheelTask))
    return [frame, seen, posture, mass, tied, rolls, slips, tasks.DampingTask(0.1)]


def test_jacobians_are_the_derivatives_of_errors(model: Any) -> None:
    at, eps = started(ours, model), 1e-6
    for task in all_tasks(ours.tasks, at)[:5]:
        if not isinstance(task, ours.PostureTask):
            for row, v in zip(task.compute_jacobian(at).T, np.eye(model.nv), strict=True):
                ends = [task.compute_error(at.at(at.integrate(s * v, eps))) for s in (1.0, -1.0)]
                assert np.allclose(row, (ends[0] - ends[1]) / (2.0 * eps), atol=1e-6)


@pytest.mark.parametrize("mask", [None, "position"])
@pytest.mark.parametrize("axes", [pin.ReferenceFrame.LOCAL, pin.ReferenceFrame.WORLD])
def test_manipulability_grows_along_its_derivative(mask: Any, axes: Any) -> None:
    arm = pin.buildSampleModelManipulator()
    task = ours.tasks.ManipulabilityTask(arm.frames[-1].name, arm, reference_frame=axes, mask=mask)
    at, eps = ours.Configuration(arm, arm.createData(), np.full(arm.nq, 0.3)), 1e-6
    kept = slice(6 if mask is None else 3)
    each = zip(task.compute_jacobian(at)[0], task.compute_kinematic_hessian(at), np.eye(arm.nv), strict=True)
    for slope, change, v in each:
        ends = [at.at(at.integrate(s * v, eps)) for s in (1.0, -1.0)]
        sizes = [task.compute_manipulability(end) for end in ends]
        assert slope == pytest.approx((sizes[0] - sizes[1]) / (2.0 * eps), abs=1e-6)
        rows = [pin.getFrameJacobian(arm, end.data, len(arm.frames) - 1, axes)[kept] for end in ends]
        assert np.allclose(change, (rows[0] - rows[1]) / (2.0 * eps), atol=1e-6)


def test_joints_move_with_a_velocity_and_keep_constraints() -> None:
    model = built()
    at = started(ours, model)
    moving = ours.JointVelocityTask(1.0)
    moving.set_target(np.linspace(-0.5, 0.5, 7), 0.01)
    assert np.allclose(ours.solve_ik(at, [moving], 0.01), np.linspace(-0.5, 0.5, 7), atol=1e-9)
    rows = np.eye(7)[[1, 3]]
    still = ours.LinearHolonomicTask(rows, rows @ pin.difference(model, pin.neutral(model), at.q), None)
    kept = ours.solve_ik(at, [moving], 0.01, constraints=[still])
    assert np.abs(kept[[1, 3]]).max() < 1e-12
    before = ours.tasks.LowAccelerationTask(1.0)
    before.set_last_integration(kept, 0.01)
    assert np.allclose(ours.solve_ik(at, [before], 0.01), kept, atol=1e-9)


def test_accelerations_and_the_speed_of_a_base_are_kept() -> None:
    model = built(pin.JointModelFreeFlyer())
    at = started(ours, model)
    tip, *_ = led(ours, at, (0.5, 0.5, -1.0))
    most = np.r_[np.full(6, np.inf), np.full(7, 3.0)]
    slow = ours.limits.AccelerationLimit(model, most)
    base = ours.limits.FloatingBaseVelocityLimit(model, None, 0.3, [0.1, 0.2, np.inf])
    before = np.zeros(model.nv)
    for _ in range(20):
        velocity = ours.solve_ik(at, [tip], 0.02, limits=[slow, base, ours.limits.ConfigurationLimit(model)])
        assert np.abs(velocity - before)[6:].max() <= 3.0 * 0.02 + 1e-9
        assert np.abs(velocity[:3]).max() <= 0.3 + 1e-9
        assert (np.abs(velocity[3:5]) <= np.array([0.1, 0.2]) + 1e-9).all()
        slow.set_last_integration(velocity, 0.02)
        at.integrate_inplace(velocity, 0.02)
        before = velocity


def test_limits_of_ones_own_are_not_dropped_where_they_contradict() -> None:
    at, first = started(ours, built()), np.eye(7)[:1]

    class Own(ours.limits.Limit):
        def compute_qp_inequalities(self, configuration: Any, dt: float) -> Any:
            return np.vstack([first, -first]), np.array([-1e-3, -1e-3])

    with pytest.raises(ours.NoSolutionFound, match="no step keeps all limits"):
        ours.solve_ik(at, led(ours.tasks, at, [0.0, 0.0, 0.1]), 0.01, limits=[Own()])
    with pytest.raises(ValueError, match=r"dt is -0\.01"):
        ours.solve_ik(at, led(ours.tasks, at, [0.0, 0.0, 0.1]), -0.01)


def test_an_objective_of_ones_own_counts() -> None:
    at = started(ours, built())

    class Own(ours.tasks.Task):
        def compute_error(self, configuration: Any) -> Any:
            return np.zeros(7)

        def compute_jacobian(self, configuration: Any) -> Any:
            return np.zeros((7, 7))

        def compute_qp_objective(self, configuration: Any) -> Any:
            return np.eye(7), np.full(7, -0.01)

    assert np.allclose(ours.solve_ik(at, [Own(cost=1.0)], 0.01, limits=[]), 1.0, rtol=0, atol=1e-9)


def test_barriers_are_not_passed() -> None:
    model = built()
    shapes = pin.GeometryModel()
    for link, size in (("base", 0.05), ("bend_link", 0.05)):
        joint = model.frames[model.getFrameId(link)].parentJoint
        from_joint = model.frames[model.getFrameId(link)].placement
        coal = pytest.importorskip("coal")
        shapes.addGeometryObject(pin.GeometryObject(link, joint, from_joint, coal.Sphere(size)))
    shapes.addAllCollisionPairs()
    q = pin.integrate(model, pin.neutral(model), np.linspace(0.1, 0.3, model.nv))
    at = ours.Configuration(model, model.createData(), q, collision_model=shapes)
    place = at.get_transform_frame_to_world("tip").translation
    tasks = led(ours, at, (0.5, 0.5, -1.5), cost=1e-4)
    barriers = [
        ours.barriers.PositionBarrier("tip", [0, 1], p_max=place[:2] + 0.02, gain=20.0),
        ours.barriers.BodySphericalBarrier(("tip", "base"), 0.5, gain=20.0, safe_displacement_gain=0.0),
        ours.barriers.SelfCollisionBarrier(1, gain=20.0, d_min=0.4, safe_displacement_gain=0.0),
    ]
    for barrier in barriers:
        for row, v in zip(np.atleast_2d(barrier.compute_jacobian(at)).T, np.eye(model.nv), strict=True):
            ends = [barrier.compute_barrier(at.at(at.integrate(s * v, 1e-6))) for s in (1.0, -1.0)]
            assert np.allclose(row, (ends[0] - ends[1]) / 2e-6, atol=1e-5)
    for _ in range(60):
        at.integrate_inplace(ours.solve_ik(at, tasks, 0.05, barriers=barriers), 0.05)
        assert min(barrier.compute_barrier(at).min() for barrier in barriers) >= -1e-8
    assert min(barrier.compute_barrier(at).min() for barrier in barriers) < 0.01


def test_a_step_is_that_of_the_original(model: Any) -> None:
    theirs = pytest.importorskip("pink")
    limits = pytest.importorskip("pink.limits")
    steps = []
    for pink, limit in ((theirs, limits), (ours, ours.limits)):
        at = started(pink, model)
        kept = [limit.ConfigurationLimit(model, 1.0), limit.VelocityLimit(model)]
        steps.append(pink.solve_ik(at, all_tasks(pink.tasks, at), 0.02, solver="daqp", limits=kept))
    assert np.allclose(steps[1], steps[0], atol=1e-5 * np.abs(steps[0]).max())
    for name in ("tasks", "limits", "barriers"):
        module = pytest.importorskip(f"pink.{name}")
        assert set(module.__all__) <= set(dir(getattr(ours, name)))
    assert set(theirs.__all__) <= set(dir(ours))


def test_a_model_that_the_original_has_touched_keeps_its_limits() -> None:
    theirs = pytest.importorskip("pink")
    model = built(pin.JointModelFreeFlyer())
    steps = []
    for pink in (theirs, ours, theirs, ours):
        at = started(pink, model)
        if pink is theirs:
            model.configuration_limit = theirs.limits.ConfigurationLimit(model, 0.2)
            model.velocity_limit = theirs.limits.VelocityLimit(model, np.full(model.nv, 0.7))
            model.floating_base_velocity_limit = theirs.limits.FloatingBaseVelocityLimit(model, None, 0.3, 0.4)
        kept = model.configuration_limit, model.velocity_limit
        far = led(pink.tasks, at, (0.4, 0.3, -0.4))
        steps += [pink.solve_ik(at, far, 0.02, solver="daqp", limits=limits) for limits in (None, kept)]
    assert np.allclose(steps[2:], steps[:-2], atol=1e-5)
    assert np.abs(steps[0]).max() == pytest.approx(0.7, abs=1e-6)
    at = started(theirs, model)  # ours are at the model now
    assert np.allclose(theirs.solve_ik(at, led(theirs.tasks, at, (0.4, 0.3, -0.4)), 0.02, "daqp"), steps[0], atol=1e-5)


def test_targets_of_tasks_that_have_none_decide_nothing(model: Any) -> None:
    at, steps = started(ours, model), []
    for far in (0.0, 1.0):
        damping, smooth = ours.DampingTask(0.1), ours.tasks.LowAccelerationTask(0.2)
        damping.set_target(np.full(7, far), 0.1)
        smooth.set_target(pin.integrate(model, at.q, np.full(model.nv, far)))
        smooth.set_last_integration(np.full(model.nv, 0.3), 0.01)
        steps.append(ours.solve_ik(at, [damping, smooth, *led(ours, at, (0.0, 0.0, 0.1))], 0.01))
    assert np.allclose(*steps, atol=1e-9)
