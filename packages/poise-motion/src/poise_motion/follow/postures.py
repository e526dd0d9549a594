"""The postures to which a motion is followed once more: averaged over time, and from where the robot is."""

import numpy as np

from poise import Model
from poise.extending import Array
from poise_motion.contact.pinning import fading
from poise_motion.reference.targets import EASE


def averaged(model: Model, path: Array, frames: float) -> Array:
    """(n, nq) a path (n, nq), each of its configurations the mean of those about it.

    By a Gaussian with a standard deviation of a third of `frames`; at the ends of the path by what there is of it.
    """
    reach = min(int(np.ceil(frames)), len(path) - 1)
    total, sum_of = np.zeros(len(path)), np.zeros((len(path), model.nv))
    for k in range(-reach, reach + 1):
        weight = float(np.exp(-0.5 * (3.0 * k / frames) ** 2))
        here = slice(max(0, -k), len(path) - max(0, k))
        there = slice(max(0, k), len(path) + min(0, k))
        sum_of[here] += weight * model.difference(path[here], path[there])
        total[here] += weight
    return model.integrate(path, sum_of / total[:, None])


def begun_at(model: Model, postures: Array, q: Array, before: Array, times: Array) -> Array:
    """(n, nq) postures (n, nq) at `times` (n,) [s] that begin as far off as `q` is from `before`, both (nq,), and come
    to what they were: what was held and is let go is off its posture."""
    moved: Array = model.integrate(postures, fading(times, EASE)[:, None] * model.difference(before, q))
    return moved
