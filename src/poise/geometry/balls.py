"""Shapes as balls: a sphere is one, a capsule two at its ends, what has corners one without a radius at each of them.

What is lowest of a shape, or farthest in any direction, is so of its balls.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from poise.common.array import Array
from poise.geometry.enclosing import around_ellipsoid, prism
from poise.geometry.meshes import MeshShape, mesh_triangles, read_mesh
from poise.geometry.shapes import Box, Capsule, ConvexHull, Cylinder, HalfSpace, Sphere
from poise.geometry.smallest import outermost
from poise.geometry.visuals import Ellipsoid, VisualShape


class Balls(NamedTuple):
    """Balls whose hull is a shape."""

    centres: Array
    """(n, 3) [m]"""
    radii: Array
    """(n,) [m]"""

    @classmethod
    def of(cls, shapes: Iterable[VisualShape]) -> "Balls":
        """Those of shapes, in the frame of their link; a half-space has none.

        A cylinder is taken for a prism around it, and an ellipsoid for what encloses it.  Raises ModelError and
        MissingExtra for meshes that cannot be read.
        """
        return cls.together([_of_one(shape) for shape in shapes])

    @classmethod
    def together(cls, parts: "Sequence[Balls]") -> "Balls":
        """All balls of several shapes that are seen from one frame."""
        return cls(
            np.concatenate([np.zeros((0, 3)), *(part.centres for part in parts)]),
            np.concatenate([np.zeros(0), *(part.radii for part in parts)]),
        )

    def outer(self) -> "Balls":
        """Those that may be lowest, however they are turned; of many points, those farthest out in many directions."""
        rounded = self.radii > 0.0
        points = self.centres[~rounded]
        flat = outermost(points) if len(points) else points
        return Balls.together([_points(flat), Balls(self.centres[rounded], self.radii[rounded])])


def _points(places: Array) -> Balls:
    return Balls(places, np.zeros(len(places)))


def _of_one(shape: VisualShape) -> Balls:
    match shape:
        case Sphere():
            return Balls(np.array([shape.centre]), np.array([shape.radius]))
        case Capsule():
            return Balls(np.array([shape.start, shape.end]), np.full(2, shape.radius))
        case Box():
            signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
            return _points(shape.pose.act(signs * shape.size))
        case ConvexHull():
            centres = shape.core.pose.act(shape.core.vertices)
            return Balls(centres, np.full(len(centres), shape.radius))
        case MeshShape():
            return _points(shape.pose.act(mesh_triangles(shape, read_mesh(shape)).reshape(-1, 3)))
        case Cylinder():
            return _of_one(prism(shape))
        case Ellipsoid():
            return _of_one(around_ellipsoid(shape.pose, tuple(shape.semi_axes)))
        case HalfSpace():
            return _points(np.zeros((0, 3)))
        case _:
            return _points(shape.pose.act(shape.vertices))
