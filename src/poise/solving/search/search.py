"""Tasks prepared for a model: names to arrays, arrays to a kernel, its answer to a Solution."""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final, get_args

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import one_of, positive, whole, yes_or_no
from poise.common.errors import InvalidValue
from poise.kernels.machine.jit import prepare, watched
from poise.kernels.machine.layout import (
    ANSWER,
    BAD_GOAL,
    BEGIN,
    BLOCKED,
    CODE,
    DISTANCE,
    END,
    GO_ON,
    GOAL_NUMBERS,
    ITERATIONS,
    RUNNING,
    SOLVED,
    UNSOLVED,
)
from poise.model.model import Model, a_model
from poise.quaternions import pose_numbers
from poise.solving.answers.solution import Solution
from poise.solving.arguments.arguments import chosen, each_goal, joined, one_a_task, refuse_numbers
from poise.solving.arguments.weights import relative
from poise.solving.methods.posture import Posture, one_posture, pulled
from poise.solving.problem.problem import pack
from poise.solving.problem.start_index import Words, start_index
from poise.solving.problem.workspace import PHASE, SEED, Bound, Scratch
from poise.solving.requirements.limits import Limits, LimitsLike, with_feasibility_check
from poise.solving.requirements.loop_projection import LoopProjection, PassiveLoops, loop_tasks
from poise.solving.requirements.ranges import is_range
from poise.solving.search import feasible_fallback as fallback
from poise.solving.search.fast_path import line_of_search
from poise.solving.search.required_only import required_alone, solved_required_only
from poise.solving.search.soft import certified_start, soft_alone, with_soft_rows
from poise.solving.search.without_ranges import solved_without_ranges, without_ranges
from poise.spatial import SE3
from poise.tasks.base import POSITION, ROTATION, Task, levels
from poise.tasks.loop import LoopTask

if TYPE_CHECKING:
    from poise.methods.base import Method
    from poise.solving.requirements.outcome import Trace

_AXES: Final = 6
"""Joints that move a frame, where a closed form is looked for."""
_ITERATIONS: Final = 200
"""Iterations of a start, at most, without a method of the caller's choice."""
_RESTARTS: Final = 200
"""Random starts, at most, where the caller does not say."""
_STEPS_RESTARTS: Final = 12
"""The same where steps that keep more than the limits of joints, in levels, are the solver's own way: each is dear."""
_MORE_RESTARTS: Final = 20_000
"""The same for a target that is missed by next to nothing, without a method of the caller's choice."""
_LANE_RESTARTS: Final = 24
"""Starts of a problem in a lane, at most, before eight lanes search for it."""
_LANE_START: Final = 2e-4
"""What a start in a lane takes at most [s]: with four tasks on a humanoid a quarter of it."""
_CHUNK: Final = 4096
"""Iterations between two looks at signals, such as Ctrl-C: a few hundredths of a second."""
_TIMED_CHUNK: Final = 32
"""Iterations between two looks at the clock, when there is a `max_time`."""
Preference: TypeAlias = Literal["nearest", "first"]
"""Which solution a solve returns: the nearest to q0 of those found, or the first."""
PREFERENCES: Final = get_args(Preference)


