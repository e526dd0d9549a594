"""What the last step of a Tracker left, and why it did not go farther; computed when it is asked for."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.memory import DONE, FAILED, FOLLOWING, FRESH, INVERSE_RADIUS, SCOUT, STAGE
from poise.model.model import Model
from poise.model.proximity import Proximity
from poise.solving.answers.competing import Question, brakes, limited, rivals
from poise.solving.problem.workspace import Bound, Scratch
from poise.solving.requirements.active_limits import ActiveLimit, active_limits, at_distance
from poise.solving.requirements.collision import CollisionLimit
from poise.solving.requirements.sections import relaxed_constraints
from poise.solving.tracking.explore import Explorer
from poise.solving.tracking.following_error import FollowingErrorBound
from poise.tasks.base import Task
from poise.tasks.error import TaskError

BUSY: Final = (
    "another thread is in this Tracker, or was when this process was forked, and it has a past of its own: make one "
    "for each thread and process"
)


_SCOUT_WORDS: Final = {
    FOLLOWING: " A joint's limit held it back, so it goes round by another posture.",
    DONE: (
        " No posture was found in which the limits let it come nearer: solve tells whether the target is within reach, "
        "explore=True looks farther, and a PostureTask keeps joints from their limits on the way."
    ),
}
"""What is said of what the scout does."""


_BEYOND: Final = 3.0
"""Where a step is so many times as long as `settling` lets those towards targets be, it is none of these, and weights
are not why the targets come no nearer."""


class LastStep:
    """What a Tracker tells of its last step."""

    __slots__ = ()

    model: Model
    tasks: tuple[Task, ...]
    _collision: CollisionLimit | None
    _bound: Bound
    _count: int
    _dt: float | None
    _explorer: Explorer | None
    _followed: tuple[Task, ...]
    _error_bound: FollowingErrorBound | None
    _lock: Lock
    _memory: Array
    _goals: list[Array]
    _posture: Array
    _q: Array
    _scratch: Scratch
    _targets: Array

    @property
    def velocity(self) -> Array:
        """(nv,) of the last step [rad/s or m/s], as it was commanded; 0 before the first and after a `reset`.

        Raises ValueError without a dt, and after a step that was refused.
        """
        if self._dt is None:
            raise InvalidValue("no-dt", "a velocity needs the time of a step: give the Tracker dt [s]")
        with self._entered():
            if self._memory[FRESH] < 0.5:
                return np.zeros(self.model.nv)
            q = self._last_q()
            return self.model.difference(self.model.normalize(self._scratch.start), q) / self._dt

    @property
    def errors(self) -> tuple[TaskError, ...]:
        """What the last step left of each of `tasks`, then of each loop: between its q and the targets as they are now.

        By forward kinematics, when it is asked for.  Raises ValueError before the first step and after a `reset`.
        """
        with self._entered():
            return self._errors(self._last_q())

    @property
    def active_limits(self) -> tuple[ActiveLimit, ...]:
        """The limits that the last step ended at, of the joints that move the tasks, and of shapes; empty: none.

        A joint that moves nothing but a posture counts at the limit of its position where the posture is beyond it.
        Speeds count with a dt.  What a method gives away so as to stay clear of a limit is not told.  Raises ValueError
        before the first step and after a `reset`.
        """
        with self._entered():
            return self._active(self._last_q())

    @property
    def nearest(self) -> Proximity | None:
        """The two shapes that are nearest to each other after the last step; None without a CollisionLimit.

        Raises ValueError before the first step and after a `reset`.
        """
        with self._entered():
            q = self._last_q()
            return None if self._collision is None else self._collision.nearest(self.model, q)

    @property
    def failed(self) -> bool:
        """Whether the last step, or one of the last rollout, was no finite number.

        A singular pose can make it so, or a task of your own whose residual has no number there.  q then stayed where
        it was, or braked where accelerations are limited.
        """
        return bool(self._memory[FAILED] > 0.5)

    def explain(self) -> str:
        """A sentence or two: what the last step left of each task, the limits that it ended at, what gave way, and
        which other tasks hold one back, with what helps."""
        with self._entered():
            if self._memory[FRESH] < 0.5:
                return "No step has been taken."
            if self._refused:
                return "The last step was refused or interrupted."
            q = self._last_q()
            left = [task.words(error) for task, error in zip(self._followed, self._errors(q), strict=True)]
            active = self._active(q)
            gave = relaxed_constraints(int(self._memory[STAGE]), self._bound.problem, active)
            others = "".join(f" {sentence}" for sentence in self._others(q, active))
        held = f" Held by limits: {'; '.join(map(str, active))}." if active else ""
        gave = f" Nothing kept all limits: {gave} gave way." if gave else ""
        return f"What is left: {'; '.join(left)}.{held}{gave}{others}{_SCOUT_WORDS.get(self._memory[SCOUT], '')}"

    def _others(self, q: Array, active: Sequence[ActiveLimit]) -> list[str]:
        """A sentence for each task that others keep short at q (nq,), but where joints go as fast as they may."""
        if any(limit.kind not in ("position", "distance", "linear") for limit in active):
            return []
        goals = zip(self._followed, self._goals, strict=True)
        if not all(task.sound(self.model, goal[None]).all() for task, goal in goals):
            return []  # targets that were written meanwhile, and are none
        e, clamped = (self._scratch.narrow[self._bound.problem.rows(name)] for name in ("e", "clamped"))
        share = np.divide(clamped, e, out=np.ones_like(e), where=e != 0.0) if len(clamped) == len(e) else 1.0
        asked = Question(self.model, self._followed, self.tasks, self._bound, q, self._scratch.goal, share)
        before = self.model.normalize(self._scratch.start)
        longest = float(np.abs(self.model.difference(before, q)).max(initial=0.0))
        settled = longest * self._memory[INVERSE_RADIUS] > _BEYOND
        said = rivals(asked) + ([] if settled else brakes(asked, before))
        looked_for = self._explorer is not None or self._scratch.scout is not None
        held = "" if looked_for or not active else " and ".join(limited(asked, before))
        return [*([f"Limits let {held} come no nearer: explore=True looks for a way round."] if held else []), *said]

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """Keep other threads out within the block; raises RuntimeError where one is in."""
        if not self._lock.acquire(False):
            raise RuntimeError(BUSY)
        try:
            yield
        finally:
            self._lock.release()

    def _last_q(self) -> Array:
        """(nq,) where the last step led."""
        if self._memory[FRESH] < 0.5:
            raise InvalidValue("needs", "no step has been taken, so there is nothing to tell of it: call step first")
        if self._refused:
            raise InvalidValue(
                "needs", "the last step was refused or interrupted, so there is nothing to tell of it: take another"
            )
        return self._q

    @property
    def _refused(self) -> bool:
        """Whether the last step raised an error, so that no q came of it."""
        return bool(np.isnan(self._scratch.start[0]))

    def _errors(self, q: Array) -> tuple[TaskError, ...]:
        pairs = zip(self._followed, self._goals, strict=True)
        return tuple(task.error(task.judged(self.model, goal[None], q[None])[0]) for task, goal in pairs)

    def _active(self, q: Array) -> tuple[ActiveLimit, ...]:
        before = self.model.normalize(self._scratch.start)
        problem, work = self._bound.problem, self._scratch.narrow
        found = active_limits(self.model, problem, work, before, q, self._dt, self._count, self._posture)
        if self._error_bound is not None:
            found = tuple(self._error_bound.active(found, q))
        if self._collision is None:
            return found
        return (*found, *at_distance(self._collision, self.model, self._collision.nearest(self.model, q)))
