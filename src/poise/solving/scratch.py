"""What a call works in: workspaces from a pool, and where a process has the routines that a problem needs."""

import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.kernels.closed_form import nearest
from poise.kernels.collision import near
from poise.kernels.machine import layout, packing
from poise.kernels.machine.jit import WHOLE, address, hold_over_forks
from poise.kernels.machine.lanes import workspace
from poise.kernels.machine.layout import CALL, ENTRIES, FIRST_ROWS, RESIDUAL, SIDES, SLOPES, WIDTH
from poise.kernels.machine.reads import Reads
from poise.kernels.machine.view_types import NARROW, PROBLEM_VIEW, WIDE
from poise.kernels.machine.workers import Job, compile_together
from poise.kernels.methods import proposing
from poise.kernels.methods.routines import Routine
from poise.kernels.requirements import shapes, sides, take
from poise.kernels.solver import lm_solver, posture, soft
from poise.model.scene import Scene
from poise.solving.potential import Compiled
from poise.solving.problem import Problem
from poise.solving.residual import places
from poise.spatial import Array

_WORD: Final = {name: field.word for name, field in CALL.fields.items()}
SEED: Final = _WORD["seed"]
PHASE: Final = _WORD["phase"]
_SCENE_CHANGED: Final = _WORD["scene_changed"]


@final
class Scratch:
    """Workspaces for one call at a time, and the record that tells an entry point of them.

    `goal`, of which `posture_goal` is the end, and `start` are written before a call, `out` is read after it.
    """

    __slots__ = (
        "_lent",
        "_references",
        "address",
        "call",
        "goal",
        "goal_view",
        "narrow",
        "out",
        "posture_goal",
        "proposer",
        "scene",
        "start",
        "start_view",
        "trace",
        "wide",
    )

    def __init__(self, bound: "Bound") -> None:
        self._references: list[Any] = [bound.words, bound.routines]
        self.narrow: Array = workspace(bound.rows)
        self.wide: Array | None = None
        self.trace: Array | None = None
        self.scene: Scene | None = None
        self.proposer = None if bound.proposer is None else Scratch(bound.proposer)
        """That of the method which proposes steps for some of the tasks."""
        self._lent: list[Any] = []
        self.call: npt.NDArray[np.int64] = np.zeros(CALL.words, dtype=np.int64)
        self.address = int(self.call.ctypes.data)
        goal, posture, start, out = (packing.rows_of(bound.words, x) for x in ("goal", "posture_goal", "start", "out"))
        at = (slice(goal.start, posture.stop), posture, start, out)
        self.goal, self.posture_goal, self.start, self.out = (self.narrow[rows] for rows in at)
        # Assigned to through the buffer protocol, which is quicker and takes nothing but as many doubles.
        self.goal_view, self.start_view = (_view(x) for x in (self.goal, self.start))
        self.tell(
            problem=bound.words.ctypes.data,
            narrow=self.narrow.ctypes.data,
            routines=bound.routines.ctypes.data,
            proposer=0 if self.proposer is None else self.proposer.address,
        )

    def past(self) -> tuple[Any, ...]:
        """What it remembers, also of what is near."""
        scene, proposer = self.scene, self.proposer
        return self.narrow.copy(), scene and scene.past(), proposer and proposer.past()

    def return_to(self, past: tuple[Any, ...]) -> None:
        """Remember nothing else."""
        self.narrow[:], near, proposed = past
        if self.scene is not None:
            self.scene.return_to(near)
        if self.proposer is not None:
            self.proposer.return_to(proposed)

    def widen(self, bound: "Bound") -> None:
        """Make the workspace of eight lanes, where there is none."""
        if self.wide is None:
            self.wide = workspace(bound.rows, WIDTH)
            self._references.append(bound.wide_routines)
            self.tell(wide=self.wide.ctypes.data, wide_routines=bound.wide_routines.ctypes.data)

    def tell(self, **numbers: int) -> None:
        """Set fields of the record, see `layout.CALL`."""
        for name, number in numbers.items():
            self.call[_WORD[name]] = number

    def surround(self, scene: Scene) -> None:
        """Work with these shapes from now on."""
        self.scene = scene
        words, work, _ = scene.addresses
        self.tell(scene=words, scene_work=work, scene_changed=1)

    def look_around(self) -> None:
        """Take over what has changed in the world."""
        scene = self.scene
        if scene is not None and scene.sync():
            self.surround(scene)
        else:
            self.call[_SCENE_CHANGED] = 0

    def tell_of(self, **arrays: Array) -> None:
        """Set fields of the record to where arrays are, which are kept until this is called again."""
        self._lent = list(arrays.values())
        self.tell(**{name: array.ctypes.data for name, array in arrays.items()})


