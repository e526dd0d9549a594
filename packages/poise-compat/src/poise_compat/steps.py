"""A step of differential inverse kinematics, as mink and pink have it: tasks are squares, limits are inequalities."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np

from poise.extending import Array, least_squares
from poise_compat.quadratic import root, stacked

_HALVES: Final = 20
"""How often a step that breaks what is not linear is cut in half."""


class Part(NamedTuple):
    """|rows dq - wants|^2 + mu |dq|^2 + 2 slope^T dq, twice an objective; (k, nv), (k,), a number and (nv,)."""

    rows: Array
    wants: Array
    mu: float = 0.0
    slope: Array | float = 0.0

    @classmethod
    def of(cls, hessian: Array, slope: Array) -> Self:
        """dq^T H dq / 2 + c^T dq of a hessian (nv, nv) and a slope (nv,), doubled."""
        rows = root(np.asarray(hessian))
        return cls(rows, np.zeros(len(rows)), slope=slope)

    @classmethod
    def sum(cls, n: int, parts: Sequence["Part"], damping: float) -> Self:
        """All of n velocities, and what their squares cost."""
        mu, slope = damping + sum(part.mu for part in parts), sum(part.slope for part in parts)
        return cls(*stacked(n, parts), mu, slope)

    @property
    def objective(self) -> tuple[Array, Array]:
        """H (nv, nv) and c (nv,) of dq^T H dq / 2 + c^T dq."""
        rows = self.rows
        return rows.T @ rows + self.mu * np.eye(rows.shape[1]), self.slope - self.wants @ rows


class Inequality(NamedTuple):
    """G dq <= h, (k, nv) and (k,); what may give way gets no farther out where it cannot hold."""

    rows: Array
    most: Array
    may_give_way: bool = False


def equations(configuration: Any, tasks: Iterable[Any]) -> tuple[Array, Array]:
    """A (k, nv) and b (k,) of A dq = b, which tasks are that must hold."""
    parts = [(t.compute_jacobian(configuration), -t.gain * t.compute_error(configuration)) for t in tasks]
    return stacked(configuration.model.nv, parts)


def step(
    configuration: Any,
    part: Part,
    inequalities: Sequence[Inequality],
    equalities: tuple[Array, Array],
    refusal: type[Exception],
) -> Array:
    """dq (nv,), which looks first at what held the last of the configuration; raises `refusal` where there is none."""
    rows, wants, mu, slope = part
    n = rows.shape[1]
    try:
        last = least_squares(rows, wants, mu, stacked(n, inequalities), equalities, configuration.last, slope)
    except ValueError:
        eased = [(s.rows, np.maximum(s.most, 0.0) if s.may_give_way else s.most) for s in inequalities]
        try:
            last = least_squares(rows, wants, mu, stacked(n, eased), equalities, None, slope)
        except ValueError as error:
            raise refusal(str(error)) from None
    configuration.last = last
    return last[:n]


def shortened(dq: Array, is_feasible: Callable[[Array], bool]) -> Array:
    """A step (nv,), cut in half until it leads to where what is not linear holds."""
    for _ in range(_HALVES):
        if is_feasible(dq):
            break
        dq = 0.5 * dq
    return dq


def programme(part: Part, inequalities: Sequence[Inequality], equalities: tuple[Array, Array]) -> Any:
    """The step as a `qpsolvers.Problem`; needs qpsolvers."""
    from qpsolvers import Problem

    pairs = [
        numbers if len(numbers) else None
        for pair in (stacked(part.rows.shape[1], inequalities), equalities)
        for numbers in pair
    ]
    return Problem(*part.objective, *pairs)
