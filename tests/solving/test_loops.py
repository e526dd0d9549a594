"""Closed chains: what textbooks and MuJoCo say of them, closed at every answer and at every step."""

import copy
import gc
import pickle
import warnings
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.mechanisms import (
    BASE,
    at,
    delta,
    four_bar,
    gap,
    linkage,
    motor_angles,
    platform,
    rocker_angles,
    two_arms,
)
from support.refusals import refused
from support.trees import configurations, trees

import poise as pz
from poise.cli import main
from poise.common.array import Array
from poise.solving.requirements.loops import LOOP_WEIGHT
from poise.solving.tracking.optimum import relax
from poise.testing import check_task

DATA = Path(__file__).parents[1] / "data"
CLOSED = 1e-6


@pytest.fixture(scope="module")
def bar() -> pz.Model:
    return four_bar()


@pytest.fixture(scope="module")
def robot() -> pz.Model:
    return delta()


@pytest.fixture(scope="module")
def gripper() -> pz.Model:
    pytest.importorskip("mujoco")
    return pz.load(DATA / "gripper.xml")


@pytest.fixture(scope="module")
def closed_bar(bar: pz.Model) -> Array:
    return pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, target=1.0)).q


def around(x: float) -> float:
    return float((x + np.pi) % (2 * np.pi) - np.pi)


# Answers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("crank", np.linspace(-3.0, 3.0, 9))
def test_the_rocker_of_a_four_bar_stands_as_freudenstein_says(bar: pz.Model, crank: float) -> None:
    found = pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, target=crank))
    assert found.success
    assert gap(bar, found.q) < CLOSED
    rocker = found.q[bar.index("rocker")][0]
    assert min(abs(around(rocker - known)) for known in rocker_angles(crank)) < 1e-6


def test_the_motors_of_a_delta_stand_as_its_inverse_says(robot: pz.Model) -> None:
    rng, q0 = np.random.default_rng(0), None
    for place in rng.uniform([-0.15, -0.15, -0.75], [0.15, 0.15, -0.5], (20, 3)):
        found = pz.solve(robot, pz.PositionTask("plate", place), q0=q0)
        assert found.success
        assert gap(robot, found.q) < CLOSED
        motors = np.array([found.q[robot.index(f"motor{i}")][0] for i in range(3)])
        turned = robot.pose("plate", found.q).rotation.log()
        if np.linalg.norm(turned) < 1e-6:  # a free plate may also be assembled askew
            assert np.abs(motor_angles(place) - motors[:, None]).min(axis=1).max() < 1e-6
            q0 = found.q
    assert q0 is not None


def test_an_answer_that_misses_is_the_nearest_of_the_closed_ones(bar: pz.Model, closed_bar: Array) -> None:
    far = np.array([5.0, 5.0, 0.0])
    found = pz.solve(bar, pz.PositionTask("pen", far), q0=closed_bar)
    assert not found.success
    assert gap(bar, found.q) < CLOSED
    assert found.errors[-1].position == pytest.approx(gap(bar, found.q), abs=1e-9)
    assert found.errors[0].position == pytest.approx(np.linalg.norm(bar.pose("pen", found.q).xyz - far), abs=1e-9)
    scan = np.inf
    for crank in np.linspace(-np.pi, np.pi, 4000):
        for rocker in rocker_angles(crank):
            pin = np.array([1.0 + 0.8 * np.cos(rocker), 0.8 * np.sin(rocker), 0.0])
            elbow = np.array([0.4 * np.cos(crank), 0.4 * np.sin(crank), 0.0])
            along = pin - elbow
            pen = elbow + 0.5 * along + 0.3 * np.array([-along[1], along[0], 0.0])
            scan = min(scan, float(np.linalg.norm(pen - far)))
    assert found.errors[0].position is not None
    assert found.errors[0].position < scan + 1e-3


def test_an_open_chain_is_never_called_converged(bar: pz.Model) -> None:
    """The pen's place alone has solutions that no closed four-bar has."""
    for place in np.random.default_rng(1).uniform(-2.0, 2.0, (30, 2)):
        found = pz.solve(bar, pz.PositionTask("pen", [*place, 0.0]))
        assert gap(bar, found.q) < CLOSED
        assert found.success == (found.errors[0].position is not None and found.errors[0].position < 1e-6)


def test_a_batch_is_closed_where_it_is_solved(bar: pz.Model, closed_bar: Array) -> None:
    cranks = np.linspace(-2.0, 2.0, 40)
    found = pz.solve_batch(bar, pz.JointCouplingTask({"crank": 1.0}), cranks, q0=closed_bar)
    assert found.success.all()
    assert max(gap(bar, q) for q in found.q) < CLOSED
    places = np.random.default_rng(2).uniform(-3.0, 3.0, (20, 3)) * [1.0, 1.0, 0.0]
    missed = pz.solve_batch(bar, pz.PositionTask("pen"), places, q0=closed_bar)
    assert not missed.success.all()
    assert max(gap(bar, q) for q in missed.q) < CLOSED
    assert missed.position_errors.shape == (20, 2)


