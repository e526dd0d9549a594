"""Weights are relative: all of them times one factor is the same question, whatever answers it."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.common.array import Array
from poise.methods.registry import METHODS
from poise.robots import TEXTBOOK

FACTORS = (1e-3, 2.0**-7, 0.3, 8.0, 200.0, 1e4)
"""Powers of two among them, which round nothing."""
PANDA, UR = TEXTBOOK["panda"](), TEXTBOOK["ur5e"]()
HAND = "panda_hand_tcp"


@dataclass(frozen=True, kw_only=True)
class Lifted(pz.Task):
    """Keep a frame at a height; a task as a user writes it."""

    frame: str
    height: float
    rows = 1
    unit = "m"

    def residual(frames: Array, numbers: Array, out: Array) -> None:
        out[0] = frames[0, 2] - numbers[0]


def same(found: Array, expected: Array, factor: float) -> None:
    """To the bit where scaling rounds nothing, else to rounding."""
    if np.log2(factor).is_integer():
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6)


def goals(model: pz.Model, frame: str, count: int, seed: int = 1) -> pz.SE3:
    return model.pose(frame, model.sample(count, seed=seed))


# Solving ------------------------------------------------------------------------------------------------------------


def weighed(kind: str, factor: float) -> list[Any]:
    match kind:
        case "pose":
            return [pz.PoseTask(HAND, position_weight=factor, rotation_weight=factor)]
        case "place before turn":
            return [pz.PoseTask(HAND, position_weight=factor, rotation_weight=0.3 * factor)]
        case "axes":
            return [pz.PoseTask(HAND, position_weight=(factor, 0.5 * factor, factor), rotation_weight=(factor, 0, 0))]
        case "two":
            return [pz.PositionTask(HAND, weight=0.2 * factor), Lifted(frame="panda_link4", height=0.5, weight=factor)]
        case "soft":
            turn = pz.OrientationTask(HAND, weight=0.3 * factor, required=False)
            return [pz.PositionTask(HAND, weight=factor), turn]
    return [pz.PoseTask(HAND, position_weight=factor, rotation_weight=factor), pz.PostureTask(weight=factor)]


def aims(kind: str, pose: pz.SE3) -> Any:
    match kind:
        case "two":
            return [pose.xyz, None]
        case "soft":
            return [pose.xyz, pose.rotation]
        case "posture":
            return [pose, PANDA.home]
    return pose


@pytest.mark.parametrize("kind", ["pose", "place before turn", "axes", "two", "soft", "posture"])
def test_a_solve_heeds_only_how_weights_compare(kind: str) -> None:
    poses = list(goals(PANDA, HAND, 6))
    far = [pz.SE3.from_parts(3.0 * pose.xyz, pose.rotation) for pose in poses[:2]]
    one = pz.Solver(PANDA, weighed(kind, 1.0))
    for factor in FACTORS:
        other = pz.Solver(PANDA, weighed(kind, factor))
        for pose in (*poses, *far):
            expected, found = one(aims(kind, pose)), other(aims(kind, pose))
            assert found.success == expected.success
            # What rounds may choose another of several answers, and a rest is known to its rounding.
            if kind == "posture":
                np.testing.assert_allclose(found.q, expected.q, rtol=0.0, atol=1e-9)
            if kind == "pose" or np.log2(factor).is_integer():
                np.testing.assert_array_equal(found.q, expected.q)
                assert found.status is expected.status
                assert found.cost == expected.cost


def test_rows_have_the_weights_that_were_stated() -> None:
    pose = PANDA.pose(HAND, PANDA.home)
    tasks = [pz.PositionTask(HAND, weight=4.0), pz.OrientationTask(HAND, weight=0.5, priority=1)]
    e, jacobian = pz.Solver(PANDA, tasks, method="priority").linearise(0.9 * PANDA.home, [pose.xyz, pose.rotation])
    plain = [pz.PositionTask(HAND), pz.OrientationTask(HAND)]
    rows, columns = pz.Solver(PANDA, plain).linearise(0.9 * PANDA.home, [pose.xyz, pose.rotation])
    stated = np.repeat([4.0, 0.5], 3)
    np.testing.assert_allclose(e, stated * rows, rtol=1e-14)
    np.testing.assert_allclose(jacobian, stated[:, None] * columns, rtol=1e-14, atol=1e-16)


def answers(task: pz.PoseTask) -> list[Array]:
    """What a batch, all branches, a path and a plan say."""
    poses = goals(UR, "tool0", 20)
    every = pz.solve_all(UR, task, poses[0])
    assert every.complete
    line = pz.SE3.from_xyz_rpy([[0.4, y, 0.4] for y in np.linspace(-0.2, 0.2, 15)], [3.14, 0, 0])
    batch, path = pz.solve_batch(UR, task, poses), pz.solve_path(UR, task, line)
    return [batch.q, every.q, path.q, pz.plan(UR, task, line[:3]).q]


@cache
def plain_answers() -> list[Array]:
    return answers(pz.PoseTask("tool0"))


@pytest.mark.parametrize("factor", FACTORS)
def test_batches_branches_and_paths_heed_only_how_weights_compare(factor: float) -> None:
    task = pz.PoseTask("tool0", position_weight=factor, rotation_weight=factor)
    for found, expected in zip(answers(task), plain_answers(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_loops_are_as_hard_to_open_whatever_the_weights() -> None:
    b = pz.ModelBuilder("four-bar")
    b.joint("crank", "revolute", parent="base", child="crank_link", velocity=2.0)
    b.joint("coupler", "revolute", parent="crank_link", child="coupler_link", origin=pz.SE3.from_parts([0.4, 0, 0]))
    b.joint("rocker", "revolute", parent="base", child="rocker_link", origin=pz.SE3.from_parts([1, 0, 0]))
    b.frame("coupler_end", link="coupler_link", origin=pz.SE3.from_parts([1, 0, 0]))
    b.frame("rocker_end", link="rocker_link", origin=pz.SE3.from_parts([0.8, 0, 0]))
    b.loop("coupler_end", "rocker_end")
    bar, far = b.build(), [0.5, 1.5, 0.0]
    start = pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, target=1.0)).q
    expected = pz.solve(bar, pz.PositionTask("coupler_end", far), q0=start)
    for factor in FACTORS:
        found = pz.solve(bar, pz.PositionTask("coupler_end", far, weight=factor), q0=start)
        np.testing.assert_array_equal(found.q, expected.q)


# Following ----------------------------------------------------------------------------------------------------------


def tasks_for(name: str, factor: float) -> list[Any]:
    can = METHODS[name].capabilities
    if can.tasks == "positions":
        return [pz.PositionTask(HAND, weight=factor)]
    if can.weights == "blocks" or name in ("extended", "pairwise"):
        return [pz.PoseTask(HAND, position_weight=factor, rotation_weight=factor)]
    later = {"priority": 1} if can.priorities else {}
    turn = pz.OrientationTask(HAND, weight=(0.5 * factor, 0.5 * factor, 0), **later)
    return [pz.PositionTask(HAND, weight=factor), turn]


def way(name: str, factor: float, limits: Any) -> Array:
    tasks = tasks_for(name, factor)
    tracker, q, path = pz.Tracker(PANDA, tasks, name, dt=0.01, limits=limits), PANDA.home, []
    for k in range(40):
        pose = pz.SE3.from_xyz_rpy([0.5 + 0.004 * k, 0.1, 0.5], [3.0, 0.2, 0.02 * k])
        aim = {1: pose if tasks[0].frame_parts == ("position", "rotation") else pose.xyz, 2: [pose.xyz, pose.rotation]}
        q = tracker.step(q, aim[len(tasks)])
        path.append(q)
    return np.array(path)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_the_same_steps(name: str) -> None:
    limits = METHODS[name].capabilities.limits
    expected = way(name, 1.0, limits)
    for factor in FACTORS:
        same(way(name, factor, limits), expected, factor)


def test_steps_within_accelerations_and_of_a_rollout_are_the_same() -> None:
    limits = [pz.AccelerationLimit(5.0)]
    expected = way("qp", 1.0, limits)
    targets = np.array([pz.SE3.from_xyz_rpy([0.5, 0.2, 0.5], [3.0, 0.1, 0]).array] * 30)[:, None]
    rolled = pz.Tracker(PANDA, pz.PoseTask(HAND), dt=0.01).rollout(PANDA.home, targets)
    for factor in FACTORS:
        same(way("qp", factor, limits), expected, factor)
        task = pz.PoseTask(HAND, position_weight=factor, rotation_weight=factor)
        np.testing.assert_array_equal(pz.Tracker(PANDA, task, dt=0.01).rollout(PANDA.home, targets), rolled)


@pytest.mark.parametrize("mode", ["constant", "adaptive"])
def test_clamps_see_metres_and_radians(mode: Any) -> None:
    """Two arms that share no joint: how far one is led does not depend on how much the other weighs."""
    b = pz.ModelBuilder("two")
    for side, y in (("left", 1.0), ("right", -1.0)):
        link = "base"
        for i in range(3):
            origin = pz.SE3.from_parts([0.0 if i == 0 else 0.4, y if i == 0 else 0.0, 0.0])
            b.joint(f"{side}{i}", "revolute", parent=link, child=f"{side}_link{i}", origin=origin)
            link = f"{side}_link{i}"
        b.frame(side, link=link, origin=pz.SE3.from_parts([0.3, 0, 0]))
    two = b.build()
    start = two.q(left0=0.4, left1=0.5, left2=0.6, right0=-0.4, right1=-0.5, right2=-0.6)
    clamp = pz.methods.ClampMag(position=0.05, rotation=0.05, mode=mode)

    def led(weight: float, axes: tuple[float, float, float]) -> Array:
        far = [
            pz.PositionTask("left", weight=(1, 1, 0)),
            pz.PositionTask("right", weight=tuple(weight * np.array(axes))),
        ]
        tracker, q, path = pz.Tracker(two, far, pz.methods.Pseudoinverse(max_error=clamp)), start, []
        for k in range(12):
            q = tracker.step(q, [[0.2, 1.5, 0.0], [0.2 + (0.002 * k), -1.5, 0.0]])
            path.append(q)
        return np.array(path)

    for axes in ((1, 1, 0), (1, 0, 0)):
        np.testing.assert_allclose(led(0.1, axes), led(1.0, axes), rtol=0.0, atol=1e-9)


def test_weights_that_are_alike_are_none() -> None:
    far = pz.PositionTask(HAND, weight=5.0)
    assert pz.solve(PANDA, pz.PositionTask(HAND, [0.4, 0.2, 0.5], weight=5.0), method="fabrik", limits=False).success
    with pytest.raises(ValueError, match=r"needs weights that are all the same; the weight of .* is 0.4 of the larg"):
        pz.Solver(PANDA, [far, pz.PositionTask("panda_link4", weight=2.0)], method="fabrik", limits=False)
