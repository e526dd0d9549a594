"""The one-euro filter, of poses: what rests is still, and what moves fast is not late.

Source: Casiez, Roussel and Vogel 2012, "1 Euro Filter: a simple speed-based low-pass filter for noisy input in
interactive systems", CHI 2012, equations 1 to 6.
"""

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np

from poise.common.array import Array
from poise.common.checks import finite_positive, not_negative, positive
from poise.spatial import SE3
from poise.teleop.displacements import length, moved_pose, pose_difference


@final
@dataclass(slots=True, eq=False)
class OneEuro:
    """Smooths poses by a low pass whose cutoff grows with the speed of the hand.

    The cutoff is `cutoff` [Hz] + `beta` [1/m] times the speed for the place, and + `turn_beta` [1/rad] times the speed
    of turning for the rotation; these speeds are smoothed with `slope_cutoff` [Hz].  To tune it: hold the device still
    and lower `cutoff` until nothing shakes, then move fast and raise `beta` until nothing lags.

    Raises ValueError for a cutoff that is not positive or a beta below 0.
    """

    cutoff: float = 1.5
    beta: float = 20.0
    turn_beta: float = 3.0
    slope_cutoff: float = 1.0
    _last: SE3 | None = field(default=None, init=False, repr=False)
    _before: SE3 | None = field(default=None, init=False, repr=False)
    _slopes: tuple[Array, Array] = field(default=(np.zeros(3), np.zeros(3)), init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("cutoff", "slope_cutoff"):
            finite_positive(name, getattr(self, name))
        for name in ("beta", "turn_beta"):
            not_negative(name, getattr(self, name))

    def reset(self) -> None:
        """Begin anew: the next pose is taken as it is."""
        self._last = None

    def step(self, pose: SE3, dt: float) -> SE3:
        """The smoothed pose, `dt` seconds after the last."""
        positive("dt", dt)
        if self._last is None or self._before is None:
            self._last = self._before = pose
            self._slopes = (np.zeros(3), np.zeros(3))
            return pose
        part = _part(self.slope_cutoff, dt)
        place, turn = (
            slope + part * (raw / dt - slope)
            for slope, raw in zip(self._slopes, pose_difference(self._before, pose), strict=True)
        )
        self._slopes, self._before = (place, turn), pose
        ahead, twist = pose_difference(self._last, pose)
        ahead = _part(self.cutoff + self.beta * length(place), dt) * ahead
        twist = _part(self.cutoff + self.turn_beta * length(turn), dt) * twist
        self._last = moved_pose(self._last, ahead, twist)
        return self._last


def _part(cutoff: float, dt: float) -> float:
    """What of a change a low pass of `cutoff` [Hz] lets through in `dt` [s], equation 5 (its alpha)."""
    return 1.0 / (1.0 + 1.0 / (2.0 * math.pi * cutoff * dt))
