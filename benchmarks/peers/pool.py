"""Restarts for libraries that solve many problems in one call, but each from one start only."""

from collections.abc import Callable

import numpy as np
from judge import Array
from robots import Robot

from peers import RESTARTS


def restarted(
    solve: Callable[[Array, Array], tuple[Array, Array]], robot: Robot, targets: Array, starts: Array, size: int
) -> Array:
    """(n, nq) answers to (n, 4, 4) targets, from `starts` and then from random ones; NaN where none was found.

    All calls are of `size` problems, so that what compiles for a size does so once; where fewer are left, each has
    several starts.  `solve` returns (size, nq) configurations and whether each is good.
    """
    answers, left = np.full(starts.shape, np.nan), np.arange(len(targets))
    random, judge = np.random.default_rng(0), robot.judge
    for k in range(RESTARTS):
        slots = np.resize(left, -(-len(left) // size) * size)
        q0 = random.uniform(judge.lower, judge.upper, (len(slots), len(judge.lower))) if k else starts[slots]
        for at in range(0, len(slots), size):
            some = slots[at : at + size]
            found, good = solve(targets[some], q0[at : at + size])
            answers[some[good]] = found[good]
        left = left[np.isnan(answers[left, 0])]
        if not len(left):
            break
    return answers
