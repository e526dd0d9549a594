"""How an answer moves with what it answers: the conditions at which it rests, differentiated.

At rest q is the least of f(q) among the configurations with e(q) = 0, within the limits.  f is half of the squares of
what is left of the first tasks that are missed, or of the weighted way from a posture, or nothing.  With J = -de/dq of
the rows that hold, the active limits among them, and their multipliers y (Nocedal and Wright 2006, section 12.3),

    grad L = grad f - J^T y = 0,    e = 0    over the joints that no limit holds,

and these equations, differentiated, say where the answer goes (Fiacco 1976, doi:10.1007/BF01580677): with H the
derivative of grad L by q, curvature of the rows included, and the others' derivatives by what changes, dg and de,

    H dq - J^T dy = -dg,    J dq = de.

The null space Z of J splits them: dq = J^+ de - Z (Z^T H Z)^-1 Z^T (dg + H J^+ de).  Where nothing is to be least H is
the identity, so that dq is the least change, the sum of the squares of all velocities [rad and m].  The kernels of
`poise.kernels.gradients` do all of it.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.gradients import stationary as codes
from poise.kernels.gradients.holding import MAY_RELEASE, STANDS
from poise.kernels.machine.jit import prepare
from poise.model.loosening import Loose
from poise.model.model import Model
from poise.solving.arguments.arguments import cores
from poise.solving.arguments.work_queue import WorkQueue
from poise.solving.gradients.conditions import Conditions, differentiable_conditions
from poise.solving.gradients.inverses import Flags
from poise.solving.problem.workspace import Scratch
from poise.solving.requirements.outcome import PreparedProblem

_WHY: Final = {
    codes.INVALID_TARGET: "the target holds numbers that make none",
    codes.NOT_CONVERGED: "q is not at rest: the solve ended before what is left was least, or at what is no minimum",
    codes.SINGULAR: "q is singular: the tasks and limits that hold tie fewer directions there than beside it",
    codes.FALLS: "q is not at rest: what is left falls to either side of it",
    codes.DEGENERATE: "q is degenerate: what is to be least is flat there, so a small change of the target leads far "
    "from it",
    codes.COUPLED: "the posture draws several joints together along what is missed, and how is not at hand: "
    "leave it out, "
    "and the derivative is that with the least change",
    codes.NOT_LEAST: "what is left has no least: the rows of a task are not its derivative, see poise.testing",
}
_CHUNK: Final = 16
"""Answers that a thread takes at a time."""
_TWIST: Final = 6


@final
@dataclass(frozen=True, eq=False)
class Stationary:
    """The derivatives of an answer: dq = `answers` @ de - `yields` @ dg."""

    conditions: Conditions
    goal: Array
    """(.,) goal numbers of the tasks and the posture."""
    memory: Array
    """What is kept of it, as a workspace has it."""
    contacts: tuple[tuple[str, str], ...] = ()
    """The shapes that are as near as they may be."""
    one_sided: tuple[str, ...] = ()
    """The limits that may let go: they hold for changes that push against them, and for others they do not."""
    standing: tuple[str, ...] = ()
    """The limits at which it stands though others hold it: they stop changes that push against them."""
    undefined: str = ""
    """Why there is no derivative; empty where there is one."""
    least_change: bool = False
    """Whether the answer is one of many, and the derivative that with the least change."""

    def _saved(self, name: str) -> Array:
        return self.memory[self.conditions.places[name]]

    @property
    def q(self) -> Array:
        """(nq,) where the answer rests, to rounding."""
        return self._saved("stationary")

    @property
    def missed(self) -> Array:
        """(m,) 1 for the rows of f, else 0."""
        return self._saved("missed")

    @property
    def posture(self) -> Array:
        """(nv,) squares of the weights of the posture, 0 where it does not count."""
        return self._saved("posture_hessian")

    @property
    def answers(self) -> Array:
        """(nv, m)"""
        return self._saved("residual_sensitivity").reshape(-1, self.conditions.count)

    @property
    def yields(self) -> Array:
        """(nv, nv)"""
        return self._saved("gradient_sensitivity").reshape(len(self.posture), -1)

    def by_goals(self, cotangent: Array | None) -> Array:
        """(nv, columns) by all goal steps of the problem and the velocities of the posture, or a cotangent (nv,) times
        that."""
        conditions = self.conditions
        out = np.empty((len(self.posture) if cotangent is None else 1, conditions.columns))
        given = np.zeros(0) if cotangent is None else np.ascontiguousarray(cotangent)
        with conditions.bound.scratch(conditions.model) as scratch:
            scratch.goal[:], scratch.narrow[conditions.memory] = self.goal, self.memory
            prepare("gradients.by_goals.by_goals")(scratch.address, given, out.reshape(-1))
        return out if cotangent is None else out[0]

    def rows(self) -> tuple[Array, Array]:
        """What each condition lacks (m,), and their Jacobian (m, nv)."""
        conditions = self.conditions
        with conditions.bound.scratch(conditions.model) as scratch:
            scratch.goal[:], scratch.start[:], scratch.narrow[conditions.memory] = self.goal, self.q, self.memory
            prepare("gradients.stationary.conditions_at")(scratch.address)
            e = scratch.narrow[conditions.at["residual"]].copy()
            rows = scratch.narrow[conditions.at["rows"]].reshape(len(e), -1)[:, : len(self.posture)].copy()
        return e, rows

    def by_placement(self, loose: Loose, there: Conditions) -> tuple[Array, Array]:
        """(m, 6) what rows lack more, and (nv, 6) are pulled more, with a placement that was let loose, for the
        conditions there."""
        model = there.model
        lacks, pulls = np.empty((_TWIST, there.count)), np.empty((_TWIST, model.nv))
        with there.bound.scratch(model) as scratch:
            scratch.goal[:] = self.goal[: len(scratch.goal)]
            scratch.start[:] = loose.widened(self.q)
            if self.contacts:
                prepare("gradients.stationary.contacts_at")(scratch.address)
                _arrange(there, scratch, self.contacts)
            for name in ("multiplier", "missed"):
                scratch.narrow[there.at[name]] = self._saved(name)
            scratch.narrow[there.at["posture_hessian"]] = 0.0
            find = prepare("gradients.by_goals.by_placement")
            find(scratch.address, loose.loose.start, lacks.reshape(-1), pulls.reshape(-1))
        return lacks.T, pulls[:, loose.velocities].T


def _arrange(there: Conditions, scratch: Scratch, contacts: tuple[tuple[str, str], ...]) -> None:
    """Let the contacts at hand stand in the order of these."""
    places = {frozenset(pair): k for k, pair in enumerate(there.pairs(scratch)) if pair[0]}
    at = scratch.narrow[there.at["contact"]].reshape(-1, 2)
    found = at.copy()
    at[:] = -1.0
    for k, pair in enumerate(contacts):
        if pair[0] and frozenset(pair) in places:
            at[k] = found[places[frozenset(pair)]]


def stationary(model: Model, prepared: PreparedProblem, q: Array, goal: Array, *, solved: bool) -> Stationary:
    """How an answer q (nq,) for these goal numbers moves; `solved`: whether all required tasks are."""
    conditions = differentiable_conditions(model, prepared)
    with conditions.bound.scratch(model) as scratch:
        scratch.goal[:], scratch.start[:] = goal, q
        scratch.set_fields(given=int(solved))
        code = prepare("gradients.stationary.find_stationary")(scratch.address)
        memory = scratch.narrow[conditions.memory].copy()
        letting = scratch.narrow[conditions.at["releasable"]]
        found = code <= codes.NOT_UNIQUE
        one_sided, standing = (
            _names(model, conditions, scratch, letting == kind) if found and letting.any() else ()
            for kind in (MAY_RELEASE, STANDS)
        )
        contacts = tuple(conditions.pairs(scratch)) if found else ()
    if code > codes.NOT_UNIQUE:
        memory[conditions.places["stationary"]] = q
    why = _WHY.get(code, "")
    return Stationary(conditions, goal, memory, contacts, one_sided, standing, why, code == codes.NOT_UNIQUE)


def by_goals_of_many(
    model: Model, prepared: PreparedProblem, q: Array, goals: Array, solved: Flags, cotangents: Array | None
) -> tuple[Array, npt.NDArray[np.str_], Array]:
    """`Stationary.by_goals` of answers q (n, nq) for goal numbers (n, .), with cotangents (n, nv) or without, on all
    cores: (n, columns) or (n, nv, columns), NaN where it is undefined; the status of each (n,); and where each rests
    (n, nq), which is q where it is undefined."""
    conditions, queue = differentiable_conditions(model, prepared), WorkQueue(len(q), _CHUNK)
    out = np.full((len(q), *((model.nv,) if cotangents is None else ()), conditions.columns), np.nan)
    status, rests = np.full(len(q), "undefined"), np.array(q)
    given = np.zeros((len(q), 0)) if cotangents is None else np.ascontiguousarray(cotangents)
    find_stationary, by_goals = prepare("gradients.stationary.find_stationary"), prepare("gradients.by_goals.by_goals")

    def work() -> None:
        with conditions.bound.scratch(model) as scratch:
            for i in (row for chunk in queue for row in chunk):
                scratch.goal[:], scratch.start[:] = goals[i], q[i]
                scratch.set_fields(given=int(solved[i]))
                if find_stationary(scratch.address) <= codes.NOT_UNIQUE:
                    status[i] = "one-sided" if scratch.narrow[conditions.at["releasable"]].any() else "smooth"
                    rests[i] = scratch.narrow[conditions.at["stationary"]]
                    by_goals(scratch.address, given[i], out[i].reshape(-1))

    queue.share(work, min(max(len(queue), 1), cores()))
    return out, status, rests


def _names(model: Model, conditions: Conditions, scratch: Scratch, letting: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """The names of these limits."""
    at_q, at_v = model._plain
    places = dict(zip(at_v.tolist(), at_q.tolist(), strict=True)) if letting[: model.nv].any() else {}
    joints = [model.coordinates[places[int(v)]] for v in np.flatnonzero(letting[: model.nv])]
    rows = np.flatnonzero(letting[model.nv :]) - conditions.tasks
    labels = conditions.labels(scratch) if len(rows) else []
    return *joints, *(labels[k] for k in rows)
