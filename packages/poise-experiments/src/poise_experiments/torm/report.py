"""The paths of TORM and CppFlow: the time to a valid path, its length, its largest step (Morgan et al. 2024)."""

from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from poise.extending import drawing
from poise_experiments.base import Cell, Claim, Experiment, Table, columns, judge
from poise_experiments.drawing import over_decades, with_axes
from poise_experiments.torm.problem import PLACE, STEP, Judged, judged, names, problem_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WAYS: Final = {"first": False, "shortest": True}
"""Whether the path is optimised."""
_SOURCE = "Morgan, Millard and Sukhatme 2024"

Results: TypeAlias = dict[str, dict[str, tuple[Judged, float, int]]]
"""Of each problem each way: the path, the seconds that it took, the median of several, and its waypoints."""


def measure(quick: bool) -> Results:
    """All problems, each way."""
    found: Results = {}
    for name in names():
        problem, found[name] = problem_of(name), {}
        for way, optimise in WAYS.items():
            path = problem.solve(optimise=optimise)  # what is loaded or compiled is no part of a call
            spent = []
            for _ in range(1 if quick else 5):
                began = perf_counter()
                path = problem.solve(optimise=optimise)
                spent.append(perf_counter() - began)
            found[name][way] = judged(problem, path), float(np.median(spent)), len(path)
    return found


def tables(results: Results) -> tuple[Table, ...]:
    """The table of each way."""
    out = []
    for way, title in (("first", "The first path that is valid"), ("shortest", "The path made as short as can be")):
        rows: list[list[Cell]] = []
        for name, found in results.items():
            one, seconds, waypoints = found[way]
            turn, clear = float(np.rad2deg(one.turn)), 1e3 * one.clearance
            rows.append([name, waypoints, "yes" if one.valid else "no", 1e3 * seconds, one.length, turn, clear])
        out.append(
            Table(
                title,
                columns(
                    "path | waypoints:d | valid | time [ms]:.1f | length [rad, m]:.2f | largest step [deg]:.2f | "
                    "clearance [mm]:.1f"
                ),
                rows,
                (
                    f"valid: all poses to {1e3 * PLACE:g} mm and 0.1 deg, no step of more than "
                    f"{np.rad2deg(STEP):g} deg or 2 cm, and no capsule of a link in another or in a box",
                ),
            )
        )
    return tuple(out)


def claims(results: Results) -> tuple[Claim, ...]:
    """What the paper says."""
    first = [found["first"] for found in results.values()]
    every = [found[way] for found in results.values() for way in found]
    longest, shortest = max(each[1] for each in first), min(each[1] for each in first)
    less = [found["shortest"][0].length / found["first"][0].length for found in results.values()]
    return (
        Claim(
            "on every path a valid trajectory is found",
            _SOURCE,
            f"{sum(each[0].valid for each in every)} of {len(every)}: {len(first)} first ones, {len(first)} shortest",
            judge(all(each[0].valid for each in every)),
        ),
        Claim(
            "a valid trajectory is found up to 129 times as fast as by others",
            f"{_SOURCE}, abstract; its times are not at hand",
            f"the first takes {1e3 * shortest:.0f} to {1e3 * longest:.0f} ms, the median is "
            f"{1e3 * float(np.median([each[1] for each in first])):.0f} ms",
            "not stated",
        ),
        Claim(
            "with more time trajectories become shorter",
            _SOURCE,
            f"the shortest have {min(less):.0%} to {max(less):.0%} of the length of the first, {np.median(less):.0%} "
            "in the median",
            judge(float(np.median(less)) < 1.0),
        ),
    )


def figures(results: Results) -> dict[str, "Figure"]:
    """Length over time, of each path from the first to the shortest."""
    figure, (axis,) = with_axes("Paths of TORM and CppFlow: from the first to the shortest", 1, 1, (8.0, 5.0))
    robots = list(dict.fromkeys(name.partition("__")[0] for name in results))
    for robot, look in zip(robots, ("o-", "s--", "^:"), strict=False):
        own = [name for name in results if name.partition("__")[0] == robot]
        for name, colour in zip(own, drawing.COLOURS, strict=False):
            found = [results[name][way] for way in WAYS]
            seconds, lengths = [1e3 * each[1] for each in found], [each[0].length for each in found]
            axis.plot(seconds, lengths, look, color=colour, markersize=4, label=name.replace("__", ": "))
    axis.set(xlabel="time of a call [ms]", ylabel="length in the joints [rad, m]", ylim=(0.0, None))
    over_decades(axis)
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    return {"torm": figure}


TORM: Final = Experiment(
    name="torm",
    title="The paths of TORM and CppFlow: the first valid one, and the shortest",
    reference="morgan2024",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)