def test_a_posture_alone_gives_the_nearest_closed_configuration(bar: pz.Model) -> None:
    wanted = bar.q(crank=0.8, coupler=0.3, rocker=1.5)
    found = pz.solve(bar, pz.PostureTask(target=wanted))
    assert gap(bar, found.q) < CLOSED
    near = np.linalg.norm(found.q - wanted)
    for step in (1e-3, -1e-3):
        beside = pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, target=found.q[0] + step), q0=found.q)
        assert beside.success
        assert np.linalg.norm(beside.q - wanted) > near - 1e-9


def test_the_errors_of_a_missed_target_are_those_of_the_closed_answer(bar: pz.Model, closed_bar: Array) -> None:
    posture = np.array([0.5, 0.5, 0.5])
    tasks = [pz.PositionTask("pen", [4.0, 0.0, 0.0]), pz.PostureTask(posture)]
    found = pz.solve(bar, tasks, q0=closed_bar)
    place, rest, loop = found.errors
    assert not found.success
    assert place.position == pytest.approx(np.linalg.norm(bar.pose("pen", found.q).xyz - [4.0, 0.0, 0.0]), abs=1e-9)
    assert rest.posture == pytest.approx(np.abs(found.q - posture).max(), abs=1e-12)
    assert loop.position == pytest.approx(gap(bar, found.q), abs=1e-9)


def test_a_stated_loop_is_kept_like_one_of_the_model() -> None:
    b = pz.ModelBuilder("open")
    b.joint("a", "revolute", parent="base", child="upper")
    b.joint("b", "revolute", parent="upper", child="lower", origin=at(1, 0, 0))
    b.joint("c", "revolute", parent="lower", child="hand", origin=at(1, 0, 0))
    b.frame("tip", link="hand", origin=at(0.5, 0, 0))
    b.frame("hook", link="base", origin=at(1.0, 1.0, 0))
    model = b.build()
    hung = pz.LoopTask("hook", "tip")  # the first of them stands still
    found = pz.solve(model, [hung, pz.JointCouplingTask({"a": 1.0}, target=0.2)])
    assert found.success
    np.testing.assert_allclose(model.pose("tip", found.q).xyz, [1.0, 1.0, 0.0], atol=CLOSED)
    tracker, q = pz.Tracker(model, [pz.JointCouplingTask({"a": 1.0}), hung], dt=0.01), found.q
    for _ in range(50):
        q = np.array(tracker.step(q, [0.6, None]))
        np.testing.assert_allclose(model.pose("tip", q).xyz, [1.0, 1.0, 0.0], atol=CLOSED)
    assert q[0] > 0.5


# Kinds of joints ----------------------------------------------------------------------------------------------------

KINDS = {"point": 3, "pose": 6, "hinge": 5, "universal": 4, "cylinder": 4, "slide": 5, "plane": 3}


def body() -> pz.Model:
    """A body that floats above a plate that turns, a frame askew on each."""
    b = pz.ModelBuilder("body")
    b.joint("float", "floating", parent="base", child="body")
    b.joint("turn", "revolute", parent="base", child="plate", axis=(1, 0, 1), limits=(-2, 2), origin=at(0.3, 0, 0))
    b.frame("one", link="body", origin=pz.SE3.from_xyz_rpy([0.1, 0.2, 0.0], [0.3, -0.5, 1.0]))
    b.frame("other", link="plate", origin=pz.SE3.from_xyz_rpy([0.0, 0.1, 0.2], [-0.4, 0.2, 0.5]))
    b.frame("ground", link="base", origin=pz.SE3.from_xyz_rpy([0.2, 0.0, 0.1], [0.1, 0.2, 0.3]))
    return b.build()


