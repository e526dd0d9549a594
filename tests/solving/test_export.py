"""What leaves Python as a file answers there as it does here, and a file that is no good is refused in words."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import carried
from support.carried import COORDINATE, ERROR, FRAME, NQ, NV, OBSTACLE, POSTURE, SHAPE, TARGET, TASK, Carried
from support.mechanisms import delta, four_bar, gap, puppet

import poise as pz
from poise.common.array import Array
from poise.kernels.machine.library import library
from poise.kernels.serialised import IMAGE
from poise.kernels.statuses import STATUSES
from poise.methods.registry import METHODS
from poise.solving.requirements.status import Status

pytestmark = pytest.mark.skipif(library() is None, reason="there is no library here: run python -m poise.build")

PANDA, UR5E, G1, DELTA = pz.load("panda"), pz.load("ur5e"), pz.load("g1"), delta()
BAR, PUPPET, WALKER = four_bar(), puppet(), pz.load("g1", base="floating")
HAND = PANDA.tip
WRISTS = ["left_wrist_yaw_link", "right_wrist_yaw_link"]
Goal = Callable[[Array], Any]


def loaded(one: pz.Solver | pz.Tracker, folder: Path) -> Carried:
    one.export(folder / "one.poise")
    return Carried(folder / "one.poise")


def goal_of(model: pz.Model, frames: list[str]) -> Goal:
    return lambda q: [model.pose(frame, q) for frame in frames]


PAW = "left_wrist_yaw_link"
REGION = pz.RegionTask("panda_link6", pz.Sphere(PANDA.pose("panda_link6", PANDA.home).xyz, 0.4))
AWAY = pz.PositionTask("panda_link4", (0.2, 0.2, 0.7), required=False, priority=1)
THERE = pz.PositionTask("panda_link4", required=False, priority=1)
SHAPED = PANDA.with_shapes({"panda_link6": pz.Sphere((0, 0, 0), 0.08), HAND: pz.Sphere((0, 0, 0), 0.06)})
BALL = pz.World({"ball": pz.Sphere((0.4, 0.1, 0.4), 0.1)})
TO_POINT, POSTURE_TASK = pz.PositionTask(HAND), pz.PostureTask()
PEN = pz.PositionTask("pen", weight=(1, 1, 0))
SUM = pz.LinearLimit({"panda_joint1": 1.0}, 9.0)
APART = pz.CollisionLimit(BALL, min_distance=0.02)


def point(q: Array) -> list[Any]:
    return [PANDA.pose(HAND, q).xyz, None]


def place(q: Array) -> list[Any]:
    """Where the delta's plate comes to."""
    return [(0.02 * q[0], 0.02 * q[1], -0.6 + 0.02 * q[2])]