@final
class Search:
    """Tasks prepared for a model, which it does not hold: what a `Solver` and the memory of `solve` are made of.

    Any number of threads may call it at once, and it can be sent to a process.
    """

    bound: Bound
    """The problem with the routines of the kernel's search."""
    in_kernel: bool
    """Whether that is all but what is done where it fails."""

    __slots__ = (
        "_constrained",
        "_fallback",
        "_index",
        "_line",
        "_loop_goals",
        "_others",
        "_passive_loops",
        "_pose_alone",
        "_posture",
        "_projection",
        "_settings",
        "_soft",
        "_solves_required_alone",
        "_usual_restarts",
        "bound",
        "collision",
        "frame_tasks",
        "home",
        "in_kernel",
        "limits",
        "loops",
        "max_iterations",
        "max_restarts",
        "max_time",
        "method",
        "own_goal",
        "problem",
        "scales",
        "seed",
        "select",
        "tasks",
        "trace",
        "user_tasks",
        "without_ranges",
    )

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        *,
        method: "str | Method | None" = None,
        limits: LimitsLike = True,
        select: Preference = "nearest",
        seed: int = 0,
        max_iterations: int | None = None,
        max_restarts: int | None = None,
        max_time: float | None = None,
        trace: bool = False,
        also: Sequence[int] = (),
    ) -> None:
        """`also` are velocities that are free even where they move no task, of which there may be none."""
        a_model(model)
        self.user_tasks = tuple(tasks)
        """Those that targets are given to; the loops of the model come after them."""
        loops = self.loops = loop_tasks(model, self.user_tasks)
        own, scales = relative(self.user_tasks)
        self.tasks: tuple[Task, ...] = (*own, *loops)
        self._loop_goals = [loop.goal(None) for loop in loops]
        self.frame_tasks = tuple(task for task in self.tasks if task.blocks)
        self.scales = np.repeat([*scales, *(1.0 for _ in loops)], [3 * len(task.blocks) for task in self.tasks])
        """(m,) by what the stated weights of each row are larger than those that are solved with."""
        posture = one_posture(self.tasks)
        ranked = len(levels(self.frame_tasks)) > 1 or not all(task.required for task in self.frame_tasks)
        self.limits = Limits.of(limits)
        looking = self.limits.has_constraints
        constrained = looking or any(
            task.required and (task.inequality_rows or isinstance(task, LoopTask)) for task in self.frame_tasks
        )
        """Whether more must hold than the limits of joints."""
        self._soft = method is None and soft_alone(self.frame_tasks)
        more = method is None and (constrained or (ranked and not self._soft))
        self._solves_required_alone = more and required_alone(self.user_tasks) is not None
        """Whether what is required is solved for alone where nothing was found beside what gives way."""
        self._others: dict[Callable[[Sequence[Task]], Sequence[Task] | None], Search] = {}
        self._settings: dict[str, Any] = {
            "select": select, "seed": seed, "max_iterations": max_iterations, "max_restarts": max_restarts,
            "max_time": max_time,
        }  # fmt: skip
        others = without_ranges(self.user_tasks) if method is None and trace is False else None
        if others is not None and len(loop_tasks(model, others)) < len(loops):
            others = None  # a range moves a loop that they leave open
        if method is None and ranked and not self._soft:
            method = fallback.METHOD
            max_restarts = _STEPS_RESTARTS if max_restarts is None and constrained else max_restarts
        self.method = by = chosen(method)
        if max_iterations is None:
            max_iterations = _ITERATIONS if by is None else by.iterations
        self._usual_restarts = _RESTARTS if max_restarts is None else max_restarts
        if max_restarts is None:
            max_restarts = _MORE_RESTARTS if by is None else _RESTARTS
        yes_or_no("trace", trace, ", whether every iteration is recorded")
        if trace and by is None:
            raise InvalidValue("needs", "a trace is of one method's iterations; name one, such as method='lm'")
        positions, self.collision = self.limits.positions, self.limits.collision
        one_of("select", select, PREFERENCES)
        whole("max_iterations", max_iterations, 1)
        whole("max_restarts", max_restarts, 0)
        whole("seed", seed, 0)
        if max_time is not None:
            positive("max_time", max_time)
        self.seed, self.max_iterations, self.max_restarts, self.trace = seed, max_iterations, max_restarts, trace
        self.max_time = None if max_time is None or max_time > 1e9 else max_time
        self.select = select
        followed = posture if by is not None and (constrained or ranked) else None
        """A posture that is the last level of a method's steps; else it is what an answer slides to."""
        also = (*also, *self.limits.tied(model), *(() if followed is None else pulled(model, followed)))
        problem = pack(model, self.frame_tasks, limits=positions, also=also)
        self._posture = None if posture is None else Posture(model, posture, problem)
        in_stages = self._posture is None or not self._soft
        if self._posture is not None:
            problem = self._posture.extended(model, problem, judged=in_stages)
        self.without_ranges = None if others is None else Search(model, others, limits=limits, **self._settings)
        """The search for the other tasks, where there are required ranges."""
        inner: dict[str, Bound] = {}
        approach = in_stages and posture is not None and followed is None
        stage_numbers = {"soft": int(self._soft), "approach": int(approach)}
        if self.without_ranges is not None:
            which = [k for k, task in enumerate(self.user_tasks) if not is_range(task)]
            places = self._goal_places(model.nq, self.without_ranges, which)
            problem = problem.extended({"goals_without_ranges": places}, {})
            if self.without_ranges.ends_in_kernel:
                inner["without_ranges"] = self.without_ranges.bound
        if self._soft:
            problem = with_soft_rows(problem)
            which = [k for k, task in enumerate(self.tasks) if task.blocks and task.required]
            if which:
                required = Search(model, [self.tasks[k] for k in which], limits=positions, **self._settings)
                inner["required"] = required.bound
                problem = problem.extended({"goals_required": self._goal_places(model.nq, required, which)}, {})
        elif by is None and posture is None and [len(task.moving(model)) for task in self.frame_tasks] == [_AXES]:
            from poise.solving.problem.closed_form import with_closed_form

            problem = with_closed_form(model, self.frame_tasks[0], problem)
        numbers = {
            "seed": seed, "max_iterations": max_iterations, "max_restarts": max_restarts, "phase": BEGIN,
            "usual_restarts": self._usual_restarts,
            "nearest": int(select == "nearest"), "check_feasibility": int(looking and in_stages),
            "chunk": _CHUNK if self.max_time is None else _TIMED_CHUNK, **stage_numbers,
        }  # fmt: skip
        lead = "iterate" if by is not None else "optimise" if self._soft else "solve"
        staged = bool(inner) or self._soft or (in_stages and posture is not None)
        entry = ["search", f"own {lead}"] if staged else [lead]
        entry += ["posture"] if approach else []
        if by is not None:
            from poise.solving.methods.bound_method import bound_method

            self.bound = bound_method(
                model, self.frame_tasks, problem, by, *entry, limits=positions, also=self.limits.others,
                collision=self.collision, keep_constraints=True, posture=followed,
                traced=max_iterations + 1 if trace else 0, numbers=numbers, inner=inner,
            )  # fmt: skip
        else:
            parts = [*entry, *([lead] if staged else [])]
            parts += [] if self.collision is None else ["shapes"]
            parts += ["postures"] if approach else []
            parts += ["closed form"] if len(problem.section("arms")) else []
            problem = with_feasibility_check(model, problem, self.limits) if looking else problem
            self.bound = Bound(problem, tuple(parts), collision=self.collision, wide=True, numbers=numbers, inner=inner)
        self.problem = self.bound.problem
        self.in_kernel = in_stages and (self.without_ranges is None or "without_ranges" in inner)
        self._constrained = constrained and by is None
        self._fallback: Search | None = None
        closed = [task for task in self.frame_tasks if isinstance(task, LoopTask)]
        self._projection = LoopProjection(model, closed, limits=positions) if closed else None
        self._passive_loops = PassiveLoops.of(model, self.user_tasks, limits=positions)
        self.home = np.array(model.home)
        self._pose_alone = len(self.tasks) == 1 and [task.frame_parts for task in self.frame_tasks] == [
            (POSITION, ROTATION)
        ]
        nothing = np.full(GOAL_NUMBERS, np.nan)
        self.own_goal = joined(self.tasks, [task.goal_on(model) if task.aimed else nothing for task in self.tasks])
        """The numbers of the tasks' own targets, NaN for a task that has none."""
        if self.collision is not None:
            self.bound.idle.append(self.bound.new(model))  # its shapes are not to be packed by the first call
        self._index: Words | None = None
        self._line = line_of_search(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name not in ("_index", "_line")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._index = None
        self._line = line_of_search(self)

    def __call__(self, model: Model, target: Any, q0: ArrayLike | None, seed: int | None) -> Solution:
        """Solve; see `Solver`."""
        if self._line is not None and (seed is None or (type(seed) is int and seed == self.seed)):
            found: Solution | None = self._line.solve(model, self, target, q0)
            if found is not None:
                return found
        began = perf_counter_ns()
        bound = self.bound
        try:
            scratch = bound.idle.pop()
        except IndexError:
            scratch = bound.new(model)
        try:
            if self.collision is not None:
                scratch.sync_scene()
            if self._pose_alone and type(target) is SE3 and target.array.ndim == 1:
                goal = target.array
            elif self._pose_alone and (pose := pose_numbers(target)) is not None:
                goal = pose
            else:
                goal = self.goal_numbers(target, model)
            scratch.goal_view[:] = goal
            scratch.begin_at(model, self.home if q0 is None else q0)
            if seed is not None:
                whole("seed", seed, 0)
                scratch.call[SEED] = seed
            start = None if q0 is None else scratch.start_view.tobytes()
            code, timed_out = self._solved(model, scratch, began, inf)
            if code < 0:
                refuse_numbers(code, model, self.tasks, scratch.goal, scratch.start)
            out = scratch.copy()
            trace = self._traced(scratch) if self.trace else None
        finally:
            if seed is not None:
                scratch.call[SEED] = self.seed
            bound.idle.append(scratch)
        return Solution(model, self, out, goal, code, perf_counter_ns() - began, timed_out, trace, start=start)

    def _traced(self, scratch: Scratch) -> "Trace":
        """What the method did in the search that the scratch was in last."""
        from poise.solving.methods.bound_method import trace_of

        return trace_of(self.problem, scratch)

    def solve_one(
        self,
        model: Model,
        scratch: Scratch,
        goal: Array,
        start: Array,
        *,
        seed: int,
        end: float = inf,
    ) -> tuple[int, bool]:
        """Solve for a goal (goals of all tasks, see `joined`) from a start (nq,) into `out` of the scratch; the code,
        and whether the time was spent.

        It goes on until the time `end` [s] of `perf_counter`, at most.
        """
        scratch.goal[:], scratch.start[:], scratch.call[SEED] = goal, start, seed
        try:
            if self._posture is not None and not model.sound(scratch.posture_goal):
                return BAD_GOAL, False
            return self._solved(model, scratch, perf_counter_ns(), end)
        finally:
            scratch.call[SEED] = self.seed

    def _solved(self, model: Model, scratch: Scratch, began: int, end: float) -> tuple[int, bool]:
        """Solve for the goal and the start that stand in the scratch; the code, and whether the time was spent."""
        if (
            not self.in_kernel
            and self.without_ranges is not None
            and solved_without_ranges(self.problem, self.without_ranges, self._certified, model, scratch, end)
        ):
            return SOLVED, False
        code, late = self._run(model, scratch, began, end)
        if code == UNSOLVED and self._posture is not None and self._posture.misses(scratch.out) and not late:
            code, late = self._search_near_posture(model, scratch, began, end)
        looked = code == SOLVED and self.in_kernel  # the kernel has
        if code >= 0 and self._constrained and not late and not looked:
            code, late = self.make_feasible(model, scratch, code, end)
        if self._solves_required_alone and code in (UNSOLVED, BLOCKED) and not late:
            others = self._other(model, required_alone)
            solved, late = solved_required_only(self, others, partial(self._step_search, model), model, scratch, end)
            code = SOLVED if solved else code
        return self.close_passive_loops(model, scratch, scratch.out[ANSWER : ANSWER + model.nq], code), late

    def _run(self, model: Model, scratch: Scratch, began: int, end: float) -> tuple[int, bool]:
        """The same, of all that a search and a posture do."""
        if self._posture is None or not self._soft:
            return self._found(scratch, began, end)
        from poise.solving.search.soft_with_posture import solved_near_posture

        find = partial(self._found, scratch, began, end)
        code, late = solved_near_posture(self, self._posture, find, partial(self._other, model), model, scratch, end)
        return code if code < 0 else self._posture.judge(model, scratch, code), late

    def _found(self, scratch: Scratch, began: int, end: float) -> tuple[int, bool]:
        """The same, of the kernel's search."""
        code: int = self.bound.run(scratch.address)
        return self._continue(scratch, began, end) if code == RUNNING else (code, False)

    def _goal_places(self, nq: int, inner: "Search", which: Sequence[int]) -> Array:
        """Where the goal numbers of another search are among those of this one, of whose tasks it has those `which`."""
        count = GOAL_NUMBERS * len(self.frame_tasks) + (nq if len(self.frame_tasks) < len(self.tasks) else 0)
        (places,) = zip(*each_goal(self.tasks, np.arange(float(count))[None]), strict=True)
        loops = {_pair(task): at for task, at in zip(self.tasks, places, strict=True) if isinstance(task, LoopTask)}
        return joined(inner.tasks, [*(places[k] for k in which), *(loops[_pair(loop)] for loop in inner.loops)])

    def _other(self, model: Model, which: Callable[[Sequence[Task]], Sequence[Task] | None]) -> "Search":
        """The search for other tasks that it leans on, `which` makes of its own; it is made when it is first needed."""
        if which not in self._others:
            self._others[which] = Search(
                model, which(self.user_tasks) or (), limits=self.limits.as_given, **self._settings
            )
        return self._others[which]

    def _search_near_posture(self, model: Model, scratch: Scratch, began: int, end: float) -> tuple[int, bool]:
        """Search from the answer in `out` on, which is too far from the posture, where nothing is; `out` stays as it is
        where that leads nowhere.

        An answer is the nearest by the sum of squares, and what counts is the largest of all differences.
        """
        assert self._posture is not None
        start, before = scratch.start.copy(), scratch.out.copy()
        near = self.problem.between(*self._posture.bounds(model, scratch))
        scratch.start[:] = before[ANSWER : ANSWER + model.nq]
        scratch.set_fields(problem=near.words.ctypes.data, without_ranges=0)
        try:
            code, late = self._found(scratch, began, end)
        finally:
            scratch.set_fields(problem=self.problem.words.ctypes.data, **scratch.inner_addresses)
            scratch.start[:] = start
        if self._posture.judge(model, scratch, code) != SOLVED:
            scratch.out[:] = before
            return UNSOLVED, late
        scratch.out[DISTANCE] = fallback.distance(model, self.problem, start, scratch.out[ANSWER : ANSWER + model.nq])
        return code, late

    def _certified(self, model: Model, scratch: Scratch) -> int:
        """The code of the scratch's start, taken as it is."""
        if not all(task.required for task in self.frame_tasks):
            return certified_start(scratch)
        approach = self.bound.numbers["approach"]
        scratch.set_fields(max_restarts=0, approach=0)
        try:
            code: int = self.bound.run(scratch.address)
        finally:
            scratch.set_fields(max_restarts=self.max_restarts, approach=approach)
        return UNSOLVED if code == SOLVED and scratch.out[ITERATIONS] > 0.0 else code

    def make_feasible(self, model: Model, scratch: Scratch, code: int, end: float = inf) -> tuple[int, bool]:
        """Let the answer in the scratch's `out`, whose code this is, keep all that must hold."""
        if scratch.out[CODE] == SOLVED and fallback.satisfies(
            self.problem, self.collision, model, scratch, scratch.out[ANSWER : ANSWER + model.nq]
        ):
            return code, False  # where the posture alone is missed, all else holds
        closed = np.copy if self._projection is None else partial(self._projection.project, model)
        return fallback.feasible_answer(partial(self._step_search, model), model, scratch, code, end, closed)

    def _step_search(self, model: Model) -> "Search":
        """A search for the same tasks by steps that keep all that must hold; it is made when it is first needed."""
        if self._fallback is None:
            self._fallback = Search(
                model, self.user_tasks, method=fallback.METHOD, limits=self.limits.as_given, seed=self.seed,
                select=self.select, max_restarts=self.max_restarts, max_time=self.max_time,
            )  # fmt: skip
        return self._fallback

    def solve_unconstrained(self, model: Model, goal: Array, q: Array) -> Array:
        """(nq,) what solves near q (nq,) for these goal numbers if nothing but limits of joints must hold."""
        if not self.frame_tasks:
            return q
        free = Search(model, self.frame_tasks, limits=self.limits.positions, seed=self.seed)
        with free.bound.scratch(model) as scratch:
            free.solve_one(model, scratch, goal[: len(scratch.goal)], q, seed=self.seed)
            return scratch.out[ANSWER : ANSWER + model.nq].copy()

    @property
    def ends_in_kernel(self) -> bool:
        """Whether failures alone are left to Python: not so where what must hold is looked at when all is found."""
        return self.in_kernel and not (self._constrained and (self._soft or self._posture is not None))

    @property
    def goes_on(self) -> bool:
        """Whether it goes on where the kernel's search fails."""
        more = self._posture is not None and self._posture.required
        return self._constrained or self._solves_required_alone or more

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
        if code == SOLVED and self.collision is not None and scratch.scene is not None:
            return SOLVED if self.collision.holds_in(model, scratch.scene, q) else BLOCKED
        return code

    @property
    def in_lanes(self) -> bool:
        """Whether problems of a batch are solved side by side: no method or posture, no soft task, and time enough."""
        hurried = self.max_time is not None and self.max_time < _LANE_START * (1 + self._usual_restarts)
        return self.method is None and self._posture is None and not hurried and not self._soft

    def index(self, model: Model) -> Words | None:
        """The index of starts for a batch; None where none helps, or where no start but q0 is wanted."""
        prepare("solver.batch_lanes.solve_many")
        if self._index is None and self.max_restarts:
            self._index = start_index(model, self.frame_tasks, self.problem)
        return self._index

    def solve_many(
        self,
        scratch: Scratch,
        goals: Array,
        starts: Array,
        answers: Array,
        index: Words | None,
        seed: int,
        *,
        given: bool,
        best_effort: bool,
    ) -> None:
        """Solve problems in lanes: goals (n, 7 tasks), starts (n, nq), answers (n, rows of `out`) with their codes.

        The code of a problem that is left is RUNNING: after a few starts if its `best_effort` is to be searched for,
        else after all of them.
        """
        goals, starts = np.ascontiguousarray(goals), np.ascontiguousarray(starts)
        scratch.set_fields(
            problems=len(goals), given=int(given), index=0 if index is None else index.ctypes.data, seed=seed,
            max_restarts=min(self.max_restarts, _LANE_RESTARTS if best_effort else self._usual_restarts),
        )  # fmt: skip
        scratch.set_arrays(goals=goals, starts=starts, answers=answers)
        try:
            watched(prepare("solver.batch_lanes.solve_many"), self.bound.reads)(scratch.address)
        finally:
            scratch.set_fields(max_restarts=self.max_restarts, seed=self.seed)

    def _continue(self, scratch: Scratch, began: int, end: float = inf) -> tuple[int, bool]:
        """Search on in chunks, between which Python hears of signals; the code, and whether the time was spent."""
        end = min(1e9 * end, inf if self.max_time is None else began + 1e9 * self.max_time)
        code, spent = RUNNING, False
        try:
            while code == RUNNING:
                spent = perf_counter_ns() >= end
                scratch.call[PHASE] = END if spent else GO_ON
                code = self.bound.run(scratch.address)
        finally:
            scratch.call[PHASE] = BEGIN
        return code, spent and code != SOLVED

    def goal_numbers(self, target: Any, model: Model) -> Array:
        """(7 frame tasks and nq of a posture,) read-only numbers of the targets, or of the tasks' own."""
        if target is None:
            if not all(task.aimed for task in self.tasks):
                raise InvalidValue("no-target", "the tasks have no target; give one to the tasks or to the call")
            return self.own_goal
        given = zip(self.user_tasks, one_a_task(self.user_tasks, target), strict=True)
        goals = [task.goal_on(model, value, name) for task, (name, value) in given]
        return joined(self.tasks, [*goals, *self._loop_goals])


def _pair(loop: LoopTask) -> tuple[str, str, str]:
    """What loop it is, whatever its weight."""
    return loop.frame, loop.base, loop.kind