def joint_lacks(kind: str, first: pz.SE3, second: pz.SE3) -> float:
    """By how much two frames miss what a joint of this kind holds, said by points and axes alone [m or a sine]."""
    x1, _, z1 = first.rotation.matrix().T
    x2, y2, z2 = second.rotation.matrix().T
    away = first.xyz - second.xyz
    square = {"universal": [x1 @ y2], "point": []}.get(kind, [*np.cross(z1, z2), 1.0 - np.sign(z1 @ z2)])
    if kind in ("pose", "slide"):
        square = [*square, *np.cross(x1, x2), 1.0 - np.sign(x1 @ x2)]
    place = {"cylinder": [away @ x2, away @ y2], "slide": [away @ x2, away @ y2], "plane": [away @ z2]}
    return float(np.abs([*place.get(kind, away), *square]).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pair", [("one", "other"), ("one", "ground"), ("ground", "one")])
def test_a_loop_holds_what_its_joint_does_and_no_row_twice(kind: Any, pair: tuple[str, str]) -> None:
    model = body()
    task = pz.LoopTask(*pair, kind)
    check_task(task, model, count=3)
    for q0 in model.sample(5, seed=1):
        found = pz.solve(model, task, q0=q0)
        assert found.success, found.explain()
        assert joint_lacks(kind, *(model.pose(frame, found.q) for frame in pair)) < 1e-6
        _, jacobian = pz.Solver(model, task).linearise(found.q, None)
        assert np.linalg.matrix_rank(jacobian, 1e-6) == KINDS[kind] == task.weighted_rows


@pytest.mark.parametrize("kind", KINDS)
def test_a_tracker_keeps_a_joint_of_each_kind_while_it_moves(kind: Any) -> None:
    model = body().with_loops([("one", "other", kind)])
    q = pz.solve(model, pz.PostureTask(target=model.sample(seed=2))).q
    tasks = [pz.JointCouplingTask({"turn": 1.0}), pz.PositionTask("body", priority=1)]
    count = 1 if kind == "pose" else 2  # which leaves the body nothing
    tracker = pz.Tracker(model, tasks[:count], dt=0.01)
    for turn in np.linspace(q[-1], q[-1] + 0.5, 20):
        q = np.array(tracker.step(q, [turn, [0.5, 0.5, 0.5]][:count]))
        assert joint_lacks(kind, model.pose("one", q), model.pose("other", q)) < CLOSED
    assert q[-1] == pytest.approx(turn, abs=1e-4)


def test_a_hinge_turns_all_the_way_round() -> None:
    b = pz.ModelBuilder("wheel")
    b.joint("wheel", "revolute", parent="base", child="rim", limits=(-9, 9))
    b.joint("free", "floating", parent="base", child="body")
    b.loop("body", "rim", "hinge")
    model = b.build()
    tracker, q = (
        pz.Tracker(model, [pz.JointCouplingTask({"wheel": 1.0}), pz.OrientationTask("body", priority=1)]),
        model.home,
    )
    stays = pz.SO3.identity()
    for angle in np.linspace(0.0, 7.0, 40):
        q = np.array(tracker.step(q, [angle, stays]))
        assert joint_lacks("hinge", model.pose("body", q), model.pose("rim", q)) < CLOSED
    assert q[0] == pytest.approx(7.0, abs=1e-3)
    assert np.linalg.norm(model.pose("body", q).rotation.log()) < 1e-3


# Every step ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [(0.0, 0.0, 0.01), (0.01, 0.0, 0.0), (0.0, -0.01, 0.003)])
def test_a_platform_goes_ten_millimetres_in_as_many_steps_as_an_arm(shift: tuple[float, float, float]) -> None:
    model = platform()
    q = pz.solve(model, pz.PostureTask(target=model.home)).q
    there = pz.SE3.from_parts(shift) @ model.pose("head", q)
    tracker = pz.Tracker(model, pz.PoseTask("head"))
    for _ in range(5):
        q = tracker.step(q, there)
        assert gap(model, q) < CLOSED
    assert np.abs((there.inverse() @ model.pose("head", q)).log()).max() < 1e-6


def test_rollouts_of_platforms_go_as_far_as_steps_do() -> None:
    model = platform()
    q = pz.solve(model, pz.PostureTask(target=model.home)).q
    there = pz.SE3.from_parts([0.0, 0.0, 0.01]) @ model.pose("head", q)
    tracker = pz.Tracker(model, pz.PoseTask("head"))
    alone = tracker.rollout(q, [pz.SE3(np.tile(there.array, (4, 1)))])
    many = tracker.rollout(np.tile(q, (2, 1)), [pz.SE3(np.tile(there.array, (2, 4, 1)))])
    for way in (alone, *many):
        assert max(gap(model, row) for row in way) < CLOSED
        assert np.abs((there.inverse() @ model.pose("head", way[-1])).log()).max() < 1e-6


def test_a_platform_that_is_pushed_out_of_reach_rests_and_comes_back() -> None:
    model = platform()
    home = pz.solve(model, pz.PostureTask(target=model.home)).q
    stand, tracker, q = model.pose("head", home), pz.Tracker(model, pz.PoseTask("head"), dt=0.01), home
    for k in range(200):
        before, q = q, np.array(tracker.step(q, pz.SE3.from_parts([0.0, 0.0, -0.2 * min(1.0, k / 50)]) @ stand))
        assert gap(model, q) < CLOSED
    assert np.abs(model.difference(before, q)).max() < 1e-6
    assert any(limit.name.startswith("motor") for limit in tracker.active_limits)
    for k in range(100):
        q = np.array(tracker.step(q, pz.SE3.from_parts([0.0, 0.0, -0.2 * max(0.0, 1.0 - k / 50)]) @ stand))
        assert gap(model, q) < CLOSED
    assert np.linalg.norm(model.pose("head", q).xyz - stand.xyz) < 1e-6


def follow(
    model: pz.Model, task: Any, q: Array, targets: list[Any], *, dt: float | None, each: int, method: Any = None
) -> Array:
    """Where the steps end, each of them looked at with forward kinematics."""
    tracker = pz.Tracker(model, task, method, dt=dt)
    for target in targets:
        for _ in range(each):
            after = np.array(tracker.step(q, target))
            assert gap(model, after) < CLOSED
            assert model.within_limits(after)
            if dt is not None:
                assert (np.abs(model.difference(q, after)) <= model.velocity * dt * (1.0 + 1e-9) + 1e-12).all()
            q = after
    return q


@settings(max_examples=15)
@given(
    targets=st.lists(st.tuples(*[st.floats(-3.0, 3.0)] * 2), min_size=1, max_size=5),
    dt=st.sampled_from([None, 0.002, 0.05]),
)
def test_a_four_bar_stays_closed_whatever_its_target_does(
    bar: pz.Model, closed_bar: Array, targets: list[tuple[float, float]], dt: float | None
) -> None:
    follow(bar, pz.PositionTask("pen"), closed_bar, [[*xy, 0.0] for xy in targets], dt=dt, each=20)


def test_a_crank_turns_all_the_way_round(bar: pz.Model, closed_bar: Array) -> None:
    task = pz.JointCouplingTask({"crank": 1.0})
    q = follow(bar, task, closed_bar, list(np.linspace(1.0, 1.0 + 1.9 * np.pi, 400)), dt=0.05, each=1)
    assert q[0] == pytest.approx(1.0 + 1.9 * np.pi, abs=1e-3)


def test_a_rocker_that_is_driven_beyond_its_dead_centre_rests_there(bar: pz.Model, closed_bar: Array) -> None:
    q = follow(bar, pz.JointCouplingTask({"rocker": 1.0}), closed_bar, [0.0], dt=0.02, each=200)
    extremes = [rocker_angles(a)[k] for a in np.linspace(-np.pi, np.pi, 2000) for k in (0, 1)]
    assert q[2] == pytest.approx(min(x for x in extremes if x > 0.0), abs=0.05)


def test_limits_of_the_passive_joints_hold() -> None:
    bar = four_bar(lower=-1.2)
    start = pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, target=1.0))
    assert start.success
    follow(bar, pz.JointCouplingTask({"crank": 1.0}), start.q, [3.0, -3.0, 6.0], dt=0.05, each=60)


