"""What an arm cannot reach it comes to rest before, soon and for good, where a solve finds the least error."""

import pickle
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.kernels.machine.memory import CREPT

Array = Any
DT = 0.005
SECONDS = round(1 / DT)
FRAMES = {"panda": "panda_hand", "ur5e": "tool0", "iiwa14": "iiwa_link_ee", "so101": "gripper_frame_link"}
OUT = {"so101": 0.5}
"""How far out a target is that is 1.2 m out for the others [m]."""
START = {"ur5e": [0.3, -1.4, 1.6, -1.7, -1.5, 0.2], "iiwa14": [0.3, 0.5, 0.2, -1.4, 0.1, 0.8, 0.0]}


def far(name: str, kind: Any, way: tuple[float, float, float] = (0.6, 0.3, 0.74)) -> tuple[pz.Model, Any, Array]:
    """A robot, a task out of its reach and a start."""
    arm = pz.load(name)
    start = np.array(START.get(name, arm.home))
    home = arm.pose(FRAMES[name], start)
    place = home.xyz + OUT.get(name, 1.2) * np.array(way) / np.linalg.norm(way)
    target = place if kind is pz.PositionTask else pz.SE3.from_parts(place, home.rotation)
    return arm, kind(FRAMES[name], target), start


def led(loop: pz.Tracker, start: Array, steps: int, target: Any = None) -> Array:
    """(steps + 1, nq) the way."""
    path = [start]
    for _ in range(steps):
        path.append(loop.step(path[-1], target))
    return np.array(path)


def error(arm: pz.Model, task: Any, q: Array) -> float:
    """The sum of squares that a solve makes least."""
    pose, target = arm.pose(task.frame, q), task.target
    if isinstance(task, pz.PositionTask):
        return float(np.sum((pose.xyz - target) ** 2))
    turn = (pose.rotation.inverse() @ target.rotation).log()
    return float(np.sum((pose.xyz - target.xyz) ** 2) + np.sum(turn**2))


@pytest.mark.parametrize("method", ["qp", "priority", "dls"])
@pytest.mark.parametrize("kind", [pz.PositionTask, pz.PoseTask])
@pytest.mark.parametrize("name", FRAMES)
def test_what_is_out_of_reach_is_approached_as_a_solve_does_and_then_the_arm_is_still(
    name: str, kind: Any, method: str
) -> None:
    arm, task, start = far(name, kind)
    path = led(pz.Tracker(arm, task, method, dt=DT), start, 3 * SECONDS)
    assert (path[-1] == path[-2]).all()
    assert (np.abs(np.diff(path, axis=0)) <= arm.velocity * DT * (1 + 1e-9)).all()
    least = pz.solve(arm, task, q0=path[-1], max_restarts=0)
    assert error(arm, task, path[-1]) <= (1 + 1e-6) * least.cost


@pytest.mark.parametrize("method", ["qp", "dls", "pinv"])
def test_a_wall_in_the_way_is_no_reason_to_creep(method: str) -> None:
    arm, _, start = far("ur5e", pz.PoseTask)
    arm = arm.with_shapes({"tool0": [pz.Sphere((0, 0, 0.05), 0.03)]})
    home = arm.pose("tool0", start)
    floor = pz.World({"floor": pz.HalfSpace((0, 0, home.xyz[2] - 0.12), (0, 0, 1))})
    target = pz.SE3.from_parts(home.xyz + np.array([0.1, 0.2, -0.3]), home.rotation)
    limit = pz.CollisionLimit(floor, min_distance=0.02)
    path = led(pz.Tracker(arm, pz.PoseTask("tool0", target), method, dt=DT, limits=[limit]), start, 3 * SECONDS)
    assert (path[-1] == path[-2]).all()
    assert min(arm.distance(q, floor).distance for q in path[::20]) > 0.02 - 1e-9


def test_places_that_contradict_each_other_are_shared_and_the_arm_is_still() -> None:
    arm = pz.load("panda")
    tasks = [pz.PositionTask("panda_hand", [0.3, 0.5, 0.7]), pz.PositionTask("panda_link5", [0.5, -0.2, 0.4])]
    path = led(pz.Tracker(arm, tasks, "qp", dt=DT), arm.home, 3 * SECONDS)
    assert (path[-1] == path[-2]).all()
    least = pz.solve(arm, tasks, q0=path[-1], max_restarts=0)
    assert sum(error(arm, task, path[-1]) for task in tasks) <= (1 + 1e-6) * least.cost


@pytest.mark.parametrize("limits", [[pz.AccelerationLimit(15.0)], [pz.AccelerationLimit(15.0), pz.JerkLimit(500.0)]])
def test_a_leap_keeps_accelerations(limits: list[Any]) -> None:
    arm, task, start = far("ur5e", pz.PositionTask)
    path = led(pz.Tracker(arm, task, "qp", dt=0.01, limits=limits), start, 400)
    assert np.abs(np.diff(path, 2, axis=0)).max() <= 15.0 * 0.01**2 * (1 + 1e-6)
    assert error(arm, task, path[-1]) <= (1 + 1e-3) * pz.solve(arm, task, q0=path[-1], max_restarts=0).cost


