"""roboticstoolbox-python: its Levenberg-Marquardt `ik_LM` (C++)."""

from typing import Any

import numpy as np
import roboticstoolbox as rtb
from judge import Array
from roboticstoolbox.models.URDF.URDFRobot import URDF_file
from robots import Robot

from peers import RESTARTS


class Toolbox:
    """`ETS.ik_LM`; it steps outside the limits and rejects such answers at the end, so it restarts often."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        with robot.bare_file() as file:
            links, name, _ = URDF_file(file)
        self.ets = rtb.Robot(links, name=name).ets(end=robot.tips[0])
        # It stops at half the squared norm of position and rotation together.
        self.tol = 0.5 * tolerance**2

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The matrix as it is."""
        return np.ascontiguousarray(targets[0]), q0

    def solve(self, target: Array, q0: Array) -> Any:
        """Its solution."""
        return self.ets.ik_LM(target, q0=q0, ilimit=20, slimit=RESTARTS, tol=self.tol, k=0.1)

    def unpack(self, answer: Any) -> Array | None:
        """Its q."""
        return answer.q if answer.success else None
