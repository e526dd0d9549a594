"""Gauss-Newton and Levenberg-Marquardt.

Idea.     Inverse kinematics is least squares.  Gauss-Newton takes the whole step of the linear model; Levenberg and
          Marquardt damp it by as much as the model has proved wrong, or by the error that is left.
Step.     dq = J_F^T (J_F J_F^T + lambda^2 I)^-1 e over the joints F that are not held at a limit; then into the limits.
          Gauss-Newton is lambda = 0, by singular values.
Use when  one target is to be met to many digits: both converge quadratically if it can be reached.
Not for   Gauss-Newton: targets out of reach, far starts, singular poses.
Cost      a Cholesky factorisation an update; for Gauss-Newton a singular value decomposition.
Source.   Levenberg 1944; Marquardt 1963; Wampler 1986; Chan and Lawrence 1988; Nielsen 1999; Sugihara 2011.
"""

from dataclasses import dataclass
from typing import ClassVar, Final, final

from poise.kernels.methods.filters import TRUNCATED, filtered
from poise.methods.base import Capabilities, Case, JacobianMethod, Prepared, method
from poise.methods.damped import damped_prepared
from poise.methods.damping import Damping, DampingRule, GainRatio, rule_of

_RANK: Final = 1e-9
"""Share of the largest singular value up to which one is zero."""


@method
@final
@dataclass(frozen=True, kw_only=True)
class GaussNewton(JacobianMethod):
    """dq = J^+ e, whole steps; see the module."""

    name: ClassVar[str] = "gn"
    title: ClassVar[str] = "Gauss-Newton"
    references: ClassVar[tuple[str, ...]] = ("whitney1969", "buss2004")
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 100

    def prepare(self, case: Case) -> Prepared:
        """By singular values."""
        return Prepared(filtered, {"kind": TRUNCATED, "cutoff": _RANK}, ranked=True)


@method
@final
@dataclass(frozen=True, kw_only=True)
class LevenbergMarquardt(JacobianMethod):
    """dq = J_F^T (J_F J_F^T + lambda^2 I)^-1 e, lambda by a rule; see the module.

    `Constant` is Wampler's rule; `GainRatio` takes back a step that raises the error.
    """

    name: ClassVar[str] = "lm"
    title: ClassVar[str] = "Levenberg-Marquardt"
    references: ClassVar[tuple[str, ...]] = (
        "nielsen1999",
        "marquardt1963",
        "levenberg1944",
        "chan1988",
        "sugihara2011",
    )
    capabilities: ClassVar[Capabilities] = Capabilities(whole=False)
    iterations: ClassVar[int] = 200
    damping: Damping = GainRatio()
    """lambda, or a rule."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rule_of(self.damping)

    @property
    def rule(self) -> DampingRule:
        """The damping rule."""
        return rule_of(self.damping)

    def prepare(self, case: Case) -> Prepared:
        """By rows, or by singular values where the rule needs them."""
        return damped_prepared(self.rule, case, by_values=False)
