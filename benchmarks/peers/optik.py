"""optik-py: SLSQP on the squared pose logarithm, random restarts (Rust and NLopt)."""

from typing import Any

import numpy as np
import optik
from judge import Array
from robots import Robot

from peers import RESTARTS


class Optik:
    """`Robot.ik` on one thread."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        self.robot = optik.Robot.from_urdf_file(str(robot.urdf), robot.judge.root, robot.tips[0])
        self.robot.set_parallelism(1)
        # The objective is the squared norm of position and rotation together, so the square is never looser.
        self.config = optik.SolverConfig("speed", max_time=0.0, max_restarts=RESTARTS, tol_f=tolerance**2)

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """Lists, which it converts fastest."""
        return targets[0].tolist(), q0.tolist()

    def solve(self, target: Any, q0: Any) -> Any:
        """(q, objective) or None."""
        return self.robot.ik(self.config, target, q0)

    def unpack(self, answer: Any) -> Array | None:
        """Its q."""
        return None if answer is None else np.array(answer[0])
