"""mink's `solve_ik`: the velocity of a step."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from poise.checks import finite_positive
from poise.compat.mink.configuration import Configuration
from poise.compat.mink.exceptions import NoSolutionFound
from poise.compat.mink.limits import CollisionAvoidanceLimit, ConfigurationLimit, Limit
from poise.compat.mink.limits.joints import ranges
from poise.compat.mink.tasks import BaseTask, Task
from poise.compat.mink.tasks.task import Part
from poise.compat.quadratic import least_squares, stacked
from poise.spatial import Array

_HALVES: Final = 20
"""How often a step that breaks a limit, as what is not linear can, is cut in half."""


def solve_ik(
    configuration: Configuration,
    tasks: Iterable[BaseTask],
    dt: float,
    solver: str = "",
    damping: float = 1e-12,
    safety_break: bool = False,
    limits: Iterable[Limit] | None = None,
    constraints: Iterable[Task] | None = None,
    **kwargs: Any,
) -> Array:
    """(nv,) velocity of MuJoCo that leads towards the tasks, within limits, and keeps the tasks of `constraints`.

    Limits hold at the configuration that it leads to in `dt` [s], those of position even where `limits` names others
    alone; with `[]` none do.  A joint that is outside, and cannot come back so fast, gets no farther out.  `solver` and
    its settings decide nothing.  Raises NotWithinConfigurationLimits with `safety_break`, TargetNotSet,
    NoSolutionFound, and TypeError for a limit of another kind.
    """
    finite_positive("dt", dt)
    configuration.check_limits(safety_break=safety_break)
    kept = [ranges(configuration)] if limits is None else list(limits)
    if kept and not any(isinstance(limit, ConfigurationLimit) for limit in kept):
        kept.append(ranges(configuration))
    rows, wants, mu, slope = _objective(configuration, list(tasks), damping)
    (sides, most), exact = _inequalities(configuration, kept, dt), _equations(configuration, constraints or ())
    try:
        last = least_squares(rows, wants, mu, (sides, most), exact, configuration.last, slope)
    except ValueError:
        outside = [limit for limit in kept if isinstance(limit, ConfigurationLimit | CollisionAvoidanceLimit)]
        firm = _inequalities(configuration, [limit for limit in kept if limit not in outside], dt)
        there = _inequalities(configuration, outside, dt)
        eased = stacked(configuration.nv, [firm, (there[0], np.maximum(there[1], 0.0))])
        last = _no_farther(rows, wants, mu, eased, exact, None, slope)
    configuration.last, step = last, last[: configuration.nv]
    for _ in range(_HALVES):
        then = configuration.integrate(step, 1.0)
        if all(limit.kept(configuration, then) for limit in kept):
            break
        step = 0.5 * step
    return step / dt


def build_ik(
    configuration: Configuration,
    tasks: Iterable[BaseTask],
    dt: float,
    damping: float = 1e-12,
    limits: Iterable[Limit] | None = None,
    constraints: Iterable[Task] | None = None,
) -> Any:
    """The step as a `qpsolvers.Problem`; needs qpsolvers."""
    from qpsolvers import Problem

    rows, wants, mu, slope = _objective(configuration, list(tasks), damping)
    within = _inequalities(configuration, [ranges(configuration)] if limits is None else list(limits), dt)
    exact = _equations(configuration, constraints or ())
    pairs = [numbers if len(numbers) else None for pair in (within, exact) for numbers in pair]
    return Problem(rows.T @ rows + mu * np.eye(configuration.nv), slope - wants @ rows, *pairs)


def _no_farther(*problem: Any) -> Array:
    try:
        return least_squares(*problem)
    except ValueError as error:
        raise NoSolutionFound(str(error)) from None


def _objective(configuration: Configuration, tasks: Sequence[BaseTask], damping: float) -> Part:
    parts = [task.residual(configuration) for task in tasks]
    mu, slope = damping + sum(part.mu for part in parts), sum(part.slope for part in parts)
    return Part(*stacked(configuration.nv, parts), mu, slope)


def _inequalities(configuration: Configuration, limits: Sequence[Limit], dt: float) -> tuple[Array, Array]:
    for limit in limits:
        if not isinstance(limit, Limit):
            raise TypeError(f"limits holds {limit!r}, which is no Limit of {__package__}")
    return stacked(configuration.nv, [limit.compute_qp_inequalities(configuration, dt) for limit in limits])


def _equations(configuration: Configuration, tasks: Iterable[Task]) -> tuple[Array, Array]:
    parts = [(t.compute_jacobian(configuration), -t.gain * t.compute_error(configuration)) for t in tasks]
    return stacked(configuration.nv, parts)
