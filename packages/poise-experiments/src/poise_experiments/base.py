"""What an experiment is, and what it reports: the published claims, our numbers, and a verdict on each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, final

from poise_experiments.drawing import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Results = TypeVar("Results")
Cell: TypeAlias = str | float | int | None
Verdict = Literal["reproduced", "differs", "undecided", "not stated"]
"""What our numbers say of a claim; "undecided" where they change with the last digits of the start, "not stated" for a
number that the paper does not give."""


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of the paper, or of the program released with it, beside our numbers."""

    claim: str
    source: str
    """Where it stands, such as "Buss 2004, section 8"."""
    ours: str
    """The numbers on which the verdict stands."""
    verdict: Verdict


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Numbers for people; `columns` are the headings with the format of their numbers."""

    title: str
    columns: Mapping[str, str]
    rows: Sequence[Sequence[Cell]]
    notes: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Report:
    """All that an experiment found."""

    name: str
    title: str
    reference: str
    """Key in `references.bib`."""
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    draw: Callable[[Path], list[Path]]
    """Draws the figures into a folder and returns their files; raises MissingExtra without matplotlib."""

    def facts(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "name": self.name,
            "title": self.title,
            "reference": self.reference,
            "claims": [asdict(claim) for claim in self.claims],
            "tables": [asdict(table) | {"columns": list(table.columns)} for table in self.tables],
        }


@final
@dataclass(frozen=True, slots=True)
class Experiment(Generic[Results]):
    """A published experiment that poise repeats: what it measures, and what it makes of the results."""

    name: str
    """The short name, as in `poise reproduce NAME`."""
    title: str
    reference: str
    """Key in `references.bib`."""
    measure: Callable[[bool], Results]
    """Runs everything; True repeats less, for a quick look."""
    tables: Callable[[Results], tuple[Table, ...]]
    claims: Callable[[Results], tuple[Claim, ...]]
    """Holds the claims against the numbers."""
    figures: Callable[[Results], Mapping[str, "Figure"]]
    """Draws the figures, by their names."""

    def run(self, quick: bool) -> Report:
        """Measure and judge."""
        results = self.measure(quick)
        return Report(
            self.name, self.title, self.reference, self.tables(results), self.claims(results),
            draw=partial(save, make=partial(self.figures, results)),
        )  # fmt: skip


def columns(text: str) -> dict[str, str]:
    """Headings with the formats of their numbers, from such a text as "method | error:.3f | failed:d"."""
    parts = (heading.rpartition(":") for heading in text.split(" | "))
    return {name or last: last if name else "" for name, _, last in parts}


def judge(holds: bool) -> Verdict:
    """The verdict on a claim that holds, or does not."""
    return "reproduced" if holds else "differs"


def judge_spread(numbers: Sequence[float], low: float, high: float) -> Verdict:
    """The verdict on the claim that a number is in [low, high], from several runs that should agree."""
    inside = [low <= number <= high for number in numbers]
    return "reproduced" if all(inside) else "undecided" if any(inside) else "differs"
