"""The extended Jacobian.

Idea.     Give the joints' freedom a purpose and follow it exactly: keep a criterion g at its least among all
          configurations that meet the task.  The task's rows and those of the optimality condition form a square
          system, so that a path of the effector that closes closes in the joints too.
Step.     [J; E] dq = [e; -Z^T grad g], Z an orthonormal basis of the null space of J, E the derivative of Z^T grad g:
          E = Z^T (Hess g - sum_k mu_k Hess f_k), mu = (J^T)^+ grad g.  At the optimum the right side is Baillieul's
          [e; 0]; off it, the step is Newton's for Chang's system [f(q) - x; Z^T grad g] = 0.
Use when  motions repeat and the joints must come back, or a posture is to be the best and not only pulled at.
Not for   algorithmic singularities, where E Z is singular although J is not: there the minimum ends, and the joints
          must travel to another.  Nor for aims.
Cost      a singular value decomposition, n^2 second derivatives, a factorisation of as many unknowns as J leaves free.
Source.   Baillieul 1985; Chang 1987; Klein, Chu and Ahmed 1995.

E Z is the Hessian of g within the task, and is kept positive definite: where it is not, or hardly, a multiple of the
identity is added, so that the step still lowers g.  Singular values sigma of J below `cutoff` times the largest count
as sigma / (that edge)^2 in place of 1 / sigma.  The second derivative of a rotation is that of the rotation vector from
where the frame is, half of a_i x a_j for axis i before axis j; the geometric Jacobian's own differs from it by what
J Z = 0 cancels, as long as no row of the rotation is left out.  The Hessian of the manipulability is a difference
quotient of its exact gradient.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, final

from poise.kernels.methods import settings as at
from poise.methods.base import (
    GAINS,
    Capabilities,
    ClampMag,
    Criterion,
    JacobianMethod,
    LimitDistance,
    Potential,
    RestPosture,
    positive,
)
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class ExtendedJacobian(JacobianMethod):
    """[J; E] dq = [e; -Z^T grad g]; see the module."""

    name: ClassVar[str] = "extended"
    title: ClassVar[str] = "Extended Jacobian"
    references: ClassVar[tuple[str, ...]] = ("baillieul1985", "chang1987", "klein1995")
    capabilities: ClassVar[Capabilities] = Capabilities(tasks="poses", characters=False)
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(45.0)
    max_error: float | ClampMag | None = 0.2
    criterion: Criterion = RestPosture()
    """g: half the squared distance to a posture, the distance to the middles of the joints' limits, or a function of
    your own with its Hessian; or the distance from limits, from obstacles, or the manipulability turned round, whose
    Hessians are differences of their exact gradients and cost two of these a joint.  Its gain is without effect.
    Balls count for nothing in what is of limits or a posture, and are refused with obstacles and manipulability."""
    cutoff: float = 1e-3
    """Share of the largest singular value of J below which its inverse is damped."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("cutoff", self.cutoff)
        if not isinstance(self.criterion, tuple(GAINS)):
            able = ", ".join(kind.__name__ for kind in GAINS)
            raise TypeError(f"criterion must be one of {able}, got {self.criterion!r}")
        if isinstance(self.criterion, Potential) and self.criterion.hessian is None:
            raise ValueError(
                "the Potential has no hessian, which the method 'extended' needs: give it hessian=f, where f(q, out) "
                "writes the second derivatives into out (nv, nv)"
            )

    def write(self, settings: Array) -> None:
        """Put the settings into the array; the posture itself comes behind the settings."""
        self.write_clamps(settings)
        settings[at.METHOD], settings[at.FILTER_A] = at.EXTENDED, self.cutoff
        settings[GAINS[type(self.criterion)]] = 1.0
        if isinstance(self.criterion, LimitDistance):
            settings[at.LIMIT_LONGEST] = math.inf
