"""mink's face: steps, limits that are kept, what it says of bad input; beside the original where it is installed."""

from inspect import signature
from typing import Any

import mujoco
import numpy as np
import pytest

import poise_compat.mink as ours

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


def test_of_many_geoms_those_that_are_near_are_kept_apart() -> None:
    shapes = ("box", ".3 .02 .05"), ("capsule", ".03 .3"), ("ellipsoid", ".3 .1 .02"), ("cylinder", ".1 .2")
    rng = np.random.default_rng(0)
    text = '<mujoco><worldbody><geom name="floor" type="plane" size="0 0 .1"/>'
    for i in range(16):
        at, turn = rng.uniform(-0.5, 0.5, 3), rng.normal(size=4)
        kind, size = shapes[i % 4]
        text += f'<body pos="{at[0]} {at[1]} {at[2]}" quat="{turn[0]} {turn[1]} {turn[2]} {turn[3]}"><freejoint/>'
        text += f'<geom name="g{i}" type="{kind}" size="{size}" mass="1"/></body>'
    many = ours.Configuration(mujoco.MjModel.from_xml_string(text + "</worldbody></mujoco>"))
    names = [many.model.geom(i).name for i in range(many.model.ngeom)]
    limit = ours.CollisionAvoidanceLimit(many.model, [(names, names)], collision_detection_distance=0.15)
    found = [mujoco.mj_geomDistance(many.model, many.data, *pair, 0.15, None) for pair in limit.geom_id_pairs]
    near = [distance - 0.005 - 1e-4 for distance in found if distance < 0.15]
    assert 20 < len(near) < len(found) / 2
    assert limit.compute_qp_inequalities(many, 0.01).h == pytest.approx(0.85 * np.array(near), abs=1e-12)


def test_a_relative_frame_and_damping(model: Any) -> None:
    at = started(ours, model)
    task = ours.RelativeFrameTask("tip", "site", "link1", "body", 1.0, 0.0)
    task.set_target_from_configuration(at)
    task.set_target(ours.SE3.from_translation(np.array([0.02, 0.03, -0.04])) @ task.transform_target_to_root)
    still = ours.DampingTask(model, [0.0, 0.0, 0.0, 100.0, 0.0, 0.0, 0.0])
    for _ in range(60):
        at.integrate_inplace(ours.solve_ik(at, [task, still], 0.02, "daqp"), 0.02)
    assert np.linalg.norm(task.compute_error(at)[:3]) < 1e-4
    assert abs(at.q[3] - 0.3) < 1e-3
    assert at.q[0] == pytest.approx(0.3)


@pytest.mark.parametrize("angle", [0.0, 1e-6, 2.9e-3, 3.1e-3, 0.1, 3.0])
def test_jacobians_of_the_exponential_are_their_series(angle: float) -> None:
    twist = np.array([0.3, -0.5, 0.7, 0.6 * angle, -0.8 * angle, 0.0])
    v, w = (np.cross(x, np.eye(3)).T for x in (twist[:3], twist[3:]))
    ad, term, series = np.block([[w, v], [0.0 * w, w]]), np.eye(6), np.zeros((6, 6))
    for i in range(1, 50):
        series, term = series + term, term @ ad / (i + 1)
    assert ours.SE3.ljac(twist) == pytest.approx(series, abs=1e-12)
    assert ours.SE3.ljacinv(twist) == pytest.approx(np.linalg.inv(series), abs=1e-11)
    assert ours.SO3.ljac(twist[3:]) == pytest.approx(series[:3, :3], abs=1e-12)
    assert ours.SE3.exp(twist).log() == pytest.approx(twist, abs=1e-12)
    pose = ours.SE3.exp(twist)
    assert pose.adjoint() == pytest.approx(np.eye(6) + ad @ series, abs=1e-12)


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
    with pytest.raises(ours.InvalidMocapBody, match="no mocap body"):
        ours.SE3.from_mocap_name(model, at.data, "link0")
    with pytest.raises(ours.InvalidFrame, match="no geom 'flor'; did you mean"):
        ours.CollisionAvoidanceLimit(model, [(["flor"], ["ball3"])])
    with pytest.raises(ValueError, match=r"joint 'a' is set to .*; it has 1 number in a qpos"):
        ours.custom_configuration_vector(model, a=[0.3, 0.4])
    with pytest.raises(ValueError, match="position_cost is"):
        ours.FrameTask("tip", "site", [1.0, 2.0], 1.0)
    at.update(np.full(7, 3.0))
    with pytest.raises(ours.NotWithinConfigurationLimits, match="joint 'a' is at 3, outside -2 to 2"):
        ours.solve_ik(at, tasks(ours, model, at, (0.0, 0.0, 0.1)), 0.01, "daqp", safety_break=True)


