"""TRAC-IK's table: arms with limits, poses that they reach, one start in the middle of the limits, 5 ms a pose.

Beeson and Ames 2015; the numbers are those of the table in TRAC-IK's README at v1.4.6, or, of a UR5 and a UR10, which
it has no more, at v1.1.0.  The machine is not stated.  Of its chains those are here whose robots come with poise or its
extra `robots`, and a Fetch where jrl is installed, in whose wheel it is.
"""

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeAlias

from poise import Model, ModelWarning, load
from poise_experiments.base import Claim, Experiment, Table, judge
from poise_experiments.racing import Race, middle, race, racing_figure, racing_table
from poise_experiments.torm.problem import robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BUDGET: Final = 5e-3
"""Seconds a pose."""
NEAR: Final = 1e-5
"""What an error of the place may be [m], and one of the rotation [rad]; TRAC-IK's holds for each axis."""
_SOURCE = "TRAC-IK, README"

FETCH: Final = "fetch"
CHAINS: Final = {
    "Baxter": ("baxter", "torso", "left_gripper", 0.9962, 430.0),
    "Jaco2": ("kinova", "j2s6s200_link_base", "j2s6s200_end_effector", 0.9978, 410.0),
    "iiwa 14": ("iiwa14", "", "", 0.9984, 310.0),
    "Panda": ("panda", "", "", 0.9970, 380.0),
    "PR2": ("pr2", "torso_lift_link", "r_wrist_roll_link", 0.9995, 380.0),
    "Fetch": (FETCH, "torso_lift_link", "wrist_roll_link", 0.9999, 260.0),
    "UR5": ("ur5", "base_link", "ee_link", 0.9962, 390.0),
    "UR10": ("ur10", "base_link", "ee_link", 0.9979, 410.0),
}
"""Robot, first and last link of the chain ("": of the whole robot), what TRAC-IK reached of it, and in which mean
[us]."""
PUBLISHED: Final = {name: (reached, mean) for name, (*_, reached, mean) in CHAINS.items()}

Results: TypeAlias = tuple[dict[str, Race], dict[str, Race]]
"""With the first solution that is found, as TRAC-IK's was, and with the nearest to the start."""


def chain(name: str) -> tuple[Model, str]:
    """The chain of this name, and the frame at its end; raises ModelError where its robot is not installed."""
    name, first, last, *_ = CHAINS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # of grippers, which no chain has
        model = robot(name) if name == FETCH else load(name)
    return (model.chain(first, last), last) if first else (model, model.tip)


def measure(quick: bool) -> Results:
    """Every chain, with both preferences."""
    first: dict[str, Race] = {}
    nearest: dict[str, Race] = {}
    for name in CHAINS:
        if CHAINS[name][0] == FETCH and find_spec("jrl") is None:
            continue
        model, frame = chain(name)
        targets = model.sample(200 if quick else 10_000, seed=0)
        for found, select in ((first, "first"), (nearest, "nearest")):
            found[name] = race(model, frame, middle(model), targets, place=NEAR, turn=NEAR, select=select)
    return first, nearest


def tables(results: Results) -> tuple[Table, ...]:
    """Both tables."""
    notes = (
        "published: TRAC-IK, of 10,000 poses in at most 5 ms, the mean of all runs where it is given, else of those "
        "that succeeded; its machine is not stated, and its robots may have had other limits",
    )
    titles = "the first solution that is found", "the nearest to the start, of those that are found"
    return tuple(racing_table(title, races, PUBLISHED, notes) for title, races in zip(titles, results, strict=True))


def claims(results: Results) -> tuple[Claim, ...]:
    """What the table says of each chain."""
    return tuple(
        Claim(
            f"{reached:.2%} of the poses of {name} are reached within 5 ms",
            _SOURCE,
            f"{races.within(BUDGET):.2%} are, {races.reached.mean():.2%} in all; the mean is "
            f"{1e6 * races.seconds.mean():.1f} us in place of {mean:.0f}; {races.outside.sum()} answers are out of "
            "limits",
            judge(races.within(BUDGET) >= reached and not races.outside.any()),
        )
        for name, races in results[0].items()
        for reached, mean in [PUBLISHED[name]]
    )


def figures(results: Results) -> dict[str, "Figure"]:
    """Success over time."""
    first = results[0]
    published = {name: PUBLISHED[name] for name in first}
    return {"trac-ik": racing_figure("Poses of arms with limits, from the middle of these", first, published)}


TRAC_IK: Final = Experiment(
    name="trac-ik",
    title="TRAC-IK's table: poses of arms with limits, and the time to reach them",
    reference="beeson2015",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)
