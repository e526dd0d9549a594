"""Robots as they come: legs on a floor, meshes that are fitted, two arms; nothing comes nearer than asked."""

import numpy as np
import pytest

import poise as pz

FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")


def test_a_quadruped_keeps_its_trunk_and_legs_off_the_floor_and_one_another() -> None:
    robot = pz.load("a1", base="floating")
    feet = [robot.pose(foot, robot.home) for foot in FEET]
    ground = min(float(foot.xyz[2]) for foot in feet) - 0.02
    floor = pz.World({"floor": pz.HalfSpace((0.0, 0.0, ground), (0.0, 0.0, 1.0))})
    standing = [(foot, "floor") for foot in FEET]
    limit = pz.CollisionLimit(floor, min_distance=0.01, allowed=standing)
    stand = [pz.PositionTask(foot, pose.xyz) for foot, pose in zip(FEET, feet, strict=True)]
    trunk = pz.PoseTask("trunk", robot.pose("trunk", robot.home), priority=1)
    tracker = pz.Tracker(robot, [*stand, trunk], dt=0.005, limits=[limit])
    down = robot.pose("trunk", robot.home).xyz - np.array((0.0, 0.0, 1.0))
    q, before = robot.home, robot.home
    for _ in range(300):
        targets = [*(pose.xyz for pose in feet), pz.SE3.from_parts(down)]
        before, q = q, tracker.step(q, targets).copy()
        assert limit.nearest(robot, q).distance >= 0.01 - 1e-12
        assert (np.abs(robot.difference(before, q)) <= robot.velocity * 0.005 * (1.0 + 1e-9)).all()
    for foot, pose in zip(FEET, feet, strict=True):
        assert np.linalg.norm(robot.pose(foot, q).xyz - pose.xyz) < 1e-3  # the feet come first
    assert robot.pose("trunk", q).xyz[2] < robot.pose("trunk", robot.home).xyz[2] - 0.05


def test_meshes_are_fitted_when_distances_are_first_asked_for() -> None:
    robot = pz.load("go2")
    assert any(isinstance(shape, pz.MeshShape) for shapes in robot.shapes.values() for shape in shapes)
    q = robot.sample(40, seed=0)
    many = robot.distance(q)
    assert np.isfinite(many.distance).all()
    np.testing.assert_allclose([robot.distance(x).distance for x in q], many.distance, atol=1e-9)
    limit, feet = pz.CollisionLimit(min_distance=0.005), [pz.PositionTask(f"{leg}_foot") for leg in ("FL", "FR")]
    aims = np.repeat(np.random.default_rng(0).uniform((-0.2, -0.2, -0.4), (0.4, 0.2, 0.1), (3, 2, 3)), 80, axis=0)
    path = pz.Tracker(robot, feet, dt=0.01, limits=[limit]).rollout(robot.home, aims)
    assert (robot.distance(path).distance >= 0.005 - 1e-12).all()


def test_meshes_have_hulls_that_say_how_far_they_stand_out() -> None:
    robot = pz.load("go2")
    capsules = pz.fit_shapes(robot)
    assert capsules.model.distance(robot.home).distance < 0.0  # which hulls are not
    assert robot.distance(robot.home).distance > 0.005
    meshes = {fit.link for fit in robot.shape_fit.meshes}
    assert meshes == {link for link, some in robot.shapes.items() if any(isinstance(s, pz.MeshShape) for s in some)}
    for link in meshes:
        assert any(isinstance(shape, pz.ConvexHull) for shape in robot.fitted_shapes[link])
    for fit in robot.shape_fit.meshes:
        assert f"{1e3 * fit.protrusion:.1f}" in str(robot.shape_fit)


def test_hulls_of_a_panda_hardly_stand_out() -> None:
    robot = pz.load("example-robot-data/panda")
    assert robot.shape_fit.protrusion < 0.001 < 0.05 < pz.fit_shapes(robot, capsules=1).protrusion


def test_a_warning_names_what_meets_at_home_with_hulls_too() -> None:
    robot = pz.load("b1_z1")
    with pytest.warns(pz.ModelWarning, match="of 'gripperStator' and 'gripperMover', .* meets at home"):
        assert robot.distance(robot.home).distance > 0.0
