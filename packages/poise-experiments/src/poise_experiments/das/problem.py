"""The ten-link arm among obstacles, an arm on a vehicle, and iterations from random starts to random goals.

The first has each term of the law on and off, the second S and none; iterations are those of the transpose, of Newton
and of their hybrid.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise import PositionTask, Solver, Tracker, load
from poise.criteria import Clearance, RestPosture
from poise.extending import Array, das
from poise.methods import DasSlotineSheridan, GaussNewton, Hybrid
from poise.own import Method

WAYPOINTS: Final = 100
UPDATES: Final = 20
NONE, POSTURE, WEAK, STRONG, LITERAL, RULED = (
    "no term",
    "K = 0.05",
    "K = 0.02, K_obs = 0.02",
    "K = 0.02, K_obs = 0.05",
    "the same, printed sign",
    "the same, beta by its rule",
)
MEASURED: Final = {NONE: 0.019, POSTURE: 0.298, WEAK: 0.452, STRONG: 0.596}
"""Least clearances in the open field by an independent script.

With the printed sign it found 0.005, which is no figure to agree on: what draws the arm towards an obstacle grows as it
comes near, so rounding decides how near that is.
"""
CLEARANCE: Final = 1e-9
"""How far starts are apart that should lead to the same figure, where it is one [rad]."""


@final
@dataclass(frozen=True, slots=True)
class Passage:
    """One way through a field."""

    path: Array
    """(waypoints, 10)"""
    clearances: Array
    """(waypoints,) from the nearest joint to the nearest obstacle [links]."""
    least: tuple[float, ...]
    """The least clearance of each start: the first is `das.START`, the others are at most APART from it."""
    errors: Array
    """(waypoints,) of the effector [links]."""
    microseconds: float
    """Time of an update."""


def methods(field: das.Field) -> dict[str, DasSlotineSheridan]:
    """The law with each term on and off."""
    points = tuple((x, y, 0.0) for x, y in field.obstacles)

    def controller(
        posture: float, repulsion: float, *, literal: bool = False, rule: bool = False
    ) -> DasSlotineSheridan:
        terms: list[RestPosture | Clearance] = [RestPosture(gain=posture)] if posture else []
        terms += [Clearance(obstacles=points, gain=repulsion)] if repulsion else []
        return DasSlotineSheridan(
            null_space=tuple(terms) or None, max_step=np.inf, beta_rule=rule, literal_sign=literal
        )

    return {
        NONE: controller(0.0, 0.0),
        POSTURE: controller(0.05, 0.0),
        WEAK: controller(0.02, 0.02),
        STRONG: controller(0.02, 0.05),
        LITERAL: controller(0.02, 0.05, literal=True),
        RULED: controller(0.02, 0.05, rule=True),
    }


def way(field: das.Field) -> Array:
    """(waypoints, 3) the effector's targets."""
    arm = load("planar10")
    start = arm.pose("tool", das.START).xyz
    return start + (np.array([*field.goal, 0.0]) - start) * np.arange(1, WAYPOINTS + 1)[:, None] / WAYPOINTS


def joints(path: Array) -> Array:
    """(..., 11, 2) the joints and the effector of the arm at q (..., 10)."""
    angles = np.cumsum(path, axis=-1)
    places = np.zeros((*path.shape[:-1], 11, 2))
    places[..., 1:, 0], places[..., 1:, 1] = np.cumsum(np.cos(angles), -1), np.cumsum(np.sin(angles), -1)
    return places


def cross(field: das.Field, method: DasSlotineSheridan, *, repeats: int = 1, starts: int = 1) -> Passage:
    """Lead the effector along its way, from so many `starts` of which `das.START` is the first; the time is the least
    of `repeats`.
    """
    targets = way(field)
    tracker = Tracker(load("planar10"), PositionTask("tool"), method, updates=UPDATES, settle=False)
    path, spent = tracker.rollout(das.START, targets[:, None]), np.inf
    for _ in range(repeats):
        begun = time.perf_counter()
        tracker.rollout(das.START, targets[:, None])
        spent = min(spent, time.perf_counter() - begun)
    clearances = _clearances(field, path)
    others = das.START + np.random.default_rng(0).uniform(-CLEARANCE, CLEARANCE, (starts - 1, 10))
    least = [clearances, *(_clearances(field, tracker.rollout(q, targets[:, None])) for q in others)]
    errors = np.linalg.norm(joints(path)[:, 10] - targets[:, :2], axis=-1)
    return Passage(
        path, clearances, tuple(float(of.min()) for of in least), errors, 1e6 * spent / (WAYPOINTS * UPDATES)
    )


