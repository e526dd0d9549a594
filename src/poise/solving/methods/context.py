"""A model and its tasks, packed: what methods are told of the case that they prepare themselves for."""

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.cached import cached_property
from poise.kernels.machine.layout import FRAME, GOAL_NUMBERS
from poise.model.model import Model
from poise.model.tree import Unit, carrying
from poise.solving.problem.problem import Problem
from poise.solving.problem.rows import active_rows
from poise.solving.problem.workspace import Bound, Scratch
from poise.tasks.base import Task

_POSES: Final = 3
"""Samples from which the rank that the tasks' Jacobian has in general is read."""


@final
@dataclass(frozen=True)
class MethodContext:
    """See `poise.methods.base.Case`."""

    model: Model
    tasks: tuple[Task, ...]
    problem: Problem
    limits: bool
    inequalities: int = 0
    """Inequalities between joints."""
    posture: bool = False
    """Whether a posture is followed, as the last level."""
    delegated: tuple[int, ...] = ()
    """The tasks that another method proposes steps for."""

    @property
    def rows(self) -> int:
        """Residual rows."""
        return 3 * self.problem.blocks

    @property
    def columns(self) -> int:
        """Velocities that move the tasks."""
        return len(self.problem.velocities)

    def section(self, name: str) -> Any:
        """A section of the problem."""
        return self.problem.section(name)

    @cached_property
    def _carried(self) -> tuple[list[Unit], dict[int, int]]:
        wanted = {u for task in self.tasks for u in task.needed(self.model)}
        return carrying(self.model.tree, sorted(wanted))

    @property
    def units(self) -> list[Unit]:
        """The axes of the tree that the problem holds."""
        return self._carried[0]

    @property
    def numbers(self) -> dict[int, int]:
        """The problem's number of each unit of the tree."""
        return self._carried[1]

    @cached_property
    def _bound(self) -> Bound:
        return Bound(self.problem)

    def _goals(self, scratch: Scratch) -> Array:
        """(tasks, 7) their goals in it."""
        return scratch.goal[: GOAL_NUMBERS * len(self.tasks)].reshape(-1, GOAL_NUMBERS)

    def at_home(self) -> tuple[Array, Array]:
        """(units, FRAME) origin, z, x and y axis of the units' frames, and (m,) the errors of goals at 0, at home."""
        with self._bound.scratch() as scratch:
            self._goals(scratch)[:] = 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
            scratch.start[:] = self.model.home
            _, e, _ = active_rows(self.problem, scratch)
            return scratch.narrow[self.problem.rows("frames")].reshape(-1, FRAME).copy(), e

    def rank(self, rows: npt.NDArray[np.int64] | slice = slice(None)) -> int:
        """The rank that the Jacobian of the tasks, or these rows of it, has in general: the largest of a few poses."""
        return max((int(np.linalg.matrix_rank(some[rows], rtol=1e-9)) for some in self._jacobians), default=0)

    @cached_property
    def _jacobians(self) -> list[Array]:
        """(m, active velocities) of all rows at a few poses; none where nothing moves."""
        out = []
        with self._bound.scratch() as scratch:
            self._goals(scratch)[:] = 0.3, 0.4, 0.5, 1.0, 0.0, 0.0, 0.0
            for q in self.model.sample(_POSES if self.columns else 0, seed=0):
                scratch.start[:] = q
                out.append(active_rows(self.problem, scratch)[2])
        return out