@pytest.mark.parametrize("dt", [None, 0.01])
def test_a_delta_stays_closed_whatever_its_target_does(robot: pz.Model, dt: float | None) -> None:
    place = np.array([0.05, 0.02, -0.6])
    start = pz.solve(robot, pz.PositionTask("plate", place))
    rng = np.random.default_rng(3)
    wild = list(rng.uniform([-1.0, -1.0, -2.0], [1.0, 1.0, 0.5], (6, 3)))
    beside = place + np.array([0.05, 0.0, 0.05])
    follow(robot, pz.PositionTask("plate"), start.q, wild, dt=dt, each=10)
    q = follow(robot, pz.PositionTask("plate"), start.q, [beside], dt=dt, each=60)
    np.testing.assert_allclose(robot.pose("plate", q).xyz, beside, atol=1e-5)


@pytest.mark.parametrize("dt", [None, 0.01])
def test_two_arms_keep_hold_of_one_bar(dt: float | None) -> None:
    model = two_arms()
    place = pz.SE3.from_xyz_rpy([0.0, 0.3, 0.5], [0.3, 0.2, 0.1])
    start = pz.solve(model, pz.PoseTask("left_end", place))
    assert start.success
    assert gap(model, start.q) < CLOSED
    rng = np.random.default_rng(5)
    wild = [
        pz.SE3.from_xyz_rpy(rng.uniform([-0.6, -0.6, 0.1], [0.6, 0.6, 1.2]), rng.uniform(-2.0, 2.0, 3))
        for _ in range(5)
    ]
    follow(model, pz.PoseTask("left_end"), start.q, wild, dt=dt, each=20)
    beside = place @ pz.SE3.from_xyz_rpy([0.05, 0.05, -0.1], [0.2, 0.0, 0.1])
    q = follow(model, pz.PoseTask("left_end"), start.q, [beside], dt=dt, each=150)
    assert np.abs((beside.inverse() @ model.pose("left_end", q)).log()).max() < 1e-5


def test_a_gripper_stays_closed_and_closes(gripper: pz.Model) -> None:
    task = pz.JointCouplingTask({"left_driver": 1.0})
    assert gap(gripper, gripper.home) < CLOSED
    q = follow(gripper, task, gripper.home, [0.5, 5.0, -5.0, 0.3], dt=None, each=60)
    assert q[gripper.index("left_driver")][0] == pytest.approx(0.3, abs=1e-5)


