"""Random arms of six joints: how often one start is enough, and whether all poses are reached.

An issue of pink (59, Kuelz 2023) tells of arms that nobody designed, poses that they reach, and random starts: about
half of the poses were reached by pink's steps, about 90 % by damped least squares.  How its arms were drawn is not
said; here each row of a Denavit-Hartenberg table is drawn uniformly, lengths and offsets up to 0.5 m either way, any
twist.
"""

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from poise import DH, Model, from_dh
from poise_experiments.base import Claim, Experiment, Table, columns, judge
from poise_experiments.racing import Race, race, racing_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JOINTS, POSES = 6, 5
"""Of an arm."""
LONGEST: Final = 0.5
"""[m]"""
NEAR: Final = 1e-6
"""What an error of the place may be [m], and one of the rotation [rad]."""
WAYS: Final[dict[str, dict[str, object]]] = {
    "dls, one start": {"method": "dls", "max_restarts": 0},
    "poise, one start": {"max_restarts": 0},
    "poise": {},
}
"""Options of a Solver."""
_SOURCE = "pink, issue 59"


def arm(random: np.random.Generator) -> Model:
    """An arm that nobody designed."""
    rows = zip(
        random.uniform(-LONGEST, LONGEST, JOINTS),
        random.uniform(-math.pi, math.pi, JOINTS),
        random.uniform(-LONGEST, LONGEST, JOINTS),
        strict=True,
    )
    return from_dh([DH(a=a, alpha=alpha, d=d) for a, alpha, d in rows], name="random")


def measure(quick: bool) -> dict[str, Race]:
    """Each way on the same arms, poses and starts."""
    random, found = np.random.default_rng(0), {name: list[Race]() for name in WAYS}
    for _ in range(20 if quick else 400):
        model, made = arm(random), random.uniform(-math.pi, math.pi, (POSES + 1, JOINTS))
        for name, options in WAYS.items():
            found[name].append(race(model, model.tip, made[0], made[1:], place=NEAR, turn=NEAR, **options))
    return {name: Race.joined(races) for name, races in found.items()}


def tables(results: dict[str, Race]) -> tuple[Table, ...]:
    """The table."""
    return (
        Table(
            f"{len(results['poise'].reached):,} poses, {POSES} of an arm",
            columns("way | reached:.1% | median [us]:.1f | 99 % [us]:.1f"),
            [
                [
                    name,
                    float(one.reached.mean()),
                    *(1e6 * float(np.quantile(one.seconds, share)) for share in (0.5, 0.99)),
                ]
                for name, one in results.items()
            ],
        ),
    )


def claims(results: dict[str, Race]) -> tuple[Claim, ...]:
    """What the issue tells of."""
    one, alone, every = (float(races.reached.mean()) for races in results.values())
    return (
        Claim(
            "from one start damped least squares reaches about 90 % of the poses",
            _SOURCE,
            f"{one:.1%}; poise's own descent from one start {alone:.1%}",
            judge(0.8 <= one <= 0.97),
        ),
        Claim(
            "poses that can be reached are not reached, about half of them by pink",
            _SOURCE,
            f"poise reaches {every:.2%} of {len(results['poise'].reached):,}",
            judge(every < 1.0),
        ),
    )


def figures(results: dict[str, Race]) -> dict[str, "Figure"]:
    """Success over time."""
    return {"random-arms": racing_figure("Poses of random arms of six joints, to 1e-6", results, {})}


RANDOM_ARMS: Final = Experiment(
    name="random-arms",
    title="Random arms of six joints: one start, and all that are needed",
    reference="kuelz2023",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)
