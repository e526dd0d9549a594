"""A map as a file: a Parquet table of all voxels, a PLY of the reached ones."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.files import atomic_write, write_whole
from poise.common.lazy import optional
from poise.common.plain import to_json
from poise.reachability.colours import coloured


def write_parquet(path: str | os.PathLike[str], columns: Mapping[str, npt.NDArray[Any]], facts: dict[str, Any]) -> None:
    """Write these columns, and the facts as JSON in the metadata; see `ReachMap.to_parquet`."""
    pyarrow = optional("writing Parquet", "pyarrow", "data", "pyarrow", "pyarrow.parquet")
    table = pyarrow.table({name: np.ascontiguousarray(column) for name, column in columns.items()})
    with atomic_write(path) as draft:
        pyarrow.parquet.write_table(table.replace_schema_metadata({"poise": to_json(facts)}), os.fspath(draft))


def write_ply(path: str | os.PathLike[str], what: str, points: Array, shade: Array, share: Array, best: Array) -> None:
    """Write points (n, 3) that are coloured by `shade` (n,), from 0 to 1; see `ReachMap.to_ply`."""
    kinds = [(name, "<f4") for name in ("x", "y", "z")]
    kinds += [(name, "u1") for name in ("red", "green", "blue")]
    kinds += [(name, "<f4") for name in ("share", "manipulability")]
    rows = np.zeros(len(points), dtype=kinds)
    for i, name in enumerate("xyz"):
        rows[name] = points[:, i]
    for name, column in zip(("red", "green", "blue"), coloured(shade).T, strict=True):
        rows[name] = column
    rows["share"], rows["manipulability"] = share, best
    words = {"<f4": "float", "u1": "uchar"}
    head = [
        "ply",
        "format binary_little_endian 1.0",
        f"comment {what}; metres".replace("\n", " "),
        f"element vertex {len(rows)}",
        *(f"property {words[kind]} {name}" for name, kind in kinds),
        "end_header\n",
    ]
    write_whole(path, "\n".join(head).encode("ascii", "replace") + rows.tobytes())
