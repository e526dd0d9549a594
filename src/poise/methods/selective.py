"""Selectively damped least squares.

Idea.     Damp each singular direction by itself, by how far the joints would travel along it for what it brings the
          effectors; a constant lambda need not be found.
Step.     phi_i = v_i (u_i^T e) / sigma_i, its largest entry clamped to gamma_i = gamma_max min(1, N_i / M_i); then
          their sum, clamped to gamma_max.  N_i = sum over effectors of |u_{j,i}|, M_i = sigma_i^-1 sum_j |v_{j,i}| sum of the
          columns' lengths |ds/dq_j|.  For poses, places and rotations count as effectors of their own.
Use when  several effectors chase targets that leave and enter their reach.
Not for   the shortest time an update: it needs a singular value decomposition.
Cost      a singular value decomposition an update.
Source.   Buss and Kim 2005.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from poise.kernels import settings as at
from poise.methods.base import (
    Capabilities,
    NullSpaceMethod,
    one_of,
    positive,
)
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class SelectivelyDamped(NullSpaceMethod):
    """dq = ClampMaxAbs(sum of ClampMaxAbs(phi_i, gamma_i), gamma_max); see the module."""

    name: ClassVar[str] = "sdls"
    title: ClassVar[str] = "Selectively damped least squares"
    references: ClassVar[tuple[str, ...]] = ("buss2005",)
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 300
    max_angle: float = math.radians(45.0)
    """gamma_max [rad or m]."""
    clamps: Literal["hard", "soft"] = "hard"
    """"hard" as in the paper; "soft" as in the program released with it: phi_i gamma_i / (gamma_i + max |phi_i|)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("max_angle", self.max_angle)
        one_of("clamps", self.clamps, ("hard", "soft"))

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        self.write_null_space(settings)
        settings[at.METHOD] = at.SELECTIVE
        settings[at.OPTION], settings[at.OPTION_A] = self.clamps == "soft", self.max_angle