SOLVERS: dict[str, tuple[pz.Model, list[pz.Task], Goal, dict[str, Any]]] = {
    "seven joints": (PANDA, [pz.PoseTask(HAND)], goal_of(PANDA, [HAND]), {}),
    "a closed form": (UR5E, [pz.PoseTask(UR5E.tip)], goal_of(UR5E, [UR5E.tip]), {}),
    "the first": (UR5E, [pz.PoseTask(UR5E.tip)], goal_of(UR5E, [UR5E.tip]), {"select": "first"}),
    "no limits": (PANDA, [pz.PoseTask(HAND)], goal_of(PANDA, [HAND]), {"limits": False}),
    "a point": (PANDA, [pz.PositionTask(HAND)], lambda q: [PANDA.pose(HAND, q).xyz], {}),
    "a rotation": (PANDA, [pz.OrientationTask(HAND)], lambda q: [PANDA.pose(HAND, q).rotation], {}),
    "two arms": (G1, [pz.PoseTask(frame) for frame in WRISTS], goal_of(G1, WRISTS), {}),
    "a range": (PANDA, [pz.PoseTask(HAND), REGION], lambda q: [PANDA.pose(HAND, q), None], {}),
    "a soft task": (PANDA, [TO_POINT, AWAY], point, {}),
    "a soft task alone": (PANDA, [pz.PositionTask(HAND, required=False)], lambda q: [1.5 * point(q)[0]], {}),
    "a posture": (PANDA, [TO_POINT, POSTURE_TASK], point, {}),
    "a posture of the call": (PANDA, [TO_POINT, POSTURE_TASK], lambda q: [point(q)[0], q], {}),
    "a posture of some joints": (
        G1, [pz.PositionTask(PAW), pz.PostureTask(weight={"left_knee_joint": 0.0, "waist_yaw_joint": 5.0})],
        lambda q: [G1.pose(PAW, q).xyz, q], {},
    ),
    "a range and a posture": (PANDA, [TO_POINT, REGION, POSTURE_TASK], lambda q: [*point(q), None], {}),
    "a range and a soft task": (PANDA, [TO_POINT, REGION, AWAY], lambda q: [*point(q), None], {}),
    "a posture beside a soft task": (PANDA, [TO_POINT, AWAY, POSTURE_TASK], lambda q: [*point(q), None], {}),
    "a posture beside one that is fulfilled": (
        PANDA, [TO_POINT, THERE, POSTURE_TASK],
        lambda q: [point(q)[0], PANDA.pose("panda_link4", q).xyz, None], {},
    ),
    "a range, a soft task and a posture": (
        PANDA, [TO_POINT, REGION, AWAY, POSTURE_TASK], lambda q: [point(q)[0], None, None, q], {},
    ),
    "a posture beside a soft task and a sum": (
        PANDA, [TO_POINT, AWAY, POSTURE_TASK], lambda q: [*point(q), None], {"limits": [SUM]},
    ),
    "a posture by dls": (PANDA, [TO_POINT, POSTURE_TASK], point, {"method": "dls"}),
    "a sum": (PANDA, [pz.PoseTask(HAND)], goal_of(PANDA, [HAND]), {"limits": [SUM]}),
    "among shapes": (SHAPED, [TO_POINT, POSTURE_TASK], point, {"limits": [APART]}),
    "a loop": (DELTA, [pz.PositionTask("plate")], place, {}),
    "a loop and a posture": (DELTA, [pz.PositionTask("plate"), POSTURE_TASK], lambda q: [*place(q), None], {}),
    **{
        f"by {name}": (PANDA, [pz.PositionTask(HAND)], lambda q: [PANDA.pose(HAND, q).xyz], {"method": name})
        for name in METHODS
    },
}  # fmt: skip


def own_goal(solver: pz.Solver, found: pz.Solution) -> Array:
    """The goal numbers of the tasks that were stated: those of loops are the file's."""
    first = 7 * sum(bool(task.blocks) for task in solver._search.tasks.stated)
    return np.concatenate([found.goal[:first], found.goal[7 * len(solver._search.tasks.of_frames) :]])


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_answers_as_in_python(name: str, tmp_path: Path) -> None:
    model, tasks, goal, given = SOLVERS[name]
    solver = pz.Solver(model, tasks, **given)
    one = loaded(solver, tmp_path)
    q = model.sample(16, seed=5)
    for a, b in zip(q[:8], q[8:], strict=True):
        q0 = b if "method" not in given else model.clip(model.integrate(a, np.full(model.nv, 0.05)))
        here = solver(goal(a), q0)
        status, there, told = one.solve(own_goal(solver, here), q0)
        assert (status == "OK") == here.success
        if not here.success and solver._search.falls_back:
            assert np.isnan(there).all()
            continue
        np.testing.assert_allclose(there, here.q, rtol=0.0, atol=1e-11)
        assert (told.restarts, told.start) == (here.restarts, here.start)
        np.testing.assert_allclose([told.distance, told.cost], [here.distance, here.cost], atol=1e-11)
        left = np.ctypeslib.as_array(told.errors, (one.count(ERROR),))
        own = here.errors[: len(tasks)]  # those of loops are behind them
        worst = np.concatenate([[x for x in (e.position, e.rotation) if x is not None] for e in own])
        np.testing.assert_allclose(left[: len(worst)], worst, atol=1e-11)


