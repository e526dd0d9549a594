"""What must hold beside the poses does so along a whole path: sums of joints, twists, ranges, balls, loops."""

import numpy as np
import pytest
from scipy.optimize import minimize
from support.mechanisms import delta, four_bar, gap, rocker_angles
from ways import across, elbow

import poise as pz
from poise.common.array import Array
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.loops import Loops
from poise.solving.requirements.loops import loop_tasks
from poise.solving.requirements.sums import LinearLimits

PANDA, HAND = pz.load("panda"), pz.PoseTask("panda_hand")
JOINTS = [joint.name for joint in PANDA.joints if joint.nq]


def between(path: pz.JointPath, n: int = 4001) -> Array:
    """(n, nq) where the joints are, at times close to each other."""
    return path.at(np.linspace(0.0, path.duration, n)).q


def at(x: float, y: float = 0.0, z: float = 0.0) -> pz.SE3:
    return pz.SE3.from_parts([x, y, z])


# Sums of joints -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "paced",
    [{}, {"limits": [pz.AccelerationLimit(5.0)]}, {"limits": [pz.AccelerationLimit(5.0), pz.JerkLimit(80.0)]}],
    ids=["speeds", "accelerations", "jerks"],
)
def test_a_sum_of_joints_is_kept_along_a_path_that_would_leave_it(seed: int, paced: dict[str, list[object]]) -> None:
    free = pz.solve_path(PANDA, HAND, across(30))
    factors = np.random.default_rng(seed).normal(size=7)
    sums = free.q @ factors
    most = float(sums[0] + 0.4 * (sums.max() - sums[0]) + 1e-3)
    assert sums.max() > most + 1e-3
    limits = [pz.LinearLimit(dict(zip(JOINTS, factors, strict=True)), most), *paced.get("limits", [])]
    path = pz.solve_path(PANDA, HAND, across(30), limits=limits, start=free.q[0])
    assert path.success, path.explain()
    assert (path.q @ factors).max() <= most + 1e-9
    assert (between(path) @ factors).max() <= most + 1e-9
    assert PANDA.within_limits(between(path))


@pytest.mark.parametrize("seed", range(5))
def test_a_narrow_band_is_followed_that_hardly_any_solution_is_in(seed: int) -> None:
    free = pz.solve_path(PANDA, HAND, across(15), q0=PANDA.sample(seed=50 + seed), seed=seed)
    factors = np.random.default_rng(seed).normal(size=7)
    middle, half = float(free.q[0] @ factors), 2e-3
    band = [
        pz.LinearLimit(dict(zip(JOINTS, sign * factors, strict=True)), sign * middle + half) for sign in (1.0, -1.0)
    ]
    path = pz.solve_path(PANDA, HAND, across(15), limits=band)
    assert path.success, path.explain()
    assert np.abs(between(path) @ factors - middle).max() <= half + 1e-9


def test_it_is_the_shortest_that_keeps_them() -> None:
    """As short as what SLSQP makes of the same path."""
    arm, task, n = pz.load("planar3"), pz.PositionTask("tool"), 6
    line = np.stack([np.full(n, 1.2), np.linspace(-0.8, 0.8, n), np.zeros(n)], axis=1)
    free = pz.solve_path(arm, task, line)
    factors = np.array([1.0, -0.5, 0.5])
    sums = free.q @ factors
    most = float(0.5 * (sums.min() + sums.max()))
    limit = pz.LinearLimit(dict(zip(arm.coordinates, factors, strict=True)), most)
    path = pz.solve_path(arm, task, line, limits=[limit])
    assert path.success, path.explain()
    found = minimize(
        lambda x: (np.diff(x.reshape(n, 3), axis=0) ** 2).sum(), path.q.ravel(), method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda x: (arm.pose("tool", x.reshape(n, 3)).xyz - line)[:, :2].ravel()},
            {"type": "ineq", "fun": lambda x: most - x.reshape(n, 3) @ factors},
        ],
        options={"ftol": 1e-12, "maxiter": 300},
    )  # fmt: skip
    assert (path.steps**2).sum() <= found.fun * (1.0 + 1e-4)