@st.composite
def knotted(draw: st.DrawFn) -> tuple[pz.Model, Array]:
    """Random trees with a loop between two of their links that is closed at a configuration (nq,), and that one."""
    tree = draw(trees(least=3, most=8))
    q = tree.normalize(draw(configurations(tree)))
    first, second = draw(st.sampled_from(tree.links)), draw(st.sampled_from([*tree.links, "world"]))
    ways = [{joint.name for joint in tree.root_path(link) if joint.size} for link in (first, second)]
    assume(ways[0] != ways[1])
    seen = tree.pose(second, q).inverse() @ tree.pose(first, q)
    frames = [pz.Frame(name="one", link=first), pz.Frame(name="other", link=second, origin=seen)]
    loop = pz.Loop("one", "other", draw(st.sampled_from(["point", "pose"])))
    return pz.Model("knotted", tree.joints, tree.links, frames, home=q, loops=[loop]), q


@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
@given(knotted(), st.integers(0, 2**32 - 1))
def test_any_tree_with_a_loop_stays_closed(made: tuple[pz.Model, Array], seed: int) -> None:
    (model, q), rng, most = made, np.random.default_rng(seed), 0.7
    task = pz.PositionTask(model.links[-1])
    assume(model.root_path(task.frame) and any(joint.size for joint in model.root_path(task.frame)))
    tracker = pz.Tracker(model, task, dt=0.02, limits=[pz.VelocityLimit(most)])
    for k in range(12):
        if k % 4 == 0:
            target = rng.uniform(-3.0, 3.0, 3)
        before, q = q, np.array(tracker.step(q, target))
        assert gap(model, q) < CLOSED
        assert model.within_limits(q)
        assert np.abs(model.difference(before, q)).max() <= 0.02 * most * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("method", ["dls", "priority", "sdls"])
def test_methods_of_the_callers_choice_keep_it_closed_too(bar: pz.Model, closed_bar: Array, method: str) -> None:
    task = pz.JointCouplingTask({"crank": 1.0})
    q = follow(bar, task, closed_bar, [2.0], dt=0.02, each=100, method=method)
    assert q[0] == pytest.approx(2.0, abs=1e-3)


def test_levels_of_tasks_are_heeded_beside_loops(gripper: pz.Model) -> None:
    tasks = [pz.JointCouplingTask({"left_driver": 1.0}), pz.PositionTask("right_pad", priority=1)]
    tracker, q = pz.Tracker(gripper, tasks), gripper.home
    for _ in range(100):
        q = np.array(tracker.step(q, [0.4, [9.0, 9.0, 0.0]]))
        assert gap(gripper, q) < CLOSED
    assert q[gripper.index("left_driver")][0] == pytest.approx(0.4, abs=1e-5)
    assert q[gripper.index("wrist")][0] < -0.5  # as far towards the second target as the first leaves it


def test_a_step_goes_along_the_border_of_a_sum_beside_loops() -> None:
    """Closing loops bends every way along it outwards."""
    model, most = linkage(), 0.6

    def bent(one: float, other: float) -> Array:
        drives = zip(("drive1", "drive2"), (one, other), strict=True)
        return pz.solve(model, [pz.JointCouplingTask({name: 1.0}, target=angle) for name, angle in drives]).q

    start, there = bent(0.55, 0.0), bent(0.2, 0.9)
    tips = [pz.PositionTask(f"tip{k}", target=model.pose(f"tip{k}", there).xyz) for k in (1, 2)]
    q, loop = start, pz.Tracker(model, tips, "dls", limits=[pz.LinearLimit({"drive1": 1.0, "drive2": 1.0}, most)])
    for _ in range(40):
        q = loop.step(q)
        assert model.named(q)["drive1"] + model.named(q)["drive2"] <= most + 1e-12
    left = [np.linalg.norm(model.pose(task.frame, q).xyz - task.target) for task in tips]
    assert np.linalg.norm(left) < 5e-3


def test_a_level_that_a_closed_chain_leaves_nothing_is_refused(bar: pz.Model) -> None:
    with refused("nothing-moves"):
        pz.Tracker(bar, [pz.JointCouplingTask({"crank": 1.0}), pz.PositionTask("pen", priority=1)])


@pytest.mark.parametrize("seed", range(8))
def test_a_start_that_is_open_is_closed_first_no_faster_than_speeds_allow(bar: pz.Model, seed: int) -> None:
    q = bar.sample(seed=seed)
    tracker, dt = pz.Tracker(bar, pz.PositionTask("pen"), dt=0.05), 0.05
    for _ in range(400):
        before, q = q, np.array(tracker.step(q, [0.5, 0.5, 0.0]))
        assert (np.abs(q - before) <= bar.velocity * dt * (1.0 + 1e-9)).all()
        if gap(bar, q) < CLOSED:
            break
    assert gap(bar, q) < CLOSED
    at_once = np.array(pz.Tracker(bar, pz.PositionTask("pen")).step(bar.sample(seed=seed), [0.5, 0.5, 0.0]))
    assert gap(bar, at_once) < CLOSED


