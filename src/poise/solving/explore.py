"""Out of stalls: where a limit or an obstacle holds a tracker back from a target that can be reached, a way round.

A tracker sees no farther than its next step, so it comes to rest in front of what is in its way.  Then a solve looks
for a configuration that fulfils the targets, from eight starts side by side, and a free way to it is sought; its
corners are what the tracker follows next, joint by joint, by steps that keep the same limits.
"""

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from poise.kernels.machine.layout import ANSWER, SOLVED
from poise.model.model import Model
from poise.solving.collision import CollisionLimit
from poise.solving.path.clearance import Clearance
from poise.solving.path.clock import Clock
from poise.solving.path.connect import connect
from poise.solving.path.room import Room
from poise.solving.search import Search
from poise.spatial import Array
from poise.tasks.base import Task
from poise.tasks.coupling import JointCouplingTask

_PATIENCE: Final = 40
"""Steps in which the error must fall, or the arm is held back."""
_FALL: Final = 0.99
"""A fall of the error by this factor is one."""
_PASSED: Final = 0.1
_MET: Final = 1e-3
"""A corner is passed, and the end of the way met, where no joint is farther from it than this [rad or m]."""
_MOVED: Final = 0.02
"""Where a number of the targets has changed by more than this, a way to what they were leads nowhere [m or 1]."""
_TRIES: Final = 4
"""Ways that are tried to one target, each to another solution where there are several."""
_LONG: Final = 2.0
"""Seconds that one search for a free way may take."""


@final
class Explorer:
    """Whether a tracker is held back, and where it should go instead."""

    __slots__ = (
        "_best",
        "_clearance",
        "_goal",
        "_led",
        "_limit",
        "_model",
        "_search",
        "_since",
        "_tried",
        "_way",
        "tasks",
    )
    tasks: tuple[JointCouplingTask, ...]
    """What leads each joint by itself."""

    def __init__(self, model: Model, tasks: Sequence[Task], limit: CollisionLimit | None, *, limits: bool) -> None:
        """Raises ValueError for joints of several coordinates that move the tasks."""
        self._model, self._limit = model, limit
        self._search = Search(model, tuple(tasks), limits=limits if limit is None else [limit])
        names = [j.name for j in model.joints if j.nq and model.velocity_index(j.name).start in self._velocities]
        for name in names:
            if model.joint(name).nq > 1:
                raise ValueError(
                    f"explore=True leads joints of one coordinate each, and {name!r} has {model.joint(name).nq}: leave "
                    "it out"
                )
        self.tasks = tuple(JointCouplingTask({name: 1.0}) for name in names)
        self._goal: Array | None = None
        self.forget()

    @property
    def _velocities(self) -> tuple[int, ...]:
        return self._search.problem.velocities

    @property
    def _places(self) -> list[int]:
        """Where the joints stand in q."""
        return [self._model.index(name).start for task in self.tasks for name in task.coefficients]

    def forget(self) -> None:
        """Begin anew: there is no way, and nothing was tried."""
        self._way: Array | None = None
        self._best, self._since, self._tried, self._led = np.inf, 0, 0, False

    def corner(self, q: Array, goal: Array) -> Array | None:
        """Where each joint should go now, on the way; None where there is none, and the targets are to be followed."""
        if self._goal is None or not (np.abs(goal - self._goal) <= _MOVED).all():  # nor a number that is none
            self.forget()
            self._goal = goal.copy()
        if self._way is None:
            return None
        while len(self._way):
            away = float(np.abs(self._way[0] - q)[self._places].max())
            if away > (_MET if len(self._way) == 1 else _PASSED):
                break
            self._way = self._way[1:]
            self._best, self._since = np.inf, 0
        if not len(self._way) or self._held(away):
            self._way = None
            self._best, self._since = np.inf, 0
            return None
        corner: Array = self._way[0][self._places]
        self._led = True
        return corner

    def look(self, q: Array, cost: float, score: float) -> None:
        """Look for a way where the errors at q are too large and their sum of squares has not fallen for long."""
        if self._led:  # these are the errors of a step before the way
            self._led = False
        elif score <= 1.0:
            self._best, self._since, self._tried = np.inf, 0, 0
        elif self._held(cost) and self._tried < _TRIES:
            self._best, self._since = np.inf, 0
            self._way = self._find(q)
            self._tried += 1

    def _held(self, left: float) -> bool:
        """Whether what is left has not fallen for long."""
        if left < _FALL * self._best:
            self._best, self._since = left, 0
        else:
            self._since += 1
        return self._since > _PATIENCE

    def _find(self, q: Array) -> Array | None:
        """(k, nq) corners of a free way from q to a solution; None where none was found."""
        model, goal = self._model, self._goal
        with self._search.scratch(model) as scratch:
            scratch.goal[:], scratch.start[:] = goal, q
            code, _ = self._search.solve_one(model, scratch, self._tried)
            if code != SOLVED:
                return None
            end = scratch.out[ANSWER : ANSWER + model.nq].copy()
        if self._limit is None:
            return end[None]
        moved = np.zeros(model.nq, dtype=np.bool_)
        moved[self._places] = True
        room = Room([Clearance.of(model, self._limit)])
        way = connect(model, room, q, end, moved, seed=self._tried, clock=Clock(_LONG))
        return None if way is None else way[1:]
