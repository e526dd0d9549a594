"""What a step may not do: limits, and the inequalities that they are.

A limit says A q <= b of some coordinates, or how far a velocity may go in one update.  What touches one coordinate is a
bound, the fast form; what ties several is a row, G dq <= h with G = A and h = b - A q.  A new kind of limit is a frozen
dataclass with the method of `Limit`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import broken_rule, finite_positive, numbers
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.layout import RATES
from poise.kernels.machine.packing import joined
from poise.kernels.requirements.braking import NO_LIMIT
from poise.kernels.rows.rounding import LAST_DIGIT
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.solving.problem.problem import Problem, velocity_names
from poise.solving.requirements.torques import Torques
from poise.tasks.coupling import summed
from poise.tasks.value import Value, freeze

NONE: Final = np.inf
"""A bound that is none."""
_LARGEST: Final = 1e15
"""A speed that is none [rad or m a step]."""
_TURN: Final = 1.8
"""Less than pi / sqrt(3) [rad]: a turn of so much about each of three axes is still less than half a turn."""
_STEPS: Final = 1e9
"""More steps than any braking takes."""
_LEAST: Final = 1e-290
"""The least bound whose inverse can be computed with."""


class ToolSpeed(NamedTuple):
    """How far a frame may go, and turn, in one update; infinite where nothing says."""

    frame: str
    linear: float
    """[m]"""
    angular: float
    """[rad]"""


@final
@dataclass(frozen=True, slots=True)
class Inequalities:
    """Bounds and rows on the active velocities of a problem, n of them; what is left out bounds nothing."""

    changes: Array
    """(n,) the largest change of each in one update [rad or m], infinite where there is none."""
    rows: Array
    """(p, n) A."""
    most: Array
    """(p,) b."""
    accelerations: Array | None = None
    """(n,) [rad/s^2 or m/s^2]."""
    jerks: Array | None = None
    """(n,) [rad/s^3 or m/s^3]."""
    twists: tuple[tuple[int, int, float], ...] = ()
    """First velocity, how many, and how long they may be together in one update [rad or m]."""
    tools: tuple[ToolSpeed, ...] = ()
    """Frames, and how far each may go in one update."""
    torques: tuple[Torques, ...] = ()
    """What joints may give along a timed path."""

    def of(self, velocities: Sequence[int]) -> "Inequalities":
        """The same of some of its velocities, in ascending order."""
        some, twists = list(velocities), list[tuple[int, int, float]]()
        for first, count, most in self.twists:
            places = [a for a, v in enumerate(some) if first <= v < first + count]
            if places:
                twists.append((places[0], len(places), most))
        accelerations, jerks = (
            None if most is None else _tightest(len(some), [most[some]]) for most in (self.accelerations, self.jerks)
        )
        return replace(
            self, changes=self.changes[some], rows=self.rows[:, some], accelerations=accelerations, jerks=jerks,
            twists=tuple(twists),
        )  # fmt: skip


class Limit(Protocol):
    """One kind of limit."""

    def inequalities(self, model: Model, velocities: Sequence[int], dt: float | None) -> Inequalities:
        """What it says of these velocities of the model, in an update of `dt` [s]; None: no time is stated.

        Raises ValueError for what it cannot say there.
        """


class Constraint(Value):
    """What the limits of the library have in common, those of joints and of shapes: lists of both have a type by it."""

    __slots__ = ()


Values: TypeAlias = float | Mapping[str, float | Sequence[float]] | ArrayLike
"""One number for all joints, numbers for some of them by name, or (nv,)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _OfJoints(Constraint):
    """The largest values of joints, as they are stated."""

    most: Values | None = None

    def __post_init__(self) -> None:
        if self.most is not None:
            check_values(self, self.most)
        freeze(self)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VelocityLimit(_OfJoints):
    """No velocity is larger than `most` [rad/s or m/s], over a whole step; the limits of the model hold beside it.

    A number for all joints, a mapping of some of them to a number or to one for each of their coordinates, or (nv,).
    None: the model's limits alone, which `dt` of a Tracker brings about by itself.
    """

    def inequalities(self, model: Model, velocities: Sequence[int], dt: float | None) -> Inequalities:
        """The velocity limits times dt; see `Limit`."""
        seconds, speeds = seconds_of(self, dt), model.velocity
        if self.most is not None:
            speeds = np.minimum(speeds, values_of(self, model, self.most))
        return bounds(speeds[list(velocities)] * seconds)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AccelerationLimit(_OfJoints):
    """No velocity changes faster than by `most` [rad/s^2 or m/s^2], from one step to the next.

    `AccelerationLimit(20.0)`, or `AccelerationLimit({"elbow": 10.0})`, or (nv,).  None: the model's alone, which the
    file states, as a URDF of version 1.2 may; beside numbers these hold too.  The velocity of a step is its way over
    dt, and a Tracker begins at rest.  A joint brakes in time for its limits of position.
    """

    def inequalities(self, model: Model, velocities: Sequence[int], dt: float | None) -> Inequalities:
        """The accelerations; see `Limit`."""
        seconds_of(self, dt)
        n = len(velocities)
        most = _limit_values(self, model, self.most, model.acceleration, "acceleration")
        return replace(bounds(np.full(n, NONE)), accelerations=most[list(velocities)])


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JerkLimit(_OfJoints):
    """No acceleration changes faster than by `most` [rad/s^3 or m/s^3], from one step to the next; numbers likewise,
    and None: the model's.

    A joint whose range or speed is small for its jerk keeps a lower acceleration than it might, one that it can always
    take back in time: with A the acceleration, A^3 / jerk^2 is about the range at most, and A^2 / (2 jerk) the speed.
    """

    def inequalities(self, model: Model, velocities: Sequence[int], dt: float | None) -> Inequalities:
        """The jerks; see `Limit`."""
        seconds_of(self, dt)
        most = _limit_values(self, model, self.most, model.jerk, "jerk")
        return replace(bounds(np.full(len(velocities), NONE)), jerks=most[list(velocities)])


