"""The first path: found by few strands, and as valid as any; repeats, limits as objects, what is packed once."""

import gc
import weakref

import numpy as np
import pytest
from support.refusals import refused
from ways import KeptOff, across, armed, elbow, kept

import poise as pz
from poise.model.scene import Scene
from poise.solving.path.candidates import Candidates

TASK = pz.PoseTask("panda_hand")


def line(n: int = 60) -> np.ndarray:
    return np.stack([np.linspace(0.6, 1.4, n), np.linspace(1.2, -0.2, n), np.zeros(n)], axis=1)


# The first path -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_few_strands_are_enough(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A post stands where most elbows go; neither a longer search nor its candidates are needed to pass it."""
    monkeypatch.setattr(Candidates, "gather", lambda *_: pytest.fail("searched further"))
    arm = armed()
    world = pz.World({"post": pz.Capsule([0.25, -0.3, 0.0], [0.25, -0.3, 0.9], 0.04)})
    path = pz.solve_path(
        arm, TASK, across(60), limits=[pz.CollisionLimit(world, min_distance=0.02)], optimise=False, seed=seed
    )
    assert path.success, path.explain()
    assert arm.distance(path.q, world).distance.min() >= 0.02
    assert ((path.q >= arm.lower) & (path.q <= arm.upper)).all()
    at = arm.pose("panda_hand", path.q)
    assert np.abs(at.xyz - across(60)[:, :3]).max() < 1e-6
    share = np.linspace(0.0, 1.0, 11)[:, None, None]
    between = (path.q[:-1] + share * (path.q[1:] - path.q[:-1])).reshape(-1, arm.nq)
    assert arm.distance(between, world).distance.min() >= 0.02 - 5e-4


@pytest.mark.parametrize("waypoint", [0, 1, 27, 58, 59])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_one_waypoint_that_is_blocked_is_seen_wherever_it_is(waypoint: int, side: float) -> None:
    arm, points = elbow(), line()

    def distances(q: np.ndarray) -> np.ndarray:
        """One side of the elbow is blocked, where the tip is at one of the waypoints."""
        away = np.linalg.norm(arm.pose("tip", q).xyz - points[waypoint], axis=-1) - 1e-3
        return np.where(side * q[..., 1] > 0.0, away, 1.0)

    with kept(KeptOff(arm, distances)):
        path = pz.solve_path(arm, pz.PositionTask("tip"), points, optimise=False, threads=1)
    assert path.success, path.explain()
    assert (side * path.q[:, 1] < 0.0).all()


def test_what_blocks_a_step_is_seen_too() -> None:
    """All waypoints are free on both sides of the elbow, and on one a step between two of them is not."""
    arm, points = elbow(), line(12)
    middle = 0.5 * (points[5] + points[6])

    def distances(q: np.ndarray) -> np.ndarray:
        away = np.linalg.norm(arm.pose("tip", q).xyz - middle, axis=-1) - 0.03
        return np.where(q[..., 1] > 0.0, away, 1.0)

    with kept(KeptOff(arm, distances)):
        path = pz.solve_path(arm, pz.PositionTask("tip"), points, optimise=False, threads=1)
    assert path.success, path.explain()
    assert (path.q[:, 1] < 0.0).all()


def test_a_start_that_is_given_and_a_closed_path_are_kept() -> None:
    arm, points = pz.load("planar3"), line()
    q0 = pz.solve(arm, pz.PositionTask("tool", points[0]), q0=[0.3, 0.5, 0.9]).q
    begun = pz.solve_path(arm, pz.PositionTask("tool"), points, q0=q0, optimise=False)
    assert begun.success
    assert np.array_equal(begun.q[0], q0)
    there_and_back = np.concatenate([points, points[-2::-1]])
    loop = pz.solve_path(arm, pz.PositionTask("tool"), there_and_back, closed=True, optimise=False)
    assert loop.success, loop.explain()
    assert np.array_equal(loop.q[0], loop.q[-1])


def test_the_first_is_the_same_on_any_number_of_threads() -> None:
    world = pz.World({"post": pz.Capsule([0.25, -0.3, 0.0], [0.25, -0.3, 0.9], 0.04)})
    arm, limits = armed(), [pz.CollisionLimit(world)]
    one, three = (pz.solve_path(arm, TASK, across(60), limits=limits, optimise=False, threads=n) for n in (1, 3))
    assert one.success
    assert np.array_equal(one.q, three.q)


# What is packed -----------------------------------------------------------------------------------------------------


def test_shapes_are_packed_once_and_the_world_is_seen_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = armed()
    world = pz.World({"ball": pz.Sphere([0.5, 0.0, 0.9], 0.05)})
    limits = [pz.CollisionLimit(world)]
    first = pz.solve_path(arm, TASK, across(60), limits=limits, optimise=False)
    packed, pack = [], Scene._pack

    def counted(scene: Scene, now: object) -> None:
        packed.append(len(scene._shapes))
        pack(scene, now)

    monkeypatch.setattr(Scene, "_pack", counted)
    for same in (limits, [pz.CollisionLimit(world)]):
        again = pz.solve_path(arm, TASK, across(60), limits=same, optimise=False)
        assert not packed
        assert np.array_equal(first.q, again.q)
    world.move("ball", pz.SE3.from_parts([0.5, 0.0, 0.3]))
    blocked = pz.solve_path(arm, TASK, across(60), limits=limits, optimise=False)
    assert blocked.status is pz.Status.COLLISION
    assert max(packed, default=1) == 1  # but for the one link of which it says whether it can get away


