"""Arms with a closed form among obstacles: the nearest branch that is free, or none, by distances of our own."""

import functools
from typing import Any

import numpy as np
import pytest
from gripping import gripping

import poise as pz
from poise.common.array import Array
from poise.robots import TEXTBOOK

ARMS = ("ur5e", "puma560", "ur5", "kinova", *(pytest.param(name, marks=pytest.mark.slow) for name in ("ur3", "ur10")))
"""The long run has two more of a kind that is among the others."""
LEAST, ROUND = 0.01, 0.05
"""The least distance that is asked for, and the radius of the ball that some links carry at their origin [m]."""
BLOCKED = pz.Status.COLLISION


@functools.cache
def carrying(name: str) -> tuple[pz.Model, tuple[str, ...]]:
    """An arm whose links from the forearm on carry balls and nothing else, and those links."""
    arm = TEXTBOOK[name]() if name in TEXTBOOK else pz.load(name)
    links = tuple(joint.child for joint in arm.joints if joint.name in arm.joint_names)[2:6]
    return arm.with_shapes(dict.fromkeys(links, pz.Sphere((0, 0, 0), ROUND))), links


def balls(arm: pz.Model, seed: int) -> dict[str, pz.Sphere]:
    """Around an arm, as far as it reaches."""
    rng = np.random.default_rng(seed)
    places = arm.pose(arm.tip, arm.sample(14, seed=seed)).xyz
    return {f"ball{i}": pz.Sphere(place, rng.uniform(0.05, 0.15)) for i, place in enumerate(places)}


def least(arm: pz.Model, links: tuple[str, ...], world: dict[str, pz.Sphere], q: Array) -> Array:
    """(n,) the least distance of a ball of the arm from one of the world, at q (n, nq) [m]."""
    carried = np.stack([arm.pose(link, q).xyz for link in links], axis=1)[:, :, None]
    others, radii = (np.array([getattr(ball, name) for ball in world.values()]) for name in ("centre", "radius"))
    return (np.linalg.norm(carried - others, axis=-1) - radii - ROUND).min(axis=(1, 2))


def keeping(world: dict[str, pz.Sphere]) -> list[pz.CollisionLimit]:
    return [pz.CollisionLimit(pz.World(world), min_distance=LEAST, self_collision=False)]


@pytest.mark.parametrize("name", ARMS)
def test_the_answer_is_the_nearest_branch_that_is_free(name: str) -> None:
    arm, links = carrying(name)
    task, seen = pz.PoseTask(arm.tip), set()
    for seed in range(3):
        world = balls(arm, seed)
        goals, start = arm.pose(arm.tip, arm.sample(20, seed=100 + seed)), arm.sample(seed=200 + seed)
        solver = pz.Solver(arm, task, limits=keeping(world))
        batch = solver.batch(goals, start)
        for k, goal in enumerate(goals):
            every = pz.solve_all(arm, task, goal, q0=start)
            room = least(arm, links, world, every.q)
            free = np.flatnonzero(room >= LEAST)
            for one in (solver(goal, start), batch[k]):
                near = least(arm, links, world, one.q[None])[0]
                assert one.nearest is not None
                assert near == pytest.approx(one.nearest.distance, abs=1e-9)
                assert near >= LEAST - 1e-9
                assert one.success == (len(free) > 0)
                if one.success:
                    assert one.position_error < 1e-6
                    assert one.distance == pytest.approx(every[int(free[0])].distance, abs=1e-6)
                else:
                    assert one.status is BLOCKED
                    assert max(one.position_error, one.rotation_error) > 1e-6
            seen.add((len(every), len(free)))
    assert any(free == 0 for _, free in seen)
    assert any(0 < free < count for count, free in seen)


