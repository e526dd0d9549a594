"""plan: configurations for a few poses, near each other, and a free joint path from each to the next."""

from collections.abc import Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.layout import WIDTH
from poise.methods.checks import positive
from poise.model.model import Model
from poise.solving.arguments import Tasks, cores, one_start, whole
from poise.solving.inequalities import Constraint
from poise.solving.path.candidates import distinct
from poise.solving.path.clearance import Clearance
from poise.solving.path.connect import connect
from poise.solving.path.limits import PathLimits
from poise.solving.path.path import JointPath, PathFailure, PathStatus
from poise.solving.path.route import Route
from poise.solving.path.smoothing import Smoother
from poise.solving.path.solve import path_of
from poise.solving.path.timing import least_schedule
from poise.solving.problem import refuse_ball_limits
from poise.solving.suspicion import ask_for_degrees_in
from poise.spatial import Array, ArrayLike

_STARTS: Final = 8 * WIDTH
"""Starts at each pose."""
_ITERATIONS: Final = 40
"""Of the configurations' way to each other."""
_TRIES: Final = 6
"""Choices of configurations that are tried, where no way is found between two of them."""
_SECONDS: Final = 10.0
"""What the search for free ways takes at most, for each of them, where nothing else is said [s]."""
_SHARE: Final = 0.5
"""Of that, what one choice of configurations gets."""
_ROUNDING: Final = 1e-9
"""How far q0 may be outside a limit [rad or m]."""


