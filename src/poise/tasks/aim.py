"""Point an axis of a frame: along a direction, or at a point; the spin about it stays free."""

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from poise.errors import ShapeError
from poise.spatial import Array, finite
from poise.tasks.base import level, numbers, point, tolerance, weights


def _unit(axis: Any) -> tuple[float, float, float]:
    array = finite("axis", point("axis", axis), 3)
    length = float(np.linalg.norm(array))
    if length < 1e-12:
        raise ValueError("axis is zero; it must have a direction")
    x, y, z = array / length
    return float(x), float(y), float(z)


@final
@dataclass(frozen=True, slots=True, eq=False)
class AxisTask:
    """Point `axis`, fixed in `frame`, along the direction `target` of the world, shape (3,), of any length but 0."""

    frame: str
    axis: npt.ArrayLike = (0.0, 0.0, 1.0)
    target: npt.ArrayLike | None = None
    weight: float = field(default=1.0, kw_only=True)
    """[1/rad]"""
    tolerance: float = field(default=1e-6, kw_only=True)
    """Largest angle between axis and direction [rad]."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _prepare(self)

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a direction."""
        out = np.zeros(7)
        out[:3] = point(name, target)
        return out


@final
@dataclass(frozen=True, slots=True, eq=False)
class LookAtTask:
    """Point `axis`, fixed in `frame` and through its origin, at the point `target` of the world [m], shape (3,)."""

    frame: str
    axis: npt.ArrayLike = (0.0, 0.0, 1.0)
    target: npt.ArrayLike | None = None
    weight: float = field(default=1.0, kw_only=True)
    """[1/rad]"""
    tolerance: float = field(default=1e-6, kw_only=True)
    """Largest angle between axis and line of sight [rad]."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _prepare(self)

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a point."""
        out = np.zeros(7)
        out[:3] = point(name, target)
        return out


def _prepare(task: AxisTask | LookAtTask) -> None:
    object.__setattr__(task, "axis", _unit(task.axis))
    if task.target is not None:
        object.__setattr__(task, "target", point("target", task.target))
    given = numbers("weight", task.weight)
    if given.ndim:
        raise ShapeError(f"weight must be one number, got shape {given.shape}")
    weight = weights("weight", given)
    limit = tolerance("tolerance", task.tolerance)
    structure = (type(task), task.frame, task.axis, weight, limit, level(task.priority))
    object.__setattr__(task, "structure", structure)
