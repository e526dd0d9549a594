"""Which limits a step of a Tracker ended at: found from q before and after it, and from what the step was left."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import AT_LIMIT
from poise.kernels.requirements.braking import NO_LIMIT
from poise.model.model import Model
from poise.model.proximity import Proximity
from poise.solving.problem.problem import Problem
from poise.solving.problem.workspace import Shapes
from poise.solving.requirements.collision import RESERVE
from poise.solving.requirements.sums import rows_of_sums, slack_in

Kind = Literal[
    "position", "velocity", "acceleration", "braking", "jerk", "twist", "linear", "distance", "following error"
]

_AT_DISTANCE: Final = 2.0 * RESERVE
"""Two shapes that are no farther apart than this beyond the least distance [m] are at it."""


@final
@dataclass(frozen=True, slots=True)
class ActiveLimit:
    """A limit that a step ended at.

    `kind` is "position", "velocity" or "acceleration" of one joint; "braking", where a joint goes as fast as it may if
    it shall still stop before the limit of its position; "jerk", where it goes as fast, or as slowly, as its jerk lets
    it; "twist" of a free base, "linear" of a LinearLimit, "distance" of two shapes, "following error" of what is as far
    ahead of the measured q as it may be.
    """

    kind: Kind
    name: str
    """The joint, with the number of its velocity if it has several, or `.swing` or `.twist` of a spherical one; the
    joints of a LinearLimit; the two shapes; of a limit of the following error the joint, or the frame of a task."""
    value: float
    """The position [rad or m], the velocity [per s] if it is of a velocity, braking, a jerk or a twist, the
    acceleration [per s^2]; the sum of a LinearLimit over its largest coefficient; the distance [m]; how far ahead of
    the measured q [rad or m]."""
    bound: float
    """The same at the limit, with its sign."""

    def __str__(self) -> str:
        bound = f"{self.bound:.4g}"
        words = {
            "position": f"is at its limit, {bound}",
            "velocity": f"is at its velocity limit, {bound}",
            "acceleration": f"is at its acceleration limit, {bound}",
            "braking": "brakes for its limit",
            "jerk": "is at its jerk limit",
            "twist": f"is at its TwistLimit, {bound}",
            "linear": f"are at their LinearLimit, {bound}",
            "distance": f"are {self.value:.3g} m apart",
            "following error": f"waits for the measured q, {bound} ahead of it",
        }
        return f"{self.name} {words[self.kind]}"


def active_limits(
    model: Model,
    problem: Problem,
    work: Array,
    before: Array,
    after: Array,
    dt: float | None,
    updates: int,
    posture: Array,
) -> tuple[ActiveLimit, ...]:
    """The limits that a step from `before` to `after` (nq,) ended at; it left `work`, the workspace of the problem.

    Only joints that move the tasks count, and of those that only the `posture` (nq,) moves, or (0,) without one, what
    lies short of it.  Without a dt [s] there are no velocities.
    """
    met, rests = list(_positions(model, problem, after)), _resting(model, problem, posture)
    found = [limit for at, limit in met if at not in rests] + list(_sums(model, problem, after))
    if dt is not None:
        gone = model.difference(before, after)[list(problem.velocities)]
        names = [name for v, name in enumerate(_velocity_names(model)) if v in problem.velocities]
        resting = {limit.name for _, limit in met}  # where there is nothing left to brake for
        found += _speeds(problem, names, gone, dt, updates)
        limited = _rates(problem, work, names, gone, dt)
        found += [limit for limit in limited if limit.kind == "acceleration" or limit.name not in resting]
        found += _twists(problem, names, gone, dt, updates)
    return tuple(found)


def at_distance(limit: Shapes, model: Model, near: Proximity) -> tuple[ActiveLimit, ...]:
    """The limit of the two shapes that are nearest, where they are at it."""
    least = limit.least(model, *near.pair)
    if near.distance > least + _AT_DISTANCE:
        return ()
    return (ActiveLimit("distance", " and ".join(near.pair), near.distance, least),)


def _positions(model: Model, problem: Problem, q: Array) -> Iterator[tuple[int, ActiveLimit]]:
    """The limits of positions that are met, each with the first place in q of what it limits."""
    for c in problem.section("coordinates"):
        at, lower, upper = int(c["q"]), float(c["lower"]), float(c["upper"])
        for bound, slack in ((lower, q[at] - lower), (upper, upper - q[at])):
            if slack <= AT_LIMIT:
                yield at, ActiveLimit("position", model.coordinates[at], float(q[at]), bound)
    limited = [joint.name for joint in model.joints if joint.ball is not None]
    moved = {int(ball["q"]) for ball in problem.section("balls") if ball["limited"]}
    for name, ball in zip(limited, model.ball_limits, strict=True):
        if ball.place in moved:
            for what, (value, bound) in ball.met(q[ball.place : ball.place + 4]).items():
                yield ball.place, ActiveLimit("position", f"{name}.{what}", value, bound)


def _resting(model: Model, problem: Problem, posture: Array) -> set[int]:
    """The first places in q of what only a posture (nq,) moves, and that stays within its limits there."""
    if not len(posture):
        return set()
    moving = {*problem.section("slots").tolist(), *np.flatnonzero(rows_of_sums(problem)[0].any(axis=0)).tolist()}
    plain = {
        int(c["q"])
        for c in problem.section("coordinates")
        if int(c["v"]) not in moving and c["lower"] <= posture[c["q"]] <= c["upper"]
    }
    idle = {int(ball["q"]) for ball in problem.section("balls") if not {*range(ball["v"], ball["v"] + 3)} & moving}
    inside = {
        ball.place for ball in model.ball_limits if ball.inside(model.normalize(posture)[ball.place : ball.place + 4])
    }
    return plain | (idle & inside)


def _sums(model: Model, problem: Problem, q: Array) -> Iterator[ActiveLimit]:
    coordinates = problem.section("coordinates")
    for row, most, slack, rounding in zip(*rows_of_sums(problem), *slack_in(problem, q), strict=True):
        if slack <= max(AT_LIMIT, rounding):
            names = " and ".join(model.coordinates[c["q"]] for c in coordinates if row[c["v"]] != 0.0)
            scale = float(np.abs(row).max())
            yield ActiveLimit("linear", names, float(most - slack) / scale, float(most) / scale)


def _speeds(problem: Problem, names: list[str], gone: Array, dt: float, updates: int) -> Iterator[ActiveLimit]:
    rates = problem.section("rates")
    most = rates["speed"] if len(rates) else updates * problem.section("speeds")
    for name, x, speed in zip(names, gone.tolist(), most.tolist(), strict=True):
        if abs(x) >= (1.0 - AT_LIMIT) * speed:
            yield ActiveLimit("velocity", name, x / dt, float(np.copysign(speed, x)) / dt)


def _rates(problem: Problem, work: Array, names: list[str], gone: Array, dt: float) -> Iterator[ActiveLimit]:
    """Accelerations, and where a joint met the bound of its step that is neither its acceleration nor its speed."""
    rows = (
        work[problem.rows(name)].tolist() for name in ("motion.displacement_change", "motion.least", "motion.largest")
    )
    for name, rate, x, change, *ends in zip(names, problem.section("rates"), gone.tolist(), *rows, strict=False):
        speed, most, slack = float(rate["speed"]), float(rate["change"]), AT_LIMIT * float(rate["change"])
        if abs(change) >= most - slack:
            yield ActiveLimit("acceleration", name, change / dt**2, float(np.copysign(most, change)) / dt**2)
        elif abs(x) < (1.0 - AT_LIMIT) * speed:
            end = min(ends, key=lambda end: abs(x - end))  # both, where there is room for one speed alone
            if abs(x - end) <= slack:
                kind: Kind = "jerk" if rate["jerk"] < NO_LIMIT else "braking"
                yield ActiveLimit(kind, name, x / dt, end / dt)


def _twists(problem: Problem, names: list[str], gone: Array, dt: float, updates: int) -> Iterator[ActiveLimit]:
    for twist in problem.section("twists"):
        first, count, most = int(twist["first"]), int(twist["count"]), updates * float(twist["most"])
        length = float(np.linalg.norm(gone[first : first + count]))
        if length >= (1.0 - AT_LIMIT) * most:
            yield ActiveLimit("twist", names[first].partition("[")[0], length / dt, most / dt)


def _velocity_names(model: Model) -> list[str]:
    """(nv,) the joint of each velocity, with its number where the joint has several."""
    names = []
    for joint in model.joints:
        names += [joint.name] if joint.nv == 1 else [f"{joint.name}[{i}]" for i in range(joint.nv)]
    return names
