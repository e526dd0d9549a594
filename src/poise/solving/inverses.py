"""The derivatives of many answers to the pose of one frame, where no limit is near: J^+, the least change of q."""

from typing import Final

import numpy as np
import numpy.typing as npt

from poise.model.kinematics import frame_jacobians
from poise.model.model import Model
from poise.solving.outcome import Asked
from poise.spatial import Array
from poise.tasks.pose import PoseTask

AT_LIMIT: Final = 1e-6
"""A joint this near to a limit [rad or m] stands at it."""
_LEFT: Final = 1e-9
"""What J J^+ may be from the identity: more is near to singular, and looked at by singular values."""


def inverses_at(model: Model, asked: Asked, q: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """(n, nv, 6) the derivatives of answers q (n, nq) by twists of the target, and (n,) which of them are sound.

    The others are near a limit or singular, and all are where more than one whole pose is asked for.
    """
    task, count = asked.tasks[0], len(q)
    if len(asked.tasks) > 1 or asked.limits.beside or not isinstance(task, PoseTask) or not _is_whole(task):
        return np.zeros((count, model.nv, 6)), np.zeros(count, dtype=np.bool_)
    jacobian, poses = frame_jacobians(model, model.frame(task.frame), q)
    if task.offset is not None:
        arm = task.seen(model, q).xyz - poses[:, :3]
        jacobian[:, :3] += np.cross(jacobian[:, 3:], arm[:, :, None], axis=1)
    square = np.matmul(jacobian, jacobian.swapaxes(1, 2))
    sound = _away_from_limits(model, asked, q)
    # What is singular is judged by what is left of the identity; until then nothing may stop the others.
    scale = np.trace(square, axis1=1, axis2=2)
    sound &= np.linalg.det(square / np.where(scale > 0.0, scale, 1.0)[:, None, None]) > 1e-30
    square[~sound] = np.eye(6)
    inverse = np.ascontiguousarray(np.linalg.solve(square, jacobian).swapaxes(1, 2))
    sound &= np.abs(np.matmul(jacobian, inverse) - np.eye(6)).max(axis=(1, 2)) <= _LEFT
    return inverse, sound


def along(cotangents: Array, derivatives: Array) -> Array:
    """(..., k) of (..., nv) and (..., nv, k), the same to the bit for one and for many."""
    out: Array = (cotangents[..., None] * derivatives).sum(axis=-2)
    return out


def _is_whole(task: PoseTask) -> bool:
    """Whether it asks for all of a pose in the world."""
    return task.in_world and task.asked == 6


def _away_from_limits(model: Model, asked: Asked, q: Array) -> npt.NDArray[np.bool_]:
    """(n,) whether no joint that moves the task stands at a limit."""
    if not asked.problem.limits:
        return np.ones(len(q), dtype=np.bool_)
    if len(asked.problem.section("balls")):
        return np.zeros(len(q), dtype=np.bool_)
    places = asked.problem.section("coordinates")["q"]
    some = q[:, places]
    away: npt.NDArray[np.bool_] = (
        (some > model.lower[places] + AT_LIMIT) & (some < model.upper[places] - AT_LIMIT)
    ).all(axis=1)
    return away
