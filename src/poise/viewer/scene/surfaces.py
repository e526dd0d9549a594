"""The meshes of files as they are drawn: edges sharp, the rest smooth, and not more triangles than a browser likes.

Files say little about smoothness, and what they say is often lost on the way, so it is found anew: two triangles with
an edge in common share its vertices if they meet at less than 40 degrees.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.geometry.meshes import MeshShape, mesh_parts
from poise.geometry.triangles import normals_of

Numbers = npt.NDArray[np.intp]
_CREASE: Final = math.cos(math.radians(40.0))
_MOST: Final = 200_000
"""Triangles of one mesh; of a larger one, vertices that lie close together become one."""
_POINT: Final = 1e-30
"""The least extent of a mesh, in its units."""
_FINEST: Final = 1024
"""Cells along the longest edge of a mesh that has too many triangles, at first."""


class ColouredSurface(NamedTuple):
    """A surface with a colour at each vertex."""

    vertices: npt.NDArray[np.float32]
    """(n, 3)"""
    faces: npt.NDArray[np.uint32]
    """(m, 3) triangles that turn left seen from outside, as places in `vertices`."""
    colours: npt.NDArray[np.uint8]
    """(n, 4) red, green, blue and alpha; an alpha of 0 stands for none given."""


def decoded(mesh: MeshShape, content: bytes) -> ColouredSurface:
    """The surface of a mesh in the units of its file.

    Raises MissingExtra without the `viewer` extra, ModelError for what is no surface.
    """
    parts = mesh_parts(mesh.file, content, "drawing meshes", "viewer")
    named = not mesh.file.lower().endswith(".obj")  # whose materials are in another file, which is not read
    colours = np.concatenate([_colours(part, len(triangles), named) for triangles, part in parts])
    return drawable(np.concatenate([triangles for triangles, _ in parts]), colours)


def drawable(triangles: npt.NDArray[np.floating[Any]], colours: npt.NDArray[np.uint8]) -> ColouredSurface:
    """The surface of triangles (m, 3, 3) whose corners have colours (m, 3, 4); those without an area are dropped."""
    corners = triangles.astype(np.float32).reshape(-1, 3) + np.float32(0.0)  # no negative zeros
    points, places = _alike(corners)
    points, places = _coarser(points, places)
    normals, area = normals_of(points[places].astype(np.float64).reshape(-1, 3, 3))
    solid = area > 0.0
    places = places.reshape(-1, 3)[solid]
    groups = _smooth(places, normals[solid])
    tints = np.ascontiguousarray(colours[solid]).view(np.uint32).reshape(-1)
    keys = groups.reshape(-1).astype(np.int64) * 2**32 + tints
    _, first, faces = np.unique(keys, return_index=True, return_inverse=True)
    return ColouredSurface(
        points[places.reshape(-1)[first]],
        faces.reshape(-1, 3).astype(np.uint32),
        np.ascontiguousarray(tints[first]).view(np.uint8).reshape(-1, 4),
    )


def _colours(part: Any, count: int, named: bool) -> npt.NDArray[np.uint8]:
    """(count, 3, 4) the colours of the corners of a part, as trimesh has them; of materials only if `named`."""
    visual = part.visual
    match visual.kind:
        case "vertex":
            found = visual.vertex_colors[part.faces]
        case "face":
            found = visual.face_colors[:, None]
        case "texture" if named:
            found = visual.material.main_color
        case _:
            found = np.zeros(4)
    return np.broadcast_to(np.asarray(found, dtype=np.uint8), (count, 3, 4))


def _alike(rows: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], Numbers]:
    """The different rows (k, 3), and which of them each is (n,)."""
    order = np.lexsort(rows.T)
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    which = np.empty(len(rows), dtype=np.intp)
    which[order] = np.cumsum(new) - 1
    return rows[order[new]], which


def _coarser(points: npt.NDArray[np.float32], places: Numbers) -> tuple[npt.NDArray[np.float32], Numbers]:
    """The points, those within a cell of a grid as one, with the finest grid that leaves few enough triangles."""
    low, extent = points.min(axis=0), max(float(np.ptp(points, axis=0).max()), _POINT)
    cells, merged = _FINEST, np.arange(len(points))
    remaining = len(places) // 3
    while remaining > _MOST:
        grid = ((points - low) * (cells / extent)).astype(np.float32).round()
        _, merged = _alike(grid + np.float32(0.0))
        a, b, c = merged[places].reshape(-1, 3).T
        remaining = int(((a != b) & (b != c) & (c != a)).sum())
        cells //= 2
    if cells == _FINEST:
        return points, places
    count = np.bincount(merged)
    means = [np.bincount(merged, weights=points[:, axis]) / count for axis in range(3)]
    return np.column_stack(means).astype(np.float32), merged[places]


def _smooth(places: Numbers, normals: Array) -> Numbers:
    """(m, 3) a number for each corner of triangles, the same for those between which the surface is smooth."""
    count = len(places)
    start, end = places.reshape(-1), np.roll(places, -1, axis=1).reshape(-1)
    corner = np.arange(3 * count)
    after = np.roll(corner.reshape(-1, 3), -1, axis=1).reshape(-1)
    order = np.lexsort([np.maximum(start, end), np.minimum(start, end)])
    one, other = order[:-1], order[1:]
    # Neighbours go along their edge in opposite ways.
    meet = (start[one] == end[other]) & (end[one] == start[other])
    meet &= np.einsum("ij,ij->i", normals[one // 3], normals[other // 3]) > _CREASE
    one, other = one[meet], other[meet]
    left, right = np.concatenate([one, after[one]]), np.concatenate([after[other], other])
    groups = corner
    while True:
        least = np.minimum(groups[left], groups[right])
        joined = groups.copy()
        np.minimum.at(joined, left, least)
        np.minimum.at(joined, right, least)
        joined = joined[joined]
        if (joined == groups).all():
            return groups.reshape(-1, 3)
        groups = joined
