"""Triangles in place of round and flat bodies, each in a frame of its own.

Corners of round bodies lie on them, so that the triangles are within.  Vertices are shared where a surface is smooth
and repeated along its edges, so that whoever shades by the mean normal of a vertex shows edges as edges.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.geometry.hull import hull_faces
from poise.geometry.shapes import Point
from poise.spatial import SE3

Faces = npt.NDArray[np.integer[Any]]
TURN: Final = 32
"""Corners of a circle, unless told otherwise."""
_THIN: Final = 1e-3
"""How thick a flat hull is drawn, as a share of its extent."""


class Triangles(NamedTuple):
    """A surface; its triangles turn left seen from outside."""

    vertices: npt.NDArray[np.floating[Any]]
    """(n, 3) [m]"""
    faces: Faces
    """(m, 3) places in `vertices`."""

    def placed(self, pose: SE3) -> "Triangles":
        """The surface seen from the frame in which its own is at `pose`."""
        return Triangles(pose.act(self.vertices), self.faces)

    def stretched(self, factors: Point) -> "Triangles":
        """The surface with x, y and z multiplied by `factors` (3,); negative ones mirror it."""
        mirrored = math.prod(factors) < 0.0
        return Triangles(self.vertices * np.asarray(factors), self.faces[:, ::-1] if mirrored else self.faces)

    def faceted(self) -> "Triangles":
        """The surface with an edge between any two triangles."""
        return Triangles(self.vertices[self.faces].reshape(-1, 3), np.arange(self.faces.size).reshape(-1, 3))


def turned(profile: Sequence[tuple[float, float]], n: int = TURN) -> Triangles:
    """The surface that a line of points (radius, height) goes over when it turns about z, in `n` steps.

    Outside is to the right of the line.  A point that is given twice is an edge.
    """
    radii, heights = np.array(profile, dtype=np.float64).T
    angles = 2.0 * math.pi / n * np.arange(n)
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(n)])
    rings = radii[:, None, None] * circle + heights[:, None, None] * np.array([0.0, 0.0, 1.0])
    here = np.arange(n)
    after = np.roll(here, -1)
    faces = []
    for i in range(len(radii) - 1):
        if radii[i] == radii[i + 1] and heights[i] == heights[i + 1]:
            continue
        low, high = i * n, (i + 1) * n
        if radii[i] > 0.0:
            faces.append(np.column_stack([low + here, low + after, high + after]))
        if radii[i + 1] > 0.0:
            faces.append(np.column_stack([low + here, high + after, high + here]))
    return Triangles(rings.reshape(-1, 3), np.concatenate(faces) if faces else np.zeros((0, 3), dtype=np.intp))


def sphere(radius: float, n: int = TURN) -> Triangles:
    """A sphere about the origin [m]."""
    return capsule(radius, 0.0, n)


def ellipsoid(semi_axes: Point, n: int = TURN) -> Triangles:
    """An ellipsoid about the origin with these semi-axes (3,) along x, y and z [m]."""
    return sphere(1.0, n).stretched(semi_axes)


def capsule(radius: float, length: float, n: int = TURN) -> Triangles:
    """A capsule about the origin along z; its straight part has this `length` [m]."""
    steps = n // 4
    angles = 0.5 * math.pi / steps * np.arange(steps + 1)
    out, up = radius * np.sin(angles), 0.5 * length + radius * np.cos(angles)
    out[0] = 0.0
    top = list(zip(out.tolist(), up.tolist(), strict=True))
    bottom = [(r, -z) for r, z in top]
    return turned([*bottom, *reversed(top[:-1] if length == 0.0 else top)], n)


def cylinder(radius: float, length: float, n: int = TURN) -> Triangles:
    """A cylinder about the origin along z [m]."""
    low, high = (radius, -0.5 * length), (radius, 0.5 * length)
    return turned([(0.0, -0.5 * length), low, low, high, high, (0.0, 0.5 * length)], n)


def box(size: Point) -> Triangles:
    """A box about the origin with edges of these lengths (3,) along x, y and z [m]."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * np.asarray(size)
    sides = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    first = 4 * np.arange(6)[:, None]
    return Triangles(
        corners[sides].reshape(-1, 3), np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])])
    )


def hull(points: Array, radius: float = 0.0) -> Triangles:
    """All within `radius` of the convex hull of `points` (n, 3) [m]; one that is flat is drawn with some thickness."""
    if radius > 0.0:
        ball = np.unique(sphere(radius, 16).vertices.round(12), axis=0)
        points = (points[:, None] + ball).reshape(-1, 3)
    faces = hull_faces(points)
    if faces is None:
        thin = _THIN * max(float(np.ptp(points, axis=0).max()), 1e-6)
        around = np.concatenate([np.eye(3), -np.eye(3)])
        points = (points[:, None] + thin * around).reshape(-1, 3)
        faces = hull_faces(points)
    found = Triangles(points, np.zeros((0, 3), dtype=np.intp) if faces is None else faces)
    return found if radius > 0.0 else found.faceted()


def terrain(heights: Array, cell: float) -> Triangles:
    """The tops of the cells of a height map, and the walls between them; nothing where a cell is a hole."""
    rows, columns = heights.shape
    y, x = (np.repeat(np.arange(n + 1) - 0.5 * n, 2)[1:-1] * cell for n in (rows, columns))
    z = heights.repeat(2, axis=0).repeat(2, axis=1)
    places = np.arange(z.size).reshape(z.shape)
    a, b, c, d = (part.ravel() for part in (places[:-1, :-1], places[:-1, 1:], places[1:, 1:], places[1:, :-1]))
    vertices = np.column_stack([np.tile(x, len(y)), np.repeat(y, len(x)), z.ravel()])
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    holes = np.isnan(vertices[:, 2])
    return Triangles(np.nan_to_num(vertices), faces[~holes[faces].any(axis=1)])


def bone(length: float, width: float) -> Triangles:
    """What joins two joints: from the origin to `length` along z, four-sided, widest near its beginning [m]."""
    return turned([(0.0, 0.0), (0.5 * width, 0.15 * length), (0.0, length)], 4).faceted()


def arrow(length: float, radius: float, n: int = 16) -> Triangles:
    """An arrow from the origin to `length` along z, whose shaft has this `radius` [m]."""
    neck = max(length - 5.0 * radius, 0.5 * length)
    shaft, wide = [(radius, 0.0), (radius, neck)], (2.0 * radius, neck)
    return turned([(0.0, 0.0), shaft[0], *shaft, shaft[1], wide, wide, (0.0, length)], n)


def axes(length: float, radius: float, n: int = 16) -> tuple[Triangles, Triangles, Triangles]:
    """Three arrows from the origin along x, y and z [m]."""
    z = arrow(length, radius, n)
    return Triangles(z.vertices[:, [2, 0, 1]], z.faces), Triangles(z.vertices[:, [1, 2, 0]], z.faces), z
