"""What a Tracker follows, targets, postures and velocities that move targets, and how it is read."""

from typing import Any, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import with_holes
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.layout import GOAL_NUMBERS
from poise.kernels.machine.memory import FRESH
from poise.model.model import Model
from poise.quaternions import pose_numbers
from poise.solving.arguments.arguments import each_goal, one_a_task, start_of
from poise.solving.arguments.twist import Lead, Twist
from poise.solving.methods.posture import one_posture
from poise.solving.problem.workspace import Bound, Scratch
from poise.spatial import SE3, SO3, pose_of, rotation_of
from poise.tasks.base import POSITION, ROTATION, Task
from poise.tasks.posture import ask_for_degrees


@final
class Targets:
    """What the next steps of a Tracker read, as arrays that share the memory of its scratch."""

    def __init__(
        self,
        model: Model,
        bound: Bound,
        scratch: Scratch,
        tasks: tuple[Task, ...],
        followed: tuple[Task, ...],
        lead: Lead,
        dt: float | None,
    ) -> None:
        """`followed` are the tasks as they are solved for, then the loops; a Twist moves targets for `dt` [s]."""
        self._model, self._scratch = model, scratch
        self.given = tasks, followed, lead, dt
        self.tasks, self.followed, self.lead, self.dt = self.given
        self._memory = scratch.narrow[bound.problem.rows("memory")]
        given = one_posture(tasks)
        self.posture_place = None if given is None else tasks.index(given)
        self.posture: Array = scratch.narrow[bound.problem.rows("guide")]
        """(nq,) that of the PostureTask, else (0,)."""
        self.frames = scratch.goal.reshape(-1, GOAL_NUMBERS)
        """(., 7) those of all tasks but the PostureTask, then of the loops."""
        rows = iter(self.frames)
        self.goals = [next(rows) if task.blocks else self.posture for task in followed]
        """Those of each that is followed."""
        parts = [task.frame_parts for task in tasks if task.blocks]
        self.rows = self.frames[: len(parts)]
        """(tasks, 7) those of the tasks."""
        self._points = self.rows[:, :3]
        self._points_shape = self._points.shape if all(leads == (POSITION,) for leads in parts) else None
        self._pose_alone = parts == [(POSITION, ROTATION)] and len(self.frames) == 1

    @property
    def joined(self) -> Array:
        """(.,) all of them, the posture last."""
        return np.concatenate([self._scratch.goal, self.posture])

    @joined.setter
    def joined(self, numbers: Array) -> None:
        self._scratch.goal[:], self.posture[:] = np.split(numbers, [self._scratch.goal.size])

    def aim(self, target: Any, *, stepping: bool = False) -> None:
        """Take new targets, see `Tracker.step`; where it is `stepping`, a Twist too, and a kernel checks a pose."""
        if stepping and self._pose_alone:
            pose = target.array if type(target) is SE3 and target.array.ndim == 1 else pose_numbers(target)
            if pose is not None:
                self._scratch.goal_view[:] = pose
                return
        if type(target) is np.ndarray and target.shape == self._points_shape:
            self._points[:] = target
            return
        aimed = {  # all of them, before one is taken
            k: self._moved(k, value, name, stepping=stepping)
            if type(value) is Twist
            else self.posture_of(value, name)
            if k == self.posture_place
            else self.tasks[k].goal(value, name)
            for k, (name, value) in enumerate(one_a_task(self.tasks, target, staying=self.posture_place))
            if value is not None
        }
        for k, goal in aimed.items():
            self.goals[k][:] = goal

    def posture_of(self, q: ArrayLike, name: str) -> Array:
        """(nq,) a posture, whose numbers a kernel checks; raises ShapeError."""
        given = start_of(self._model, q, name)
        ask_for_degrees(self._model, given)
        return given

    def _moved(self, k: int, twist: Twist, name: str, *, stepping: bool) -> Array:
        """(7,) the target of task `k` after a step of its `twist`."""
        task, current = self.tasks[k], self.goals[k]
        if self.dt is None or not stepping:
            raise InvalidValue(
                "no-dt",
                f"{name} is a Twist, which needs the time of a step: give the Tracker dt [s], and the Twist to `step`",
            )
        here = twist.frame_pose(task, self._model, self._scratch.start, name)
        target = here.copy()
        some = slice(0 if POSITION in task.frame_parts else 3, 7 if ROTATION in task.frame_parts else 3)
        if self._memory[FRESH] > 0.5:
            target[some] = current[some]
        moved = current.copy()
        moved[some] = twist.moved(target, here, self.dt, self.lead)[some]
        return moved

    def each_step(self, targets: Any, characters: int | None) -> Array:
        """(characters, steps, .) the goals of all tasks at each step of a rollout, see `joined`.

        None characters: one, for which targets have no axis.
        """
        many = 1 if characters is None else characters
        if targets is None or isinstance(targets, (list, tuple)) or not len(self.rows):
            named = one_a_task(self.tasks, targets, "targets", rows_on=self._model, staying=self.posture_place)
            parts = [
                self._of_steps(task, x, name, characters) for task, (name, x) in zip(self.tasks, named, strict=True)
            ]
        else:
            rows = iter(np.moveaxis(self._stacked(targets, characters), 2, 0))
            parts = [next(rows) if task.blocks else None for task in self.tasks]
        steps = max((part.shape[-2] for part in parts if part is not None and part.ndim > 1), default=None)
        if steps is None:
            raise ShapeError("targets must have a row a step for one task at least")
        out = np.tile(self.joined, (many * steps, 1))
        for k, (goals, part) in enumerate(zip(each_goal(self.followed, out), parts, strict=False)):
            shape = (many, steps, goals.shape[1])
            if part is not None and part.shape != shape[3 - part.ndim :]:
                raise ShapeError(f"targets[{k}] must be of {many} x {steps}, characters x steps, got {part.shape[:-1]}")
            if part is not None:
                goals[:] = np.broadcast_to(part, shape).reshape(goals.shape)
        return out.reshape(many, steps, out.shape[1])

    def _of_steps(self, task: Task, values: Any, name: str, characters: int | None) -> Array | None:
        """(characters, steps, 7) the goals of a task; (nq,), (steps, nq) or more of a posture; None: it stays."""
        if values is None:
            return None
        if not task.blocks:
            postures = self._model.check_q(values, name)
            ask_for_degrees(self._model, postures)
            return postures
        if characters is None:
            return task.goals(values, name)[None]
        own = values.array if isinstance(values, SE3) else values.wxyz if isinstance(values, SO3) else values
        array = with_holes(name, own)
        if array.ndim < 3:
            raise ShapeError(f"{name} must begin with axes of characters and steps, got shape {array.shape}")
        rows = array.reshape(-1, *array.shape[2:])
        made = pose_of(rows) if isinstance(values, SE3) else rotation_of(rows) if isinstance(values, SO3) else rows
        return task.goals(made, name).reshape(*array.shape[:2], GOAL_NUMBERS)

    def _stacked(self, targets: Any, characters: int | None) -> Array:
        """(characters, steps, tasks, 7) the goals of targets that are one array."""
        rows = targets.array[..., None, :] if isinstance(targets, SE3) else with_holes("targets", targets)
        rows = rows[None] if characters is None else rows
        k, width = len(self.rows), 3 if self._points_shape is not None and rows.shape[-1:] == (3,) else 7
        if rows.ndim != 4 or rows.shape[0] != (characters or 1) or rows.shape[2:] != (k, width):
            many, found = ("", rows.shape[1:]) if characters is None else (f"{characters}, ", rows.shape)
            raise ShapeError(f"targets must have shape ({many}steps, {k}, {width}), got {found}")
        out = np.zeros((*rows.shape[:3], GOAL_NUMBERS))
        out[..., 3], out[..., :width] = 1.0, rows
        return out
