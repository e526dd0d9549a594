"""Candidates for each waypoint: strands from many solutions of a few waypoints, forwards and backwards.

A redundant arm has a continuum of solutions, and independent ones of two waypoints are hardly ever near each other.  A
strand's are by construction.  Where a limit or the edge of the reach ends all strands, others begin at the waypoint
that was missed.
"""

from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.solving.path.clearance import Clearance
from poise.solving.path.route import FINE, MISSED, Route
from poise.solving.solution import Solution
from poise.spatial import Array

_ALIKE: Final = 1e-3
"""Solutions whose coordinates differ by no more are one [rad or m]."""
_ANCHORS: Final = 6
"""Waypoints from which strands begin, at most."""


@final
class Candidates:
    """Strands along a route: q (k, n, nq), and which waypoints each reaches, free of obstacles (k, n)."""

    def __init__(self, route: Route, q0: Array, clearance: Clearance | None, *, fixed: bool, closed: bool) -> None:
        """With `fixed` all sequences begin at q0 (nq,), with `closed` they end where they began."""
        self.route, self.q0, self.clearance, self.fixed, self.closed = route, q0, clearance, fixed, closed
        n, nq = len(route), route.model.nq
        self.q: Array = np.empty((0, n, nq))
        self.reached = np.empty((0, n), dtype=np.bool_)
        self.missed: dict[int, Solution] = {}
        """What the solver says of waypoints that nothing reached."""
        self.jump = np.inf
        """A step of a coordinate that is longer costs extra [rad or m]."""

    def gather(self, starts: int) -> None:
        """Strands from solutions that so many starts lead to, until a sequence of them reaches all that is in reach."""
        self.begin_at(0, starts)
        for _ in range(_ANCHORS):
            here = self._gap()
            if here is None:
                return
            before = len(self.q)
            self.begin_at(here, starts)
            if len(self.q) == before:
                self._mark(here)

    def begin_at(self, waypoint: int, starts: int) -> None:
        """Add the strands that begin at the solutions of a waypoint."""
        found = self._solutions(waypoint, starts)
        if not len(found):
            return
        q, reached = self.route.follow(found, waypoint, backwards=False)
        if waypoint:
            back, there = self.route.follow(found, waypoint, backwards=True)
            q[:, :waypoint], reached[:, :waypoint] = back[:, :waypoint], there[:, :waypoint]
        self.add(q, reached)

    def add(self, q: Array, reached: npt.NDArray[np.bool_]) -> None:
        """Add strands q (k, n, nq), of which those that come too near to obstacles do not count there."""
        if self.clearance is not None:
            free = self.clearance(q.reshape(-1, q.shape[-1])).reshape(reached.shape) >= 0.0
            reached = reached & free
        self.q, self.reached = np.concatenate([self.q, q]), np.concatenate([self.reached, reached])

    def sequence(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        """(n, nq) the best sequence through all strands, and (n,) which waypoints it reaches."""
        price = np.where(self.reached, 0.0, MISSED)
        if self.fixed:
            price[:, 0] = np.where((self.q[:, 0] == self.q0).all(axis=1), price[:, 0], np.inf)
        chosen = self.route.sequence(self.q.swapaxes(0, 1), price.T, self.jump, closed=self.closed)
        places = np.arange(len(chosen))
        return self.q[chosen, places].copy(), self.reached[chosen, places]

    def complete(self) -> npt.NDArray[np.intp]:
        """The strands that reach every waypoint."""
        return np.flatnonzero(self.reached.all(axis=1))

    def _solutions(self, waypoint: int, starts: int) -> Array:
        route = self.route
        if self.fixed and waypoint == 0:
            return self.q0[None]
        spread = route.model.sample(starts - 1, seed=(route.seed + waypoint) % 2**62)
        near = self.q[:, waypoint] if len(self.q) else self.q0[None]
        spread[:, ~self._moved()] = self.q0[~self._moved()]
        found = np.concatenate(
            [route.solutions(waypoint, np.concatenate([near, spread])), route.branches(waypoint, self.q0)]
        )
        if not len(found):
            solution = route.solve(waypoint, self.q0)
            if solution.success:
                found = solution.q[None]
            else:
                self.missed[waypoint] = solution
        return _distinct(found)

    def _moved(self) -> npt.NDArray[np.bool_]:
        """(nq,) whether a number of q moves the tasks; the others stay as in q0."""
        problem, out = self.route.problem, np.zeros(self.route.model.nq, dtype=np.bool_)
        out[problem.section("coordinates")["q"]] = True
        for ball in problem.section("balls"):
            out[ball["q"] : ball["q"] + 4] = True
        return out

    def _gap(self) -> int | None:
        """The first waypoint that no strand reaches, or where the best sequence has to jump; None if all is well."""
        if not len(self.q):
            known = np.zeros(len(self.route), dtype=np.bool_)
        elif len(self.complete()):
            return None
        else:
            known = self.reached.any(axis=0)
        known[list(self.missed)] = True
        if not known.all():
            return int(np.argmin(known))
        return None

    def _mark(self, waypoint: int) -> None:
        """Remember why a waypoint has no candidate, and take those of its neighbours that have none either as missed."""
        self.missed.setdefault(waypoint, self.route.solve(waypoint, self.q0))


def _distinct(q: Array) -> Array:
    """The first of configurations q (k, nq) that are alike."""
    kept: list[Array] = []
    for one in q:
        if all(np.abs(one - other).max(initial=0.0) > _ALIKE for other in kept):
            kept.append(one)
    return np.array(kept).reshape(-1, q.shape[1])
