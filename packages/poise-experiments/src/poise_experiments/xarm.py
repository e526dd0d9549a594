"""dimos' table: poses of an xArm7 none of whose links is in another, to 1 mm and 0.01 rad.

The report of dimos' pull request 3334 (August 2026): 200 poses that the arm reaches, at most ten attempts each, on a
machine of 16 cores, by pink and by RoboPlan's OInK.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import numpy as np

from poise import CollisionLimit, load
from poise_experiments.base import Claim, Experiment, Table, judge
from poise_experiments.racing import Race, middle, race, racing_figure, racing_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACE, TURN = 1e-3, 1e-2
"""Tolerances [m], [rad]."""
CLEARANCE: Final = 1e-3
"""How far from one another links are at least [m]."""
PUBLISHED: Final = {"pink": (0.99, 38.9e3), "OInK": (0.97, 16.4e3)}
"""What was reached, and in which mean [us]."""
_SOURCE = "dimos, pull request 3334"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """The race, and in how many of its answers a link is in another."""

    race: Race
    touching: int


def measure(quick: bool) -> Results:
    """Poses of configurations that are free, from the middle of the limits."""
    arm = load("xarm7")
    q = arm.sample(300 if quick else 11_000, seed=0)
    free = q[np.asarray(arm.distance(q).distance) >= CLEARANCE][: 200 if quick else 10_000]
    collision = CollisionLimit(min_distance=CLEARANCE)
    found = race(arm, arm.tip, middle(arm), free, place=PLACE, turn=TURN, select="first", limits=[collision])
    return Results(found, int(np.sum(arm.in_collision(found.q))))


def tables(results: Results) -> tuple[Table, ...]:
    """The table."""
    notes = (
        "published: of 200 poses, with at most ten attempts; 16 cores",
        "here of 10,000, by hulls around the links' meshes",
    )
    return (racing_table("xArm7, no link in another", dict.fromkeys(PUBLISHED, results.race), PUBLISHED, notes),)


def claims(results: Results) -> tuple[Claim, ...]:
    """What the report says."""
    one = results.race
    return tuple(
        Claim(
            f"{name} reaches {reached:.1%} of the poses of an xArm7, in {1e-3 * mean:.1f} ms in the mean",
            _SOURCE,
            f"{one.reached.mean():.2%} of {len(one.reached):,} in {1e3 * one.seconds.mean():.3f} ms; "
            f"{results.touching} answers have a link in another, {one.outside.sum()} are out of limits",
            judge(one.reached.mean() >= reached and not results.touching),
        )
        for name, (reached, mean) in PUBLISHED.items()
    )


def figures(results: Results) -> dict[str, "Figure"]:
    """Success over time."""
    return {"xarm": racing_figure("Poses of an xArm7, no link in another", {"poise": results.race}, PUBLISHED)}


XARM: Final = Experiment(
    name="xarm",
    title="dimos' table: poses of an xArm7, none of whose links is in another",
    reference="dimos2026",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)
