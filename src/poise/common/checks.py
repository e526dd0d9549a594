"""Checks of arguments, which name the argument; a wrong one is a ValueError, or a ShapeError."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.errors import InvalidType, InvalidValue, ShapeError

_DOUBLE: Final = np.dtype(np.float64)
WHOLE: Final = 2**62
"""A number of iterations that is never reached, and the first seed that the kernel's arithmetic has no room for."""


def broken_rule(value: Any, rule: str) -> str:
    """The code of the rule that a number breaks, unless it is none, or infinite or NaN."""
    if not _is_number(value):
        return "not-a-number"
    return rule if abs(value) < math.inf else "not-finite"


def positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a positive number."""
    if not _is_number(value) or not value > 0.0:
        raise InvalidValue(
            broken_rule(value, "not-positive"), f"{name} is {value!r}; it must be a positive number{_alone(value)}"
        )


def finite_positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is a positive number and not infinite."""
    positive(name, value)
    if value == math.inf:
        raise InvalidValue("not-finite", f"{name} is infinite; it must be a finite number")


def not_negative(name: str, value: float, unit: str = "") -> None:
    """Raises ValueError unless `value` is a finite number of 0 or more."""
    if not _is_number(value) or not 0.0 <= value < math.inf:
        raise InvalidValue(
            broken_rule(value, "negative"),
            f"{name} is {value!r}; it must be a finite number, 0 or more{unit}{_alone(value)}",
        )


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises ValueError unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidValue("unknown-word", f"{name} is {value!r}; it must be one of {', '.join(map(repr, choices))}")


def by_name(name: str, value: object, example: str) -> None:
    """Raises TypeError unless `value` is a mapping, such as the `example`."""
    if not isinstance(value, Mapping):
        raise InvalidType("wrong-type", f"{name} must go by name, as in {example}, got {value!r}")


def yes_or_no(name: str, value: object, meaning: str = "") -> None:
    """Raises TypeError unless `value` is True or False; `meaning` says what it decides: ", whether ..."."""
    if not isinstance(value, bool):
        raise InvalidType("not-a-bool", f"{name} must be True or False{meaning}, got {value!r}")


def whole(name: str, value: int, least: int) -> None:
    """Raises ValueError unless `value` is a whole number from `least` on that the kernel has room for."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise InvalidValue("not-whole", f"{name} is {value!r}; it must be a whole number{_alone(value)}")
    if value < least:
        raise InvalidValue("out-of-range", f"{name} is {value}; it must be at least {least}")
    if value >= WHOLE:
        raise InvalidValue("out-of-range", f"{name} is {value}; it must be less than 2**62")


def numbers(name: str, value: ArrayLike, kind: str = "numbers") -> Array:
    """`value` as float64; raises ShapeError naming `name`, and the `kind` that it must be, for what is no numbers.

    Texts and truth values are none, though NumPy takes them for such.  Raises ValueError for an entry that is masked.
    """
    refuse_masked(name, value)
    try:
        array = np.asarray(value)
        if array.dtype is _DOUBLE:
            return array
        if array.dtype.kind in "fiu" or (array.dtype.kind == "O" and all(map(_is_number, array.flat))):
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ShapeError(f"{name} must be {kind}, got {value!r}")


def with_holes(name: str, value: ArrayLike, kind: str = "numbers") -> Array:
    """The same, NaN where a masked array hides what it has."""
    hidden = getattr(value, "mask", None)
    if not isinstance(hidden, np.ndarray):
        return numbers(name, value, kind)
    return np.where(hidden, np.nan, numbers(name, np.asarray(value), kind))


def masked_at(value: object) -> tuple[int, ...] | None:
    """The first entry that a masked array hides, or one in a list; None where nothing is hidden."""
    hidden = getattr(value, "mask", None)
    if isinstance(hidden, np.ndarray):
        return tuple(int(i) for i in np.argwhere(hidden)[0]) if hidden.any() else None
    if isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            if hasattr(each, "mask") and (at := masked_at(each)) is not None:
                return i, *at
    return None


def refuse_masked(name: str, value: object) -> None:
    """Raises ValueError naming `name` and the index if an entry is masked: NumPy would take what is under the mask."""
    at = masked_at(value)
    if at is not None:
        raise InvalidValue(
            "masked", f"{name}{_place(at)} is masked; every entry must be a number: give it one, or leave it out"
        )


def _alone(value: object) -> str:
    """How an array of one entry becomes a number, for messages."""
    return ": its .item() is one" if type(value) is np.ndarray and value.size == 1 else ""


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def finite(name: str, value: ArrayLike, *tail: int) -> Array:
    """`value` as float64 with trailing shape `tail`; raises ShapeError or ValueError naming `name` and the index."""
    array = numbers(name, value, f"numbers of shape {_shape(tail)}" if tail else "numbers")
    if array.ndim < len(tail) or array.shape[array.ndim - len(tail) :] != tail:
        raise ShapeError(f"{name} must have shape {_shape(tail)}, got {array.shape}")
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InvalidValue("not-finite", f"{name}{_place(index)} is {array[index]}; every entry must be finite")
    return array


def _place(index: tuple[int, ...]) -> str:
    """An index, as messages have it."""
    return f"[{', '.join(map(str, index))}]" if index else ""


def _shape(tail: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, tail))}{',' if len(tail) == 1 else ''})"


def batch_of(**rows: Array) -> tuple[int, ...]:
    """The batch axes that arrays (..., numbers) have together; raises ShapeError where they do not fit."""
    try:
        return np.broadcast_shapes(*(each.shape[:-1] for each in rows.values()))
    except ValueError:
        shapes = ", ".join(f"{name} of shape {each.shape}" for name, each in rows.items())
        raise ShapeError(f"{shapes} do not go together: give as many rows of each, or one") from None


def one_number(name: str, value: ArrayLike) -> float:
    """One number, bare or alone in a list; raises ShapeError naming the argument."""
    array = numbers(name, value, "one number")
    if array.shape not in ((), (1,)):
        raise ShapeError(f"{name} must be one number, got shape {array.shape}")
    return float(array.item())


def number(name: str, value: ArrayLike) -> float:
    """The same, finite; raises ValueError too."""
    found = one_number(name, value)
    if not math.isfinite(found):
        raise InvalidValue("not-finite", f"{name} is {found}; it must be finite")
    return found
