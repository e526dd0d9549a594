"""The numbers behind the verdicts, as tables."""

import math

from poise.experiments.base import Cell, Table
from poise.experiments.soch_lorencz.claims import Results
from poise.experiments.soch_lorencz.ellipse import Run


def tables(results: Results) -> tuple[Table, ...]:
    """Every table."""
    return (_runs(results), _weights(results), _ranks(results))


def _runs(results: Results) -> Table:
    rows: list[list[Cell]] = [
        [steps, name, *_numbers(run)] for steps, runs in results.runs.items() for name, run in runs.items()
    ]
    return Table(
        "One revolution on the ellipse from q = 0, counter-clockwise, one update a place of the target",
        {"steps": "d", "method": ""} | _COLUMNS,
        rows,
        ("error: distance of the effector from its target after the update [points]", _LEAP, "empty: no finite number"),
    )


def _weights(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for form, runs in (("printed", results.sweep), ("twists", results.twists)):
        for weight, run in runs.items():
            near = results.limits[weight] if form == "printed" else (None, None)
            condition = results.conditions[weight] if form == "printed" else None
            rows.append([form, weight, *_numbers(run), condition, *near])
    return Table(
        "The weight of the pairs, 100 steps",
        {"form": "", "w": "g"}
        | _COLUMNS
        | {"cond(A^T A) at q = 0": ".1e", "from the weighted inverse": ".1e", "from the plain": ".3f"},
        rows,
        (
            "the last two: distance of one step at a bent pose from those of the pseudoinverse weighted by P^T P and "
            "of the plain one [rad]",
            "twists: the library's form, with the turns of the pairs times 100 points",
        ),
    )


def _ranks(results: Results) -> Table:
    return Table(
        "The rank of the extended Jacobian as printed, w = 1",
        {"pose": "", "n": "d", "rank": "d", "n-th singular value": ".3g"},
        [[name, n, rank, value] for name, (value, rank, n) in results.ranks.items()],
    )


_COLUMNS = {
    "error 1": ".3g",
    "error 2": ".4g",
    "error 3": ".4g",
    "leap [rad]": ".2g",
    "mean error": ".3g",
    "largest": ".3g",
}
_LEAP = "leap: largest change of a joint in the second update"


def _numbers(run: Run) -> list[Cell]:
    values = [*run.errors[:3].tolist(), run.leap, float(run.errors.mean()), float(run.errors.max())]
    return [value if math.isfinite(value) else None for value in values]
