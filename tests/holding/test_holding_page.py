"""The page on what holds shows the table that the tests go by, and nothing else."""

from pathlib import Path

from table import methods, table

PAGE = Path(__file__).parents[2] / "docs/holding.md"


def test_the_page_shows_the_table() -> None:
    text = PAGE.read_text()
    for part in (table(), methods()):
        assert part in text, f"put this into docs/holding.md:\n\n{part}"
