"""Meshes as they are drawn: decoded once, kept on disk, with sharp edges and few enough triangles."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import poise as pz
from poise.geometry.visuals import Surface
from poise.viewer.scene import surface_cache as kept_surfaces
from poise.viewer.scene import surfaces
from poise.viewer.scene.surface_cache import surface
from poise.viewer.scene.surfaces import ColouredSurface, drawable

trimesh = pytest.importorskip("trimesh")
BALL = trimesh.creation.icosphere(subdivisions=3, radius=0.5)
BOX = trimesh.creation.box((1.0, 2.0, 3.0))


def plain(mesh: "trimesh.Trimesh") -> ColouredSurface:
    return drawable(mesh.triangles, np.zeros((len(mesh.faces), 3, 4), dtype=np.uint8))


def volume(found: ColouredSurface) -> float:
    return float(trimesh.Trimesh(found.vertices.astype(float), found.faces, process=False).volume)


def same(found: ColouredSurface, wanted: ColouredSurface) -> bool:
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "surfaces"


# Edges -----------------------------------------------------------------------------------------------------------


def test_smooth_surfaces_share_their_vertices_and_edges_are_sharp() -> None:
    assert len(plain(BALL).vertices) == len(BALL.vertices)
    assert len(plain(BOX).vertices) == 24
    drum = plain(trimesh.creation.cylinder(radius=1.0, height=1.0, sections=32))
    assert len(drum.vertices) == 2 * 32 + 2 * 33  # the wall, and two ends with a middle
    for mesh in (BALL, BOX):
        found = plain(mesh)
        assert len(found.faces) == len(mesh.faces)
        assert volume(found) == pytest.approx(mesh.volume, rel=1e-5)


def test_vertices_that_a_file_repeats_are_found_to_be_the_same() -> None:
    scattered = trimesh.Trimesh(
        BALL.triangles.reshape(-1, 3), np.arange(3 * len(BALL.faces)).reshape(-1, 3), process=False
    )
    assert len(plain(scattered).vertices) == len(BALL.vertices)


def test_colours_end_at_a_seam() -> None:
    red = BALL.triangles_center[:, 2] > 0.0
    colours = np.where(red[:, None, None], np.uint8([255, 0, 0, 255]), np.uint8([0, 0, 255, 255]))
    found = drawable(BALL.triangles, np.broadcast_to(colours, (len(red), 3, 4)))
    np.testing.assert_array_equal(found.colours[found.faces], np.broadcast_to(colours, (len(red), 3, 4)))
    assert len(BALL.vertices) < len(found.vertices) < len(BALL.vertices) + 100


def test_triangles_without_an_area_are_dropped() -> None:
    flat = np.array([[[0, 0, 0], [0, 0, 0], [1, 0, 0]], [[0, 0, 0], [1, 0, 0], [2, 0, 0]]], dtype=float)
    triangles = np.concatenate([BOX.triangles, flat])
    assert same(drawable(triangles, np.zeros((len(triangles), 3, 4), dtype=np.uint8)), plain(BOX))


def test_a_mesh_with_too_many_triangles_is_drawn_with_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    fine = trimesh.creation.icosphere(subdivisions=5, radius=0.5)
    monkeypatch.setattr(surfaces, "_MOST", 5000)
    found = plain(fine)
    assert 1000 < len(found.faces) <= 5000 < len(fine.faces)
    np.testing.assert_allclose(np.ptp(found.vertices, axis=0), [1.0, 1.0, 1.0], atol=0.05)
    assert volume(found) == pytest.approx(fine.volume, rel=0.05)


# Files -----------------------------------------------------------------------------------------------------------


def painted(folder: Path) -> pz.MeshShape:
    mesh = BOX.copy()
    mesh.visual = trimesh.visual.ColorVisuals(mesh, face_colors=np.tile(np.uint8([10, 20, 30, 255]), (12, 1)))
    mesh.export(folder / "box.ply")
    return pz.MeshShape(str(folder / "box.ply"))


def test_what_is_kept_is_what_was_decoded(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = painted(tmp_path)
    first = surface(mesh)
    assert (first.colours == [10, 20, 30, 255]).all()
    assert volume(first) == pytest.approx(6.0)
    assert len(list(cache.iterdir())) == 1

    def never(mesh: pz.MeshShape, content: bytes) -> ColouredSurface:
        raise AssertionError("a mesh that is kept is not decoded again")

    monkeypatch.setattr(kept_surfaces, "decoded", never)
    assert same(surface(mesh), first)
    os.rename(mesh.file, tmp_path / "moved.PLY")
    assert same(surface(pz.MeshShape(str(tmp_path / "moved.PLY"), scale=(2, 2, 2))), first)


def test_a_mesh_in_memory_is_kept_likewise(cache: Path) -> None:
    memory = Surface(pz.SE3.identity(), BOX.vertices.astype(np.float32), BOX.faces.astype(np.uint32))
    assert (len(BOX.vertices), len(surface(memory).vertices)) == (8, 24)
    assert same(surface(memory), plain(BOX))
    assert len(list(cache.iterdir())) == 1


def test_a_mesh_that_has_changed_is_decoded_anew(tmp_path: Path, cache: Path) -> None:
    mesh = painted(tmp_path)
    surface(mesh)
    BALL.export(mesh.file)
    assert volume(surface(mesh)) == pytest.approx(BALL.volume, rel=1e-5)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:10],
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
        lambda content: b"\0" * len(content),
    ],
)
def test_a_damaged_file_counts_as_not_kept(tmp_path: Path, cache: Path, damage: Callable[[bytes], bytes]) -> None:
    mesh = painted(tmp_path)
    first = surface(mesh)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert same(surface(mesh), first)
    assert file.read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_no_matter(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = painted(tmp_path)
    cache.parent.mkdir()
    cache.write_text("a file where the folder would be")
    assert volume(surface(mesh)) == pytest.approx(6.0)


def test_materials_of_a_collada_file_are_its_colours(tmp_path: Path, cache: Path) -> None:
    pytest.importorskip("collada")
    mesh = BOX.copy()
    material = trimesh.visual.material.PBRMaterial(baseColorFactor=[255, 128, 0, 255])
    mesh.visual = trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), material=material)
    (tmp_path / "box.dae").write_bytes(trimesh.exchange.dae.export_collada(mesh))
    found = surface(pz.MeshShape(str(tmp_path / "box.dae")))
    np.testing.assert_allclose(found.colours, np.tile([255, 128, 0, 255], (24, 1)), atol=1)
