"""A bar on stderr for what takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic


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
