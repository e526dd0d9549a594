"""People who lie, crawl, roll and get up, on a G1: how the limbs point, how deep the robot is in the ground.

The clips are DeepMimic's (Peng et al. 2018), those of pybullet_data, from the folder that DEEPMIMIC names.  What is
measured is measured by Pinocchio, with the vertices of the robot's own meshes: nothing of poise is asked but the
motion and which frame is which part.
"""

import json
import os
from pathlib import Path

import numpy as np

import poise as pz

JOINTS = {
    "root": (None, (0.0, 0.0, 0.0)),
    "chest": ("root", (0.0, 0.0, 0.236151)),
    "neck": ("chest", (0.0, 0.0, 0.223894)),
    "right_hip": ("root", (0.0, -0.084887, 0.0)),
    "right_knee": ("right_hip", (0.0, 0.0, -0.421546)),
    "right_ankle": ("right_knee", (0.0, 0.0, -0.409870)),
    "right_shoulder": ("chest", (-0.024050, -0.183110, 0.243500)),
    "right_elbow": ("right_shoulder", (0.0, 0.0, -0.274788)),
    "left_hip": ("root", (0.0, 0.084887, 0.0)),
    "left_knee": ("left_hip", (0.0, 0.0, -0.421546)),
    "left_ankle": ("left_knee", (0.0, 0.0, -0.409870)),
    "left_shoulder": ("chest", (-0.024050, 0.183110, 0.243500)),
    "left_elbow": ("left_shoulder", (0.0, 0.0, -0.274788)),
}
"""The joints in the order of the files, z up: each one's parent, and its place there [m]."""
HANDS = {f"{side}_wrist": (f"{side}_elbow", (0.0, 0.0, -0.258947)) for side in ("left", "right")}


def skeleton() -> pz.Model:
    """Its knees and elbows are hinges."""
    builder = pz.ModelBuilder("humanoid3d")
    for name, (parent, place) in (JOINTS | HANDS).items():
        origin = pz.SE3.from_parts(place)
        if parent is None:
            builder.joint(name, "floating", parent="world", child=name)
        elif name.endswith("wrist"):
            builder.joint(name, "fixed", parent=parent, child=name, origin=origin)
        elif name.endswith(("knee", "elbow")):
            builder.joint(name, "continuous", parent=parent, child=name, origin=origin, axis=(0.0, -1.0, 0.0))
        else:
            builder.joint(name, "spherical", parent=parent, child=name, origin=origin)
    return builder.build()


def clip(file: Path) -> pz.Motion:
    """A file of DeepMimic, turned from y up to z up."""
    model = skeleton()
    rows = np.array(json.loads(file.read_text())["Frames"])
    times = np.concatenate([[0.0], np.cumsum(rows[:-1, 0])])
    q = np.tile(model.neutral, (len(rows), 1))
    x, y, z = rows[:, 1:4].T
    q[:, model.index("root")] = np.column_stack([x, -z, y, _turned(rows[:, 4:8])])
    at = 8
    for name in list(JOINTS)[1:]:
        wide = 1 if name.endswith(("knee", "elbow")) else 4
        those = rows[:, at : at + wide]
        q[:, model.index(name)] = those if wide == 1 else _turned(those)
        at += wide
    return pz.Motion(model, times, q, name=file.stem.removeprefix("humanoid3d_"))


def _turned(wxyz: np.ndarray) -> np.ndarray:
    """Rotations, seen along axes of which z is up."""
    w, x, y, z = (wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True)).T
    return np.column_stack([w, x, -z, y])
