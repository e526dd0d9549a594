"""LeRobot's `RobotKinematics`: degrees in, degrees out, for arms of five joints too.

    from poise_compat.lerobot import RobotKinematics  # was: from lerobot.model.kinematics import RobotKinematics

The original takes one step of a quadratic program.  Here the frame comes to its place, turned as the pose asks as far
as the joints leave the choice, and `solution` tells how far.
"""

import os
from collections.abc import Sequence
from typing import final

import numpy as np

from poise import OrientationTask, PositionTask, ShapeError, Solution, Solver, Task, load
from poise.extending import Array, ArrayLike, finite, not_negative
from poise_compat.locked import all_locked_but
from poise_compat.poses import pose_of


@final
class RobotKinematics:
    """Forward and inverse kinematics of one frame of a URDF, in degrees; joints that are not named stay at zero.

    Raises ModelError for the file, JointNotFound and FrameNotFound for a name that it does not have.
    """

    def __init__(
        self,
        urdf_path: str | os.PathLike[str],
        target_frame_name: str = "gripper_frame_link",
        joint_names: Sequence[str] | None = None,
    ) -> None:
        model = load(urdf_path)
        self.target_frame_name = target_frame_name
        self.joint_names = list(model.joint_names if joint_names is None else joint_names)
        self.model, _ = all_locked_but(model, model.neutral, self.joint_names)
        self.places = [self.model.index(name).start for name in self.joint_names]
        self.solution: Solution | None = None
        """What the last `inverse_kinematics` came to."""
        self.model.frame(target_frame_name)
        self._solvers: dict[tuple[bool, bool, int | None], Solver] = {}

    def forward_kinematics(self, joint_pos_deg: ArrayLike) -> Array:
        """(4, 4) pose of the frame at joint positions [deg], in the order of `joint_names`; more of them are ignored.

        Raises ShapeError for too few, ValueError for one that is not finite.
        """
        return self.model.pose(self.target_frame_name, self._q("joint_pos_deg", joint_pos_deg)).matrix()

    def inverse_kinematics(
        self,
        current_joint_pos: ArrayLike,
        desired_ee_pose: ArrayLike,
        position_weight: float = 1.0,
        orientation_weight: float = 0.01,
    ) -> Array:
        """Joint positions [deg] near the current ones at which the frame is at the pose (4, 4).

        A weight of 0 leaves out the position or the orientation; any other says the same as the default: the position
        comes first.  Numbers after those of `joint_names`, such as a gripper's, are returned as they are.  Out of
        reach it is the nearest, and `solution` says so.  Raises as `forward_kinematics`, and ValueError for what is no
        pose.
        """
        not_negative("position_weight", position_weight)
        not_negative("orientation_weight", orientation_weight)
        start = self._q("current_joint_pos", current_joint_pos)
        pose = pose_of("desired_ee_pose", desired_ee_pose)
        place, turn = position_weight > 0.0, orientation_weight > 0.0
        if not (place or turn):
            raise ValueError("position_weight and orientation_weight are both 0; one of them must be positive")
        target = [pose.xyz] * place + [pose.rotation] * turn
        solution = self._solver(place, turn, 0)(target, start)
        if not solution.success:  # another branch of solutions may come there
            wider = self._solver(place, turn, None)(target, start)
            solution = wider if wider.success else solution
        self.solution = solution
        result = np.array(current_joint_pos, dtype=np.float64)
        result[: len(self.places)] = np.degrees(solution.q[self.places])
        return result

    def _q(self, what: str, degrees: ArrayLike) -> Array:
        given = finite(what, degrees)
        if given.ndim != 1 or len(given) < len(self.places):
            wanted = f"{what} must have {len(self.places)} numbers or more, one for each of {self.joint_names}"
            raise ShapeError(f"{wanted}; got shape {given.shape}")
        q = np.array(self.model.home)
        q[self.places] = np.radians(given[: len(self.places)])
        return q

    def _solver(self, place: bool, turn: bool, restarts: int | None) -> Solver:
        key = place, turn, restarts
        if key not in self._solvers:
            frame = self.target_frame_name
            tasks: list[Task] = [PositionTask(frame)] if place else []
            tasks += [OrientationTask(frame, required=not place)] if turn else []
            self._solvers[key] = Solver(self.model, tasks, max_restarts=restarts)
        return self._solvers[key]
