"""A stream of a headset at its worst: noise, repeated and missing samples, glitches, a tracking that begins anew."""

import numpy as np

from poise.common.array import Array
from poise.quaternions import quaternion_exp

COLUMNS = ("time", "x", "y", "z", "qw", "qx", "qy", "qz", "pressed", "gripper")
RATE, LAST = 72.0, 9.0
"""[1/s] and [s]"""
SILENT = ((1.0, 1.05), (2.2, 2.28), (3.6, 4.1), (5.5, 7.1))
"""When nothing comes [s]."""
OPEN = ((0.0, 0.3), (2.8, 3.2), (7.1, 7.4))
"""When the clutch is released [s]."""
MOVED = 4.7
"""When the tracking begins anew [s], 0.3 m away."""


def operator(seed: int = 0) -> Array:
    """(N, 10) of COLUMNS: a hand that draws an eight and turns, as a poor tracking sees it."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, LAST, 1.0 / RATE)
    time = time + rng.uniform(-0.003, 0.003, len(time))
    phase = 2.0 * np.pi * time / 3.0
    place = np.stack([0.06 * np.sin(phase), 0.12 * np.sin(phase / 2), 0.05 * np.sin(phase) * np.cos(phase)], axis=-1)
    turn = np.stack([0.3 * np.sin(phase), 0.2 * np.sin(phase / 2), 0.5 * np.sin(phase / 3)], axis=-1)
    place += rng.normal(scale=0.001, size=place.shape) + np.array([0.2, 1.3, -0.4])
    turn += rng.normal(scale=0.005, size=turn.shape)
    place[time > MOVED] += [0.3, 0.0, 0.0]
    for k in rng.choice(len(time), 6, replace=False):
        place[k] += 0.4 * rng.normal(size=3)
    place[rng.choice(len(time), 5, replace=False)] = np.nan
    pressed = ~np.any([(begin <= time) & (time < end) for begin, end in OPEN], axis=0)
    gripper = 50.0 - 50.0 * np.cos(phase)
    rows = np.column_stack([time, place, quaternion_exp(turn), pressed, gripper])
    for k in np.flatnonzero(rng.random(len(time) - 1) < 0.1):
        rows[k + 1] = rows[k]
    heard = ~np.any([(begin <= rows[:, 0]) & (rows[:, 0] < end) for begin, end in SILENT], axis=0)
    return rows[heard].round(5)
