"""A motion played in the scene, with a timeline."""

from pathlib import Path
from time import perf_counter
from typing import Any, Final, final

from poise.model.model import Model
from poise.motion.clip import Motion
from poise.viewer.appearance import appearance
from poise.viewer.figure import Figure
from poise.viewer.page import Page
from poise.viewer.recording import html_file, html_of_motion, trail, write_aside
from poise.viewer.server import serve
from poise.viewer.stage import ground

PICTURES: Final = 30.0
"""A second."""


@final
class Replay(Page):
    """A robot that goes through a motion, over and over; leaving its `with` block closes it."""

    def __init__(
        self, model: Model, motion: Motion, *, host: str = "127.0.0.1", port: int = 8080, dark: bool = False,
        look: Any = None,
    ) -> None:  # fmt: skip
        self.model, self.motion = model, motion
        self._parts = appearance(model, look=look)
        super().__init__(serve(host=host, port=port, title=model.name), dark=dark)
        with self._made():
            self._add(motion, dark=dark)
        self.loop = self._loop("replay", PICTURES, self._next)

    def _add(self, motion: Motion, *, dark: bool) -> None:
        """The robot, its way and the timeline."""
        page, model = self.server.viser, self.model
        ground(page, model, motion.q[0], self._parts, dark=dark)
        self.figure = Figure(page, "/robot", model, self._parts)
        trail(page, model, motion.q)
        self.time, self._last = 0.0, perf_counter()
        self._slider = page.gui.add_slider(
            "time s", min=0.0, max=max(motion.duration, 1e-3), step=1e-3, initial_value=0.0
        )
        self._playing = page.gui.add_checkbox("play", True)
        self._speed = page.gui.add_slider("speed", min=0.1, max=4.0, step=0.1, initial_value=1.0)

        @self._slider.on_update  # type: ignore[untyped-decorator]
        def slid(event: Any) -> None:
            if event.client is not None:
                self.time, self._playing.value = float(self._slider.value), False

        self.figure.place(motion.q[0])

    def record(self, file: str | Path) -> Path:
        """Write the whole motion, played once, to an HTML file that needs no server; raises PoiseError if it cannot."""
        to = html_file(Path(file))
        return write_aside(to, html_of_motion(self.model, self._parts, self.motion.times, self.motion.q))

    def _next(self) -> None:
        now = perf_counter()
        passed, self._last = now - self._last, now
        if self._playing.value:
            self.time = (self.time + passed * self._speed.value) % max(self.motion.duration, 1e-3)
            self._slider.value = round(self.time, 3)
        self.figure.place(self.motion.at(self.motion.times[0] + self.time))
