"""The Jacobian transpose.

Idea.     J^T e points down the squared error, so a short enough step along it lowers the error, and no matrix is
          inverted.
Step.     dq = alpha J^T e with alpha = <e, J J^T e> / <J J^T e, J J^T e>, which makes e - alpha J J^T e shortest.
Use when  joints are few and the target is near, or a step must cost next to nothing.
Not for   several effectors, for which one alpha is a compromise; accuracy, for it converges linearly, at the rate of
          the squared condition number; a target straight ahead of a stretched arm, where J^T e is 0.
Cost      two products with J an update.
Source.   Wolovich and Elliott 1984; Balestrino, De Maria and Sciavicco 1984; the step is eq. 5 of Buss 2004.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, final

from poise.kernels.methods.transpose import transpose_step
from poise.methods.base import Capabilities, JacobianMethod, method


@method
@final
@dataclass(frozen=True, kw_only=True)
class JacobianTranspose(JacobianMethod):
    """dq = alpha J^T e with Buss's alpha; see the module."""

    name: ClassVar[str] = "jt"
    title: ClassVar[str] = "Jacobian transpose"
    references: ClassVar[tuple[str, ...]] = ("buss2004", "wolovich1984", "balestrino1984")
    capabilities: ClassVar[Capabilities] = Capabilities(whole=False)
    iterations: ClassVar[int] = 2000
    max_step: float = math.radians(30.0)

    @staticmethod
    def step(p: Any, s: Any, w: Any) -> None:
        """dq = alpha J^T e."""
        transpose_step(p, w)
