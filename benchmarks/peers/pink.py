"""pink: tasks and limits, one quadratic programme a step (Python over Pinocchio and DAQP)."""

from typing import Any

import numpy as np
import pink
import pinocchio as pin
from judge import Array
from motion import Motion
from pink import limits, tasks
from qpsolvers import solve_problem

from peers.pinocchio import built, order

POSTURE_COST = 1e-3
"""Beside 1 for the hands, which it must not disturb much."""
POSTURE_GAIN = 0.1


class Levels:
    """`build_ik` with the first level as constraints; hands and posture, which are costs, share the second.

    `solve_ik` does the same after a check that the configuration is inside, which takes longer and changes nothing.
    """

    def __init__(self, motion: Motion) -> None:
        model, (feet, hands) = built(motion.robot, masses=True), motion.frames
        self.dt, self.order = motion.dt, order(motion.robot, model)
        q = np.empty(model.nq)
        q[self.order] = motion.stance
        self.configuration = pink.Configuration(model, model.createData(), q)
        standing = [tasks.FrameTask(frame, 1.0, 1.0) for frame in feet]
        for task, pose in zip(standing, motion.feet, strict=True):
            task.set_target(pin.SE3(pose))
        posture = tasks.PostureTask(cost=POSTURE_COST, gain=POSTURE_GAIN)
        posture.set_target(q)
        self.centre = tasks.ComTask(1.0)
        self.hands = [tasks.FrameTask(frame, 1.0, 1.0) for frame in hands]
        self.constraints, self.costs = [*standing, self.centre], [*self.hands, posture]
        self.limits = [limits.ConfigurationLimit(model), limits.VelocityLimit(model)]

    def pack(self, centre: Array, hands: Array) -> tuple[Any, ...]:
        """The poses as pinocchio.SE3."""
        return centre, *map(pin.SE3, hands)

    def step(self, centre: Array, *hands: Any) -> None:
        """One programme, then forward kinematics."""
        self.centre.set_target(centre)
        for task, hand in zip(self.hands, hands, strict=True):
            task.set_target(hand)
        programme = pink.build_ik(
            self.configuration, self.costs, self.dt, limits=self.limits, constraints=self.constraints
        )
        self.configuration.integrate_inplace(solve_problem(programme, "daqp").x, 1.0)

    def last(self) -> Array:
        """That of its Configuration."""
        return self.configuration.q[self.order]
