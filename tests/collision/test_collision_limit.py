"""Nothing comes nearer than asked: trackers aimed through obstacles, and solves among them."""

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.solving.problem.workspace import Scratch

ROBOT = "panda_collision"
HAND = "panda_hand"


@pytest.fixture(scope="module")
def arm() -> pz.Model:
    return pz.load(ROBOT)


def scene() -> pz.World:
    return pz.World(
        {
            "ball": pz.Sphere((0.5, 0.0, 0.5), 0.1),
            "wall": pz.Box(pz.SE3.from_parts((0.6, 0.0, 0.5)), (0.005, 2.0, 2.0)),
            "floor": pz.HalfSpace((0.0, 0.0, -0.2), (0.0, 0.0, 1.0)),
        }
    )


def free(arm: pz.Model, world: pz.World, least: float, count: int, seed: int):
    q = arm.sample(40 * count, seed=seed)
    return q[arm.distance(q, world).distance > least][:count]


@pytest.mark.parametrize("method", ["qp", "priority"])
@pytest.mark.parametrize("dt", [0.002, 0.02, 0.1])
def test_a_tracker_keeps_its_distance_at_full_speed(arm: pz.Model, method: str, dt: float) -> None:
    world, least = scene(), 0.02
    limit = pz.CollisionLimit(world, min_distance=least)
    tracker = pz.Tracker(arm, pz.PositionTask(HAND), method, dt=dt, limits=[limit])
    rng = np.random.default_rng(7)
    for q in free(arm, world, least, 6, seed=1):
        targets = np.repeat(rng.uniform((-0.8, -0.8, 0.0), (0.9, 0.8, 1.0), (5, 1, 3)), 60, axis=0)
        path = np.vstack([q[None], tracker.rollout(q, targets)])
        assert (arm.distance(path, world).distance >= least - 1e-12).all()
        assert (np.abs(np.diff(path, axis=0)) <= arm.velocity * dt * (1.0 + 1e-12)).all()
        assert (path >= arm.lower).all()
        assert (path <= arm.upper).all()


def test_without_a_time_step_too(arm: pz.Model) -> None:
    world, least = scene(), 0.0
    tracker = pz.Tracker(arm, pz.PositionTask(HAND), limits=[pz.CollisionLimit(world, min_distance=least)])
    for q in free(arm, world, 0.001, 5, seed=2):
        path = tracker.rollout(q, np.full((200, 1, 3), (0.9, 0.1, 0.4)))
        assert (arm.distance(path, world).distance >= -1e-12).all()


def test_a_fast_sphere_does_not_pass_through_a_thin_wall() -> None:
    builder = pz.ModelBuilder("slider")
    builder.joint("x", "prismatic", parent="world", child="ball", axis=(1, 0, 0), limits=(-2, 2), velocity=50.0)
    ball = builder.build().with_shapes({"ball": pz.Sphere((0, 0, 0), 0.05)})
    wall = pz.World({"wall": pz.Box(pz.SE3.from_parts((0.3, 0.0, 0.0)), (0.001, 1.0, 1.0))})
    for dt in (0.002, 0.02, 0.5):
        tracker = pz.Tracker(ball, pz.PositionTask("ball"), dt=dt, limits=[pz.CollisionLimit(wall, min_distance=0.02)])
        q = np.array([-1.0])
        for _ in range(400):
            q = tracker.step(q, (1.0, 0.0, 0.0)).copy()
            assert q[0] <= 0.3 - 0.0005 - 0.05 - 0.02 + 1e-12
        assert q[0] == pytest.approx(0.2295, abs=1e-3)


@pytest.mark.parametrize("continuous", [True, False])
def test_a_step_is_looked_at_on_its_way_unless_its_end_alone_counts(continuous: bool) -> None:
    builder = pz.ModelBuilder("ball")
    builder.joint("place", "floating", parent="world", child="ball")
    ball = builder.build().with_shapes({"ball": pz.Sphere((0, 0, 0), 0.05)})
    wall = pz.World({"wall": pz.Box(pz.SE3.from_parts((0.5, 0.0, 0.0)), (0.001, 1.0, 1.0))})
    method = pz.methods.TaskPriority(max_error=None, max_step=10.0)
    limit = pz.CollisionLimit(wall, min_distance=0.02, continuous=continuous)
    tracker, q = pz.Tracker(ball, pz.PositionTask("ball"), method, dt=0.0125, limits=[limit]), ball.neutral
    for _ in range(20):
        q = tracker.step(q, (1.0, 0.0, 0.0)).copy()
        assert ball.distance(q, wall).distance > 0.02 - 1e-9
    assert (q[0] > 0.9) is not continuous


