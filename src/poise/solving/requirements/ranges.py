"""Ranges: tasks of which inequalities are made, which a Tracker's step does not leave, and a path neither."""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import RANGE, WIDTH
from poise.kernels.machine.packing import in_group, joined
from poise.model.model import Model
from poise.solving.requirements.path_constraint import OnTheWay
from poise.tasks.base import Task, levels

RESERVE: Final = 1e-5
"""What a step aims to stay inside [m or rad]."""
_DEPTH: Final = 0.25
"""It is no more than this share of how far inside one can be."""
_BACK: Final = 0.1
_BACK_AT_ONCE: Final = 0.01
"""How fast what is outside comes back, at least [m/s or rad/s], and in an update without a time step [m or rad]."""
_JUST: Final = 1.0 + 1e-6
"""Rounding of what is left, as a share of a tolerance."""


def is_range(task: Task) -> bool:
    """Whether it is a required range with an inside."""
    return task.required and task.inequality_rows > 0 and task.weighted_rows > 0


def ranges(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The required tasks of the first level that are ranges with an inside."""
    first = levels(tasks)[:1]
    return tuple(task for task in tasks if task.level in first and is_range(task))


def range_records(tasks: Sequence[Task], dt: float | None) -> Any:
    """Records of `RANGE`, one for each of the `ranges` of the tasks, in updates of `dt` [s] or without a time step."""
    range_tasks, whole, real, side = ranges(tasks), [], [], 0
    for k, task in enumerate(tasks):
        if any(task is other for other in range_tasks):
            whole.append([k, side, side + task.inequality_rows])
            back = _BACK_AT_ONCE if dt is None else _BACK * dt
            real.append([min(RESERVE, _DEPTH * task.depth), back])
            side += task.inequality_rows
    return joined(RANGE, whole, real) if whole else ()


def range_rows(inequality_rows: int, columns: int) -> dict[str, int]:
    """Rows of a workspace for the inequalities of so many sides, with so many active velocities."""
    row = WIDTH * -(-columns // WIDTH)
    packed, each = inequality_rows * row, inequality_rows
    return in_group("sides", jacobian=packed, column_norms=packed, bounds=each, residual=each, residual_before=each)


@final
class Ranges(OnTheWay):
    """Ranges that are the same at all waypoints, whose tasks keep them there: on the ways between them."""

    def __init__(self, model: Model, tasks: Sequence[Task], goals: Sequence[Array]) -> None:
        """`goals` (7,) one a task."""
        self._model, self._goals = model, tuple(zip(tasks, goals, strict=True))

    def __call__(self, q: Array) -> Array:
        """See `PathConstraint`: what is left of the tolerance [m or rad], anywhere inside; -inf without a number."""
        slacks = []
        for task, goal in self._goals:
            left = task.judged(self._model, np.broadcast_to(goal, (len(q), len(goal))), q)
            slacks += [_JUST * block.tolerance - some for block, some in zip(task.blocks, left.T, strict=True)]
        return np.nan_to_num(np.min(slacks, axis=0), nan=-np.inf)

    def beyond(self, far: float) -> str:
        """See `PathConstraint`."""
        names = " or ".join(task.label for task, _ in self._goals)
        if far == np.inf:
            return f"the residual of {names} raises or leaves no number"
        units = sorted({block.unit for task, _ in self._goals for block in task.blocks} - {""})
        return " ".join([f"{names} is left by {far:.3g}", *[" or ".join(units)] * bool(units)])
