"""The ten-link arm among obstacles, with each term of the law on and off."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.methods.criteria import Clearance, RestPosture
from poise.methods.das import DasSlotineSheridan
from poise.robots.planar import planar
from poise.solving.tracker import Tracker
from poise.spatial import Array
from poise.tasks.pose import PositionTask

WAYPOINTS: Final = 100
UPDATES: Final = 20
START: Final = (0.55, -0.1, -0.15, -0.15, -0.15, -0.1, -0.1, 0.0, 0.0, 0.1)
"""Joint angles, from the base; the effector is at (9.627, 0.607)."""
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
APART: Final = 1e-9
"""How far starts are apart that should lead to the same figure, where it is one [rad]."""


@final
@dataclass(frozen=True, slots=True)
class Field:
    """Point obstacles (k, 2), and the straight way of the effector to `goal` (2,)."""

    obstacles: tuple[tuple[float, float], ...]
    goal: tuple[float, float]


FIELDS: Final[Mapping[str, Field]] = {
    "open": Field(((2.5, 1.6), (4.5, -0.6), (6.0, 1.8)), (7.0, -2.5)),
    "crowded": Field(((2.5, 1.6), (4.5, -0.6), (6.0, 1.8), (2.0, 0.1), (7.5, 0.9), (7.0, -0.9)), (7.0, -2.5)),
    "gate": Field(((3.5, 1.1), (3.5, 2.6), (6.0, 0.3), (6.0, 1.9), (7.8, -1.2)), (6.0, -3.5)),
}
"""The first is that of the independent script; the others are harder."""


@final
@dataclass(frozen=True, slots=True)
class Passage:
    """One way through a field."""

    path: Array
    """(waypoints, 10)"""
    clearances: Array
    """(waypoints,) from the nearest joint to the nearest obstacle [links]."""
    least: tuple[float, ...]
    """The least clearance of each start: the first is START, the others are at most APART from it."""
    errors: Array
    """(waypoints,) of the effector [links]."""
    microseconds: float
    """Time of an update."""


def methods(field: Field) -> dict[str, DasSlotineSheridan]:
    """The law with each term on and off."""
    points = tuple((x, y, 0.0) for x, y in field.obstacles)

    def law(posture: float, repulsion: float, *, literal: bool = False, rule: bool = False) -> DasSlotineSheridan:
        terms: list[RestPosture | Clearance] = [RestPosture(gain=posture)] if posture else []
        terms += [Clearance(obstacles=points, gain=repulsion)] if repulsion else []
        return DasSlotineSheridan(
            null_space=tuple(terms) or None, max_step=np.inf, beta_rule=rule, literal_sign=literal
        )

    return {
        NONE: law(0.0, 0.0),
        POSTURE: law(0.05, 0.0),
        WEAK: law(0.02, 0.02),
        STRONG: law(0.02, 0.05),
        LITERAL: law(0.02, 0.05, literal=True),
        RULED: law(0.02, 0.05, rule=True),
    }


def way(field: Field) -> Array:
    """(waypoints, 3) the effector's targets."""
    arm = planar(10)
    start = arm.pose("tool", START).xyz
    return start + (np.array([*field.goal, 0.0]) - start) * np.arange(1, WAYPOINTS + 1)[:, None] / WAYPOINTS


def joints(path: Array) -> Array:
    """(..., 11, 2) the joints and the effector of the arm at q (..., 10)."""
    angles = np.cumsum(path, axis=-1)
    places = np.zeros((*path.shape[:-1], 11, 2))
    places[..., 1:, 0], places[..., 1:, 1] = np.cumsum(np.cos(angles), -1), np.cumsum(np.sin(angles), -1)
    return places


def cross(field: Field, method: DasSlotineSheridan, *, repeats: int = 1, starts: int = 1) -> Passage:
    """Lead the effector along its way, from so many `starts` of which START is the first; the time is the least of
    `repeats`.
    """
    targets = way(field)
    tracker = Tracker(planar(10), PositionTask("tool"), method, updates=UPDATES, settle=False)
    path, spent = tracker.rollout(START, targets[:, None]), np.inf
    for _ in range(repeats):
        begun = time.perf_counter()
        tracker.rollout(START, targets[:, None])
        spent = min(spent, time.perf_counter() - begun)
    clearances = _clearances(field, path)
    others = START + np.random.default_rng(0).uniform(-APART, APART, (starts - 1, 10))
    least = [clearances, *(_clearances(field, tracker.rollout(q, targets[:, None])) for q in others)]
    errors = np.linalg.norm(joints(path)[:, 10] - targets[:, :2], axis=-1)
    return Passage(
        path, clearances, tuple(float(of.min()) for of in least), errors, 1e6 * spent / (WAYPOINTS * UPDATES)
    )


def _clearances(field: Field, path: Array) -> Array:
    """(waypoints,) of a path (waypoints, 10)."""
    return np.linalg.norm(joints(path)[:, :10, None] - np.array(field.obstacles), axis=-1).min(axis=(1, 2))
