"""What takes long tells how far it is: a bar on a terminal, else lines to the logger `poise`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Final, Literal

LONG: Final = 2.0
"""From here on something takes long [s]."""
EVERY: Final = 10.0
"""How often a line is logged at most [s]."""
_REFRESH: Final = 0.25
"""How often a bar without a thread moves at most [s]."""


def on_terminal(stream: Literal["stdout", "stderr"] = "stderr") -> bool:
    """Whether somebody may be looking at this stream of the process."""
    open_one = getattr(sys, stream)
    return bool(open_one and open_one.isatty())


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

    def update(done: int) -> None:
        nonlocal moved
        progress.update(line, completed=done)
        now = monotonic()
        if now - begun >= after:
            progress.start()
            if not thread and now - moved >= _REFRESH:
                moved = now
                progress.refresh()

    try:
        update(0)
        yield update
    finally:
        if progress.live.is_started:
            progress.stop()


@contextmanager
def shown_or_logged(what: str, total: int, progress: bool | None) -> Iterator[Callable[[int], None]]:
    """A `bar`, if `progress` asks for it or somebody may be looking; else a line every ten seconds to the logger
    `poise`, at the level of information; neither with False."""
    if progress or (progress is None and on_terminal()):
        with bar(what, total, shown=True, after=0.0 if progress else LONG) as update:
            yield update
        return
    import logging

    begun = reported = monotonic()

    def log(done: int) -> None:
        nonlocal reported
        now = monotonic()
        if now - reported >= EVERY and done < total:
            reported = now
            left = f", about {(total - done) * (now - begun) / done:.0f} s to go" if done else ""
            logging.getLogger("poise").info(f"{what}: {done:,} of {total:,} in {now - begun:.0f} s{left}")

    yield log if progress is None else lambda done: None


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
