"""Compile every kernel ahead of its first use."""

import numpy as np

from poise.robots import TEXTBOOK
from poise.solver import Solver
from poise.tasks.pose import PoseTask
from poise.tasks.posture import PostureTask


def compile_all() -> None:
    """Compile and keep on disk what poses, Jacobians, solves and postures need; quick if they are there."""
    arm = TEXTBOOK["planar2"]()
    target = arm.pose(arm.tip, arm.home)
    arm.jacobian(arm.tip, arm.home)
    solver = Solver(arm, [PoseTask(arm.tip, target=target), PostureTask()])
    solver(q0=np.zeros(arm.nq))
    solver.linearise(arm.home)
