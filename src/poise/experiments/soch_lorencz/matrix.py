"""The matrix of the paper's equation 9, written from the page: what its rank is, and what its least squares are."""

import math
from typing import Final

import numpy as np

from poise.experiments.soch_lorencz.ellipse import LENGTHS, arm, pairwise, targets
from poise.solving.tracker import Tracker
from poise.spatial import Array
from poise.tasks.pose import PositionTask

WORST: Final = (-1.32, -3.14, -3.14, -3.08, 2.97, 2.96)
"""The pose of the paper's own arm at which a search from 400 starts found the least singular value."""
BENT: Final = (0.3, 0.5, -0.4, 0.7, 0.2, 0.6)
"""A pose away from singular ones, at which steps are compared."""
_CHANGE: Final = (5.0, -3.0)


def pairs(q: Array, lengths: Array) -> Array:
    """(2 (n - 1), n) the rows of the pairs: all d x_i, then all d y_i, of equation 8."""
    n = len(q)
    rows = np.zeros((2 * (n - 1), n))
    for i in range(n - 1):
        for half, (one, both) in enumerate(
            ((-math.sin(q[i]), -math.sin(q[i] + q[i + 1])), (math.cos(q[i]), math.cos(q[i] + q[i + 1])))
        ):
            row = rows[half * (n - 1) + i]
            row[i] = lengths[i] * one + lengths[i + 1] * both
            row[i + 1] = lengths[i + 1] * both
    return rows


def jacobian(q: Array, lengths: Array) -> Array:
    """(2, n) the rows of the main link."""
    angles = np.cumsum(q)
    sides = np.stack([-lengths * np.sin(angles), lengths * np.cos(angles)])
    return np.flip(np.cumsum(np.flip(sides, axis=1), axis=1), axis=1)


def least_value(q: Array, lengths: Array, weight: float = 1.0) -> float:
    """The n-th singular value of [w P; J]."""
    stacked = np.vstack([weight * pairs(q, lengths), jacobian(q, lengths)])
    return float(np.linalg.svd(stacked, compute_uv=False)[len(q) - 1])


def ranks() -> dict[str, tuple[float, int, int]]:
    """For each pose: the n-th singular value of the whole, its rank, and n."""
    poses = {
        "the paper's arm, q = 0": (np.zeros(6), np.array(LENGTHS)),
        "the paper's arm, worst pose found": (np.array(WORST), np.array(LENGTHS)),
        "2 segments, q = (0.7, 0)": (np.array([0.7, 0.0]), np.ones(2)),
        "4 equal segments, q = (0.7, pi, pi, pi)": (np.array([0.7, math.pi, math.pi, math.pi]), np.ones(4)),
    }
    found = {}
    for name, (q, lengths) in poses.items():
        stacked = np.vstack([pairs(q, lengths), jacobian(q, lengths)])
        found[name] = least_value(q, lengths), int(np.linalg.matrix_rank(stacked, rtol=1e-9)), len(q)
    return found


def rank_of_pairs() -> int:
    """The rank of the rows of the pairs alone, at `BENT`."""
    return int(np.linalg.matrix_rank(pairs(np.array(BENT), np.array(LENGTHS))))


def condition(weight: float) -> float:
    """The condition number of A^T A, A = [w P; J], at the start q = 0."""
    q, lengths = np.zeros(len(LENGTHS)), np.array(LENGTHS)
    stacked = np.vstack([weight * pairs(q, lengths), jacobian(q, lengths)])
    values = np.linalg.svd(stacked, compute_uv=False)
    return float((values[0] / values[-1]) ** 2)


def limit(weight: float) -> tuple[float, float]:
    """How far [rad] the step at `BENT` is from the pseudoinverse weighted by P^T P, and from the plain one."""
    model, q, lengths = arm(), np.array(BENT), np.array(LENGTHS)
    change = np.array(_CHANGE)
    method = pairwise(weight)
    goal = model.pose(model.tip, q).xyz + np.append(change, 0.0)
    step = Tracker(model, PositionTask(model.tip), method).step(q, goal[None]) - q
    plain, metric = jacobian(q, lengths), pairs(q, lengths)
    inverse = np.linalg.inv(metric.T @ metric)
    weighted = inverse @ plain.T @ np.linalg.solve(plain @ inverse @ plain.T, change)
    return float(np.linalg.norm(step - weighted)), float(np.linalg.norm(step - np.linalg.pinv(plain) @ change))


def reach() -> tuple[float, float]:
    """The least and the largest distance of the ellipse from the base."""
    distances = np.linalg.norm(targets(10000), axis=1)
    return float(distances.min()), float(distances.max())
