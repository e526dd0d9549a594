"""The rows of a case by levels, as the active set reads them."""

import numpy as np

from poise.kernels.algebra.working_set import room_for
from poise.kernels.machine.layout import WIDTH
from poise.methods.base import Case, Plan
from poise.tasks.base import levels


def ranking(case: Case) -> Plan:
    """The rows by levels, and the room of a minimum in levels under the stated inequalities.

    `p.plan` is the number of levels, the first place of each and the end of the last, then the rows' numbers in the
    order of the levels.
    """
    m, n, stated, steps = case.rows, case.columns, case.stated, levels(case.tasks)
    counts = np.array([3 * len(task.blocks) for task in case.tasks])
    ranks = np.repeat([steps.index(task.level) for task in case.tasks], counts)
    first = np.searchsorted(np.sort(ranks), range(len(steps) + 1))
    numbers = np.concatenate([[len(steps)], first, np.argsort(ranks, kind="stable")])
    room = stated * (WIDTH * -(-n // WIDTH) + 2) + 3 * n + len(steps) + room_for(m, n, stated)
    return Plan(numbers.astype(np.int64), rows=room)
