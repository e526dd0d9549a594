"""When each configuration of a path is passed: the least times that keep speeds and accelerations."""

from typing import Final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.jit import prepare
from poise.kernels.path.timing import least_times
from poise.model.model import Model
from poise.spatial import Array

_POINTS: Final = 4
"""Points on each step at which limits are looked at."""
_SAME: Final = 1e-7
"""Configurations that differ by no more are one [rad or m]: so much is left of the rounding of a solve."""


def least_schedule(model: Model, q: Array, velocity: Array, acceleration: Array) -> Array:
    """(n,) times [s], from 0 on, at which q (n, nq) is passed as early as the limits (nv,) allow; they may be infinite.

    With accelerations the path is a curve through all configurations, which begins and ends at rest; Pham and Pham
    2018, see `poise.kernels.path.timing`.  Then, and without, the mean speed of every step is within the limits, and
    the change of speed from each step to the next within the accelerations.  Rows that do not move by more than
    rounding are timed as one.
    """
    apart = _apart(model, q)
    steps = model.difference(q[apart[:-1]], q[apart[1:]])
    durations = np.zeros(len(q) - 1)
    durations[apart[1:] - 1] = _timed(steps, velocity, acceleration)
    return np.concatenate([[0.0], np.cumsum(durations)])


def _apart(model: Model, q: Array) -> npt.NDArray[np.intp]:
    """(k,) the rows of q (n, nq) that differ from the one before among them; what follows each is the same as it."""
    far = np.abs(model.difference(q[:-1], q[1:])).max(axis=1, initial=0.0) > _SAME
    kept = [0]
    for i in range(1, len(q)):
        before = kept[-1]
        if far[i - 1] if before == i - 1 else np.abs(model.difference(q[before], q[i])).max(initial=0.0) > _SAME:
            kept.append(i)
    return np.array(kept, dtype=np.intp)


def _timed(steps: Array, velocity: Array, acceleration: Array) -> Array:
    """(k,) the least durations [s] of steps (k, nv), none of which is 0."""
    least = _at_full_speed(steps, velocity)
    if np.isinf(acceleration).all() or not len(steps):
        return least
    # From rest to rest a joint cannot get any faster than this.
    ways = np.abs(steps).sum(axis=0)
    with np.errstate(invalid="ignore"):
        reachable = np.where(ways > 0.0, np.sqrt(2.0 * acceleration * ways), np.inf)
    velocity = np.minimum(velocity, reachable)
    least = _at_full_speed(steps, velocity)
    moving = least > 0.0
    durations = np.zeros(len(steps))
    durations[moving] = _durations(steps[moving], least[moving], velocity, acceleration)
    return durations * _stretch(steps, durations, velocity, acceleration)


def _at_full_speed(steps: Array, velocity: Array) -> Array:
    """(k,) the least duration of each step for which no joint is too fast [s]."""
    times: Array = (np.abs(steps) / velocity).max(axis=1, initial=0.0)
    return times


def _durations(steps: Array, ds: Array, velocity: Array, acceleration: Array) -> Array:
    """(k,) the least durations of steps (k, nv), none of which is 0; s grows by ds (k,), what each takes at least."""
    prepare(least_times)
    k = len(steps)
    slopes = steps / ds[:, None]
    # Derivatives at the configurations by parabolas through three of them; between two, those of both must do.
    wide = ds[:-1] + ds[1:]
    first = np.concatenate(
        [slopes[:1], (slopes[:-1] * ds[1:, None] + slopes[1:] * ds[:-1, None]) / wide[:, None], slopes[-1:]]
    )
    second = np.zeros_like(first)
    second[1:-1] = 2.0 * (slopes[1:] - slopes[:-1]) / wide[:, None]
    at = np.arange(k * _POINTS + 1)
    ends = at // _POINTS, -(-at // _POINTS)
    fine = np.repeat(ds / _POINTS, _POINTS)
    x = np.zeros(k * _POINTS + 1)
    slope, bend = (np.concatenate([rows[end] for end in ends], axis=1) for rows in (first, second))
    least_times(fine, slope, bend, np.tile(velocity, 2), np.tile(acceleration, 2), x)
    root = np.sqrt(x)
    passed = 2.0 * fine / np.maximum(root[:-1] + root[1:], 1e-150)
    return passed.reshape(k, _POINTS).sum(axis=1)


def _stretch(steps: Array, durations: Array, velocity: Array, acceleration: Array) -> float:
    """The factor by which the times must grow, so that the differences too keep the limits."""
    moving = durations > 0.0
    speeds = steps[moving] / durations[moving, None]
    fast = float((np.abs(speeds) / velocity).max(initial=0.0))
    full = np.concatenate([np.zeros((1, steps.shape[1])), speeds, np.zeros((1, steps.shape[1]))])
    # From the middle of a step to the middle of the next; at the ends, from rest.
    gaps = np.concatenate([[0.0], durations[moving], [0.0]])
    gaps = 0.5 * (gaps[:-1] + gaps[1:])
    hard = float((np.abs(np.diff(full, axis=0)) / gaps[:, None] / acceleration).max(initial=0.0))
    return max(1.0, fast, np.sqrt(hard))
