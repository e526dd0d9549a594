"""The waypoints of a path from a file: CSV by what Python brings, Parquet by Arrow."""

import csv
from pathlib import Path
from typing import Any, Final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.scale.names import POSITION, QUATERNION, refuse_lack, refuse_twins, rotation_columns
from poise.spatial import SO3

_FAR: Final = 1e12
"""Numbers beyond this are a mistake [m or rad]."""
_NO_TURN: Final = 1e-9
"""A quaternion whose numbers are all less is none."""


def read_waypoints(path: Path) -> Array:
    """(n, 3) positions, or (n, 7) poses where the file has the columns of a rotation too; see `poise.scale.columns`.

    A quaternion may have any length but 0 there; here it is 1.

    Raises ValueError for columns that are missing, for a file without rows and for cells that are no numbers,
    MissingExtra for Parquet without pyarrow, OSError for a file that cannot be read.
    """
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InvalidValue("wrong-format", f"{path} is no file of waypoints; its name must end in .csv or .parquet")
    names, rows = _of_csv(path) if kind == ".csv" else _of_parquet(path)
    refuse_twins(names)
    refuse_lack(POSITION, names, "a position")
    rotation = rotation_columns(names)
    wanted = [names.index(name) for name in (*POSITION, *rotation)]
    if not rows:
        raise InvalidValue("empty", f"{path} has no rows below the names of its columns")
    out = np.empty((len(rows), len(wanted)))
    for i, row in enumerate(rows):
        for k, column in enumerate(wanted):
            try:
                out[i, k] = float(row[column])
            except (IndexError, TypeError, ValueError):
                found = repr(row[column]) if column < len(row) else "nothing"
                raise InvalidValue(
                    "not-a-number", f"{path}: {names[column]!r} of waypoint {i} is {found}, which is no number"
                ) from None
    for bad, at in np.argwhere(~(np.abs(out) <= _FAR)):
        raise InvalidValue(
            "out-of-range",
            f"{path}: {names[wanted[at]]!r} of waypoint {bad} is {out[bad, at]}, which is no place or turn",
        )
    if rotation == QUATERNION:
        for bad in np.flatnonzero(np.abs(out[:, 3:]).max(axis=1, initial=0.0) < _NO_TURN):
            raise InvalidValue(
                "zero-vector", f"{path}: qw qx qy qz of waypoint {bad} are a zero quaternion; the identity is 1 0 0 0"
            )
    if not rotation:
        return out
    turned = SO3(wxyz=out[:, 3:]) if rotation == QUATERNION else SO3.from_rpy(out[:, 3:])
    return np.hstack([out[:, :3], turned.wxyz])


def _of_csv(path: Path) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns, and the cells of all rows but empty ones."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise OSError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidValue("wrong-format", f"{path} is no text in UTF-8; save it as CSV in that encoding") from None
    except csv.Error as error:
        raise InvalidValue("wrong-format", f"{path} cannot be read as CSV: {error}") from None
    if not rows:
        raise InvalidValue("empty", f"{path} is empty; its first line must name its columns")
    if len(rows[0]) == 1 and ";" in rows[0][0]:
        raise InvalidValue(
            "wrong-format", f"{path} has ';' between its columns; write it with ',' and with '.' in its numbers"
        )
    for i, row in enumerate(rows[1:]):
        if any(cell.strip() for cell in row[len(rows[0]) :]):
            raise InvalidValue(
                "wrong-format",
                f"{path}: waypoint {i} has {len(row)} cells, and the first line names {len(rows[0])} columns; "
                "a decimal is written with '.'",
            )
    return [name.strip() for name in rows[0]], rows[1:]


def _of_parquet(path: Path) -> tuple[list[str], list[list[Any]]]:
    """The same of a Parquet file."""
    from poise.scale import require_arrow

    require_arrow()
    from poise.scale.source import ParquetSource

    source = ParquetSource(path)
    names = list(source.schema.names)
    columns = [table.to_pydict() for table in source.tables(2**20)]
    return names, [list(row) for part in columns for row in zip(*(part[name] for name in names), strict=True)]
