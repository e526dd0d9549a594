"""Capsules, spheres and hulls around meshes: nothing is left outside, little is added, and the report is true."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.geometry.fit_cache import cached_fit
from poise.geometry.fitting import Fit, depths, fit_capsules, fit_hulls, union_volume
from poise.geometry.smallest import smallest_capsule, volume
from poise.geometry.triangles import distances, enclose, enclosed_volume, halves, is_closed
from poise.io.installed import installed_robots

trimesh = pytest.importorskip("trimesh")

ROOM = pz.SE3.from_xyz_rpy([0.3, -0.2, 0.5], [0.4, -1.0, 2.0])


def triangles(mesh: Any) -> Array:
    return np.array(mesh.triangles, dtype=np.float64)


def moved(mesh: Any, *steps: Any) -> Any:
    for step in steps:
        mesh.apply_transform(step)
    return mesh


BOX = triangles(moved(trimesh.creation.box((0.1, 0.2, 0.4)), ROOM.matrix()))
BALL = triangles(trimesh.creation.icosphere(3, 0.1))
BAR = triangles(moved(trimesh.creation.capsule(0.5, 0.1, count=[32, 32]), ROOM.matrix()))
ELBOW = np.concatenate(
    [
        triangles(trimesh.creation.box(bounds=[[0, 0, 0], [0.1, 0.1, 0.6]])),
        triangles(trimesh.creation.box(bounds=[[0.1, 0, 0], [0.5, 0.1, 0.1]])),
    ]
)
OPEN = BOX[:-1]


def corner_of_one_piece() -> Array:
    """The solid of the elbow as one closed surface, of which CoACD need not make another first."""
    outline = 0.1 * np.array([[0, 0], [1, 0], [5, 0], [5, 1], [1, 1], [1, 6], [0, 6], [0, 1]])
    front = np.column_stack([outline[:, 0], np.zeros(8), outline[:, 1]])
    corners = np.concatenate([front, front + (0.0, 0.1, 0.0)])  # noqa: RUF005
    faces = []
    for i, j, k, m in ((0, 1, 4, 7), (1, 2, 3, 4), (7, 4, 5, 6)):
        faces += [(i, j, k), (i, k, m), (8 + i, 8 + k, 8 + j), (8 + i, 8 + m, 8 + k)]
    for i, j in zip(range(8), (*range(1, 8), 0), strict=True):
        faces += [(i, 8 + i, 8 + j), (i, 8 + j, j)]
    return np.asarray(corners[faces])


CORNER = corner_of_one_piece()


def sampled(surface: Array, count: int, seed: int) -> Array:
    """Points of the triangles, corners among them."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, len(surface), count)
    shares = rng.dirichlet((0.5, 0.5, 0.5), count)
    return np.concatenate([np.einsum("nij,ni->nj", surface[which], shares), np.unique(surface.reshape(-1, 3), axis=0)])


def outside(fit: Fit, points: Array) -> float:
    """How far the farthest of the points is outside all shapes [m]."""
    if isinstance(fit.shapes[0], pz.ConvexHull):
        return float(np.min([beyond(hull, points) for hull in fit.shapes], axis=0).max())
    return float(-np.max([depths(shape, points) for shape in fit.shapes], axis=0).min())


def beyond(shape: Any, points: Array) -> Array:
    """(n,) how far points are outside a hull [m]; no more than 0 within."""
    hull = trimesh.convex.convex_hull(shape.core.pose.act(shape.core.vertices))
    out = np.einsum("fi,nfi->nf", hull.face_normals, points[:, None] - hull.triangles[:, 0]).max(axis=1) > 1e-12
    far = np.zeros(len(points))
    far[out] = distances(points[out], np.array(hull.triangles))
    return far - shape.radius


SURFACES = {"box": BOX, "ball": BALL, "bar": BAR, "elbow": ELBOW, "open": OPEN}
DEAR = [pytest.param(SURFACES[name], 5, marks=pytest.mark.slow, id=f"5-{name}") for name in ("box", "ball", "bar")]


