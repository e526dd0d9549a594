"""The waypoints of a path, prepared for a model: solved one by one, followed by strands, linearised, corrected."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.copies import with_attributes
from poise.common.errors import InvalidValue
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import ANSWER, BEGIN, CODE, GO_ON, GOAL_NUMBERS, SOLVED, STRAYED, WIDTH
from poise.kernels.path.blocks import solve_again, solve_blocks
from poise.kernels.path.follow import follow_lanes, rows_along
from poise.kernels.path.sequence import best_sequence
from poise.kernels.solver import batch_lanes
from poise.model.model import Model
from poise.solving.answers.solution import Solution
from poise.solving.arguments.arguments import each_goal, joined
from poise.solving.path.clock import Clock
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.limits import PathLimits
from poise.solving.path.path import PathFailure
from poise.solving.path.residual_rows import prepared_sides, rows_of
from poise.solving.path.soft_objectives import SoftObjectives, is_soft, on_line
from poise.solving.requirements.loops import loop_tasks
from poise.solving.requirements.ranges import Ranges
from poise.solving.search.lanes import solve_many
from poise.solving.search.prepared import prepared_search
from poise.solving.solvers.branch_solver import prepared_branching
from poise.spatial import SE3
from poise.tasks.base import Task
from poise.tasks.loop import LoopTask

MISSED: Final = 1e9
"""What a waypoint that is not reached costs in a sequence, beside the squares of steps [rad^2 and m^2]."""
FINE: Final = 1e5
"""What a step that is a jump costs."""
_START_WEIGHT: Final = 1e-5
"""Weight of the square of the distance from q0."""
_SAMPLES: Final = 24
"""Values of a joint that is swept, where there is a closed form for the others."""
_SUBSTEPS: Final = 32
"""Small steps in which a strand is led from a waypoint to the next."""
_ROUNDING: Final = 1e-9
"""How far a given configuration may be outside a limit [rad or m]."""
_PIECE: Final = 64
"""Waypoints that a thread corrects, or leads eight strands along, between two looks at the clock."""
_PART, _LEAST_PARTS = 0.01, 8
"""Of a straight line, the longest part [m, or of a quaternion], and how many there are at least."""
_WORK: Final = 1_000_000
"""Steps between candidates that are priced between two looks."""


@final
class Route:
    """Tasks with the goals of n waypoints.  Its methods may be called from one thread at a time."""

    def __init__(
        self,
        model: Model,
        given: Sequence[Task],
        each: Sequence[Array],
        *,
        limits: PathLimits,
        seed: int,
        threads: int,
        seconds: float | None,
    ) -> None:
        """`each` (n, .) the goals of each of the tasks that are given."""
        self.tasks = tuple(task for task in given if task.blocks)
        self._required_indices = [k for k, task in enumerate(self.tasks) if not is_soft(task, self.tasks)]
        self.required_tasks = tuple(self.tasks[k] for k in self._required_indices)
        """Those that waypoints must meet, which the others give way to."""
        loops = loop_tasks(model, given)
        self.loops = tuple(task for task in (*self.required_tasks, *loops) if isinstance(task, LoopTask))
        """Those that stay closed."""
        every = [*each, *(np.broadcast_to(loop.goal(None), (len(each[0]), GOAL_NUMBERS)) for loop in loops)]
        all_goals = joined((*given, *loops), every)
        self._hard_tasks, self._limits = (*self.required_tasks, *loops), limits
        own = (every[k] for k, task in enumerate((*given, *loops)) if task in self._hard_tasks)
        self.goals = np.hstack([all_goals[:, :0], *own])
        self.projection: SoftObjectives | None = None
        """What leads to where all holds that must, and then what gives way; None where there is neither."""
        if len(self.required_tasks) < len(given) or len(limits.rows):
            self.projection = SoftObjectives.of(model, given, loops, all_goals, limits.given.as_given)
        self.model, self.seed, self.threads = model, seed, threads
        first = [replace(task, priority=0) for task in self.required_tasks]  # as the loops are
        self.search, self.near = (
            prepared_search(
                model, (*first, *loops), limits=limits.positions, max_restarts=restarts,
                also=[*limits.given.tied(model), *([] if self.projection is None else self.projection.active)],
            )
            for restarts in (None, 0)
        )  # fmt: skip
        self.problem = self.search.problem
        self.active = np.array(self.problem.velocities, dtype=np.intp)
        """What changes along the path."""
        self.sides = prepared_sides(model, self._hard_tasks, self.active)
        self.all_costs = model._costs / model._costs[self.active].max(initial=1.0)
        """(nv,) what each velocity costs beside the dearest of these, so that all other prices stay dear to it."""
        self.costs = self.all_costs[self.active]
        bounded = ~model._standing & limits.positions
        self.lower: Array = np.where(bounded, model.lower, -np.inf)
        self.upper: Array = np.where(bounded, model.upper, np.inf)
        self.limits = limits.positions
        """Whether joint limits hold."""
        self.moved = np.zeros(model.nq, dtype=np.bool_)
        """(nq,) whether a number of q moves for what is asked; the others stay as they are."""
        coordinates = self.problem.section("coordinates")
        self.moved[coordinates["q"]] = True
        for ball in self.problem.section("balls"):
            self.moved[ball["q"] : ball["q"] + 4] = True
        self.sampled = self.moved.copy()
        """(nq,) the same, but for what moves for a sum of joints alone: random starts leave it where it is."""
        by_soft, drawn = np.zeros(model.nv, dtype=np.bool_), np.zeros(model.nq, dtype=np.bool_)
        by_soft[[] if self.soft is None else self.soft.active] = True
        drawn[self.problem.sampled_coordinates["q"]] = True
        others = coordinates["q"][~by_soft[self.active[coordinates["v"]]]]
        self.sampled[others] &= drawn[others]
        for kernel in (follow_lanes, rows_along, best_sequence, batch_lanes.solve_many, solve_blocks, solve_again):
            prepare(kernel)
        self.clock = Clock(seconds)
        """Set off here, for what is compiled once is no part of the search."""

    def required(self) -> "Route":
        """It without what gives way."""
        own = each_goal(self._hard_tasks, self.goals)[: len(self.required_tasks)]
        settings = {"seed": self.seed, "threads": self.threads}
        made = Route(self.model, self.required_tasks, own, limits=self._limits, seconds=None, **settings)
        made.clock = self.clock
        return made

    @property
    def even(self) -> bool:
        """Whether all that moves costs the same."""
        return bool((self.costs == 1.0).all())

    def evenly(self) -> "Route":
        """It with all joints costing the same."""
        return with_attributes(self, costs=np.ones_like(self.costs), all_costs=np.ones_like(self.all_costs))

    def with_soft_weight(self, share: float) -> "Route":
        """It with what gives way counting by a share, 1 at most; by 0 not at all."""
        return with_attributes(self, projection=None if self.projection is None else self.projection.scaled(share))

    @property
    def soft(self) -> SoftObjectives | None:
        """What gives way, if anything does."""
        return self.projection if self.projection is not None and len(self.projection.active) else None

    @property
    def free_of_tasks(self) -> bool:
        """Whether a posture alone says where a configuration is to be."""
        return not (self.tasks or self.loops or self.soft is None)

    def at_posture(self, waypoint: int, q: Array) -> Array | None:
        """(..., nq) q (..., nq) with all joints that move where a posture has them at one waypoint; None where anything
        else is asked for."""
        if self.soft is None or not self.free_of_tasks:
            return None
        return np.where(self.sampled, self.soft.postures[waypoint], q)

    def with_postures(self, postures: Array) -> "Route":
        """It with these postures (n, nq) in place of its own."""
        return with_attributes(
            self, projection=None if self.projection is None else self.projection.with_postures(postures)
        )

    def missed(self, q: Array) -> list[PathFailure]:
        """The waypoints at which q (n, nq), all of it reached else, is too far from a posture that is required."""
        found = [] if self.soft is None else self.soft.missed(q, limits=self.limits)
        return [PathFailure(*each) for each in found]

    def clip(self, q: Array) -> Array:
        """(..., nq) the nearest to q (..., nq) within the limits, where they hold."""
        return self.model.clip(q) if self.limits else q

    def refuse_outside(self, q: Array, name: str) -> None:
        """Raises ValueError if q (nq,), an argument of this name, is outside a limit."""
        for i in np.flatnonzero((q < self.lower - _ROUNDING) | (q > self.upper + _ROUNDING)):
            raise InvalidValue(
                "outside-limits",
                f"{name} is {q[i]:.6g} at {self.model.coordinates[i]!r}, outside its limits {self.lower[i]:.6g} to "
                f"{self.upper[i]:.6g}: a path cannot begin there; move it inside, or leave {name} out",
            )

    def beginning_at(self, q: Array) -> "Route":
        """It with one waypoint more at its beginning, that which q (nq,) meets."""
        own = joined(self._hard_tasks, [task.at(self.model, q) for task in self._hard_tasks])
        soft = None if self.projection is None else self.projection.at(np.append(0, np.arange(len(self))))
        return with_attributes(self, goals=np.concatenate([own[None], self.goals]), projection=soft)

    def changing(self) -> npt.NDArray[np.bool_]:
        """(n,) which waypoints differ from the one before."""
        changed = (self.goals[1:] != self.goals[:-1]).any(axis=1)
        return np.append(True, changed if self.soft is None else changed | self.soft.changing())

    def only(self, some: npt.NDArray[Any]) -> "Route":
        """It with some of its waypoints alone, as an index of theirs says."""
        soft = None if self.projection is None else self.projection.at(some)
        return with_attributes(self, goals=self.goals[some], projection=soft)

    def __len__(self) -> int:
        return len(self.goals)

    def solve(self, waypoint: int, start: Array) -> Solution:
        """The solver's own answer to one waypoint, from a start (nq,)."""
        goal = self.goals[waypoint]
        with self.search.bound.scratch(self.model) as scratch:
            code, late = self.search.solve_one(self.model, scratch, goal, start, seed=self.seed, end=self.clock.end)
            return Solution(self.model, self.search, scratch.out.copy(), goal, code, 0, late)

    def solutions(self, waypoint: int, starts: Array) -> Array:
        """(k, nq) what starts (m, nq) lead to at one waypoint, in their order: first what the first one leads to."""
        if self.free_of_tasks and not len(self._limits.rows):
            return self.clip(starts)
        goals = np.broadcast_to(self.goals[waypoint], (len(starts), self.goals.shape[1]))
        q, solved = self._descend(goals, starts)
        return q[solved]

    def branches(self, waypoint: int, start: Array) -> Array:
        """(k, nq) all solutions of one waypoint with their whole turns, where it has a closed form.

        Those of a joint that is swept are as many as its values give.
        """
        if self.loops or not self.required_tasks:
            return np.zeros((0, self.model.nq))
        branching = prepared_branching(
            self.model, self.required_tasks, limits=self.problem.limits, turns=True, samples=_SAMPLES
        )
        if branching.form is None:
            known = branching.of_locked(self.model, self.goals[waypoint], start, self.seed, turns=True)
            return np.zeros((0, self.model.nq)) if known is None else known
        return np.array(branching(self.model, SE3(self.goals[waypoint]), start, self.seed).q)

    def follow(self, starts: Array, first: int, *, backwards: bool) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Strands from starts (k, nq) along the waypoints from `first` on, or from there back to the beginning.

        (k, n, nq) configurations in the order of the waypoints, and (k, n) which of these are reached; False, with
        any q, for those on the other side.
        """
        k, n = len(starts), len(self)
        some = slice(first, None, -1) if backwards else slice(first, None)
        path, scores = self._track_goals(np.ascontiguousarray(self.goals[some]), starts)
        if not first and not backwards:
            return path, scores <= 1.0
        q, reached = np.empty((k, n, self.model.nq)), np.zeros((k, n), dtype=np.bool_)
        q[:] = path[:, :1]
        q[:, some], reached[:, some] = path, scores <= 1.0
        return q, reached

    def both_ways(self, starts: Array, waypoint: int) -> tuple[Array, npt.NDArray[np.bool_]]:
        """(k, n, nq) strands from starts (k, nq) at a waypoint to both ends, and (k, n) which waypoints they reach."""
        q, reached = self.follow(starts, waypoint, backwards=False)
        if waypoint:
            back, there = self.follow(starts, waypoint, backwards=True)
            q[:, :waypoint], reached[:, :waypoint] = back[:, :waypoint], there[:, :waypoint]
        return q, reached

    def _track_goals(self, goals: Array, starts: Array) -> tuple[Array, Array]:
        """Strands from starts (k, nq) along goals (n, .): (k, n, nq) configurations and (k, n) scores."""
        k, n = len(starts), len(goals)
        path, scores = np.repeat(starts[:, None], n, axis=1), np.full((k, n), np.inf)

        def lead(group: slice, late: Callable[[], bool]) -> None:
            first = np.ascontiguousarray(starts[group])
            with self.search.bound.scratch(self.model) as scratch:
                for at in range(0, n, _PIECE):
                    if at and late():
                        path[group, at:] = path[group, at - 1 : at]
                        break
                    some = slice(at, min(at + _PIECE, n))
                    part, score = np.empty_like(path[group, some]), np.empty_like(scores[group, some])
                    scratch.set_fields(problems=len(part), steps=part.shape[1], phase=GO_ON if at else BEGIN)
                    scratch.set_arrays(goals=goals[some], starts=first, path=part, answers=score)
                    try:
                        prepare(follow_lanes)(scratch.address)
                    finally:
                        scratch.set_fields(phase=BEGIN)
                    path[group, some], scores[group, some] = part, score

        self._share(lead, [slice(i, i + WIDTH) for i in range(0, k, WIDTH)])
        return path, scores

    def nearest(self, waypoint: int, start: Array) -> Array:
        """(nq,) how near a strand from `start` (nq,) comes to a waypoint."""
        return self._track_goals(np.ascontiguousarray(self.goals[waypoint : waypoint + 1]), start[None])[0][0, 0]

    def continues(self, waypoint: int, q0: Array, q1: Array) -> bool:
        """Whether a strand from q0 comes to q1 (nq,) when it is led to the next waypoint in many small steps.

        Their number being finite, each must be a fraction of the whole, and it must end nearer to q1 than it began.
        """
        path = self._along(waypoint, _SUBSTEPS, q0)
        if path is None:
            return False
        way = np.abs(self.steps(path)).max(axis=1)
        whole = float(np.abs(self.steps(np.stack([q0, q1]))).max())
        missed = float(np.abs(self.steps(np.stack([path[-1], q1]))).max())
        return bool(way.max() < 0.5 * whole and missed < 0.5 * whole)

    def _along(self, waypoint: int, parts: int, q: Array) -> Array | None:
        """(parts + 1, nq) a strand from q (nq,) along the straight line from a waypoint to the next, in so many steps,
        by what gives way where nothing leads; None where it misses the line."""
        if not self.required_tasks and self.projection is not None:
            return self.projection.line(waypoint, parts).strand(q, self.seed, self.clock)
        goals = on_line(self.required_tasks, self.goals[waypoint : waypoint + 2], parts)
        path, scores = self._track_goals(goals, q[None])
        return np.concatenate([q[None], path[0]]) if scores.max() <= 1.0 else None

    def straight_line(self, waypoint: int, q: Array) -> Array | None:
        """(k, nq) a strand from q (nq,) along the straight line from a waypoint to the next, from small step to small
        step; None where it misses the line."""
        numbers = self.goals if self.required_tasks or self.projection is None else self.projection.goals
        away = float(np.abs(numbers[waypoint + 1] - numbers[waypoint]).max(initial=0.0))
        return self._along(waypoint, max(_LEAST_PARTS, int(np.ceil(away / _PART))), q)

    def correct(self, q: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """(n, nq) the solutions of the waypoints nearest to q (n, nq), and which of them there are."""
        return self._descend(self.goals, q)

    def _descend(self, goals: Array, starts: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """One descent from each start (m, nq) to its goal (m, .): q, the start where that fails, and which do not."""
        with self.near.bound.scratch(self.model) as scratch:
            width = len(scratch.out)
        raw = np.full((len(goals), width), np.nan)

        def work(some: slice, late: Callable[[], bool]) -> None:
            with self.near.bound.scratch(self.model) as scratch:
                solve_many(
                    self.near, scratch, goals[some], starts[some], raw[some], 0, self.seed, given=True,
                    best_effort=False,
                )  # fmt: skip

        self._share(work, [slice(i, i + _PIECE) for i in range(0, len(goals), _PIECE)])
        solved = np.isin(raw[:, CODE], (SOLVED, STRAYED))
        return np.where(solved[:, None], raw[:, ANSWER : ANSWER + self.model.nq], starts), solved

    def projected(self, q: Array, feasibility: PathFeasibility) -> Array:
        """(n, nq) where q (n, nq), all of it reached, comes within what must hold, and then what gives way is met, one
        level after the other; q where that is not reached."""
        return q if self.projection is None else self._projected(self.projection, q, feasibility)[0]

    def _projected(self, soft: SoftObjectives, q: Array, feasibility: PathFeasibility) -> tuple[Array, Array]:
        """The same, and (n,) how far it is within what must hold."""
        if self.free_of_tasks and not soft.cost(q).any() and (self.clip(q) == q).all():
            slack = feasibility(q)
            if (slack >= 0.0).all():
                return q, slack
        moved = soft.projected(q, self.seed, self.clock)
        slack = feasibility(moved)
        good = (self.rows(moved)[2] <= 1.0) & (slack >= 0.0)
        if good.all():
            return moved, slack
        moved = np.where(good[:, None], moved, q)
        return moved, feasibility(moved)

    def best(self, waypoint: int, q: Array, feasibility: PathFeasibility) -> tuple[Array, Array]:
        """(k, nq) what solutions q (k, nq) of one waypoint come to by `projected`, and (k,) how far within what must
        hold: first those within it, of which the least of what gives way is left."""
        here = self.only(np.full(len(q), waypoint))
        if here.projection is None or not len(q):
            return q, feasibility(q)
        moved, slack = here._projected(here.projection, q, feasibility)
        order = np.lexsort((here.projection.cost(moved), slack < 0.0))
        return moved[order], slack[order]

    def best_both_ways(
        self, starts: Array, waypoint: int, feasibility: PathFeasibility
    ) -> tuple[Array, npt.NDArray[np.bool_]]:
        """`both_ways`, with each waypoint led by `projected` from where the one before is."""
        k, n = len(starts), len(self)
        q, reached = np.repeat(starts[:, None], n, axis=1), np.zeros((k, n), dtype=np.bool_)
        reached[:, waypoint] = True
        for way in (range(waypoint + 1, n), range(waypoint - 1, -1, -1)):
            last = starts
            for t in way:
                if self.clock.late:
                    break
                path, scores = self._track_goals(np.ascontiguousarray(self.goals[t : t + 1]), last)
                reached[:, t] = scores[:, 0] <= 1.0
                last = self.only(np.full(k, t)).projected(path[:, 0], feasibility)
                q[:, t] = last
        return q, reached

    def rows(self, q: Array) -> tuple[Array, Array, Array]:
        """Residual rows (n, m), Jacobians (n, m, active velocities) and scores (n,) at q (n, nq).

        A score of at most 1 is within the tolerances of all tasks.
        """
        with self.search.bound.scratch(self.model) as scratch:
            return rows_of(self.problem, scratch, self.goals, q)

    def errors(self, e: Array, q: Array) -> dict[str, Array]:
        """What residual rows e (n, m) leave of positions [m] and rotations [rad]: by unit, (n, tasks), NaN where a task
        has none; and of the tasks that give way, what is left of them at q (n, nq)."""
        out = {unit: np.full((len(e), len(self.tasks)), np.nan) for unit in ("m", "rad")}
        if not self.tasks:
            return out
        with np.errstate(invalid="ignore"):
            left = np.linalg.norm(e.reshape(len(e), -1, 3) * self.problem.section("blocks")["inverse_weight"], axis=2)
        ends = np.cumsum([0, *(len(task.blocks) for task in self.required_tasks)])
        sizes = {k: left[:, a:b] for k, a, b in zip(self._required_indices, ends[:-1], ends[1:], strict=True)}
        if self.soft is not None:
            sizes |= dict(zip(self.soft.number, self.soft.errors(q), strict=False))
        for k, some in sizes.items():
            for unit, found in out.items():
                columns = [b for b, block in enumerate(self.tasks[k].blocks) if block.unit == unit]
                if columns:
                    found[:, k] = np.sqrt((some[:, columns] ** 2).sum(axis=1))
        return out

    def ranges(self) -> list[Ranges]:
        """Of required ranges with an inside that are the same at all waypoints, what keeps them between these."""
        goals = self.goals.reshape(len(self), -1, 7)
        some = [k for k in self.sides.number if not np.ptp(goals[:, k], axis=0).any()]
        return [Ranges(self.model, [self.required_tasks[k] for k in some], list(goals[0, some]))] if some else []

    def meets(self, q: Array) -> tuple[bool, str]:
        """Whether q (nq,) meets the first waypoint, and how far it is from it, in words: what must meet it, or where
        nothing must, all."""
        alone = self.only(np.arange(len(self)) == 0)
        e, _, scores = alone.rows(q[None])
        columns = self._required_indices or range(len(self.tasks))
        left = {unit: x[:, columns] for unit, x in alone.errors(e, q[None]).items()}
        away = [f"{np.nanmax(x):.3g} {unit}" for unit, x in left.items() if not np.isnan(x).all()]
        met = scores[0] <= 1.0 and (
            bool(self.required_tasks) or alone.projection is None or alone.projection.left(q[None]).max() <= 1.0
        )
        return bool(met), " and ".join(away)

    def start_cost(self, q: Array, q0: Array) -> Array:
        """(k,) next to nothing, but the more the farther configurations q (k, nq) are from q0: so that of paths that
        cost the same, such as by whole turns of a joint, the one that begins nearest to q0 is taken."""
        ways = self.all_costs * self.model.difference(q0, q)
        return np.asarray(_START_WEIGHT * (ways**2).sum(axis=-1), dtype=np.float64)

    def steps(self, q: Array) -> Array:
        """(n - 1, active velocities) what moves the tasks from each configuration to the next."""
        return self.model.difference(q[:-1], q[1:])[:, self.active]

    def sequence(self, q: Array, price: Array, jump: float, *, closed: bool) -> npt.NDArray[np.int64]:
        """(n,) the best of the candidates q (n, m, nq) of each waypoint, which cost price (n, m); see `best_sequence`.

        A closed sequence begins and ends at one candidate, each of those at the first waypoint in turn.  When the time
        is spent it is the best of those, or the same candidate all along, the cheapest.
        """
        n, m = price.shape
        totals, before = np.empty((2, m)), np.zeros((n, m), dtype=np.int64)
        together = price.sum(axis=0)
        best = np.full(n, together.argmin()) if together.min() < np.inf else price.argmin(axis=1)
        least, stretch = np.inf, max(1, _WORK // m**2)
        q, price = np.ascontiguousarray(q), np.ascontiguousarray(price)
        for first in np.flatnonzero(price[0] < np.inf) if closed else [-1]:
            chosen, total = np.zeros(n, dtype=np.int64), np.inf
            for begin in range(0, n, stretch):
                if self.clock.late:
                    return best
                settings = np.array([jump, FINE, float(first), begin, min(begin + stretch, n)])
                total = prepare(best_sequence)(
                    self.problem.words.ctypes.data, self.costs, q, price, settings, totals, before, chosen
                )
            if total < least:
                best, least = chosen, total
        return best

    def _share(self, work: Callable[[slice, Callable[[], bool]], None], parts: list[slice]) -> None:
        """Work on all parts, in the threads, until the time is spent; what is made of a part depends on it alone.

        Work is told how to see that it is to end, after time or because of an exception such as KeyboardInterrupt.
        """
        stopped = Event()

        def late() -> bool:
            return stopped.is_set() or self.clock.late

        def do(part: slice) -> None:
            try:
                if not late():
                    work(part, late)
            except BaseException:  # of a later part it is seen below only after the earlier ones
                stopped.set()
                raise

        if min(self.threads, len(parts)) <= 1:
            for part in parts:
                do(part)
            return
        with ThreadPoolExecutor(min(self.threads, len(parts))) as pool:
            try:
                list(pool.map(do, parts))
            finally:
                stopped.set()
