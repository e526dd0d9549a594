"""Triangles in place of bodies: closed, turned the right way, as large as the bodies are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise as pz
from poise.viewer.scene.tessellation import (
    Triangles,
    arrow,
    axes,
    bone,
    box,
    capsule,
    cylinder,
    ellipsoid,
    hull,
    sphere,
    terrain,
)

trimesh = pytest.importorskip("trimesh")
LENGTHS = st.floats(0.01, 10.0)


def solid(surface: Triangles) -> "trimesh.Trimesh":
    """The surface with its vertices merged by place, so that what is closed can be seen to be."""
    places, which = np.unique(np.asarray(surface.vertices).round(9) + 0.0, axis=0, return_inverse=True)
    faces = which.reshape(-1)[surface.faces]
    a, b, c = faces.T
    assert ((a != b) & (b != c) & (c != a)).all()
    mesh = trimesh.Trimesh(places, faces, process=False)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert surface.faces.max() < len(surface.vertices)
    return mesh


def within(surface: Triangles, extents: tuple[float, float, float]) -> None:
    np.testing.assert_allclose(surface.vertices.max(axis=0), np.multiply(extents, 0.5), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(surface.vertices.min(axis=0), np.multiply(extents, -0.5), rtol=1e-9, atol=1e-9)


@given(a=LENGTHS, b=LENGTHS, c=LENGTHS)
def test_a_box_is_exact_and_has_sharp_edges(a: float, b: float, c: float) -> None:
    found = box((a, b, c))
    within(found, (a, b, c))
    assert solid(found).volume == pytest.approx(a * b * c, rel=1e-6)
    assert found.vertices.shape == (24, 3)


@given(a=LENGTHS, b=LENGTHS, c=LENGTHS)
def test_an_ellipsoid_has_its_corners_on_it(a: float, b: float, c: float) -> None:
    found = ellipsoid((a, b, c))
    within(found, (2 * a, 2 * b, 2 * c))
    np.testing.assert_allclose(np.linalg.norm(found.vertices / (a, b, c), axis=1), 1.0, rtol=1e-12)
    assert solid(found).volume == pytest.approx(4 / 3 * math.pi * a * b * c, rel=0.02)


@given(radius=LENGTHS, length=LENGTHS)
def test_round_bodies_have_their_volumes(radius: float, length: float) -> None:
    ball, disc = 4 / 3 * math.pi * radius**3, math.pi * radius**2
    within(sphere(radius), (2 * radius,) * 3)
    within(capsule(radius, length), (2 * radius, 2 * radius, 2 * radius + length))
    within(cylinder(radius, length), (2 * radius, 2 * radius, length))
    assert solid(sphere(radius)).volume == pytest.approx(ball, rel=0.02)
    assert solid(capsule(radius, length)).volume == pytest.approx(ball + disc * length, rel=0.02)
    assert solid(cylinder(radius, length)).volume == pytest.approx(disc * length, rel=0.01)
    finer = [abs(solid(sphere(radius, n)).volume / ball - 1.0) for n in (16, 32, 64)]
    assert finer[0] > 3 * finer[1] > 9 * finer[2]


def test_a_bone_is_an_octahedron_and_an_arrow_points_along_z() -> None:
    octahedron = solid(bone(2.0, 0.3))
    assert octahedron.volume == pytest.approx(2.0 * 0.5 * 0.3**2 / 3.0)
    assert len(octahedron.faces) == 8
    np.testing.assert_allclose(octahedron.bounds[:, 2], [0.0, 2.0])
    np.testing.assert_allclose(solid(arrow(1.0, 0.02)).bounds, [[-0.04, -0.04, 0.0], [0.04, 0.04, 1.0]])
    for i, each in enumerate(axes(1.0, 0.02)):
        assert solid(each).volume == pytest.approx(solid(arrow(1.0, 0.02)).volume)
        assert np.argmax(each.vertices.max(axis=0)) == i


@given(seed=st.integers(0, 10**6), count=st.integers(4, 60))
def test_a_hull_is_that_of_trimesh(seed: int, count: int) -> None:
    pytest.importorskip("scipy")
    points = np.random.default_rng(seed).normal(size=(count, 3))
    assert solid(hull(points)).volume == pytest.approx(trimesh.convex.convex_hull(points).volume)


def test_a_rounded_hull_stands_out_by_its_radius() -> None:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], dtype=float)
    found = solid(hull(corners, 0.1))
    np.testing.assert_allclose(found.bounds, [[-0.1] * 3, [1.1, 2.1, 3.1]])
    exact = 6 + 0.1 * 22 + math.pi * 0.1**2 * 6 + 4 / 3 * math.pi * 0.1**3  # by Steiner's formula
    assert 0.99 * exact < found.volume < exact


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_flat_hull_is_drawn_with_some_thickness(count: int) -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)[:count]
    found = solid(hull(corners))
    assert 0.0 < found.volume < 0.01
    np.testing.assert_allclose(found.bounds, [corners.min(axis=0), corners.max(axis=0)], rtol=0, atol=2e-3)


@given(factors=st.tuples(*3 * [st.floats(0.1, 3.0) | st.floats(-3.0, -0.1)]))
def test_what_is_mirrored_is_not_turned_inside_out(factors: tuple[float, float, float]) -> None:
    found = solid(box((1, 2, 3)).stretched(factors))
    assert found.volume == pytest.approx(6.0 * abs(math.prod(factors)), rel=1e-6)


def test_a_surface_is_seen_from_where_it_is_placed() -> None:
    pose = pz.SE3.from_xyz_rpy([1, 2, 3], [0, 0, math.pi / 2])
    found = box((2, 4, 6)).placed(pose)
    np.testing.assert_allclose([found.vertices.min(axis=0), found.vertices.max(axis=0)], [[-1, 1, 0], [3, 3, 6]])


def test_a_terrain_has_the_tops_of_its_cells_and_the_walls_between_them() -> None:
    heights = np.array([[0.0, 0.5, 0.0], [0.0, math.nan, 0.2]])
    found = terrain(heights, 0.1)
    a, b, c = (found.vertices[found.faces[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    level, areas = across[:, 2] > 1e-12, 0.5 * np.linalg.norm(across, axis=1)
    assert (across[:, 2] >= -1e-12).all()
    assert areas[level].sum() == pytest.approx(5 * 0.1**2)
    # Walls of 0.5, 0.5 and 0.2 m, none beside the hole.
    assert areas[~level].sum() == pytest.approx(0.1 * (0.5 + 0.5 + 0.2))
    assert found.vertices[found.faces].min() == pytest.approx(-0.15)
