"""A problem that is handed to frameworks which learn: an arm, poses that it reaches, and where to begin."""

from functools import cache
from typing import Any

import numpy as np

import poise as pz
from poise.spatial import Array

TIGHT: dict[str, Any] = {"position_tolerance": 1e-12, "rotation_tolerance": 1e-12}


@cache
def arm() -> pz.Model:
    return pz.load("panda")


def solver(**tolerances: float) -> pz.Solver:
    return pz.Solver(arm(), pz.PoseTask(arm().tip, **(tolerances or TIGHT)))


def starts(count: int = 3) -> Array:
    """(count, nq) configurations that are far from limits."""
    return np.array(arm().home + 0.2 * np.random.default_rng(0).normal(size=(count, 7)))
