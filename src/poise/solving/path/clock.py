"""The clock of a path: until when it may be searched for, looked at between pieces of work that are all short."""

from math import inf
from time import perf_counter
from typing import final

from poise.kernels.machine.notice import NOTICE


@final
class Clock:
    """Set off when it is made; it stands still while kernels are compiled, for that is no search."""

    def __init__(self, seconds: float | None) -> None:
        """`seconds` from now on; None: no end."""
        self.seconds = inf if seconds is None else seconds
        self._end = perf_counter() - NOTICE.waited + self.seconds

    @property
    def end(self) -> float:
        """When the time is spent, as `perf_counter` tells it [s]."""
        return self._end + NOTICE.waited

    @property
    def late(self) -> bool:
        """Whether the time is spent."""
        return perf_counter() > self.end

    def until(self, seconds: float) -> "Clock":
        """One that goes off after so many seconds, and no later than it."""
        made = Clock(seconds)
        made._end = min(self._end, made._end)
        return made
