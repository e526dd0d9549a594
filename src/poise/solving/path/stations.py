"""plan: configurations for a few poses, near each other, and a free joint path from each to the next."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.layout import WIDTH
from poise.methods.checks import positive
from poise.model.model import Model
from poise.solving.arguments import AnyTask, cores, one_start, whole
from poise.solving.collision import CollisionLimit, position_limits
from poise.solving.path.candidates import distinct
from poise.solving.path.clearance import Clearance
from poise.solving.path.connect import connect
from poise.solving.path.path import JointPath, PathFailure, PathStatus
from poise.solving.path.route import Route
from poise.solving.path.smoothing import Smoother
from poise.solving.path.solve import limits_of, path_of
from poise.solving.path.timing import least_schedule
from poise.solving.solution import Solution
from poise.spatial import Array

_STARTS: Final = 8 * WIDTH
"""Starts at each pose."""
_ITERATIONS: Final = 40
"""Of the configurations' way to each other."""
_TRIES: Final = 6
"""Choices of configurations that are tried, where no way is found between two of them."""
_SECONDS: Final = 20.0
"""What the search for one way takes at most [s]."""


def plan(
    model: Model,
    tasks: AnyTask | Sequence[AnyTask],
    poses: Any,
    *,
    q0: npt.ArrayLike | None = None,
    limits: bool | Sequence[CollisionLimit] = True,
    step: float = 0.05,
    velocity: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    max_time: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> JointPath:
    """A joint path through a few `poses`, such as those of pick and place: between them the frame may go as it likes.

    Configurations of all poses are chosen so that they are near each other, by the sum of the squares of the joints'
    ways: the best of what many starts and a closed form give, then moved together on their self-motions.  From each to
    the next the joints go straight, in steps of at most `step` [rad or m], or, with
    `limits=[CollisionLimit(world, ...)]`, around what is in the way.  With `q0` (nq,) the
    path begins there, and else at the first pose.

    `stations` of the path are the rows of the poses, at which it rests where accelerations are limited; see
    `solve_path` for the other arguments and for what is raised.
    """
    within, apart = position_limits(limits)
    return planned(
        model, tasks, poses, q0=q0, limits=within, step=step, velocity=velocity, acceleration=acceleration,
        max_time=max_time, seed=seed, threads=threads, clearance=None if apart is None else Clearance.of(model, apart),
    )  # fmt: skip


def planned(
    model: Model,
    tasks: AnyTask | Sequence[AnyTask],
    poses: Any,
    *,
    q0: npt.ArrayLike | None,
    limits: bool,
    step: float,
    velocity: npt.ArrayLike | None,
    acceleration: npt.ArrayLike | None,
    max_time: float | None,
    seed: int,
    threads: int | None,
    clearance: Clearance | None,
) -> JointPath:
    """`plan`, free of what `clearance` measures."""
    began = perf_counter()
    positive("step", step)
    if max_time is not None:
        positive("max_time", max_time)
    whole("seed", seed, 0)
    threads = cores() if threads is None else threads
    whole("threads", threads, 1)
    speeds, hardest = limits_of("velocity", velocity, model), limits_of("acceleration", acceleration, model)
    route = Route(model, tasks, poses, limits=limits, seed=seed, threads=threads)
    start = np.array(model.home if q0 is None else one_start(model, q0))
    start = np.clip(model.normalize(start), route.lower, route.upper)
    end = inf if max_time is None else began + max_time
    first = None if q0 is None else start
    found, missed = _candidates(route, start, clearance)
    failures = [_missed(k, solution, clearance) for k, solution in missed.items()]
    legs, blocked = _legs(route, found, start, first, clearance, end)
    failures += blocked
    rows, stations, times = _rows(model, legs, step, speeds, hardest, first is not None)
    failures.sort(key=lambda failure: failure.waypoint)
    return path_of(route, rows, stations, times, failures, speeds, clearance, perf_counter() - began)


def _candidates(
    route: Route, start: Array, clearance: Clearance | None
) -> tuple[list[Array], dict[int, Solution | None]]:
    """Configurations (k, nq) of each pose, the nearest to it where there is none that meets it, and those poses."""
    found: list[Array] = []
    missed: dict[int, Solution | None] = {}
    for k in range(len(route)):
        spread = route.model.sample(_STARTS, seed=(route.seed + k) % 2**62)
        spread[:, ~route.moved] = start[~route.moved]
        near = found[-1] if found else start[None]
        some = np.concatenate(
            [route.solutions(k, np.concatenate([start[None], near, spread])), route.branches(k, start)]
        )
        answer = None
        if not len(some):
            answer = route.solve(k, start)
            some = answer.q[None].copy()
            if not answer.success:
                missed[k] = answer
        if clearance is not None and k not in missed:
            room = clearance(some)
            if room.max() < 0.0:
                missed[k] = None
                some = some[[int(room.argmax())]]
            else:
                some = some[room >= 0.0]
        found.append(distinct(some))
    return found, missed


def _missed(k: int, solution: Solution | None, clearance: Clearance | None) -> PathFailure:
    if solution is None:
        reason = "no configuration that meets it was found that keeps its distance from the obstacles."
        return PathFailure(k, PathStatus.COLLISION, reason)
    return PathFailure(k, PathStatus.NOT_REACHED, solution.explain())


def _legs(
    route: Route, found: list[Array], start: Array, first: Array | None, clearance: Clearance | None, end: float
) -> tuple[list[Array], list[PathFailure]]:
    """The corners (k, nq) of the way to each pose, from the one before it, and what cannot be gone."""
    best: tuple[list[Array], list[PathFailure]] | None = None
    banned: set[tuple[int, int]] = set()
    for _ in range(_TRIES):
        chosen, numbers = _chosen(route, found, start, first, banned)
        chosen = _together(route, chosen, first, clearance, end)
        legs, blocked, wrong = _connected(route, chosen, first, clearance, end)
        if best is None or len(blocked) < len(best[1]):
            best = legs, blocked
        if not blocked or perf_counter() > end:
            break
        banned.add((wrong, numbers[wrong]))
    assert best is not None
    return best


def _chosen(
    route: Route, found: list[Array], start: Array, first: Array | None, banned: set[tuple[int, int]]
) -> tuple[Array, list[int]]:
    """(n, nq) one configuration of each pose, and which; the way from `first` counts too."""
    sets = found if first is None else [first[None], *found]
    m = max(map(len, sets))
    q, price = np.zeros((len(sets), m, route.model.nq)), np.full((len(sets), m), np.inf)
    shift = len(sets) - len(found)
    for k, some in enumerate(sets):
        q[k, : len(some)], price[k, : len(some)] = some, 0.0
        q[k, len(some) :] = some[0]
    price[0] += route.leaning(q[0], start)
    for k, i in banned:
        price[k + shift, i] = 1e6
    numbers = route.sequence(q, price, np.inf, closed=False)
    return q[np.arange(len(sets)), numbers][shift:], [int(i) for i in numbers[shift:]]


def _together(route: Route, q: Array, first: Array | None, clearance: Clearance | None, end: float) -> Array:
    """The configurations moved nearer to each other, where all poses are met; `first` stays."""
    if first is not None:
        route = route.beginning_at(first)
        q = np.concatenate([first[None], q])
    if len(q) < 2 or route.rows(q)[2].max() > 1.0:
        return q if first is None else q[1:]
    cap = np.full(len(route.active), np.inf)
    moved = Smoother(route, clearance, first is not None, False, cap).shorten(q, _ITERATIONS, end)
    return moved if first is None else moved[1:]


def _connected(
    route: Route, q: Array, first: Array | None, clearance: Clearance | None, end: float
) -> tuple[list[Array], list[PathFailure], int]:
    """The ways between configurations, or straight ones where none was found, which fail, and the first such pose."""
    ends = q if first is None else np.concatenate([first[None], q])
    shift = len(ends) - len(q)
    legs, failures = [], []
    for k in range(len(ends) - 1):
        way: Array | None = ends[k : k + 2]
        if clearance is not None:
            until = min(end, perf_counter() + _SECONDS)
            way = connect(clearance, ends[k], ends[k + 1], route.moved, seed=(route.seed + k) % 2**62, end=until)
        if way is None:
            way = ends[k : k + 2]
            reason = "no way to it was found that keeps its distance from the obstacles."
            failures.append(PathFailure(k + 1 - shift, PathStatus.COLLISION, reason))
        legs.append(way)
    if not legs:
        legs = [ends]
    return legs, failures, failures[0].waypoint if failures else -1


def _rows(
    model: Model, legs: list[Array], step: float, speeds: Array, hardest: Array, begins: bool
) -> tuple[Array, npt.NDArray[np.int64], Array | None]:
    """(n, nq) all legs in steps of at most `step`, the rows where each ends, and (n,) the times [s]; None without."""
    timed = not (np.isinf(speeds).all() and np.isinf(hardest).all())
    rows, times, stations = [legs[0][:1]], [np.zeros(1)], [0] if not begins else []
    count, now = 1, 0.0
    for leg in legs:
        if len(leg) > 1:
            parts = [leg[:1]]
            for a, b in pairwise(leg):
                pieces = max(1, int(np.ceil(np.abs(model.difference(a, b)).max(initial=0.0) / step)))
                parts.append(model.interpolate(a, b, np.arange(1, pieces) / pieces))
                parts.append(b[None])
            dense = np.concatenate(parts)
            rows.append(dense[1:])
            if timed:
                when = least_schedule(model, dense, speeds, hardest)
                times.append(now + when[1:])
                now += float(when[-1])
            count += len(dense) - 1
            stations.append(count - 1)
    q = np.concatenate(rows)
    return q, np.array(stations, dtype=np.int64), np.concatenate(times) if timed else None
