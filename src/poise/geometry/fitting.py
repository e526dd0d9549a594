"""Meshes as capsules and spheres that hold all of them.

One capsule is put around all corners.  Then the surface is cut by a plane, and each half gets a capsule of its own,
where that takes away volume; this goes on with the half that gains the most.  Triangles are cut along the plane, so
what is on one side of it, surface and inside, is in the convex hull of the corners of that side, and in its capsule:
nothing of the solid is outside the union, whatever the search for planes and axes finds.

Convex hulls are put around the whole, or around parts that are nearly convex, see `poise.geometry.decomposition`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.geometry.decomposition import nearly_convex
from poise.geometry.hull import Triangles, hull_faces
from poise.geometry.shapes import Capsule, ConvexHull, Sphere
from poise.geometry.smallest import directions, outermost, principal_axes, smallest_capsule, volume
from poise.geometry.triangles import distances, enclose, enclosed_volume, halves, is_closed, normals_of
from poise.spatial import SE3

_WORTH: Final = 0.1
"""The share of all volume that a cut must take away."""
_SHARES: Final = (0.25, 0.4, 0.5, 0.6, 0.75)
"""Where along an axis a cut is tried."""
_LOOKED_AT: Final = 500
"""Triangles by which cuts are compared."""
_SAMPLES: Final = 20_000
_FEWER_SAMPLES: Final = 2_000
"""Points by which the volume of a union is counted, and where many are compared."""
_JOGGLES: Final = (0.0, 1e-6, 1e-5, 1e-4)
"""By how much of the extent corners are moved whose hull rounding would decide, as that of a plate or a cylinder."""
_CORNERS: Final = 160
"""Of a hull, at most: each takes its time whenever a distance is searched for."""
_LOW: Final = 1e-4
"""What stands out of a hull by no more [m] gets no corner."""
_ROUNDING: Final = 1e-12
"""How far above a face a point may lie [m]."""
_ROBERTS: Final = (np.arange(1, _SAMPLES + 1)[:, None] / 1.22074408460575947536 ** np.arange(1, 4)) % 1.0
"""(n, 3) points spread evenly over a cube; the number is the root of x^4 = x + 1."""
_ON_SURFACE: Final = 80
"""Points on each shape that are looked at for how far it stands out."""


@final
@dataclass(frozen=True, slots=True)
class Fit:
    """The shapes around one mesh, in the frame in which its triangles were given."""

    shapes: tuple[Capsule | Sphere | ConvexHull, ...]
    closed: bool
    """Whether the surface has an inside.  If not, its volume here is that of its convex hull."""
    volume: float
    """Of the mesh [m^3]."""
    fitted: float
    """Of the union of the shapes [m^3], to about 1 % where there are several; of several hulls together."""
    protrusion: float
    """How far the shapes stand out of the mesh at most [m], by points on them."""


def fit_capsules(triangles: Array, most: int) -> Fit:
    """At most `most` capsules and spheres around a surface of triangles (n, 3, 3)."""
    pieces = [triangles]
    shapes: list[Capsule | Sphere] = [_around(triangles)]
    whole = union_volume(shapes)
    stuck: set[int] = set()
    while len(shapes) < most and len(stuck) < len(pieces):
        at = max((i for i in range(len(pieces)) if id(pieces[i]) not in stuck), key=lambda i: volume(shapes[i]))
        cut = _best_cut(pieces[at])
        halved = [_around(half) for half in cut]
        others = [*shapes[:at], *shapes[at + 1 :]]
        smaller = union_volume([*others, *halved]) if cut else whole
        if whole - smaller <= _WORTH * whole:
            stuck.add(id(pieces[at]))
            continue
        pieces[at : at + 1], shapes[at : at + 1], whole = cut, halved, smaller
    return _judged(triangles, tuple(shapes), whole)


def fit_hulls(triangles: Array, most: int = 1) -> Fit:
    """At most `most` convex hulls around a surface of triangles (n, 3, 3), of few corners each, with a radius for what
    those leave out.

    Raises MissingExtra where there may be several, without the `hulls` extra.
    """
    every = triangles.reshape(-1, 3)
    hulls = [_hull(points) for points in ([every] if most == 1 else nearly_convex(triangles, most))]
    return _judged(triangles, tuple(hull for hull, _ in hulls), sum(size for _, size in hulls))


def _hull(points: Array) -> tuple[Capsule | Sphere | ConvexHull, float]:
    """A hull of few corners around points (n, 3), and its volume [m^3]; a capsule where they have none."""
    points = np.unique(points, axis=0)
    found = _faces_of(points)
    if found is None:
        capsule = smallest_capsule(points)
        return capsule, volume(capsule)
    corners, faces = found
    sides = corners[faces]
    normals, areas = normals_of(sides)
    heights = np.einsum("ij,ij->i", normals, sides[:, 0])
    pieces = np.array_split(points, len(points) // 4096 + 1)
    left = np.concatenate([piece[(piece @ normals.T - heights).max(axis=1) > _ROUNDING] for piece in pieces])
    radius = float(distances(left, sides).max(initial=0.0))
    hull = ConvexHull.of_corners(corners[np.unique(faces)], radius, pose=SE3.identity())
    return hull, float(enclosed_volume(sides) + areas.sum() * radius + 4.0 / 3.0 * math.pi * radius**3)


def _faces_of(points: Array) -> tuple[Array, Triangles] | None:
    """Points (n, 3) and the faces of a hull of few of them; where rounding would decide, of points moved a little.

    None where there are too few.
    """
    extent, rng = float(np.ptp(points, axis=0).max(initial=0.0)), np.random.default_rng(0)
    for share in _JOGGLES:
        moved = points + share * extent * rng.uniform(-1.0, 1.0, points.shape)
        faces = hull_faces(moved, corners=_CORNERS, height=_LOW)
        if faces is not None:
            return moved, faces
    return None


def _around(triangles: Array, *, thorough: bool = True) -> Capsule | Sphere:
    return smallest_capsule(triangles.reshape(-1, 3), thorough=thorough)


def _best_cut(triangles: Array) -> list[Array]:
    """The two halves whose capsules have the least volume together; none where there are no halves."""
    some = triangles[:: len(triangles) // _LOOKED_AT + 1]
    points = some.reshape(-1, 3)
    best, plane = math.inf, (np.zeros(3), 0.0)
    for axis in np.concatenate([principal_axes(outermost(points)), np.eye(3)]):
        along = points @ axis
        low, high = float(along.min()), float(along.max())
        for share in _SHARES:
            height = low + share * (high - low)
            parts = [part for part in halves(some, axis, height) if len(part)]
            if len(parts) == 2:
                size = union_volume([_around(part, thorough=False) for part in parts], _FEWER_SAMPLES)
                if size < best:
                    best, plane = size, (axis, height)
    cut = list(halves(triangles, *plane))
    return cut if all(map(len, cut)) else []


def _judged(triangles: Array, shapes: tuple[Capsule | Sphere | ConvexHull, ...], fitted: float) -> Fit:
    closed = is_closed(triangles)
    size = abs(enclosed_volume(triangles)) if closed else _hull_volume(triangles)
    return Fit(shapes, closed, size, max(fitted, size) if closed else fitted, _protrusion(triangles, shapes))


def _hull_volume(triangles: Array) -> float:
    points = outermost(triangles.reshape(-1, 3))
    faces = hull_faces(points)
    return 0.0 if faces is None else enclosed_volume(points[faces])


def union_volume(shapes: Sequence[Capsule | Sphere], samples: int = _SAMPLES) -> float:
    """The volume of the union [m^3], counted by points of the sequence of Roberts (2018) if there are several."""
    if len(shapes) == 1:
        return volume(shapes[0])
    ends = np.array([_ends(shape) for shape in shapes])
    radii = np.array([shape.radius for shape in shapes])[:, None]
    low, high = (ends.min(axis=1) - radii).min(axis=0), (ends.max(axis=1) + radii).max(axis=0)
    points = low + _ROBERTS[:samples] * (high - low)
    within = np.any([depths(shape, points) >= 0.0 for shape in shapes], axis=0)
    return float(within.mean() * np.prod(high - low))


def depths(shape: Capsule | Sphere, points: Array) -> Array:
    """(n,) how far within a shape points (n, 3) are [m]; negative outside."""
    start, end = _ends(shape)
    way = end - start
    share = np.clip((points - start) @ way / max(float(way @ way), np.finfo(float).tiny), 0.0, 1.0)
    return shape.radius - np.linalg.norm(points - start - share[:, None] * way, axis=1)


def _ends(shape: Capsule | Sphere) -> tuple[Array, Array]:
    if isinstance(shape, Capsule):
        return np.array(shape.start), np.array(shape.end)
    return np.array(shape.centre), np.array(shape.centre)


def _protrusion(triangles: Array, shapes: tuple[Capsule | Sphere | ConvexHull, ...]) -> float:
    """How far the surface of the union is from the mesh at most [m]; between the points looked at it may be more."""
    farthest = 0.0
    for i, shape in enumerate(shapes):
        points = surface(shape)
        for other in (*shapes[:i], *shapes[i + 1 :]):
            if not isinstance(other, ConvexHull):
                points = points[depths(other, points) <= 0.0]
        if len(shapes) > 1:
            points = points[~enclose(triangles, points)]  # where shapes meet
        farthest = max(farthest, float(distances(points, triangles).max(initial=0.0)))
    return farthest


def surface(shape: Capsule | Sphere | ConvexHull) -> Array:
    """(n, 3) points on the surface of a shape: round ends and, of a capsule, its side; above the faces of a hull."""
    if isinstance(shape, ConvexHull):
        corners = np.asarray(shape.points)
        faces = hull_faces(corners)
        sides = corners[[] if faces is None else faces].reshape(-1, 3, 3)
        return sides.mean(axis=1) + shape.radius * normals_of(sides)[0]
    start, end = _ends(shape)
    ways = directions(_ON_SURFACE // 2)
    ways = np.concatenate([ways, -ways])
    forward = ways @ (end - start) > 0.0
    round_ends = np.where(forward[:, None], end, start) + shape.radius * ways
    if not isinstance(shape, Capsule) or shape.length == 0.0:
        return round_ends
    axis = (end - start) / shape.length
    flat = ways - (ways @ axis)[:, None] * axis
    flat /= np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), np.finfo(float).tiny)
    share = (np.arange(len(ways)) + 0.5)[:, None] / len(ways)
    return np.concatenate([round_ends, start + share * (end - start) + shape.radius * flat])
