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
from typing import ClassVar, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities, JacobianMethod
from poise.methods.damping import Damping, GainRatio, by_rows, needs_values, rule_of
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class GaussNewton(JacobianMethod):
    """dq = J^+ e, whole steps; see the module."""

    name: ClassVar[str] = "gn"
    title: ClassVar[str] = "Gauss-Newton"
    references: ClassVar[tuple[str, ...]] = ("whitney1969", "buss2004")
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 100

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        settings[at.METHOD], settings[at.FILTER], settings[at.FILTER_A] = at.FILTERED, at.TRUNCATED, 1e-9


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
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 200
    damping: Damping = GainRatio()
    """lambda, or a rule."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rule_of(self.damping)

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        rule = rule_of(self.damping)
        rule.write(settings)
        settings[at.METHOD] = at.FILTERED if needs_values(rule) else by_rows(rule)
        settings[at.FILTER] = at.SMOOTH
