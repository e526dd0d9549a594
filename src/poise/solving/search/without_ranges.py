"""A range that is not in the way changes nothing: the other tasks are solved alone, and the answer is looked at.

So a pose keeps its closed form, its eight lanes and its answer, to the bit.  Where that answer is beyond a range, the
search with all tasks is what solves.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.layout import ANSWER
from poise.model.model import Model
from poise.solving.arguments.arguments import each_goal
from poise.solving.problem.problem import Problem
from poise.solving.requirements.ranges import is_range
from poise.tasks.base import Task


def without_ranges(tasks: Sequence[Task]) -> list[Task] | None:
    """The tasks without required ranges; None where there are none of these, or nothing else about frames."""
    others = [task for task in tasks if not is_range(task)]
    pulls = any(task.blocks for task in others)
    return others if pulls and len(others) < len(tasks) else None


def goals_without(problem: Problem, goals: Array) -> Array:
    """Of goals (n, .) of all tasks those of the search without ranges."""
    some: Array = goals[:, problem.section("goals_without_ranges")]
    return some


def with_ranges(
    model: Model, tasks: Sequence[Task], goals: Array, answers: Array
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Answers (n, rows of `out`) to the others, with what is left of all frame tasks; (n,) whether all ranges hold.

    `goals` are (n, .) those of all tasks.
    """
    parts, last = np.split(answers, [ANSWER + model.nq], axis=1)
    q, inside, at = parts[:, ANSWER:], np.ones(len(answers), dtype=np.bool_), 0
    left = []
    for task, goal in zip(tasks, each_goal(tasks, goals), strict=True):
        count = len(task.blocks)
        if is_range(task):
            left.append(task.judged(model, goal, q))
            inside &= (left[-1] <= task.tolerances).all(axis=1)
        else:
            left.append(last[:, at : at + count])
            at += count
    return np.hstack([parts, *left, last[:, at:]]), inside