@pytest.mark.parametrize("least", [0.0, 5e-4, 3e-3])
def test_a_fast_sphere_is_not_slowed_beside_a_wall_that_it_does_not_come_to(least: float) -> None:
    """A quarter of a metre an update, whatever the distance that is asked and though nothing bounds its speed."""
    builder = pz.ModelBuilder("ball")
    builder.joint("place", "floating", parent="world", child="ball")
    ball = builder.build().with_shapes({"ball": pz.Sphere((0, 0, 0), 0.05)})
    wall = pz.World({"wall": pz.HalfSpace((0.0, 0.0, -0.06), (0.0, 0.0, 1.0))})
    for y in (0.0, 0.3):
        kept, free = (
            pz.Tracker(ball, pz.PositionTask("ball"), "priority", dt=0.0125, limits=limits)
            for limits in ([pz.CollisionLimit(wall, min_distance=least)], True)
        )
        q = wanted = ball.neutral
        for k in range(1, 6):
            place = (0.25 * k, y, 0.0)
            q, wanted = kept.step(q, place).copy(), free.step(wanted, place).copy()
            assert np.array_equal(q, wanted)
        assert q[0] > 0.75


def test_the_target_is_reached_where_nothing_is_in_the_way(arm: pz.Model) -> None:
    world = scene()
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=0.01, limits=[pz.CollisionLimit(world, min_distance=0.01)])
    goal = pz.SE3.from_xyz_rpy((0.3, 0.3, 0.6), (np.pi, 0.0, 0.0))
    q = arm.home
    for _ in range(600):
        q = tracker.step(q, goal).copy()
    assert np.linalg.norm(arm.pose(HAND, q).xyz - goal.xyz) < 1e-4


def test_a_start_that_is_too_near_gets_out_and_no_faster_than_asked(arm: pz.Model) -> None:
    world, q = scene(), arm.home.copy()
    hand = arm.pose(HAND, q).xyz
    world.move("ball", pz.SE3.from_parts(hand + np.array((0.12, 0.0, 0.0))))
    before = arm.distance(q, world)
    assert before.distance < 0.0
    limit = pz.CollisionLimit(world, min_distance=0.01, retreat=0.2)
    tracker = pz.Tracker(arm, pz.PositionTask(HAND), dt=0.01, limits=[limit])
    last = before.distance
    for _ in range(200):
        q = tracker.step(q, hand).copy()
        now = arm.distance(q, world).distance
        assert now >= min(last, 0.01) - 1e-9
        last = now
    assert last >= 0.01


@pytest.mark.parametrize("method", ["qp", "priority", "dls", "lm", "sdls", "jt", "das", "pinv", "hybrid"])
def test_an_arm_at_its_target_is_taken_away_from_what_is_put_too_near(arm: pz.Model, method: str) -> None:
    elbow, hand = arm.pose("panda_link5", arm.home).xyz, arm.pose(HAND, arm.home).xyz
    ball = pz.Sphere(elbow + 0.2 * np.array((0.69, -0.69, 0.23)), 0.1)
    limit = pz.CollisionLimit(pz.World({"ball": ball}), min_distance=0.02)
    q, dt = arm.home, 0.01
    now = limit.nearest(arm, q).distance
    assert now < -0.02
    tracker = pz.Tracker(arm, pz.PositionTask(HAND, hand), method, dt=dt, limits=[limit])
    for _ in range(300):
        q, last = tracker.step(q), now
        now = limit.nearest(arm, q).distance
        assert min(last, 0.02) - 1e-9 <= now <= max(last, 0.02) + 1.1 * dt * limit.retreat + 2e-3
    assert now >= 0.02 - 1e-9


