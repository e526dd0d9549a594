"""pin: the damped least-squares loop of its documentation, in Python over its C++ kinematics."""

from typing import Any

import numpy as np
import pinocchio as pin
from judge import Array
from robots import Robot

from peers import starts

ITERATIONS = 24
"""Steps a start."""


class DampedLoop:
    """Full steps with damping in proportion to the squared error, random restarts.

    The first start is free until it converges, for most answers then lie inside the limits or whole turns from there;
    otherwise the loop goes on from the clipped answer, holding joints at their limits.  Restarts hold them throughout.
    """

    def __init__(self, robot: Robot, tolerance: float) -> None:
        self.robot, self.tolerance = robot, tolerance
        model = built(robot)
        self.model, self.data = model, model.createData()
        self.frames = [model.getFrameId(tip) for tip in robot.tips]
        self.order = order(robot, model)
        self.tail = slice(-len(robot.judge.names), None)
        self.lower, self.upper = model.lowerPositionLimit[self.tail], model.upperPositionLimit[self.tail]

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The inverses of the targets as pinocchio.SE3."""
        return [pin.SE3(target).inverse() for target in targets], q0

    def solve(self, targets: Any, q0: Array) -> Any:
        """q, or None."""
        for attempt, start in enumerate(starts(self.robot, q0)):
            q = np.empty(self.model.nq)
            q[self.order] = start
            if self.descend(targets, q, hold=attempt > 0):
                return q
        return None

    def descend(self, targets: Any, q: Array, *, hold: bool) -> bool:
        """Steps from q, in place, until every frame is within the tolerance."""
        joints = q[self.tail]
        for _ in range(ITERATIONS):
            jacobian, error, done = self.linearise(targets, q)
            if done and hold:
                return True
            if done:
                joints[:] = (joints + np.pi) % (2.0 * np.pi) - np.pi
                if not ((joints < self.lower) | (joints > self.upper)).any():
                    return True
                hold = True
                np.clip(joints, self.lower, self.upper, out=joints)
                continue
            v = step(jacobian, error)
            if hold:
                moved = v[self.tail]
                blocked = ((joints <= self.lower) & (moved < 0.0)) | ((joints >= self.upper) & (moved > 0.0))
                if blocked.any():
                    jacobian[:, self.tail][:, blocked] = 0.0
                    v = step(jacobian, error)
            q[:] = pin.integrate(self.model, q, v)
            if hold:
                np.clip(joints, self.lower, self.upper, out=joints)
        return False

    def linearise(self, targets: Any, q: Array) -> tuple[Array, Array, bool]:
        """Jacobian (6 K, nv), errors (6 K,) in the frames, and whether all are within the tolerance."""
        model, data, square = self.model, self.data, self.tolerance**2
        pin.computeJointJacobians(model, data, q)
        jacobians, errors, done = [], [], True
        for frame, target in zip(self.frames, targets, strict=True):
            offset = target * pin.updateFramePlacement(model, data, frame)
            error = pin.log6(offset).vector
            distance, angle = offset.translation, error[3:]
            done &= bool(distance @ distance < square and angle @ angle < square)
            jacobians.append(pin.getFrameJacobian(model, data, frame, pin.LOCAL))
            errors.append(error)
        if len(errors) == 1:
            return jacobians[0], errors[0], done
        return np.vstack(jacobians), np.concatenate(errors), done

    def unpack(self, answer: Any) -> Array | None:
        """q in the judge's order."""
        return None if answer is None else answer[self.order]


def built(robot: Robot, *, masses: bool = False) -> Any:
    """The bare chain as a Pinocchio model."""
    text = robot.bare(masses=masses)
    return pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if robot.floating else pin.buildModelFromXML(text)


def order(robot: Robot, model: Any) -> Array:
    """Where in Pinocchio's configuration the judge's numbers are; it writes the base's quaternion x y z w."""
    joints = [model.joints[model.getJointId(name)].idx_q for name in robot.judge.names]
    return np.array([0, 1, 2, 6, 3, 4, 5, *joints] if robot.floating else joints)


def step(jacobian: Array, error: Array) -> Array:
    """(nv,) damped least-squares velocity that undoes the errors."""
    a = jacobian @ jacobian.T
    a.flat[:: len(a) + 1] += 1e-2 * (error @ error) + 1e-12
    return -jacobian.T @ np.linalg.solve(a, error)
