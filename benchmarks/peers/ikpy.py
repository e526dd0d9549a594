"""ikpy: its least-squares optimiser (SciPy's, in Python)."""

import warnings
from typing import Any

import numpy as np
from ikpy.chain import Chain
from judge import Array
from robots import Robot

from peers import starts


class Ikpy:
    """`inverse_kinematics_frame` with the whole orientation, random restarts."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        self.robot, self.tolerance = robot, tolerance
        with robot.bare_file() as file:
            names = {joint.name for joint in robot.judge.joints if joint.moves}
            with warnings.catch_warnings(action="ignore"):  # of fixed links, which it finds in the file by itself
                links = Chain.from_urdf_file(str(file), base_elements=[robot.judge.root]).links
            mask = [link.name in names for link in links]
            self.chain = Chain.from_urdf_file(str(file), base_elements=[robot.judge.root], active_links_mask=mask)
        self.places = np.array([[link.name for link in links].index(name) for name in robot.judge.names])
        self.count = len(links)

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The matrix as it is."""
        return np.ascontiguousarray(targets[0]), q0

    def solve(self, target: Array, q0: Array) -> Any:
        """Its angles, fixed links included, or None."""
        for start in starts(self.robot, q0):
            angles = np.zeros(self.count)
            angles[self.places] = start
            found = self.chain.inverse_kinematics_frame(target, initial_position=angles, orientation_mode="all")
            seen = self.chain.forward_kinematics(found)
            turn = 0.5 * np.linalg.norm(seen[:3, :3] - target[:3, :3]) * np.sqrt(2.0)
            if max(np.linalg.norm(seen[:3, 3] - target[:3, 3]), turn) < self.tolerance:
                return found
        return None

    def unpack(self, answer: Any) -> Array | None:
        """The angles of the joints in the judge's order."""
        return None if answer is None else np.asarray(answer)[self.places]
