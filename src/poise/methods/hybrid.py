"""Newton's step where it is sound, the transpose where it is not.

Idea.     The pseudoinverse is quick away from singular poses and wild near them, where the transpose is only slow.
Step.     Newton's, if sigma_min >= switch sigma_max and it lowers the error; else the transpose with Buss's alpha.
          Newton's step is given up only below half the switch, so that the two do not take turns.
Use when  comparing: Levenberg-Marquardt is the smooth version of the same idea.
Not for   the least error out of reach, which the transpose approaches slowly.
Cost      a singular value decomposition and two evaluations an update.
Source.   Das, Slotine and Sheridan 1988, section 2.3, which suggests a hybrid and gives no switching law; this is ours.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities, JacobianMethod, positive
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class Hybrid(JacobianMethod):
    """Newton or transpose, by the smallest singular value and the error; see the module."""

    name: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "Newton and transpose"
    references: ClassVar[tuple[str, ...]] = ("das1988",)
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 1000
    max_step: float = math.radians(45.0)
    switch: float = 0.01
    """Share of the largest singular value that the smallest must reach for Newton's step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("switch", self.switch)

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        settings[at.METHOD], settings[at.FILTER] = at.HYBRID, at.TRUNCATED
        settings[at.OPTION_A], settings[at.OPTION_B] = self.switch, 0.5 * self.switch
