"""A tracker that obstacles or limits hold back finds a way round, and keeps every limit on it."""

import pickle

import numpy as np
import pytest

import poise as pz

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


def test_a_joint_limit_that_blocks_is_left_behind() -> None:
    builder = pz.ModelBuilder("pointer")
    builder.joint("turn", "revolute", parent="world", child="arm", axis=(0, 0, 1), limits=(-2.6, 2.6), velocity=1.0)
    builder.frame("tip", link="arm", origin=pz.SE3.from_parts((1.0, 0.0, 0.0)))
    arm = builder.build()
    q, goal = np.array((-2.5,)), arm.pose("tip", np.array((2.5,))).xyz
    ways = [followed(pz.Tracker(arm, pz.PositionTask("tip"), dt=0.02, explore=x), q, goal, 600) for x in (False, True)]
    left = [np.linalg.norm(arm.pose("tip", way[-1]).xyz - goal) for way in ways]
    assert left[0] > 0.5  # the short way leads through the limits
    assert left[1] < 1e-4
    assert (np.abs(np.diff(ways[1], axis=0)) <= 0.02 * (1.0 + 1e-9)).all()
    assert (np.abs(ways[1]) <= 2.6).all()


def test_a_target_out_of_reach_is_not_searched_for_again_and_again() -> None:
    arm, world, start, _ = across()
    limit = pz.CollisionLimit(world, min_distance=0.01)
    q = pz.solve(arm, pz.PoseTask(HAND, target=start), limits=[limit]).q
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=0.01, limits=[limit], explore=True)
    inside = pz.SE3.from_xyz_rpy((0.5, 0.0, 0.35), DOWN)
    path = followed(tracker, q, inside, 600)
    assert (arm.distance(path, world).distance >= 0.01 - 1e-12).all()
    assert np.abs(path[-1] - path[-50]).max() < 1e-2


def test_joints_of_several_coordinates_are_refused() -> None:
    builder = pz.ModelBuilder("free")
    builder.joint("base", "floating", parent="world", child="body")
    with pytest.raises(ValueError, match="joints of one coordinate each"):
        pz.Tracker(builder.build(), pz.PoseTask("body"), explore=True)


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
    with pytest.raises(ValueError, match="target"):
        tracker.step(q)
    there = pz.solve(arm, pz.PoseTask(HAND, target=goal), limits=[limit]).q
    tracker.reset()
    path = followed(tracker, there, goal, 50)
    assert max(np.linalg.norm(arm.pose(HAND, x).xyz - goal.xyz) for x in path) < 1e-3
    with pytest.raises(ValueError, match="a rollout does not explore"):
        tracker.rollout(q, goal.array[None])
    with pytest.raises(ValueError, match="does not keep a JerkLimit"):
        pz.Tracker(arm, pz.PoseTask(HAND), dt=0.01, limits=[limit, pz.JerkLimit(500.0)], explore=True)
