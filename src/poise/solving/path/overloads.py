"""Where joints would have to give more than they may along a motion."""

from typing import Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.solving.path.limits import Rates
from poise.solving.path.path import PathFailure
from poise.solving.path.trajectory import Trajectory
from poise.solving.requirements.status import Status

_LOOKS: Final = 5
"""So often each interval of a motion is looked at."""
SLACK: Final = 1.0 + 1e-9
"""Rounding that a torque or a speed may be over its limit by."""


def loads(trajectory: Trajectory, rates: Rates, t: Array) -> Array:
    """(n, limits) the most that a joint gives at times t (n,), as a share of its limit of torque; nothing without."""
    if not rates.torques:
        return np.zeros((len(t), 0))
    state = trajectory.at(t)
    shares = (limit.rest(state.q) + limit.motion(*state) for limit in rates.torques)
    return np.stack([np.abs(some).max(axis=1, initial=0.0) for some in shares], axis=1)


def overload(trajectory: Trajectory, rates: Rates, t: float, limit: int) -> str:
    """What the joint that gives most would have to give at a time, as a sentence."""
    q, velocity, acceleration = trajectory.at(np.array([t]))
    return rates.torques[limit].words(q[0], velocity[0], acceleration[0])


def too_weak(trajectory: Trajectory, rates: Rates, times: Array, stations: npt.NDArray[np.int64]) -> list[PathFailure]:
    """Where a motion that was timed within torques is beyond them all the same, for the weight alone is too much.

    Its rows are passed at `times` (n,) [s], those of `stations` at the waypoints.
    """
    if not rates.torques:
        return []
    # Within the intervals, for where it rests and turns the acceleration has two values.
    shares = (np.arange(_LOOKS) + 0.5) / _LOOKS
    t = (trajectory.t[:-1, None] + np.diff(trajectory.t)[:, None] * shares).ravel()
    out = []
    for limit, most in enumerate(loads(trajectory, rates, t).T):
        if most.max() > SLACK:
            at = float(t[(most > SLACK).argmax()])
            reason = (
                f"{overload(trajectory, rates, at, limit)} No time is enough: give a TorqueTask among the tasks, with "
                "less than that at rest."
            )
            out.append(PathFailure(int(np.searchsorted(stations, np.searchsorted(times, at))), Status.LIMIT, reason))
    return out
