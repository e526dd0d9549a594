"""Tables of OpenSim, `.mot` and `.sto`: a header, a line of names, and rows of numbers; turns in degrees or radians."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.common.files import atomic_write
from poise.model.model import Model
from poise.model.units import units

_END: Final = "endheader"
_HEADER: Final = 10_000
"""Lines of a header, at most."""
_MOST: Final = 2**30
"""The largest file [bytes]."""


@dataclass(frozen=True, slots=True)
class Storage:
    """What such a file holds, before its cells are read as numbers."""

    header: dict[str, str]
    """What it says before the table, names and words in lower case, without blanks."""
    labels: list[str]
    """Of its columns; the first is "time"."""
    rows: list[tuple[int, list[str]]]
    """The line in the file, and the cells: as many as labels."""


def read_cells(file: Path) -> Storage:
    """The header, labels and cells of a `.mot` or `.sto`; raises ValueError for what is no such table, OSError for what
    cannot be read."""
    if file.stat().st_size > _MOST:
        raise ValueError(f"it has more than {_MOST // 2**20} MiB")
    lines = file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    ends = next((i for i, line in enumerate(lines[:_HEADER]) if line.strip().lower() == _END), None)
    if ends is None:
        raise ValueError(f"no line of it is {_END!r}, which parts the header from the table")
    header = dict(line.replace(" ", "").lower().split("=", 1) for line in lines[:ends] if "=" in line)
    labels, first = list[str](), ends + 1
    while first < len(lines) and not labels:
        labels, first = _cells(lines[first]), first + 1
    if not labels or labels[0].lower() != "time":
        raise ValueError("the first column behind its header is not 'time'")
    rows = [(number, cells) for number, line in enumerate(lines[first:], start=first + 1) if (cells := _cells(line))]
    for number, cells in rows:
        if len(cells) != len(labels):
            raise ValueError(f"line {number} has {len(cells)} numbers, and there are {len(labels)} names")
    return Storage(header, labels, rows)


def read_storage(file: Path, model: Model) -> tuple[Array, list[str], Array, tuple[str, ...]]:
    """(n,) times [s], the names of the other columns, their numbers (n, columns), turns of the model in radians, and
    what was assumed, in words.

    A column of a state, such as `/jointset/knee/knee_angle/value`, has the name of its coordinate.  Raises as
    `read_cells`.
    """
    found = read_cells(file)
    kind = found.header.get("datatype", "double")
    if kind != "double":
        raise ValueError(f"its DataType is {kind[:60]!r}; numbers are read, which have one column each")
    said = found.header.get("indegrees")
    notes = () if said is not None else ("the header says no inDegrees; turns are taken as radians, as OpenSim does",)
    table = np.empty((len(found.rows), len(found.labels)))
    for row, (number, cells) in zip(table, found.rows, strict=True):
        try:
            row[:] = [float(cell) for cell in cells]
        except ValueError:
            raise ValueError(f"line {number} holds what is no number") from None
    names = [_coordinate(label) for label in found.labels[1:]]
    if said in ("yes", "y", "true", "1"):
        unit = units(model)
        turning = np.array([unit.get(name) == "rad" for name in names], dtype=bool)
        table[:, 1:][:, turning] = np.radians(table[:, 1:][:, turning])
    return table[:, 0], names, table[:, 1:], notes


def write_storage(file: Path, model: Model, times: Array, q: Array) -> None:
    """A row a frame, turns in degrees: all coordinates, and joints that mimic others."""
    unit, names, columns = units(model), list(model.coordinates), [q[:, i] for i in range(model.nq)]
    for joint in model.joints:
        if joint.mimic is not None and "/" not in joint.name:  # the others are axes of OpenSim's joints
            leader, function = model.follows(joint)
            names.append(joint.name)
            columns.append(np.asarray(function(q[:, model.index(leader).start])))
    scaled = [
        np.degrees(column) if unit[name] == "rad" else column for name, column in zip(names, columns, strict=True)
    ]
    with atomic_write(file) as draft, draft.open("w", encoding="utf-8", newline="\n") as out:
        head = ["Coordinates", "version=1", f"nRows={len(q)}", f"nColumns={len(names) + 1}", "inDegrees=yes"]
        out.write("\n".join([*head, _END, "\t".join(["time", *map(_written, names)])]) + "\n")
        np.savetxt(out, np.column_stack([times, *scaled]), fmt="%.17g", delimiter="\t")


def _cells(line: str) -> list[str]:
    return line.strip("\r\n").rstrip("\t ").split("\t") if "\t" in line.strip() else line.split()


def _coordinate(label: str) -> str:
    """The coordinate of a column, whose name in states is the second last of a path."""
    parts = label.strip().split("/")
    return parts[-2] if len(parts) > 1 and parts[-1] == "value" else label.strip()


def _written(name: str) -> str:
    return name.replace("\t", " ").replace("\n", " ")