def test_a_sum_that_no_pose_allows_is_named() -> None:
    arm, limit = elbow(), pz.LinearLimit({"shoulder": 1.0, "elbow": 1.0}, -6.0)
    path = pz.solve_path(arm, pz.PositionTask("tip"), [[1.0, 0.5, 0.0], [1.0, 0.6, 0.0]], limits=[limit])
    assert path.status is pz.Status.LIMIT
    assert "shoulder and elbow are" in path.explain()
    assert "beyond a LinearLimit" in path.explain()
    planned = pz.plan(arm, pz.PositionTask("tip"), [[1.0, 0.5, 0.0], [1.0, 0.6, 0.0]], limits=[limit])
    assert planned.status is pz.Status.LIMIT


def test_a_plan_keeps_sums_between_its_poses_too() -> None:
    limit = pz.LinearLimit({JOINTS[1]: 1.0, JOINTS[3]: -1.0}, 2.2)
    path = pz.plan(PANDA, HAND, across(3), limits=[limit], acceleration=5.0)
    assert path.success, path.explain()
    q = between(path)
    assert (q[:, 1] - q[:, 3]).max() <= 2.2 + 1e-9


# Twists -------------------------------------------------------------------------------------------------------------


def rover() -> pz.Model:
    b = pz.ModelBuilder("rover")
    b.joint("base", "floating", parent="ground", child="body")
    b.joint("boom", "revolute", parent="body", child="beam", axis=(0, 1, 0), limits=(-1.0, 1.0), velocity=2.0)
    b.frame("tip", link="beam", origin=at(0.5))
    return b.build()


@pytest.mark.parametrize("more", [[], [pz.AccelerationLimit(2.0)], [pz.AccelerationLimit(2.0), pz.JerkLimit(20.0)]])
def test_a_base_is_no_faster_than_its_twist(more: list[object]) -> None:
    model = rover()
    there = model.integrate(model.home, [0.4, 0.4, 0.3, 0.2, 0.1, 1.0, 0.3])
    poses = model.pose("tip", np.array([model.interpolate(model.home, there, s) for s in np.linspace(0.0, 1.0, 7)]))
    limits = [pz.TwistLimit(linear=0.2, angular=0.3), *more]
    path = pz.solve_path(model, pz.PoseTask("tip"), poses, q0=model.home, limits=limits)
    assert path.success, path.explain()
    velocity = path.at(np.linspace(0.0, path.duration, 3001)).velocity
    drift, spin = (np.linalg.norm(velocity[:, some], axis=1) for some in (slice(0, 3), slice(3, 6)))
    assert drift.max() <= 0.2 * (1 + 1e-9)
    assert spin.max() <= 0.3 * (1 + 1e-9)
    assert max(drift.max() / 0.2, spin.max() / 0.3) > 0.6
    rows = path.resample(0.01).q
    assert np.linalg.norm(model.difference(rows[:-1], rows[1:])[:, :3], axis=1).max() <= 0.2 * 0.01 * (1 + 1e-9)


def test_a_twist_that_given_times_do_not_allow_is_named() -> None:
    model = rover()
    places = np.linspace(model.pose("tip", model.home).xyz, [0.9, 0.4, 0.0], 5)
    slow, fast = (
        pz.solve_path(model, pz.PositionTask("tip"), places, q0=model.home, dt=dt, limits=[pz.TwistLimit(linear=0.05)])
        for dt in (10.0, 0.2)
    )
    assert slow.success, slow.explain()
    assert fast.status is pz.Status.TOO_FAST


