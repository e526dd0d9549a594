"""Whole paths: known answers, closed loops, singular poses, dead ends, what cannot be followed, limits of speed."""

import pickle
from threading import get_ident
from time import sleep
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from support.refusals import refused
from ways import KeptOff, across, armed, elbow, kept

import poise as pz
from poise.solving.path import program, route


def points(xy: np.ndarray) -> np.ndarray:
    return np.pad(xy, ((0, 0), (0, 1)))


def textbook(xy: np.ndarray, sign: float) -> np.ndarray:
    """(n, 2) shoulder and elbow of two links of 1 m, the elbow on one side."""
    bend = sign * np.arccos(np.clip((xy**2).sum(axis=1) / 2.0 - 1.0, -1.0, 1.0))
    shoulder = np.arctan2(xy[:, 1], xy[:, 0]) - np.arctan2(np.sin(bend), 1.0 + np.cos(bend))
    return np.stack([shoulder, bend], axis=1)


def circle(n: int = 61, radius: float = 0.4) -> np.ndarray:
    angle = np.linspace(0.0, 2.0 * np.pi, n)
    xy = np.stack([1.3 + radius * np.cos(angle), 0.2 + radius * np.sin(angle)], axis=1)
    xy[-1] = xy[0]
    return points(xy)


def energy(q: np.ndarray) -> float:
    return float((np.diff(q, axis=0) ** 2).sum())


# Known answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimise", [True, False])
def test_an_elbow_follows_one_of_its_two_branches(optimise: bool) -> None:
    arm, xy = elbow(), np.stack([np.linspace(0.6, 1.4, 40), np.linspace(1.2, -0.2, 40)], axis=1)
    path = pz.solve_path(arm, pz.PositionTask("tip"), points(xy), optimise=optimise)
    assert path.success
    assert path.status is pz.Status.CONVERGED
    assert path.first_failure is None
    sign = np.sign(path.q[0, 1])
    assert np.allclose(path.q, textbook(xy, sign), atol=1e-5)
    # The better of the two: on this line both can be followed.
    if optimise:
        assert energy(path.q) <= min(energy(textbook(xy, s)) for s in (-1.0, 1.0)) + 1e-6


def test_three_joints_reach_the_least_sum_of_squares() -> None:
    """The optimum over all configurations at once, beside SciPy's."""
    arm = pz.load("planar3")
    targets = circle(9)
    path = pz.solve_path(arm, pz.PositionTask("tool"), targets, max_jump=2.0)
    assert path.success

    def left(x: np.ndarray) -> np.ndarray:
        return (arm.pose("tool", x.reshape(-1, 3)).xyz - targets)[:, :2].ravel()

    start = path.q + np.random.default_rng(0).normal(scale=0.05, size=path.q.shape)
    other = minimize(
        lambda x: energy(x.reshape(-1, 3)), start.ravel(), method="SLSQP",
        constraints={"type": "eq", "fun": left}, options={"maxiter": 500, "ftol": 1e-12},
    )  # fmt: skip
    assert energy(path.q) <= other.fun + 1e-6


def test_a_closed_circle_ends_where_it_began() -> None:
    arm = pz.load("planar3")
    loop = circle()
    closed = pz.solve_path(arm, pz.PositionTask("tool"), loop, closed=True)
    free = pz.solve_path(arm, pz.PositionTask("tool"), loop)
    assert closed.success
    assert np.array_equal(closed.q[0], closed.q[-1])
    assert np.abs(free.q[0] - free.q[-1]).max() > 1e-3
    assert energy(free.q) < energy(closed.q) < 1.5 * energy(free.q)
    # No seam: where it is cut open makes no difference.
    turned = pz.solve_path(arm, pz.PositionTask("tool"), np.concatenate([loop[20:-1], loop[:21]]), closed=True)
    assert energy(turned.q) == pytest.approx(energy(closed.q), rel=1e-3)
    even = pz.solve_path(arm, pz.PositionTask("tool"), circle(60), closed=True)
    assert np.array_equal(even.q[0], even.q[-1])


@pytest.mark.parametrize("end", [2.0, 1.9])
def test_through_the_stretched_pose(end: float) -> None:
    """The path touches the edge of the reach, where the elbow moves infinitely fast, and comes back."""
    out = np.linspace(1.2, end, 40)
    x = np.concatenate([out, out[::-1][1:]])
    path = pz.solve_path(elbow(), pz.PositionTask("tip"), points(np.stack([x, 0.0 * x], axis=1)))
    assert path.success, path.explain()
    assert path.reached.all()
    assert path.position_errors.max() <= 1e-6


