"""What tasks lack and ranges are beyond at many configurations at once, and how that changes with the joints."""

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import GOAL_NUMBERS
from poise.kernels.path.follow import rows_along
from poise.kernels.requirements.sides_along import sides_along
from poise.model.model import Model
from poise.solving.arguments.lru_cache import cached
from poise.solving.problem.problem import Problem, pack
from poise.solving.problem.workspace import Bound, Scratch
from poise.solving.requirements.ranges import is_range, range_records, range_rows
from poise.solving.search.prepared import STRUCTURE
from poise.tasks.base import Task


@final
class Rows:
    """Tasks prepared for a model, whatever their limits."""

    def __init__(self, model: Model, tasks: Sequence[Task]) -> None:
        self._bound = Bound(pack(model, tasks, limits=False))
        self.active = np.array(self._bound.problem.velocities, dtype=np.intp)
        """The velocities that move them."""

    def __call__(self, goals: Array, q: Array) -> tuple[Array, Array]:
        """Residual rows (n, m) and Jacobians (n, m, active velocities) at q (n, nq), for goals (n, 7 tasks)."""
        with self._bound.scratch() as scratch:
            return rows_of(self._bound.problem, scratch, goals, q)[:2]


@final
class Sides:
    """The sides of ranges among tasks, prepared for a model."""

    def __init__(self, model: Model, tasks: Sequence[Task], active: npt.NDArray[np.intp]) -> None:
        """`active` are the velocities by which they are differentiated, all that move a range among them."""
        self.number = [k for k, task in enumerate(tasks) if is_range(task)]
        """Which of the tasks are ranges."""
        each = ([not is_range(task)] * (3 * len(task.blocks)) for task in tasks)
        self.equations = np.array(list(chain.from_iterable(each)), dtype=np.bool_)
        """(m,) which residual rows of the tasks are to vanish; those of ranges ask for nothing inside."""
        ranges = [tasks[k] for k in self.number]
        self._shape, self._bound = (sum(task.inequality_rows for task in ranges), len(active)), None
        if ranges:
            problem = pack(model, ranges, limits=False, also=active.tolist())
            parts, rows = {"ranges": range_records(ranges, None)}, range_rows(*self._shape)
            self._bound = Bound(problem.extended(parts, rows), ("ranges",))
            prepare(sides_along)

    def __call__(self, goals: Array, q: Array) -> tuple[Array, Array]:
        """(n, sides) how far q (n, nq) are beyond each [m or rad], less than 0 inside, and (n, sides, active
        velocities) how that changes, for goals (n, 7 tasks)."""
        beyond, slopes = np.zeros((len(q), self._shape[0])), np.zeros((len(q), *self._shape))
        if self._bound is not None:
            own = goals.reshape(len(q), -1, GOAL_NUMBERS)[:, self.number]
            with self._bound.scratch() as scratch:
                scratch.set_fields(steps=len(q))
                scratch.set_arrays(goals=np.ascontiguousarray(own), path=np.ascontiguousarray(q))
                prepare(sides_along)(scratch.address, beyond, slopes)
        return beyond, slopes


def prepared_sides(model: Model, tasks: Sequence[Task], active: npt.NDArray[np.intp]) -> Sides:
    """Those that the model keeps for tasks of this structure."""
    key = Sides, *active.tolist(), *map(STRUCTURE, tasks)
    return cached(model, key, partial(Sides, model, tasks, active))


def rows_of(problem: Problem, scratch: Scratch, goals: Array, q: Array) -> tuple[Array, Array, Array]:
    """Residual rows (n, m), Jacobians (n, m, active velocities) and scores (n,) of a problem at q (n, nq)."""
    n, m = len(q), 3 * problem.blocks
    e, jacobians, scores = np.zeros((n, m)), np.zeros((n, m, len(problem.velocities))), np.empty(n)
    scratch.set_fields(steps=n)
    scratch.set_arrays(goals=np.ascontiguousarray(goals), path=np.ascontiguousarray(q), answers=scores)
    prepare(rows_along)(scratch.address, e, jacobians)
    return e, jacobians, scores