# Given times --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [[pz.AccelerationLimit(3.0)], [pz.AccelerationLimit(3.0), pz.JerkLimit(40.0)]])
def test_accelerations_in_given_times_are_kept_or_said(limits: list[object]) -> None:
    """A way that speeds up and slows down evenly can be followed in its own time, and not in a third of it."""
    share = np.linspace(0.0, 1.0, 41)
    ends = across(2)
    poses = ends[0] + (10 * share**3 - 15 * share**4 + 6 * share**5)[:, None] * (ends[1] - ends[0])
    good = pz.solve_path(PANDA, HAND, poses, dt=0.1, limits=limits)
    assert good.success, good.explain()
    np.testing.assert_allclose(good.times, 0.1 * np.arange(41), atol=1e-12)
    t = np.linspace(0.0, good.duration, 20001)
    q, speed, acceleration = good.at(t)
    assert np.abs(speed[[0, -1]]).max() < 1e-9
    np.testing.assert_allclose(np.gradient(q, t, axis=0)[1:-1], speed[1:-1], atol=1e-5)
    np.testing.assert_allclose(np.gradient(speed, t, axis=0)[1:-1], acceleration[1:-1], atol=2e-2)
    assert np.abs(acceleration).max() <= 3.0
    assert np.abs(good.at(good.times).q - good.q).max() < 1e-12
    bad = pz.solve_path(PANDA, HAND, poses, dt=0.01, limits=limits)
    assert bad.status is pz.Status.TOO_FAST
    assert "would have to" in bad.explain()
    assert bad.first_failure
    assert bad.times[-1] == pytest.approx(0.4)


# Balls --------------------------------------------------------------------------------------------------------------


def puppet() -> pz.Model:
    b = pz.ModelBuilder("puppet")
    b.joint(
        "shoulder", "spherical", parent="base", child="upper", axis=(1, 0, 0), swing=((-0.3, 1.2), (-0.5, 0.8)),
        twist=(-0.5, 0.2), velocity=2.0,
    )  # fmt: skip
    b.joint(
        "elbow", "revolute", parent="upper", child="fore", axis=(0, 0, 1), limits=(0.0, 2.4), origin=at(0.3),
        velocity=2.0,
    )  # fmt: skip
    b.joint(
        "wrist", "spherical", parent="fore", child="hand", axis=(1, 0, 0), swing=(1.2, 0.5), origin=at(0.3),
        velocity=2.0,
    )  # fmt: skip
    b.frame("palm", link="hand", origin=at(0.1))
    b.shape("hand", pz.Sphere([0.1, 0.0, 0.0], 0.04))
    return b.build()


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 4))])
def test_balls_stay_within_their_limits_beside_shapes(seed: int) -> None:
    model, task = puppet(), pz.PositionTask("palm")
    first, last = model.pose("palm", model.sample(2, seed=seed)).xyz
    world = pz.World({"post": pz.Sphere([0.5, -0.6, 0.0], 0.1)})
    limits = [pz.CollisionLimit(world, min_distance=0.01), pz.AccelerationLimit(10.0)]
    path = pz.solve_path(model, task, np.linspace(first, last, 15), limits=limits)
    planned = pz.plan(model, task, [first, last], limits=limits)
    assert planned.success, planned.explain()
    for found in [planned, *([path] if path.success else [])]:
        rows = between(found, 1001)
        assert model.within_limits(found.q)
        assert model.within_limits(rows)
        assert (model.distance(rows, world, self_collision=False).distance >= 0.01 - 5e-4).all()
    assert path.success or path.status is pz.Status.JUMP


# Ranges -------------------------------------------------------------------------------------------------------------


def test_a_plan_stays_within_a_range_between_its_poses() -> None:
    """The straight way of the joints between two poses at a ceiling goes through it."""
    arm, ceiling = elbow(), pz.HalfSpace([0.0, 1.3, 0.0], [0.0, 1.0, 0.0])
    ends = [[-1.2, 1.2, 0.0], [1.2, 1.2, 0.0]]
    free = pz.plan(arm, pz.PositionTask("tip"), ends)
    assert free.success
    assert arm.pose("tip", free.q).xyz[:, 1].max() > 1.4
    tasks = [pz.PositionTask("tip"), pz.RegionTask("tip", ceiling)]
    kept = pz.plan(arm, tasks, [ends, None])
    assert kept.success, kept.explain()
    assert arm.pose("tip", kept.q).xyz[:, 1].max() <= 1.3 + 2e-6


