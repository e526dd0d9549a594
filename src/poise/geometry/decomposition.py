"""A surface in parts that are nearly convex, by CoACD (Wei, Liu, Ling and Su 2022, doi:10.1145/3528223.3530103).

It approximates; what of the surface its parts leave outside is added to the nearest of them here.
"""

from typing import Final

import numpy as np

from poise.common.array import Array
from poise.common.lazy import optional
from poise.geometry.hull import hull_faces
from poise.geometry.triangles import normals_of, quarters

_CONCAVITY: Final = 0.02
"""How far from convex a part may be, as a share of the extent."""
_STEP: Final = 1.0 / 64.0
"""Of the extent: triangles that are in no one part are cut until their edges are so short, and then added to one."""
_ROUNDING: Final = 1e-9
"""Of the extent: what is no farther outside counts as within."""


def nearly_convex(triangles: Array, most: int) -> list[Array]:
    """Points (n, 3) of at most `most` parts, in whose convex hulls all of a surface of triangles (n, 3, 3) is.

    Raises MissingExtra without the `hulls` extra.
    """
    coacd = optional("several hulls around a mesh", "coacd", "hulls", "coacd")
    coacd.set_log_level("error")
    corners, faces = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    mesh = coacd.Mesh(corners, faces.reshape(-1, 3).astype(np.int32))
    found = coacd.run_coacd(mesh, threshold=_CONCAVITY, max_convex_hull=most, seed=0)
    return _with_the_rest([np.asarray(points) for points, _ in found], triangles)


def _with_the_rest(parts: list[Array], triangles: Array) -> list[Array]:
    """The parts, each with the corners of the triangles that are in none, but nearest to it."""
    extent = float(np.ptp(triangles.reshape(-1, 3), axis=0).max())
    planes, left = [_planes(part) for part in parts], triangles
    added = [part[:0] for part in parts]
    while len(left):
        out = np.column_stack([(left @ normals.T - heights).max(axis=(1, 2)) for normals, heights in planes])
        outside = out.min(axis=1) > _ROUNDING * extent
        edges = np.linalg.norm(np.roll(left, -1, axis=1) - left, axis=2).max(axis=1)
        small = outside & (edges <= _STEP * extent)
        for k in range(len(parts)):
            added[k] = np.concatenate([added[k], left[small & (out.argmin(axis=1) == k)].reshape(-1, 3)])
        left = quarters(left[outside & ~small])
    return [np.concatenate(both) for both in zip(parts, added, strict=True)]


def _planes(points: Array) -> tuple[Array, Array]:
    """(m, 3) normals of the faces of the hull of points (n, 3), and how far out they are (m,) [m]; for what has no
    volume, planes between which nothing is."""
    faces = hull_faces(points)
    if faces is None:
        return np.zeros((1, 3)), np.full(1, -np.inf)
    normals, _ = normals_of(points[faces])
    return normals, np.einsum("ij,ij->i", normals, points[faces[:, 0]])
