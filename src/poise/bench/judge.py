"""The judge: what is true of answers, from the poses of the model alone, whatever a solver says about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from poise.bench.problems import Framed
from poise.model.model import Model
from poise.spatial import Array, conjugate, quaternion_log, quaternion_product, rotate
from poise.tasks.aim import AxisTask, LookAtTask
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask

Flags = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What is true of N answers; one that is no finite number fails."""

    position: Array
    """(N, tasks) distances to the targets [m]; 0 for tasks without a position."""
    rotation: Array
    """(N, tasks) angles to the targets [rad]; 0 for tasks without a rotation."""
    reached: Flags
    """(N,) whether every task is within its tolerances."""
    outside: Flags
    """(N,) whether a joint is beyond its limit, by however little."""


def judge(model: Model, tasks: Sequence[Framed], goals: Array, q: Array) -> Verdict:
    """Judge the answers `q` (N, nq) to `goals` (N, tasks, 7), over the rows whose weight is not 0."""
    finite: Flags = np.all(np.isfinite(q), axis=1)
    answers = np.where(finite[:, None], q, model.home)
    position, rotation = np.zeros((2, len(q), len(tasks)))
    reached = finite.copy()
    for k, task in enumerate(tasks):
        position_limit, rotation_limit = tolerances(task)
        position[:, k], rotation[:, k] = _errors(model, task, goals[:, k], answers)
        reached &= (position[:, k] <= position_limit) & (rotation[:, k] <= rotation_limit)
    position[~finite], rotation[~finite] = np.inf, np.inf
    outside: Flags = np.any((answers < model.lower) | (answers > model.upper), axis=1) | ~finite
    return Verdict(position, rotation, reached, outside)


def tolerances(task: Framed) -> tuple[float, float]:
    """Of position [m] and rotation [rad]; infinite for what the task leaves free."""
    match task:
        case PoseTask():
            return task.position_tolerance, task.rotation_tolerance
        case PositionTask():
            return task.tolerance, np.inf
        case OrientationTask() | AxisTask() | LookAtTask():
            return np.inf, task.tolerance


def _errors(model: Model, task: Framed, goal: Array, q: Array) -> tuple[Array, Array]:
    """(N,) distances and (N,) angles of one task."""
    pose = model.pose(task.frame, q)
    none = np.zeros(len(q))
    xyz, wxyz = goal[:, :3], goal[:, 3:]
    match task:
        case PositionTask():
            return _length(xyz - pose.xyz, task.weight), none
        case OrientationTask():
            return none, _length(_along(task, wxyz, _turn(wxyz, pose.wxyz)), task.weight)
        case PoseTask():
            place = _along(task, wxyz, xyz - pose.xyz)
            turn = _along(task, wxyz, _turn(wxyz, pose.wxyz))
            return _length(place, task.position_weight), _length(turn, task.rotation_weight)
        case AxisTask() | LookAtTask():
            wanted = xyz if isinstance(task, AxisTask) else xyz - pose.xyz
            axis = rotate(pose.wxyz, np.array(task.axis))
            # The arctangent keeps full precision for small angles, where the arccosine has lost half of it.
            sine = np.linalg.norm(np.cross(axis, wanted), axis=1)
            return none, np.arctan2(sine, (axis * wanted).sum(axis=1)) * (task.weight != 0.0)


def _turn(target: Array, wxyz: Array) -> Array:
    """(N, 3) rotation vectors from the rotations to the targets, along the world's axes [rad]."""
    return quaternion_log(quaternion_product(target, conjugate(wxyz)))


def _along(task: PoseTask | OrientationTask, target: Array, rows: Array) -> Array:
    """Rows along the axes in which the task's weights count."""
    return rotate(conjugate(target), rows) if task.axes == "target" else rows


def _length(rows: Array, weight: npt.ArrayLike) -> Array:
    """(N,) norms over the rows whose weight is not 0."""
    return np.linalg.norm(rows * (np.broadcast_to(weight, 3) != 0.0), axis=1)