def test_a_start_that_nothing_closes_stays_and_says_so() -> None:
    b = pz.ModelBuilder("short")
    b.joint("a", "revolute", parent="base", child="arm")
    b.frame("tip", link="arm", origin=at(1, 0, 0))
    b.frame("far", link="base", origin=at(5, 0, 0))
    b.loop("tip", "far")
    model = b.build()
    tracker = pz.Tracker(model, pz.JointCouplingTask({"a": 1.0}), dt=0.01)
    with pytest.warns(RuntimeWarning, match=r"loops of short are open by 4\.\d* m or rad"):
        np.testing.assert_array_equal(tracker.step([0.5], 1.0), [0.5])
    assert not pz.solve(model, pz.JointCouplingTask({"a": 1.0}, target=1.0)).success


def test_measured_joints_that_are_slightly_open_do_not_stop_the_arm(bar: pz.Model, closed_bar: Array) -> None:
    rng, q = np.random.default_rng(4), closed_bar
    tracker = pz.Tracker(bar, pz.JointCouplingTask({"crank": 1.0}), dt=0.02)
    for _ in range(150):
        q = np.array(tracker.step(q + rng.normal(scale=1e-4, size=3), 2.0))
        assert gap(bar, q) < CLOSED
    assert q[0] == pytest.approx(2.0, abs=5e-3)


def test_a_tracker_travels_with_its_loops(bar: pz.Model, closed_bar: Array) -> None:
    tracker = pz.Tracker(bar, pz.JointCouplingTask({"crank": 1.0}), dt=0.02)
    tracker.step(closed_bar, 2.0)
    for twin in (pickle.loads(pickle.dumps(tracker)), copy.deepcopy(tracker)):
        np.testing.assert_array_equal(twin.step(closed_bar), tracker.step(closed_bar))
    assert tracker.targets.shape == (1, 7)


def test_a_model_that_is_gone_leaves_nothing_behind() -> None:
    model = four_bar()
    assert pz.solve(model, pz.JointCouplingTask({"crank": 1.0}, target=1.0)).success
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


# What is refused ----------------------------------------------------------------------------------------------------


def test_what_would_leave_loops_open_is_refused_by_name(bar: pz.Model, closed_bar: Array) -> None:
    task = pz.PositionTask("pen", [0.5, 0.5, 0.0])
    path = np.zeros((3, 3))
    with refused("not-supported"):
        relax(bar, task, closed_bar)
    with refused("inconsistent", "LoopTask('coupler_end'"):
        pz.Tracker(bar, task).rollout(closed_bar + 0.1 * np.eye(bar.nq)[0], path[:, None])
    assert pz.Tracker(bar, task, dt=0.01, limits=[pz.VelocityLimit(1.0)]) is not None


def test_loops_that_no_task_moves_stay_as_they_are(gripper: pz.Model) -> None:
    turn = pz.JointCouplingTask({"wrist": 1.0})
    found = pz.solve(gripper, pz.JointCouplingTask({"wrist": 1.0}, target=0.5))
    assert len(found.errors) == 1
    assert gap(gripper, found.q) < CLOSED
    half_open = gripper.q(left_driver=0.4)
    assert gap(gripper, half_open) > 1e-3
    closed = pz.solve(gripper, pz.JointCouplingTask({"wrist": 1.0}, target=0.5), q0=half_open)
    assert closed.success
    assert gap(gripper, closed.q) < CLOSED
    batch = pz.solve_batch(gripper, turn, [0.1, 0.2, 0.3], q0=half_open)
    assert batch.success.all()
    assert max(gap(gripper, q) for q in batch.q) < CLOSED
    limits = [pz.AccelerationLimit(5.0)]
    tracker, q = pz.Tracker(gripper, turn, dt=0.01, limits=limits), gripper.home
    for _ in range(20):
        q = np.array(tracker.step(q, 0.5))
        assert gap(gripper, q) < CLOSED
    assert q[gripper.index("wrist")][0] > 0.01
    with pytest.warns(RuntimeWarning, match="which no task moves, is open and stays so"):
        tracker.step(half_open, 0.5)
    assert pz.solve_path(gripper, turn, np.linspace(0.0, 0.5, 5)).q.shape == (5, gripper.nq)


