"""Task priority.

Idea.     Tasks stand in levels, those of priority 0 first, and a level moves only what the levels before it leave free:
          feet that stand do not slip because a hand reaches farther.
Step.     "lexicographic": dq within max(l - q, -v dt) <= dq <= min(u - q, v dt) is for each level in turn the minimum
          of |J_k dq - e_k|^2 + lambda_k^2 |dq|^2 that keeps every J_j dq of the levels before.  The others go by
          inverses: "siciliano-slotine" is dq_k = dq_(k-1) + (J_k P_(k-1))^+ (e_k - J_k dq_(k-1)), with the projector
          P_k = P_(k-1) - (J_k P_(k-1))^+ (J_k P_(k-1)); "baerlocher-boulic" is the same with damped inverses in the
          step, not in P; "chiaverini" is dq_k = dq_(k-1) + P_(k-1) J_k^+ e_k, which inverts no J_k P.
Use when  some tasks must not give way to others, as feet, a camera or a tool against a posture.
Not for   tasks that shall share what cannot be reached: give them one priority and weights.  By inverses, a joint at
          a limit is left out of all levels and a step that is too long is shortened as a whole, so that limits can
          disturb the first level for the last one's sake; with "lexicographic" they cannot.  Where J_k P loses rank, as
          out of reach, the steps of all forms go round in a cycle, which a Tracker lets die out; "chiaverini" follows a
          later level only roughly.
Cost      by inverses, a singular value decomposition of each level (two with "chiaverini"); "lexicographic", one
          orthogonal factorisation of all rows, of a level once more for each joint that meets a limit in it, and of
          all once more for each that leaves one.
Source.   Siciliano and Slotine 1991; Chiaverini 1997; Baerlocher and Boulic 1998 and 2004; for levels with limits
          inside, Escande, Mansard and Wieber 2014, whose problem it is and whose algorithm it is not.

Loops are a level before all others.  Beside them a bound of the curvature, as `Curvature` is, says little: the joints
of a mechanism turn far for what its platform moves, and all of them bend the way by less than each could.  So where the
rule is that one, lambda is tried without: a step that, with its loops closed, takes away at least half of what the
linear model promises is taken so, else one with a quarter of lambda, and only if both fail one with all of it.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, final

import numpy as np

from poise.common.checks import not_negative, one_of
from poise.common.errors import InvalidValue
from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.blocks import spread, times
from poise.kernels.algebra.reflections import dot
from poise.kernels.algebra.svd import decompose, identity
from poise.kernels.algebra.working_set import Levels, along
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack, zeros
from poise.kernels.machine.layout import CLOSED, WIDTH
from poise.kernels.machine.memory import DAMPING, INVERSE_RADIUS, SHARE
from poise.kernels.machine.record import Record
from poise.kernels.machine.views import section
from poise.kernels.methods.criteria import null_space_velocity
from poise.kernels.methods.damping import damp
from poise.kernels.methods.routines import updating
from poise.kernels.methods.update import bent_by_limits, hold_joints_at_limits, measure, move, shorten, size_of
from poise.kernels.requirements.heavy_joints import (
    add_shortfall_step,
    any_heavy_joint,
    find_shortfall,
    keep_heavy_joints,
    weigh_columns,
)
from poise.kernels.requirements.limits import jerking, loosen_step_bounds, set_step_bounds, step_constraints
from poise.kernels.requirements.loops import project_to_loops
from poise.kernels.requirements.nearest_step import state_box
from poise.kernels.solver.ends import evaluate
from poise.kernels.solver.limits import hold_flat
from poise.methods.base import Capabilities, Case, ClampMag, NullSpaceMethod, Plan, Prepared, method
from poise.methods.criteria import Manipulability
from poise.methods.damping import Constant, Curvature, DampingRule, MaxNorm, rule_of
from poise.methods.ranking import delegated_level, levels_of_loops, ranking, ranks

Form = Literal["lexicographic", "siciliano-slotine", "chiaverini", "baerlocher-boulic"]
_RULES: dict[str, tuple[type[DampingRule], ...]] = {
    "lexicographic": (Curvature, Constant),
    "siciliano-slotine": (),
    "chiaverini": (),
    "baerlocher-boulic": (MaxNorm, Constant),
}
_LESS = 1e-6
"""What a squared error counts against one of the level before, when iterates are compared."""
_RANK = 1e-6
"""Against |J_k|, a singular value of J_k P below which its direction is not open to level k.

