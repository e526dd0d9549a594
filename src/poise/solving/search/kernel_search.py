"""A search as the kernel makes it: stages as data, the searches for other tasks among them, and the clock around it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.jit import prepare, watched
from poise.kernels.machine.layout import ANSWER, BEGIN, DISTANCE, END, GO_ON, RUNNING, SOLVED, UNSOLVED
from poise.model.model import Model
from poise.solving.arguments.arguments import chosen
from poise.solving.methods.posture import Posture, one_posture, pulled
from poise.solving.problem.prepared_tasks import PreparedTasks
from poise.solving.problem.problem import Problem, distance, pack
from poise.solving.problem.start_index import Words, start_index
from poise.solving.problem.workspace import PHASE, Bound, Scratch
from poise.solving.requirements.limits import Limits, with_feasibility_check
from poise.solving.requirements.loop_projection import loop_tasks
from poise.solving.requirements.ranges import is_range
from poise.solving.search.settings import BY_STEPS, SearchSettings
from poise.solving.search.soft import all_required, soft_alone, with_soft_rows
from poise.solving.search.without_ranges import without_ranges
from poise.tasks.base import Task
from poise.tasks.posture import PostureTask

if TYPE_CHECKING:
    from poise.methods.base import Method

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
_FULFILLED_RESTARTS: Final = 31
"""The same where soft tasks, which may be out of reach, are searched for beside a range that is in their way."""
_LANE_RESTARTS: Final = 24
"""Starts of a problem in a lane, at most, before eight lanes search for it."""
_LANE_START: Final = 2e-4
"""What a start in a lane takes at most [s]: with four tasks on a humanoid a quarter of it."""
_CHUNK: Final = 4096
"""Iterations between two looks at signals, such as Ctrl-C: a few hundredths of a second."""
_TIMED_CHUNK: Final = 32
"""Iterations between two looks at the clock, when there is a `max_time`."""


@final
class KernelSearch:
    """Tasks and limits packed for the kernel, with the routines and the inner searches of each stage."""

    def __init__(
        self,
        model: Model,
        stated: Sequence[Task],
        limits: Limits,
        settings: SearchSettings,
        *,
        also: Sequence[int] = (),
    ) -> None:
        """`also` are velocities that are free even where they move no task, of which there may be none."""
        self.settings, self.limits = settings, limits
        tasks = self.tasks = PreparedTasks(model, stated, loop_tasks(model, stated))
        constrained, ranked = limits.has_constraints or tasks.have_constraints, tasks.have_levels
        self.soft = settings.method is None and soft_alone(tasks.of_frames)
        """Whether the last level, which is soft, is lessened among what fulfils all before it."""
        by, restarts = chosen(settings.method), settings.max_restarts
        if by is None and ranked and not self.soft:
            by = chosen(BY_STEPS)
            restarts = _STEPS_RESTARTS if restarts is None and constrained else restarts
        if settings.trace and by is None:
            raise InvalidValue("needs", "a trace is of one method's iterations; name one, such as method='lm'")
        self.method: Method | None = by
        most = settings.max_iterations
        self.max_iterations = (_ITERATIONS if by is None else by.iterations) if most is None else most
        self._usual_restarts = _RESTARTS if restarts is None else restarts
        self.max_restarts = (_MORE_RESTARTS if by is None else _RESTARTS) if restarts is None else restarts
        posture = one_posture(tasks.all)
        followed = posture if by is not None and (constrained or ranked) else None
        """A posture that is the last level of a method's steps; else it is what an answer slides to."""
        also = (*also, *limits.tied(model), *(() if followed is None else pulled(model, followed)))
        problem = pack(model, tasks.of_frames, limits=limits.positions, also=also)
        self.posture = None if posture is None else Posture(model, posture, problem)
        if self.posture is not None:
            problem = self.posture.extended(model, problem)
        problem = with_soft_rows(problem) if self.soft else problem
        self.without_ranges = self._without_ranges(model, stated)
        self.all_required: KernelSearch | None = None
        """The search for all tasks as if they were required, where there are soft ones beside a posture or a range."""
        inner, problem = self._inner(model, problem)
        self.bound = self._bound(model, problem, inner, followed)
        if limits.collision is not None:
            self.bound.idle.append(self.bound.new(model))  # its shapes are not to be packed by the first call
        self._index: Words | None = None

    def _bound(self, model: Model, problem: Problem, inner: dict[str, Bound], followed: PostureTask | None) -> Bound:
        """The problem with the stages that the kernel walks, and what it is told of them."""
        by, settings, limits, tasks = self.method, self.settings, self.limits, self.tasks.of_frames
        looking = limits.has_constraints
        approach = self.posture is not None and followed is None and not self.soft
        numbers = {
            "seed": settings.seed, "max_iterations": self.max_iterations, "max_restarts": self.max_restarts,
            "phase": BEGIN, "usual_restarts": self._usual_restarts, "nearest": int(settings.select == "nearest"),
            "check_feasibility": int(looking), "chunk": _CHUNK if settings.max_time is None else _TIMED_CHUNK,
            "soft": int(self.soft), "approach": int(approach),
        }  # fmt: skip
        lead = "iterate" if by is not None else "optimise" if self.soft else "solve"
        staged = bool(inner) or self.soft or self.posture is not None
        entry = ["search", f"own {lead}"] if staged else [lead]
        entry += ["posture"] if approach else []
        if by is not None:
            from poise.solving.methods.bound_method import bound_method

            return bound_method(
                model, tasks, problem, by, *entry, limits=limits.positions, also=limits.others,
                collision=limits.collision, keep_constraints=True, posture=followed,
                traced=self.max_iterations + 1 if settings.trace else 0, numbers=numbers, inner=inner,
            )  # fmt: skip
        if not staged and [len(task.moving(model)) for task in tasks] == [_AXES]:
            from poise.solving.problem.closed_form import with_closed_form

            problem = with_closed_form(model, tasks[0], problem)
        parts = [*entry, *([lead] if staged else []), *(["rest"] if "rest" in inner else [])]
        parts += [] if limits.collision is None else ["shapes"]
        parts += ["postures"] if approach else []
        parts += ["closed form"] if len(problem.section("arms")) else []
        problem = with_feasibility_check(model, problem, limits) if looking else problem
        return Bound(problem, tuple(parts), collision=limits.collision, wide=True, numbers=numbers, inner=inner)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_index": None}

    def _without_ranges(self, model: Model, stated: Sequence[Task]) -> "KernelSearch | None":
        """The search for the other tasks, where there are required ranges."""
        others = None if self.settings.method is not None or self.settings.trace else without_ranges(stated)
        if others is None or len(loop_tasks(model, others)) < len(self.tasks.loops):
            return None  # a range moves a loop that they leave open
        return KernelSearch(model, others, self.limits, self.settings)

    def _inner(self, model: Model, problem: Problem) -> tuple[dict[str, Bound], Problem]:
        """The other searches of its stages by their names in the record of a call; the problem with the places of their
        goals."""
        found: dict[str, Bound] = {}
        places: dict[str, Array] = {}
        tasks = self.tasks

        def add(name: str, other: KernelSearch, which: Sequence[int]) -> None:
            found[name], places[f"goals_{name}"] = other.bound, tasks.places_of(other.tasks, which, model.nq)

        if self.without_ranges is not None:
            which = [k for k, task in enumerate(tasks.stated) if not is_range(task)]
            add("without_ranges", self.without_ranges, which)
        if self.soft:
            which = [k for k, task in enumerate(tasks.all) if task.blocks and task.required]
            if which:
                required = [tasks.all[k] for k in which]
                positions = Limits.of(self.limits.positions)
                add("required", KernelSearch(model, required, positions, self.settings), which)
        ranged = self.without_ranges is not None and not all(task.required for task in tasks.of_frames)
        if self.posture is not None if self.soft else ranged:
            most = self.settings.max_restarts
            restarts = most if self.soft else _FULFILLED_RESTARTS if most is None else min(most, _FULFILLED_RESTARTS)
            given = replace(self.settings, max_restarts=restarts)
            self.all_required = KernelSearch(model, all_required(tasks.stated), self.limits, given)
            add("all_required", self.all_required, range(len(tasks.stated)))
            if self.soft:
                from poise.solving.gradients.conditions import conditions_for

                looked = self.limits.has_constraints
                rows = with_feasibility_check(model, problem, self.limits) if looked else problem
                conditions = conditions_for(model, tasks, rows, self.limits)
                if not conditions.narrow:
                    found["rest"] = replace(conditions.bound, numbers={"given": 1})
        return found, problem.extended(places, {}) if places else problem

    @property
    def problem(self) -> Problem:
        """The problem of all tasks."""
        return self.bound.problem

    def search(self, model: Model, scratch: Scratch, began: int, end: float) -> tuple[int, bool]:
        """Search for the goal and from the start that stand in the scratch, into its `out`; the code, and whether the
        time was spent.

        It began at the time `began` [ns], and goes on until the time `end` [s] of `perf_counter`, at most.
        """
        code, late = self._run(scratch, began, end)
        if code == UNSOLVED and self.posture is not None and self.posture.misses(scratch.out) and not late:
            return self._search_near_posture(model, scratch, began, end)
        return code, late

    def _run(self, scratch: Scratch, began: int, end: float) -> tuple[int, bool]:
        """The same, once, in chunks between which Python hears of signals."""
        code: int = self.bound.run(scratch.address)
        if code != RUNNING:
            return code, False
        longest = self.settings.max_time
        end = min(1e9 * end, inf if longest is None else began + 1e9 * longest)
        spent = False
        try:
            while code == RUNNING:
                spent = perf_counter_ns() >= end
                scratch.call[PHASE] = END if spent else GO_ON
                code = self.bound.run(scratch.address)
        finally:
            scratch.call[PHASE] = BEGIN
        return code, spent and code != SOLVED

    def _search_near_posture(self, model: Model, scratch: Scratch, began: int, end: float) -> tuple[int, bool]:
        """Search from the answer in `out` on, which is too far from the posture, where nothing is; `out` stays as it is
        where that leads nowhere.

        An answer is the nearest by the sum of squares, and what counts is the largest of all differences.
        """
        assert self.posture is not None
        start, before = scratch.start.copy(), scratch.out.copy()
        near = self.problem.between(*self.posture.bounds(model, scratch))
        scratch.start[:] = before[ANSWER : ANSWER + model.nq]
        scratch.set_fields(problem=near.words.ctypes.data, **dict.fromkeys(scratch.inner, 0))
        try:
            code, late = self._run(scratch, began, end)
        finally:
            scratch.set_fields(problem=self.problem.words.ctypes.data, **scratch.inner_addresses)
            scratch.start[:] = start
        if code != SOLVED:
            scratch.out[:] = before
            return UNSOLVED, late
        scratch.out[DISTANCE] = distance(model, self.problem, start, scratch.out[ANSWER : ANSWER + model.nq])
        return code, late

    @contextmanager
    def told(self, scratch: Scratch, goal: Array, start: Array, **numbers: int) -> Iterator[None]:
        """Within the block the scratch has these goal numbers, this start (nq,), and these numbers for its own, such as
        `seed`."""
        scratch.goal[:], scratch.start[:] = goal, start
        scratch.set_fields(**numbers)
        try:
            yield
        finally:
            scratch.set_fields(**{name: self.bound.numbers[name] for name in numbers})

    def solve_one(
        self, model: Model, scratch: Scratch, goal: Array, start: Array, *, end: float = inf, **numbers: int
    ) -> tuple[int, bool]:
        """`search` for goal numbers of all tasks from a start (nq,), with `numbers` in place of its own."""
        with self.told(scratch, goal, start, **numbers):
            return self.search(model, scratch, perf_counter_ns(), end)

    @property
    def in_lanes(self) -> bool:
        """Whether problems of a batch are solved side by side: no method or posture, no soft task, and time enough."""
        longest = self.settings.max_time
        hurried = longest is not None and longest < _LANE_START * (1 + self._usual_restarts)
        return self.method is None and self.posture is None and not hurried and not self.soft

    def index(self, model: Model) -> Words | None:
        """The index of starts for a batch; None where none helps, or where no start but q0 is wanted."""
        prepare("solver.batch_lanes.solve_many")
        if self._index is None and self.max_restarts:
            self._index = start_index(model, self.tasks.of_frames, self.problem)
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
            scratch.set_fields(max_restarts=self.max_restarts, seed=self.settings.seed)
