"""The convex hull of points in space, by quickhull (Barber, Dobkin and Huhdanpaa 1996, doi:10.1145/235815.235821)."""

import math

import numpy as np
import numpy.typing as npt

from poise.common.array import Array

Triangles = npt.NDArray[np.intp]
_THIN = 1e-9
"""What lies less than this share of the extent above a face counts as on it."""


def hull_faces(points: Array, *, corners: float = math.inf, height: float = 0.0) -> Triangles | None:
    """(m, 3) the faces of the convex hull of `points` (n, 3), as triangles that turn left seen from outside.

    Of so many `corners` at most: those that stand out farthest come first, until none is more than `height` [m] above
    the faces.  None where the points have no volume, or lie so that rounding decides what is a face.
    """
    extent = float(np.ptp(points, axis=0).max(initial=0.0))
    thin = _THIN * extent
    first = _simplex(points, thin)
    if first is None:
        return None
    faces = first[np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])]
    normals, offsets = _planes(points, faces)
    # Of each point outside, how far it is above the face that it is farthest above; 0 of those inside.
    above, face = _above(points, normals, offsets, thin)
    count = len(first)
    while count < corners and above.max() > height:
        count += 1
        apex = int(np.argmax(above))
        seen = normals @ points[apex] - offsets > thin
        horizon = _horizon(faces[seen])
        fresh = np.column_stack([horizon, np.full(len(horizon), apex)])
        fresh_normals, fresh_offsets = _planes(points, fresh)
        loose = np.flatnonzero((above > 0.0) & seen[face])
        faces = np.concatenate([faces[~seen], fresh])
        normals, offsets = (
            np.concatenate([normals[~seen], fresh_normals]),
            np.concatenate([offsets[~seen], fresh_offsets]),
        )
        face = (np.cumsum(~seen) - 1)[face]
        if len(fresh):
            above[loose], best = _above(points[loose], fresh_normals, fresh_offsets, thin)
            face[loose] = len(faces) - len(fresh) + best
        above[apex] = 0.0
    return faces if _all_inside(points[above == 0.0], normals, offsets, 10.0 * thin) else None


def enclosed_volume(points: Array, faces: Triangles) -> float:
    """The volume [m^3] within a closed surface of triangles (m, 3) that turn left seen from outside."""
    a, b, c = (points - points.mean(axis=0))[faces].swapaxes(0, 1)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def _simplex(points: Array, thin: float) -> Triangles | None:
    """Four points that span a volume, the first three turning left seen from outside."""
    first = int(np.argmin(points[:, 0]))
    arms = points - points[first]
    second = int(np.argmax(np.einsum("ij,ij->i", arms, arms)))
    across = np.cross(arms, arms[second])
    third = int(np.argmax(np.einsum("ij,ij->i", across, across)))
    normal = np.cross(arms[second], arms[third])
    length = float(np.linalg.norm(normal))
    if not length > thin * float(np.linalg.norm(arms[second])):
        return None
    depths = arms @ (normal / length)
    fourth = int(np.argmax(np.abs(depths)))
    if not abs(depths[fourth]) > thin:
        return None
    return np.array([first, second, third, fourth] if depths[fourth] < 0.0 else [first, third, second, fourth])


def _planes(points: Array, faces: Triangles) -> tuple[Array, Array]:
    """(m, 3) the outward unit normals of faces, and how far out they lie along them (m,)."""
    a, b, c = points[faces].swapaxes(0, 1)
    u, v = b - a, c - a
    normals = (
        u[:, [1, 2, 0]] * v[:, [2, 0, 1]] - u[:, [2, 0, 1]] * v[:, [1, 2, 0]]
    )  # np.cross takes three times as long
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(float).tiny)
    return normals, np.einsum("ij,ij->i", normals, a)


def _above(points: Array, normals: Array, offsets: Array, thin: float) -> tuple[Array, Triangles]:
    """(n,) how far points are above the face that they are farthest above, 0 for none, and (n,) which that is."""
    out = points @ normals.T - offsets
    face = np.argmax(out, axis=1)
    height = out[np.arange(len(points)), face]
    return np.where(height > thin, height, 0.0), face


def _horizon(faces: Triangles) -> Triangles:
    """(k, 2) the edges between these faces and the others, each as the face that goes has it."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there = set(map(tuple, edges.tolist()))
    return np.array([edge for edge in edges.tolist() if (edge[1], edge[0]) not in there], dtype=np.intp).reshape(-1, 2)


def _all_inside(points: Array, normals: Array, offsets: Array, thin: float) -> bool:
    """Whether no point lies above any face."""
    pieces = range(0, len(points), 4096)
    return all((points[i : i + 4096] @ normals.T - offsets <= thin).all() for i in pieces)