def test_obstacles_that_come_near_push_the_arm_away(arm: pz.Model) -> None:
    world = pz.World({"ball": pz.Sphere((0.9, 0.0, 0.5), 0.08)})
    limit, dt = pz.CollisionLimit(world, min_distance=0.02), 0.01
    tracker = pz.Tracker(arm, pz.PositionTask(HAND), dt=dt, limits=[limit])
    q = arm.home.copy()
    aim = arm.pose(HAND, q).xyz
    speed = np.array((-0.25, 0.0, 0.0))
    for k in range(200):
        world.move("ball", pz.SE3.from_parts((0.9, 0.0, 0.5) + k * dt * speed), velocity=speed)
        q = tracker.step(q, aim).copy()
        world.move("ball", pz.SE3.from_parts((0.9, 0.0, 0.5) + (k + 1) * dt * speed), velocity=speed)
        assert arm.distance(q, world).distance >= 0.02 - 1e-9


@pytest.mark.parametrize(("seed", "paced"), [(16, False), (15, True)])
def test_what_moves_is_kept_away_from_too(arm: pz.Model, seed: int, paced: bool) -> None:
    # A step that is taken back must not end at rest, for what comes near does not rest.
    world, dt, least = crowd(seed, 8), 0.02, 0.005
    limits = [pz.CollisionLimit(world, min_distance=least), *([pz.AccelerationLimit(15.0)] if paced else [])]
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=dt, limits=limits)
    starts = free(arm, world, least + 0.01, 4, seed=seed)
    rng = np.random.default_rng(seed)
    way = {name: (world[name].pose, 0.06 * _unit(rng.normal(size=3))) for name in world.names[:3]}
    q = starts[0]
    for k in range(90):
        goal = pz.SE3(arm.pose(HAND, starts[1 + k // 30]).array)
        for when in (k, k + 1):
            for name, (pose, speed) in way.items():
                world.move(name, pz.SE3.from_parts(when * dt * speed) @ pose, velocity=speed)
            if when == k:
                last, q = q, tracker.step(q, goal).copy()
        assert arm.distance(q, world).distance >= least - 1e-9
        assert (np.abs(q - last) <= arm.velocity * dt * (1.0 + 1e-12)).all()


@pytest.mark.parametrize("paced", [False, True])
@pytest.mark.parametrize("method", ["qp", "priority"])
def test_a_free_base_gives_way_no_faster_than_its_twist(method: str, paced: bool) -> None:
    builder = pz.ModelBuilder("balloon")
    builder.joint("base", "floating", parent="world", child="hull")
    builder.joint("mast", "revolute", parent="hull", child="boom", axis=(0, 1, 0), limits=(-1, 1), velocity=2.0)
    builder.frame("tip", link="boom", origin=pz.SE3.from_parts((0.5, 0.0, 0.0)))
    builder.shape("hull", pz.Sphere((0, 0, 0), 0.2))
    builder.shape("boom", pz.Capsule((0.1, 0, 0), (0.5, 0, 0), 0.03))
    builder.disable("hull", "boom")
    model, dt, fastest = builder.build(), 0.01, np.zeros(2)
    for seed, speed in enumerate((0.3, 1.0, 3.0, 3.0)):
        rng = np.random.default_rng(seed)
        way, world = _unit(rng.normal(size=3)), pz.World({"rock": pz.Sphere((0, 0, 0), 0.3)})
        beside = 0.25 * _unit(np.cross(way, rng.normal(size=3)))
        limits = [pz.CollisionLimit(world, min_distance=0.02, retreat=2.0), pz.TwistLimit(linear=0.5, angular=0.8)]
        tracker = pz.Tracker(
            model, pz.PoseTask("tip"), method, dt=dt, limits=[*limits, *([pz.AccelerationLimit(8.0)] if paced else [])]
        )
        goal = pz.SE3.from_rotvec(model.pose("tip", model.home).xyz + 2.0 * way, rng.normal(size=3))
        q = model.home
        for k in range(120):
            world.move("rock", pz.SE3.from_parts((1.0 - k * dt * speed) * way + beside), velocity=-speed * way)
            last, q = q, tracker.step(q, goal).copy()
            v = model.difference(last, q) / dt
            fastest = np.maximum(fastest, [np.linalg.norm(v[:3]), np.linalg.norm(v[3:6])])
    np.testing.assert_allclose(fastest, (0.5, 0.8), rtol=1e-9)


@pytest.fixture(scope="module")
def bird() -> pz.Model:
    """A hull that nothing holds back, with two swift wings."""
    builder = pz.ModelBuilder("bird")
    builder.joint("base", "floating", parent="world", child="hull")
    builder.shape("hull", pz.Sphere((0, 0, 0), 0.05))
    for side, y in (("left", 1.0), ("right", -1.0)):
        builder.joint(
            side, "revolute", parent="hull", child=f"{side}_wing", axis=(1, 0, 0), limits=(-2, 2), velocity=30.0
        )
        builder.shape(f"{side}_wing", pz.Capsule((0, 0.1 * y, 0), (0, 0.8 * y, 0), 0.03))
    return builder.build()


def test_what_a_free_base_carries_is_as_swift_as_without(bird: pz.Model) -> None:
    wings = pz.PostureTask([*bird.home[:7], 1.2, -1.2])
    plain, kept = (pz.Tracker(bird, wings, "priority", dt=0.02, limits=some) for some in (True, [pz.CollisionLimit()]))
    q, other = bird.home, bird.home
    for _ in range(4):
        q, other = plain.step(q), kept.step(other)
        np.testing.assert_allclose(other, q, atol=1e-9)
    assert abs(q[7]) > 0.6


def test_a_free_base_jumps_through_no_wall(bird: pz.Model) -> None:
    world = pz.World({"wall": pz.Box(pz.SE3.from_parts((0.5, 0.0, 0.0)), (0.002, 9.0, 9.0))})
    method = pz.methods.TaskPriority(max_error=None, max_step=10.0)
    tracker = pz.Tracker(bird, pz.PoseTask("hull"), method, dt=0.02, limits=[pz.CollisionLimit(world)])
    q = bird.home
    for _ in range(30):
        q = tracker.step(q, pz.SE3.from_parts((2.0, 0.0, 0.0)))
        assert bird.distance(q, world).distance > 0.01 - 1e-9
    assert 0.35 < q[0] < 0.44


@pytest.fixture(scope="module")
def whip() -> pz.Model:
    """Three thin links in a plane, on joints that turn through half a radian and more in a step."""
    builder = pz.ModelBuilder("whip")
    for k, (parent, link) in enumerate(itertools.pairwise(("world", "first", "second", "third"))):
        builder.joint(
            f"joint {k}", "revolute", parent=parent, child=link, axis=(0, 0, 1), limits=(-3, 3), velocity=30.0,
            origin=pz.SE3.from_parts((0.4 if k else 0.0, 0.0, 0.0)),
        )  # fmt: skip
        builder.shape(link, pz.Capsule((0.06, 0, 0), (0.34, 0, 0), 0.004))
    builder.frame("tip", link="third", origin=pz.SE3.from_parts((0.4, 0.0, 0.0)))
    return builder.build()


@pytest.mark.parametrize("least", [0.0, 0.001, 0.002, 0.004])
def test_nothing_touches_between_two_steps_however_little_is_asked(whip: pz.Model, least: float) -> None:
    method = pz.methods.TaskPriority(max_error=None, max_step=10.0)
    shares, farthest = np.arange(64)[:, None] / 64, 0.0
    for seed, dt in itertools.product((3, 17, 23, 24), (0.01, 0.02)):
        rng = np.random.default_rng(seed)
        posts = {f"post {k}": pz.Sphere((x, y, 0.0), 0.002) for k, (x, y) in enumerate(rng.uniform(-1.1, 1.1, (12, 2)))}
        limit = pz.CollisionLimit(pz.World(posts), min_distance=least, self_collision=False)
        q = whip.sample(60, seed=seed)
        path = [q[whip.distance(q, limit.world, self_collision=False).distance > 0.02][0]]
        tracker = pz.Tracker(whip, pz.PositionTask("tip", weight=(1, 1, 0)), method, dt=dt, limits=[limit])
        for x, y in rng.uniform(-0.8, 0.8, (8, 2)):
            for _ in range(12):
                path.append(tracker.step(path[-1], (x, y, 0.0)).copy())
        ways = np.vstack([one + shares * (other - one) for one, other in itertools.pairwise(path)])
        nearest = whip.distance(ways, limit.world, self_collision=False).distance.min()
        assert nearest > (0.0 if least else -5e-4)
        farthest = max(farthest, np.abs(np.diff(path, axis=0)).max())
    assert farthest > 0.5


def _unit(v):
    return v / np.linalg.norm(v)


def test_one_limit_that_makes_sense(arm: pz.Model) -> None:
    limit = pz.CollisionLimit(scene())
    assert pz.Tracker(arm, pz.PositionTask(HAND), limits=[limit]).method.name == "qp"
    with refused("too-many"):
        pz.Tracker(arm, pz.PositionTask(HAND), limits=[limit, limit])
    with refused("negative", "min_distance"):
        pz.CollisionLimit(min_distance=-1.0)
    for odd in ([("ball",)], [(1, 2)], ["ab"], [("ball", "ball")], None):
        with refused("not-a-sequence", "allowed"):
            pz.CollisionLimit(allowed=odd)  # type: ignore[arg-type]
    with refused("wrong-type", "world"):
        pz.CollisionLimit([])  # type: ignore[arg-type]
    with refused("no-shapes"):
        pz.Tracker(arm.with_shapes({}), pz.PositionTask(HAND), limits=[pz.CollisionLimit()])
    with pytest.raises(pz.ShapeNotFound, match="panda_hand"):
        pz.Tracker(arm, pz.PositionTask(HAND), limits=[pz.CollisionLimit(allowed=[("panda_hnd", "panda_link1")])])


def crowd(seed: int, count: int = 20) -> pz.World:
    """Obstacles of three kinds around the arm."""
    rng = np.random.default_rng(seed)
    shapes = {}
    for i in range(count):
        angle, far = rng.uniform(-np.pi, np.pi), rng.uniform(0.35, 0.9)
        place = np.array([far * np.cos(angle), far * np.sin(angle), rng.uniform(0.0, 1.0)])
        box = pz.Box(pz.SE3.from_xyz_rpy(place, rng.uniform(-3, 3, 3)), (0.1, 0.15, 0.1))
        end = place + rng.uniform(-0.15, 0.15, 3)
        shapes[f"obstacle{i}"] = (pz.Sphere(place, 0.08), box, pz.Capsule(place, end, 0.05))[i % 3]
    return pz.World(shapes)


def test_solve_finds_what_is_free_of_collisions(arm: pz.Model) -> None:
    world, task = crowd(3), pz.PoseTask(HAND)
    limit = pz.CollisionLimit(world, min_distance=0.01)
    solver = pz.Solver(arm, task, limits=[limit])
    starts = free(arm, world, 0.01, 150, seed=5)
    goals = pz.SE3(np.array([arm.pose(HAND, q).array for q in starts]))
    solved = [solver(goals[i]) for i in range(len(starts))]
    assert all(s.success for s in solved)
    assert all(s.position_error < 1e-5 for s in solved)
    assert (arm.distance(np.array([s.q for s in solved]), world).distance >= 0.01).all()
    batch = solver.batch(goals)
    assert batch.success.all()
    assert (arm.distance(batch.q, world).distance >= 0.01).all()
    np.testing.assert_array_equal(batch.q, solver.batch(goals, threads=1).q)
    one = pz.solve(arm, pz.PoseTask(HAND, target=goals[0]), limits=[limit])
    np.testing.assert_array_equal(one.q, solved[0].q)
    assert one.nearest is not None
    assert one.nearest.distance >= 0.01


def test_a_target_within_an_obstacle_is_blocked_and_says_by_what(arm: pz.Model) -> None:
    goal = arm.pose(HAND, arm.home)
    world = pz.World({"rock": pz.Sphere(goal.xyz, 0.1)})
    answer = pz.solve(arm, pz.PoseTask(HAND, target=goal), limits=[pz.CollisionLimit(world)], max_restarts=40)
    assert answer.status is pz.Status.COLLISION
    assert not answer.success
    assert 0.05 < answer.position_error < 0.4  # as near as the rock lets the hand come, or near to that
    assert arm.distance(answer.q, world).distance >= 0.01 - 1e-9
    assert "rock" in answer.explain()
    batch = pz.solve_batch(arm, pz.PoseTask(HAND), goal.array[None], limits=[pz.CollisionLimit(world)], max_restarts=40)
    assert batch.status[0] is pz.Status.COLLISION


@pytest.mark.parametrize("above", [True, False])
def test_a_base_that_its_table_always_meets_is_told_how_to_touch_it(arm: pz.Model, above: bool) -> None:
    """The capsule of a Panda's first link ends below the plane that it is mounted on; a rock can be avoided."""
    goal = arm.pose(HAND, arm.home)
    plane = pz.HalfSpace((0, 0, 0), (0, 0, 1))
    slab = pz.Box(pz.SE3.from_parts([0, 0, -0.1]), (2, 2, 0.2))
    world = pz.World({"table": plane if above else slab, "rock": pz.Sphere((0.0, 0.0, 2.0), 0.1)})
    hint = "allowed=[('panda_link1', 'table')]"
    answer = pz.solve(arm, pz.PoseTask(HAND, target=goal), limits=[pz.CollisionLimit(world)], max_restarts=40)
    assert answer.status is pz.Status.COLLISION
    assert hint in answer.explain()
    for path in (
        pz.solve_path(arm, pz.PoseTask(HAND), goal.array[None], limits=[pz.CollisionLimit(world)]),
        pz.plan(arm, pz.PoseTask(HAND), goal.array[None], q0=arm.home, limits=[pz.CollisionLimit(world)]),
    ):
        assert hint in path.explain()
    allowed = pz.CollisionLimit(world, allowed=[("panda_link1", "table")])
    assert pz.solve(arm, pz.PoseTask(HAND, target=goal), limits=[allowed]).success
    world.replace("rock", pz.Sphere(goal.xyz, 0.1))
    blocked = pz.solve(arm, pz.PoseTask(HAND, target=goal), limits=[allowed], max_restarts=40)
    assert "rock" in blocked.explain()
    assert "allowed=" not in blocked.explain()


def test_an_arm_with_a_closed_form_takes_another_branch() -> None:
    arm = pz.load("ur10")
    spheres = {link: pz.Sphere((0, 0, 0), 0.06) for link in ("forearm_link", "wrist_1_link", "wrist_2_link")}

    arm = arm.with_shapes(spheres, disabled=[("forearm_link", "wrist_1_link"), ("wrist_1_link", "wrist_2_link")])
    goal = pz.SE3.from_xyz_rpy((0.6, 0.3, 0.5), (2.5, 0.3, 0.2))
    task = pz.PoseTask("tool0", target=goal)
    every = pz.solve_all(arm, task, q0=arm.home)
    nearest = every[0]
    elbow = arm.pose("forearm_link", nearest.q).xyz
    world = pz.World({"block": pz.Sphere(elbow, 0.05)})
    answer = pz.solve(arm, task, limits=[pz.CollisionLimit(world)])
    assert answer.success
    assert arm.distance(answer.q, world).distance >= 0.01
    assert np.abs(answer.q - nearest.q).max() > 0.1


@pytest.mark.parametrize(("dt", "jerk"), [(0.002, None), (0.02, None), (0.02, 500.0)])
def test_accelerations_hold_beside_distances(arm: pz.Model, dt: float, jerk: float | None) -> None:
    most, over, steps = 15.0, 0, 0
    for seed in range(3):
        world = crowd(seed)
        limits = [pz.CollisionLimit(world), pz.AccelerationLimit(most), *([pz.JerkLimit(jerk)] if jerk else [])]
        tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=dt, limits=limits)
        starts = free(arm, world, 0.01, 5, seed=seed)
        goals = np.repeat([arm.pose(HAND, q).array for q in starts[1:]], 150, axis=0)[:, None]
        path = np.vstack([starts[:1], starts[:1], tracker.rollout(starts[0], goals)])
        assert (arm.distance(path, world).distance >= 0.01 - 1e-12).all()
        velocity = np.diff(path, axis=0) / dt
        assert (np.abs(velocity) <= arm.velocity * (1.0 + 1e-9)).all()
        acceleration = np.abs(np.diff(velocity, axis=0) / dt).max(axis=1)
        over, steps = over + int((acceleration > most * (1.0 + 1e-6)).sum()), steps + len(acceleration)
    # Distances come first: a step whose way to brake turns out too near is stopped at once.
    assert over <= steps // (1000 if jerk is None else 300)


def test_a_pair_that_no_joint_can_change_does_not_hold_up_the_others(arm: pz.Model) -> None:
    q = arm.home.copy()
    q[:7] = 0.0, 0.5, 0.0, -1.5, 0.0, 2.0, 0.785
    wall = pz.World({"wall": pz.HalfSpace((-0.1, 0.0, 0.0), (1.0, 0.0, 0.0))})
    limit = pz.CollisionLimit(wall, self_collision=False)
    assert limit.nearest(arm, q).distance == pytest.approx(0.01, abs=1e-9)
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=0.002, limits=[limit])
    goal = pz.SE3.from_xyz_rpy((0.5, 0.2, 0.5), (np.pi, 0.0, 0.0))
    start = np.linalg.norm(arm.pose(HAND, q).xyz - goal.xyz)
    for _ in range(1000):
        q = tracker.step(q, goal).copy()
    # The shoulder, a capsule along the wall, cannot turn either way, and what is left goes on.
    assert np.linalg.norm(arm.pose(HAND, q).xyz - goal.xyz) < 0.2 * start
    assert limit.nearest(arm, q).distance >= 0.01 - 1e-9


@pytest.mark.parametrize(("speed", "dt"), [(0.2, 0.02), (0.05, 0.01)])
def test_an_arm_at_rest_gives_way_to_what_comes_slowly(arm: pz.Model, speed: float, dt: float) -> None:
    world = pz.World({"plate": pz.Box(pz.SE3.from_parts((0.7, 0.0, 0.5)), (0.001, 1.0, 1.0))})
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=dt, limits=[pz.CollisionLimit(world)])
    q, hand, x = arm.home, arm.pose(HAND, arm.home), 0.7
    for _ in range(int(0.45 / speed / dt)):
        world.move("plate", pz.SE3.from_parts((x, 0.0, 0.5)), velocity=(-speed, 0.0, 0.0))
        q = tracker.step(q, hand).copy()
        x -= speed * dt
        world.move("plate", pz.SE3.from_parts((x, 0.0, 0.5)))
        assert arm.distance(q, world).distance >= 0.01 - 1e-9


