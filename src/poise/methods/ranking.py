"""The rows of a case by levels, as the active set reads them."""

import numpy as np

from poise.kernels.algebra.working_set import room_for
from poise.kernels.machine.layout import WIDTH
from poise.methods.base import Case, Plan


def ranks(case: Case) -> list[int]:
    """The number of each task's level.

    Where another method leads some tasks, the others of their level, which must hold anyway, come before them.
    """
    places = [(task.level, k in case.led) for k, task in enumerate(case.tasks)]
    order = sorted(set(places))
    return [order.index(place) for place in places]


def led_level(case: Case) -> int:
    """The level that another method leads."""
    return ranks(case)[case.led[0]]


def ranking(case: Case) -> Plan:
    """The rows by levels, and the room of a minimum in levels under the stated inequalities.

    `p.plan` is the number of levels, the first place of each and the end of the last, then the rows' numbers in the
    order of the levels.
    """
    m, n, stated, places = case.rows, case.columns, case.stated, ranks(case)
    count = max(places, default=-1) + 1
    rows = np.repeat(np.array(places, dtype=np.int64), [3 * len(task.blocks) for task in case.tasks])
    first = np.searchsorted(np.sort(rows), range(count + 1))
    numbers = np.concatenate([[count], first, np.argsort(rows, kind="stable")])
    limits = stated * (WIDTH * -(-n // WIDTH) + 2) + 3 * n + count
    return Plan(numbers.astype(np.int64), rows=WIDTH * -(-limits // WIDTH) + room_for(m, n, stated))
