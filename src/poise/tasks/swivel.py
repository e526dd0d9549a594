"""Where an elbow or a knee points: the turn of a limb about the line from its root to its end."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import number
from poise.common.errors import InvalidValue
from poise.kernels.algebra.rotations import angle as angle_of
from poise.kernels.kinematics.forward import jacobian_columns
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import GOAL
from poise.kernels.machine.views import section
from poise.kernels.rows.frame import hung
from poise.quaternions import quaternion_exp, rotate
from poise.tasks.base import Task
from poise.tasks.effector import Effector, Measure, Units, place, task_frames

if TYPE_CHECKING:
    from poise.model.model import Model

_NOTHING: Final = 1e-12
"""A length that has no direction [m]."""


@routine
def swivel_rows(p: Any, w: Any, k: Any) -> None:
    """The arc from where the middle of a limb is to where it shall be, about the line from root to end [m].

    With n along that line, a and d from it to the middle and to the pole, x = a / |a|, y = n x x and phi the angle from
    d to a, less the one that is asked for: r = |a| phi.  Its gradient by the middle is g = phi x + y; as n turns with
    the end and with the root, it follows by how far along n the middle and the pole are.  The row is -r.
    """
    effector = p.effectors[k]
    f = effector.first_frame
    c0, c1, c2 = _place(p, w, f)
    m0, m1, m2 = _place(p, w, f + 1)
    t0, t1, t2 = _place(p, w, f + 2)
    q0, q1, q2 = load(w.target, GOAL * k + 9), load(w.target, GOAL * k + 10), load(w.target, GOAL * k + 11)
    if effector.last_frame - f > 3:
        s = p.task_frames[f + 3]
        r0, r1, r2, r3, r4, r5, r6, r7, r8, o0, o1, o2 = hung(s.unit, s.tool, w.frames)
        q0, q1, q2 = (
            o0 + r0 * q0 + r1 * q1 + r2 * q2,
            o1 + r3 * q0 + r4 * q1 + r5 * q2,
            o2 + r6 * q0 + r7 * q1 + r8 * q2,
        )
    zero = splat(w.e, 0.0)
    n0, n1, n2, length = _unit(t0 - c0, t1 - c1, t2 - c2)
    a0, a1, a2, middle = _across(m0 - c0, m1 - c1, m2 - c2, n0, n1, n2)
    d0, d1, d2, pole = _across(q0 - c0, q1 - c1, q2 - c2, n0, n1, n2)
    d0, d1, d2, reach = _unit(d0, d1, d2)
    b0, b1, b2 = n1 * d2 - n2 * d1, n2 * d0 - n0 * d2, n0 * d1 - n1 * d0
    # The direction that is asked for: that of the pole, turned by the angle.
    at = effector.first_number
    cosine, sine = p.numbers[at], p.numbers[at + 1]
    u0, u1, u2 = cosine * d0 + sine * b0, cosine * d1 + sine * b1, cosine * d2 + sine * b2
    x0, x1, x2, size = _unit(a0, a1, a2)
    straight = size <= _NOTHING
    x0, x1, x2 = select(straight, u0, x0), select(straight, u1, x1), select(straight, u2, x2)
    y0, y1, y2 = n1 * x2 - n2 * x1, n2 * x0 - n0 * x2, n0 * x1 - n1 * x0
    v0, v1, v2 = n1 * u2 - n2 * u1, n2 * u0 - n0 * u2, n0 * u1 - n1 * u0
    phi = angle_of(u0 * x0 + u1 * x1 + u2 * x2, v0 * x0 + v1 * x1 + v2 * x2)
    # Where the pole is on the line, or the line is none, nothing is asked for.
    defined = (length > _NOTHING) & (reach > _NOTHING)
    phi, size, one = select(defined, phi, zero), select(defined, size, zero), select(defined, 1.0, zero)
    store(w.e, 3 * effector.first_block, -size * phi)
    store(w.e, 3 * effector.first_block + 1, zero), store(w.e, 3 * effector.first_block + 2, zero)
    # Gradients of r by the middle, g, by the end, h, by the pole, e; of the root minus their sum, for a translation of
    # all four changes nothing.
    g0, g1, g2 = phi * x0 + one * y0, phi * x1 + one * y1, phi * x2 + one * y2
    far, ratio = 1.0 / select(defined, length, 1.0), size / select(defined, reach, 1.0)
    along, across = middle * far, pole * ratio * far
    h0, h1, h2 = across * b0 - along * g0, across * b1 - along * g1, across * b2 - along * g2
    e0, e1, e2 = -ratio * b0, -ratio * b1, -ratio * b2
    start, width = p.blocks[effector.first_block].start, 3 * effector.columns
    for j in range(width):
        store(w.jacobian, start + j, zero)
    _add(p, w, k, f, (c0, c1, c2), (-(g0 + h0 + e0), -(g1 + h1 + e1), -(g2 + h2 + e2)))
    _add(p, w, k, f + 1, (m0, m1, m2), (g0, g1, g2))
    _add(p, w, k, f + 2, (t0, t1, t2), (h0, h1, h2))
    if effector.last_frame - f > 3:
        _add(p, w, k, f + 3, (q0, q1, q2), (e0, e1, e2))


@kernel
def _place(p: Any, w: Any, f: Any) -> Any:
    """Where the origin of frame f is [m]."""
    s = p.task_frames[f]
    _, _, _, _, _, _, _, _, _, x, y, z = hung(s.unit, s.tool, w.frames)
    return x, y, z


@kernel
def _unit(x: Any, y: Any, z: Any) -> Any:
    """A vector's direction, 0 if it has none, and its length."""
    length = sqrt(x * x + y * y + z * z)
    some = length > _NOTHING
    inverse = select(some, 1.0 / select(some, length, 1.0), 0.0 * length)
    return x * inverse, y * inverse, z * inverse, length


