"""Shapes: checked fields, equality by numbers, and one encoding for all."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.spatial
from hypothesis import given
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.geometry.hull import enclosed_volume, hull_faces
from poise.geometry.shapes import Shape
from poise.kernels.machine.layout import CYLINDER, HALF_SPACE, HULL

POSE = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [0.4, -0.2, 0.9])


def corners(shape: Shape) -> Any:
    """(8, 3) the corners of the core of the box with rounded edges, and the radius."""
    numbers = shape.core.rounded
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
        lambda x: pz.Cylinder(pz.SE3.from_parts([x, 0.0, 0.0]), 0.1, 0.4),
        lambda x: pz.Cylinder(POSE, x, 0.4),
    ):
        assert make(0.5) == make(0.5) != make(0.6)
        assert hash(make(0.5)) == hash(make(0.5))
        assert make(0.5) != 0.5


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: pz.Sphere([1.0, 2.0], 0.1), "wrong-shape", "centre"),
        (lambda: pz.Sphere([[1.0, 2.0, 3.0]] * 2), "wrong-shape", "centre"),
        (lambda: pz.Sphere([1.0, np.nan, 0.0], 0.1), "not-finite", "centre[1]"),
        (lambda: pz.Sphere([1.0, 2.0, 3.0], -0.1), "negative", "radius"),
        (lambda: pz.Capsule([0, 0, 0], [0, 0, 1], np.inf), "not-finite", "radius"),
        (lambda: pz.Capsule([0, 0, 0], [0, 1], 0.1), "wrong-shape", "end"),
        (lambda: pz.Box([0, 0, 0], [1, 1, 1]), "not-a-pose", "pose"),
        (lambda: pz.Box(pz.SE3.from_parts(np.zeros((2, 3))), [1, 1, 1]), "not-a-pose", "pose"),
        (lambda: pz.Box(POSE, [1, -1, 1]), "negative", "size[1]"),
        (lambda: pz.Box(POSE, 1.0), "wrong-shape", "size"),
        (lambda: pz.Cylinder([0, 0, 0], 0.1, 0.4), "not-a-pose", "pose"),
        (lambda: pz.Cylinder(POSE, -0.1, 0.4), "negative", "radius"),
        (lambda: pz.Cylinder(POSE, 0.1, np.nan), "not-finite", "length"),
        (lambda: pz.Cylinder(POSE, 0.1, 1e300), "out-of-range", "length"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()


# Half-spaces and hulls -------------------------------------------------------------------------------------------


SHAPES = [
    pz.Sphere([0.3, -0.2, 0.5], 0.1),
    pz.Capsule([0.1, 0.2, 0.3], [-0.2, 0.1, 0.9], 0.05),
    pz.Capsule([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], 0.05),
    pz.Box(POSE, [0.2, 0.4, 0.6]),
    pz.Box(POSE, [0.2, 0.0, 0.6]),
    pz.Cylinder(POSE, 0.2, 0.6),
    pz.Cylinder(POSE, 0.2, 0.0),
    pz.HalfSpace([0.1, 0.2, 0.3], [1.0, -2.0, 0.5]),
    pz.ConvexHull(np.random.default_rng(1).normal(size=(30, 3)), 0.1),
    pz.ConvexHull([[1.0, 2.0, 3.0]], pose=POSE),
]


def support(shape: Shape, way: Any) -> float:
    """How far the shape goes along a unit vector."""
    core = shape.core
    x, y, z = core.pose.rotation.matrix().T
    if core.kind == HALF_SPACE:
        return float(core.pose.xyz @ way) if np.allclose(z, way, rtol=0, atol=1e-9) else np.inf
    reach = np.abs([x @ way, y @ way, z @ way]) @ core.half
    if core.kind == CYLINDER:
        reach = math.hypot(x @ way, y @ way) * core.half[0] + abs(z @ way) * core.half[2]
    if core.kind == HULL:
        reach = (core.pose.rotation.act(core.vertices) @ way).max()
    return float(core.pose.xyz @ way + reach + core.radius)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_a_placed_shape_is_the_same_seen_from_elsewhere(shape: Shape) -> None:
    motion = pz.SE3.from_xyz_rpy([0.7, -0.1, 0.4], [1.0, 0.3, -2.0])
    moved = shape.placed(motion)
    assert type(moved) is type(shape)
    ways = np.random.default_rng(2).normal(size=(50, 3))
    if isinstance(shape, pz.HalfSpace):
        ways[0] = shape.normal
    for way in ways / np.linalg.norm(ways, axis=1, keepdims=True):
        there = motion.rotation.act(way)
        assert support(moved, there) == pytest.approx(support(shape, way) + there @ motion.xyz, abs=1e-14)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_a_shape_can_be_brought_to_a_pose_and_back(shape: Shape) -> None:
    away = shape.at(pz.SE3.from_xyz_rpy([0.7, -0.1, 0.4], [1.0, 0.3, -2.0]))
    np.testing.assert_allclose(away.pose.xyz, [0.7, -0.1, 0.4], rtol=0, atol=1e-15)
    back = away.at(shape.pose)
    ways = np.random.default_rng(3).normal(size=(20, 3))
    for way in ways / np.linalg.norm(ways, axis=1, keepdims=True):
        assert support(back, way) == pytest.approx(support(shape, way), abs=1e-14)
    assert shape.at(shape.pose).core.vertices.tolist() == shape.core.vertices.tolist()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_the_bound_holds_the_shape_and_no_more_than_it_must(shape: Shape) -> None:
    core = shape.core
    ways = np.random.default_rng(4).normal(size=(500, 3))
    reach = max(support(shape, way) - core.pose.xyz @ way for way in ways / np.linalg.norm(ways, axis=1, keepdims=True))
    assert reach <= core.bound + 1e-15
    assert core.bound == np.inf or core.bound < 1.2 * reach + 1e-15


def test_the_normal_of_a_half_space_is_a_unit_vector() -> None:
    for scale in (1e-200, 1.0, 1e200):
        floor = pz.HalfSpace([0, 0, 0.5], [0, 3 * scale, 4 * scale])
        assert floor.normal == pytest.approx((0.0, 0.6, 0.8), abs=1e-15)
    np.testing.assert_allclose(floor.core.pose.rotation.act([0, 0, 1]), [0.0, 0.6, 0.8], rtol=0, atol=1e-15)


def test_the_core_of_a_hull_has_no_points_inside() -> None:
    rng = np.random.default_rng(5)
    cube = 0.5 * np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    points = rng.permutation(np.concatenate([cube, cube, rng.uniform(-0.5, 0.5, (200, 3))]))
    core = pz.ConvexHull(points + np.array([1.0, 2.0, 3.0])).core
    corners = core.pose.act(core.vertices) - np.array([1.0, 2.0, 3.0])
    assert len(corners) == 8
    assert sorted(np.round(corners, 12).tolist()) == sorted(cube.tolist())


def test_corners_of_things_that_are_alike_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(points: Array) -> Any:
        looked.append(len(points))
        return hull_faces(points)

    monkeypatch.setattr("poise.geometry.shapes.hull_faces", counted)
    points = np.random.default_rng(6).normal(size=(20, 3))
    cans = [pz.ConvexHull(points, radius, pose=pz.SE3.from_parts((x, 0, 0))) for x, radius in ((0, 0.0), (1, 0.1))]
    assert cans[0].core.vertices is cans[1].core.vertices
    assert looked == [20]
    assert cans[1].core.pose.xyz[0] == pytest.approx(cans[0].core.pose.xyz[0] + 1.0)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_a_hull_is_within_its_girth_of_its_spine(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3)) * rng.uniform(0.0, 1.0, 3) @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    core = pz.ConvexHull(points, 0.1).core
    seen, half = core.pose.inverse().act(points), core.half[2]
    across = seen - np.column_stack([np.zeros((count, 2)), np.clip(seen[:, 2], -half, half)])
    assert np.linalg.norm(across, axis=1).max() <= core.girth - 0.1 + 1e-12
    assert core.girth <= core.bound
    # The nearness of the hull to its spine, by which distances are bounded from above: the spine is as high as it is.
    assert half <= np.abs(seen[:, 2]).max() + 1e-12


@given(st.integers(4, 40), st.integers(0, 2**32 - 1), st.sampled_from(["ball", "grid", "flat"]))
def test_hulls_are_those_of_qhull(count: int, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3))
    if kind == "grid":
        points = points.round()
    elif kind == "flat":
        points = points[:, :2] @ rng.normal(size=(2, 3))
    faces = hull_faces(points)
    try:
        other = scipy.spatial.ConvexHull(points)
    except scipy.spatial.QhullError:
        assert faces is None
        return
    assert faces is not None
    assert enclosed_volume(points, faces) == pytest.approx(other.volume, rel=1e-12)
    corners = set(map(tuple, points[np.unique(faces)].tolist()))
    assert set(map(tuple, points[other.vertices].tolist())) <= corners


@pytest.mark.parametrize("points", [[[1.0, 2.0, 3.0]] * 5, np.outer(np.arange(4.0), [1, 2, 3]), np.eye(3)])
def test_points_without_volume_are_kept(points: Any) -> None:
    core = pz.ConvexHull(points).core
    seen = np.unique(np.asarray(points), axis=0)
    np.testing.assert_allclose(core.pose.act(core.vertices), seen, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: pz.HalfSpace([0, 0, 0], [0, 0, 0]), "zero-vector", "normal"),
        (lambda: pz.HalfSpace([0, 0, 0], [0, np.inf, 0]), "not-finite", "normal[1]"),
        (lambda: pz.HalfSpace([0, 0], [0, 0, 1]), "wrong-shape", "point"),
        (lambda: pz.ConvexHull(np.zeros((0, 3))), "wrong-shape", "points"),
        (lambda: pz.ConvexHull([1.0, 2.0, 3.0]), "wrong-shape", "points"),
        (lambda: pz.ConvexHull([[1.0, 2.0, np.nan]]), "not-finite", "points[0, 2]"),
        (lambda: pz.ConvexHull([[1.0, 2.0, 3.0]], -1.0), "negative", "radius"),
        (lambda: pz.ConvexHull([[1.0, 2.0, 3.0]], pose=[0, 0, 0]), "not-a-pose", "pose"),
        (lambda: pz.Sphere([0, 0, 0]).at([1, 2, 3]), "not-a-pose", "pose"),
        (lambda: pz.Sphere([0, 0, 0]).placed(pz.SE3(np.tile(POSE.array, (2, 1)))), "not-a-pose", "pose"),
    ],
)
def test_half_spaces_and_hulls_refuse_nonsense(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_shapes_travel(shape: Shape) -> None:
    again = pickle.loads(pickle.dumps(shape))
    assert again == shape
    assert hash(again) == hash(shape)
    np.testing.assert_array_equal(again.core.vertices, shape.core.vertices)
