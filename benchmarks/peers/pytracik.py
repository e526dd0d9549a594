"""pytracik: TRAC-IK, which races KDL's Newton steps against NLopt's SLSQP on two threads (C++)."""

import math
from typing import Any

import pytracik
from judge import Array
from robots import Robot
from trac_ik.trac_ik import quaternion_from_matrix


class TracIK:
    """The bound `ik` itself, without the eigenvalue problem that the package's class solves for each target."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        # Its epsilon bounds each component of the twist; its timeout, the only end of its restarts, is 50 ms.
        self.solver = pytracik.TRAC_IK(
            robot.judge.root,
            robot.tips[0],
            robot.bare(),
            0.05,
            tolerance / math.sqrt(3.0),
            pytracik.SolveType.Speed,
        )
        # It rounds the file's limits to single precision, and its answers by whole turns, either of which breaks them.
        lower, upper = robot.judge.lower + 1e-12, robot.judge.upper - 1e-12
        pytracik.set_joint_limits(self.solver, lower.tolist(), upper.tolist())

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """x y z, then the quaternion x y z w."""
        w, x, y, z = quaternion_from_matrix(targets[0])
        return q0, *targets[0, :3, 3].tolist(), x, y, z, w

    def solve(self, *arguments: Any) -> Any:
        """A code, then q."""
        return pytracik.ik(self.solver, *arguments)

    def unpack(self, answer: Any) -> Array | None:
        """Its q if the code is none of failure."""
        return answer[1:] if answer[0] >= 0 else None