def test_a_loop_task_that_makes_no_sense_is_refused(bar: pz.Model) -> None:
    with refused("unknown-word", "kind"):
        pz.LoopTask("a", "b", "weld")  # type: ignore[arg-type]
    with refused("duplicate", "'a'"):
        pz.LoopTask("a", "a")
    with refused("not-positive"):
        pz.LoopTask("a", "b", weight=0.0)
    with pytest.raises(TypeError):
        pz.LoopTask("a")  # type: ignore[call-arg]
    with refused("wrong-shape"):
        pz.Solver(bar, pz.LoopTask("pen", "rocker_end"))([0.0, 0.0, 0.0])
    with refused("nothing-moves"):
        pz.solve(bar, pz.LoopTask("pen", "coupler_end"))
    with pytest.raises(pz.FrameNotFound, match="nowhere"):
        pz.solve(bar, pz.LoopTask("pen", "nowhere"))


def test_a_builder_refuses_loops_that_close_nothing() -> None:
    def made(*loop: Any) -> pz.Model:
        b = pz.ModelBuilder("m")
        b.joint("a", "revolute", parent="base", child="arm")
        b.frame("tip", link="arm", origin=at(1, 0, 0))
        b.loop(*loop)
        return b.build()

    for loop, words in (
        (("tip", "tip"), "named twice"),
        (("tip", "base", "weld"), "the kinds are point, pose, hinge"),
        (("tip", "nowhere"), "'nowhere', which does not exist"),
        (("tip", "arm"), "closes nothing"),
        (("base", "world"), "closes nothing"),
        (("", "tip"), "has no name"),
    ):
        with pytest.raises(pz.ModelError, match=words):
            made(*loop)
    assert made("tip", "world", "pose").loops == (pz.Loop("tip", "world", "pose"),)


# Models -------------------------------------------------------------------------------------------------------------


def test_derived_models_keep_the_loops_whose_frames_stay(bar: pz.Model) -> None:
    assert bar.loops == (pz.Loop("coupler_end", "rocker_end"),)
    assert bar.with_shapes({}).loops == bar.lock(crank=1.0).loops == pickle.loads(pickle.dumps(bar)).loops == bar.loops
    with pytest.warns(pz.ModelWarning, match=r"Loop\('coupler_end', 'rocker_end'\) of four_bar is lost"):
        assert bar.chain("base", "coupler_link").loops == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bar.lock(crank=1.0, coupler=0.0, rocker=1.0).loops == ()
    assert "coupler_end stays with rocker_end" in str(bar)
    assert repr(bar).endswith("nv=3, 1 loop)")


def test_an_arm_is_cut_from_its_gripper_without_a_word(gripper: pz.Model) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gripper.chain("world", "wrist").loops == ()


def test_a_locked_four_bar_still_closes(bar: pz.Model, closed_bar: Array) -> None:
    locked = bar.lock(crank=1.0)
    found = pz.solve(locked, pz.PostureTask(target=closed_bar[1:] + 0.1))
    assert gap(locked, found.q) < CLOSED
    np.testing.assert_allclose(found.q, closed_bar[1:], atol=1e-6)


def test_the_base_of_the_delta_is_where_it_is_said(robot: pz.Model) -> None:
    np.testing.assert_allclose(robot.pose("arm0", robot.neutral).xyz, [BASE, 0.0, 0.0])


