"""The configurations of a body whose markers are nearest to measured ones, frame by frame as they come."""

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from poise import Model, ShapeError
from poise.extending import Array, ArrayLike, finite, with_holes
from poise_motion.markers.markers import distinct, near
from poise_motion.markers.plan import Plan
from poise_motion.markers.standing import begin


@final
class MarkerFitter:
    """Fits markers as they come, frame by frame: what `fit_markers` does with a recording.

    `names` are the markers of each frame, in their order.  Each frame begins where the last one led; the first, and one
    after `reset`, where the body as a whole stands by its markers.  One thread at a time.  Raises as `fit_markers`.
    """

    __slots__ = ("_aims", "_begun", "_columns", "_cost", "_count", "_path", "_places", "_plan", "distances", "names")

    def __init__(
        self,
        model: Model,
        names: Sequence[str],
        *,
        weights: Mapping[str, float] | None = None,
        coordinates: Mapping[str, float] | None = None,
        values: Mapping[str, ArrayLike] | None = None,
        q0: ArrayLike | None = None,
    ) -> None:
        self._plan = Plan(model, distinct(names), weights, coordinates)
        self.names = tuple(self._plan.names)
        """The markers that are used, in the order of `distances`."""
        self._count, self._columns = len(names), [list(names).index(name) for name in self.names]
        self._aims = self._plan.aims(1, values)
        self._path, self._places = np.empty((1, model.nq)), np.empty((1, len(self.names), 3))
        self._cost, self._begun = np.empty(1), False
        self.distances: Array = np.full(len(self.names), np.nan)
        """(markers,) of the last frame, from the model's marker to the measured one [m]; NaN where it was not seen."""
        if q0 is not None:
            self.reset(q0)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, in words."""
        return tuple(self._plan.notes)

    @property
    def rms(self) -> float:
        """Root mean square of the distances of the last frame [m]; NaN if no marker was seen."""
        seen = self.distances[~np.isnan(self.distances)]
        return float(np.sqrt((seen**2).mean())) if len(seen) else float("nan")

    def reset(self, q0: ArrayLike | None = None) -> None:
        """Forget the last frame; the next one begins at `q0` (nq,), or where the body stands by its markers."""
        self._begun = q0 is not None
        if q0 is not None:
            nothing = np.full_like(self._places, np.nan)
            start = np.array(finite("q0", q0, self._plan.model.nq))
            self._plan.descent.follow(nothing, self._aims, self._path, self._places, self._cost, start, 0)

    def step(self, positions: ArrayLike) -> Array:
        """(nq,) the configuration for `positions` (names, 3) [m], NaN or 0 0 0 for what is not seen, as in files.

        Raises ShapeError for another shape, ValueError for places that are infinite.
        """
        given = np.asarray(with_holes("positions", positions), dtype=np.float64)
        if given.shape != (self._count, 3):
            raise ShapeError(f"positions must have the shape ({self._count}, 3), got {given.shape}")
        points = near(self.names, given[None, self._columns])[0]
        points[(points == 0.0).all(axis=1)] = np.nan
        descent = self._plan.descent
        start = None
        if not self._begun:
            start = begin(descent, points, self._aims, self._plan.model.home)
            self._begun = bool((~np.isnan(points)).any())
        descent.follow(points[None], self._aims, self._path, self._places, self._cost, start)
        self.distances = np.linalg.norm(self._places[0] - points, axis=1)
        return self._path[0].copy()
