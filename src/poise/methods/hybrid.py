"""Newton's step where it is sound, the transpose where it is not.

Idea.     The pseudoinverse is quick away from singular poses and wild near them, where the transpose is only slow.
Step.     Newton's, if sigma_min >= switch sigma_max and it lowers the error; else the transpose with Buss's alpha.
          Newton's step is given up only below half the switch, so that the two do not take turns.
Use when  comparing: Levenberg-Marquardt is the smooth version of the same idea.
Not for   the least error out of reach, which the transpose approaches slowly.
Cost      a singular value decomposition and two evaluations an update.
Source.   Das, Slotine and Sheridan 1988, section 2.3, which suggests a hybrid and gives no switching law; this is ours.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

from poise.common.checks import positive
from poise.kernels.machine.lanes import load, pitch, select, splat, store
from poise.kernels.machine.memory import COST, NEWTON
from poise.kernels.methods.damping import ranked
from poise.kernels.methods.filters import inverses, split
from poise.kernels.methods.transpose import transpose_step
from poise.kernels.methods.update import move, restrain
from poise.kernels.solver.ends import evaluate
from poise.methods.base import Capabilities, Case, JacobianMethod, Prepared, method


@method
@final
@dataclass(frozen=True, kw_only=True)
class Hybrid(JacobianMethod):
    """Newton or transpose, by the smallest singular value and the error; see the module."""

    name: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "Newton and transpose"
    references: ClassVar[tuple[str, ...]] = ("das1988",)
    capabilities: ClassVar[Capabilities] = Capabilities(whole=False)
    iterations: ClassVar[int] = 1000
    max_step: float = math.radians(45.0)
    switch: float = 0.01
    """Share of the largest singular value that the smallest must reach for Newton's step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("switch", self.switch)

    def prepare(self, case: Case) -> Prepared:
        """The smallest singular value is that of those which are not always zero."""
        return replace(super().prepare(case), ranked=True)

    @staticmethod
    def step(p: Any, s: Any, w: Any) -> None:
        """Newton's step where it is sound, else the transpose."""
        n = len(w.step)
        row = pitch(w.rows, n)
        transpose_step(p, w)
        for a in range(n):
            store(w.other, a, load(w.step, a))
            store(w.step, a, splat(w.e, 0.0))
        top = split(p, w)
        for i in range(len(w.e)):
            inverse = inverses(load(w.sigma, i), top)
            scale = inverse * inverse * load(w.along, i)
            for a in range(n):
                store(w.step, a, load(w.step, a) + scale * load(w.rows, i * row + a))
        edge = select(load(w.memory, NEWTON) > 0.5, 0.5 * s.switch, splat(w.e, s.switch))
        newton = ranked(w.sigma, p.common[0].dependent) >= edge * top
        restrain(p, w)
        move(p, w)
        after, _ = evaluate(p, w)
        newton = newton & (after < 0.9999 * load(w.memory, COST))
        store(w.memory, NEWTON, select(newton, 1.0, splat(w.e, 0.0)))
        for a in range(n):
            store(w.step, a, select(newton, load(w.step, a), load(w.other, a)))
