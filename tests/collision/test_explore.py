"""A tracker that obstacles or limits hold back finds a way round, and keeps every limit on it."""

import pickle

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.kernels.machine.layout import NOT_FINITE
from poise.kernels.machine.memory import FAILED
from poise.solving.tracking.stepper import Stepper

HAND = "panda_hand"
DOWN = (np.pi, 0.0, 0.0)


def across() -> tuple[pz.Model, pz.World, pz.SE3, pz.SE3]:
    """An arm with a bar between a start and a goal."""
    bar = pz.Box(pz.SE3.from_parts((0.5, 0.0, 0.35)), (0.5, 0.05, 0.7))
    ends = [pz.SE3.from_xyz_rpy((0.5, y, 0.3), DOWN) for y in (-0.3, 0.3)]
    return pz.load("panda_collision"), pz.World({"bar": bar}), ends[0], ends[1]


def followed(tracker: pz.Tracker, q: np.ndarray, goal: pz.SE3, steps: int) -> np.ndarray:
    path = [q, q]
    for _ in range(steps):
        path.append(tracker.step(path[-1], goal).copy())
    return np.array(path)


def test_a_way_round_an_obstacle_is_found_within_all_limits() -> None:
    arm, world, start, goal = across()
    limit = pz.CollisionLimit(world, min_distance=0.01)
    q = pz.solve(arm, pz.PoseTask(HAND, target=start), limits=[limit]).q
    limits, dt, most = [limit, pz.AccelerationLimit(20.0)], 0.01, 20.0
    held = followed(pz.Tracker(arm, pz.PoseTask(HAND), dt=dt, limits=limits), q, goal, 300)[-1]
    assert np.linalg.norm(arm.pose(HAND, held).xyz - goal.xyz) > 0.1
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=dt, limits=limits, explore=True)
    path = followed(tracker, q, goal, 900)
    assert np.linalg.norm(arm.pose(HAND, path[-1]).xyz - goal.xyz) < 1e-4
    assert (arm.distance(path, world).distance >= 0.01 - 1e-12).all()
    velocity = np.diff(path, axis=0) / dt
    assert (np.abs(velocity) <= arm.velocity * (1.0 + 1e-9)).all()
    assert (np.abs(np.diff(velocity, axis=0) / dt) <= most * (1.0 + 1e-6)).all()
    again = pickle.loads(pickle.dumps(tracker))
    np.testing.assert_array_equal(again.step(path[-1], start), tracker.step(path[-1], start))


@pytest.mark.parametrize("still", [range(0), range(100, 250)])
def test_a_way_round_waits_for_a_robot_that_lags_behind_or_stops(still: range) -> None:
    arm, world, start, goal = across()
    limit = pz.CollisionLimit(world, min_distance=0.01)
    robot = q = pz.solve(arm, pz.PoseTask(HAND, target=start), limits=[limit]).q
    following_error = pz.FollowingErrorLimit(joints=0.1, distance=0.05, angle=0.2)
    limits = [limit, pz.AccelerationLimit(20.0)]
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=0.01, limits=limits, explore=True, following_error=following_error)
    path, ahead, active = [q], 0.0, set()
    for step in range(1500):
        path.append(tracker.step(None, goal, measured=robot))
        ahead = max(ahead, float(np.abs(path[-1] - robot).max()))
        if step == 240:
            active = {limit.kind for limit in tracker.active_limits}
        robot = robot if step in still else robot + 0.1 * (path[-1] - robot)
    assert ahead <= 0.1 + 1e-6
    assert ("following error" in active) == bool(still)
    assert np.linalg.norm(arm.pose(HAND, path[-1]).xyz - goal.xyz) < 1e-4
    rows = np.array(path)
    assert (arm.distance(rows, world).distance >= 0.01 - 1e-12).all()
    assert np.abs(np.diff(rows, 2, axis=0)).max() <= 20.0 * 0.01**2 * (1.0 + 1e-6)


