"""QuIK's table: arms without limits, poses that they reach, to 1e-8, all from one start.

Lloyd, Irani and Ahmadi 2022, table II: an i7 of 3.2 GHz, the authors' C++, 1,000,000 poses.  Of its five arms the KUKA
KR6 is here, whose rows stand in their program, and Kinova's Jaco with a wrist that is not spherical; its iiwa 7 and
Atlas do not come with poise, and an iiwa 14, which has the same axes and other lengths, stands for the first.
"""

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from poise import DH, Model, from_dh, load
from poise_experiments.base import Claim, Experiment, Table, judge
from poise_experiments.racing import Race, race, racing_figure, racing_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR: Final = 1e-8
"""What an error of the place may be [m], and one of the rotation [rad]."""
PUBLISHED: Final = {"KR6": (0.9987, 21.0), "Jaco": (0.9934, 35.0), "iiwa 14 (theirs: 7)": (1.0, 16.0)}
"""What QuIK reached of each, and in which mean [us]."""
_SOURCE = "Lloyd, Irani and Ahmadi 2022, table II"
_RIGHT = 0.5 * math.pi
_KR6 = [
    (0.025, -_RIGHT, 0.183),
    (-0.315, 0.0, 0.0),
    (-0.035, _RIGHT, 0.0),
    (0.0, -_RIGHT, 0.365),
    (0.0, _RIGHT, 0.0),
    (0.0, 0.0, 0.08),
]
"""a [m], alpha [rad] and d [m] of each joint."""


def arms() -> dict[str, Model]:
    """The arms by the names of the table."""
    kr6 = from_dh([DH(a=a, alpha=alpha, d=d) for a, alpha, d in _KR6], name="kr6")
    return dict(zip(PUBLISHED, (kr6, load("kinova"), load("iiwa14")), strict=True))


def measure(quick: bool) -> dict[str, Race]:
    """Every arm, from joints at 0."""
    random, count = np.random.default_rng(0), 200 if quick else 100_000
    return {
        name: race(
            arm, arm.tip, np.zeros(arm.nq), random.uniform(-math.pi, math.pi, (count, arm.nq)), place=NEAR, turn=NEAR,
            select="first", limits=False,
        )
        for name, arm in arms().items()
    }  # fmt: skip


def tables(results: dict[str, Race]) -> tuple[Table, ...]:
    """The table."""
    notes = (
        "published: QuIK, of 1,000,000 poses, at most 200 iterations from one start; an i7 of 3.2 GHz, C++",
        "here a call is one of Python's, and begins again elsewhere where its start leads to no solution",
    )
    return (racing_table("no limits, to 1e-8, from joints at 0", results, PUBLISHED, notes),)


def claims(results: dict[str, Race]) -> tuple[Claim, ...]:
    """What the table says of each arm."""
    return tuple(
        Claim(
            f"{1.0 - reached:.2%} of the poses of {name} fail",
            _SOURCE,
            f"{1.0 - races.reached.mean():.3%} of {len(races.reached):,}; the mean is "
            f"{1e6 * races.seconds.mean():.1f} us in place of {mean:.0f}",
            judge(races.reached.mean() >= reached),
        )
        for name, races in results.items()
        for reached, mean in [PUBLISHED[name]]
    )


def figures(results: dict[str, Race]) -> dict[str, "Figure"]:
    """Success over time."""
    return {"quik": racing_figure("Poses of arms without limits, to 1e-8", results, PUBLISHED)}


QUIK: Final = Experiment(
    name="quik",
    title="QuIK's table: poses of arms without limits, to 1e-8, and the time to reach them",
    reference="lloyd2022",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)
