"""Compile every kernel ahead of its first use."""

import numpy as np

from poise.robots import TEXTBOOK
from poise.solver import Solver
from poise.tasks.pose import PoseTask
from poise.tasks.posture import PostureTask
from poise.tracker import Tracker


def compile_all() -> None:
    """Compile and keep on disk what poses, Jacobians, solves, postures and methods need; quick if it is there."""
    arm = TEXTBOOK["planar2"]()
    target = arm.pose(arm.tip, arm.home)
    arm.jacobian(arm.tip, arm.home)
    solver = Solver(arm, [PoseTask(arm.tip, target=target), PostureTask()])
    solver(q0=np.zeros(arm.nq))
    solver.linearise(arm.home)
    tracker = Tracker(arm, PoseTask(arm.tip, target=target))
    tracker.step(arm.home)
    way = target.array[None, None]
    tracker.rollout(arm.home, way)
    tracker.rollout([arm.home, arm.home], [way, way])
    Solver(arm, PoseTask(arm.tip, target=target), method="dls")(q0=arm.home)