def check_speeds(limit: Constraint, linear: float | None, angular: float | None) -> None:
    """Raises ValueError where neither speed [m/s, rad/s] is given, and for one that is not above 0."""
    if linear is None and angular is None:
        raise InvalidValue(
            "empty", f"{type(limit).__name__}() bounds nothing: give it linear [m/s], angular [rad/s] or both"
        )
    for name, most in (("linear", linear), ("angular", angular)):
        if most is not None:
            finite_positive(name, most)


@final
@dataclass(frozen=True, slots=True)
class TwistLimit(Constraint):
    """A free base is no faster than `linear` [m/s], whichever way, and turns no faster than `angular` [rad/s].

    `joint` is a planar or floating one; None: all of them.
    """

    linear: float | None = None
    angular: float | None = None
    joint: str | None = None

    def __post_init__(self) -> None:
        check_speeds(self, self.linear, self.angular)
        freeze(self)

    def inequalities(self, model: Model, velocities: Sequence[int], dt: float | None) -> Inequalities:
        """Twists, and the bounds that they are for each velocity alone; see `Limit`."""
        seconds = seconds_of(self, dt)
        free = [joint for joint in model.joints if joint.nv and joint.kind in (JointKind.PLANAR, JointKind.FLOATING)]
        if self.joint is not None:
            chosen = model.joint(self.joint)
            if chosen not in free:
                raise InvalidValue(
                    "not-supported",
                    f"the TwistLimit is of {self.joint!r}, which is {chosen.kind.value}, not planar or floating: give "
                    "a VelocityLimit for it instead",
                )
            free = [chosen]
        if not free:
            raise InvalidValue(
                "no-such-part", f"{model.name} has no planar or floating joint for the TwistLimit: leave it out"
            )
        found, changes = [], np.full(len(velocities), NONE)
        for joint in free:
            at = model.velocity_index(joint.name)
            turns = at.stop - (1 if joint.kind is JointKind.PLANAR else 3)
            for most, some in ((self.linear, range(at.start, turns)), (self.angular, range(turns, at.stop))):
                places = [a for a, v in enumerate(velocities) if v in some]
                if most is not None and places:
                    changes[places] = most * seconds
                    found.append((places[0], len(places), most * seconds))
        return replace(bounds(changes), twists=tuple(found))


