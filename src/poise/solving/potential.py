"""A user's criterion, prepared: tried once in plain Python, then compiled."""

from collections.abc import Callable
from typing import Any, Final, Literal, final

import numpy as np

from poise.kernels.machine.jit import FROZEN, REALS, TABLE, address, adopt
from poise.kernels.methods.routines import heart
from poise.methods.criteria import Potential
from poise.model.model import Model
from poise.spatial import Array

_NEAR: Final = 1e-6
"""Half the way of a difference quotient [rad or m]."""
_ALIKE: Final = 1e-3
"""Against the largest entry, how far a derivative may be from the difference quotient."""


@final
class Compiled:
    """Where the gradient and the Hessian of a `Potential` are; keep it as long as kernels call them."""

    __slots__ = ("_kept", "gradient", "hessian")

    def __init__(self, model: Model, potential: Potential, *, curved: bool) -> None:
        """Raises ValueError, with the way out, for functions that do not work, are not compiled or do not agree.

        The Hessian counts only if the method is `curved`.
        """
        _try(model, potential, curved=curved)
        kept = [_compiled("gradient", potential.gradient, REALS)]
        if curved and potential.hessian is not None:
            kept.append(_compiled("hessian", potential.hessian, TABLE))
        self._kept = kept
        self.gradient = address(kept[0], FROZEN, REALS)
        self.hessian = address(kept[1], FROZEN, TABLE) if len(kept) > 1 else 0


def _compiled(name: str, function: Callable[..., Any], out: Any) -> Any:
    try:
        return adopt(plain(function), FROZEN, out)
    except Exception as error:
        raise ValueError(
            f"{name} of the Potential is not compiled by Numba: {heart(error)}.  It must do with numbers, loops and "
            "what Numba knows of NumPy, read of what is around it only numbers, tuples, arrays and functions of "
            "Numba's, and write into its second argument"
        ) from error


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function of what may be a function of Numba's."""
    inner: Callable[..., Any] = getattr(function, "py_func", function)
    return inner


def _try(model: Model, potential: Potential, *, curved: bool) -> None:
    """Raises ValueError unless the functions work at some configuration and are each other's derivatives there."""
    q, nv = model.sample(seed=0), model.nv

    def value(at: Array) -> Array:
        return np.atleast_1d(np.float64(_run("value", potential.value, at)))

    def gradient(at: Array) -> Array:
        out = np.zeros(nv)
        _run("gradient", potential.gradient, at, out)
        return out

    _compare(model, q, "gradient", gradient(q), "value", value)
    if curved and potential.hessian is not None:
        out = np.zeros((nv, nv))
        _run("hessian", potential.hessian, q, out)
        _compare(model, q, "hessian", out, "gradient", gradient)


def _run(name: Literal["value", "gradient", "hessian"], function: Callable[..., Any], q: Array, *out: Array) -> Any:
    given = q.copy()
    given.flags.writeable = False
    try:
        with np.errstate(all="ignore"):
            found = plain(function)(given, *out)
            if name == "value":
                found = float(found)
    except Exception as error:
        raise ValueError(
            f"{name} of the Potential raises {type(error).__name__} at q = {given.tolist()}: {error}"
        ) from error
    if name != "value" and found is not None:
        raise ValueError(f"{name} of the Potential returns something; it must write into its second argument instead")
    return found


def _compare(model: Model, q: Array, name: str, given: Array, of: str, function: Callable[[Array], Array]) -> None:
    """Raises ValueError where `given` is not what differences of `function` along the velocities are."""
    ways = _NEAR * np.eye(model.nv)
    rows = [(function(model.integrate(q, way)) - function(model.integrate(q, -way))) / (2.0 * _NEAR) for way in ways]
    found = np.array(rows).reshape(given.shape)
    if not (np.isfinite(given).all() and np.isfinite(found).all()):
        return
    size = 1.0 + float(np.abs(function(q)).max(initial=0.0))
    away = np.abs(given - found)
    if away.max(initial=0.0) > _ALIKE * max(np.abs(found).max(), np.abs(given).max()) + 1e-8 * size:
        at = tuple(int(i) for i in np.unravel_index(away.argmax(), away.shape))
        raise ValueError(
            f"{name} of the Potential is not that of its {of}: at q = {q.tolist()} it gives {given[at]:.6g} for entry "
            f"{list(at)}, and differences of {of} give {found[at]:.6g}"
        )
