"""Joint paths in tables: CSV and NPZ, a column for each coordinate, by name, and one of times."""

import csv
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile

from poise.errors import PoiseError
from poise.model.model import Model
from poise.spatial import Array

FRAME: Final = 1.0 / 30.0
"""Between the rows of a table without times [s]."""
SUFFIXES: Final = (".csv", ".npz")
_NAME: Final = re.compile(r"^(?:q_)?(?P<name>.*?)(?: \[(?:rad|m|1|s)\])?$")


def read_table(file: Path, model: Model) -> tuple[Array, Array]:
    """(n,) times, growing, from 0 on [s], and (n, nq) configurations.

    An NPZ has `time_s` (n,), `q` (n, nq) and `joints` (nq,).  A CSV has a column for each coordinate of the model, such
    as `elbow`, `q_elbow` or `elbow [rad]`, and one of times, `time_s`, `time` or `time [s]`; without times a row is
    1/30 s.  Other columns are passed over.  Raises PoiseError for what is no motion of this model.
    """
    kind = file.suffix.lower()
    if kind not in SUFFIXES:
        raise PoiseError(f"{file} is no motion: its name must end in .csv or .npz")
    try:
        given, names, rows = _of_csv(file, model.coordinates) if kind == ".csv" else _of_npz(file)
    except (OSError, EOFError, ValueError, KeyError, NotImplementedError, csv.Error, BadZipFile, zlib.error) as error:
        raise PoiseError(f"{file} cannot be read: {error}") from None
    missing = [name for name in model.coordinates if name not in names]
    if missing:
        raise PoiseError(
            f"{file} has no column for {', '.join(missing[:3])}{' ...' if missing[3:] else ''} of {model.name}; "
            f"its columns are {', '.join(names[:8])}"
        )
    q = rows[:, [names.index(name) for name in model.coordinates]]
    times: Array = np.asarray(FRAME * np.arange(len(q)) if given is None else given - given[:1], dtype=np.float64)
    if not len(q):
        raise PoiseError(f"{file} has no row; a motion needs one at least")
    if not (np.isfinite(q).all() and np.isfinite(times).all()):
        bad = int(np.flatnonzero(~(np.isfinite(q).all(axis=1) & np.isfinite(times)))[0])
        raise PoiseError(f"{file}: row {bad} holds a number that is not finite")
    if (np.diff(times) <= 0.0).any():
        raise PoiseError(f"{file}: the time of row {int(np.argmax(np.diff(times) <= 0.0)) + 1} does not grow")
    try:
        return times, model.normalize(q)
    except ValueError as error:
        raise PoiseError(f"{file}: {error}") from None


def _of_csv(file: Path, coordinates: Sequence[str]) -> tuple[Array | None, list[str], Array]:
    with file.open(newline="", encoding="utf-8-sig") as opened:
        header, *rows = [row for row in csv.reader(opened) if row] or [[]]
    for i, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {i} has {len(row)} columns, and the header {len(header)}")
    names = [_plain(name, coordinates) for name in header]
    kept = [k for k, name in enumerate(names) if name in ("time", "time_s") or _number(rows, k)]
    table = np.array([[float(row[k]) for k in kept] for row in rows]).reshape(len(rows), len(kept))
    names = [names[k] for k in kept]
    at = next((k for k, name in enumerate(names) if name in ("time", "time_s")), None)
    return None if at is None else table[:, at], names, table


def _of_npz(file: Path) -> tuple[Array | None, list[str], Array]:
    with file.open("rb") as opened, _archive(opened) as arrays:
        if "about" in arrays:
            raise ValueError("it is the work of the operator's program; open it with --operate --work")
        q = np.asarray(arrays["q"], dtype=np.float64)
        names = [str(name) for name in np.atleast_1d(arrays["joints"])]
        times = np.asarray(arrays["time_s"], dtype=np.float64) if "time_s" in arrays else None
    if q.ndim != 2 or q.shape[1] != len(names) or (times is not None and times.shape != q.shape[:1]):
        raise ValueError(f"q has shape {q.shape}, for {len(names)} joints")
    return times, names, q


def _archive(opened: BinaryIO) -> NpzFile:
    found = np.load(opened, allow_pickle=False)
    if not isinstance(found, NpzFile):
        raise ValueError("it is one array, and no archive of arrays")
    return found


def _plain(name: str, coordinates: Sequence[str]) -> str:
    if name.strip() in coordinates:
        return name.strip()
    found = _NAME.match(name.strip())
    return name if found is None else found["name"]


def _number(rows: list[list[str]], column: int) -> bool:
    """Whether a column holds numbers."""
    try:
        return all(float(row[column]) is not None for row in rows[:1])
    except (ValueError, IndexError):
        return False
