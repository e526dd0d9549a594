"""Forward and backward reaching: FABRIK.

Idea.     Forget angles: move the joints' origins along the lines between them, first from the targets inwards, then
          from the base outwards, and keep each link's length; then let the joints follow.
Step.     Inwards p_i = p_{i+1} + d_i (p_i - p_{i+1}) / |p_i - p_{i+1}| from p_n = t; outwards the same from p_0, the
          base; a sub-base, where branches meet, goes to the centroid of where they want it.  A chain whose target is
          out of reach lies straight towards it.  Then each joint, from the bases to the tips, takes the turn that
          brings the nodes at which it aims nearest to their new places: the next one, if all joints can follow
          exactly, else all that it moves.  A chain on one line with its target is bent first.
Use when  chains are long, of balls, or of hinges that all have one direction or meet in pairs: there the joints
          follow exactly, and a few passes serve.
Not for   rotations, limits and slides; several effectors or other hinges, whose joints cannot follow the points, so
          that it is slow, and may come to rest away from the target.
Cost      a few operations a joint and pass, no matrix; a turn for each joint that follows.
Source.   Aristidou and Lasenby 2011.
"""

from dataclasses import dataclass
from typing import ClassVar, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class Fabrik:
    """Points to the targets and back to the bases, and the joints after them; see the module."""

    name: ClassVar[str] = "fabrik"
    title: ClassVar[str] = "FABRIK"
    references: ClassVar[tuple[str, ...]] = ("aristidou2011",)
    capabilities: ClassVar[Capabilities] = Capabilities(
        limits=False, tasks="positions", weights="none", mimic=False, slides=False
    )
    iterations: ClassVar[int] = 500
    passes: int = 1
    """Passes inwards and outwards before the joints follow."""

    def __post_init__(self) -> None:
        if isinstance(self.passes, bool) or not isinstance(self.passes, int) or self.passes < 1:
            raise ValueError(f"passes is {self.passes!r}; it must be a whole number, 1 or more")

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        settings[at.METHOD], settings[at.OPTION] = at.FABRIK, self.passes
