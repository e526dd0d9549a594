"""A map as a file: a Parquet table of all voxels, a PLY of the reached ones."""

import os
from typing import TYPE_CHECKING

import numpy as np

from poise.common.array import Array
from poise.common.files import atomic_write, write_whole
from poise.common.lazy import optional
from poise.common.plain import to_json
from poise.reachability.colours import coloured

if TYPE_CHECKING:
    from poise.reachability.map import ReachMap


def measure(found: "ReachMap") -> tuple[str, Array]:
    """The name and the (n,) values, from 0 to 1, by which the voxels are coloured."""
    if found.orientations is not None:
        return "share", found.share
    return "manipulability", found.manipulability / np.nanmax(found.manipulability, initial=1e-300)


def write_parquet(found: "ReachMap", path: str | os.PathLike[str]) -> None:
    """See `ReachMap.to_parquet`."""
    pyarrow = optional("writing Parquet", "pyarrow", "data", "pyarrow", "pyarrow.parquet")
    turns = found.orientations
    facts = found.facts() | {"orientations_wxyz": None if turns is None else turns.wxyz}
    columns = dict(zip("xyz", found.points.T, strict=True)) | {
        "count": found.counts,
        "proved": found.proved.sum(1),
        "share": found.share,
        "manipulability": found.manipulability,
        "mean_manipulability": found.mean_manipulability,
    }
    columns |= {f"q.{name}": column for name, column in zip(found.model.coordinates, found.q.T, strict=True)}
    table = pyarrow.table({name: np.ascontiguousarray(column) for name, column in columns.items()})
    with atomic_write(path) as draft:
        pyarrow.parquet.write_table(table.replace_schema_metadata({"poise": to_json(facts)}), os.fspath(draft))


def write_ply(found: "ReachMap", path: str | os.PathLike[str]) -> None:
    """See `ReachMap.to_ply`."""
    some = found.counts > 0
    kinds = [(name, "<f4") for name in ("x", "y", "z")]
    kinds += [(name, "u1") for name in ("red", "green", "blue")]
    kinds += [(name, "<f4") for name in ("share", "manipulability")]
    rows = np.zeros(int(some.sum()), dtype=kinds)
    for i, name in enumerate("xyz"):
        rows[name] = found.points[some, i]
    for name, column in zip(("red", "green", "blue"), coloured(measure(found)[1][some]).T, strict=True):
        rows[name] = column
    rows["share"], rows["manipulability"] = found.share[some], found.manipulability[some]
    words = {"<f4": "float", "u1": "uchar"}
    head = [
        "ply",
        "format binary_little_endian 1.0",
        f"comment reach of {found.frame} of {found.model.name}, voxels of {found.grid:g} m; metres".replace("\n", " "),
        f"element vertex {len(rows)}",
        *(f"property {words[kind]} {name}" for name, kind in kinds),
        "end_header\n",
    ]
    write_whole(path, "\n".join(head).encode("ascii", "replace") + rows.tobytes())
