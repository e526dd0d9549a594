"""Tables of targets for a Panda, some of them bad."""

import numpy as np
import pyarrow as pa

import poise as pz

POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")
ARM = pz.load("panda")
SOLVER = pz.Solver(ARM, pz.PoseTask(ARM.tip))


def poses(n: int, seed: int = 1) -> np.ndarray:
    """(n, 7) poses within reach."""
    return ARM.pose(ARM.tip, ARM.sample(n, seed=seed).reshape(n, ARM.nq)).array.copy()


def table_of(targets: np.ndarray, **more: object) -> pa.Table:
    """Targets (n, 3) or (n, 7) after an `id`, and more columns."""
    columns = dict(zip(POSE, targets.T, strict=False))
    return pa.table({"id": np.arange(len(targets)), **columns, **more})


def targets(n: int, seed: int = 1) -> pa.Table:
    """n poses, of which row 3 is none, row 4 has a zero quaternion and row 5 is out of reach."""
    numbers = poses(n, seed)
    numbers[3:4, 2], numbers[4:5, 3:], numbers[5:6, 0] = np.nan, 0.0, 5.0
    return table_of(numbers, note=[f"row {i}" for i in range(n)])
