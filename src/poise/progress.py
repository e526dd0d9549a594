"""A bar on stderr for what takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Final

LONG: Final = 2.0
"""From here on something takes long [s]."""
_REST: Final = 0.25
"""How often a bar without a thread moves at most [s]."""


def on_terminal() -> bool:
    """Whether somebody may be looking at stderr."""
    return bool(sys.stderr and sys.stderr.isatty())


@contextmanager
def bar(
    what: str, total: int | None, *, shown: bool, after: float = 0.0, thread: bool = True, counted: bool = True
) -> Iterator[Callable[[int], None]]:
    """A function that is told how many are done; on a terminal the bar goes when all are.

    It comes with what is told `after` so long [s], and not at all where all is done before.  Without a `thread` it
    moves when it is told something, and at no other time: so it takes no time of what is measured in between.  What is
    not `counted` has no number beside it.
    """
    if not shown:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns: list[ProgressColumn] = [TextColumn(what), BarColumn()]
    if counted:
        columns.append(MofNCompleteColumn())
    # Where nobody knows how many there are, neither is it known how long they will take.
    columns.append(TimeElapsedColumn() if total is None else TimeRemainingColumn())
    progress = Progress(
        *columns, console=Console(stderr=True), transient=on_terminal(), auto_refresh=thread, refresh_per_second=4
    )
    line, begun = progress.add_task(what, total=total), monotonic()
    moved = begun

    def tell(done: int) -> None:
        nonlocal moved
        progress.update(line, completed=done)
        now = monotonic()
        if now - begun >= after:
            progress.start()
            if not thread and now - moved >= _REST:
                moved = now
                progress.refresh()

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
            with bar(what, None, shown=True, counted=False):
                done.wait()

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
