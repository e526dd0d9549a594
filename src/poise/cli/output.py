"""What the commands print: text and tables for people, one line of JSON for programs."""

import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from poise.plain import to_json
from poise.progress import on_terminal
from poise.tables import aligned, fill


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
    """Print a table as wide as the terminal lets it be; see `poise.tables`."""
    show(aligned(columns, rows, numbers=numbers, width=width()))


def refuse_file(file: Path | None, kinds: Sequence[str], what: str) -> None:
    """Raises ValueError for a file that cannot be written: another kind, no folder or one itself, no right.

    `what` goes into it, as in `joints go`.
    """
    if file is None:
        return
    if file.suffix.lower() not in kinds:
        ends = f"{', '.join(kinds[:-1])} or {kinds[-1]}" if len(kinds) > 1 else kinds[0]
        raise ValueError(f"{file} cannot be written: {what} into a file whose name ends in {ends}")
    if not file.parent.is_dir():
        raise ValueError(f"{file} cannot be written: there is no folder {file.parent}")
    if file.is_dir():
        raise ValueError(f"{file} cannot be written: it is a folder")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ValueError(f"{file} cannot be written: you have no right to write there")


def refuse_out(out: Path | None, given: Path) -> None:
    """Raises ValueError for a file that joints cannot go into, or that is the one that was `given`."""
    refuse_file(out, (".csv", ".parquet"), "joints go")
    if out is not None and out.exists() and given.exists() and out.samefile(given):
        raise ValueError(f"{out} is the file that is read, and would be written over; name another output")


def print_json(value: dict[str, Any]) -> None:
    """`value` as one line of JSON."""
    show(to_json(value))
