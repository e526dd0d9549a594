"""What notebooks show: HTML of plain tables, in the colours and fonts of the page, whether light or dark."""

from collections.abc import Iterable, Sequence
from html import escape

LONG = 12
"""Rows that are shown at once; of a longer table the head line is, and the rest when it is opened."""


def paragraph(text: str, *, bold: bool = False) -> str:
    """A line of text."""
    inner = f"<strong>{escape(text)}</strong>" if bold else escape(text)
    return f"<p>{inner}</p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str) -> str:
    """A table under its title, which folds where it is long; the first column to the left, all text escaped."""
    lines = [_row("th", head), *(_row("td", row) for row in rows)]
    shown = " open" if len(lines) - 1 <= LONG else ""
    body = f"<table>\n<thead>{lines[0]}</thead>\n<tbody>\n" + "\n".join(lines[1:]) + "\n</tbody>\n</table>"
    return f"<details{shown}><summary>{escape(title)}</summary>\n{body}\n</details>"


def together(*parts: str) -> str:
    """Parts one below the other."""
    return "<div>\n" + "\n".join(part for part in parts if part) + "\n</div>"


def _row(tag: str, cells: Sequence[str]) -> str:
    sides = ["left", *["right"] * (len(cells) - 1)]
    inner = "".join(
        f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for side, cell in zip(sides, cells, strict=True)
    )
    return f"<tr>{inner}</tr>"
