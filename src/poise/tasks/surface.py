"""Keep the origin of a frame on a plane or on a line; along them it is free."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from poise.model.joint import aligning
from poise.spatial import Array
from poise.tasks.base import OfFrame, direction, fix, level, one_weight, point, tolerance

if TYPE_CHECKING:
    from poise.model.model import Model


class _OnSurface(OfFrame):
    """What planes and lines have in common: a point, and a direction that their `structure` holds."""

    __slots__ = ()

    structure: tuple[Any, ...]

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a point on the surface, and of the rotation that takes z to its normal or direction."""
        return np.concatenate([point(name, target), aligning(self.structure[2])])

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""
        return self.goal(self.seen(model, q).xyz)


@final
@dataclass(frozen=True, slots=True, eq=False)
class PlaneTask(_OnSurface):
    """Bring the origin of `frame` onto the plane through the point `target` [m], shape (3,), normal to `normal`."""

    frame: str
    normal: npt.ArrayLike = (0.0, 0.0, 1.0)
    target: npt.ArrayLike | None = None
    weight: float = field(default=1.0, kw_only=True)
    """[1/m]"""
    tolerance: float = field(default=1e-6, kw_only=True)
    """[m]"""
    base: str | None = field(default=None, kw_only=True)
    """The frame from which it is seen, and along whose axes the target and the rows are; None: the world."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _prepare(self, self.normal, "normal")


@final
@dataclass(frozen=True, slots=True, eq=False)
class LineTask(_OnSurface):
    """Bring the origin of `frame` onto the line through the point `target` [m], shape (3,), along `direction`."""

    frame: str
    direction: npt.ArrayLike = (0.0, 0.0, 1.0)
    target: npt.ArrayLike | None = None
    weight: float = field(default=1.0, kw_only=True)
    """[1/m]"""
    tolerance: float = field(default=1e-6, kw_only=True)
    """[m]"""
    base: str | None = field(default=None, kw_only=True)
    """The frame from which it is seen, and along whose axes the target and the rows are; None: the world."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _prepare(self, self.direction, "direction")


def _prepare(task: PlaneTask | LineTask, axis: npt.ArrayLike, name: str) -> None:
    unit = direction(name, axis)
    target = None if task.target is None else point("target", task.target)
    x, priority = one_weight(task.weight), level(task.priority)
    weight = (0.0, 0.0, x) if isinstance(task, PlaneTask) else (x, x, 0.0)
    limit = tolerance("tolerance", task.tolerance)
    fix(task, **{name: unit}, target=target, weight=x, tolerance=limit, priority=priority)
    fix(task, structure=(type(task), task.frame, unit, weight, limit, priority, task.base))
