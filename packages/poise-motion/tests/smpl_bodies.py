"""Motions and models of SMPL bodies, made up: a tree of the right joints, and a surface of a few corners."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

Array = npt.NDArray[np.float64]
FRAMES, RATE = 12, 60.0
BODY = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19]


def hands(first: int) -> list[int]:
    """The parents of thirty joints of fingers, five chains of three on each wrist."""
    return [wrist if k % 3 == 0 else first + at + k - 1 for at, wrist in ((0, 20), (15, 21)) for k in range(15)]


PARENTS = {22: BODY, 24: [*BODY, 20, 21], 52: [*BODY, *hands(22)], 55: [*BODY, 15, 15, 15, *hands(25)]}
"""By how many joints there are, the joint on which each hangs."""


def motion(many: int, *, up: str = "z") -> dict[str, Any]:
    """The arrays of a motion of so many joints: a body that turns about itself, upright or nearly so."""
    rng = np.random.default_rng(many)
    poses = rng.normal(0.0, 0.2, (FRAMES, many, 3))
    upright = Rotation.from_euler("x", 90.0 if up == "z" else 0.0, degrees=True)
    turning = Rotation.from_euler(up, np.linspace(0.0, 3.0, FRAMES)[:, None])
    poses[:, 0] = (turning * upright).as_rotvec()
    poses[:, [3, 6, 9, 12, 1, 2, 4, 5, 7, 8]] *= 0.3
    trans = rng.normal((0.0, 0.0, 0.9), 0.1, (FRAMES, 3))
    return {"poses": poses.reshape(FRAMES, -1), "trans": trans, "mocap_framerate": np.array(RATE)}


def model(many: int, *, shapes: int = 10, corners: int = 0) -> dict[str, Any]:
    """The arrays of a body's model whose surface has 4 corners a joint, or so many `corners`."""
    rng = np.random.default_rng(100 + many)
    corners = corners or 4 * many
    regressor = np.zeros((many, corners))
    for joint in range(many):
        regressor[joint, 4 * joint : 4 * joint + 4] = (0.1, 0.2, 0.3, 0.4)
    return {
        "v_template": rng.normal(0.0, 0.5, (corners, 3)),
        "shapedirs": rng.normal(0.0, 0.01, (corners, 3, shapes)),
        "J_regressor": regressor,
        "kintree_table": np.array([PARENTS[many], range(many)]).astype(np.uint32),
    }


def save(path: Path, arrays: dict[str, Any]) -> Path:
    if path.suffix == ".pkl":
        path.write_bytes(pickle.dumps(arrays, protocol=2))
    else:
        np.savez(path, **arrays)
    return path


def places(rest: Array, poses: Array, trans: Array) -> Array:
    """(frames, joints, 3) where joints at `rest` (joints, 3) are, in the world of the file."""
    many = len(rest)
    turns = Rotation.from_rotvec(poses.reshape(-1, 3)).as_matrix().reshape(len(poses), many, 3, 3)
    world, out = np.empty_like(turns), np.empty((len(poses), many, 3))
    for joint, parent in enumerate(PARENTS[many]):
        if parent < 0:
            world[:, joint], out[:, joint] = turns[:, joint], rest[joint] + trans
        else:
            world[:, joint] = world[:, parent] @ turns[:, joint]
            out[:, joint] = out[:, parent] + world[:, parent] @ (rest[joint] - rest[parent])
    return out
