"""placo: frame tasks and joint limits, one quadratic programme a step (C++)."""

from typing import Any

import numpy as np
import placo
from judge import Array
from motion import Motion
from robots import Robot

from peers import starts

ITERATIONS = 10
"""Steps a start."""
POSTURE_WEIGHT = 1e-6
"""Beside 1 for the hands, which it must not disturb much."""


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
        self.order = order(robot, self.body)

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


class Levels:
    """`KinematicsSolver.solve` with the first level hard; hands and posture, which are soft, share the second."""

    def __init__(self, motion: Motion) -> None:
        robot, (feet, hands) = motion.robot, motion.frames
        with robot.bare_file(masses=True) as file:
            self.body = placo.RobotWrapper(str(file), placo.Flags.ignore_collisions)
        self.order = order(robot, self.body)
        q = np.empty(len(motion.stance))
        q[self.order] = motion.stance
        self.body.state.q = q
        self.body.update_kinematics()
        self.solver = self.body.make_solver()
        self.solver.dt = motion.dt
        self.solver.enable_joint_limits(True)
        self.solver.enable_velocity_limits(True)
        for frame, pose in zip(feet, motion.feet, strict=True):
            self.solver.add_frame_task(frame, np.asfortranarray(pose)).configure(frame, "hard", 1.0, 1.0)
        self.centre = self.solver.add_com_task(motion.centres[0])
        self.centre.configure("centre of mass", "hard", 1.0)
        self.hands = [self.solver.add_frame_task(frame, np.eye(4)) for frame in hands]
        for frame, task in zip(hands, self.hands, strict=True):
            task.configure(frame, "soft", 1.0, 1.0)
        posture = self.solver.add_joints_task()
        posture.set_joints(dict(zip(robot.judge.names, motion.stance[7:], strict=True)))
        posture.configure("posture", "soft", POSTURE_WEIGHT)
        # It has no gain of a task; against this, the posture undoes a tenth of its error, not all, which shakes.
        self.solver.add_regularization_task(9.0 * POSTURE_WEIGHT)

    def pack(self, centre: Array, hands: Array) -> tuple[Any, ...]:
        """The matrices as they are."""
        return centre, *map(np.asfortranarray, hands)

    def step(self, centre: Array, *hands: Array) -> None:
        """One programme, then forward kinematics."""
        self.centre.target_world = centre
        for task, hand in zip(self.hands, hands, strict=True):
            task.T_world_frame = hand
        self.solver.solve(True)
        self.body.update_kinematics()

    def last(self) -> Array:
        """That of its robot."""
        return self.body.state.q[self.order]


def order(robot: Robot, body: Any) -> Array:
    """Where in placo's configuration the judge's numbers are; Pinocchio, below it, writes the quaternion x y z w."""
    joints = [body.get_joint_offset(name) for name in robot.judge.names]
    return np.array([0, 1, 2, 6, 3, 4, 5, *joints])
