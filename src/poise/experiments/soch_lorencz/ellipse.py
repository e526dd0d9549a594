"""The arm and the ellipse of the paper's section 3, and how a method follows it.

Lengths are the paper's points.  What it leaves open is taken so: the target goes counter-clockwise, one update for each
of its places, and the displacement is target less effector.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias, final

import numpy as np

from poise.methods.damped import DampedLeastSquares
from poise.methods.pairwise import PairwiseJacobian
from poise.methods.pseudoinverse import Pseudoinverse
from poise.model.model import Model
from poise.robots.planar import planar
from poise.solving.tracker import Tracker
from poise.spatial import Array
from poise.tasks.pose import PositionTask

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
    return planar(len(LENGTHS), LENGTHS)


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
