"""Loops that stay closed: the tasks that they are, and the way back to where they are closed.

What leads there from a configuration far from it is `kernels.requirements.closing`, what keeps the steps of a Tracker
on it `kernels.requirements.loops`.
"""

import warnings
from collections.abc import Sequence
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import CLOSED
from poise.model.closure import LoopClosure, Seen
from poise.model.loop import Loop, named
from poise.model.model import Model
from poise.tasks.base import Task
from poise.tasks.effector import Place
from poise.tasks.loop import LoopTask

LOOP_WEIGHT: Final = 10.0
"""Weight of a model's loops beside tasks [1/m, 1/rad], so that what cannot be reached hardly pulls them open."""


def loop_tasks(model: Model, tasks: Sequence[Task]) -> tuple[LoopTask, ...]:
    """The loops of a model that share joints with the tasks, or with other loops that do, as tasks; less those that are
    among the tasks.

    The others stay as they are, whatever the tasks ask for: an open gripper's, where an arm is led by its wrist.
    """
    return _shared(model, tasks)[0]


def _shared(model: Model, tasks: Sequence[Task]) -> tuple[tuple[LoopTask, ...], tuple[LoopTask, ...]]:
    """The loops that the tasks move, and those that they do not."""
    if not model.loops:
        return (), ()
    loops = [LoopTask(loop.first, loop.second, loop.kind, weight=LOOP_WEIGHT) for loop in _movable(model)]
    known = {task.structure for task in tasks}
    moved = {loop: _places(model, loop) for loop in loops}
    touched = set[int]().union(*(_places(model, task) for task in tasks))
    found: set[LoopTask] = set()
    while more := {loop for loop in loops if loop not in found and moved[loop] & touched}:
        found |= more
        touched = touched.union(*(moved[loop] for loop in more))
    moving = tuple(loop for loop in loops if loop in found and loop.structure not in known)
    return moving, tuple(loop for loop in loops if loop not in found)


def _movable(model: Model) -> list[Loop]:
    """The loops between whose frames some joint may move."""
    return [loop for loop in model.loops if Place(*Seen.of(model, loop)[:4]).moved(model)]


def _places(model: Model, task: Task) -> set[int]:
    """Where the joints that move a task begin in q."""
    return {model.tree.units[unit].iq for unit in task.moving(model)}


def refuse_loops(model: Model, tasks: Sequence[Task], what: str) -> None:
    """Raises ValueError for loops that the tasks move, or a LoopTask among them, where they would not stay closed."""
    found = [*(task for task in tasks if isinstance(task, LoopTask)), *loop_tasks(model, tasks)]
    if found:
        raise InvalidValue(
            "not-supported",
            f"{what} does not keep loops closed, and the tasks move {named(found)} of {model.name}: use solve, "
            "solve_batch or a Tracker, which do, or lock the joints of the loop",
        )


@final
class PassiveLoops:
    """Loops of a model that no task moves, so that they stay as they are at the start."""

    __slots__ = ("_closure", "_last", "_loops", "_places")

    def __init__(self, model: Model, loops: Sequence[LoopTask], *, limits: bool) -> None:
        self._loops, self._closure = loops, LoopClosure(model, [task.loop for task in loops], limits=limits)
        self._places = self._closure.places
        self._last: tuple[Array, Array] | None = None
        """The numbers of q of their joints that were seen last, and those at which the loops are closed."""

    @staticmethod
    def of(model: Model, tasks: Sequence[Task], *, limits: bool) -> "PassiveLoops | None":
        """Those of a model beside the tasks; None if there are none."""
        loops = _shared(model, tasks)[1]
        return PassiveLoops(model, loops, limits=limits) if loops else None

    def close(self, model: Model, q: Array) -> None:
        """Let q (nq,) change to where they are closed; warns (RuntimeWarning) if they cannot be."""
        seen, last = q[self._places], self._last
        if last is None or not np.array_equal(seen, last[0]):
            found = q if self._closure.gap(q) <= CLOSED else self._closure.closed(q)
            if found is None:
                self._warn(model, stacklevel=4)
                found = q
            last = self._last = (seen, found[self._places])
        q[self._places] = last[1]

    def warn_if_open(self, model: Model, q: Array) -> None:
        """Warns (RuntimeWarning) where they are open at q (nq,), each time that their joints stand elsewhere."""
        seen = q[self._places]
        if self._last is None or not np.array_equal(seen, self._last[0]):
            self._last = (seen, seen)
            if self._closure.gap(q) > CLOSED:
                self._warn(model, stacklevel=5)

    def _warn(self, model: Model, stacklevel: int) -> None:
        warnings.warn(
            f"{named(self._loops)} of {model.name}, which no task moves, is open and stays so: begin at a q "
            "that closes it",
            RuntimeWarning,
            stacklevel=stacklevel,
        )


def largest_gap(e: Array) -> Array:
    """(...) the largest norm of three rows of e (..., m)."""
    return np.sqrt((e.reshape(*e.shape[:-1], -1, 3) ** 2).sum(axis=-1).max(axis=-1, initial=0.0))