@kernel
def _across(x: Any, y: Any, z: Any, n0: Any, n1: Any, n2: Any) -> Any:
    """A vector without its part along the unit vector n, and that part."""
    along = x * n0 + y * n1 + z * n2
    return x - along * n0, y - along * n1, z - along * n2, along


@kernel
def _add(p: Any, w: Any, k: Any, f: Any, point: Any, gradient: Any) -> None:
    """Add the gradient times the velocity of a point [m], which moves with frame f, to the row."""
    effector, frame = p.effectors[k], p.task_frames[f]
    (x, y, z), (g0, g1, g2) = point, gradient
    start, width = p.blocks[effector.first_block].start, 3 * effector.columns
    linear, angular = section(w.scratch, 0, width), section(w.scratch, width, width)
    for j in range(2 * width):
        store(w.scratch, j, splat(w.e, 0.0))
    jacobian_columns(p.columns, frame.first_column, frame.last_column, w.frames, x, y, z, linear, angular)
    for j in range(0, width, 3):
        along = g0 * load(linear, j) + g1 * load(linear, j + 1) + g2 * load(linear, j + 2)
        store(w.jacobian, start + j, load(w.jacobian, start + j) + along)


@final
@dataclass(frozen=True, eq=False, repr=False)
class SwivelTask(Task):
    """Let `middle`, an elbow or a knee, point to the pole `target` [m], shape (3,), about the line `root` to `end`.

    That is all it asks: `root`, `middle` and `end` are the origins of three frames, such as shoulder, elbow and hand,
    and where they are otherwise is for other tasks to say.  With a `base`, the pole is fixed in that frame.  With an
    `angle` [rad] the middle is led to where the direction to the pole comes by that turn, right-handed about the line
    from root to end.  A pole that is far away is a direction.

    The error is the arc that the middle has to go about that line [m]: as the limb is stretched it vanishes, and so
    does what the task asks for, but for the direction in which a straight limb may bend, which is that of the pole.
    A pole on the line asks for nothing.
    """

    root: str
    middle: str
    end: str
    base: str | None = field(default=None, kw_only=True)
    """The frame in which the pole is fixed; None: the world."""
    angle: float = field(default=0.0, kw_only=True)
    """Turn from the pole to where the middle shall be [rad]."""
    target: ArrayLike | None = None

    routine: ClassVar[Any] = staticmethod(swivel_rows)
    unit: ClassVar[Measure] = "m"
    shared: ClassVar[int] = 1
    to_point: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._set("angle", number("angle", self.angle))
        names = (self.root, self.middle, self.end)
        if len(set(names)) < 3:
            raise InvalidValue(
                "duplicate", f"a limb has a root, a middle and an end, and {names} are not three: name three frames"
            )
        super().__post_init__()

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        base = "" if self.base is None else f", base={self.base!r}"
        return f"SwivelTask({self.root!r}, {self.middle!r}, {self.end!r}{base})"

    @property
    def in_world(self) -> bool:
        """Whether it is seen from the world, not from a base."""
        return self.base is None

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """The frames that it reads."""
        return (self.root, self.middle, self.end, *(() if self.base is None else (self.base,)))

    def effector(self, units: Units) -> Effector:
        """It among the units of a problem."""
        columns, seen = task_frames(units, self._places(units.model))
        return Effector(columns=columns, numbers=[np.cos(self.angle), np.sin(self.angle)], frames=seen)

    def moving(self, model: "Model") -> set[int]:
        """The units of the tree that move its frames against each other, or the limb in the world."""
        found = [place(model, name) for name in self.frame_names]
        paths = [at.moved(model) for at in found]
        shared = set() if self.base is None else set.intersection(*paths)
        return set().union(*paths) - shared

    def _limb(self, model: "Model", q: Array) -> tuple[Array, Array, Array]:
        """Unit vectors (..., 3) along the line, or 0, the middle from it, and the root, at `q` (..., nq) [m]."""
        root, middle, end = (model.pose(name, q).xyz for name in (self.root, self.middle, self.end))
        line = _directions(end - root)
        return line, _perpendicular(middle - root, line), root

    def target_at(self, model: "Model", q: Array) -> Array:
        """A target that the configurations `q` (..., nq) fulfil: a pole on the side of the middle."""
        line, middle, root = self._limb(model, q)
        pole = root + rotate(quaternion_exp(-self.angle * line), middle)
        return pole if self.base is None else model.pose(self.base, q).inverse().act(pole)

    def fulfilled(self, model: "Model", q: Array) -> Array | None:
        """(n, 7) goals that the configurations `q` (n, nq) fulfil."""
        return self.goals(self.target_at(model, q))

    def judged(self, model: "Model", goal: Array, q: Array) -> Array:
        """(N, 1) the arcs at `q` (N, nq) for the goals (N, 7), from the poses of the model alone [m]."""
        line, middle, root = self._limb(model, q)
        pole = goal[:, :3] if self.base is None else model.pose(self.base, q).act(goal[:, :3])
        wanted = rotate(quaternion_exp(self.angle * line), _directions(_perpendicular(pole - root, line)))
        x, y = (middle * wanted).sum(axis=-1), (middle * np.cross(line, wanted)).sum(axis=-1)
        defined = (line != 0.0).any(axis=-1) & (wanted != 0.0).any(axis=-1)
        arc = np.where(defined, np.hypot(x, y) * np.abs(np.arctan2(y, x)), 0.0)
        return np.stack([b.norms(np.stack([arc, 0.0 * arc, 0.0 * arc], axis=-1)) for b in self.blocks], axis=1)


def _directions(vectors: Array) -> Array:
    """(..., 3) unit vectors, 0 for what has no direction."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > _NOTHING, vectors / np.where(length > _NOTHING, length, 1.0), 0.0)


def _perpendicular(vectors: Array, line: Array) -> Array:
    """(..., 3) the vectors without their parts along unit vectors."""
    along: Array = (vectors * line).sum(axis=-1, keepdims=True)
    return vectors - along * line
