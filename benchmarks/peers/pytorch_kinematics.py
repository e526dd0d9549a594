"""pytorch-kinematics on the CPU: its damped least squares, held within limits, in double."""

from typing import Any

import numpy as np
import pytorch_kinematics
import torch
from judge import Array
from robots import Robot

from peers.pool import restarted

SIZE = 500
STEPS = 25


class PytorchKinematics:
    """`PseudoInverseIK` that clamps every step to the limits."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        torch.set_num_threads(1)  # faster here than several, which wait for each other at every small operation
        self.robot = robot
        chain = pytorch_kinematics.build_serial_chain_from_urdf(robot.bare().encode(), robot.tips[0])
        self.chain = chain.to(dtype=torch.float64)
        names = self.chain.get_joint_parameter_names(exclude_fixed=True)
        self.order = [names.index(name) for name in robot.judge.names]
        self.back = np.argsort(self.order)
        self.solver = pytorch_kinematics.PseudoInverseIK(
            self.chain,
            pos_tolerance=tolerance,
            rot_tolerance=tolerance,
            retry_configs=torch.zeros(1, len(names), dtype=torch.float64),
            max_iterations=STEPS,
            early_stopping_any_converged=True,
            early_stopping_no_improvement=None,
            enforce_joint_limits=False,
            clamp_to_limits=True,
        )

    def pack(self, targets: Array, starts: Array) -> tuple[Any, ...]:
        """The arrays themselves."""
        return targets[:, 0], starts

    def solve(self, targets: Array, starts: Array) -> Array:
        """Its answers, with restarts."""
        return restarted(self.call, self.robot, targets, starts, SIZE)

    def call(self, targets: Array, starts: Array) -> tuple[Array, Array]:
        """One call of its solver, from one start a problem."""
        self.solver.initial_config = torch.from_numpy(starts[:, None, self.back])
        found = self.solver.solve(pytorch_kinematics.Transform3d(matrix=torch.from_numpy(targets)))
        # Its limits are rounded to single precision.
        q = np.clip(found.solutions[:, 0].numpy()[:, self.order], self.robot.judge.lower, self.robot.judge.upper)
        return q, found.converged_any.numpy()

    def unpack(self, answer: Array) -> Array:
        """The answers themselves."""
        return answer
