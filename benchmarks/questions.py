"""Questions for `verdicts`: what is asked of which body by which function, made of names and seeds alone.

The cells are those of `tests/holding`, on its mechanisms and beside them on arms, chains, a character and a humanoid
among random planes, boxes and sums of joints; then ranges and tasks that the table there does not name, three
requirements at once, and requirements that nothing fulfils.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from asked_bodies import BODIES, DIGITS, HEAVY, POSED, Array, Body, body
from requirements import DT, FREE, REQUIREMENTS, WANTED, Case, Mechanism, names
from support.derivatives import KINDS
from support.mechanisms import at

import poise as pz
from poise.methods import registry

STEPS, WAYPOINTS = 60, 6
"""Of a rollout, and of a path."""
NEVER = "never"
"""The first word of cells that nothing fulfils."""
TIMED = tuple(name for name, one in REQUIREMENTS.items() if one.timed)


class Verdict(NamedTuple):
    """How a question was answered."""

    status: str
    """The name of a `Status` or of an exception, the word of a gradient, how many solutions there are, or ROLLED."""
    restarts: int
    iterations: int
    cost: float
    """Of a solve its own, of a path the sum of its squared steps, of a rollout the squared distance that is left."""
    q: Array
    """Configurations, or derivatives."""


def _raised(error: Exception) -> Verdict:
    return Verdict(type(error).__name__, 0, 0, 0.0, np.zeros(0))


@dataclass(frozen=True, kw_only=True)
class HeightLimit(pz.Task):
    """Keep a frame below a height [m], as users write it."""

    frame: str
    most: float
    unit = "m"
    inequality = True

    @staticmethod
    def residual(frames: Any, numbers: Any, out: Any) -> None:
        out[0] = frames[0, 2] - numbers[0]


def _unit(rng: np.random.Generator) -> Array:
    way = rng.normal(size=3)
    return np.asarray(way / np.linalg.norm(way))


def _sampled(model: pz.Model, rng: np.random.Generator) -> Array:
    return np.round(model.sample(seed=int(rng.integers(2**31))), DIGITS)


def _posed(pose: pz.SE3) -> pz.SE3:
    return pz.SE3(np.round(pose.array, DIGITS))


def _drawn(who: Body, rng: np.random.Generator) -> Mechanism:
    """A way of the body, and what stands across it."""
    m = who.model
    end = np.round(m.clip(m.integrate(who.around, 0.5 * rng.normal(size=m.nv))), DIGITS)
    here, there = (np.round(m.pose(who.frame, q).xyz, DIGITS) for q in (who.around, end))
    hinges = [joint.name for joint in m.joints if joint.nq == 1 and joint.mimic is None]
    chosen = rng.choice(hinges, size=min(3, len(hinges)), replace=False) if hinges else ()
    factors = {str(name): float(rng.choice([-1.0, 0.5, 1.0])) for name in chosen}
    now = sum(factor * float(who.around[m.index(name).start]) for name, factor in factors.items())
    middle = here + rng.uniform(0.4, 0.9) * (there - here)
    size, off = rng.uniform(0.1, 0.4, 3), 0.05 * rng.normal(size=3)
    return Mechanism(
        model=m,
        frame=who.frame,
        q0=np.array(who.around),
        goal=there,
        end=end,
        row=(factors, now + float(rng.uniform(0.05, 0.5))),
        floor=(middle, there - here),
        wall=pz.Box(at(*(middle + off)), size),
    )


def _hopeless(m: Mechanism) -> Mechanism:
    """The same with a sum, a plane and a box that leave no room."""
    return replace(
        m,
        row=(m.row[0], m.row[1] - 100.0),
        floor=(np.add(m.floor[0], -20.0 * np.asarray(m.floor[1]) / np.linalg.norm(m.floor[1])), m.floor[1]),
        wall=pz.Box(at(*m.model.pose(m.frame, m.q0).xyz), (9.0, 9.0, 9.0)),
    )


BESIDE: dict[str, Callable[[Mechanism], Any]] = {
    "cone": lambda m: pz.ConeTask(m.frame, (0.0, 0.0, 1.0), angle=0.7, target=m.floor[1]),
    "distance": lambda m: pz.DistanceTask(m.frame, (0.1, 0.6), target=m.goal),
    "region": lambda m: pz.RegionTask(m.frame, pz.Box(at(*m.goal), (0.8, 0.8, 0.8))),
    "capsule": lambda m: pz.RegionTask(m.frame, pz.Capsule(m.floor[0], m.goal, 0.2)),
    "axis": lambda m: pz.AxisTask(m.frame, (0.0, 1.0, 0.0), target=m.floor[1]),
    "look": lambda m: pz.LookAtTask(m.frame, target=m.floor[0], required=False),
    "plane": lambda m: pz.PlaneTask(m.frame, (0.0, 0.0, 1.0), target=m.goal, required=False),
    "coupling": lambda m: pz.JointCouplingTask(m.row[0], target=m.row[1] - 0.3),
    "mass": lambda m: pz.CentreOfMassTask(m.model.centre_of_mass(m.q0)),
    "support": lambda m: pz.SupportTask(0.15 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) + m.q0[:2]),
    "own": lambda m: HeightLimit(frame=m.frame, most=float(m.floor[0][2])),
    "own soft": lambda m: HeightLimit(frame=m.frame, most=float(m.floor[0][2]), required=False),
}  # fmt: skip
"""What the table of `tests/holding` does not name."""
MORE = (
    *((name,) for name in BESIDE),
    *((a, b) for a in ("linear", "shapes", "ranges", "posture") for b in ("cone", "distance", "axis", "own")),
    ("soft", "cone"), ("levels", "region"), ("support", "linear"), ("support", "shapes"), ("mass", "ranges"),
    ("linear", "shapes", "ranges"), ("linear", "ranges", "soft"), ("linear", "shapes", "posture"),
    ("linear", "ranges", "levels"), ("ranges", "cone", "posture"), ("linear", "shapes", "ranges", "own"),
    ("soft", "posture"), ("linear", "soft", "posture"),
)  # fmt: skip
IMPOSSIBLE = (
    *((name,) for name in ("linear", "ranges", "shapes")),
    ("linear", "ranges"), ("linear", "shapes"), ("ranges", "shapes"),
    *((a, b) for a in ("linear", "ranges", "shapes") for b in (*WANTED, FREE)),
)  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """A body, what must hold of it and what is wanted."""

    who: Body
    way: Mechanism
    tasks: tuple[Any, ...]
    """The first one is given a target by each question."""
    limits: Any
    reach: float
    """The farthest that the frame is from the first joint's place in some samples [m]."""


