"""Joint paths as files: columns of equal length, CSV by what Python brings, Parquet by Arrow."""

import csv
import os
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from poise.common.files import atomic_write
from poise.common.lazy import optional

_NONE: Final = "nan"
"""A cell without a number, as NumPy and pandas read it."""


def write_csv(path: str | os.PathLike[str], columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write columns (n,) under a line of their names; truth is true or false, and what is masked is left empty.

    Raises OSError that names the file.
    """
    with atomic_write(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow([_word(x) for x in row])


def write_parquet(path: str | os.PathLike[str], columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write columns (n,), NaN and what is masked as null; raises as `write_csv`, and MissingExtra without pyarrow."""
    pyarrow = optional("writing Parquet", "pyarrow", "data", "pyarrow", "pyarrow.parquet")
    table = {name: pyarrow.array(column, from_pandas=True) for name, column in columns.items()}
    with atomic_write(path) as draft:
        pyarrow.parquet.write_table(pyarrow.table(table), os.fspath(draft))


def _word(value: Any) -> str:
    if value is np.ma.masked:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, np.integer):
        return str(value)
    return _NONE if value != value else repr(float(value))
