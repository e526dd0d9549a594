"""Selectively damped least squares.

Idea.     Damp each singular direction by itself, by how far the joints would travel along it for what it brings the
          effectors; a constant lambda need not be found.
Step.     phi_i = v_i (u_i^T e) sigma_i / (sigma_i^2 + lambda^2), its largest entry clamped to
          gamma_i = gamma_max min(1, N_i / M_i); then their sum, clamped to gamma_max.  N_i is the sum over effectors of
          |u_{j,i}|, M_i = sigma_i^-1 sum_j |v_{j,i}| times the length of the columns of joint j.  For poses, places and
          rotations count as effectors of their own.  The paper's lambda is 0; a little keeps the arm from shaking where
          a target is out of reach, and the effectors nearer to moving targets.
Use when  several effectors chase targets that leave and enter their reach.
Not for   the shortest time an update: it needs a singular value decomposition.
Cost      a singular value decomposition an update.
Source.   Buss and Kim 2005.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from poise.kernels.methods import settings as at
from poise.methods.base import (
    Capabilities,
    ClampMag,
    NullSpaceMethod,
    one_of,
    positive,
)
from poise.methods.damping import Curvature, Damping, GainRatio, estimates, needs_values, rule_of
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
    max_error: float | ClampMag | None = 0.2
    damping: Damping = Curvature(0.1)
    """lambda, or a rule that reads no singular values.  The paper has none, so 0.0; the arm may then still shake where
    a target is out of reach."""
    clamps: Literal["hard", "soft"] = "hard"
    """"hard" as in the paper; "soft" as in the program released with it: phi_i gamma_i / (gamma_i + max |phi_i|)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("max_angle", self.max_angle)
        one_of("clamps", self.clamps, ("hard", "soft"))
        rule = rule_of(self.damping)
        if needs_values(rule) or estimates(rule) or isinstance(rule, GainRatio):
            raise ValueError(f"damping is {rule!r}; here it must be lambda, or a rule that looks at the error alone")

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        self.write_null_space(settings)
        rule_of(self.damping).write(settings)
        settings[at.METHOD] = at.SELECTIVE
        settings[at.OPTION], settings[at.OPTION_A] = self.clamps == "soft", self.max_angle
