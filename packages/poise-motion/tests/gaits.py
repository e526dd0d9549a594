"""Paths of feet whose contacts are known: walks, runs and stairs."""

import numpy as np

from poise.common.array import Array

ANKLE, TOE, FOOT = 0.09, 0.04, 0.16
"""Heights over the ground of the two points of a foot that stands, and how far the toe is before the ankle [m]."""


def gait(
    times: Array,
    *,
    period: float = 1.1,
    duty: float = 0.62,
    stride: float = 1.2,
    rise: float = 0.0,
    clearance: float = 0.08,
    noise: float = 0.0,
    seed: int = 0,
    apart: float = 0.0,
) -> tuple[dict[str, Array], dict[str, Array]]:
    """By part, the paths (frames, 2, 3) of ankle and toe [m], and (frames,) when it stands.

    Each foot stands for a share `duty` of the period, and its steps are half a period from the other's.  With each it
    goes on by `stride` and up by `rise`; the right one is `apart` steps ahead of the left one.
    """
    rng = np.random.default_rng(seed)
    places, standing = {}, {}
    for i, part in enumerate(("left_ankle", "right_ankle")):
        phase = times / period + 0.5 * i
        step, share = np.floor(phase), phase % 1.0
        way = np.clip((share - duty) / (1.0 - duty), 0.0, 1.0) if duty < 1.0 else np.zeros(len(times))
        along = 3.0 * way**2 - 2.0 * way**3
        base = np.zeros((len(times), 3))
        base[:, 0] = stride * (step + along + apart * i)
        base[:, 1] = 0.2 * (0.5 - i)
        base[:, 2] = rise * (step + along + apart * i) + (clearance + abs(rise)) * np.sin(np.pi * way) ** 2
        shift = np.array([[0.0, 0.0, ANKLE], [FOOT, 0.0, TOE]])
        places[part] = base[:, None] + shift + noise * rng.normal(size=(len(times), 2, 3))
        standing[part] = share < duty
    return places, standing
