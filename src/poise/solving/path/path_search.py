"""One search for a path: strands, the best sequence through them, which is made shorter, and what of it fails."""

from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.layout import WIDTH
from poise.solving.answers.solution import Solution
from poise.solving.path.candidates import Candidates
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.first import first_paths
from poise.solving.path.fixed_times import Pace
from poise.solving.path.jumps import FACTOR, LEAST, around
from poise.solving.path.path import PathFailure
from poise.solving.path.route import Route
from poise.solving.path.smoothing import Smoother
from poise.solving.problem.problem import velocity_names
from poise.solving.requirements.positions import at_limits
from poise.solving.requirements.status import Status

_STARTS: Final = 6 * WIDTH
"""Starts at a waypoint from which strands begin."""
_TRIED, _FEWEST, _WAYPOINTS = 8, 2, 1500
"""Strands that are made shorter before the best of them is made as short as can be: so many, but for long paths as many
as have so many waypoints together, and a few in any case."""
_TRIAL, _ITERATIONS = 3, 60
"""Iterations of a trial, and of the path that is kept."""
_PUSHED, _PUSHES = 8, 12
"""Strands that are pushed out of obstacles, at most, where none is free, and iterations of each."""
_FREED: Final = 2
"""So many that are free are enough."""
_DISTINCT: Final = 0.5
"""Strands are tried that differ by more than this from those tried before [rad or m]."""
_BETWEEN: Final = frozenset({Status.JUMP, Status.COLLISION, Status.LIMIT})
"""What can be wrong between two waypoints that are met, and is mended by a cut."""
_BELOW: Final = 0.99
"""Share of a jump that steps may come to which are kept from being one."""
_NEAR: Final = 0.1
"""Where what gives way is met farther from a waypoint's configuration, it may take a jump to get there [rad or m]."""
_SHARES: Final = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Shares that what gives way counts by, one tried after the other, until the path can be followed."""
_GAVE_WAY: Final = "What gives way is met less than each waypoint alone lets, so that the path can be followed."
_SLACK: Final = 1.0 + 1e-9
"""Rounding that a step may be over its limit by."""


@final
class PathSearch:
    """One call of `solve_path`."""

    def __init__(
        self, route: Route, start: Array, feasibility: PathFeasibility, pace: Pace, *, fixed: bool, closed: bool,
        optimise: bool, reconfigurations: int = 0,
    ) -> None:  # fmt: skip
        self.route, self.feasibility, self.pace, self.closed = route, feasibility, pace, closed
        self.cap = cap = pace.most[route.active]
        self.optimise, self.most = optimise, reconfigurations
        self.candidates = Candidates(route, start, feasibility, cap, fixed=fixed, closed=closed)
        self.smoother = Smoother(route, feasibility, fixed, closed, cap)
        self.notes: list[str] = []
        """What is to be said of the path."""
        self.freed: list[Array] = []
        """Paths that were pushed out of obstacles."""
        self.cuts: list[int] = []
        """Waypoints before which the arm is reconfigured."""

    def followed(self) -> tuple[Array, npt.NDArray[np.bool_], list[PathFailure]]:
        """(n, nq) the path, (n,) which waypoints it meets, and what of it cannot be followed."""
        every = np.ones(len(self.route), dtype=np.bool_)
        if not self.optimise and self.route.soft is None:
            for q in first_paths(self.candidates):
                if not self.failures(q, every):
                    return q, every, []
        q, reached = self.found()
        if self.feasibility.loops is not None and not reached.all():
            q = q.copy()
            q[~reached] = self.feasibility.loops.all_closed(q[~reached])[0]
        failures = self.failures(q, reached)
        if failures and self.route.soft is not None:
            plain = self._without(q, reached)
            improved = None if plain is None else self._with_soft(plain)
            if improved is not None:
                self.notes.append(_GAVE_WAY)
                return improved, every, []
        if failures and self.most and reached.all():
            cut = self._cut(q, failures)
            if cut is not None:
                return cut, every, []
        return q, reached, failures

    def _cut(self, q: Array, failures: list[PathFailure]) -> Array | None:
        """(n, nq) the path in pieces, each made as short as it can be, with a reconfiguration before each waypoint to
        which it fails to go; None where that takes too many of them, or would not help."""
        cuts, pieces = set[int](), list[Array]()
        between = _BETWEEN if self.pace.rates.smooth else {*_BETWEEN, Status.TOO_FAST}
        while failures:
            # What else fails may do so beside a jump alone.
            jumping = {failure.waypoint for failure in failures if failure.status is Status.JUMP}
            some = jumping or {failure.waypoint for failure in failures if failure.status in between}
            if not some:
                return None
            cuts |= some
            if len(cuts) > self.most:
                self.notes.append(f"As it was found it takes {len(cuts)} reconfigurations, or more.")
                return None
            pieces, failures = [], []
            for first, end in pairwise([0, *sorted(cuts), len(q)]):
                piece, wrong = self._piece(first, q[first:end])
                pieces.append(piece)
                failures += [replace(failure, waypoint=first + failure.waypoint) for failure in wrong]
        self.cuts = sorted(cuts)
        return np.concatenate(pieces)

    def _piece(self, first: int, q: Array) -> tuple[Array, list[PathFailure]]:
        """(m, nq) a stretch q (m, nq) of the path, from waypoint `first` on, as short as it can be, or, where that
        fails or is not asked for, as it is; and what of it fails."""
        alone, every = self.route.only(np.arange(first, first + len(q))), np.ones(len(q), dtype=np.bool_)
        fixed = self.candidates.fixed and not first
        search = PathSearch(alone, q[0], self.feasibility, self.pace, fixed=fixed, closed=False, optimise=self.optimise)
        wrong = search.failures(q, every)
        if not wrong and not self.optimise and alone.soft is None:
            return q, wrong
        shorter = search.smoother.shorten(q, _ITERATIONS)
        shorter = shorter if alone.soft is None else search._projected(shorter)
        return (q, wrong) if search.failures(shorter, every) else (shorter, [])

    def _without(self, q: Array, reached: npt.NDArray[np.bool_]) -> Array | None:
        """(n, nq) a path that can be followed, without what gives way: what q comes to, or one that is searched for
        as if there were none of it; None where there is neither."""
        every = np.ones_like(reached)
        if reached.all():
            q = self._smoother(0.0).shorten(q, _ITERATIONS)
            if not self.failures(q, every, of_postures=False):
                return q
        if not self.route.required_tasks or self.route.clock.late:
            return None
        alone = PathSearch(
            self.route.required(), self.candidates.q0, self.feasibility, self.pace, fixed=self.candidates.fixed,
            closed=self.closed, optimise=self.optimise,
        )  # fmt: skip
        q, _, failures = alone.followed()
        return None if failures else q

    def _with_soft(self, q: Array) -> Array | None:
        """What can be followed of the way of such a path, q (n, nq), to what gives way; None where nothing can."""
        every = np.ones(len(q), dtype=np.bool_)
        for share in _SHARES:
            improved = self._smoother(share).shorten(q, _ITERATIONS)
            for some in (self._projected(improved), improved) if share == 1.0 else (improved,):
                if not self.failures(some, every):
                    return some
        return None if self.failures(q, every) else q

    def _smoother(self, share: float) -> Smoother:
        """What makes a path shorter where what gives way counts by a share."""
        return replace(self.smoother, route=self.route.with_soft_weight(share))

    def found(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        """(n, nq) the path, and (n,) which waypoints it meets."""
        candidates = self.candidates
        candidates.gather(_STARTS)
        if not len(candidates.q):
            return np.tile(candidates.q0, (len(self.route), 1)), np.zeros(len(self.route), dtype=np.bool_)
        q, reached = self._freed(*self._best())
        if not reached.all() and candidates.search_alone():
            q, reached = self._freed(*self._best())
        if (
            self.feasibility.sums is not None
            and (not reached.all() or self._jumps(q))
            and candidates.add_constrained(_STARTS)
        ):
            q, reached = self._freed(*self._best())
        has_soft = self.route.soft is not None
        if not reached.all() or not (has_soft or (self.optimise and len(q) > 1)):
            return q, reached
        shortest = self._shortest(q)
        return self._projected(shortest) if has_soft else shortest, reached

    def _projected(self, q: Array) -> Array:
        """The path with what gives way met as nearly as what comes before it lets, where that brings no jumps."""
        moved = self.route.projected(q, self.feasibility)
        if self.candidates.fixed:
            moved[0] = q[0]
        far = np.abs(self.route.model.difference(q, moved)).max(axis=1, initial=0.0)
        for some in (moved, np.where((far <= _NEAR)[:, None], moved, q)):
            met = self._close_ends(some)
            if self._jumps(met) <= self._jumps(q):
                return met
        return q

    def _freed(self, q: Array, reached: npt.NDArray[np.bool_]) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The path, or what comes of pushing others out of obstacles, where some of its waypoints are missed or its
        joints jump, and those have less of it."""
        if len(q) > 1 and self.feasibility and (not reached.all() or self._jumps(q)):
            self.freed = self._pushed()
            if self.freed and (not reached.all() or self._jumps(self.freed[0]) < self._jumps(q)):
                return self.freed[0], np.ones(len(q), dtype=np.bool_)
        return q, reached

    def _pushed(self) -> list[Array]:
        """Paths of strands that meet all waypoints, pushed out of the obstacles; those with the fewest jumps first."""
        candidates, out, good = self.candidates, list[Array](), 0
        tried: list[Array] = []
        for k in candidates.blocked():
            one = self._close_ends(candidates.q[k].copy())
            if candidates.fixed and not (one[0] == candidates.q0).all():
                continue
            if len(tried) == _PUSHED or self.route.clock.late:
                break
            # What is a little beyond its cap may come within it.
            far = np.abs(self.route.steps(one)).max(initial=0.0) > candidates.jump
            if far or any(np.abs(one - other).max() <= _DISTINCT for other in tried):
                continue
            tried.append(one)
            free = self.smoother.shorten(one, _PUSHES, until_free=True)
            if self.smoother.free(free):
                out.append(free)
                good += self._jumps(free) == 0
                if good == (_FREED if self.optimise else 1):
                    break
        return sorted(out, key=self._jumps)

    def _best(self) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The best strand that meets all waypoints without a jump, or else the best sequence through all strands."""
        whole_ones = self._ranked()
        if len(whole_ones):
            return self._close_ends(self.candidates.q[whole_ones[0]].copy()), np.ones(len(self.route), dtype=np.bool_)
        q, reached = self.candidates.sequence()
        return self._close_ends(q), reached

    def _ranked(self) -> npt.NDArray[np.intp]:
        """The strands that meet all waypoints without a jump, the shortest first."""
        candidates, ones = self.candidates, self.candidates.complete()
        if candidates.fixed:
            ones = ones[(candidates.q[ones, 0] == candidates.q0).all(axis=1)]
        if not len(ones) or len(self.route) < 2:
            return ones
        steps = self.route.model.difference(candidates.q[ones, :-1], candidates.q[ones, 1:])[..., self.route.active]
        costs = ((self.route.costs * steps) ** 2).sum(axis=(1, 2)) + self.route.start_cost(
            candidates.q[ones, 0], candidates.q0
        )
        costs += candidates.soft_cost[ones].sum(axis=1)
        if self.closed:
            gaps = self.route.model.difference(candidates.q[ones, -1], candidates.q[ones, 0])
            costs += ((self.route.all_costs * gaps) ** 2).sum(axis=1)
        smooth = (np.abs(steps).max(axis=(1, 2), initial=0.0) <= candidates.jump) & np.isfinite(costs)
        order = np.argsort(costs, kind="stable")
        return ones[order[smooth[order]]]

    def _close_ends(self, q: Array) -> Array:
        """The path, which ends where it began if that is asked for."""
        if self.closed:
            q[-1] = q[0]
        return q

    def _shortest(self, q: Array) -> Array:
        """What the path, or other strands, come to when they are made shorter; the best of it."""
        candidates, smoother = self.candidates, self.smoother
        tried: list[Array] = []
        many = max(_FEWEST, min(_TRIED, _WAYPOINTS // len(q)))
        others = [self._close_ends(candidates.q[k].copy()) for k in self._ranked()]
        sequence, met = candidates.sequence()
        if met.all():
            others.insert(0, self._close_ends(sequence))
        for one in [*others, *self.freed, q]:
            if len(tried) < many and all(np.abs(one - other).max() > _DISTINCT for other in tried):
                tried.append(one)
        best = min([smoother.shorten(one, _TRIAL) for one in tried], key=self._cost)
        shortest = [smoother.shorten(best, _ITERATIONS)]
        if self._jumps(shortest[0]) and not self.route.even:
            shortest += self._without_leaps(best, shortest[0], q)
        best = min(shortest, key=self._cost)
        return best if self._jumps(best) <= self._jumps(q) else q

    def _without_leaps(self, *starts: Array) -> list[Array]:
        """What paths come to where joints may not leap that are cheap, and what one does that is short by no costs."""
        even = copy(self)
        even.route, even.candidates = self.route.evenly(), copy(self.candidates)
        even.candidates.route, even.smoother = even.route, replace(self.smoother, route=even.route)
        alike = even._shortest(starts[-1])
        capped = replace(self.smoother, cap=np.minimum(self.cap, _BELOW * self.candidates.jump))
        return [
            self.smoother.shorten(alike, _ITERATIONS),
            *(capped.shorten(one, _ITERATIONS) for one in (*starts, alike)),
        ]

    def _cost(self, q: Array) -> tuple[int, float]:
        """By what paths are held against each other: jumps, then what the motion costs."""
        return self._jumps(q), self.smoother.cost(q) + self._start_cost(q)

    def _start_cost(self, q: Array) -> float:
        return float(self.route.start_cost(q[:1], self.candidates.q0)[0])

    def _jumps(self, q: Array) -> int:
        steps = np.abs(self.route.steps(q))
        return int(((steps > self.cap) | (steps > self.candidates.jump)).any(axis=1).sum())

    def failures(self, q: Array, reached: npt.NDArray[np.bool_], *, of_postures: bool = True) -> list[PathFailure]:
        """What cannot be followed, and by which postures that are required it leads too far off."""
        max_jump = self.pace.max_jump
        route = self.route
        out: list[PathFailure] = []
        for t in np.flatnonzero(~reached):
            solution = self.candidates.missed.get(int(t))
            if solution is None and not out and (int(t) in self.candidates.barren or not route.clock.late):
                solution = route.solve(int(t), q[t])
            either = out[-1].status if out else Status.LOCAL_MINIMUM
            out.append(self._missed(int(t), q[t], solution, either))
        sizes, both = np.abs(route.steps(q)).max(axis=1, initial=0.0), reached[:-1] & reached[1:]
        if max_jump is not None:
            jumping = sizes > max_jump * _SLACK
        else:
            usual = np.full(len(sizes), np.inf)
            usual[both] = around(sizes[both])  # near what is out of reach an arm hardly moves
            jumping = (sizes > LEAST) & (sizes > FACTOR * usual)
        if max_jump is None:
            # Near a singular pose steps grow, and yet a strand comes from one end to the other.
            for t in np.flatnonzero(jumping & both):
                jumping[t] = not route.continues(int(t), q[t], q[t + 1])
        out += [self._jumped(int(t), q, max_jump) for t in np.flatnonzero(jumping & both)]
        if self.feasibility and len(q) > 1:
            free = self.feasibility.on_steps(q)
            for t in np.flatnonzero((free < 0.0) & both & ~jumping):
                status, words = self.feasibility.on_step(q[t], q[t + 1])
                out.append(PathFailure(int(t) + 1, status, f"on the way from waypoint {t} {words}."))
        if of_postures:
            out += [failure for failure in route.missed(q) if reached[failure.waypoint]]
        return out + self.pace.too_fast(q, self.feasibility, None if out else self.feasibility.loops)

    def _missed(self, t: int, q: Array, solution: Solution | None, either: Status) -> PathFailure:
        unsure = solution is None or solution.success or solution.budget == "time"
        if self.route.clock.late and unsure and t not in self.candidates.barren:
            return PathFailure(t, Status.BUDGET, "nothing was found for it in max_time.")
        if solution is not None and solution.success:
            if self.feasibility(q[None])[0] < 0.0:
                status, words = self.feasibility.words(q)
                reason = "no configuration that was found for it is free: at the one chosen "
                return PathFailure(t, status, reason + words)
            reason = "it can be reached, but by no way that was found from the others."
            return PathFailure(t, Status.LOCAL_MINIMUM, reason)
        proved = (either if solution is None else solution.status) is Status.UNREACHABLE
        reason = "not reached either." if solution is None else solution.explain()
        return PathFailure(t, Status.UNREACHABLE if proved else Status.LOCAL_MINIMUM, reason)

    def _jumped(self, t: int, q: Array, max_jump: float | None) -> PathFailure:
        route = self.route
        change = np.zeros(route.model.nv)
        change[route.active] = route.steps(q[t : t + 2])[0]
        names = velocity_names(route.model)
        j = int(np.abs(change).argmax())
        near = route.nearest(t + 1, q[t])
        ends = zip(
            ("lower", "upper"), (route.lower, route.upper), at_limits(near, route.lower, route.upper), strict=True
        )
        held = [
            f"{route.model.coordinates[i]} ({word}, {limit[i]:.4g})"
            for word, limit, met in ends
            for i in np.flatnonzero(met & route.moved)
        ]
        tail = f" At their limits, if they go on: {', '.join(held)}." if held else ""
        most = ""
        if max_jump is not None:
            most = f", and max_jump is {max_jump:.4g}: put waypoints between these two, or allow more"
        many = f"{len(self.candidates.q)} strands were tried."
        return PathFailure(
            t + 1, Status.JUMP,
            f"from waypoint {t} on, {names[j]} would have to change by {change[j]:.3g} at once{most}; {many}{tail}",
        )  # fmt: skip