def test_a_robot_that_follows_at_once_changes_no_bit_of_a_way_round() -> None:
    arm = ball_and_hinge()
    world = pz.World({"post": pz.Box(pz.SE3.from_parts((0.55, 0.0, 0.0)), (0.3, 0.1, 0.3))})
    limits = [pz.CollisionLimit(world, min_distance=0.01, self_collision=False)]
    goal = np.array([0.55, 0.4, 0.0])
    first = pz.solve(arm, pz.PositionTask("tip", target=goal * [1.0, -1.0, 1.0]), limits=limits).q
    ways = []
    for measured in (False, True):
        tracker, q = pz.Tracker(arm, pz.PositionTask("tip"), dt=0.01, limits=limits, explore=True), first
        ways.append(np.array([q := tracker.step(q, goal, measured=q if measured else None) for _ in range(500)]))
    np.testing.assert_array_equal(*ways)


def test_a_joint_limit_that_blocks_is_left_behind() -> None:
    builder = pz.ModelBuilder("pointer")
    builder.joint("turn", "revolute", parent="world", child="arm", axis=(0, 0, 1), limits=(-2.6, 2.6), velocity=1.0)
    builder.frame("tip", link="arm", origin=pz.SE3.from_parts((1.0, 0.0, 0.0)))
    arm = builder.build()
    q, goal = np.array((-2.5,)), arm.pose("tip", np.array((2.5,))).xyz
    for explore in (False, True):  # the short way leads through the limits
        way = followed(pz.Tracker(arm, pz.PositionTask("tip"), dt=0.02, explore=explore), q, goal, 700)
        assert np.linalg.norm(arm.pose("tip", way[-1]).xyz - goal) < 1e-4
        assert (np.abs(np.diff(way, axis=0)) <= 0.02 * (1.0 + 1e-9)).all()
        assert (np.abs(way) <= 2.6).all()


def test_a_target_out_of_reach_is_not_searched_for_again_and_again() -> None:
    arm, world, start, _ = across()
    limit = pz.CollisionLimit(world, min_distance=0.01)
    q = pz.solve(arm, pz.PoseTask(HAND, target=start), limits=[limit]).q
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=0.01, limits=[limit], explore=True)
    inside = pz.SE3.from_xyz_rpy((0.5, 0.0, 0.35), DOWN)
    path = followed(tracker, q, inside, 600)
    assert (arm.distance(path, world).distance >= 0.01 - 1e-12).all()
    assert np.abs(path[-1] - path[-50]).max() < 1e-2


def ball_and_hinge() -> pz.Model:
    """An arm on a shoulder that swings and twists."""
    b = pz.ModelBuilder("ball")
    b.joint("shoulder", "spherical", parent="base", child="upper", velocity=2.0)
    b.joint(
        "elbow", "revolute", parent="upper", child="fore", axis=(0, 1, 0), origin=pz.SE3.from_parts((0.4, 0, 0)),
        limits=(-2.0, 2.0), velocity=2.0,
    )  # fmt: skip
    b.frame("tip", link="fore", origin=pz.SE3.from_parts((0.4, 0, 0)))
    b.shape("fore", pz.Capsule((0.0, 0, 0), (0.4, 0, 0), 0.03))
    return b.build()


