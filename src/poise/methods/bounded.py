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
from typing import Any, ClassVar, Literal, final

from poise.common.checks import one_of, positive
from poise.common.errors import InvalidValue
from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.blocks import spread, transpose_times
from poise.kernels.algebra.cholesky import solve_symmetric
from poise.kernels.algebra.scalar import sincos
from poise.kernels.algebra.working_set import NONE, Levels
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch, sqrt
from poise.kernels.machine.memory import INVERSE_RADIUS
from poise.kernels.machine.views import section
from poise.kernels.methods.clamp import clamp_errors
from poise.kernels.methods.damping import damp
from poise.kernels.methods.update import bent_by_limits, hold_balls_at_limits, move, remember, shorten
from poise.kernels.requirements.limits import (
    jerking,
    left_to_limits,
    loosen_step_bounds,
    set_step_bounds,
    step_constraints,
)
from poise.kernels.solver.ends import evaluate
from poise.kernels.solver.limits import hold_flat
from poise.methods.base import Capabilities, Case, ClampMag, JacobianMethod, Method, Plan, method
from poise.methods.damping import Constant, Curvature, Damping, DampingRule, refuse_all_but_errors, rule_of
from poise.methods.priority import TaskPriority
from poise.methods.ranking import ranking

BOX, LAGRANGE, CLAMPING, CLIP, SLACK, PENALTY = range(6)
_OUTSIDE = 1e-12
"""A step beyond its bound by less is on it [rad or m]."""
_WRONG = 1e-13
"""A multiplier of the wrong sign that is more than rounding."""


@method
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
        one_of("way", self.way, ("box", "lagrange", "clamping", "clip", "slack", "penalty"))
        positive("penalty", self.penalty)
        refuse_all_but_errors(self.rule)

    @property
    def rule(self) -> DampingRule:
        """The damping rule."""
        return rule_of(self.damping)

    def refuse(self, case: Case) -> None:
        """Raises ValueError for limits that the penalty would break."""
        if case.limits and self.way == "penalty":
            raise InvalidValue(
                "conflict", "way='penalty' breaks the joint limits a little: pass limits=False, or choose way='box'"
            )

    @property
    def in_levels(self) -> Method:
        """The box is one level of `priority`, and in levels it is that method."""
        rule = self.rule
        if self.way != "box" or not isinstance(rule, Constant | Curvature):
            return self
        return TaskPriority(max_step=self.max_step, max_error=self.max_error, damping=rule)

    @property
    def keeps_inequalities(self) -> bool:
        """Whether an active set is what it goes by."""
        return self.way == "box"

    def room(self, m: int, n: int) -> int:
        """Bounds and a solution, and two matrices; that of the box is in the plan."""
        return 3 * n + 2 * n * n

    def plan(self, case: Case) -> Plan:
        """The `ranking`, of one level."""
        return ranking(case, [0] * len(case.tasks)) if self.way == "box" else Plan()

    @staticmethod
    def update(p: Any, s: Any, w: Any) -> tuple[Any, Any]:
        """Move w.q by one step of the ways above; the sum of squares and the score before it."""
        cost, score = evaluate(p, w)
        remember(w, cost)
        clamp_errors(p, w)
        for a in range(len(w.free)):
            w.free[a] = 1.0
        if s.way == BOX:
            hold_flat(p, w)
            loosen_step_bounds(p, w)
            _box_step(p, w)
        else:
            hold_balls_at_limits(p, w)
            _columns_step(p, s, w)
        set_step_bounds(p, w)
        shorten(p, w, w.memory[INVERSE_RADIUS])
        if s.way == BOX and not jerking(p) and bent_by_limits(p, w):
            _box_step(p, w)
        move(p, w)
        return cost, score


@kernel
def _box_step(p: Any, w: Any) -> Any:
    """w.step = the exact minimum within limits and inequalities; the active set begins with that of the last step."""
    m, n = len(w.e), len(w.step)
    row = pitch(w.rows, n)
    for i in range(m * row):
        w.rows[i] = 0.0
    spread(p, w.jacobian, w.free, row, w.rows)
    constraints = step_constraints(p, w, 1, NONE)
    constraints.squares[0] = damp(p, w)
    level = Levels(1, section(p.plan, 1, 2), section(p.plan, 3, m), w.rows, w.clamped, constraints.squares, w.phi, 0)
    minimise(level, constraints.limits, w.step, constraints.side, constraints.buffer)


@kernel
def _columns_step(p: Any, s: Any, w: Any) -> Any:
    """w.step by the other ways, from the matrix J^T J + lambda^2 I of all joints."""
    n, m = len(w.step), len(w.e)
    low, high, rest = section(w.room, 0, n), section(w.room, n, n), section(w.room, 2 * n, n)
    matrix, scratch = section(w.room, 3 * n, n * n), section(w.room, 3 * n + n * n, n * n)
    way = s.way
    for i in range(m * n):
        w.rows[i] = 0.0
    spread(p, w.jacobian, w.free, n, w.rows)
    transpose_times(p, w.jacobian, w.clamped, w.gradient)
    for a in range(n):
        w.phi[a] = 1.0
    if way == SLACK:
        _to_slack(p, s, w)
        for i in range(m):
            for a in range(n):
                w.rows[i * n + a] *= w.phi[a]
        for a in range(n):
            w.gradient[a] *= w.phi[a]
    damping = damp(p, w)
    for a in range(n):
        for b in range(a + 1):
            total = 0.0
            for i in range(m):
                total += w.rows[i * n + a] * w.rows[i * n + b]
            matrix[a * n + b] = total
            matrix[b * n + a] = total
        matrix[a * n + a] += damping
    if way == PENALTY:
        _punish(p, s, w, matrix)
    if way in (LAGRANGE, CLAMPING):
        left_to_limits(p, w, NONE, low, high)
        _by_multipliers(w, matrix, scratch, rest, low, high, way == LAGRANGE)
    else:
        _solve_free(n, matrix, scratch, w.gradient, w.free, w.step, rest)
        for a in range(n):
            w.step[a] = rest[a]
    if way == SLACK:
        _to_joints(p, s, w)