@pytest.mark.parametrize("method", ["qp", "priority"])
def test_what_is_squeezed_gives_way_to_both_sides_alike(method: str) -> None:
    builder = pz.ModelBuilder("slider")
    builder.joint("x", "prismatic", parent="world", child="ball", axis=(1, 0, 0), limits=(-1, 1), velocity=2.0)
    ball = builder.build().with_shapes({"ball": pz.Sphere((0, 0, 0), 0.05)})
    world = pz.World({side: pz.Box(pz.SE3.identity(), (0.1, 1.0, 1.0)) for side in ("left", "right")})
    limit = pz.CollisionLimit(world, min_distance=0.0, retreat=1.0)
    dt, speed, more = 0.01, 0.05, 0.004
    tracker = pz.Tracker(ball, pz.PositionTask("ball"), method, dt=dt, limits=[limit])

    def close(steps: int) -> float:
        gap = 0.06 - steps * speed * dt
        world.move("left", pz.SE3.from_parts((-0.05 - gap, 0.0, 0.0)), velocity=(speed, 0.0, 0.0))
        world.move("right", pz.SE3.from_parts((0.05 + gap + more, 0.0, 0.0)), velocity=(-speed, 0.0, 0.0))
        return gap

    q = ball.home
    for k in range(40):
        close(k)
        q = tracker.step(q, [0.3, 0.0, 0.0]).copy()
        gap = close(k + 1)
        left, right = q[0] + gap - 0.05, gap + more - q[0] - 0.05
        # There is room for the ball at first; then the least that both sides can be broken by is half of what lacks.
        assert min(left, right) >= min(0.0, 0.5 * (left + right) - 3e-4)
    assert min(left, right) < -5e-3
    assert abs(left - right) < 1e-5


