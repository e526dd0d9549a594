"""Tasks as they are led by hand: what a gizmo moves of each, and where it stands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.model.model import Model
from poise.tasks.aim import AxisTask, LookAtTask
from poise.tasks.base import Task
from poise.tasks.frame import OfFrame
from poise.tasks.mass import CentreOfMassTask
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask

TASK_KINDS: Final[Mapping[str, type[Task]]] = {
    "position": PositionTask,
    "pose": PoseTask,
    "orientation": OrientationTask,
    "axis": AxisTask,
    "look at": LookAtTask,
    "centre of mass": CentreOfMassTask,
}
"""The tasks that a panel offers."""


@final
@dataclass(frozen=True, slots=True)
class Gizmo:
    """What a hand can do to a target."""

    slides: bool
    turns: bool
    stands: Callable[[Task, Array, Model, Array], Array]
    """(7,) where it is, place and wxyz, from the task, its goal (7,), the model and q (nq,)."""
    goal: Callable[[Task, Array], Array]
    """(7,) the goal that the gizmo at a pose (7,) asks for."""


def new_task(kind: str, frame: str, *, weight: float = 1.0, priority: int = 0) -> Task:
    """A task of a kind of `TASK_KINDS`; the centre of mass has no frame.

    Raises KeyError for another kind, ValueError for a weight or priority that is none.
    """
    make: Any = TASK_KINDS[kind]
    own = () if make is CentreOfMassTask else (frame,)
    return make(*own, priority=priority, **dict.fromkeys(make.weight_names, weight))


def kind_of(task: Task) -> str:
    """The kind of `TASK_KINDS`, or the name of the class."""
    return next((kind for kind, made in TASK_KINDS.items() if type(task) is made), type(task).__name__)


def default_task(model: Model) -> Task | None:
    """What is led where nobody says what: the tip, its turns too if there are joints for them; None: nothing moves."""
    if not any(joint.nv or joint.mimic for joint in model.root_path(model.tip)):
        return None
    return PoseTask(model.tip) if turns_too(model, model.tip) else PositionTask(model.tip)


def turns_too(model: Model, frame: str) -> bool:
    """Whether six or more velocities move a frame, so that its turns can be led beside its place."""
    moving = [joint for joint in model.root_path(model.frame(frame).link) if joint.nv or joint.mimic]
    return sum(max(joint.nv, 1) for joint in moving) >= 6


def gizmo_of(task: Task) -> Gizmo | None:
    """What a hand can do to the target of `task`; None if it has none that stands in the world."""
    return _GIZMOS.get(type(task)) if task.in_world else None


def _frame_pose(task: Task, model: Model, q: Array) -> Array:
    if isinstance(task, OfFrame) and task.frame in model.frames:
        return task.frame_pose(model, q).array
    return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def _at_goal(task: Task, goal: Array, model: Model, q: Array) -> Array:
    return goal


def _at_point(task: Task, goal: Array, model: Model, q: Array) -> Array:
    return np.array([*goal[:3], 1.0, 0.0, 0.0, 0.0])


def _at_frame(task: Task, goal: Array, model: Model, q: Array) -> Array:
    return np.array([*_frame_pose(task, model, q)[:3], *goal[3:]])


def _along(task: Task, goal: Array, model: Model, q: Array) -> Array:
    """At the frame, its z axis along the direction, turned from the world's the shortest way."""
    x, y, z = goal[:3] / np.linalg.norm(goal[:3])
    half = np.array([1.0 + z, -y, x, 0.0]) if z > -1.0 + 1e-12 else np.array([0.0, 1.0, 0.0, 0.0])
    return np.array([*_frame_pose(task, model, q)[:3], *(half / np.linalg.norm(half))])


def _whole(task: Task, pose: Array) -> Array:
    return pose.copy()


def _place(task: Task, pose: Array) -> Array:
    return np.array([*pose[:3], 1.0, 0.0, 0.0, 0.0])


def _turn(task: Task, pose: Array) -> Array:
    return np.array([0.0, 0.0, 0.0, *pose[3:]])


def _z_axis(task: Task, pose: Array) -> Array:
    w, x, y, z = pose[3:]
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 1.0, 0.0, 0.0, 0.0])


_GIZMOS: Final[dict[type[Task], Gizmo]] = {
    PoseTask: Gizmo(True, True, _at_goal, _whole),
    PositionTask: Gizmo(True, False, _at_point, _place),
    OrientationTask: Gizmo(False, True, _at_frame, _turn),
    AxisTask: Gizmo(False, True, _along, _z_axis),
    LookAtTask: Gizmo(True, False, _at_point, _place),
    CentreOfMassTask: Gizmo(True, False, _at_point, _place),
}
