"""What is said on stderr while kernels are compiled: which, how many of how many, and the processor time they took.

The same on a terminal and on a pipe: a line when it begins, one every few seconds, and one when no more are known of.
"""

import sys
import threading
from time import monotonic
from typing import Final, final

_EVERY: Final = 5.0
"""From one line to the next [s]."""
_SHORT: Final = 1.0
"""What took less processor time needs no line at its end [s]."""


@final
class Notice:
    """The compilations that this process waits for, those in workers of its own included."""

    __slots__ = ("_begun", "_last", "_reported", "_wanted", "compiled", "lock", "quiet", "seconds", "waited")

    def __init__(self) -> None:
        self.compiled = 0
        self.seconds = 0.0
        """The processor time that they took [s]."""
        self.waited = 0.0
        """The time for which this process waited for kernels that it compiled itself or read from disk [s]."""
        self.quiet = False
        """Whether somebody else tells of them."""
        self.lock = threading.RLock()
        self._begun = False
        self._wanted = 0
        self._last = -_EVERY
        self._reported = 0.0

    def expect(self, count: int) -> None:
        """So many more will be compiled; those that nobody expected are counted as they come."""
        with self.lock:
            self._wanted = self.compiled + count

    def begins(self, name: str) -> None:
        """One is not on disk, and is compiled."""
        with self.lock:
            self._begun = True
            self._wanted = max(self._wanted, self.compiled + 1)
            if monotonic() - self._last >= _EVERY:
                self._say(f"compiling kernels for this CPU, once: {name}, {self.compiled + 1} of {self._wanted}")

    def ends(self, seconds: float, waited: float) -> None:
        """What `begins`, if anything did, is done and took so much processor time, and so much by the clock [s]."""
        with self.lock:
            self.waited += waited
            if self._begun:
                self._begun = False
                self.add(seconds)

    def add(self, seconds: float) -> None:
        """One is compiled, here or in a worker, in so much processor time."""
        with self.lock:
            self.compiled += 1
            self._wanted = max(self._wanted, self.compiled)
            self.seconds += seconds
            last = self.compiled >= self._wanted and self.seconds - self._reported >= _SHORT
            if last or monotonic() - self._last >= _EVERY:
                self._reported = self.seconds
                self._say(f"{self.compiled} of {self._wanted} kernels compiled, {self.seconds:.0f} s of processor time")

    def _say(self, line: str) -> None:
        self._last = monotonic()
        if not self.quiet:
            print(f"poise: {line}", file=sys.stderr, flush=True)


NOTICE: Final = Notice()
"""Of this process."""