def _view(numbers: Any) -> Any:
    return memoryview(numbers)


@final
class Bound:
    """A problem in this process: where its routines are, and scratch to borrow.

    `method` is the routine of one update and `rule` that of its damping rule, where there is one; `criterion` holds
    functions of a user's.
    """

    __slots__ = (
        "__weakref__",
        "_kinds",
        "_method",
        "_own",
        "_pool",
        "_references",
        "_rule",
        "_wide_routines",
        "proposer",
        "reads",
        "routines",
        "rows",
        "words",
    )

    def __init__(
        self,
        problem: Problem,
        method: Routine | None = None,
        rule: Routine | None = None,
        criterion: Compiled | None = None,
    ) -> None:
        # Not the problem itself, so that it goes when nobody else has it.
        self.words, self._kinds, self._method = problem.words, problem.kinds, method
        self._rule = rule
        self.rows = packing.total_rows(problem.words)
        self._pool: list[Scratch] = []
        self._references: list[Any] = []
        self.proposer: Bound | None = None
        self.routines = np.zeros(FIRST_ROWS + ENTRIES * len(problem.kinds), dtype=np.int64)
        own = [f for kind in problem.kinds for f in kind.functions()]
        own += [routine.inner for routine in (method, rule) if routine is not None and not routine.kept]
        if criterion is not None:
            self._references.append(criterion)
            self.routines[layout.GRADIENT : layout.HESSIAN + 1] = criterion.gradient, criterion.hessian
            own += criterion.functions
        self._own = own
        self.reads = Reads(*own)
        """What all functions of a user's read around them."""
        self._look_up(self.routines, NARROW)
        self._wide_routines: npt.NDArray[np.int64] | None = None

    @property
    def wide_routines(self) -> npt.NDArray[np.int64]:
        """The table of routines for eight lanes, looked up when it is first asked for."""
        if self._wide_routines is None:
            table = self.routines.copy()
            self._look_up(table, WIDE)
            self._wide_routines = table
        return self._wide_routines

    def _look_up(self, table: npt.NDArray[np.int64], width: Any) -> None:
        if self._method is not None:
            table[layout.METHOD] = self._method.address(width)
        if self._rule is not None:
            table[layout.RULE] = self._rule.address(width)
        for i, kind in enumerate(self._kinds):
            at = FIRST_ROWS + ENTRIES * i
            table[at] = address(kind.routine, PROBLEM_VIEW, width, WHOLE)
            references, *own = places(kind, width.ndim)
            self._references += references
            table[at + RESIDUAL], table[at + SLOPES] = own

    def add_search(self, *, settling: bool, closed: bool) -> None:
        """Look up the search from eight starts, that for a posture, and a closed form; what is needed is compiled side
        by side."""
        compile_together([*SOLVER, *(POSTURE if settling else ()), *([CLOSED] if closed else ())])
        if closed:
            self.routines[layout.CLOSED_FORM] = address(*CLOSED)
        self.routines[layout.SEARCH] = address(*_SEARCH)
        if settling:
            self.routines[layout.GATHER] = address(*_GATHER)

    def add_soft(self) -> None:
        """Look up the search for the least of what is soft."""
        compile_together(OPTIMISER)
        self.routines[layout.SOFT] = address(*_SOFT)

    def add_guard(self) -> None:
        """Look up how far shapes are, so that solutions keep them apart."""
        self._add(CLEARANCE)

    def add_requirements(self, *, shapes: bool, ranges: bool) -> None:
        """Look up what takes steps to where all that must hold does."""
        self._add({**TAKE, **(SHAPES if shapes else {}), **(RANGES if ranges else {})})
        if ranges:
            kinds = [(i, kind.side_routine) for i, kind in enumerate(self._kinds) if kind.side_routine is not None]
            self._add(
                {FIRST_ROWS + ENTRIES * i + SIDES: (routine, PROBLEM_VIEW, NARROW, WHOLE) for i, routine in kinds}
            )

    def add_proposer(self, proposer: "Bound") -> None:
        """Look up what asks another method for its step; before any scratch is made."""
        self.proposer = proposer
        self._own += proposer._own
        self.reads = Reads(*self._own)
        self._add(PROPOSE)

    def _add(self, jobs: Mapping[int, Job]) -> None:
        """Look up routines by their places in the table; what is needed is compiled side by side."""
        compile_together([*jobs.values()])
        for place, job in jobs.items():
            self.routines[place] = address(*job)

    @contextmanager
    def scratch(self) -> Iterator[Scratch]:
        """Scratch that nobody else has within the block."""
        try:
            scratch = self._pool.pop()
        except IndexError:
            scratch = Scratch(self)
        try:
            yield scratch
        finally:
            self._pool.append(scratch)


