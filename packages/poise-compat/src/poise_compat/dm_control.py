"""dm_control's `qpos_from_site_pose`, within the limits of the joints.

    from poise_compat import dm_control as inverse_kinematics  # was: from dm_control.utils import inverse_kinematics

The original takes damped steps (Buss 2004) from one start, and leaves the ranges of the joints.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from poise import SO3, OrientationTask, PositionTask, Task, solve
from poise.extending import Array, ArrayLike, FromMuJoCo, finite, not_negative, optional, positive
from poise_compat.locked import all_locked_but

_FINEST: Final = 1e-15
"""[m] and [rad] below which rounding decides."""


class IKResult(NamedTuple):
    """What was found."""

    qpos: Array
    """(nq,) positions of the joints."""
    err_norm: float
    """Distance [m] and `rot_weight` times the angle [rad] that are left, together."""
    steps: int
    """Iterations."""
    success: bool
    """Whether `err_norm` is less than `tol`."""


def qpos_from_site_pose(
    physics: Any,
    site_name: str,
    target_pos: ArrayLike | None = None,
    target_quat: ArrayLike | None = None,
    joint_names: Sequence[str] | None = None,
    tol: float = 1e-14,
    rot_weight: float = 1.0,
    regularization_threshold: float = 0.1,
    regularization_strength: float = 3e-2,
    max_update_norm: float = 2.0,
    progress_thresh: float = 20.0,
    max_steps: int = 100,
    inplace: bool = False,
) -> IKResult:
    """qpos near that of `physics` at which the site is at `target_pos` (3,), turned as `target_quat` (4,), wxyz.

    `joint_names` are those that may move; None: all.  `max_steps` are the iterations of a start, of which there are
    many; regularisation, update norm and progress threshold decide nothing.  With `inplace` the qpos is written to
    `physics`.  Raises ValueError without a target and for names in another container, and JointNotFound and
    FrameNotFound for a name that the model does not have.
    """
    if target_pos is None and target_quat is None:
        raise ValueError("there is neither a target_pos nor a target_quat; give at least one of them")
    if joint_names is not None and not isinstance(joint_names, (list, tuple, np.ndarray)):
        raise ValueError(f"joint_names must be a list, a tuple, an array or None, got {type(joint_names)}")
    positive("tol", tol)
    not_negative("rot_weight", rot_weight)
    known = FromMuJoCo.of(physics.model.ptr)
    qpos = np.array(physics.data.qpos)
    q = known.q(qpos)
    model, places = all_locked_but(
        known.model, q, known.model.joint_names if joint_names is None else list(joint_names)
    )
    each = max(0.5 * tol / (1.0 + rot_weight), _FINEST)
    frame = known.site(site_name)
    tasks: list[Task] = []
    if target_pos is not None:
        tasks.append(PositionTask(frame, finite("target_pos", target_pos, 3), tolerance=each))
    if target_quat is not None:
        tasks.append(OrientationTask(frame, SO3(wxyz=finite("target_quat", target_quat, 4)), tolerance=each))
    solution = solve(model, tasks, q0=q[places], max_iterations=max_steps)
    q[places] = solution.q
    qpos = known.qpos(q, qpos)
    if inplace:
        physics.data.qpos[:] = qpos
        mujoco = optional("dm_control", "mujoco", "mjcf", "mujoco")
        mujoco.mj_fwdPosition(physics.model.ptr, physics.data.ptr)
        qpos = physics.data.qpos
    left = solution.position_error + rot_weight * solution.rotation_error
    return IKResult(qpos, left, solution.iterations, left < tol)
