"""A Unitree G1 of boxes and spheres, and a motion on which its hands would meet."""

import importlib.util
from pathlib import Path

import numpy as np
from judge import Array
from motion import BENT

import poise as pz

MOTION_DT = 0.005
"""[s]"""
PERIOD = 2.0
"""Of a circle [s]."""
RADIUS = 0.12
"""Of the hands' circles [m]: they come nearer to each other than they may."""
FILE = "share/embodik/examples/assets/g1/generated/g1_29dof_rev_1_0_with_inspire_hand_FTP_box_collision.urdf"
FINGERS = ("thumb", "index", "middle", "ring", "little")


def g1_boxed(count: int, *, fingers: bool) -> tuple[pz.Model, Array, Array]:
    """The robot, with the shapes of its fingers or without, its stance, and (count, 4, 7) poses of feet and hands.

    Raises ImportError without embodik, whose wheel has the file.
    """
    spec = importlib.util.find_spec("embodik")
    if spec is None or spec.origin is None:
        raise ImportError("its file is in embodik: pip install embodik")
    model = pz.load(Path(spec.origin).parent / FILE, base="floating")
    if not fingers:
        shapes = {link: some for link, some in model.shapes.items() if not any(part in link for part in FINGERS)}
        model = model.with_shapes(shapes)
    start = model.home.copy()
    start[2] = 0.75
    for joint in model.joints:
        for part, angle in BENT.items():
            if part in joint.name and joint.lower:
                start[model.index(joint.name)] = angle
    frames = ("left_ankle_roll_link", "right_ankle_roll_link", "left_wrist_yaw_link", "right_wrist_yaw_link")
    poses = np.array([model.pose(frame, start).array for frame in frames])
    phase = 2.0 * np.pi * MOTION_DT / PERIOD * np.arange(1, count + 1)[:, None]
    goals = np.repeat(poses[None], count, axis=0)
    circle = RADIUS * np.hstack([0.0 * phase, 1.0 - np.cos(phase), np.sin(phase)])
    goals[:, 2, :3] -= circle * [1.0, 1.0, -1.0]
    goals[:, 3, :3] += circle
    return model, start, goals