Against the largest of J_k P itself it would pass rounding for a direction where the levels before leave nothing.
"""
_FIRST = 1e-3
"""Factor of INVERSE_RADIUS for the whole step: a trust radius a thousand times that of the later levels, which binds
where the first level itself overshoots."""
_EASED = (2.0**-60, 2.0**-4)
"""Factors of lambda^2 with which a step is tried beside loops."""
_PROMISED = 0.5
"""Share of the promised fall of the squared errors that a tried step has to keep."""
_SMALL = 1e-12
"""A sum of squared errors below which nothing is tried: lambda is next to nothing anyway [m^2, rad^2]."""
_CHIAVERINI, _BAERLOCHER_BOULIC = 2, 3
NONE_DELEGATED = -1
"""No level is another method's."""
_PROJECTED: Final = Record("Projected", "loops form", "constant longest")
"""`loops` as of the minimum in levels, `form` as in the settings; lambda^2 is `constant`, or by MaxNorm's formula where
`longest` is not 0."""


def lexicographic_update(p: Any, s: Any, w: Any) -> Any:
    """Move w.q by the step that is least in levels, within the limits; (squared errors before it, score).

    The errors of a later level count less.
    """
    return _go_in_levels(p, s, w, NONE_DELEGATED)


def completing_update(p: Any, s: Any, w: Any) -> Any:
    """`lexicographic_update` where another method proposes w.delegated_step: its level asks for J_k times that step.

    Without a posture, the directions that no level asks for follow w.delegated_step too.
    """
    return _go_in_levels(p, s, w, int(s.delegated))


@functools.partial(kernel, inline=True)
def _go_in_levels(p: Any, s: Any, w: Any, delegated: Any) -> Any:
    """The update, of which another method proposes level `delegated`, if any."""
    cost, score, levels = _measure(p, w, s.loops)
    for a in range(len(w.free)):
        w.free[a] = 1.0
    hold_flat(p, w)
    _spread_rows(p, w)
    if delegated != NONE_DELEGATED:
        _use_proposal(p, levels, delegated, w)
    # The step as the tasks wish it, then cut to what accelerations leave; what they have bent is solved once more.
    loosen_step_bounds(p, w)
    share = _within_limits(p, s, levels, delegated, False, w)
    set_step_bounds(p, w)
    shorten(p, w, _FIRST * w.memory[INVERSE_RADIUS])
    keep_heavy_joints(p, w)
    if not jerking(p) and bent_by_limits(p, w):
        _spread_rows(p, w)
        if delegated != NONE_DELEGATED and len(p.posture_mask) == 0:
            _follow_proposal(w)
        share = _within_limits(p, s, levels, delegated, True, w)
    if any_heavy_joint(p):
        set_step_bounds(p, w)
    w.memory[SHARE] *= share
    move(p, w)
    return cost, score


def projected_update(p: Any, s: Any, w: Any) -> Any:
    """Move w.q by one step of the methods that project level by level; (squared errors before it, score)."""
    cost, score, levels = _measure(p, w, s.loops)
    hold_joints_at_limits(p, w)
    _spread_rows(p, w)
    _by_projectors(p, s, p.plan[0], levels, w)
    shorten(p, w, w.memory[INVERSE_RADIUS])
    move(p, w)
    return cost, score


