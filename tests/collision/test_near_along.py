"""What a CollisionLimit says of a path as a whole."""

import numpy as np
import pytest

import poise as pz
from poise.solving.requirements.near_along import as_looked_at, broken_along, near_along


def slider() -> pz.Model:
    """A ball of 5 cm that slides along x."""
    b = pz.ModelBuilder("slider")
    b.joint("slide", "prismatic", parent="rail", child="ball", axis=[1, 0, 0], limits=(-1.0, 1.0))
    b.shape("ball", pz.Sphere((0.0, 0.0, 0.0), 0.05))
    return b.build()


WALL = pz.World({"wall": pz.Box(pz.SE3.from_parts([0.5, 0.0, 0.0]), (0.2, 1.0, 1.0))})


def test_the_share_of_frames_and_the_depth_are_those_of_the_distances() -> None:
    model, limit = slider(), pz.CollisionLimit(WALL, min_distance=0.01)
    path = np.array([[0.0], [0.1], [0.34], [0.345], [0.37]])  # the ball meets the wall at 0.35
    shares, depths = near_along(limit, model, path)
    far = model.distance(path, WALL, self_collision=False).distance
    assert shares == {("ball", "wall"): pytest.approx((far < 0.011).mean())}
    assert depths == {("ball", "wall"): pytest.approx(0.01 - far.min())}


def test_the_frames_in_which_a_pair_is_too_near_are_those_of_the_distances() -> None:
    limit, path = pz.CollisionLimit(WALL, min_distance=0.01), np.linspace(0.0, 0.7, 21)[:, None]
    far = slider().distance(path, WALL, self_collision=False).distance
    assert np.array_equal(broken_along(limit, slider(), path), far < 0.01)
    assert not broken_along(limit, slider(), path[:3]).any()


def test_what_stays_apart_is_not_named() -> None:
    assert near_along(pz.CollisionLimit(WALL), slider(), np.zeros((3, 1))) == ({}, {})


def test_a_model_takes_over_what_is_looked_at_of_another() -> None:
    first, second = slider(), slider().with_shapes({"ball": [pz.Sphere((0.0, 0.0, 0.0), 0.2)]})
    made = as_looked_at(first, second)
    assert made.fitted_shapes["ball"][0].radius == 0.2  # type: ignore[union-attr]
    assert made.joint_names == first.joint_names