_BOUND: "weakref.WeakKeyDictionary[Problem, Bound]" = weakref.WeakKeyDictionary()
_LOCK = threading.RLock()
hold_over_forks(_LOCK)
_SEARCH: Final = (lm_solver.search_lanes, PROBLEM_VIEW, NARROW, WIDE, WHOLE)
SOLVER: Final[list[Job]] = [_SEARCH, (lm_solver.solve,)]
"""What a solve of a pose needs to be compiled."""
CLOSED: Final[Job] = (nearest.nearest_branch, PROBLEM_VIEW, NARROW, WIDE, WHOLE)
"""What a closed form needs besides."""
_GATHER: Final = (posture.gather_lanes, PROBLEM_VIEW, NARROW, WIDE, WHOLE)
POSTURE: Final[list[Job]] = [_GATHER, (posture.settle,)]
"""What a posture needs besides."""
_SOFT: Final = (soft.soft_lanes, PROBLEM_VIEW, NARROW, WIDE, WHOLE)
OPTIMISER: Final[list[Job]] = [_SOFT, (soft.optimise,)]
"""What tasks need that are not required."""

CLEARANCE: Final[dict[int, Job]] = {
    layout.MEASURE: (near.measure, PROBLEM_VIEW, NARROW, WHOLE, WHOLE),
    layout.CLEAR: (shapes.clear, PROBLEM_VIEW, NARROW, WHOLE),
}
"""How far shapes are: two, and all in a solution."""
SHAPES: Final[dict[int, Job]] = {
    **CLEARANCE,
    layout.WATCH: (shapes.watch, PROBLEM_VIEW, NARROW, WHOLE),
    layout.APART: (shapes.apart, PROBLEM_VIEW, NARROW, WHOLE),
    layout.STOPPABLE: (shapes.stoppable, PROBLEM_VIEW, NARROW, WHOLE),
}
"""What it takes to keep them apart in steps."""
RANGES: Final[dict[int, Job]] = {layout.RANGE_ROWS: (sides.range_rows, PROBLEM_VIEW, NARROW)}
"""What it takes to stay within ranges in steps, but for the sides of the tasks."""
TAKE: Final[dict[int, Job]] = {layout.TAKE: (take.take, PROBLEM_VIEW, NARROW, WHOLE)}
"""What takes a step to where all that must hold does."""
PROPOSE: Final[dict[int, Job]] = {layout.PROPOSE: (proposing.propose, PROBLEM_VIEW, NARROW, WHOLE)}
"""What asks a method of its own for steps."""
LOOKED_UP: Final[list[Job]] = [
    *SOLVER, CLOSED, *POSTURE, *OPTIMISER, *SHAPES.values(), *RANGES.values(), *TAKE.values(),
    *PROPOSE.values(),
]  # fmt: skip
"""All of these."""


def bind(problem: Problem) -> Bound:
    """The problem in this process, without a method."""
    with _LOCK:
        found = _BOUND.get(problem)
        if found is None:
            found = _BOUND[problem] = Bound(problem)
    return found
