"""A bar on stderr for what takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Final

LONG: Final = 2.0
"""From here on something takes long [s]."""


def on_terminal() -> bool:
    """Whether somebody may be looking at stderr."""
    return bool(sys.stderr and sys.stderr.isatty())


@contextmanager
def bar(what: str, total: int | None, *, shown: bool, after: float = 0.0) -> Iterator[Callable[[int], None]]:
    """A function that is told how many are done; on a terminal the bar goes when all are.

    It comes with what is told `after` so long [s], and not at all where all is done before.
    """
    if not shown:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    progress = Progress(*columns, console=Console(stderr=True), transient=on_terminal())
    line, begun = progress.add_task(what, total=total), monotonic()

    def tell(done: int) -> None:
        progress.update(line, completed=done)
        if monotonic() - begun >= after:
            progress.start()

    try:
        tell(0)
        yield tell
    finally:
        if progress.live.is_started:
            progress.stop()


@contextmanager
def busy(what: str) -> Iterator[None]:
    """On a terminal, a bar that says that the block goes on, where nobody knows how far it is, once it takes long."""
    if not on_terminal():
        yield
        return
    done = Event()

    def show() -> None:
        if not done.wait(LONG):
            with bar(what, None, shown=True):
                done.wait()

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
