"""What a Tracker follows: targets, postures, and velocities that move targets."""

from numbers import Real
from typing import Any, Final

import numpy as np

from poise.checks import numbers
from poise.errors import ShapeError
from poise.kernels.methods.memory import FRESH
from poise.solving.arguments import alone, one_a_task, one_start
from poise.solving.last_step import LastStep
from poise.solving.twist import Lead, Twist
from poise.spatial import Array, ArrayLike
from poise.tasks.base import POSITION, ROTATION, Task

_FAR: Final = 1e20
"""A sum of squares of a posture above which each of its numbers is looked at."""


class Targets(LastStep):
    """What the next steps of a Tracker read."""

    __slots__ = ()

    tasks: tuple[Task, ...]
    _lead: Lead
    _points: Array
    _posture_place: int | None
    _points_shape: tuple[int, ...] | None

    @property
    def targets(self) -> Array:
        """(tasks, 7) place and quaternion wxyz of each target, which the next step reads; write into it at will."""
        return self._targets[: len(self.tasks)]

    @targets.setter
    def targets(self, values: ArrayLike) -> None:
        given = numbers("targets", values)
        if given.shape != self.targets.shape:
            raise ShapeError(f"targets must have shape {self.targets.shape}, got {given.shape}")
        self.targets[:] = given

    @property
    def posture(self) -> Array | None:
        """(nq,) what the next step pulls to, if a PostureTask is followed; write into it at will."""
        return None if self._posture_task is None else self._posture

    @posture.setter
    def posture(self, q: ArrayLike) -> None:
        self._pull(q)

    def _pull(self, q: ArrayLike) -> None:
        """Take a posture for the next steps."""
        if self._posture_task is None:
            raise ValueError("posture is for a Tracker that follows a PostureTask: state one among the tasks")
        try:
            given = np.asarray(q, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.zeros(0)
        # NaN and what is too large show in the sum of squares.
        if given.shape != self._posture.shape or not given @ given < _FAR:
            given = one_start(self.model, q, "posture")
        self._posture[:] = given

    def aim(self, target: Any) -> None:
        """Take new targets for the next steps; see `step`."""
        with self._entered():
            self._aim(target)

    def _aim(self, target: Any, *, stepping: bool = False) -> None:
        if type(target) is np.ndarray and target.shape == self._points_shape:
            self._points[:] = target
            return
        posture = None
        if self._posture_place is not None:
            target, posture = self._parted(self._posture_place, target)
        aimed = {  # all of them, before one is taken
            k: self._moved(k, value, name, stepping=stepping)
            if type(value) is Twist
            else self.tasks[k].goal(value, name)
            for k, (name, value) in enumerate(one_a_task(self.tasks, target) if self.tasks else ())
            if value is not None
        }
        if posture is not None:
            self._pull(posture)
        for k, goal in aimed.items():
            self._targets[k] = goal

    def _parted(self, place: int, target: Any) -> tuple[Any, Any]:
        """The targets of the tasks that lead, and the posture at this place among them, None where it is left out."""
        count = len(self.tasks)
        if not count:
            return (), alone(target)
        listed = isinstance(target, (list, tuple)) and len(target) == count + 1
        if not listed or (count == 1 and all(isinstance(x, Real) for x in target)):
            return target, None
        return [*target[:place], *target[place + 1 :]], target[place]

    def _moved(self, k: int, twist: Twist, name: str, *, stepping: bool) -> Array:
        """(7,) the target of task `k` after a step of its `twist`."""
        task = self.tasks[k]
        if self._dt is None or not stepping:
            raise ValueError(
                f"{name} is a Twist, which needs the time of a step: give the Tracker dt [s], and the Twist to `step`"
            )
        here = twist.seen(task, self.model, self._scratch.start, name)
        target, given = here.copy(), self._targets[k]
        some = slice(0 if POSITION in task.leads else 3, 7 if ROTATION in task.leads else 3)
        if self._memory[FRESH] > 0.5:
            target[some] = given[some]
        moved = given.copy()
        moved[some] = twist.moved(target, here, self._dt, self._lead)[some]
        return moved

    def _postures(self, posture: ArrayLike | None, shape: tuple[int, ...]) -> Array | None:
        """(characters, steps, nq) what each step of a rollout pulls to; None: to the tracker's."""
        if posture is None:
            return None
        if self._posture_task is None:
            raise ValueError("posture is for a Tracker that follows a PostureTask: state one among the tasks")
        given = self.model.check_q(posture, "posture")
        if given.shape != shape[-given.ndim :]:
            raise ShapeError(
                f"posture must have shape ({shape[-1]},), {shape[1:]} or {shape}, (characters, steps, nq), got "
                f"{given.shape}"
            )
        return np.ascontiguousarray(np.broadcast_to(given, shape))
