"""Random problems whose answers have derivatives, and central differences of solves that begin at the answer.

Each kind is a function of a seed.  A case goes one way in what it was asked, all of it at once: targets, a posture,
weights, placements.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

import poise as pz
from poise.common.array import Array
from poise.solving.gradients.gradient import SolutionGradient
from support.learning import TIGHT
from support.mechanisms import four_bar

STEPS: Final = (1e-4, 2e-5, 4e-6, 8e-7, 1.6e-7)
"""Of differences [rad or m], the next where an answer bends too much for one, or something is met within it."""
KINK: Final = 1e-3
"""Derivatives from both sides that differ by so much of the larger one are two."""
JUMP: Final = 100.0
"""Differences that are so many times the derivative are of answers that are no neighbours."""


@dataclass(frozen=True)
class Case:
    """A problem, a way in what it asks, and what its gradient says of that way."""

    model: pz.Model
    solve: Callable[[float, Array | None], pz.Solution]
    """The answer so far along the way, from a start."""
    slope: Callable[[SolutionGradient], Array]
    """(nv,) the derivative along the way."""
    rest: Callable[[float, pz.Solution], Array] = lambda _, found: _at_rest(found)
    """(nq,) where an answer rests, to rounding; NaN where it does not."""


def _at_rest(found: pz.Solution) -> Array:
    gradient = found.gradient()
    return np.full_like(gradient.q, np.nan) if gradient.status == "undefined" else gradient.q


@dataclass(frozen=True)
class Outcome:
    """How a case came out."""

    word: str
    """"right" or "wrong"; "kink", derivatives of both sides differ; "jump", a solve went elsewhere, or is not at rest;
    or what there was no derivative for: "one-sided", "undefined"."""
    error: float = 0.0
    """Of the derivative against differences, relative to the larger of 1 and these."""


def outcome(case: Case, worst: float = 1e-6) -> Outcome:
    """Hold a case against differences."""
    found = case.solve(0.0, None)
    gradient = found.gradient()
    if gradient.status != "smooth":
        return Outcome(gradient.status)
    q = case.rest(0.0, found)

    def way(t: float) -> Array:
        at = case.rest(t, case.solve(t, q))
        return np.full(case.model.nv, np.nan) if np.isnan(at).any() else np.asarray(case.model.difference(q, at))

    slope = case.slope(gradient)
    word, least = "wrong", np.inf
    for step in STEPS:
        near, far = ([way(s * h) for s in (1.0, -1.0)] for h in (step, 2.0 * step))
        expected = (8.0 * (near[0] - near[1]) - (far[0] - far[1])) / (12.0 * step)
        if np.isnan(expected).any():
            word = "jump"
            continue
        error = float(np.abs(slope - expected).max()) / max(1.0, float(np.abs(expected).max()))
        least = min(least, error)
        if error <= worst:
            return Outcome("right", error)
        sides = [s * (4.0 * a - b) / (2.0 * step) for s, a, b in zip((1.0, -1.0), near, far, strict=True)]
        size = max(1.0, *(float(np.abs(side).max()) for side in sides))
        if size > JUMP * max(1.0, float(np.abs(slope).max())):
            word = "jump"
        else:
            word = "kink" if float(np.abs(sides[0] - sides[1]).max()) > KINK * size else "wrong"
    return Outcome(word, least)


def twisted(pose: pz.SE3, twist: Array) -> pz.SE3:
    """The pose after a twist along the axes in which it is stated."""
    return pz.SE3.from_parts(pose.xyz + twist[:3], pz.SO3.from_rotvec(twist[3:]) @ pose.rotation)


def _way(rng: np.random.Generator, count: int) -> Array:
    way = rng.normal(size=count)
    return np.asarray(way / np.linalg.norm(way))


_ARMS: dict[str, pz.Model] = {}
_SOLVERS: dict[Any, tuple[pz.Solver, pz.Solver]] = {}


def _arm(name: str) -> pz.Model:
    return _ARMS.setdefault(name, _ARMS.get(name) or pz.load(name))


def _solve(
    key: Any, model: pz.Model, tasks: Sequence[pz.Task], targets: Any, q0: Array | None, limits: Any = True
) -> pz.Solution:
    """The answer from home, or, of a search without restarts, from q0."""
    if key not in _SOLVERS:
        _SOLVERS[key] = (
            pz.Solver(model, tasks, limits=limits),
            pz.Solver(model, tasks, limits=limits, max_restarts=0),
        )
    first, again = _SOLVERS[key]
    return first(targets) if q0 is None else again(targets, q0)


def targets(seed: int) -> Case:
    """A pose of six joints alone."""
    arm, rng = _arm("ur5e"), np.random.default_rng(seed)
    pose, d = arm.pose(arm.tip, arm.sample(seed=seed)), _way(rng, 6)
    tasks = [pz.PoseTask(arm.tip, **TIGHT)]

    def rest(t: float, found: pz.Solution) -> Array:
        q, goal = found.q.copy(), twisted(pose, t * d)
        for _ in range(2):
            now = arm.pose(arm.tip, q)
            left = np.concatenate([goal.xyz - now.xyz, (goal.rotation @ now.rotation.inverse()).log()])
            q = q + np.linalg.solve(arm.jacobian(arm.tip, q), left)
        return np.asarray(q)

    return Case(
        arm, lambda t, q0: _solve("targets", arm, tasks, twisted(pose, t * d), q0), lambda g: g.by_target[0] @ d, rest
    )


def postures(seed: int) -> Case:
    """A pose of seven joints, and a posture."""
    arm, rng = _arm("panda"), np.random.default_rng(seed)
    pose, rest, d = arm.pose(arm.tip, arm.sample(seed=seed)), arm.sample(seed=10**6 + seed), _way(rng, 13)
    tasks = [pz.PoseTask(arm.tip, **TIGHT), pz.PostureTask()]
    return Case(
        arm,
        lambda t, q0: _solve("postures", arm, tasks, [twisted(pose, t * d[:6]), rest + t * d[6:]], q0),
        lambda g: g.by_target[0] @ d[:6] + g.by_posture @ d[6:],
    )


def weights(seed: int) -> Case:
    """A pose out of reach, its weights, and its target."""
    arm, rng = _arm("panda"), np.random.default_rng(seed)
    pose, d, w = arm.pose(arm.tip, arm.sample(seed=seed)), _way(rng, 8), rng.uniform(0.5, 2.0, 2)
    pose = pz.SE3.from_parts(rng.uniform(1.3, 2.0) * pose.xyz / np.linalg.norm(pose.xyz), pose.rotation)

    def solve(t: float, q0: Array | None) -> pz.Solution:
        place, turn = w + t * d[6:]
        task = pz.PoseTask(arm.tip, twisted(pose, t * d[:6]), position_weight=place, rotation_weight=turn)
        return pz.solve(arm, task) if q0 is None else pz.solve(arm, task, q0=q0, max_restarts=0)

    def slope(g: SolutionGradient) -> Array:
        by_weights = g.by_weights[0].reshape(7, 2, 3).sum(axis=2)
        return np.asarray(g.by_target[0] @ d[:6] + by_weights @ d[6:])

    return Case(arm, solve, slope)


def placements(seed: int) -> Case:
    """A pose and a posture, of an arm of which a joint stands elsewhere."""
    arm, rng = _arm("panda"), np.random.default_rng(seed)
    pose, rest, d = arm.pose(arm.tip, arm.sample(seed=seed)), arm.sample(seed=10**6 + seed), _way(rng, 6)
    name = f"panda_joint{rng.integers(1, 8)}"
    tasks = [pz.PoseTask(arm.tip, pose, **TIGHT), pz.PostureTask(rest)]

    def solve(t: float, q0: Array | None) -> pz.Solution:
        joints = [replace(j, origin=twisted(j.origin, t * d)) if j.name == name else j for j in arm.joints]
        model = arm if t == 0.0 else arm._with(joints=joints)
        return pz.solve(model, tasks) if q0 is None else pz.solve(model, tasks, q0=q0, max_restarts=0)

    return Case(arm, solve, lambda g: g.by_placement(name) @ d)


def limits(seed: int) -> Case:
    """A place and a posture beyond limits, which hold joints."""
    arm, rng = _arm("panda"), np.random.default_rng(seed)
    place, d = arm.pose(arm.tip, arm.sample(seed=seed)).xyz, _way(rng, 10)
    rest = np.where(rng.uniform(size=7) < 0.4, np.where(rng.uniform(size=7) < 0.5, arm.lower, arm.upper), arm.home)
    rest = rest + np.where(rest == arm.home, 0.1, 0.3) * np.sign(rest - arm.home)
    tasks = [pz.PositionTask(arm.tip, tolerance=1e-12), pz.PostureTask()]
    return Case(
        arm,
        lambda t, q0: _solve("limits", arm, tasks, [place + t * d[:3], rest + t * d[3:]], q0),
        lambda g: g.by_target[0] @ d[:3] + g.by_posture @ d[3:],
    )


def ranges(seed: int) -> Case:
    """A place, an axis that stays within a cone, and a posture beyond that."""
    arm, rng = _arm("panda"), np.random.default_rng(seed)
    pose, rest, d = arm.pose(arm.tip, arm.sample(seed=seed)), arm.sample(seed=10**6 + seed), _way(rng, 13)
    axis = pose.rotation.matrix()[:, 2]
    tasks = [
        pz.PositionTask(arm.tip, tolerance=1e-12),
        pz.ConeTask(arm.tip, (0.0, 0.0, 1.0), angle=0.3),
        pz.PostureTask(),
    ]

    def solve(t: float, q0: Array | None) -> pz.Solution:
        asked = [pose.xyz + t * d[:3], axis + t * d[3:6], rest + t * d[6:]]
        return _solve("ranges", arm, tasks, asked, q0)

    return Case(arm, solve, lambda g: g.by_target[0] @ d[:3] + g.by_target[1] @ d[3:6] + g.by_posture @ d[6:])


def aims(seed: int) -> Case:
    """An axis along a direction, or at a point, alone or of a tool at its place, and a posture."""
    arm, rng = _arm("panda"), np.random.default_rng(seed)
    pose, rest, d = arm.pose(arm.tip, arm.sample(seed=seed)), arm.sample(seed=10**6 + seed), _way(rng, 13)
    axis = pose.rotation.matrix()[:, 2]
    looks, placed = seed % 2 == 1, seed % 4 > 1
    aim = pz.LookAtTask(arm.tip, tolerance=1e-12) if looks else pz.AxisTask(arm.tip, tolerance=1e-12)
    goal = pose.xyz + 0.5 * axis if looks else axis
    place = [pz.PositionTask(arm.tip, tolerance=1e-12)] if placed else []
    tasks = [*place, aim, pz.PostureTask()]

    def solve(t: float, q0: Array | None) -> pz.Solution:
        asked = [goal + t * d[3:6], rest + t * d[6:]]
        return _solve(f"aims {looks} {placed}", arm, tasks, [pose.xyz + t * d[:3]] * placed + asked, q0)

    return Case(arm, solve, lambda g: np.hstack(g.by_target) @ (d if placed else d[3:]))


def turns(seed: int) -> Case:
    """A pose that may turn about an axis, of the world or its own, and a posture; or one out of reach whose turn has
    unequal weights, and these."""
    arm, rng = _arm("panda"), np.random.default_rng(seed)
    pose, rest, d = arm.pose(arm.tip, arm.sample(seed=seed)), arm.sample(seed=10**6 + seed), _way(rng, 13)
    axes: Any = ("world", "target")[seed % 2]
    if seed % 4 < 2:
        tasks = [pz.PoseTask(arm.tip, rotation_weight=(1.0, 1.0, 0.0), axes=axes, **TIGHT), pz.PostureTask()]
        return Case(
            arm,
            lambda t, q0: _solve(f"turns {axes}", arm, tasks, [twisted(pose, t * d[:6]), rest + t * d[6:]], q0),
            lambda g: np.hstack(g.by_target) @ d,
        )
    pose = pz.SE3.from_parts(rng.uniform(1.3, 2.0) * pose.xyz / np.linalg.norm(pose.xyz), pose.rotation)

    def solve(t: float, q0: Array | None) -> pz.Solution:
        weight = np.array([0.5, 1.0, 0.2]) + t * d[6:9]
        task = pz.PoseTask(arm.tip, twisted(pose, t * d[:6]), rotation_weight=tuple(weight), axes=axes)
        return pz.solve(arm, task) if q0 is None else pz.solve(arm, task, q0=q0, max_restarts=0)

    return Case(arm, solve, lambda g: g.by_target[0] @ d[:6] + g.by_weights[0][:, 3:] @ d[6:9])


def contacts(seed: int) -> Case:
    """A place, a posture, and a ball that a link would be up to 3 mm too near to there."""
    link, rng = "panda_link4", np.random.default_rng(seed)
    if "shaped" not in _ARMS:
        bone = pz.Capsule((0.0, 0.0, -0.05), (0.0, 0.0, 0.05), 0.05)
        _ARMS["shaped"] = _arm("panda").with_shapes({link: bone})
    arm = _ARMS["shaped"]
    place, rest, d = arm.pose(arm.tip, arm.sample(seed=seed)).xyz, arm.sample(seed=10**6 + seed), _way(rng, 10)
    begin = pz.solve(arm, [pz.PositionTask(arm.tip, place, tolerance=1e-12), pz.PostureTask(rest)]).q
    beside = (0.05 + 0.08 + 0.02 - rng.uniform(0.0, 0.003)) * _way(rng, 2)
    world = pz.World({"ball": pz.Sphere(tuple(arm.pose(link, begin).act([*beside, 0.0])), 0.08)})
    apart = [pz.CollisionLimit(world, min_distance=0.02, self_collision=False)]
    tasks = [pz.PositionTask(arm.tip, tolerance=1e-12), pz.PostureTask()]
    _SOLVERS.pop("contacts", None)

    def solve(t: float, q0: Array | None) -> pz.Solution:
        asked = [place + t * d[:3], rest + t * d[3:]]
        return _solve("contacts", arm, tasks, asked, begin if q0 is None else q0, apart)

    return Case(arm, solve, lambda g: g.by_target[0] @ d[:3] + g.by_posture @ d[3:])


def loops(seed: int) -> Case:
    """A four-bar whose crank is led."""
    if "bar" not in _ARMS:
        _ARMS["bar"] = four_bar()
    bar, rng = _ARMS["bar"], np.random.default_rng(seed)
    crank = float(rng.uniform(-3.0, 3.0))
    tasks = [pz.JointCouplingTask({"crank": 1.0})]
    return Case(bar, lambda t, q0: _solve("loops", bar, tasks, crank + t, q0), lambda g: g.by_target[0][:, 0])


KINDS: Final[dict[str, Callable[[int], Case]]] = {
    "targets": targets,
    "postures": postures,
    "weights": weights,
    "placements": placements,
    "limits": limits,
    "ranges": ranges,
    "aims": aims,
    "turns": turns,
    "contacts": contacts,
    "loops": loops,
}
