"""Weights are relative: what is solved for has weights of which the largest of each level is 1."""

from collections.abc import Sequence

import numpy as np

from poise.tasks.base import Task


def relative(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], tuple[float, ...]]:
    """The tasks with their weights divided by the largest of their level, and what each was divided by.

    Weights weigh tasks of one level against each other, and tasks against nothing else: whatever a solver, a method or
    a damping knows in numbers is meant for weights of 1.  Tasks that are no `yardstick`, such as loops and costs of
    motion, have the largest only where they are alone.
    """
    scales = tuple(_largest([other for other in tasks if other.level == task.level]) for task in tasks)
    return tuple(task.lighter(x) for task, x in zip(tasks, scales, strict=True)), scales


def _largest(level: Sequence[Task]) -> float:
    """The largest weight of tasks of one level; 1 where all are 0, and of a posture."""
    counted = [task for task in level if task.yardstick] or level
    largest = (float(np.max(getattr(task, name))) for task in counted for name in task.weight_names)
    return max(largest, default=1.0) or 1.0
