"""Weights are relative: what is solved for has weights of which the largest of each level is 1."""

from collections.abc import Sequence

import numpy as np

from poise.tasks.base import Task
from poise.tasks.loop import LoopTask
from poise.tasks.velocity import OfVelocities


def relative(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], tuple[float, ...]]:
    """The tasks with their weights divided by the largest of their level, and what each was divided by.

    Weights weigh tasks of one level against each other, and tasks against nothing else: whatever a solver, a method or
    a damping knows in numbers is meant for weights of 1.  A LoopTask, or a task of how joints move, is the largest only
    where no other task is.
    """
    scales = tuple(_largest([other for other in tasks if other.level == task.level]) for task in tasks)
    return tuple(task.lighter(x) for task, x in zip(tasks, scales, strict=True)), scales


def _largest(level: Sequence[Task]) -> float:
    """The largest weight of tasks of one level; 1 where all are 0."""
    counted = [task for task in level if not isinstance(task, LoopTask | OfVelocities)] or level
    return max(float(np.max(getattr(task, name))) for task in counted for name in task.weight_names) or 1.0
