"""solve_path: candidates for each waypoint, the best sequence through them, all of it made shorter, and its times."""

from collections.abc import Sequence
from time import perf_counter
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.checks import positive, whole
from poise.kernels.machine.layout import WIDTH
from poise.model.model import Model
from poise.solving.arguments import Tasks, cores, one_start
from poise.solving.inequalities import Constraint
from poise.solving.outcome import Status
from poise.solving.path.candidates import Candidates
from poise.solving.path.clearance import Clearance
from poise.solving.path.first import first_paths
from poise.solving.path.jumps import FACTOR, LEAST, around
from poise.solving.path.law import Law
from poise.solving.path.limits import PathLimits
from poise.solving.path.path import JointPath, PathFailure, PathStatus
from poise.solving.path.route import Route
from poise.solving.path.smoothing import Smoother
from poise.solving.path.timing import even, timed
from poise.solving.problem import refuse_ball_limits
from poise.solving.solution import Solution
from poise.solving.suspicion import ask_for_degrees_in, pulled_in
from poise.spatial import Array, ArrayLike

_STARTS: Final = 6 * WIDTH
"""Starts at a waypoint from which strands begin."""
_TRIED, _FEWEST, _WAYPOINTS = 8, 2, 1500
"""Strands that are made shorter before the best of them is made as short as can be: so many, but for long paths as many
as have so many waypoints together, and a few in any case."""
_TRIAL, _ITERATIONS = 3, 60
"""Iterations of a trial, and of the path that is kept."""
_PUSHED, _PUSHES = 8, 12
"""Strands that are pushed out of obstacles, at most, where none is free, and iterations of each."""
_FREED: Final = 2
"""So many that are free are enough."""
_APART: Final = 0.5
"""Strands are tried that differ by more than this from those tried before [rad or m]."""
_AT_LIMIT: Final = 1e-6
"""A joint this near to a limit [rad or m] stands at it."""
SPENT: Final = "max_time was spent before all was tried, so this proves little."
_SLACK: Final = 1.0 + 1e-9
"""Rounding that a speed or a step may be over its limit by."""


