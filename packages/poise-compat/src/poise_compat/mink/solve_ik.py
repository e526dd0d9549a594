"""mink's `solve_ik`: the velocity of a step."""

from collections.abc import Iterable, Sequence
from typing import Any

from poise.extending import Array, finite_positive
from poise_compat import steps
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.exceptions import NoSolutionFound
from poise_compat.mink.limits import CollisionAvoidanceLimit, ConfigurationLimit, Limit
from poise_compat.mink.limits.configuration_limit import ranges
from poise_compat.mink.tasks import BaseTask, Task
from poise_compat.steps import Inequality, Part


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
    chosen = [ranges(configuration)] if limits is None else list(limits)
    if chosen and not any(isinstance(limit, ConfigurationLimit) for limit in chosen):
        chosen.append(ranges(configuration))
    part, inequalities = _objective(configuration, tasks, damping), _inequalities(configuration, chosen, dt)
    equalities = steps.equations(configuration, constraints or ())
    step = steps.step(configuration, part, inequalities, equalities, NoSolutionFound)

    def is_feasible(dq: Array) -> bool:
        then = configuration.integrate(dq, 1.0)
        return all(limit.satisfied(configuration, then) for limit in chosen)

    return steps.shortened(step, is_feasible) / dt


def build_ik(
    configuration: Configuration,
    tasks: Iterable[BaseTask],
    dt: float,
    damping: float = 1e-12,
    limits: Iterable[Limit] | None = None,
    constraints: Iterable[Task] | None = None,
) -> Any:
    """The step as a `qpsolvers.Problem`; needs qpsolvers."""
    inequalities = _inequalities(configuration, [ranges(configuration)] if limits is None else list(limits), dt)
    equalities = steps.equations(configuration, constraints or ())
    return steps.programme(_objective(configuration, tasks, damping), inequalities, equalities)


def _objective(configuration: Configuration, tasks: Iterable[BaseTask], damping: float) -> Part:
    return Part.sum(configuration.nv, [task.residual(configuration) for task in tasks], damping)


def _inequalities(configuration: Configuration, limits: Sequence[Limit], dt: float) -> list[Inequality]:
    found = list[Inequality]()
    for limit in limits:
        if not isinstance(limit, Limit):
            raise TypeError(f"limits holds {limit!r}, which is no Limit of {__package__}")
        rows, most = limit.compute_qp_inequalities(configuration, dt)
        if rows is not None and most is not None:
            found.append(Inequality(rows, most, isinstance(limit, ConfigurationLimit | CollisionAvoidanceLimit)))
    return found
