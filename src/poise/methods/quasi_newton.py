"""BFGS and L-BFGS-B.

Idea.     Inverse kinematics is minimisation: the goals add up to f(q) = |e|^2, whose gradient -2 J^T e costs one
          product.  How the gradient changed along the steps taken so far tells the curvature of f, without second
          derivatives and without a system to solve.
Step.     dq = -H grad f, shortened until f falls enough.  BFGS keeps H, the estimate of the inverse Hessian, as an
          n x n matrix; L-BFGS-B only the last few steps.  H is taken between the joints that no limit holds, while the
          step is bent into the limits.  The first step is the Jacobian transpose's.
Use when  many goals of few rows act on many joints, or as the yardstick from optimisation for the methods of robotics.
Not for   the fewest iterations: f is a square, which least-squares methods know and these must learn, so convergence
          is superlinear at best, and slow where the Jacobian is singular.
Cost      two evaluations an update at least; n^2 numbers for BFGS, 2 `memory` n for L-BFGS-B.
Source.   Zhao and Badler 1994; Nocedal 1980; Byrd, Lu, Nocedal and Zhu 1995.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

from poise.common.checks import positive, whole
from poise.kernels.algebra.blocks import transpose_times
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.memory import FRESH, PAIRS, STEP
from poise.kernels.machine.record import Record
from poise.kernels.machine.views import section
from poise.kernels.methods.clamp import clamp_errors
from poise.kernels.methods.routines import updating
from poise.kernels.methods.transpose import transpose_step
from poise.kernels.methods.update import hold_joints_at_limits, move, remember, restrain
from poise.kernels.solver.ends import evaluate
from poise.methods.base import Capabilities, Case, Method, Prepared, method

_ARMIJO = 1e-4
"""Share of the fall that the slope promises which a step must bring."""
_TRIALS = 20
_CURVED = 1e-10
"""Cosine of a step and the change of the gradient above which the pair tells of a positive curvature."""
_SETTINGS: Final = Record("QuasiNewton", "memory")
"""`memory`: steps that are remembered, in `w.room`; 0: all, in the matrix H."""


def update(p: Any, s: Any, w: Any) -> Any:
    """Move w.q by one quasi-Newton step with a line search; the sum of squares and the score before it.

    A pair is measured within one update, towards one target, so that the pairs outlive the targets' moving.
    """
    cost, score = evaluate(p, w)
    remember(w, cost)
    clamp_errors(p, w)
    transpose_times(p, w.jacobian, w.e, w.phi)
    hold_joints_at_limits(p, w)
    if w.memory[FRESH] < 0.5:
        w.memory[PAIRS] = 0.0
    gone = False
    if w.memory[PAIRS] > 0.5:
        if s.memory == 0:
            _through_matrix(w)
        else:
            _through_pairs(w, s.memory)
        gone = _search(p, w, cost)
    if not gone:
        # What was learnt, if anything, misleads here: begin again with the first step of all.
        w.memory[PAIRS] = 0.0
        transpose_step(p, w)
        gone = _search(p, w, cost)
    if gone:
        _learn(p, s, w)
    return cost, score


_ROUTINE: Final = updating(update, _SETTINGS, wide=False)


@dataclass(frozen=True, kw_only=True)
class _QuasiNewton(Method):
    """The settings of both."""

    max_step: float = math.radians(45.0)
    """Largest change of a joint in one update [rad or m]; a longer step is shortened as a whole (ClampMaxAbs)."""

    def __post_init__(self) -> None:
        positive("max_step", self.max_step)

    def common(self) -> dict[str, float]:
        """See `Method.common`."""
        return {"max_step": self.max_step}


@method
@final
@dataclass(frozen=True, kw_only=True)
class BFGS(_QuasiNewton):
    """dq = -H grad f with the whole matrix H; see the module."""

    name: ClassVar[str] = "bfgs"
    title: ClassVar[str] = "BFGS"
    references: ClassVar[tuple[str, ...]] = ("zhao1994", "nocedal1980")
    capabilities: ClassVar[Capabilities] = Capabilities(gain=False, characters=False)
    iterations: ClassVar[int] = 300

    def prepare(self, case: Case) -> Prepared:
        """With the matrix."""
        return Prepared(_ROUTINE, {"memory": 0})

    def room(self, m: int, n: int) -> int:
        """H."""
        return n * n


@method
@final
@dataclass(frozen=True, kw_only=True)
class LBFGS(_QuasiNewton):
    """dq = -H grad f with H of the last `memory` steps, within the limits; see the module."""

    name: ClassVar[str] = "lbfgs"
    title: ClassVar[str] = "L-BFGS-B"
    references: ClassVar[tuple[str, ...]] = ("byrd1995", "zhao1994")
    capabilities: ClassVar[Capabilities] = Capabilities(gain=False, characters=False)
    iterations: ClassVar[int] = 300
    memory: int = 8
    """Steps that are remembered."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("memory", self.memory, 1)

    def prepare(self, case: Case) -> Prepared:
        """With the last steps."""
        return Prepared(_ROUTINE, {"memory": self.memory})

    def room(self, m: int, n: int) -> int:
        """Steps, changes of the gradient, and two numbers of each pair."""
        return 2 * self.memory * (n + 1)