LESS = pz.LinearLimit({"panda_joint1": 1.0, "panda_joint2": 1.0}, -0.5)
DOWN = pz.AxisTask(HAND, (0, 0, 1), target=(0, 0, -1), required=False, priority=2)
CLOSER = pz.CollisionLimit(pz.World({"ball": pz.Sphere((0.4, 0.1, 0.4), 0.2)}), min_distance=0.02)
IN_THE_WAY: dict[str, tuple[pz.Model, list[pz.Task], Goal, dict[str, Any]]] = {
    "a sum": (PANDA, [TO_POINT], lambda q: [point(q)[0]], {"limits": [LESS]}),
    "a shape": (SHAPED, [TO_POINT], lambda q: [point(q)[0]], {"limits": [CLOSER]}),
    "a sum beside a soft task": (PANDA, [TO_POINT, AWAY], point, {"limits": [LESS]}),
    "what gives way": (
        PANDA, [pz.PoseTask(HAND), AWAY, DOWN], lambda q: [PANDA.pose(HAND, q), None, None], {"limits": [LESS]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_THE_WAY)
def test_where_the_stages_fail_it_answers_as_in_python(name: str, tmp_path: Path) -> None:
    model, tasks, goal, given = IN_THE_WAY[name]
    one, led = loaded(pz.Solver(model, tasks, max_restarts=0, **given), tmp_path), 0
    for q in model.sample(24, seed=2):
        solver = pz.Solver(model, tasks, max_restarts=0, **given)
        here = solver(goal(q) if len(tasks) > 1 else goal(q)[0])
        status, there, told = one.solve(own_goal(solver, here), model.home)
        assert (status == "OK") == here.success
        if here.success:
            led += "by_steps" in solver._search.others
            np.testing.assert_allclose(there, here.q, rtol=0.0, atol=1e-11)
            assert (told.iterations, told.restarts, told.start) == (here.iterations, here.restarts, here.start)
            np.testing.assert_allclose([told.distance, told.cost], [here.distance, here.cost], atol=1e-11)
    assert led >= 2


def test_where_loops_are_closed_first_a_file_takes_no_steps(tmp_path: Path) -> None:
    solver = pz.Solver(DELTA, pz.PositionTask("plate"), max_restarts=0)
    here = solver((0.0, 0.0, -3.0))
    assert gap(DELTA, here.q) < 1e-7
    status, there, _ = loaded(solver, tmp_path).solve(own_goal(solver, here), DELTA.home)
    assert (status, here.success) == ("LIMIT", False)
    assert np.isnan(there).all()


def test_a_target_out_of_reach_ends_with_the_closest_configuration(tmp_path: Path) -> None:
    solver = pz.Solver(PANDA, pz.PositionTask(HAND))
    status, q, told = loaded(solver, tmp_path).solve([3.0, 0, 0, 1, 0, 0, 0])
    assert status == "LOCAL_MINIMUM"
    assert told.status == list(STATUSES).index(status)
    np.testing.assert_allclose(q, solver([3.0, 0, 0]).q, atol=1e-11)


def test_without_targets_and_a_start_it_takes_those_of_the_file(tmp_path: Path) -> None:
    target = PANDA.pose(HAND, PANDA.sample(1, seed=3)[0])
    solver = pz.Solver(PANDA, pz.PoseTask(HAND, target))
    one = loaded(solver, tmp_path)
    np.testing.assert_array_equal(one.numbers("targets"), target.array)
    assert one.names(TASK) == [HAND]
    status, q, _ = one.solve()
    assert status == "OK"
    np.testing.assert_allclose(q, solver().q, atol=1e-11)


TRACKERS: dict[str, tuple[pz.Model, list[pz.Task], Goal, dict[str, Any]]] = {
    "usual": (PANDA, [pz.PoseTask(HAND)], goal_of(PANDA, [HAND]), {}),
    "accelerations": (
        PANDA, [pz.PoseTask(HAND)], goal_of(PANDA, [HAND]),
        {"limits": [pz.AccelerationLimit(10.0), pz.JerkLimit(200.0)]},
    ),
    "a posture": (PANDA, [pz.PositionTask(HAND), pz.PostureTask()], lambda q: [PANDA.pose(HAND, q).xyz, q], {}),
    "priorities": (
        PANDA, [pz.PositionTask(HAND), pz.OrientationTask(HAND, priority=1)],
        lambda q: [PANDA.pose(HAND, q).xyz, PANDA.pose(HAND, q).rotation], {},
    ),
    "another method in levels": (
        PANDA, [pz.PositionTask(HAND), pz.OrientationTask(HAND, priority=1)],
        lambda q: [PANDA.pose(HAND, q).xyz, PANDA.pose(HAND, q).rotation], {"method": "sdls"},
    ),
    "a range": (
        PANDA, [pz.PositionTask(HAND), pz.ConeTask(HAND, angle=0.6)], lambda q: [PANDA.pose(HAND, q).xyz, None], {},
    ),
    "two arms": (G1, [pz.PoseTask(frame) for frame in WRISTS], goal_of(G1, WRISTS), {}),
    "a loop": (BAR, [PEN], lambda q: [BAR.pose("pen", q).xyz], {}),
    "a loop and a posture": (BAR, [PEN, POSTURE_TASK], lambda q: [BAR.pose("pen", q).xyz, q], {}),
    "loops of balls": (DELTA, [pz.PositionTask("plate")], place, {"limits": [pz.AccelerationLimit(20.0)]}),
    **{
        f"by {name}": (PANDA, [pz.PositionTask(HAND)], lambda q: [PANDA.pose(HAND, q).xyz], {"method": name})
        for name in METHODS
    },
}  # fmt: skip


def own_numbers(tracker: pz.Tracker) -> Array:
    """What the tasks read now: the goals of loops are the file's."""
    return np.concatenate([tracker.targets.ravel(), tracker._stepper.targets.posture])


@pytest.mark.parametrize("name", TRACKERS)
def test_a_tracker_goes_the_same_way(name: str, tmp_path: Path) -> None:
    model, tasks, goal, given = TRACKERS[name]
    tracker = pz.Tracker(model, tasks, dt=0.01, **given)
    one = loaded(tracker, tmp_path)
    home = one.numbers("home")
    here = there = home
    for a in model.interpolate(home, model.clip(model.sample(1, seed=7)[0]), np.linspace(0.0, 1.0, 40)):
        here = tracker.step(here, goal(a))
        numbers = own_numbers(tracker)
        status, there = one.step(there, numbers)
        assert status == "OK"
        np.testing.assert_allclose(there, here, rtol=0.0, atol=1e-11)
    status, on = one.step()
    np.testing.assert_allclose(on, tracker.step(None), atol=1e-11)
    one.begin()
    tracker.reset()
    np.testing.assert_allclose(one.step(home, numbers)[1], tracker.step(home), atol=1e-11)


def test_the_first_step_says_where_it_begins(tmp_path: Path) -> None:
    one = loaded(pz.Tracker(PANDA, pz.PoseTask(HAND)), tmp_path)
    assert one.step()[0] == "BAD_INPUT"
    assert one.step(measured=np.full(7, np.nan))[0] == "BAD_INPUT"
    status, led = one.step(measured=PANDA.home)
    assert status == "OK"
    assert one.step(measured=PANDA.home + 1.0)[0] == "OK"
    one.begin()
    np.testing.assert_array_equal(one.step(PANDA.home)[1], led)


# Loops ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "frame"), [(BAR, "pen"), (DELTA, "plate")])
def test_the_home_of_a_file_closes_loops(model: pz.Model, frame: str, tmp_path: Path) -> None:
    one = loaded(pz.Tracker(model, pz.PositionTask(frame), dt=0.01), tmp_path)
    home = one.numbers("home")
    assert gap(model, model.home) > 0.1
    assert gap(model, home) < 1e-7
    assert model.within_limits(home)
    assert (one.count(TASK), one.count(TARGET)) == (1, 7)


def test_a_start_whose_loops_are_open_says_so(tmp_path: Path) -> None:
    tracker = pz.Tracker(BAR, PEN, dt=0.01)
    one = loaded(tracker, tmp_path)
    status, led = one.step(BAR.home)
    assert status == "LOOPS_OPEN"
    np.testing.assert_array_equal(led, BAR.home)
    # One that is nearer than a step goes is closed by the step, as in Python.
    near = one.numbers("home") + np.array([1e-4, 0.0, 0.0])
    status, led = one.step(near)
    assert status == "OK"
    assert gap(BAR, led) < 1e-7
    np.testing.assert_array_equal(led, tracker.step(near, one.numbers("targets")[:3]))


# The following error ----------------------------------------------------------------------------------------------


MEASURED: dict[str, tuple[pz.Model, list[pz.Task], Goal, dict[str, Any]]] = {
    **{name: TRACKERS[name] for name in ("usual", "accelerations", "a posture", "a range", "a loop", "by sdls")},
    "another method in levels": TRACKERS["another method in levels"],
    "from a base": (
        PANDA, [pz.PoseTask(HAND, base="panda_link3", offset=pz.SE3([0.0, 0.0, 0.1, 1, 0, 0, 0]))],
        lambda q: [PANDA.pose("panda_link3", q).inverse() @ PANDA.pose(HAND, q)], {},
    ),
    "balls": (PUPPET, [pz.PoseTask("palm")], goal_of(PUPPET, ["palm"]), {"limits": [pz.AccelerationLimit(20.0)]}),
    "a floating base": (WALKER, [pz.PoseTask(frame) for frame in WRISTS], goal_of(WALKER, WRISTS), {}),
    "among shapes": (SHAPED, [TO_POINT], lambda q: [PANDA.pose(HAND, q).xyz], {"limits": [APART]}),
}  # fmt: skip


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("joints", [True, False])
def test_a_command_waits_as_in_python(name: str, joints: bool, tmp_path: Path) -> None:
    """For a robot that lags, stops, and is not measured now and then."""
    model, tasks, goal, given = MEASURED[name]
    near, far = 0.03, np.inf
    error = pz.FollowingErrorLimit(near if joints else far, far if joints else near, far if joints else 0.1)
    tracker = pz.Tracker(model, tasks, dt=0.01, following_error=error, **given)
    one = loaded(tracker, tmp_path)
    home = one.numbers("home")
    target, held = goal(model.clip(model.integrate(home, np.full(model.nv, 0.4)))), 0
    measured = home
    for tick in range(60):
        seen = None if tick % 17 == 16 else measured
        here = tracker.step(None if tick else home, target, measured=seen)
        status, led = one.step(None if tick else home, own_numbers(tracker), seen)
        assert status == "OK"
        np.testing.assert_array_equal(led, here)
        held += any(limit.kind == "following error" for limit in tracker.active_limits)
        if 20 < tick < 40:
            measured = model.integrate(measured, 0.2 * model.difference(measured, here))
    assert held > 5


# Shapes -----------------------------------------------------------------------------------------------------------

ARM = pz.load("panda_collision")


def crowd() -> pz.World:
    return pz.World(
        {
            "ball": pz.Sphere((0.45, 0.2, 0.5), 0.08),
            "box": pz.Box(pz.SE3([0.5, -0.3, 0.2, 1, 0, 0, 0]), (0.2, 0.2, 0.4)),
            "post": pz.Capsule((0.2, 0.5, 0.2), (0.2, 0.5, 0.8), 0.05),
            "floor": pz.HalfSpace((0, 0, -0.2), (0, 0, 1)),
        }
    )


def test_a_solver_among_shapes_answers_as_in_python(tmp_path: Path) -> None:
    world = crowd()
    solver = pz.Solver(ARM, pz.PoseTask(HAND), limits=[pz.CollisionLimit(world)])
    one = loaded(solver, tmp_path)
    q = ARM.sample(40, seed=5)
    found = 0
    for a, b in zip(q[:20], q[20:], strict=True):
        here = solver(ARM.pose(HAND, a), b)
        status, there, _ = one.solve(here.goal, b)
        assert (status == "OK") == here.success
        if here.success:
            found += 1
            np.testing.assert_allclose(there, here.q, rtol=0.0, atol=1e-11)
            assert one.distance(there).distance >= 0.01
    assert found > 10


@pytest.mark.parametrize("limit", [pz.CollisionLimit(), pz.LinearLimit({"panda_joint1": 1, "panda_joint2": 1}, -1.5)])
def test_what_must_hold_beside_limits_of_joints_holds_or_there_is_no_answer(limit: Any, tmp_path: Path) -> None:
    solver = pz.Solver(ARM, pz.PoseTask(HAND), limits=[limit], max_restarts=20)
    one = loaded(solver, tmp_path)
    q = ARM.sample(24, seed=11)
    ends = set()
    for a, b in zip(q[:12], q[12:], strict=True):
        here = solver(ARM.pose(HAND, a), b)
        status, there, _ = one.solve(here.goal, b)
        ends.add(status)
        if status == "OK":
            assert here.success
            np.testing.assert_allclose(there, here.q, rtol=0.0, atol=1e-11)
        else:
            assert np.isnan(there).all()
    far = one.solve([3.0, 0, 0, 1, 0, 0, 0], stop=lambda _: 1)
    assert far[0] in ("BUDGET", "LIMIT")
    assert np.isnan(far[1]).all()
    assert ends <= ({"OK", "LIMIT"} | ({"COLLISION"} if isinstance(limit, pz.CollisionLimit) else set()))


def test_an_obstacle_that_is_moved_stands_there(tmp_path: Path) -> None:
    world = crowd()
    world.move("ball", pz.SE3.from_parts((0.45, 0.2, 0.5)), velocity=(-0.5, 0.0, 0.0))
    tracker = pz.Tracker(ARM, pz.PoseTask(HAND), dt=0.01, limits=[pz.CollisionLimit(world)])
    one = loaded(tracker, tmp_path)
    here = there = ARM.home
    pose, target = (
        pz.SE3.from_parts((0.5, 0.1, 0.5)),
        pz.SE3.from_parts((0.5, 0.2, 0.45), pz.SO3.from_rpy([np.pi, 0, 0])),
    )
    world.move("ball", pose)
    assert one.move(one.names(OBSTACLE).index("ball"), pose.array) == "OK"
    for _ in range(40):
        here, there = tracker.step(here, target), one.step(there, target.array)[1]
        np.testing.assert_allclose(there, here, rtol=0.0, atol=1e-11)


def test_a_tracker_keeps_clear_of_what_is_moved(tmp_path: Path) -> None:
    world = crowd()
    tracker = pz.Tracker(ARM, pz.PoseTask(HAND), dt=0.01, limits=[pz.CollisionLimit(world)])
    one = loaded(tracker, tmp_path)
    names = one.names(OBSTACLE)
    assert sorted(names) == sorted(world.names)
    here = there = ARM.home
    for k in range(80):
        for name, place in (("ball", (0.45 + 0.2 * np.sin(k / 20), 0.2, 0.5)), ("box", (0.5, -0.3, 0.2 + 0.002 * k))):
            pose = pz.SE3.from_parts(place, pz.SO3.from_rpy([0.02 * k, 0.01 * k, 0.0]))
            world.move(name, pose)
            assert one.move(names.index(name), pose.array) == "OK"
        target = pz.SE3.from_parts((0.5, 0.3 * np.cos(k / 25), 0.45), pz.SO3.from_rpy([np.pi, 0, 0]))
        here = tracker.step(here, target)
        status, there = one.step(there, target.array)
        assert status == "OK"
        np.testing.assert_allclose(there, here, rtol=0.0, atol=1e-11)
        near = ARM.distance(here, world)
        seen = one.distance(there)
        assert seen.distance == pytest.approx(near.distance, abs=1e-11)
        assert (one.names(SHAPE)[seen.first], one.names(SHAPE)[seen.second]) == near.pair
        np.testing.assert_allclose([list(seen.at_first), list(seen.at_second)], near.points, atol=1e-9)


# Kinematics -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [PANDA, UR5E, G1], ids=lambda model: model.name)
def test_poses_and_jacobians_are_those_of_the_model(model: pz.Model, tmp_path: Path) -> None:
    one = loaded(pz.Solver(model, pz.PoseTask(model.frames[-2])), tmp_path)
    assert one.names(FRAME) == list(model.frames)
    assert one.names(COORDINATE) == list(model.coordinates)
    assert (one.count(NQ), one.count(NV), one.count(TASK), one.count(TARGET)) == (model.nq, model.nv, 1, 7)
    for name, numbers in (("lower", model.lower), ("upper", model.upper), ("home", model.home)):
        np.testing.assert_array_equal(one.numbers(name), numbers)
    for q in model.sample(5, seed=1):
        poses = one.poses(q)
        for i, frame in enumerate(model.frames):
            np.testing.assert_allclose(one.pose(q, i), poses[i], rtol=0.0, atol=0.0)
            assert model.pose(frame, q).isclose(pz.SE3(poses[i]), atol=1e-11)
            np.testing.assert_allclose(one.jacobian(q, i), model.jacobian(frame, q), atol=1e-11)


# What cannot go ---------------------------------------------------------------------------------------------------


def hand_and_bar() -> pz.Model:
    """A triangle of links beside a hinge, which is led alone."""
    b = pz.ModelBuilder("hand_and_bar")
    b.joint("wrist", "revolute", parent="base", child="palm")
    b.joint("left", "revolute", parent="base", child="left_link")
    b.joint("right", "revolute", parent="base", child="right_link", origin=pz.SE3.from_parts((1.0, 0.0, 0.0)))
    b.frame("hand", link="palm", origin=pz.SE3.from_parts((0.5, 0.0, 0.0)))
    b.frame("left_end", link="left_link", origin=pz.SE3.from_parts((0.8, 0.0, 0.0)))
    b.frame("right_end", link="right_link", origin=pz.SE3.from_parts((0.8, 0.0, 0.0)))
    b.loop("left_end", "right_end")
    return b.build()


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (lambda: pz.Solver(PANDA, pz.PoseTask(HAND), method="lm", trace=True), "leave out trace=True"),
        (lambda: pz.Tracker(PANDA, pz.PoseTask(HAND), dt=0.01, explore=True), "leave out explore=True"),
        (lambda: pz.Tracker(hand_and_bar(), pz.PositionTask("hand"), dt=0.01), "no task moves .* lock their joints"),
        (lambda: pz.Solver(hand_and_bar(), pz.PositionTask("hand")), "no task moves .* lock their joints"),
    ],
)
def test_what_needs_python_is_refused_and_leaves_no_file(one: Callable[[], Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words):
        one().export(tmp_path / "one.poise")
    assert not list(tmp_path.iterdir())


# Files and arguments ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "arm.poise"
    pz.Solver(PANDA, pz.PoseTask(HAND)).export(path)
    return path


def with_field(file: bytes, name: str, number: int) -> bytes:
    """The file with another number in its head, and a sum that fits."""
    words = bytearray(file)
    struct.pack_into("<q", words, 8 * IMAGE.fields[name].word, number)
    behind = 8 * (IMAGE.fields["sum"].word + 1)
    if name not in ("sum", "magic", "length"):
        struct.pack_into("<q", words, behind - 8, zlib.crc32(words[behind:]))
    return bytes(words)


def field(file: bytes, name: str) -> int:
    return int(struct.unpack_from("<q", file, 8 * IMAGE.fields[name].word)[0])


def test_a_file_of_another_version_says_which_is_newer(file: Path) -> None:
    whole = file.read_bytes()
    other = with_field(whole, "layout", field(whole, "layout") + 1)
    for version, word in ((field(whole, "version") + 1, "NEWER"), (field(whole, "version") - 1, "OLDER")):
        with pytest.raises(ValueError, match=word):
            Carried(with_field(other, "version", version))


@pytest.mark.parametrize("given", [b"", b"poise", bytes(10_000)])
def test_what_is_no_file_is_refused(given: bytes) -> None:
    with pytest.raises(ValueError, match="NO_FILE"):
        Carried(given)


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_file_is_refused(file: Path, data: st.DataObject) -> None:
    whole = file.read_bytes()
    at = data.draw(st.integers(8, len(whole) - 1))
    way = data.draw(st.sampled_from(["flip", "cut", "insert"]))
    flipped = bytes([whole[at] ^ data.draw(st.integers(1, 255))])
    before, behind = whole[:at], whole[at:]
    changed = {"flip": before + flipped + behind[1:], "cut": before, "insert": before + b"x" + behind}
    with pytest.raises(ValueError, match=r"DAMAGED|NO_FILE|NEWER|OLDER"):
        Carried(changed[way])


@settings(max_examples=300)
@given(st.sampled_from(sorted(IMAGE.fields)), st.integers(-(2**63), 2**63 - 1) | st.integers(-10, 10_000))
def test_a_head_that_points_out_of_the_file_is_refused(file: Path, name: str, number: int) -> None:
    """Where the sum fits too, and nothing that is read or written lies outside."""
    assume(name != "work_words" or number < 1_000_000)  # more is taken from the system, and there may be as much
    end = "loaded"
    try:
        Carried(with_field(file.read_bytes(), name, number))
    except ValueError as error:
        end = str(error)
    assert end in ("loaded", *STATUSES)


def test_wrong_arguments_get_a_status(file: Path, tmp_path: Path) -> None:
    one = Carried(file)
    good = PANDA.pose(HAND, PANDA.home).array
    for targets, q0 in (
        (np.full(7, np.nan), PANDA.home), (good, np.full(7, np.inf)), ([0.4, 0, 0.4, 0, 0, 0, 0], PANDA.home),
        (good, np.full(7, 1e300)),
    ):  # fmt: skip
        status, q, told = one.solve(targets, q0)
        assert (status, told.iterations, bool(told.errors)) == ("BAD_INPUT", 0, False)
        assert np.isnan(q).all()
    assert one.solve(good, PANDA.home)[0] == "OK"
    assert one.step(PANDA.home)[0] == "NO_TRACKER"
    assert loaded(pz.Tracker(PANDA, pz.PoseTask(HAND)), tmp_path).solve()[0] == "NO_SOLVER"
    assert one.move(0, good) == "BAD_ARGUMENT"
    with pytest.raises(ValueError, match="NO_SHAPES"):
        one.distance(PANDA.home)
    face = carried.face()
    assert face.pz_solve(None, None, None, None, None, None, None) == list(STATUSES).index("BAD_ARGUMENT")
    assert face.pz_name(one.solver, NQ, 0) is None
    assert face.pz_name(one.solver, FRAME, 10_000) is None
    assert one.count(POSTURE) == 0


def test_a_deadline_ends_a_search(tmp_path: Path) -> None:
    one = loaded(pz.Solver(PANDA, pz.PositionTask(HAND)), tmp_path)
    asked: list[int] = []

    def stop(_: Any) -> int:
        asked.append(1)
        return len(asked) >= 3

    status, q, told = one.solve([3.0, 0, 0, 1, 0, 0, 0], stop=stop)
    assert (status, len(asked)) == ("BUDGET", 3)
    assert told.restarts < 100
    assert PANDA.within_limits(q)
    assert one.solve([3.0, 0, 0, 1, 0, 0, 0])[0] == "LOCAL_MINIMUM"


def test_statuses_are_those_of_python_where_they_have_the_same_name() -> None:
    shared = [status for status in Status if status.name in STATUSES]
    assert len(shared) >= 4
    for status in shared:
        assert STATUSES[status.name] == status.message
