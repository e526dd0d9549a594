"""How an answer moves with what it answers: the conditions at which it rests, differentiated.

At rest q is the least of f(q) among the configurations with e(q) = 0, within the limits.  f is half of the squares of
what is left of the first tasks that are missed, or of the weighted way from a posture, or nothing.  With J = -de/dq of
the rows that hold, the active limits among them, and their multipliers y (Nocedal and Wright 2006, section 12.3),

    grad L = grad f - J^T y = 0,    e = 0    over the joints that no limit holds,

and these equations, differentiated, say where the answer goes (Fiacco 1976, doi:10.1007/BF01580677): with H the
derivative of grad L by q, curvature of the rows included, and the others' derivatives by what changes, dg and de,

    H dq - J^T dy = -dg,    J dq = de.

The null space Z of J splits them: dq = J^+ de - Z (Z^T H Z)^-1 Z^T (dg + H J^+ de).  Where nothing is to be least H is
the identity, so that dq is the least change, the sum of the squares of all velocities [rad and m].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.layout import GOAL_NUMBERS
from poise.model.model import Model
from poise.solving.conditions import Conditions, conditions_of
from poise.solving.inverses import AT_LIMIT, sides_of_limits
from poise.solving.outcome import Asked
from poise.spatial import Array
from poise.tasks.base import Task, levels
from poise.tasks.loop import LoopTask
from poise.tasks.posture import PostureTask

STEP: Final = 1e-5
"""Of central differences of exact rows [rad or m]: what they cut off and what they round are both about 1e-10."""
_RANK: Final = 1e-7
"""Against the largest singular value, or curvature, one that counts as 0."""
_WEAK: Final = 1e-6
"""A multiplier this small, against what there is to hold, holds nothing."""
_STILL: Final = 1e-9
"""A Newton step towards rest that is this short [rad or m] is not taken."""
_NEAR: Final = 0.03
"""How far from rest an answer may be [rad or m]."""
_STEPS: Final = 12
_ASIDE: Final = 0.02
"""How far from an answer it is looked whether rank or curvature are lost there alone [rad or m]."""

_BACK: Final = 3
_BENT: Final = 1e-5
"""Newton's steps that lead back to rest from there, and the curvature that counts there, against the largest."""
_LEAST: Final = 1e-9
"""What is to be least pulls with this much, or with nothing, and has as much curvature, or none."""
_NO_GRADIENT: Final = 1e-5
"""How far from the slope of half the squares J^T e may be, against the lengths of both."""
_RESTLESS: Final = "q is not at rest: the solve ended before what is left was least, or at what is no minimum"

Mask = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class Stationary:
    """The derivatives of an answer: dq = `answers` @ de - `yields` @ dg."""

    conditions: Conditions
    q: Array
    """(nq,) where the answer rests, to rounding."""
    y: Array
    """(m,) what each row pulls with: what is left of those that are missed, the multipliers of those that hold."""
    missed: Mask
    """(m,) the rows of f."""
    posture: Array
    """(nv,) squares of the weights of the posture, 0 where it does not count."""
    answers: Array
    """(nv, m)"""
    yields: Array
    """(nv, nv)"""
    one_sided: tuple[str, ...] = ()
    """The limits that may let go: they hold for changes that push against them, and for others they do not."""
    undefined: str = ""
    """Why there is no derivative; empty where there is one."""
    least_change: bool = False
    """Whether the answer is one of many, and the derivative that with the least change."""


class _Undefined(Exception):
    """An answer that has no derivative, and why."""


def stationary(model: Model, asked: Asked, q: Array, goal: Array, *, solved: bool) -> Stationary:
    """How an answer q (nq,) for these goal numbers moves; `solved`: whether all required tasks are."""
    return _Rest(model, asked, q, goal, solved=solved).found()