_LEXICOGRAPHIC: Final = Record("Lexicographic", "loops eases", "first")
"""`loops`: levels of loops, which come first, 0 or 1; `eases`: whether less damping is tried beside them; `first`: the
share of its damping that the first of the other levels has."""
_LEXICOGRAPHIC_ROUTINE: Final = updating(lexicographic_update, _LEXICOGRAPHIC, wide=False)
_COMPLETING: Final = Record("Completing", "loops eases delegated", "first")
"""`delegated`: the level that another method proposes."""
_COMPLETING_ROUTINE: Final = updating(completing_update, _COMPLETING, wide=False)
_PROJECTED_ROUTINE: Final = updating(projected_update, _PROJECTED, wide=False)


@method
@final
@dataclass(frozen=True, kw_only=True)
class TaskPriority(NullSpaceMethod):
    """Levels of tasks, of which none disturbs those before it; see the module.

    A null-space term is the last level, and so is the PostureTask of a Tracker.
    """

    name: ClassVar[str] = "priority"
    title: ClassVar[str] = "Task priority"
    references: ClassVar[tuple[str, ...]] = (
        "escande2014",
        "siciliano1991",
        "chiaverini1997",
        "baerlocher1998",
        "baerlocher2004",
    )
    capabilities: ClassVar[Capabilities] = Capabilities(priorities=True, posture=True, characters=False)
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(45.0)
    """Largest change of a joint in one update [rad or m]; one more bound of the box with "lexicographic", else a longer
    step is shortened as a whole."""
    max_error: float | ClampMag | None = 0.2
    form: Form = "lexicographic"
    damping: float | Constant | Curvature | MaxNorm | None = None
    """lambda, or a rule that is taken for each level by itself.  None: `Curvature(0.2)` with "lexicographic",
    `MaxNorm(0.5)` with "baerlocher-boulic"; the other two forms have none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("form", self.form, tuple(_RULES))
        not_negative("first_damping", self.first_damping)
        if self.damping is not None and not isinstance(rule_of(self.damping), _RULES[self.form]):
            able = " or ".join(kind.__name__ for kind in _RULES[self.form])
            raise InvalidValue(
                "conflict",
                f"form={self.form!r} takes no damping {self.damping!r}; it must be "
                + (f"lambda, or a {able}" if able else "None, for its inverses are not damped"),
            )

    first_damping: float = 1.0
    """With "lexicographic", the share of lambda^2 that the first level has: a small one follows moving targets closely
    where nothing else is so well fulfilled, as feet of a free base are."""

    @property
    def rule(self) -> DampingRule | None:
        """The damping rule."""
        usual = {"lexicographic": Curvature(0.2), "baerlocher-boulic": MaxNorm(0.5)}
        return usual.get(self.form) if self.damping is None else rule_of(self.damping)

    def refuse(self, case: Case) -> None:
        """Raises ValueError for a criterion that needs singular values."""
        if any(isinstance(term, Manipulability) for term in self.terms):
            raise InvalidValue(
                "not-supported", "Manipulability is no criterion of the last level of priorities: leave it out"
            )

    def prepare(self, case: Case) -> Prepared:
        """The minimum in levels, or by inverses."""
        rule = self.rule
        if self.form == "lexicographic":
            eases = isinstance(rule, Curvature) and not case.delegated
            numbers = {"first": self.first_damping, "loops": levels_of_loops(case), "eases": int(eases)}
            damping = None if rule is None else rule.routine
            if case.delegated:
                return Prepared(_COMPLETING_ROUTINE, {**numbers, "delegated": delegated_level(case)}, damping=damping)
            return Prepared(_LEXICOGRAPHIC_ROUTINE, numbers, damping=damping)
        numbers = {
            "loops": levels_of_loops(case),
            "form": tuple(_RULES).index(self.form),
            "constant": rule.damping**2 if isinstance(rule, Constant) else 0.0,
            "longest": rule.longest if isinstance(rule, MaxNorm) else 0.0,
        }
        return Prepared(_PROJECTED_ROUTINE, numbers)

    @property
    def follows_posture(self) -> bool:
        """Whether the minimum in levels is what it goes by."""
        return self.form == "lexicographic"

    @property
    def keeps_inequalities(self) -> bool:
        """Whether the minimum in levels is what it goes by."""
        return self.form == "lexicographic"

    def room(self, m: int, n: int) -> int:
        """Of the inverses, P, J_k P and one row; that of the minimum in levels is in the plan."""
        return (n + m + 1) * WIDTH * -(-n // WIDTH)

    def plan(self, case: Case) -> Plan:
        """The `ranking`; raises ValueError for a level that can never do anything."""
        plan = ranking(case, ranks(case))
        _refuse_levels(case, plan)
        return plan


def _refuse_levels(case: Case, plan: Plan) -> None:
    """Raises ValueError for a level that can never do anything.

    The first beside loops is led with them, whatever they leave it.  Ranges may: within them their rows take up
    nothing, and outside a pose at random may be within.  What need not be met gives way to all that leaves it nothing.
    """
    tasks, n = case.tasks, case.columns
    places = ranks(case)
    count = max(places, default=-1) + 1
    first, order = plan.numbers[1 : count + 2], plan.numbers[count + 2 :]
    lasting = np.repeat([not task.inequality_rows for task in tasks], [3 * len(task.blocks) for task in tasks])
    for k in range(2 * levels_of_loops(case), count):
        members = [task for task, place in zip(tasks, places, strict=True) if place == k]
        names, priority = ", ".join(task.label for task in members), members[0].priority
        if not any(task.inequality_rows for task in members) and case.rank(order[first[k] : first[k + 1]]) == 0:
            raise InvalidValue(
                "nothing-moves",
                f"priority {priority} holds no row that a joint can change: {names}; look at the weights",
            )
        before = order[: first[k]]
        if any(task.required for task in members) and k and case.rank(before[lasting[before]]) == n:
            raise InvalidValue(
                "nothing-moves",
                f"priority {priority} can never act: the rows of the levels before it take up all {n} directions in "
                f"which {case.model.name} moves them; drop {names}, or leave it some with weights of 0 or fewer rows",
            )


@functools.partial(kernel, inline=True)
def _measure(p: Any, w: Any, loops: Any) -> Any:
    """Errors, clamped, and Jacobians at w.q; (squared errors, score, what `plan` says of the levels)."""
    _, score = measure(p, w, False)
    levels = section(p.plan, 1, len(p.plan) - 1)
    count = p.plan[0]
    cost = _ranked_cost(count, levels, section(levels, count + 1, len(w.e)), loops, w.e)
    return cost, score, levels


@functools.partial(kernel, inline=True)
def _spread_rows(p: Any, w: Any) -> Any:
    """w.rows = the Jacobian of all levels (m x n, in packs), and w.phi = the null-space velocity (n)."""
    for a in range(len(w.step)):
        w.phi[a] = 0.0
    if p.common[0].null:
        null_space_velocity(p, w)
    row = pitch(w.rows, len(w.step))
    for i in range(len(w.e) * row):
        w.rows[i] = 0.0
    spread(p, w.jacobian, w.free, row, w.rows)


@kernel
def _use_proposal(p: Any, levels: Any, delegated: Any, w: Any) -> Any:
    """The errors of the delegated level become J_k w.delegated_step, which its proposed step does."""
    times(p, w.jacobian, w.delegated_step, w.y)
    count = p.plan[0]
    for r in range(levels[delegated], levels[delegated + 1]):
        i = levels[count + 1 + r]
        w.clamped[i] = w.y[i]
    if len(p.posture_mask) == 0:
        _follow_proposal(w)


@kernel
def _follow_proposal(w: Any) -> Any:
    """The last level goes as w.delegated_step does."""
    for a in range(len(w.phi)):
        w.phi[a] = w.delegated_step[a]


@kernel
def _ranked_cost(count: Any, first: Any, order: Any, loops: Any, e: Any) -> Any:
    """The sum of the levels' squared errors, each weighted by _LESS of the one before, as which loops do not count."""
    cost, share = 0.0, 1.0
    for k in range(count):
        for r in range(first[k], first[k + 1]):
            x = e[order[r]]
            cost += share * x * x
        share *= 1.0 if k < loops else _LESS
    return cost


