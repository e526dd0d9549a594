"""ssik: closed forms for arms that have one, each answer certified by it."""

from typing import Any

import numpy as np
import ssik
from judge import Array
from robots import Robot


class Ssik:
    """A loop of `Manipulator.solve`, which has no call for many problems; one solution within the limits each."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        with robot.bare_file() as file:
            self.arm = ssik.Manipulator.from_urdf(str(file), base=robot.judge.root, ee=robot.tips[0])
        self.count = len(robot.judge.names)

    def pack(self, targets: Array, starts: Array) -> tuple[Any, ...]:
        """The targets; it needs no starts."""
        return (targets[:, 0],)

    def solve(self, targets: Array) -> list[Any]:
        """Its solutions."""
        return [self.arm.solve(target, max_solutions=1) for target in targets]

    def unpack(self, answer: list[Any]) -> Array:
        """One each."""
        return np.array([found[0].q if found else np.full(self.count, np.nan) for found in answer])
