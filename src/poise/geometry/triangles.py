"""Surfaces of triangles (n, 3, 3): corner by corner, in metres."""

from typing import Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.quaternions import unit_vectors

_ROWS: Final = 16
"""Points that are looked at together."""


def halves(triangles: Array, normal: Array, height: float) -> tuple[Array, Array]:
    """The triangles below and above the plane `normal @ x = height`; those that it cuts are cut along it."""
    out = triangles @ normal - height
    above = out > 0.0
    count = above.sum(axis=1)
    cut = (count == 1) | (count == 2)
    below_whole, above_whole = triangles[count == 0], triangles[count == 3]
    # Turned so that the corner that is alone on its side comes first.
    lone_above = count[cut] == 1
    lone = np.where(lone_above, np.argmax(above[cut], axis=1), np.argmin(above[cut], axis=1))
    turn = (lone[:, None] + np.arange(3)) % 3
    rows = np.arange(len(turn))[:, None]
    corners, heights = triangles[cut][rows, turn], out[cut][rows, turn]
    tip, left, right = corners.swapaxes(0, 1)
    share = heights[:, :1] / (heights[:, :1] - heights[:, 1:])
    on_left, on_right = tip + share[:, :1] * (left - tip), tip + share[:, 1:] * (right - tip)
    tips = np.stack([tip, on_left, on_right], axis=1)
    rests = np.concatenate([np.stack([on_left, left, right], axis=1), np.stack([on_left, right, on_right], axis=1)])
    twice = np.tile(lone_above, 2)
    return (
        np.concatenate([below_whole, tips[~lone_above], rests[twice]]),
        np.concatenate([above_whole, tips[lone_above], rests[~twice]]),
    )


def enclosed_volume(triangles: Array) -> float:
    """The volume [m^3] within a closed surface whose triangles turn left seen from outside."""
    a, b, c = (triangles - triangles.mean(axis=(0, 1))).swapaxes(0, 1)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def is_closed(triangles: Array) -> bool:
    """Whether each edge is gone along as often one way as the other, so that there is an inside."""
    _, corners = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    faces = corners.reshape(-1, 3)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    low, high = edges.min(axis=1), edges.max(axis=1)
    sign = np.where(edges[:, 0] == low, 1, -1)
    _, which = np.unique(low * (edges.max(initial=0) + 1) + high, return_inverse=True)
    return bool(len(edges)) and not np.bincount(which, weights=sign).any()


def quarters(triangles: Array) -> Array:
    """(4 n, 3, 3) each of the triangles in four, which the middles of its edges cut."""
    a, b, c = triangles.swapaxes(0, 1)
    ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
    return np.concatenate([np.stack(three, axis=1) for three in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])


def enclose(triangles: Array, points: Array) -> npt.NDArray[np.bool_]:
    """(m,) whether a surface goes round points (m, 3), by the solid angles of its triangles (Van Oosterom and Strackee
    1983); of an open one, whether it goes more than halfway."""
    found = np.empty(len(points), dtype=np.bool_)
    for i, point in enumerate(points):
        corners = triangles - point
        a, b, c = corners.swapaxes(0, 1)
        x, y, z = np.linalg.norm(corners, axis=2).T
        volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
        ab, bc, ca = (np.einsum("ij,ij->i", one, other) for one, other in ((a, b), (b, c), (c, a)))
        found[i] = abs(np.arctan2(volumes, x * y * z + ab * z + bc * x + ca * y).sum()) > np.pi
    return found


def distances(points: Array, triangles: Array) -> Array:
    """(m,) how far points (m, 3) are from the nearest triangle [m]."""
    middles = triangles.mean(axis=1)
    reach = np.linalg.norm(triangles - middles[:, None], axis=2).max(axis=1)
    found = np.empty(len(points))
    for first in range(0, len(points), _ROWS):
        rows = points[first : first + _ROWS]
        away = np.linalg.norm(rows[:, None] - middles, axis=2)
        near = away - reach <= (away + reach).min(axis=1, keepdims=True)
        for i, point in enumerate(rows):
            found[first + i] = np.sqrt(_squares(point, triangles[near[i]]).min())
    return found


def _squares(point: Array, triangles: Array) -> Array:
    """(n,) squares of the distances of a point from each triangle."""
    corners = triangles - point
    ends = np.roll(corners, -1, axis=1)
    edges = ends - corners
    lengths = np.einsum("nij,nij->ni", edges, edges)
    share = np.clip(-np.einsum("nij,nij->ni", corners, edges) / np.where(lengths > 0.0, lengths, 1.0), 0.0, 1.0)
    to_edges = corners + share[..., None] * edges
    squares = np.einsum("nij,nij->ni", to_edges, to_edges).min(axis=1)
    # Above the inside of a triangle, the plane is nearest.
    normals = np.cross(edges[:, 0], edges[:, 1])
    area = np.einsum("ni,ni->n", normals, normals)
    sides = np.einsum("nij,nij->ni", np.cross(corners, ends), normals[:, None])
    over = (sides >= 0.0).all(axis=1) & (area > 0.0)
    heights = np.einsum("ni,ni->n", corners[:, 0], normals) ** 2 / np.where(area > 0.0, area, 1.0)
    return np.where(over, heights, squares)


def normals_of(triangles: Array) -> tuple[Array, Array]:
    """(n, 3) unit normals of triangles (n, 3, 3), 0 for those without an area, and (n,) their areas [m^2]."""
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return unit_vectors(across), 0.5 * np.linalg.norm(across, axis=1)