@pytest.mark.parametrize(
    ("surface", "most"),
    [
        *(pytest.param(surface, most, id=f"{most}-{name}") for most in (1, 2) for name, surface in SURFACES.items()),
        *(pytest.param(SURFACES[name], 5, id=f"5-{name}") for name in ("elbow", "open")),
        *DEAR,
    ],
)
def test_nothing_is_left_outside(surface: Array, most: int) -> None:
    fit = fit_capsules(surface, most)
    assert 1 <= len(fit.shapes) <= most
    assert outside(fit, sampled(surface, 5000, 1)) < 1e-12


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_nothing_is_left_outside_of_any_soup(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    surface = rng.normal(size=(rng.integers(1, 12), 3, 3)) * rng.choice([1e-3, 1.0, 0.0], 3, p=[0.2, 0.7, 0.1])
    fit = fit_capsules(surface, most)
    assert outside(fit, sampled(surface, 500, seed)) < 1e-9
    assert math.isfinite(fit.fitted)
    assert math.isfinite(fit.protrusion)


def test_the_inside_of_a_solid_is_in_the_union_too() -> None:
    fit = fit_capsules(ELBOW, 4)
    rng = np.random.default_rng(2)
    inside = np.concatenate(
        [rng.uniform([0, 0, 0], [0.1, 0.1, 0.6], (2000, 3)), rng.uniform([0.1, 0, 0], [0.5, 0.1, 0.1], (2000, 3))]
    )
    assert outside(fit, inside) < 1e-12


def test_a_capsule_and_a_ball_are_found_again() -> None:
    (bar,) = fit_capsules(BAR, 4).shapes
    assert isinstance(bar, pz.Capsule)
    assert bar.radius == pytest.approx(0.1, rel=0.01)
    assert bar.length == pytest.approx(0.5, rel=0.02)
    (ball,) = fit_capsules(BALL, 4).shapes
    assert isinstance(ball, pz.Sphere) or ball.length < 0.01
    assert ball.radius == pytest.approx(0.1, rel=0.01)


def test_a_cut_makes_an_elbow_tighter() -> None:
    one, two = fit_capsules(ELBOW, 1), fit_capsules(ELBOW, 2)
    assert len(two.shapes) == 2
    assert two.fitted < 0.4 * one.fitted
    assert two.protrusion < 0.4 * one.protrusion


@pytest.mark.parametrize("surface", [BOX, BALL, BAR, ELBOW], ids=["box", "ball", "bar", "elbow"])
def test_a_hull_is_the_hull_and_hardly_larger(surface: Array) -> None:
    fit = fit_hulls(surface)
    assert outside(fit, sampled(surface, 500, 3)) < 1e-12
    hull = trimesh.convex.convex_hull(surface.reshape(-1, 3)).volume
    assert hull * (1.0 - 1e-9) <= fit.fitted < 1.05 * hull
    assert len(fit.shapes[0].core.vertices) <= 160
    if surface is BOX:
        assert fit.fitted == pytest.approx(hull, rel=1e-12)
        assert len(fit.shapes[0].core.vertices) == 8


@pytest.mark.parametrize("share", [1e-12, 1e-9, 1e-7])
def test_a_hull_whose_faces_rounding_decides_is_a_hull_too(share: float) -> None:
    angles = 2.0 * math.pi / 60 * np.arange(60)
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(60)])
    corners = 0.05 * np.concatenate([ring, ring + (0.0, 0.0, 1.0)])  # noqa: RUF005
    corners += share * np.random.default_rng(1).uniform(-1.0, 1.0, corners.shape)
    fit = fit_hulls(corners.reshape(-1, 3, 3))
    (shape,) = fit.shapes
    assert isinstance(shape, pz.ConvexHull)
    assert shape.radius < 0.002
    assert outside(fit, corners) < 1e-9


def test_a_hull_stands_out_where_the_mesh_is_hollow() -> None:
    # The face across the elbow, from (0.1, 0.6) to (0.5, 0.1), is 0.312 away from its corner at (0.1, 0.1).
    assert 0.15 < fit_hulls(ELBOW).protrusion < 0.25
    assert fit_hulls(BOX).protrusion < 1e-15


