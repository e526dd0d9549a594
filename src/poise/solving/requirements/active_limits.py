"""Which limits a step of a Tracker ended at: found from q before and after it, and from what the step was left."""

from collections.abc import Iterator

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import AT_LIMIT
from poise.kernels.requirements.braking import NO_LIMIT
from poise.model.model import Model
from poise.solving.problem.problem import Problem
from poise.solving.requirements.active_limit import ActiveLimit, Kind
from poise.solving.requirements.balls import at_ball_limits
from poise.solving.requirements.positions import at_limits
from poise.solving.requirements.sums import at_limits_of_sums, rows_of_sums


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
    found = [limit for at, limit in met if at not in rests]
    found += at_limits_of_sums(model, problem, after)
    if dt is not None:
        gone = model.difference(before, after)[list(problem.velocities)]
        names = [name for v, name in enumerate(_velocity_names(model)) if v in problem.velocities]
        resting = {limit.name for _, limit in met}  # where there is nothing left to brake for
        found += _speeds(problem, names, gone, dt, updates)
        limited = _rates(problem, work, names, gone, dt)
        found += [limit for limit in limited if limit.kind == "acceleration" or limit.name not in resting]
        found += _twists(problem, names, gone, dt, updates)
    return tuple(found)


def _positions(model: Model, problem: Problem, q: Array) -> Iterator[tuple[int, ActiveLimit]]:
    """The limits of positions that are met, each with the first place in q of what it limits."""
    coordinates = problem.section("coordinates")
    lower, upper = coordinates["lower"], coordinates["upper"]
    for c, *met in zip(coordinates, *at_limits(q[coordinates["q"]], lower, upper), strict=True):
        at = int(c["q"])
        for bound in [float(c[end]) for end, here in zip(("lower", "upper"), met, strict=True) if here]:
            yield at, ActiveLimit("position", model.coordinates[at], float(q[at]), bound)
    moved = {int(ball["q"]) for ball in problem.section("balls") if ball["limited"]}
    yield from ((place, limit) for place, limit in at_ball_limits(model, q) if place in moved)


def _resting(model: Model, problem: Problem, posture: Array) -> set[int]:
    """The first places in q of what only a posture (nq,) moves, and that stays within its limits there."""
    if not len(posture):
        return set()
    moving = {*problem.section("slots").tolist(), *np.flatnonzero(rows_of_sums(problem).any(axis=0)).tolist()}
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
