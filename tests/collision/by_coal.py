"""A robot among obstacles as coal measures it: the oracle of distances."""

import coal
import numpy as np

import poise as pz
from poise.common.array import Array
from poise.geometry.shapes import Shape
from poise.model.proximity import excluded_pairs


def as_coal(shape: Shape) -> tuple[coal.CollisionGeometry, pz.SE3]:
    """The geometry that coal takes, and where it lies; its half-spaces are below a plane too."""
    core = shape.core
    if isinstance(shape, pz.Sphere):
        return coal.Sphere(shape.radius), core.pose
    if isinstance(shape, pz.Capsule):
        return coal.Capsule(shape.radius, shape.length), core.pose
    if isinstance(shape, pz.Cylinder):
        return coal.Cylinder(shape.radius, shape.length), core.pose
    if isinstance(shape, pz.Box):
        return coal.Box(*shape.size), core.pose
    if isinstance(shape, pz.HalfSpace):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), core.pose
    points = coal.StdVec_Vec3s()
    points.extend(list(core.vertices))
    hull = coal.Convex.convexHull(points, False, "")
    hull.setSweptSphereRadius(shape.radius)
    return hull, core.pose


class ByCoal:
    """All pairs of a robot and a world that may meet."""

    def __init__(self, arm: pz.Model, world: pz.World, allowed: tuple[tuple[str, str], ...] = ()) -> None:
        apart = excluded_pairs(arm) | frozenset(map(frozenset, allowed))
        shapes = [(link, *as_coal(shape)) for link, some in arm.fitted_shapes.items() for shape in some]
        still = [(name, *as_coal(world[name])) for name in world]
        self.arm, self.shapes = arm, [*shapes, *still]
        self.standing = {name: pz.SE3.identity() for name in world}
        body = {link: arm.tree.links[link][0] for link in arm.fitted_shapes} | dict.fromkeys(world, -1)
        self.pairs = [
            (i, k)
            for i, (one, *_) in enumerate(self.shapes)
            for k, (other, *_) in enumerate(self.shapes[:i])
            if body[one] != body[other] and frozenset((one, other)) not in apart
        ]

    def least(self, q: Array) -> float:
        """The least distance of all pairs at q (nq,) [m]."""
        frames = self.standing | {link: self.arm.pose(link, q) for link in self.arm.fitted_shapes}
        placed = []
        for name, geometry, pose in self.shapes:
            at = frames[name] @ pose
            placed.append((geometry, coal.Transform3s(at.rotation.matrix(), at.xyz)))
        asked = coal.DistanceRequest()
        return min(coal.distance(*placed[i], *placed[k], asked, coal.DistanceResult()) for i, k in self.pairs)
