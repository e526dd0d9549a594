"""pink's `solve_ik`: the velocity of a step."""

from collections.abc import Iterable
from typing import Any

from poise.extending import Array, finite_positive
from poise_compat import steps
from poise_compat.pink.barriers import Barrier
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import NoSolutionFound
from poise_compat.pink.limits import ConfigurationLimit, Limit
from poise_compat.pink.limits.usual import usual
from poise_compat.pink.tasks import Task
from poise_compat.steps import Inequality, Part


def solve_ik(
    configuration: Configuration, tasks: Iterable[Task], dt: float, solver: str = "", damping: float = 1e-12,
    limits: Iterable[Limit] | None = None, barriers: Iterable[Barrier] | None = None,
    constraints: Iterable[Task] | None = None, safety_break: bool = True, **kwargs: Any,
) -> Array:  # fmt: skip
    """(nv,) velocity of Pinocchio that leads towards the tasks, within limits, and keeps the tasks of `constraints`.

    Limits hold at the configuration that it leads to in `dt` [s]: None: those of positions and speeds of the model,
    with `[]` none.  A joint that is outside, and cannot come back so fast, gets no farther out.  A step that would lead
    beyond a barrier is shortened.  `solver` and its settings decide nothing.  Raises NotWithinConfigurationLimits with
    `safety_break`, TargetNotSet, NoSolutionFound, and TypeError for limits and barriers of another kind.
    """
    finite_positive("dt", dt)
    configuration.check_limits(safety_break=safety_break)
    beyond = list(barriers or ())
    part, inequalities = (
        _objective(configuration, [*tasks, *beyond], damping),
        _inequalities(configuration, limits, beyond, dt),
    )
    equalities = steps.equations(configuration, constraints or ())
    step = steps.step(configuration, part, inequalities, equalities, NoSolutionFound)

    def is_feasible(dq: Array) -> bool:
        then = configuration.at(configuration.integrate(dq, 1.0))
        return all(barrier.satisfied(configuration, then) for barrier in beyond)

    return (steps.shortened(step, is_feasible) if beyond else step) / dt


def build_ik(
    configuration: Configuration, tasks: Iterable[Task], dt: float, damping: float = 1e-12,
    limits: Iterable[Limit] | None = None, barriers: Iterable[Barrier] | None = None,
    constraints: Iterable[Task] | None = None,
) -> Any:  # fmt: skip
    """The step as a `qpsolvers.Problem`; needs qpsolvers."""
    beyond = list(barriers or ())
    inequalities, equalities = (
        _inequalities(configuration, limits, beyond, dt),
        steps.equations(configuration, constraints or ()),
    )
    return steps.programme(_objective(configuration, [*tasks, *beyond], damping), inequalities, equalities)


def _objective(configuration: Configuration, terms: Iterable[Any], damping: float) -> Part:
    return Part.sum(configuration.model.nv, [term.residual(configuration) for term in terms], damping)


def _inequalities(
    configuration: Configuration, limits: Iterable[Limit] | None, barriers: list[Barrier], dt: float
) -> list[Inequality]:
    chosen = usual(configuration.model) if limits is None else list(limits)
    each_kind: list[tuple[Any, type[Any]]] = [*((k, Limit) for k in chosen), *((b, Barrier) for b in barriers)]
    found = list[Inequality]()
    for each, kind in each_kind:
        if not isinstance(each, kind):
            raise TypeError(f"{each!r} is no {kind.__name__} of {__package__}")
        part = each.compute_qp_inequalities(configuration, dt)
        if part is not None:
            rows, most = part
            found.append(Inequality(rows, most, isinstance(each, ConfigurationLimit)))
    return found