@functools.partial(kernel, inline=True)
def _within_limits(p: Any, s: Any, levels: Any, delegated: Any, again: Any, w: Any) -> Any:
    """w.step = the minimum in levels within the box and rows of `step_constraints`; the share left to later levels.

    `again`: solved for what accelerations have bent; heavy joints
    then keep their step, and the delegated level is damped as others are, or its step would oscillate.
    """
    count, null = p.plan[0], int(p.common[0].null)
    constraints = step_constraints(p, w, count, p.common[0].max_step)
    _level_dampings(p, count, levels, w, constraints.squares)
    first_stated = min(s.loops, count - 1)
    w.memory[DAMPING] = constraints.squares[first_stated]
    constraints.squares[first_stated] *= s.first
    if delegated != NONE_DELEGATED and not again:
        constraints.squares[delegated] = 0.0
    first, order = section(levels, 0, count + 1), section(levels, count + 1, len(w.e))
    heavy = any_heavy_joint(p) and not again
    if heavy:
        plain = Levels(count, first, order, w.rows, w.clamped, constraints.squares, w.phi, 0)
        minimise(plain, constraints.limits, w.step, constraints.side, constraints.buffer)
        find_shortfall(p, w, count, first, order, constraints)
    elif s.eases and len(p.loops) > 0 and not again:
        _ease(p, w, s.loops, Levels(count, first, order, w.rows, w.clamped, constraints.squares, w.phi, 0), constraints)
    if len(p.weight_ratios) > 0:
        weigh_columns(p, w, constraints.limits)
    # All levels, in unknowns that the posture weighs alike, and the pull to phi as the last.
    stages = Levels(count, first, order, w.rows, w.clamped, constraints.squares, w.phi, null)
    minimise(stages, constraints.limits, w.step, constraints.side, constraints.buffer)
    # The trust radius shortens later levels alone: the first is solved by itself to know its own step.  Beside loops
    # alone it is the only one that could be shortened.
    if w.memory[INVERSE_RADIUS] > 0.0 and count + null > 1:
        for a in range(len(w.step)):
            w.other[a] = w.step[a]
        foremost = s.loops if count + null > s.loops + 1 else 0
        alone = Levels(max(delegated, foremost) + 1, first, order, w.rows, w.clamped, constraints.squares, w.phi, 0)
        minimise(alone, constraints.limits, w.step, constraints.side, constraints.buffer)
        for a in range(len(p.weight_ratios)):
            w.other[a] = w.other[a] * p.weight_ratios[a]
            w.step[a] = w.step[a] * p.weight_ratios[a]
        shortened = _shorten_later_levels(w)
        if heavy:
            add_shortfall_step(p, w, count, first, order, constraints)
        return shortened
    for a in range(len(p.weight_ratios)):
        w.step[a] = w.step[a] * p.weight_ratios[a]
    if heavy:
        add_shortfall_step(p, w, count, first, order, constraints)
    return 1.0


