"""Halley's method.

Idea.     Newton's method takes the Jacobian for constant; Halley's corrects it for how it changes along Newton's own
          step, which triples the number of right digits an iteration instead of doubling it.
Step.     d = J^T (J J^T + lambda^2 I)^-1 e, A = J + (dJ/dt along d) / 2, dq = A^T (A A^T + lambda^2 I)^-1 e.
Use when  one target is to be met to many digits in the fewest iterations.
Not for   far starts without clamped errors; the correction serves positions, orientations and poses without weights,
          and aims are followed as Newton would.
Cost      two Cholesky factorisations an update, and a walk along each chain.
Source.   Lloyd, Irani and Ahmadi 2022 (QuIK).
"""

from dataclasses import dataclass
from typing import ClassVar, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities, ClampMag, JacobianMethod, not_negative
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class Halley(JacobianMethod):
    """dq = A^T (A A^T + lambda^2 I)^-1 e with the Jacobian A halfway; see the module."""

    name: ClassVar[str] = "halley"
    title: ClassVar[str] = "Halley's method"
    references: ClassVar[tuple[str, ...]] = ("lloyd2022",)
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 100
    damping: float = 1e-5**0.5
    """lambda; the paper's lambda^2 are 0, 1e-7 and 1e-5."""
    max_error: float | ClampMag | None = ClampMag(position=0.34, rotation=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        not_negative("damping", self.damping)

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        settings[at.METHOD], settings[at.RULE], settings[at.RULE_A] = at.HALLEY, at.CONSTANT, self.damping**2