def bounds(changes: Array) -> Inequalities:
    """Bounds alone."""
    return Inequalities(changes, np.zeros((0, len(changes))), np.zeros(0))


def _limit_values(limit: Limit, model: Model, most: Values | None, own: Array, what: str) -> Array:
    """(nv,) the tighter of what a limit and what the model states; raises ValueError where neither says a number."""
    if most is not None:
        return np.minimum(own, values_of(limit, model, most))
    if not np.isfinite(own).any():
        kind = type(limit).__name__
        raise InvalidValue(
            "no-limits",
            f"{kind}() takes what {model.name} states, and that states no {what} of any joint: give a number, "
            f'{kind}(20.0), or state it in the file, <limit {what}="..."/> in a URDF of version 1.2',
        )
    return own


def seconds_of(limit: Limit, dt: float | None) -> float:
    """Raises ValueError where no time is stated."""
    if dt is None:
        raise InvalidValue(
            "no-dt",
            f"{type(limit).__name__} needs the time of a step: give the Tracker dt [s], as in Tracker(..., dt=0.002, "
            f"limits=[{type(limit).__name__}(...)])",
        )
    return dt


def of_paths() -> InvalidValue:
    """The error for a TorqueLimit of a Tracker."""
    return InvalidValue(
        "not-supported",
        "a TorqueLimit counts what motion takes beside the weight, which no step looks at: give a Tracker a TorqueTask "
        "among its tasks, which keeps what joints give at rest, with limits that leave a share to motion",
    )


def check_values(limit: object, most: Values) -> None:
    """Raises ValueError for a number that is none, or not above 0."""
    kind = type(limit).__name__
    parts = list(most.items()) if isinstance(most, Mapping) else [("", most)]
    if not parts:
        raise InvalidValue("empty", f"{kind} names no joint: give it a number for all, or leave it out")
    for name, part in parts:
        try:
            given = numbers(kind, part)
        except ShapeError:
            given = np.array(np.nan)
        if given.size == 0 or not (given > 0.0).all():
            place = f" of {name!r}" if name else ""
            raise InvalidValue("not-positive", f"{kind} holds {part!r}{place}; it must be above 0; math.inf is none")


