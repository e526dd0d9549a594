"""A problem that is handed to frameworks which learn: an arm, poses that it reaches, and where to begin."""

from functools import cache
from typing import Any

import numpy as np

import poise as pz
from poise.common.array import Array

TIGHT: dict[str, Any] = {"position_tolerance": 1e-12, "rotation_tolerance": 1e-12}


@cache
def arm() -> pz.Model:
    return pz.load("panda")


def solver(**tolerances: float) -> pz.Solver:
    return pz.Solver(arm(), pz.PoseTask(arm().tip, **(tolerances or TIGHT)))


def starts(count: int = 3) -> Array:
    """(count, nq) configurations that are far from limits."""
    return np.array(arm().home + 0.2 * np.random.default_rng(0).normal(size=(count, 7)))


def drawn() -> pz.Solver:
    """For the same arm, whose posture says which of many answers it takes."""
    return pz.Solver(arm(), [pz.PoseTask(arm().tip), pz.PostureTask(arm().home)])


@cache
def five() -> pz.Model:
    """Yaw, three pitches and a roll: every place, but not every turn there."""
    b = pz.ModelBuilder("five")
    ahead = pz.SE3.from_parts([0.2, 0.0, 0.1])
    for i, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 1, 0), (1, 0, 0)]):
        b.joint(f"j{i}", "revolute", parent=f"l{i}", child=f"l{i + 1}", origin=ahead, axis=axis, limits=(-2.5, 2.5))
    b.frame("tool", link="l5", origin=ahead)
    return b.build()


def turned() -> pz.Solver:
    """For five joints, which bring the tool to its place and turn it as well as they can."""
    return pz.Solver(five(), [pz.PositionTask("tool"), pz.OrientationTask("tool", required=False)])


def turned_starts(count: int = 2) -> Array:
    """(count, 5) configurations of that arm."""
    return np.array([0.3, -0.4, 0.7, 0.2, 0.5] + 0.2 * np.random.default_rng(1).normal(size=(count, 5)))
