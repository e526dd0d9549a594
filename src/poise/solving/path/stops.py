"""What a plan may stop at: the configurations that meet each of its poses, or any of several."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.checks import whole
from poise.common.errors import InvalidType, InvalidValue
from poise.kernels.machine.layout import WIDTH
from poise.solving.path.candidates import ROUNDS, distinct, starts_at
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.path import PathFailure
from poise.solving.path.route import Route
from poise.solving.requirements.status import Status

_STARTS: Final = 8 * WIDTH
"""Starts at each pose."""


def stops_of(poses: int, alternatives: Sequence[int] | None) -> list[range]:
    """The numbers of the poses of each stop."""
    if alternatives is None:
        return [range(k, k + 1) for k in range(poses)]
    if not isinstance(alternatives, Iterable):
        raise InvalidType(
            "not-a-sequence", f"alternatives is {alternatives!r}; it must be a list of how many poses each stop has"
        )
    ends = [0]
    for size in alternatives:
        whole("alternatives", size, 1)
        ends.append(ends[-1] + size)
    if ends[-1] != poses:
        raise InvalidValue(
            "wrong-length", f"alternatives adds up to {ends[-1]}, and there are {poses} poses: each is of one stop"
        )
    return [range(a, b) for a, b in pairwise(ends)]


def with_nearest_turns(route: Route, stops: Sequence[range], start: Array | None, sums: Array) -> Route:
    """A route whose postures have joints that turn without end by whole turns nearest to where the stop before has
    them, or `start` (nq,), if the path begins there.

    What a task or one of the `sums` (p, nv) reads as a number stays as it is stated.
    """
    if route.soft is None or not route.soft.postures.size:
        return route
    coordinates, read = route.problem.section("coordinates"), [task.coupled(route.model) for task in route.tasks]
    free = (coordinates["turns"] == 1) & ~(sums != 0.0)[:, route.active[coordinates["v"]]].any(axis=0)
    places = np.array(sorted({*coordinates["q"][free]}.difference(*read)), dtype=np.intp)
    places = places[np.isneginf(route.lower[places]) & np.isposinf(route.upper[places])]
    postures = route.soft.postures.copy()
    before = postures[0] if start is None else start
    for stop in stops:
        turns = np.rint((postures[stop][:, places] - before[places]) / (2.0 * np.pi))
        postures[stop.start : stop.stop, places] -= 2.0 * np.pi * turns
        before = postures[stop[0]]
    return route.with_postures(postures)


@final
class Stops(NamedTuple):
    """What was found for each stop, of whichever of its poses."""

    found: list[Array]
    """(k, nq) configurations."""
    of: list[npt.NDArray[np.intp]]
    """(k,) the pose that each meets."""

    def poses(self, numbers: Sequence[int]) -> list[int]:
        """The poses of these configurations, one a stop."""
        return [int(of[i]) for of, i in zip(self.of, numbers, strict=True)]

    def abandoned(self, stop: int, number: int) -> list[int]:
        """What is left out where no way leads to one of a stop's configurations: it, or where the stop has other poses
        all of its pose, for these are tried first."""
        of = self.of[stop]
        return [number] if (of == of[0]).all() else np.flatnonzero(of == of[number]).tolist()


def gathered(
    found: list[Array], failures: list[PathFailure], stops: Sequence[range]
) -> tuple[Stops, list[PathFailure]]:
    """What was found for stops, and of those that have no pose without a failure that of the first of them."""
    failed = {failure.waypoint: failure for failure in failures}
    good = [[k for k in poses if k not in failed] or [poses[0]] for poses in stops]
    some = Stops(
        [np.concatenate([found[k] for k in poses]) for poses in good],
        [np.repeat(np.array(poses), [len(found[k]) for k in poses]) for poses in good],
    )
    missed = [(at, failed[poses[0]]) for at, poses in enumerate(good) if poses[0] in failed]
    return some, [replace(one, waypoint=at, reason=_of_several(len(stops[at])) + one.reason) for at, one in missed]


def _of_several(count: int) -> str:
    return f"it has {count} poses, and none of them can be had; of the first: " if count > 1 else ""


def candidates(route: Route, start: Array, feasibility: PathFeasibility) -> tuple[list[Array], list[PathFailure]]:
    """Configurations (k, nq) of each pose, the nearest to it where there is none that meets it, and why."""
    found: list[Array] = []
    failures: list[PathFailure] = []
    for k in range(len(route)):
        near = np.concatenate([start[None], *found[-1:]])
        known = route.at_posture(k, near)
        starts = starts_at(route, k, near, start, _STARTS) if known is None else known
        some = np.concatenate([route.solutions(k, starts), route.branches(k, start)])
        if feasibility and known is None:
            for turn in range(1, ROUNDS):
                if route.clock.late or (len(some) and feasibility(some).max() >= 0.0):
                    break
                others = starts_at(route, k, start[None], start, _STARTS, turn)
                some = np.concatenate([some, route.solutions(k, others)])
        met = len(some) > 0
        if not met and route.clock.late:
            failures.append(PathFailure(k, Status.BUDGET, "nothing was found for it in max_time."))
            some = start[None]
        elif not met:
            answer = route.solve(k, start)
            some, met = answer.q[None].copy(), answer.success
            if not met:
                proved = answer.status is Status.UNREACHABLE
                failures.append(PathFailure(k, answer.status if proved else Status.LOCAL_MINIMUM, answer.explain()))
        if met:
            some, far = route.best(k, some, feasibility)
            if far.max() < 0.0:
                some = some[[int(far.argmax())]]
                status, words = feasibility.words(some[0])
                reason = "no configuration that was found for it is free: at the one that is least inside "
                failures.append(PathFailure(k, status, reason + words))
            else:
                some = some[far >= 0.0]
        found.append(distinct(some))
    return found, failures
