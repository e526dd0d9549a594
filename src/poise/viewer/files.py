"""Files that are there whole or not at all."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_aside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file beside `path` that takes its name, on the disk, where the block ends well, and is removed where not.

    Its name is that of the process and the thread too, so that two may write the same.
    """
    goal = Path(path)
    aside = goal.with_name(f".{goal.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        yield aside
        with aside.open("rb+") as file:
            os.fsync(file.fileno())
        aside.replace(goal)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
