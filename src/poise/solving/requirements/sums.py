"""Limits A q <= b of sums of joints: their slack, which of them a configuration stands at, and what they say of a path.

Of a slack rounding is the part that `poise.kernels.rows.sums` says.
"""

from collections.abc import Iterator
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.layout import AT_LIMIT
from poise.kernels.rows.rounding import ROUNDING
from poise.model.model import Model
from poise.solving.problem.problem import Problem, velocity_names
from poise.solving.requirements.active_limit import ActiveLimit
from poise.solving.requirements.path_constraint import Linearisation
from poise.solving.requirements.status import Status

INSIDE: Final = 2e-10
"""What a sum that has left its limit is taken back inside by [rad or m]."""


def slack_of_sums(rows: Array, most: Array, q: Array) -> tuple[Array, Array]:
    """(..., p) the slack `most` (p,) - `rows` (p, k) q at q (..., k) [rad or m], and (..., p) its rounding: below 0 by
    no more than that, a sum holds."""
    return most - q @ rows.T, ROUNDING * (np.maximum(np.abs(q), 1.0) @ np.abs(rows).T)


def by_places(model: Model, rows: Array) -> Array:
    """(p, nq) factors A of sums by the places in q, of `rows` (p, nv) by those in v."""
    at_q, at_v = model._plain
    out = np.zeros((len(rows), model.nq))
    out[:, at_q] = rows[:, at_v]
    return out


def sums_of(problem: Problem) -> tuple[Array, Array]:
    """(p, nq) the factors A of the sums of a problem, and (p,) the most that each may be."""
    table = problem.section("inequalities").reshape(-1, len(problem.section("farthest")) + 1)
    return table[:, :-1], table[:, -1]


def rows_of_sums(problem: Problem) -> Array:
    """(p, n) the same factors by the velocities of the problem: what stands still has none."""
    (factors, _), coordinates = sums_of(problem), problem.section("coordinates")
    rows = np.zeros((len(factors), len(problem.velocities)))
    rows[:, coordinates["v"]] = factors[:, coordinates["q"]]
    return rows


def slack_in(problem: Problem, q: Array) -> tuple[Array, Array]:
    """`slack_of_sums` of all sums of a problem at q (nq,)."""
    return slack_of_sums(*sums_of(problem), q)


def at_most(slack: Array, rounding: Array) -> npt.NDArray[np.bool_]:
    """Whether sums of this slack, and its rounding, stand at their limits."""
    return slack <= np.maximum(AT_LIMIT, rounding)


def at_limits_of_sums(model: Model, problem: Problem, q: Array) -> Iterator[ActiveLimit]:
    """The limits of sums of a problem that q (nq,) stands at."""
    (rows, most), (slacks, rounding) = sums_of(problem), slack_in(problem, q)
    for k in np.flatnonzero(at_most(slacks, rounding)):
        names = (model.coordinates[i] for i in np.flatnonzero(rows[k]))
        value, bound = (np.array([most[k] - slacks[k], most[k]]) / np.abs(rows[k]).max()).tolist()
        yield ActiveLimit("linear", " and ".join(names), value, bound)


@final
class LinearLimits:
    """Limits of sums of joints, A q <= most, each row scaled so that its largest number is 1."""

    status = Status.LIMIT

    def __init__(self, model: Model, rows: Array, most: Array) -> None:
        """`rows` (p, nv) A."""
        sizes = np.abs(rows).max(axis=1, keepdims=True)
        self._model, self.rows, self.most = model, rows / sizes, most / sizes[:, 0]
        self.factors = by_places(model, self.rows)
        """(p, nq) the same by the places in q."""

    def each(self, q: Array) -> Array:
        """(n, p) how far each sum is from its limit at q (n, nq) [rad or m]."""
        return slack_of_sums(self.factors, self.most, q)[0]

    def __call__(self, q: Array) -> Array:
        """See `PathConstraint`."""
        return np.asarray(np.add(*slack_of_sums(self.factors, self.most, q)).min(axis=1), dtype=np.float64)

    def linearise(self, q: Array, velocities: npt.NDArray[np.intp]) -> list[Linearisation]:
        """See `PathConstraint`."""
        slacks = self.each(q).T
        return [
            Linearisation(np.broadcast_to(-row[velocities], (len(q), len(velocities))), slack, INSIDE)
            for row, slack in zip(self.rows, slacks, strict=True)
        ]

    def back(self, q: Array, velocities: npt.NDArray[np.intp]) -> tuple[Array, Array]:
        """(n, p) what leads sums of q (n, nq) that are too large back, and (n, p, k) how they change; else 0."""
        lacking = np.minimum(self.each(q) - INSIDE, 0.0)
        rows = np.where(lacking[..., None] < 0.0, self.rows[:, velocities], 0.0)
        return lacking, rows

    def on_steps(self, q: Array) -> Array:
        """See `PathConstraint`: the ends tell, for sums change evenly."""
        slacks = self(q)
        return np.minimum(slacks[:-1], slacks[1:])

    def words(self, q: Array) -> str:
        """See `PathConstraint`."""
        far = self.each(q[None])[0]
        row = self.rows[int(far.argmin())]
        names = zip(velocity_names(self._model), row, strict=True)
        some = [name for name, factor in names if factor]
        are = "are" if len(some) > 1 else "is"
        return f"{' and '.join(some)} {are} {-far.min():.3g} rad or m beyond a LinearLimit."

    def beyond(self, far: float) -> str:
        """See `PathConstraint`."""
        return f"joints go {far:.3g} rad or m beyond a LinearLimit"
