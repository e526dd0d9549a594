"""plan: configurations for a few poses, near each other, and a free joint path from each to the next."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import prod
from time import perf_counter
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import positive, whole
from poise.common.errors import InvalidType, InvalidValue
from poise.kernels.machine.layout import CLOSED
from poise.model.model import Model
from poise.solving.arguments.arguments import Tasks
from poise.solving.arguments.moving import JointsLike, moving
from poise.solving.path.clock import Clock
from poise.solving.path.connect import WORK, connect
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.jumps import FACTOR, LEAST
from poise.solving.path.limits import PathLimits
from poise.solving.path.path import JointPath, PathFailure
from poise.solving.path.path_rows import PathRows
from poise.solving.path.route import Route
from poise.solving.path.smoothing import Smoother
from poise.solving.path.solve import SPENT
from poise.solving.path.stops import Stops, candidates, gathered, stops_of, with_nearest_turns
from poise.solving.path.timing import timed
from poise.solving.path.waypoints import start_of, waypoints
from poise.solving.path.ways import in_steps, length
from poise.solving.problem.problem import velocity_names
from poise.solving.requirements.limits import LimitsLike
from poise.solving.requirements.status import Status

_ITERATIONS: Final = 40
"""Of the configurations' way to each other."""
_TRIES: Final = 6
"""Choices of configurations that are tried, where no way is found between two of them."""
_SECONDS: Final = 10.0
"""What the search for free ways takes at most, for each of them, where nothing else is said [s]."""
_WORK: Final = (WORK, 5 * WORK)
"""Steps of work that each way gets, first with one choice after the other; where none has a way, so many once more."""
_MORE, _WORTH = 1, 0.85
"""Choices that are tried beyond the first that has a way, if their straight ways are shorter than it by this factor."""
_MEASURED: Final = 0.1
"""Steps in which a way is timed to compare it with others [rad or m]."""
_STRAIGHT: Final = 1.001
"""A way that is no longer than the straight one by this factor is as short as can be."""
_SHORTER: Final = "max_time was spent before all was tried: with more of it a shorter way may be found."
_MOST_ROWS: Final = 10_000_000
"""Of a path, at most: of seven joints they take half a gigabyte."""
Measure: TypeAlias = Callable[[Array], float]
"""Of the corners (k, nq) of a way: how long it takes, or without limits of speeds its length."""


