"""What a user's functions have in common: run once in plain Python, compared with differences, compiled."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.jit import compiler, plain

_ALIKE: Final = 1e-3
"""Against the largest entry, how far a derivative may be from the difference quotient."""


def run(name: str, owner: str, function: Callable[..., Any], where: str, *arguments: Array) -> Any:
    """What `function` returns; all arguments but the last are read-only if there are several, else the only one is.

    Raises ValueError if it raises.
    """
    for argument in arguments[:-1] or arguments:
        argument.flags.writeable = False
    try:
        with np.errstate(all="ignore"):
            found = function(*arguments)
    except Exception as error:
        raise InvalidValue(
            "own-function", f"{name} of {owner} raises {type(error).__name__} at {where}: {error}"
        ) from error
    if len(arguments) > 1 and found is not None:
        last = "second" if len(arguments) == 2 else "third"
        raise InvalidValue(
            "own-function", f"{name} of {owner} returns something; it must write into its {last} argument instead"
        )
    return found


def refuse_mismatch(name: str, of: str, owner: str, where: str, given: Array, found: Array, size: float) -> None:
    """Raises ValueError where derivatives `given` are not what differences `found`, of a function of this `size`."""
    if not (np.isfinite(given).all() and np.isfinite(found).all()):
        return
    away = np.abs(given - found)
    if away.max(initial=0.0) > _ALIKE * max(np.abs(found).max(), np.abs(given).max()) + 1e-8 * size:
        at = tuple(int(i) for i in np.unravel_index(away.argmax(), away.shape))
        raise InvalidValue(
            "own-function",
            f"{name} of {owner} is not that of its {of}: at {where} it gives {given[at]:.6g} for entry {list(at)}, and "
            f"differences of {of} give {found[at]:.6g}",
        )


def compiled(name: str, owner: str, last: str, function: Callable[..., Any], *signature: Any) -> Any:
    """The function compiled; raises ValueError that says what Numba found, `last` being the place of the output."""
    made = compiler(f"{name} of {owner}")
    try:
        return made.adopt(plain(function), *signature)
    except Exception as error:
        raise InvalidValue(
            "own-function",
            f"{name} of {owner} is not compiled by Numba: {made.heart(error)}.  It must do with numbers, loops and "
            "what Numba knows of NumPy, read of what is around it only numbers, tuples, arrays and functions of "
            f"Numba's, and write into its {last} argument",
        ) from error