@kernel
def _ease(p: Any, w: Any, loops: Any, levels: Any, constraints: Any) -> Any:
    """Lessen lambda^2 of all levels but that of loops, as far as a step that is tried with it keeps its promise.

    Where loops are open, or little is left, nothing is tried.  w.y, w.q, w.step and w.closure are scratch.
    """
    opened = 0.0
    for r in range(levels.first[loops]):
        opened = max(opened, abs(w.e[levels.order[r]]))
    if not opened <= CLOSED or _ranked_cost(levels.count, levels.first, levels.order, loops, w.e) < _SMALL:
        return
    for factor in _EASED:
        for k in range(loops, levels.count):
            levels.squares[k] *= factor
        minimise(levels, constraints.limits, w.step, constraints.side, constraints.buffer)
        if _keeps_promise(p, w, loops, levels):
            return
        for k in range(loops, levels.count):
            levels.squares[k] /= factor


@kernel
def _keeps_promise(p: Any, w: Any, loops: Any, levels: Any) -> Any:
    """Whether w.step, shortened as a step is and its loops closed, takes away as much as it should; w.e and the
    Jacobian end as they were."""
    n, now = len(w.step), _ranked_cost(levels.count, levels.first, levels.order, loops, w.e)
    longest, swiftest = size_of(p, w.step)
    share = 1.0 / max(1.0, swiftest, longest * w.memory[INVERSE_RADIUS])
    for i in range(len(w.e)):
        w.y[i] = w.e[i] - share * along(n, w.rows, i, w.step)
    for a in range(n):
        w.step[a] *= share
    promised = _ranked_cost(levels.count, levels.first, levels.order, loops, w.y)
    state_box(p, w, False)
    closed = project_to_loops(p, w, w.before, w.step, w.constraints.lowest, w.constraints.highest, w.q)
    evaluate(p, w)
    then = _ranked_cost(levels.count, levels.first, levels.order, loops, w.e)
    for i in range(len(w.q)):
        w.q[i] = w.before[i]
    evaluate(p, w)
    hold_flat(p, w)
    return closed and now - then >= _PROMISED * (now - promised)