def test_a_robot_without_shapes_is_refused() -> None:
    world = pz.World({"ball": pz.Sphere((0, 0, 0), 1)})
    with refused("no-shapes"):
        pz.solve(pz.load("planar3"), pz.PositionTask("tool", [1, 0, 0]), limits=[pz.CollisionLimit(world)])


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda tracker: pickle.loads(pickle.dumps(tracker))])
@pytest.mark.parametrize("moved", [False, True])
def test_a_copy_goes_on_as_the_tracker_does(arm: pz.Model, copied: Callable[[Any], Any], moved: bool) -> None:
    """Of an arm that a bar holds back, which comes to rest by ever shorter steps; also where the bar was moved since
    the last step."""

    def at(y: float) -> pz.SE3:
        return pz.SE3.from_xyz_rpy((0.5, y, 0.3), (np.pi, 0.0, 0.0))

    world = pz.World({"bar": pz.Box(pz.SE3.from_parts((0.5, 0.0, 0.35)), (0.5, 0.05, 0.7))})
    limits = [pz.CollisionLimit(world, min_distance=0.01)]
    q = pz.solve(arm, pz.PoseTask(HAND, at(-0.3)), limits=limits).q
    tracker = pz.Tracker(arm, pz.PoseTask(HAND), dt=0.01, limits=limits)
    for _ in range(45):
        q = tracker.step(q, at(0.3))
    if moved:
        world.move("bar", pz.SE3.from_parts((0.5, 1e-3, 0.35)))
    other, r = copied(tracker), q
    for _ in range(20):
        q, r = tracker.step(q, at(0.3)), other.step(r, at(0.3))
        np.testing.assert_array_equal(q, r)


