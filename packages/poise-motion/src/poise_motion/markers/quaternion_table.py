"""`.sto` tables of quaternions, as OpenSense has them: four numbers with commas in a cell, the scalar first."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from poise import ModelError
from poise.extending import Array, read_cells, write_whole

_KIND = "quaternion"
_GONE = ("", "nan", "~")
"""Cells without a quaternion; OpenSim writes what is NaN as four of them."""


def read_quaternions(file: Path) -> tuple[list[str], Array, Array, list[str]]:
    """Names, times [s], quaternions (frames, sensors, 4) and notes; raises ModelError for what is no such file."""
    try:
        found = read_cells(file)
    except FileNotFoundError:
        raise ModelError("no such file", file=str(file)) from None
    except (OSError, ValueError) as error:
        raise ModelError(getattr(error, "strerror", None) or str(error), file=str(file)) from None
    said = found.header.get("datatype", "not said")
    if said != _KIND:
        raise ModelError(f"its DataType is {said[:60]!r}; orientations are of the type Quaternion", file=str(file))
    times, rows = np.empty(len(found.rows)), np.full((len(found.rows), len(found.labels) - 1, 4), np.nan)
    for i, (number, cells) in enumerate(found.rows):
        try:
            times[i] = float(cells[0])
            for k, cell in enumerate(cells[1:]):
                if cell.strip().lower() not in _GONE:
                    rows[i, k] = [float(x) for x in cell.split(",")]
        except ValueError:
            raise ModelError("a cell is no quaternion, such as 1,0,0,0", file=str(file), line=number) from None
    return [label.strip() for label in found.labels[1:]], times, rows, []


def write_quaternions(file: Path, names: Sequence[str], times: Array, wxyz: Array, rate: float) -> None:
    """Write one; numbers have as many digits as give the same ones when they are read."""
    lines = [f"DataRate={rate:.12g}", "DataType=Quaternion", "version=3", "endheader", "\t".join(["time", *names])]
    for time, row in zip(times.tolist(), wxyz.tolist(), strict=True):
        lines.append("\t".join([f"{time:.17g}", *(",".join(f"{x:.17g}" for x in each) for each in row)]))
    write_whole(file, ("\n".join(lines) + "\n").encode())