@pytest.mark.parametrize(
    "surface", [pytest.param(CORNER, id="closed"), pytest.param(ELBOW, id="two boxes", marks=pytest.mark.slow)]
)
def test_several_hulls_are_nearer_and_hold_all_of_a_mesh_that_is_bent(tmp_path: Path, surface: Array) -> None:
    pytest.importorskip("coacd")
    mesh = pz.MeshShape(str(written(tmp_path, "elbow.ply", surface)), ROOM)
    around = pz.World()
    hulls = [around[name] for name in around.add_mesh("elbow", mesh, hulls=4)]
    assert 2 <= len(hulls) <= 4
    points = sampled(surface, 4000, 3)
    assert outside(Fit(tuple(hulls), True, 0.0, 0.0, 0.0), ROOM.act(points)) < 1e-6  # of numbers with six digits
    inside = np.concatenate([share * points + (1.0 - share) * np.roll(points, 1, axis=0) for share in (0.3, 0.5)])
    inside = inside[(inside[:, 0] < 0.1) | (inside[:, 2] < 0.1)]
    assert outside(Fit(tuple(hulls), True, 0.0, 0.0, 0.0), ROOM.act(inside)) < 1e-3
    fit = pz.fit_shapes(robot(tmp_path / "elbow.ply"), hulls=4).meshes[0]
    assert fit.protrusion < 0.2 * fit_hulls(ELBOW).protrusion
    whole = pz.World()
    whole.add_mesh("elbow", mesh)
    with refused("duplicate", "elbow"):
        whole.add_mesh("elbow", mesh)
    # Between the arms there is room, where one hull has none.
    ball = pz.World({"ball": pz.Sphere(ROOM.act((0.2, 0.05, 0.2)), 0.02)})
    arm = robot(tmp_path / "elbow.ply", pose=ROOM)
    assert not arm.with_shapes({"hand": hulls}).in_collision(arm.home, ball)
    assert arm.with_shapes({"hand": [whole["elbow"]]}).in_collision(arm.home, ball)


def test_several_hulls_ask_for_what_makes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coacd", None)
    mesh = pz.MeshShape(str(written(tmp_path, "box.ply")))
    assert pz.World().add_mesh("box", mesh) == ("box",)
    with pytest.raises(pz.MissingExtra, match=r"poise\[hulls\]"):
        pz.World().add_mesh("box", mesh, hulls=3)
    with refused("out-of-range", "hulls"):
        pz.World().add_mesh("box", mesh, hulls=0)


def test_a_surface_goes_round_what_is_within() -> None:
    for surface in (BOX, BALL, BAR):
        corners = surface.reshape(-1, 3)
        middle, extent = corners.mean(axis=0), np.ptp(corners, axis=0).max()
        assert enclose(surface, np.array([middle])).all()
        assert not enclose(surface, middle + extent * np.concatenate([np.eye(3), -np.eye(3)])).any()
    assert not enclose(ELBOW, np.array([[0.3, 0.05, 0.3]])).any()


def test_what_has_no_volume_gets_a_hull_of_almost_none() -> None:
    a, b, c, d = 0.1 * np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    plate = fit_hulls(np.array([[a, b, c], [a, c, d]]))
    (shape,) = plate.shapes
    assert isinstance(shape, pz.ConvexHull)
    assert plate.protrusion < 1e-5
    assert not isinstance(fit_hulls(BOX[:1]).shapes[0], pz.ConvexHull)  # three corners
    point = np.ones((1, 3, 3))
    assert fit_capsules(point, 4).shapes[0].radius == 0.0


def test_the_report_is_true() -> None:
    fit = fit_capsules(BOX, 1)
    assert fit.closed
    assert fit.volume == pytest.approx(0.1 * 0.2 * 0.4)
    assert fit.fitted == pytest.approx(volume(fit.shapes[0]))
    (capsule,) = fit.shapes
    # The farthest point of the capsule from the box is on its end or its side.
    end = 0.5 * (capsule.length if isinstance(capsule, pz.Capsule) else 0.0) + capsule.radius - 0.2
    assert fit.protrusion == pytest.approx(max(end, capsule.radius - 0.05), rel=0.05)
    assert not fit_capsules(OPEN, 1).closed
    assert fit_capsules(OPEN, 1).volume == pytest.approx(0.1 * 0.2 * 0.4)


def test_the_volume_of_a_union_is_that_of_its_parts_less_what_they_share() -> None:
    apart = [pz.Sphere([0, 0, 0], 0.1), pz.Sphere([0, 0, 0.3], 0.1), pz.Capsule([1, 0, 0], [1, 0, 0.2], 0.1)]
    assert union_volume(apart) == pytest.approx(sum(map(volume, apart)), rel=0.02)
    lens = math.pi * (2 * 0.1 - 0.1) ** 2 * (0.1**2 + 2 * 0.1 * 0.2) / (12 * 0.1)
    shared = [pz.Sphere([0, 0, 0], 0.1), pz.Sphere([0, 0, 0.1], 0.1)]
    assert union_volume(shared) == pytest.approx(2 * volume(shared[0]) - lens, rel=0.02)


@given(st.integers(0, 2**32 - 1), st.integers(2, 30))
@settings(max_examples=20)
def test_a_smallest_capsule_holds_its_points(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3)) * rng.uniform(0.1, 1.0, 3)
    shape = smallest_capsule(points)
    assert depths(shape, points).min() > -1e-12
    assert volume(shape) <= volume(smallest_capsule(points, thorough=False)) * 1.1


