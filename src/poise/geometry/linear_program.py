"""Linear programs of few rows, by the revised simplex method (Dantzig; Bland 1977, doi:10.1287/moor.2.2.103)."""

from typing import Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array

_SLIGHT: Final = 1e-10
"""Gains, shares and steps that are no more than this are rounding, for columns of length 1 or so."""
_GREEDY: Final = 200
"""After so many exchanges the first gain is taken in place of the largest, with which none is made twice."""


class LinearProgram:
    """The x >= 0 with `matrix @ x = right`, of which it finds the best for any gains; `right` (m,) is 0 or more.

    It goes from vertex to vertex, and on from the last one where it is asked again.
    """

    def __init__(self, matrix: Array, right: Array) -> None:
        count, self._count = matrix.shape
        self._matrix: Array = np.column_stack([matrix, np.eye(count)])
        self._right = right
        self._basis: npt.NDArray[np.intp] = self._count + np.arange(count)
        lacking = np.append(np.zeros(self._count), -np.ones(count))
        self._climb(lacking)
        self.feasible = bool(-lacking[self._basis] @ self._values() <= _SLIGHT * (1.0 + right.sum()))
        """Whether there is any x."""
        self._leave_out()

    def best(self, gains: Array) -> tuple[Array, Array]:
        """(n,) x with the largest `gains @ x`, and (n,) what a unit of each entry would add to that there, 0 or less.

        There must be one, and no x may be better without end.
        """
        padded = np.append(gains, np.zeros(self._matrix.shape[1] - self._count))
        losses = self._climb(padded)
        x = np.zeros(self._count)
        x[self._basis] = np.maximum(self._values(), 0.0)
        return x, losses

    def _values(self) -> Array:
        return _solved(self._matrix[:, self._basis], self._right)

    def _climb(self, gains: Array) -> Array:
        """Exchange columns until none of the program's own gains; what each of them would."""
        count, exchanges = self._count, 0
        while True:
            base = self._matrix[:, self._basis]
            prices = _solved(base.T, gains[self._basis])
            reduced: Array = gains[:count] - prices @ self._matrix[:, :count]
            reduced[self._basis[self._basis < count]] = 0.0
            better = np.flatnonzero(reduced > _SLIGHT)
            if not len(better):
                return reduced
            enters = better[0] if exchanges >= _GREEDY else better[reduced[better].argmax()]
            along = _solved(base, self._matrix[:, enters])
            values, falls = np.maximum(self._values(), 0.0), along > _SLIGHT
            shares = np.divide(values, along, out=np.full(len(along), np.inf), where=falls)
            ties = np.flatnonzero(shares <= shares.min() + _SLIGHT)
            self._basis[ties[int(self._basis[ties].argmin())]] = enters
            exchanges += 1

    def _leave_out(self) -> None:
        """Take what only made the rows whole out of the basis, and with it rows that follow from the others."""
        for row in reversed(range(len(self._basis))):
            if self._basis[row] < self._count:
                continue
            shares = _solved(self._matrix[:, self._basis], self._matrix[:, : self._count])[row]
            enters = int(np.abs(shares).argmax())
            if abs(shares[enters]) > _SLIGHT:
                self._basis[row] = enters
                continue
            stands = self._basis[row] - self._count  # in this row of the matrix
            self._matrix, self._right = np.delete(self._matrix, stands, 0), np.delete(self._right, stands)
            self._basis = np.delete(self._basis, row)
            self._matrix = np.delete(self._matrix, self._count + stands, 1)
            self._basis[self._basis > self._count + stands] -= 1


def _solved(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
