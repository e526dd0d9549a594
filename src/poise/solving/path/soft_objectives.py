"""What is wanted of a path beside what its waypoints require: soft tasks, those of later levels, a posture.

While a whole path is made shorter each counts by the square of what is left of it, much the more the sooner its level
comes; in the end every configuration is taken, from where it is, to where its levels are met one after the other, by
the steps of a method that keeps all that must hold.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.copies import with_attributes
from poise.kernels.machine.layout import ANSWER, GOAL_NUMBERS, TURN
from poise.model.model import Model
from poise.solving.arguments.arguments import each_goal
from poise.solving.arguments.lru_cache import cached
from poise.solving.methods.posture import one_posture, pulled
from poise.solving.path.clock import Clock
from poise.solving.path.residual_rows import Rows
from poise.solving.problem.problem import velocity_names
from poise.solving.requirements.limits import LimitsLike
from poise.solving.requirements.status import Status
from poise.solving.search.prepared import STRUCTURE, prepared_search
from poise.solving.search.settings import BY_STEPS
from poise.tasks.base import Task

_FIRST, _NEXT = 1e3, 1e-2
"""Weight of the first level beside the squares of steps, and of each level as a share of the one before it."""
_MISSED: Final = 10.0
"""What is left of a task is told of if it is more than so many of its tolerances."""


@final
class SoftObjectives:
    """Tasks that give way, with their goals at n waypoints."""

    _all_goals: Array
    _limits: LimitsLike

    @classmethod
    def of(
        cls, model: Model, given: Sequence[Task], loops: Sequence[Task], goals: Array, limits: LimitsLike
    ) -> "SoftObjectives":
        """Of all that was `given`, with `goals` (n, .), those of loops behind it too, and `limits` that hold; the model
        keeps what was prepared for tasks of this structure."""
        key = cls, len(given), *map(STRUCTURE, (*given, *loops))
        return with_attributes(cached(model, key, partial(cls, model, given, loops)), _all_goals=goals, _limits=limits)

    def __init__(self, model: Model, given: Sequence[Task], loops: Sequence[Task]) -> None:
        """They without goals, and whatever the limits."""
        self._model, self._given = model, tuple(given)
        self._all_tasks = sorted((*given, *loops), key=lambda task: not task.blocks)
        tasks = [task for task in given if task.blocks]
        self.number = [k for k, task in enumerate(tasks) if is_soft(task, tasks)]
        """Which of the frame tasks they are."""
        mine = [tasks[k] for k in self.number]
        self._has_required = len(mine) < len(tasks)
        levels = sorted({task.level for task in mine})
        self._rows = Rows(model, mine) if mine else None
        if mine:
            each = [_FIRST * _NEXT ** levels.index(task.level) for task in mine]
            self._share = np.sqrt(np.repeat(each, [3 * len(task.blocks) for task in mine]))
        self._counted = 1.0
        """What they count by beside the steps."""
        self.active: list[int] = [] if self._rows is None else [int(v) for v in self._rows.active]
        """The velocities that change them."""
        posture = one_posture(given)
        if posture is not None:
            self.active = sorted({*self.active, *pulled(model, posture)})
            weight = posture.weights(model)
            self._pull = np.sqrt(_FIRST * _NEXT ** len(levels) * weight / max(float(weight.max()), 1e-300))
        self.tasks = (*mine, *(() if posture is None else (posture,)))
        """They: the frame tasks, then the posture."""

    def scaled(self, share: float) -> "SoftObjectives":
        """They with a share of their weights."""
        return with_attributes(self, _counted=self._counted * np.sqrt(share))

    def at(self, some: npt.NDArray[Any] | list[int]) -> "SoftObjectives":
        """They at some of the waypoints."""
        return with_attributes(self, _all_goals=self._all_goals[some])

    def with_postures(self, postures: Array) -> "SoftObjectives":
        """They with these postures (n, nq) in place of theirs."""
        made = with_attributes(self, _all_goals=self._all_goals.copy())
        made.postures[:] = postures
        return made

    def changing(self) -> npt.NDArray[np.bool_]:
        """(n - 1,) which waypoints ask for something else than the one before."""
        own = np.hstack([self.goals, self.postures])
        return np.asarray((own[1:] != own[:-1]).any(axis=1), dtype=np.bool_)

    @property
    def goals(self) -> Array:
        """(n, 7 tasks) those of its own frame tasks."""
        return np.hstack([self._all_goals[:, :0], *self._each_goal()[: len(self.number)]])

    def _each_goal(self) -> list[Array]:
        """Those of its frame tasks (n, 7), and of its posture (n, nq), if there is one."""
        each = each_goal(self._all_tasks, self._all_goals)
        return [*(each[k] for k in self.number), *each[len(each) - len(self.tasks) + len(self.number) :]]

    @property
    def postures(self) -> Array:
        """(n, nq) those of its posture; (n, 0) without one."""
        return self._all_goals[:, GOAL_NUMBERS * sum(bool(task.blocks) for task in self._all_tasks) :]

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Rows (n, m), whose squares are what is to be least, and how they fall (n, m, nv), at q (n, nq)."""
        (e, jacobians), n, nv = self._of_tasks(q), len(q), self._model.nv
        if self.postures.size:
            pull = np.broadcast_to(np.diag(self._pull), (n, nv, nv))
            jacobians = np.concatenate([jacobians, pull], axis=1)
        return self._counted * self._with_posture(e, q), self._counted * jacobians

    def _of_tasks(self, q: Array) -> tuple[Array, Array]:
        """The same of its frame tasks alone."""
        if self._rows is None:
            return np.zeros((len(q), 0)), np.zeros((len(q), 0, self._model.nv))
        e, active = self._rows(self.goals, q)
        jacobians = np.zeros((*e.shape, self._model.nv))
        jacobians[..., self._rows.active] = active
        return self._share * e, self._share[:, None] * jacobians

    def _with_posture(self, e: Array, q: Array) -> Array:
        """Rows with those of its posture behind them."""
        if not self.postures.size:
            return e
        return np.concatenate([e, self._pull * self._model.difference(q, self.postures)], axis=1)

    def cost(self, q: Array) -> Array:
        """(..., n) what they cost at q (..., n, nq)."""
        flat = q.reshape(-1, *q.shape[-2:])
        found = [((self._counted * self._with_posture(self._of_tasks(one)[0], one)) ** 2).sum(axis=1) for one in flat]
        return np.array(found).reshape(q.shape[:-1])

    def projected(self, q: Array, seed: int, clock: Clock) -> Array:
        """(n, nq) where each of q (n, nq) comes to when its levels are met one after the other, from where it is."""
        # What nothing leads is solved for, which ends at the least of it; else steps need not come to rest there.
        method = BY_STEPS if self._has_required else None
        search = prepared_search(
            self._model, self._given, method=method, limits=self._limits, select="first", max_restarts=0
        )
        out = np.array(q)
        with search.bound.scratch(self._model) as scratch:
            for k, start in enumerate(q):
                if clock.late:
                    break
                code, _ = search.solve_one(self._model, scratch, self._all_goals[k], start, seed=seed)
                if code >= 0:
                    out[k] = scratch.out[ANSWER : ANSWER + self._model.nq]
        return out

    def line(self, waypoint: int, parts: int) -> "SoftObjectives":
        """They at so many waypoints on the straight line from one to the next."""
        ends = slice(waypoint, waypoint + 2)
        made = with_attributes(self, _all_goals=on_line(self._all_tasks, self._all_goals[ends], parts))
        if self.postures.size:
            first, last = self.postures[ends]
            made.postures[:] = self._model.interpolate(first, last, np.arange(1, parts + 1) / parts)
        return made

    def strand(self, q: Array, seed: int, clock: Clock) -> Array:
        """(n + 1, nq) from q (nq,) on to where the levels of each waypoint are met, one after the other."""
        out = [q]
        for k in range(len(self._all_goals)):
            out.append(self.at([k]).projected(out[-1][None], seed, clock)[0])
        return np.array(out)

    def left(self, q: Array) -> Array:
        """(n, tasks) what is left of each at q (n, nq), as a share of its tolerance."""
        each = zip(self.tasks, self.errors(q), strict=True)
        return np.array([(left / task.tolerances).max(axis=1) for task, left in each]).T

    def errors(self, q: Array) -> list[Array]:
        """(n, blocks) of each task, what is left at q (n, nq)."""
        each = zip(self.tasks, self._each_goal(), strict=True)
        return [task.judged(self._model, goal, q) for task, goal in each]

    def missed(self, q: Array, *, limits: bool) -> list[tuple[int, Status, str]]:
        """Where q (n, nq) is farther from a posture than its tolerance lets it, and what is left of it there, or that
        the posture itself is outside the limits of a joint, where these hold."""
        out, model = [], self._model
        for task, left in zip(self.tasks, self.errors(q), strict=True):
            if task.required and not task.blocks:
                most = task.tolerances[0]
                for t in np.flatnonzero(left[:, 0] > most):
                    posture = self.postures[t]
                    beyond = np.abs(model.difference(model.clip(posture), posture)) * (limits and self._pull > 0.0)
                    if beyond.max() > most:
                        joint, far = velocity_names(model)[int(beyond.argmax())], beyond.max()
                        reason = f"the posture has {joint} {far:.3g} rad or m beyond its limits, so nothing is there."
                        out.append((int(t), Status.UNREACHABLE, reason))
                        continue
                    words = task.words(task.error(left[t].tolist()))
                    reason = f"{words} is left, and its tolerance is {most:.4g}."
                    out.append((int(t), Status.LOCAL_MINIMUM, reason))
        return out

    def notes(self, q: Array) -> list[str]:
        """Of required ones that are missed at q (n, nq): where most, and by how much."""
        out = []
        for task, left in zip(self.tasks, self.errors(q), strict=True):
            share = (left / task.tolerances).max(axis=1)
            t = int(share.argmax())
            if task.required and share[t] > _MISSED:
                words = task.words(task.error(left[t].tolist()))
                out.append(f"{words} is left at waypoint {t}, for what comes before it leaves no more.")
        return out


def on_line(tasks: Sequence[Task], ends: Array, parts: int) -> Array:
    """(parts, .) goals of tasks on the straight line between two, `ends` (2, .)."""
    share = np.linspace(0.0, 1.0, parts + 1)[1:, None]
    first, last = ends.copy()
    for k, task in enumerate(tasks):
        turn = slice(GOAL_NUMBERS * k + 3, GOAL_NUMBERS * (k + 1))
        if task.goal_kind & TURN and first[turn] @ last[turn] < 0.0:
            last[turn] *= -1.0
    return np.ascontiguousarray((1.0 - share) * first + share * last)


def is_soft(task: Task, tasks: Sequence[Task]) -> bool:
    """Whether one of the tasks is not of the first level, or not required."""
    return not task.required or task.level > min(task.level for task in tasks)
