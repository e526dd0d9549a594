"""pink's `solve_ik`: the velocity of a step."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from poise.checks import finite_positive
from poise.compat.pink.barriers import Barrier
from poise.compat.pink.configuration import Configuration
from poise.compat.pink.exceptions import NoSolutionFound
from poise.compat.pink.limits import ConfigurationLimit, Limit
from poise.compat.pink.tasks import Task
from poise.compat.quadratic import least_squares, root, stacked
from poise.spatial import Array

_HALVES: Final = 20
"""How often a step that breaks a barrier, as what is not linear can, is cut in half."""


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
    some, beyond = list(tasks), list(barriers or ())
    rows, wants, mu, slope = _objective(configuration, [*some, *beyond], damping)
    kept, exact = _kept(configuration, limits, beyond), _equations(configuration, constraints or ())
    within = _inequalities(configuration, kept, dt)
    try:
        last = least_squares(rows, wants, mu, within, exact, configuration.last, slope)
    except ValueError:
        firm = _inequalities(configuration, [each for each in kept if not isinstance(each, ConfigurationLimit)], dt)
        there = _inequalities(configuration, [each for each in kept if isinstance(each, ConfigurationLimit)], dt)
        eased = stacked(configuration.model.nv, [firm, (there[0], np.maximum(there[1], 0.0))])
        last = _no_farther(rows, wants, mu, eased, exact, None, slope)
    configuration.last, step = last, last[: configuration.model.nv]
    for _ in range(_HALVES if beyond else 0):
        then = configuration.at(configuration.integrate(step, 1.0))
        if all(barrier.kept(configuration, then) for barrier in beyond):
            break
        step = 0.5 * step
    return step / dt


def build_ik(
    configuration: Configuration, tasks: Iterable[Task], dt: float, damping: float = 1e-12,
    limits: Iterable[Limit] | None = None, barriers: Iterable[Barrier] | None = None,
    constraints: Iterable[Task] | None = None,
) -> Any:  # fmt: skip
    """The step as a `qpsolvers.Problem`; needs qpsolvers."""
    from qpsolvers import Problem

    beyond = list(barriers or ())
    rows, wants, mu, slope = _objective(configuration, [*tasks, *beyond], damping)
    within = _inequalities(configuration, _kept(configuration, limits, beyond), dt)
    exact = _equations(configuration, constraints or ())
    pairs = [numbers if len(numbers) else None for pair in (within, exact) for numbers in pair]
    return Problem(rows.T @ rows + mu * np.eye(configuration.model.nv), slope - wants @ rows, *pairs)


def _no_farther(*problem: Any) -> Array:
    try:
        return least_squares(*problem)
    except ValueError as error:
        raise NoSolutionFound(str(error)) from None


def _objective(configuration: Configuration, terms: Iterable[Any], damping: float) -> tuple[Array, Array, float, Array]:
    parts, mu, slope = [], damping, np.zeros(configuration.model.nv)
    for term in terms:
        if type(term).compute_qp_objective in (Task.compute_qp_objective, Barrier.compute_qp_objective):
            rows, wants, own = term.residual(configuration)
        else:
            hessian, linear = term.compute_qp_objective(configuration)
            rows, own, slope = root(np.asarray(hessian)), 0.0, slope + linear
            wants = np.zeros(len(rows))
        parts.append((rows, wants))
        mu += own
    return *stacked(configuration.model.nv, parts), mu, slope


def _kept(configuration: Configuration, limits: Iterable[Limit] | None, barriers: list[Barrier]) -> list[Any]:
    model = configuration.model
    own = getattr(model, "floating_base_velocity_limit", None)
    usual = [model.configuration_limit, model.velocity_limit, *([own] if own else [])]
    kept = usual if limits is None else list(limits)
    for each, kind in ((each, kind) for some, kind in ((kept, Limit), (barriers, Barrier)) for each in some):
        if not isinstance(each, kind):
            raise TypeError(f"{each!r} is no {kind.__name__} of {__package__}")
    return [*kept, *barriers]


def _inequalities(configuration: Configuration, kept: Iterable[Any], dt: float) -> tuple[Array, Array]:
    parts = [each.compute_qp_inequalities(configuration, dt) for each in kept]
    return stacked(configuration.model.nv, [part for part in parts if part is not None])


def _equations(configuration: Configuration, tasks: Iterable[Task]) -> tuple[Array, Array]:
    parts = [(t.compute_jacobian(configuration), -t.gain * t.compute_error(configuration)) for t in tasks]
    return stacked(configuration.model.nv, parts)
