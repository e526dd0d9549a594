"""Put a frame somewhere: its whole pose, its position, or its orientation.

Position rows are metres along the world's axes, rotation rows the rotation vector [rad] that is still to turn, along
the world's axes too; with a `base`, all is seen from that frame, which may move itself.  `axes="target"` takes both
along the target's own axes, so that a weight of 0 can drop, say, the turn about the tool.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import with_holes
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.fast_path import load_fast_path
from poise.kernels.machine.jit import routine
from poise.kernels.machine.layout import GOAL_NUMBERS, PLACE, SHORTEST, TURN
from poise.kernels.rows.frame import seen_frame
from poise.kernels.rows.residuals import place_rows, turn_rows
from poise.quaternions import conjugate, quaternion_log, quaternion_product, rotate
from poise.spatial import SE3, SO3
from poise.tasks.base import POSITION, ROTATION
from poise.tasks.effector import Block
from poise.tasks.fields import Weight, goal_of
from poise.tasks.frame import OfFrame, brief

if TYPE_CHECKING:
    from poise.model.model import Model

Axes = Literal["world", "target"]


@routine
def position_rows(p: Any, w: Any, k: Any) -> None:
    """The displacement of the frame to the target [m]."""
    place_rows(seen_frame(p, w, k), 0)


@routine
def orientation_rows(p: Any, w: Any, k: Any) -> None:
    """The rotation vector that takes the frame to the target [rad]."""
    turn_rows(seen_frame(p, w, k), 0)


@final
@brief
@dataclass(frozen=True, eq=False, repr=False)
class PoseTask(OfFrame):
    """Bring `frame` to the pose `target` (an SE3, 7 numbers or a 4x4 matrix), within both tolerances.

    Raises ValueError for weights that are negative or not finite, tolerances that are not positive.
    """

    target: SE3 | ArrayLike | None = None
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
    weight: Weight = field(default=1.0, init=False, repr=False)
    tolerance: float = field(default=1e-6, init=False, repr=False)

    rows: ClassVar[int] = 3
    goal_kind: ClassVar[int] = PLACE | TURN
    frame_parts: ClassVar[tuple[str, ...]] = (POSITION, ROTATION)
    weight_names: ClassVar[tuple[str, ...]] = ("position_weight", "rotation_weight")
    tolerance_names: ClassVar[tuple[str, ...]] = ("position_tolerance", "rotation_tolerance")

    def __post_init__(self) -> None:
        if self.target is not None:
            self._set("target", self._checked_target(self.target))
        _axes(self.axes)
        super().__post_init__()

    def _checked_target(self, target: Any) -> SE3:
        pose = target if type(target) is SE3 else SE3.parse(target, "target")
        _single(pose)
        return pose

    @property
    def along_target(self) -> bool:  # type: ignore[override]
        """Whether rows and weights are along the target's own axes."""
        return self.axes == "target"

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows of its residual, three by three."""
        place, turn = three(self.position_weight), three(self.rotation_weight)
        return (
            Block(place, self.position_tolerance, "m", whole=True),
            Block(turn, self.rotation_tolerance, "rad", whole=True),
        )

    @property
    def placed(self) -> tuple[str, float] | None:
        """The frame and the tolerance of its position, unless a direction is free."""
        return (self.frame, self.position_tolerance) if min(self.blocks[0].weight) > 0.0 else None

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a pose: an SE3, 7 numbers, or a 4x4 matrix."""
        if type(target) is not SE3:
            target = SE3.parse(target, name)
        _single(target)
        return target.array

    def goals(self, targets: Any, name: str = "targets") -> Array:
        """(n, 7) numbers of poses: an SE3 of a batch, (n, 7) numbers, (n, 4, 4) matrices or a list; NaN for no pose."""
        if isinstance(targets, (list, tuple)) and any(isinstance(target, SE3) for target in targets):
            return np.array([self.goal(target, f"{name}[{i}]") for i, target in enumerate(targets)])
        rows = targets.array if isinstance(targets, SE3) else with_holes(name, targets)
        if rows.shape[1:] not in ((GOAL_NUMBERS,), (4, 4)):
            raise ShapeError(
                f"{name} of {self.label} must be n poses: an SE3 of a batch, (n, 7) numbers or (n, 4, 4) matrices, got "
                f"shape {rows.shape}"
            )
        return rows if isinstance(targets, SE3) else _poses_of(rows)

    def refuse(self, model: "Model", goal: Array, name: str = "target") -> None:
        """Raises ValueError that says why the goal's numbers (7,) are no pose, if they are none."""
        if np.isnan(goal).all():
            raise InvalidValue(
                "not-a-pose",
                f"{name} of {self.label} is no pose: a number is not finite, or a matrix holds no rotation to 1e-6; "
                "SE3.from_matrix(..., orthonormalise=True) takes rounded ones",
            )
        super().refuse(model, goal, name)

    @property
    def swapped(self) -> str:
        """What asks the same of its base, seen from its frame."""
        tool = "" if self.offset is None else "offset @ "
        return f"PoseTask({self.base!r}, {tool}target.inverse(), base={self.frame!r})"

    def target_of(self, pose: SE3) -> SE3:
        """The target that the frame fulfils where it is seen at `pose`."""
        return pose

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) what the positions lack [m], and the rotations [rad], along the axes of the weights."""
        place, turn = goal[:, :3] - pose.xyz, turns(goal[:, 3:], pose)
        return [rotate(conjugate(goal[:, 3:]), x) for x in (place, turn)] if self.along_target else [place, turn]


@final
@brief
@dataclass(frozen=True, eq=False, repr=False)
class PositionTask(OfFrame):
    """Bring the origin of `frame` to the point `target` [m], shape (3,); weights [1/m] are along the world's axes."""

    target: ArrayLike | None = None

    rows: ClassVar[int] = 3
    routine: ClassVar[Any] = staticmethod(position_rows)
    to_point: ClassVar[bool] = True
    frame_parts: ClassVar[tuple[str, ...]] = (POSITION,)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows of its residual, three by three."""
        return (Block(three(self.weight), self.tolerance, "m", whole=True),)

    @property
    def placed(self) -> tuple[str, float] | None:
        """The frame and the tolerance of its position, unless a direction is free."""
        return (self.frame, self.tolerance) if min(self.blocks[0].weight) > 0.0 else None

    @property
    def swapped(self) -> str:
        """What asks the same of its base, seen from its frame."""
        if self.offset is None:
            return f"VectorTask({self.base!r}, {self.frame!r}, target, base={self.base!r})"
        return f"PositionTask({self.base!r}, offset.xyz, base={self.frame!r}, offset=SE3.from_parts(target))"

    def target_of(self, pose: SE3) -> Array:
        """The target that the frame fulfils where it is seen at `pose`."""
        return pose.xyz

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) what the positions lack [m]."""
        return [goal[:, :3] - pose.xyz]


