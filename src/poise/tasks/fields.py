"""What the fields and targets of tasks may hold: checked, made such that nobody changes it, compared, as numbers."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import broken_rule, finite, numbers, one_number
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.layout import GOAL_NUMBERS
from poise.spatial import SE3, SO3, frozen

Weight: TypeAlias = ArrayLike
"""One number for all rows, or one a row; 0 drops a row."""
_LEAST = 1e-9
_FINEST = 1e-15
PLAIN: Final = frozenset((float, int, str, bool, type(None)))
IMMUTABLE: Final = PLAIN | {SE3, SO3}
"""What nobody can change."""


def frozen_value(content: Any) -> Any:
    """A field's content that nobody else changes: a list as a tuple, an array as a copy that is read-only."""
    if type(content) in PLAIN:
        return content
    match content:
        case np.ndarray():
            return frozen(content) if content.ndim else float(content)
        case list():
            return tuple(frozen_value(x) for x in content)
        case set():
            return frozenset(content)
        case Mapping():
            return MappingProxyType({name: frozen_value(x) for name, x in content.items()})
    return content


def hashable(value: Any) -> Any:
    if type(value) in PLAIN:
        return value
    if isinstance(value, SE3 | SO3):
        value = value.array if isinstance(value, SE3) else value.wxyz
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return Mapping, *((name, hashable(x)) for name, x in value.items())
    return tuple(map(hashable, value)) if isinstance(value, tuple) else value


def flat(name: str, value: Any) -> Iterator[float]:
    """The numbers of a field or a target."""
    if isinstance(value, SE3 | SO3):
        value = value.array if isinstance(value, SE3) else value.wxyz
    yield from numbers(name, value).ravel().tolist()


def without_truth(value: Any) -> Any:
    """A field's content; truth values as 1 and 0."""
    found = np.asarray(value, dtype=object)
    return found.astype(np.float64) if all(isinstance(x, bool) for x in found.flat) else value


def weights(name: str, value: Weight, rows: int | None) -> float | tuple[float, ...]:
    """One weight for all rows, or one a row, of which there are any number where `rows` is None.

    Raises ValueError or ShapeError naming the argument and the entry.
    """
    if type(value) is float and (value == 0.0 or _LEAST <= value <= 1.0 / _LEAST):
        return value
    array = numbers(name, value)
    if array.ndim > 1 or (array.ndim and rows is not None and len(array) != rows):
        many = "" if rows == 1 else f" or {rows or 'several'}, one a row"
        raise ShapeError(f"{name} must be one number{many}, got shape {array.shape}")
    for i, w in enumerate(array.ravel()):
        if not (w == 0.0 or _LEAST <= w <= 1.0 / _LEAST):
            place = f"[{i}]" if array.ndim else ""
            raise InvalidValue(
                broken_rule(w, "out-of-range"),
                f"{name}{place} is {w}; a weight must be 0 or from {_LEAST:g} to {1.0 / _LEAST:g}",
            )
    return tuple(array.tolist()) if array.ndim and rows != 1 else float(array.item())


def tolerance(name: str, value: float) -> float:
    """A tolerance; raises ValueError unless it is a positive number."""
    if type(value) is float and value >= _FINEST:
        return value
    found = one_number(name, value)
    if not found >= _FINEST:
        raise InvalidValue(
            broken_rule(found, "not-positive"),
            f"{name} is {found}; a tolerance must be positive, and at least {_FINEST:g}",
        )
    return found


def point(name: str, value: ArrayLike) -> Array:
    """(3,) numbers; raises ShapeError."""
    if isinstance(value, SE3):
        raise ShapeError(f"{name} must be a point of shape (3,), got a pose: give its .xyz")
    array = numbers(name, value)
    if array.shape != (3,):
        raise ShapeError(f"{name} must have shape (3,), got {array.shape}")
    return array


def direction(name: str, value: ArrayLike) -> tuple[float, float, float]:
    """A unit vector; raises ShapeError, or ValueError for what has no direction."""
    array = finite(name, point(name, value), 3)
    length = float(np.linalg.norm(array))
    if length < 1e-12:
        raise InvalidValue("zero-vector", f"{name} is zero; it must have a direction")
    x, y, z = array / length
    return float(x), float(y), float(z)


def goal_of(place: ArrayLike, rest: ArrayLike = 0.0) -> Array:
    """(7,) goal numbers: three and four."""
    out = np.zeros(GOAL_NUMBERS)
    out[:3], out[3:] = place, rest
    return out
