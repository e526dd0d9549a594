"""The damping constant against error and jitter: where the shaking begins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from poise.experiments.buss.tracking import MEASURED, RELEASED_CLAMP, WARM_UP, track
from poise.methods.damped import DampedLeastSquares

SHORT: Final = tuple(round(0.30 + 0.01 * k, 2) for k in range(30))
"""The values of lambda in test A of the released program, which runs 20 + 200 steps of DLS on the Y."""
LONG: Final = tuple(round(0.20 + 0.05 * k, 2) for k in range(27))
CALM = 2.0
"""A run is calm if its jitter is within this factor of the jitter at the lambda of the released program."""


@final
@dataclass(frozen=True, slots=True)
class Sweep:
    """Mean error of an effector and jitter [rad] for each lambda, rising."""

    dampings: tuple[float, ...]
    means: tuple[float, ...]
    jitters: tuple[float, ...]
    chosen: float
    """lambda of the released program; it is one of `dampings`."""

    @property
    def threshold(self) -> tuple[float, float]:
        """The largest lambda that is not calm, and the next one; equal where all are calm, or the last is not."""
        limit = CALM * self.jitters[self.dampings.index(self.chosen)]
        last = max((i for i, jitter in enumerate(self.jitters) if jitter > limit), default=0)
        return self.dampings[last], self.dampings[min(last + 1, len(self.dampings) - 1)]

    @property
    def fall(self) -> float:
        """Jitter 0.15 below the threshold's upper end, over that of the released program's lambda."""
        below = int(np.abs(np.array(self.dampings) - (self.threshold[1] - 0.15)).argmin())
        return self.jitters[below] / self.jitters[self.dampings.index(self.chosen)]

    @property
    def best(self) -> float:
        """lambda of the smallest error."""
        return self.dampings[self.means.index(min(self.means))]

    def at(self, damping: float) -> tuple[float, float]:
        """Mean error and jitter at this lambda."""
        i = self.dampings.index(damping)
        return self.means[i], self.jitters[i]


def sweep(
    shape: str,
    dampings: Sequence[float],
    chosen: float,
    *,
    clamped: bool = False,
    warm_up: int = WARM_UP,
    measured: int = MEASURED,
) -> Sweep:
    """Run DLS, or with `clamped` DLS', with each lambda."""
    base = DampedLeastSquares(max_error=RELEASED_CLAMP if clamped else None)
    runs = [track(shape, replace(base, damping=value), warm_up=warm_up, measured=measured) for value in dampings]
    return Sweep(tuple(dampings), tuple(run.mean for run in runs), tuple(run.jitter for run in runs), chosen)