def test_through_a_singular_wrist() -> None:
    arm = pz.load("puma560")
    q = np.linspace([0.3, 0.5, -2.5, 0.4, -0.5, 0.2], [0.5, 0.7, -2.3, 0.4, 0.5, 0.2], 101)  # the wrist passes 0
    path = pz.solve_path(arm, pz.PoseTask(arm.tip), arm.pose(arm.tip, q), q0=q[0])
    assert path.success, path.explain()
    assert np.array_equal(path.q[0], q[0])
    assert pz.jumps(path.q, arm) == []


def test_what_is_out_of_reach_is_named_to_the_waypoint() -> None:
    x = np.linspace(1.0, 2.5, 31)
    path = pz.solve_path(elbow(), pz.PositionTask("tip"), points(np.stack([x, 0.0 * x], axis=1)))
    first = int(np.argmax(x > 2.0 + 1e-6))
    assert not path.success
    assert path.status is pz.Status.UNREACHABLE
    assert path.first_failure is not None
    assert path.first_failure.waypoint == first
    assert "beyond the longest reach of 2 m" in path.first_failure.reason
    assert np.array_equal(path.reached, x <= 2.0 + 1e-6)
    assert [failure.waypoint for failure in path.failures] == list(range(first, 31))
    assert np.isfinite(path.q).all()
    assert str(first) in path.explain()


def test_it_comes_back_from_out_of_reach() -> None:
    x = np.concatenate([np.linspace(1.2, 2.3, 20), np.linspace(2.3, 1.2, 20)])
    path = pz.solve_path(elbow(), pz.PositionTask("tip"), points(np.stack([x, 0.0 * x], axis=1)))
    assert path.status is pz.Status.UNREACHABLE
    assert np.array_equal(path.reached, x <= 2.0 + 1e-6)


@pytest.mark.parametrize("begins", [True, False])
def test_steps_are_out_of_proportion_to_those_between_poses_that_are_met_alone(begins: bool) -> None:
    """Beyond its reach an arm hardly moves, and that makes no jump of the steps before."""
    arm = elbow()
    x = np.concatenate([[0.2, 0.9, 1.6], np.linspace(2.1, 2.6, 20)])
    target = points(np.stack([x, 0.0 * x], axis=1))
    begin = pz.solve(arm, pz.PositionTask("tip", target[0])).q if begins else None
    path = pz.solve_path(arm, pz.PositionTask("tip"), target, start=begin)
    assert {failure.status for failure in path.failures} == {pz.Status.UNREACHABLE}
    assert path.first_failure is not None
    assert path.first_failure.waypoint == 3
    assert path.fraction == 3 / 23
    np.testing.assert_array_equal(path.followed, path.q[:3])
    assert pz.solve_path(arm, pz.PositionTask("tip"), target[:3], start=begin).success


def test_each_way_to_fail_is_told_of() -> None:
    """A joint that must jump first, and later poses that are out of reach."""
    turn = np.linspace(0.0, 2.6 * np.pi, 131)
    around = np.stack([2.2 * np.cos(turn), 2.2 * np.sin(turn), 0.0 * turn], axis=1)
    arm = pz.load("planar3").with_limits({"joint1": (-2.5, 2.5)})
    away = np.concatenate([around, np.full((4, 3), [9.0, 0.0, 0.0])])
    path = pz.solve_path(arm, pz.PositionTask("tool"), away)
    kinds = [failure.status for failure in path.failures]
    assert kinds[0] is path.status is pz.Status.JUMP
    assert kinds[-4:] == [pz.Status.UNREACHABLE] * 4
    words = path.explain()
    assert f"First, waypoint {path.failures[0].waypoint}: from" in words
    assert "And waypoint 131: Not reached" in words
    assert words.endswith("So are 3 more.")
    assert path.fraction == path.failures[0].waypoint / 135
    assert path.facts()["fraction"] == path.fraction


