"""placo: frame tasks and joint limits, one quadratic programme a step (C++)."""

from typing import Any

import numpy as np
import placo
from judge import Array
from robots import Robot

from peers import starts

ITERATIONS = 10
"""Steps a start."""


class Placo:
    """`KinematicsSolver.solve` with full steps until every task is done, random restarts."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        self.robot, self.tolerance = robot, tolerance
        with robot.bare_file() as file:
            self.body = placo.RobotWrapper(str(file), placo.Flags.ignore_collisions)
        self.solver = self.body.make_solver()
        self.solver.enable_joint_limits(True)
        self.tasks = [self.solver.add_frame_task(tip, np.eye(4)) for tip in robot.tips]
        for tip, task in zip(robot.tips, self.tasks, strict=True):
            task.configure(tip, "soft", 1.0, 1.0)
        joints = [self.body.get_joint_offset(name) for name in robot.judge.names]
        # Pinocchio, which it stands on, writes the base's quaternion x y z w.
        self.order = np.array([0, 1, 2, 6, 3, 4, 5, *joints])

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The matrices as they are."""
        return [np.asfortranarray(target) for target in targets], q0

    def solve(self, targets: Any, q0: Array) -> Any:
        """q, or None."""
        for task, target in zip(self.tasks, targets, strict=True):
            task.T_world_frame = target
        for start in starts(self.robot, q0):
            if (q := self.descend(start, targets)) is not None:
                return q
        return None

    def descend(self, start: Array, targets: Any) -> Array | None:
        """Steps from a start to an answer, or None."""
        q = np.empty(len(start))
        q[self.order] = start
        self.body.state.q = q
        for _ in range(ITERATIONS):
            self.body.update_kinematics()
            if all(map(self.done, self.robot.tips, targets)):
                return self.body.state.q.copy()
            self.solver.solve(True)
        return None

    def done(self, tip: str, target: Array) -> bool:
        """Whether the frame is within the tolerance; placo's own errors are those of the step before."""
        offset = self.body.get_T_world_frame(tip) - target
        # Squared distance and twice the squared angle at once: never looser than the two apart, and one call.
        return bool(np.vdot(offset, offset) < self.tolerance**2)

    def unpack(self, answer: Any) -> Array | None:
        """q in the judge's order."""
        return None if answer is None else answer[self.order]
