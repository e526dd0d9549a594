"""How near things come, by Pinocchio and coal: cylinders and spheres of the arm's file, pairs of its SRDF."""

import coal
import numpy as np
import pinocchio as pin
from judge import Array
from robots import example
from scenes import SRDF, URDF, Shape

import poise as pz


class Apart:
    """The least distances of a Panda among obstacles."""

    def __init__(self, world: pz.World) -> None:
        file = str(example(URDF))
        self.model = pin.buildModelFromUrdf(file)
        self.shapes = pin.buildGeomFromUrdf(self.model, file, pin.GeometryType.COLLISION)
        own = self.shapes.ngeoms
        self.shapes.addAllCollisionPairs()
        pin.removeCollisionPairs(self.model, self.shapes, str(example(SRDF)))
        moving = [k for k in range(own) if self.shapes.geometryObjects[k].parentJoint > 0]
        for name in world.names:
            k = self.shapes.addGeometryObject(placed(name, world[name]))
            for i in moving:
                self.shapes.addCollisionPair(pin.CollisionPair(i, k))
        self.data, self.found = self.model.createData(), self.shapes.createData()

    def least(self, path: Array) -> Array:
        """(n,) of joint configurations (n, 7 or more); the fingers are closed, or as the eighth number says."""
        out = np.empty(len(path))
        for k, joints in enumerate(path):
            finger = joints[7] if len(joints) > 7 else 0.0
            q = np.concatenate([joints[:7], [finger, finger]])
            pin.computeDistances(self.model, self.data, self.shapes, self.found, q)
            out[k] = min(result.min_distance for result in self.found.distanceResults)
        return out


def placed(name: str, shape: Shape) -> pin.GeometryObject:
    """An obstacle as Pinocchio has it."""
    if isinstance(shape, pz.Sphere):
        geometry = coal.Sphere(shape.radius)
    elif isinstance(shape, pz.Box):
        geometry = coal.Box(*shape.size)
    else:
        geometry = coal.Capsule(shape.radius, shape.length)
    return pin.GeometryObject(name, 0, pin.SE3(shape.pose.matrix()), geometry)
