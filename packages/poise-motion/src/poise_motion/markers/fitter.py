"""The configurations of a body whose markers and sensors are nearest to measured ones, frame by frame as they come."""

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from poise import SO3, Model, ShapeError
from poise.extending import Array, ArrayLike, with_holes
from poise.quaternions import quaternion_matrix
from poise_motion.markers.markers import near
from poise_motion.markers.off import ARM, offs, root_mean_square
from poise_motion.markers.orientations import quaternions
from poise_motion.markers.plan import Plan
from poise_motion.markers.recording import distinct
from poise_motion.markers.standing import begin
from poise_motion.markers.trial import restless


@final
class MarkerFitter:
    """Fits markers and orientations as they come, frame by frame: what `fit_markers` and `fit_orientations` do with a
    recording.

    `names` are the markers of each frame, in their order, and `sensors` those of orientation.  Each frame begins where
    the last one led; the first, and one after `reset`, where the body as a whole stands by what was measured.  One
    thread at a time.  Raises as `fit_markers`.
    """

    __slots__ = (
        "_aims", "_answers", "_begun", "_first", "_found", "_given", "_path", "_plan", "_restless", "_steps", "angles",
        "distances", "names", "sensors",
    )  # fmt: skip

    def __init__(
        self,
        model: Model,
        names: Sequence[str] = (),
        *,
        sensors: Sequence[str] = (),
        weights: Mapping[str, float] | None = None,
        coordinates: Mapping[str, float] | None = None,
        values: Mapping[str, ArrayLike] | None = None,
        q0: ArrayLike | None = None,
    ) -> None:
        self._given = distinct(names), distinct(sensors, "sensor")
        self._plan = Plan(model, *self._given, weights, coordinates)
        self.names = tuple(self._plan.names)
        """The markers that are used, in the order of `distances`."""
        self.sensors = tuple(self._plan.sensors)
        """The sensors that are used, in the order of `angles`."""
        self._aims = self._plan.aims(1, values)
        self._path, self._found = np.empty((1, model.nq)), np.empty((1, len(self.names) + len(self.sensors), 3))
        self._answers, self._begun = np.zeros((1, 2)), False
        self._steps, self._restless, self._first = 0, 0, 0
        self.distances: Array = np.full(len(self.names), np.nan)
        """(markers,) of the last frame, from the model's marker to the measured one [m]; NaN where it was not seen."""
        self.angles: Array = np.full(len(self.sensors), np.nan)
        """(sensors,) of the last frame, between the model's orientation and the measured one [rad]; likewise."""
        if q0 is not None:
            self.reset(q0)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, and in how many frames so far the descent had not come to rest, in words."""
        return (*self._plan.notes, *restless(self._restless, self._first))

    @property
    def at_rest(self) -> bool:
        """Whether the last frame's descent came to rest within the 100 steps that it may take; true before the first.

        Where it did not, q is near the best one, and not the best; the next frame goes on from it.
        """
        return not self._answers[0, 1]

    @property
    def rms(self) -> float:
        """Root mean square of the distances of the last frame [m]; NaN if no marker was seen."""
        return float(root_mean_square(self.distances[None])[0])

    def reset(self, q0: ArrayLike | None = None) -> None:
        """Forget the last frame; the next one begins at `q0` (nq,), or where the body stands by what was measured."""
        self._begun = q0 is not None
        if q0 is not None:
            descent = self._plan.descent
            nothing = np.full((1, descent.width), np.nan)
            start = np.array(self._plan.model.check_one_q(q0, "q0"))
            descent.follow(nothing, self._aims, self._path, self._found, self._answers, start, 0)
            self._answers[:] = 0.0  # no step was to be taken

    def step(self, positions: ArrayLike | None = None, orientations: ArrayLike | SO3 | None = None) -> Array:
        """(nq,) the configuration for `positions` (names, 3) [m], NaN or 0 0 0 for what is not seen, as in files, and
        `orientations` (sensors, 4), quaternions w x y z or an SO3 of as many, NaN or zeros likewise.

        What is left out was not measured in this frame.  Raises ShapeError for another shape, ValueError for places
        that are infinite.
        """
        plan, (markers, sensors) = self._plan, self._given
        if isinstance(orientations, SO3):
            orientations = orientations.wxyz
        points = near(markers, _rows("positions", positions, len(markers), 3)[None])[0, plan.columns]
        wxyz = quaternions("orientations", _rows("orientations", orientations, len(sensors), 4))[plan.sensor_columns]
        row = np.concatenate([points.ravel(), quaternion_matrix(wxyz).ravel()])[None]
        start = None
        if not self._begun:
            start = begin(plan.descent, row, self._aims, plan.model.home)
            self._begun = bool((~np.isnan(row)).any())
        plan.descent.follow(row, self._aims, self._path, self._found, self._answers, start)
        if not self.at_rest:
            self._first = self._first if self._restless else self._steps
            self._restless += 1
        self._steps += 1
        off, arcs = offs(plan.descent, row, self._found)
        self.distances, self.angles = off[0], arcs[0] / ARM
        return self._path[0].copy()


def _rows(name: str, given: ArrayLike | None, count: int, width: int) -> Array:
    """(count, width) numbers, NaN where nothing is given; raises ShapeError for others."""
    if given is None:
        return np.full((count, width), np.nan)
    rows = np.asarray(with_holes(name, given), dtype=np.float64)
    if rows.shape != (count, width):
        raise ShapeError(f"{name} must have the shape ({count}, {width}), got {rows.shape}")
    return rows
