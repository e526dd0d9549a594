"""Candidates for each waypoint: strands from many solutions of a few waypoints, forwards and backwards.

A redundant arm has a continuum of solutions, and independent ones of two waypoints are hardly ever near each other.  A
strand's are by construction.  Where a limit or the edge of the reach ends all strands, others begin at the waypoint
that was missed.
"""

from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.solving.answers.solution import Solution
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.jumps import FACTOR, LEAST
from poise.solving.path.route import MISSED, Route

_ALIKE: Final = 1e-3
"""Solutions whose coordinates differ by no more are one [rad or m]."""
_ANCHORS: Final = 6
"""Waypoints from which strands begin, at most."""
_STRANDS: Final = 128
"""Strands that begin at a waypoint, at most."""
_BEST: Final = 32
"""The same, where some are better than others."""
ROUNDS: Final = 12
"""Rounds of starts at a waypoint that is searched by itself for a configuration that is free."""
_MEASURED: Final = 1024
"""Configurations whose distances are measured between two looks at the clock; the others then count as too near."""
_FEW: Final = 8
"""Starts that tell whether a waypoint is in reach, where its neighbour is not."""


@final
class Candidates:
    """Strands along a route, q (k, n, nq)."""

    def __init__(
        self, route: Route, q0: Array, feasibility: PathFeasibility, cap: Array, *, fixed: bool, closed: bool
    ) -> None:
        """With `fixed` all sequences begin at q0 (nq,), with `closed` they end where they began.  `cap` (active
        velocities,) is what each may change by in a step [rad or m], infinite where nothing is said."""
        self.route, self.q0, self.feasibility, self.fixed, self.closed = route, q0, feasibility, fixed, closed
        self.cap = cap
        n, nq = len(route), route.model.nq
        self.q: Array = np.empty((0, n, nq))
        self.met = np.empty((0, n), dtype=np.bool_)
        """(k, n) which waypoints each strand meets."""
        self.inside: Array = np.empty((0, n))
        """(k, n) by how much each is outside what must hold."""
        self.soft_cost: Array = np.empty((0, n))
        """(k, n) what is left of what gives way, as a price."""
        self._sizes: Array = np.empty((0, max(n - 1, 0)))
        """(k, n - 1) the largest change in each step [rad or m]."""
        self.missed: dict[int, Solution] = {}
        """What the solver says of waypoints that it did not reach."""
        self.answers: dict[int, Solution] = {}
        """What it says of those that it did, and no strand."""
        self.barren: set[int] = set()
        """Waypoints that were searched by themselves, for nothing."""
        self._anchors: set[int] = set()

    def gather(self, starts: int) -> None:
        """Strands from solutions that so many starts lead to, until a sequence of them reaches every waypoint that is
        in reach without a jump, or a few waypoints have been begun at."""
        known = np.zeros(len(self.route), dtype=np.bool_)
        here: int | None = 0
        for _ in range(_ANCHORS):
            if here is None or self.route.clock.late:
                return
            self._begin_at(here, starts)
            if len(self.complete()):
                return
            known |= self.reached.any(axis=0)
            here = self._lost(known)
            if here is None and len(self.q):
                here = self._jumping()

    def _lost(self, known: npt.NDArray[np.bool_]) -> int | None:
        """The first waypoint in reach that is not known of, None if there is none; those before it are known then."""
        while not known.all():
            here = int(np.argmin(known))
            gap = here + int(np.argmax(np.append(known[here:], True)))
            found = self._in_reach(here, gap)
            known[here : gap if found is None else found] = True
            if found is not None:
                return found
        return None

    def _jumping(self) -> int | None:
        """The first waypoint to which the best sequence jumps, and at which no strand began; None if there is none."""
        q, reached = self.sequence()
        far = np.abs(self.route.steps(q)).max(axis=1, initial=0.0) > self.jump
        for t in np.flatnonzero(far & reached[:-1] & reached[1:]):
            if int(t) + 1 not in self._anchors:
                return int(t) + 1
        return None

    @property
    def jump(self) -> float:
        """What counts as a jump while a sequence is chosen [rad or m]: a step out of proportion and beyond all caps.

        One that is a little beyond its cap is made shorter later.
        """
        both = self.reached[:, :-1] & self.reached[:, 1:]
        usual = FACTOR * float(np.median(self._sizes[both])) if both.any() else 0.0
        return max(LEAST, usual, float(self.cap[np.isfinite(self.cap)].max(initial=0.0)))

    def _begin_at(self, waypoint: int, starts: int) -> None:
        """Add the strands that begin at the solutions of a waypoint."""
        self._anchors.add(waypoint)
        found = self._solutions(waypoint, starts)
        if not len(found):
            return
        if self.route.required_tasks:
            self.add(*self.route.both_ways(found, waypoint))
        if self.route.soft is not None:
            self.add(*self.route.best_both_ways(found[:_FEW], waypoint, self.feasibility))

    def add(self, q: Array, reached: npt.NDArray[np.bool_]) -> None:
        """Add strands q (k, n, nq), of which those that are outside what must hold do not count there."""
        inside = np.zeros(reached.shape)
        if self.feasibility:
            rows, clock = q.reshape(-1, q.shape[-1]), self.route.clock
            far = np.full(len(rows), -np.inf)
            for at in range(0, len(rows), _MEASURED):
                if clock.late:
                    break
                far[at : at + _MEASURED] = self.feasibility(rows[at : at + _MEASURED])
            inside = np.maximum(-far.reshape(reached.shape), 0.0)
        self.q, self.met = np.concatenate([self.q, q]), np.concatenate([self.met, reached])
        self.inside = np.concatenate([self.inside, inside])
        soft = self.route.soft
        self.soft_cost = np.concatenate([self.soft_cost, np.zeros(inside.shape) if soft is None else soft.cost(q)])
        sizes = np.abs(self.route.model.difference(q[:, :-1], q[:, 1:])).max(axis=2, initial=0.0)
        self._sizes = np.concatenate([self._sizes, sizes])

    @property
    def reached(self) -> npt.NDArray[np.bool_]:
        """(k, n) which waypoints each strand meets, where all holds."""
        return np.asarray(self.met & (self.inside <= 0.0), dtype=np.bool_)

    def blocked(self) -> npt.NDArray[np.intp]:
        """The strands that meet every waypoint, but not all of them free, those that are least inside first."""
        inside = (self.inside**2).sum(axis=1)
        ones = np.flatnonzero(self.met.all(axis=1) & (inside > 0.0))
        return ones[np.argsort(inside[ones], kind="stable")]

    def sequence(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        """(n, nq) the best sequence through all strands, and (n,) which waypoints it reaches."""
        price = np.where(self.reached, 0.0, MISSED) + self.soft_cost
        price[:, 0] += self.route.start_cost(self.q[:, 0], self.q0)
        if self.fixed:
            price[:, 0] = np.where((self.q[:, 0] == self.q0).all(axis=1), price[:, 0], np.inf)
        chosen = self.route.sequence(self.q.swapaxes(0, 1), price.T, self.jump, closed=self.closed)
        places = np.arange(len(chosen))
        return self.q[chosen, places].copy(), self.reached[chosen, places]

    def complete(self) -> npt.NDArray[np.intp]:
        """The strands that reach every waypoint."""
        return np.flatnonzero(self.reached.all(axis=1))

    def _solutions(self, waypoint: int, starts: int) -> Array:
        """(k, nq) solutions of a waypoint, those of the search if no start leads to any."""
        if self.fixed and waypoint == 0:
            return self.q0[None]
        found = self.route.solutions(waypoint, self.spread(waypoint, starts))
        found = np.concatenate([found, self.route.branches(waypoint, self.q0)])
        if not len(found) and waypoint not in self.missed and not self.route.clock.late:
            self._search(waypoint)
        if not len(found) and waypoint in self.answers:
            found = self.answers[waypoint].q[None]
        found = distinct(found if self.route.soft is None else self.route.best(waypoint, found, self.feasibility)[0])
        if self.route.soft is not None:
            return found[:_BEST]
        return found[:: -(-len(found) // _STRANDS)] if len(found) > _STRANDS else found

    def add_constrained(self, starts: int) -> bool:
        """Lead strands from both ends and the middle by steps that keep all that must hold, until one reaches every
        waypoint; whether there are any."""
        last, before = len(self.route) - 1, len(self.q)
        for waypoint in dict.fromkeys([0] if self.fixed else [0, last, last // 2]):
            if self.route.clock.late or len(self.complete()):
                break
            found = self.q0[None]
            if not self.fixed:
                found = self.route.solutions(waypoint, self.spread(waypoint, starts))
                found = distinct(self.route.best(waypoint, distinct(found), self.feasibility)[0])
            some = found[self.feasibility(found) >= 0.0][:_FEW]
            if len(some):
                self.add(*self.route.best_both_ways(some, waypoint, self.feasibility))
        return len(self.q) > before

    def search_alone(self) -> bool:
        """Search each waypoint that no strand reaches by itself, and lead strands from what is found to both ends.

        Whether there are any; it ends at the first waypoint for which there is nothing.
        """
        known = np.array(self.reached.any(axis=0))
        before = len(self.q)
        for waypoint in np.flatnonzero(~known):
            if self.route.clock.late:
                break
            if not known[waypoint]:
                found = self._free_solutions(int(waypoint))
                if not len(found):
                    if not self.route.clock.late:
                        self.barren.add(int(waypoint))
                    break
                self.add(*self.route.both_ways(found, int(waypoint)))
                known |= self.reached.any(axis=0)
        return len(self.q) > before

    def _free_solutions(self, waypoint: int) -> Array:
        """(k, nq) a few solutions of a waypoint that are where all holds."""
        found = np.zeros((0, len(self.q0)))
        if self.fixed and waypoint == 0:
            return found
        for turn in range(ROUNDS):
            if self.route.clock.late:
                break
            found = self.route.solutions(waypoint, self.spread(waypoint, _STRANDS, turn))
            if waypoint in self.answers:
                found = np.concatenate([found, self.answers[waypoint].q[None]])
            if self.feasibility:
                found = found[self.feasibility(found) >= 0.0]
            if len(found):
                break
        return distinct(found, _FEW)

    def spread(self, waypoint: int, starts: int, turn: int = 0) -> Array:
        """(k, nq) where the strands come to at a waypoint, and random configurations, others each turn."""
        near = self.q[:, waypoint] if len(self.q) else self.q0[None]
        return starts_at(self.route, waypoint, near, self.q0, starts - 1, turn)

    def _search(self, waypoint: int) -> None:
        """Ask the solver for a waypoint that no start led to."""
        near = self.q[0, waypoint] if len(self.q) else self.q0
        solution = self.route.solve(waypoint, near)
        (self.answers if solution.success else self.missed)[waypoint] = solution

    def _in_reach(self, first: int, end: int) -> int | None:
        """The first waypoint from `first` to `end` that has a solution; None where none was found.

        The solver tells of the first, and why it has none; for the others a few starts must do.
        """
        if first not in self.missed and not self.route.clock.late:
            self._search(first)
        if first in self.answers:
            return first
        for waypoint in range(first + 1, end):
            if self.route.clock.late:
                break
            if len(self.route.solutions(waypoint, self.spread(waypoint, _FEW))):
                return waypoint
        return None


def starts_at(route: Route, waypoint: int, near: Array, q0: Array, count: int, turn: int = 0) -> Array:
    """(k + count, nq) `near` (k, nq), and so many random configurations, others for each waypoint and turn, in which
    what no start moves is as in q0 (nq,)."""
    seed: Any = (route.seed + waypoint) % 2**62
    if turn:
        seed = np.random.default_rng([route.seed, waypoint, turn])
    drawn = route.model.sample(count, seed=seed)
    drawn[:, ~route.sampled] = q0[~route.sampled]
    return np.concatenate([near, drawn])


def distinct(q: Array, most: int | None = None) -> Array:
    """The first of configurations q (k, nq) that are alike, so many at most."""
    unique, count = np.empty_like(q), 0
    for one in q:
        if count == most:
            break
        if not (np.abs(unique[:count] - one).max(axis=1, initial=0.0) <= _ALIKE).any():
            unique[count], count = one, count + 1
    return unique[:count]
