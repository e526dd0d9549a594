"""The arm and the ellipse of the paper's section 3, how a method follows it, and the matrix of its equation 9.

Lengths are the paper's points.  What it leaves open is taken so: the target goes counter-clockwise, one update for each
of its places, and the displacement is target less effector.  The matrix is written from the page: what its rank is, and
what its least squares are.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias, final

import numpy as np

from poise import DH, SE3, Model, PositionTask, Tracker, from_dh
from poise.extending import Array
from poise.methods import DampedLeastSquares, PairwiseJacobian, Pseudoinverse

LENGTHS: Final = (90.0, 60.0, 90.0, 150.0, 150.0, 90.0)
BASE: Final = (-230.0, 0.0)
AXES: Final = (400.0, 50.0)
"""Half axes of the ellipse about the origin."""
STEPS: Final = (100, 360, 1000)
"""Places of the target in one revolution; the paper gives none."""
WEIGHTS: Final = (1.0, 0.1, 0.01)
ROWS, PINV, DLS = "J^T (J J^T)^-1", "pinv", "dls, lambda = 30"

Method: TypeAlias = Pseudoinverse | DampedLeastSquares | PairwiseJacobian


def extended(weight: float) -> str:
    """The name of the paper's method, the pairwise extended Jacobian, with this w."""
    return f"pairwise, w = {weight:g}"


def pairwise(weight: float, length: float | None = None) -> PairwiseJacobian:
    """The paper's method as printed; with a length [points] for the turns, that with twists."""
    if length is None:
        return PairwiseJacobian(weight=weight, form="printed", solver="lu", max_error=None, max_step=math.inf)
    return PairwiseJacobian(weight=weight, length=length, max_error=None, max_step=math.inf)


def methods() -> dict[str, Method]:
    """What is compared, without clamps."""
    free = math.inf
    return {
        PINV: Pseudoinverse(cutoff=1e-15, max_step=free),
        **{extended(weight): pairwise(weight) for weight in WEIGHTS},
        DLS: DampedLeastSquares(damping=30.0, max_error=None, max_step=free),
    }


@final
@dataclass(frozen=True, slots=True)
class Run:
    """One revolution."""

    path: Array
    """(steps + 1, n) the start q = 0, then where each update led [rad]."""
    errors: Array
    """(steps,) distance from the target after each update; all NaN if an update was no finite number."""

    @property
    def leap(self) -> float:
        """Largest change of a joint in the second update, the first that can leave the start [rad]."""
        return float(np.abs(self.path[2] - self.path[1]).max()) if np.isfinite(self.errors[0]) else math.nan


@cache
def arm() -> Model:
    """Six segments; the base is at the origin, so that targets are counted from `BASE`."""
    rows = [DH(a=a, alpha=0.0, d=0.0) for a in (0.0, *LENGTHS[:-1])]
    return from_dh(rows, convention="modified", name="planar6", tool=SE3.from_parts([LENGTHS[-1], 0.0, 0.0]))


def targets(steps: int) -> Array:
    """(steps, 3) places of the target, from the base; the last is the start."""
    angle = 2.0 * math.pi * np.arange(1, steps + 1) / steps
    return np.stack([AXES[0] * np.cos(angle) - BASE[0], AXES[1] * np.sin(angle) - BASE[1], 0.0 * angle], axis=1)


def follow(method: Method, steps: int) -> Run:
    """One revolution from q = 0."""
    model, goals = arm(), targets(steps)
    tracker = Tracker(model, PositionTask(model.tip), method, settle=False)
    path = np.vstack([model.home, tracker.rollout(model.home, goals[:, None])])
    return Run(path, np.linalg.norm(model.pose(model.tip, path[1:]).xyz - goals, axis=1))


def by_rows(steps: int) -> Run:
    """One revolution by J^T (J J^T)^-1 with the two rows of the plane, in NumPy; NaN if J J^T cannot be inverted."""
    model, goals = arm(), targets(steps)
    path, errors = np.zeros((steps + 1, model.nq)), np.full(steps, math.nan)
    for k, goal in enumerate(goals):
        q = path[k]
        jacobian, left = model.jacobian(model.tip, q)[:2], (goal - model.pose(model.tip, q).xyz)[:2]
        try:
            path[k + 1] = q + jacobian.T @ np.linalg.solve(jacobian @ jacobian.T, left)
        except np.linalg.LinAlgError:
            return Run(np.zeros((steps + 1, model.nq)), np.full(steps, math.nan))
        errors[k] = float(np.linalg.norm(goal - model.pose(model.tip, path[k + 1]).xyz))
    return Run(path, errors)


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


@final
@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured."""

    runs: Mapping[int, Mapping[str, Run]]
    """By places of the target in one revolution, then by method."""
    sweep: Mapping[float, Run]
    """By w, 100 places."""
    limits: Mapping[float, tuple[float, float]]
    """By w, distances of a step from the weighted and from the plain pseudoinverse's."""
    conditions: Mapping[float, float]
    """By w, of A^T A at the start."""
    ranks: Mapping[str, tuple[float, int, int]]
    rank_of_pairs: int
    twists: Mapping[float, Run]
    """By w, 100 places, the library's form with twists."""