@final
class _Rest:
    """Looking for where an answer rests, and what holds it there."""

    def __init__(self, model: Model, asked: Asked, q: Array, goal: Array, *, solved: bool) -> None:
        self.model, self.asked, self.q = model, asked, np.array(q)
        self.conditions = conditions_of(model, asked, q)
        self.goal, self.rest = np.split(goal, [GOAL_NUMBERS * len(asked.frame_tasks)])
        e, _ = self.conditions(self.q, self.goal)
        self.sound = bool(np.isfinite(e).all())
        self.holds, self.missed = _parts(asked.frame_tasks, e, solved=solved)
        beside = len(e) - self.conditions.tasks
        self.posture = np.zeros(model.nv)
        given = next((task for task in asked.tasks if isinstance(task, PostureTask)), None)
        if given is not None and solved and not self.missed.any():
            self.posture = given.weights(model) ** 2
        self.wanted = bool(self.missed.any() or self.posture.any())
        """Whether there is anything to be least."""
        near = self.conditions.slack if self.wanted else np.full(beside, AT_LIMIT)
        self.holds = np.concatenate([self.holds, e[self.conditions.tasks :] <= near])
        self.missed = np.concatenate([self.missed, np.zeros(beside, dtype=np.bool_)])
        self.sided = np.arange(len(e)) >= self.conditions.tasks
        self.moves = np.zeros(model.nv, dtype=np.bool_)
        self.moves[list(asked.problem.velocities)] = True
        self.moves |= self.posture > 0.0
        self.side = sides_of_limits(model, asked, self.q)
        self.y = np.zeros(len(e))

    # What there is -----------------------------------------------------------------------------------------------

    def _pull(self, q: Array, e: Array, jacobian: Array, y: Array) -> Array:
        """(nv,) grad L at q, whose rows these are, with multipliers y of what holds."""
        return self._leaning(q) - np.where(self.missed, e, y) @ jacobian

    def _multipliers(self, q: Array, e: Array, jacobian: Array, free: Mask) -> Array:
        """(m,) of the rows that hold, what leaves least of grad L over the free joints; 0 of the others."""
        y = np.zeros(len(e))
        if self.wanted:
            pull = self._pull(q, e, jacobian, y)
            y[self.holds] = np.linalg.lstsq(jacobian[self.holds][:, free].T, pull[free], rcond=_RANK)[0]
        return y

    def _leaning(self, q: Array) -> Array:
        """(nv,) the gradient of half the weighted square of the way from the posture."""
        if not self.posture.any():
            return np.zeros(self.model.nv)
        away = q - self.rest if self.model.nq == self.model.nv else self.model.difference(self.rest, q)
        return self.posture * away

    def _moved(self, q: Array, way: Array) -> Array:
        return q + way if self.model.nq == self.model.nv else self.model.integrate(q, way)

    def _within(self, q: Array) -> Array:
        """(nq,) q within the limits, which hold what would have left them."""
        if not self.asked.problem.limits:
            return q
        at_q, at_v = self.model._plain
        lower, upper = self.model.lower[at_q], self.model.upper[at_q]
        below, above = q[at_q] < lower, q[at_q] > upper
        self.side[at_v] = np.where(self.side[at_v] != 0, self.side[at_v], np.where(below, -1, np.where(above, 1, 0)))
        out = q.copy()
        out[at_q] = np.clip(q[at_q], lower, upper)
        return out

    def _curvature(self, q: Array, free: Mask, y: Array) -> Array:
        """(n, n) H over the n free joints; raises _Undefined where -J^T e is not the gradient of what is missed."""
        if not self.wanted:
            return np.eye(int(free.sum()))
        out, slope = [], []
        for v in np.flatnonzero(free):
            way = np.zeros(self.model.nv)
            way[v] = STEP
            ends = [(at, *self.conditions(at, self.goal)) for at in (self._moved(q, way), self._moved(q, -way))]
            above, below = (self._pull(*end, y) for end in ends)
            out.append((above - below)[free] / (2.0 * STEP))
            squares = [0.5 * float((e[self.missed] ** 2).sum()) for _, e, _ in ends]
            slope.append((squares[0] - squares[1]) / (2.0 * STEP))
        e, jacobian = self.conditions(q, self.goal)
        left = np.where(self.missed, e, 0.0)
        away = np.abs(np.array(slope) + (left @ jacobian)[free]).max(initial=0.0)
        if away > _NO_GRADIENT * float(np.linalg.norm(left)) * float(np.linalg.norm(jacobian)):
            raise _Undefined(
                "what is left of a rotation with unequal weights has no least: a solve ends where its steps do"
            )
        inner = np.array(out).reshape(len(out), len(out))
        return 0.5 * (inner + inner.T)

    # At rest -----------------------------------------------------------------------------------------------------

    def found(self) -> Stationary:
        """All of it."""
        try:
            return self._found()
        except _Undefined as why:
            n, m = self.model.nv, len(self.y)
            return Stationary(
                self.conditions, self.q, self.y, self.missed, self.posture, np.full((n, m), np.nan),
                np.full((n, n), np.nan), undefined=str(why),
            )  # fmt: skip

    def _found(self) -> Stationary:
        if not self.sound:
            raise _Undefined("the target holds numbers that make none")
        came = self.q.copy()
        for _ in range(_STEPS):
            e, jacobian = self.conditions(self.q, self.goal)
            free, weak = self._held(e, jacobian)
            answers, yields, flat = self._split(self.q, jacobian, free)
            if not self.wanted:
                break
            lacks = np.where(self.holds, e, 0.0)
            step = answers @ lacks - yields @ self._pull(self.q, e, jacobian, self.y)
            if np.abs(step).max(initial=0.0) <= _STILL:
                break
            self.q = self._within(self._moved(self.q, step))
            if not np.linalg.norm(self.model.difference(came, self.q)) <= _NEAR:
                raise _Undefined(_RESTLESS)
        else:
            raise _Undefined(_RESTLESS)
        one_sided = self._letting_go(jacobian, free, weak)
        return Stationary(
            self.conditions, self.q, self.y, self.missed, self.posture, answers, yields, tuple(one_sided), "", flat
        )

    def _held(self, e: Array, jacobian: Array) -> tuple[Mask, list[int]]:
        """(nv,) the joints that no limit holds, and which limits hold with no multiplier: joints, then nv + rows.

        The multipliers of what holds are found by the way, and what does not pull from outside is let go.
        """
        nv, moved = self.model.nv, np.flatnonzero(self.moves & (np.abs(self.side) == 1)).tolist()
        free = self.moves & (self.side == 0)
        if not self.wanted:
            return free, [*moved, *(nv + k for k in self._sides())]
        while True:
            self.y = self._multipliers(self.q, e, jacobian, free)
            asked = self._pull(self.q, e, jacobian, np.zeros(len(e)))
            scale = _WEAK * max(float(np.linalg.norm(asked[self.moves])), _LEAST)
            wrong = max(self._sides(), key=lambda k: float(self.y[k]), default=None)
            if wrong is None or self.y[wrong] <= scale:
                break
            self.holds[wrong] = False
        pull = self._pull(self.q, e, jacobian, self.y)
        pushed = {v: float(-self.side[v] * pull[v]) for v in moved}
        inward = min(pushed, key=lambda v: pushed[v], default=None)
        if inward is not None and pushed[inward] < -scale:
            self.side[inward] = 0
            return self._held(e, jacobian)
        weak = [v for v, push in pushed.items() if push <= scale]
        return free, [*weak, *(nv + k for k in self._sides() if self.y[k] >= -scale)]

    def _sides(self) -> list[int]:
        """The rows of what must not be crossed that hold."""
        return [int(k) for k in np.flatnonzero(self.holds & self.sided)]

    def _split(self, q: Array, jacobian: Array, free: Mask) -> tuple[Array, Array, bool]:
        """`answers`, `yields` and `least_change` with these joints free; raises _Undefined at a singular q."""
        rows = jacobian[self.holds][:, free]
        left, sizes, right = np.linalg.svd(rows)
        rank = _rank(sizes)
        whole = min(len(rows), rows.shape[1])
        if rank < whole and self._rank_beside(q, free) > rank:
            raise _Undefined(
                f"q is singular: the tasks and limits that hold tie {rank} directions there, and more beside it"
            )
        inverse = right[:rank].T / sizes[:rank] @ left[:, :rank].T
        null = right[rank:].T
        inner = self._curvature(q, free, self.y)
        values, axes = np.linalg.eigh(null.T @ inner @ null)
        flat = np.abs(values) <= _RANK * max(float(np.abs(inner).max(initial=0.0)), _LEAST)
        if (values[~flat] < 0.0).any():
            raise _Undefined("q is not at rest: what is left falls to either side of it")
        null = null @ axes
        if flat.any() and self._is_bent(q, free, null[:, flat]):
            raise _Undefined("q is degenerate: what is to be least is flat there, and nowhere beside it")
        kept = null[:, ~flat]
        yields = kept / values[~flat] @ kept.T
        n, m = self.model.nv, len(jacobian)
        whole_yields, answers = np.zeros((n, n)), np.zeros((n, m))
        whole_yields[np.ix_(free, free)] = yields
        answers[np.ix_(free, self.holds)] = inverse - yields @ (inner @ inverse)
        return answers, whole_yields, bool(flat.any() or (null.shape[1] and not self.wanted))

    def _rank_beside(self, q: Array, free: Mask) -> int:
        """The rank of what holds at configurations beside q."""
        ways = np.random.default_rng(0).uniform(-_ASIDE, _ASIDE, (2, self.model.nv)) * free
        rows = (self.conditions(self._moved(q, way), self.goal)[1][self.holds][:, free] for way in ways)
        return max(_rank(np.linalg.svd(some, compute_uv=False)) for some in rows)

    def _is_bent(self, q: Array, free: Mask, flat: Array) -> bool:
        """Whether fewer directions than the columns of `flat` (n, count) are flat beside q, at rest again there."""
        count = flat.shape[1]
        way = np.zeros(self.model.nv)
        way[free] = flat @ np.full(count, _ASIDE / np.sqrt(count))
        for _ in range(_BACK):
            q = self._moved(q, way)
            e, jacobian = self.conditions(q, self.goal)
            y, rows = self._multipliers(q, e, jacobian, free), jacobian[self.holds][:, free]
            inner = self._curvature(q, free, y)
            system = np.block([[inner, -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
            right = np.concatenate([-self._pull(q, e, jacobian, y)[free], e[self.holds]])
            way[free] = np.linalg.lstsq(system, right, rcond=_RANK)[0][: len(inner)]
        _, sizes, axes = np.linalg.svd(rows)
        null = axes[_rank(sizes) :].T
        values = np.abs(np.linalg.eigvalsh(null.T @ inner @ null))
        bound = _BENT * max(float(np.abs(inner).max(initial=0.0)), _LEAST)
        return int((values <= bound).sum()) < count

    def _letting_go(self, jacobian: Array, free: Mask, weak: list[int]) -> list[str]:
        """The names of the limits that hold with no multiplier, and whose letting go would change the derivative."""
        nv, out = self.model.nv, []
        for k in weak:
            if k < nv:
                let = free.copy()
                let[k] = True
                answers, yields, _ = self._split(self.q, jacobian, let)
                if max(np.abs(answers[k]).max(initial=0.0), np.abs(yields[k]).max()) > _WEAK:
                    out.append(self._name(k))
            else:
                out.append(self.conditions.labels[k - nv - self.conditions.tasks])
        return out

    def _name(self, v: int) -> str:
        at_q, at_v = self.model._plain
        return self.model.coordinates[int(at_q[list(at_v).index(v)])]


def _rank(sizes: npt.NDArray[np.floating[Any]]) -> int:
    return int((sizes > _RANK * sizes[0]).sum()) if len(sizes) else 0


def _parts(tasks: Sequence[Task], e: Array, *, solved: bool) -> tuple[Mask, Mask]:
    """(m,) of the tasks' rows those that hold, and those that are missed and to be least.

    Levels are looked at in their order: what is fulfilled holds, and of the first that is not its rows are to be least.
    A range that is fulfilled asks for nothing but its sides.
    """
    at, spans = 0, []
    for task in tasks:
        spans.append(slice(at, at + 3 * len(task.blocks)))
        at += 3 * len(task.blocks)
    holds, missed = np.zeros(at, dtype=np.bool_), np.zeros(at, dtype=np.bool_)
    for level in levels(tasks):
        members = [(task, span) for task, span in zip(tasks, spans, strict=True) if task.level == level]
        loops = [span for task, span in members if isinstance(task, LoopTask)]
        others = [(task, span) for task, span in members if not isinstance(task, LoopTask)]
        for span in loops:
            holds[span] = True
        if not (solved and all(task.required for task, _ in others)) and not all(
            _fulfilled(task, e[span]) for task, span in others
        ):
            for _, span in others:
                missed[span] = True
            break
        for task, span in others:
            holds[span] = not task.sides
    return holds, missed


def _fulfilled(task: Task, e: Array) -> bool:
    """Whether what is left of a task is within its tolerances."""
    for block, rows in zip(task.blocks, e.reshape(-1, 3), strict=True):
        weight = np.array(block.weight)
        left = np.divide(rows, weight, out=np.zeros(3), where=weight != 0.0)
        if not np.linalg.norm(left) <= block.tolerance:
            return False
    return True