def solve_path(
    model: Model,
    tasks: Tasks,
    poses: Any,
    *,
    q0: ArrayLike | None = None,
    begin: ArrayLike | None = None,
    limits: bool | Sequence[Constraint] = True,
    closed: bool = False,
    dt: float | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    max_jump: float | None = None,
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
    which nothing was found fail as MAX_TIME.

    A robot that stands at q is given as `begin` (nq,): the path begins there exactly, and fails, in words, if that does
    not meet the first pose.  `q0` (nq,) is a wish: the path begins there if it meets the first pose, and else it is
    where the search begins, as the model's home is by default, and `JointPath.notes` tell of it.  Joints that do not
    move the tasks stay as in either.  With `closed` the last configuration is the first, and the last pose must be too.

    `velocity` and `acceleration`, each a number or (nv,) [rad/s or m/s, and per s], are limits of speeds, the model's
    own by default, and of accelerations, none by default.  With `dt` [s] the waypoints are passed at these intervals,
    and what is too fast is a failure; without, the times are the least that keep the limits, from rest to rest where
    there are accelerations.  A step of a joint by more than `max_jump` [rad or m] is a jump; by default, one that
    `jumps` finds.

    A list of `limits` adds to those of the joints.  With a CollisionLimit no shapes come too near at any waypoint, or
    on the straight way of the joints from each to the next.  A VelocityLimit or an AccelerationLimit says what
    `velocity` and `acceleration` do, and the tighter holds.  A JerkLimit bounds how fast accelerations change.  With
    `dt` there may be no accelerations and jerks.  `JointPath.at` is the motion between the rows, which keeps them too.

    At a waypoint that repeats the one before it the arm stands still, unless `dt` gives it time to move on or it cannot
    follow the path otherwise.

    Never an exception for a path that cannot be followed: see `JointPath.status` and `first_failure`.  The same seed
    gives the same path on any number of threads, unless `max_time` cuts it short.  Raises FrameNotFound, ShapeError,
    TypeError for limits that a path cannot keep, and ValueError for numbers that are not finite and settings that make
    no sense, and for a `begin` outside the limits.
    """
    with Clearance.lent(model, PathLimits.of(model, limits, velocity, acceleration).apart) as clearance:
        return followed(
            model, tasks, poses, q0=q0, begin=begin, limits=limits, closed=closed, dt=dt, velocity=velocity,
            acceleration=acceleration, max_jump=max_jump, optimise=optimise, max_time=max_time, seed=seed,
            threads=threads, clearance=clearance,
        )  # fmt: skip


def followed(
    model: Model,
    tasks: Tasks,
    poses: Any,
    *,
    q0: ArrayLike | None,
    begin: ArrayLike | None,
    limits: bool | Sequence[Constraint],
    closed: bool,
    dt: float | None,
    velocity: ArrayLike | None,
    acceleration: ArrayLike | None,
    max_jump: float | None,
    optimise: bool,
    max_time: float | None,
    seed: int,
    threads: int | None,
    clearance: Clearance | None,
) -> JointPath:
    """`solve_path`, free of what `clearance` measures."""
    began = perf_counter()
    for name, flag in (("closed", closed), ("optimise", optimise)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name} must be True or False, got {flag!r}")
    whole("seed", seed, 0)
    for name, value in (("dt", dt), ("max_jump", max_jump), ("max_time", max_time)):
        if value is not None:
            positive(name, value)
    if threads is None:
        threads = cores()
    whole("threads", threads, 1)
    kept = PathLimits.of(model, limits, velocity, acceleration)
    if clearance is not None and kept.positions:
        refuse_ball_limits(model, "a path beside a CollisionLimit")
    speeds = kept.velocity
    if dt is not None and kept.smooth:
        raise ValueError(
            f"dt is {dt!r}, and accelerations or jerks are limited, which a path in given times does not keep: leave "
            "dt out, and the times are the least that keep them, or leave these limits out"
        )
    route = Route(model, tasks, poses, limits=kept.positions, seed=seed, threads=threads, seconds=max_time)
    if closed:
        _refuse_open(route)
    start, fixed, notes, wrong = _beginning(route, q0, begin, clearance)
    cap = np.full(len(route.active), np.inf if max_jump is None else float(max_jump))
    if dt is not None:
        cap = np.minimum(cap, speeds[route.active] * dt)

    def run(some: Route) -> tuple[Array, npt.NDArray[np.bool_], list[PathFailure]]:
        made = _Run(some, start, clearance, cap, fixed=fixed, closed=closed, optimise=optimise)
        return made.followed(max_jump)

    changing = route.changing()
    if dt is None and not changing.all():
        # Where a pose is said again, the arm stands still, unless only moving on leads to the end.
        q, reached, failures = run(route.only(changing))
        place = np.cumsum(changing) - 1
        q, reached = q[place], reached[place]
    if dt is not None or changing.all() or failures:
        q, reached, failures = run(route)
    times, law = None, None
    if dt is not None:
        times = np.arange(len(q), dtype=np.float64) * dt
        law = even(model, q, times)
        failures += _too_fast(route, q, speeds, dt)
    elif kept.timed:
        rests = np.zeros(len(q), dtype=np.bool_)
        times, law = timed(model, q, kept, rests, route.clock, None if failures else clearance)
    failures = sorted([*wrong, *failures], key=lambda failure: failure.waypoint)
    if notes and q0 is not None and not fixed:
        notes.append(_elsewhere(model, start, q[0]))
    if failures and route.clock.late:
        notes.append(SPENT)
    return path_of(route, q, np.arange(len(q)), times, law, failures, notes, speeds, clearance, perf_counter() - began)


def _beginning(
    route: Route, q0: ArrayLike | None, begin: ArrayLike | None, clearance: Clearance | None
) -> tuple[Array, bool, list[str], list[PathFailure]]:
    """(nq,) where the search begins, whether the path does, what is to be said of it, and why `begin` is not met."""
    model = route.model
    if begin is not None and q0 is not None:
        raise ValueError("give q0, from where the search begins, or begin, where the path must begin: not both")
    name, given = ("q0", q0) if begin is None else ("begin", begin)
    stated = np.array(model.home if given is None else one_start(model, given, name))
    ask_for_degrees_in(model, stated, name)
    unit = model.normalize(stated)
    if begin is not None:
        route.refuse_outside(unit, name)
    start = route.kept(unit)
    if given is None:
        return start, False, [], []
    met, away = route.meets(start)
    blocked = clearance is not None and float(clearance(start[None])[0]) < 0.0
    if begin is not None:
        wrong = []
        if not met:
            reason = f"the path must begin at begin, which is {away} from the first pose: lead the arm there first."
            wrong.append(PathFailure(0, PathStatus.NOT_REACHED, reason))
        elif blocked and clearance is not None:
            reason = "the path must begin at begin, where " + clearance.words(start)
            wrong.append(PathFailure(0, PathStatus.COLLISION, reason))
        return start, met, [], wrong
    notes = [pulled_in(model, stated).strip()] if route.limits else []
    if not met:
        notes.append(f"q0 does not meet the first pose, which is {away} away.")
    elif blocked and clearance is not None:
        notes.append("q0 meets the first pose, but there " + clearance.words(start))
    return start, met and not blocked, [note for note in notes if note], []


def _elsewhere(model: Model, start: Array, q: Array) -> str:
    """That a path begins at q (nq,) and not at q0, and how far apart these are."""
    away = model.difference(start, q)
    j = int(np.abs(away).argmax())
    return (
        f"The path begins {away[j]:.3g} from it in {_velocity_names(model)[j]}: lead the arm there first, or say where "
        "it stands by begin=."
    )


def _smallest(jacobians: Array) -> Array:
    """(n,) the smallest singular value of each of n Jacobians, of as many as any of them has."""
    sigma = np.linalg.svd(jacobians, compute_uv=False)
    rank = int((sigma > 1e-9 * max(float(sigma.max(initial=0.0)), 1e-300)).sum(axis=1).max(initial=0))
    return np.array(sigma[:, rank - 1]) if rank else np.zeros(len(jacobians))


def path_of(
    route: Route,
    q: Array,
    stations: npt.NDArray[np.int64],
    times: Array | None,
    law: Law | None,
    failures: Sequence[PathFailure],
    notes: Sequence[str],
    speeds: Array,
    clearance: Clearance | None,
    seconds: float,
) -> JointPath:
    """The path with all that is measured at its configurations; those of `stations` meet the waypoints of the route."""
    e, jacobians, scores = route.rows(q[stations])
    errors = route.errors(e)
    return JointPath(
        model=route.model, tasks=route.tasks, q=q, times=times, law=law, reached=scores <= 1.0,
        position_errors=errors["m"], rotation_errors=errors["rad"],
        clearances=None if clearance is None else clearance(q) + clearance.least, failures=tuple(failures),
        notes=tuple(notes), stations=np.array(stations), time=seconds, velocity=speeds,
        singular_values=_smallest(jacobians),
    )  # fmt: skip


@final
class _Run:
    """One call of `solve_path`."""

    def __init__(
        self, route: Route, start: Array, clearance: Clearance | None, cap: Array, *, fixed: bool, closed: bool,
        optimise: bool,
    ) -> None:  # fmt: skip
        """`cap` (active velocities,) is what each may change by in a step [rad or m]."""
        self.route, self.clearance, self.closed, self.cap = route, clearance, closed, cap
        self.optimise = optimise
        self.candidates = Candidates(route, start, clearance, cap, fixed=fixed, closed=closed)
        self.smoother = Smoother(route, clearance, fixed, closed, cap)
        self.freed: list[Array] = []
        """Paths that were pushed out of obstacles."""

    def followed(self, max_jump: float | None) -> tuple[Array, npt.NDArray[np.bool_], list[PathFailure]]:
        """(n, nq) the path, (n,) which waypoints it meets, and what of it cannot be followed."""
        if not self.optimise:
            reached = np.ones(len(self.route), dtype=np.bool_)
            for q in first_paths(self.candidates):
                if not self.failures(q, reached, max_jump):
                    return q, reached, []
        q, reached = self.found()
        return q, reached, self.failures(q, reached, max_jump)

    def found(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        """(n, nq) the path, and (n,) which waypoints it meets."""
        candidates = self.candidates
        candidates.gather(_STARTS)
        if not len(candidates.q):
            return np.tile(candidates.q0, (len(self.route), 1)), np.zeros(len(self.route), dtype=np.bool_)
        q, reached = self._freed(*self._best())
        if not reached.all() and candidates.search_alone():
            q, reached = self._freed(*self._best())
        if not self.optimise or not reached.all() or len(q) < 2:
            return q, reached
        return self._shortest(q), reached

    def _freed(self, q: Array, reached: npt.NDArray[np.bool_]) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The path, or what comes of pushing others out of obstacles, where some of its waypoints are missed or its
        joints jump, and those have less of it."""
        if len(q) > 1 and self.clearance is not None and (not reached.all() or self._jumps(q)):
            self.freed = self._pushed()
            if self.freed and (not reached.all() or self._jumps(self.freed[0]) < self._jumps(q)):
                return self.freed[0], np.ones(len(q), dtype=np.bool_)
        return q, reached

    def _pushed(self) -> list[Array]:
        """Paths of strands that meet all waypoints, pushed out of the obstacles; those with the fewest jumps first."""
        candidates, out, good = self.candidates, list[Array](), 0
        tried: list[Array] = []
        for k in candidates.blocked():
            one = self._closing(candidates.q[k].copy())
            if candidates.fixed and not (one[0] == candidates.q0).all():
                continue
            if len(tried) == _PUSHED or self.route.clock.late:
                break
            # What is a little beyond its cap may come within it.
            far = np.abs(self.route.steps(one)).max(initial=0.0) > candidates.jump
            if far or any(np.abs(one - other).max() <= _APART for other in tried):
                continue
            tried.append(one)
            free = self.smoother.shorten(one, _PUSHES, until_free=True)
            if self.smoother.free(free):
                out.append(free)
                good += self._jumps(free) == 0
                if good == (_FREED if self.optimise else 1):
                    break
        return sorted(out, key=self._jumps)

    def _best(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The best strand that meets all waypoints without a jump, or else the best sequence through all strands."""
        whole_ones = self._ranked()
        if len(whole_ones):
            return self._closing(self.candidates.q[whole_ones[0]].copy()), np.ones(len(self.route), dtype=np.bool_)
        q, reached = self.candidates.sequence()
        return self._closing(q), reached

    def _ranked(self) -> npt.NDArray[np.intp]:
        """The strands that meet all waypoints without a jump, the shortest first."""
        candidates, ones = self.candidates, self.candidates.complete()
        if candidates.fixed:
            ones = ones[(candidates.q[ones, 0] == candidates.q0).all(axis=1)]
        if not len(ones) or len(self.route) < 2:
            return ones
        steps = self.route.model.difference(candidates.q[ones, :-1], candidates.q[ones, 1:])[..., self.route.active]
        costs = (steps**2).sum(axis=(1, 2)) + self.route.leaning(candidates.q[ones, 0], candidates.q0)
        if self.closed:
            gaps = self.route.model.difference(candidates.q[ones, -1], candidates.q[ones, 0])
            costs += (gaps**2).sum(axis=1)
        smooth = (np.abs(steps).max(axis=(1, 2), initial=0.0) <= candidates.jump) & np.isfinite(costs)
        order = np.argsort(costs, kind="stable")
        return ones[order[smooth[order]]]

    def _closing(self, q: Array) -> Array:
        """The path, which ends where it began if that is asked for."""
        if self.closed:
            q[-1] = q[0]
        return q

    def _shortest(self, q: Array) -> Array:
        """What the path, or other strands, come to when they are made shorter; the best of it."""
        candidates, smoother = self.candidates, self.smoother
        tried: list[Array] = []
        many = max(_FEWEST, min(_TRIED, _WAYPOINTS // len(q)))
        others = [self._closing(candidates.q[k].copy()) for k in self._ranked()]
        sequence, met = candidates.sequence()
        if met.all():
            others.insert(0, self._closing(sequence))
        for one in [*others, *self.freed, q]:
            if len(tried) < many and all(np.abs(one - other).max() > _APART for other in tried):
                tried.append(one)
        trials = [smoother.shorten(one, _TRIAL) for one in tried]
        best = min(trials, key=lambda one: (self._jumps(one), smoother.cost(one) + self._leaning(one)))
        best = smoother.shorten(best, _ITERATIONS)
        return best if self._jumps(best) <= self._jumps(q) else q

    def _leaning(self, q: Array) -> float:
        return float(self.route.leaning(q[:1], self.candidates.q0)[0])

    def _jumps(self, q: Array) -> int:
        steps = np.abs(self.route.steps(q))
        return int(((steps > self.cap) | (steps > self.candidates.jump)).any(axis=1).sum())

    def failures(self, q: Array, reached: npt.NDArray[np.bool_], max_jump: float | None) -> list[PathFailure]:
        """What cannot be followed."""
        route = self.route
        out: list[PathFailure] = []
        for t in np.flatnonzero(~reached):
            solution = self.candidates.missed.get(int(t))
            if solution is None and not out and (int(t) in self.candidates.barren or not route.clock.late):
                solution = route.solve(int(t), q[t])
            out.append(self._missed(int(t), q[t], solution))
        sizes = np.abs(route.steps(q)).max(axis=1, initial=0.0)
        if max_jump is not None:
            jumping = sizes > max_jump * _SLACK
        else:
            jumping = (sizes > LEAST) & (sizes > FACTOR * around(sizes))
        both = reached[:-1] & reached[1:]
        if max_jump is None:
            # Near a singular pose steps grow, and yet a strand comes from one end to the other.
            for t in np.flatnonzero(jumping & both):
                jumping[t] = not route.continues(int(t), q[t], q[t + 1])
        out += [self._jumped(int(t), q, max_jump) for t in np.flatnonzero(jumping & both)]
        if self.clearance is not None and len(q) > 1:
            free = self.clearance.on_steps(q)
            out += [
                PathFailure(
                    int(t) + 1, PathStatus.COLLISION,
                    f"on the way from waypoint {t} shapes come {-free[t]:.3g} m nearer than asked.",
                )
                for t in np.flatnonzero((free < 0.0) & both & ~jumping)
            ]  # fmt: skip
        return out

    def _missed(self, t: int, q: Array, solution: Solution | None) -> PathFailure:
        unsure = solution is None or solution.success or solution.status is Status.MAX_TIME
        if self.route.clock.late and unsure and t not in self.candidates.barren:
            return PathFailure(t, PathStatus.MAX_TIME, "nothing was found for it in max_time.")
        if solution is not None and solution.success:
            if self.clearance is not None and float(self.clearance(q[None])[0]) < 0.0:
                reason = "no configuration that was found for it is free: at the one chosen "
                return PathFailure(t, PathStatus.COLLISION, reason + self.clearance.words(q))
            reason = "it can be reached, but by no way that was found from the others."
            return PathFailure(t, PathStatus.NOT_REACHED, reason)
        reason = "not reached either." if solution is None else solution.explain()
        return PathFailure(t, PathStatus.NOT_REACHED, reason)

    def _jumped(self, t: int, q: Array, max_jump: float | None) -> PathFailure:
        route = self.route
        change = np.zeros(route.model.nv)
        change[route.active] = route.steps(q[t : t + 2])[0]
        names = _velocity_names(route.model)
        j = int(np.abs(change).argmax())
        near = route.nearest(t + 1, q[t])
        held = [
            f"{name} ({word}, {limit:.4g})"
            for i, name in enumerate(route.model.coordinates)
            for word, limit in (("lower", route.lower[i]), ("upper", route.upper[i]))
            if abs(near[i] - limit) < _AT_LIMIT and route.moved[i]
        ]
        tail = f" At their limits, if they go on: {', '.join(held)}." if held else ""
        most = ""
        if max_jump is not None:
            most = f", and max_jump is {max_jump:.4g}: put waypoints between these two, or allow more"
        many = f"{len(self.candidates.q)} strands were tried."
        return PathFailure(
            t + 1, PathStatus.JUMP,
            f"from waypoint {t} on, {names[j]} would have to change by {change[j]:.3g} at once{most}; {many}{tail}",
        )  # fmt: skip


def _too_fast(route: Route, q: Array, speeds: Array, dt: float) -> list[PathFailure]:
    steps = route.model.difference(q[:-1], q[1:])
    rates = np.abs(steps) / dt
    names, out = _velocity_names(route.model), []
    for t in np.flatnonzero((rates > speeds * _SLACK).any(axis=1)):
        j = int((rates[t] / speeds).argmax())
        reason = f"{names[j]} would have to go at {rates[t, j]:.4g} a second, and its limit is {speeds[j]:.4g}."
        out.append(PathFailure(int(t) + 1, PathStatus.TOO_FAST, reason))
    return out


def _velocity_names(model: Model) -> list[str]:
    return [joint.name for joint in model.joints if joint.nq for _ in range(joint.nv)]


def _refuse_open(route: Route) -> None:
    """Raises ValueError unless the last waypoint's goal is the first's."""
    first, last = (route.goals[i].reshape(-1, 7) for i in (0, -1))
    for k, task in enumerate(route.tasks):
        turned = np.concatenate([last[k, :3], last[k, 3:] * np.sign(first[k, 3:] @ last[k, 3:] or 1.0)])
        apart = float(np.abs(first[k] - turned).max())
        if apart > 1e-6:
            raise ValueError(
                f"closed=True, but the last target of {task.label} differs from the first by {apart:.3g}: repeat the "
                "first at the end"
            )
