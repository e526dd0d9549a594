"""Tables as plain text, readable at any width: no cell and no heading is ever cut.

Where a table is wider than what shows it, its headings are broken between words, then the cells of its texts.  If that
is not enough, its columns are set in several tables, one below the other.  Its keys, as many of its first columns as
tell its rows apart, are never broken, and each of these tables begins with them.
"""

from collections.abc import Collection, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Final

_GAP: Final = "  "
_TEXT: Final = 16
"""Letters that a column of texts keeps, if it has as many."""
_KEYS: Final = 40
"""Letters of all keys, at most; where there are more, the first column alone is one."""


def aligned(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Collection[str] = (), width: int | None = None
) -> str:
    """The lines of a table; the columns named in `numbers` go to the right.  `width` None: as wide as it is."""
    whole = _Sheet(columns, rows, numbers)
    return "\n\n".join(part.text(width) for part in whole.parts(width))


def fill(text: str, width: int | None, indent: str = "") -> str:
    """A paragraph in lines of at most `width` letters, broken between words; later lines begin with `indent`."""
    if width is None:
        return text
    leading = text[: len(text) - len(text.lstrip())]
    return "\n".join(_broken(text.strip(), width, leading, leading + indent))


class _Sheet:
    """Columns with their cells."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[str]) -> None:
        self.columns, self.rows, self.numbers = list(columns), [list(row) for row in rows], numbers
        self.cells = [[row[i] for row in self.rows] for i in range(len(self.columns))]
        self.natural = [max(map(len, [head, *cells])) for head, cells in zip(self.columns, self.cells, strict=True)]
        self.words = [
            max(map(len, [*head.split(), *cells, ""])) for head, cells in zip(self.columns, self.cells, strict=True)
        ]
        self.keys = self._keys()
        self.least = [self._least(i) for i in range(len(self.columns))]

    def _keys(self) -> int:
        for count in range(1, len(self.columns)):
            if _total(self.words[:count]) > _KEYS:
                break
            if len({tuple(row[:count]) for row in self.rows}) == len(self.rows):
                return count
        return 1

    def _least(self, i: int) -> int:
        if i < self.keys or self.columns[i] in self.numbers:
            return self.words[i]
        longest = max((len(word) for text in [self.columns[i], *self.cells[i]] for word in text.split()), default=0)
        return max(longest, min(self.natural[i], _TEXT))

    def parts(self, width: int | None) -> list["_Sheet"]:
        """Tables that fit, as far as any can."""
        if width is None or _total(self.least) <= width:
            return [self]
        keys = list(range(self.keys))
        groups: list[list[int]] = [[]]
        for i in range(self.keys, len(self.columns)):
            if groups[-1] and _total([self.least[k] for k in (*keys, *groups[-1], i)]) > width:
                groups.append([])
            groups[-1].append(i)
        return [self._of([*keys, *group]) for group in groups]

    def _of(self, chosen: Sequence[int]) -> "_Sheet":
        return _Sheet([self.columns[i] for i in chosen], [[row[i] for i in chosen] for row in self.rows], self.numbers)

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
        headings = _total(self.words) <= width
        least, most = (self.words, self.natural) if headings else (self.least, self.words)
        out, spare = list(least), max(width - _total(least), 0)
        for i in sorted(range(len(out)), key=lambda i: most[i] - least[i]):
            more = most[i] - least[i]
            if headings and more > spare:
                continue  # a heading is whole, or as narrow as can be
            out[i] += min(more, spare)
            spare -= min(more, spare)
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
