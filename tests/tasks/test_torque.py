"""Torques at rest: nothing within their limits, the way back beyond them, and no step that leaves them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from support.refusals import refused
from support.trees import configurations, trees

import poise as pz
from poise.common.array import Array
from poise.common.errors import FrameNotFound, JointNotFound, ModelError

G = 9.81
WRENCH = (3.0, -2.0, 40.0, 1.0, 2.0, -3.0)


def arm(*, effort: float | None = 30.0) -> pz.Model:
    """Two upper links of 2 kg and a forearm of 1 kg, each of 0.5 m, on a joint that turns about z."""
    builder = pz.ModelBuilder("arm")
    builder.joint("turn", "revolute", parent="base", child="post", limits=(-3.0, 3.0), velocity=2.0)
    links = [("upper", "post", 2.0), ("middle", "upper", 2.0), ("fore", "middle", 1.0)]
    for i, (name, parent, mass) in enumerate(links):
        builder.joint(
            f"{name}_joint", "revolute", parent=parent, child=name, axis=(0, 1, 0), limits=(-2.6, 2.6), velocity=2.0,
            origin=pz.SE3.from_parts([0.5 * (i > 0), 0, 0]), effort=effort,
        )  # fmt: skip
        builder.mass(name, mass, centre=(0.25, 0.0, 0.0))
    builder.frame("tip", link="fore", origin=pz.SE3.from_parts([0.5, 0.0, 0.0]))
    return builder.build()


ARM = arm()
LIMITS = {"upper_joint": 22.0, "middle_joint": 8.0}


def shares(task: pz.TorqueTask, model: pz.Model, q: Array) -> Array:
    """Torques as shares of their limits, by the model alone."""
    torques = model.gravity_torques(q, wrenches=task.wrenches, gravity=task.gravity)
    return np.array([torques[..., model.velocity_index(name).start] / most for name, most in task.limits.items()])


def test_a_stretched_arm_gives_what_a_scale_would_say() -> None:
    q = ARM.q({})
    most = G * (2.0 * 0.25 + 2.0 * 0.75 + 1.0 * 1.25)
    for limit, left in ((most + 0.01, 0.0), (0.8 * most, 0.25)):
        task = pz.TorqueTask({"upper_joint": limit})
        assert pz.Solver(ARM, task).linearise(q)[0][0] == pytest.approx(-left)
        assert task.judged(ARM, task.goal(None)[None], q[None]) == pytest.approx(left)


@settings(max_examples=40)
@given(st.data())
def test_what_is_left_and_its_jacobian_on_any_tree(data: st.DataObject) -> None:
    """Balls, screws, free bases, joints that follow by a function, joints that stand still; forces on any link."""
    model = data.draw(trees(limits=False, most=6, functions=True))
    assume(model.mass > 0.0 and not model.loops)
    q, link = data.draw(configurations(model)), data.draw(st.sampled_from(model.links))
    torques = model.gravity_torques(q, wrenches={link: WRENCH}, gravity=(0.3, -1.0, -9.0))
    single = [joint.name for joint in model.joints if joint.nv == 1]
    loaded = {n: x for n in single if (x := abs(float(torques[model.velocity_index(n).start]))) > 1e-3}
    assume(loaded)
    some = {name: x * (0.4 + 0.3 * (i % 4)) for i, (name, x) in enumerate(loaded.items())}
    task = pz.TorqueTask(some, wrenches={link: WRENCH}, gravity=(0.3, -1.0, -9.0))
    still = data.draw(st.lists(st.sampled_from(model.joint_names), max_size=2))
    try:
        solver = pz.Solver(model, task, limits=False, still=still)
    except ValueError:
        assume(False)  # nothing that has a mass moves
    assert np.array_equal(
        solver.model.gravity_torques(q, wrenches={link: WRENCH}), model.gravity_torques(q, wrenches={link: WRENCH})
    )
    beyond = np.maximum(np.abs(shares(task, model, q)) - 1.0, 0.0)
    e, jacobian = solver.linearise(q)
    np.testing.assert_allclose(e, [-float(np.linalg.norm(beyond)), 0.0, 0.0], rtol=1e-9, atol=1e-9)
    ways = 1e-6 * np.concatenate([np.eye(model.nv), -np.eye(model.nv)])
    there = np.maximum(np.abs([shares(task, model, model.integrate(q, way)) for way in ways]) - 1.0, 0.0)
    ahead, behind = np.linalg.norm(there, axis=1).reshape(2, -1)
    moves = np.isin(np.arange(model.nv), solver.velocities)
    numeric = np.where(moves, (ahead - behind) / 2e-6, 0.0)
    scale = max(1.0, float(np.abs(jacobian).max()), float(beyond.max()))
    np.testing.assert_allclose(jacobian[0], numeric, rtol=0.0, atol=1e-5 * scale**2)


def test_a_joint_that_stands_still_bears_too() -> None:
    task, start = pz.TorqueTask({"upper_joint": 22.0}), ARM.q({"upper_joint": -0.2, "middle_joint": -1.5})
    still = ["turn", "upper_joint"]
    assert np.abs(shares(task, ARM, ARM.q({"upper_joint": -0.2}))).max() > 1.2
    answer = pz.solve(ARM, task, q0=ARM.q({"upper_joint": -0.2}), still=still)
    assert answer.success
    assert answer.q[1] == -0.2
    assert np.abs(shares(task, ARM, answer.q)).max() <= 1.0 + 1e-6
    loop, q = pz.Tracker(ARM, [task, pz.PositionTask("tip")], dt=0.01, still=still), start
    for _ in range(200):
        q = loop.step(q, [None, [1.5, 0.0, 0.3]])
        assert np.abs(shares(task, ARM, q)).max() < 1.0 + 1e-9
    assert "upper_joint gives " in loop.explain()


@pytest.mark.parametrize("priority", [0, 1])
@pytest.mark.parametrize(
    "given",
    [{}, {"dt": 0.02}, {"dt": 0.01, "limits": [pz.AccelerationLimit(10.0)]}],
    ids=["at once", "speeds", "accelerations"],
)
def test_no_step_leaves_the_limits_of_torques(priority: int, given: dict[str, Any]) -> None:
    task = pz.TorqueTask(LIMITS, wrenches={"tip": (0.0, 0.0, -5.0, 0.0, 1.0, 0.0)})
    loop, rng = pz.Tracker(ARM, [task, pz.PositionTask("tip", priority=priority)], **given), np.random.default_rng(0)
    q, most = ARM.q({"upper_joint": -1.5}), 0.0
    assert np.abs(shares(task, ARM, q)).max() < 1.0
    for k in range(400):
        if k % 40 == 0:
            aim = rng.normal(size=3) * [0.8, 0.8, 0.5]
        q = loop.step(q, [None, aim])
        most = max(most, float(np.abs(shares(task, ARM, q)).max()))
    assert 1.0 - 1e-3 < most < 1.0 + 1e-9


def test_a_tracker_rests_as_near_as_torques_let_it() -> None:
    task, aim = pz.TorqueTask(LIMITS), np.array([1.4, 0.2, 0.0])
    loop = pz.Tracker(ARM, [task, pz.PositionTask("tip", aim, required=False)], dt=0.01)
    q = ARM.q({"upper_joint": -1.2, "middle_joint": 0.3, "fore_joint": 0.2})
    for _ in range(600):
        q = loop.step(q)
    best = minimize(
        lambda z: float(((ARM.pose("tip", z).xyz - aim) ** 2).sum()),
        q,
        constraints={"type": "ineq", "fun": lambda z: 1.0 - np.abs(shares(task, ARM, z))},
        bounds=list(zip(ARM.lower, ARM.upper, strict=True)),
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert np.linalg.norm(ARM.pose("tip", q).xyz - aim) < np.sqrt(best.fun) + 1e-4
    assert "TorqueTask('upper_joint', 'middle_joint') is at its limits: " in loop.explain()
    assert " of 22 N m" in loop.explain()


def test_solve_and_batches_hold_the_limits_that_the_goal_alone_would_break() -> None:
    task, rng = pz.TorqueTask({"upper_joint": 12.0, "middle_joint": 5.0}), np.random.default_rng(1)
    inside = [q for q in ARM.sample(400, seed=3) if np.abs(shares(task, ARM, q)).max() < 0.99][:20]
    poses = [ARM.pose("tip", q).xyz for q in inside]
    broken = 0
    for pose in poses:
        start = ARM.sample(seed=int(rng.integers(1 << 30)))
        free = pz.solve(ARM, pz.PositionTask("tip", pose), q0=start)
        broken += bool(np.abs(shares(task, ARM, free.q)).max() > 1.0)
        answer = pz.solve(ARM, [pz.PositionTask("tip", pose), task], q0=start)
        assert answer.success, answer.explain()
        assert np.abs(shares(task, ARM, answer.q)).max() <= 1.0 + 1e-6
    assert broken > 3
    many = pz.solve_batch(ARM, [pz.PositionTask("tip"), task], [np.array(poses), None])
    assert many.success.all()
    assert np.abs(shares(task, ARM, many.q)).max() <= 1.0 + 1e-6


def test_a_plan_keeps_the_limits_between_its_rows_where_the_straight_way_does_not() -> None:
    task, q0 = pz.TorqueTask({"upper_joint": 24.0}), ARM.q({"upper_joint": 0.8})
    up = ARM.q({"upper_joint": -0.8})
    straight = q0 + np.linspace(0.0, 1.0, 50)[:, None] * (up - q0)
    assert np.abs(shares(task, ARM, np.array([q0, up]))).max() < 1.0 < np.abs(shares(task, ARM, straight)).max()
    way = pz.plan(ARM, [pz.PositionTask("tip"), task], [[ARM.pose("tip", up).xyz], None], q0=q0, max_time=None)
    assert way.success, way.explain()
    fine = way.q[:-1, None] + np.linspace(0.0, 1.0, 11)[:, None] * np.diff(way.q, axis=0)[:, None]
    assert np.abs(shares(task, ARM, fine)).max() <= 1.0 + 1e-4
    seen = np.array([ARM.pose("tip", q).xyz for q in way.q])
    path = pz.solve_path(ARM, [pz.PositionTask("tip"), task], [seen, None], q0=q0)
    assert path.success, path.explain()
    assert np.abs(shares(task, ARM, path.q)).max() <= 1.0 + 1e-6


def test_what_cannot_be_held_is_said_by_joint() -> None:
    answer = pz.solve(ARM, [pz.PositionTask("tip", [1.5, 0.0, 0.0]), pz.TorqueTask(LIMITS)])
    assert not answer.success
    assert "upper_joint gives " in answer.explain()
    assert " of 22 N m" in answer.explain()


def test_a_payload_counts() -> None:
    q = ARM.q({})
    loaded = ARM.with_payload(1.0, link="tip")
    task = pz.TorqueTask({"upper_joint": 1.0})
    alone, more = (pz.Solver(model, task).linearise(q)[0][0] for model in (ARM, loaded))
    assert alone - more == pytest.approx(G * 1.5)


def test_a_joint_of_which_nothing_hangs_gives_nothing() -> None:
    task = pz.TorqueTask({"turn": 1e-3})  # about the vertical
    for q in ARM.sample(5, seed=0):
        assert pz.Solver(ARM, task).linearise(q)[0][0] == 0.0


def test_efforts_are_those_of_the_file() -> None:
    joints = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{a}"/><child link="{b}"/><axis xyz="0 1 0"/>'
        f'<limit lower="-1" upper="1" velocity="1" {effort}/></joint>'
        for name, kind, a, b, effort in [
            ("one", "revolute", "a", "b", 'effort="87"'),
            ("two", "prismatic", "b", "c", 'effort="0"'),
            ("three", "revolute", "c", "d", ""),
        ]
    )
    urdf = '<robot name="r">' + "".join(f'<link name="{x}"/>' for x in "abcd") + joints + "</robot>"
    assert dict(pz.load(urdf).efforts) == {"one": 87.0}
    assert dict(ARM.efforts) == {"upper_joint": 30.0, "middle_joint": 30.0, "fore_joint": 30.0}
    assert dict(arm(effort=None).efforts) == {}
    with pytest.raises(ModelError, match="the text:1: <limit> of joint 'one'"):
        pz.load(urdf.replace('"87"', '"strong"'))


def test_efforts_of_an_mjcf_are_what_its_actuators_can_do() -> None:
    mujoco = pytest.importorskip("mujoco")
    ranges = {
        "own": 'actuatorfrcrange="-30 20"',
        "geared": "",
        "both": 'actuatorfrcrange="-8 8"',
        "two": "",
        "free": "",
    }
    joints = "".join(
        f'<body><joint name="{name}" axis="0 1 0" range="-1 1" limited="true" {own}/><geom size="0.1"/></body>'
        for name, own in ranges.items()
    )
    actuators = (
        '<general joint="own" forcerange="-90 90"/><motor joint="geared" gear="50" ctrlrange="-0.4 1"/>'
        '<position joint="both" kp="100" forcerange="-9 9"/><position joint="two" kp="1" forcerange="-3 3" gear="2"/>'
        '<motor joint="two" ctrlrange="-1 1" forcerange="-0.5 2" gear="-1"/><motor joint="free"/>'
    )
    file = f'<mujoco><compiler angle="radian"/><worldbody>{joints}</worldbody><actuator>{actuators}</actuator></mujoco>'
    found, theirs = pz.load(file).efforts, mujoco.MjModel.from_xml_string(file)
    data, seen = mujoco.MjData(theirs), []
    for sign in (-1.0, 1.0):
        data.ctrl[:] = sign * 1e6 * np.sign(theirs.actuator_gear[:, 0])
        mujoco.mj_forward(theirs, data)
        seen.append(np.abs(data.qfrc_actuator))
    least = dict(zip(ranges, np.minimum(*seen), strict=True))
    assert found.keys() == ranges.keys() - {"free"}
    for name, most in found.items():
        assert most == pytest.approx(least[name]), name


@pytest.mark.parametrize(
    ("joint", "actuator"),
    [
        ('axis="0 1 0" actuatorfrcrange="0 10"', ""),
        ('axis="0 1 0"', '<motor joint="j" ctrlrange="1 2"/>'),
        ('axis="0 1 0"', '<motor joint="j" gear="0"/>'),
        ('type="ball"', '<motor joint="j" gear="0 1 0"/>'),
    ],
)
def test_an_mjcf_joint_that_nothing_drives_both_ways_has_no_effort(joint: str, actuator: str) -> None:
    pytest.importorskip("mujoco")
    body = f'<body><joint name="j" {joint}/><geom size="0.1"/></body>'
    file = f"<mujoco><worldbody>{body}</worldbody><actuator>{actuator}</actuator></mujoco>"
    assert dict(pz.load(file).efforts) == {}


@pytest.mark.parametrize("effort", [0.0, -1.0, np.nan, "strong", [1.0, 2.0], {"a": 1.0}])
def test_an_effort_that_is_none_is_refused(effort: Any) -> None:
    with pytest.raises(ModelError, match=r"'upper_joint' .* effort"):
        arm(effort=effort)
    with pytest.raises(ModelError, match="only a joint of one axis"):
        pz.ModelBuilder("ball").joint("j", "spherical", parent="a", child="b", effort=1.0)


def test_what_makes_no_sense_is_refused() -> None:
    with refused("empty", "Model.efforts"):
        pz.TorqueTask({})
    with refused("wrong-type", "must name joints"):
        pz.TorqueTask(3.0)  # type: ignore[arg-type]
    with refused("not-positive", "limits['a'] is 0.0"):
        pz.TorqueTask({"a": 0.0})
    with refused("not-a-limit", "TorqueTask('upper_joint', 'middle_joint'): give it among the tasks"):
        pz.solve(ARM, pz.PositionTask("tip", [0.5, 0.0, 0.0]), limits=[pz.TorqueTask(LIMITS)])  # type: ignore[list-item]
    with refused("not-finite", "wrenches['tip'][0]"):
        pz.TorqueTask({"a": 1.0}, wrenches={"tip": [np.nan] * 6})
    with refused("wrong-type", "wrenches must go by name"):
        pz.TorqueTask({"a": 1.0}, wrenches=[WRENCH])  # type: ignore[arg-type]
    with refused("wrong-type", "wrenches must go by name"):
        ARM.gravity_torques(ARM.neutral, wrenches=[])  # type: ignore[arg-type]
    with pytest.raises(JointNotFound, match="upper"):
        pz.Solver(ARM, pz.TorqueTask({"uper_joint": 1.0}))
    with pytest.raises(FrameNotFound, match="tip"):
        pz.Solver(ARM, pz.TorqueTask(LIMITS, wrenches={"tipp": WRENCH}))
    with refused("no-such-part", "has a mass"):
        pz.Solver(pz.load("panda"), pz.TorqueTask({"panda_joint1": 1.0}))
    body = pz.load("talos", base="floating")
    with refused("not-supported", "floating", "leave it out"):
        pz.Solver(body, pz.TorqueTask({"root": 1.0}))
