"""What a classical method works with, and what it remembers from one update to the next."""

from collections import namedtuple

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import WIDTH, section

FRESH, MU, NU, PREDICTED, LAST, DAMPING, STEP, FAILED, NEWTON, COST, SPLIT, PAIRS, SWAY, SCORE = range(14)
"""Rows of `memory`: 0 before the first update; gain-ratio damping; the last lambda^2 and largest step; whether the
last step was no number; which half of a hybrid acts; the sum of squares before the last update; updates since the
singular vectors were found from nothing; how many steps a quasi-Newton method has learnt from; beta^2 |q - q_d|^2 of
`poise.methods.das`; the score before the last update."""
MEMORY = 16
ELSEWHERE = -1.0
"""In PREDICTED: the targets or q are not where the last update left them, so there is nothing to judge it by."""
STARTS, AGE, SINCE, MARK, BEST, OWNER, SPENT, ENDED, FAILURES, LENGTH = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
"""Rows of `loop`: starts made, iterations of this one, the iteration and the error of its last real gain; the least
error of all, the start and iteration that found it, whether that start came to rest; failed starts; rows traced."""
LOOP = 16
GOAL_AT = MEMORY + LOOP
"""Where the goals of a step are, and behind them its answer."""
SEEN = 12
"""Rows of an effector's target that are remembered: its rotation and place."""

Memory = namedtuple(
    "Memory", "memory loop goal answer best e last seen cap rows turn spare sigma c g h phi u kept prior big"
)


@kernel
def recall(ints, work):
    """The sections of a workspace behind those of `poise.kernels.solver.lm_solver.divide`."""
    ne, nb, nq, n, rows = ints[1], ints[2], ints[9], ints[10], ints[11]
    m = 3 * nb
    row, side = WIDTH * ((n + WIDTH - 1) // WIDTH), WIDTH * ((m + WIDTH - 1) // WIDTH)
    m0 = ints[15]
    l0 = m0 + MEMORY
    l1 = l0 + LOOP
    l2 = l1 + 7 * ne
    l3 = l2 + nq
    m1 = l3 + nq
    m2 = m1 + m
    m3 = m2 + m
    m4 = m3 + SEEN * ne
    m5 = m4 + nb
    m6 = m5 + m * row
    s6 = m6 + m * side
    m7 = s6 + m * side
    m8 = m7 + m
    m9 = m8 + m
    m10 = m9 + n
    m11 = m10 + n
    m12 = m11 + n
    m13 = m12 + 2 * m
    m14 = m13 + rows
    m15 = m14 + nq
    return Memory(
        section(work, m0, MEMORY),
        section(work, l0, LOOP),
        section(work, l1, 7 * ne),
        section(work, l2, nq),
        section(work, l3, nq),
        section(work, m1, m),
        section(work, m2, m),
        section(work, m3, SEEN * ne),
        section(work, m4, nb),
        section(work, m5, m * row),
        section(work, m6, m * side),
        section(work, s6, m * side),
        section(work, m7, m),
        section(work, m8, m),
        section(work, m9, n),
        section(work, m10, n),
        section(work, m11, n),
        section(work, m12, 2 * m),
        section(work, m13, rows),
        section(work, m14, nq),
        section(work, m15, work.shape[0] - m15),
    )


@kernel
def read_method(ints, floats):
    """The settings and the plan of a method, which come behind a problem's own numbers."""
    i, f = ints[16], ints[17]
    return section(floats, f, floats.shape[0] - f), section(ints, i, ints.shape[0] - i)
