"""Checks of arguments, which name the argument; a wrong one is a ValueError, or a ShapeError."""

import math
from numbers import Real
from typing import TYPE_CHECKING, Final

import numpy as np

from poise.errors import ShapeError

if TYPE_CHECKING:
    from poise.spatial import Array, ArrayLike

_DOUBLE: Final = np.dtype(np.float64)
WHOLE: Final = 2**62
"""A number of iterations that is never reached, and the first seed that the kernel's arithmetic has no room for."""


def positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a positive number."""
    if not _is_number(value) or not value > 0.0:
        raise ValueError(f"{name} is {value!r}; it must be a positive number")


def finite_positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a positive number and not infinite."""
    positive(name, value)
    if value == math.inf:
        raise ValueError(f"{name} is infinite; it must be a finite number")


def not_negative(name: str, value: float, unit: str = "") -> None:
    """Raises ValueError unless `value` is a finite number of 0 or more."""
    if not _is_number(value) or not 0.0 <= value < math.inf:
        raise ValueError(f"{name} is {value!r}; it must be a finite number, 0 or more{unit}")


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}")


def whole(name: str, value: int, least: int) -> None:
    """Raises ValueError unless `value` is a whole number from `least` on that the kernel has room for."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}; it must be a whole number")
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}")
    if value >= WHOLE:
        raise ValueError(f"{name} is {value}; it must be less than 2**62")


def numbers(name: str, value: "ArrayLike", kind: str = "numbers") -> "Array":
    """`value` as float64; raises ShapeError naming `name`, and the `kind` that it must be, for what is no numbers.

    Texts and truth values are none, though NumPy takes them for such.
    """
    try:
        array = np.asarray(value)
        if array.dtype is _DOUBLE:
            return array
        if array.dtype.kind in "fiu" or (array.dtype.kind == "O" and all(map(_is_number, array.flat))):
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ShapeError(f"{name} must be {kind}, got {value!r}")


def with_holes(name: str, value: "ArrayLike", kind: str) -> "Array":
    """The same, NaN where a masked array hides what it has."""
    array, hidden = numbers(name, value, kind), getattr(value, "mask", None)
    return np.where(hidden, np.nan, array) if isinstance(hidden, np.ndarray) else array


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def finite(name: str, value: "ArrayLike", *tail: int) -> "Array":
    """`value` as float64 with trailing shape `tail`; raises ShapeError or ValueError naming `name` and the index."""
    array = numbers(name, value, f"numbers of shape {_shape(tail)}" if tail else "numbers")
    if array.ndim < len(tail) or array.shape[array.ndim - len(tail) :] != tail:
        raise ShapeError(f"{name} must have shape {_shape(tail)}, got {array.shape}")
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = f"[{', '.join(map(str, index))}]" if index else ""
        raise ValueError(f"{name}{place} is {array[index]}; every entry must be finite")
    return array


def _shape(tail: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, tail))}{',' if len(tail) == 1 else ''})"


def one_number(name: str, value: "ArrayLike") -> float:
    """One number, bare or alone in a list; raises ShapeError naming the argument."""
    array = numbers(name, value, "one number")
    if array.shape not in ((), (1,)):
        raise ShapeError(f"{name} must be one number, got shape {array.shape}")
    return float(array.item())


def number(name: str, value: "ArrayLike") -> float:
    """The same, finite; raises ValueError too."""
    found = one_number(name, value)
    if not math.isfinite(found):
        raise ValueError(f"{name} is {found}; it must be finite")
    return found
