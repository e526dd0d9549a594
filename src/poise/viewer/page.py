"""What every page of the browser has: a server, loops behind it, and an end."""

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
        self._closed = threading.Event()
        self._loops: list[Loop] = []
        server.viser.gui.configure_theme(dark_mode=dark, show_logo=False, show_share_button=False, control_width=width)

    @property
    def url(self) -> str:
        """Where it is, from this machine."""
        return self.server.url

    def wait(self, seconds: float | None = None) -> bool:
        """Stay until it is closed, or for so long; whether it is closed."""
        return self._closed.wait(seconds)

    def close(self) -> None:
        """End the loops, then the page; does nothing the second time."""
        if self._closed.is_set():
            return
        self._closed.set()
        for loop in self._loops:
            loop.stop()
        try:
            self._finish()
        finally:
            self.server.stop()

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