def _clearances(field: das.Field, path: Array) -> Array:
    """(waypoints,) of a path (waypoints, 10)."""
    return np.linalg.norm(joints(path)[:, :10, None] - np.array(field.obstacles), axis=-1).min(axis=(1, 2))


FAR: Final = (30.0, 15.0, 0.0)
BETWEEN: Final = (1.5, 4.5, 0.0)
"""Targets [links]; the second is at a Q between Q_lim and 1."""
LIMIT: Final = 0.2
"""Q_lim."""
DRIVEN: Final = 60


@final
@dataclass(frozen=True, slots=True)
class Drive:
    """The way to one target."""

    path: Array
    """(updates + 1, 5)"""
    error: float
    """What is left [links]."""

    @property
    def arm(self) -> float:
        """How far the arm's joints turn in the first update [rad], as a Euclidean length."""
        return float(np.linalg.norm((self.path[1] - self.path[0])[2:]))

    @property
    def vehicle(self) -> float:
        """Share of the way to its last place that the vehicle has gone after the first update."""
        start, one, last = self.path[0, :2], self.path[1, :2], self.path[-1, :2]
        return 1.0 - float(np.linalg.norm(last - one) / np.linalg.norm(last - start))


def drive(target: tuple[float, float, float], limit: float | None) -> Drive:
    """Follow one target for `DRIVEN` updates."""
    model = das.truck()
    tracker = Tracker(
        model, PositionTask("tool"), DasSlotineSheridan(vehicle_limit=limit, max_step=np.inf), settle=False
    )
    way = tracker.rollout(das.PARKED, np.tile(target, (DRIVEN, 1, 1)))
    error = np.linalg.norm(model.pose("tool", way[-1]).xyz - target)
    return Drive(np.vstack([das.PARKED, way]), float(error))


TRANSPOSE, NEWTON, HYBRID = "transpose", "Newton", "hybrid"
TOLERANCE: Final = 1e-3
MOST: Final = 5000
SPREADS: Final = {"any pose": math.pi, "joints within 0.3 rad": 0.3}


@final
@dataclass(frozen=True, slots=True)
class Count:
    """The iterations of the starts that arrived, and how many did not."""

    iterations: Array
    failed: int


def count(pairs: int, spread: float) -> dict[str, Count]:
    """Each method on the same `pairs` of poses, whose joint angles are at most `spread` [rad]."""
    arm = load("planar10")
    starts, goals = np.random.default_rng(0).uniform(-spread, spread, (2, pairs, 10))
    targets = arm.pose("tool", goals).xyz
    kinds: dict[str, Method] = {
        TRANSPOSE: DasSlotineSheridan(max_step=np.inf),
        NEWTON: GaussNewton(max_step=np.inf),
        HYBRID: Hybrid(max_step=np.inf),
    }
    found = {}
    for name, method in kinds.items():
        solver = Solver(
            arm, PositionTask("tool", tolerance=TOLERANCE), method=method, max_restarts=0, max_iterations=MOST
        )
        answers = [solver(target, q0=q0) for q0, target in zip(starts, targets, strict=True)]
        taken = np.array([float(answer.iterations) for answer in answers if answer.success])
        found[name] = Count(taken, pairs - len(taken))
    return found


@final
@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured."""

    passages: Mapping[str, Mapping[str, Passage]]
    """By field and by terms."""
    plain: Drive
    """The vehicle with S = 1."""
    split: Drive
    """With S of appendix B."""
    middle: tuple[float, float]
    """How far the arm turns in an update whose Q is between Q_lim and 1: with S = 1, and with S [rad]."""
    counts: Mapping[str, Mapping[str, Count]]
    """By the spread of the poses and by method."""
