"""A loop at a fixed rate."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Final, Self, final

import numpy as np

from poise.common.checks import broken_rule
from poise.common.errors import InvalidValue

LONGEST: Final = 1e6
"""The longest dt [s]; far beyond it no clock can sleep."""


@final
class Rate:
    """Ticks that are `dt` [s] apart: `for tick in Rate(0.002): ...` runs its body 500 times a second.

    The first tick, number 0, comes at once, and each next one is slept for; how long a sleep oversleeps does not add
    up.  Where the body took longer than dt the next tick comes at once, those after it are dt apart from there, and
    `slipped` counts it: what was missed is never made up for in a burst.  So a `Tracker`, whose steps are of dt
    whenever they are taken, asks no more of a robot after a slip than before it.  The clock is monotonic, and `sleep`
    is what waits for so many seconds.

    Raises ValueError for a dt that is no positive number.
    """

    __slots__ = ("_due", "_sleep", "_tick", "dt", "slipped")

    def __init__(self, dt: float, *, sleep: Callable[[float], object] = sleep) -> None:
        if isinstance(dt, bool) or not isinstance(dt, (int, float, np.floating, np.integer)) or not 0.0 < dt <= LONGEST:
            raise InvalidValue(
                broken_rule(dt, "out-of-range"),
                f"dt is {dt!r}; it must be a positive number [s] of at most {LONGEST:g}, as in Rate(0.002)",
            )
        self.dt, self.slipped = float(dt), 0
        self._sleep, self._tick, self._due = sleep, -1, 0.0

    def __iter__(self) -> Self:
        """Begin anew, with tick number 0 and nothing slipped."""
        self._tick, self.slipped = -1, 0
        return self

    def __next__(self) -> int:
        """Wait for the next tick; its number."""
        now = monotonic()
        due = now if self._tick < 0 else self._due + self.dt
        if now < due:
            self._sleep(due - now)
        elif now > due:
            self.slipped, due = self.slipped + 1, now
        self._tick, self._due = self._tick + 1, due
        return self._tick

    def __repr__(self) -> str:
        return f"Rate({self.dt:g}, slipped {self.slipped})"
