"""How far markers and sensors are off, of a body at a configuration and what was measured."""

from typing import Final

import numpy as np

from poise.extending import Array, MarkerDescent

ARM: Final = 0.1
"""Beside markers the angle by which a sensor is off counts as its arc at this distance [m]: so far from one another are
the markers of a cluster on a limb."""


def offs(descent: MarkerDescent, goals: Array, found: Array) -> tuple[Array, Array]:
    """(frames, markers) how far each is off [m], and (frames, sensors) the arc of its angle at `ARM`; NaN in gaps."""
    m, count = len(descent.frames), len(goals)
    distances = np.linalg.norm(found[:, :m] - goals[:, : 3 * m].reshape(count, m, 3), axis=2)
    gone = np.isnan(goals[:, 3 * m :: 9])
    return distances, np.where(gone, np.nan, ARM * np.linalg.norm(found[:, m:], axis=2))


def root_mean_square(off: Array) -> Array:
    """(frames,) of numbers (frames, n), without those that are NaN; NaN where all are."""
    seen = ~np.isnan(off)
    count = seen.sum(axis=1)
    mean = (np.where(seen, off, 0.0) ** 2).sum(axis=1) / np.maximum(count, 1)
    out: Array = np.where(count > 0, np.sqrt(mean), np.nan)
    return out