def test_distances_from_triangles_are_those_of_a_search_over_each() -> None:
    rng = np.random.default_rng(4)
    surface, points = rng.normal(size=(60, 3, 3)), rng.normal(size=(40, 3))
    mesh = trimesh.Trimesh(surface.reshape(-1, 3), np.arange(180).reshape(-1, 3), process=False)
    wanted = trimesh.proximity.closest_point_naive(mesh, points)[1]
    np.testing.assert_allclose(distances(points, surface), wanted, rtol=0, atol=1e-14)


def test_halves_are_the_whole() -> None:
    def area(part: Array) -> float:
        return 0.5 * float(np.linalg.norm(np.cross(part[:, 1] - part[:, 0], part[:, 2] - part[:, 0]), axis=1).sum())

    normal = np.array([0.48, 0.6, 0.64])
    below, above = halves(BALL, normal, 0.03)
    assert (below @ normal).max() <= 0.03 + 1e-15
    assert (above @ normal).min() >= 0.03 - 1e-15
    assert area(below) + area(above) == pytest.approx(area(BALL), rel=1e-12)
    for height in (-1.0, 1.0):
        assert sorted(map(len, halves(BALL, normal, height))) == [0, len(BALL)]


def test_only_what_is_closed_has_an_inside() -> None:
    assert is_closed(BOX)
    assert is_closed(ELBOW)
    assert not is_closed(OPEN)
    assert not is_closed(BOX[:0])
    assert enclosed_volume(ELBOW) == pytest.approx(0.1 * 0.1 * 1.0)


# Models ----------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fits"


def robot(file: Path, **mesh: Any) -> pz.Model:
    builder = pz.ModelBuilder("arm")
    builder.joint("turn", "revolute", parent="base", child="hand")
    builder.shape("base", pz.Sphere([0, 0, 0], 0.2))
    builder.shape("hand", pz.MeshShape(str(file), **mesh), pz.Sphere([0, 0, 1], 0.1))
    return builder.build()


def written(folder: Path, name: str = "box.stl", surface: Array = BOX) -> Path:
    mesh = trimesh.Trimesh(surface.reshape(-1, 3), np.arange(3 * len(surface)).reshape(-1, 3), process=False)
    mesh.export(folder / name)
    return folder / name


@pytest.mark.parametrize("name", ["box.stl", "box.obj", "box.dae", "box.ply"])
@pytest.mark.parametrize("hulls", [False, True])
def test_meshes_are_replaced_where_they_are(tmp_path: Path, name: str, hulls: bool) -> None:
    if name.endswith("dae"):
        pytest.importorskip("collada")
    scale = np.array([1.0, -2.0, 0.5])
    model = robot(written(tmp_path, name), pose=ROOM, scale=scale)
    found = pz.fit_shapes(model, capsules=2, hulls=hulls)
    (fit,) = found.meshes
    *shapes, ball = found.model.shapes["hand"]
    assert (tuple(shapes), ball) == (fit.shapes, pz.Sphere([0, 0, 1], 0.1))
    assert found.model.shapes["base"] == model.shapes["base"]
    points = ROOM.act(sampled(BOX, 1000, 5) * scale)
    assert outside(Fit(fit.shapes, True, 0.0, 0.0, 0.0), points) < 1e-6  # of numbers with six digits
    assert fit.volume == pytest.approx(0.1 * 0.2 * 0.4, rel=1e-5)
    assert found.excess == {"hand": fit.excess}
    assert fit.excess == fit.fitted - fit.volume > -1e-9
    assert found.protrusion == fit.protrusion
    assert str(found).splitlines()[1].split()[:3] == ["hand", str(len(shapes)), type(shapes[0]).__name__]


@pytest.mark.parametrize(("terminal", "seconds", "seen"), [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False)])
def test_on_a_terminal_a_bar_says_how_far_a_long_fit_is(
    tmp_path: Path, capsys: Any, monkeypatch: Any, terminal: bool, seconds: float, seen: bool
) -> None:
    monkeypatch.setattr("poise.model.fitting.on_terminal", lambda: terminal)
    monkeypatch.setattr("poise.model.fitting._SECONDS", seconds)
    pz.fit_shapes(robot(written(tmp_path)), capsules=1)
    assert ("fitting meshes" in capsys.readouterr().err) == seen


def test_only_the_links_that_are_named_are_fitted(tmp_path: Path) -> None:
    model = robot(tmp_path / "nowhere.stl")
    found = pz.fit_shapes(model, links=["base"])
    assert dict(found.model.shapes) == dict(model.shapes)
    assert (found.meshes, found.protrusion, dict(found.excess)) == ((), 0.0, {})


