"""What every page of the browser has: a server, loops behind it, and an end."""

import atexit
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Self

from poise.viewer.loop import Loop
from poise.viewer.server import Server


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

    def close(self) -> None:
        """End the loops, then the page; does nothing the second time.  From any thread but the server's own."""
        if not self._ending.acquire(blocking=False):
            return
        try:
            for loop in self._loops:
                loop.stop()
            self._finish()
        finally:
            self.server.stop()
            self._ended.set()
            atexit.unregister(self.close)

    def _finish(self) -> None:
        """What is left to do when the loops have ended and the page is still there."""

    def _loop(self, name: str, rate: float, do: Callable[[], object]) -> Loop:
        """Begin to call `do` so many times a second."""
        self._loops.append(Loop(f"poise {name}", rate, do))
        return self._loops[-1]

    @contextmanager
    def _made(self) -> Iterator[None]:
        """A page that cannot be made is closed; what is in it is sent at once."""
        try:
            with self.server.viser.atomic():
                yield
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
