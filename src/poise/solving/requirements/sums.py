"""Limits A q <= b of sums of joints, of arrays: as `poise.kernels.rows.sums`, which says what their rounding is."""

import numpy as np

from poise.common.array import Array
from poise.kernels.rows.rounding import ROUNDING
from poise.solving.problem.problem import Problem


def slack_of_sums(rows: Array, most: Array, q: Array) -> tuple[Array, Array]:
    """(..., p) the slack `most` (p,) - `rows` (p, k) q at q (..., k) [rad or m], and (..., p) its rounding: below 0 by
    no more than that, a sum holds."""
    return most - q @ rows.T, ROUNDING * (np.maximum(np.abs(q), 1.0) @ np.abs(rows).T)


def rows_of_sums(problem: Problem) -> tuple[Array, Array]:
    """(p, n) the factors A of the sums of a problem by its velocities, and (p,) the most that each may be."""
    table = problem.section("inequalities").reshape(-1, len(problem.velocities) + 1)
    return table[:, :-1], table[:, -1]


def slack_in(problem: Problem, q: Array) -> tuple[Array, Array]:
    """`slack_of_sums` of all sums of a problem at q (nq,)."""
    (rows, most), coordinates = rows_of_sums(problem), problem.section("coordinates")
    return slack_of_sums(rows[:, coordinates["v"]], most, q[coordinates["q"]])
