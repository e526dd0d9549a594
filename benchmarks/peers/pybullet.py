"""pybullet: `calculateInverseKinematics` (C++)."""

from typing import Any

import numpy as np
import pybullet
from judge import Array
from robots import Robot
from scipy.spatial.transform import Rotation

from peers import starts

ITERATIONS = 100
"""Steps a start."""


class Bullet:
    """With limits, which it keeps in its null space only, and better than without; random restarts until they hold."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        self.robot, self.tolerance = robot, tolerance
        self.client = pybullet.connect(pybullet.DIRECT)
        with robot.bare_file() as file:
            self.body = pybullet.loadURDF(str(file), useFixedBase=True, physicsClientId=self.client)
        count = pybullet.getNumJoints(self.body, physicsClientId=self.client)
        told = [pybullet.getJointInfo(self.body, k, physicsClientId=self.client) for k in range(count)]
        self.tip = next(row[0] for row in told if row[12].decode() == robot.tips[0])
        self.joints = [next(row[0] for row in told if row[1].decode() == name) for name in robot.judge.names]
        moving = [row[0] for row in told if row[2] != pybullet.JOINT_FIXED]
        self.order = np.array([moving.index(joint) for joint in self.joints])
        self.lower, self.upper = robot.judge.lower, robot.judge.upper

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """Place and quaternion, x y z w."""
        target = targets[0]
        return target[:3, 3].tolist(), Rotation.from_matrix(target[:3, :3]).as_quat().tolist(), q0

    def solve(self, place: list[float], turn: list[float], q0: Array) -> Any:
        """q, or None."""
        for start in starts(self.robot, q0):
            self._stand(start)
            found = pybullet.calculateInverseKinematics(
                self.body, self.tip, place, turn, lowerLimits=self.lower.tolist(), upperLimits=self.upper.tolist(),
                jointRanges=(self.upper - self.lower).tolist(), restPoses=start.tolist(),
                maxNumIterations=ITERATIONS, residualThreshold=self.tolerance / 10.0, physicsClientId=self.client,
            )  # fmt: skip
            q = np.array(found)[self.order]
            if ((q < self.lower) | (q > self.upper)).any():
                continue
            self._stand(q)
            state = pybullet.getLinkState(
                self.body, self.tip, computeForwardKinematics=True, physicsClientId=self.client
            )
            along = abs(float(np.dot(state[5], turn)))
            if np.linalg.norm(np.subtract(state[4], place)) < self.tolerance and 1.0 - along < self.tolerance**2:
                return q
        return None

    def _stand(self, q: Array) -> None:
        for joint, x in zip(self.joints, q.tolist(), strict=True):
            pybullet.resetJointState(self.body, joint, x, physicsClientId=self.client)

    def unpack(self, answer: Any) -> Array | None:
        """q as it is."""
        return answer
