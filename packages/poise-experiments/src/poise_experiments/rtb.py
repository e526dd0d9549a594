"""The page "Benchmark IK" of the Robotics Toolbox: a thousand poses of a Panda, by five methods, from random starts.

The page (petercorke/robotics-toolbox-python, wiki, September 2026) has the times of an Apple M1, which are not at hand.
Those here are of Robotics Toolbox 1.5.0 where poise's were measured, by its compiled solvers, with the settings of its
notebook `ik_benchmark`: half of the sum of the squares of all errors [m and rad] below 1e-6, 30 iterations a start, 100
starts.
"""

from typing import TYPE_CHECKING, Final

from poise import load
from poise_experiments.base import Cell, Claim, Experiment, Table, columns, judge
from poise_experiments.racing import Race, race, racing_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR: Final = 1e-3
"""What an error of the place may be [m], and one of the rotation [rad]: both together are no more than theirs."""
CASES: Final = {"limits": True, "no limits": False}
"""Whether limits are kept."""
MEASURED: Final = {
    "limits": {
        "Newton-Raphson": (0.996, 2461.3),
        "Gauss-Newton": (0.998, 1770.4),
        "LM, Chan": (1.0, 153.5),
        "LM, Wampler": (0.997, 731.1),
        "LM, Sugihara": (0.998, 340.9),
    },
    "no limits": {
        "Newton-Raphson": (1.0, 613.7),
        "Gauss-Newton": (1.0, 469.0),
        "LM, Chan": (1.0, 74.3),
        "LM, Wampler": (1.0, 153.0),
        "LM, Sugihara": (1.0, 102.5),
    },
}
"""What each of the toolbox' methods reached, and the mean processor time of a call [us]."""
_SOURCE = "Robotics Toolbox 1.5.0, our run"


def measure(quick: bool) -> dict[str, Race]:
    """Each case, from a random configuration, the same for all of its poses."""
    arm = load("panda")
    made, start = arm.sample(200 if quick else 1000, seed=0), arm.sample(seed=1)
    return {
        name: race(arm, "panda_hand", start, made, place=NEAR, turn=NEAR, select="first", limits=limits)
        for name, limits in CASES.items()
    }


def tables(results: dict[str, Race]) -> tuple[Table, ...]:
    """A table a case."""
    out = []
    for name, one in results.items():
        rows: list[list[Cell]] = [["poise", float(one.reached.mean()), 1e6 * float(one.seconds.mean())]]
        rows += [[method, *found] for method, found in MEASURED[name].items()]
        notes = ("poise: wall time, from one start; the others: processor time of 1,000 poses, from random starts",)
        out.append(Table(f"Poses of a Panda, {name}", columns("method | reached:.1% | mean [us]:.1f"), rows, notes))
    return tuple(out)


def claims(results: dict[str, Race]) -> tuple[Claim, ...]:
    """What the toolbox' solvers come to."""
    out = []
    for name, one in results.items():
        best, (reached, mean) = min(MEASURED[name].items(), key=lambda found: found[1][1])
        out.append(
            Claim(
                f"{name}: the fastest of the five methods, {best}, reaches {reached:.1%} in {mean:.0f} us",
                _SOURCE,
                f"{one.reached.mean():.2%} of {len(one.reached):,} in {1e6 * one.seconds.mean():.1f} us, "
                f"{one.outside.sum()} answers are out of limits",
                judge(one.reached.mean() >= reached),
            )
        )
    return tuple(out)


def figures(results: dict[str, Race]) -> dict[str, "Figure"]:
    """Success over time, where limits are kept."""
    return {"rtb": racing_figure("Poses of a Panda with its limits", {"poise": results["limits"]}, MEASURED["limits"])}


RTB: Final = Experiment(
    name="rtb",
    title="The Robotics Toolbox' benchmark: poses of a Panda by five methods",
    reference="corke2021",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)
