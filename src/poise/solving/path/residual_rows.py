"""What tasks lack and ranges are beyond at many configurations at once, and how that changes with the joints."""

from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.jit import prepare
from poise.kernels.path.follow import rows_along
from poise.kernels.path.sides import sides_along
from poise.model.model import Model
from poise.solving.problem.problem import Problem, pack
from poise.solving.problem.workspace import Bound, Scratch
from poise.solving.requirements.ranges import range_records, range_rows
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
    """The sides of ranges, prepared for a model."""

    def __init__(self, model: Model, ranges: Sequence[Task], active: npt.NDArray[np.intp]) -> None:
        """`active` are the velocities by which they are differentiated, all that move a range among them."""
        problem = pack(model, ranges, limits=False, also=active.tolist())
        self._count = sum(task.inequality_rows for task in ranges)
        rows = range_rows(self._count, len(active))
        self._bound = Bound(problem.extended({"ranges": range_records(ranges, None)}, rows), ("ranges",))
        prepare(sides_along)

    def __call__(self, goals: Array, q: Array) -> tuple[Array, Array]:
        """(n, sides) how far q (n, nq) are beyond each [m or rad], less than 0 inside, and (n, sides, active
        velocities) how that changes, for goals (n, 7 ranges)."""
        beyond = np.zeros((len(q), self._count))
        jacobians = np.zeros((*beyond.shape, len(self._bound.problem.velocities)))
        with self._bound.scratch() as scratch:
            scratch.set_fields(steps=len(q))
            scratch.set_arrays(goals=np.ascontiguousarray(goals), path=np.ascontiguousarray(q))
            prepare(sides_along)(scratch.address, beyond, jacobians)
        return beyond, jacobians


def rows_of(problem: Problem, scratch: Scratch, goals: Array, q: Array) -> tuple[Array, Array, Array]:
    """Residual rows (n, m), Jacobians (n, m, active velocities) and scores (n,) of a problem at q (n, nq)."""
    n, m = len(q), 3 * problem.blocks
    e, jacobians, scores = np.zeros((n, m)), np.zeros((n, m, len(problem.velocities))), np.empty(n)
    scratch.set_fields(steps=n)
    scratch.set_arrays(goals=np.ascontiguousarray(goals), path=np.ascontiguousarray(q), answers=scores)
    prepare(rows_along)(scratch.address, e, jacobians)
    return e, jacobians, scores
