"""What a comparison found, as a table, as JSON and as a picture."""

import os
from dataclasses import asdict, dataclass
from typing import Any, Final, final

import numpy as np

from poise.bench.problems import Problems
from poise.bench.row import Row
from poise.common import html
from poise.common.errors import NameNotFound
from poise.common.plain import plain, to_json
from poise.common.tables import aligned

DEFAULT: Final = "default"
"""What the solver's own way is called among methods."""
_SUMMARY: Final = ("label", "success", "median_time", "p95_time", "median_iterations", "broken")
_HEAD: Final = ("method", "solved", "median", "p95", "iterations", "oscillation", "limits broken")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Methods on the same problems; print it, or take its `rows`."""

    model: str
    """The name of the model."""
    tasks: tuple[str, ...]
    """Type, frame and tolerances of each task."""
    unit: str
    """Of the errors: m, rad, or both."""
    joint_unit: str
    """Of the joints' steps, and so of `Row.oscillation`: m, rad, or both."""
    problems: Problems
    """The targets and starts that all methods had."""
    seed: int
    max_restarts: int
    limits: bool
    """Whether an answer beyond a joint limit counts as not solved."""
    rows: tuple[Row, ...]
    """One a method, in the order in which they were asked for."""
    refused: dict[str, str]
    """The methods that cannot do the tasks, and why."""

    def __getitem__(self, label: str) -> Row:
        """The row of this label; raises a KeyError that suggests the nearest ones."""
        rows = {row.label: row for row in self.rows}
        if label not in rows:
            raise NameNotFound(label, rows, owner="the comparison")
        return rows[label]

    @property
    def ranking(self) -> list[Row]:
        """The rows, the most successful first, the quicker of two first."""
        return sorted(self.rows, key=lambda row: (-row.success, row.median_time))

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """What is printed, its table at most `width` letters wide; None: as wide as it is."""
        restarts = f"up to {self.max_restarts} restarts" if self.max_restarts else "no restarts"
        limits = "" if self.limits else ", joint limits ignored"
        lines = [
            f"{self.model}: {', '.join(self.tasks)}",
            f"{len(self.problems.targets)} problems, the same for all; seed {self.seed}, {restarts}{limits}",
            "",
            aligned(
                _HEAD,
                [_cells(row, self.limits, self.joint_unit) for row in self.ranking],
                numbers=_HEAD[1:],
                width=width,
            ),
        ]
        notes = self._notes()
        return "\n".join([*lines, *([""] if notes else []), *notes])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        first, second, *_ = str(self).splitlines()
        cells = [_cells(row, self.limits, self.joint_unit) for row in self.ranking]
        return html.together(
            html.paragraph(first, bold=True),
            html.table(_HEAD, cells, second),
            *(html.paragraph(note) for note in self._notes()),
        )

    def _notes(self) -> list[str]:
        """What a reader of the table must know besides."""
        notes = []
        if not self.max_restarts and any(row.label == DEFAULT for row in self.rows):
            notes.append(
                f"{DEFAULT} makes no restarts here, as none of them does; solve does, and solves more: "
                "max_restarts=200 compares so"
            )
        if self.limits and any(not row.limits for row in self.rows):
            notes.append("* cannot keep joint limits; an answer beyond them is not solved")
        for row in self.rows:
            wrong = int((row.claimed & ~row.solved & ~row.outside).sum())
            if wrong:
                notes.append(f"{row.label} said {wrong} times that it had converged when it had not")
        return notes + [f"{label} was left out: {reason}" for label, reason in self.refused.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings; times in seconds, None where there is no number."""
        return {
            "model": self.model,
            "tasks": list(self.tasks),
            "unit": self.unit,
            "joint_unit": self.joint_unit,
            "count": len(self.problems.targets),
            "seed": self.seed,
            "max_restarts": self.max_restarts,
            "limits": self.limits,
            "rows": [plain(_facts(row)) for row in self.rows],
            "refused": dict(self.refused),
        }

    def json(self) -> str:
        """`to_dict` as one line of JSON."""
        return to_json(self.to_dict())

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw success against time, and convergence, into a file: .png, .svg or .pdf.

        Raises MissingExtra without the `plots` extra, ValueError for another kind of file.
        """
        from poise.bench.plots import draw

        count = len(self.problems.targets)
        draw(path, self.rows, self.ranking, model=self.model, count=count, tasks=self.tasks, unit=self.unit)


def _cells(row: Row, limits: bool, joint_unit: str) -> tuple[str, ...]:
    """A line of the table."""
    marked = "" if row.limits or not limits else " *"
    return (
        row.label + marked,
        f"{100.0 * row.success:.1f} %",
        f"{1e6 * row.median_time:.0f} us",
        f"{1e6 * row.p95_time:.0f} us",
        "-" if np.isnan(row.median_iterations) else f"{row.median_iterations:g}",
        "-" if np.isnan(row.oscillation) else f"{row.oscillation:.2g} {joint_unit}",
        f"{100.0 * row.broken:.1f} %" if row.broken else "never",
    )


def _facts(row: Row) -> dict[str, Any]:
    iterations, errors = row.curve
    found = {name: getattr(row, name) for name in _SUMMARY}
    return found | asdict(row) | {"curve": {"iterations": iterations, "errors": errors}}
