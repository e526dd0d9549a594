"""Shapes as balls: what is farthest out of a shape, whichever way, is so of its balls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise as pz
from poise.geometry.balls import Balls
from poise.geometry.visuals import Ellipsoid

PLACED = pz.SE3.from_xyz_rpy([0.1, -0.2, 0.3], [0.4, 0.5, -0.6])
EXACT = {
    "ball": pz.Sphere((0.1, 0.2, 0.3), 0.4),
    "capsule": pz.Capsule((0.0, 0.0, 0.0), (0.3, 0.0, 0.1), 0.05),
    "box": pz.Box(PLACED, (0.2, 0.4, 0.6)),
}
AROUND = {"cylinder": pz.Cylinder(PLACED, 0.1, 0.4), "ellipsoid": Ellipsoid(PLACED, (0.1, 0.2, 0.3))}


def support(shape: object, way: np.ndarray) -> float:
    """How far a shape reaches along a unit vector (3,), by its definition."""
    match shape:
        case pz.Sphere():
            return float(way @ shape.centre) + shape.radius
        case pz.Capsule():
            return max(float(way @ end) for end in (np.array(shape.start), np.array(shape.end))) + shape.radius
        case pz.Box():
            return float(way @ shape.pose.xyz + np.abs(shape.pose.rotation.matrix().T @ way) @ np.array(shape.size) / 2)
        case pz.Cylinder():
            x, y, z = shape.pose.rotation.matrix().T @ way
            return float(way @ shape.pose.xyz) + shape.radius * np.hypot(x, y) + 0.5 * shape.length * abs(z)
        case Ellipsoid():
            along = shape.pose.rotation.matrix().T @ way
            return float(way @ shape.pose.xyz) + float(np.linalg.norm(along * np.array(shape.semi_axes)))
    raise AssertionError(shape)


def reach(balls: Balls, way: np.ndarray) -> float:
    return float((balls.centres @ way + balls.radii).max())


@given(st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda way: np.linalg.norm(way) > 0.1))
@pytest.mark.parametrize("name", EXACT)
def test_they_reach_as_far_as_the_shape(name: str, way: tuple[float, float, float]) -> None:
    unit = np.array(way) / np.linalg.norm(way)
    assert reach(Balls.of([EXACT[name]]), unit) == pytest.approx(support(EXACT[name], unit), abs=1e-12)


@given(st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda way: np.linalg.norm(way) > 0.1))
@pytest.mark.parametrize("name", AROUND)
def test_around_what_is_round_they_reach_a_little_farther(name: str, way: tuple[float, float, float]) -> None:
    unit, balls = np.array(way) / np.linalg.norm(way), Balls.of([AROUND[name]])
    assert -1e-12 < reach(balls, unit) - support(AROUND[name], unit) < 0.03


def test_several_are_together_and_a_half_space_has_none() -> None:
    assert len(Balls.of([pz.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))]).radii) == 0
    assert Balls.of([]).centres.shape == (0, 3)
    together = Balls.of([EXACT["ball"], EXACT["box"]])
    assert together.radii.tolist() == [0.4, *[0.0] * 8]
    assert Balls.together([together, Balls.of([EXACT["capsule"]])]).radii[-1] == 0.05


def test_of_many_points_those_are_left_that_are_outermost() -> None:
    points = np.random.default_rng(0).normal(size=(3000, 3))
    crowd = Balls(np.concatenate([points, [[0.0, 0.0, 0.0]]]), np.array([*[0.0] * 3000, 0.1]))
    few = crowd.outer()
    assert len(few.radii) < 1000
    assert few.radii[-1] == 0.1
    for way in np.eye(3):
        assert reach(few, way) > reach(crowd, way) - 0.1
