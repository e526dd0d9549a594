"""IKLink's trajectory: where a Panda's hand is to be, 30 times a second, and what came of following it.

The trajectory is `input_trajectories/panda_2023-08-25_11-37-55.csv` of uwgraphics/IKLink (MIT, see
`trajectory.LICENSE`), to a micrometre.
"""

import gzip
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import StringIO
from typing import Final, final

import numpy as np

from poise import SE3, JointPath, Model, PoseTask, load, solve_path
from poise.extending import Array
from poise.quaternions import angles_between

HAND: Final = "panda_hand"
DT: Final = 1.0 / 30.0
"""From a waypoint to the next [s]."""
PLACE, TURN = 1e-3, 1e-2
"""What an error may be [m], [rad]."""
MOST: Final = 9
"""Reconfigurations that are allowed."""
_ROUNDING: Final = 1e-9
"""Of a speed, as a share of its limit."""


@cache
def panda() -> Model:
    """The arm, with a fourth joint that may be stretched, as in IKLink's file of it."""
    return load("panda").with_limits({"panda_joint4": (-3.0718, 0.0698)})


@cache
def trajectory() -> SE3:
    """The waypoints."""
    packed = files("poise_experiments.iklink").joinpath("trajectory.csv.gz").read_bytes()
    return SE3(np.loadtxt(StringIO(gzip.decompress(packed).decode()), delimiter=",", skiprows=1))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """A path, judged by its rows alone."""

    path: JointPath
    met: bool
    """Whether every waypoint is met by forward kinematics, all joints within their limits."""
    fast: int
    """Steps from waypoint to waypoint that take longer than there is time: as many reconfigurations."""
    length: float
    """Sum of the lengths of all other steps from waypoint to waypoint [rad]."""


def follow(*, optimise: bool, seed: int = 0) -> Followed:
    """The whole trajectory."""
    task = PoseTask(HAND, position_tolerance=PLACE, rotation_tolerance=TURN)
    path = solve_path(panda(), task, trajectory(), dt=DT, reconfigurations=MOST, optimise=optimise, seed=seed)
    return judged(path)


def judged(path: JointPath) -> Followed:
    """What its configurations at the waypoints are."""
    arm, q, targets = path.model, path.q[path.stations], trajectory()
    at = arm.pose(HAND, q)
    away, turned = np.linalg.norm(at.xyz - targets.xyz, axis=1), angles_between(at.wxyz, targets.wxyz)
    steps: Array = np.diff(q, axis=0)
    fast = (np.abs(steps) > arm.velocity * DT * (1.0 + _ROUNDING)).any(axis=1)
    met = bool((away <= PLACE).all() and (turned <= TURN).all() and arm.within_limits(path.q))
    return Followed(path, met, int(fast.sum()), float(np.linalg.norm(steps[~fast], axis=1).sum()))