@cache
def scene(name: str, some: tuple[str, ...], *, never: bool) -> Scene:
    """The body among these, made of their names."""
    who = body(name)
    assert who is not None
    rng = np.random.default_rng(zlib.crc32("+".join((name, *some)).encode()))
    way = who.fixed or _drawn(who, rng)
    way = _hopeless(way) if never else way
    required = tuple(REQUIREMENTS[one] for one in some if one in REQUIREMENTS)
    wanted = tuple(WANTED[one](way) for one in some if one in WANTED)
    case = Case(way, required, wanted, free=FREE in some)
    pull, *others = case.tasks
    if name == "bar":  # in a plane
        pull = replace(pull, weight=(1.0, 1.0, 0.0))
    if name in POSED and not wanted and rng.random() < 0.5:
        pull = pz.PoseTask(way.frame, target=pz.SE3.identity(), required=pull.required)
    pinned = [pz.PoseTask(foot, target=_posed(way.model.pose(foot, who.around))) for foot in who.pinned]
    beside = [BESIDE[one](way) for one in some if one in BESIDE]
    seen = way.model.pose(way.frame, way.model.sample(100, seed=0)).xyz if not way.model.loops else np.zeros((1, 3))
    reach = float(np.linalg.norm(seen - seen.mean(axis=0), axis=1).max())
    return Scene(who, way, (pull, *pinned, *others, *beside), case.limits or True, round(reach, 6))


def _target(s: Scene, rng: np.random.Generator) -> Any:
    """Half of the targets are within reach of the joints, an eighth with joints at their limits, others farther out."""
    m, kind = s.way.model, int(rng.integers(8))
    near = np.round(m.clip(m.integrate(s.way.q0, 0.2 * rng.normal(size=m.nv))), DIGITS)
    q = near if kind < 2 else _sampled(m, rng)
    if kind == 4:
        edge = np.where(rng.random(m.nq) < 0.5, m.lower, m.upper)
        q = np.where(np.isfinite(edge) & (rng.random(m.nq) < 0.4), edge, q)
    pose = m.pose(s.way.frame, s.way.q0 if m.loops else q)
    xyz = pose.xyz
    if m.loops:
        way = _unit(rng) * (1.0, 1.0, s.who.fixed is None)
        xyz = xyz + float(rng.choice([0.02, 0.1, 0.3, 2.0])) * way
    elif kind == 5:
        xyz = np.asarray(s.way.goal)
    elif kind > 5:
        xyz = float(rng.choice([0.95, 1.05, 3.0])) * s.reach * _unit(rng)
    xyz = np.round(xyz, DIGITS)
    return _posed(pz.SE3.from_parts(xyz, pose.rotation)) if isinstance(s.tasks[0], pz.PoseTask) else xyz


