"""A thread that does something at a fixed rate."""

import threading
import traceback
from collections.abc import Callable
from time import perf_counter
from typing import final

from poise.rate import Rate


@final
class Loop:
    """Calls `do` `rate` times a second until it is stopped.

    A call that takes longer delays the next one; what was missed is not made up for.  What a call raises is printed
    once for each kind of error, and the loop goes on.
    """

    def __init__(self, name: str, rate: float, do: Callable[[], object]) -> None:
        self._do, self._period = do, 1.0 / rate
        self._stop = threading.Event()
        self.paused = False
        self.busy = 0.0
        """Seconds that the calls have taken in all."""
        self.calls = 0
        self._printed: set[type[BaseException]] = set()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait until the last call has ended."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        for _ in Rate(self._period, sleep=self._stop.wait):
            if self._stop.is_set():
                return
            if self.paused:
                continue
            now = perf_counter()
            try:
                self._do()
            except Exception as error:
                if type(error) not in self._printed:
                    self._printed.add(type(error))
                    traceback.print_exc()
            self.calls += 1
            self.busy += perf_counter() - now