@kernel
def _shorten_later_levels(w: Any) -> Any:
    """Go from w.step, the first level's own, towards w.other, that of all, by the trust radius at most; the share.

    The first level loses nothing: all steps between the two do the same for it, and are within the limits.
    """
    farthest = 0.0
    for a in range(len(w.step)):
        farthest = max(farthest, abs(w.other[a] - w.step[a]))
    share = 1.0 / max(1.0, farthest * w.memory[INVERSE_RADIUS])
    for a in range(len(w.step)):
        w.step[a] += share * (w.other[a] - w.step[a])
        w.other[a] = 0.0
    return share


@functools.partial(kernel, inline=True)
def _level_dampings(p: Any, count: Any, levels: Any, w: Any, squares: Any) -> Any:
    """lambda^2 of each level, by the rule, from the errors of that level alone."""
    m = len(w.e)
    for i in range(m):
        w.y[i] = w.clamped[i]
    for k in range(count):
        for i in range(m):
            w.clamped[i] = 0.0
        for r in range(levels[k], levels[k + 1]):
            i = levels[count + 1 + r]
            w.clamped[i] = w.y[i]
        squares[k] = damp(p, w)
    for i in range(m):
        w.clamped[i] = w.y[i]


@functools.partial(kernel, inline=True)
def _by_projectors(p: Any, s: Any, count: Any, levels: Any, w: Any) -> Any:
    """w.step by the inverses of J_k P, or of J_k, and P <- P - (J_k P)^+ (J_k P) from level to level.

    Levels of Siciliano and Slotine start from what the ones before have done, those of Chiaverini do not.
    """
    m, n = len(w.e), len(w.step)
    row, wide = pitch(w.rows, n), packs(w.rows, n)
    left = section(w.room, 0, n * row)
    part = section(w.room, n * row, m * row)
    own = section(w.room, (n + m) * row, row)
    for i in range(n * row):
        left[i] = 0.0
    for a in range(n):
        left[a * row + a] = 1.0
        w.step[a] = 0.0
    for k in range(count):
        first, size = levels[k], levels[k + 1] - levels[k]
        order = section(levels, count + 1 + first, size)
        least = 0.0
        for r in range(size):
            error = w.clamped[order[r]]
            for a in range(n):
                x = w.rows[order[r] * row + a]
                least += x * x
                if s.form != _CHIAVERINI:
                    error -= x * w.step[a]
            w.along[r] = error
        least = _RANK * sqrt(least)
        for c in range(wide):
            store_pack(own, c, zeros(own))
        if s.form == _CHIAVERINI:
            for r in range(size):
                for c in range(wide):
                    store_pack(part, r * wide + c, load_pack(w.rows, order[r] * wide + c))
            identity(size, w.spare)
            decompose(size, n, part, w.spare, w.sigma)
            _add_inverse(w, size, part, least, 0.0, own)
        _project(size, n, order, w.rows, left, part)
        identity(size, w.spare)
        decompose(size, n, part, w.spare, w.sigma)
        if s.form == _CHIAVERINI:
            for a in range(n):
                w.step[a] += dot(left, a * wide, own, 0, 0, wide)
        else:
            damping = 0.0
            if s.form == _BAERLOCHER_BOULIC:
                damping = _level_damping(s, size, w.sigma, w.along, least)
                if k == 0:
                    w.memory[DAMPING] = damping
            _add_inverse(w, size, part, least, damping, own)
            for a in range(n):
                w.step[a] += own[a]
        # P -= sum v_r v_r^T, undamped also where the step is damped: later levels must not disturb this one.
        for r in range(size):
            if w.sigma[r] > least:
                inverse = 1.0 / (w.sigma[r] * w.sigma[r])
                for a in range(n):
                    x = part[r * row + a] * inverse
                    for c in range(wide):
                        change = x * load_pack(part, r * wide + c)
                        store_pack(left, a * wide + c, load_pack(left, a * wide + c) - change)
    if p.common[0].null:
        for c in range(wide):
            store_pack(own, c, zeros(own))
        for a in range(n):
            own[a] = w.phi[a]
        for a in range(n):
            w.step[a] += dot(left, a * wide, own, 0, 0, wide)


