"""The geoms of an MJCF that can collide or are seen, and the pairs of bodies that MuJoCo never looks at.

A geom can collide if it has a `contype` or `conaffinity`, or is in a `<pair>`.  MuJoCo collides meshes by their convex
hulls, and so does poise.

Of the geoms in the groups 0 to 2, which MuJoCo shows unless told otherwise, those in 1 or 2 and those that cannot
collide are what a body looks like; if it has none of these, all of them are.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.geometry.enclosing import Ellipsoid
from poise.geometry.meshes import LinkShape
from poise.geometry.shapes import Box, Capsule, ConvexHull, Cylinder, HalfSpace, Sphere
from poise.geometry.visuals import Surface, VisualShape
from poise.spatial import SE3

KINDS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
"""Kinds of geoms in the order of `mjtGeom`."""
DEFAULT_COLOUR = (0.5, 0.5, 0.5, 1.0)
"""Of a geom that is given none."""
_FILTER_PARENT = 1 << 10
"""`mjDSBL_FILTERPARENT`."""


def colliding(m: Any) -> npt.NDArray[np.intp]:
    """The geoms that can collide, in the order of the file."""
    paired = np.isin(np.arange(m.ngeom), [m.pair_geom1, m.pair_geom2])
    return np.flatnonzero((m.geom_contype != 0) | (m.geom_conaffinity != 0) | paired)


def part(m: Any, geom: int, pose: SE3, size: Array) -> LinkShape | None:
    """The shape of a geom, whose pose and size are given; None if it has none here."""
    half = np.array([0.0, 0.0, size[1]])
    match KINDS[m.geom_type[geom]]:
        case "plane":
            return HalfSpace(pose.xyz, pose.rotation.act((0.0, 0.0, 1.0)))
        case "sphere":
            return Sphere(pose.xyz, float(size[0]))
        case "capsule":
            return Capsule(pose.act(-half), pose.act(half), float(size[0]))
        case "ellipsoid":
            return Ellipsoid(pose, size)
        case "cylinder":
            return Cylinder(pose, float(size[0]), 2.0 * float(size[1]))
        case "box":
            return Box(pose, 2.0 * size)
        case "mesh" | "sdf":
            return ConvexHull.of_corners(_hull(m, int(m.geom_dataid[geom])), pose=pose)
    return None


def seen(m: Any) -> npt.NDArray[np.intp]:
    """The geoms that are drawn, in the order of the file."""
    shown = (m.geom_group <= 2) & (colours(m)[:, 3] > 0.0)
    can_collide = np.isin(np.arange(m.ngeom), colliding(m))
    drawn = shown & ((m.geom_group > 0) | ~can_collide)
    bare = ~np.isin(m.geom_bodyid, m.geom_bodyid[drawn])
    return np.flatnonzero(drawn | (shown & bare))


def colours(m: Any) -> npt.NDArray[np.float64]:
    """(geoms, 4) red, green, blue and alpha from 0 to 1; a geom's own goes before that of its material."""
    own = m.geom_rgba.astype(np.float64)
    painted = (m.geom_matid >= 0) & (own == DEFAULT_COLOUR).all(axis=1)
    own[painted] = m.mat_rgba[m.geom_matid[painted]]
    return np.clip(np.nan_to_num(own), 0.0, 1.0)


def drawn_part(m: Any, geom: int, pose: SE3, size: Array) -> VisualShape | None:
    """What is drawn of a geom, whose pose and size are given; None if poise draws none of its kind.

    Meshes are those that MuJoCo has made of their files, which it moves to their centres and may mend.
    """
    match KINDS[m.geom_type[geom]]:
        case "plane" if size[0] > 0.0 and size[1] > 0.0:
            return Box(pose, (2.0 * size[0], 2.0 * size[1], 0.0))
        case "mesh" | "sdf":
            mesh = int(m.geom_dataid[geom])
            first, face = int(m.mesh_vertadr[mesh]), int(m.mesh_faceadr[mesh])
            vertices = np.array(m.mesh_vert[first : first + m.mesh_vertnum[mesh]])
            faces = m.mesh_face[face : face + m.mesh_facenum[mesh]].astype(np.uint32)
            return Surface(pose, vertices, faces)
    return part(m, geom, pose, size)


def never_compared(m: Any) -> Iterator[tuple[int, int]]:
    """The pairs of bodies with geoms that can collide, none of which MuJoCo ever looks at together."""
    geoms = colliding(m)
    bodies = np.unique(m.geom_bodyid[geoms])
    paired = {frozenset(pair) for pair in zip(_body(m, m.pair_geom1), _body(m, m.pair_geom2), strict=True)}
    excluded = {frozenset((s >> 16, s & 0xFFFF)) for s in map(int, m.exclude_signature)}
    kinds = {b: _bits(m, geoms[m.geom_bodyid[geoms] == b]) for b in bodies.tolist()}
    for first, second in combinations(bodies.tolist(), 2):
        pair = frozenset((first, second))
        ignored = pair in excluded or _akin(m, first, second) or not _affine(kinds[first], kinds[second])
        if ignored and pair not in paired:
            yield first, second


def _hull(m: Any, mesh: int) -> Array:
    """The corners of the mesh's convex hull, or all its vertices where MuJoCo has made none."""
    first = int(m.mesh_vertadr[mesh])
    vertices = m.mesh_vert[first : first + m.mesh_vertnum[mesh]].astype(np.float64)
    graph = int(m.mesh_graphadr[mesh])
    if graph < 0:
        return vertices
    # Two counts, then for each corner where its edges start, then for each its vertex.
    count = int(m.mesh_graph[graph])
    return vertices[m.mesh_graph[graph + 2 + count : graph + 2 + 2 * count]]


def _body(m: Any, geoms: npt.NDArray[np.int32]) -> list[int]:
    return [int(m.geom_bodyid[geom]) for geom in geoms]


def _bits(m: Any, geoms: npt.NDArray[np.intp]) -> set[tuple[int, int]]:
    return {(int(m.geom_contype[geom]), int(m.geom_conaffinity[geom])) for geom in geoms}


def _affine(first: set[tuple[int, int]], second: set[tuple[int, int]]) -> bool:
    """Whether any geom of the one body collides with one of the other, by their bits."""
    return any(type1 & affinity2 or type2 & affinity1 for type1, affinity1 in first for type2, affinity2 in second)


def _akin(m: Any, first: int, second: int) -> bool:
    """Whether two bodies are welded together, or parent and child, the world not counted as a parent."""
    a, b = int(m.body_weldid[first]), int(m.body_weldid[second])
    if a == b:
        return True
    if a == 0 or b == 0 or int(m.opt.disableflags) & _FILTER_PARENT:
        return False
    return b == m.body_weldid[m.body_parentid[a]] or a == m.body_weldid[m.body_parentid[b]]
