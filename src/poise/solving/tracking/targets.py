"""What a Tracker follows: targets, postures, and velocities that move targets."""

from numbers import Real
from typing import Any

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import numbers, with_holes
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.layout import GOAL_NUMBERS, LARGEST
from poise.kernels.machine.memory import FRESH
from poise.solving.arguments.arguments import alone, each_goal, one_a_task, start_of
from poise.solving.arguments.twist import Lead, Twist
from poise.solving.tracking.last_step import LastStep
from poise.spatial import SE3, SO3, pose_of, rotation_of
from poise.tasks.base import POSITION, ROTATION, Task
from poise.tasks.posture import ask_for_degrees


class Targets(LastStep):
    """What the next steps of a Tracker read."""

    __slots__ = ()

    tasks: tuple[Task, ...]
    _lead: Lead
    _points: Array
    _points_shape: tuple[int, ...] | None
    _posture_place: int | None
    _rows: Array

    @property
    def targets(self) -> Array:
        """(tasks, 7) place and quaternion wxyz of each target, which the next step reads; write into it at will.

        A PostureTask has no row of it: see `posture`.
        """
        return self._rows

    @targets.setter
    def targets(self, values: ArrayLike) -> None:
        given = numbers("targets", values)
        if given.shape != self.targets.shape:
            raise ShapeError(f"targets must have shape {self.targets.shape}, got {given.shape}")
        self.targets[:] = given

    @property
    def posture(self) -> Array | None:
        """(nq,) what the next step pulls to, if a PostureTask is followed; write into it at will."""
        return None if self._posture_place is None else self._posture

    @posture.setter
    def posture(self, q: ArrayLike) -> None:
        if self._posture_place is None:
            raise InvalidValue(
                "needs", "posture is for a Tracker that follows a PostureTask: state one among the tasks"
            )
        given = self._posture_of(q, "posture")
        if not np.abs(given).max(initial=0.0) <= LARGEST:
            self.model.normalize(given, "posture")  # says which number it is
        self._posture[:] = given

    def aim(self, target: Any) -> None:
        """Take new targets for the next steps; see `step`."""
        with self._entered():
            self._aim(target)

    def _aim(self, target: Any, *, stepping: bool = False) -> None:
        if type(target) is np.ndarray and target.shape == self._points_shape:
            self._points[:] = target
            return
        if self._posture_place is not None:
            target = self._listed(self._posture_place, target)
        aimed = {  # all of them, before one is taken
            k: self._moved(k, value, name, stepping=stepping)
            if type(value) is Twist
            else self._posture_of(value, name)
            if k == self._posture_place
            else self.tasks[k].goal(value, name)
            for k, (name, value) in enumerate(one_a_task(self.tasks, target))
            if value is not None
        }
        for k, goal in aimed.items():
            self._goals[k][:] = goal

    def _posture_of(self, q: ArrayLike, name: str) -> Array:
        """(nq,) a posture, whose numbers a kernel checks; raises ShapeError."""
        given = start_of(self.model, q, name)
        ask_for_degrees(self.model, given)
        return given

    def _listed(self, place: int, target: Any) -> Any:
        """The targets of all tasks, None for the posture at this place among them where it is left out."""
        count = len(self.tasks) - 1
        if not count:
            return target
        several = isinstance(target, (list, tuple)) and not (count == 1 and all(isinstance(x, Real) for x in target))
        if several and len(target) == count + 1:
            return target
        if count == 1:
            if several and len(target) > 1 and any(isinstance(one, (SE3, SO3)) for one in target):
                raise ShapeError(
                    "target must be 2 targets, one a task in their order, or one without that of the PostureTask, got "
                    f"{len(target)}"
                )
            target = [alone(target)]
        elif not isinstance(target, (list, tuple, np.ndarray)) or len(target) != count:
            return target
        return [*target[:place], None, *target[place:]]

    def _moved(self, k: int, twist: Twist, name: str, *, stepping: bool) -> Array:
        """(7,) the target of task `k` after a step of its `twist`."""
        task, current = self.tasks[k], self._goals[k]
        if self._dt is None or not stepping:
            raise InvalidValue(
                "no-dt",
                f"{name} is a Twist, which needs the time of a step: give the Tracker dt [s], and the Twist to `step`",
            )
        here = twist.frame_pose(task, self.model, self._scratch.start, name)
        target = here.copy()
        some = slice(0 if POSITION in task.frame_parts else 3, 7 if ROTATION in task.frame_parts else 3)
        if self._memory[FRESH] > 0.5:
            target[some] = current[some]
        moved = current.copy()
        moved[some] = twist.moved(target, here, self._dt, self._lead)[some]
        return moved

    def _each_step(self, targets: Any, characters: int | None) -> Array:
        """(characters, steps, .) the goals of all tasks at each step of a rollout, see `joined`.

        None characters: one, for which targets have no axis.
        """
        many = 1 if characters is None else characters
        if isinstance(targets, (list, tuple)) or not len(self._rows):
            listed = targets if isinstance(targets, (list, tuple)) else [targets]
            place = self._posture_place
            named = one_a_task(self.tasks, listed if place is None else self._listed(place, listed), "targets")
            parts = [
                self._of_steps(task, x, name, characters) for task, (name, x) in zip(self.tasks, named, strict=True)
            ]
        else:
            rows = iter(np.moveaxis(self._stacked(targets, characters), 2, 0))
            parts = [next(rows) if task.blocks else None for task in self.tasks]
        steps = max((part.shape[-2] for part in parts if part is not None and part.ndim > 1), default=None)
        if steps is None:
            raise ShapeError("targets must have a row a step for one task at least")
        out = np.tile(np.concatenate([self._scratch.goal, self._posture]), (many * steps, 1))
        for k, (goals, part) in enumerate(zip(each_goal(self._followed, out), parts, strict=False)):
            shape = (many, steps, goals.shape[1])
            if part is not None and part.shape != shape[3 - part.ndim :]:
                raise ShapeError(f"targets[{k}] must be of {many} x {steps}, characters x steps, got {part.shape[:-1]}")
            if part is not None:
                goals[:] = np.broadcast_to(part, shape).reshape(goals.shape)
        return out.reshape(many, steps, -1)

    def _of_steps(self, task: Task, values: Any, name: str, characters: int | None) -> Array | None:
        """(characters, steps, 7) the goals of a task; (nq,), (steps, nq) or more of a posture; None: it stays."""
        if values is None:
            return None
        if not task.blocks:
            postures = self.model.check_q(values, name)
            ask_for_degrees(self.model, postures)
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
        k, width = len(self._rows), 3 if self._points_shape is not None and rows.shape[-1:] == (3,) else 7
        if rows.ndim != 4 or rows.shape[0] != (characters or 1) or rows.shape[2:] != (k, width):
            many, found = ("", rows.shape[1:]) if characters is None else (f"{characters}, ", rows.shape)
            raise ShapeError(f"targets must have shape ({many}steps, {k}, {width}), got {found}")
        out = np.zeros((*rows.shape[:3], GOAL_NUMBERS))
        out[..., 3], out[..., :width] = 1.0, rows
        return out
