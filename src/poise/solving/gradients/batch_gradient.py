"""The gradients of many answers, as arrays."""

from typing import final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import finite
from poise.common.errors import ShapeError
from poise.model.model import Model
from poise.solving.gradients.conditions import by_task
from poise.solving.gradients.inverses import ONE_SIDED, SINGULAR, Flags, inverses_of
from poise.solving.gradients.stationary import by_goals_of_many
from poise.solving.requirements.outcome import PreparedProblem


@final
class BatchGradient:
    """The derivatives of `SolutionBatch.q` by the targets of its tasks; each is that of `Solution.gradient`, to the
    bit.  They are found on all cores, and eight side by side where the pose of one frame is asked for."""

    def __init__(self, model: Model, prepared: PreparedProblem, q: Array, goals: Array, solved: Flags) -> None:
        """Of answers q (n, nq) to goal numbers (n, .), and whether all that is required is fulfilled (n,)."""
        self._model, self._prepared, self._q, self._goals, self._solved = model, prepared, q, goals, solved
        self._status: npt.NDArray[np.str_] | None = None
        self._rests = q

    @property
    def q(self) -> Array:
        """(n, nq) where the derivatives are taken, see `SolutionGradient.q`; the answers where there are none."""
        alone = inverses_of(self._model, self._prepared).there and self._solved.all()  # nothing is least
        if self._status is None and not alone:
            self._found(np.zeros((len(self), self._model.nv)))
        return self._rests

    @property
    def undefined(self) -> npt.NDArray[np.intp]:
        """The rows that have no derivative."""
        return np.flatnonzero(self.status == "undefined")

    @property
    def status(self) -> npt.NDArray[np.str_]:
        """(n,) "smooth", "one-sided" or "undefined", see `SolutionGradient.status`."""
        if self._status is None:
            self._found(np.zeros((len(self), self._model.nv)))
        return np.array(self._status)

    @cached_property
    def by_target(self) -> tuple[Array, ...]:
        """By the target of each task (n, nv, k), see `SolutionGradient.by_target`; NaN where the status is
        "undefined"."""
        return self._found(None)

    def vjp(self, cotangents: ArrayLike) -> tuple[Array, ...]:
        """(n, k) for each task: how a number of each problem changes with its targets, that has these derivatives
        (n, nv) by q; NaN where the status is "undefined".

        Raises ShapeError for another shape, ValueError for numbers that are not finite.
        """
        given, expected = finite("cotangents", cotangents), (len(self), self._model.nv)
        if given.shape != expected:
            raise ShapeError(f"cotangents must have shape {expected}, a row a problem, got {given.shape}")
        return self._found(given)

    def _found(self, cotangents: Array | None) -> tuple[Array, ...]:
        """By the target of each task (n, nv, k), or cotangents times that (n, k); the status of each by the way."""
        model, prepared, inverses = self._model, self._prepared, inverses_of(self._model, self._prepared)
        if not inverses.there:
            moved, self._status, self._rests = by_goals_of_many(
                model, prepared, self._q, self._goals, self._solved, cotangents
            )
            return by_task(prepared, moved)
        moved, known = inverses.of_many(self._q, cotangents)
        status = np.where(known == ONE_SIDED, "one-sided", "smooth")
        others = np.flatnonzero((known == SINGULAR) | ~self._solved)
        if len(others):
            given = None if cotangents is None else cotangents[others]
            moved[others], status[others], rests = by_goals_of_many(
                model, prepared, self._q[others], self._goals[others], self._solved[others], given
            )
            self._rests = np.array(self._q)
            self._rests[others] = rests
        self._status = status
        return (moved,)

    def __len__(self) -> int:
        return len(self._q)

    def __repr__(self) -> str:
        words, counts = np.unique(self.status, return_counts=True)
        summary = ", ".join(f"{count:,} {word}" for word, count in zip(words, counts, strict=True))
        return f"BatchGradient({summary})"
