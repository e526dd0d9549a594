"""Damped least squares with the joint limits inside the step, in the ways of the literature.

Idea.     Limits are inequalities.  Rather than cut a step off at them, look for the best step of those that keep them.
Step.     min |J dq - e|^2 / 2 + lambda^2 |dq|^2 / 2 with l <= q + dq <= u:
          box: exactly, by a primal active set, as one level of `priority`; velocity limits are bounds too.
          lagrange: solve without limits, pin the joint most outside, again; let go one whose multiplier has the wrong
          sign.
          clamping: pin all joints that are outside, for good (Baerlocher and Boulic 2004).
          clip: cut each joint off at its limit, after the step: the baseline.
          slack: q = middle + half sin y, the step taken in y, where no limits are; a joint at its limit stays there.
          penalty: no limits, but `penalty` times the square of what is beyond them in the sum of squares.
Use when  many joints stand at limits: "box" goes on along them, where a step that is cut off stalls.
Not for   the shortest time an update where no joint stands at a limit.
Cost      box: an orthogonalisation of the rows while no joint meets a limit, else an orthogonal factorisation for each
          that is pinned or let go; the other ways: a Cholesky factorisation of all joints for each.
Source.   Soch and Lorencz 2005, section 1.4; Korein and Badler 1982; Baerlocher and Boulic 2004; Nocedal and Wright
          2006, section 16.5.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities, ClampMag, JacobianMethod, one_of, positive
from poise.methods.damping import Curvature, Damping, GainRatio, estimates, needs_values, rule_of
from poise.spatial import Array

WAYS = ("box", "lagrange", "clamping", "clip", "slack", "penalty")


@final
@dataclass(frozen=True, kw_only=True)
class BoundedLeastSquares(JacobianMethod):
    """min |J dq - e|^2 + lambda^2 |dq|^2 within the limits; see the module."""

    name: ClassVar[str] = "qp"
    title: ClassVar[str] = "Bounded least squares"
    references: ClassVar[tuple[str, ...]] = ("nocedal2006", "soch2005", "korein1982", "baerlocher2004")
    capabilities: ClassVar[Capabilities] = Capabilities(characters=False)
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(45.0)
    max_error: float | ClampMag | None = 0.2
    damping: Damping = Curvature(0.2)
    """lambda, or a rule that reads no singular values."""
    way: Literal["box", "lagrange", "clamping", "clip", "slack", "penalty"] = "box"
    """How limits enter.  "penalty" breaks them by about 1 / `penalty`, and needs limits=False."""
    penalty: float = 100.0
    """Weight of the squares beyond the limits; for "penalty"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("way", self.way, WAYS)
        positive("penalty", self.penalty)
        rule = rule_of(self.damping)
        if needs_values(rule) or estimates(rule) or isinstance(rule, GainRatio):
            raise ValueError(f"damping is {rule!r}; here it must be lambda, or a rule that looks at the error alone")

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        rule_of(self.damping).write(settings)
        settings[at.METHOD], settings[at.OPTION] = at.BOUNDED, WAYS.index(self.way)
        settings[at.OPTION_A] = self.penalty
