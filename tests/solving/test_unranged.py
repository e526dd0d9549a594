"""A range that is not in the way changes nothing; one that is in the way holds."""

from typing import Any

import numpy as np
import pytest

import poise as pz

UR, PANDA = pz.load("ur5e"), pz.load("panda")
SUM = pz.LinearLimit({"panda_joint2": 1.0, "panda_joint4": 1.0}, -1.2)
"""Which half of all answers break."""
CASES: dict[str, tuple[pz.Model, list[Any]]] = {
    "closed form": (UR, [pz.PoseTask("tool0")]),
    "redundant": (PANDA, [pz.PoseTask("panda_hand")]),
    "soft": (PANDA, [pz.PositionTask("panda_hand"), pz.OrientationTask("panda_hand", required=False)]),
    "posture": (PANDA, [pz.PositionTask("panda_hand"), pz.PostureTask(PANDA.home)]),
    "soft alone": (PANDA, [pz.PoseTask("panda_hand", required=False)]),
    "posture within": (PANDA, [pz.PoseTask("panda_hand"), pz.PostureTask(PANDA.home, tolerance=1.2)]),
}


def given(case: str, count: int) -> tuple[pz.Model, list[Any], list[list[Any]], np.ndarray]:
    """The arm, the tasks, targets of each problem, and starts."""
    arm, tasks = CASES[case]
    poses = [arm.pose(tasks[0].frame, q) for q in arm.sample(count, seed=1)]
    kinds: dict[type, Any] = {pz.PoseTask: lambda x: x, pz.PositionTask: lambda x: x.xyz}
    kinds |= {pz.OrientationTask: lambda x: x.rotation, pz.PostureTask: lambda _: None}
    return arm, tasks, [[kinds[type(task)](pose) for task in tasks] for pose in poses], arm.sample(count, seed=2)


@pytest.mark.parametrize("limits", [True, [SUM]], ids=["alone", "beside a sum"])
@pytest.mark.parametrize("case", CASES)
def test_a_range_that_is_far_away_changes_no_answer(case: str, limits: Any) -> None:
    arm, tasks, targets, starts = given(case, 40)
    if arm is UR and limits is not True:
        limits = [pz.LinearLimit({"shoulder_pan_joint": 1.0, "elbow_joint": 1.0}, 0.2)]
    far = pz.RegionTask(tasks[0].frame, pz.Sphere((0.0, 0.0, 0.0), 50.0))
    alone, beside = pz.Solver(arm, tasks, limits=limits), pz.Solver(arm, [*tasks, far], limits=limits)
    for target, q0 in zip(targets, starts, strict=True):
        one, other = alone(target if len(target) > 1 else target[0], q0), beside([*target, None], q0)
        if not one.success:  # each comes as near as its own steps lead
            assert other.status is one.status
            continue
        assert np.array_equal(one.q, other.q)
        assert (one.status, one.start, one.restarts, one.distance) == (
            other.status, other.start, other.restarts, other.distance,
        )  # fmt: skip
        assert other.errors[-1].position == 0.0
        assert [e.position for e in one.errors] == pytest.approx([e.position for e in other.errors[:-1]], abs=1e-13)


@pytest.mark.parametrize("case", ["closed form", "redundant"])
@pytest.mark.parametrize("radius", [50.0, 0.7])
def test_in_a_batch_a_range_changes_only_what_it_is_in_the_way_of(case: str, radius: float) -> None:
    arm, tasks, targets, starts = given(case, 60)
    region = pz.RegionTask(tasks[0].frame, pz.Sphere((0.0, 0.0, 0.3), radius))
    poses = pz.SE3(np.array([target[0].array for target in targets]))
    inside = np.linalg.norm(poses.xyz - [0.0, 0.0, 0.3], axis=1) < radius
    one, other = (
        pz.solve_batch(arm, tasks[0], poses, q0=starts),
        pz.solve_batch(arm, [*tasks, region], [poses, None], q0=starts),
    )
    assert np.array_equal(other.success, inside)
    assert np.array_equal(one.q[inside], other.q[inside])
    assert other.position_errors[inside].max() <= 1e-6
    again = pz.solve_batch(arm, [*tasks, region], [poses, None], q0=starts, threads=1)
    assert np.array_equal(other.q, again.q)
    assert np.array_equal(other.status, again.status)


