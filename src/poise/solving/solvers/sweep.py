"""A seventh joint that is swept: its values, what lies between them, and the intervals of all that have a solution."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.closed_form.branches import BRANCH, CERTIFIED, LINE, ROWS_OF, SAID
from poise.kernels.closed_form.general import MOST, WORK
from poise.kernels.machine.layout import ANSWER, SOLVED, WIDTH
from poise.model.model import Model
from poise.solving.answers.intervals import Interval, Joints, intervals
from poise.solving.arguments.arguments import refuse_numbers
from poise.solving.problem.closed_form import ClosedForm, turning
from poise.solving.problem.rows import active_rows
from poise.solving.problem.workspace import Bound, Scratch
from poise.solving.requirements.limits import LimitsLike
from poise.solving.search.prepared import prepared_search
from poise.tasks.base import Task

_RESTARTS: Final = 64
"""Of the search for a value, where none of the samples has a solution."""


@final
class Sweep:
    """The values of a joint for each of which the other six have a closed form, or come by elimination."""

    def __init__(
        self,
        form: ClosedForm,
        bound: Bound,
        tasks: Sequence[Task],
        limits: LimitsLike,
        lower: Array,
        upper: Array,
        samples: int,
    ) -> None:
        assert form.swept is not None
        self._form, self._bound, self._tasks, self._limits = form, bound, tuple(tasks), limits
        self._lower, self._upper, self._samples, self._swept = lower, upper, samples, form.swept

    def _rows_for(self, model: Model, values: int) -> Array:
        """Room for all rows of a target, at as many values."""
        return np.empty((values * (MOST if self._form.general else WIDTH), BRANCH + model.nq + 2))

    def between(self, model: Model, goal: Array, start: Array, answers: Array, seed: int) -> Array:
        """The rows of a target that none of the samples reaches, at a value between them that a search finds.

        `answers` (SAID,) become those of this value.
        """
        found = self._rows_for(model, 1)
        if answers[CERTIFIED] < 0:
            return found[:0]
        search = prepared_search(model, self._tasks, limits=self._limits, select="first", max_restarts=_RESTARTS)
        with search.bound.scratch(model) as own:
            if search.solve_one(model, own, goal, start, seed=seed)[0] != SOLVED:
                return found[:0]
            searched = own.out[ANSWER : ANSWER + model.nq + 2].copy()
        value, there = searched[self._swept], start.copy()
        there[self._swept] = value
        scratch = new_scratch(self._bound, model, found)
        scratch.set_fields(samples=1)
        count = run_goals(self._bound, scratch, found, goal[None], there[None], answers)
        if count:
            return found[:count]
        # At a limit, or where a curve of solutions is next to a point, what the search found is all there is.
        answers[ROWS_OF] = answers[CERTIFIED] = 1.0
        distance = np.linalg.norm(model.difference(start, searched[: model.nq]))
        return np.array([[-1.0, 0.0, value, distance, *searched]])

    def intervals(self, model: Model, goal: Array, rest: Array, seed: int) -> tuple[Interval, ...]:
        """All solutions, by the values that have one, lowest first; see `BranchSolver.intervals`."""
        problem = self._form.problem
        coordinates, (arm,) = problem.section("coordinates"), problem.section("arms")
        swept, places, n = abs(int(arm["swept"])) - 1, coordinates["q"], len(coordinates)
        # The solutions beyond the limits too, so that no curve is missed of which a short piece is within them.
        free, unbounded = coordinates.copy(), (np.arange(n) != swept) | (not arm["slides"])
        free["lower"][unbounded], free["upper"][unbounded] = -inf, inf
        words = free.view(np.int64).reshape(n, -1)
        bound = replace(self._bound, problem=problem.extended({"coordinates": words}, {}))
        found, answers = self._rows_for(model, self._samples), np.empty(SAID)
        scratch = new_scratch(bound, model, found)
        raw = found[: run_goals(bound, scratch, found, goal[None], rest[None], answers)]
        if answers[CERTIFIED] < 0:
            refuse_numbers(int(answers[CERTIFIED]), model, self._tasks, goal, rest)
        if not len(raw):
            raw = self.between(model, goal, rest, answers, seed)
        turns = np.full(n, inf)
        for i, turn in turning(problem):
            turns[places == i] = turn
        names = tuple(model.coordinates[i] for i in places)
        joints = Joints(names, turns, self._lower[places], self._upper[places], swept)
        columns = [problem.velocities.index(int(v)) for v in coordinates["v"]]
        scratch.goal[:], scratch.start[:] = goal, rest

        def rows(x: Array) -> tuple[Array, Array]:
            """Residual and Jacobian of the joints of the arm."""
            scratch.start[places] = x
            _, e, active = active_rows(problem, scratch)
            return e, active[:, columns]

        def made(x: Array, ends: tuple[str, str]) -> Interval:
            q = np.tile(rest, (len(x), 1))
            q[:, places] = x
            return Interval(swept=names[swept], q=q, low=float(x[0, swept]), high=float(x[-1, swept]), ends=ends)

        solutions = raw[raw[:, LINE] == 0.0][:, BRANCH + places]
        made_of = [made(*one) for one in intervals(rows, joints, solutions, rest[places])]
        return tuple(sorted(made_of, key=lambda one: (one.low, one.high)))


def new_scratch(bound: Bound, model: Model, found: Array) -> Scratch:
    """Scratch that is told of its own goal and start, with room for rows and what is said of them."""
    scratch = bound.new(model)
    scratch.set_arrays(
        found=found, goals=scratch.goal, starts=scratch.start, answers=np.empty(SAID), path=np.empty(WORK)
    )
    return scratch


def run_goals(bound: Bound, scratch: Scratch, found: Array, goals: Array, starts: Array, answers: Array) -> int:
    """Write the rows of some targets into `found`, in one call that holds no lock of the interpreter; how many."""
    goals, starts = np.ascontiguousarray(goals), np.ascontiguousarray(starts)
    scratch.set_fields(problems=len(goals))
    scratch.set_arrays(found=found, goals=goals, starts=starts, answers=answers, path=scratch.lent["path"])
    count: int = bound.run(scratch.address)
    return count