@final
@dataclass(frozen=True, eq=False, repr=False)
class OrientationTask(OfFrame):
    """Turn `frame` to the rotation `target` (an SO3), wherever its origin is; weights [1/rad] are along `axes`."""

    target: SO3 | None = None
    axes: Axes = field(default="world", kw_only=True)
    """The axes along which rows and weights are taken; "world" are those of the base, if there is one."""

    rows: ClassVar[int] = 3
    routine: ClassVar[Any] = staticmethod(orientation_rows)
    goal_kind: ClassVar[int] = TURN
    frame_parts: ClassVar[tuple[str, ...]] = (ROTATION,)

    def __post_init__(self) -> None:
        if self.target is not None:
            self.goal(self.target)
        _axes(self.axes)
        super().__post_init__()

    @property
    def along_target(self) -> bool:  # type: ignore[override]
        """Whether rows and weights are along the target's own axes."""
        return self.axes == "target"

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows of its residual, three by three."""
        return (Block(three(self.weight), self.tolerance, "rad", whole=True),)

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of a rotation."""
        if not isinstance(target, SO3):
            way = "give its .rotation" if isinstance(target, SE3) else "see SO3.from_rpy, SO3.from_matrix"
            raise ShapeError(f"{name} must be an SO3, got {type(target).__name__}; {way}")
        if target.wxyz.ndim != 1:
            raise ShapeError(
                f"{name} must be one rotation, got a batch of {target.wxyz.shape[:-1]}; solve_batch takes many"
            )
        return goal_of(0.0, target.wxyz)

    def goals(self, targets: Any, name: str = "targets") -> Array:
        """(n, 7) numbers of rotations: an SO3 of a batch or a list of SO3."""
        if isinstance(targets, (list, tuple)):
            return np.array([self.goal(target, f"{name}[{i}]") for i, target in enumerate(targets)]).reshape(-1, 7)
        if not isinstance(targets, SO3) or targets.wxyz.ndim != 2:
            raise ShapeError(f"{name} of {self.label} must be an SO3 of n rotations, or a list of SO3; got {targets!r}")
        return np.pad(targets.wxyz, ((0, 0), (3, 0)))

    @property
    def swapped(self) -> str:
        """What asks the same of its base, seen from its frame."""
        tool = "" if self.offset is None else "offset.rotation @ "
        return f"OrientationTask({self.base!r}, {tool}target.inverse(), base={self.frame!r})"

    def target_of(self, pose: SE3) -> SO3:
        """The target that the frame fulfils where it is seen at `pose`."""
        return pose.rotation

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) what the rotations lack [rad], along the axes of the weights."""
        turn = turns(goal[:, 3:], pose)
        return [rotate(conjugate(goal[:, 3:]), turn) if self.along_target else turn]


def three(weight: Weight) -> tuple[float, float, float]:
    """The weight of each of three rows."""
    x, y, z = np.broadcast_to(weight, 3).tolist()
    return x, y, z


def turns(target: Array, pose: SE3) -> Array:
    """(N, 3) rotation vectors from the poses to the target quaternions (N, 4), along the world's axes [rad]."""
    return quaternion_log(quaternion_product(target, conjugate(pose.wxyz)))


