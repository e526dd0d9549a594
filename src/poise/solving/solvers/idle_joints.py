"""Joints that move no task, but are in sums with joints that do: where they go, so that the sums hold."""

from collections.abc import Collection, Iterable
from typing import final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.solving.methods.least_squares import least_squares
from poise.solving.problem.problem import Problem
from poise.solving.requirements.sums import INSIDE, rows_of_sums, slack_in


@final
class IdleJoints:
    """The joints of a problem's sums that move no task, each within its limits."""

    def __init__(self, problem: Problem, moving: Collection[int]) -> None:
        """`problem` has the sums; `moving` are the velocities that move the task."""
        coordinates, rows = problem.section("coordinates"), rows_of_sums(problem)
        self._problem = problem
        self._own = coordinates[[problem.velocities[v] not in moving for v in coordinates["v"]]]
        each = np.eye(len(self._own))
        self._bounds = np.vstack([rows[:, self._own["v"]], each, -each])

    def lead_all(self, configurations: Iterable[Array]) -> None:
        """Move them in each q (nq,) by as little as makes all sums hold; where nothing does, sums stay broken."""
        for q in configurations:
            self._lead(q)

    def _lead(self, q: Array) -> None:
        slack, rounding = slack_in(self._problem, q)
        if not len(self._own) or (slack + rounding >= 0.0).all():
            return
        places, lower, upper = self._own["q"], self._own["lower"], self._own["upper"]
        most = np.concatenate([slack - INSIDE, upper - q[places], q[places] - lower])
        finite = np.isfinite(most)
        q[places] = np.clip(q[places] + _shortest(self._bounds[finite], most[finite]), lower, upper)


def _shortest(rows: Array, most: Array) -> Array:
    """(n,) the x of least length with `rows` (p, n) x <= `most` (p,); 0 where there is none."""
    n = rows.shape[1]
    try:
        return least_squares(np.eye(n), np.zeros(n), 0.0, (rows, most), (np.zeros((0, n)), np.zeros(0)))[:n]
    except InvalidValue:  # no place keeps all bounds
        return np.zeros(n)
