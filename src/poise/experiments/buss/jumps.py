"""Targets that jump: how soon and how calmly the effectors arrive, with each way of clamping the errors."""

import math
import statistics
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.experiments.buss.shapes import targets
from poise.experiments.buss.tracking import D_MAX, DAMPING_CLAMPED, TEXT_CLAMP, follow, tracker
from poise.methods.base import ClampMag
from poise.methods.damped import DampedLeastSquares
from poise.spatial import Array

LEAP: Final = 3.0 * (1.0 + math.sqrt(5.0))
"""How far the targets' time jumps in test C of the released program, which leaves the updates to the onlooker."""
UPDATES: Final = 200
"""Updates from one jump to the next."""
EARLY: Final = 10
"""The first updates, over which the speed of approach is measured."""
CLAMPS: Final = {"none": None, "constant": ClampMag(position=D_MAX), "adaptive": TEXT_CLAMP}


@final
@dataclass(frozen=True, slots=True)
class Jumps:
    """DLS with one way of clamping, over several jumps."""

    errors: Array
    """(jumps, updates) sum of the effectors' distances after each update."""
    settled: float
    """Updates until the error stays within 2 % of the first error from its last value; the median."""
    early: float
    """Mean error over the first updates."""
    overshoot: float
    """Largest rise of the error above its least value so far; the mean over the jumps."""
    travel: float
    """What the joints moved after a jump, all together [rad]; the mean over the jumps."""


def jump(shape: str, clamp: ClampMag | None, jumps: int) -> Jumps:
    """Let the targets jump so many times and take `UPDATES` updates after each."""
    follower = tracker(shape, DampedLeastSquares(damping=DAMPING_CLAMPED[shape], max_error=clamp))
    goals = np.repeat(targets(shape, LEAP * np.arange(1.0, jumps + 1.0)), UPDATES, axis=0)
    path, errors = follow(follower, goals)
    rows = errors.sum(axis=1).reshape(jumps, UPDATES)
    away = np.abs(rows - rows[:, -1:]) > 0.02 * rows[:, :1]
    moves = np.abs(np.diff(path.reshape(jumps, UPDATES, -1), axis=1))
    return Jumps(
        errors=rows,
        settled=statistics.median(2 + int(np.flatnonzero(row).max(initial=-1)) for row in away),
        early=float(rows[:, :EARLY].mean()),
        overshoot=float((rows - np.minimum.accumulate(rows, axis=1)).max(axis=1).mean()),
        travel=float(moves.sum(axis=(1, 2)).mean()),
    )
