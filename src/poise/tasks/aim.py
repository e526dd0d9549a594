"""Point an axis of a frame: along a direction, or at a point; the spin about it stays free."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.kernels.algebra.rotations import aim_error
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import DIRECTION, PLACE
from poise.kernels.rows.frame import seen_frame
from poise.quaternions import rotate
from poise.spatial import SE3
from poise.tasks.effector import Measure
from poise.tasks.fields import direction
from poise.tasks.frame import OfFrame


@routine
def axis_rows(p: Any, w: Any, k: Any) -> None:
    """The rotation vector of the shortest turn that takes the axis to the direction [rad]."""
    f = seen_frame(p, w, k)
    d0, d1, d2 = load(f.target, 9), load(f.target, 10), load(f.target, 11)
    _aim(p, k, f, d0, d1, d2, splat(w.e, 0.0))


@routine
def look_at_rows(p: Any, w: Any, k: Any) -> None:
    """The rotation vector of the shortest turn that takes the axis to the line of sight [rad]."""
    f = seen_frame(p, w, k)
    d0, d1, d2 = load(f.target, 9) - f.px, load(f.target, 10) - f.py, load(f.target, 11) - f.pz
    square = d0 * d0 + d1 * d1 + d2 * d2
    inverse = 1.0 / sqrt(select(square > 1e-24, square, 1e-24))
    _aim(p, k, f, d0 * inverse, d1 * inverse, d2 * inverse, inverse)


@kernel
def _aim(p: Any, k: Any, f: Any, d0: Any, d1: Any, d2: Any, inverse: Any) -> None:
    """Rows of an aim along the unit vector d, at the distance 1 / inverse.

    A displacement v of the frame turns the direction by -d x v / distance, so the axis turns by w + d x v / distance
    relative to it.  What of that spins about the axis itself does not move it and is left out; so at an answer the rows
    change as the second derivative of what is left does, of which a spin about d, which moves an axis beside it, would
    be no part.
    """
    a0, a1, a2 = axis_of(p, k, f)
    e0, e1, e2 = aim_error(a0, a1, a2, d0, d1, d2)
    store(f.e, 0, e0), store(f.e, 1, e1), store(f.e, 2, e2)
    linear, angular = f.linear, f.angular
    for j in range(0, len(angular), 3):
        v0, v1, v2 = load(linear, j), load(linear, j + 1), load(linear, j + 2)
        w0 = load(angular, j) + (d1 * v2 - d2 * v1) * inverse
        w1 = load(angular, j + 1) + (d2 * v0 - d0 * v2) * inverse
        w2 = load(angular, j + 2) + (d0 * v1 - d1 * v0) * inverse
        spin = a0 * w0 + a1 * w1 + a2 * w2
        store(angular, j, w0 - spin * a0), store(angular, j + 1, w1 - spin * a1), store(angular, j + 2, w2 - spin * a2)


@kernel
def axis_of(p: Any, k: Any, f: Any) -> Any:
    """The axis of effector k, its first three numbers, where its frame is now."""
    at = p.effectors[k].first_number
    x0, x1, x2 = p.numbers[at], p.numbers[at + 1], p.numbers[at + 2]
    return (
        f.r0 * x0 + f.r1 * x1 + f.r2 * x2,
        f.r3 * x0 + f.r4 * x1 + f.r5 * x2,
        f.r6 * x0 + f.r7 * x1 + f.r8 * x2,
    )


@dataclass(frozen=True, eq=False, repr=False)
class _Aim(OfFrame):
    """What both have in common; the weight [1/rad] is one number, the tolerance an angle [rad]."""

    axis: ArrayLike = (0.0, 0.0, 1.0)
    """(3,), fixed in the frame, of any length but 0."""
    target: ArrayLike | None = None

    unit: ClassVar[Measure] = "rad"
    shared: ClassVar[int] = 2
    to_point: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._set("axis", direction("axis", self.axis))
        super().__post_init__()

    def constants(self, hang: SE3) -> list[float]:
        """The axis, as the frame's unit has it."""
        return hang.rotation.act(np.array(self.axis)).tolist()


@final
@dataclass(frozen=True, eq=False, repr=False)
class AxisTask(_Aim):
    """Point `axis`, fixed in `frame`, along the direction `target` (3,), of any length but 0."""

    routine: ClassVar[Any] = staticmethod(axis_rows)
    goal_kind: ClassVar[int] = DIRECTION

    @property
    def swapped(self) -> str:
        """What asks the same of its base, seen from its frame."""
        axis = "axis" if self.offset is None else "offset.rotation.act(axis)"
        return f"AxisTask({self.base!r}, axis=target, target={axis}, base={self.frame!r})"

    def target_of(self, pose: SE3) -> Array:
        """The target that the frame fulfils where it is seen at `pose`."""
        return pose.rotation.act(self.axis)

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) the angles [rad]."""
        return [only(angles(rotate(pose.wxyz, np.array(self.axis)), goal[:, :3]))]


@final
@dataclass(frozen=True, eq=False, repr=False)
class LookAtTask(_Aim):
    """Point `axis`, fixed in `frame` and through its origin, at the point `target` [m], shape (3,)."""

    routine: ClassVar[Any] = staticmethod(look_at_rows)
    goal_kind: ClassVar[int] = PLACE

    def target_of(self, pose: SE3) -> Array:
        """The target that the frame fulfils where it is seen at `pose`."""
        return pose.act(self.axis)

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) the angles [rad]."""
        return [only(angles(rotate(pose.wxyz, np.array(self.axis)), goal[:, :3] - pose.xyz))]


def angles(a: Array, b: Array) -> Array:
    """(N,) between vectors (N, 3) [rad]; the arctangent keeps small ones, where the arccosine has lost half of them."""
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))


def only(row: Array) -> Array:
    """(N, 3) rows of which only the first (N,) is anything."""
    return np.stack([row, np.zeros_like(row), np.zeros_like(row)], axis=-1)
