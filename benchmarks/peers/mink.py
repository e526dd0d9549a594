"""mink: tasks and limits, one quadratic programme a step (Python over MuJoCo and DAQP)."""

from typing import Any

import mink
import mujoco
import numpy as np
from judge import Array
from motion import Motion
from qpsolvers import solve_problem
from robots import Robot
from scenes import HAND, Scene, chain, shapes_of

import poise as pz
from peers import starts

ITERATIONS = 12
"""Steps a start."""
POSTURE_COST = 1e-3
"""Beside 1 for the hands, which it must not disturb much."""
POSTURE_GAIN = 0.1
SEEN = 0.05
"""Pairs that are nearer than this and what is asked are constrained [m]; as it comes, 1 cm in all."""
DAMPING = 1e-8
"""Of the joints, beside 1 for the hand."""


class Mink:
    """`solve_ik` with full steps until every task is done, random restarts."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        self.robot, self.tolerance = robot, tolerance
        model = compiled(robot)
        self.configuration = mink.Configuration(model)
        # Damping that fades with the error keeps the first steps short and the last ones quadratic.
        self.tasks = [
            mink.FrameTask(tip, "site", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-2) for tip in robot.tips
        ]
        # DAQP lets a bound be broken by 1e-6.
        self.limits = [mink.ConfigurationLimit(model, min_distance_from_limits=1e-5)]
        self.order = order(robot, model)

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The targets as mink.SE3."""
        return [mink.SE3.from_matrix(target) for target in targets], q0

    def solve(self, targets: Any, q0: Array) -> Any:
        """q, or None."""
        for task, target in zip(self.tasks, targets, strict=True):
            task.set_target(target)
        for start in starts(self.robot, q0):
            if (q := self.descend(start)) is not None:
                return q
        return None

    def descend(self, start: Array) -> Array | None:
        """Steps from a start to an answer, or None."""
        configuration, q = self.configuration, np.empty(len(start))
        q[self.order] = start
        configuration.update(q)
        for _ in range(ITERATIONS):
            if all(self.done(task) for task in self.tasks):
                return configuration.q
            try:
                velocity = mink.solve_ik(configuration, self.tasks, 1.0, "daqp", limits=self.limits)
            except mink.NoSolutionFound:
                return None
            configuration.integrate_inplace(velocity, 1.0)
        return None

    def done(self, task: Any) -> bool:
        """Whether the task's frame is within the tolerance; so close, a logarithm's parts are distance and angle."""
        error = task.compute_error(self.configuration)
        return bool(error[:3] @ error[:3] < self.tolerance**2 and error[3:] @ error[3:] < self.tolerance**2)

    def unpack(self, answer: Any) -> Array | None:
        """q in the judge's order."""
        return None if answer is None else answer[self.order]


class Levels:
    """`build_ik` with the first level as constraints; hands and posture, which are costs, share the second.

    `solve_ik` does the same after a check that the configuration is inside, which takes longer and changes nothing.
    """

    def __init__(self, motion: Motion) -> None:
        robot, (feet, hands) = motion.robot, motion.frames
        model = compiled(robot, masses=True)
        self.dt, self.order = motion.dt, order(robot, model)
        q = np.empty(model.nq)
        q[self.order] = motion.stance
        self.configuration = mink.Configuration(model, q)
        standing = [mink.FrameTask(frame, "site", 1.0, 1.0) for frame in feet]
        for task, pose in zip(standing, motion.feet, strict=True):
            task.set_target(mink.SE3.from_matrix(pose))
        posture = mink.PostureTask(model, cost=POSTURE_COST, gain=POSTURE_GAIN)
        posture.set_target(q)
        self.centre = mink.ComTask(1.0)
        self.hands = [mink.FrameTask(frame, "site", 1.0, 1.0) for frame in hands]
        self.constraints, self.costs = [*standing, self.centre], [*self.hands, posture]
        speeds = {joint.name: joint.speed for joint in robot.judge.joints if joint.moves}
        self.limits = [
            mink.ConfigurationLimit(model, min_distance_from_limits=1e-5),
            mink.VelocityLimit(model, speeds),
        ]

    def pack(self, centre: Array, hands: Array) -> tuple[Any, ...]:
        """The poses as mink.SE3."""
        return centre, *(mink.SE3.from_matrix(hand) for hand in hands)

    def step(self, centre: Array, *hands: Any) -> None:
        """One programme, then forward kinematics."""
        self.centre.set_target(centre)
        for task, hand in zip(self.hands, hands, strict=True):
            task.set_target(hand)
        programme = mink.build_ik(
            self.configuration, self.costs, self.dt, limits=self.limits, constraints=self.constraints
        )
        self.configuration.integrate_inplace(solve_problem(programme, "daqp").x, 1.0)

    def last(self) -> Array:
        """That of its Configuration."""
        return self.configuration.q[self.order]