@kernel
def _project(size: Any, n: Any, order: Any, rows: Any, left: Any, part: Any) -> Any:
    """part = J_k P."""
    row, wide = pitch(rows, n), packs(rows, n)
    for r in range(size):
        for c in range(wide):
            store_pack(part, r * wide + c, zeros(part))
        for a in range(n):
            x = rows[order[r] * row + a]
            if x != 0.0:
                for c in range(wide):
                    at = r * wide + c
                    store_pack(part, at, load_pack(part, at) + x * load_pack(left, a * wide + c))


@kernel
def _add_inverse(w: Any, size: Any, part: Any, least: Any, damping: Any, out: Any) -> Any:
    """out += sum sigma_i / (sigma_i^2 + lambda^2) v_i u_i^T e, over the singular values of more than `least`."""
    turn, sigma, error = w.spare, w.sigma, w.along
    wide, side = packs(part, len(w.step)), pitch(turn, size)
    for r in range(size):
        if sigma[r] > least:
            along = 0.0
            for i in range(size):
                along += turn[r * side + i] * error[i]
            scale = along / (sigma[r] * sigma[r] + damping)
            for c in range(wide):
                store_pack(out, c, load_pack(out, c) + scale * load_pack(part, r * wide + c))


@kernel
def _level_damping(s: Any, size: Any, sigma: Any, error: Any, least: Any) -> Any:
    """lambda^2 of a level: the constant, or that of Maciejewski and Klein's rule for its smallest singular value."""
    if s.longest == 0.0:
        return s.constant
    low, square = 1e300, 0.0
    for r in range(size):
        square += error[r] * error[r]
        if sigma[r] > least:
            low = min(low, sigma[r])
    reach = sqrt(square) / s.longest
    if low >= reach:
        return 0.0
    return low * (reach - low) if low >= 0.5 * reach else 0.25 * reach * reach
