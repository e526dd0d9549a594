"""The problems: seeded, reachable, the same for every library."""

from dataclasses import dataclass

import numpy as np
from judge import Array
from robots import Robot

STRIDE = 3e-3
"""Median step of the target in tracking [m]."""


@dataclass(frozen=True)
class Problems:
    """N targets for the K tips of a robot."""

    robot: Robot
    targets: Array
    """(N, K, 4, 4)"""
    starts: Array
    """(N, nq); when tracking only the first is used, then each answer starts the next solve."""
    tolerance: float
    """[m] and [rad], judged apart."""
    tracking: bool = False


def scattered(robot: Robot, count: int, seed: int = 0) -> Problems:
    """Targets from configurations uniform within the limits, starts too, independent of each other; to 1e-6."""
    judge, random = robot.judge, np.random.default_rng(seed)
    goals, starts = random.uniform(judge.lower, judge.upper, size=(2, count, len(judge.lower)))
    return Problems(robot, judge.poses(goals), starts, 1e-6)


def moving(robot: Robot, count: int, seed: int = 0) -> Problems:
    """A target that moves 3 mm a step (median) along a smooth closed path inside the limits; to 1e-6."""
    judge, random = robot.judge, np.random.default_rng(seed)
    middle, reach = 0.5 * (judge.lower + judge.upper), 0.3 * (judge.upper - judge.lower)
    harmonic = random.integers(1, 4, len(middle))
    phase = random.uniform(0.0, 2.0 * np.pi, len(middle))

    def along(angle: Array) -> Array:
        return middle + reach * np.sin(angle[:, None] * harmonic + phase)

    fine = judge.poses(along(np.linspace(0.0, 2.0 * np.pi, 10_001)))[:, 0, :3, 3]
    speed = np.median(np.linalg.norm(np.diff(fine, axis=0), axis=1)) * 10_000 / (2.0 * np.pi)
    q = along(np.arange(count + 1) * STRIDE / speed)
    return Problems(robot, judge.poses(q[1:]), q[:-1], 1e-6, tracking=True)


def nearby(robot: Robot, count: int, seed: int = 0) -> Problems:
    """Targets from a random stance, starts within 0.1 rad a joint and 3 cm and 0.1 rad of the base of it; to 1e-4."""
    judge, random = robot.judge, np.random.default_rng(seed)
    lower, upper = judge.lower[7:], judge.upper[7:]
    middle, half = np.clip(0.0, lower, upper), 0.25 * (upper - lower)
    goals = np.clip(middle + random.uniform(-half, half, (count, len(lower))), lower, upper)
    starts = np.clip(goals + random.uniform(-0.1, 0.1, goals.shape), lower, upper)
    level = np.tile([0.0, 0.0, 0.8, 1.0, 0.0, 0.0, 0.0], (count, 1))
    # The vector part of a quaternion is half the rotation vector, to third order.
    shift = random.uniform(-1.0, 1.0, (count, 6)) * [0.03, 0.03, 0.03, 0.05, 0.05, 0.05]
    shifted = level + np.insert(shift, 3, 0.0, axis=1)
    shifted[:, 3:] /= np.linalg.norm(shifted[:, 3:], axis=1, keepdims=True)
    return Problems(robot, judge.poses(np.hstack([level, goals])), np.hstack([shifted, starts]), 1e-4)
