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
from typing import Any, ClassVar, Final, Literal, final

from poise.common.checks import one_of, positive
from poise.kernels.machine.lanes import load, pitch, select, splat, sqrt, store
from poise.kernels.methods.criteria import RANK
from poise.kernels.methods.damping import damp
from poise.kernels.methods.filters import add_null_term, split
from poise.methods.base import Capabilities, ClampMag, NullSpaceMethod, method
from poise.methods.damping import Curvature, Damping, DampingRule, refuse_all_but_errors, rule_of

_SOFT: Final = 1


@method
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
        refuse_all_but_errors(self.rule)

    @property
    def rule(self) -> DampingRule:
        """The damping rule."""
        return rule_of(self.damping)

    @staticmethod
    def step(p: Any, s: Any, w: Any) -> None:
        """Each singular direction's own clamp gamma_i.

        phi_i = v_i (u_i^T e) sigma_i / (sigma_i^2 + lambda^2) goes no farther than
        gamma_i = gamma_max min(1, N_i / M_i): N_i is how far a unit of u_i moves all effectors, and M_i bounds how far
        they would travel on the way.
        """
        m, n = len(w.e), len(w.step)
        row, side = pitch(w.rows, n), pitch(w.turn, m)
        widest, soft = s.max_angle, s.clamps == _SOFT
        damping = damp(p, w)
        for a in range(n):
            store(w.other, a, splat(w.e, 0.0))
            store(w.step, a, splat(w.e, 0.0))
        for k in range(len(p.effectors)):
            for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
                j = p.blocks[b].start
                for c in range(p.effectors[k].columns):
                    a = p.slots[p.effectors[k].first_slot + c]
                    x, y, z = load(w.jacobian, j), load(w.jacobian, j + 1), load(w.jacobian, j + 2)
                    store(w.other, a, load(w.other, a) + sqrt(x * x + y * y + z * z))
                    j += 3
        top = split(p, w)
        for i in range(m):
            sigma = load(w.sigma, i)
            real = sigma > RANK * top
            inverse = select(real, 1.0 / select(real, sigma, 1.0), 0.0)
            moved = splat(w.e, 0.0)
            for k in range(0, m, 3):
                x, y, z = load(w.turn, i * side + k), load(w.turn, i * side + k + 1), load(w.turn, i * side + k + 2)
                moved = moved + sqrt(x * x + y * y + z * z)
            motion, longest = splat(w.e, 0.0), splat(w.e, 0.0)
            for a in range(n):
                v = load(w.rows, i * row + a)
                v = select(v < 0.0, -v, v)
                motion = motion + v * load(w.other, a)
                longest = select(v > longest, v, longest)
            motion = motion * inverse * inverse
            gamma = widest * select(moved < motion, moved / select(real, motion, 1.0), 1.0)
            square = sigma * sigma + damping
            scale = select(real, load(w.along, i) / select(real, square, 1.0), 0.0)
            size = longest * select(scale < 0.0, -scale, scale)
            if soft:
                scale = scale * gamma / (gamma + size)
            else:
                scale = scale * select(size > gamma, gamma / select(real, size, 1.0), 1.0)
            scale = select(real, scale, 0.0)
            for a in range(n):
                store(w.step, a, load(w.step, a) + scale * load(w.rows, i * row + a))
        longest = splat(w.e, 0.0)
        for a in range(n):
            x = load(w.step, a)
            x = select(x < 0.0, -x, x)
            longest = select(x > longest, x, longest)
        over = longest > widest
        scale = widest / (widest + longest) if soft else widest / select(over, longest, 1.0)
        scale = select(over, scale, 1.0)
        for a in range(n):
            store(w.step, a, load(w.step, a) * scale)
        add_null_term(p, w, top)
