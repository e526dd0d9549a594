"""BFGS and L-BFGS-B.

Idea.     Inverse kinematics is minimisation: the goals add up to f(q) = |e|^2, whose gradient -2 J^T e costs one
          product.  How the gradient changed along the steps taken so far tells the curvature of f, without second
          derivatives and without a system to solve.
Step.     dq = -H grad f, shortened until f falls enough.  BFGS keeps H, the estimate of the inverse Hessian, as an
          n x n matrix; L-BFGS-B only the last few steps, and from them takes H between the joints that no limit
          holds, while the step is bent into the limits.  The first step is the Jacobian transpose's.
Use when  many goals of few rows act on many joints, or as the yardstick from optimisation for the methods of robotics.
Not for   the fewest iterations: f is a square, which least-squares methods know and these must learn, so convergence
          is superlinear at best, and slow where the Jacobian is singular.
Cost      two evaluations an update at least; n^2 numbers for BFGS, 2 `memory` n for L-BFGS-B.
Source.   Zhao and Badler 1994; Nocedal 1980; Byrd, Lu, Nocedal and Zhu 1995.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities, positive
from poise.spatial import Array


@final
@dataclass(frozen=True, kw_only=True)
class BFGS:
    """dq = -H grad f with the whole matrix H, without limits; see the module."""

    name: ClassVar[str] = "bfgs"
    title: ClassVar[str] = "BFGS"
    references: ClassVar[tuple[str, ...]] = ("zhao1994", "nocedal1980")
    capabilities: ClassVar[Capabilities] = Capabilities(limits=False, characters=False)
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(45.0)
    """Largest change of a joint in one update [rad or m]; a longer step is shortened as a whole (ClampMaxAbs)."""

    def __post_init__(self) -> None:
        positive("max_step", self.max_step)

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        settings[at.METHOD], settings[at.MAX_STEP] = at.BFGS, self.max_step


@final
@dataclass(frozen=True, kw_only=True)
class LBFGS:
    """dq = -H grad f with H of the last `memory` steps, within the limits; see the module."""

    name: ClassVar[str] = "lbfgs"
    title: ClassVar[str] = "L-BFGS-B"
    references: ClassVar[tuple[str, ...]] = ("byrd1995", "zhao1994")
    capabilities: ClassVar[Capabilities] = Capabilities(characters=False)
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(45.0)
    """Largest change of a joint in one update [rad or m]; a longer step is shortened as a whole (ClampMaxAbs)."""
    memory: int = 8
    """Steps that are remembered."""

    def __post_init__(self) -> None:
        positive("max_step", self.max_step)
        if isinstance(self.memory, bool) or not isinstance(self.memory, int) or self.memory < 1:
            raise ValueError(f"memory is {self.memory!r}; it must be a whole number of steps, 1 or more")

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        settings[at.METHOD], settings[at.MAX_STEP], settings[at.OPTION] = at.LBFGS, self.max_step, self.memory
