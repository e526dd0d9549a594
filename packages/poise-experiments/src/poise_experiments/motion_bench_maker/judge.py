"""Who judges the answers: Pinocchio's kinematics, and coal on the triangles of the robot's collision meshes.

Nothing that computes here is poise's: the two read the robot's own file, and cylinders are true ones.
"""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, final

import numpy as np

from poise.extending import Array, installed_robots
from poise_experiments.motion_bench_maker.problem import HAND, OPEN, Problem

POSITION: Final = 0.005
ROTATION: Final = 0.05
"""What counts as there [m], [rad]."""


@final
@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found of one configuration."""

    there: bool
    """The hand is within `POSITION` and `ROTATION` of its pose at the goal, and no joint beyond its limit."""
    free: bool
    """No link is in an obstacle."""
    self_free: bool
    """No link is in another, but for those that a joint connects."""

    @property
    def good(self) -> bool:
        """All of it."""
        return self.there and self.free and self.self_free


def installed() -> bool:
    """Whether Pinocchio and coal are there; no part of poise needs them."""
    return find_spec("pinocchio") is not None and find_spec("coal") is not None


@cache
def _robot() -> Any:
    """The model of the file, and its collision meshes."""
    import pinocchio

    file = installed_robots()["panda"]
    model = pinocchio.buildModelFromUrdf(str(file))
    kind = pinocchio.GeometryType.COLLISION
    return model, pinocchio.buildGeomFromUrdf(model, str(file), kind, package_dirs=[str(file.parents[4])])


@final
class Judge:
    """Who looks at configurations among the obstacles of one problem."""

    def __init__(self, problem: Problem) -> None:
        import coal
        import pinocchio

        self._model, links = _robot()
        self._data, self._all = self._model.createData(), links.copy()
        joints, parents = [each.parentJoint for each in links.geometryObjects], self._model.parents
        for each in problem.obstacles:
            shape = coal.Box(*each.size) if each.kind == "box" else coal.Cylinder(*reversed(each.size))
            pose = pinocchio.SE3(pinocchio.Quaternion(*each.pose.wxyz), each.pose.xyz)
            k = self._all.addGeometryObject(pinocchio.GeometryObject(each.name, 0, pose, shape))
            for i, joint in enumerate(joints):
                if joint > 0:  # the base stands still
                    self._all.addCollisionPair(pinocchio.CollisionPair(i, k))
        self._outer = len(self._all.collisionPairs)
        for i, one in enumerate(joints):
            for k, other in enumerate(joints[:i]):
                if one != other and parents[one] != other and parents[other] != one:
                    self._all.addCollisionPair(pinocchio.CollisionPair(k, i))
        self._found = self._all.createData()
        self._goal = self._hand(problem.goal)

    def __call__(self, q: Array) -> Judgement:
        """What is to be said of q (7,)."""
        import pinocchio

        error = self._goal.actInv(self._hand(q))
        there = np.linalg.norm(error.translation) < POSITION
        there &= np.linalg.norm(pinocchio.log3(error.rotation)) < ROTATION
        there &= (self._model.lowerPositionLimit[:7] <= q).all() and (q <= self._model.upperPositionLimit[:7]).all()
        pinocchio.computeCollisions(self._model, self._data, self._all, self._found, self._whole(q), False)
        hit = [found.isCollision() for found in self._found.collisionResults]
        return Judgement(bool(there), not any(hit[: self._outer]), not any(hit[self._outer :]))

    def _hand(self, q: Array) -> Any:
        import pinocchio

        pinocchio.framesForwardKinematics(self._model, self._data, self._whole(q))
        return self._data.oMf[self._model.getFrameId(HAND)].copy()

    @staticmethod
    def _whole(q: Array) -> Array:
        return np.array([*q, OPEN, OPEN])
