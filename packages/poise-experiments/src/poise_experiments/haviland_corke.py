"""Haviland and Corke's tables: a UR5 without limits and a Panda, whose limits their solvers keep by beginning again.

The numbers are those of the notebooks to "Manipulator Differential Kinematics" (2023), for which a pose is reached when
half of the sum of the squares of all errors [m and rad] is below 1e-6.  Their machine is not stated.
"""

from typing import TYPE_CHECKING, Final

from poise import load
from poise_experiments.base import Claim, Experiment, Table, columns, judge
from poise_experiments.racing import Race, race, racing_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR: Final = 1e-3
"""What an error of the place may be [m], and one of the rotation [rad]: both together are no more than theirs."""
CASES: Final = {
    "UR5, no limits": ("ur5", "ee_link", False),
    "Panda, no limits": ("panda", "panda_hand", False),
    "Panda": ("panda", "panda_hand", True),
}
"""Robot, frame, and whether limits are kept."""
PUBLISHED: Final = {"UR5, no limits": (1.0, 25.2), "Panda, no limits": (1.0, 27.2), "Panda": (0.9909, 113.8)}
"""What their Levenberg-Marquardt with Chan's damping of 0.1 reached, and the mean in C++ [us]."""
_SOURCE = "Haviland and Corke 2023, notebooks"


def measure(quick: bool) -> dict[str, Race]:
    """Every case, from a random configuration, the same for all of its poses."""
    found = {}
    for name, (robot, frame, limits) in CASES.items():
        model = load(robot)
        targets = model.sample(200 if quick else 10_000, seed=0)
        found[name] = race(
            model, frame, model.sample(seed=1), targets, place=NEAR, turn=NEAR, select="first", limits=limits
        )
    return found


def tables(results: dict[str, Race]) -> tuple[Table, ...]:
    """The table."""
    return (
        Table(
            "10,000 poses, each from the same start",
            columns(
                "case | not reached:d | out of limits:d | iterations:.1f | starts:.2f | mean [us]:.1f | published: not "
                "reached:.2% | published: mean [us]:.1f"
            ),
            [
                [
                    name,
                    int((~one.reached).sum()),
                    int(one.outside.sum()),
                    float(one.iterations.mean()),
                    float(one.searches.mean()),
                    1e6 * float(one.seconds.mean()),
                    1.0 - PUBLISHED[name][0],
                    PUBLISHED[name][1],
                ]
                for name, one in results.items()
            ],
            ("iterations: of the start that led to the answer; published: Levenberg-Marquardt, Chan's damping, C++",),
        ),
    )


def claims(results: dict[str, Race]) -> tuple[Claim, ...]:
    """What the notebooks find."""
    free, limited = results["Panda, no limits"], results["Panda"]
    count = len(limited.reached)
    return (
        Claim(
            "without limits all poses of a Panda are reached, and 54 % of the answers are out of its limits",
            _SOURCE,
            f"{(~free.reached).sum()} of {count:,} are not reached, {free.outside.mean():.0%} are out of limits",
            judge(bool(free.reached.all()) and free.outside.mean() > 0.4),
        ),
        Claim(
            "where limits are kept some poses are not reached: 0.91 % by beginning again, 0.76 % by quadratic programs",
            _SOURCE,
            f"{(~limited.reached).mean():.2%} of {count:,}, with limits in every step",
            judge(not limited.reached.all()),
        ),
        Claim(
            "with its limits a Panda takes four times as long as without: 113.8 us in place of 27.2",
            _SOURCE,
            f"{1e6 * limited.seconds.mean():.1f} us in place of {1e6 * free.seconds.mean():.1f}",
            judge(limited.seconds.mean() > 3.0 * free.seconds.mean()),
        ),
    )


def figures(results: dict[str, Race]) -> dict[str, "Figure"]:
    """Success over time."""
    return {"haviland-corke": racing_figure("Poses of a UR5 and of a Panda, to 1e-3", results, PUBLISHED)}


HAVILAND_CORKE: Final = Experiment(
    name="haviland-corke",
    title="Haviland and Corke's tables: what limits cost that are kept by beginning again, and by every step",
    reference="haviland2023",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)
