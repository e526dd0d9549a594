"""Point an axis of a frame: along a direction, or at a point; the spin about it stays free."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from poise.spatial import Array
from poise.tasks.base import OfFrame, direction, fix, level, one_weight, point, tolerance

if TYPE_CHECKING:
    from poise.model.model import Model


@final
@dataclass(frozen=True, slots=True, eq=False)
class AxisTask(OfFrame):
    """Point `axis`, fixed in `frame`, along the direction `target` (3,), of any length but 0."""

    frame: str
    axis: npt.ArrayLike = (0.0, 0.0, 1.0)
    target: npt.ArrayLike | None = None
    weight: float = field(default=1.0, kw_only=True)
    """[1/rad]"""
    tolerance: float = field(default=1e-6, kw_only=True)
    """Largest angle between axis and direction [rad]."""
    base: str | None = field(default=None, kw_only=True)
    """The frame from which it is seen, and along whose axes the target and the rows are; None: the world."""
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

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""
        return self.goal(self.seen(model, q).rotation.act(self.axis))


@final
@dataclass(frozen=True, slots=True, eq=False)
class LookAtTask(OfFrame):
    """Point `axis`, fixed in `frame` and through its origin, at the point `target` [m], shape (3,)."""

    frame: str
    axis: npt.ArrayLike = (0.0, 0.0, 1.0)
    target: npt.ArrayLike | None = None
    weight: float = field(default=1.0, kw_only=True)
    """[1/rad]"""
    tolerance: float = field(default=1e-6, kw_only=True)
    """Largest angle between axis and line of sight [rad]."""
    base: str | None = field(default=None, kw_only=True)
    """The frame from which it is seen, and along whose axes the target and the rows are; None: the world."""
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

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""
        return self.goal(self.seen(model, q).act(self.axis))


def _prepare(task: AxisTask | LookAtTask) -> None:
    axis, target = direction("axis", task.axis), None if task.target is None else point("target", task.target)
    weight, limit, priority = one_weight(task.weight), tolerance("tolerance", task.tolerance), level(task.priority)
    fix(task, axis=axis, target=target, weight=weight, tolerance=limit, priority=priority)
    fix(task, structure=(type(task), task.frame, axis, 3 * (weight,), limit, priority, task.base))
