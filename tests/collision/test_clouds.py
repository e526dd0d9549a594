"""Clouds of points in a world: their distances by brute force and by coal, steps and solves among them."""

import pickle
from functools import cache
from pathlib import Path

import coal
import numpy as np
import pytest
from by_coal import as_coal
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.clouds import PointCloud
from poise.common.array import Array

RADIUS = 0.01
SHAPES = {
    "point": pz.Sphere((0.1, 0.0, 0.0), 0.05),
    "segment": pz.Capsule((0.1, 0.0, -0.2), (0.0, 0.1, 0.3), 0.04),
    "box": pz.Box(pz.SE3.from_xyz_rpy((0.0, 0.1, 0.0), (0.3, 0.2, 0.1)), (0.1, 0.3, 0.2)),
    "cylinder": pz.Cylinder(pz.SE3.from_xyz_rpy((0.0, 0.1, 0.0), (0.3, 0.2, 0.1)), 0.1, 0.3),
    "hull": pz.ConvexHull(
        [(0.1, 0.2, -0.1), (0.2, -0.2, 0.1), (-0.1, 0.1, 0.0), (0.0, 0.1, 0.4), (0.1, 0.2, 0.1)], 0.02
    ),
}
"""On a body that flies."""
SIZES = (0, 1, 2, 7, 8, 9, 63, 64, 65, 520)


@cache
def flying(kind: str) -> pz.Model:
    builder = pz.ModelBuilder("flying")
    builder.joint("base", "floating", parent="world", child="body")
    builder.shape("body", SHAPES[kind])
    return builder.build()


@cache
def arm() -> pz.Model:
    return pz.load("panda_collision")


def turned(seed: int) -> pz.SE3:
    numbers = np.random.default_rng(seed).normal(size=6)
    return pz.SE3.from_xyz_rpy(numbers[:3], numbers[3:])


def by_numpy(kind: str, pose: pz.SE3, points: Array) -> Array:
    """(n,) distances of a shape to points, the closed forms written out."""
    seen = (pose @ SHAPES[kind].core.pose).inverse().act(points)
    half = SHAPES[kind].core.half
    if kind == "cylinder":  # a rectangle, seen in the plane of the axis and the point
        seen, half = np.column_stack([np.hypot(seen[:, 0], seen[:, 1]), seen[:, 2]]), half[1:]
    beyond = np.abs(seen) - half
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
    return outside + np.minimum(beyond.max(axis=1), 0.0) * (kind in ("box", "cylinder")) - SHAPES[kind].core.radius


def by_coal(kind: str, pose: pz.SE3, points: Array) -> Array:
    """(n,) distances of a shape to balls around points."""
    shape, at = as_coal(SHAPES[kind])
    place = pose @ at
    where = coal.Transform3s(place.rotation.matrix(), place.xyz)
    ball, asked = coal.Sphere(RADIUS), coal.DistanceRequest()
    balls = (coal.Transform3s(np.eye(3), point) for point in points)
    return np.array([coal.distance(shape, where, ball, to, asked, coal.DistanceResult()) for to in balls])


