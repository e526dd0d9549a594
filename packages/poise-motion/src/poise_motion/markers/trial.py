"""One recording fitted: descents from frame to frame, begun anew where the body is lost, and what is told of them."""

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from poise import SO3, InvalidValue, Motion
from poise.extending import Array, MarkerDescent
from poise_motion.markers.doubts import Swap, ghosts, outliers, swaps
from poise_motion.markers.fit import MarkerFit
from poise_motion.markers.markers import Markers
from poise_motion.markers.off import ARM, offs, root_mean_square
from poise_motion.markers.orientations import Orientations
from poise_motion.markers.plan import Plan
from poise_motion.markers.standing import begin
from poise_motion.markers.upright import up_of, up_of_model

_SHOWN: Final = 6
_LOST: Final = 5.0
"""A frame is begun anew where it is off so many times as much as they usually are..."""
_FAR: Final = 0.05
"""...and so much [m], as root mean square."""
_WRONG: Final = np.radians(20.0)
"""Sensors that are off by more, as root mean square, are not where they are said to be; on people it is 2 to 5 degrees
[rad]."""
_LIES: Final = np.radians(60.0)
"""Who is tilted by more does not stand, walk or sit."""
_CLOSED: Final = 1e-6
"""A loop that is open by no more is closed [m or rad]."""
_ANEW: Final = 20
"""So often, at most."""


