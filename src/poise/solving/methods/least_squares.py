"""Weighted least squares within inequalities and equations, for steps of tasks and limits that are no model's."""

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.algebra.dense import dense_buffer_size
from poise.kernels.machine.jit import prepare

_UNMET: Final = 1e-8
"""How far beside an equation, as part of 1 and what it is to come to, x is none that meets it."""
_LEAST: Final = 1e-12
_NONE: Final = "no step keeps all limits and constraints at once: loosen one, or start where they hold"
_NAN: Final = "a task or a limit has numbers that are none: look for NaN in the configuration and in the targets"


def least_squares(
    rows: Array, wants: Array, mu: float, inequalities: tuple[Array, Array], equalities: tuple[Array, Array],
    last: Array | None = None, slope: Array | float = 0.0,
) -> Array:  # fmt: skip
    """x (n,), the minimum of |rows x - wants|^2 + mu |x|^2 + 2 slope x with G x <= h and A x = b.

    `rows` (m, n) and `wants` (m,), `inequalities` G (p, n) and h (p,), `equalities` A (k, n) and b (k,), `slope` (n,)
    or a number; mu is 1e-12 at least.  Behind x, (2 n + p,) in all, is what holds it: what held the `last` of a
    sequence is tried first.  Raises InvalidValue where there is no such x, or where a number is none.
    """
    n, k, p, mu = rows.shape[1], len(equalities[1]), len(inequalities[1]), max(mu, _LEAST)
    if np.any(slope):
        size = math.sqrt(mu)
        rows, wants, mu = np.concatenate([rows, size * np.eye(n)]), np.concatenate([wants, slope / -size]), 0.0
    if k:
        rows, wants = np.concatenate([equalities[0], rows]), np.concatenate([equalities[1], wants])
    found = np.zeros(2 * n + p)
    if last is not None:
        known = len(found) if len(last) == len(found) else 2 * n
        found[n:known] = last[n:known]
    arguments = (
        np.ascontiguousarray(numbers, dtype=np.float64)
        for numbers in (rows, wants, [0.0] * (k > 0) + [mu], *inequalities)
    )
    workspace = np.empty(dense_buffer_size(len(rows), n, p))
    beyond = prepare("algebra.dense.minimise_dense")(_plan(k, len(rows)), *arguments, found, workspace)
    if math.isnan(beyond):
        raise InvalidValue("not-finite", _NAN)
    if beyond > 0.0 or (
        k and (np.abs(equalities[0] @ found[:n] - equalities[1]) > _UNMET * (1.0 + np.abs(equalities[1]))).any()
    ):
        raise InvalidValue("inconsistent", _NONE)
    return found


@lru_cache(64)
def _plan(equations: int, rows: int) -> Any:
    """Equations, if any, and then the others, if any, as the kernel reads levels."""
    first = sorted({0, equations, rows})
    return np.array([len(first) - 1, *first, *range(rows)], dtype=np.int64)
