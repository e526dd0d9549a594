"""A user's criterion, prepared: tried once in plain Python, then compiled."""

from collections.abc import Callable
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.jit import address, plain
from poise.kernels.machine.kinds import FROZEN, REALS, TABLE
from poise.methods.criteria import Potential
from poise.model.model import Model
from poise.solving.arguments.user_functions import compiled, refuse_mismatch, run

_NEAR: Final = 1e-6
"""Half the way of a difference quotient [rad or m]."""
_OWNER: Final = "the Potential"


@final
class Compiled:
    """Where the gradient and the Hessian of a `Potential` are; keep it as long as kernels call them."""

    __slots__ = ("_arguments", "_references", "functions", "gradient", "hessian")

    def __init__(self, model: Model, potential: Potential, curved: bool) -> None:
        """Raises ValueError, with the way out, for functions that do not work, are not compiled or do not agree.

        The Hessian counts only if the method is `curved`.
        """
        self._arguments = model, potential, curved
        _try(model, potential, curved=curved)
        self.functions: list[Callable[..., None]] = [potential.gradient]
        references = [compiled("gradient", _OWNER, "second", potential.gradient, FROZEN, REALS)]
        if curved and potential.hessian is not None:
            self.functions.append(potential.hessian)
            references.append(compiled("hessian", _OWNER, "second", potential.hessian, FROZEN, TABLE))
        self._references = references
        self.gradient = address(references[0], FROZEN, REALS)
        self.hessian = address(references[1], FROZEN, TABLE) if len(references) > 1 else 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Compiled, self._arguments


def _try(model: Model, potential: Potential, *, curved: bool) -> None:
    """Raises ValueError unless the functions work at some configuration and are each other's derivatives there."""
    q, nv = model.sample(seed=0), model.nv

    def value(at: Array) -> Array:
        function = plain(potential.value)
        found = run("value", _OWNER, lambda q: float(function(q)), f"q = {at.tolist()}", at.copy())
        return np.atleast_1d(np.float64(found))

    def gradient(at: Array) -> Array:
        out = np.zeros(nv)
        run("gradient", _OWNER, plain(potential.gradient), f"q = {at.tolist()}", at.copy(), out)
        return out

    _compare(model, q, "gradient", gradient(q), "value", value)
    if curved and potential.hessian is not None:
        out = np.zeros((nv, nv))
        run("hessian", _OWNER, plain(potential.hessian), f"q = {q.tolist()}", q.copy(), out)
        _compare(model, q, "hessian", out, "gradient", gradient)


def _compare(model: Model, q: Array, name: str, given: Array, of: str, function: Callable[[Array], Array]) -> None:
    """Raises ValueError where `given` is not what differences of `function` along the velocities are."""
    ways = _NEAR * np.eye(model.nv)
    rows = [(function(model.integrate(q, way)) - function(model.integrate(q, -way))) / (2.0 * _NEAR) for way in ways]
    size = 1.0 + float(np.abs(function(q)).max(initial=0.0))
    refuse_mismatch(name, of, _OWNER, f"q = {q.tolist()}", given, np.array(rows).reshape(given.shape), size)