def test_a_model_fits_its_meshes_when_it_is_asked(tmp_path: Path) -> None:
    model = robot(written(tmp_path))
    assert dict(model.fitted_shapes) == dict(pz.fit_shapes(model, hulls=True).model.shapes)
    assert str(model.shape_fit) == str(pz.fit_shapes(model, hulls=True))
    meshless = pz.load("panda")
    assert meshless.fitted_shapes is meshless.shapes


def test_a_fit_is_kept_until_the_file_or_the_settings_change(tmp_path: Path, cache: Path, monkeypatch: Any) -> None:
    model = robot(written(tmp_path))
    first = pz.fit_shapes(model, capsules=2)
    (file,) = cache.iterdir()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "trimesh", None)  # it is not needed for what is kept
        again = pz.fit_shapes(model, capsules=2)
    assert again.meshes == first.meshes
    pz.fit_shapes(model, capsules=1)
    assert len(list(cache.iterdir())) == 2
    pz.fit_shapes(robot(written(tmp_path), scale=(1, 1, 2)), capsules=2)
    assert len(list(cache.iterdir())) == 3
    written(tmp_path, surface=BAR)
    assert pz.fit_shapes(model, capsules=2).meshes != first.meshes
    assert len(list(cache.iterdir())) == 4
    assert file in cache.iterdir()


@pytest.mark.parametrize("damage", ["", "{}", "[1", '{"shapes": [["cube", 1]], "closed": true}', '{"shapes": 3}'])
def test_what_is_damaged_is_made_anew(cache: Path, damage: str) -> None:
    made = []

    def make() -> Fit:
        made.append(1)
        return fit_capsules(BAR, 1)

    first = cached_fit(b"bar", "1", make)
    (file,) = cache.iterdir()
    whole = file.read_text()
    assert cached_fit(b"bar", "1", make) == first
    file.write_text(damage)
    assert cached_fit(b"bar", "1", make) == first
    assert len(made) == 2
    assert json.loads(file.read_text()) == json.loads(whole)


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert len(pz.fit_shapes(robot(written(tmp_path))).meshes) == 1


def nan_box(folder: Path) -> Path:
    surface = BOX.copy()
    surface[3, 1, 2] = np.nan
    return written(folder, "nan.stl", surface)


def text(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content)
    return folder / name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "no.stl", "the mesh of link 'hand' is not there; load the model with package_dirs"),
        (lambda folder: folder, "the mesh of link 'hand' cannot be read: .*directory"),
        (nan_box, "has a corner that is not finite"),
        (lambda folder: text(folder, "no.obj", "# nothing\n"), "the mesh of link 'hand' "),
        (lambda folder: text(folder, "no.stl", "solid x\nendsolid x\n"), "the mesh of link 'hand' "),
        (lambda folder: text(folder, "no.xyzzy", "?"), "cannot be read by trimesh"),
        (lambda folder: text(folder, "points.obj", "v 0 0 0\nv 1 0 0\n"), "the mesh of link 'hand' "),
    ],
)
def test_what_is_no_solid_is_refused(tmp_path: Path, make: Any, message: str) -> None:
    file = make(tmp_path)
    with pytest.raises(pz.ModelError, match=message) as caught:
        pz.fit_shapes(robot(file))
    assert caught.value.file == str(file)


def test_without_trimesh_the_command_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(pz.MissingExtra, match=r'fitting shapes to meshes needs trimesh: pip install "poise\[meshes\]"'):
        pz.fit_shapes(robot(written(tmp_path)))


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        ({"capsules": 0}, "out-of-range", "capsules"),
        ({"capsules": 2.5}, "out-of-range", "capsules"),
        ({"links": ["hnad"]}, "unknown-name", "did you mean 'hand'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: Any, code: str, words: str) -> None:
    with refused(code, words):
        pz.fit_shapes(robot(Path("box.stl")), **settings)


@pytest.mark.skipif("panda" not in installed_robots(), reason="example-robot-data is not installed")
def test_all_of_a_real_arm_is_inside() -> None:
    model = pz.load("example-robot-data/panda")
    found = pz.fit_shapes(model, capsules=1)
    assert len(found.meshes) == 9
    for fit in found.meshes:
        mesh = trimesh.load_mesh(fit.mesh.file)
        points = fit.mesh.pose.act(sampled(triangles(mesh), 3000, 6))
        assert outside(Fit(fit.shapes, True, 0.0, 0.0, 0.0), points) < 1e-12
        assert fit.closed
        assert fit.volume == pytest.approx(mesh.volume)
        assert fit.fitted < 2.6 * fit.volume