def test_balls_go_round_too_and_stay_within_a_range_and_jerks() -> None:
    arm, goal = ball_and_hinge(), np.array([0.55, 0.4, 0.0])
    world = pz.World({"post": pz.Box(pz.SE3.from_parts((0.55, 0.0, 0.0)), (0.3, 0.1, 0.3))})
    apart = pz.CollisionLimit(world, min_distance=0.01, self_collision=False)
    q = pz.solve(arm, pz.PositionTask("tip", target=goal * [1.0, -1.0, 1.0]), limits=[apart]).q
    ceiling = pz.RegionTask("tip", pz.HalfSpace((0.0, 0.0, 0.6), (0.0, 0.0, 1.0)))
    limits = [apart, pz.AccelerationLimit(20.0), pz.JerkLimit(400.0)]
    left = []
    for explore in (False, True):
        tasks = [pz.PositionTask("tip", target=goal), ceiling, pz.PostureTask(q)]
        tracker = pz.Tracker(arm, tasks, dt=0.01, limits=limits, explore=explore)
        path = [q]
        for _ in range(900):
            path.append(tracker.step(path[-1]))
        way = np.array(path)
        left.append(np.linalg.norm(arm.pose("tip", way[-1]).xyz - goal))
        assert (arm.distance(way, world, self_collision=False).distance >= 0.01 - 1e-9).all()
        assert (arm.pose("tip", way).xyz[:, 2] <= 0.6 + 1e-9).all()
        v = np.vstack([np.zeros((2, arm.nv)), arm.difference(way[:-1], way[1:]) / 0.01])
        assert np.abs(v).max() <= 2.0 * (1.0 + 1e-9)
        assert np.abs(np.diff(v, axis=0)).max() / 0.01 <= 20.0 * (1.0 + 1e-6)
        assert np.abs(np.diff(v, 2, axis=0)).max() / 1e-4 <= 400.0 + 1e-3
    assert left[0] > 0.1
    assert left[1] < 1e-3


def test_a_rollout_looks_for_ways_as_steps_do() -> None:
    arm, goal = ball_and_hinge(), np.array([0.55, 0.4, 0.0])
    world = pz.World({"post": pz.Box(pz.SE3.from_parts((0.55, 0.0, 0.0)), (0.3, 0.1, 0.3))})
    apart = pz.CollisionLimit(world, min_distance=0.01, self_collision=False)
    q = pz.solve(arm, pz.PositionTask("tip", target=goal * [1.0, -1.0, 1.0]), limits=[apart]).q
    tracker = pz.Tracker(arm, pz.PositionTask("tip"), dt=0.01, limits=[apart], explore=True)
    before = tracker.targets.copy()
    way = tracker.rollout(q, np.tile(goal, (500, 1, 1)))
    assert np.array_equal(tracker.targets, before)
    assert arm.pose("tip", way[-1]).xyz == pytest.approx(goal, abs=1e-3)
    for row in way:
        q = tracker.step(q, goal)
        assert np.array_equal(q, row)


def test_a_step_of_the_way_that_is_no_finite_number_is_told() -> None:
    arm, world, start, goal = across()
    limit = pz.CollisionLimit(world, min_distance=0.01)
    q = pz.solve(arm, pz.PoseTask(HAND, target=start), limits=[limit]).q
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=0.01, limits=[limit], explore=True)
    explorer = tracker._explorer
    assert explorer is not None
    while explorer._way is None:
        q = tracker.step(q, goal)
    explorer.guide.bound.run = lambda address: _fail(explorer.guide)
    with pytest.warns(RuntimeWarning, match="was no finite number"):
        tracker.step(q, goal)
    assert tracker.failed


def _fail(guide: Stepper) -> int:
    """A step that is no finite number, as a kernel leaves it."""
    guide.memory[FAILED], guide.q[:] = 1.0, guide.scratch.start
    return NOT_FINITE


def test_a_way_is_left_for_targets_that_are_none_and_at_a_reset() -> None:
    arm, world, start, goal = across()
    limit = pz.CollisionLimit(world, min_distance=0.01)
    q = pz.solve(arm, pz.PoseTask(HAND, target=start), limits=[limit]).q
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=0.01, limits=[limit], explore=True)
    led, last = 0, q
    for _ in range(400):
        last, q = q, tracker.step(q, goal).copy()
        led += tracker._explorer is not None and tracker._explorer._way is not None
        np.testing.assert_allclose(tracker.velocity, (q - last) / 0.01, atol=1e-9)
        if led > 5:
            break
    assert led > 5
    tracker.targets[0, 0] = np.nan
    with refused("not-finite", "target"):
        tracker.step(q)
    there = pz.solve(arm, pz.PoseTask(HAND, target=goal), limits=[limit]).q
    tracker.reset()
    path = followed(tracker, there, goal, 50)
    assert max(np.linalg.norm(arm.pose(HAND, x).xyz - goal.xyz) for x in path) < 1e-3
