"""Rows that the steps of quadratic programs are made of; `poise.extending.least_squares` solves them."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from poise.extending import Array


def stacked(n: int, parts: Iterable[Sequence[Any]]) -> tuple[Array, Array]:
    """(k, n) and (k,) of pairs of both, None where one has nothing to say."""
    some = [part for part in parts if part[0] is not None and len(part[0])]
    if not some:
        return np.zeros((0, n)), np.zeros(0)
    return np.concatenate([part[0] for part in some]), np.concatenate([part[1] for part in some])


def root(hessian: Array) -> Array:
    """(k, n) rows whose square is a hessian (n, n), as far as that is one."""
    sizes, axes = np.linalg.eigh(hessian)
    some = sizes > 1e-14 * max(float(sizes[-1]), 1e-300)
    return np.asarray(np.sqrt(sizes[some])[:, None] * axes[:, some].T)
