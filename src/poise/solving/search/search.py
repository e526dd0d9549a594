"""Tasks prepared for a model: names to arrays, arrays to a kernel, its answer to a Solution.

Where the kernel's search comes to nothing, or to an answer at which not all holds that must, others go on.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import whole
from poise.kernels.machine.layout import ANSWER, BLOCKED, CALL, CODE, COST, DISTANCE, ITERATIONS, SOLVED, UNSOLVED
from poise.model.model import Model, a_model
from poise.solving.answers.solution import Solution
from poise.solving.arguments.arguments import each_goal, joined, left_at, refuse_numbers
from poise.solving.problem.prepared_tasks import PreparedTasks
from poise.solving.problem.problem import Problem, distance
from poise.solving.problem.workspace import SEED, Bound, Scratch
from poise.solving.requirements.limits import Limits, LimitsLike
from poise.solving.requirements.loop_projection import LoopProjection, PassiveLoops
from poise.solving.search.fast_path import Line, line_of_search
from poise.solving.search.feasible_fallback import feasible_answer, satisfies
from poise.solving.search.kernel_search import KernelSearch
from poise.solving.search.settings import BY_STEPS, SearchSettings
from poise.solving.search.soft import required_alone
from poise.solving.search.without_ranges import goals_without, with_ranges
from poise.tasks.base import Task
from poise.tasks.loop import LoopTask

if TYPE_CHECKING:
    from poise.methods.base import Method
    from poise.solving.requirements.outcome import Trace


_AS_USUAL: Final = SearchSettings()
_CODE: Final = CALL.fields["code"].word


@final
class Search:
    """Tasks prepared for a model, which it does not hold: what a `Solver` and the memory of `solve` are made of.

    Any number of threads may call it at once, and it can be sent to a process.
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        *,
        limits: LimitsLike = True,
        settings: SearchSettings = _AS_USUAL,
        also: Sequence[int] = (),
    ) -> None:
        """`also` are velocities that are free even where they move no task, of which there may be none."""
        a_model(model)
        self._lead(model, KernelSearch(model, tasks, Limits.of(limits), settings, also=also))
        self._line: Line | None = self._fast_path()

    @classmethod
    def _around(cls, model: Model, kernel: KernelSearch) -> "Search":
        """That of a search of the kernel, which is one of another's stages."""
        made = object.__new__(cls)
        made._lead(model, kernel)
        return made

    def _lead(self, model: Model, kernel: KernelSearch) -> None:
        """Make it of what the kernel searches for."""
        self.kernel = kernel
        self.tasks: PreparedTasks = kernel.tasks
        self.settings: SearchSettings = kernel.settings
        self.limits: Limits = kernel.limits
        self.bound: Bound = kernel.bound
        self.home = np.array(model.home)
        self.without_ranges = None if kernel.without_ranges is None else Search._around(model, kernel.without_ranges)
        """The search for the other tasks, where there are required ranges."""
        again = kernel.all_required if kernel.soft else None
        self._all_required = None if again is None else Search._around(model, again)
        tasks, own_way = self.tasks, self.settings.method is None
        constrained = self.limits.has_constraints or tasks.have_constraints
        self.keeps_by_steps = constrained and kernel.method is None
        """Whether more must hold than the limits of joints, which the kernel's search looks at or leaves open."""
        more = own_way and (constrained or (tasks.have_levels and not kernel.soft))
        self.solves_required_alone = more and required_alone(tasks.stated) is not None
        """Whether what is required is solved for alone where nothing was found beside what gives way."""
        self._steps: KernelSearch | None = None
        self._required: Search | None = None
        closed = [task for task in tasks.of_frames if isinstance(task, LoopTask)]
        positions = self.limits.positions
        self._projection = LoopProjection(model, closed, limits=positions) if closed else None
        self._passive_loops = PassiveLoops.of(model, tasks.stated, limits=positions)
        self._line = None

    def _fast_path(self) -> Line | None:
        """What answers usual calls in C, if anything does: nothing where Python closes loops or goes on from an answer
        without ranges."""
        others = self.without_ranges
        if self._passive_loops is not None or (others is not None and others.goes_on):
            return None
        return line_of_search(self.kernel, self.home, complete=not self.goes_on)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_line": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._line = self._fast_path()

    def __call__(self, model: Model, target: Any, q0: ArrayLike | None, seed: int | None) -> Solution:
        """Solve; see `Solver`."""
        if self._line is not None and (seed is None or (type(seed) is int and seed == self.settings.seed)):
            found = self._line.solve(model, self, target, q0)
            if found is not None:
                return found
        began = perf_counter_ns()
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

    def _traced(self, scratch: Scratch) -> "Trace":
        """What the method did in the search that the scratch was in last."""
        from poise.solving.methods.bound_method import trace_of

        return trace_of(self.problem, scratch)

    @property
    def problem(self) -> Problem:
        """The problem of all tasks."""
        return self.bound.problem

    @property
    def method(self) -> "Method | None":
        """The method that is iterated; None for the solver's own way."""
        return self.kernel.method

    def solve_one(
        self, model: Model, scratch: Scratch, goal: Array, start: Array, *, seed: int, end: float = inf
    ) -> tuple[int, bool]:
        """Solve for a goal (goals of all tasks, see `joined`) from a start (nq,) into `out` of the scratch; the code,
        and whether the time was spent.

        It goes on until the time `end` [s] of `perf_counter`, at most.
        """
        with self.kernel.told(scratch, goal, start, seed=seed):
            return self._solved(model, scratch, perf_counter_ns(), end)

    def _solved(self, model: Model, scratch: Scratch, began: int, end: float) -> tuple[int, bool]:
        """Solve for the goal and the start that stand in the scratch; the code, and whether the time was spent."""
        code, late = self.kernel.search(model, scratch, began, end)
        if self.without_ranges is not None and not late and self._may_do_without_ranges(self.without_ranges, scratch):
            solved, late = self._solve_without_ranges(self.without_ranges, model, scratch, end)
            code = SOLVED if solved else code
        if code == BLOCKED and self._all_required is not None and not late:
            code, late = self._solve_all_required(self._all_required, model, scratch, end)
        if code > SOLVED and self.keeps_by_steps and not late:
            code, late = self._make_feasible(model, scratch, code, end)
        if code in (UNSOLVED, BLOCKED) and self.solves_required_alone and not late:
            solved, late = self._solve_required_alone(model, scratch, end)
            code = SOLVED if solved else code
        if self._passive_loops is not None:
            code = self.close_passive_loops(model, scratch, scratch.out[ANSWER : ANSWER + model.nq], code)
        return code, late

    def _may_do_without_ranges(self, others: "Search", scratch: Scratch) -> bool:
        """Whether the kernel's search without ranges came to what that search would go on from."""
        inner = scratch.inner["without_ranges"]
        posture = others.kernel.posture
        return inner.call[_CODE] == BLOCKED or (
            inner.call[_CODE] == UNSOLVED and posture is not None and posture.misses(inner.out)
        )

    def _solve_without_ranges(self, others: "Search", model: Model, scratch: Scratch, end: float) -> tuple[bool, bool]:
        """Whether `out` of the scratch becomes the answer of the search without ranges, all of which hold there, and
        whether the time was spent; a range that is not in the way changes nothing."""
        goals, seed = scratch.goal[None], int(scratch.call[SEED])
        with others.bound.scratch(model) as found:
            goal = goals_without(self.problem, goals)[0]
            code, late = others.solve_one(model, found, goal, scratch.start, seed=seed, end=end)
            if code != SOLVED:
                return False, late
            answer, inside = with_ranges(model, self.tasks.of_frames, goals, found.out[None])
        if inside[0]:
            scratch.out[:] = answer[0]
        return bool(inside[0]), late and not inside[0]

    def _solve_all_required(self, others: "Search", model: Model, scratch: Scratch, end: float) -> tuple[int, bool]:
        """Let the answer in the scratch's `out`, which fulfils even soft tasks but not all that must hold, become one
        that does, near to the posture; the code."""
        out, at = scratch.out, slice(ANSWER, ANSWER + model.nq)
        tolerances = np.concatenate([task.tolerances for task in self.tasks.of_frames])
        if not (out[at.stop : -1] <= tolerances).all():
            return BLOCKED, False
        with others.bound.scratch(model) as found:
            seed = int(scratch.call[SEED])
            code, late = others.solve_one(model, found, scratch.goal, out[at], seed=seed, end=end)
            if code == SOLVED:
                spent, out[:] = out[ITERATIONS], found.out
                out[ITERATIONS] += spent
        if code != SOLVED:
            return BLOCKED, late
        out[DISTANCE] = distance(model, self.problem, scratch.start, out[at])
        posture = self.kernel.posture
        return (UNSOLVED if posture is not None and posture.misses(out) else SOLVED), late

    def _make_feasible(self, model: Model, scratch: Scratch, code: int, end: float) -> tuple[int, bool]:
        """Let the answer in the scratch's `out`, whose code this is, keep all that must hold."""
        if scratch.out[CODE] == SOLVED and satisfies(
            self.problem, self.limits.collision, model, scratch, scratch.out[ANSWER : ANSWER + model.nq]
        ):
            return code, False  # where the posture alone is missed, all else holds
        closed = np.copy if self._projection is None else partial(self._projection.project, model)
        return feasible_answer(partial(self._by_steps, model), model, scratch, code, end, closed)

    def _by_steps(self, model: Model) -> KernelSearch:
        """A search for the same tasks by steps that keep all that must hold; it is made when it is first needed."""
        if self._steps is None:
            given = replace(
                self.settings, method=BY_STEPS, max_iterations=None, trace=False,
                max_restarts=self.kernel.max_restarts,
            )  # fmt: skip
            self._steps = KernelSearch(model, self.tasks.stated, self.limits, given)
        return self._steps

    def _solve_required_alone(self, model: Model, scratch: Scratch, end: float) -> tuple[bool, bool]:
        """Whether `out` of the scratch becomes a solution by way of the search for what is required alone, and whether
        the time was spent.

        What gives way costs no solution.  From there steps that keep all that must hold lead towards what gives way;
        where they lead nowhere, it is missed as it is there.
        """
        others = self._required
        if others is None:
            alone = required_alone(self.tasks.stated) or ()
            others = self._required = Search(model, alone, limits=self.limits.as_given, settings=self.settings)
        at, out, seed = slice(ANSWER, ANSWER + model.nq), scratch.out, int(scratch.call[SEED])
        each = zip(self.tasks.stated, each_goal(self.tasks.all, scratch.goal[None]), strict=False)
        own = [numbers for task, (numbers,) in each if task.required]
        goal = joined(others.tasks.all, [*own, *(loop.goal(None) for loop in others.tasks.loops)])
        posture = self.kernel.posture
        with others.bound.scratch(model) as found:
            start = scratch.start
            if posture is not None and model.sound(start):
                judged = self.problem.section("posture_judged")
                start = posture.idle_start(model, others.problem, judged, start, scratch.posture_goal)
            code, late = others.solve_one(model, found, goal, start, seed=seed, end=end)
            if code != SOLVED and not late and start is not scratch.start:  # what is idle may be in the way there
                code, late = others.solve_one(model, found, goal, scratch.start, seed=seed, end=end)
            answer = found.out.copy()
        if code != SOLVED:
            return False, late
        steps = self._by_steps(model)
        with steps.bound.scratch(model) as found:
            code, _ = steps.solve_one(model, found, scratch.goal, answer[at], end=end, seed=seed, max_restarts=0)
            if code == SOLVED:
                answer[at], answer[COST] = found.out[at], found.out[COST]
                answer[ITERATIONS] += found.out[ITERATIONS]
        if code != SOLVED and len(others.tasks.loops) < len(self.tasks.loops):
            return False, False  # loops that wishes alone move need not be closed there
        left = left_at(self.tasks.all, model, scratch.goal[None], answer[at][None])
        out[: at.stop], out[at.stop :] = answer[: at.stop], left[0]
        out[DISTANCE] = distance(model, self.problem, scratch.start, answer[at])
        return True, False

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
    def goes_on(self) -> bool:
        """Whether it goes on where the kernel's search fails."""
        posture = self.kernel.posture
        return self.keeps_by_steps or self.solves_required_alone or (posture is not None and posture.required)

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
