"""What every task is made of: checked weights and tolerances, and the form that the solver reads."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.errors import ShapeError
from poise.spatial import SE3, Array, finite, frozen

if TYPE_CHECKING:
    from poise.model.model import Model

Weight: TypeAlias = npt.ArrayLike
"""One number for all three rows, or one a row; 0 drops a row."""


_LEAST = 1e-9
_FINEST = 1e-15


class FrameTask(Protocol):
    """A task with rows of its own: about a frame, the centre of mass or joints."""

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""

    @property
    def target(self) -> Any:
        """Where to; None if it is given at the call."""

    @property
    def priority(self) -> int:
        """Its level, 0 first; a level disturbs none before it."""

    @property
    def structure(self) -> tuple[Any, ...]:
        """All but the target, hashable: two tasks of one structure share a prepared solver."""

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers that the kernel reads: place, then quaternion w x y z; checked for shape only."""

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""


class Value:
    """A frozen dataclass that stays frozen when it is copied or pickled, and the same to the last bit."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        values = [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]
        return _again, (type(self), [dict(value) if isinstance(value, Mapping) else value for value in values])


def _again(kind: Any, values: Sequence[Any]) -> Any:
    """The value of these fields; its constructor would check and round them once more."""
    value = object.__new__(kind)
    fix(value, **{field.name: content for field, content in zip(fields(kind), values, strict=True)})
    return value


def fix(value: Value, **contents: Any) -> None:
    """Give a frozen dataclass these fields: copies that nobody can change, of what a caller could."""
    for name, content in contents.items():
        object.__setattr__(value, name, _unchanging(content))


def _unchanging(content: Any) -> Any:
    match content:
        case np.ndarray():
            return frozen(content)
        case list():
            return tuple(content)
        case Mapping():
            return MappingProxyType(dict(content))
    return content


class OfFrame(Value):
    """A task about a frame, seen from a base or from the world."""

    __slots__ = ()

    frame: str
    base: str | None

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        base = "" if self.base is None else f", base={self.base!r}"
        return f"{type(self).__name__}({self.frame!r}{base})"

    def seen(self, model: "Model", q: Array) -> SE3:
        """Pose of the frame at `q` (nq,), seen from the base."""
        pose = model.pose(self.frame, q)
        return pose if self.base is None else model.pose(self.base, q).inverse() @ pose


def numbers(name: str, value: npt.ArrayLike) -> Array:
    """`value` as float64; raises ShapeError naming the argument if it is no array of numbers."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{name} must be numbers, got {value!r}") from error


def weights(name: str, value: Weight) -> tuple[float, float, float]:
    """Three row weights; raises ValueError or ShapeError naming the argument and the entry."""
    array = numbers(name, value)
    if array.ndim == 0:
        array = np.full(3, float(array))
    if array.shape != (3,):
        raise ShapeError(f"{name} must be one number or three, one a row, got shape {array.shape}")
    for i, w in enumerate(array):
        if not (w == 0.0 or _LEAST <= w <= 1.0 / _LEAST):
            raise ValueError(f"{name}[{i}] is {w}; a weight must be 0 or from {_LEAST:g} to {1.0 / _LEAST:g}")
    x, y, z = map(float, array)
    return x, y, z


def tolerance(name: str, value: float) -> float:
    """A tolerance; raises ValueError unless it is a positive number."""
    array = numbers(name, value)
    if array.ndim:
        raise ShapeError(f"{name} must be one number, got shape {array.shape}")
    number = float(array)
    if not number >= _FINEST:
        raise ValueError(f"{name} is {value}; a tolerance must be positive, and at least {_FINEST:g}")
    return number


def level(value: int) -> int:
    """A priority; raises ValueError unless it is a whole number of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(f"priority is {value!r}; it must be a whole number, 0 (first) or more")
    return int(value)


def levels(tasks: Sequence[FrameTask]) -> tuple[int, ...]:
    """The priorities that the tasks state, the first of them first."""
    return tuple(sorted({task.priority for task in tasks}))


def point(name: str, value: npt.ArrayLike) -> Array:
    """(3,) numbers; raises ShapeError."""
    array = numbers(name, value)
    if array.shape != (3,):
        raise ShapeError(f"{name} must have shape (3,), got {array.shape}")
    return array


def number(name: str, value: npt.ArrayLike) -> float:
    """One finite number; raises ShapeError or ValueError naming the argument."""
    array = numbers(name, value)
    if array.ndim:
        raise ShapeError(f"{name} must be one number, got shape {array.shape}")
    if not np.isfinite(array):
        raise ValueError(f"{name} is {float(array)}; it must be finite")
    return float(array)


def one_weight(value: float) -> float:
    """The weight of a task with one row, or with all rows alike; raises as `weights` does."""
    given = numbers("weight", value)
    if given.ndim:
        raise ShapeError(f"weight must be one number, got shape {given.shape}")
    return weights("weight", given)[0]


def direction(name: str, value: npt.ArrayLike) -> tuple[float, float, float]:
    """A unit vector; raises ShapeError, or ValueError for what has no direction."""
    array = finite(name, point(name, value), 3)
    length = float(np.linalg.norm(array))
    if length < 1e-12:
        raise ValueError(f"{name} is zero; it must have a direction")
    x, y, z = array / length
    return float(x), float(y), float(z)
