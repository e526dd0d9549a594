"""embodik: levels of tasks within limits, its own solver (C++)."""

from typing import Any

import embodik
import numpy as np
from judge import Array
from motion import Motion
from scenes import HAND, Scene, as_file, numbered, urdf_with_shapes

POSTURE_GAIN = 0.1
PAIRS = 5
"""The nearest pairs that are constrained, the most of what its documentation recommends."""


class Levels:
    """`solve_velocity_dq` with three levels, then `integrate`."""

    def __init__(self, motion: Motion) -> None:
        robot, (feet, hands) = motion.robot, motion.frames
        with robot.bare_file(masses=True) as file:
            self.model = embodik.RobotModel(str(file), floating_base=True)
        self.dt = motion.dt
        joints = [self.model.get_joint_config_index(name) for name in robot.judge.names]
        # Pinocchio, which it stands on, writes the base's quaternion x y z w.
        self.order = np.array([0, 1, 2, 6, 3, 4, 5, *joints])
        self.q = np.empty(self.model.nq)
        self.q[self.order] = motion.stance
        self.model.update_configuration(self.q)
        self.solver = embodik.KinematicsSolver(self.model)
        self.solver.dt = motion.dt
        self.solver.enable_position_limits(True)
        self.solver.enable_velocity_limits(True)
        # As it comes, 0.1, it damps so much that hands lag by a centimetre.
        self.solver.set_tolerance(1e-4)
        for frame, pose in zip(feet, motion.feet, strict=True):
            self.ranked(self.solver.add_frame_task(frame, frame), 0, 1.0).set_target_pose(pose[:3, 3], pose[:3, :3])
        self.centre = self.ranked(self.solver.add_com_task("centre of mass"), 0, 1.0)
        self.hands = [self.ranked(self.solver.add_frame_task(frame, frame), 1, 1.0) for frame in hands]
        posture = self.solver.add_posture_task("posture", list(range(6, self.model.nv)))
        self.ranked(posture, 2, POSTURE_GAIN).set_target_configuration(self.q)

    def ranked(self, task: Any, priority: int, gain: float) -> Any:
        """The task with a priority and a share of its error that one step shall undo."""
        task.priority, task.weight = priority, gain / self.dt
        return task

    def pack(self, centre: Array, hands: Array) -> tuple[Any, ...]:
        """Points, and rotations column by column."""
        return centre, *((hand[:3, 3].copy(), np.asfortranarray(hand[:3, :3])) for hand in hands)

    def step(self, centre: Array, *hands: Any) -> None:
        """One velocity; the kinematics follow at the next."""
        self.centre.set_target_position(centre)
        for task, hand in zip(self.hands, hands, strict=True):
            task.set_target_pose(*hand)
        velocity = self.solver.solve_velocity_dq(self.q)
        self.q = self.model.integrate(self.q, velocity, self.dt)

    def last(self) -> Array:
        """What it integrated."""
        return self.q[self.order]


class Guarded:
    """`solve_velocity_dq` with `configure_collision_constraint`, then `integrate`; obstacles are shapes of the base."""

    def __init__(self, scene: Scene) -> None:
        with as_file(urdf_with_shapes(scene, obstacles=True, capsule="named")) as file:
            self.model = embodik.RobotModel(str(file))
        self.q, self.dt = scene.start.copy(), scene.dt
        self.model.update_configuration(self.q)
        self.solver = embodik.KinematicsSolver(self.model)
        self.solver.dt = scene.dt
        self.solver.enable_position_limits(True)
        self.solver.enable_velocity_limits(True)
        self.solver.set_tolerance(1e-4)
        pairs = [(numbered(a, scene), numbered(b, scene)) for a, b in scene.pairs]
        self.solver.configure_collision_constraint(scene.asked, include_pairs=pairs, max_constraints=PAIRS)
        self.solver.enable_sphere_broadphase(True)
        self.task = self.solver.add_frame_task(HAND, HAND)
        self.task.priority, self.task.weight = 0, 1.0 / scene.dt

    def pack(self, goal: Array) -> tuple[Any, ...]:
        """A point, and a rotation column by column."""
        return goal[:3, 3].copy(), np.asfortranarray(goal[:3, :3])

    def step(self, *goal: Any) -> None:
        """One velocity; the kinematics follow at the next."""
        self.task.set_target_pose(*goal)
        self.q = self.model.integrate(self.q, self.solver.solve_velocity_dq(self.q), self.dt)

    def last(self) -> Array:
        """What it integrated."""
        return self.q.copy()
