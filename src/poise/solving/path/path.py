"""JointPath: the configurations of a whole path, when they are passed, how good they are, and what is in the way."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common import html
from poise.common.array import Array, ArrayLike
from poise.common.checks import finite_positive, numbers
from poise.common.errors import InvalidType, InvalidValue
from poise.model.model import Model
from poise.solving.path.table import write_csv, write_parquet
from poise.solving.path.trajectory import JointState, Trajectory, joined
from poise.solving.problem.problem import velocity_names
from poise.solving.requirements.status import Budget, Status
from poise.spatial import frozen
from poise.tasks.base import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_SEAM: Final = 1e-9
"""How far two paths that are joined may be from each other [rad or m]."""
_ROUNDING: Final = 1e-12
"""Of a number of steps."""
_MOST_ROWS: Final = 100_000_000
"""Rows of a resampled path, at most."""


@final
@dataclass(frozen=True, slots=True)
class PathFailure:
    """One waypoint that a path cannot follow, and why."""

    waypoint: int
    """The waypoint that is not met, or to which the step leads that cannot be taken."""
    status: Status
    reason: str
    """A sentence or two."""

    def __str__(self) -> str:
        return f"waypoint {self.waypoint}: {self.reason}"


@final
class JointPath(Sequence[Array]):
    """A joint path: one configuration a waypoint, in their order, whether or not all of it can be followed.

    A path of `plan`, or in pieces, has further rows between its waypoints, see `stations`.  Errors are measured by
    forward kinematics at the very configurations that it holds.  It is a sequence of them.
    """

    __slots__ = (
        "_clearances", "chosen", "failures", "loops", "model", "notes", "position_errors", "q", "reached",
        "reconfigurations", "rotation_errors", "singular_values", "stations", "tasks", "time", "times", "trajectory",
        "velocity",
    )  # fmt: skip
    model: Model
    """Whose joints these are."""
    tasks: tuple[Task, ...]
    """What was followed."""
    q: Array
    """(n, nq) configurations, each within its limits."""
    times: Array | Any
    """(n,) when each is passed [s]; None where neither a `dt` nor limits of speeds say."""
    trajectory: Trajectory | None
    """The motion itself, which `at` asks; None without times."""
    loops: Any
    """What stays closed between the rows too; None without loops, and where something fails."""
    reached: npt.NDArray[np.bool_]
    """(waypoints,) whether each is within the tolerances of all tasks."""
    position_errors: Array
    """(waypoints, tasks) what is left of the position of each task [m]; NaN where a task has none."""
    rotation_errors: Array
    """(waypoints, tasks) what is left of the rotation of each task [rad]; NaN where a task has none."""
    chosen: npt.NDArray[np.int64]
    """(waypoints,) which of the given poses each meets: all in turn, but of a path of `plan` with `alternatives`."""
    _clearances: Array | Callable[[], Array] | None
    failures: tuple[PathFailure, ...]
    """What cannot be followed, by waypoint."""
    notes: tuple[str, ...]
    """Sentences of what was asked for and is not so, though nothing fails: as of a q0 where the path does not begin."""
    stations: npt.NDArray[np.int64]
    """(waypoints,) the rows of q that meet them: all of q, but for a path of `plan`, which goes from each to the next,
    and where an arm is reconfigured.  Of a path that was resampled, the first row at or after each."""
    reconfigurations: npt.NDArray[np.int64]
    """(k,) the waypoints before which the arm leaves the path, to go on from another configuration: in the rows between
    the station of the waypoint before and that of this.  Empty where it is followed in one piece."""
    time: float
    """Seconds that it took to find."""
    velocity: Array
    """(nv,) the speed limits that were kept [rad/s or m/s]."""
    singular_values: Array
    """(waypoints,) the smallest singular value of the tasks' Jacobian at each; infinite where nothing must be met."""

    def __init__(self, **fields: Any) -> None:
        for name in self.__slots__:
            value = fields[name.removeprefix("_")]
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(JointPath, **(self._fields() | {"clearances": self.clearances})), ()

    def _fields(self) -> dict[str, Any]:
        return {name.removeprefix("_"): getattr(self, name) for name in self.__slots__}

    @property
    def clearances(self) -> Array | None:
        """(n,) how far each is from the nearest obstacle [m], as these were when it was found; None without any.  Links
        that are nearer to each other at home than `min_distance` count as farther apart by what they lack there."""
        if callable(self._clearances):
            self._clearances = frozen(self._clearances())
        return self._clearances

    @property
    def success(self) -> bool:
        """Whether all of it can be followed."""
        return not self.failures

    @property
    def status(self) -> Status:
        """How it came out: that of the first failure."""
        return self.failures[0].status if self.failures else Status.CONVERGED

    @property
    def budget(self) -> Budget | None:
        """What was spent where the status is BUDGET: "time"; None for all others."""
        return "time" if self.status is Status.BUDGET else None

    @property
    def first_failure(self) -> PathFailure | None:
        """The first waypoint that cannot be followed, and why; None if all can."""
        return self.failures[0] if self.failures else None

    @property
    def fraction(self) -> float:
        """The share of the waypoints that can be followed from the first on, before anything fails: from 0 to 1."""
        return self._followed_waypoints / len(self.stations)

    @property
    def followed(self) -> Array:
        """(m, nq) the configurations from the beginning that can be followed: all of `q`, or up to the waypoint before
        the first failure; (0, nq) where it is at the first.

        They are those of the whole path, which does not come to rest there; one of `poses[:first_failure.waypoint]`
        does.
        """
        many = self._followed_waypoints
        return self.q if self.success else self.q[: self.stations[many - 1] + 1 if many else 0]

    @property
    def _followed_waypoints(self) -> int:
        """How many waypoints stand before the first failure."""
        return self.failures[0].waypoint if self.failures else len(self.stations)

    @property
    def steps(self) -> Array:
        """(n - 1, nv) the changes from each configuration to the next [rad or m]."""
        return self.model.difference(self.q[:-1], self.q[1:])

    @property
    def length(self) -> float:
        """The sum of the lengths of all steps [rad and m]."""
        return float(np.linalg.norm(self.steps, axis=1).sum())

    @property
    def largest_step(self) -> float:
        """The largest change of a joint in a step [rad or m]."""
        return float(np.abs(self.steps).max(initial=0.0))

    @property
    def limit_distance(self) -> float:
        """How near a number of q that moves the tasks comes to a limit [rad or m]; infinite without limits."""
        model = self.model
        moved = np.abs(self.q - self.q[0]).max(axis=0, initial=0.0) > 0.0
        slack = np.minimum(self.q - model.lower, model.upper - self.q)[:, moved]
        return float(slack.min(initial=np.inf))

    @property
    def singular_value(self) -> float:
        """The least of the smallest singular values of the tasks' Jacobians along the way."""
        return float(self.singular_values.min(initial=np.inf))

    @property
    def duration(self) -> float | Any:
        """How long it takes to run through [s]; None without times."""
        return None if self.times is None else float(self.times[-1])

    def at(self, t: ArrayLike) -> JointState:
        """Configuration, velocity and acceleration at times `t` (...) [s]: (..., nq), (..., nv) and (..., nv).

        Between the rows too the motion keeps the limits that the path was timed with.  Before the beginning and after
        the end the joints stand still there.  Without accelerations speeds change at once, from step to step.  Raises
        ShapeError for what is no number, ValueError for a path without times and for a time that is not finite.
        """
        trajectory = self._timed()
        times = numbers("t", t, "times [s]")
        if not np.isfinite(times).all():
            raise InvalidValue("not-finite", f"t is {t!r}; every time must be finite [s]")
        found = trajectory.at(times.ravel()) if self.loops is None else self.loops.at(trajectory, times.ravel())
        if self.model.within_limits(self.q):
            found = found._replace(q=self.model.clip(found.q))  # what rounding takes beyond a limit
        return JointState(*(x.reshape(*times.shape, x.shape[-1]) for x in found))

    def resample(self, dt: float) -> "JointPath":
        """The same motion in rows that are `dt` [s] apart, for a controller with a clock.

        It is slower by as much as it takes to end with a row, less than one `dt` in all: so it keeps its limits, and
        the differences of its rows do.  Waypoints are passed between rows, see `stations`, and errors remain
        what they are there; `clearances` are not measured anew.  Raises ValueError for a path without times.
        """
        finite_positive("dt", dt)
        trajectory, passed = self._timed(), np.zeros(len(self.stations), dtype=np.int64)
        steps = int(np.ceil(trajectory.duration / dt * (1.0 - _ROUNDING)))
        if steps > _MOST_ROWS:
            raise InvalidValue(
                "too-many", f"dt={dt:g} s makes {steps:,} rows, more than the {_MOST_ROWS:,} that are allowed"
            )
        if steps and self.times is not None:
            share = self.times[self.stations] / trajectory.duration
            passed = np.ceil(share * steps * (1.0 - _ROUNDING)).astype(np.int64)
            trajectory = trajectory.slower(steps * dt / trajectory.duration)
        times = dt * np.arange(steps + 1)
        made = self._with(trajectory=trajectory, times=times, stations=passed, clearances=None)
        return made._with(q=made.at(times).q)

    def then(self, *others: "JointPath") -> "JointPath":
        """The path, and others after it, each of which begins where the one before ends: rows, times and waypoints.
        What is `still` in all of them is still in the whole.

        Errors have a column for each task of each path where these are not the same, NaN where it is not followed.
        Raises ValueError for a path that cannot be followed, begins elsewhere, is of another model, or has no times
        where another has.
        """
        made = self
        for other in others:
            if not isinstance(other, JointPath):
                raise InvalidType(
                    "wrong-type", f"then takes paths, one after the other, as in a.then(b, c), got {other!r}"
                )
            made = _joined(made, other)
        return made

    def _with(self, **changed: Any) -> "JointPath":
        """It with other fields."""
        return JointPath(**(self._fields() | changed))

    def _timed(self) -> Trajectory:
        if self.trajectory is None:
            raise InvalidValue(
                "needs",
                "the path has no times, for nothing says how fast it may go: give it velocity=, acceleration= or dt=",
            )
        return self.trajectory

    def facts(self) -> dict[str, Any]:
        """The path in numbers, by name, in m, rad and s."""
        first = self.first_failure
        return {
            "robot": self.model.name,
            "success": self.success,
            "status": self.status.name,
            "first_failure": None if first is None else {"waypoint": first.waypoint, "reason": first.reason},
            "notes": list(self.notes),
            "waypoints": len(self.stations),
            "fraction": self.fraction,
            "reached": int(self.reached.sum()),
            "reconfigurations": self.reconfigurations.tolist(),
            "length": self.length,
            "largest_step": self.largest_step,
            "largest_position_error": _largest(self.position_errors[self.reached]),
            "largest_rotation_error": _largest(self.rotation_errors[self.reached]),
            "limit_distance": self.limit_distance,
            "singular_value": self.singular_value,
            "clearance": None if self.clearances is None else float(self.clearances.min(initial=np.inf)),
            "duration": self.duration,
            "speed": self._speed(),
            "time": self.time,
        }

    def _speed(self) -> float | None:
        """The largest speed of a joint as a share of its limit, of those that have one; None without."""
        if self.times is None or len(self) < 2:
            return None
        gaps = np.diff(self.times)
        moving = gaps > 0.0
        return float((np.abs(self.steps[moving]) / gaps[moving, None] / self.velocity).max(initial=0.0))

    def report(self) -> str:
        """The path in a table of text: a row for each fact, with its unit."""
        cells = self._rows()
        first, second = (max(len(row[i]) for row in cells) for i in (0, 1))
        lines = [f"{name:<{first}}  {value:>{second}}  {unit}".rstrip() for name, value, unit in cells]
        return "\n".join([self.explain(), *lines])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html.together(
            html.paragraph(f"{self.model.name}: {self.status.name}", bold=True),
            html.paragraph(self.explain()),
            html.table(("", "", "unit"), self._rows(), "the path"),
        )

    def _rows(self) -> list[tuple[str, str, str]]:
        """Name, number and unit of each fact."""
        f = self.facts()
        rows = [
            ("waypoints reached", f"{f['reached']:,}", f"of {f['waypoints']:,}"),
            ("reconfigurations", f"{len(f['reconfigurations'])}" if f["reconfigurations"] else None, ""),
            ("length in the joints", f"{f['length']:.4g}", "rad, m"),
            ("largest step of a joint", f"{f['largest_step']:.4g}", "rad, m"),
            ("largest position error", f["largest_position_error"], "m"),
            ("largest rotation error", f["largest_rotation_error"], "rad"),
            ("nearest to a limit", f"{f['limit_distance']:.4g}", "rad, m"),
            ("least singular value", f"{f['singular_value']:.4g}", ""),
            ("nearest to an obstacle", f["clearance"], "m"),
            ("duration", f["duration"], "s"),
            ("largest speed", None if f["speed"] is None else 100.0 * f["speed"], "% of its limit"),
        ]
        return [
            (name, value if isinstance(value, str) else f"{value:.4g}", unit)
            for name, value, unit in rows
            if value is not None
        ]

    def explain(self) -> str:
        """Whether it can be followed, what is in the way where it cannot, and the notes, in sentences."""
        return " ".join([self._followed(), *self.notes])

    def _followed(self) -> str:
        if self.success:
            cuts = ", ".join(map(str, self.reconfigurations))
            pieces = (
                f", in {1 + len(self.reconfigurations)} pieces, reconfigured before waypoint {cuts}" if cuts else ""
            )
            return f"Followed: every waypoint is met, and the joints go from each to the next without a jump{pieces}."
        words = [f"Not followed: {self.status.message}. First, {self.first_failure}"]
        for status, found in self._failures_by_status().items():
            more = len(found) - (status is self.status)
            if more and status is self.status:
                words.append(f"So {'is' if more == 1 else 'are'} {more:,} other{'s' * (more > 1)} later.")
            elif more:
                others = f" So {'is' if more == 2 else 'are'} {more - 1:,} more." if more > 1 else ""
                words.append(f"And {found[0]}{others}")
        return " ".join(words)

    def _failures_by_status(self) -> dict[Status, list[PathFailure]]:
        """What cannot be followed, by how it fails, in the order in which that comes first."""
        found: dict[Status, list[PathFailure]] = {}
        for failure in self.failures:
            found.setdefault(failure.status, []).append(failure)
        return found

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a table with a row a configuration, see `columns`."""
        write_csv(path, self.columns())

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the same table as `to_csv` as Parquet; raises MissingExtra without pyarrow."""
        write_parquet(path, self.columns())

    def save(self, path: str | os.PathLike[str], dt: float | None = None) -> None:
        """Write the motion for a controller, by the suffix: .yaml, a JointTrajectory of ROS 2; .script, URScript; .mod,
        RAPID; .src, KRL; .csv and .parquet, the tables of `to_csv` and `to_parquet`.

        Rows are `dt` [s] apart, by default what suits the program; a table has those of the path without it.  Raises
        ValueError for another suffix, for a path that cannot be followed or has no times, and for joints that the
        program has no place for.
        """
        from poise.solving.path.programs import save

        save(self, path, dt)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The path as columns (n,), a row a configuration.

        `time_s` if there are times, `q_<coordinate>` [rad or m], and `success`, whether nothing is in the way of going
        there from the row before.  Where rows are not waypoints, `waypoint` is the number of the one that a row meets,
        see `stations`; of several that share a row, as in one that was resampled, the last.  The largest
        `position_error_m` and `rotation_error_rad` of the waypoint are NaN where its tasks have none.  What belongs to
        waypoints is masked in the rows between them.
        """
        out: dict[str, npt.NDArray[Any]] = {} if self.times is None else {"time_s": np.array(self.times)}
        out |= {f"q_{name}": np.array(x) for name, x in zip(self.model.coordinates, self.q.T, strict=True)}
        rows, failed = np.arange(len(self)), np.sort([failure.waypoint for failure in self.failures])
        # A row leads to the next waypoint, and to all that share the row with it.
        first = np.searchsorted(self.stations, rows)
        last = np.maximum(np.searchsorted(self.stations, rows, side="right") - 1, first)
        out["success"] = np.searchsorted(failed, first) == np.searchsorted(failed, last, side="right")
        if not np.array_equal(self.stations, rows):
            out["waypoint"] = self._at_rows(np.arange(len(self.stations)))
        for name, errors in (("position_error_m", self.position_errors), ("rotation_error_rad", self.rotation_errors)):
            largest = np.fmax.reduce(errors, axis=1) if errors.shape[1] else np.full(len(errors), np.nan)
            out[name] = self._at_rows(largest)
        return out

    def _at_rows(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(n,) numbers (waypoints,) at the rows of the waypoints, masked between them."""
        out, between = np.zeros(len(self), dtype=numbers.dtype), np.ones(len(self), dtype=np.bool_)
        out[self.stations], between[self.stations] = numbers, False
        return np.ma.MaskedArray(out, between) if between.any() else out

    def figure(self) -> "Figure":
        """The joints along the path between their limits, their steps or speeds, and the errors.

        A Matplotlib figure; its `savefig` writes it.  Raises MissingExtra without Matplotlib.
        """
        from poise.solving.path.picture import draw

        return draw(
            self.model, self.q, self.steps, self.times, (self.position_errors, self.rotation_errors), self.stations,
            title=f"{self.model.name}: {self.status.name}", reconfigured=self.reconfigurations,
            failed=self.failures[0].waypoint if self.failures else None,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, index: Any) -> Any:
        return self.q[index]

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return np.array(self.q, dtype=dtype, copy=True)  # type: ignore[call-overload]

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        takes = "" if self.times is None else f", {self.duration:.3g} s"
        rows = f" in {len(self):,} rows" if len(self.stations) < len(self) else ""
        many = f"{len(self.stations):,} waypoints{rows}"
        return f"JointPath({self.status.name}, {many}, {self.length:.4g} rad and m{takes})"