@final
@dataclass(frozen=True, slots=True)
class Trial:
    """What was measured of one motion: markers, orientations at the same times, or both."""

    times: Array
    name: str
    notes: tuple[str, ...]
    markers: Markers | None
    orientations: Orientations | None

    @classmethod
    def of(cls, markers: Markers | None, orientations: Orientations | None) -> "Trial":
        """Both at the times of the markers; raises ValueError where these have no time in common."""
        if markers is None:
            assert orientations is not None
            return cls(orientations.times, orientations.name, orientations.notes, None, orientations)
        if orientations is None:
            return cls(markers.times, markers.name, markers.notes, markers, None)
        notes = [*markers.notes, *orientations.notes]
        if not np.array_equal(markers.times, orientations.times):
            first, last = orientations.times[0], orientations.times[-1]
            inside = int(((markers.times >= first) & (markers.times <= last)).sum())
            if not inside:
                raise InvalidValue(
                    "inconsistent",
                    f"markers go from {markers.times[0]:g} to {markers.times[-1]:g} s and orientations from {first:g} "
                    f"to {last:g} s; bring both to the same clock",
                )
            notes.append(f"orientations were taken at the times of the markers, of which they have {inside}")
            orientations = orientations.at(markers.times)
        return cls(markers.times, markers.name, tuple(notes), markers, orientations)

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Those of the markers, and of the sensors."""
        markers, sensors = self.markers, self.orientations
        return () if markers is None else tuple(markers.names), () if sensors is None else tuple(sensors.names)

    def turned(self, rotation: SO3) -> "Trial":
        """The orientations turned as a whole."""
        turns = self.orientations
        return self if turns is None else replace(self, orientations=turns.turned(rotation))


def fit_trial(plan: Plan, trial: Trial, aims: Array, start: Array | None, up: str | None) -> MarkerFit:
    """One recording; it has a descent of its own, so that it depends on nothing else."""
    model, descent, count = plan.model, plan.descent.fresh(), len(trial.times)
    goals = plan.goals(trial.markers, trial.orientations, count)
    path, answers = np.empty((count, model.nq)), np.empty((count, 2))
    found = np.empty((count, len(plan.names) + len(plan.sensors), 3))
    seen = ~np.isnan(goals).all(axis=1)
    first = int(np.argmax(seen)) if seen.any() else 0
    here = slice(first, first + 1)
    q = begin(descent, goals[here], aims[here], model.home) if start is None else start
    descent.follow(goals, aims, path, found, answers, q)
    _begin_anew(descent, goals, aims, (path, found, answers))
    costs = answers[:, 0].copy()

    distances, arcs = offs(descent, goals, found)
    places, points = found[:, : len(plan.names)], goals[:, : 3 * len(plan.names)].reshape(count, -1, 3)
    late = np.flatnonzero(answers[:, 1])
    notes = [
        *trial.notes,
        *plan.notes,
        *_gaps(plan, distances, arcs),
        *_doubts(plan, arcs / ARM, path),
        *_open(descent, path),
        *restless(len(late), int(late[0]) if len(late) else 0),
    ]
    doubtful = outliers(distances)
    exchanged: list[Swap] = []
    if doubtful.any():
        other = plan.descent.fresh()

        def is_exchanged(frame: int, i: int, j: int) -> bool:
            some = goals[frame : frame + 1].copy()
            some[0, 3 * i : 3 * i + 3], some[0, 3 * j : 3 * j + 3] = points[frame, j], points[frame, i]
            one, there, answer = np.empty((1, model.nq)), np.empty_like(found[:1]), np.empty((1, 2))
            before = path[frame - 1] if frame else path[frame]
            other.follow(some, aims[frame : frame + 1], one, there, answer, before)
            return bool(answer[0, 0] < 0.9 * costs[frame])

        exchanged = swaps(plan.names, points, places, doubtful, is_exchanged)
        for swap in exchanged:
            for name in swap.names:
                doubtful[swap.first : swap.last + 1, plan.names.index(name)] = False
    axis = up if up is not None else up_of(points) if plan.names else up_of_model(model, path[0])
    return MarkerFit(
        motion=Motion(model, trial.times, path, name=trial.name, up="y" if axis == "y" else "z"),
        names=tuple(plan.names),
        distances=distances,
        places=places,
        costs=costs,
        swaps=tuple(exchanged),
        ghosts=tuple(ghosts(plan.names, distances, doubtful)),
        notes=tuple(notes),
        sensors=tuple(plan.sensors),
        angles=arcs / ARM,
    )


def _gaps(plan: Plan, distances: Array, arcs: Array) -> list[str]:
    """What was not measured, in words."""
    notes, kinds = [], (("marker", plan.names, distances), ("sensor", plan.sensors, arcs))
    for what, names, off in kinds:
        gone = [(name, int(n)) for name, n in zip(names, np.isnan(off).sum(axis=0), strict=True) if n]
        if gone:
            most = sorted(gone, key=lambda one: -one[1])[:_SHOWN]
            more = f" and {len(gone) - _SHOWN} more {what}s" if len(gone) > _SHOWN else ""
            notes.append(f"gaps were left out: {', '.join(f'{name} in {n} frames' for name, n in most)}{more}")
    blind = int((np.isnan(distances).all(axis=1) & np.isnan(arcs).all(axis=1)).sum())
    if blind:
        word = "marker was seen" if plan.names else "sensor was measured"
        notes.append(f"no {word} in {blind} frames, in which the body stays as it was")
    return notes


def _doubts(plan: Plan, angles: Array, path: Array) -> list[str]:
    """What orientations make that cannot be meant, in words."""
    if not plan.sensors:
        return []
    notes, rms = [], float(root_mean_square(angles.reshape(1, -1))[0])
    if rms > _WRONG:
        notes.append(
            f"sensors are {np.degrees(rms):.0f} degrees off on average: two may be exchanged, the heading wrong, a "
            "person have stood otherwise than the model, or quaternions not be w x y z"
            + ("; Orientations.facing turns them into the world of the markers" if plan.names else "")
        )
    if plan.names:
        return notes
    model = plan.model
    link = min((model.frame(name).link for name in plan.sensors), key=lambda one: len(model.root_path(one)))
    vertical = np.eye(3)["xyz".index(up_of_model(model, model.home))]
    up = (model.pose(link, path).rotation @ model.pose(link, model.home).rotation.inverse()).act(vertical)
    tilt = float(np.median(np.arccos(np.clip(up @ vertical, -1.0, 1.0))))
    if tilt > _LIES:
        notes.append(
            f"{link} is tilted by {np.degrees(tilt):.0f} degrees from how it is at home: if the person does not lie, "
            "turn the sensors' world to the model's with Orientations.turned, as from z up to y up"
        )
    return notes


def _open(descent: MarkerDescent, path: Array) -> list[str]:
    """Loops that do not close, in words."""
    gaps = descent.gaps(path)
    wrong = int((gaps > _CLOSED).sum())
    return [f"loops are open in {wrong} frames, by up to {gaps.max():.3g} m or rad"] if wrong else []


def restless(count: int, first: int) -> list[str]:
    """Frames, so many and from which on, whose descent was ended before it came to rest, in words."""
    if not count:
        return []
    return [
        f"in {count} frames, the first of which is {first}, the descent had not come to rest after as many steps as a "
        "frame may take: joints there are near the best ones, and not the best"
    ]


def _begin_anew(descent: MarkerDescent, goals: Array, aims: Array, answers: tuple[Array, Array, Array]) -> None:
    """Where a body came back elsewhere, its frames are fitted anew from there on, if that is nearer."""
    path, found, told = answers
    after = 1
    for _ in range(_ANEW):
        off = np.nan_to_num(root_mean_square(np.concatenate(offs(descent, goals, found), axis=1)))
        lost = np.flatnonzero(off[after:] > max(_FAR, _LOST * float(np.median(off))))
        if not len(lost):
            return
        f = after + int(lost[0])
        start = begin(descent, goals[f : f + 1], aims[f : f + 1], path[f])
        path2, found2, told2 = np.empty_like(path[f:]), np.empty_like(found[f:]), np.empty_like(told[f:])
        descent.follow(goals[f:], aims[f:], path2, found2, told2, start)
        if told2[0, 0] < 0.5 * told[f, 0]:
            path[f:], found[f:], told[f:] = path2, found2, told2
        after = f + 1
