"""What a requirement says of a path: its slack, how that changes, and the least of it between two configurations."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.model.model import Model
from poise.solving.requirements.status import Status

_FINE: Final = 0.02
"""Largest change of a coordinate between two configurations that are looked at on a step [rad or m]."""
_LEVER: Final = 1.0
"""How far shapes come nearer to each other, at most, with a change of one coordinate by 1 [m per rad or m]."""
RESERVE: Final = 5e-4
"""What may be lost between two configurations that are looked at, where they are near something [m]."""


class Linearisation(NamedTuple):
    """The slacks of n configurations, to first order in k velocities."""

    rows: Array
    """(n, k) derivative of the slack by each velocity; 0 where the border is far away."""
    slack: Array
    """(n,) the slack [m or rad]; negative outside."""
    margin: float
    """The least slack that a change may leave [m or rad]: a configuration outside is brought back to it."""


class PathConstraint(Protocol):
    """One kind of requirement.

    Its slack is 0 at the border of what is allowed and negative outside.
    """

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


class OnTheWay(PathConstraint, Protocol):
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
