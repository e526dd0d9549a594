"""The configurations of a body whose markers are nearest to measured ones, of whole recordings."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, overload

import numpy as np

from poise import InvalidType, InvalidValue, Model, Motion
from poise.extending import (
    Array,
    ArrayLike,
    MarkerDescent,
    WorkQueue,
    a_model,
    cores,
    finite,
    one_of,
    whole,
)
from poise_motion.markers.doubts import Swap, ghosts, outliers, swaps
from poise_motion.markers.fit import MarkerFit
from poise_motion.markers.ik_setup import IkSetup
from poise_motion.markers.markers import Markers
from poise_motion.markers.plan import Plan
from poise_motion.markers.standing import begin

_SHOWN: Final = 6
_LOST: Final = 5.0
"""A frame is begun anew where its distances are so many times as large as they usually are..."""
_FAR: Final = 0.05
"""...and this large [m], as root mean square."""
_ANEW: Final = 20
"""So often, at most."""


@overload
def fit_markers(
    model: Model, markers: Markers, *, weights: Mapping[str, float] | None = ...,
    coordinates: Mapping[str, float] | None = ..., values: Mapping[str, ArrayLike] | None = ...,
    setup: str | os.PathLike[str] | None = ..., q0: ArrayLike | None = ..., up: str | None = ...,
    threads: int | None = ...,
) -> MarkerFit: ...  # fmt: skip
@overload
def fit_markers(
    model: Model, markers: Sequence[Markers], *, weights: Mapping[str, float] | None = ...,
    coordinates: Mapping[str, float] | None = ..., values: Mapping[str, ArrayLike] | None = ...,
    setup: str | os.PathLike[str] | None = ..., q0: ArrayLike | None = ..., up: str | None = ...,
    threads: int | None = ...,
) -> list[MarkerFit]: ...  # fmt: skip
def fit_markers(
    model: Model,
    markers: Markers | Sequence[Markers],
    *,
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

    `setup` is the `.xml` of such a tool, which says weights, coordinates and values instead; its times and files do not
    count here.

    A marker that was not seen is left out in that frame.  What was bridged so, and left out, is in the `notes`; markers
    that were exchanged or are none are in `swaps` and `ghosts`, and are used as they are.  `up` is the axis, "y" or
    "z", that the motion says is up; left out, that along which the markers are farthest apart.

    Several recordings are fitted side by side in `threads`, as many as there are cores; each answer is the same on any
    number of them.  Raises ValueError where no marker is a frame of the model, and for weights that are negative;
    NameNotFound for names that nobody has.
    """
    trials = list(markers) if isinstance(markers, Iterable) and not isinstance(markers, str) else [markers]
    for one in trials:
        if not isinstance(one, Markers):
            raise InvalidType("wrong-type", f"markers must be Markers, as of load_markers, or several, got {one!r:.60}")
    if setup is not None and not (weights is None and coordinates is None and values is None):
        raise InvalidValue("conflict", "a setup says weights, coordinates and values: leave them out, or leave it out")
    if up is not None:
        one_of("up", up, ("y", "z"))
    if threads is not None:
        whole("threads", threads, least=1)
    stated = None if setup is None else IkSetup.load(setup)
    start = None if q0 is None else np.array(finite("q0", q0, a_model(model).nq))
    plans: dict[tuple[str, ...], Plan] = {}
    aims = list[Array]()
    for one in trials:
        names = tuple(one.names)
        if names not in plans:
            some = weights if stated is None else stated.weights_of(one.names)
            which, still = (coordinates, []) if stated is None else stated.coordinates_of(a_model(model))
            plans[names] = Plan(model, names, some, which)
            plans[names].remark("coordinates of the setup that do not move, or follow others", still)
        wanted = values if stated is None else stated.values_at(one.times, model)
        aims.append(plans[names].aims(len(one), wanted))
    found: list[MarkerFit | None] = [None] * len(trials)
    queue = WorkQueue(len(trials), 1)

    def work() -> None:
        for piece in queue:
            for i in piece:
                found[i] = _fit(plans[tuple(trials[i].names)], trials[i], aims[i], start, up)

    queue.share(work, min(threads or cores(), max(len(trials), 1)))
    fits = [one for one in found if one is not None]
    return fits[0] if isinstance(markers, Markers) else fits


