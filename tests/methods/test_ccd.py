"""Cyclic coordinate descent: every joint takes its best place, by brute force; the error falls; limits hold."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.refusals import refused
from support.trees import trees

import poise as pz
from poise.common.array import Array
from poise.model.joint import JointKind
from poise.quaternions import quaternion_matrix
from poise.robots import TEXTBOOK

WEIGHT = 0.3
seeds = st.integers(0, 2**32 - 1)
Tasks = list[pz.PoseTask | pz.PositionTask | pz.OrientationTask]


def cost(model: pz.Model, tasks: Tasks, q: Array) -> Array:
    """(...) the error that a sweep lowers, at q (..., nq): squared displacements, and WEIGHT times 3 - tr(G R^T)."""
    total = np.zeros(q.shape[:-1])
    for task in tasks:
        pose = model.pose(task.frame, q).array
        goal = task.goal(task.target)
        turn = np.trace(quaternion_matrix(goal[3:]) @ np.swapaxes(quaternion_matrix(pose[..., 3:]), -1, -2), 0, -2, -1)
        if isinstance(task, pz.PositionTask | pz.PoseTask):
            weight = task.weight if isinstance(task, pz.PositionTask) else task.position_weight
            total = total + float(weight) ** 2 * np.sum((goal[:3] - pose[..., :3]) ** 2, axis=-1)
        if isinstance(task, pz.OrientationTask | pz.PoseTask):
            weight = task.weight if isinstance(task, pz.OrientationTask) else task.rotation_weight
            total = total + float(weight) ** 2 * WEIGHT * (3.0 - turn)
    return total


def random_tasks(model: pz.Model, rng: np.random.Generator) -> Tasks:
    """One to three tasks, with weights, on frames that move; their targets are near and far."""
    frames = [f for f in model.frames if any(j.nq for j in model.root_path(model.frame(f).link))]
    tasks: Tasks = []
    for frame in rng.choice(frames, rng.integers(1, 4)):
        goal = pz.SE3.from_rotvec(rng.normal(size=3), rng.uniform(-2.0, 2.0, 3))
        weight = float(rng.choice([1.0, 0.5, 2.0]))
        tasks.append(
            [
                pz.PoseTask(frame, goal, position_weight=weight, rotation_weight=1.5),
                pz.PositionTask(frame, goal.xyz, weight=weight),
                pz.OrientationTask(frame, goal.rotation, weight=weight),
            ][rng.integers(3)]
        )
    return tasks


@settings(max_examples=50)
@given(trees(mimics=False), seeds)
def test_each_joint_takes_the_best_place_within_its_limits(model: pz.Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    assume(model.nq)
    tasks = random_tasks(model, rng)
    tracker = pz.Tracker(model, tasks, pz.methods.CyclicCoordinateDescent(orientation_weight=WEIGHT))
    q = model.sample(seed=rng)
    after = tracker.step(q).copy()
    assert model.within_limits(after)
    for joint in reversed([joint for joint in model.joints if joint.nq]):
        first = model.index(joint.name).start
        groups: list[list[int]] = [[first + i] for i in range(joint.nq)]
        if joint.quaternion_at is not None:
            groups = [*groups[: joint.quaternion_at], [first + joint.quaternion_at + i for i in range(4)]]
        for group in reversed(groups):
            moved = q.copy()
            moved[group] = after[group]
            there = cost(model, tasks, moved)
            slack = 1e-9 * (1.0 + there)
            assert there <= cost(model, tasks, q) + slack, joint.name
            if len(group) == 1 and joint.kind is not JointKind.HELICAL:
                i = group[0]
                others = np.tile(q, (361, 1))
                low, high = max(model.lower[i], q[i] - 8.0), min(model.upper[i], q[i] + 8.0)
                others[:, i] = np.linspace(low, high, 361)
                assert there <= cost(model, tasks, others).min() + slack, joint.name
            q = moved


@settings(max_examples=25)
@given(trees(mimics=False), seeds)
def test_the_error_never_rises_and_limits_always_hold(model: pz.Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    assume(model.nq)
    tasks = random_tasks(model, rng)
    tracker = pz.Tracker(model, tasks, pz.methods.CyclicCoordinateDescent(orientation_weight=WEIGHT))
    q = model.sample(seed=rng)
    before = cost(model, tasks, q)
    for _ in range(12):
        q = tracker.step(q).copy()
        now = cost(model, tasks, q)
        assert now <= before + 1e-9 * (1.0 + before)
        assert model.within_limits(q)
        before = now


def solved(model: pz.Model, frames: list[str], count: int, task: Any = pz.PositionTask, **how: Any) -> list[int]:
    """The sweeps of each of `count` solves that converge, from random starts to targets that are within reach."""
    rng = np.random.default_rng(2)
    sweeps = []
    for _ in range(count):
        there, q0 = model.sample(2, seed=rng)
        poses = [model.pose(frame, there) for frame in frames]
        tasks = [task(f, pose.xyz if task is pz.PositionTask else pose) for f, pose in zip(frames, poses, strict=True)]
        solution = pz.solve(model, tasks, q0=q0, method="ccd", max_restarts=0, **how)
        assert model.within_limits(solution.q)
        if solution.success:
            sweeps.append(solution.iterations)
    return sweeps


def test_it_reaches_every_target_of_free_chains() -> None:
    for n in (3, 10):
        assert len(solved(TEXTBOOK[f"planar{n}"](), ["tool"], 50)) == 50


def test_it_serves_several_effectors_and_arms_with_limits() -> None:
    assert len(solved(TEXTBOOK["double_y"](), ["e0", "e1", "e2", "e3"], 40)) >= 38
    assert len(solved(TEXTBOOK["panda"](), ["panda_hand"], 40)) >= 36
    # Poses are much slower; a start alone finds about half of them.
    assert len(solved(TEXTBOOK["panda"](), ["panda_hand"], 40, pz.PoseTask)) >= 12


def test_a_slide_goes_straight_to_the_projection() -> None:
    builder = pz.ModelBuilder("rail")
    builder.joint("x", "prismatic", parent="world", child="cart", axis=(1, 0, 0), limits=(-1.0, 1.0))
    model = builder.build()
    assert pz.Tracker(model, pz.PositionTask("cart"), "ccd").step([0.0], [0.7, 0.5, 0.0]) == pytest.approx([0.7])
    assert pz.Tracker(model, pz.PositionTask("cart"), "ccd").step([0.0], [3.0, 0.5, 0.0]) == pytest.approx([1.0])


def test_a_joint_at_a_limit_takes_the_better_end() -> None:
    builder = pz.ModelBuilder("hand")
    builder.joint("hour", "revolute", parent="world", child="arm", axis=(0, 0, 1), limits=(-1.0, 2.0))
    builder.frame("tip", link="arm", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
    tracker = pz.Tracker(builder.build(), pz.PositionTask("tip"), "ccd")
    for angle, end in ((2.5, 2.0), (3.6, 2.0), (3.8, -1.0), (5.0, -1.0)):
        assert tracker.step([0.5], [math.cos(angle), math.sin(angle), 0.0]) == pytest.approx([end])


def test_one_joint_that_follows_another_elsewhere_is_moved_by_its_source() -> None:
    builder = pz.ModelBuilder("geared")
    builder.joint("wheel", "revolute", parent="world", child="disc", limits=(-3.0, 3.0))
    builder.joint(
        "arm", "revolute", parent="world", child="arm", axis=(0, 0, 1), mimic=pz.Mimic(joint="wheel", multiplier=-0.5)
    )
    builder.frame("tip", link="arm", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
    tracker = pz.Tracker(builder.build(), pz.PositionTask("tip"), "ccd")
    assert tracker.step([0.0], [math.cos(0.7), math.sin(0.7), 0.0]) == pytest.approx([-1.4])
    assert tracker.step([0.0], [math.cos(2.0), math.sin(2.0), 0.0]) == pytest.approx([-3.0])


def test_eight_characters_go_as_one_does() -> None:
    model = TEXTBOOK["panda"]()
    tracker = pz.Tracker(model, pz.PoseTask("panda_hand"), "ccd", updates=2)
    starts = model.sample(3, seed=4)
    targets = model.pose("panda_hand", model.sample(15, seed=5)).array.reshape(3, 5, 1, 7)
    together = tracker.rollout(starts, targets)
    for start, target, path in zip(starts, targets, together, strict=True):
        np.testing.assert_allclose(tracker.rollout(start, target), path, rtol=0, atol=1e-9)


def test_what_it_cannot_do_is_refused_by_name() -> None:
    panda = TEXTBOOK["panda"]()
    with refused("not-supported", "'ccd'"):
        pz.solve(panda, pz.LookAtTask("panda_hand", [1, 0, 0]), method="ccd")
    uneven = pz.PoseTask("panda_hand", pz.SE3.identity(), position_weight=(1, 1, 0))
    with refused("not-supported", "position_weight"):
        pz.solve(panda, uneven, method="ccd")
    builder = pz.ModelBuilder("finger")
    builder.joint("knuckle", "revolute", parent="world", child="bone")
    builder.joint("tip", "revolute", parent="bone", child="nail", mimic=pz.Mimic(joint="knuckle"))
    with refused("not-supported", "'knuckle'"):
        pz.solve(builder.build(), pz.PositionTask("nail", [1, 0, 0]), method="ccd")
    with refused("not-positive", "orientation_weight"):
        pz.methods.CyclicCoordinateDescent(orientation_weight=0.0)