def test_beside_a_range_in_the_way_a_soft_task_is_fulfilled_where_it_can_be() -> None:
    hand, elbow = "panda_hand", "panda_link4"
    for q, q0 in zip(PANDA.sample(20, seed=3), PANDA.sample(20, seed=4), strict=True):
        pose = PANDA.pose(hand, q)
        region = pz.RegionTask(elbow, pz.Sphere(PANDA.pose(elbow, q).xyz, 0.05))
        soft = pz.OrientationTask(hand, pose.rotation, required=False)
        found = pz.solve(PANDA, [pz.PositionTask(hand, pose.xyz), region, soft], q0=q0)
        assert found.success
        assert found.errors[2].rotation < 1e-5


def test_an_elbow_that_a_range_holds_is_within() -> None:
    high = pz.RegionTask("panda_link4", pz.HalfSpace((0.0, 0.0, 0.55), (0.0, 0.0, -1.0)))
    solver, alone = pz.Solver(PANDA, [pz.PoseTask("panda_hand"), high]), pz.Solver(PANDA, pz.PoseTask("panda_hand"))
    moved = 0
    for q, q0 in zip(PANDA.sample(60, seed=3), PANDA.sample(60, seed=4), strict=True):
        target = PANDA.pose("panda_hand", q)
        found, free = solver([target, None], q0), alone(target, q0)
        if PANDA.pose("panda_link4", free.q).xyz[2] >= 0.55:
            assert np.array_equal(found.q, free.q)
        elif found.success:
            moved += 1
            assert PANDA.pose("panda_link4", found.q).xyz[2] >= 0.55 - 1e-6
    assert moved > 0


def test_a_loop_that_a_range_alone_moves_is_closed() -> None:
    b, limits = pz.ModelBuilder("pen_and_arm"), (-7.0, 7.0)

    def at(x: float, y: float = 0.0) -> pz.SE3:
        return pz.SE3.from_parts((x, y, 0.0))

    for name, parent, x in (("crank", "base", 0.0), ("coupler", "crank_link", 0.4), ("rocker", "base", 1.0)):
        b.joint(name, "revolute", parent=parent, child=f"{name}_link", origin=at(x), limits=limits)
    b.frame("coupler_end", link="coupler_link", origin=at(1.0))
    b.frame("rocker_end", link="rocker_link", origin=at(0.8))
    b.frame("pen", link="coupler_link", origin=at(0.5, 0.3))
    b.loop("coupler_end", "rocker_end")
    b.joint("shoulder", "revolute", parent="base", child="upper", origin=at(0.0, 2.0), limits=limits)
    b.joint("elbow", "revolute", parent="upper", child="lower", origin=at(0.5), limits=limits)
    b.frame("tip", link="lower", origin=at(0.5))
    model, place = b.build(), np.array((0.5, 2.5, 0.0))
    tasks = [pz.PositionTask("tip", weight=(1, 1, 0)), pz.RegionTask("pen", pz.Sphere((0.4, 0.3, 0.0), 0.5))]
    one = pz.solve(model, [pz.PositionTask("tip", place, weight=(1, 1, 0)), tasks[1]])
    many = pz.solve_batch(model, tasks, [np.tile(place, (3, 1)), None])
    assert one.success
    assert many.success.all()
    for q in (one.q, *many.q):
        ends = [model.pose(frame, q).xyz for frame in ("coupler_end", "rocker_end")]
        np.testing.assert_allclose(*ends, atol=2e-7)
        assert np.linalg.norm(model.pose("pen", q).xyz - (0.4, 0.3, 0.0)) <= 0.5 + 1e-6
