"""solve_path: candidates for each waypoint, the best sequence through them, all of it made shorter, and its times."""

from collections.abc import Sequence
from math import inf
from time import perf_counter
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.layout import WIDTH
from poise.methods.checks import positive
from poise.model.model import Model
from poise.solving.arguments import Tasks, cores, one_start, whole
from poise.solving.inequalities import Constraint
from poise.solving.path.candidates import Candidates
from poise.solving.path.clearance import Clearance
from poise.solving.path.first import first_paths
from poise.solving.path.jumps import FACTOR, LEAST, around
from poise.solving.path.limits import PathLimits
from poise.solving.path.path import JointPath, PathFailure, PathStatus
from poise.solving.path.route import Route
from poise.solving.path.smoothing import Smoother
from poise.solving.path.timing import least_schedule
from poise.solving.problem import refuse_ball_limits
from poise.solving.suspicion import ask_for_degrees_in
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
_SLACK: Final = 1.0 + 1e-9
"""Rounding that a speed or a step may be over its limit by."""


def solve_path(
    model: Model,
    tasks: Tasks,
    poses: Any,
    *,
    q0: ArrayLike | None = None,
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
    that out.  For at most `max_time` seconds, roughly.

    If `q0` (nq,) meets the first pose, the path begins there.  Else, or at the model's home, it is where the search
    begins, and where joints stay that do not move the tasks.  With `closed` the last configuration is the first, and
    the last pose must be too.

    `velocity` and `acceleration`, each a number or (nv,) [rad/s or m/s, and per s], are limits of speeds, the model's
    own by default, and of accelerations, none by default.  With `dt` [s] the waypoints are passed at these intervals,
    and what is too fast is a failure; without, the times are the least that keep the limits, from rest to rest where
    there are accelerations.  A step of a joint by more than `max_jump` [rad or m] is a jump; by default, one that
    `jumps` finds.

    A list of `limits` adds to those of the joints.  With a CollisionLimit no shapes come too near at any waypoint, or
    on the straight way of the joints from each to the next.  A VelocityLimit or an AccelerationLimit says what
    `velocity` and `acceleration` do, and the tighter holds.  With `dt` there may be no accelerations.

    At a waypoint that repeats the one before it the arm stands still, unless `dt` gives it time to move on or it cannot
    follow the path otherwise.

    Never an exception for a path that cannot be followed: see `JointPath.status` and `first_failure`.  The same seed
    gives the same path on any number of threads, unless `max_time` cuts it short.  Raises FrameNotFound, ShapeError,
    TypeError for limits that a path cannot keep, and ValueError for numbers that are not finite and settings that make
    no sense.
    """
    with Clearance.lent(model, PathLimits.of(model, limits, velocity, acceleration).apart) as clearance:
        return followed(
            model, tasks, poses, q0=q0, limits=limits, closed=closed, dt=dt, velocity=velocity,
            acceleration=acceleration, max_jump=max_jump, optimise=optimise, max_time=max_time, seed=seed,
            threads=threads, clearance=clearance,
        )  # fmt: skip


def followed(
    model: Model,
    tasks: Tasks,
    poses: Any,
    *,
    q0: ArrayLike | None,
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
    speeds, hardest = kept.velocity, kept.acceleration
    if dt is not None and np.isfinite(hardest).any():
        raise ValueError(
            f"dt is {dt!r}, and accelerations are limited, which a path in given times does not keep: leave dt out, "
            "and the times are the least that keep them, or leave the accelerations out"
        )
    route = Route(model, tasks, poses, limits=kept.positions, seed=seed, threads=threads)
    if closed:
        _refuse_open(route)
    start = np.array(model.home if q0 is None else one_start(model, q0))
    ask_for_degrees_in(model, start, "q0")
    start = route.kept(model.normalize(start))
    fixed = q0 is not None and bool(route.rows(np.tile(start, (len(route), 1)))[2][0] <= 1.0)
    cap = np.full(len(route.active), np.inf if max_jump is None else float(max_jump))
    if dt is not None:
        cap = np.minimum(cap, speeds[route.active] * dt)
    end = inf if max_time is None else began + max_time

    def run(some: Route) -> tuple[Array, npt.NDArray[np.bool_], list[PathFailure]]:
        made = _Run(some, start, clearance, cap, fixed=fixed, closed=closed, optimise=optimise, end=end)
        return made.followed(max_jump)

    changing = route.changing()
    if dt is None and not changing.all():
        # Where a pose is said again, the arm stands still, unless only moving on leads to the end.
        q, reached, failures = run(route.only(changing))
        place = np.cumsum(changing) - 1
        q, reached = q[place], reached[place]
    if dt is not None or changing.all() or failures:
        q, reached, failures = run(route)
    times: Array | None = None
    if dt is not None:
        times = np.arange(len(q), dtype=np.float64) * dt
        failures += _too_fast(route, q, speeds, dt)
    elif not np.isinf(speeds[route.active]).all() or not np.isinf(hardest[route.active]).all():
        times = least_schedule(model, q, speeds, hardest)
    failures.sort(key=lambda failure: failure.waypoint)
    return path_of(route, q, np.arange(len(q)), times, failures, speeds, clearance, perf_counter() - began)


def path_of(
    route: Route,
    q: Array,
    stations: npt.NDArray[np.int64],
    times: Array | None,
    failures: Sequence[PathFailure],
    speeds: Array,
    clearance: Clearance | None,
    seconds: float,
) -> JointPath:
    """The path with all that is measured at its configurations; those of `stations` meet the waypoints of the route."""
    e, jacobians, scores = route.rows(q[stations])
    blocks = route.problem.section("blocks")
    with np.errstate(invalid="ignore"):
        left = np.linalg.norm(e.reshape(len(e), -1, 3) * blocks["inverse_weight"], axis=2)
    errors = {unit: np.full((len(q), len(route.tasks)), np.nan) for unit in ("m", "rad")}
    at = 0
    for k, task in enumerate(route.tasks):
        for unit, found in errors.items():
            columns = [at + b for b, block in enumerate(task.blocks) if block.unit == unit]
            if columns:
                found[stations, k] = np.sqrt((left[:, columns] ** 2).sum(axis=1))
        at += len(task.blocks)
    reached = np.zeros(len(q), dtype=np.bool_)
    reached[stations] = scores <= 1.0
    return JointPath(
        model=route.model, tasks=route.tasks, q=q, times=times, reached=reached, position_errors=errors["m"],
        rotation_errors=errors["rad"], clearances=None if clearance is None else clearance(q) + clearance.least,
        failures=tuple(failures), stations=np.array(stations), time=seconds, velocity=speeds,
        active=route.active.copy(), jacobians=jacobians,
    )  # fmt: skip


@final
class _Run:
    """One call of `solve_path`."""

    def __init__(
        self, route: Route, start: Array, clearance: Clearance | None, cap: Array, *, fixed: bool, closed: bool,
        optimise: bool, end: float,
    ) -> None:  # fmt: skip
        """`cap` (active velocities,) is what each may change by in a step [rad or m]."""
        self.route, self.clearance, self.closed, self.cap, self.end = route, clearance, closed, cap, end
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
        q, reached = self._best()
        if len(q) > 1 and self.clearance is not None and (not reached.all() or self._jumps(q)):
            pushed = self._pushed()
            if pushed:
                q, reached = pushed[0], np.ones(len(q), dtype=np.bool_)
                self.freed = pushed
        if not self.optimise or not reached.all() or len(q) < 2:
            return q, reached
        return self._shortest(q), reached

    def _pushed(self) -> list[Array]:
        """Paths of strands that meet all waypoints, pushed out of the obstacles; the first alone, or some."""
        candidates, out = self.candidates, list[Array]()
        tried: list[Array] = []
        for k in candidates.blocked():
            one = self._closing(candidates.q[k].copy())
            if candidates.fixed and not (one[0] == candidates.q0).all():
                continue
            if len(tried) == _PUSHED or perf_counter() > self.end:
                break
            if self._jumps(one) or any(np.abs(one - other).max() <= _APART for other in tried):
                continue
            tried.append(one)
            free = self.smoother.shorten(one, _PUSHES, self.end, until_free=True)
            if self.smoother.free(free) and not self._jumps(free):
                out.append(free)
                if len(out) == (_FREED if self.optimise else 1):
                    break
        return out

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
        trials = [smoother.shorten(one, _TRIAL, self.end) for one in tried]
        best = min(trials, key=lambda one: (self._jumps(one), smoother.cost(one) + self._leaning(one)))
        best = smoother.shorten(best, _ITERATIONS, self.end)
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
            if solution is None and not out:
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
        out += [self._jumped(int(t), q) for t in np.flatnonzero(jumping & both)]
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

    def _missed(self, t: int, q: Array, solution: Any) -> PathFailure:
        if solution is not None and solution.success:
            if self.clearance is not None and float(self.clearance(q[None])[0]) < 0.0:
                reason = "no configuration that was found for it is free: at the one chosen "
                return PathFailure(t, PathStatus.COLLISION, reason + self.clearance.words(q))
            reason = "it can be reached, but by no way that was found from the others."
            return PathFailure(t, PathStatus.NOT_REACHED, reason)
        reason = "not reached either." if solution is None else solution.explain()
        return PathFailure(t, PathStatus.NOT_REACHED, reason)

    def _jumped(self, t: int, q: Array) -> PathFailure:
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
        many = f"{len(self.candidates.q)} strands were tried."
        return PathFailure(
            t + 1, PathStatus.JUMP,
            f"from waypoint {t} on, {names[j]} would have to change by {change[j]:.3g} at once; {many}{tail}",
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