def _start(s: Scene, rng: np.random.Generator) -> Array:
    m = s.way.model
    if m.loops or rng.random() < 0.5:
        return np.asarray(s.way.q0)
    return _sampled(m, rng)


SETTINGS: tuple[dict[str, Any], ...] = (
    {"select": "nearest"},
    {"select": "first"},
    {"max_restarts": 0},
    {"max_restarts": 7, "select": "first"},
    {"max_iterations": 12, "max_restarts": 16},
)
"""What questions are asked with in turn; only the first two search for long."""
BATCHES: tuple[dict[str, Any], ...] = (
    {"best_effort": True},
    {"best_effort": False, "max_restarts": 20},
    {"best_effort": False, "max_restarts": 20, "select": "first"},
)


def _with(tasks: Sequence[Any], target: Any) -> list[Any]:
    return [replace(tasks[0], target=target), *tasks[1:]]


def _first(s: Scene, target: Any) -> Any:
    """Targets of all tasks, where only the first is given one."""
    return [target, *(None for _ in s.tasks[1:])] if len(s.tasks) > 1 else target


def _told(found: pz.Solution) -> Verdict:
    return Verdict(found.status.name, found.restarts, found.iterations, found.cost, found.q)


def solve(s: Scene, rng: np.random.Generator, k: int) -> Verdict:
    tasks, q0 = _with(s.tasks, _target(s, rng)), _start(s, rng)
    limits = False if s.limits is True and k % 11 == 10 else s.limits
    return _told(pz.solve(s.way.model, tasks, q0=q0, limits=limits, seed=k, **SETTINGS[k % len(SETTINGS)]))


def solver(s: Scene, rng: np.random.Generator, k: int, method: str | None = None) -> Verdict:
    more = {"method": method, "max_restarts": 3} if method else {}
    made = pz.Solver(s.way.model, _with(s.tasks, None), limits=s.limits, **{**SETTINGS[k % 2], **more})
    return _told(made(_first(s, _target(s, rng)), _start(s, rng), seed=k))


def gradient(s: Scene, rng: np.random.Generator, k: int) -> Verdict:
    found = pz.solve(s.way.model, _with(s.tasks, _target(s, rng)), q0=_start(s, rng), limits=s.limits, max_restarts=20)
    slope = found.gradient()
    return Verdict(slope.status, found.restarts, found.iterations, found.cost, slope.by_target[0].ravel())


def solve_all(s: Scene, rng: np.random.Generator, k: int) -> Verdict:
    tasks, q0 = _with(s.tasks, _target(s, rng)), _start(s, rng)
    found = pz.solve_all(s.way.model, tasks, None, q0, limits=s.limits, samples=2, seed=k)
    return Verdict(f"{len(found)} SOLUTIONS", 0, 0, 0.0, found.q.ravel())


def solve_path(s: Scene, rng: np.random.Generator, k: int) -> Verdict:
    m, frame = s.way.model, s.way.frame
    ways = np.linspace(0.0, 1.0, WAYPOINTS)[:, None]
    here = m.pose(frame, s.way.q0)
    end = s.way.goal if k % 3 == 2 else here.xyz + rng.uniform(0.02, 0.15) * _unit(rng) * (1.0, 1.0, not m.loops)
    rows: Any = np.round(here.xyz + ways * (np.asarray(end) - here.xyz), DIGITS)
    if isinstance(s.tasks[0], pz.PoseTask):
        rows = pz.SE3.from_parts(rows, here.rotation)
    found = pz.solve_path(m, s.tasks, _first(s, rows), q0=s.way.q0, limits=s.limits, seed=k, threads=1)
    steps = m.difference(found.q[:-1], found.q[1:]) if len(found.q) > 1 else np.zeros(0)
    cost = float(np.sum(np.square(steps)))
    return Verdict(found.status.name, 0, len(found.q), cost, found.q.ravel())


def rollout(s: Scene, rng: np.random.Generator, k: int) -> Verdict:
    m, frame = s.way.model, s.way.frame
    target = _target(s, rng)
    tracker = pz.Tracker(m, _with(s.tasks, target), dt=DT, limits=s.limits, updates=1 + k % 2)
    rows = tracker.rollout(s.way.q0, np.tile(tracker.targets, (STEPS, 1, 1)))
    place = target.xyz if isinstance(target, pz.SE3) else target
    return Verdict("ROLLED", 0, 0, float(np.sum(np.square(m.pose(frame, rows[-1]).xyz - place))), rows[-1])


