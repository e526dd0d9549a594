"""What was made before of some content: a file each, among the caches."""

import contextlib
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from poise.common.files import write_whole
from poise.kernels.machine.cache_home import cache_home

_Made = TypeVar("_Made")


def disk_cached(
    folder: str,
    code: tuple[Path, ...],
    content: bytes,
    make: Callable[[], _Made],
    *,
    write: Callable[[_Made], bytes],
    read: Callable[[bytes], _Made],
) -> _Made:
    """What is made of `content` by the text of the files `code`, from a file in `folder` if it was made before.

    A file that cannot be read, or that `read` refuses with a ValueError, KeyError or TypeError, counts as not there;
    what cannot be written is made anew the next time.
    """
    file = cache_home() / folder / hashlib.sha256(_text(code) + content).hexdigest()[:32]
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return read(file.read_bytes())
    made = make()
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, write(made))
    return made


@functools.cache
def _text(code: tuple[Path, ...]) -> bytes:
    """What changes with the text of these files."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in code)).digest()