@pytest.mark.parametrize("method", ["qp", "dls"])
def test_an_arm_that_is_still_goes_on_when_its_target_moves(method: str) -> None:
    arm, task, start = far("panda", pz.PoseTask)
    loop = pz.Tracker(arm, task, method, dt=DT)
    still = led(loop, start, 3 * SECONDS)[-1]
    home = arm.pose("panda_hand", arm.home)
    path = led(loop, still, 6 * SECONDS, home)
    assert (path[1] != path[0]).any()
    assert loop.errors[0].position < 1e-6
    assert (np.abs(np.diff(path, axis=0)) <= arm.velocity * DT * (1 + 1e-9)).all()


def test_an_arm_that_is_still_goes_on_when_a_wall_is_taken_away() -> None:
    arm = pz.load("ur5e").with_shapes({"tool0": [pz.Sphere((0, 0, 0.05), 0.03)]})
    start = np.array(START["ur5e"])
    home = arm.pose("tool0", start).xyz
    world = pz.World({"floor": pz.HalfSpace((0, 0, home[2] - 0.12), (0, 0, 1))})
    task = pz.PositionTask("tool0", home - np.array([0, 0, 0.3]))
    loop = pz.Tracker(arm, task, dt=DT, limits=[pz.CollisionLimit(world, min_distance=0.02)])
    path = led(loop, start, 2 * SECONDS)
    assert (path[-1] == path[-2]).all()
    world.remove("floor")
    led(loop, path[-1], 2 * SECONDS)
    assert loop.errors[0].position < 1e-6


@pytest.mark.parametrize("method", ["qp", "dls"])
def test_targets_that_are_reached_or_move_are_followed_by_the_methods_own_steps(method: str) -> None:
    arm, _, start = far("panda", pz.PoseTask)
    home = arm.pose("panda_hand", start)
    loop = pz.Tracker(arm, pz.PoseTask("panda_hand"), method, dt=DT)
    for k in range(2 * SECONDS):  # never at rest, and mostly out of reach
        out = 0.6 + 0.6 * np.sin(0.01 * k)
        loop.step(start if k == 0 else None, pz.SE3.from_parts(home.xyz + np.array([out, 0, out]), home.rotation))
        assert loop._stepper.memory[CREPT] < 2
    loop = pz.Tracker(arm, pz.PoseTask("panda_hand"), method, dt=DT)
    for k in range(2 * SECONDS):
        loop.step(start if k == 0 else None, pz.SE3.from_parts(home.xyz + 0.1, home.rotation))
        assert loop._stepper.memory[CREPT] >= 0
    assert loop.errors[0].position < 1e-6


def test_a_copy_leaps_the_same_way() -> None:
    arm, task, start = far("panda", pz.PositionTask)
    loop = pz.Tracker(arm, task, dt=DT)
    first = second = led(loop, start, 210)[-1]
    again: pz.Tracker = pickle.loads(pickle.dumps(loop))
    for _ in range(SECONDS):
        first, second = loop.step(first), again.step(second)
        assert (first == second).all()


def test_levels_and_published_methods_take_their_own_steps() -> None:
    arm, task, start = far("panda", pz.PositionTask)
    levels = [
        pz.OrientationTask("panda_hand", arm.pose("panda_hand", start).rotation),
        pz.PositionTask("panda_hand", task.target, priority=1),
    ]
    for tracker in (pz.Tracker(arm, levels, dt=DT), pz.Tracker(arm, task, dt=DT, settle=False)):
        led(tracker, start, SECONDS)
        assert tracker._stepper.memory[CREPT] == 0


@pytest.mark.parametrize("method", ["qp", "priority", "dls"])
@pytest.mark.parametrize("noise", [1e-15, 1e-12])
def test_a_target_that_is_computed_anew_in_each_step_is_at_rest_up_to_rounding(noise: float, method: str) -> None:
    arm, task, q = far("panda", pz.PoseTask)
    loop, rng = pz.Tracker(arm, task, method, dt=DT), np.random.default_rng(3)
    for _ in range(3 * SECONDS):
        moved = pz.SE3.from_parts(task.target.xyz + noise * rng.standard_normal(3), task.target.rotation)
        before, q = q, loop.step(q, moved)
    assert (q == before).all()


def test_a_target_that_creeps_by_less_than_is_seen_in_a_step_is_followed() -> None:
    arm = pz.load("panda")
    place = arm.pose("panda_hand", arm.home).xyz
    loop, q, creep = pz.Tracker(arm, pz.PositionTask("panda_hand"), dt=DT), arm.home, np.array((3e-11, 0.0, 0.0))
    for k in range(3000):
        q = loop.step(q, place + k * creep)
    assert np.linalg.norm(arm.pose("panda_hand", q).xyz - place - 2999 * creep) < 3e-10
