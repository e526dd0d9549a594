"""Tables as plain text, readable at any width: no cell and no heading is ever cut.

Where a table is wider than what shows it, its headings are broken between words, then the cells of its texts, but for
those of the first column.  If that is not enough, its columns are set in several tables, one below the other, each of
which begins with the texts that the table begins with.
"""

from collections.abc import Collection, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Final

_GAP: Final = "  "
_TEXT: Final = 16
"""Letters that a column of texts keeps, if it has as many."""


def aligned(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[str] = (),
    width: int | None = None,
) -> str:
    """The lines of a table; the columns named in `numbers` go to the right.  `width` None: as wide as it is."""
    whole = _Sheet(columns, rows, numbers)
    return "\n\n".join(part.text(width) for part in whole.parts(width))


def fill(text: str, width: int | None, indent: str = "") -> str:
    """A paragraph in lines of at most `width` letters, broken between words; later lines begin with `indent`."""
    if width is None:
        return text
    kept = text[: len(text) - len(text.lstrip())]
    return "\n".join(_broken(text.strip(), width, kept, kept + indent))


class _Sheet:
    """Columns with their cells."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[str]) -> None:
        self.columns, self.rows, self.numbers = list(columns), [list(row) for row in rows], numbers
        self.cells = [[row[i] for row in self.rows] for i in range(len(self.columns))]
        self.natural = [max(map(len, [head, *cells])) for head, cells in zip(self.columns, self.cells, strict=True)]
        self.words = [
            max(map(len, [*head.split(), *cells, ""])) for head, cells in zip(self.columns, self.cells, strict=True)
        ]
        self.least = [self._least(i) for i in range(len(self.columns))]

    def _least(self, i: int) -> int:
        if i == 0 or self.columns[i] in self.numbers:
            return self.words[i]
        longest = max((len(word) for text in [self.columns[i], *self.cells[i]] for word in text.split()), default=0)
        return max(longest, min(self.natural[i], _TEXT))

    def parts(self, width: int | None) -> list["_Sheet"]:
        """Tables that fit, as far as any can."""
        if width is None or _total(self.least) <= width:
            return [self]
        keys = next((i for i, name in enumerate(self.columns) if name in self.numbers), 1) or 1
        taken = list(range(min(keys, len(self.columns))))
        if _total([self.least[i] for i in taken]) > width // 2:
            taken = taken[:1]
        groups: list[list[int]] = [[]]
        for i in range(len(taken), len(self.columns)):
            if groups[-1] and _total([self.least[k] for k in (*taken, *groups[-1], i)]) > width:
                groups.append([])
            groups[-1].append(i)
        return [self._of([*taken, *group]) for group in groups]

    def _of(self, chosen: Sequence[int]) -> "_Sheet":
        return _Sheet(
            [self.columns[i] for i in chosen], [[row[i] for i in chosen] for row in self.rows], self.numbers
        )

    def text(self, width: int | None) -> str:
        """Its lines."""
        widths = self._widths(width)
        lines = [*self._lines(self.columns, widths), _GAP.join("-" * w for w in widths)]
        for row in self.rows:
            lines += self._lines(row, widths)
        return "\n".join(lines)

    def _widths(self, width: int | None) -> list[int]:
        """Of the columns: as they are if that fits, else as little as it takes of headings, then of texts."""
        if width is None or _total(self.natural) <= width:
            return self.natural
        widths, most = (self.words, self.natural) if _total(self.words) <= width else (self.least, self.words)
        out, spare = list(widths), max(width - _total(widths), 0)
        for i, wanted in sorted(enumerate(most), key=lambda pair: pair[1] - out[pair[0]]):
            more = min(wanted - out[i], spare)
            out[i] += more
            spare -= more
        return out

    def _lines(self, cells: Sequence[str], widths: Sequence[int]) -> list[str]:
        """The lines of a row, whose cells end in the last or begin in the first of them."""
        broken = [_broken(cell, w) if len(cell) > w else [cell] for cell, w in zip(cells, widths, strict=True)]
        right = [name in self.numbers for name in self.columns]
        return [
            _GAP.join(
                cell.rjust(w) if to_right else cell.ljust(w)
                for cell, w, to_right in zip(line, widths, right, strict=True)
            ).rstrip()
            for line in zip_longest(*broken, fillvalue="")
        ]


def _broken(text: str, width: int, first: str = "", later: str = "") -> list[str]:
    return wrap(
        text, width, break_long_words=False, break_on_hyphens=False, initial_indent=first, subsequent_indent=later
    ) or [""]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)
