"""Out of stalls: where a limit or an obstacle holds a tracker back from a target that can be reached, a way round.

A tracker sees no farther than its next step, so it comes to rest in front of what is in its way.  Then a solve looks
for a configuration that fulfils the targets, from eight starts side by side, and a free way to it is sought; its
corners are the postures that the tracker's guide follows next, by steps that keep all that must hold.
"""

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import ANSWER, SOLVED
from poise.model.model import Model
from poise.solving.path.clearance import Clearance
from poise.solving.path.clock import Clock
from poise.solving.path.connect import connect
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.requirements.limits import Limits
from poise.solving.search.search import Search
from poise.tasks.base import Task
from poise.tasks.loop import LoopTask
from poise.tasks.posture import PostureTask

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
        "_coordinates",
        "_goal",
        "_limits",
        "_model",
        "_moving",
        "_on_detour",
        "_search",
        "_since",
        "_tried",
        "_way",
        "guide_tasks",
        "places",
        "waits",
    )

    def __init__(
        self, model: Model, tasks: Sequence[Task], ranges: Sequence[Task], velocities: Sequence[int], limits: Limits
    ) -> None:
        """`tasks` move these velocities, and of them `ranges` must hold on all ways."""
        self._model, self._limits = model, limits
        self._search = Search(model, tuple(tasks), limits=limits.timeless(model).as_given)
        self._moving = np.zeros(model.nv, dtype=np.bool_)
        self._moving[list(velocities)] = True
        self._coordinates = np.zeros(model.nq, dtype=np.bool_)
        for joint in model.joints:
            if joint.nv and self._moving[model.velocity_index(joint.name)].any():
                self._coordinates[model.index(joint.name)] = True
        constraints = [*ranges, *(task for task in tasks if isinstance(task, LoopTask))]
        self.places = [k for k, task in enumerate(tasks) if any(task is other for other in constraints)]
        """Of the tasks, which must hold on the way."""
        corners = PostureTask(weight=self._moving.astype(float))
        self.guide_tasks: tuple[Task, ...] = (*(tasks[k] for k in self.places), corners)
        """What a guide follows: these, and the corners."""
        self._goal: Array | None = None
        self.waits = False
        """Whether the last step waited for the robot, so that it says nothing."""
        self.forget()

    def forget(self) -> None:
        """Begin anew: there is no way, and nothing was tried."""
        self._way: Array | None = None
        self._best, self._since, self._tried, self._on_detour = np.inf, 0, 0, False

    def corner(self, q: Array, goal: Array) -> Array | None:
        """(nq,) where to go now, on the way; None where there is none, and the targets are to be followed."""
        if self._goal is None or not (np.abs(goal - self._goal) <= _MOVED).all():  # nor a number that is none
            self.forget()
            self._goal = goal.copy()
        if self._way is None:
            return None
        while len(self._way):
            away = float(np.abs(self._model.difference(q, self._way[0]))[self._moving].max())
            if away > (_MET if len(self._way) == 1 else _PASSED):
                break
            self._way = self._way[1:]
            self._best, self._since = np.inf, 0
        if not len(self._way) or self._stalled(away):
            self._way = None
            self._best, self._since = np.inf, 0
            return None
        self._on_detour = True
        corner: Array = self._way[0]
        return corner

    def look(self, q: Array, cost: float, score: float) -> None:
        """Look for a way where the errors at q are too large and their sum of squares has not fallen for long."""
        if self._on_detour:  # these are the errors of a step before the way
            self._on_detour = False
        elif score <= 1.0:
            self._best, self._since, self._tried = np.inf, 0, 0
        elif self._stalled(cost) and self._tried < _TRIES:
            self._best, self._since = np.inf, 0
            self._way = self._find(q)
            self._tried += 1

    def _stalled(self, left: float) -> bool:
        """Whether what is left has not fallen for long."""
        if self.waits:
            return False
        if left < _FALL * self._best:
            self._best, self._since = left, 0
        else:
            self._since += 1
        return self._since > _PATIENCE

    def _find(self, q: Array) -> Array | None:
        """(k, nq) corners of a free way from q to a solution; None where none was found."""
        model, goal = self._model, self._goal
        assert goal is not None
        with self._search.bound.scratch(model) as scratch:
            code, _ = self._search.solve_one(model, scratch, goal, q, seed=self._tried)
            if code != SOLVED:
                return None
            end = scratch.out[ANSWER : ANSWER + model.nq].copy()
        if self._limits.collision is None:
            return end[None]
        feasibility = PathFeasibility([Clearance.of(model, self._limits.collision)])
        way = connect(model, feasibility, q, end, self._coordinates, seed=self._tried, clock=Clock(_LONG), ways=1)
        return None if way is None else way[1:]
