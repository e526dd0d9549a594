"""The configurations of a body whose markers and sensors are nearest to measured ones, of whole recordings."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

import numpy as np

from poise import InvalidType, InvalidValue, Model
from poise.extending import Array, ArrayLike, WorkQueue, a_model, cores, one_of, whole
from poise_motion.markers.fit import MarkerFit
from poise_motion.markers.ik_setup import IkSetup
from poise_motion.markers.markers import Markers
from poise_motion.markers.orientations import Orientations
from poise_motion.markers.plan import Plan
from poise_motion.markers.trial import Trial, fit_trial

_T = TypeVar("_T", Markers, Orientations)


@overload
def fit_markers(
    model: Model, markers: Markers, *, orientations: Orientations | None = ...,
    weights: Mapping[str, float] | None = ..., coordinates: Mapping[str, float] | None = ...,
    values: Mapping[str, ArrayLike] | None = ..., setup: str | os.PathLike[str] | None = ...,
    q0: ArrayLike | None = ..., up: str | None = ..., threads: int | None = ...,
) -> MarkerFit: ...  # fmt: skip
@overload
def fit_markers(
    model: Model, markers: Sequence[Markers], *, orientations: Sequence[Orientations] | None = ...,
    weights: Mapping[str, float] | None = ..., coordinates: Mapping[str, float] | None = ...,
    values: Mapping[str, ArrayLike] | None = ..., setup: str | os.PathLike[str] | None = ...,
    q0: ArrayLike | None = ..., up: str | None = ..., threads: int | None = ...,
) -> list[MarkerFit]: ...  # fmt: skip
def fit_markers(
    model: Model,
    markers: Markers | Sequence[Markers],
    *,
    orientations: Orientations | Sequence[Orientations] | None = None,
    weights: Mapping[str, float] | None = None,
    coordinates: Mapping[str, float] | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    setup: str | os.PathLike[str] | None = None,
    q0: ArrayLike | None = None,
    up: str | None = None,
    threads: int | None = None,
) -> MarkerFit | list[MarkerFit]:
    """The motion of a model whose markers, its frames of the same names, are nearest to measured ones.

    Of each frame it makes least, within the limits of joints,

        1/2 sum w |m - p|^2 / sum w  +  1/2 sum c (q - v)^2

    over the markers that were seen, with their `weights` (1 where none is given, 0 leaves one out), and over the
    `coordinates` that have a weight c, names of joints of one coordinate; `values` are their v [rad or m], a number or
    one a frame, those of home where none is given.  It is what OpenSim's InverseKinematicsTool makes least.  Each frame
    begins where the one before led, the first at `q0` (nq,), or where the body as a whole stands by its markers.

    `orientations` of the same trial, of sensors that are frames of the model, are fitted together with the markers: in
    the sum each has the arc of its angle at 0.1 m for a distance, and a weight by its name.  They are taken at the
    times of the markers.

    `setup` is the `.xml` of such a tool, which says weights, coordinates and values instead; its times and files do not
    count here.

    A marker that was not seen is left out in that frame.  What was bridged so, and left out, is in the `notes`; markers
    that were exchanged or are none are in `swaps` and `ghosts`, and are used as they are.  `up` is the axis, "y" or
    "z", that the motion says is up; left out, that along which the markers are farthest apart.

    Several recordings are fitted side by side in `threads`, as many as there are cores; each answer is the same on any
    number of them.  Raises ValueError where no marker is a frame of the model, and for weights that are negative;
    NameNotFound for names that nobody has.
    """
    recordings = _several(markers, Markers, "markers must be Markers, as of load_markers")
    beside: list[Orientations | None] = [None] * len(recordings)
    if orientations is not None:
        beside = [*_several(orientations, Orientations, "orientations must be Orientations")]
        if len(beside) != len(recordings):
            raise InvalidValue(
                "inconsistent", f"there are {len(beside)} orientations for {len(recordings)} markers; give one each"
            )
    trials = [Trial.of(one, other) for one, other in zip(recordings, beside, strict=True)]
    fits = _fit_all(model, trials, _Asked(weights, coordinates, values, setup), q0, up, threads)
    return fits[0] if isinstance(markers, Markers) else fits


@overload
def fit_orientations(
    model: Model, orientations: Orientations, *, weights: Mapping[str, float] | None = ...,
    coordinates: Mapping[str, float] | None = ..., values: Mapping[str, ArrayLike] | None = ...,
    setup: str | os.PathLike[str] | None = ..., q0: ArrayLike | None = ..., up: str | None = ...,
    threads: int | None = ...,
) -> MarkerFit: ...  # fmt: skip
@overload
def fit_orientations(
    model: Model, orientations: Sequence[Orientations], *, weights: Mapping[str, float] | None = ...,
    coordinates: Mapping[str, float] | None = ..., values: Mapping[str, ArrayLike] | None = ...,
    setup: str | os.PathLike[str] | None = ..., q0: ArrayLike | None = ..., up: str | None = ...,
    threads: int | None = ...,
) -> list[MarkerFit]: ...  # fmt: skip
def fit_orientations(
    model: Model,
    orientations: Orientations | Sequence[Orientations],
    *,
    weights: Mapping[str, float] | None = None,
    coordinates: Mapping[str, float] | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    setup: str | os.PathLike[str] | None = None,
    q0: ArrayLike | None = None,
    up: str | None = None,
    threads: int | None = None,
) -> MarkerFit | list[MarkerFit]:
    """The motion of a model whose sensors, its frames of the same names, are turned as measured ones.

    Of each frame it makes least, within the limits of joints,

        1/2 sum w angle^2 / sum w  +  1/2 sum c (q - v)^2

    over the sensors that were measured, where the angle is of the one turn that leads from the model's orientation to
    the measured one [rad].  It is what OpenSim's IMUInverseKinematicsTool makes least, and all else is as of
    `fit_markers`.  What only slides stays where it is at the start, for orientations say nothing of it.

    `setup` is the `.xml` of such a tool: its weights, and its `sensor_to_opensim_rotations`, by which the orientations
    are turned first.  `up` left out, it is the axis along which the body at the first frame is longer.
    """
    recordings = _several(orientations, Orientations, "orientations must be Orientations, as of imus.load_orientations")
    trials = [Trial.of(None, one) for one in recordings]
    fits = _fit_all(model, trials, _Asked(weights, coordinates, values, setup), q0, up, threads)
    return fits[0] if isinstance(orientations, Orientations) else fits


def _several(given: _T | Sequence[_T], kind: type[_T], what: str) -> list[_T]:
    """One or several as a list; raises TypeError for what is of another kind."""
    many = isinstance(given, Iterable) and not isinstance(given, (str, kind))
    found: list[_T] = list(given) if many else [given]  # type: ignore[arg-type,list-item]
    for one in found:
        if not isinstance(one, kind):
            raise InvalidType("wrong-type", f"{what}, or several, got {one!r:.60}")
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """What counts, and how much; a setup says it, or the others do."""

    weights: Mapping[str, float] | None
    coordinates: Mapping[str, float] | None
    values: Mapping[str, ArrayLike] | None
    setup: str | os.PathLike[str] | None

    def stated(self) -> IkSetup | None:
        """What the setup says; raises ValueError where something else is said as well."""
        if self.setup is None:
            return None
        if not (self.weights is None and self.coordinates is None and self.values is None):
            raise InvalidValue(
                "conflict", "a setup says weights, coordinates and values: leave them out, or leave it out"
            )
        return IkSetup.load(self.setup)


def _fit_all(
    model: Model, trials: Sequence[Trial], asked: _Asked, q0: ArrayLike | None, up: str | None, threads: int | None
) -> list[MarkerFit]:
    stated = asked.stated()
    if up is not None:
        one_of("up", up, ("y", "z"))
    if threads is not None:
        whole("threads", threads, least=1)
    start = None if q0 is None else np.array(a_model(model).check_one_q(q0, "q0"))
    plans: dict[tuple[tuple[str, ...], ...], Plan] = {}
    aims = list[Array]()
    if stated is not None:
        trials = [one.turned(stated.turn) for one in trials]
    for one in trials:
        if one.names not in plans:
            markers, sensors = one.names
            some = asked.weights if stated is None else stated.weights_of(markers, sensors)
            which, still = (asked.coordinates, []) if stated is None else stated.coordinates_of(a_model(model))
            plans[one.names] = Plan(model, markers, sensors, some, which)
            plans[one.names].remark("coordinates of the setup that do not move, or follow others", still)
            if stated is not None and some is not None and sensors:
                unused = [name for name in stated.weights if name not in some]
                plans[one.names].remark("weights of the setup for what was not measured", unused)
        wanted = asked.values if stated is None else stated.values_at(one.times, model)
        aims.append(plans[one.names].aims(len(one.times), wanted))
    found: list[MarkerFit | None] = [None] * len(trials)
    queue = WorkQueue(len(trials), 1)

    def work() -> None:
        for piece in queue:
            for i in piece:
                found[i] = fit_trial(plans[trials[i].names], trials[i], aims[i], start, up)

    queue.share(work, min(threads or cores(), max(len(trials), 1)))
    return [one for one in found if one is not None]