@pytest.mark.parametrize("bad", ["target", "q"])
def test_what_is_no_number_is_told_in_a_sentence(model: Any, bad: str) -> None:
    at = started(ours, model)
    goals = tasks(ours, model, at, (0.0, 0.0, 0.1))
    if bad == "target":
        goals[0].set_target(ours.SE3(np.full(7, np.nan)))
    else:
        at.update(np.full(7, np.nan))
    with pytest.raises(ours.NoSolutionFound, match="look for NaN in the configuration and in the targets"):
        ours.solve_ik(at, goals, 0.01, constraints=[ours.DofFreezingTask(model, [1])])


def test_what_is_linear_in_an_objective_of_ones_own_counts(model: Any) -> None:
    class Push(ours.BaseTask):
        def compute_qp_objective(self, configuration: Any) -> Any:
            return ours.Objective(np.zeros((7, 7)), -np.ones(7))

    at = started(ours, model)
    posture = ours.PostureTask(model, 2.0)
    posture.set_target_from_configuration(at)
    assert np.allclose(ours.solve_ik(at, [Push(), posture], 1.0), 0.25)
    speeds = ours.VelocityLimit(model, dict.fromkeys(NAMES, 0.1))
    assert np.allclose(ours.solve_ik(at, [Push()], 1.0, limits=[speeds]), 0.1)


def test_residuals_and_objectives_of_ones_own_count(model: Any) -> None:
    class Heavier(ours.DampingTask):
        def compute_qp_residual(self, configuration: Any) -> Any:
            return np.eye(7), np.full(7, 0.02), 0.0

    class Lighter(ours.DampingTask):
        def compute_qp_objective(self, configuration: Any) -> Any:
            return ours.Objective(np.eye(7), np.full(7, -0.01))

    configuration = ours.Configuration(model)
    for task, speed in ((Heavier(model, 1.0), 2.0), (Lighter(model, 1.0), 1.0)):
        v = ours.solve_ik(configuration, [task], 0.01, limits=[])
        assert np.allclose(v, speed, rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match=r"dt is 0\.0"):
        ours.solve_ik(configuration, [Lighter(model, 1.0)], 0.0)


def test_damping_takes_a_target_and_heeds_none(model: Any) -> None:
    at, still = started(ours, model), ours.DampingTask(model, 1.0)
    still.set_target(np.zeros(7))
    assert isinstance(still, ours.PostureTask)
    assert not ours.solve_ik(at, [still], 0.01).any()
    assert (ours.SE3.tangent_dim, ours.SE3.parameters_dim, ours.SO3.tangent_dim, ours.SO3.matrix_dim) == (6, 7, 3, 3)


@pytest.fixture(scope="module")
def tree() -> Any:
    """A free base with a ball joint, hinges and a slide that a hinge drives."""
    return mujoco.MjModel.from_xml_string(
        """<mujoco><compiler angle="radian" autolimits="true"/><worldbody><body name="base"><freejoint name="base"/>
        <geom size=".1"/><body name="arm" pos=".3 0 .2"><joint name="ball" type="ball" range="0 1.5"/>
        <geom type="capsule" size=".03 .1"/><body name="hand" pos=".2 0 0"><joint name="hinge" range="-1 1"/>
        <geom name="palm" size=".1" pos=".05 0 .02" quat="1 .2 .3 0"/>
        <site name="eye" pos=".1 .2 .1" quat="1 .1 .2 .3"/>
        </body></body><body name="leg" pos="-.3 0 .2"><joint name="knee" axis="0 1 0"/><geom name="shin" size=".1"/>
        <body pos="0 0 .3"><joint name="rod" type="slide" range="-.2 .2"/><geom size=".1"/></body></body></body>
        </worldbody>
        <equality><joint name="driven" joint1="knee" joint2="rod" polycoef="0 .5 0 0 0"/></equality></mujoco>"""
    )


