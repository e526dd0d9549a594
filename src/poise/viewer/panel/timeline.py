"""A slider over the time of a motion, which plays it over and over."""

from time import perf_counter
from typing import Any, final


@final
class Timeline:
    """Widgets; `now` is asked for each picture.  A hand that slides it stops it."""

    def __init__(self, gui: Any, duration: float, *, plays: bool) -> None:
        self.duration, self._last = max(duration, 1e-3), perf_counter()
        self.time = 0.0
        self._slider = gui.add_slider("time s", min=0.0, max=self.duration, step=1e-3, initial_value=0.0)
        self._playing = gui.add_checkbox("play", plays)
        self._speed = gui.add_slider("speed", min=0.1, max=4.0, step=0.1, initial_value=1.0)

        @self._slider.on_update  # type: ignore[untyped-decorator]
        def slid(event: Any) -> None:
            if event.client is not None:
                self.stay(float(self._slider.value))

    def stay(self, time: float) -> None:
        """Go there [s], and play no more."""
        self.time, self._playing.value = time, False
        self._slider.value = round(time, 3)

    def begin(self, duration: float) -> None:
        """Begin anew, with something that takes so long [s]."""
        self.duration, self.time = max(duration, 1e-3), 0.0
        self._slider.max = self.duration

    def now(self) -> float:
        """Where it is by now [s]."""
        now = perf_counter()
        passed, self._last = now - self._last, now
        if self._playing.value:
            self.time = (self.time + passed * self._speed.value) % self.duration
            self._slider.value = round(self.time, 3)
        return self.time
