"""Filters of the singular values.

Idea.     Every step of this family is sum tau_i v_i (u_i^T e); a method is its filter tau.
Step.     truncated: 1 / sigma_i, 0 below a share of the largest.
          gaussian: sigma_i / (sigma_i^2 + lambda_i^2), lambda_i = max_damping exp(-(sigma_i / epsilon)^2).
          jparse: 1 / sigma_i above the share gamma of the largest, else gain sigma_i / (gamma sigma_1)^2.
Use when  directions away from a singularity must not feel it; jparse still creeps along the singular ones.
Not for   the shortest time an update.
Cost      a singular value decomposition an update.
Source.   Section 6 of Buss 2004; Phuoc, Martinet, Lee and Kim 2008; Guptasarma, Strong, Zhen and Kennedy 2025
          (J-PARSE).
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from poise.common.checks import not_negative, one_of, positive
from poise.kernels.methods.filters import GAUSSIAN, JPARSE, TRUNCATED, filtered
from poise.methods.base import Capabilities, Case, NullSpaceMethod, Prepared, method


@method
@final
@dataclass(frozen=True, kw_only=True)
class FilteredInverse(NullSpaceMethod):
    """dq = sum tau_i v_i (u_i^T e) + (I - J^+ J) phi; see the module."""

    name: ClassVar[str] = "filtered"
    title: ClassVar[str] = "Filtered singular values"
    references: ClassVar[tuple[str, ...]] = ("buss2004", "maciejewski1988", "phuoc2008", "guptasarma2025")
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(45.0)
    filter: Literal["truncated", "gaussian", "jparse"] = "truncated"
    cutoff: float = 0.01
    """Share of the largest singular value below which "truncated" leaves out, and "jparse" goes slowly: gamma, 0.1 in
    the paper."""
    gain: float = 1.0
    """Speed of "jparse" along singular directions."""
    epsilon: float = 0.1
    """Width of "gaussian", a singular value."""
    max_damping: float = 0.1
    """lambda of "gaussian" at sigma = 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("filter", self.filter, ("truncated", "gaussian", "jparse"))
        not_negative("cutoff", self.cutoff)
        not_negative("gain", self.gain)
        positive("epsilon", self.epsilon)
        not_negative("max_damping", self.max_damping)

    def prepare(self, case: Case) -> Prepared:
        """By singular values."""
        kinds = {"truncated": TRUNCATED, "gaussian": GAUSSIAN, "jparse": JPARSE}
        numbers = {"kind": kinds[self.filter], "cutoff": self.cutoff, "gain": self.gain, "width": self.epsilon}
        if self.filter == "gaussian":
            numbers["largest"] = self.max_damping**2
        return Prepared(filtered, numbers, ranked=True)
