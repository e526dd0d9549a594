"""The pseudoinverse: Newton's method on the error.

Idea.     The shortest step that the linear model says reaches the target; what is left of the joints' freedom, the
          null space, can serve a second purpose without moving the effectors.
Step.     dq = J^+ e + (I - J^+ J) phi, by singular values, those below a cutoff left out; or, without a null-space
          term, by J^T (J J^T)^-1 e, or by the normal equations (J^T J) dq = J^T e: the same where J has full rank.
Use when  the target moves within reach and away from singular poses, or as the standard that others are held to.
Not for   targets out of reach or poses near a singularity, where steps grow like 1 / sigma_min and the arm shakes.
Cost      a singular value decomposition an update.
Source.   Whitney 1969; Liegeois 1977; eqs. 6 to 9 and 12 to 13 of Buss 2004.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from poise.common.checks import not_negative, one_of
from poise.common.errors import InvalidValue
from poise.kernels.methods.damped import columns, damped
from poise.kernels.methods.filters import TRUNCATED, filtered
from poise.methods.base import Capabilities, Case, NullSpaceMethod, Prepared, method
from poise.methods.damping import Constant


@method
@final
@dataclass(frozen=True, kw_only=True)
class Pseudoinverse(NullSpaceMethod):
    """dq = J^+ e + (I - J^+ J) phi; see the module."""

    name: ClassVar[str] = "pinv"
    title: ClassVar[str] = "Pseudoinverse"
    references: ClassVar[tuple[str, ...]] = ("buss2004", "whitney1969", "liegeois1977")
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(5.0)
    form: Literal["svd", "rows", "columns"] = "svd"
    """"rows" is J^T (J J^T)^-1 e and "columns" (J^T J)^-1 J^T e; where J lacks the rank, they end with NOT_FINITE."""
    cutoff: float = 0.01
    """Singular values below this share of the largest are left out; for "svd"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("form", self.form, ("svd", "rows", "columns"))
        not_negative("cutoff", self.cutoff)
        if self.null_space is not None and self.form != "svd":
            raise InvalidValue(
                "needs", f"null_space needs form='svd', which has the projector; the form is {self.form!r}"
            )

    @property
    def rule(self) -> Constant:
        """None of the forms is damped."""
        return Constant(0.0)

    def refuse(self, case: Case) -> None:
        """Raises ValueError for a form that would divide by zero in every pose."""
        if self.form == "svd":
            return
        size, rank = case.rows if self.form == "rows" else case.columns, case.rank()
        if rank < size:
            raise InvalidValue(
                "not-supported",
                f"form={self.form!r} needs a Jacobian of independent {self.form}, and of these {size} only {rank} ever "
                "are: use form='svd'",
            )

    def prepare(self, case: Case) -> Prepared:
        """By singular values, or as damped least squares with lambda = 0."""
        if self.form == "svd":
            return Prepared(filtered, {"kind": TRUNCATED, "cutoff": self.cutoff}, ranked=True)
        return Prepared(damped if self.form == "rows" else columns, damping=self.rule.routine)

    def room(self, m: int, n: int) -> int:
        """J^T J, for "columns"."""
        return n * n