@kernel
def _solve_free(n: Any, matrix: Any, scratch: Any, g: Any, free: Any, x: Any, z: Any) -> Any:
    """z = argmin z^T A z / 2 - g^T z over the free entries, the others as in x; held rows become the identity's."""
    for a in range(n):
        value = g[a]
        for b in range(n):
            held = free[a] == 0.0 or free[b] == 0.0
            scratch[a * n + b] = (1.0 if a == b else 0.0) if held else matrix[a * n + b]
            if free[b] == 0.0:
                value -= matrix[a * n + b] * x[b]
        z[a] = value if free[a] > 0.0 else x[a]
    solve_symmetric(n, scratch, z)


@kernel
def _release(n: Any, matrix: Any, low: Any, high: Any, g: Any, free: Any, x: Any, least: Any) -> Any:
    """The held entry whose multiplier g - A x points most into the box, by more than `least`, or -1."""
    worst, most = -1, least
    for a in range(n):
        if free[a] == 0.0 and low[a] < high[a]:
            multiplier = g[a]
            for b in range(n):
                multiplier -= matrix[a * n + b] * x[b]
            inward = multiplier if x[a] <= low[a] else -multiplier
            if inward > most:
                worst, most = a, inward
    return worst


@kernel
def _by_multipliers(w: Any, matrix: Any, scratch: Any, z: Any, low: Any, high: Any, releasing: Any) -> Any:
    """w.step by Lagrange multipliers: solve the free entries, hold the one most outside, again; release wrong signs.

    Without `releasing`, all that are outside are held at once and for good: the clamping loop of Baerlocher and Boulic.
    """
    n, g, free, x = len(w.step), w.gradient, w.free, w.step
    for a in range(n):
        x[a] = 0.0
    for _ in range(6 * n + 6):
        _solve_free(n, matrix, scratch, g, free, x, z)
        worst, most = -1, _OUTSIDE
        for a in range(n):
            if free[a] > 0.0:
                x[a] = z[a]
                over = max(z[a] - high[a], low[a] - z[a])
                if over > _OUTSIDE and not releasing:
                    x[a] = min(max(z[a], low[a]), high[a])
                    free[a] = 0.0
                    worst = a
                elif over > most:
                    worst, most = a, over
        if releasing and worst >= 0:
            x[worst] = high[worst] if z[worst] > high[worst] else low[worst]
            free[worst] = 0.0
        elif worst < 0:
            if not releasing:
                return
            worst = _release(n, matrix, low, high, g, free, x, _WRONG)
            if worst < 0:
                return
            free[worst] = 1.0
    for a in range(n):
        x[a] = min(max(x[a], low[a]), high[a])


@kernel
def _to_slack(p: Any, s: Any, w: Any) -> Any:
    """w.phi is dq / dy of each joint with two limits, q = middle + half sin y: 0 at a limit."""
    for c in range(len(p.coordinates)):
        low, high = p.bounds[2 * c], p.bounds[2 * c + 1]
        half = 0.5 * (high - low)
        if 0.0 < half < 1e300:
            sine = (w.q[p.coordinates[c].q] - 0.5 * (low + high)) / half
            w.phi[p.coordinates[c].v] = half * sqrt(max(0.0, 1.0 - sine * sine))


@kernel
def _to_joints(p: Any, s: Any, w: Any) -> Any:
    """Turn steps of y into those of q."""
    for c in range(len(p.coordinates)):
        low, high, a = p.bounds[2 * c], p.bounds[2 * c + 1], p.coordinates[c].v
        half, x = 0.5 * (high - low), w.q[p.coordinates[c].q]
        if 0.0 < half < 1e300:
            sine = (x - 0.5 * (low + high)) / half
            s0, c0 = sincos(w.step[a])
            w.step[a] = half * (sine * c0 + sqrt(max(0.0, 1.0 - sine * sine)) * s0 - sine)


@kernel
def _punish(p: Any, s: Any, w: Any, matrix: Any) -> Any:
    """Add `penalty` times the square of what is beyond the limits to the sum of squares."""
    n = len(w.step)
    for c in range(len(p.coordinates)):
        x, a = w.q[p.coordinates[c].q], p.coordinates[c].v
        beyond = max(x - p.bounds[2 * c + 1], 0.0) - max(p.bounds[2 * c] - x, 0.0)
        if beyond != 0.0:
            matrix[a * n + a] += s.penalty
            w.gradient[a] -= s.penalty * beyond