def test_what_was_packed_of_a_world_goes_with_it() -> None:
    arm, world = armed(), pz.World({"ball": pz.Sphere([0.5, 0.0, 0.9], 0.05)})
    assert pz.plan(arm, TASK, across(2), limits=[pz.CollisionLimit(world)]).success
    gone = weakref.ref(world)
    del world
    gc.collect()
    assert gone() is None


# Waypoints that repeat ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimise", [True, False])
def test_a_pose_said_several_times_costs_no_time_and_no_way(optimise: bool) -> None:
    arm, poses = pz.load("panda"), across(30)
    again = np.ones(30, dtype=int)
    again[[0, 12, 29]] = 3, 6, 2
    once = pz.solve_path(arm, TASK, poses, acceleration=5.0, optimise=optimise)
    often = pz.solve_path(arm, TASK, np.repeat(poses, again, axis=0), acceleration=5.0, optimise=optimise)
    assert often.success
    assert np.array_equal(often.q, np.repeat(once.q, again, axis=0))
    assert often.reached.all()
    assert often.duration == pytest.approx(once.duration, rel=1e-12)


def test_what_fails_is_named_among_all_waypoints_and_dt_counts_them_all() -> None:
    arm, poses = pz.load("planar3"), line(20)
    away = np.repeat(poses, 3, axis=0)
    away[45:, 0] = 9.0
    path = pz.solve_path(arm, pz.PositionTask("tool"), away)
    assert path.first_failure is not None
    assert path.first_failure.waypoint == 45
    assert [failure.waypoint for failure in path.failures] == list(range(45, 60))
    timed = pz.solve_path(arm, pz.PositionTask("tool"), np.repeat(poses, 3, axis=0), dt=0.1)
    assert timed.success
    assert timed.times is not None
    assert timed.times[-1] == pytest.approx(5.9)


def test_a_path_that_stands_still_is_one() -> None:
    arm = pz.load("planar3")
    path = pz.solve_path(arm, pz.PositionTask("tool"), np.tile([1.0, 0.5, 0.0], (5, 1)), velocity=1.0, closed=True)
    assert path.success
    assert (path.q == path.q[0]).all()
    assert path.duration == 0.0


# Limits as objects --------------------------------------------------------------------------------------------------


def test_an_acceleration_limit_is_what_the_keyword_is() -> None:
    arm = pz.load("panda")
    worded = pz.solve_path(arm, TASK, across(60), acceleration=5.0)
    stated = pz.solve_path(arm, TASK, across(60), limits=[pz.AccelerationLimit(5.0)])
    assert np.array_equal(worded.q, stated.q)
    assert np.array_equal(worded.times, stated.times)
    both = pz.solve_path(arm, TASK, across(60), acceleration=50.0, limits=[pz.AccelerationLimit(5.0)])
    assert np.array_equal(both.times, stated.times)
    one = pz.solve_path(arm, TASK, across(60), limits=[pz.AccelerationLimit({"panda_joint1": 2.0})])
    gaps = np.diff(one.times)
    speeds = one.steps / gaps[:, None]
    hard = np.abs(np.diff(speeds[:, 0])) / (0.5 * (gaps[1:] + gaps[:-1]))
    assert 1.0 < hard.max() <= 2.0 + 1e-6


def test_a_velocity_limit_holds_beside_those_of_the_model() -> None:
    arm = pz.load("panda")
    slow = pz.solve_path(arm, TASK, across(60), limits=[pz.VelocityLimit(0.5), pz.AccelerationLimit(5.0)])
    speeds = slow.steps / np.diff(slow.times)[:, None]
    assert 0.4 < np.abs(speeds).max() <= 0.5 + 1e-9
    wide = pz.solve_path(arm, TASK, across(60), limits=[pz.VelocityLimit(1e3)])
    assert np.array_equal(wide.times, pz.solve_path(arm, TASK, across(60)).times)


def test_a_plan_takes_them_too() -> None:
    arm, stops = pz.load("panda"), across(60)[[0, 30, 59]]
    worded = pz.plan(arm, TASK, stops, acceleration=5.0)
    stated = pz.plan(arm, TASK, stops, limits=[pz.AccelerationLimit(5.0)])
    assert np.array_equal(worded.times, stated.times)


def test_what_is_no_limit_is_refused() -> None:
    arm, task = pz.load("planar3"), pz.PositionTask("tool")
    for call in (pz.solve_path, pz.plan):
        with refused("not-a-limit", "limits"):
            call(arm, task, line(), limits=[3.0])
        with refused("no-such-part"):
            call(arm, task, line(), limits=[pz.TwistLimit(linear=1.0)])
    with refused("too-many"):
        pz.solve_path(arm, task, line(), limits=[pz.CollisionLimit(), pz.CollisionLimit()])
    with pytest.raises(pz.JointNotFound):
        pz.solve_path(arm, task, line(), limits=[pz.AccelerationLimit({"knee": 1.0})])
