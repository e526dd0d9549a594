"""Tasks prepared for a model: names to arrays, stages as data, arrays to the kernel, its answer to a Solution."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import whole
from poise.kernels.machine.layout import (
    ALONE_SEARCH,
    ANSWER,
    BEGIN,
    BLOCKED,
    CALL,
    CLOSED_ANSWER,
    CLOSED_STARTS,
    END,
    GO_ON,
    NEEDS,
    RUNNING,
    SOLVED,
    STEPS_SEARCH,
    UNSOLVED,
)
from poise.model.closure import LoopClosure
from poise.model.model import Model, a_model
from poise.solving.answers.solution import Solution
from poise.solving.arguments.arguments import one_start, refuse_numbers
from poise.solving.arguments.lru_cache import cached
from poise.solving.methods.posture import with_posture
from poise.solving.problem.prepared_tasks import PreparedTasks
from poise.solving.problem.problem import Problem, pack
from poise.solving.problem.workspace import PHASE, SEED, Bound, Scratch
from poise.solving.requirements.limits import Limits, LimitsLike, with_feasibility_check
from poise.solving.requirements.loops import PassiveLoops, loop_tasks
from poise.solving.requirements.ranges import is_range
from poise.solving.search.fast_path import Line, line_of_search
from poise.solving.search.locked import Locked
from poise.solving.search.settings import BY_STEPS, SearchSettings
from poise.solving.search.soft import all_required, required_alone, with_soft_rows
from poise.solving.search.stated import SAMPLES, Stated
from poise.solving.search.without_ranges import without_ranges
from poise.spatial import SE3, pose_of
from poise.tasks.base import Task
from poise.tasks.loop import LoopTask

if TYPE_CHECKING:
    from poise.solving.requirements.outcome import Trace

_AS_USUAL: Final = SearchSettings()
_FULFILLED_RESTARTS: Final = 31
"""The same where soft tasks, which may be out of reach, are searched for beside a range that is in their way."""
_LOCAL: Final = ("_known", "_line")
"""What is not sent to another process, which makes its own."""
_NEEDS: Final = CALL.fields["needs"].word
_CODE: Final = CALL.fields["code"].word


@final
class Search:
    """Tasks prepared for a model, which it does not hold: what a `Solver` and the memory of `solve` are made of.

    The kernel walks its stages, in C and a browser too.  Any number of threads may call it at once, and it can be sent
    to a process.
    """

    __slots__ = (
        "_known",
        "_line",
        "_locks",
        "_passive_loops",
        "bound",
        "home",
        "limits",
        "method",
        "others",
        "posture",
        "settings",
        "soft",
        "tasks",
    )

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        *,
        limits: "LimitsLike | Limits" = True,
        settings: SearchSettings = _AS_USUAL,
        also: Sequence[int] = (),
        called: bool = True,
        inner: bool = False,
    ) -> None:
        """`also` are velocities that are free even where they move no task, of which there may be none.

        `called` says whether Python calls it, `inner` whether it is one of another's.
        """
        a_model(model)
        asked = Limits.of(limits)
        held, at_rest = asked.timeless(model), asked.at_rest(model)
        prepared = PreparedTasks(model, tasks, loop_tasks(model, tasks), at_rest=at_rest)
        stated = Stated(prepared, held, settings)
        self.home = np.array(model.home)
        self.tasks, self.limits, self.settings = stated.tasks, stated.limits, settings
        self.soft, self.method = stated.soft, stated.method
        problem = pack(model, self.tasks.of_frames, limits=self.limits.positions, also=(*also, *stated.also(model)))
        self.posture = stated.posture
        if self.posture is not None:
            problem = with_posture(model, self.posture, problem)
        self.others: dict[str, Search] = {}
        """Other searches by their names in the record of a call, of which some are made when they are first needed."""
        problem = with_soft_rows(problem) if self.soft else problem
        found, places = self._inner(model, stated, problem)
        without = self.without_ranges
        falls_back = stated.falls_back or (without is not None and without.falls_back)
        self.bound = stated.bound(model, problem, found, places, falls_back=falls_back, called=called, inner=inner)
        if self.limits.collision is not None and called:
            self.bound.idle.append(self.bound.new(model))  # its shapes are not to be packed by the first call
        nearest = settings.select == "nearest" and called and not found
        self._locks = (
            nearest and bool(model.still) and stated.can_have_closed_form(model) and not held.ties_still(model)
        )
        """Whether what may move can have a closed form where the others stand."""
        self._known: tuple[bytes, tuple[Search, Locked] | None] | None = None
        """q of what stands still at the last start, and what is `locked` there."""
        self._passive_loops = PassiveLoops.of(model, tasks, limits=self.limits.positions)
        self._line: Line | None = self._fast_path()

    def _inner(self, model: Model, stated: Stated, problem: Problem) -> tuple[dict[str, Bound], dict[str, Array]]:
        """The other searches of its stages by their names in the record of a call; the places of their goals."""
        found: dict[str, Bound] = {}
        places: dict[str, Array] = {}
        tasks, settings, limits = self.tasks, self.settings, self.limits

        def add(name: str, other: Search, which: Sequence[int]) -> None:
            self.others[name], found[name] = other, other.bound
            places[f"goals_{name}"] = tasks.places_of(other.tasks, which, model.nq)

        others = None if settings.method is not None or settings.trace else without_ranges(tasks.stated)
        if others is not None and len(loop_tasks(model, others)) == len(tasks.loops):  # else one moves an open loop
            which = [k for k, task in enumerate(tasks.stated) if not is_range(task)]
            add("without_ranges", Search(model, others, limits=limits, settings=settings, inner=True), which)
        if self.soft:
            which = [k for k, task in enumerate(tasks.all) if task.blocks and task.required]
            if which:
                required = [tasks.all[k] for k in which]
                add("required", self._other(model, required, Limits.of(limits.positions), settings), which)
        ranged = "without_ranges" in found and not all(task.required for task in tasks.of_frames)
        if self.posture is not None if self.soft else ranged:
            most = settings.max_restarts
            restarts = most if self.soft else _FULFILLED_RESTARTS if most is None else min(most, _FULFILLED_RESTARTS)
            every = self._other(model, all_required(tasks.stated), limits, replace(settings, max_restarts=restarts))
            add("all_required", every, range(len(tasks.stated)))
        if self.soft or stated.approaches:
            from poise.solving.gradients.conditions import conditions_for

            rows = with_feasibility_check(model, problem, limits) if limits.has_constraints else problem
            conditions = conditions_for(model, tasks, rows, limits)
            if not conditions.narrow:
                found["rest"] = replace(conditions.bound, numbers={"given": 1})
        alone = stated.required_alone
        if alone is not None:
            which = [k for k, task in enumerate(tasks.stated) if task.required]
            prepared = PreparedTasks(model, alone, loop_tasks(model, alone))
            places["goals_alone"] = tasks.places_of(prepared, which, model.nq)
        return found, places

    @staticmethod
    def _other(model: Model, tasks: Sequence[Task], limits: Limits, settings: SearchSettings) -> "Search":
        """A search that only others call."""
        return Search(model, tasks, limits=limits, settings=settings, called=False, inner=True)

    def _fast_path(self) -> Line | None:
        """What answers usual calls in C, if anything does: nothing where Python closes loops."""
        if self._passive_loops is not None or self.settings.trace or self._locks:
            return None
        return line_of_search(self.bound, self.tasks, self.settings.max_time, self.home)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: getattr(self, name) for name in self.__slots__ if name not in _LOCAL}
        return state | {"others": dict(self.others)}  # to which another thread may add meanwhile

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._known, self._line = None, self._fast_path()

    def __call__(self, model: Model, target: Any, q0: ArrayLike | None, seed: int | None) -> Solution:
        """Solve; see `Solver`."""
        if self._line is not None and (seed is None or (type(seed) is int and seed == self.settings.seed)):
            found = self._line.solve(model, self, target, q0)
            if found is not None:
                return found
        began = perf_counter_ns()
        if self._locks and (answer := self._by_closed_form(model, target, q0, seed)) is not None:
            return answer
        bound = self.bound
        try:
            scratch = bound.idle.pop()
        except IndexError:
            scratch = bound.new(model)
        try:
            if bound.collision is not None:
                scratch.sync_scene()
            goal = self.tasks.goal_numbers(target, model)
            scratch.goal_view[:] = goal
            scratch.begin_at(model, self.home if q0 is None else q0)
            if seed is not None:
                whole("seed", seed, 0)
                scratch.call[SEED] = seed
            start = None if q0 is None else scratch.start_view.tobytes()
            code, timed_out = self._solved(model, scratch, began, inf)
            if code < 0:
                refuse_numbers(code, model, self.tasks.all, scratch.goal, scratch.start)
            out = scratch.copy()
            trace = self._traced(scratch) if self.settings.trace else None
        finally:
            if seed is not None:
                scratch.call[SEED] = self.settings.seed
            bound.idle.append(scratch)
        return Solution(model, self, out, goal, code, perf_counter_ns() - began, timed_out, trace, start=start)

    def _by_closed_form(self, model: Model, target: Any, q0: ArrayLike | None, seed: int | None) -> Solution | None:
        """The answer with what stands still locked where q0 has it; None where the others have no closed form then."""
        found = (
            None if seed is not None else self._again(model, target, self.home if q0 is None else q0, q0 is not None)
        )
        if found is not None:
            return found
        start, goal = one_start(model, self.home if q0 is None else q0), self.tasks.goal_numbers(target, model)
        locked = self.locked(model, start)
        if locked is None or not (np.isfinite(goal).all() and np.any(goal[3:])):
            return None
        own, part = locked
        found = own(part.model, pose_of(goal), start[part.moved], seed)
        return found._on_model(model, self, part.whole(found._raw), None if q0 is None else start)

    def _again(self, model: Model, target: Any, start: Any, given: bool) -> Solution | None:
        """The same where what stands still is where the last call had it, and target and start are as they usually are:
        then C does the rest."""
        usual = type(start) is np.ndarray and start.shape == self.home.shape and type(target) in (SE3, np.ndarray)
        if self._known is None or not usual:
            return None
        place, locked = self._known
        if locked is None or locked[0]._line is None or start[locked[1].still].tobytes() != place:
            return None
        own, part = locked
        found = locked[0]._line.solve(part.model, own, target, start[part.moved])
        return None if found is None else found._on_model(model, self, part.whole(found._raw), start if given else None)

    def locked(self, model: Model, start: Array) -> "tuple[Search, Locked] | None":
        """The search by a closed form on the model with what stands still locked where `start` (nq,) has it, and that
        model; the last ones are kept.  None without a closed form."""
        if not self._locks:
            return None
        known, place = self._known, start[model._standing].tobytes()
        if known is None or known[0] != place:
            part = Locked.of(model, model.normalize(start))
            stated, limits, settings = self.tasks.stated, self.limits, self.settings
            key = Search, limits.key, settings, stated[0].structure
            own = cached(part.model, key, lambda: Search(part.model, stated, limits=limits, settings=settings))
            known = self._known = place, (own, part) if len(own.problem.section("arms")) else None
        return known[1]

    def _traced(self, scratch: Scratch) -> "Trace":
        """What the method did in the search that the scratch was in last."""
        from poise.solving.methods.bound_method import trace_of

        return trace_of(self.problem, scratch)

    @property
    def problem(self) -> Problem:
        """The problem of all tasks."""
        return self.bound.problem

    @property
    def max_iterations(self) -> int:
        """Iterations of a start, at most."""
        return self.bound.numbers["max_iterations"]

    @property
    def max_restarts(self) -> int:
        """Random starts, at most."""
        return self.bound.numbers["max_restarts"]

    @property
    def falls_back(self) -> bool:
        """Whether it does anything where its stages fail."""
        return bool(self.bound.numbers["falls_back"])

    @property
    def without_ranges(self) -> "Search | None":
        """The search for the other tasks, where there are required ranges."""
        return self.others.get("without_ranges")

    def solve_one(
        self, model: Model, scratch: Scratch, goal: Array, start: Array, *, seed: int, end: float = inf
    ) -> tuple[int, bool]:
        """Solve for a goal (goals of all tasks, see `joined`) from a start (nq,) into `out` of the scratch; the code,
        and whether the time was spent.

        It goes on until the time `end` [s] of `perf_counter`, at most.
        """
        scratch.goal[:], scratch.start[:], scratch.call[SEED] = goal, start, seed
        try:
            return self._solved(model, scratch, perf_counter_ns(), end)
        finally:
            scratch.call[SEED] = self.settings.seed

    def _solved(self, model: Model, scratch: Scratch, began: int, end: float) -> tuple[int, bool]:
        """Solve for the goal and the start that stand in the scratch, in chunks between which Python hears of signals;
        the code, and whether the time was spent.

        It began at the time `began` [ns].  What Python does for the kernel meanwhile does not count.
        """
        code: int = self.bound.run(scratch.address)
        spent = False
        if code in (RUNNING, NEEDS):
            longest = self.settings.max_time
            end = min(1e9 * end, inf if longest is None else began + 1e9 * longest)
            try:
                while code in (RUNNING, NEEDS):
                    now = perf_counter_ns()
                    spent = now >= end
                    if code == NEEDS and not spent:
                        self._supply(model, scratch)
                        end += perf_counter_ns() - now
                    scratch.call[PHASE] = END if spent else GO_ON
                    code = self.bound.run(scratch.address)
            finally:
                scratch.call[PHASE] = BEGIN
        if self._passive_loops is not None:
            code = self.close_passive_loops(model, scratch, scratch.out[ANSWER : ANSWER + model.nq], code)
        return code, spent and code != SOLVED

    def supply_all(self, model: Model, scratch: Scratch) -> None:
        """Attach to scratch all searches that it may ever need, and draw the starts for them."""
        if self.bound.numbers["keeps_by_steps"] or self.bound.numbers["solves_alone"]:
            self._supply_steps(model, scratch)
        if self.bound.numbers["solves_alone"]:
            scratch.attach("alone", self._alone(model).bound)
        for name, inner in scratch.inner.items():
            if name in self.others:
                self.others[name].supply_all(model, inner)

    def _supply(self, model: Model, scratch: Scratch) -> None:
        """Do what the kernel needs; see `kernels.solver.fallback`."""
        need, scratch.call[_NEEDS] = int(scratch.call[_NEEDS]), 0
        if need == STEPS_SEARCH:
            self._supply_steps(model, scratch)
        elif need == ALONE_SEARCH:
            scratch.attach("alone", self._alone(model).bound)
        elif need == CLOSED_STARTS:
            starts = scratch.narrow[self.problem.rows("fallback.starts")].reshape(-1, model.nq)
            for start in starts[: 2 if all(task.required for task in self.tasks.of_frames) else 2 + SAMPLES]:
                closed = self._closure(model).closed(start) if np.isfinite(start).all() else None
                start[:] = np.nan if closed is None else closed
        elif need == CLOSED_ANSWER:
            other = scratch.inner["alone"]
            answer = other.out[ANSWER : ANSWER + model.nq]
            other.call[_CODE] = self.others["alone"].close_passive_loops(model, other, answer, int(other.call[_CODE]))
        for name, other in scratch.inner.items():
            if name in self.others:
                self.others[name]._supply(model, other)

    def _supply_steps(self, model: Model, scratch: Scratch) -> None:
        """Attach the search for the same tasks by steps that keep all that must hold, and draw starts for it."""
        if "by_steps" not in scratch.inner:
            given = replace(
                self.settings, method=BY_STEPS, max_iterations=None, trace=False, max_restarts=self.max_restarts
            )
            scratch.attach("by_steps", self._made("by_steps", model, self.tasks.stated, given).bound)
        seed = int(scratch.call[SEED])
        scratch.narrow[self.problem.rows("fallback.samples")] = model.sample(SAMPLES, seed=seed).ravel()
        scratch.set_fields(sampled=seed)

    def _alone(self, model: Model) -> "Search":
        """The search for what is required alone."""
        return self._made("alone", model, required_alone(self.tasks.stated) or (), self.settings)

    def _made(self, name: str, model: Model, tasks: Sequence[Task], settings: SearchSettings) -> "Search":
        """The other search of this name, which any thread may make first."""
        if name in self.others:
            return self.others[name]
        return self.others.setdefault(name, self._other(model, tasks, self.limits, settings))

    def _closure(self, model: Model) -> LoopClosure:
        """What closes the loops that the tasks move."""
        derived, loops = self.bound.derived, [task.loop for task in self.tasks.of_frames if isinstance(task, LoopTask)]
        if LoopClosure not in derived:
            derived[LoopClosure] = LoopClosure(model, loops, limits=self.limits.positions)
        found: LoopClosure = derived[LoopClosure]
        return found

    def solve_unconstrained(self, model: Model, goal: Array, q: Array) -> Array:
        """(nq,) what solves near q (nq,) for these goal numbers if nothing but limits of joints must hold."""
        if not self.tasks.of_frames:
            return q
        settings = SearchSettings(seed=self.settings.seed)
        free = Search(model, self.tasks.of_frames, limits=self.limits.positions, settings=settings)
        with free.bound.scratch(model) as scratch:
            free.solve_one(model, scratch, goal[: len(scratch.goal)], q, seed=self.settings.seed)
            return scratch.out[ANSWER : ANSWER + model.nq].copy()

    @property
    def has_passive_loops(self) -> bool:
        """Whether the model has loops that no task moves."""
        return self._passive_loops is not None

    def close_passive_loops(self, model: Model, scratch: Scratch, q: Array, code: int) -> int:
        """Let the loops that no task moves be closed at an answer q (nq,), which changes where they are not; the code.

        What moves then may be too near to something.
        """
        if self._passive_loops is None or code not in (SOLVED, UNSOLVED, BLOCKED):
            return code
        self._passive_loops.close(model, q)
        if code == SOLVED and self.limits.collision is not None and scratch.scene is not None:
            return SOLVED if self.limits.collision.holds_in(model, scratch.scene, q) else BLOCKED
        return code
