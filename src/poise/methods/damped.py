"""Damped least squares.

Idea.     Weigh the step against the error: of all steps, the one with the least |J dq - e|^2 + lambda^2 |dq|^2.  Near a
          singular pose, and for a target out of reach, it stays short where the pseudoinverse's does not.
Step.     dq = J^T (J J^T + lambda^2 I)^-1 e (eq. 11), or (J^T J + lambda^2 I)^-1 J^T e (eq. 10), or by singular values
          sum sigma_i / (sigma_i^2 + lambda^2) v_i u_i^T e (eq. 14), or by orthogonal rows [J, lambda I]: all the same.
          With a null-space term, (I - J^+ J) phi is added, with the true projector, not the damped one, which leaks.
          Towards a posture that is phi away, with weights W on the diagonal, J^+ is W^-2 J^T (J W^-2 J^T)^-1, and the
          least |J dq - e|^2 + lambda^2 |W dq|^2 the step: heavy joints move less for the tasks.
Use when  targets are sometimes out of reach, effectors are several, the arm must never shake.
Not for   the last digits in few steps: with a constant lambda it converges linearly.
Cost      a Cholesky factorisation an update; a singular value decomposition with a null-space term or a rule that
          reads singular values.
Source.   Wampler 1986; Nakamura and Hanafusa 1986; eqs. 10, 11 and 14 of Buss 2004.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from poise.common.checks import one_of
from poise.common.errors import InvalidValue
from poise.kernels.methods.damped import columns, damped, guided, judged, orthogonal
from poise.kernels.methods.filters import SMOOTH, filtered
from poise.methods.base import Capabilities, Case, ClampMag, NullSpaceMethod, Prepared, method
from poise.methods.damping import Curvature, Damping, DampingRule, rule_of

Form = Literal["auto", "rows", "columns", "svd", "qr"]


@method
@final
@dataclass(frozen=True, kw_only=True)
class DampedLeastSquares(NullSpaceMethod):
    """dq = J^T (J J^T + lambda^2 I)^-1 e + (I - J^+ J) phi; see the module."""

    name: ClassVar[str] = "dls"
    title: ClassVar[str] = "Damped least squares"
    references: ClassVar[tuple[str, ...]] = ("buss2004", "wampler1986", "nakamura1986")
    capabilities: ClassVar[Capabilities] = Capabilities(posture=True)
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(45.0)
    max_error: float | ClampMag | None = 0.2
    damping: Damping = Curvature(0.2)
    """lambda, or a rule."""
    form: Form = "auto"
    """"rows" is eq. 11, "columns" eq. 10, "svd" eq. 14, "qr" by orthogonal rows; "auto" is "rows" where it serves."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rule = rule_of(self.damping)
        one_of("form", self.form, ("auto", "rows", "columns", "svd", "qr"))
        if rule.reads == "gain" and (self.form not in ("auto", "rows") or self.null_space is not None):
            raise InvalidValue("conflict", f"{type(rule).__name__} works with form='rows' and without a null_space")
        if self.form in ("rows", "columns", "qr") and (rule.reads == "values" or self.null_space is not None):
            what = "null_space" if self.null_space is not None else type(rule).__name__
            raise InvalidValue(
                "conflict", f"{what} needs singular values; form must be 'svd' or 'auto', not {self.form!r}"
            )
        if self.form in ("columns", "qr") and rule.reads == "directions":
            raise InvalidValue("conflict", f"{type(rule).__name__} damps rows; form must be 'rows', 'svd' or 'auto'")

    @property
    def rule(self) -> DampingRule:
        """The damping rule."""
        return rule_of(self.damping)

    @property
    def follows_posture(self) -> bool:
        """By rows, with a rule that reads errors alone."""
        return self.form in ("auto", "rows") and self.null_space is None and self.rule.reads == "errors"

    def prepare(self, case: Case) -> Prepared:
        """One of six routines: five for the same step, one for that towards a posture."""
        if case.posture:
            return Prepared(guided, damping=self.rule.routine)
        if self.form in ("columns", "qr"):
            return Prepared(columns if self.form == "columns" else orthogonal, damping=self.rule.routine)
        return damped_prepared(self.rule, case, by_values=self.form == "svd" or self.null_space is not None)

    def room(self, m: int, n: int) -> int:
        """J^T J for "columns", [J, lambda I] for "qr", two J J^T and what is left of e towards a posture."""
        return max(n * n, m * (n + m), m * (3 * m + 1))


def damped_prepared(rule: DampingRule, case: Case, *, by_values: bool) -> Prepared:
    """Damped least squares by rows, or by singular values where the rule needs them."""
    by_direction = rule.reads == "directions"
    # An inverse iteration would find the values that are always zero.
    if by_values or rule.reads == "values" or (by_direction and case.rank() < case.rows):
        return Prepared(filtered, {"kind": SMOOTH, "separate": by_direction}, rule.routine, ranked=True)
    if by_direction:
        return Prepared(damped, {"separate": True}, rule.routine_of_rows)
    return Prepared(judged if rule.reads == "gain" else damped, damping=rule.routine)