def all_tasks(mink: Any, model: Any, posture: Any) -> list[Any]:
    """One of each."""
    eye = mink.FrameTask("eye", "site", [1.0, 2.0, 3.0], 0.5, gain=0.7, lm_damping=0.1)
    eye.set_target(mink.SE3.exp(np.array([0.3, 0.2, 0.5, 0.4, 0.1, 0.2])))
    seen = mink.RelativeFrameTask("eye", "site", "shin", "geom", 1.0, 0.5)
    seen.set_target(mink.SE3.exp(np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.3])))
    held, mass = mink.PostureTask(model, 0.1), mink.ComTask(3.0)
    held.set_target(posture), mass.set_target(np.ones(3))
    along = mink.AxisAlignTask("palm", "geom", (1.0, 0.0, 0.0), 2.0)
    along.set_target([0.0, 1.0, 1.0])
    at = mink.LookAtTask("palm", "geom", (1.0, 0.0, 0.0), 2.0)
    at.set_target([0.0, 1.0, 1.0])
    closed = mink.EqualityConstraintTask(model, 2.0)
    slow, frozen = mink.KineticEnergyRegularizationTask(1e-3), mink.DofFreezingTask(model, [1, 7])
    slow.set_dt(0.01)
    return [eye, seen, held, mass, along, at, closed, mink.DampingTask(model, 0.3), slow, frozen]


def moved(model: Any, seed: int) -> Any:
    """A qpos."""
    q = np.array(model.qpos0)
    mujoco.mj_integratePos(model, q, np.random.default_rng(seed).uniform(-0.3, 0.3, model.nv), 1.0)
    return q


def test_jacobians_are_the_derivatives_of_errors(tree: Any) -> None:
    q, eps = moved(tree, 0), 1e-6
    by_velocity = (ours.DampingTask, ours.DofFreezingTask, ours.PostureTask)
    at = ours.Configuration(tree, q)
    for task in all_tasks(ours, tree, moved(tree, 1)):
        if isinstance(task, ours.Task) and not isinstance(task, by_velocity):
            rows = task.compute_jacobian(at)
            for row, v in zip(rows.T, np.eye(tree.nv), strict=True):
                ends = [task.compute_error(ours.Configuration(tree, at.integrate(s * v, eps))) for s in (1.0, -1.0)]
                assert np.allclose(row, (ends[0] - ends[1]) / (2.0 * eps), atol=1e-6)


def test_a_step_is_the_least_that_limits_and_constraints_leave(tree: Any) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    at = ours.Configuration(tree, moved(tree, 0))
    tasks = all_tasks(ours, tree, moved(tree, 1))
    limits = [
        ours.ConfigurationLimit(tree), ours.VelocityLimit(tree, {"hinge": 1.0, "ball": [1.0, 2.0, 3.0]}),
        ours.FreeJointVelocityLimit(tree, 1.0, [0.5, 1.0, 2.0]),
    ]  # fmt: skip
    dt, frozen = 0.01, tasks[-1]
    step = ours.solve_ik(at, tasks[:-1], dt, limits=limits, constraints=[frozen]) * dt
    hessian = sum(task.compute_qp_objective(at).H for task in tasks[:-1])
    slope = sum(task.compute_qp_objective(at).c for task in tasks[:-1])
    parts = [limit.compute_qp_inequalities(at, dt) for limit in limits]
    rows, most = (np.concatenate([np.asarray(x) for x in side]) for side in zip(*parts, strict=True))
    assert (rows @ step <= most + 1e-9).all()
    assert np.abs(step[frozen.dof_indices]).max() < 1e-12
    # The gradient is a sum of the sides that are met, with multipliers of the right sign (Karush, Kuhn and Tucker).
    met = np.vstack([rows[rows @ step > most - 1e-9], frozen.compute_jacobian(at), -frozen.compute_jacobian(at)])
    _, left = optimize.nnls(met.T, -(hessian @ step + slope))
    assert left < 1e-6 * np.linalg.norm(slope)


def test_a_limit_and_a_task_of_ones_own_are_kept(model: Any) -> None:
    class Low(ours.Limit):
        def compute_qp_inequalities(self, configuration: Any, dt: float) -> Any:
            return ours.Constraint(np.eye(7)[:1], np.array([0.35 - configuration.q[0]]))

    class First(ours.Task):
        def compute_error(self, configuration: Any) -> Any:
            return configuration.q[:1] - 1.0

        def compute_jacobian(self, configuration: Any) -> Any:
            return np.eye(7)[:1]

    at = started(ours, model)
    for _ in range(5):
        at.integrate_inplace(ours.solve_ik(at, [First([2.0], gain=0.5)], 0.1, damping=1e-6, limits=[Low()]), 0.1)
    assert at.q[0] == pytest.approx(0.35, abs=1e-9)
    assert np.allclose(at.q[1:], 0.3)


def test_what_cannot_be_kept_at_once_is_said(model: Any) -> None:
    at = started(ours, model)
    goals = tasks(ours, model, at, (0.0, 0.0, 0.1))
    goals[1].set_target(np.zeros(7))
    with pytest.raises(ours.NoSolutionFound, match="no step keeps all limits and constraints at once"):
        ours.solve_ik(at, goals, 0.01, limits=[ours.VelocityLimit(model, {"a": 1.0})], constraints=[goals[1]])
    at.update(np.full(7, 2.5))
    step = ours.solve_ik(at, goals, 0.01, limits=[ours.VelocityLimit(model, dict.fromkeys(NAMES, 1.0))])
    assert np.abs(step).max() <= 1.0 + 1e-9
    assert (step <= 1e-9).all()