def _largest(errors: Array) -> float | None:
    known = errors[~np.isnan(errors)]
    return float(known.max()) if known.size else None


def _joined(one: JointPath, other: JointPath) -> JointPath:
    """See `JointPath.then`."""
    for path in (one, other):
        if not path.success:
            raise InvalidValue("inconsistent", f"{path!r} is not joined: {path.explain()}")
    if one.model.coordinates != other.model.coordinates:
        raise InvalidValue(
            "inconsistent", f"paths of {one.model.name} and {other.model.name} are not joined: they have other joints"
        )
    if (one.trajectory is None) != (other.trajectory is None):
        raise InvalidValue(
            "inconsistent", "one of the paths has times and the other none: give both limits of speed, or neither"
        )
    offset = one.model.difference(one.q[-1], other.q[0])
    far = int(np.abs(offset).argmax())
    if abs(offset[far]) > _SEAM:
        names = velocity_names(one.model)
        raise InvalidValue(
            "inconsistent",
            f"the second path begins {offset[far]:.3g} from the end of the first in {names[far]}: let it begin there, "
            "by start= of solve_path or q0= of plan",
        )
    still, trajectory, times = one.model.still & other.model.still, None, None
    if one.trajectory is not None and other.trajectory is not None:
        trajectory = joined([one.trajectory, other.trajectory])
    if one.times is not None and other.times is not None:
        times = np.concatenate([one.times, one.times[-1] + other.times[1:]])
    same = [task.structure for task in one.tasks] == [task.structure for task in other.tasks]

    def both(first: Array, second: Array) -> Array:
        if same:
            return np.concatenate([first, second])
        out = np.full((len(first) + len(second), first.shape[1] + second.shape[1]), np.nan)
        out[: len(first), : first.shape[1]], out[len(first) :, first.shape[1] :] = first, second
        return out

    apart = one.clearances, other.clearances
    clearances = None if apart[0] is None or apart[1] is None else np.concatenate([apart[0], apart[1][1:]])
    return JointPath(
        model=one.model if still == one.model.still else one.model._moving(still, one.model.joint_costs),
        tasks=one.tasks if same else (*one.tasks, *other.tasks),
        q=np.concatenate([one.q, other.q[1:]]), times=times, trajectory=trajectory,
        reached=np.concatenate([one.reached, other.reached]),
        position_errors=both(one.position_errors, other.position_errors),
        rotation_errors=both(one.rotation_errors, other.rotation_errors), clearances=clearances, failures=(),
        loops=one.loops or other.loops, notes=(*one.notes, *other.notes),
        chosen=np.concatenate([one.chosen, other.chosen]),
        stations=np.concatenate([one.stations, other.stations + len(one) - 1]),
        reconfigurations=np.concatenate([one.reconfigurations, other.reconfigurations + len(one.stations)]),
        time=one.time + other.time,
        velocity=np.maximum(one.velocity, other.velocity),
        singular_values=np.concatenate([one.singular_values, other.singular_values]),
    )  # fmt: skip
