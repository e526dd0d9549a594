"""The motion to follow: both feet stand, the centre of mass sways, the hands draw circles."""

from dataclasses import dataclass

import numpy as np
from judge import Array, Balance
from robots import Robot, humanoid

DT = 0.005
"""[s]"""
PERIOD = 2.0
"""Of a circle [s]."""
BENT = {"hip_pitch": -0.35, "knee": 0.7, "ankle_pitch": -0.35, "shoulder_pitch": 0.2, "elbow": 0.6}
"""The stance [rad], left and right."""
SWAY = np.array([0.015, 0.03, 0.01])
"""Amplitudes of the centre of mass [m]."""
RADIUS = 0.03
"""Of the hands' circles [m]."""


@dataclass(frozen=True)
class Motion:
    """N steps for a humanoid whose frames are both hands, then both feet."""

    robot: Robot
    dt: float
    stance: Array
    """(nq,) where it starts and what it rests at, in the judge's order."""
    feet: Array
    """(2, 4, 4)"""
    hands: Array
    """(N, 2, 4, 4)"""
    centres: Array
    """(N, 3) of mass."""

    @property
    def frames(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The feet's and the hands'."""
        return self.robot.tips[2:], self.robot.tips[:2]


def motion(count: int) -> Motion:
    """One that a G1 can follow without meeting a limit."""
    robot = humanoid()
    bent = [next((angle for part, angle in BENT.items() if part in name), 0.0) for name in robot.judge.names]
    stance = np.array([0.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0, *bent])
    poses = robot.judge.poses(stance[None])[0]
    phase = 2.0 * np.pi * DT / PERIOD * np.arange(1, count + 1)[:, None]
    circle = RADIUS * np.hstack([np.zeros_like(phase), np.cos(phase) - 1.0, np.sin(phase)])
    hands = np.repeat(poses[None, :2], count, axis=0)
    hands[:, 0, :3, 3] += circle
    hands[:, 1, :3, 3] += circle * [1.0, -1.0, 1.0]
    sway = SWAY * np.sin(phase * [1.0, 0.5, 0.25])
    return Motion(robot, DT, stance, poses[2:], hands, Balance(robot.urdf, floating=True).places(stance[None]) + sway)