class Guarded:
    """`build_ik` with `CollisionAvoidanceLimit` and DAQP."""

    def __init__(self, scene: Scene) -> None:
        spec = mujoco.MjSpec.from_string(chain())
        spec.compiler.fusestatic = False
        spec.compiler.boundmass = spec.compiler.boundinertia = 1e-3
        for name, link, shape in shapes_of(scene):
            body = spec.worldbody if link in (None, "panda_link0") else spec.body(link)
            add_shape(body, name, shape)
        spec.body(HAND).add_site(name=HAND)
        model = spec.compile()
        self.dt = scene.dt
        self.configuration = mink.Configuration(model, scene.start.copy())
        self.task = mink.FrameTask(HAND, "site", 1.0, 1.0)
        speeds = {joint.name: joint.velocity[0] for joint in scene.arm.joints if joint.velocity}
        self.limits = [
            mink.ConfigurationLimit(model),
            mink.VelocityLimit(model, speeds),
            mink.CollisionAvoidanceLimit(
                model,
                [([a], [b]) for a, b in scene.pairs],
                minimum_distance_from_collisions=scene.asked,
                collision_detection_distance=scene.asked + SEEN,
            ),
        ]

    def pack(self, goal: Array) -> tuple[Any, ...]:
        """The pose as mink.SE3."""
        return (mink.SE3.from_matrix(goal),)

    def step(self, goal: Any) -> None:
        """One programme, then forward kinematics; it stays where there is no answer."""
        self.task.set_target(goal)
        programme = mink.build_ik(self.configuration, [self.task], self.dt, damping=DAMPING, limits=self.limits)
        answer = solve_problem(programme, "daqp")
        if answer.found:
            self.configuration.integrate_inplace(answer.x, 1.0)

    def last(self) -> Array:
        """That of its Configuration."""
        return self.configuration.q.copy()


def add_shape(body: Any, name: str, shape: Any) -> None:
    """A geom of the same form and name."""
    kinds = mujoco.mjtGeom
    if isinstance(shape, pz.Box):
        half = 0.5 * np.array(shape.size)
        body.add_geom(name=name, type=kinds.mjGEOM_BOX, size=half, pos=shape.pose.xyz, quat=shape.pose.wxyz)
    elif isinstance(shape, pz.Sphere):
        body.add_geom(name=name, type=kinds.mjGEOM_SPHERE, size=[shape.radius, 0.0, 0.0], pos=shape.centre)
    else:
        ends = [*shape.start, *shape.end]
        body.add_geom(name=name, type=kinds.mjGEOM_CAPSULE, size=[shape.radius, 0.0, 0.0], fromto=ends)


def order(robot: Robot, model: Any) -> Array:
    """Where in MuJoCo's configuration the judge's numbers are."""
    joints = [int(model.jnt_qposadr[model.joint(name).id]) for name in robot.judge.names]
    return np.array([*range(7 if robot.floating else 0), *joints])


def compiled(robot: Robot, *, masses: bool = False) -> Any:
    """The bare chain as a MuJoCo model: each link its own body, a site at each tip, a free joint if the base floats."""
    spec = mujoco.MjSpec.from_string(robot.bare(masses=masses))
    spec.compiler.fusestatic = False
    if not masses:
        spec.compiler.boundmass = spec.compiler.boundinertia = 1e-3
    if robot.floating:
        spec.body(robot.judge.root).add_freejoint()
    for tip in robot.tips:
        spec.body(tip).add_site(name=tip)
    return spec.compile()
