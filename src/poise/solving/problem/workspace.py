"""A problem with all that calls need: what they work in, settings, and where a process has the routines."""

from collections.abc import Callable, Mapping
from ctypes import addressof, c_char
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, Protocol, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import refuse_masked
from poise.kernels.machine import layout, packing
from poise.kernels.machine.jit import address, prepare, watched
from poise.kernels.machine.kinds import NARROW, PROBLEM_VIEW, WHOLE, WIDE
from poise.kernels.machine.lanes import workspace
from poise.kernels.machine.layout import CALL, ENTRIES, FIRST_ROWS, RESIDUAL, SIDES, SLOPES, WIDTH
from poise.kernels.machine.memory import TRACE
from poise.kernels.machine.reads import Reads
from poise.kernels.workers import Job, compile_together
from poise.model.model import Model
from poise.solving.arguments.arguments import start_of
from poise.solving.problem.problem import Problem
from poise.solving.problem.residual import places

if TYPE_CHECKING:
    from poise.kernels.methods.routines import Routine
    from poise.model.proximity import Proximity
    from poise.model.scene import Scene
    from poise.solving.problem.potential import Compiled

_WORD: Final = {name: field.word for name, field in CALL.fields.items()}
SEED: Final = _WORD["seed"]
PHASE: Final = _WORD["phase"]
ADDRESSES: Final = (
    "problem", "narrow", "wide", "routines", "wide_routines", "scene", "scene_work", "proposer", "scout",
    "without_ranges", "required", "all_required", "rest", "by_steps", "alone", "near",
    "following", "following_work", "past",
    "goals", "postures", "path", "trace", "found", "starts", "answers", "index",
)  # fmt: skip
"""The fields of `layout.CALL` that tell where something is in the memory of this process."""


class Shapes(Protocol):
    """What keeps shapes apart, as `CollisionLimit` does."""

    def scene(self, model: Model, *, ahead: float = 0.0) -> "Scene":
        """The shapes of a model among the obstacles, which go on as they do for so long [s]."""

    def nearest(self, model: Model, q: Array) -> "Proximity":
        """The two shapes that are nearest to each other at q (nq,)."""

    def least(self, model: Model, one: str, other: str) -> float:
        """How near two of them may come [m]."""


