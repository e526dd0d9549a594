"""Tables and the JSON file."""

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers import version
from race import Record
from rich import box
from rich.console import Console
from rich.table import Table as Grid


@dataclass(frozen=True)
class Row:
    """One library in one table; times in microseconds."""

    name: str
    version: str
    solved: float
    """Percent."""
    outside: int
    missed: int
    median: float
    mean: float
    p99: float
    ratio: float | None
    """Its median over poise's."""


@dataclass(frozen=True)
class Table:
    """One set of problems, from one process."""

    title: str
    rows: tuple[Row, ...]


def table(title: str, records: Mapping[str, Record]) -> Table:
    """The rows of a race, poise's first, then by median."""
    medians = {name: float(np.median(record.seconds)) for name, record in records.items()}
    rows = []
    for name in sorted(records, key=lambda name: (not name.startswith("poise"), medians[name])):
        record, micro = records[name], np.array(records[name].seconds) * 1e6
        ratio = medians[name] / medians["poise"] if "poise" in medians else None
        rows.append(
            Row(
                name,
                version(name),
                100.0 * record.solved / len(micro),
                record.outside,
                record.missed,
                float(np.median(micro)),
                float(np.mean(micro)),
                float(np.quantile(micro, 0.99)),
                ratio,
            )
        )
    return Table(title, tuple(rows))


def show(result: Table) -> None:
    """Print it as Markdown."""
    print(f"\n{result.title}\n")
    print("| library | version | solved % | outside | missed | median us | mean us | p99 us | x poise |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for row in result.rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        print(
            f"| {row.name} | {row.version} | {row.solved:.2f} | {row.outside} | {row.missed} "
            f"| {row.median:.1f} | {row.mean:.1f} | {row.p99:.1f} | {ratio} |"
        )
    sys.stdout.flush()


def print_table(words: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of cells as Markdown, those under `numbers` to the right."""
    cells = Grid(box=box.MARKDOWN)
    for word in words:
        cells.add_column(word)
    for number in numbers:
        cells.add_column(number, justify="right")
    for row in rows:
        cells.add_row(*row)
    Console(width=200).print(cells)


def machine() -> dict[str, str]:
    """Where this ran."""
    return {"cpu": cpu(), "system": platform.platform(), "python": platform.python_version(), "numpy": np.__version__}


def cpu() -> str:
    """The processor's name, if the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def as_json(tables: list[Table], startup: Mapping[str, float]) -> dict[str, Any]:
    """Everything measured, ready for `json.dump`."""
    return {"machine": machine(), "tables": [asdict(result) for result in tables], "startup": dict(startup)}


def from_json(measured: Mapping[str, Any]) -> list[Table]:
    """The tables of `as_json`."""
    return [Table(result["title"], tuple(Row(**row) for row in result["rows"])) for result in measured["tables"]]