def test_of_a_plan_the_rows_up_to_the_last_pose_before_a_failure_are_followed() -> None:
    arm, task = elbow(), pz.PositionTask("tip")
    path = pz.plan(arm, task, points(np.array([[1.5, 0.0], [1.2, 0.5], [9.0, 0.0]])))
    assert path.fraction == 2 / 3
    assert len(path.followed) == path.stations[1] + 1
    np.testing.assert_allclose(arm.pose("tip", path.followed[-1]).xyz[:2], [1.2, 0.5], atol=1e-5)
    whole = pz.plan(arm, task, points(np.array([[1.5, 0.0], [1.2, 0.5]])))
    assert (whole.fraction, whole.followed is whole.q) == (1.0, True)
    none = pz.plan(arm, task, points(np.array([[9.0, 0.0], [1.2, 0.5]])))
    assert (none.fraction, none.followed.shape) == (0.0, (0, 2))


def test_no_pose_at_all_within_reach() -> None:
    path = pz.solve_path(elbow(), pz.PositionTask("tip"), np.full((3, 3), 9.0))
    assert [failure.waypoint for failure in path.failures] == [0, 1, 2]
    assert not path.reached.any()


# Redundancy and branches --------------------------------------------------------------------------------------------


def greedy(arm: pz.Model, task: pz.PoseTask | pz.PositionTask, poses: np.ndarray, q0: np.ndarray) -> np.ndarray:
    """Each waypoint from the answer to the one before."""
    solver, q = pz.Solver(arm, task, max_restarts=0), []
    for target in poses:
        q.append(solver(target, q[-1] if q else q0).q)
    return np.array(q)


def test_seven_joints_go_a_shorter_way_than_step_by_step() -> None:
    arm, task = pz.load("panda"), pz.PoseTask("panda_hand")
    path = pz.solve_path(arm, task, across(80))
    other = greedy(arm, task, across(80), arm.home)
    assert path.success
    assert arm.within_limits(path.q)
    assert energy(path.q) < 0.9 * energy(other)
    assert path.length < np.linalg.norm(np.diff(other, axis=0), axis=1).sum()
    # Least means that no self-motion makes it less: the forces of the steps lie in the rows of the Jacobians.
    force = 2.0 * path.q[1:-1] - path.q[:-2] - path.q[2:]
    jacobians = arm.jacobian("panda_hand", path.q)[1:-1, :, : arm.nv]
    for f, jacobian, q in zip(force, jacobians, path.q[1:-1], strict=True):
        inside = (q - arm.lower > 1e-6) & (arm.upper - q > 1e-6)
        null = np.linalg.svd(jacobian[:, inside])[2][np.linalg.matrix_rank(jacobian[:, inside], 1e-6) :]
        assert np.abs(null @ f[inside]).max(initial=0.0) < 1e-5


def test_the_branch_that_ends_at_a_limit_is_not_taken() -> None:
    """From home the elbow goes down, and its shoulder comes to a limit on the way; up there is room all along."""
    angle = np.linspace(0.0, 1.8, 50)
    xy = 1.4 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    up, down = textbook(xy, -1.0), textbook(xy, 1.0)
    arm = elbow(shoulder=(-1.0, 2.2))
    wrong, right = (up, down) if (up[:, 0] > 2.2).any() else (down, up)
    assert (wrong[:, 0] > 2.2).any()
    assert (np.abs(right[:, 0]) < 2.2).all()
    task = pz.PositionTask("tip")
    stuck = greedy(arm, task, points(xy), wrong[0])
    assert np.abs(arm.pose("tip", stuck).xyz - points(xy)).max() > 1e-3
    path = pz.solve_path(arm, task, points(xy))
    assert path.success, path.explain()
    assert np.allclose(path.q, right, atol=1e-5)
    # From where it is stuck it has to jump, as the beginning is given, and says so.
    given = pz.solve_path(arm, task, points(xy), q0=wrong[0])
    assert not given.success
    assert np.array_equal(given.q[0], wrong[0])
    assert given.first_failure is not None
    assert given.first_failure.waypoint == int(np.argmax(wrong[:, 0] > 2.2 + 1e-6))
    assert given.status is pz.Status.JUMP
    assert "shoulder" in given.first_failure.reason


def test_a_jump_that_nothing_avoids_is_named() -> None:
    """Each branch has a part of the way: whatever is chosen, the elbow has to turn over."""
    angle = np.linspace(-1.2, 1.2, 41)
    xy = 1.4 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    up = textbook(xy, -1.0)
    arm = elbow(shoulder=(-0.9, 0.9))
    path = pz.solve_path(arm, pz.PositionTask("tip"), points(xy))
    assert path.status is pz.Status.JUMP
    assert len(path.failures) == 1
    t = path.first_failure.waypoint if path.first_failure else -1
    assert path.reached.all()
    assert t == int(np.argmax(up[:, 0] > 0.9))  # it goes on as long as can be
    assert np.sign(path.q[t - 1, 1]) != np.sign(path.q[t, 1])
    assert arm.within_limits(path.q)


