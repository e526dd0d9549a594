"""The clock of a path: until when it may be searched for, looked at between pieces of work that are all short."""

from math import inf
from time import perf_counter
from typing import final


@final
class Clock:
    """Set off when it is made."""

    def __init__(self, seconds: float | None) -> None:
        """`seconds` from now on; None: no end."""
        self.seconds = inf if seconds is None else seconds
        self.end = perf_counter() + self.seconds
        """When the time is spent, as `perf_counter` tells it [s]."""

    @property
    def late(self) -> bool:
        """Whether the time is spent."""
        return perf_counter() > self.end

    def until(self, seconds: float) -> "Clock":
        """One that goes off after so many seconds, and no later than it."""
        made = Clock(seconds)
        made.end = min(self.end, made.end)
        return made
