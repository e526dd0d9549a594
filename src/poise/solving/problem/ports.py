"""What stands for the target of a task in an array of numbers, and what its derivatives are by them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import PLACE, TURN
from poise.model.model import Model
from poise.quaternions import conjugate, quaternion_product
from poise.solving.arguments.arguments import cores
from poise.solving.arguments.work_queue import WorkQueue
from poise.spatial import SE3, SO3
from poise.tasks.base import Task
from poise.tasks.pose import PoseTask
from poise.tasks.posture import PostureTask

Axes: TypeAlias = tuple[int, ...]
_CHUNK: Final = 1024
"""Rows that a thread takes at a time."""


@final
@dataclass(frozen=True, eq=False)
class Port:
    """How a task takes its targets from arrays, row by row."""

    words: str
    """What it takes."""
    forms: tuple[Axes, ...]
    """The last axes of an array that it takes."""
    targets: Callable[[Array], Any]
    """What a batch is given for rows (n, *axes)."""
    pulled: Callable[[Array, Array], Array]
    """Cotangents (n, *axes) of rows, from those (n, k) by `BatchGradient.by_target`, and the rows."""

    def axes(self, shape: Axes) -> Axes | None:
        """The last axes of an array of this shape that are one target; None if none are."""
        return next((form for form in self.forms if shape[len(shape) - len(form) :] == form), None)


def port_of(model: Model, task: Task) -> Port | None:
    """That of a task; None where it takes no target as numbers."""
    if isinstance(task, PostureTask):
        words = f"postures (..., {model.nq})"
        return Port(words, ((model.nq,),), _as_it_is, lambda given, rows: of_velocities(model, rows, given))
    if not task.takes_target:
        return None
    if isinstance(task, PoseTask):
        return Port("poses (..., 4, 4) or (..., 7), place and quaternion wxyz", ((4, 4), (7,)), pose_rows, _to_poses)
    if task.goal_kind & TURN and not task.goal_kind & PLACE:
        words = "rotations (..., 3, 3) or (..., 4), quaternions wxyz"
        return Port(words, ((3, 3), (4,)), _rotations, _to_rotations)
    if task.to_point:
        return Port("points or directions (..., 3)", ((3,),), _as_it_is, lambda given, rows: given[:, :3])
    shape = np.shape(task.target)
    width = math.prod(shape)
    words = f"numbers of shape (..., {', '.join(map(str, shape))})" if shape else "numbers (...)"
    return Port(words, (shape,), _as_it_is, lambda given, rows: given[:, :width].reshape(rows.shape))


def _as_it_is(rows: Array) -> Array:
    return rows


# Poses -------------------------------------------------------------------------------------------------------------


def pose_rows(poses: Array) -> Array:
    """(n, 7) of poses (n, 7) or (n, 4, 4), whose rotations are made such where they are rounded."""
    if poses.ndim == 2:
        return poses
    out, find, sound = np.empty((len(poses), 7)), prepare("gradients.tangents.poses_of"), []

    def convert(at: slice) -> None:
        some = np.ascontiguousarray(poses[at]).reshape(-1)
        sound.append(find(some, out[at].reshape(-1), len(some) // 16) == len(some) // 16)

    in_chunks(len(poses), convert)
    return out if all(sound) else SE3.from_matrix(poses, orthonormalise=True).array


def _to_poses(twists: Array, poses: Array) -> Array:
    """Cotangents of poses (n, 7) or (n, 4, 4) from those (n, 6) of twists."""
    if poses.ndim == 2:
        return np.hstack([twists[:, :3], _to_quaternions(twists[:, 3:], poses[:, 3:])])
    out, find = np.empty((len(twists), 4, 4)), prepare("gradients.tangents.matrix_cotangents")
    given, numbers = np.ascontiguousarray(twists), np.ascontiguousarray(pose_rows(poses))

    def convert(at: slice) -> None:
        find(given[at].reshape(-1), numbers[at].reshape(-1), out[at].reshape(-1), len(given[at]))

    in_chunks(len(twists), convert)
    return out


def _rotations(rows: Array) -> SO3:
    """The rotations that quaternions (n, 4) of any length or matrices (n, 3, 3) are."""
    if rows.ndim == 3:
        return SO3.from_matrix(rows, orthonormalise=True)
    return SO3(wxyz=rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _to_rotations(turns: Array, rows: Array) -> Array:
    """Cotangents of rotations (n, 4) or (n, 3, 3) from those (n, 3) of turns."""
    if rows.ndim == 2:
        return _to_quaternions(turns, rows)
    poses = np.zeros((len(rows), 4, 4))
    poses[:, :3, :3], poses[:, 3, 3] = rows, 1.0
    return _to_poses(np.pad(turns, ((0, 0), (3, 0))), poses)[:, :3, :3]


def _to_quaternions(turns: Array, wxyz: Array) -> Array:
    """(n, 4) cotangents of quaternions of any length from those (n, 3) of turns: w is twice the vector of du u^-1."""
    out: Array = 2.0 * quaternion_product(np.pad(turns, ((0, 0), (1, 0))), wxyz)
    return out / (wxyz**2).sum(axis=1, keepdims=True)


# Configurations ----------------------------------------------------------------------------------------------------


def of_velocities(model: Model, q: Array, given: Array) -> Array:
    """(n, nq) cotangents of q from those (n, nv) of velocities."""
    out, (at_q, at_v) = np.zeros(q.shape), model._plain
    out[:, at_q] = given[:, at_v]
    for i, v in model._turning:
        out[:, i : i + 4] = _to_quaternions(given[:, v : v + 3], q[:, i : i + 4])
    return out


def to_velocities(model: Model, q: Array, given: Array) -> Array:
    """(n, nv) cotangents of velocities from those (n, nq) of q, whose unit quaternions turn by du = (0, w) u / 2."""
    out, (at_q, at_v) = np.zeros((len(q), model.nv)), model._plain
    out[:, at_v] = given[:, at_q]
    for i, v in model._turning:
        out[:, v : v + 3] = 0.5 * quaternion_product(given[:, i : i + 4], conjugate(q[:, i : i + 4]))[:, 1:]
    return out


# On all cores ------------------------------------------------------------------------------------------------------


def in_chunks(count: int, work: Callable[[slice], None]) -> None:
    """Do what takes some rows with all of them, on all cores."""
    queue = WorkQueue(count, _CHUNK)

    def some() -> None:
        for chunk in queue:
            work(slice(chunk.start, chunk.stop))

    queue.share(some, min(max(len(queue), 1), cores()))
