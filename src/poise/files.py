"""Files that are there whole or not at all."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_aside(path: str | os.PathLike[str], folder: Path | None = None) -> Iterator[Path]:
    """A file that takes the name `path`, on the disk, where the block ends well, and is removed where not.

    Until then it is in `folder`, or beside `path`, under a name that no other process or thread has.  What is there and
    is no file, such as a pipe, is written to as it is.  Raises OSError that names `path`.
    """
    goal = Path(os.path.realpath(path))
    aside = (goal.parent if folder is None else folder) / f".{goal.name}.{os.getpid()}.{threading.get_ident()}"
    with explained(path):
        if goal.exists() and not goal.is_file():
            yield goal
            return
        try:
            yield aside
            with aside.open("rb+") as file:
                os.fsync(file.fileno())
            aside.replace(goal)
            sync(goal.parent)
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)


@contextmanager
def explained(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system says of a file that cannot be written, such as a full disk, as a sentence that names it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(f"{os.fspath(path)} cannot be written: {os.strerror(error.errno)}") from None


def sync(folder: Path) -> None:
    """Bring the names in a folder to the disk; Windows does so by itself."""
    if sys.platform != "win32":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