def plan(
    model: Model,
    tasks: Tasks,
    poses: Any,
    *,
    q0: ArrayLike | None = None,
    limits: bool | Sequence[Constraint] = True,
    step: float = 0.05,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    max_time: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> JointPath:
    """A joint path through a few `poses`, such as those of pick and place: between them the frame may go as it likes.

    Configurations of all poses are chosen so that they are near each other, by the sum of the squares of the joints'
    ways: the best of what many starts and a closed form give, then moved together on their self-motions.  From each to
    the next the joints go straight, in steps of at most `step` [rad or m], or, with
    `limits=[CollisionLimit(world, ...)]`, around what is in the way.  With `q0` (nq,) the path begins there, and else
    at the first pose.  The search for free ways takes at most `max_time` seconds, roughly, and by default 10 for each;
    where q0, or all that was found for a pose, is too near to something, there is none, and that is said at once.

    `stations` of the path are the rows of the poses, at which it rests where accelerations are limited; see
    `solve_path` for the other arguments and for what is raised; ValueError also for a `q0` outside the limits.
    """
    with Clearance.lent(model, PathLimits.of(model, limits, velocity, acceleration).apart) as clearance:
        return planned(
            model, tasks, poses, q0=q0, limits=limits, step=step, velocity=velocity, acceleration=acceleration,
            max_time=max_time, seed=seed, threads=threads, clearance=clearance,
        )  # fmt: skip


def planned(
    model: Model,
    tasks: Tasks,
    poses: Any,
    *,
    q0: ArrayLike | None,
    limits: bool | Sequence[Constraint],
    step: float,
    velocity: ArrayLike | None,
    acceleration: ArrayLike | None,
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
    kept = PathLimits.of(model, limits, velocity, acceleration)
    if kept.positions:
        refuse_ball_limits(model, "plan")
    speeds, hardest = kept.velocity, kept.acceleration
    route = Route(model, tasks, poses, limits=kept.positions, seed=seed, threads=threads)
    start = np.array(model.home if q0 is None else one_start(model, q0))
    start = model.normalize(start)
    if q0 is not None:
        ask_for_degrees_in(model, start, "q0")
        _refuse_outside(route, start)
    start = np.clip(start, route.lower, route.upper)
    first = None if q0 is None else start
    found, failures = _candidates(route, start, clearance)
    if clearance is not None and first is not None and float(clearance(first[None])[0]) < 0.0:
        reason = "the path cannot begin at q0, where " + clearance.words(first)
        failures.insert(0, PathFailure(0, PathStatus.COLLISION, reason))
    if failures:
        chosen, _ = _chosen(route, found, start, first, set())
        legs = _straight(chosen, first)
    else:
        seconds = _SECONDS * len(route) if max_time is None else max_time
        legs, failures = _legs(route, found, start, first, clearance, seconds, began + seconds)
    rows, stations, times = _rows(model, legs, step, speeds, hardest, first is not None)
    failures.sort(key=lambda failure: failure.waypoint)
    return path_of(route, rows, stations, times, failures, speeds, clearance, perf_counter() - began)


def _refuse_outside(route: Route, q0: Array) -> None:
    """Raises ValueError if q0 (nq,) is outside a limit."""
    outside = (q0 < route.lower - _ROUNDING) | (q0 > route.upper + _ROUNDING)
    for i in np.flatnonzero(outside):
        raise ValueError(
            f"q0 is {q0[i]:.6g} at {route.model.coordinates[i]!r}, outside its limits {route.lower[i]:.6g} to "
            f"{route.upper[i]:.6g}: a path cannot begin there; move it inside, or leave q0 out"
        )


def _candidates(route: Route, start: Array, clearance: Clearance | None) -> tuple[list[Array], list[PathFailure]]:
    """Configurations (k, nq) of each pose, the nearest to it where there is none that meets it, and why."""
    found: list[Array] = []
    failures: list[PathFailure] = []
    for k in range(len(route)):
        spread = route.model.sample(_STARTS, seed=(route.seed + k) % 2**62)
        spread[:, ~route.moved] = start[~route.moved]
        near = found[-1] if found else start[None]
        some = np.concatenate(
            [route.solutions(k, np.concatenate([start[None], near, spread])), route.branches(k, start)]
        )
        met = len(some) > 0
        if not met:
            answer = route.solve(k, start)
            some, met = answer.q[None].copy(), answer.success
            if not met:
                failures.append(PathFailure(k, PathStatus.NOT_REACHED, answer.explain()))
        if clearance is not None and met:
            room = clearance(some)
            if room.max() < 0.0:
                some = some[[int(room.argmax())]]
                reason = "no configuration that was found for it is free: at the one that is least inside "
                failures.append(PathFailure(k, PathStatus.COLLISION, reason + clearance.words(some[0])))
            else:
                some = some[room >= 0.0]
        found.append(distinct(some))
    return found, failures


def _legs(
    route: Route,
    found: list[Array],
    start: Array,
    first: Array | None,
    clearance: Clearance | None,
    seconds: float,
    end: float,
) -> tuple[list[Array], list[PathFailure]]:
    """The corners (k, nq) of the way to each pose, from the one before it, and what cannot be gone.

    For `seconds` in all, until the time `end` [s] of `perf_counter`.
    """
    best: tuple[list[Array], list[PathFailure]] | None = None
    banned: set[tuple[int, int]] = set()
    for _ in range(_TRIES):
        chosen, numbers = _chosen(route, found, start, first, banned)
        chosen = _together(route, chosen, first, clearance, end)
        legs, blocked = _connected(route, chosen, first, clearance, _SHARE * seconds / len(route), end)
        if best is None or len(blocked) < len(best[1]):
            best = legs, blocked
        if not blocked or perf_counter() > end:
            break
        wrong = blocked[0].waypoint
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


def _straight(q: Array, first: Array | None) -> list[Array]:
    """The two ends (2, nq) of each way, or the one configuration (1, nq) where there is no way."""
    ends = q if first is None else np.concatenate([first[None], q])
    return [ends[k : k + 2] for k in range(len(ends) - 1)] or [ends]


def _connected(
    route: Route, q: Array, first: Array | None, clearance: Clearance | None, seconds: float, end: float
) -> tuple[list[Array], list[PathFailure]]:
    """The ways between configurations, each in `seconds`, or straight ones where none was found, which fail."""
    legs, failures = _straight(q, first), list[PathFailure]()
    if clearance is None or len(legs[0]) < 2:
        return legs, failures
    shift = 1 if first is None else 0
    for k, (one, other) in enumerate(legs):
        until = min(end, perf_counter() + seconds)
        way = connect(clearance, one, other, route.moved, seed=(route.seed + k) % 2**62, end=until)
        if way is None:
            reason = "no way to it was found that keeps its distance from the obstacles."
            failures.append(PathFailure(k + shift, PathStatus.COLLISION, reason))
        else:
            legs[k] = way
    return legs, failures


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
