"""A target that comes back from beyond the reach is followed home, whichever way a joint was bent at the border."""

import pickle
from typing import Any

import numpy as np
import pytest

import poise as pz

Array = Any
HAND, DT = "panda_hand", 0.01
TASKS: list[type[pz.PositionTask] | type[pz.PoseTask]] = [pz.PositionTask, pz.PoseTask]


@pytest.fixture(scope="module")
def arm() -> pz.Model:
    return pz.load("panda")


def away(arm: pz.Model, seed: int) -> Array:
    """A direction, not down."""
    way = np.random.default_rng(seed).standard_normal(3)
    return way / np.linalg.norm(way) * [1, 1, np.sign(way[2])]


def out_and_home(arm: pz.Model, loop: pz.Tracker, way: Array, rests: float, dt: float = DT) -> Array:
    """(steps + 1, nq) the way after a target that goes 1.2 m along `way` and back within 8 s, and then rests [s]."""
    home, path = arm.pose(HAND, arm.home), [arm.home]
    for t in np.arange(0, 8 + rests, dt):
        place = home.xyz + 0.6 * (1 - np.cos(2 * np.pi * min(t, 8) / 8)) * way
        target = place if isinstance(loop.tasks[0], pz.PositionTask) else pz.SE3.from_parts(place, home.rotation)
        path.append(loop.step(path[-1], target))
    return np.array(path)


@pytest.mark.parametrize("task", TASKS)
def test_a_hand_comes_home_from_beyond_its_reach_at_its_own_speed(arm: pz.Model, task: Any) -> None:
    for seed in range(12):
        loop = pz.Tracker(arm, task(HAND), dt=DT)
        path = out_and_home(arm, loop, away(arm, seed), 10.0)
        assert loop.errors[0].position < 1e-6, seed
        assert (np.abs(np.diff(path, axis=0)) <= arm.velocity * DT * (1 + 1e-9)).all()
        assert np.abs(np.diff(path[-100:], axis=0)).max() < 1e-9


@pytest.mark.parametrize(
    "limits",
    [
        [pz.AccelerationLimit(15.0)],
        [pz.AccelerationLimit(15.0), pz.JerkLimit(500.0)],
        [pz.CollisionLimit(pz.World({"floor": pz.HalfSpace((0, 0, -0.3), (0, 0, 1))}), self_collision=False)],
    ],
    ids=["accelerations", "jerks", "shapes"],
)
def test_it_comes_home_within_what_must_hold(limits: list[Any]) -> None:
    arm = pz.load("panda_collision")
    for seed in range(6):
        loop = pz.Tracker(arm, pz.PoseTask(HAND), dt=DT, limits=limits)
        path = out_and_home(arm, loop, away(arm, seed), 12.0)
        assert loop.errors[0].position < 1e-6, seed
        if any(isinstance(limit, pz.AccelerationLimit) for limit in limits):
            assert np.abs(np.diff(path, 2, axis=0)).max() <= 15.0 * DT**2 * (1 + 1e-6)


def test_a_start_and_a_goal_anywhere_meet(arm: pz.Model) -> None:
    met = 0
    for seed in range(20):
        q, goal = arm.sample(seed=2 * seed), arm.pose(HAND, arm.sample(seed=2 * seed + 1))
        loop = pz.Tracker(arm, pz.PoseTask(HAND), dt=DT)
        for _ in range(1500):
            q = loop.step(q, goal)
        met += loop.errors[0].position < 1e-6
    assert met >= 19


@pytest.mark.parametrize("task", TASKS)
def test_an_arm_whose_target_stays_beyond_its_reach_rests(arm: pz.Model, task: Any) -> None:
    home = arm.pose(HAND, arm.home)
    for seed in range(6):
        place = home.xyz + 1.5 * away(arm, seed)
        goal = place if task is pz.PositionTask else pz.SE3.from_parts(place, home.rotation)
        loop, path = pz.Tracker(arm, task(HAND), dt=DT), [arm.home]
        for _ in range(2500):
            path.append(loop.step(path[-1], goal))
        errors = [float(np.linalg.norm(arm.pose(HAND, q).xyz - place)) for q in path[600::100]]
        # Nothing sets out for what is not there.
        assert max(errors) < errors[0] + 1e-3
        assert np.abs(np.diff(path[-100:], axis=0)).max() < 1e-4


