"""Put a frame somewhere: its whole pose, its position, or its orientation.

Position rows are metres along the world's axes, rotation rows the rotation vector [rad] that is still to turn, along
the world's axes too; with a `base`, all is seen from that frame, which may move itself.  `axes="target"` takes both
along the target's own axes, so that a weight of 0 can drop, say, the turn about the tool.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np
import numpy.typing as npt

from poise.errors import ShapeError
from poise.spatial import SE3, SO3, Array
from poise.tasks.base import OfFrame, Weight, fix, level, point, tolerance, weights

if TYPE_CHECKING:
    from poise.model.model import Model

Axes = Literal["world", "target"]


def _axes(value: str) -> None:
    if value not in ("world", "target"):
        raise ValueError(f"axes must be 'world' or 'target', got {value!r}")


@final
@dataclass(frozen=True, slots=True, eq=False)
class PoseTask(OfFrame):
    """Bring `frame` to the pose `target` (an SE3, 7 numbers or a 4x4 matrix), within both tolerances.

    Raises ValueError for weights that are negative or not finite, tolerances that are not positive.
    """

    frame: str
    target: SE3 | npt.ArrayLike | None = None
    position_weight: Weight = field(default=1.0, kw_only=True)
    """Weight of the position rows [1/m]; one number, or one a row."""
    rotation_weight: Weight = field(default=1.0, kw_only=True)
    """Weight of the rotation rows [1/rad]; one number, or one a row."""
    position_tolerance: float = field(default=1e-6, kw_only=True)
    """[m], over the rows whose weight is not 0."""
    rotation_tolerance: float = field(default=1e-6, kw_only=True)
    """[rad], over the rows whose weight is not 0."""
    axes: Axes = field(default="world", kw_only=True)
    """The axes along which rows and weights are taken; "world" are those of the base, if there is one."""
    base: str | None = field(default=None, kw_only=True)
    """The frame from which it is seen, and along whose axes the target and the rows are; None: the world."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        target = None if self.target is None else SE3.parse(self.target, "target")
        if target is not None:
            _single(target)
        _axes(self.axes)
        limit = tolerance("position_tolerance", self.position_tolerance)
        turn = tolerance("rotation_tolerance", self.rotation_tolerance)
        position = weights("position_weight", self.position_weight)
        rotation = weights("rotation_weight", self.rotation_weight)
        priority = level(self.priority)
        fix(self, target=target, position_weight=self.position_weight, rotation_weight=self.rotation_weight)
        fix(self, position_tolerance=limit, rotation_tolerance=turn, priority=priority)
        fix(self, structure=(PoseTask, self.frame, position, rotation, limit, turn, self.axes, priority, self.base))

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a pose: an SE3, 7 numbers, or a 4x4 matrix."""
        if type(target) is not SE3:
            target = SE3.parse(target, name)
        _single(target)
        return target.array

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""
        return self.seen(model, q).array


@final
@dataclass(frozen=True, slots=True, eq=False)
class PositionTask(OfFrame):
    """Bring the origin of `frame` to the point `target` [m], shape (3,)."""

    frame: str
    target: npt.ArrayLike | None = None
    weight: Weight = field(default=1.0, kw_only=True)
    """Weight of the rows [1/m]; one number, or one a row along the world's axes."""
    tolerance: float = field(default=1e-6, kw_only=True)
    """[m], over the rows whose weight is not 0."""
    base: str | None = field(default=None, kw_only=True)
    """The frame from which it is seen, and along whose axes the target and the rows are; None: the world."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        target = None if self.target is None else point("target", self.target)
        weight, limit = weights("weight", self.weight), tolerance("tolerance", self.tolerance)
        priority = level(self.priority)
        fix(self, target=target, weight=self.weight, tolerance=limit, priority=priority)
        fix(self, structure=(PositionTask, self.frame, weight, limit, priority, self.base))

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a point."""
        out = np.zeros(7)
        out[:3] = point(name, target)
        return out

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""
        return self.goal(self.seen(model, q).xyz)


@final
@dataclass(frozen=True, slots=True, eq=False)
class OrientationTask(OfFrame):
    """Turn `frame` to the rotation `target` (an SO3), wherever its origin is."""

    frame: str
    target: SO3 | None = None
    weight: Weight = field(default=1.0, kw_only=True)
    """Weight of the rows [1/rad]; one number, or one a row."""
    tolerance: float = field(default=1e-6, kw_only=True)
    """[rad], over the rows whose weight is not 0."""
    axes: Axes = field(default="world", kw_only=True)
    """The axes along which rows and weights are taken; "world" are those of the base, if there is one."""
    base: str | None = field(default=None, kw_only=True)
    """The frame from which it is seen, and along whose axes the target and the rows are; None: the world."""
    priority: int = field(default=0, kw_only=True)
    """Its level, 0 first; a level disturbs none before it."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.target is not None:
            self.goal(self.target)
        _axes(self.axes)
        weight, limit = weights("weight", self.weight), tolerance("tolerance", self.tolerance)
        priority = level(self.priority)
        fix(self, weight=self.weight, tolerance=limit, priority=priority)
        fix(self, structure=(OrientationTask, self.frame, weight, limit, self.axes, priority, self.base))

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a rotation."""
        if not isinstance(target, SO3):
            raise ShapeError(f"{name} must be an SO3, got {type(target).__name__}; see SO3.from_rpy, SO3.from_matrix")
        if target.wxyz.ndim != 1:
            raise ShapeError(f"{name} must be one rotation, got a batch of {target.wxyz.shape[:-1]}")
        out = np.zeros(7)
        out[3:] = target.wxyz
        return out

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""
        return self.goal(self.seen(model, q).rotation)


def _single(target: SE3) -> None:
    if target.array.ndim != 1:
        raise ShapeError(f"target must be one pose, got a batch of {target.array.shape[:-1]}")
