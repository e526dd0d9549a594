"""pink: tasks and limits, one quadratic programme a step (Python over Pinocchio and DAQP)."""

from typing import Any

import numpy as np
import pink
import pinocchio as pin
from judge import Array
from motion import Motion
from pink import barriers, limits, tasks
from qpsolvers import solve_problem
from robots import Robot
from scenes import HAND, Scene, as_file, numbered, urdf_with_shapes

from peers import starts
from peers.pinocchio import built, order

POSTURE_COST = 1e-3
"""Beside 1 for the hands, which it must not disturb much."""
POSTURE_GAIN = 0.1
RATE = 50.0
"""How quickly a pair may close in, as poise's [1/s]."""
PAIRS = 16
"""The nearest pairs that are constrained."""
DAMPING = 1e-8
"""Of the joints, beside 1 for the hand."""
ITERATIONS = 12
"""Steps a start, where it is to come to its target."""


class Steps:
    """`solve_ik` with full steps until the task is done, random restarts."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        self.robot, self.tolerance, model = robot, tolerance, built(robot)
        self.configuration = pink.Configuration(model, model.createData(), pin.neutral(model))
        # Damping that fades with the error keeps the first steps short and the last ones quadratic.
        self.task = tasks.FrameTask(robot.tips[0], 1.0, 1.0, lm_damping=1e-2)
        self.limits = [limits.ConfigurationLimit(model)]
        self.lower, self.upper = model.lowerPositionLimit, model.upperPositionLimit
        self.order = order(robot, model)

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The target as pinocchio.SE3."""
        return pin.SE3(targets[0]), q0

    def solve(self, target: Any, q0: Array) -> Any:
        """q, or None."""
        self.task.set_target(target)
        for start in starts(self.robot, q0):
            q = np.empty(len(start))
            q[self.order] = start
            if (found := self._descend(q)) is not None:
                return found
        return None

    def _descend(self, q: Array) -> Array | None:
        """Steps from q to an answer, or None."""
        self.configuration.update(q)
        for _ in range(ITERATIONS):
            error = self.task.compute_error(self.configuration)
            if max(np.linalg.norm(error[:3]), np.linalg.norm(error[3:])) < self.tolerance:
                return np.array(self.configuration.q)
            try:
                v = pink.solve_ik(self.configuration, [self.task], 1.0, solver="daqp", limits=self.limits)
            except pink.exceptions.PinkError:
                return None
            # DAQP lets a bound be broken by 1e-6.
            moved = np.clip(self.configuration.integrate(v, 1.0), self.lower, self.upper)
            self.configuration.update(moved)
        return None

    def unpack(self, answer: Any) -> Array | None:
        """q in the judge's order."""
        return None if answer is None else answer[self.order]


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


class Guarded:
    """`build_ik` with `SelfCollisionBarrier`, which takes obstacles as shapes of the base."""

    def __init__(self, scene: Scene) -> None:
        with as_file(urdf_with_shapes(scene, obstacles=True, capsule="named")) as file:
            model = pin.buildModelFromUrdf(str(file))
            shapes = pin.buildGeomFromUrdf(model, str(file), pin.GeometryType.COLLISION)
        number = {shape.name: k for k, shape in enumerate(shapes.geometryObjects)}
        for a, b in scene.pairs:
            shapes.addCollisionPair(pin.CollisionPair(number[numbered(a, scene)], number[numbered(b, scene)]))
        self.dt = scene.dt
        self.configuration = pink.Configuration(
            model, model.createData(), scene.start.copy(), collision_model=shapes, collision_data=shapes.createData()
        )
        self.tasks = [tasks.FrameTask(HAND, 1.0, 1.0)]
        self.limits = [limits.ConfigurationLimit(model), limits.VelocityLimit(model)]
        self.barriers = [barriers.SelfCollisionBarrier(PAIRS, gain=RATE, safe_displacement_gain=0.0, d_min=scene.asked)]

    def pack(self, goal: Array) -> tuple[Any, ...]:
        """The pose as pinocchio.SE3."""
        return (pin.SE3(goal),)

    def step(self, goal: Any) -> None:
        """One programme, then forward kinematics and all distances; it stays where there is no answer."""
        self.tasks[0].set_target(goal)
        programme = pink.build_ik(
            self.configuration, self.tasks, self.dt, damping=DAMPING, limits=self.limits, barriers=self.barriers
        )
        answer = solve_problem(programme, "daqp")
        if answer.found:
            self.configuration.integrate_inplace(answer.x, 1.0)

    def last(self) -> Array:
        """That of its Configuration."""
        return self.configuration.q.copy()