def test_a_step_that_is_refused_or_interrupted_leaves_the_next_one_what_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arm = pz.load("planar3").with_shapes({"link3": pz.Sphere((0.0, 0.0, 0.0), 0.05)})
    goal = arm.pose(arm.tip, arm.home + 0.5).xyz

    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    def way(stumbling: str) -> Array:
        world = pz.World({"ball": pz.Sphere((0.0, 4.0, 0.0), 0.1)})
        tracker = pz.Tracker(arm, pz.PositionTask(arm.tip), limits=[pz.CollisionLimit(world)], dt=0.02)
        q, path = arm.home, []
        for k in range(60):
            if k % 3 == 0:
                world.replace("ball", pz.Sphere((2.0 + 0.02 * k, 0.6, 0.0), 0.1))
            if k % 3 == 0 and stumbling == "refused":
                with refused("not-finite"):
                    tracker.step(q * np.nan, goal)
            if k % 3 == 0 and stumbling == "interrupted":
                with monkeypatch.context() as patch:
                    patch.setattr(Scratch, "set_scene", interrupted)
                    with pytest.raises(KeyboardInterrupt):
                        tracker.step(q, goal)
            q = tracker.step(q, goal)
            path.append(q)
        return np.array(path)

    straight = way("")
    np.testing.assert_array_equal(way("refused"), straight)
    np.testing.assert_array_equal(way("interrupted"), straight)