@kernel
def _search(p: Any, w: Any, cost: Any) -> Any:
    """Line search along w.step, clipped to the limits, with Armijo's condition; False, and w.q back, if none is found.

    After a trial too far, the next is at the minimum of the parabola through both values and the slope.
    """
    restrain(p, w)
    n, scale = len(w.step), 1.0
    for a in range(n):
        w.other[a] = w.step[a]
    for _ in range(_TRIALS):
        for a in range(n):
            w.step[a] = scale * w.other[a]
        move(p, w)
        promised = 0.0
        for a in range(n):
            promised += 2.0 * w.gradient[a] * w.step[a]
        now, _score = evaluate(p, w)
        if promised > 0.0 and now <= cost - _ARMIJO * promised:
            return True
        # Along t the sum of squares is cost - promised t + (now - cost + promised) t^2; a tenth to a half is trusted.
        if promised > 0.0:
            scale *= min(max(0.5 * promised / (now - cost + promised), 0.1), 0.5)
        else:
            scale *= 0.5
    for i in range(len(w.q)):
        w.q[i] = w.before[i]
    for a in range(n):
        w.step[a] = 0.0
    evaluate(p, w)
    w.memory[STEP] = 0.0
    return False


@kernel
def _learn(p: Any, s: Any, w: Any) -> Any:
    """Learn from the pair s = w.step, y = change of the gradient of |e|^2, unless s^T y is not clearly positive.

    Only then does H stay positive definite.
    """
    n = len(w.step)
    transpose_times(p, w.jacobian, w.e, w.gradient)
    along = steps = changes = longest = 0.0
    for a in range(n):
        x, y = w.step[a], 2.0 * (w.phi[a] - w.gradient[a])
        w.other[a] = y
        along += x * y
        steps += x * x
        changes += y * y
        longest = max(longest, abs(x))
    w.memory[STEP] = longest
    if along * along > _CURVED * _CURVED * steps * changes and along > 0.0:
        if s.memory == 0:
            _update_inverse_hessian(w, along, changes)
        else:
            _store_pair(w, s.memory)
        w.memory[PAIRS] += 1.0


@kernel
def _through_matrix(w: Any) -> Any:
    """w.step = H 2 J^T e between the joints that w.free leaves, H (n x n) the estimate of the inverse Hessian."""
    n = len(w.step)
    for a in range(n):
        total = 0.0
        for b in range(n):
            total += w.room[a * n + b] * w.gradient[b]
        w.step[a] = 2.0 * total * w.free[a]


@kernel
def _update_inverse_hessian(w: Any, along: Any, changes: Any) -> Any:
    """H = (I - s y^T / s^T y) H (I - y s^T / s^T y) + s s^T / s^T y; at first, H = (s^T y / y^T y) I (Nocedal 1980).

    s is w.step, y is w.other; `along` is s^T y and `changes` y^T y.
    """
    n = len(w.step)
    if w.memory[PAIRS] < 0.5:
        for a in range(n):
            for b in range(n):
                w.room[a * n + b] = along / changes if a == b else 0.0
    square = 0.0
    for a in range(n):
        total = 0.0
        for b in range(n):
            total += w.room[a * n + b] * w.other[b]
        w.phi[a] = total
        square += total * w.other[a]
    rho = 1.0 / along
    for a in range(n):
        for b in range(n):
            x, y = w.step[a], w.step[b]
            w.room[a * n + b] += rho * ((1.0 + rho * square) * x * y - x * w.phi[b] - w.phi[a] * y)


@kernel
def _store_pair(w: Any, memory: Any) -> Any:
    """Put the step w.step and the gradient's change w.other in the place of the oldest pair of `memory`."""
    n = len(w.step)
    at = n * (int(w.memory[PAIRS]) % memory)
    for a in range(n):
        w.room[at + a] = w.step[a]
        w.room[memory * n + at + a] = w.other[a]


@kernel
def _through_pairs(w: Any, memory: Any) -> Any:
    """w.step = H 2 J^T e by the two loops over the pairs, newest first and then back (Nocedal 1980, section 3).

    Only the joints that w.free leaves count: what is used of H^-1 is its part between them, as in Byrd et al. 1995.
    A pair whose curvature is not positive in them is left out.
    """
    n, count = len(w.step), int(w.memory[PAIRS])
    stored, last = min(count, memory), count - 1
    steps, changes = section(w.room, 0, memory * n), section(w.room, memory * n, memory * n)
    inverse, pulled = section(w.room, 2 * memory * n, memory), section(w.room, 2 * memory * n + memory, memory)
    size = 0.0
    for a in range(n):
        w.step[a] = 2.0 * w.gradient[a]
    for k in range(stored):
        i = (last - k) % memory
        along = pull = square = 0.0
        for a in range(n):
            x, y = steps[i * n + a] * w.free[a], changes[i * n + a] * w.free[a]
            along += x * y
            pull += x * w.step[a]
            square += y * y
        inverse[i] = 1.0 / along if along > 0.0 else 0.0
        pulled[i] = pull * inverse[i]
        if size == 0.0 and along > 0.0:
            size = along / square  # of the newest pair: the scale of the first estimate, H_0 = (s^T y / y^T y) I
        for a in range(n):
            w.step[a] -= pulled[i] * changes[i * n + a] * w.free[a]
    for a in range(n):
        w.step[a] *= size
    for k in range(stored):
        i = (last - stored + 1 + k) % memory
        back = 0.0
        for a in range(n):
            back += changes[i * n + a] * w.step[a]
        back *= inverse[i]
        for a in range(n):
            w.step[a] += (pulled[i] - back) * steps[i * n + a] * w.free[a]