@final
class Scratch:
    """Workspaces for one call at a time, and the record that tells an entry point of them.

    `goal`, of which `posture_goal` is the end, and `start` are written before a call, `out` is read after it.
    """

    def __init__(self, bound: "Bound") -> None:
        self._references: list[Any] = [bound.problem, bound.routines]
        self.narrow: Array = workspace(bound.rows)
        self.wide: Array | None = None
        self.trace: Array | None = None
        self.scene: Scene | None = None
        self._synced: tuple[int, int, int] | None = None
        """The addresses that the record was told of; None where what has changed may not have been taken over."""
        self.proposer = None if bound.proposer is None else Scratch(bound.proposer)
        """That of the method which proposes steps for some of the tasks."""
        self.scout = workspace((bound.proposer or bound).rows) if "scout" in bound.parts else None
        """The workspace of an arm that runs ahead, in the problem of what proposes steps, where that is another."""
        self.following: Problem | None = None
        """That of the following error of steps."""
        self.following_work: Array | None = None
        self.measured_row = 0
        """From where on it is told where the robot is."""
        self.bounds = dict(bound.inner)
        """Other searches, by their names in the record."""
        self.inner = {name: inner.fresh() for name, inner in self.bounds.items()}
        """The scratch of each."""
        words = len(bound.problem.words)
        self.near = np.zeros(CALL.words + words) if "near posture" in bound.parts else None
        """The room for a search near to a posture."""
        self.lent: dict[str, Array] = {}
        """The arrays that it was told of last."""
        self.call: npt.NDArray[np.int64] = np.zeros(CALL.words, dtype=np.int64)
        self.address = int(self.call.ctypes.data)
        goal, posture, start, out = map(bound.problem.rows, ("goal", "posture_goal", "start", "out"))
        at = (slice(goal.start, posture.stop), posture, start, out)
        self.goal, self.posture_goal, self.start, self.out = (self.narrow[rows] for rows in at)
        self.copy = self.out.copy
        # Assigned to through the buffer protocol, which is quicker and takes nothing but as many doubles.
        self.goal_view, self.start_view = (_view(x) for x in (self.goal, self.start))
        self.set_fields(
            problem=bound.problem.words.ctypes.data,
            narrow=self.narrow.ctypes.data,
            routines=bound.routines.ctypes.data,
            proposer=0 if self.proposer is None else self.proposer.address,
            scout=0 if self.scout is None else self.scout.ctypes.data,
            near=0 if self.near is None else self.near.ctypes.data,
            words=words,
            rows=len(self.narrow),
            **{name: inner.address for name, inner in self.inner.items()},
        )

    def attach(self, name: str, bound: "Bound") -> None:
        """Let another search, which was made since, be one of its own by this name in the record."""
        inner = bound.fresh()
        self.bounds[name], self.inner[name] = bound, inner
        if self.scene is not None:
            inner.set_scene(self.scene)
        self.set_fields(**{name: inner.address})

    def past(self) -> tuple[Any, ...]:
        """What it remembers, also of what is near in the world as it is now."""
        self.sync_scene()
        scene, proposer = self.scene, self.proposer
        ahead, following = (None if work is None else work.copy() for work in (self.scout, self.following_work))
        return self.narrow.copy(), scene and scene.past(), proposer and proposer.past(), ahead, following

    def return_to(self, past: tuple[Any, ...]) -> None:
        """Remember nothing else."""
        self.narrow[:], near, proposed, ahead, following = past
        for work, left in ((self.scout, ahead), (self.following_work, following)):
            if work is not None:
                work[:] = left
        if self.scene is not None:
            self.scene.return_to(near)
        if self.proposer is not None:
            self.proposer.return_to(proposed)

    def follow(self, following: Problem) -> Array:
        """Let steps lead no farther ahead of what is measured than this problem of a following error says.

        (nq,) for where the robot is; it begins with NaN where that is not known, as at first.
        """
        self.following, rows = following, following.rows("start")
        self.following_work = workspace(packing.total_rows(following.words))
        measured: Array = self.following_work[rows]
        self.measured_row, measured[0] = rows.start, np.nan
        self.set_fields(following=following.words.ctypes.data, following_work=self.following_work.ctypes.data)
        self._make_past()
        return measured

    @property
    def past_words(self) -> int:
        """How long the room is for a step that is taken again, see `layout.CALL`."""
        words, rows, scene_rows = (int(self.call[_WORD[name]]) for name in ("words", "rows", "scene_rows"))
        others = (self.scout, None if self.proposer is None else self.proposer.narrow)
        return words + rows + scene_rows + sum(len(other) for other in others if other is not None)

    def _make_past(self) -> None:
        self._past = np.zeros(self.past_words)
        self.set_fields(past=self._past.ctypes.data)

    def widen(self, bound: "Bound") -> None:
        """Make the workspace of eight lanes, where there is none."""
        if self.wide is None:
            self.wide = workspace(bound.rows, WIDTH)
            self._references.append(bound.wide_routines)
            self.set_fields(wide=self.wide.ctypes.data, wide_routines=bound.wide_routines.ctypes.data)

    def begin_at(self, model: Model, q: ArrayLike, name: str = "q0") -> None:
        """Begin at `q` (nq,), whose numbers the kernel checks; raises as `start_of` does."""
        try:
            refuse_masked(name, q)
            self.start_view[:] = q
        except (TypeError, ValueError):  # no doubles, or not as many
            self.start[:] = start_of(model, q, name)

    def set_fields(self, **numbers: int) -> None:
        """Set fields of the record, see `layout.CALL`."""
        for name, number in numbers.items():
            self.call[_WORD[name]] = number

    def set_scene(self, scene: "Scene") -> None:
        """Work with these shapes from now on."""
        self.scene, addresses = scene, scene.addresses
        words, work, _ = addresses
        self.set_fields(scene=words, scene_work=work, scene_rows=len(scene.narrow))
        if self.following is not None:
            self._make_past()
        self._synced = addresses
        for inner in self.inner.values():
            inner.set_scene(scene)

    def sync_scene(self) -> None:
        """Take over what has changed in the world."""
        scene = self.scene
        if scene is None:
            return
        seen, self._synced = self._synced, None  # wherever this is interrupted, the next look takes over all
        if scene.sync() or seen is not scene.addresses:
            self.set_scene(scene)
        else:
            self._synced = seen

    def set_arrays(self, **arrays: Array) -> None:
        """Set fields of the record to where arrays are, which are kept until this is called again."""
        self.lent = arrays
        for name, array in arrays.items():
            self.call[_WORD[name]] = address_of(array)


