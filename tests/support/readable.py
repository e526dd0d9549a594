"""Whether a printed table can be read: within its width, with nothing cut."""

from collections.abc import Sequence


def assert_readable(text: str, columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> None:
    """Every word of the headings and cells is there, the first column is whole, and no line is too long."""
    lines = text.split("\n")
    assert "…" not in text
    if width is None:
        assert all(any(" ".join(row).split() == line.split() for line in lines) for row in rows)
    else:
        assert max(map(len, lines)) <= width
    for word in " ".join([*columns, *(cell for row in rows for cell in row)]).split():
        assert word in text
    for row in rows:
        assert any(line.startswith(row[0]) or line.strip().startswith(row[0]) for line in lines), row[0]
