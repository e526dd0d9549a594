"""Tasks that are not required: what a search needs for them, and the tasks of the searches that it leans on."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poise.kernels.machine.layout import CHOICE, PROGRESS
from poise.solving.problem.problem import Problem
from poise.tasks.base import Task, levels
from poise.tasks.value import again


def soft_alone(tasks: Sequence[Task]) -> bool:
    """Whether there are soft tasks, all of one level, and all required ones, no ranges, of one level before it."""
    required = [task for task in tasks if task.required]
    if any(task.inequality_rows for task in required):  # within a range nothing pulls, and beyond it no descent may go
        return False
    soft = [task for task in tasks if not task.required]
    if not soft or len(levels(soft)) > 1 or len(levels(required)) > 1:
        return False
    return not required or required[0].level < soft[0].level


def with_soft_rows(problem: Problem) -> Problem:
    """It with the rows that `poise.kernels.solver.soft` works in."""
    return problem.extended(
        {},
        {
            "search.choice": CHOICE,
            "search.progress": PROGRESS,
            "other": len(problem.velocities),
            "best": problem.rows("q").stop - problem.rows("q").start,
        },
    )


def required_alone(tasks: Sequence[Task]) -> list[Task] | None:
    """The tasks that are required; None where all are, or none."""
    required = [task for task in tasks if task.required]
    return required if required and len(required) < len(tasks) else None


def all_required(tasks: Sequence[Task]) -> list[Task]:
    """The tasks, all of them required and of one level, but for a posture."""
    return [_with(task, required=True, priority=0) if task.blocks else _with(task, tolerance=np.inf) for task in tasks]


def _with(task: Task, **changes: Any) -> Task:
    changed: Task = again(type(task), {name: getattr(task, name) for name in task._field_names} | changes)
    return changed
