"""A picture without the robot in it: which points are left, by the closed forms of its shapes and by coal."""

import coal
import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.clouds import HeightMap, PointCloud, without_robot
from poise.common.array import Array

MARGIN = 0.03
SHAPES = {
    "ball": pz.Sphere((0.1, 0.0, 0.2), 0.1),
    "rod": pz.Capsule((0.0, 0.1, -0.2), (0.2, -0.1, 0.3), 0.05),
    "crate": pz.Box(pz.SE3.from_xyz_rpy((0.0, 0.1, 0.0), (0.3, 0.2, 0.1)), (0.2, 0.4, 0.3)),
    "can": pz.Cylinder(pz.SE3.from_xyz_rpy((0.1, 0.0, 0.1), (0.3, 0.2, 0.1)), 0.12, 0.4),
    "hull": pz.ConvexHull([(0.3, 0.0, 0.0), (-0.2, 0.3, 0.0), (-0.2, -0.3, 0.0), (0.0, 0.0, 0.4)], 0.02),
}


def flying(*names: str) -> pz.Model:
    """Shapes on bodies of their own, and a floor that a file put into the world."""
    builder = pz.ModelBuilder("flying")
    for name in names:
        builder.joint(f"{name}_base", "floating", parent="world", child=name)
        builder.shape(name, SHAPES[name])
    builder.shape("world", pz.HalfSpace((0.0, 0.0, -0.3), (0.0, 0.0, 1.0)))
    return builder.build()


def scattered(count: int, size: float = 1.0) -> Array:
    return np.random.default_rng(0).uniform(-size, size, (count, 3))


def distances(name: str, pose: pz.SE3, points: Array) -> Array:
    """(n,) of a shape from points, written out; of a hull by coal."""
    shape, core = SHAPES[name], SHAPES[name].core
    seen, half = (pose @ core.pose).inverse().act(points), core.half
    if isinstance(shape, pz.ConvexHull):
        corners = coal.StdVec_Vec3s()
        corners.extend(list(core.vertices))
        hull, ball, asked = coal.Convex.convexHull(corners, False, ""), coal.Sphere(0.0), coal.DistanceRequest()
        here, places = coal.Transform3s.Identity(), [coal.Transform3s(np.eye(3), point) for point in seen]
        every = [coal.distance(hull, here, ball, place, asked, coal.DistanceResult()) for place in places]
        return np.array(every) - shape.radius
    if isinstance(shape, pz.Cylinder):
        seen, half = np.column_stack([np.hypot(seen[:, 0], seen[:, 1]), seen[:, 2]]), half[1:]
    return np.linalg.norm(np.maximum(np.abs(seen) - half, 0.0), axis=1) - core.radius


@pytest.mark.parametrize("count", [1, 7, 8, 700])
def test_what_is_left_is_as_far_from_every_shape(count: int) -> None:
    model, points = flying(*SHAPES), scattered(count, 0.5)
    q = model.sample(1, seed=3)[0].reshape(-1, 7)
    q[:, :3] = 0.4 * np.random.default_rng(1).uniform(-1.0, 1.0, (len(SHAPES), 3))
    least = np.min([distances(name, model.pose(name, q.ravel()), points) for name in SHAPES], axis=0)
    least = np.where(np.abs(least - MARGIN) < 1e-5, np.nan, least)  # what coal's rounding decides is no verdict
    sure = points[~np.isnan(least)]
    assert np.array_equal(without_robot(sure, model, q.ravel(), margin=MARGIN), points[least >= MARGIN])
    assert count < 100 or 0.05 < np.mean(least < MARGIN) < 0.9


def test_what_links_carry_is_the_robot_and_what_stands_there_is_not() -> None:
    model, points = flying("ball"), scattered(2000)
    q = model.neutral
    world = pz.World({"ground": HeightMap([[0.0]], 3.0), "cloud": PointCloud(points, 0.01), "wall": SHAPES["crate"]})
    alone = without_robot(points, model, q, margin=MARGIN)
    assert np.array_equal(without_robot(points, model, q, margin=MARGIN, world=world), alone)
    assert np.array_equal(alone, points[distances("ball", pz.SE3.identity(), points) >= MARGIN])
    world.add("rod", SHAPES["rod"])
    world.grasp("rod", "ball", model.pose("ball", q))
    moved = q.copy()
    moved[:3] = [0.0, 0.3, 0.0]
    left = without_robot(points, model, moved, margin=MARGIN, world=world)
    gaps = [distances(name, pz.SE3.from_parts(moved[:3]), points) for name in ("ball", "rod")]
    assert np.array_equal(left, points[np.min(gaps, axis=0) >= MARGIN])
    world.detach("rod", model.pose("ball", moved))
    assert np.array_equal(without_robot(points, model, q, margin=MARGIN, world=world), alone)


def test_the_base_counts_holes_stay_and_no_picture_is_none() -> None:
    arm = pz.load("panda_collision")
    at_base = arm.pose("panda_link0", arm.home).act(arm.fitted_shapes["panda_link0"][0].core.pose.xyz)
    points = np.array([at_base, [np.nan, 0.0, 0.0], [5.0, 0.0, 0.0]], dtype=np.float32)
    points.flags.writeable = False
    assert np.array_equal(without_robot(points, arm, arm.home), points[1:], equal_nan=True)
    hidden = np.ma.masked_array(np.array([at_base, at_base, points[2]]), np.isnan(points))
    assert np.isnan(without_robot(hidden, arm, arm.home)[0, 0])
    assert without_robot(np.zeros((0, 3)), arm, arm.home).shape == (0, 3)
    # The arm as a camera sees it stops the arm, until its points are dropped.
    hand = arm.pose("panda_hand", arm.home).xyz + 0.01 * scattered(100)
    seen = pz.World({"picture": PointCloud(hand, 0.005)})
    assert arm.distance(arm.home, seen).distance < 0.0
    seen.replace("picture", PointCloud(without_robot(hand, arm, arm.home), 0.005))
    assert arm.distance(arm.home, seen, self_collision=False).distance > 0.0


def test_what_is_no_picture_is_refused() -> None:
    model = flying("ball")
    with pytest.raises(pz.ShapeError, match=r"points must have shape \(n, 3\), got \(4, 2\)"):
        without_robot(np.zeros((4, 2)), model, model.home)
    with pytest.raises(pz.ShapeError, match=r"q must have shape \(7,\), one configuration, got \(2, 7\)"):
        without_robot(scattered(3), model, model.sample(2, seed=0))
    with pytest.raises(TypeError, match="model must be a Model, got 'ball': load it first"):
        without_robot(scattered(3), "ball", model.home)  # type: ignore[arg-type]
    world = pz.CollisionLimit(pz.World())
    with refused("wrong-type", "world"):
        without_robot(scattered(3), model, model.home, world=world)  # type: ignore[arg-type]
    with refused("negative", "margin"):
        without_robot(scattered(3), model, model.home, margin=-0.1)