def test_all_branches_of_a_pose_within_an_obstacle_are_blocked() -> None:
    arm = TEXTBOOK["ur5e"]().with_shapes({"wrist_3_link": pz.Sphere((0, 0, 0), ROUND)})
    goal = pz.SE3.from_xyz_rpy([0.4, 0.2, 0.4], [2.0, 0.3, -1.0])
    rock = {"rock": pz.Sphere(goal.xyz, 0.1)}
    task, limits = pz.PoseTask("tool0", goal), keeping(rock)
    every = pz.solve_all(arm, task)
    assert len(every) == 8
    assert (least(arm, ("wrist_3_link",), rock, every.q) < LEAST).all()
    solver = pz.Solver(arm, task, limits=limits)
    many = solver.batch(pz.SE3(goal.array[None]))
    assert not many.success[0]
    assert pz.solve_batch(arm, task, pz.SE3(goal.array[None]), limits=limits).status[0] is BLOCKED
    for answer in (pz.solve(arm, task, limits=limits), solver(), solver(goal, arm.home), many[0]):
        assert answer.status is BLOCKED
        assert "'rock'" in answer.explain()
        assert "'wrist_3_link'" in answer.explain()
    path = pz.plan(arm, pz.PoseTask("tool0"), pz.SE3(goal.array[None]), q0=arm.home, limits=limits)
    assert not path.success
    assert path.failures[0].status is pz.Status.COLLISION


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"select": "first"},
        {"max_restarts": 0, "max_iterations": 2},
        {"max_restarts": 6, "max_iterations": 4},
        {"max_time": 1e-4},
        {"method": "qp", "max_restarts": 5},
        {"method": "priority", "max_restarts": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_whatever_converges_was_looked_at(name: str, settings: dict[str, Any]) -> None:
    """Also where a search is cut short, where the last descent arrives, or where a method of the caller's does."""
    arm, links = carrying(name)
    middle = arm.pose(arm.tip, arm.home).xyz
    world = {"rock": pz.Sphere(middle, 0.15)}
    rng, solver = np.random.default_rng(0), pz.Solver(arm, pz.PoseTask(arm.tip), limits=keeping(world), **settings)
    ends = set()
    for _ in range(30):
        goal = pz.SE3.from_xyz_rpy(middle + rng.uniform(-0.3, 0.3, 3), rng.uniform(-3.0, 3.0, 3))
        answer = solver(goal)
        near = least(arm, links, world, answer.q[None])[0]
        ends.add(answer.status)
        if answer.success or (answer.status is BLOCKED and settings.get("max_restarts") != 0):
            assert near >= LEAST - 1e-9
    assert pz.Status.CONVERGED in ends
    assert BLOCKED in ends or "max_time" in settings


def test_loops_that_no_task_moves_are_closed_before_an_answer_is_believed() -> None:
    gripper = gripping().with_shapes({"left_link": pz.Sphere((0.1, 0.0, 0.0), 0.015)})
    task = pz.JointCouplingTask({"wrist": 1.0}, target=0.0)
    open_start = gripper.q(left=-1.3, right=1.3)
    shut = pz.solve(gripper, task, q0=open_start).q
    tip = gripper.pose("left_end", shut).xyz
    world = {"rock": pz.Sphere(tip, 0.015)}
    limits = keeping(world)
    assert pz.CollisionLimit(pz.World(world), min_distance=LEAST).nearest(gripper, open_start).distance > LEAST
    many = pz.solve_batch(gripper, task, [0.0], q0=open_start, limits=limits)
    for answer in (pz.solve(gripper, task, q0=open_start, limits=limits), many[0]):
        assert np.linalg.norm(gripper.pose("left_end", answer.q).xyz - tip) < 1e-6
        assert answer.status is BLOCKED


def test_what_no_joint_of_the_task_parts_is_said() -> None:
    b = pz.ModelBuilder("two arms")
    for name, y in (("left", 0.2), ("right", -0.2)):
        origin = pz.SE3.from_parts([0, y, 0])
        b.joint(name, "revolute", parent="base", child=f"{name}_link", origin=origin, limits=(-3.0, 3.0))
        b.frame(f"{name}_hand", link=f"{name}_link", origin=pz.SE3.from_parts([0.5, 0, 0]))
    pair = b.build().with_shapes({"right_link": pz.Sphere((0.5, 0.0, 0.0), 0.1)})
    task = pz.PositionTask("left_hand", pair.pose("left_hand", pair.q(left=0.3)).xyz)
    limits = keeping({"rock": pz.Sphere((0.5, -0.2, 0.0), 0.1)})
    away = pair.q(right=-1.5)
    assert pz.solve(pair, task, q0=away, limits=limits).success
    stuck = pz.solve(pair, task, q0=pair.q(right=0.05), limits=limits)
    assert stuck.status is BLOCKED
    assert "No joint that the tasks move parts these two: begin at a q0 where they are apart." in stuck.explain()