# Loops --------------------------------------------------------------------------------------------------------------


PACED: list[list[object]] = [[], [pz.AccelerationLimit(2.0)], [pz.AccelerationLimit(5.0), pz.JerkLimit(50.0)]]


@pytest.mark.parametrize("paced", PACED, ids=["speeds", "accelerations", "jerks"])
def test_a_four_bar_stays_closed_between_the_rows_and_within_its_limits(paced: list[object]) -> None:
    bar, turn = four_bar(), pz.JointCouplingTask({"crank": 1.0})
    start = pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, target=-1.0)).q
    branch = int(np.argmin([abs(start[2] - angle) for angle in rocker_angles(-1.0)]))
    path = pz.solve_path(bar, turn, np.linspace(-1.0, 1.5, 9), q0=start, limits=paced)
    assert path.success, path.explain()
    t = np.linspace(0.0, path.duration, 1501)
    q, velocity, _ = path.at(t)
    assert max(gap(bar, one) for one in q) <= 1e-7
    np.testing.assert_allclose(q[:, 2], [rocker_angles(crank)[branch] for crank in q[:, 0]], atol=1e-6)
    assert np.abs(velocity).max() <= 2.0
    assert np.abs(path.at(path.times).q - path.q).max() < 1e-6
    rows = path.resample(0.01).q
    speeds = np.vstack([np.zeros(3), np.diff(rows, axis=0) / 0.01, np.zeros(3)])
    assert np.abs(speeds).max() <= 2.0 * (1 + 1e-9)
    if paced:
        most = {"accelerations": paced[0].most, "jerks": paced[-1].most}
        assert np.abs(np.diff(speeds, axis=0)).max() / 0.01 <= most["accelerations"] * (1 + 1e-6)
        if len(paced) > 1:
            assert np.abs(np.diff(speeds, 2, axis=0)).max() / 0.01**2 <= most["jerks"] * (1 + 1e-3)


def test_a_delta_is_planned_with_its_loops_closed() -> None:
    """The rods of a parallel robot."""
    robot, task = delta(), pz.PositionTask("plate")
    ends = np.array([[0.1, 0.05, -0.6], [-0.1, 0.0, -0.5]])
    start = pz.solve(robot, pz.PositionTask("plate", ends[0]))
    assert start.success
    path = pz.plan(robot, task, ends, q0=start.q, acceleration=5.0)
    assert path.success, path.explain()
    q = between(path, 301)
    assert max(gap(robot, one) for one in q) <= 1e-7
    np.testing.assert_allclose(robot.pose("plate", path.q[path.stations]).xyz, ends, atol=1e-6)


def test_a_plan_that_begins_with_open_loops_says_so() -> None:
    bar, turn = four_bar(), pz.JointCouplingTask({"crank": 1.0})
    path = pz.plan(bar, turn, [0.5, 1.0], q0=bar.home + 0.1)
    assert path.status is pz.Status.LIMIT
    assert "the loops are open" in path.explain()