def values_of(limit: object, model: Model, most: Values) -> Array:
    """(nv,) what holds for each velocity, narrowed for joints that others follow; raises ValueError, JointNotFound."""
    kind, found = type(limit).__name__, np.full(model.nv, NONE)
    if not isinstance(most, Mapping):
        given = np.asarray(most, dtype=np.float64)
        if given.shape == (model.nv,):
            return given.copy()
        if given.ndim:
            raise ShapeError(f"{kind} must have a number or {model.nv} (nv of {model.name}), got shape {given.shape}")
        most = {joint.name: float(given) for joint in model.joints if joint.speeds}
    for name, part in most.items():
        joint, given = model.joint(name), np.asarray(part, dtype=np.float64)
        if given.ndim and given.shape != (joint.speeds,):
            raise ShapeError(
                f"{kind} of {name!r} must have a number or {joint.speeds}, one for each of its velocities, got shape "
                f"{given.shape}"
            )
        if not joint.speeds:
            raise InvalidValue("nothing-moves", f"{kind} names the joint {name!r}, which is fixed: leave it out")
        source, function = model.follows(joint)
        at = model.velocity_index(source)
        slope = model.steepest(source, function) if joint.mimic else 1.0
        if slope != 0.0:
            found[at] = np.minimum(found[at], given / slope)
    return found


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinearLimit(Constraint):
    """`sum coefficient * q <= most` over some joints of one coordinate [rad or m].

    `LinearLimit({"left": 1.0, "right": 1.0}, 1.2)` lets the two bend by 1.2 together, however they share it.  A joint
    that moves no task takes its share too, and stays where it is while the limit is not reached.  Limits that
    contradict one another are each broken, in a step as little as can be; `explain` of an answer says by how much.
    """

    coefficients: Mapping[str, float]
    """Joint to coefficient."""
    most: float

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping) or not self.coefficients:
            raise InvalidValue(
                "wrong-type" if self.coefficients else "empty",
                f"coefficients must name joints, as in {{'knee': 1.0}}, got {self.coefficients!r}",
            )
        for x in (self.most, *self.coefficients.values()):
            if isinstance(x, bool) or not isinstance(x, (int, float, np.floating, np.integer)) or not math.isfinite(x):
                raise InvalidValue(
                    broken_rule(x, "not-finite"),
                    f"{self!r} holds {x!r}, which is no finite number; leave the limit out instead",
                )
        if not any(self.coefficients.values()):
            raise InvalidValue(
                "empty", f"{self!r} has no coefficient but 0, and so says nothing of a joint; leave it out"
            )
        object.__setattr__(self, "coefficients", {name: float(x) for name, x in self.coefficients.items()})
        freeze(self)

    @property
    def structure(self) -> tuple[Any, ...]:
        """What it says, by which one is the same as another."""
        return (LinearLimit, tuple(self.coefficients.items()), float(self.most))

    def inequalities(self, model: Model, velocities: Sequence[int], dt: float | None) -> Inequalities:
        """One row; see `Limit`.  Raises JointNotFound, and ValueError for a joint that has not one coordinate."""
        row, (found, offset) = np.zeros((1, len(velocities))), summed(model, self.coefficients, "the LinearLimit")
        places = {v: a for a, v in enumerate(velocities)}
        for name, coefficient in found.items():
            a = places.get(model.velocity_index(name).start)
            if a is not None:  # others stand still
                row[0, a] = coefficient
        if not any(found.values()):
            raise InvalidValue(
                "empty", f"{self!r} says nothing of a joint, for those that follow others cancel; leave it out"
            )
        # By a power of two, which changes no digit; squares of what remains neither overflow nor vanish.
        power = -math.frexp(max(map(abs, found.values())))[1]
        return Inequalities(np.full(row.shape[1], NONE), np.ldexp(row, power), np.ldexp([self.most - offset], power))


def together(model: Model, velocities: Sequence[int], limits: Sequence[Limit], dt: float | None = None) -> Inequalities:
    """What all the limits say of an update of `dt` [s]: the tightest bounds, and all rows.

    Raises ValueError for a bound that lets a joint change by nothing that can be computed with.
    """
    n = len(velocities)
    if not limits:
        return Inequalities(np.full(n, NONE), np.zeros((0, n)), np.zeros(0))
    found = [limit.inequalities(model, velocities, dt) for limit in limits]
    changes = np.min([np.full(n, NONE), *(x.changes for x in found)], axis=0)
    for joint in model.joints if (~(changes >= _LEAST)).any() else ():
        at = model.velocity_index(joint.name) if joint.nv else slice(0, 0)
        for v, change in zip(velocities, changes, strict=True):
            if at.start <= v < at.stop and not change >= _LEAST:
                raise InvalidValue(
                    "out-of-range",
                    f"the limits let the joint {joint.name!r} change by {change} in an update, and so by nothing: "
                    f"hold it still with model.lock({joint.name}=...) instead",
                )
    return Inequalities(
        changes,
        np.vstack([np.zeros((0, n)), *(x.rows for x in found)]),
        np.concatenate([np.zeros(0), *(x.most for x in found)]),
        _tightest(n, [x.accelerations for x in found]),
        _tightest(n, [x.jerks for x in found]),
        tuple(twist for x in found for twist in x.twists),
        tuple(tool for x in found for tool in x.tools),
        tuple(torques for x in found for torques in x.torques),
    )


