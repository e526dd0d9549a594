"""How well a least-squares answer is known: its covariance, what it cannot tell, and measurements that do not fit."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array

_NONE: Final = 1e-6
"""A share of a parameter in a direction that is but rounding."""
_ALARM: Final = 1e-3
"""How likely it is that one of all good measurements is called an outlier."""
_FLOOR: Final = 1e-9
"""Measurements that fit to this [m or rad] have no outliers, only roundings."""


def covariance(jacobian: Array, identifiable: Array) -> Array:
    """(k, k) of the answer, in units of the variance of r: (V^T J^T J V)^-1 in the directions V that are told apart.

    Directions that are not stand still in it, as in the free networks of geodesy.
    """
    _, sizes, ways = np.linalg.svd(jacobian @ identifiable, full_matrices=False)
    spread = identifiable @ (ways.T / sizes)
    out: Array = spread @ spread.T
    return out


def singular_values(jacobian: Array, identifiable: Array) -> Array:
    """(rank,) of the directions that are told, the largest first."""
    out: npt.NDArray[Any] = np.linalg.svd(jacobian @ identifiable, compute_uv=False)
    return out


def undetermined(identifiable: Array, names: Sequence[str], linalg: Any) -> tuple[dict[str, float], ...]:
    """The directions that are not told, as shares of parameters: one of 1, then the others, the largest first.

    That one is in no other direction, and of parameters with like shares the last: pivots of a QR decomposition of the
    null space of `identifiable` (k, rank), by columns that count for more from first to last.
    """
    k, rank = identifiable.shape
    if rank == k:
        return ()
    null = linalg.null_space(identifiable.T).T
    order = linalg.qr(null * np.linspace(1.0, 2.0, k), mode="r", pivoting=True)[1]
    first = np.sort(order[: k - rank])
    shares = np.linalg.solve(null[:, first], null)
    return tuple(
        {names[i]: float(row[i]) for i in [one, *np.argsort(-np.abs(row))] if abs(row[i]) > _NONE}
        for one, row in zip(first, shares, strict=True)
    )


def outliers(weighted: Array, special: Any, *, has_std: bool) -> npt.NDArray[np.intp]:
    """Which of these residuals (n, m) are larger than noise makes one of n, once in a thousand times.

    The squares of good ones are spread as chi-squared, with a variance that their median tells, which no outliers move,
    and that is not below that of the deviations that were given, if the measurements have any (`has_std`).
    """
    squares, m = np.square(weighted).sum(axis=1), weighted.shape[1]
    variance = max(float(np.median(squares)) / special.chdtri(m, 0.5), 1.0 if has_std else _FLOOR**2)
    return np.flatnonzero(squares > variance * special.chdtri(m, _ALARM / len(squares)))
