"""Bring the vector from one frame to another to a target: how fingertips stand to a wrist, and to each other.

Rows.     e = s t - R_b^T (p_tip - p_origin): s t is the scaled target, R_b the rotation of the base, or of the world.
Loss.     With a `huber` of h [m] the least squares count L(|e|) in place of |e|^2 / 2: L(x) = x^2 / 2 up to h, and
          h (x - h / 2) beyond (Huber 1964), so that a target far out of reach pulls no harder than one that is h away.
          It enters as a longer or shorter e: with u = e / |e| the rows are sqrt(2 L(|e|)) u, whose squares are 2 L and
          whose Jacobian is exact, so nothing is weighed anew between two iterations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import broken_rule, number, one_number, with_holes
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.kinematics.forward import jacobian_columns
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import GOAL
from poise.kernels.machine.views import section
from poise.kernels.rows.frame import hung, seen_along
from poise.quaternions import conjugate, rotate
from poise.tasks.base import Task
from poise.tasks.error import TaskError
from poise.tasks.fields import Weight, goal_of, point

if TYPE_CHECKING:
    from poise.model.model import Model


@routine
def vector_rows(p: Any, w: Any, k: Any) -> None:
    """Target less the vector between two frames [m]; along the axes of a third frame, the base, if there is one."""
    effector = p.effectors[k]
    width, start, first = 3 * effector.columns, p.blocks[effector.first_block].start, effector.first_frame
    columns = section(w.jacobian, start, width)
    linear, angular = section(w.scratch, 0, width), section(w.scratch, width, width)
    o = splat(w.e, 0.0)
    for j in range(width):
        store(columns, j, o), store(linear, j, o)
    tip, origin = p.task_frames[first + 1], p.task_frames[first]
    _, _, _, _, _, _, _, _, _, x, y, z = hung(tip.unit, tip.tool, w.frames)
    jacobian_columns(p.columns, tip.first_column, tip.last_column, w.frames, x, y, z, columns, angular)
    _, _, _, _, _, _, _, _, _, ox, oy, oz = hung(origin.unit, origin.tool, w.frames)
    jacobian_columns(p.columns, origin.first_column, origin.last_column, w.frames, ox, oy, oz, linear, angular)
    x, y, z = x - ox, y - oy, z - oz
    for j in range(width):
        store(columns, j, load(columns, j) - load(linear, j))
    if effector.last_frame - first > 2:
        x, y, z = _along_base(p, w, p.task_frames[first + 2], columns, linear, angular, (x, y, z))
    t = GOAL * k + 9
    e0, e1, e2 = load(w.target, t) - x, load(w.target, t + 1) - y, load(w.target, t + 2) - z
    h = p.numbers[effector.first_number]
    if h < 1e300:
        e0, e1, e2 = _bend(h, e0, e1, e2, columns)
    i = 3 * effector.first_block
    store(w.e, i, e0), store(w.e, i + 1, e1), store(w.e, i + 2, e2)


@kernel
def _along_base(p: Any, w: Any, base: Any, columns: Any, linear: Any, angular: Any, vector: Any) -> Any:
    """The vector along the axes R of a frame, which turn: `columns` become R^T (v - omega x vector)."""
    b0, b1, b2, b3, b4, b5, b6, b7, b8, px, py, pz = hung(base.unit, base.tool, w.frames)
    rotation, (x, y, z) = (b0, b1, b2, b3, b4, b5, b6, b7, b8), vector
    for j in range(len(angular)):
        store(angular, j, splat(w.e, 0.0))
    jacobian_columns(p.columns, base.first_column, base.last_column, w.frames, px, py, pz, linear, angular)
    for j in range(0, len(columns), 3):
        w0, w1, w2 = load(angular, j), load(angular, j + 1), load(angular, j + 2)
        v0, v1, v2 = seen_along(
            rotation,
            load(columns, j) - (w1 * z - w2 * y),
            load(columns, j + 1) - (w2 * x - w0 * z),
            load(columns, j + 2) - (w0 * y - w1 * x),
        )
        store(columns, j, v0), store(columns, j + 1, v1), store(columns, j + 2, v2)
    return seen_along(rotation, x, y, z)


@kernel
def _bend(h: Any, e0: Any, e1: Any, e2: Any, columns: Any) -> Any:
    """Residual rows whose squares are twice Huber's loss; their Jacobian takes the place of `columns`.

    With g = sqrt(2 L) they are (g / |e|) e, and their derivative is (g / |e|) (I - u u^T) + (h / g) u u^T beyond h.
    """
    square = e0 * e0 + e1 * e1 + e2 * e2
    far = square > h * h
    length = sqrt(select(far, square, 1.0))
    bent = sqrt(2.0 * h * select(far, length, h) - h * h)
    across, along = select(far, bent / length, 1.0), select(far, h / bent, 1.0)
    more = (along - across) / select(far, square, 1.0)
    for j in range(0, len(columns), 3):
        c0, c1, c2 = load(columns, j), load(columns, j + 1), load(columns, j + 2)
        share = more * (e0 * c0 + e1 * c1 + e2 * c2)
        store(columns, j, across * c0 + share * e0)
        store(columns, j + 1, across * c1 + share * e1)
        store(columns, j + 2, across * c2 + share * e2)
    return across * e0, across * e1, across * e2


@final
@dataclass(frozen=True, eq=False, repr=False)
class VectorTask(Task):
    """Bring the vector from the origin of the frame `origin` to that of `tip` to `scale` times `target` [m], (3,).

    The vector is along the axes of the world, or of the frame `base`; the rows are metres.  Where both frames are to
    be anywhere, and their distance alone counts, a `DistanceTask` with a base says it.

    Raises ValueError for one frame twice, a scale or a `huber` that is not positive, a `huber` below the tolerance, and
    for weights apart of the three rows together with a `huber`.
    """

    origin: str
    tip: str
    target: ArrayLike | None = None
    scale: float = field(default=1.0, kw_only=True)
    """What the target is multiplied by, such as the size of a robot's hand against a human's."""
    base: str | None = field(default=None, kw_only=True)
    """The frame along whose axes the vector is; None: the world's."""
    huber: float = field(default=float("inf"), kw_only=True)
    """Where an error is so long that it counts by its length, not by its square [m]; infinite: nowhere."""
    weight: Weight = field(default=1.0, kw_only=True)
    """Weight of the rows [1/m]; one number, or one a row."""

    rows: ClassVar[int] = 3
    unit: ClassVar[Any] = "m"
    routine: ClassVar[Any] = staticmethod(vector_rows)
    to_point: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.origin == self.tip:
            raise InvalidValue(
                "duplicate", f"a vector is from one frame to another, and {self.tip!r} is named twice: name the other"
            )
        self._set("scale", number("scale", self.scale))
        self._set("huber", one_number("huber", self.huber))
        for name, unit in (("scale", ""), ("huber", " [m]")):
            value = getattr(self, name)
            if not value > 0.0:
                code = broken_rule(value, "not-positive")
                raise InvalidValue(code, f"{name} is {value!r}; it must be a number above 0{unit}")
        super().__post_init__()
        if self.huber < self.tolerance:
            raise InvalidValue(
                "conflict",
                f"huber is {self.huber:g} m, less than the tolerance of {self.tolerance:g} m; make one of them fit",
            )
        if np.isfinite(self.huber) and np.ndim(self.weight):
            raise InvalidValue(
                "conflict", "with a huber the weight is one number for all three rows, for the loss is of their length"
            )

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Where the loss bends."""
        return (self.huber,)

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of the scaled vector."""
        return goal_of(self.scale * point(name, target))

    def goals(self, targets: Any, name: str = "targets") -> Array:
        """(n, 7) the same for the vectors (n, 3) of n problems."""
        rows = with_holes(name, targets)
        if rows.ndim != 2 or rows.shape[1] != 3:
            raise ShapeError(f"{name} of {self.label} must have shape (n, 3), got {rows.shape}")
        return np.pad(self.scale * rows, ((0, 0), (0, 4)))

    def vector(self, model: "Model", q: Array) -> Array:
        """(..., 3) the vector at `q` (..., nq) [m], along the axes of the base."""
        poses = model.poses(q, [self.origin, self.tip])
        between = poses.xyz[..., 1, :] - poses.xyz[..., 0, :]
        return between if self.base is None else rotate(conjugate(model.pose(self.base, q).wxyz), between)

    def target_at(self, model: "Model", q: Array) -> Array:
        """The target that the configuration `q` (nq,) fulfils."""
        return self.vector(model, q) / self.scale

    def fulfilled(self, model: "Model", q: Array) -> Array:
        """(n, 7) goals that the configurations `q` (n, nq) fulfil."""
        return self.goals(self.target_at(model, q))

    def judged(self, model: "Model", goal: Array, q: Array) -> Array:
        """(N, 1) the norm of what its rows are at `q` (N, nq) for the goals (N, 7), from the model's poses alone."""
        left = self.blocks[0].norms(goal[:, :3] - self.vector(model, q))[:, None]
        h = self.huber
        return np.where(left > h, np.sqrt(np.maximum(h * (2.0 * left - h), 0.0)), left) if np.isfinite(h) else left

    def error(self, sizes: Sequence[float]) -> TaskError:
        """What is left, from the norm of its rows, which beyond `huber` are shorter than what the vector lacks."""
        size, h = float(sizes[0]), self.huber
        return TaskError(self.label, position=size if size <= h else (size * size + h * h) / (2.0 * h))