_begins: Final[Callable[[Any], c_char]] = c_char.from_buffer


def address_of(array: Array) -> int:
    """Where an array begins; of one that can be written to in a quarter of the time that `array.ctypes` takes."""
    return addressof(_begins(array)) if array.size and array.flags.writeable else array.ctypes.data


def _view(numbers: Any) -> Any:
    return memoryview(numbers)


@final
@dataclass(eq=False)
class Bound:
    """A problem with the routines that its calls need, and scratch for them to borrow; any number of threads share it.

    Its fields are all that is sent to a process, which finds the routines there.
    """

    problem: Problem
    parts: tuple[str, ...] = ()
    """What is needed: names in `ROUTINES` and `ENTRY_POINTS`.  The first of an entry point says what `run` is."""
    method: "Routine | None" = None
    """The routine of one update."""
    rule: "Routine | None" = None
    """That of its damping rule."""
    criterion: "Compiled | None" = None
    """Functions of a user's."""
    proposer: "Bound | None" = None
    """A method that proposes steps for some of the tasks."""
    inner: "Mapping[str, Bound]" = field(default_factory=dict)
    """Other searches by their names in the record of a call: `without_ranges`, which comes first, `required` for those
    tasks alone that are, `all_required` for all as if they were; and `rest`, what an answer comes to rest by.  Those
    that are made when they are first needed are attached to scratch."""
    lanes: bool = True
    """Whether eight problems can run side by side."""
    wide: bool = False
    """Whether all scratch has a workspace for them."""
    collision: "Shapes | None" = None
    """What scratch has the shapes of."""
    ahead: float = 0.0
    """How long shapes go on as they do [s]."""
    traced: int = 0
    """Iterations that a trace has room for."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """What all scratch is told, see `layout.CALL`."""

    def __post_init__(self) -> None:
        """Load or compile what is needed, side by side."""
        problem = self.problem
        self.rows = packing.total_rows(problem.words)
        self.idle: list[Scratch] = []
        """Scratch that no call has; one that takes from it gives back."""
        self.derived: dict[Any, Any] = {}
        """What else was prepared of it, by what makes it."""
        self._references: list[Any] = []
        self.routines = np.zeros(FIRST_ROWS + ENTRIES * len(problem.kinds), dtype=np.int64)
        own = [f for kind in problem.kinds for f in kind.functions()]
        own += [routine.inner for routine in (self.method, self.rule) if routine is not None and not routine.cached]
        if self.criterion is not None:
            self.routines[layout.GRADIENT : layout.HESSIAN + 1] = self.criterion.gradient, self.criterion.hessian
            own += self.criterion.functions
        for other in (self.proposer, *self.inner.values()):
            own += [] if other is None else other.own
        self.own: list[Any] = own
        """All functions of a user's."""
        self.reads = Reads(*self.own)
        """What they read around them."""
        self._look_up(self.routines, NARROW)
        jobs = self._of_parts()
        entry = next((ENTRY_POINTS[part] for part in self.parts if part in ENTRY_POINTS), None)
        compile_together([*jobs.values(), *(() if entry is None else [(entry,)])])
        for place, job in jobs.items():
            self.routines[place] = address(*job)
        self.run: Any = None if entry is None else watched(prepare(entry), self.reads)
        """Takes the address of a scratch."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Bound, tuple(getattr(self, each.name) for each in fields(self))

    def jobs(self, width: str) -> dict[int, Job]:
        """All routines by their places in a table for workspaces of this width, and what each of them takes."""
        found = self._of_parts()
        for place, routine in ((layout.METHOD, self.method), (layout.RULE, self.rule)):
            if routine is not None:
                found[place] = (routine.function, PROBLEM_VIEW, width)
        rows = {_place(i): (kind.routine, PROBLEM_VIEW, width, WHOLE) for i, kind in enumerate(self.problem.kinds)}
        return {**found, **rows}

    def _of_parts(self) -> dict[int, Job]:
        """The routines of its parts by their places, the same in tables for either width."""
        found = {place: job for part in self.parts for place, job in ROUTINES.get(part, {}).items()}
        if "ranges" in self.parts:
            for i, kind in enumerate(self.problem.kinds):
                if kind.side_routine is not None:
                    found[_place(i) + SIDES] = (kind.side_routine, PROBLEM_VIEW, NARROW, WHOLE)
        return found

    @cached_property
    def bare(self) -> "Bound":
        """The problem alone, in scratch that no search works in and that sees no shapes."""
        return Bound(self.problem)

    @cached_property
    def wide_routines(self) -> npt.NDArray[np.int64]:
        """The table of routines for eight lanes, looked up when it is first asked for."""
        table = self.routines.copy()
        self._look_up(table, WIDE)
        return table

    def _look_up(self, table: npt.NDArray[np.int64], width: str) -> None:
        if self.method is not None:
            table[layout.METHOD] = self.method.address(width)
        if self.rule is not None:
            table[layout.RULE] = self.rule.address(width)
        for i, kind in enumerate(self.problem.kinds):
            at = _place(i)
            table[at] = address(kind.routine, PROBLEM_VIEW, width, WHOLE)
            references, *own = places(kind, 1 if width == NARROW else 2)
            self._references += references
            table[at + RESIDUAL], table[at + SLOPES] = own

    def fresh(self) -> Scratch:
        """Scratch that is told of the settings, and of no shapes."""
        scratch = Scratch(self)
        scratch.set_fields(**self.numbers)
        if self.wide:
            scratch.widen(self)
        return scratch

    def new(self, model: Model | None = None) -> Scratch:
        """Scratch that is told of the settings; for shapes it takes the model."""
        scratch = self.fresh()
        if self.traced:
            columns = TRACE + 3 * self.problem.blocks + len(scratch.start)
            scratch.trace = np.full((self.traced, columns), np.nan)
            scratch.set_fields(trace_rows=self.traced)
            scratch.set_arrays(trace=scratch.trace)
        if self.collision is not None:
            assert model is not None
            scratch.set_scene(self.collision.scene(model, ahead=self.ahead))
        return scratch

    def scratch(self, model: Model | None = None) -> "_Borrowed":
        """Scratch that nobody else has within the block, in the world as it is now."""
        try:
            scratch = self.idle.pop()
        except IndexError:
            scratch = self.new(model)
        return _Borrowed(self, scratch)


@final
class _Borrowed:
    """Scratch that a block borrows: a generator takes twice the time."""

    __slots__ = ("_bound", "_scratch")

    def __init__(self, bound: Bound, scratch: Scratch) -> None:
        self._bound, self._scratch = bound, scratch

    def __enter__(self) -> Scratch:
        if self._bound.collision is not None:
            self._scratch.sync_scene()
        return self._scratch

    def __exit__(self, *failure: object) -> None:
        self._bound.idle.append(self._scratch)


def _place(kind: int) -> int:
    """Where the routines of a kind of tasks begin in a table."""
    return FIRST_ROWS + ENTRIES * kind


_SEARCHES: Final = {
    "fall back": "solver.fallback.search",
    "search": "solver.stages.search",
    "solve": "solver.lm_solver.solve",
    "optimise": "solver.soft.optimise",
    "iterate": "stepping.method_loop.iterate",
}
"""What searches; of each there is a stage too.  A part such as "stages solve" says which of them is in which place of
the table: "own" of all tasks, "stages" without what it does where it fails, "fallbacks" with that, for others."""
ROUTINES: Final[dict[str, dict[int, Job]]] = {
    "solve lanes": {layout.SEARCH: ("solver.lm_solver.search_lanes", PROBLEM_VIEW, NARROW, WIDE, WHOLE)},
    "closed form": {layout.CLOSED_FORM: ("closed_form.nearest.nearest_branch", PROBLEM_VIEW, NARROW, WIDE, WHOLE)},
    "posture": {layout.APPROACH: ("solver.posture.approach_posture", WHOLE)},
    "rest": {layout.REST: ("gradients.towards_posture.move_towards_posture", WHOLE)},
    "postures": {layout.GATHER: ("solver.posture.gather_lanes", PROBLEM_VIEW, NARROW, WIDE, WHOLE)},
    **{
        f"{kind} {part}": {place: (f"{entry}_stage", WHOLE)}
        for kind, place in {"own": layout.OWN, "stages": layout.STAGES, "fallbacks": layout.FALLBACKS}.items()
        for part, entry in _SEARCHES.items()
    },
    "optimise lanes": {layout.SOFT: ("solver.soft.soft_lanes", PROBLEM_VIEW, NARROW, WIDE, WHOLE)},
    "shapes": {
        layout.MEASURE: ("collision.near.measure", PROBLEM_VIEW, NARROW, WHOLE, WHOLE),
        layout.CLEARANCE: ("requirements.collision.clearance", PROBLEM_VIEW, NARROW, WHOLE),
    },
    "shapes in steps": {
        layout.COLLISION_ROWS: ("requirements.collision.collision_rows", PROBLEM_VIEW, NARROW, WHOLE),
        layout.STAYS_CLEAR: ("requirements.collision.stays_clear", PROBLEM_VIEW, NARROW, WHOLE),
        layout.STOPPABLE: ("requirements.braking_apart.stoppable", PROBLEM_VIEW, NARROW, WHOLE),
    },
    "ranges": {layout.RANGE_ROWS: ("requirements.ranges.range_rows", PROBLEM_VIEW, NARROW)},
    "project step": {layout.PROJECT_STEP: ("stepping.project_step.project_step", PROBLEM_VIEW, NARROW, WHOLE)},
    "step": {layout.TAKE_STEP: ("stepping.time_step.take_step", WHOLE)},
    "propose": {layout.PROPOSE: ("stepping.proposing.propose", PROBLEM_VIEW, NARROW, WHOLE)},
    "scout": {
        layout.SCOUT: ("methods.homing.scout", PROBLEM_VIEW, NARROW, WHOLE),
        layout.FOLLOW: ("methods.homing.follow", PROBLEM_VIEW, NARROW),
    },
    "leap": {
        layout.LOOK_BACK: ("methods.leaping.look_back", PROBLEM_VIEW, NARROW),
        layout.LEAP: ("methods.leaping.leap", PROBLEM_VIEW, NARROW),
    },
}
"""The routines of each part by their places in the table."""
ENTRY_POINTS: Final[dict[str, str]] = {
    **_SEARCHES,
    "step": "stepping.time_step.step",
    "branches": "closed_form.branches.all_branches",
}
"""What of a part takes the address of a scratch."""
LOOKED_UP: Final[list[Job]] = list(dict.fromkeys(job for jobs in ROUTINES.values() for job in jobs.values()))
"""All routines but those of methods and tasks."""
