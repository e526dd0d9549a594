"""solve_path: candidates for each waypoint, the best sequence through them, all of it made shorter, and its times."""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import positive, whole, yes_or_no
from poise.common.errors import InvalidValue
from poise.model.model import Model
from poise.model.units import ask_for_degrees_in
from poise.solving.arguments.arguments import Tasks, one_start, several
from poise.solving.arguments.moving import JointsLike, moving
from poise.solving.arguments.unit_hints import pulled_in
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.fixed_times import Pace
from poise.solving.path.limits import PathLimits
from poise.solving.path.overloads import too_weak
from poise.solving.path.path import JointPath, PathFailure
from poise.solving.path.path_search import PathSearch
from poise.solving.path.reconfigurations import ReconfiguredPath
from poise.solving.path.rounded import rounded
from poise.solving.path.route import Route
from poise.solving.path.timing import timed
from poise.solving.path.tool_speed import led_frame, slower
from poise.solving.path.waypoints import waypoints
from poise.solving.problem.problem import velocity_names
from poise.solving.requirements.limits import LimitsLike
from poise.solving.requirements.status import Status

SPENT: Final = "max_time was spent before all was tried, so this proves little."


def solve_path(
    model: Model,
    tasks: Tasks,
    poses: Any,
    *,
    q0: ArrayLike | None = None,
    start: ArrayLike | None = None,
    limits: LimitsLike = True,
    use: JointsLike | None = None,
    still: JointsLike | None = None,
    joint_costs: Mapping[str, float] | None = None,
    closed: bool = False,
    dt: float | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    tool_speed: float | None = None,
    blend: float | None = None,
    max_jump: float | None = None,
    reconfigurations: int = 0,
    optimise: bool = True,
    max_time: float | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> JointPath:
    """The joint path along n `poses`, with the redundancy resolved over the whole of it.

    `poses` are targets with a row a waypoint, as `solve_batch` takes them: of a PoseTask an SE3 of n, (n, 7) or
    (n, 4, 4) numbers; for several tasks a list with one such a task.  Strands are led along the path, eight side by
    side, from many solutions of its first waypoint and of those where others end; the best sequence through them is
    found by dynamic programming, and all its configurations are then moved together, on the solutions of their
    waypoints and within the limits, until the sum of the squares of all steps falls no more; `optimise=False` leaves
    that out.  After `max_time` seconds, roughly, it is what was found by then: it is made no shorter, and waypoints for
    which nothing was found fail as BUDGET.

    `joint_costs` say what motion of a joint costs, as for `solve`: the sum is of the squares of cost times step.

    A robot that stands at q is given as `start` (nq,): the path begins there exactly, and fails, in words, if that does
    not meet the first pose.  `q0` (nq,) is a wish: the path begins there if it meets the first pose, and else it is
    where the search begins, as the model's home is by default, and `JointPath.notes` tell of it.  Joints that do not
    move the tasks stay as in either, and so do those that `use` and `still` do not let move, as for `solve`.  Where
    nothing must be met, `q0` meets the first pose if all tasks do, and `start` may be anywhere.  With `closed` the last
    configuration is the first, and the last pose must be too.

    `velocity` and `acceleration`, each a number or (nv,) [rad/s or m/s, and per s], are limits of speeds, the model's
    own by default, and of accelerations, none by default.  With `dt` [s] the waypoints are passed at these intervals,
    and what is too fast is a failure; without, the times are the least that keep the limits, from rest to rest where
    there are accelerations or torques.  A step of a joint by more than `max_jump` [rad or m] is a jump; by default, one
    that `jumps` finds.

    At a `tool_speed` [m/s] the frame of the PoseTask or PositionTask goes at that speed, to a thousandth, wherever
    limits let it, and is nowhere faster; with accelerations it starts and stops on ramps.  `JointPath.notes` say where
    it is slower.  With a `blend` [m] the poses are corners of a polyline: the frame goes straight from each to the
    next, and passes each but the first and the last within `blend`, on a curve without a corner.  The waypoints of the
    path are then rows of that way, 0.01 m and 0.05 rad apart at most.

    Where no sequence goes without a jump, the arm may leave the path and be reconfigured, `reconfigurations` times at
    most: the path then comes in pieces, each of which keeps what a whole path keeps, with the fewest cuts that were
    found, `JointPath.reconfigurations` (Wang, Sifferman and Gleicher 2024, arXiv:2402.16154).  The arm goes from one to
    the next in further rows, in steps of 0.05 rad or m, the straight way of the joints or around what must not be
    touched, from rest to rest where accelerations are limited.  With `dt` that takes the least time that limits of
    speed let it.

    A list of `limits` adds to those of the joints.  With a CollisionLimit no shapes come too near at any waypoint, or
    on the straight way of the joints from each to the next.  A LinearLimit bounds sums of joints.  A VelocityLimit or
    an AccelerationLimit says what `velocity` and `acceleration` do, and the tighter holds.  A TwistLimit bounds the
    speed of a free base, a JerkLimit how fast accelerations change, a TorqueLimit what joints give.  `JointPath.at` is
    the motion between the rows, which keeps them too; with `dt` and accelerations, jerks or torques it goes smoothly
    through the rows, from rest to rest.

    Tasks of the first priority that are required must be met.  The others, `required=False` or of a later priority, and
    a PostureTask are come to at each waypoint as nearly as what comes before them leaves, from where the path is and
    without a jump; with them alone nothing must be met.  Where that cannot be followed, they are come to less near, or
    not at all.  A path that leads farther from a posture than its `tolerance` fails.  Loops of the model stay closed.

    At a waypoint that repeats the one before it the arm stands still, unless `dt` gives it time to move on or it cannot
    follow the path otherwise.

    Never an exception for a path that cannot be followed: see `JointPath.status` and `first_failure`.  The same seed
    gives the same path on any number of threads, unless `max_time` cuts it short.  Raises FrameNotFound, ShapeError,
    TypeError for what is no limit, and ValueError for numbers that are not finite and settings that make
    no sense, and for a `start` outside the limits.
    """
    began = perf_counter()
    for name, flag in (("closed", closed), ("optimise", optimise)):
        yes_or_no(name, flag)
    whole("reconfigurations", reconfigurations, 0)
    for name, value in (("dt", dt), ("max_jump", max_jump), ("tool_speed", tool_speed), ("blend", blend)):
        if value is not None:
            positive(name, value)
    model = moving(model, use, still, joint_costs)
    path_limits, tool = PathLimits.of(model, limits, velocity, acceleration), ""
    if dt is not None and (tool_speed is not None or blend is not None):
        raise InvalidValue(
            "conflict",
            "dt says when each of the poses is passed, and tool_speed and blend say otherwise: leave out dt, or both",
        )
    if tool_speed is not None:
        tool = led_frame(several(tasks))
        path_limits = path_limits.with_tool(tool, tool_speed)
    if blend is not None:
        poses = rounded(model, several(tasks), poses, blend)
    with waypoints(model, tasks, poses, path_limits, seed=seed, threads=threads, seconds=max_time) as found:
        route, feasibility = found
        if closed:
            _refuse_open(route)
        if reconfigurations:
            _refuse_pieces(closed=closed, timeless=dt is not None and not path_limits.rates.timed)
        first, fixed, notes, wrong = _beginning(route, q0, start, feasibility)
        pace = Pace(model, path_limits.rates, dt, max_jump, path_limits.positions)
        changing, every = route.changing(), np.ones(len(route), dtype=np.bool_)
        # Where a pose is said again, the arm stands still, unless only moving on leads to the end.
        for some in (every,) if dt is not None or changing.all() else (changing, every):
            search = PathSearch(
                route.only(some), first, feasibility, pace, fixed=fixed, closed=closed, optimise=optimise,
                reconfigurations=reconfigurations,
            )  # fmt: skip
            q, _, failures = search.followed()
            q, cuts = q[np.cumsum(some) - 1], [int(waypoint) for waypoint in np.flatnonzero(some)[search.cuts]]
            if not failures:
                break
        reconfigured = ReconfiguredPath(route, q, cuts, feasibility)
        failures += reconfigured.failures
        times, trajectory = None, None
        if dt is not None:
            times, trajectory = reconfigured.trajectory(pace, dt, feasibility, route.clock)
        elif path_limits.rates.timed:
            enforced = PathFeasibility(()) if failures else feasibility  # what failed is left as it is between its rows
            times, trajectory = timed(
                model, reconfigured.q, path_limits.rates, reconfigured.rests, route.clock, enforced,
                within_limits=path_limits.positions,
            )  # fmt: skip
        if trajectory is not None and times is not None and not failures:
            failures = too_weak(trajectory, path_limits.rates, times, reconfigured.stations)
        failures = sorted([*wrong, *failures], key=lambda failure: failure.waypoint)
        if notes and q0 is not None and not fixed:
            notes.append(_elsewhere(model, first, q[0]))
        notes += search.notes
        if tool_speed is not None and trajectory is not None and not failures:
            notes += slower(trajectory, tool, tool_speed)
        if not failures and route.soft is not None:
            notes += route.soft.notes(q)
        if failures and route.clock.late:
            notes.append(SPENT)
        return path_of(
            route, feasibility, reconfigured.q, stations=reconfigured.stations, times=times, trajectory=trajectory,
            failures=tuple(failures), notes=tuple(notes), velocity=path_limits.rates.velocity,
            seconds=perf_counter() - began, cuts=cuts,
        )  # fmt: skip


def _beginning(
    route: Route, q0: ArrayLike | None, start: ArrayLike | None, feasibility: PathFeasibility
) -> tuple[Array, bool, list[str], list[PathFailure]]:
    """(nq,) where the search begins, whether the path does, what is to be said of it, and why `start` is not met."""
    model = route.model
    if start is not None and q0 is not None:
        raise InvalidValue(
            "conflict", "give q0, from where the search begins, or start, where the path must begin: not both"
        )
    name, given = ("q0", q0) if start is None else ("start", start)
    as_given = np.array(model.home if given is None else one_start(model, given, name))
    ask_for_degrees_in(model, as_given, name)
    unit = model.normalize(as_given)
    if start is not None:
        route.refuse_outside(unit, name)
    first = route.clip(unit)
    if given is None:
        return first, False, [], []
    met, away = route.meets(first)
    notes = [pulled_in(model, as_given).strip()] if route.limits else []
    blocked = bool(feasibility(first[None])[0] < 0.0)
    if start is not None:
        wrong = []
        if not met and route.required_tasks:
            reason = f"the path must begin at start, which is {away} from the first pose: lead the arm there first."
            wrong.append(PathFailure(0, Status.LOCAL_MINIMUM, reason))
        elif blocked:
            status, words = feasibility.words(first)
            wrong.append(PathFailure(0, status, "the path must begin at start, where " + words))
        return first, met or not route.required_tasks, [note for note in notes if note], wrong
    if not met:
        notes.append(f"q0 does not meet the first pose, which is {away} away.")
    elif blocked:
        notes.append("q0 meets the first pose, but there " + feasibility.words(first)[1])
    return first, met and not blocked, [note for note in notes if note], []


def _elsewhere(model: Model, first: Array, q: Array) -> str:
    """That a path begins at q (nq,) and not at q0, and how far apart these are."""
    away = model.difference(first, q)
    j = int(np.abs(away).argmax())
    return (
        f"The path begins {away[j]:.3g} from it in {velocity_names(model)[j]}: lead the arm there first, or say where "
        "it stands by start=."
    )


def _refuse_pieces(*, closed: bool, timeless: bool) -> None:
    """Raises ValueError where a path cannot be cut."""
    if closed:
        raise InvalidValue(
            "conflict", "closed=True, and a path that is closed has no pieces: leave out closed, or reconfigurations"
        )
    if timeless:
        raise InvalidValue(
            "needs", "dt says when waypoints are passed, and nothing how fast the arm is reconfigured: give velocity="
        )


def _smallest(jacobians: Array) -> Array:
    """(n,) the smallest singular value of each of n Jacobians, of as many as any of them has; infinite without rows."""
    if not jacobians.shape[1]:
        return np.full(len(jacobians), np.inf)
    sigma = np.linalg.svd(jacobians, compute_uv=False)
    rank = int((sigma > 1e-9 * max(float(sigma.max(initial=0.0)), 1e-300)).sum(axis=1).max(initial=0))
    return np.array(sigma[:, rank - 1]) if rank else np.zeros(len(jacobians))


def path_of(
    route: Route, feasibility: PathFeasibility, q: Array, *, stations: npt.NDArray[np.int64], seconds: float,
    failures: tuple[PathFailure, ...], cuts: Sequence[int] = (), chosen: Sequence[int] | None = None, **made: Any,
) -> JointPath:  # fmt: skip
    """The path with all that is measured at its configurations; those of `stations` meet the waypoints of the route."""
    e, jacobians, scores = route.rows(q[stations])
    errors = route.errors(e, q[stations])
    return JointPath(
        model=route.model, tasks=route.tasks, q=q, reached=scores <= 1.0, position_errors=errors["m"],
        chosen=np.array(range(len(route)) if chosen is None else chosen, dtype=np.int64),
        rotation_errors=errors["rad"], clearances=feasibility.clearances(q),
        loops=None if failures else feasibility.loops, stations=np.array(stations),
        reconfigurations=np.array(cuts, dtype=np.int64), failures=failures, time=seconds,
        singular_values=_smallest(jacobians), **made,
    )  # fmt: skip


def _refuse_open(route: Route) -> None:
    """Raises ValueError unless the last waypoint's goal is the first's."""
    first, last = (route.goals[i].reshape(-1, 7) for i in (0, -1))
    for k, task in enumerate(route.required_tasks):
        turned = np.concatenate([last[k, :3], last[k, 3:] * np.sign(first[k, 3:] @ last[k, 3:] or 1.0)])
        offset = float(np.abs(first[k] - turned).max())
        if offset > 1e-6:
            raise InvalidValue(
                "inconsistent",
                f"closed=True, but the last target of {task.label} differs from the first by {offset:.3g}: repeat the "
                "first at the end",
            )
