"""What the commands print: rich tables for people, one line of JSON for programs."""

import json
import math
import sys
from typing import Any

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table


def console() -> Console:
    """Standard output as it is: names are never read as markup, and a pipe does not cut lines to 80 columns."""
    width = None if sys.stdout and sys.stdout.isatty() else 1000
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=True, width=width)


def table(*columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """An empty table; the columns named in `numbers` are aligned to the right."""
    out = Table(box=SIMPLE, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        number = column in numbers
        out.add_column(column, justify="right" if number else "left", no_wrap=number, overflow="fold")
    return out


def print_json(value: dict[str, Any]) -> None:
    """`value` as one line of JSON."""
    console().print(to_json(value))


def to_json(value: dict[str, Any], indent: int | None = None) -> str:
    """`value` as JSON; numbers that JSON does not have become null."""
    return json.dumps(_plain(value), allow_nan=False, indent=indent)


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case np.ndarray() | list() | tuple():
            return [_plain(item) for item in value]
        case float() | np.floating():
            return float(value) if math.isfinite(value) else None
        case _:
            return value
