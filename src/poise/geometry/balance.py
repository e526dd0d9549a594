"""Where the centre of mass may be of a body that rests on contacts with friction (Bretl and Lall 2008).

Contacts push within cones about their normals, together with the weight, and about no axis.  Then the centre of mass is
anywhere in a vertical prism, whose section is convex: the image of all such forces, which are those of a linear program
where cones are pyramids (doi:10.1109/TRO.2008.2001360).
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.geometry.linear_program import LinearProgram

EDGES: Final = 16
"""Edges of the pyramid within a cone: it has 98 % of the friction in any direction."""
_SLIGHT: Final = 1e-7
"""The section is known to this [m], and a force that costs so little of it bears."""


class Firm(NamedTuple):
    """What points do where the centre of mass is at the border, in one direction."""

    bears: npt.NDArray[np.bool_]
    """(n,) whether a point may push."""
    sticks: npt.NDArray[np.bool_]
    """(n,) whether it may push along all of its cone."""


class Balance:
    """Forces that hold a body: at `points` (n, 3) [m] within cones about `normals` (n, 3), of length 1.

    `friction` (n,) is their tangent.  All normal forces together are at most `most` times the weight.
    """

    def __init__(self, points: Array, normals: Array, friction: Array, most: float) -> None:
        self._middle = points.mean(axis=0)
        edges = pyramids(normals, friction)
        moments = np.cross((points - self._middle)[:, None], edges).reshape(-1, 3)
        along = edges.reshape(-1, 3)
        presses = np.einsum("nki,ni->nk", edges, normals).ravel()
        # Forces are as shares of the weight, which they bear without a moment about the vertical; the last is what of
        # `most` they spare.
        matrix = np.column_stack([np.vstack([along.T, moments[:, 2], presses]), [0.0, 0.0, 0.0, 0.0, 1.0]])
        self._program = LinearProgram(matrix, np.array([0.0, 0.0, 1.0, 0.0, most]))
        self._places = np.column_stack([np.stack([-moments[:, 1], moments[:, 0]]), [0.0, 0.0]])
        self.holds = self._program.feasible
        """Whether the body can rest at all."""

    def farthest(self, direction: Array) -> tuple[Array, Firm]:
        """(2,) the place of the centre of mass that is farthest along a direction (2,), and what then may push."""
        forces, losses = self._program.best(direction @ self._places)
        spared = (losses[:-1] > -_SLIGHT).reshape(-1, EDGES)
        return self._middle[:2] + self._places @ forces, Firm(np.any(spared, axis=1), np.all(spared, axis=1))

    def section(self) -> Array:
        """(k, 2) corners of all places of the centre of mass, seen from above, counterclockwise [m].

        Some may lie on the way between others.
        """
        left, right = (self.farthest(np.array([sign, 0.0]))[0] for sign in (-1.0, 1.0))
        return np.array([left, *self._between(left, right), right, *self._between(right, left)])

    def _between(self, start: Array, end: Array) -> list[Array]:
        """The corners to the right of the way from one corner to another."""
        length = math.dist(start, end)
        if length < _SLIGHT:
            return []
        out = np.array([end[1] - start[1], start[0] - end[0]]) / length
        corner = self.farthest(out)[0]
        if out @ (corner - start) <= _SLIGHT:
            return []
        return [*self._between(start, corner), corner, *self._between(corner, end)]


def pyramids(normals: Array, friction: Array) -> Array:
    """(n, EDGES, 3) unit vectors along the edges of a pyramid within each cone."""
    least = np.eye(3)[np.abs(normals).argmin(axis=1)]
    across = np.cross(normals, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    turns = 2.0 * math.pi / EDGES * np.arange(EDGES)[:, None]
    around = np.cos(turns) * across[:, None] + np.sin(turns) * np.cross(normals, across)[:, None]
    edges: Array = normals[:, None] + friction[:, None, None] * around
    return edges / np.linalg.norm(edges, axis=2, keepdims=True)