def test_the_first_configuration_is_q0_where_it_meets_the_first_pose() -> None:
    arm, task = pz.load("panda"), pz.PoseTask("panda_hand")
    q0 = pz.solve(arm, pz.PoseTask("panda_hand", across(80)[0]), q0=arm.sample(seed=4)).q
    path = pz.solve_path(arm, task, across(80), q0=q0)
    assert np.array_equal(path.q[0], q0)
    free = pz.solve_path(arm, task, across(80))
    assert energy(free.q) <= energy(path.q) + 1e-9


def test_a_q0_that_misses_the_first_pose_is_told_of() -> None:
    """The robot stands at q0, and the path begins elsewhere: whoever sends it would jump."""
    arm, task = pz.load("panda"), pz.PoseTask("panda_hand")
    path = pz.solve_path(arm, task, across(80), q0=arm.home)
    assert path.success
    away = np.linalg.norm(arm.pose("panda_hand", arm.home).xyz - across(80)[0, :3])
    change = path.q[0] - arm.home
    for said in (path.explain(), path.report(), " ".join(path.facts()["notes"])):
        assert "q0 does not meet the first pose" in said
        assert f"{away:.3g} m" in said
        assert f"begins {change[np.abs(change).argmax()]:.3g} from it" in said
    assert pz.solve_path(arm, task, across(80)).notes == ()
    assert pz.solve_path(arm, task, across(80), q0=path.q[0]).notes == ()
    outside = np.array(arm.home)
    outside[3] = 0.5
    assert "q0 was pulled in" in pz.solve_path(arm, task, across(80), q0=outside).explain()


def test_a_path_begins_where_it_must_or_fails() -> None:
    arm, task = pz.load("panda"), pz.PoseTask("panda_hand")
    stands = pz.solve(arm, pz.PoseTask("panda_hand", across(80)[0]), q0=arm.home).q
    path = pz.solve_path(arm, task, across(80), start=stands)
    assert path.success
    assert path.notes == ()
    assert np.array_equal(path.q[0], stands)
    other = pz.solve_path(arm, task, across(80), start=arm.home)
    assert other.status is pz.Status.LOCAL_MINIMUM
    assert other.first_failure is not None
    assert other.first_failure.waypoint == 0
    away = np.linalg.norm(arm.pose("panda_hand", arm.home).xyz - across(80)[0, :3])
    assert f"{away:.3g} m" in other.first_failure.reason
    outside = np.array(arm.home)
    outside[3] = 0.5
    with refused("outside-limits", "'panda_joint4'"):
        pz.solve_path(arm, task, across(80), start=outside)
    with pytest.raises(ValueError, match="not both"):
        pz.solve_path(arm, task, across(80), start=stands, q0=stands)
    with pytest.raises(pz.ShapeError, match="start must have 7 numbers"):
        pz.solve_path(arm, task, across(80), start=stands[:3])


def test_what_is_too_near_at_the_beginning_is_said_of_it() -> None:
    """The configuration that is given meets the first pose and touches a ball; another does not."""
    arm, task = armed(), pz.PoseTask("panda_hand")
    free = pz.solve_path(arm, task, across(80))
    ball = pz.Sphere(arm.pose("panda_link4", free.q[0]).xyz, 0.07)
    limits = [pz.CollisionLimit(pz.World({"ball": ball}))]
    wished = pz.solve_path(arm, task, across(80), q0=free.q[0], limits=limits)
    assert wished.success, wished.explain()
    assert not np.array_equal(wished.q[0], free.q[0])
    assert "'ball'" in " ".join(wished.notes)
    must = pz.solve_path(arm, task, across(80), start=free.q[0], limits=limits)
    assert must.status is pz.Status.COLLISION
    assert must.first_failure is not None
    assert must.first_failure.waypoint == 0
    assert "start" in must.first_failure.reason
    assert "'ball'" in must.first_failure.reason


