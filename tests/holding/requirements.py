"""What must hold, one of each kind: mechanisms, what stands in the way of each, and judges that know nothing of how it
is kept."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from support.mechanisms import COUPLER, CRANK, GROUND, ROCKER, at, gap, puppet, rocker_angles

import poise as pz
from poise.common.array import Array

DT = 0.01
"""Seconds from one row of a motion to the next."""
_ROUNDING = 1e-9
NEAREST = 0.005
"""What shapes are kept apart by [m]."""


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """Something that moves, a way for it, and what may stand in that."""

    model: pz.Model
    frame: str
    q0: Array
    goal: Any
    """(3,) where the frame is sent [m], past `end` and through all that stands in the way."""
    end: Array
    """(nq,) a place to which a way leads on which all holds."""
    row: tuple[Mapping[str, float], float]
    """Coefficients of joints and the most of their sum."""
    floor: tuple[Sequence[float], Sequence[float]]
    """A point on a plane [m], and the direction beyond which the frame is not to go."""
    wall: pz.Box


def _arm() -> Mechanism:
    """Six joints of a robot with shapes."""
    q0 = np.array([0.0, -1.8, 1.9, -1.6, -1.5, 0.0])
    return Mechanism(
        model=pz.load("ur5e").with_limits({"shoulder_pan_joint": (-0.1, 0.1)}),
        frame="tool0",
        q0=q0,
        goal=np.array([-0.5, -0.25, 0.6]),
        end=q0 + np.array([0.08, 0.15, -0.1, 0.1, 0.0, 0.0]),
        row=({"shoulder_lift_joint": -1.0, "elbow_joint": -1.0}, 0.0),
        floor=([0.0, 0.0, 0.5], [0.0, 0.0, 1.0]),
        wall=pz.Box(at(-0.55, -0.44, 0.6), (0.4, 0.4, 1.0)),
    )


def _puppet() -> Mechanism:
    """A shoulder and a wrist of limited swing and twist, and a hinge between them."""
    model = puppet().with_shapes({"hand": pz.Sphere([0.1, 0.0, 0.0], 0.05)})
    return Mechanism(
        model=model,
        frame="palm",
        q0=model.home,
        goal=np.array([0.3, -0.3, 0.4]),
        end=model.integrate(model.home, [0.02, 0.02, 0.02, 0.1, 0.02, 0.02, 0.02]),
        row=({"elbow": 1.0}, 0.2),
        floor=([0.0, 0.0, 0.1], [0.0, 0.0, 1.0]),
        wall=pz.Box(at(0.5, -0.1, 0.35), (0.5, 0.5, 0.3)),
    )


def _rover() -> Mechanism:
    """A free base that carries a boom on a hinge, and a second one on that."""
    b = pz.ModelBuilder("rover")
    b.joint("base", "floating", parent="ground", child="body")
    b.joint("boom", "revolute", parent="body", child="beam", axis=(0, 1, 0), limits=(-1.0, 1.0), velocity=2.0)
    b.joint(
        "stick", "revolute", parent="beam", child="rod", axis=(0, 1, 0), limits=(-1.0, 1.0), velocity=2.0,
        origin=at(0.5, 0, 0),
    )  # fmt: skip
    b.frame("tip", link="rod", origin=at(0.3, 0, 0))
    b.shape("rod", pz.Sphere([0.3, 0.0, 0.0], 0.05))
    model = b.build()
    return Mechanism(
        model=model,
        frame="tip",
        q0=model.home,
        goal=np.array([1.8, 0.5, 0.5]),
        end=model.integrate(model.home, [0.2, 0.05, 0.0, 0.0, 0.0, 0.0, -0.05, -0.05]),
        row=({"boom": -1.0, "stick": -1.0}, 0.15),
        floor=([1.2, 0.0, 0.0], [1.0, 0.0, 0.0]),
        wall=pz.Box(at(1.8, 0.3, 0.3), (0.6, 0.6, 0.6)),
    )


def _bar() -> Mechanism:
    """A crank and a rocker with a coupler between them, which carries a pen on two hinges."""
    b, limits = pz.ModelBuilder("bar"), (-7.0, 7.0)
    for name, parent, x in (
        ("crank", "base", 0.0), ("coupler", "crank_link", CRANK), ("rocker", "base", GROUND),
        ("fore", "coupler_link", 0.5), ("hand", "fore_link", 0.3),
    ):  # fmt: skip
        b.joint(name, "revolute", parent=parent, child=f"{name}_link", origin=at(x, 0, 0), limits=limits, velocity=2.0)
    b.frame("coupler_end", link="coupler_link", origin=at(COUPLER, 0, 0))
    b.frame("rocker_end", link="rocker_link", origin=at(ROCKER, 0, 0))
    b.frame("pen", link="hand_link", origin=at(0.2, 0, 0))
    b.loop("coupler_end", "rocker_end")
    b.shape("hand_link", pz.Sphere([0.2, 0.0, 0.0], 0.02))
    model = b.build()
    here = model.pose("pen", _closed_at(0.5)).xyz
    return Mechanism(
        model=model,
        frame="pen",
        q0=_closed_at(0.5),
        goal=np.add(here, [-0.4, 0.3, 0.0]),
        end=_closed_at(0.55),
        row=({"crank": 1.0, "fore": 0.5}, 1.2),
        floor=(np.add(here, [-0.2, 0.0, 0.0]), [-1.0, 0.0, 0.0]),
        wall=pz.Box(at(*np.add(here, [-0.4, 0.3, 0.0])), (0.3, 0.3, 0.3)),
    )


def _closed_at(crank: float) -> Array:
    """(5,) angles of the bar that close it, at an angle of its crank [rad]."""
    rocker = rocker_angles(crank)[1]
    ends = [r * np.array([np.cos(q), np.sin(q)]) for r, q in ((CRANK, crank), (ROCKER, rocker))]
    x, y = [GROUND, 0.0] + ends[1] - ends[0]
    return np.array([crank, np.arctan2(y, x) - crank, rocker, 1.0, 0.5])


ARM, PUPPET, ROVER, BAR = _arm(), _puppet(), _rover(), _bar()


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """How it is stated, and whether it holds."""

    judge: Callable[[Mechanism, Array], bool]
    """Of rows of q (k, nq): of a motion, `DT` apart, or answers that have nothing in common."""
    limits: Callable[[Mechanism], list[Any]] = lambda mechanism: []
    beside: Callable[[Mechanism], list[Any]] = lambda mechanism: []
    """Tasks that state it."""
    timed: bool = False
    """Whether it is of velocities, so that rows must be of a motion."""
    on: Mechanism = ARM


def _moves(rows: Array, model: pz.Model) -> Array:
    """(k - 1, nv) velocities between rows."""
    return model.difference(rows[:-1], rows[1:]) / DT


def _within(values: Array, most: float) -> bool:
    return bool(np.abs(values).max(initial=0.0) <= most * (1.0 + _ROUNDING) + _ROUNDING)


def _in_range(m: Mechanism, rows: Array) -> bool:
    return bool(m.model.within_limits(rows))


def _slow(m: Mechanism, rows: Array) -> bool:
    return _within(_moves(rows, m.model), 0.5)


def _even(m: Mechanism, rows: Array) -> bool:
    """It begins at rest; a step may be the last of a motion that goes on."""
    speeds = np.vstack([np.zeros(m.model.nv), _moves(rows, m.model)])
    return _within(np.diff(speeds, axis=0) / DT, 2.0)


def _smooth(m: Mechanism, rows: Array) -> bool:
    speeds = np.vstack([np.zeros((2, m.model.nv)), _moves(rows, m.model)])
    return _within(np.diff(speeds, axis=0) / DT, 5.0) and _within(np.diff(speeds, 2, axis=0) / DT**2, 50.0)


def _drifts(m: Mechanism, rows: Array) -> bool:
    return _within(np.linalg.norm(_moves(rows, m.model)[:, :3], axis=1), 0.2)


def _tame(m: Mechanism, rows: Array) -> bool:
    places = m.model.pose(m.frame, rows).xyz
    return _within(np.linalg.norm(np.diff(places, axis=0), axis=1) / DT, 0.15)


def _bent(m: Mechanism, rows: Array) -> bool:
    factors, most = m.row
    sums = sum(factor * rows[:, m.model.index(joint).start] for joint, factor in factors.items())
    return bool((sums <= most + _ROUNDING).all())


def _apart(m: Mechanism, rows: Array) -> bool:
    near = m.model.distance(rows, pz.World({"wall": m.wall}), self_collision=False)
    return bool((near.distance >= NEAREST - _ROUNDING).all())


def _inside(m: Mechanism, rows: Array) -> bool:
    point, normal = m.floor
    return bool(((m.model.pose(m.frame, rows).xyz - point) @ np.asarray(normal) <= 2e-6).all())


def _closed(m: Mechanism, rows: Array) -> bool:
    return all(gap(m.model, q) <= 1e-6 for q in rows)


REQUIREMENTS: dict[str, Requirement] = {
    "positions": Requirement(judge=_in_range),
    "balls": Requirement(judge=_in_range, on=PUPPET),
    "speeds": Requirement(limits=lambda m: [pz.VelocityLimit(0.5)], timed=True, judge=_slow),
    "accelerations": Requirement(limits=lambda m: [pz.AccelerationLimit(2.0)], timed=True, judge=_even),
    "jerks": Requirement(
        limits=lambda m: [pz.AccelerationLimit(5.0), pz.JerkLimit(50.0)], timed=True, judge=_smooth
    ),
    "twists": Requirement(limits=lambda m: [pz.TwistLimit(linear=0.2)], timed=True, judge=_drifts, on=ROVER),
    "tool speeds": Requirement(
        limits=lambda m: [pz.ToolSpeedLimit(m.frame, linear=0.15)], timed=True, judge=_tame
    ),
    "linear": Requirement(limits=lambda m: [pz.LinearLimit(m.row[0], most=m.row[1])], judge=_bent),
    "shapes": Requirement(
        limits=lambda m: [pz.CollisionLimit(pz.World({"wall": m.wall}), min_distance=NEAREST)], judge=_apart
    ),
    "ranges": Requirement(
        beside=lambda m: [pz.RegionTask(m.frame, pz.HalfSpace(*m.floor))], judge=_inside
    ),
    "loops": Requirement(judge=_closed, on=BAR),
}  # fmt: skip


TURNED = pz.SO3.from_rotvec([0.0, 0.0, 0.3])
WANTED: dict[str, Callable[[Mechanism], Any]] = {
    "soft": lambda m: pz.OrientationTask(m.frame, target=TURNED, required=False),
    "levels": lambda m: pz.OrientationTask(m.frame, target=TURNED, priority=1),
    "posture": lambda m: pz.PostureTask(m.end),
}
"""What may be wanted beside the place of the frame, and gives way to it."""
FREE = "free"
"""The place of the frame is not required either."""
NAMES = (*REQUIREMENTS, *WANTED, FREE)


def pull(m: Mechanism, place: Any) -> pz.PositionTask:
    """The task that leads the frame to a place, or in the plane of the bar."""
    return pz.PositionTask(m.frame, target=place, weight=(1.0, 1.0, 0.0) if m is BAR else 1.0)


@dataclass(frozen=True)
class Case:
    """Requirements on one mechanism, and what is wanted beside the place of its frame."""

    mechanism: Mechanism
    requirements: tuple[Requirement, ...]
    wanted: tuple[Any, ...]
    free: bool = False
    """Whether nothing of that is required."""

    @property
    def tasks(self) -> list[Any]:
        """What pulls, what is wanted beside it, and the tasks that state what must hold."""
        m = self.mechanism
        stated = [task for requirement in self.requirements for task in requirement.beside(m)]
        return [replace(pull(m, m.goal), required=not self.free), *self.wanted, *stated]

    @property
    def limits(self) -> list[Any]:
        """What states the others."""
        return [limit for requirement in self.requirements for limit in requirement.limits(self.mechanism)]

    @property
    def timed(self) -> bool:
        """Whether any is of velocities."""
        return any(requirement.timed for requirement in self.requirements)

    def holds(self, rows: Array) -> bool:
        """Whether all do, and joints are within their limits."""
        judges = [_in_range, *(requirement.judge for requirement in self.requirements)]
        return len(rows) > 0 and all(judge(self.mechanism, rows) for judge in judges)


def names() -> list[tuple[str, ...]]:
    """Requirements by themselves, in pairs, and each with what is wanted, on mechanisms that have them."""
    alone = [(name,) for name in NAMES]
    pairs = [pair for pair in combinations(NAMES, 2) if pair[0] in REQUIREMENTS]
    return [some for some in (*alone, *pairs) if len(_places(some)) < 2]


def _places(some: Iterable[str]) -> list[Mechanism]:
    """The mechanisms that alone have one of these."""
    return [REQUIREMENTS[name].on for name in some if name in REQUIREMENTS and REQUIREMENTS[name].on is not ARM]


def case(some: Iterable[str]) -> Case:
    """These together."""
    some = tuple(some)
    mechanism = next(iter(_places(some)), ARM)
    wanted = tuple(WANTED[name](mechanism) for name in some if name in WANTED)
    required = tuple(REQUIREMENTS[name] for name in some if name in REQUIREMENTS)
    return Case(mechanism, required, wanted, free=FREE in some)
