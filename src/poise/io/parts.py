"""Files that are parts of others: what is wrong with them alone is said with the file to give instead."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poise.common.errors import ModelError

_MAIN = (".xacro", ".urdf", ".xml", ".mjcf")


def includer(path: Path) -> Path | None:
    """A file beside this one that includes it by name."""
    named = re.compile(rb"<(?:xacro:)?include\b[^>]*[\"'/]" + re.escape(path.name.encode()) + rb"[\"']")
    for other in sorted(path.parent.iterdir()) if path.parent.is_dir() else ():
        try:
            if other.suffix.lower() in _MAIN and other.name != path.name and named.search(other.read_bytes()):
                return other
        except OSError:  # a folder, or what may not be read
            continue
    return None


@contextmanager
def part_of_another(path: Path) -> Iterator[None]:
    """A ModelError within says too which file includes this one, if one beside it does."""
    try:
        yield
    except ModelError as error:
        whole = includer(path)
        if whole is None:
            raise
        message = f"{error.message}; if this file is a part of {whole}, which includes it, give that one"
        raise ModelError(message, file=error.file, line=error.line) from error.__cause__