def test_joints_that_do_not_move_the_task_stay() -> None:
    builder = pz.ModelBuilder("two arms")
    for side in ("left", "right"):
        for i in range(3):
            parent = "base" if i == 0 else f"{side}{i - 1}"
            origin = pz.SE3.from_parts([float(i > 0), 0.0, 0.0])
            builder.joint(f"{side}_{i}", "revolute", parent=parent, child=f"{side}{i}", origin=origin)
        builder.frame(f"{side}_tip", link=f"{side}2", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
    arm = builder.build()
    q0 = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    path = pz.solve_path(arm, pz.PositionTask("left_tip"), circle(), q0=q0)
    assert path.success
    moved = np.ptp(path.q, axis=0) > 0.0
    assert [name for name, one in zip(arm.coordinates, moved, strict=True) if one] == ["left_0", "left_1", "left_2"]
    assert np.array_equal(path.q[0, ~moved], q0[~moved])
    # Both at once: targets a task.
    both = pz.solve_path(
        arm, [pz.PositionTask("left_tip"), pz.PositionTask("right_tip")], [circle(), circle()[::-1].copy()]
    )
    assert both.success
    assert both.position_errors.shape == (61, 2)


def test_a_floating_base_follows_too() -> None:
    builder = pz.ModelBuilder("drone")
    builder.joint("arm", "revolute", parent="body", child="arm", limits=(-1.0, 1.0))
    builder.frame("tip", link="arm", origin=pz.SE3.from_parts([0.5, 0.0, 0.0]))
    drone = builder.build(base="floating")
    turn = np.linspace(0.0, 2.5, 30)
    poses = pz.SE3.from_rotvec(np.stack([turn, 0 * turn, 0 * turn], 1), np.stack([0 * turn, 0 * turn, turn], 1))
    path = pz.solve_path(drone, pz.PoseTask("tip"), poses)
    assert path.success, path.explain()
    assert np.allclose(np.linalg.norm(path.q[:, 3:7], axis=1), 1.0)
    assert path.largest_step < 0.2


# Time ---------------------------------------------------------------------------------------------------------------


def test_a_step_that_is_too_fast_is_named() -> None:
    arm = pz.load("panda")
    slow = pz.solve_path(arm, pz.PoseTask("panda_hand"), across(80), dt=0.1)
    assert slow.success
    assert slow.times is not None
    assert np.allclose(np.diff(slow.times), 0.1)
    fast = pz.solve_path(arm, pz.PoseTask("panda_hand"), across(80), dt=0.002)
    assert fast.status is pz.Status.TOO_FAST
    assert fast.first_failure is not None
    rates = np.abs(np.diff(fast.q, axis=0)) / 0.002
    assert fast.first_failure.waypoint == 1 + int(np.argmax((rates > arm.velocity).any(axis=1)))


def test_speeds_are_kept_at_the_cost_of_the_length() -> None:
    """At an interval at which the shortest path is too fast, a longer one is not."""
    arm, task = pz.load("planar3"), pz.PositionTask("tool")
    free = pz.solve_path(arm, task, circle())
    cap = 0.95 * free.largest_step
    kept = pz.solve_path(arm, task, circle(), max_jump=cap)
    assert kept.success, kept.explain()
    assert kept.largest_step <= cap * (1.0 + 1e-9)
    assert energy(kept.q) >= energy(free.q) - 1e-9


def test_least_times_keep_speeds_and_accelerations() -> None:
    arm = pz.load("panda")
    path = pz.solve_path(arm, pz.PoseTask("panda_hand"), across(80), velocity=1.0, acceleration=5.0)
    assert path.times is not None
    gaps = np.diff(path.times)
    speeds = path.steps / gaps[:, None]
    assert np.abs(speeds).max() <= 1.0 + 1e-9
    change = np.diff(speeds, axis=0) / (0.5 * (gaps[1:] + gaps[:-1]))[:, None]
    assert np.abs(change).max() <= 5.0 + 1e-6
    quick = pz.solve_path(arm, pz.PoseTask("panda_hand"), across(80), velocity=1.0)
    assert quick.duration is not None
    assert path.duration is not None
    assert quick.duration < path.duration
    assert pz.solve_path(pz.load("planar3"), pz.PositionTask("tool"), circle()).times is None  # no limits, no times


# Obstacles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimise", [True, False])
def test_a_path_keeps_its_distance(optimise: bool) -> None:
    """The elbow of a Panda, which the shortest path takes through a ball, goes round it."""
    arm, task = pz.load("panda"), pz.PoseTask("panda_hand")
    free = pz.solve_path(arm, task, across(80))
    centre = arm.pose("panda_link4", free.q[40]).xyz

    def distances(q: np.ndarray) -> np.ndarray:
        return np.linalg.norm(arm.pose("panda_link4", q).xyz - centre, axis=-1) - 0.08

    assert distances(free.q).min() < 0.0
    with kept(KeptOff(arm, distances, 0.02)):
        path = pz.solve_path(arm, task, across(80), optimise=optimise, threads=1)
    assert path.success, path.explain()
    assert path.clearances is not None
    assert path.clearances.min() >= 0.02
    assert np.allclose(path.clearances, distances(path.q))
    assert "nearest to an obstacle" in path.report()


def test_a_way_that_is_blocked_is_said() -> None:
    """The tip itself is led through what is in the way, which no self-motion avoids."""
    arm = pz.load("planar3")

    def distances(q: np.ndarray) -> np.ndarray:
        return np.linalg.norm(arm.pose("tool", q).xyz - circle()[30], axis=-1) - 0.05

    with kept(KeptOff(arm, distances)):
        path = pz.solve_path(arm, pz.PositionTask("tool"), circle(), threads=1)
    assert path.status is pz.Status.COLLISION
    inside = np.linalg.norm(circle() - circle()[30], axis=1) < 0.05
    assert path.first_failure is not None
    assert path.first_failure.waypoint == int(np.argmax(inside))


def corridor(q: np.ndarray) -> np.ndarray:
    """Free where the last of three links points along one direction: hardly ever by chance, and at each place by two
    configurations."""
    return 0.02 - np.abs(np.remainder(q.sum(axis=-1) - 0.3 + np.pi, 2.0 * np.pi) - np.pi)


@pytest.mark.parametrize("max_jump", [0.02, 0.1])
def test_a_jump_is_not_blamed_on_a_waypoint(max_jump: float) -> None:
    """Every waypoint has a configuration that is free; what cannot be done is to go on without a jump."""
    arm = pz.load("planar3")
    with kept(KeptOff(arm, corridor)):
        path = pz.solve_path(arm, pz.PositionTask("tool"), circle(10), max_jump=max_jump, threads=1)
    assert path.status is pz.Status.JUMP
    assert path.reached.all()
    assert corridor(path.q).min() >= 0.0
    assert path.first_failure is not None
    t = path.first_failure.waypoint
    change = path.steps[t - 1]
    j = int(np.abs(change).argmax())
    said = path.first_failure.reason
    assert f"joint{j + 1} would have to change by {change[j]:.3g}" in said
    assert f"max_jump is {max_jump}" in said


# The rest -----------------------------------------------------------------------------------------------------------


def test_the_same_on_any_number_of_threads() -> None:
    arm, task = pz.load("panda"), pz.PoseTask("panda_hand")
    one, two = (pz.solve_path(arm, task, across(80), threads=n) for n in (1, 3))
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(one.times, two.times)
    other = pz.solve_path(arm, task, across(80), seed=7)
    assert other.success


def test_one_pose_is_a_path() -> None:
    arm = pz.load("panda")
    path = pz.solve_path(arm, pz.PoseTask("panda_hand"), across(2)[:1], acceleration=1.0)
    assert path.success
    assert len(path) == 1
    assert path.length == 0.0
    assert path.largest_step == 0.0
    assert path.duration == 0.0
    assert "waypoints reached" in path.report()
    twice = pz.solve_path(arm, pz.PoseTask("panda_hand"), across(2)[[0, 0]], acceleration=1.0)
    assert twice.success
    assert twice.largest_step < 1e-6


def test_errors_are_those_of_forward_kinematics() -> None:
    arm = pz.load("panda")
    path = pz.solve_path(arm, pz.PoseTask("panda_hand"), across(80))
    poses = arm.pose("panda_hand", path.q)
    assert np.allclose(path.position_errors[:, 0], np.linalg.norm(poses.xyz - across(80)[:, :3], axis=1), atol=1e-12)
    assert path.rotation_errors.max() < 1e-6
    assert np.isnan(pz.solve_path(pz.load("planar3"), pz.PositionTask("tool"), circle()).rotation_errors).all()


def test_a_path_is_read_only_a_sequence_and_travels() -> None:
    path = pz.solve_path(pz.load("planar3"), pz.PositionTask("tool"), circle(), velocity=1.0)
    again = pickle.loads(pickle.dumps(path))
    assert np.array_equal(again.q, path.q)
    assert again.facts() == path.facts()
    assert np.array_equal(np.asarray(path), path.q)
    assert np.array_equal(path[3], path.q[3])
    assert len(list(path)) == len(path) == 61
    with pytest.raises(ValueError, match="read-only"):
        path.q[0] = 0.0
    assert repr(path).startswith("JointPath(CONVERGED, 61 waypoints")
    assert path.facts()["status"] == "CONVERGED"


class Looks:
    """A clock that a second has gone by on at every look, and what was done between two."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: float) -> None:
        self.now, self.most, self.after = 0.0, most, 0
        """What is done after the end counts as after."""
        self.work: dict[float, float] = {}
        monkeypatch.setattr("poise.solving.path.clock.perf_counter", self.look)
        for module, name, size in (
            (route, "follow_lanes", 8 * 64), (route, "best_sequence", 1), (program, "solve_blocks", 1),
            (program, "solve_again", 1),
        ):  # fmt: skip
            monkeypatch.setattr(module, name, self.counted(getattr(module, name), size))

    def look(self) -> float:
        self.now += 1.0
        return self.now

    def counted(self, kernel: Any, size: int) -> Any:
        def called(*given: Any) -> Any:
            self.work[self.now] = self.work.get(self.now, 0) + size
            self.after += self.now > self.most + 1.0
            return kernel(*given)

        return called


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize("most", [1.0, 6.0, 20.0, 60.0])
def test_the_clock_is_looked_at_inside_strands_and_newtons_steps(
    most: float, optimise: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm, task = armed(), pz.PoseTask("panda_hand")
    world = pz.World({"post": pz.Capsule([0.25, -0.3, 0.0], [0.25, -0.3, 0.9], 0.04)})
    looks = Looks(monkeypatch, most)
    there_and_back = np.concatenate([across(200), across(200)[::-1]])
    path = pz.solve_path(
        arm, task, there_and_back, limits=[pz.CollisionLimit(world)], closed=True, max_time=most, optimise=optimise,
        threads=1,
    )  # fmt: skip
    assert len(path) == 400
    assert np.isfinite(path.q).all()
    # Between two looks at most one stretch of eight strands, or two solves of a system; none when the time is spent.
    assert max(looks.work.values(), default=0.0) <= 8 * 64
    assert looks.after == 0
    if not path.success:
        assert "max_time was spent" in path.explain()
        assert path.reached.all() or path.status is pz.Status.BUDGET


def test_time_that_is_spent_still_gives_what_was_found() -> None:
    arm = pz.load("panda")
    path = pz.solve_path(arm, pz.PoseTask("panda_hand"), across(80), max_time=1e-9)
    assert path.q.shape == (80, arm.nq)
    assert path.status is pz.Status.BUDGET
    assert [failure.waypoint for failure in path.failures] == list(range(80))
    far = pz.plan(pz.load("planar3"), pz.PositionTask("tool"), circle(3), max_time=1e-9)
    assert far.status is pz.Status.BUDGET


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_it_between_two_stretches(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while strands are led, in the thread that begins last: no further stretch begins, in any thread."""
    calls, until = list[int](), list[int]()
    follow = route.follow_lanes

    def interrupted(address: int) -> int:
        calls.append(get_ident())
        if len(set(calls)) == threads and not until:
            until.append(len(calls) + threads)
            raise KeyboardInterrupt
        sleep(0.02)
        return int(follow(address))

    monkeypatch.setattr(route, "follow_lanes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pz.solve_path(pz.load("panda"), pz.PoseTask("panda_hand"), across(2000), threads=threads)
    assert len(calls) <= until[0]
    monkeypatch.undo()
    assert pz.solve_path(pz.load("panda"), pz.PoseTask("panda_hand"), across(10)).success


def test_strands_are_the_same_in_one_stretch_or_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a part that is out of reach, where a strand remembers that it is off the path."""
    arm, x = pz.load("planar3"), np.concatenate([np.linspace(2.0, 3.3, 40), np.linspace(3.3, 2.0, 40)])
    away = points(np.stack([x, 0.2 + 0.0 * x], axis=1))
    whole = pz.solve_path(arm, pz.PositionTask("tool"), away)
    monkeypatch.setattr(route, "_PIECE", 7)
    assert np.array_equal(pz.solve_path(arm, pz.PositionTask("tool"), away).q, whole.q)


def test_a_question_that_is_wrong_is_refused() -> None:
    arm, task = pz.load("planar3"), pz.PositionTask("tool")
    bad = circle()
    bad[5, 1] = np.nan
    with refused("not-finite", "poses[5]"):
        pz.solve_path(arm, task, bad)
    with refused("wrong-shape"):
        pz.solve_path(arm, task, np.zeros((0, 3)))
    with pytest.raises(pz.ShapeError):
        pz.solve_path(arm, task, np.zeros((4, 2)))
    with refused("no-target"):
        pz.solve_path(arm, task, None)
    with pytest.raises(pz.FrameNotFound):
        pz.solve_path(arm, pz.PositionTask("tol"), circle())
    with pytest.raises(ValueError, match="repeat the first at the end"):
        pz.solve_path(arm, task, circle()[:-1], closed=True)
    with refused("wrong-shape", "q0"):
        pz.solve_path(arm, task, circle(), q0=np.zeros(2))
    for name, value in (("dt", 0.0), ("max_jump", -1.0), ("max_time", 0.0), ("seed", -1), ("threads", 0)):
        with pytest.raises(ValueError, match=name):
            pz.solve_path(arm, task, circle(), **{name: value})
    for name in ("velocity", "acceleration"):
        with refused("not-positive", name):
            pz.solve_path(arm, task, circle(), **{name: 0.0})
        with refused("wrong-shape", name):
            pz.solve_path(arm, task, circle(), **{name: [1.0, 2.0]})
        with pytest.raises(
            pz.ShapeError, match=rf"{name} must be .*limits=\[{name.title()}Limit\({{'joint1': 1.0}}\)\]"
        ):
            pz.solve_path(arm, task, circle(), **{name: {"joint1": 1.0}})
        with refused("wrong-shape", name):
            pz.solve_path(arm, task, circle(), **{name: "fast"})
    for name in ("limits", "closed", "optimise"):
        with pytest.raises(TypeError, match=name):
            pz.solve_path(arm, task, circle(), **{name: 1})


@pytest.mark.parametrize("optimise", [True, False])
def test_a_collision_limit_holds_along_the_whole_path(optimise: bool) -> None:
    """A post stands beside the path, where the elbow of the shortest one goes."""
    arm, task = armed(), pz.PoseTask("panda_hand")
    free = pz.solve_path(arm, task, across(80), optimise=optimise)
    elbow_at = arm.pose("panda_link4", free.q[40]).xyz
    world = pz.World({"post": pz.Sphere(np.add(elbow_at, [0.0, 0.0, 0.12]), 0.06)})
    assert arm.in_collision(free.q, world, min_distance=0.03).any()
    path = pz.solve_path(arm, task, across(80), limits=[pz.CollisionLimit(world, min_distance=0.03)], optimise=optimise)
    assert path.success, path.explain()
    assert path.clearances is not None
    assert arm.distance(path.q, world).distance.min() >= 0.03
    assert np.allclose(path.clearances, arm.distance(path.q, world).distance)
    between = 0.5 * (path.q[:-1] + path.q[1:])
    assert arm.distance(between, world).distance.min() >= 0.03 - 1e-4


def test_what_swallows_the_poses_is_named() -> None:
    world = pz.World({"block": pz.Box(pz.SE3.from_parts([0.5, 0.3, 0.3]), [0.2, 0.2, 0.2])})
    path = pz.solve_path(armed(), pz.PoseTask("panda_hand"), across(80), limits=[pz.CollisionLimit(world)])
    assert path.status is pz.Status.COLLISION
    assert path.first_failure is not None
    assert "'block'" in path.first_failure.reason
    assert "panda_hand" in path.first_failure.reason
    with refused("no-shapes"):
        pz.solve_path(pz.load("planar3"), pz.PositionTask("tool"), circle(), limits=[pz.CollisionLimit()])


# Waypoints that repeat ----------------------------------------------------------------------------------------------


def test_a_pose_said_twice_costs_no_time() -> None:
    arm, task, poses = pz.load("panda"), pz.PoseTask("panda_hand"), across(30)
    once = pz.solve_path(arm, task, poses, acceleration=5.0).duration
    twice = pz.solve_path(arm, task, np.vstack([poses, poses[-1:]]), acceleration=5.0)
    assert twice.success
    assert twice.duration == pytest.approx(once, rel=1e-3)
    thrice = pz.solve_path(arm, task, np.repeat(poses, 3, axis=0), acceleration=5.0)
    assert thrice.success
    assert thrice.duration == pytest.approx(once, rel=1e-3)