def plan(
    model: Model,
    tasks: Tasks,
    poses: Any,
    *,
    q0: ArrayLike | None = None,
    limits: LimitsLike = True,
    use: JointsLike | None = None,
    still: JointsLike | None = None,
    joint_costs: Mapping[str, float] | None = None,
    straight: Sequence[int] = (),
    alternatives: Sequence[int] | None = None,
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
    at the first pose.  The poses whose numbers are in `straight` are reached in a straight line of the targets from the
    one before, or from where q0 has the frame, such as to grasp and to lift: nothing goes round what is in its way.
    Of a PostureTask a joint that turns without end goes to the nearest turn of its target, and not back over turns.
    With `alternatives` a stop is any of several poses: [8, 1] are eight to grasp at, and then one to place at.  They
    add up to all poses, `chosen` of the path says which were taken, and what else names a pose names the stop.
    Of several such ways the shortest is taken, in time where speeds are limited, but by `joint_costs` where these are
    given, as for `solve`.  Their work is counted, and `max_time` seconds, roughly, and by default 10 for each way, end
    it sooner, as `notes` then say; so more time is never worse.  Where q0, or all that was found for a pose, is too
    near to something, there is no search, and that is said at once.

    `stations` of the path are the rows of the poses, at which it rests where accelerations are limited; see
    `solve_path` for the other arguments and for what is raised; ValueError also for a `q0` outside the limits, and
    for poses so far apart that there would be more than ten million rows.
    """
    began = perf_counter()
    positive("step", step)
    model = moving(model, use, still, joint_costs)
    path_limits = PathLimits.of(model, limits, velocity, acceleration)
    with waypoints(model, tasks, poses, path_limits, seed=seed, threads=threads, seconds=max_time) as asked:
        route, feasibility = asked[0], asked[1].with_balls(model, path_limits)
        stops = stops_of(len(route), alternatives)
        if max_time is None:
            route.clock = Clock(_SECONDS * len(stops))
        if not isinstance(straight, Iterable):
            raise InvalidType(
                "not-a-sequence", f"straight is {straight!r}; it must be a list of numbers of poses, such as [1, 2]"
            )
        for k in straight:
            whole("straight", k, 1 if q0 is None else 0)
            if k >= len(stops):
                raise InvalidValue(
                    "out-of-range", f"straight names the pose {k}, and there are {len(stops)}: the first is 0"
                )
        start = start_of(route, q0)
        first = None if q0 is None else start
        route = with_nearest_turns(route, stops, first, path_limits.rows)
        stopping, failures = gathered(*candidates(route, start, feasibility), stops)
        if first is not None and feasibility(first[None])[0] < 0.0:
            status, words = feasibility.words(first)
            failures.insert(0, PathFailure(0, status, "the path cannot begin at q0, where " + words))
        if (
            first is not None
            and feasibility.loops is not None
            and (gap := float(feasibility.loops.gaps(first[None])[0])) > CLOSED
        ):
            reason = f"the path cannot begin at q0, where the loops are open by {gap:.3g} m or rad: close them first."
            failures.insert(0, PathFailure(0, Status.LIMIT, reason))
        late = False
        if failures:
            chosen, numbers = _chosen(route, stopping, start, first, set())
            legs, taken = _straight(chosen, first), stopping.poses(numbers)
            _refuse_long(model, legs, step)
            failures += _unsearched(legs, failures, feasibility, begins=first is not None)
        else:
            legs, failures, taken = _legs(
                route, stopping, start, first, feasibility, straight, _measure(model, path_limits), step
            )
            late = route.clock.late
        route = route.only(np.array(taken))
        rows, stations = _rows(model, legs, step, first is not None)
        failures += [] if failures else route.missed(rows[stations])
        notes = [SPENT] if failures and route.clock.late else [_SHORTER] if late else []
        rests = np.zeros(len(rows), dtype=np.bool_)
        rests[stations] = True
        return PathRows(route, feasibility, path_limits, began).path(
            rows, stations, rests, failures=failures, notes=notes, chosen=taken
        )


def _legs(
    route: Route,
    stopping: Stops,
    start: Array,
    first: Array | None,
    feasibility: PathFeasibility,
    straight: Sequence[int],
    measure: Measure,
    step: float,
) -> tuple[list[Array], list[PathFailure], list[int]]:
    """The corners (k, nq) of the way to each stop, from the one before it, what cannot be gone, and the poses.

    Where a choice of configurations lets it go, others are tried whose straight ways are shorter than its ways.
    """
    best, least, shift = None, np.inf, 1 if first is None else 0
    tries = min(_TRIES, prod(map(len, stopping.found)))
    for most in _WORK:
        banned, tried, more = set[tuple[int, int]](), list[list[int]](), 0
        while len(tried) < tries and more <= _MORE:
            chosen, numbers = _chosen(route, stopping, start, first, banned)
            taken = stopping.poses(numbers)
            met = route.only(np.array(taken))
            chosen = _together(met, chosen, first, feasibility)
            direct = _straight(chosen, first)
            _refuse_long(route.model, direct, step)
            bounds = [measure(leg) for leg in direct]
            if numbers in tried or sum(bounds) > _WORTH * least:
                break
            tried.append(numbers)
            between = feasibility.with_constraints(*met.ranges())
            legs, blocked = _connected(met, chosen, first, feasibility, between, straight, most, measure)
            sizes = [measure(leg) for leg in legs]
            if best is None or (len(blocked), sum(sizes)) < (len(best[1]), least):
                best, least = (legs, blocked, taken), np.inf if blocked else sum(sizes)
            if route.clock.late or (not blocked and sum(sizes) <= _STRAIGHT * sum(bounds)):
                return best
            more += not best[1]
            longest = int(np.argmax(np.subtract(sizes, bounds))) + shift
            wrong = blocked[0].waypoint if blocked else longest
            while wrong in straight and wrong > 0:
                wrong -= 1  # where a line ends is a matter of where it began
            others = stopping.abandoned(wrong, numbers[wrong]) if blocked else [numbers[wrong]]
            banned |= {(wrong, number) for number in others}
        if best is not None and not best[1]:
            break
    assert best is not None
    return best


def _measure(model: Model, path_limits: PathLimits) -> Measure:
    """What a way is measured by: jerks and torques, which take long to keep, have no say."""
    rates = path_limits.rates._replace(jerk=np.full(model.nv, np.inf), torques=())
    bends = rates.smooth or bool(rates.tools)

    def duration(way: Array) -> float:
        if len(way) < 2:
            return 0.0
        if not bends:
            return float(rates.on_steps(model, way).sum())
        rows = np.concatenate([way[:1], in_steps(model, way, _MEASURED)])
        rests = np.isin(np.arange(len(rows)), (0, len(rows) - 1))
        return timed(model, rows, rates, rests, Clock(None), PathFeasibility(()), within_limits=path_limits.positions)[
            1
        ].duration

    return duration if rates.timed and not model.joint_costs else partial(length, model)


def _chosen(
    route: Route, stopping: Stops, start: Array, first: Array | None, banned: set[tuple[int, int]]
) -> tuple[Array, list[int]]:
    """(n, nq) one configuration of each stop, and which; the way from `first` counts too."""
    found = stopping.found
    sets = found if first is None else [first[None], *found]
    m = max(map(len, sets))
    if m == 1:
        return np.concatenate(found), [0] * len(found)
    q, price = np.zeros((len(sets), m, route.model.nq)), np.full((len(sets), m), np.inf)
    shift = len(sets) - len(found)
    for k, some in enumerate(sets):
        q[k, : len(some)], price[k, : len(some)] = some, 0.0
        if route.soft is not None and k >= shift:
            price[k, : len(some)] = route.soft.at(stopping.of[k - shift]).cost(some)
        q[k, len(some) :] = some[0]
    price[0] += route.start_cost(q[0], start)
    for k, i in banned:
        price[k + shift, i] = 1e6
    numbers = route.sequence(q, price, np.inf, closed=False)
    return q[np.arange(len(sets)), numbers][shift:], [int(i) for i in numbers[shift:]]


def _together(route: Route, q: Array, first: Array | None, feasibility: PathFeasibility) -> Array:
    """The configurations moved nearer to each other, where all poses are met; `first` stays."""
    if route.free_of_tasks:
        return q
    if first is not None:
        route = route.beginning_at(first)
        q = np.concatenate([first[None], q])
    if len(q) < 2 or route.rows(q)[2].max() > 1.0:
        return q if first is None else q[1:]
    cap = np.full(len(route.active), np.inf)
    moved = Smoother(route, feasibility, first is not None, False, cap).shorten(q, _ITERATIONS)
    met = route.projected(moved, feasibility)
    return met if first is None else met[1:]


def _straight(q: Array, first: Array | None) -> list[Array]:
    """The two ends (2, nq) of each way, or the one configuration (1, nq) where there is no way."""
    ends = q if first is None else np.concatenate([first[None], q])
    return [ends[k : k + 2] for k in range(len(ends) - 1)] or [ends]


def _refuse_long(model: Model, legs: list[Array], step: float) -> None:
    """Raises ValueError where straight ways have more rows than can be kept."""
    moves = model.difference(np.array([leg[0] for leg in legs]), np.array([leg[-1] for leg in legs]))
    rows = float(np.abs(moves).max(axis=1, initial=0.0).sum()) / step
    if rows > _MOST_ROWS:
        v = int(np.abs(moves).max(axis=0).argmax())
        raise InvalidValue(
            "too-many",
            f"the poses are {np.abs(moves[:, v]).max():.3g} rad or m apart in {velocity_names(model)[v]}, which makes "
            f"{rows:,.0f} rows in steps of {step:g}, more than the {_MOST_ROWS:,} that are allowed: give poses nearer "
            "to each other and to q0, or a longer step",
        )


def _unsearched(
    legs: list[Array], failures: list[PathFailure], feasibility: PathFeasibility, *, begins: bool
) -> list[PathFailure]:
    """What is in the straight ways to poses that do not fail themselves, where none around it was looked for."""
    if not feasibility or len(legs[0]) < 2:
        return []
    failed, shift, out = {failure.waypoint for failure in failures}, 0 if begins else 1, []
    for k, (one, other) in enumerate(legs):
        if k + shift not in failed and feasibility.on_way(one, other) < 0.0:
            status, words = feasibility.on_step(one, other)
            reason = f"on the straight way to it {words}; one around was not looked for."
            out.append(PathFailure(k + shift, status, reason))
    return out


def _connected(
    route: Route,
    q: Array,
    first: Array | None,
    feasibility: PathFeasibility,
    between: PathFeasibility,
    straight: Sequence[int],
    most: int,
    measure: Measure,
) -> tuple[list[Array], list[PathFailure]]:
    """The ways between configurations, or straight ones where none was found, which fail.

    What must hold `between` them does so on a straight line of the targets by their tasks.
    """
    legs, failures = _straight(q, first), list[PathFailure]()
    if len(legs[0]) < 2:
        return legs, failures
    shift = 1 if first is None else 0
    begun = route if first is None else route.beginning_at(first)
    for k, (_, other) in enumerate(legs):
        one = legs[k - 1][-1] if k else legs[0][0]
        legs[k] = np.stack([one, other])
        if k + shift in straight:
            line, wrong = _line(begun, k, one, feasibility)
            legs[k] = legs[k] if line is None else line
            if wrong is not None:
                failures.append(PathFailure(k + shift, *wrong))
            continue
        if not between and between.loops is None:
            continue
        way = connect(
            route.model, between, one, other, route.moved, seed=(route.seed + k) % 2**62, clock=route.clock, most=most,
            measure=measure,
        )  # fmt: skip
        if way is None:
            failures.append(PathFailure(k + shift, *between.no_way(one, other)))
        else:
            legs[k] = way
    return legs, failures


def _line(
    route: Route, k: int, q: Array, feasibility: PathFeasibility
) -> tuple[Array | None, tuple[Status, str] | None]:
    """(m, nq) the straight line from q (nq,) at one waypoint of a route to the next, None where there is none, and what
    is wrong with it."""
    line = route.straight_line(k, q)
    if line is None:
        reason = "it is not reached in a straight line from the configurations that were tried before it."
        return None, (Status.LOCAL_MINIMUM, reason)
    sizes = np.abs(route.steps(line)).max(axis=1)
    if sizes.max() > max(LEAST, FACTOR * float(np.median(sizes))):
        reason = f"on the straight line to it a joint would have to change by {sizes.max():.3g} at once."
        return line, (Status.JUMP, reason)
    for t in np.flatnonzero(feasibility.on_steps(line) < 0.0):
        status, words = feasibility.on_step(line[t], line[t + 1])
        return line, (status, f"on the straight line to it {words}.")
    return line, None


def _rows(model: Model, legs: list[Array], step: float, begins: bool) -> tuple[Array, npt.NDArray[np.int64]]:
    """(n, nq) all legs in steps of at most `step`, and the rows where each ends."""
    rows, stations = [legs[0][:1]], [0] if not begins else []
    count = 1
    for leg in legs:
        rows.append(in_steps(model, leg, step))
        count += len(rows[-1])
        if len(leg) > 1:
            stations.append(count - 1)
    return np.concatenate(rows), np.array(stations, dtype=np.int64)