def _fit(plan: Plan, markers: Markers, aims: Array, start: Array | None, up: str | None) -> MarkerFit:
    """One recording; it has a descent of its own, so that it depends on nothing else."""
    model, descent = plan.model, plan.descent.fresh()
    columns = [markers.names.index(name) for name in plan.names]
    points = np.ascontiguousarray(markers.positions[:, columns])
    count = len(points)
    path, places, costs = np.empty((count, model.nq)), np.empty_like(points), np.empty(count)
    seen = ~np.isnan(points[:, :, 0])
    first = int(np.argmax(seen.any(axis=1))) if seen.any() else 0
    q = begin(descent, points[first], aims[first : first + 1], model.home) if start is None else start
    descent.follow(points, aims, path, places, costs, q)
    distances = np.linalg.norm(places - points, axis=2)
    _begin_anew(descent, points, aims, (path, places, costs, distances), seen)

    notes = [*markers.notes, *plan.notes]
    gone = [(name, int(n)) for name, n in zip(plan.names, (~seen).sum(axis=0), strict=True) if n]
    if gone:
        most = sorted(gone, key=lambda one: -one[1])[:_SHOWN]
        more = f" and {len(gone) - _SHOWN} more markers" if len(gone) > _SHOWN else ""
        notes.append(f"gaps were left out: {', '.join(f'{name} in {n} frames' for name, n in most)}{more}")
    blind = int((~seen.any(axis=1)).sum())
    if blind:
        notes.append(f"no marker was seen in {blind} frames, in which the body stays as it was")

    doubtful = outliers(distances)
    exchanged: list[Swap] = []
    if doubtful.any():
        other = plan.descent.fresh()

        def is_exchanged(frame: int, i: int, j: int) -> bool:
            some = points[frame : frame + 1].copy()
            some[0, [i, j]] = some[0, [j, i]]
            one, there, cost = np.empty((1, model.nq)), np.empty_like(some), np.empty(1)
            before = path[frame - 1] if frame else path[frame]
            other.follow(some, aims[frame : frame + 1], one, there, cost, before)
            return bool(cost[0] < 0.9 * costs[frame])

        exchanged = swaps(plan.names, points, places, doubtful, is_exchanged)
        for swap in exchanged:
            for name in swap.names:
                doubtful[swap.first : swap.last + 1, plan.names.index(name)] = False
    axis = up if up is not None else _up(points)
    return MarkerFit(
        motion=Motion(model, markers.times, path, name=markers.name, up="y" if axis == "y" else "z"),
        names=tuple(plan.names),
        distances=distances,
        places=places,
        costs=costs,
        swaps=tuple(exchanged),
        ghosts=tuple(ghosts(plan.names, distances, doubtful)),
        notes=tuple(notes),
    )


def _begin_anew(
    descent: MarkerDescent, points: Array, aims: Array, answers: tuple[Array, Array, Array, Array], seen: Array
) -> None:
    """Where a body came back elsewhere, its frames are fitted anew from there on, if that is nearer."""
    path, places, costs, distances = answers
    after = 1
    for _ in range(_ANEW):
        rms = np.sqrt(np.where(seen, distances, 0.0) ** 2 @ np.ones(seen.shape[1]) / np.maximum(seen.sum(axis=1), 1))
        lost = np.flatnonzero(rms[after:] > max(_FAR, _LOST * float(np.median(rms))))
        if not len(lost):
            return
        f = after + int(lost[0])
        start = begin(descent, points[f], aims[f : f + 1], path[f])
        path2, places2, costs2 = np.empty_like(path[f:]), np.empty_like(places[f:]), np.empty_like(costs[f:])
        some = np.ascontiguousarray(points[f:]), np.ascontiguousarray(aims[f:])
        descent.follow(*some, path2, places2, costs2, start)
        if costs2[0] < 0.5 * costs[f]:
            path[f:], places[f:], costs[f:] = path2, places2, costs2
            distances[f:] = np.linalg.norm(places2 - points[f:], axis=2)
        after = f + 1


def _up(points: Array) -> str:
    """The axis of y and z along which the markers of a frame are farthest apart, as a rule."""
    seen = points[(~np.isnan(points[:, :, 0])).sum(axis=1) > 1]
    if not len(seen):
        return "z"
    apart = np.median(np.nanmax(seen, axis=1) - np.nanmin(seen, axis=1), axis=0)
    return "y" if apart[1] > apart[2] else "z"
