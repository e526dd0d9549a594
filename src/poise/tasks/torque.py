"""Keep what joints must give against gravity and known wrenches, at rest, within limits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import by_name, finite, number
from poise.common.errors import InvalidValue
from poise.kernels.kinematics.forward import is_curved
from poise.kernels.kinematics.mass import mass_moments, swept
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.machine.layout import FRAME, PRISMATIC
from poise.kernels.rows.frame import hung
from poise.kernels.rows.range_side import add_to_side, begin_side
from poise.model.joint import JointKind
from poise.model.tree import Columns, unit_columns
from poise.tasks.effector import Effector, Measure, Place, TaskFrame, Units, place
from poise.tasks.mass import OfMass

if TYPE_CHECKING:
    from poise.model.model import Model

LOAD: Final = 8
"""Rows of scratch of a COLUMN, for what loads it: the sum of v x f over the forces f on what it carries, v being how
their points move with it (3); z x m of its axis and the moments m there (3); the torque; a bound on the first two."""
_WRENCH: Final = 6
_FEW: Final = 3
"""So many joints a label names."""
_NEAR: Final = 2e-5
"""What is no farther from its limit stands at it, as a share of that: twice what steps stay inside."""
_AT_REST: Final = Columns((), np.zeros((0, 4), dtype=np.int64), np.zeros((0, 2)))


@kernel
def _loaded(p: Any, w: Any, k: Any, c: Any, axis: Any) -> tuple[Any, ...]:
    """The LOAD of COLUMN c of effector k, whose axis stands in the rows `axis` of the frames."""
    effector, u, o = p.effectors[k], c.place // FRAME, splat(w.e, 0.0)
    at, m0, m1, m2 = effector.first_number, o, o, o
    f0, f1, f2 = p.numbers[at], p.numbers[at + 1], p.numbers[at + 2]
    moment = load(w.scratch, 3 * u), load(w.scratch, 3 * u + 1), load(w.scratch, 3 * u + 2)
    v0, v1, v2 = swept(c, axis, w.frames, p.bodies[u].carried, moment)
    s0, s1, s2 = v1 * f2 - v2 * f1, v2 * f0 - v0 * f2, v0 * f1 - v1 * f0
    torque = -(v0 * f0 + v1 * f1 + v2 * f2)
    most = sqrt(v0 * v0 + v1 * v1 + v2 * v2) * np.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
    for i in range(effector.first_frame, effector.last_frame):
        frame, at = p.task_frames[i], at + (3 if i == effector.first_frame else 6)
        if _carries(p, u, frame.unit):
            _, _, _, _, _, _, _, _, _, x, y, z = hung(frame.unit, frame.tool, w.frames)
            v0, v1, v2 = swept(c, axis, w.frames, 1.0, (x, y, z))
            f0, f1, f2 = p.numbers[at], p.numbers[at + 1], p.numbers[at + 2]
            s0, s1, s2 = s0 + v1 * f2 - v2 * f1, s1 + v2 * f0 - v0 * f2, s2 + v0 * f1 - v1 * f0
            torque = torque - (v0 * f0 + v1 * f1 + v2 * f2)
            most = most + sqrt(v0 * v0 + v1 * v1 + v2 * v2) * np.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
            m0, m1, m2 = m0 + p.numbers[at + 3], m1 + p.numbers[at + 4], m2 + p.numbers[at + 5]
    z0, z1, z2 = _axis(w, c, axis)
    t0, t1, t2 = z1 * m2 - z2 * m1, z2 * m0 - z0 * m2, z0 * m1 - z1 * m0
    torque = torque - (z0 * m0 + z1 * m1 + z2 * m2)
    return s0, s1, s2, t0, t1, t2, torque, most + sqrt((z0 * z0 + z1 * z1 + z2 * z2) * (m0 * m0 + m1 * m1 + m2 * m2))


@kernel
def _axis(w: Any, c: Any, axis: Any) -> tuple[Any, Any, Any]:
    """What COLUMN c turns by, about its axis in the rows `axis` of the frames; nothing for a slide."""
    scale = 0.0 if c.kind == PRISMATIC else c.scale
    return load(w.frames, axis) * scale, load(w.frames, axis + 1) * scale, load(w.frames, axis + 2) * scale


@kernel
def _carries(p: Any, u: Any, on: Any) -> bool:
    """Whether unit u is `on` or carries it; units stand behind what carries them."""
    while on > u:
        on = p.units[on].parent
    return on == u


@kernel
def _loads(p: Any, w: Any, k: Any) -> int:
    """Write the LOADs of the COLUMNs of effector k, one after the other; the row of scratch where they begin."""
    effector, first = p.effectors[k], 3 * len(p.units) + 3
    mass_moments(p.units, p.bodies, w.frames, w.scratch)
    for i in range(effector.first_column, effector.last_column):
        found, at = _loaded(p, w, k, p.columns[i], p.columns[i].axis), first + LOAD * (i - effector.first_column)
        for r in range(LOAD):
            store(w.scratch, at + r, found[r])
    return first


@kernel
def _slope(p: Any, w: Any, k: Any, i: Any, j: Any, first: Any) -> tuple[Any, Any]:
    """How the torque of COLUMN i changes with COLUMN j, and a bound on that in whatever direction the forces are.

    What j moves farther out on i changes the lever of its forces; where j carries i, it turns i with all that it
    carries, under forces that stay.
    """
    one, other = p.columns[i], p.columns[j]
    u, v, start = one.place // FRAME, other.place // FRAME, p.effectors[k].first_column
    if _carries(p, u, v):
        at = first + LOAD * (j - start)
        z0, z1, z2 = _axis(w, one, one.axis)
        slope = -(z0 * load(w.scratch, at) + z1 * load(w.scratch, at + 1) + z2 * load(w.scratch, at + 2))
        most = sqrt(z0 * z0 + z1 * z1 + z2 * z2) * load(w.scratch, at + 7)
        if i == j and is_curved(p, one):
            change = _loaded(p, w, k, one, one.axis + 3)
            slope, most = slope + change[6], most + change[7]
    elif _carries(p, v, u):
        at = first + LOAD * (i - start)
        z0, z1, z2 = _axis(w, other, other.axis)
        s0 = load(w.scratch, at) + load(w.scratch, at + 3)
        s1 = load(w.scratch, at + 1) + load(w.scratch, at + 4)
        s2 = load(w.scratch, at + 2) + load(w.scratch, at + 5)
        slope = -(z0 * s0 + z1 * s1 + z2 * s2)
        most = sqrt(z0 * z0 + z1 * z1 + z2 * z2) * load(w.scratch, at + 7)
    else:
        slope, most = splat(w.e, 0.0), splat(w.e, 0.0)
    return slope, most


@kernel
def _column(c: Any) -> Any:
    """The column of the effector that COLUMN c adds to."""
    return c.column if c.column >= 0 else -1 - c.column


@kernel
def _limits(p: Any, k: Any) -> tuple[Any, Any]:
    """Where in the problem's numbers the limits of effector k begin, and how many there are.

    Each is a column, -1 for none, and the inverse of the limit.  Columns of joints that stand still, which bear a load
    too, come after those of the Jacobian.
    """
    effector = p.effectors[k]
    at = effector.first_number + 3 + _WRENCH * (effector.last_frame - effector.first_frame)
    return at, (effector.last_number - at) // 2


@kernel
def _share(p: Any, w: Any, k: Any, at: Any, first: Any) -> Any:
    """The torque of the joint whose limit stands at `at` of the numbers, as a share of it, with its sign."""
    effector, total = p.effectors[k], splat(w.e, 0.0)
    for i in range(effector.first_column, effector.last_column):
        if _column(p.columns[i]) == p.numbers[at]:
            total = total + load(w.scratch, first + LOAD * (i - effector.first_column) + 6)
    return total * p.numbers[at + 1]


@kernel
def _excess(share: Any) -> Any:
    """What of a share is beyond 1, with its sign; NaN stays."""
    return select(share > 1.0, share - 1.0, select(share < -1.0, share + 1.0, 0.0 * share))


@routine
def torque_rows(p: Any, w: Any, k: Any) -> None:
    """Less the length of all that torques are beyond their limits, as shares of these, in the first row; 0 within."""
    effector = p.effectors[k]
    first, (at, count) = _loads(p, w, k), _limits(p, k)
    row, start, o = 3 * effector.first_block, p.blocks[effector.first_block].start, splat(w.e, 0.0)
    square = o
    for limit in range(count):
        excess = _excess(_share(p, w, k, at + 2 * limit, first))
        square = square + excess * excess
    length = sqrt(square)
    store(w.e, row, -length), store(w.e, row + 1, o), store(w.e, row + 2, o)
    for j in range(3 * effector.columns):
        store(w.jacobian, start + j, o)
    outside = square > 0.0
    if not any_of(outside):
        return
    inverse = select(outside, 1.0 / select(outside, length, 1.0 + o), o)
    for limit in range(count):
        part = inverse * _excess(_share(p, w, k, at + 2 * limit, first)) * p.numbers[at + 2 * limit + 1]
        for i in range(effector.first_column, effector.last_column):
            if _column(p.columns[i]) == p.numbers[at + 2 * limit]:
                for j in range(effector.first_column, effector.last_column):
                    if _column(p.columns[j]) < effector.columns:
                        to = start + 3 * _column(p.columns[j])
                        store(w.jacobian, to, load(w.jacobian, to) + part * _slope(p, w, k, i, j, first)[0])


@routine
def torque_sides(p: Any, w: Any, b: Any) -> None:
    """How far each torque is beyond its limit, as a share of it: a side above and one below for each limit."""
    task_range = p.ranges[b]
    k = task_range.effector
    effector = p.effectors[k]
    first, (at, count) = _loads(p, w, k), _limits(p, k)
    for limit in range(count):
        above = task_range.first + 2 * limit
        share, inverse = _share(p, w, k, at + 2 * limit, first), p.numbers[at + 2 * limit + 1]
        begin_side(w, above, share - 1.0), begin_side(w, above + 1, -share - 1.0)
        for i in range(effector.first_column, effector.last_column):
            if _column(p.columns[i]) == p.numbers[at + 2 * limit]:
                for j in range(effector.first_column, effector.last_column):
                    if _column(p.columns[j]) < effector.columns:
                        slope, most = _slope(p, w, k, i, j, first)
                        a = p.slots[effector.first_slot + _column(p.columns[j])]
                        add_to_side(w, above, a, inverse * slope, inverse * most)
                        add_to_side(w, above + 1, a, -inverse * slope, inverse * most)


def largest_torques(field: str, limits: Any) -> dict[str, float]:
    """The limits of joints by name, as `field` states them; raises ValueError for none, and one that is not above 0."""
    if not isinstance(limits, Mapping) or not limits:
        raise InvalidValue(
            "empty" if isinstance(limits, Mapping) else "wrong-type",
            f"{field} must name joints, as in {{'knee': 120.0}}, got {limits!r}: Model.efforts are those of the "
            "robot's file, if it states any",
        )
    found = {name: number(f"{field}[{name!r}]", most) for name, most in limits.items()}
    for name, most in found.items():
        if not most > 0.0:
            raise InvalidValue("not-positive", f"{field}[{name!r}] is {most}; it must be above 0")
    return found


def outer_wrenches(wrenches: Any) -> dict[str, tuple[float, ...]]:
    """The wrenches (6,) from outside, by frame; raises TypeError, ShapeError and ValueError for what is none."""
    by_name("wrenches", wrenches, "{'hand': (0, 0, -20, 0, 0, 0)}")
    found = {name: finite(f"wrenches[{name!r}]", given, 6) for name, given in wrenches.items()}
    return {name: tuple(given.tolist()) for name, given in found.items()}


def refuse_shared(label: str, model: "Model", joints: Iterable[str]) -> None:
    """Raises ValueError where forces do not tell what one of these joints gives: loops, and several axes."""
    if model.loops:
        raise InvalidValue(
            "not-supported",
            f"{label} is of trees, and {model.name} has loops, which share what they carry: leave it out",
        )
    for name in joints:
        if (at := model.velocity_index(name)).stop - at.start != 1:
            raise InvalidValue(
                "not-supported",
                f"{label} is of joints of one axis, and {name!r} is {model.joint(name).kind}: leave it out",
            )


@final
@dataclass(frozen=True, eq=False, repr=False)
class TorqueTask(OfMass):
    """Keep what each joint of `limits` gives, to hold the robot still, within so many N m, or N of one that slides.

    It is inverse dynamics at rest, `Model.gravity_torques`: the weight of all masses of the model, a payload among them
    (`Model.with_payload`), and `wrenches` from outside, by frame.  `Model.efforts` are the limits of the robot's file;
    `{name: 0.8 * most for name, most in robot.efforts.items()}` leaves a fifth to motion.  Joints that follow another
    load that.  The ground under a foot is a wrench as well, for what it gives nobody else knows.

    Inside it asks for nothing; outside, what is left is the length of all that torques are beyond their limits, as
    shares of these.  A `Tracker` does not leave the limits, see there.  Weight and tolerance are of shares.  Raises
    ValueError for no limits and for one that is not above 0; with a model JointNotFound, FrameNotFound, and ValueError
    for joints of several axes, models without masses and those with loops, whose forces the joints do not tell.
    """

    limits: Mapping[str, float]
    """Joint to the largest torque [N m] or force [N] either way, above 0."""
    wrenches: Mapping[str, ArrayLike] = field(default_factory=dict, kw_only=True)
    """Frame to force [N] and moment about its origin [N m], (6,), along the world's axes, that act on it."""
    gravity: ArrayLike = field(default=(0.0, 0.0, -9.81), kw_only=True)
    """(3,) [m/s^2] in the world."""

    routine: ClassVar[Any] = staticmethod(torque_rows)
    unit: ClassVar[Measure] = ""
    shared: ClassVar[int] = 1
    side_routine: ClassVar[Any] = staticmethod(torque_sides)
    goal_kind: ClassVar[int] = 0

    def __post_init__(self) -> None:
        self._set("limits", largest_torques("limits", self.limits))
        self._set("wrenches", outer_wrenches(self.wrenches))
        self._set("gravity", tuple(finite("gravity", self.gravity, 3).tolist()))
        super().__post_init__()

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        few = len(self.limits) <= _FEW
        return f"TorqueTask({', '.join(map(repr, self.limits)) if few else f'{len(self.limits)} joints'})"

    @property
    def inequality_rows(self) -> int:
        """See `Task.inequality_rows`: two a joint."""
        return 2 * len(self.limits)

    @property
    def depth(self) -> float:
        """See `Task.depth`: a share of the limits."""
        return 1.0

    def _places(self, model: "Model") -> list[Place]:
        return [place(model, name) for name in self.wrenches]

    def needed(self, model: "Model") -> set[int]:
        """The units of the tree with a mass, or where a wrench acts; raises as the class says."""
        refuse_shared(self.label, model, self.limits)
        return super().needed(model) | {unit for at in self._places(model) for unit in at.read}

    def effector(self, units: Units) -> Effector:
        """It among the units of a problem."""
        model, starts = units.model, {name: units.model.velocity_index(name).start for name in self.limits}
        still = {model.index(name).start: v for name, v in starts.items() if name in model.still}
        bearing = [unit._replace(iv=still.get(unit.iq, unit.iv)) for unit in units.units]
        moved = sorted(units.number[u] for u in self.moving(model))
        held = [i for i, unit in enumerate(bearing) if unit.iq in still]
        found = unit_columns(bearing, [(i, 1.0) for i in (*moved, *held)])
        columns = found._replace(velocities=tuple(v for v in found.velocities if v not in still.values()))
        numbers = (model.mass * np.array(self.gravity)).tolist()
        numbers += [x for wrench in self.wrenches.values() for x in np.asarray(wrench).tolist()]
        for name, most in self.limits.items():
            v = starts[name]
            numbers += [found.velocities.index(v) if v in found.velocities else -1.0, 1.0 / most]
        frames = [TaskFrame(units.number[at.tip], units.tool(at.tip, at.hang), _AT_REST) for at in self._places(model)]
        return Effector(columns=columns, numbers=numbers, frames=frames, heavy=True, scratch=LOAD * len(columns.raw))

    def at_sides(self, model: "Model", q: Array) -> list[str]:
        """See `Task.at_sides`: the joints that give as much as they may, or more."""
        found = []
        for (name, most), share in zip(self.limits.items(), self.shares(model, q).tolist(), strict=True):
            if abs(share) > 1.0 - _NEAR:
                unit = "N" if model.joint(name).kind is JointKind.PRISMATIC else "N m"
                found.append(f"{name} gives {share * most:.4g} of {most:.4g} {unit}")
        return found

    def shares(self, model: "Model", q: Array) -> Array:
        """(..., joints) the torques at `q` (..., nq) as shares of the limits, in their order and with their signs."""
        torques = model.gravity_torques(q, wrenches=self.wrenches, gravity=self.gravity)
        found: Array = torques[..., [model.velocity_index(name).start for name in self.limits]]
        return found / np.array(list(self.limits.values()))

    def judged(self, model: "Model", goal: Array, q: Array) -> Array:
        """(N, 1) the lengths of all that torques at `q` (N, nq) are beyond their limits, as shares of these."""
        beyond = np.maximum(np.abs(self.shares(model, q)) - 1.0, 0.0)
        return np.linalg.norm(beyond, axis=-1, keepdims=True) * (float(self.weight) != 0.0)  # type: ignore[arg-type]