def _tightest(n: int, found: Sequence[Array | None]) -> Array | None:
    """The least of those that are stated; None where all are infinite."""
    least = np.min([np.full(n, NONE), *(x for x in found if x is not None)], axis=0)
    return least if np.isfinite(least).any() else None


def rates_of(model: Model, problem: Problem, limits: Inequalities, dt: float, updates: int) -> Any:
    """Records of `RATES`, one for each velocity of a problem, of a step of `dt` [s].

    `kernels.requirements.braking` says what they are.  There are none without accelerations or jerks.  Raises
    ValueError for one that is nothing beside the rounding of a position, and for torques, which no step keeps.
    """
    if limits.torques:
        raise of_paths()
    if limits.accelerations is None and limits.jerks is None:
        return ()
    velocities, coordinates = problem.velocities, problem.section("coordinates")
    most = _in_steps(model, velocities, limits.accelerations, dt**2, "acceleration")
    jerk = _in_steps(model, velocities, limits.jerks, dt**3, "jerk")
    speed = np.minimum(limits.changes * updates, _LARGEST)
    reach, turns = _ranges(model)
    for a, v in enumerate(velocities):
        if turns[v]:
            speed[a] = min(speed[a], _TURN)
        if jerk[a] < NO_LIMIT:
            for first, count, length in limits.twists:
                if first <= a < first + count:  # a cube within the ball: braking is each coordinate's own
                    speed[a] = min(speed[a], length * updates / math.sqrt(count))
            most[a] = usable(most[a], jerk[a], speed[a], reach[v])
    lower, upper = np.full(len(velocities), -np.inf), np.full(len(velocities), np.inf)
    lower[coordinates["v"]], upper[coordinates["v"]] = coordinates["lower"], coordinates["upper"]
    return joined(RATES, np.zeros((len(velocities), 0)), np.column_stack([speed, most, jerk, lower, upper]))


def _ranges(model: Model) -> tuple[Array, npt.NDArray[np.bool_]]:
    """(nv,) between the limits of each coordinate [rad or m], and whether it is of a turn without any."""
    reach, turns = np.full(model.nv, np.inf), np.zeros(model.nv, dtype=np.bool_)
    for joint in model.joints:
        if joint.nv:
            at, places = model.velocity_index(joint.name), model.index(joint.name)
            plain = joint.nv if joint.quaternion_at is None else joint.quaternion_at
            first = slice(places.start, places.start + plain)
            reach[at.start : at.start + plain] = model.upper[first] - model.lower[first]
            turns[at.start + plain : at.stop] = True
    return reach, turns


def _in_steps(model: Model, velocities: Sequence[int], limit: Array | None, scale: float, what: str) -> Array:
    """(n,) a limit in the time of steps."""
    if limit is None:
        return np.full(len(velocities), NO_LIMIT)
    found = np.minimum(limit * scale, NO_LIMIT)
    for v, x in zip(velocities, found, strict=True):
        if not x > LAST_DIGIT:
            name = velocity_names(model)[v]
            raise InvalidValue(
                "out-of-range",
                f"the {what} of {name!r} changes the way of a step by {x:.1e}, less than its rounding: give more, or a "
                "longer dt",
            )
    return found


def usable(most: float, jerk: float, speed: float, reach: float) -> float:
    """The acceleration that a joint with this jerk can always take back within its speed and range; all in steps.

    Where it has braked for a limit with an acceleration A to the end, it goes back at up to A (r + 2) / 2, r being
    A / jerk, and by less than jerk r (r + 1) (r + 2), before it rests: within its speed, and within its range.
    """

    def fits(r: float) -> bool:
        return jerk * r * (r + 2.0) <= 2.0 * speed and jerk * r * (r + 1.0) * (r + 2.0) <= reach

    low, high = 0.0, min(most, _STEPS * jerk) / jerk
    if fits(high):
        return high * jerk
    for _ in range(100):
        midpoint = 0.5 * (low + high)
        low, high = (midpoint, high) if fits(midpoint) else (low, midpoint)
    return max(low * jerk, LAST_DIGIT * jerk)
