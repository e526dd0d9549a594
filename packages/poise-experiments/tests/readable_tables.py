"""Whether the tables of an experiment can be read."""

from collections.abc import Iterable

from support.readable import assert_readable

from poise.extending import aligned
from poise_experiments.base import Table
from poise_experiments.command import cells


def assert_tables_readable(tables: Iterable[Table]) -> None:
    """The tables of an experiment can be read at 80 columns and in a pipe."""
    for table in tables:
        columns, rows = list(table.columns), cells(table)
        numbers = [name for name, form in table.columns.items() if form]
        for width in (80, None):
            assert_readable(aligned(columns, rows, numbers=numbers, width=width), columns, rows, width)