def test_the_command_line_tells_of_loops(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")
    file = str(DATA / "gripper.xml")
    assert main(["info", file]) == 0
    assert "right/1 and right/2 (point)" in " ".join(capsys.readouterr().out.split())
    main(["solve", file, "--frame", "right_pad", "--xyz", "0", "0.05", "0.2"])
    assert "LoopTask('right/1', 'right/2')" in " ".join(capsys.readouterr().out.split())


def test_a_robot_on_another_base_takes_along_what_its_loops_are_tied_to() -> None:
    b = pz.ModelBuilder("tied")
    b.joint("one", "revolute", parent="base", child="first", limits=(-3, 3))
    b.joint("two", "revolute", parent="first", child="second", origin=pz.SE3.from_parts([1, 0, 0]), limits=(-3, 3))
    b.frame("end", link="second", origin=pz.SE3.from_parts([1, 0, 0]))
    b.frame("pin", link="world", origin=pz.SE3.from_parts([1.2, 0.5, 0]))
    b.loop("end", "pin")
    tied = b.build()
    pose = pz.SE3.from_xyz_rpy([0.3, 0.2, 0.7], [0.1, -0.4, 1.0])
    moved = tied.with_base(pose)
    q = pz.solve(tied, pz.PostureTask([0.5, 0.5])).q
    assert np.allclose(moved.pose("end", q).xyz, moved.pose("pin", q).xyz, atol=1e-6)
    assert np.allclose(moved.pose("pin", q).xyz, pose.act([1.2, 0.5, 0]), atol=1e-12)


def test_a_loop_takes_no_offset() -> None:
    with pytest.raises(TypeError, match="offset"):
        pz.LoopTask("a", "b", offset=pz.SE3.identity())  # type: ignore[call-arg]


def test_a_tracker_tells_of_its_loops_after_its_tasks() -> None:
    bar = four_bar()
    loop = pz.Tracker(bar, pz.PositionTask("pen", [0.5, 0.7, 0.0]), dt=0.01, speed=0.5)
    q = pz.solve(bar, pz.PostureTask()).q
    for _ in range(5):
        before, q = q, loop.step(q)
        assert np.abs(q - before).max() <= 0.5 * 2.0 * 0.01 * (1 + 1e-9)
    assert [error.task.split("(")[0] for error in loop.errors] == ["PositionTask", "LoopTask"]
    assert loop.errors[1].position < 1e-7
    assert "the loop is closed to" in loop.explain()


def test_legs_that_hold_a_platform_at_their_limits_are_named_and_closed_loops_are_not_blamed() -> None:
    model = platform()
    q = pz.solve(model, pz.PostureTask(target=model.home)).q
    place = model.pose("head", q).xyz
    aside = pz.solve(model, pz.PositionTask("head", place + np.array([0.1, 0.0, 0.0])), q0=q)
    assert aside.status is pz.Status.LIMIT
    assert "LoopTask" not in aside.explain()
    assert "5 loops are closed" in aside.explain()
    above = pz.solve(model, pz.PositionTask("head", place + np.array([0.0, 0.0, 0.1])), q0=q)
    assert all(f"motor{i} (" in above.explain() for i in range(6))


# With tasks that are not required -----------------------------------------------------------------------------------


def test_loops_that_limits_hold_open_are_told_beside_a_soft_task(bar: pz.Model) -> None:
    held = bar.with_limits({"rocker": (0.0, 0.2)})
    far = pz.PositionTask("pen", [5.0, 5.0, 0.0], required=False)
    found = pz.solve(held, far)
    assert not found.success
    assert "LoopTask" in found.explain()
    assert gap(held, found.q) > CLOSED
    many = pz.solve_batch(held, [far, pz.JointCouplingTask({"crank": 1.0}, target=1.0)])
    assert not many.success.any()


def test_a_loop_that_is_stated_as_the_model_has_it_counts_once(bar: pz.Model) -> None:
    crank = pz.JointCouplingTask({"crank": 1.0}, target=1.0)
    loop = pz.LoopTask("coupler_end", "rocker_end", weight=LOOP_WEIGHT)
    found = pz.solve(bar, [crank, loop])
    assert found.success
    assert [error.task for error in found.errors] == [crank.label, loop.label]


@pytest.mark.parametrize("kind", [{"required": False}, {"priority": 1}, {"priority": 1, "required": False}])
def test_tasks_that_come_after_the_loops_are_tracked(bar: pz.Model, closed_bar: Array, kind: Any) -> None:
    tracker, q = pz.Tracker(bar, pz.PositionTask("pen", **kind), dt=0.01), closed_bar
    nearest = pz.solve(bar, pz.PositionTask("pen", [5.0, 5.0, 0.0], required=False), q0=closed_bar)
    for _ in range(200):
        q = tracker.step(q, [5.0, 5.0, 0.0])
        assert gap(bar, q) < CLOSED
    assert abs(tracker.errors[0].position - nearest.errors[0].position) < 1e-3


def test_the_rows_of_a_path_that_cannot_be_followed_are_closed() -> None:
    b = pz.ModelBuilder("scissor lift")
    b.joint("left", "revolute", parent="base", child="one", axis=(0, 1, 0), limits=(-1.5, 0.0))
    b.joint("rail", "prismatic", parent="base", child="skid", axis=(1, 0, 0), limits=(0.1, 2.0))
    b.joint("right", "revolute", parent="skid", child="other", axis=(0, 1, 0), limits=(0.0, 1.5))
    top = pz.SE3.from_parts([-2.0, 0.0, 0.0])
    b.joint("top", "revolute", parent="other", child="deck", axis=(0, 1, 0), origin=top, limits=(-3.1, 3.1))
    b.joint("slot", "prismatic", parent="deck", child="shoe", axis=(1, 0, 0), limits=(0.1, 2.0))
    for name, link, x in (("one_middle", "one", 1.0), ("other_middle", "other", -1.0), ("one_top", "one", 2.0)):
        b.frame(name, link=link, origin=pz.SE3.from_parts([x, 0.0, 0.0]))
    b.loop("one_middle", "other_middle")
    b.loop("one_top", "shoe")
    lift = b.build()
    q0 = pz.solve(lift, pz.PostureTask(target=lift.home)).q
    beside = lift.pose("shoe", q0).xyz + np.linspace(0.0, 0.05, 6)[:, None] * [0.1, -0.1, 0.6]  # y is never met
    path = pz.solve_path(lift, pz.PositionTask("shoe"), beside, q0=q0)
    assert not path.success
    assert all(gap(lift, q) < CLOSED for q in path.q)
