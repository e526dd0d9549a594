"""Out of stalls: where a limit or an obstacle holds a tracker back from a target that can be reached, a way round.

A tracker sees no farther than its next step, so it comes to rest in front of what is in its way.  Then a solve looks
for a configuration that fulfils the targets, from eight starts side by side, and a free way to it is sought; its
corners are the postures that a guide follows next, by steps that keep all that must hold.
"""

from copy import copy
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import ANSWER, SOLVED
from poise.kernels.machine.memory import COST, FAILED, SCORE, SHORTENED, STAGE
from poise.solving.path.clock import Clock
from poise.solving.path.connect import connect
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.problem.problem import velocity_names
from poise.solving.requirements.clearance import Clearance
from poise.solving.requirements.inequalities import VelocityLimit
from poise.solving.requirements.limits import Limits
from poise.solving.requirements.ranges import ranges
from poise.solving.search.search import Search
from poise.solving.tracking.following_error import FollowingErrorLimit
from poise.solving.tracking.stepper import WAYS, Stepper
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
    """Whether a tracker is held back, and the guide that leads it round."""

    def __init__(
        self, stepper: Stepper, given: Limits, rate: VelocityLimit, following_error: FollowingErrorLimit
    ) -> None:
        """For a tracker whose own steps the stepper takes, within these limits and at this rate."""
        model, bound, targets = stepper.model, stepper.bound, stepper.targets
        tasks = tuple(task for task in targets.followed if task.blocks)
        self._model, self._limits = model, given
        self._search = Search(model, tasks, limits=given)
        mine, names = bound.problem.velocities, velocity_names(model)
        self._moving = np.zeros(model.nv, dtype=np.bool_)
        self._moving[list(mine)] = True
        self._coordinates = np.zeros(model.nq, dtype=np.bool_)
        for name in {names[v] for v in mine}:
            self._coordinates[model.index(name)] = True
        held = [*ranges(tasks), *(task for task in tasks if isinstance(task, LoopTask))]
        self._places = [k for k, task in enumerate(tasks) if any(task is other for other in held)]
        """Of the tasks, which must hold on the way."""
        corners = PostureTask(weight=self._moving.astype(float))
        self.guide = Stepper(
            model, [*(tasks[k] for k in self._places), corners], "priority", given, rate, dt=targets.dt,
            updates=bound.numbers["updates"], following_error=following_error, framed=targets.tasks,
            settle=True, lead=targets.lead,
        )  # fmt: skip
        """What takes the steps on the way: it follows these, and the corners."""
        theirs = self.guide.bound.problem.velocities
        self._velocities = [theirs.index(v) for v in mine]
        """Where those of the tracker are among those of the guide."""
        self._goal: Array | None = None
        self._waits = False
        """Whether the last step waited for the robot, so that it says nothing."""
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"guide": copy(self.guide)}

    def chosen(self, stepper: Stepper) -> Stepper:
        """What takes the step that stands in a stepper: the guide, where there is a way round, else the stepper itself.

        It sees how the last step went, and looks for a way where the tracker is held back.
        """
        scratch, memory = stepper.scratch, stepper.memory
        self._waits = memory[SHORTENED] > 0.5
        if stepper.has_stepped:
            self._look(scratch.start, memory[COST], memory[SCORE])
        corner = self._corner(scratch.start, scratch.goal)
        if corner is None:
            return stepper
        guide = self.guide
        guide.targets.frames[: len(self._places)] = stepper.targets.frames[self._places]
        guide.targets.posture[:] = corner
        guide.scratch.start[:] = scratch.start
        guide.measured[:] = stepper.measured
        guide.scratch.sync_scene()
        if stepper.has_rates:
            for past in WAYS:
                guide.part(past)[self._velocities] = stepper.part(past)
        return guide

    def hand_back(self, stepper: Stepper) -> None:
        """Let a stepper remember the step of the guide as one of its own."""
        guide, some = self.guide, [STAGE, SHORTENED, FAILED]
        stepper.q[:], stepper.measured[:] = guide.q, guide.measured
        stepper.memory[some] = guide.memory[some]
        if stepper.has_rates:
            for past in (*WAYS, "motion.least", "motion.largest"):
                stepper.part(past)[:] = guide.part(past)[self._velocities]

    def reset(self) -> None:
        """Forget the past, also of the guide."""
        self._forget()
        self.guide.reset()

    def _forget(self) -> None:
        """Begin anew: there is no way, and nothing was tried."""
        self._way: Array | None = None
        self._best, self._since, self._tried, self._on_detour = np.inf, 0, 0, False

    def _corner(self, q: Array, goal: Array) -> Array | None:
        """(nq,) where to go now, on the way; None where there is none, and the targets are to be followed."""
        if self._goal is None or not (np.abs(goal - self._goal) <= _MOVED).all():  # nor a number that is none
            self._forget()
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

    def _look(self, q: Array, cost: float, score: float) -> None:
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
        if self._waits:
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
        feasibility = PathFeasibility([Clearance(model, self._limits.collision)])
        way = connect(model, feasibility, q, end, self._coordinates, seed=self._tried, clock=Clock(_LONG), ways=1)
        return None if way is None else way[1:]
