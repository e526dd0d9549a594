"""Unitree's `G1_29_ArmIK` of xr_teleoperate: both arms of a G1, and the torques that hold them.

    from poise_compat.xr_teleoperate import G1_29_ArmIK  # was: from teleop.robot_control.robot_arm_ik ...

The original hands the same least squares to IPOPT, which takes milliseconds, and answers what it cannot solve with the
measured joints and no torque, at which arms fall.
"""

import math
import os
import warnings
from collections import deque
from typing import Final, final

import numpy as np

from poise import SE3, JointVelocityTask, Model, PoseTask, ShapeError, Task, Tracker, load
from poise.damping import ChanLawrence
from poise.extending import Array, ArrayLike, finite
from poise.methods import BoundedLeastSquares
from poise_compat.locked import all_locked_but
from poise_compat.poses import pose_of

_ARM: Final = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch", "wrist_yaw")
_PLACE, _TURN, _SMALL, _STILL = 50.0, 1.0, 0.02, 0.1
"""Costs of squares: distance [1/m2], angle [1/rad2], joints and their change since the last command [1/rad2]."""
_NEWEST_FIRST: Final = np.array([0.4, 0.3, 0.2, 0.1])
_MOST, _ENOUGH = 15, 1e-4
"""Steps of a call, and the change [rad] that ends it."""


@final
class G1_29_ArmIK:
    """Inverse kinematics of the 14 joints of a G1's arms; all others stay at zero.

    The joints are in the order of the original, from the shoulder to the wrist, left before right.  What is led is
    "L_ee" and "R_ee", 5 cm along x from the last joint of a wrist.  `model` is another G1 than the one that `load`
    has, such as with the hands that it wears, whose weight counts.  `Unit_Test` and `Visualization` decide nothing.
    Raises ModelError for the file, JointNotFound for one that has other joints.
    """

    def __init__(
        self, Unit_Test: bool = False, Visualization: bool = False, *, model: Model | str | os.PathLike[str] = "g1"
    ) -> None:
        whole = model if isinstance(model, Model) else load(model)
        sides = {side: [f"{side}_{name}_joint" for name in _ARM] for side in ("left", "right")}
        self.model, _ = all_locked_but(whole, whole.neutral, [*sides["left"], *sides["right"]])
        self.places = np.array([self.model.index(name).start for names in sides.values() for name in names])
        joints = [self.model.joint(name) for names in sides.values() for name in names]
        self._low, self._high = np.array([(joint.lower[0], joint.upper[0]) for joint in joints]).T
        tasks: list[Task] = []
        for frame, names in zip(("L_ee", "R_ee"), sides.values(), strict=True):
            wrist = self.model.joint(names[-1]).child
            self.model = self.model.with_frame(frame, link=wrist, origin=SE3.from_xyz_wxyz([0.05, 0, 0], [1, 0, 0, 0]))
            tasks.append(PoseTask(frame, position_weight=math.sqrt(_PLACE), rotation_weight=math.sqrt(_TURN)))
        # a |q|^2 + b |q - last|^2 is (a + b) |q - b last / (a + b)|^2 and what does not depend on q
        tasks += [JointVelocityTask(names, weight=math.sqrt(_SMALL + _STILL)) for names in sides.values()]
        method = BoundedLeastSquares(max_error=None, max_step=math.pi, damping=ChanLawrence(0.02))
        self._tracker = Tracker(self.model, tasks, method, dt=1.0, settle=False)
        self._solutions: deque[Array] = deque(maxlen=len(_NEWEST_FIRST))
        self._command: Array | None = None
        self.reason = ""
        """Why the last call held the arms where they were, in a sentence; empty where it moved them."""

    def solve_ik(
        self, left_wrist: ArrayLike, right_wrist: ArrayLike, current_lr_arm_motor_q: ArrayLike | None = None,
        current_lr_arm_motor_dq: ArrayLike | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """(14,) positions [rad] for wrists at poses (4, 4) from the pelvis, and (14,) torques [N m] against gravity.

        It starts from the measured positions, or from the last command, and what it comes to is averaged with the three
        before.  Measured velocities decide nothing.  For a pose or a position that is not finite the last command and
        its torques are returned, with a RuntimeWarning, and `reason` says why.  Raises ShapeError for other shapes.
        """
        self.reason = ""
        start = np.zeros(len(self.places)) if self._command is None else self._command
        try:
            if current_lr_arm_motor_q is not None:
                start = finite("current_lr_arm_motor_q", current_lr_arm_motor_q, len(self.places))
            goals = pose_of("left_wrist", left_wrist), pose_of("right_wrist", right_wrist)
        except ShapeError:
            raise
        except ValueError as error:
            last = start if self._command is None else self._command
            self.reason = f"{error}; the arms are held where they are"
            warnings.warn(self.reason, RuntimeWarning, stacklevel=2)
            return last.copy(), self._torques(last)
        self._solutions.appendleft(self._solved(goals, start))
        full = len(self._solutions) == len(_NEWEST_FIRST)
        mean = _NEWEST_FIRST @ np.array(self._solutions) if full else self._solutions[0]
        self._command = np.clip(mean, self._low, self._high)  # a mean at a limit is rounded
        return self._command.copy(), self._torques(self._command)

    def _solved(self, goals: tuple[SE3, SE3], start: Array) -> Array:
        """(14,) where the costs are least within limits, by Gauss-Newton steps."""
        rest = _STILL / (_SMALL + _STILL) * start
        at = start
        for _ in range(_MOST):
            left, right = (rest - at).reshape(2, -1)
            before, at = at, self._tracker.step(self._q(at), [*goals, left, right])[self.places]
            if np.abs(at - before).max() < _ENOUGH:
                break
        return at

    def _torques(self, joints: Array) -> Array:
        return self.model.gravity_torques(self._q(joints))[self.places]

    def _q(self, joints: Array) -> Array:
        q = np.empty(len(self.places))
        q[self.places] = joints
        return q