def derivative(s: Scene | None, rng: np.random.Generator, k: int, kind: str = "") -> Verdict:
    found = KINDS[kind](k).solve(0.0, None)
    slope = found.gradient()
    return Verdict(slope.status, found.restarts, found.iterations, found.cost, slope.by_target[0].ravel())


SINGLE: dict[str, Callable[..., Verdict]] = {
    "solve": solve,
    "Solver": solver,
    "gradient": gradient,
    "solve_all": solve_all,
    "solve_path": solve_path,
    "rollout": rollout,
    **{f"method {name}": partial(solver, method=name) for name in registry.METHODS},
    **{f"derivative {name}": partial(derivative, kind=name) for name in KINDS},
}


@dataclass(frozen=True)
class Group:
    """Questions of one kind, which share a scene."""

    cell: str
    function: str
    body: str
    count: int

    @property
    def name(self) -> str:
        return f"{self.cell}, {self.function}, {self.body}"

    @property
    def asked(self) -> bool:
        """Whether its body is here."""
        return not self.body or body(self.body) is not None


def _fits(name: str, some: tuple[str, ...]) -> bool:
    """Whether the body has what the requirements are about, and what it alone has is among them."""
    own = {"puppet": "balls", "bar": "loops", "two_arms": "loops"}.get(name)
    special = {one for one in some if one in ("balls", "loops")}
    if special != ({own} if own else set()) or ("twists" in some and name != "rover"):
        return False
    without = {"figure": {"linear", "coupling"}}.get(name, set())
    return not without & {*some} and (name == "g1" or not {"mass", "support"} & {*some})


def groups() -> Iterator[Group]:
    """All of them, in an order that stays."""
    for some in (*names(), *MORE):
        cell, timed = "+".join(some), bool({*TIMED} & {*some})
        for name in BODIES:
            if _fits(name, some):
                few = 4 if name in HEAVY or (name == "arm" and "shapes" in some) else 1
                if not timed:
                    yield Group(cell, "solve", name, 20 // few)
                    yield Group(cell, "Solver", name, 20 // few)
                    yield Group(cell, "solve_batch", name, 92 // few)
                    yield Group(cell, "solve_all", name, 1)
                if not timed and len(some) == 1:
                    yield Group(cell, "gradient", name, 16 // few)
                    yield from (Group(cell, f"method {one}", name, 4 - few // 2) for one in registry.METHODS)
                yield Group(cell, "solve_path", name, 1 if few > 1 else 2)
                yield Group(cell, "rollout", name, 4)
    for some in IMPOSSIBLE:
        for name in ("arm", "panda", "so101", "chain6", "g1"):
            cell = f"{NEVER} {'+'.join(some)}"
            yield Group(cell, "solve", name, 5)
            yield Group(cell, "solve_batch", name, 6)
    yield from (Group("gradients", f"derivative {kind}", "", 200) for kind in KINDS)


def ask(group: Group, some: Sequence[int]) -> list[Verdict]:
    """The answers to the questions of these numbers, each of which depends on its number alone."""
    s = None
    if group.body:
        words = group.cell.removeprefix(f"{NEVER} ")
        s = scene(group.body, tuple(words.split("+")), never=words != group.cell)
    seed = zlib.crc32(group.name.encode())
    rngs = [np.random.default_rng([seed, k]) for k in some]
    if group.function == "solve_batch":
        assert s is not None
        return _batch(s, rngs, BATCHES[seed % len(BATCHES)])
    found = []
    for rng, k in zip(rngs, some, strict=True):
        try:
            found.append(SINGLE[group.function](s, rng, k))
        except Exception as error:  # a verdict too, and a finding where it is no PoiseError
            found.append(_raised(error))
    return found


def _batch(s: Scene, rngs: Sequence[np.random.Generator], settings: dict[str, Any]) -> list[Verdict]:
    targets, starts = zip(*((_target(s, rng), _start(s, rng)) for rng in rngs), strict=True)
    rows: Any = np.array([one.array if isinstance(one, pz.SE3) else one for one in targets])
    try:
        found = pz.solve_batch(
            s.way.model, s.tasks, _first(s, rows), q0=np.array(starts), limits=s.limits, threads=1, **settings
        )
    except Exception as error:
        return [_raised(error)] * len(rngs)
    return [_told(one) for one in found]
