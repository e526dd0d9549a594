"""A posture task, prepared: what it moves within the null space of the others, and what no other task moves."""

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import CHOICE, CODE, SOLVED
from poise.model.model import Model
from poise.solving.problem.problem import Problem
from poise.solving.problem.workspace import Scratch
from poise.tasks.base import Task
from poise.tasks.posture import PostureTask

_SHARE: Final = 1.0 - 1e-9
"""Share of its tolerance that a posture is searched within, so that rounding takes nothing beyond it."""


@final
class Posture:
    """Bring solved configurations near to a posture; see `poise.kernels.solver.posture`."""

    __slots__ = ("_counts", "_tolerance", "_weight")

    def __init__(self, model: Model, task: PostureTask, problem: Problem) -> None:
        weight = task.weights(model)
        self._counts, self._tolerance = weight > 0.0, task.tolerance
        active = list(problem.velocities)
        largest = float(weight[active].max(initial=0.0))
        self._weight = np.array(weight[active]) / (largest or 1.0)

    def extended(self, model: Model, problem: Problem) -> Problem:
        """The problem with the weights of the posture, what an answer is judged by, and room for it."""
        vectors = dict.fromkeys(("phi", "moved", "gradient", "other"), len(self._weight))
        rows = {"posture_goal": model.nq, "search.choice": CHOICE, **vectors}
        judged = np.zeros(model.nq + 1)
        at_q, at_v = model._plain
        judged[at_q], judged[-1] = self._counts[at_v], self._tolerance
        for iq, iv in model._turning:
            judged[iq : iq + 3] = self._counts[iv : iv + 3]
        return problem.extended({"posture_weights": self._weight, "posture_judged": judged}, rows)

    def bounds(self, model: Model, scratch: Scratch) -> tuple[Array, Array]:
        """(nq,) the least and the largest numbers of q within the tolerance; infinite for those of balls."""
        low, high = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        at_q = model._plain[0][self._counts[model._plain[1]]]
        near, goal = _SHARE * self._tolerance, scratch.posture_goal[at_q]
        low[at_q], high[at_q] = goal - near, goal + near
        return low, high

    @staticmethod
    def idle_start(model: Model, problem: Problem, judged: Array, start: Array, goal: Array) -> Array:
        """(nq,) a start (nq,) with the posture `goal` (nq,) in the place of what this problem does not move and the
        posture draws, by `posture_judged`."""
        begin: Array = start.copy()
        widths = {"idle": 1, "idle_balls": 4}
        places = [(int(one["q"]), width) for name, width in widths.items() for one in problem.section(name)]
        for at, width in places:
            if judged[at : at + width].any():
                begin[at : at + width] = goal[at : at + width]
        return model.clip(begin)

    @property
    def required(self) -> bool:
        """Whether it has a tolerance."""
        return bool(np.isfinite(self._tolerance))

    def misses(self, out: Array) -> bool:
        """Whether all but the posture is solved in the answer `out`, which is too far from it."""
        return bool(out[CODE] == SOLVED and out[-1] > self._tolerance)


MAX_WEIGHT_RATIO: Final = 1e4
"""How many times the least of its weights the largest may be in a Tracker: their squares are what it reckons with."""


def weighed(model: Model, task: PostureTask, velocities: Sequence[int]) -> dict[str, Array]:
    """The sections of a Tracker's problem that tell of the weights of a posture, for so many active velocities."""
    weight = task.weights(model)[list(velocities)]
    pulled = weight > 0.0
    least, most = weight[pulled].min(initial=np.inf), weight[pulled].max(initial=0.0)
    if most > MAX_WEIGHT_RATIO * least:
        raise InvalidValue(
            "out-of-range",
            f"the weights of the PostureTask are from {least:g} to {most:g}; in a Tracker the largest may be "
            f"{MAX_WEIGHT_RATIO:g} times the least: raise the least, or make it 0, which leaves the joint alone",
        )
    shares = np.where(pulled, least / np.where(pulled, weight, 1.0), 1.0)
    return {"posture_mask": pulled.astype(float), "weight_ratios": shares if (shares < 1.0).any() else np.zeros(0)}


def pulled(model: Model, task: PostureTask) -> list[int]:
    """The velocities that the posture of a Tracker moves."""
    weight = task.weights(model)
    moved = np.flatnonzero(weight > 0.0)
    for joint in model.joints:  # a ball turns as a whole
        if joint.quaternion_at is not None and joint.nv:
            at = model.velocity_index(joint.name)
            if weight[at.stop - 3 : at.stop].any():
                moved = np.union1d(moved, np.arange(at.stop - 3, at.stop))
    return [int(v) for v in moved]


def one_posture(tasks: Sequence[Task]) -> PostureTask | None:
    """The PostureTask among the tasks; raises ValueError for more than one."""
    found = [task for task in tasks if isinstance(task, PostureTask)]
    if len(found) > 1:
        raise InvalidValue("too-many", f"tasks holds {len(found)} PostureTasks; q can be near to one only")
    return found[0] if found else None