def test_a_step_is_that_of_the_original(model: Any, tree: Any) -> None:
    theirs = pytest.importorskip("mink")
    for m, freeze in ((tree, True), (tree, False)):
        found = []
        for mink in (theirs, ours):
            at = mink.Configuration(m, moved(m, 0))
            some = all_tasks(mink, m, moved(m, 1))
            limits = [mink.ConfigurationLimit(m, gain=1.0), mink.VelocityLimit(m, {"hinge": 1.0})]
            found.append(
                mink.solve_ik(at, some[:-1], 0.01, "daqp", limits=limits, constraints=[some[-1]] if freeze else None)
            )
        assert np.allclose(found[1], found[0], atol=1e-5 * np.abs(found[0]).max())
    assert {n for n in dir(theirs) if n[0].isupper() or "_ik" in n} <= set(dir(ours))


def test_keys_move_mocap_bodies(model: Any) -> None:
    from poise_compat.mink.contrib import TeleopMocap, keycodes

    data = mujoco.MjData(model)
    keys = TeleopMocap(data)
    keys(keycodes.KEY_UP)
    assert not data.mocap_pos.any()
    for key in (keycodes.KEY_9, keycodes.KEY_UP, keycodes.KEY_7, keycodes.KEY_EQUAL, keycodes.KEY_LEFT):
        keys(key)
    assert np.allclose(data.mocap_pos[0], [0.01, -0.011, 0.01])
    for key in (keycodes.KEY_PERIOD, keycodes.KEY_6, keycodes.KEY_PERIOD, keycodes.KEY_N, keycodes.KEY_RIGHT):
        keys(key)
    turn = ours.SE3.from_mocap_id(data, 0).rotation()
    assert np.allclose(turn.log(), [0.0, 0.0, -np.deg2rad(10.0)])
    before = data.mocap_pos[0].copy()
    for _ in range(5):
        keys.auto_key_move()
    assert np.allclose(data.mocap_pos[0] - before, 5e-4 * turn.as_matrix()[:, 1])
    keys(keycodes.KEY_LEFT)
    keys.auto_key_move()
    assert np.allclose(data.mocap_pos[0] - before, 4e-4 * turn.as_matrix()[:, 1])


def test_keys_move_as_those_of_the_original(model: Any) -> None:
    pytest.importorskip("mink")
    from mink.contrib import TeleopMocap, keycodes

    from poise_compat.mink import contrib

    codes = {name: number for name, number in vars(keycodes).items() if name.startswith("KEY_")}
    assert {name: getattr(contrib.keycodes, name) for name in codes} == codes
    found = [(kind(data), data) for kind in (TeleopMocap, contrib.TeleopMocap) for data in [mujoco.MjData(model)]]
    rng = np.random.default_rng(0)
    for key in [keycodes.KEY_9, *rng.choice([*found[0][0].actions, keycodes.KEY_A], 200)]:
        for teleop, _ in found:
            teleop(int(key))
            teleop.auto_key_move()
        assert np.allclose(found[0][1].mocap_pos, found[1][1].mocap_pos)
        assert np.allclose(np.abs(np.vdot(found[0][1].mocap_quat, found[1][1].mocap_quat)), 1.0)


def test_keys_without_a_mocap_body_say_so() -> None:
    from poise_compat.mink.contrib import TeleopMocap

    with pytest.raises(ours.InvalidMocapBody, match='mocap="true"'):
        TeleopMocap(mujoco.MjData(mujoco.MjModel.from_xml_string("<mujoco/>")))


def test_a_residual_or_an_objective_of_ones_own_is_minimised(model: Any) -> None:
    class Residual(ours.BaseTask):
        def compute_qp_objective(self, configuration: Any) -> Any:
            raise AssertionError("its residual says all")

        def compute_qp_residual(self, configuration: Any) -> Any:
            return 2.0 * np.eye(7), np.full(7, 0.02), 0.0

    class Objective(ours.DampingTask):
        def compute_qp_objective(self, configuration: Any) -> Any:
            return ours.Objective(4.0 * np.eye(7), np.full(7, -0.04))

    for task in (Residual(), Objective(model, 1.0)):
        step = ours.solve_ik(started(ours, model), [task], 1.0, damping=0.0)
        assert np.allclose(step, 0.01, atol=1e-9)
