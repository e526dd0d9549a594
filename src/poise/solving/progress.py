"""A bar on stderr for what takes long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def on_terminal() -> bool:
    """Whether somebody may be looking at stderr."""
    return bool(sys.stderr and sys.stderr.isatty())


@contextmanager
def bar(what: str, total: int | None, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """A function that is told how many are done; on a terminal the bar goes when all are."""
    if not shown:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=on_terminal()) as progress:
        line = progress.add_task(what, total=total)
        yield lambda done: progress.update(line, completed=done)
