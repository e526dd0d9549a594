"""The most floating-point operations a second that kernels of eight lanes can do here, found by doing nothing else."""

from time import thread_time

import numba
import numpy as np

from poise.kernels.machine.lanes import fma, load, store, workspace
from poise.kernels.machine.layout import WIDTH

CHAINS = 12
"""Multiply-adds that do not wait for each other: more than a core has under way, fewer than its registers."""
TURNS = 1_000_000
"""Of all chains; a few hundredths of a second."""


@numba.njit(nogil=True)
def multiply_add(work, turns):
    """Let every chain go x = a x + b for `turns` times; rows of eight numbers, those of a and b the last two."""
    a, b = load(work, 12), load(work, 13)
    x0, x1, x2, x3, x4, x5 = load(work, 0), load(work, 1), load(work, 2), load(work, 3), load(work, 4), load(work, 5)
    x6, x7, x8, x9 = load(work, 6), load(work, 7), load(work, 8), load(work, 9)
    x10, x11 = load(work, 10), load(work, 11)
    for _ in range(turns):
        x0, x1, x2, x3 = fma(a, x0, b), fma(a, x1, b), fma(a, x2, b), fma(a, x3, b)
        x4, x5, x6, x7 = fma(a, x4, b), fma(a, x5, b), fma(a, x6, b), fma(a, x7, b)
        x8, x9, x10, x11 = fma(a, x8, b), fma(a, x9, b), fma(a, x10, b), fma(a, x11, b)
    store(work, 0, x0), store(work, 1, x1), store(work, 2, x2), store(work, 3, x3)
    store(work, 4, x4), store(work, 5, x5), store(work, 6, x6), store(work, 7, x7)
    store(work, 8, x8), store(work, 9, x9), store(work, 10, x10), store(work, 11, x11)


def peak(rounds: int = 9) -> float:
    """Floating-point operations of a core in a second, two for each multiply-add; the best of some rounds."""
    work = workspace(CHAINS + 2, WIDTH)
    work[CHAINS:] = 0.5
    multiply_add(work, 1)
    best = np.inf
    for _ in range(rounds):
        began = thread_time()
        multiply_add(work, TURNS)
        best = min(best, thread_time() - began)
    return 2.0 * CHAINS * WIDTH * TURNS / best
