"""The pairwise extended Jacobian.

Idea.     Beside the effector, lead every pair of neighbouring links: each should keep its shape.  The rows that say so
          make the system over-determined, and it is solved by least squares.
Step.     dq = (J^T J + w^2 P^T P)^-1 J^T e, P the rows of the pairs, whose displacements are 0.  That is least squares
          damped in the metric P^T P: with P = I it is damped least squares with lambda = w.
          "printed": P of eq. 9, the velocity of the far end of each pair as the pair's first link sees it; for planar
          chains and positions.  "twists": the relative twist of the pair, angular rows times a length; for any tree.
Use when  bending should be spread evenly over a long chain, or to repeat the paper.
Not for   exact tracking: the error lags in proportion to w^2.  As w goes to 0 the step becomes the pseudoinverse
          weighted by P^T P, never the plain one, and a singular pose is left as badly as by that.
Cost      n^2 products for each row of the pairs, and a factorisation of n x n.
Source.   Soch and Lorencz 2005; the twists are the library's own generalisation.

The paper has the rank of [J; w P] to be n always.  As printed it is not: a stretched chain of two links has one pair,
whose rows are those of J, and four equal links folded onto one another lose a direction too.  With twists the rank is n
wherever each joint has a neighbour whose screw axis is another one; two hinges on one line, or two parallel slides,
with no other neighbours, are what is left.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities, ClampMag, JacobianMethod, one_of, positive
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class PairwiseJacobian(JacobianMethod):
    """dq = (J^T J + w^2 P^T P)^-1 J^T e; see the module."""

    name: ClassVar[str] = "pairwise"
    title: ClassVar[str] = "Pairwise extended Jacobian"
    references: ClassVar[tuple[str, ...]] = ("soch2005",)
    capabilities: ClassVar[Capabilities] = Capabilities(tasks="poses")
    iterations: ClassVar[int] = 500
    max_step: float = math.radians(45.0)
    max_error: float | ClampMag | None = 0.2
    weight: float = 0.05
    """w, of the pairs against the task; the paper's own is 1."""
    form: Literal["twists", "printed"] = "twists"
    """"twists" serves any tree; "printed" is the paper's, for planar chains of hinges and one PositionTask."""
    solver: Literal["orthogonal", "lu"] = "orthogonal"
    """"lu" solves the normal equations as the paper does, whose condition is squared; "orthogonal" forms none."""
    length: float = 0.2
    """What a turn of a pair by 1 rad counts as [m]; about a link's length serves well.  For "twists"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("weight", self.weight)
        positive("length", self.length)
        one_of("form", self.form, ("twists", "printed"))
        one_of("solver", self.solver, ("orthogonal", "lu"))

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        settings[at.METHOD], settings[at.OPTION_A], settings[at.OPTION_B] = at.PAIRWISE, self.weight, self.length
        settings[at.OPTION] = at.LU if self.solver == "lu" else at.STACKED
        settings[at.RULE_A] = self.form == "printed"
