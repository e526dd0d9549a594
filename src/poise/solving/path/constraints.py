"""What must hold along a path: a class for each kind of requirement.

An object of it has a slack, which is 0 at the border of what is allowed and negative outside.  It gives the slack at
configurations, how it changes with the joints, and the least slack on the way from each configuration to the next."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.rows.rounding import ROUNDING
from poise.model.model import Model
from poise.solving.problem.problem import velocity_names
from poise.solving.requirements.status import Status
from poise.solving.requirements.sums import slack_of_sums
from poise.tasks.base import Task

_FINE: Final = 0.02
"""Largest change of a coordinate between two configurations that are looked at on a step [rad or m]."""
_LEVER: Final = 1.0
"""How far shapes come nearer to each other, at most, with a change of one coordinate by 1 [m per rad or m]."""
RESERVE: Final = 5e-4
"""What may be lost between two configurations that are looked at, where they are near something [m]."""
_JUST: Final = 1.0 + 1e-6
"""Rounding of what is left, as a share of a tolerance."""
_EXACT: Final = 2e-10
"""What a sum that has left its limit is taken back inside by [rad or m]."""


class Linearisation(NamedTuple):
    """The slacks of n configurations, to first order in k velocities."""

    rows: Array
    """(n, k) derivative of the slack by each velocity; 0 where the border is far away."""
    slack: Array
    """(n,) the slack [m or rad]; negative outside."""
    margin: float
    """The least slack that a change may leave [m or rad]: a configuration outside is brought back to it."""


class PathConstraint(Protocol):
    """One kind of requirement."""

    status: Status
    """The status of a path that does not keep it."""

    def __call__(self, q: Array) -> Array:
        """(n,) the slack at configurations q (n, nq)."""

    def linearise(self, q: Array, velocities: npt.NDArray[np.intp]) -> Sequence[Linearisation]:
        """The slacks at q (n, nq) to first order in these velocities, an entry for each border."""

    def on_steps(self, q: Array) -> Array:
        """(n - 1,) the least slack on the straight way from each of q (n, nq) to the next."""

    def words(self, q: Array) -> str:
        """What is not kept at q (nq,), as a sentence."""

    def beyond(self, far: float) -> str:
        """That it is left by `far` [m or rad], as part of a sentence."""


def least_on_steps(model: Model, measure: Callable[[Array], Array], q: Array) -> Array:
    """(n - 1,) the least of what `measure` says on the way from each configuration of q (n, nq) to the next.

    It looks the closer the nearer something is.  Where what is measured falls by no more than `_LEVER` for each change
    of a coordinate, what is free at all looks is nowhere between them outside by more than `RESERVE`.
    """
    steps = model.difference(q[:-1], q[1:])
    ways = _LEVER * np.abs(steps).sum(axis=1)
    looks = 2 + np.floor(np.abs(steps).max(axis=1, initial=0.0) / _FINE).astype(np.int64)
    first = np.append(0, np.cumsum(looks)[:-1])
    step = np.repeat(np.arange(len(steps)), looks)
    share = (np.arange(len(step)) - first[step]) / (looks - 1)[step]
    slack = measure(model.integrate(q[step], share[:, None] * steps[step]))
    least = np.asarray(np.minimum.reduceat(slack, first), dtype=np.float64)
    while True:
        # From one look to the next it falls by no more than half of what it can change.
        change = ways[step[1:]] * np.diff(share)
        unsure = (step[1:] == step[:-1]) & (change > 2.0 * RESERVE) & (slack[1:] + slack[:-1] < change)
        after = np.flatnonzero(unsure & (least[step[1:]] >= 0.0))
        if not len(after):
            return least
        middle, on = 0.5 * (share[after] + share[after + 1]), step[after]
        found = measure(model.integrate(q[on], middle[:, None] * steps[on]))
        np.minimum.at(least, on, found)
        step, share, slack = (
            np.insert(old, after + 1, new) for old, new in ((step, on), (share, middle), (slack, found))
        )


@final
class LinearLimits:
    """Limits of sums of joints, A q <= most, each row scaled so that its largest number is 1."""

    status = Status.LIMIT

    def __init__(self, model: Model, rows: Array, most: Array) -> None:
        """`rows` (p, nv) A."""
        at_q, at_v = model._plain
        sizes = np.abs(rows).max(axis=1, keepdims=True)
        self._model, self.rows, self._most = model, rows / sizes, most / sizes[:, 0]
        self._at_q: Array = np.zeros((len(rows), model.nq))
        self._at_q[:, at_q] = self.rows[:, at_v]

    def each(self, q: Array) -> Array:
        """(n, p) how far each sum is from its limit at q (n, nq) [rad or m]."""
        return slack_of_sums(self._at_q, self._most, q)[0]

    def __call__(self, q: Array) -> Array:
        """See `PathConstraint`."""
        return np.asarray(np.add(*slack_of_sums(self._at_q, self._most, q)).min(axis=1), dtype=np.float64)

    def linearise(self, q: Array, velocities: npt.NDArray[np.intp]) -> list[Linearisation]:
        """See `PathConstraint`."""
        slacks = self.each(q).T
        return [
            Linearisation(np.broadcast_to(-row[velocities], (len(q), len(velocities))), slack, _EXACT)
            for row, slack in zip(self.rows, slacks, strict=True)
        ]

    def back(self, q: Array, velocities: npt.NDArray[np.intp]) -> tuple[Array, Array]:
        """(n, p) what leads sums of q (n, nq) that are too large back, and (n, p, k) how they change; else 0."""
        lacking = np.minimum(self.each(q) - _EXACT, 0.0)
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
        some = " and ".join(name for name, factor in names if factor)
        return f"{some} are {-far.min():.3g} rad or m beyond a LinearLimit."

    def beyond(self, far: float) -> str:
        """See `PathConstraint`."""
        return f"joints go {far:.3g} rad or m beyond a LinearLimit"


class _Between(PathConstraint, Protocol):
    """A constraint that something else keeps at waypoints, so that it is looked at on the ways between them alone."""

    status: Status = Status.LIMIT
    _model: Model

    def linearise(self, q: Array, velocities: npt.NDArray[np.intp]) -> list[Linearisation]:
        """See `PathConstraint`."""
        return []

    def on_steps(self, q: Array) -> Array:
        """See `PathConstraint`."""
        return least_on_steps(self._model, self, q)

    def words(self, q: Array) -> str:
        """See `PathConstraint`."""
        return f"{self.beyond(-float(self(q[None])[0]))}."


@final
class SphericalLimits(_Between):
    """Limits of swing and twist, which are kept at waypoints as those of coordinates are: on the ways between them."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __call__(self, q: Array) -> Array:
        """See `PathConstraint`: [rad]."""
        slacks = [ball.margins(q[:, ball.place : ball.place + 4]).min(axis=-1) for ball in self._model.ball_limits]
        return np.asarray(np.min(slacks, axis=0) + ROUNDING, dtype=np.float64)

    def beyond(self, far: float) -> str:
        """See `PathConstraint`."""
        return f"a ball swings or twists {far:.3g} rad beyond its limits"


@final
class Ranges(_Between):
    """Ranges that are the same at all waypoints, whose tasks keep them there: on the ways between them."""

    def __init__(self, model: Model, tasks: Sequence[Task], goals: Sequence[Array]) -> None:
        """`goals` (7,) one a task."""
        self._model, self._goals = model, tuple(zip(tasks, goals, strict=True))

    def __call__(self, q: Array) -> Array:
        """See `PathConstraint`: what is left of the tolerance [m or rad], anywhere inside; -inf without a number."""
        slacks = []
        for task, goal in self._goals:
            left = task.judged(self._model, np.broadcast_to(goal, (len(q), len(goal))), q)
            slacks += [_JUST * block.tolerance - some for block, some in zip(task.blocks, left.T, strict=True)]
        return np.nan_to_num(np.min(slacks, axis=0), nan=-np.inf)

    def beyond(self, far: float) -> str:
        """See `PathConstraint`."""
        names = " or ".join(task.label for task, _ in self._goals)
        if far == np.inf:
            return f"the residual of {names} raises or leaves no number"
        return f"{names} is left by {far:.3g} m or rad"
