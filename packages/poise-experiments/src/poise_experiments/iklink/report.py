"""IKLink's trajectory, followed with as few reconfigurations as can be (Wang, Sifferman and Gleicher 2024)."""

from typing import TYPE_CHECKING, Final

import numpy as np

from poise import PoseTask, Status, solve_path
from poise_experiments.base import Cell, Claim, Experiment, Table, columns, judge
from poise_experiments.iklink.problem import DT, PLACE, TURN, Followed, follow, panda, trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED: Final = 2
"""Reconfigurations that IKLink's program finds."""
SEEDS: Final = 5
_SOURCE = "IKLink, README"
WAYS: Final = {"the first that is found": False, "made as short as can be": True}
"""Whether the path is optimised."""

Results = dict[str, list[Followed]]
"""Of each way a path a seed."""


def measure(quick: bool) -> Results:
    """The trajectory from several seeds, each way."""
    few = trajectory()[:3]
    solve_path(panda(), PoseTask("panda_hand"), few, dt=DT)  # what is loaded or compiled is no part of a path
    return {
        name: [follow(optimise=optimise, seed=seed) for seed in range(1 if quick else SEEDS)]
        for name, optimise in WAYS.items()
    }


def tables(results: Results) -> tuple[Table, ...]:
    """The table."""
    rows: list[list[Cell]] = [
        [
            name,
            len(found),
            sum(each.met for each in found),
            max(each.fast for each in found),
            float(np.median([each.length for each in found])),
            float(np.median([each.path.time for each in found])),
        ]
        for name, found in results.items()
    ]
    return (
        Table(
            f"{len(trajectory().xyz)} poses of a Panda's hand, 30 a second",
            columns("path | seeds:d | all met:d | reconfigurations:d | length [rad]:.1f | time [s]:.2f"),
            rows,
            (
                f"met: within {1e3 * PLACE:g} mm and {TURN:g} rad; a reconfiguration is a step that no joint has the "
                "time for, by its limit of speed; the most of all seeds",
                f"published: {PUBLISHED} reconfigurations; its length and its time are not stated",
                "length and time: medians; the length is without reconfigurations",
            ),
        ),
    )


def claims(results: Results) -> tuple[Claim, ...]:
    """What the program released with the paper finds."""
    every = [each for found in results.values() for each in found]
    counts = sorted({each.fast for each in every})
    whole = all(each.met and each.path.success for each in every)
    one = follow_at_once()
    return (
        Claim(
            f"the least number of reconfigurations that is found is {PUBLISHED}",
            _SOURCE,
            f"{' or '.join(map(str, counts))}, before waypoint {', '.join(map(str, every[-1].path.reconfigurations))}",
            judge(whole and max(counts) <= PUBLISHED),
        ),
        Claim(
            "the trajectory cannot be followed in one piece",
            _SOURCE,
            f"without reconfigurations: {one.name}",
            judge(one is not Status.CONVERGED),
        ),
    )


def follow_at_once() -> Status:
    """How it comes out where the arm may not leave the path."""
    task = PoseTask("panda_hand", position_tolerance=PLACE, rotation_tolerance=TURN)
    return solve_path(panda(), task, trajectory(), optimise=False).status


def figures(results: Results) -> dict[str, "Figure"]:
    """The joints along the path."""
    return {"iklink": next(reversed(results.values()))[0].path.figure()}


IKLINK: Final = Experiment(
    name="iklink",
    title="IKLink's trajectory: as few reconfigurations as can be",
    reference="wang2024",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)
