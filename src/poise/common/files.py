"""Files that are there whole or not at all."""

import errno
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

_WHY: Final = {
    errno.ENOENT: "there is no folder {folder}; make it, or name another",
    errno.ENOTDIR: "{folder} is no folder; name another",
    errno.EISDIR: "it is a folder; name a file in it",
    errno.EACCES: "you have no right to write there; name another place",
    errno.EROFS: "nothing can be written to that disk; name another place",
    errno.ENOSPC: "the disk is full; make room, or name another place",
    errno.EFBIG: "it grows larger than files may be there; name another place",
}
"""What the system says by a number, with the mend."""


@contextmanager
def atomic_write(path: str | os.PathLike[str], folder: Path | None = None) -> Iterator[Path]:
    """A file that takes the name `path`, on the disk, where the block ends well, and is removed where not.

    Until then it is in `folder`, or beside `path`, under a name that no other process or thread has.  What was there of
    this name stays until then, and hands on who may read it.  What is there and is no file, such as a pipe, is written
    to as it is.  Raises OSError that names `path`, the reason and the mend.
    """
    goal = Path(os.path.realpath(path))
    draft = (goal.parent if folder is None else folder) / f".{goal.name}.{os.getpid()}.{threading.get_ident()}"
    with explained(path):
        if goal.exists() and not goal.is_file():
            yield goal
            return
        _refuse_read_only(goal)
        try:
            yield draft
            if goal.exists():
                shutil.copymode(goal, draft)
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            draft.replace(goal)
            sync(goal.parent)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder to write into, and those above it; raises OSError that names it, the reason and the mend."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder, prefix="."):
            pass
    except OSError as error:
        taken = error.errno in (errno.EEXIST, errno.ENOTDIR)
        why = "a file is in the way" if taken else error.strerror
        raise type(error)(f"{folder} cannot be made a folder to write to: {why}; name another") from None


@contextmanager
def folder_for_work(folder: Path) -> Iterator[None]:
    """Make a folder for what is worked out in the block, and leave none behind where that failed before a file was in
    it; raises as `make_folder` does."""
    there = folder.exists()
    make_folder(folder)
    try:
        yield
    except BaseException:
        if not there:
            with suppress(OSError):  # something is in it
                folder.rmdir()
        raise


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a text, in UTF-8 and as it is, or bytes; raises as `atomic_write` does."""
    with atomic_write(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def refuse_place(path: str | os.PathLike[str]) -> None:
    """Raises what `atomic_write` would raise where no file can be written, before the work that leads to one."""
    goal = Path(os.path.realpath(path))
    with explained(path):
        if goal.is_dir():
            raise IsADirectoryError(errno.EISDIR, "")
        if not goal.exists() or goal.is_file():
            _refuse_read_only(goal)
            with TemporaryFile(dir=goal.parent, prefix="."):
                pass


@contextmanager
def explained(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system says of a file that cannot be written, as a sentence that names it, the reason and the mend."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        folder = Path(path).parent
        lost = error.errno != errno.ENOENT or not folder.is_dir()
        why = _WHY.get(error.errno if lost else 0, f"{os.strerror(error.errno)}; name another place")
        raise type(error)(f"{os.fspath(path)} cannot be written: {why.format(folder=folder)}") from None


def sync(folder: Path) -> None:
    """Bring the names in a folder to the disk; Windows does so by itself."""
    if sys.platform != "win32":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _refuse_read_only(goal: Path) -> None:
    """Raises PermissionError for a file that nobody may write to, though it could be put away in its folder."""
    if goal.exists() and not os.access(goal, os.W_OK):
        raise PermissionError(errno.EACCES, "")
