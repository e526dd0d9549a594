"""Cyclic coordinate descent.

Idea.     One joint after the other, from the tips to the base, takes the best place that it can have while the others
          stand still; each such problem has one unknown and a closed solution.
Step.     For a joint that turns about a through p, with d = s - p and c = t - p, summed over the effectors that it
          moves: k1 = (c . a)(d . a), k2 = c . d, k3 = a . (d x c), and the turn is atan2(k3, k2 - k1); a rotation adds
          the same of its frame's axes, times half of `orientation_weight`.  A slide goes by the mean of (t - s) . a,
          a screw by Newton's step with a curvature that bounds the true one, a ball by a turn about each of three
          axes.  A joint that would leave its limits takes the better end of them.
Use when  there are limits everywhere and no derivative is wanted; the error falls with every joint.
Not for   the last digits, for it converges slowly; targets on the line of a stretched arm, where no turn helps and
          only a new start does; even use of the joints: those at the tips do most.
Cost      one pass over the joints an update, no matrix.
Source.   Wang and Chen 1991; Welman 1993, for several effectors their sum.
"""

from dataclasses import dataclass
from typing import ClassVar, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities, positive
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class CyclicCoordinateDescent:
    """The best change of one joint after the other, from the tips to the base; see the module."""

    name: ClassVar[str] = "ccd"
    title: ClassVar[str] = "Cyclic coordinate descent"
    references: ClassVar[tuple[str, ...]] = ("wang1991", "welman1993")
    capabilities: ClassVar[Capabilities] = Capabilities(tasks="poses", weights="blocks", mimic=False)
    iterations: ClassVar[int] = 1000
    orientation_weight: float = 0.05
    """What a squared rotation counts against a squared displacement [m^2 / rad^2]: a sweep lowers |t - s|^2 plus this
    times 4 sin^2(angle / 2).  The square of about a fifth of the arm's length serves well; the default suits arms of
    about a metre.  Tasks' own weights come on top."""

    def __post_init__(self) -> None:
        positive("orientation_weight", self.orientation_weight)

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        settings[at.METHOD], settings[at.OPTION_A] = at.CCD, self.orientation_weight
