"""The rows of a case by levels, as the active set reads them."""

from collections.abc import Sequence

import numpy as np

from poise.kernels.algebra.working_set import buffer_size
from poise.kernels.machine.layout import WIDTH
from poise.methods.base import Case, Plan
from poise.tasks.loop import LoopTask


def ranks(case: Case) -> list[int]:
    """The number of each task's level; loops come before all, for no step may open them.

    Where another method leads some tasks, the others of their level, which must hold anyway, come before them.
    """
    places = [
        (-1 if isinstance(task, LoopTask) else task.level, k in case.delegated) for k, task in enumerate(case.tasks)
    ]
    order = sorted(set(places))
    return [order.index(place) for place in places]


def levels_of_loops(case: Case) -> int:
    """How many levels come before those that were stated: 1 where there are loops, else 0."""
    return int(any(isinstance(task, LoopTask) for task in case.tasks))


def delegated_level(case: Case) -> int:
    """The level that another method leads."""
    return ranks(case)[case.delegated[0]]


def ranking(case: Case, places: Sequence[int]) -> Plan:
    """The rows by the levels that the tasks have, and the room of a minimum in them under the stated inequalities.

    `p.plan` is the number of levels, the first place of each and the end of the last, then the rows' numbers in the
    order of the levels.
    """
    m, n, inequalities = case.rows, case.columns, case.inequalities
    count = max(places, default=-1) + 1
    rows = np.repeat(np.array(places, dtype=np.int64), [3 * len(task.blocks) for task in case.tasks])
    first = np.searchsorted(np.sort(rows), range(count + 1))
    numbers = np.concatenate([[count], first, np.argsort(rows, kind="stable")])
    limits = inequalities * (WIDTH * -(-n // WIDTH) + 2) + 3 * n + count
    return Plan(numbers.astype(np.int64), rows=WIDTH * -(-limits // WIDTH) + buffer_size(m, n, inequalities))
