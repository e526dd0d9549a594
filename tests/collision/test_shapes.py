"""Shapes: checked fields, equality by numbers, and one encoding for all."""

from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.geometry.shapes import Shape

POSE = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [0.4, -0.2, 0.9])


def corners(shape: Shape) -> Any:
    """(8, 3) the corners of the core of the box with rounded edges, and the radius."""
    numbers = shape.rounded
    signs = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
    return numbers[9:12] + (signs * numbers[12:15]) @ numbers[:9].reshape(3, 3).T, numbers[15]


def test_a_box_is_its_own_core() -> None:
    found, radius = corners(pz.Box(POSE, [0.2, 0.4, 0.6]))
    signs = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
    np.testing.assert_allclose(found, POSE.act(signs * [0.1, 0.2, 0.3]), rtol=0, atol=1e-15)
    assert radius == 0.0


@pytest.mark.parametrize("end", [[0.5, 0.1, -0.2], [0.1, 0.2, 0.9], [0.1, 0.2, -0.9], [0.1, 0.2, 0.3]])
def test_the_core_of_a_capsule_is_its_segment(end: list[float]) -> None:
    start = [0.1, 0.2, 0.3]
    found, radius = corners(pz.Capsule(start, end, 0.05))
    assert radius == 0.05
    for point in found:
        assert min(np.linalg.norm(point - start), np.linalg.norm(point - end)) < 1e-15
    assert len(np.unique(found.round(12), axis=0)) == (1 if end == start else 2)


def test_the_core_of_a_sphere_is_its_centre() -> None:
    found, radius = corners(pz.Sphere([1.0, 2.0, 3.0], 0.4))
    np.testing.assert_array_equal(found, np.tile([1.0, 2.0, 3.0], (8, 1)))
    assert radius == 0.4
    assert pz.Sphere([1, 2, 3]).radius == 0.0


def test_shapes_are_equal_where_their_numbers_are() -> None:
    for make in (
        lambda x: pz.Sphere(np.array([x, 0.0, 0.0]), 0.1),
        lambda x: pz.Capsule([x, 0.0, 0.0], np.ones(3), 0.1),
        lambda x: pz.Box(pz.SE3.from_parts([x, 0.0, 0.0]), (1.0, 2.0, 3.0)),
    ):
        assert make(0.5) == make(0.5) != make(0.6)
        assert hash(make(0.5)) == hash(make(0.5))
        assert make(0.5) != 0.5


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: pz.Sphere([1.0, 2.0], 0.1), pz.ShapeError, r"centre must have shape \(3,\), got \(2,\)"),
        (lambda: pz.Sphere([[1.0, 2.0, 3.0]] * 2), pz.ShapeError, r"centre must have shape \(3,\), got \(2, 3\)"),
        (lambda: pz.Sphere([1.0, np.nan, 0.0], 0.1), ValueError, r"centre\[1\] is nan"),
        (lambda: pz.Sphere([1.0, 2.0, 3.0], -0.1), ValueError, "radius is -0.1; it must be a finite number, 0 or more"),
        (lambda: pz.Capsule([0, 0, 0], [0, 0, 1], np.inf), ValueError, "radius is inf"),
        (lambda: pz.Capsule([0, 0, 0], [0, 1], 0.1), pz.ShapeError, r"end must have shape \(3,\)"),
        (lambda: pz.Box([0, 0, 0], [1, 1, 1]), TypeError, r"pose must be one SE3, .* got \[0, 0, 0\]"),
        (lambda: pz.Box(pz.SE3.from_parts(np.zeros((2, 3))), [1, 1, 1]), TypeError, "pose must be one SE3"),
        (lambda: pz.Box(POSE, [1, -1, 1]), ValueError, r"size\[1\] is -1.0; the length of an edge must be 0 or more"),
        (lambda: pz.Box(POSE, 1.0), pz.ShapeError, r"size must have shape \(3,\)"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
