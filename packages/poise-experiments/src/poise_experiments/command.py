"""`poise reproduce`: published experiments, repeated."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tyro.conf import Positional

from poise.extending import Answer, Writes, command

if TYPE_CHECKING:
    from poise_experiments.base import Cell, Report, Table


@command
class Reproduce(Writes):
    """Repeat a published experiment: its claims, our numbers, a verdict on each; without a name, list the experiments.

    The report and its figures go into ./poise-NAME, or into the folder given by --out.
    """

    name: Positional[str] = ""
    """The experiment, such as buss."""
    out: Path | None = None
    """Folder for report.json and the figures."""
    figures: bool = True
    """Figures beside the report; they need matplotlib, and --no-figures leaves them out."""
    quick: bool = False
    """Repeat less: fewer starts and jumps, and times from a single run."""

    def run(self) -> Answer:
        """Run and write."""
        from poise import MissingExtra
        from poise.extending import busy, folder_for_work, print_table, refuse_file, to_json, write_whole
        from poise_experiments.registry import EXPERIMENTS, experiment_of

        if not self.name:
            known = {name: experiment.title for name, experiment in EXPERIMENTS.items()}
            return Answer(
                facts={"experiments": known},
                show=lambda: print_table(["experiment", "title"], list(known.items())),
                explanation="Each of these experiments is repeated by `poise reproduce NAME`.",
            )
        experiment = experiment_of(self.name)
        folder = self.out or Path(f"poise-{experiment.name}")
        with folder_for_work(folder):
            for file in (folder / "report.json", *folder.glob("*.png")):
                refuse_file(file, (), "", force=self.force)
            with busy(experiment.name):
                report = experiment.run(self.quick)
        facts = report.facts()
        written = [folder / "report.json"]
        write_whole(written[0], to_json(facts, indent=1) + "\n")
        if self.figures:
            try:
                written += report.draw(folder)
            except MissingExtra as error:
                print("warning:", error, file=sys.stderr)
        line = f"written to {folder}: {', '.join(path.name for path in written)}"
        same = sum(claim.verdict == "reproduced" for claim in report.claims)
        return Answer(
            facts=facts,
            show=lambda: _print(report, line),
            explanation=f"{report.title} was repeated, and {same} of its {len(report.claims)} claims were reproduced; "
            f"a claim has what the paper says, what was found here, and the verdict. {line}.",
        )


def _print(report: "Report", written: str) -> None:
    from poise.extending import print_table, say

    say(f"{report.title} ({report.reference})", style="bold")
    for numbers in report.tables:
        say(f"\n{numbers.title}", style="bold")
        print_table(
            list(numbers.columns), cells(numbers), numbers=[name for name, form in numbers.columns.items() if form]
        )
        for note in numbers.notes:
            say(f"  {note}", indent="  ", style="dim")
    say("\nClaims", style="bold")
    colours = {"reproduced": "green", "differs": "red"}
    for claim in report.claims:
        say("")
        say(f"{claim.verdict}: {claim.claim}", style=colours.get(claim.verdict, "yellow"))
        say(f"  ours: {claim.ours}", indent="  ")
        say(f"  source: {claim.source}", indent="  ", style="dim")
    say("")
    say(written)


def cells(numbers: "Table") -> list[list[str]]:
    """The rows of a table as text."""
    forms = numbers.columns.values()
    return [[_text(cell, form) for cell, form in zip(row, forms, strict=True)] for row in numbers.rows]


def _text(cell: "Cell", form: str) -> str:
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else format(cell, form)