@pytest.mark.parametrize(("dt", "most", "speed"), [(0.002, 10.0, 1.0), (0.001, 5.0, 1.0), (0.01, 50.0, 0.05)])
def test_it_comes_home_at_every_rate(arm: pz.Model, dt: float, most: float, speed: float) -> None:
    at_rest, _, home = stuck(arm)
    q = at_rest.step(None, home)
    loop = pz.Tracker(arm, pz.PositionTask(HAND), dt=dt, limits=[pz.AccelerationLimit(most)], speed=speed)
    for _ in range(round((8.0 if speed == 1.0 else 60.0) / dt)):
        q = loop.step(q, home)
    assert loop.errors[0].position < 1e-6


def test_a_tracker_of_several_tasks_keeps_the_first(arm: pz.Model) -> None:
    """On the way that a scout finds a glass would tip."""
    home = arm.pose(HAND, arm.home)
    for seed in range(4):
        upright = pz.OrientationTask(HAND, home.rotation)
        loop, q = pz.Tracker(arm, [upright, pz.PositionTask(HAND, priority=1)], dt=DT), arm.home
        for t in np.arange(0, 12, DT):
            place = home.xyz + 0.6 * (1 - np.cos(2 * np.pi * min(t, 8) / 8)) * away(arm, seed)
            q = loop.step(q, [None, place])
            assert loop.errors[0].rotation < 1e-3


def stalled(arm: pz.Model, task: Any, method: str, *, beside_posture: bool) -> int:
    """How many of 14 places in reach a tracker stops short of within 10 s."""
    found = 0
    for seed in range(300, 314):
        goal, q, rest = arm.sample(3, seed=seed)
        aim = arm.pose(task.frame, goal)
        target = aim.xyz if isinstance(task, pz.PositionTask) else aim
        posture = [pz.PostureTask(rest)] if beside_posture else []
        loop = pz.Tracker(arm, [task, *posture], method, dt=DT)
        for _ in range(1000):
            q = loop.step(q, [target, *(None for _ in posture)])
        found += loop.errors[0].position > 1e-4
    return found


@pytest.mark.parametrize(
    ("method", "task"),
    [("pinv", pz.PoseTask(HAND)), ("sdls", pz.PoseTask(HAND)), ("ccd", pz.PositionTask(HAND + "_tcp"))],
)
def test_a_method_that_leads_beside_a_posture_comes_as_far_as_alone(arm: pz.Model, method: str, task: Any) -> None:
    """It scouts too, and steps that are longer than a step may be keep their direction."""
    alone, beside = (stalled(arm, task, method, beside_posture=beside) for beside in (False, True))
    assert beside <= alone + 1


def test_a_copy_of_a_method_that_leads_goes_the_same_way(arm: pz.Model) -> None:
    """A pose that it stalls short of until its scout has arrived."""
    goal, q = arm.sample(2, seed=103)
    loop, pose = pz.Tracker(arm, [pz.PoseTask(HAND), pz.PostureTask()], "sdls"), arm.pose(HAND, goal)
    for k in range(400):
        if k % 40 == 0:
            other: pz.Tracker = pickle.loads(pickle.dumps(loop))
            r = q
        q, r = loop.step(q, [pose, None]), other.step(r, [pose, None])
        np.testing.assert_array_equal(q, r)
    assert loop.errors[0].position < 1e-6


def stuck(arm: pz.Model) -> tuple[pz.Tracker, Array, Array]:
    """A tracker whose scout is on its way, and its target."""
    loop, home = pz.Tracker(arm, pz.PositionTask(HAND), dt=DT), arm.pose(HAND, arm.home).xyz
    path = out_and_home(arm, loop, away(arm, 1), 0.55)
    assert loop.errors[0].position > 0.1
    return loop, path[-1], home


def test_a_copy_goes_the_same_way_while_its_scout_is_ahead(arm: pz.Model) -> None:
    loop, q, home = stuck(arm)
    again: pz.Tracker = pickle.loads(pickle.dumps(loop))
    first = second = q
    for _ in range(400):
        first, second = loop.step(first, home), again.step(second, home)
        assert (first == second).all()
    assert loop.errors[0].position < 1e-6


def test_without_settling_nothing_looks_for_a_way(arm: pz.Model) -> None:
    met = 0
    for seed in range(6):
        loop = pz.Tracker(arm, pz.PositionTask(HAND), dt=DT, settle=False)
        out_and_home(arm, loop, away(arm, seed), 6.0)
        met += loop.errors[0].position < 1e-6
    assert met < 6


def test_a_step_that_is_led_is_told(arm: pz.Model) -> None:
    loop, q, home = stuck(arm)
    told = []
    for _ in range(400):
        q = loop.step(q, home)
        told.append(loop.explain())
    assert any("goes round by another posture" in text for text in told)
    assert "goes round" not in told[-1]
