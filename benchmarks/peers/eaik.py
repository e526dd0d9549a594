"""EAIK: closed forms for arms that have one, in C++ on several threads; all solutions, of which one is chosen here."""

import os
from typing import Any

import numpy as np
from eaik.IK_URDF import UrdfRobot
from judge import Array
from robots import Robot


class Eaik:
    """`IK_batched`; the first of its solutions that is exact and within the limits, as whole turns bring it there."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        with robot.bare_file() as file:
            self.arm = UrdfRobot(str(file))
        if not self.arm.hasKnownDecomposition():
            raise RuntimeError(f"EAIK has no closed form for {robot.name}")
        self.robot = robot
        # Its last frame is another than the tip; both are carried by the same link.
        zero = np.zeros(len(robot.judge.names))
        self.tool = np.linalg.inv(robot.judge.poses(zero[None])[0, 0]) @ self.arm.fwdKin(zero)

    def pack(self, targets: Array, starts: Array) -> tuple[Any, ...]:
        """A list of matrices; it needs no starts."""
        return (list(targets[:, 0] @ self.tool),)

    def solve(self, targets: Any) -> Array:
        """One solution each."""
        judge, answers = self.robot.judge, np.full((len(targets), len(self.robot.judge.names)), np.nan)
        for answer, found in zip(answers, self.arm.IK_batched(targets, os.cpu_count()), strict=True):
            q = np.asarray(found.Q)[~np.asarray(found.is_LS)]
            q = q - 2.0 * np.pi * np.round((q - 0.5 * (judge.lower + judge.upper)) / (2.0 * np.pi))
            inside = np.flatnonzero(((q >= judge.lower) & (q <= judge.upper)).all(axis=1))
            if len(inside):
                answer[:] = q[inside[0]]
        return answers

    def unpack(self, answer: Array) -> Array:
        """The answers themselves."""
        return answer