def _axes(value: str) -> None:
    if value not in ("world", "target"):
        raise InvalidValue("unknown-word", f"axes must be 'world' or 'target', got {value!r}")


def _single(target: SE3) -> None:
    if target.array.ndim != 1:
        raise ShapeError(f"target must be one pose, got a batch of {target.array.shape[:-1]}; solve_batch takes many")


def _normalised(rows: Array) -> Array:
    """Poses (n, 7) with unit quaternions, as an SE3 has them, and rows that are no poses as they are."""
    out = rows.copy()
    wxyz = out[:, 3:]
    lengths = np.sqrt(np.add.reduce(wxyz * wxyz, axis=1, keepdims=True))  # `norm` takes twice the time for one row
    np.divide(wxyz, lengths, out=wxyz, where=(lengths > SHORTEST) & (lengths < np.inf))
    return out


def _poses_of(given: Array) -> Array:
    """(n, 7) poses of (n, 7) numbers, or of (n, 4, 4) matrices, each by itself whatever the others are: NaN for a
    matrix that is none, and numbers that are none as they are."""
    extension = load_fast_path()
    if extension is not None:
        out = np.empty((len(given), GOAL_NUMBERS))
        if extension.poses(given, out):
            return out
    if given.ndim == 2:
        return _normalised(given)
    if extension is None or len(given) == 1:
        try:
            return SE3.from_matrix(given).array
        except ValueError:
            if len(given) == 1:
                return np.full((1, GOAL_NUMBERS), np.nan)
    return np.concatenate([_poses_of(matrix[None]) for matrix in given])
