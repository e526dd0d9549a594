"""The pages of the browser: a server, loops behind it, a robot that is guided, and an end."""

import atexit
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, Self

from poise.common.errors import InvalidValue
from poise.viewer.pages.recording import Recording
from poise.viewer.panel.panel import Panel
from poise.viewer.scene.appearance import Look, appearance
from poise.viewer.scene.stage import Stage
from poise.viewer.server.input_state import InputState
from poise.viewer.server.loop import Loop
from poise.viewer.server.server import Server, serve
from poise.viewer.session.guided import Guided

PICTURES: Final = 60.0
"""A second."""


class Page:
    """A page and the loops behind it; leaving its `with` block closes it."""

    def __init__(self, server: Server, *, dark: bool, width: Literal["medium", "large"] = "medium") -> None:
        self.server = server
        self._ending, self._ended = threading.Lock(), threading.Event()
        # A program that ends without closing it: before the server's own end, after which nothing may be painted.
        atexit.register(self.close)
        self._loops: list[Loop] = []
        server.viser.gui.configure_theme(dark_mode=dark, show_logo=False, show_share_button=False, control_width=width)

    @property
    def url(self) -> str:
        """Where it is, from this machine."""
        return self.server.url

    def wait(self, seconds: float | None = None) -> bool:
        """Stay until it is closed and all is written, or for so long; whether it is closed."""
        return self._ended.wait(seconds)

    def serve(self, message: str) -> None:
        """Say where it is, and stay until Ctrl-C or until it is closed; it is closed then."""
        print(f"{message} at {self.server.announcement} (Ctrl-C ends it)", flush=True)
        try:
            self.wait()
        except KeyboardInterrupt:
            print()
        finally:
            self.close()

    def close(self) -> None:
        """End the loops, then the page; does nothing the second time.  From any thread but the server's own."""
        if not self._ending.acquire(blocking=False):
            return
        try:
            for loop in self._loops:
                loop.stop()
            self.finish()
        finally:
            self.server.stop()
            self._ended.set()
            atexit.unregister(self.close)

    def finish(self) -> None:
        """What is left to do when the loops have ended and the page is still there."""

    def begin_loop(self, name: str, rate: float, do: Callable[[], object]) -> Loop:
        """Begin to call `do` so many times a second."""
        self._loops.append(Loop(f"poise {name}", rate, do))
        return self._loops[-1]

    @contextmanager
    def making(self) -> Iterator[None]:
        """A page that cannot be made is closed; what is in it is sent at once."""
        try:
            with self.server.viser.atomic():
                yield
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class GuidedPage(Page):
    """A robot that is guided: its picture, its panel, the loop that goes on with it, and one that paints."""

    def __init__(
        self,
        session: Guided,
        panel: Callable[[Any, Any, Stage, bool], Panel[Any]],
        tick: Callable[[], object],
        rate: float,
        *,
        look: Look | None,
        host: str,
        port: int,
        dark: bool,
        title: str = "",
        width: Literal["medium", "large"] = "medium",
        on_input: Callable[[int, InputState], None] | None = None,
    ) -> None:
        """`tick` is called `rate` times a second; the rest as `view` and `serve` take it."""
        self._guided = session
        self.parts = appearance(session.model, look=look)
        server = serve(host=host, port=port, title=title or session.model.name, on_input=on_input)
        super().__init__(server, dark=dark, width=width)
        self.recording: Recording | None = None
        with self.making():
            self.stage = Stage(server.viser, session, self.parts, dark=dark)
            self.panel = panel(server.viser, session, self.stage, dark)
            self._paint()
        self.solver = self.begin_loop("solver", rate, tick)
        self.painter = self.begin_loop("painter", PICTURES, self._paint)

    def record(self, file: str | Path) -> None:
        """Keep what happens from now on, and write it to one HTML file when the page is closed.

        Raises PoiseError for a file that cannot be written, ValueError where a recording is under way.
        """
        if self.recording is not None:
            raise InvalidValue(
                "conflict", f"{self.recording.file} is being recorded: close the viewer, and record in another"
            )
        self.recording = Recording(self.server.viser, Path(file), 1.0 / PICTURES, self._guided.model, self.parts)

    def finish(self) -> None:
        if self.recording is not None:
            self.recording.write()

    def _paint(self) -> None:
        moment = self._guided.moment
        self.stage.paint(moment)
        self.panel.follow(moment)
        if self.recording is not None:
            self.recording.next_picture()
