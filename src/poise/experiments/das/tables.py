"""The numbers behind the verdicts, as tables."""

from typing import Final

import numpy as np

from poise.experiments.base import Table
from poise.experiments.das.claims import Results
from poise.experiments.das.fields import APART, MEASURED, UPDATES, WAYPOINTS

_OPEN: Final = "open"


def tables(results: Results) -> tuple[Table, ...]:
    """Every table."""
    return _fields(results), _vehicle(results), _iterations(results)


def _fields(results: Results) -> Table:
    return Table(
        f"Ten links through a field: {WAYPOINTS} waypoints of {UPDATES} updates",
        {
            "field": "",
            "terms": "",
            "clearance": ".4f",
            "least": ".4f",
            "most": ".4f",
            "independent": ".3f",
            "largest error": ".4f",
            "mean error": ".5f",
            "us/update": ".2f",
        },
        [
            [
                field,
                name,
                float(passage.clearances.min()),
                min(passage.least),
                max(passage.least),
                MEASURED.get(name) if field == _OPEN else None,
                float(passage.errors.max()),
                float(passage.errors.mean()),
                passage.microseconds,
            ]
            for field, row in results.passages.items()
            for name, passage in row.items()
        ],
        (
            "clearance: from the nearest joint to the nearest obstacle over all waypoints [links]",
            "joints at waypoints count, links do not: on the way to the first waypoint of the open field the "
            "repelled arm sweeps over an obstacle",
            f"least and most: of starts at most {APART:.0e} rad from the first; the printed sign draws the arm towards "
            "the obstacles, and rounding decides how near it comes",
            "beta is 1 but where the rule is named; every start, path and number is ours, for the paper has none",
        ),
    )


def _vehicle(results: Results) -> Table:
    return Table(
        "An arm on a vehicle, the first update towards a far target",
        {"S": "", "vehicle [% of its way]": ".1f", "arm [rad]": ".3f", "error in the end": ".1e"},
        [
            [name, 100.0 * drive.vehicle, drive.arm, drive.error]
            for name, drive in (("1", results.plain), ("appendix B", results.split))
        ],
    )


def _iterations(results: Results) -> Table:
    return Table(
        "Iterations from random starts to random goals, ten links, to 1e-3",
        {"poses": "", "method": "", "median": ".0f", "mean": ".1f", "worst": ".0f", "failed": "d"},
        [
            [
                spread,
                name,
                float(np.median(count.iterations)),
                float(count.iterations.mean()),
                float(count.iterations.max()),
                count.failed,
            ]
            for spread, counts in results.counts.items()
            for name, count in counts.items()
        ],
    )
