"""A motion played in the scene, with a timeline."""

import threading
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Self, final

from poise.model.model import Model
from poise.viewer.appearance import appearance
from poise.viewer.figure import Figure
from poise.viewer.loop import Loop
from poise.viewer.motion import Motion
from poise.viewer.recording import html_file, html_of_motion, trail, write_aside
from poise.viewer.server import serve
from poise.viewer.stage import ground

PICTURES: Final = 30.0
"""A second."""


@final
class Replay:
    """A robot that goes through a motion, over and over; leaving its `with` block closes it."""

    def __init__(
        self, model: Model, motion: Motion, *, host: str = "127.0.0.1", port: int = 8080, dark: bool = False,
        look: Any = None,
    ) -> None:  # fmt: skip
        self.model, self.motion = model, motion
        self._parts = parts = appearance(model, look=look)
        self.server = serve(host=host, port=port, title=model.name)
        page = self.server.viser
        page.gui.configure_theme(dark_mode=dark, show_logo=False, show_share_button=False)
        ground(page, model, motion.q[0], parts, dark=dark)
        self.figure = Figure(page, "/robot", model, parts)
        trail(page, model, motion.q)
        self.time, self._last = 0.0, perf_counter()
        self._closed = threading.Event()
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
        self.loop = Loop("poise replay", PICTURES, self._next)

    @property
    def url(self) -> str:
        """Where the page is, from this machine."""
        return self.server.url

    def record(self, file: str | Path) -> Path:
        """Write the whole motion, played once, to an HTML file that needs no server; raises PoiseError if it cannot."""
        to = html_file(Path(file))
        return write_aside(to, html_of_motion(self.model, self._parts, self.motion.times, self.motion.q))

    def wait(self) -> None:
        """Stay until it is closed."""
        self._closed.wait()

    def close(self) -> None:
        """Close the page; does nothing the second time."""
        if not self._closed.is_set():
            self._closed.set()
            self.loop.stop()
            self.server.stop()

    def _next(self) -> None:
        now = perf_counter()
        passed, self._last = now - self._last, now
        if self._playing.value:
            self.time = (self.time + passed * self._speed.value) % max(self.motion.duration, 1e-3)
            self._slider.value = round(self.time, 3)
        self.figure.place(self.motion.at(self.model, self.time))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