def scattered(seed: int, count: int, form: str) -> Array:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3))
    if form == "line":
        points = points[:, :1] * [1.0, 2.0, -1.0]
    elif form == "twice":
        points[count // 2 :] = points[: count - count // 2]
    elif form == "far":
        points[::3] *= 1e9
    elif form == "one place":
        points = np.repeat(points[:1], count, axis=0)
    return points


@settings(max_examples=40)  # the first compiles
@given(st.integers(0, 2**32), st.sampled_from(SIZES), st.sampled_from(["", "line", "twice", "far", "one place"]))
@pytest.mark.parametrize("kind", ["point", "segment", "box", "cylinder"])
def test_distance_is_the_least_of_all_points(kind: str, seed: int, count: int, form: str) -> None:
    points, model = scattered(seed, count, form), flying(kind)
    frame = turned(seed)
    cloud = PointCloud(points, RADIUS, pose=frame)
    q = model.sample(9, seed=seed)
    q[:, :3] = np.random.default_rng(seed).normal(size=(9, 3))
    found = model.distance(q, pz.World({"cloud": cloud}))
    rounding = 1e-12 + 1e-14 * np.abs(points).max(initial=0.0)
    for k, row in enumerate(q):
        every = by_numpy(kind, model.pose("body", row), frame.act(points)) - RADIUS
        least = every.min() if count else np.inf
        one = model.distance(row, pz.World({"cloud": cloud}))
        assert one.distance == pytest.approx(least, rel=1e-12, abs=rounding)
        assert found[k].distance == pytest.approx(least, rel=1e-12, abs=rounding)
        if count:
            assert np.allclose(one.points[1] - one.points[0], one.distance * one.normal, atol=1e-6 + rounding)
            # The point that is told is one of the cloud's, a radius before its middle.
            middle = one.points[1] + RADIUS * one.normal
            assert np.linalg.norm(frame.act(points) - middle, axis=1).min() < 1e-6 + rounding


@pytest.mark.parametrize("kind", ["box", "hull", "segment"])
@pytest.mark.parametrize("count", [1, 9, 300])
def test_distance_is_that_of_balls_by_coal(kind: str, count: int) -> None:
    model, points = flying(kind), scattered(count, count, "")
    world = pz.World({"cloud": PointCloud(points, RADIUS)})
    q = model.sample(20, seed=1)
    q[:, :3] = points[0] + 0.15 * np.random.default_rng(2).normal(size=(20, 3))
    found = model.distance(q, world).distance
    least = [by_coal(kind, model.pose("body", row), points).min() for row in q]
    assert np.allclose(found, least, atol=1e-5)
    assert count == 1 or min(least) < 0.0 < max(least)  # some in it, some apart


def test_holes_are_left_out() -> None:
    points = scattered(0, 40, "")
    holes = points.copy()
    holes[::4, 1] = np.nan
    cloud = PointCloud(holes, RADIUS)
    assert len(cloud) == 30
    q = flying("segment").home
    left = pz.World({"cloud": PointCloud(np.delete(points, np.s_[::4], axis=0), RADIUS)})
    assert (
        flying("segment").distance(q, pz.World({"cloud": cloud})).distance
        == flying("segment").distance(q, left).distance
    )
    assert len(PointCloud(np.full((3, 3), np.nan), RADIUS)) == 0


def test_points_out_of_range_are_holes_and_holes_alone_are_no_cloud() -> None:
    points = scattered(0, 40, "")
    out = points.copy()
    out[::4, 2], out[1] = np.inf, [-np.inf, np.nan, 0.0]
    left = np.delete(points, [1, *range(0, 40, 4)], axis=0)
    kept = PointCloud(out, RADIUS).points
    assert np.array_equal(kept[np.argsort(kept[:, 0])], left[np.argsort(left[:, 0])])
    for holes in (np.full((300, 3), np.nan), np.full((300, 3), np.inf)):
        nothing = PointCloud(holes, RADIUS)
        assert len(nothing) == 0
        assert flying("box").distance(flying("box").home, pz.World({"cloud": nothing})).distance == np.inf


@pytest.mark.parametrize("hole", [np.inf, np.nan])
def test_a_hole_is_left_out_whatever_its_other_numbers(hole: float) -> None:
    assert np.array_equal(PointCloud([[hole, 1e300, 0.0], [1.0, 2.0, 3.0]], RADIUS).points, [[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_masked_points_are_holes(kind: type) -> None:
    points = np.arange(12, dtype=kind).reshape(4, 3)
    hidden = np.ma.masked_array(points, [[0, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0]])
    left = PointCloud(points[[0, 3]], RADIUS)
    assert PointCloud(hidden, RADIUS) == left
    assert PointCloud(np.ma.masked_array(points[[0, 3]]), RADIUS) == left
    assert np.array_equal(hidden.data, points)


@pytest.mark.parametrize("form", ["", "line", "far", "one place"])
@pytest.mark.parametrize("count", [*SIZES, 20_000])
def test_points_are_kept_and_near_ones_side_by_side(count: int, form: str) -> None:
    points = scattered(4, count, form)
    cloud = PointCloud(points, RADIUS)
    assert len(cloud) == count
    assert not cloud.points.flags.writeable
    assert np.array_equal(np.sort(cloud.points.view("f8,f8,f8"), axis=0), np.sort(points.view("f8,f8,f8"), axis=0))
    if count == 20_000 and form == "":
        way, before = (np.linalg.norm(np.diff(some, axis=0), axis=1).mean() for some in (cloud.points, points))
        assert way < 0.2 * before


def test_order_of_points_changes_no_distance() -> None:
    points = scattered(3, 2000, "")
    q = flying("box").sample(50, seed=0)
    once, again, turned = (
        flying("box").distance(q, pz.World({"cloud": PointCloud(some, RADIUS)})).distance
        for some in (points, points, points[::-1])
    )
    assert np.array_equal(once, again)
    assert np.array_equal(once, turned)


@pytest.mark.parametrize(
    ("points", "code", "words"),
    [
        ([1.0, 2.0, 3.0], "wrong-shape", "points"),
        ([[1.0, 2.0]], "wrong-shape", "points"),
        ([[0.0, np.inf, 0.0], [0.0, 1e300, 0.0]], "out-of-range", "points[1]"),
        ([[np.nan, 1e300, 0.0], [0.0, 1e300, 0.0]], "out-of-range", "points[1]"),
        ("cloud", "wrong-shape", "points"),
    ],
)
def test_what_is_no_cloud_is_refused(points: object, code: str, words: str) -> None:
    with refused(code, words):
        PointCloud(points, RADIUS)


def test_a_link_that_moves_carries_no_cloud() -> None:
    world = pz.World()
    world.attach("cloud", PointCloud([[0.0, 0.0, 0.1]], RADIUS), "panda_hand")
    with refused("not-supported"):
        arm().distance(arm().home, world)
    with refused("not-a-shape", "'panda_hand'"):
        arm().with_shapes({"panda_hand": PointCloud([[0.0, 0.0, 0.1]], RADIUS)})  # type: ignore[dict-item]


def test_a_cloud_is_moved_copied_and_compared() -> None:
    points = scattered(1, 100, "")
    cloud = PointCloud(points, RADIUS)
    pose = turned(1)
    world, other = pz.World({"cloud": cloud}), pz.World({"cloud": PointCloud(pose.act(points), RADIUS)})
    world.move("cloud", pose)
    q = arm().home
    assert arm().distance(q, world).distance == pytest.approx(arm().distance(q, other).distance, abs=1e-9)
    copy = pickle.loads(pickle.dumps(world))
    assert copy["cloud"] == world["cloud"] != other["cloud"]
    assert arm().distance(q, copy).distance == arm().distance(q, world).distance


def bin_of_points(count: int = 20_000) -> Array:
    """(n, 3) the floor and the four walls of a bin, seen with noise of a millimetre."""
    rng = np.random.default_rng(5)
    u, v = rng.uniform(-1.0, 1.0, (2, count))
    side = rng.integers(0, 6, count)
    x, y, z = 0.15 * u, 0.2 * v, np.zeros(count)
    wall = side >= 2
    z[wall] = 0.1 + 0.1 * v[wall]
    x[side == 2], x[side == 3] = 0.15, -0.15
    y[side == 4], y[side == 5] = 0.2, -0.2
    y[(side == 2) | (side == 3)] = 0.2 * u[(side == 2) | (side == 3)]
    return np.stack([x + 0.5, y, z + 0.05], axis=1) + rng.normal(scale=1e-3, size=(count, 3))


def least_by_numpy(q: Array, points: Array) -> float:
    """The least distance of the arm's capsules to balls around points."""
    least = np.inf
    for link, shapes in arm().fitted_shapes.items():
        for shape in shapes if arm().tree.links[link][0] >= 0 else ():
            core = shape.core
            seen = (arm().pose(link, q) @ core.pose).inverse().act(points)
            seen[:, 2] -= np.clip(seen[:, 2], -core.half[2], core.half[2])
            least = min(least, float(np.linalg.norm(seen, axis=1).min()) - core.radius - RADIUS)
    return least


def test_solves_into_a_bin_are_free() -> None:
    points = bin_of_points()
    limit = pz.CollisionLimit(pz.World({"bin": PointCloud(points, RADIUS)}), min_distance=0.005)
    solver = pz.Solver(arm(), pz.PoseTask("panda_hand"), limits=[limit])
    poses = pz.SE3.from_xyz_rpy(
        [[0.5, 0.0, 0.3], [0.47, 0.03, 0.3], [0.53, -0.03, 0.3], [0.45, 0.05, 0.28]], [np.pi, 0, 0]
    )
    answers = [solver(pose) for pose in poses]
    batch = solver.batch(poses)
    assert all(answer.success for answer in answers)
    assert batch.success.all()
    for q in [*(answer.q for answer in answers), *batch.q]:
        assert least_by_numpy(q, points) >= 0.005 - 1e-9
    path = pz.solve_path(arm(), pz.PoseTask("panda_hand"), poses[:3], q0=answers[0].q, limits=[limit])
    assert path.success
    assert min(least_by_numpy(q, points) for q in path.q) >= 0.005 - 1e-9


def test_steps_in_the_corner_of_a_bin_keep_their_distance_while_the_cloud_changes() -> None:
    points = bin_of_points()
    world = pz.World({"bin": PointCloud(points, RADIUS)})
    limit = pz.CollisionLimit(world, min_distance=0.005)
    start = pz.solve(
        arm(), pz.PoseTask("panda_hand", target=pz.SE3.from_xyz_rpy([0.5, 0, 0.35], [np.pi, 0, 0])), limits=[limit]
    )
    loop = pz.Tracker(arm(), pz.PositionTask("panda_hand"), dt=0.01, limits=[limit])
    q, seen = start.q, points
    for k in range(90):
        if k % 10 == 5:  # another picture of the same bin, with another number of points
            seen = points[: 15_000 + 50 * k]
            world.replace("bin", PointCloud(seen, RADIUS))
        q = loop.step(q, [0.65, 0.2, 0.05])  # the corner itself
        assert least_by_numpy(q, seen) >= 0.005 - 1e-9
    assert np.linalg.norm(arm().pose("panda_hand", q).xyz - [0.65, 0.2, 0.05]) < 0.23  # 0.20 with walls of boxes
    assert least_by_numpy(q, seen) < 0.02


def test_a_file_for_programs_in_c_refuses_a_cloud(tmp_path: Path) -> None:
    limit = pz.CollisionLimit(pz.World({"bin": PointCloud([[0.5, 0.0, 0.0]], RADIUS)}))
    loop = pz.Tracker(arm(), pz.PositionTask("panda_hand"), dt=0.01, limits=[limit])
    with refused("not-exportable", "'bin'"):
        loop.export(tmp_path / "tracker.poise")


def test_another_picture_changes_no_structure() -> None:
    world = pz.World({"cloud": PointCloud(scattered(0, 10, ""), RADIUS)})
    before = world.structure
    world.replace("cloud", PointCloud(scattered(0, 500, ""), RADIUS))
    assert world.structure == before