@pytest.mark.parametrize("method", ["priority", "dls", "qp"])
def test_between_two_shapes_a_start_stays_and_is_left_soon(method: str) -> None:
    """Away from one is into the other: rows are of both, so no step is allowed, and no more are asked for."""
    joint = pz.from_dh([pz.DH(0.0, 0.0, 0.0)])
    bar = joint.with_shapes({joint.tip: pz.Capsule((0.1, 0.0, 0.0), (0.9, 0.0, 0.0), 0.05)})
    world = pz.World([pz.Box(pz.SE3.from_parts((0.5, y, 0.0)), (2.0, 0.12, 0.2)) for y in (0.1, -0.1)])
    limits = [pz.CollisionLimit(world, min_distance=0.0)]
    solver = pz.Solver(bar, pz.PoseTask(bar.tip), method=method, limits=limits, max_restarts=0, trace=True)
    found = solver(pz.SE3.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]), [0.0])
    assert found.status is pz.Status.COLLISION
    assert found.trace is not None
    assert len(found.trace.q) < 10
    assert np.abs(found.trace.q).max() < 1e-12


@pytest.mark.parametrize("method", ["qp", "dls"])
def test_steps_of_a_solve_keep_off_all_that_is_near(method: str) -> None:
    """As those of a Tracker do: in the corner of two walls both are minded from the first step that reaches them."""
    builder = pz.ModelBuilder("cart")
    builder.joint("x", "prismatic", parent="base", child="slide", axis=(1, 0, 0), limits=(-3, 3))
    builder.joint("y", "prismatic", parent="slide", child="ball", axis=(0, 1, 0), limits=(-3, 3))
    builder.shape("ball", pz.Sphere((0, 0, 0), 0.01))
    cart = builder.build()
    right, above = (pz.Box(pz.SE3.from_parts(at), (4, 4, 1)) for at in ((2.4, 0, 0), (0, 2.42, 0)))
    limits = [pz.CollisionLimit(pz.World({"right": right, "above": above}), min_distance=0.0)]
    tracker = pz.Tracker(cart, pz.PositionTask("ball"), method, limits=limits)
    steps = [np.zeros(2)]
    for _ in range(4):
        steps.append(tracker.step(steps[-1], (1, 1, 0)).copy())
    solution = pz.solve(
        cart, pz.PositionTask("ball", (1, 1, 0)), q0=np.zeros(2), method=method, limits=limits, trace=True,
        max_restarts=0, max_iterations=4,
    )  # fmt: skip
    assert solution.trace is not None
    assert solution.trace.q == pytest.approx(np.array(steps), abs=1e-12)