@pytest.mark.parametrize("base", ["floating", "planar", "fixed"])
def test_a_plan_with_loops_that_fails_goes_straight(base: str) -> None:
    """It is not closed between configurations of other branches, where loops would jump."""
    bar = four_bar(base=base).with_shapes({"coupler_link": [pz.Sphere([0.5, 0.3, 0.0], 0.02)]})
    q0, q1 = (pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, target=turn)).q for turn in (0.5, 2.5))
    ends, pen = bar.pose("pen", np.stack([q0, q1])).xyz, pz.PositionTask("pen", weight=(1, 1, 0))
    limits: list[object] = [pz.CollisionLimit(pz.World([pz.Sphere(ends[0], 0.1)]))]
    for more in PACED:
        path = pz.plan(bar, pen, ends, q0=q0, limits=limits + more)
        assert path.status is pz.Status.COLLISION
        assert "cannot begin at q0" in path.explain()
        steps = np.abs(bar.difference(path.q[:-1], path.q[1:]))
        assert steps.max() <= 0.05 + 1e-9
        least = steps[:, -3:].max(axis=1).sum() / 2.0
        assert least <= path.duration * (1 + 1e-9)
        assert more or path.duration == pytest.approx(least)
        assert bar.within_limits(between(path, 301))


def test_a_way_that_cannot_be_closed_is_given_up_where_it_is_first_open() -> None:
    """And of many configurations those that cannot be closed stay as they are."""
    bar = four_bar(lower=1.0)
    loops = Loops(bar, loop_tasks(bar, [pz.JointCouplingTask({"crank": 1.0})]), limits=True, sums=None)
    ends = np.array([[1.0, 1.0, 1.4], [1.0, 6.2, 1.4]])
    way = bar.interpolate(*ends, np.linspace(0.0, 1.0, 101))
    closed, found = loops.all_closed(way)
    open_ones = np.flatnonzero(~found)
    assert len(open_ones) > 1
    assert np.array_equal(closed[open_ones], way[open_ones])
    assert max(gap(bar, one) for one in closed[found]) <= 1e-7
    assert PathFeasibility([], loops).straight(bar, *ends) is None
    assert np.array_equal(np.flatnonzero(loops.all_closed(way, whole=True)[1]), np.arange(open_ones[0]))


@pytest.mark.parametrize("base", ["planar", "fixed"])
def test_loops_are_closed_within_sums_of_joints(base: str) -> None:
    """What is beyond comes back to where the sum is at its limit; joints that move no loop stay where they are."""
    bar = four_bar(base=base)
    crank, rocker = 0.6, rocker_angles(0.6)[0]
    row = np.zeros(bar.nv)
    row[-3], row[-1] = 1.0, 0.5
    away = np.zeros(bar.nq)
    if base == "planar":
        row[0], away[:3] = 2.0, [0.3, -0.2, 0.1]
    most = crank + 0.5 * rocker + row[0] * away[0]
    sums = LinearLimits(bar, row[None], np.array([most]))
    loops = Loops(bar, loop_tasks(bar, [pz.JointCouplingTask({"crank": 1.0})]), limits=True, sums=sums)
    near = [pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, target=turn)).q for turn in (0.5, 0.7, 0.7)]
    q = np.stack(near) + away + np.array([[0.0], [0.0], [1e-3]]) * (np.arange(bar.nq) >= bar.nq - 3)
    closed, found = loops.all_closed(q)
    assert found.all()
    assert max(gap(bar, one) for one in closed) <= 1e-9
    assert np.array_equal(closed[:, :-3], q[:, :-3])
    assert (sums(closed) >= 0.0).all()
    np.testing.assert_allclose(closed[0], q[0], atol=1e-9)
    np.testing.assert_allclose(closed[1:] @ row, most, atol=1e-9)
    np.testing.assert_allclose(closed[1:, [-3, -1]], [[crank, rocker]] * 2, atol=1e-7)


def test_what_closes_loops_too_fast_in_given_times_is_said() -> None:
    bar, turn = four_bar(), pz.JointCouplingTask({"crank": 1.0})
    start = pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, target=-1.0)).q
    slow, fast = (pz.solve_path(bar, turn, np.linspace(-1.0, 1.5, 9), q0=start, dt=dt) for dt in (1.0, 0.01))
    assert slow.success, slow.explain()
    assert max(gap(bar, one) for one in between(slow, 301)) <= 1e-7
    assert fast.status is pz.Status.TOO_FAST
