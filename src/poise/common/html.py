"""What notebooks show: HTML of plain tables, in the colours and fonts of the page, whether light or dark."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

_NUMBER: Final = re.compile(r"[-+]?\d")
LONG: Final = 12
"""Rows that are shown at once; of a longer table the head line is, and the rest when it is opened."""


def escape(text: str) -> str:
    """The text as HTML that shows it."""
    from html import escape  # which brings a table of all named characters along

    return escape(text)


def paragraph(text: str, *, bold: bool = False) -> str:
    """A line of text."""
    inner = f"<strong>{escape(text)}</strong>" if bold else escape(text)
    return f"<p>{inner}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str) -> str:
    """A table under its title, which folds where it is long; numbers to the right, empty columns left out."""
    cells = [tuple(row) for row in rows]
    columns = [i for i in range(len(head)) if any(row[i] for row in cells)]
    sides = ["right" if any(_NUMBER.match(row[i]) for row in cells) else "left" for i in columns]
    lines = [
        "<tr>" + "".join(_cell(tag, row[i], side) for i, side in zip(columns, sides, strict=True)) + "</tr>"
        for tag, row in [("th", tuple(head)), *(("td", row) for row in cells)]
    ]
    shown = " open" if len(cells) <= LONG else ""
    body = f"<table>\n<thead>{lines[0]}</thead>\n<tbody>\n" + "\n".join(lines[1:]) + "\n</tbody>\n</table>"
    return f"<details{shown}><summary>{escape(title)}</summary>\n{body}\n</details>"


def together(*parts: str) -> str:
    """Parts one below the other."""
    return "<div>\n" + "\n".join(part for part in parts if part) + "\n</div>"


def _cell(tag: str, text: str, side: str) -> str:
    return f'<{tag} style="text-align: {side}; padding: 0 0.6em">{escape(text)}</{tag}>'
