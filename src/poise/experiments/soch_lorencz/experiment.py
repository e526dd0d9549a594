"""The ellipse of Soch and Lorencz 2005: the pairwise extended Jacobian and the pseudoinverse from a singular start."""

from typing import Final

from poise.experiments.base import Experiment
from poise.experiments.soch_lorencz.claims import Results, claims
from poise.experiments.soch_lorencz.ellipse import ROWS, STEPS, by_rows, follow, methods, pairwise
from poise.experiments.soch_lorencz.figures import draw
from poise.experiments.soch_lorencz.matrix import condition, limit, rank_of_pairs, ranks
from poise.experiments.soch_lorencz.tables import tables

SWEEP: Final = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
_LENGTH: Final = 100.0
"""Of the turns, in the form with twists [points]."""


def measure(quick: bool) -> Results:
    """Run everything; `quick` takes the ends and the middle of the sweep."""
    sweep = (1.0, 0.1, 0.01, 1e-4) if quick else SWEEP
    return Results(
        runs={
            steps: {ROWS: by_rows(steps)} | {name: follow(method, steps) for name, method in methods().items()}
            for steps in STEPS
        },
        sweep={weight: follow(pairwise(weight), 100) for weight in sweep},
        limits={weight: limit(weight) for weight in sweep},
        conditions={weight: condition(weight) for weight in sweep},
        ranks=ranks(),
        rank_of_pairs=rank_of_pairs(),
        twists={weight: follow(pairwise(weight, _LENGTH), 100) for weight in sweep},
    )


SOCH_LORENCZ: Final = Experiment(
    name="soch-lorencz",
    title="The pairwise extended Jacobian against the pseudoinverse on an ellipse, from a singular start",
    reference="soch2005",
    measure=measure,
    tables=tables,
    claims=claims,
    draw=draw,
)
