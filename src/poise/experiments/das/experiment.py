"""The ten-link arm of Das, Slotine and Sheridan 1988, section 2.4, and what the paper says of its law.

The paper shows the arm in a field of obstacles and gives no number, so the fields, the path and the gains are fixed
here; an independent script measured the first of them.
"""

from typing import Final

from poise.experiments.base import Experiment
from poise.experiments.das.claims import Results, claims
from poise.experiments.das.fields import FIELDS, cross, methods
from poise.experiments.das.figures import draw
from poise.experiments.das.pairs import SPREADS, count
from poise.experiments.das.tables import tables
from poise.experiments.das.vehicle import BETWEEN, FAR, LIMIT, drive


def measure(quick: bool) -> Results:
    """Run everything; `quick` takes fewer starts, fewer pairs and less care over times."""
    starts, repeats, pairs = (4, 1, 60) if quick else (16, 7, 300)
    return Results(
        passages={
            name: {
                terms: cross(field, method, repeats=repeats, starts=starts) for terms, method in methods(field).items()
            }
            for name, field in FIELDS.items()
        },
        plain=drive(FAR, None),
        split=drive(FAR, LIMIT),
        middle=(drive(BETWEEN, None).arm, drive(BETWEEN, LIMIT).arm),
        counts={name: count(pairs, spread) for name, spread in SPREADS.items()},
    )


DAS: Final = Experiment(
    name="das",
    title="The Jacobian transpose law on ten links among obstacles, and on a vehicle with an arm",
    reference="das1988",
    measure=measure,
    tables=tables,
    claims=claims,
    draw=draw,
)
