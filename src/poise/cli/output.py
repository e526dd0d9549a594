"""What the commands print: text and tables for people, one line of JSON for programs."""

import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from poise.common.errors import InvalidValue
from poise.common.files import refuse_place
from poise.common.plain import to_json
from poise.common.progress import on_terminal
from poise.common.tables import aligned, fill

PICTURES: Final = (".png", ".svg", ".pdf")
JOINTS: Final = (".csv", ".parquet")
"""Files of figures, and of joints."""


def width() -> int | None:
    """Columns of the terminal; None in a pipe or a file, where lines are as long as they are."""
    return shutil.get_terminal_size().columns if on_terminal("stdout") else None


def show(text: str, style: str | None = None) -> None:
    """Print a text as it is, on a terminal in a style: names are never read as markup, no line is cut or broken."""
    if not on_terminal("stdout"):
        print(text)
        return
    from rich.console import Console

    Console(markup=False, highlight=False, emoji=False, soft_wrap=True).print(text, style=style)


def say(text: str, *, indent: str = "", style: str | None = None) -> None:
    """Print paragraphs, a line each, on a terminal broken between words; `indent` begins the later lines of each."""
    show("\n".join(fill(line, width(), indent) for line in text.split("\n")), style)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Collection[str] = ()) -> None:
    """Print a table as wide as the terminal lets it be; see `poise.common.tables`."""
    show(aligned(columns, rows, numbers=numbers, width=width()))


def refuse_file(
    file: Path | None, kinds: Sequence[str], what: str, *, force: bool, read: Collection[Path] = ()
) -> None:
    """Refuse a file that shall not be written, before the work that leads to it.

    Raises ValueError for another kind, where there are `kinds`, with `what` goes into it, as in `joints go`; for one of
    those that are `read`; for one that is there already, without `force`; OSError where nothing can be written.
    """
    if file is None:
        return
    if kinds and file.suffix.lower() not in kinds:
        ends = f"{', '.join(kinds[:-1])} or {kinds[-1]}" if len(kinds) > 1 else kinds[0]
        raise InvalidValue("wrong-format", f"{file} cannot be written: {what} into a file whose name ends in {ends}")
    if any(file.exists() and given.exists() and file.samefile(given) for given in read):
        raise InvalidValue("conflict", f"{file} is a file that is read, and would be written over; name another output")
    refuse_place(file)
    keep([file], force=force)


def keep(files: Iterable[Path], *, force: bool) -> None:
    """Raises ValueError where one of the files is there, without `force` to write over it."""
    there = [file for file in files if file.is_file()]
    if there and not force:
        raise InvalidValue("duplicate", f"{there[0]} is there already; --force writes over it, or name another place")


def print_json(value: dict[str, Any]) -> None:
    """`value` as one line of JSON."""
    show(to_json(value))
