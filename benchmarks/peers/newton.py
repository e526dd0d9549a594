"""Newton's inverse kinematics on Warp's CPU: Levenberg-Marquardt with analytic derivatives, in single precision."""

from typing import Any

import newton
import newton.ik
import numpy as np
import warp as wp
from judge import Array
from robots import Robot
from scipy.spatial.transform import Rotation

from peers.pool import restarted

SIZE = 100
STEPS = 24
ASKED = 1e-4
"""The tolerance [m] and [rad]: single precision reaches no 1e-6."""


class Newton:
    """An `IKSolver` for a fixed number of problems; its answers are clipped to the limits."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        wp.config.log_level = wp.LOG_WARNING
        self.robot, self.accepted = robot, max(tolerance, ASKED) ** 2
        with wp.ScopedDevice("cpu"):
            builder = newton.ModelBuilder()
            with robot.bare_file() as file:
                builder.add_urdf(str(file), floating=False)
            model = builder.finalize()
            body = next(i for i, label in enumerate(model.body_label) if label.rpartition("/")[2] == robot.tips[0])
            self.places, self.turns = wp.zeros(SIZE, dtype=wp.vec3), wp.zeros(SIZE, dtype=wp.vec4)
            self.solver = newton.ik.IKSolver(
                model,
                SIZE,
                [
                    newton.ik.IKObjectivePosition(body, wp.vec3(), self.places),
                    newton.ik.IKObjectiveRotation(body, wp.quat_identity(), self.turns),
                    newton.ik.IKObjectiveJointLimit(model.joint_limit_lower, model.joint_limit_upper, weight=10.0),
                ],
                jacobian_mode=newton.ik.IKJacobianType.ANALYTIC,
            )
            self.q = wp.zeros((SIZE, model.joint_coord_count), dtype=wp.float32)
        names = [label.rpartition("/")[2] for label in model.joint_label]
        starts = model.joint_q_start.numpy()
        self.order = [int(starts[names.index(name)]) for name in robot.judge.names]

    def pack(self, targets: Array, starts: Array) -> tuple[Any, ...]:
        """The arrays themselves."""
        return targets[:, 0], starts

    def solve(self, targets: Array, starts: Array) -> Array:
        """Its answers, with restarts."""
        return restarted(self.call, self.robot, targets, starts, SIZE)

    def call(self, targets: Array, starts: Array) -> tuple[Array, Array]:
        """One call of its solver."""
        self.places.assign(targets[:, :3, 3].astype(np.float32))
        self.turns.assign(Rotation.from_matrix(targets[:, :3, :3]).as_quat().astype(np.float32))
        q = np.zeros(self.q.shape, dtype=np.float32)
        q[:, self.order] = starts
        self.q.assign(q)
        self.solver.step(self.q, self.q, iterations=STEPS)
        judge = self.robot.judge
        found = np.clip(self.q.numpy()[:, self.order].astype(np.float64), judge.lower, judge.upper)
        return found, self.solver.costs.numpy() <= self.accepted

    def unpack(self, answer: Array) -> Array:
        """The answers themselves."""
        return answer
