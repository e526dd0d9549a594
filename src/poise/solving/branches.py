"""solve_all and BranchSolver: every solution of a target, by closed form where the axes have one, else by a search."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, floor, isinf, pi, prod
from threading import Event
from typing import Any, Final, final, overload
from weakref import ref

import numpy as np
import numpy.typing as npt

from poise.checks import WHOLE, whole
from poise.kernels.closed_form.branches import (
    BRANCH,
    CERTIFIED,
    DISTANCE,
    LINE,
    MISSED,
    NUMBER,
    ROWS_OF,
    SAID,
    SWEPT,
    all_branches,
)
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import ANSWER, RESTARTS, SOLVED, WIDTH
from poise.model.model import Model, a_model
from poise.solving.arguments import (
    Tasks,
    alone,
    cores,
    one_start,
    refusal,
    refuse_all_but_bools,
    refuse_numbers,
    several,
)
from poise.solving.batch import problems_of
from poise.solving.closed_form import ClosedForm, closed_form
from poise.solving.closure import refuse_loops
from poise.solving.explain import task_errors
from poise.solving.pieces import Pieces
from poise.solving.prepared import keep, recall
from poise.solving.problem import Problem, pack
from poise.solving.scratch import Bound, Scratch
from poise.solving.search import Search
from poise.solving.weights import relative
from poise.spatial import SE3, Array, ArrayLike
from poise.tasks.base import Task, required_only
from poise.tasks.error import TaskError
from poise.tasks.pose import PoseTask

_STARTS: Final = 8
"""Searches for each of the `samples`, where there is no closed form."""
_RESTARTS: Final = 7
"""Random starts of a search, besides its own: eight lanes."""
_ALIKE: Final = 1e-3
"""Two answers of searches whose joints differ by no more than this are one [rad or m]."""
_ROUNDING: Final = 1e-9
"""A joint that whole turns take over its limit by no more than this stands at it [rad]."""
_TURN: Final = 2.0 * pi
_ROOM: Final = 2**16
"""Numbers that a thread collects the branches of a piece in, so that they stay in the cache [doubles]."""
_NAMED: Final = 5
"""Rows that are named, at most, of those that are no target."""


@final
class Branch:
    """One solution of a target: joints, how good they are, and which of the branches it is.

    Attributes are read from the solver's output when they are asked for, so that making one costs next to nothing.
    """

    __slots__ = ("_raw", "_way", "model")
    model: Model
    """Whose joints these are."""

    def __init__(self, model: Model, way: "Branching", raw: Array) -> None:
        self.model, self._way, self._raw = model, way, raw

    @property
    def q(self) -> Array:
        """(nq,) configuration; every joint within its limits, unless they were not asked for."""
        return self._raw[BRANCH : BRANCH + self.model.nq]

    @property
    def distance(self) -> float:
        """How far q is from `q0`: the norm of `model.difference(q0, q)` over the joints that move the task [rad, m]."""
        return float(self._raw[DISTANCE])

    @property
    def number(self) -> int:
        """Which of the eight branches of the closed form it is; -1 for one that was found by a search.

        Bit i is 1 where choice i of the `label` is "-".  It stays the same as a target moves, as far as the branch goes
        on: up to a pose at which two of them meet.
        """
        return int(self._raw[NUMBER])

    @property
    def label(self) -> str:
        """Which branch it is, in words: the signs of the three choices, and the value of a joint that was swept."""
        form, number = self._way.form, self.number
        if form is None:
            return "found by a search"
        if form.choices[0] == form.choices[1]:
            words = [f"{form.choices[0]} {number % 4 + 1}", f"{form.choices[2]} {'+-'[number >> 2 & 1]}"]
        else:
            words = [f"{word} {'+-'[number >> i & 1]}" for i, word in enumerate(form.choices)]
        if form.swept is not None:
            words.append(f"{self.model.coordinates[form.swept]} at {self._raw[SWEPT]:.4g}")
        if self.line:
            words.append("one of a line of solutions")
        return ", ".join(words)

    @property
    def line(self) -> bool:
        """Whether it is one of a line of solutions, as where two axes fall together.

        A joint that then moves nothing, or whose part another can play, stays where `q0` has it.
        """
        return bool(self._raw[LINE] > 0.5)

    @property
    def errors(self) -> tuple[TaskError, ...]:
        """What is left of each task, measured by forward kinematics at q."""
        return task_errors(self._way.tasks, self._raw[BRANCH + self.model.nq :])

    @property
    def position_error(self) -> float:
        """Largest position error of all tasks [m]; 0 if none has a position."""
        return max((e.position for e in self.errors if e.position is not None), default=0.0)

    @property
    def rotation_error(self) -> float:
        """Largest rotation error of all tasks [rad]; 0 if none has a rotation."""
        return max((e.rotation for e in self.errors if e.rotation is not None), default=0.0)

    def named(self) -> dict[str, float]:
        """The numbers of q by joint name."""
        return self.model.named(self.q)

    def __repr__(self) -> str:
        return f"Branch({self.label}; {self.position_error:.1e} m, {self.rotation_error:.1e} rad)"

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return np.array(self.q, dtype=dtype, copy=True)  # type: ignore[call-overload]


@final
class Solutions(Sequence[Branch]):
    """All solutions of a target that were found, the nearest to `q0` first; each within its tasks' tolerances.

    None within the limits is an empty sequence, and `explain` says what that proves.
    """

    __slots__ = ("_missed", "_starts", "_total", "_way", "model", "raw")
    model: Model
    """Whose joints these are."""
    raw: Array
    """(k, .) numbers of each, as the kernels write them."""

    def __init__(
        self, model: Model, way: "Branching", raw: Array, total: int, *, starts: int = 0, missed: bool = False
    ) -> None:
        self.model, self._way, self.raw, self._total, self._starts = model, way, raw, total, starts
        self._missed = missed

    def __len__(self) -> int:
        return len(self.raw)

    @overload
    def __getitem__(self, index: int) -> Branch: ...
    @overload
    def __getitem__(self, index: slice) -> "list[Branch]": ...
    def __getitem__(self, index: int | slice) -> "Branch | list[Branch]":
        if isinstance(index, slice):
            return [Branch(self.model, self._way, raw) for raw in self.raw[index]]
        return Branch(self.model, self._way, self.raw[index])

    def __iter__(self) -> Iterator[Branch]:
        return (Branch(self.model, self._way, raw) for raw in self.raw)

    @property
    def q(self) -> Array:
        """(k, nq) all configurations, the nearest to `q0` first."""
        return self.raw[:, BRANCH : BRANCH + self.model.nq]

    @property
    def distances(self) -> Array:
        """(k,) how far each is from `q0` [rad and m]."""
        return self.raw[:, DISTANCE]

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """(k,) which branch each is, see `Branch.number`."""
        return self.raw[:, NUMBER].astype(np.int64)

    @property
    def total(self) -> int:
        """How many branches there are, within the limits or not; whole turns are no others."""
        return self._total

    @property
    def complete(self) -> bool:
        """Whether there are no others: by closed form of six axes, and not at a pose with a line of solutions."""
        form = self._way.form
        lines = self._missed or bool(np.any(self.raw[:, LINE]))
        return form is not None and form.exact and form.swept is None and not lines

    def explain(self) -> str:
        """What was found and how, and what it proves, as a sentence."""
        way = self._way
        many = f"{self._total} branch{'' if self._total == 1 else 'es'}"
        if way.form is None:
            end = "there may be others" if self._total else "that proves nothing"
            return f"a search from {self._starts} starts found {many}; {end}"
        parts = [f"{many} by closed form ({way.form.words})"]
        if way.form.swept is not None:
            parts[0] += f" at {way.samples} values of {self.model.coordinates[way.form.swept]}"
        inside = len(np.unique(self.raw[:, [NUMBER, SWEPT]], axis=0)) if len(self.raw) else 0
        if way.limits and self._total:
            parts.append(f"{inside} within the limits")
        if len(self.raw) > inside:
            parts.append(f"{len(self.raw)} with their whole turns")
        if np.any(self.raw[:, LINE]):
            parts.append("some are one of a line of solutions")
        if self._missed:
            parts.append(
                "a line of solutions may be missing, for where q0 has the joint that is free there it has none"
            )
        if not way.form.exact:
            parts.append("the axes almost are as it takes them, so near the edge of the reach one may be missing")
        if not self._total and self.complete:
            parts.append("the target is out of reach")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"Solutions({self.explain()})"

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return np.array(self.q, dtype=dtype, copy=True)  # type: ignore[call-overload]


@final
class BranchBatch(Sequence[Array]):
    """The solutions of many targets in one array; an entry are those of one target, the nearest to `q0` first."""

    __slots__ = ("_nq", "_raw", "_why", "offsets", "totals", "valid")
    offsets: npt.NDArray[np.int64]
    """(targets + 1,) the solutions of target i are `q[offsets[i] : offsets[i + 1]]`."""
    totals: npt.NDArray[np.int64]
    """(targets,) how many branches each has, within the limits or not; whole turns are no others."""
    valid: npt.NDArray[np.bool_]
    """(targets,) whether a row is a target, and its `q0` a start; one that is not has no solutions."""

    def __init__(self, raw: Array, answers: Array, nq: int, why: str) -> None:
        self._raw, self._nq, self._why = raw, nq, why
        self.offsets = np.zeros(len(answers) + 1, dtype=np.int64)
        np.cumsum(answers[:, ROWS_OF], out=self.offsets[1:], dtype=np.int64)
        totals = answers[:, CERTIFIED].astype(np.int64)
        self.valid, self.totals = totals >= 0, np.maximum(totals, 0)

    def __len__(self) -> int:
        return len(self.totals)

    @overload
    def __getitem__(self, index: int) -> Array: ...
    @overload
    def __getitem__(self, index: slice) -> list[Array]: ...
    def __getitem__(self, index: int | slice) -> Array | list[Array]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        return self.q[self.offsets[i] : self.offsets[i + 1]]

    @property
    def q(self) -> Array:
        """(total, nq) all configurations, one target's behind the other's."""
        return self._raw[:, BRANCH : BRANCH + self._nq]

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """(total,) which branch each is, see `Branch.number`."""
        return self._raw[:, NUMBER].astype(np.int64)

    @property
    def distances(self) -> Array:
        """(total,) how far each is from `q0` [rad and m]."""
        return self._raw[:, DISTANCE]

    def explain(self) -> str:
        """How many targets have solutions, and which rows are none and why."""
        n, counts = len(self), np.diff(self.offsets)
        lines = [f"{len(self._raw):,} solutions of {np.count_nonzero(counts):,} targets of {n:,}."]
        beyond = np.count_nonzero((counts == 0) & (self.totals > 0))
        if beyond:
            lines.append(f"{beyond:,} of {n:,}: all branches are beyond the limits of the joints.")
        return "\n".join(lines + ([self._why] if self._why else []))

    def __repr__(self) -> str:
        return f"BranchBatch({len(self._raw)} solutions of {len(self)} targets)"


@final
class Branching:
    """Tasks prepared for a model, which it does not hold: what `BranchSolver` and `solve_all` are made of.

    It holds no workspace of its own: any number of threads may call it at once, and it can be sent to a process.
    """

    __slots__ = (
        "_bound",
        "_home",
        "_idle",
        "_lower",
        "_own",
        "_search",
        "_turning",
        "_upper",
        "_values",
        "_width",
        "form",
        "limits",
        "samples",
        "tasks",
        "turns",
    )

    def __init__(self, model: Model, tasks: Tasks, *, limits: bool, turns: bool, samples: int) -> None:
        a_model(model)
        given = several(tasks)
        _check(limits, turns, samples)
        self.tasks = tuple(task for task in given if isinstance(task, Task))
        if len(self.tasks) < len(given):
            raise ValueError(
                "a PostureTask asks for one solution, the nearest, so solve_all does not take it; give the posture as "
                "q0, and the first solution is the nearest to it of those that are found"
            )
        refuse_loops(model, self.tasks, "solve_all")
        required_only(self.tasks, "solve_all")
        self.limits, self.turns, self.samples = bool(limits), turns, samples
        self._home = np.array(model.home)
        self.form: ClosedForm | None = None
        self._search: Search | None = None
        task = relative(self.tasks)[0][0]
        if len(self.tasks) == 1 and isinstance(task, PoseTask) and all(min(b.weight) > 0.0 for b in task.blocks):
            self.form = closed_form(model, task, pack(model, [task], limits=self.limits))
        if self.form is None:
            self._search = Search(model, given, limits=self.limits, prefer="first", max_restarts=_RESTARTS)
            problem = self._search.problem
        else:
            problem = self.form.problem
        self._turning = _turning(problem)
        infinite = np.full(model.nq, np.inf)
        self._lower: Array = model.lower if self.limits else -infinite
        self._upper: Array = model.upper if self.limits else infinite
        self._own = None if task.target is None else task.goal(task.target)
        self._values = 1 if self.form is None or self.form.swept is None else samples
        self._width = BRANCH + model.nq + problem.blocks
        self._bind()

    def _bind(self) -> None:
        """Find in this process what the closed form needs."""
        self._idle: list[tuple[Scratch, Array, Array]] = []
        if self.form is not None:
            self._bound = Bound(self.form.problem)
            prepare(all_branches)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name not in ("_bound", "_idle")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._bind()

    def _new_scratch(self) -> Scratch:
        """Scratch that is told of the settings."""
        scratch = Scratch(self._bound)
        scratch.widen(self._bound)
        scratch.tell(samples=self._values)
        return scratch

    def _new_kept(self) -> tuple[Scratch, Array, Array]:
        """Scratch that is told of its own goal and start, room for the branches, and what is said of them."""
        scratch, found, answers = self._new_scratch(), np.empty((self._values * WIDTH, self._width)), np.empty(SAID)
        scratch.tell(problems=1)
        scratch.tell_of(found=found, goals=scratch.goal, starts=scratch.start, answers=answers)
        return scratch, found, answers

    def __call__(self, model: Model, target: Any, q0: ArrayLike | None, seed: int) -> Solutions:
        """All solutions; see `BranchSolver`."""
        if self._search is not None:
            return self._call_search(self._search, model, target, q0, seed)
        try:
            kept = self._idle.pop()
        except IndexError:
            kept = self._new_kept()
        scratch, found, answers = kept
        try:
            if type(target) is SE3 and target.array.ndim == 1:
                scratch.goal_view[:] = target.array
            else:
                scratch.goal[:] = self._goal(target)
            self._rest(scratch, model, q0)
            raw = found[: all_branches(scratch.address)].copy()
            total = int(answers[CERTIFIED])
            if total < 0:
                refuse_numbers(total, model, self.tasks, scratch.goal, scratch.start)
        finally:
            self._idle.append(kept)
        if self._values > 1:
            raw = raw[raw[:, DISTANCE].argsort(kind="stable")]
        if self.turns:
            raw = self._turned(model, raw, one_start(model, self._home if q0 is None else q0))
        return Solutions(model, self, raw, total, missed=bool(answers[MISSED]))

    def _call_search(self, search: Search, model: Model, target: Any, q0: ArrayLike | None, seed: int) -> Solutions:
        """All solutions that searches find."""
        whole("seed", seed, 0)
        with search.scratch(model) as scratch:
            goal = search.goal_numbers(target, scratch, model)
        home = one_start(model, self._home if q0 is None else q0)
        raw, total, tried = self._searched(search, model, goal, home, seed)
        if total < 0:
            refuse_numbers(total, model, self.tasks, goal, home)
        return Solutions(model, self, raw, total, starts=tried)

    def _goal(self, target: Any) -> Array:
        """(7,) numbers of a target, or of the task's own."""
        if target is not None:
            return self.tasks[0].goal(alone(target), "target")
        if self._own is None:
            raise ValueError("the task has no target; give one to the task or to the call")
        return self._own

    def _rest(self, scratch: Scratch, model: Model, q0: ArrayLike | None) -> None:
        """Where the joints rest, into the scratch."""
        try:
            scratch.start_view[:] = self._home if q0 is None else q0
        except (TypeError, ValueError):  # no doubles, or not as many
            scratch.start[:] = one_start(model, self._home if q0 is None else q0)

    def batch(self, model: Model, targets: Any, q0: ArrayLike | None, seed: int, threads: int | None) -> BranchBatch:
        """All solutions of many targets; see `BranchSolver.batch`."""
        whole("seed", seed, 0)
        threads = cores() if threads is None else threads
        whole("threads", threads, 1)
        goals, starts, _ = problems_of(model, self.tasks, targets, q0)
        n, search = len(goals), self._search
        size = max(1, _ROOM // (WIDTH * self._values * self._width)) if search is None else 1
        pieces, answers = Pieces(n, size), np.empty((n, SAID))
        # Without a sweep there are no more rows than this, so each piece is written where it stays but for gaps.
        room = np.empty((n * WIDTH, self._width)) if search is None and self._values == 1 and not self.turns else None
        parts = [np.empty((0, self._width))] * max(1, len(pieces))

        def work() -> None:
            scratch = self._new_scratch() if search is None else None
            found = np.empty((0 if room is not None else size * self._values * WIDTH, self._width))
            for piece in pieces:
                i, some = piece.start, slice(piece.start, piece.stop)
                if search is not None:
                    part, total, _ = self._searched(search, model, goals[i], starts[i], seed, pieces.stopped)
                    parts[i], answers[i] = part, (len(part), total, False)
                elif scratch is not None and room is not None:
                    self._part(scratch, room[i * WIDTH : piece.stop * WIDTH], goals[some], starts[some], answers[some])
                elif scratch is not None:
                    count = self._part(scratch, found, goals[some], starts[some], answers[some])
                    parts[i // size] = self._sorted(model, found[:count], starts[some], answers[some])

        pieces.share(work, max(1, min(threads, len(pieces))))
        raw = np.concatenate(parts) if room is None else _closed_up(room, answers[:, ROWS_OF], size)
        return BranchBatch(raw, answers, model.nq, self._refused(goals, answers[:, CERTIFIED]))

    def _refused(self, goals: Array, said: Array) -> str:
        """Which rows are no target or no start, and why the first is not; empty if all are."""
        bad = np.flatnonzero(said < 0.0)
        if not len(bad):
            return ""
        rows = ", ".join(map(str, bad[:_NAMED])) + (", ..." if len(bad) > _NAMED else "")
        first = refusal(int(said[bad[0]]), self.tasks, goals[bad[0]])
        return f"{len(bad):,} of {len(said):,} have no target or no start (row{'s' * (len(bad) > 1)} {rows}): {first}."

    def _part(self, scratch: Scratch, found: Array, goals: Array, starts: Array, answers: Array) -> int:
        """Write the rows of some targets into `found`, in one call that holds no lock of the interpreter; how many."""
        goals, starts = np.ascontiguousarray(goals), np.ascontiguousarray(starts)
        scratch.tell(problems=len(goals))
        scratch.tell_of(found=found, goals=goals, starts=starts, answers=answers)
        count: int = all_branches(scratch.address)
        return count

    def _sorted(self, model: Model, raw: Array, starts: Array, answers: Array) -> Array:
        """The rows of some targets, of each the nearest first, and their whole turns if they are asked for."""
        counts = answers[:, ROWS_OF].astype(np.int64)
        raw = raw[np.lexsort((raw[:, DISTANCE], np.repeat(np.arange(len(counts)), counts)))]
        if not self.turns:
            return raw
        each = np.split(raw, np.cumsum(counts)[:-1])
        turned = [self._turned(model, rows, rest) for rows, rest in zip(each, starts, strict=True)]
        answers[:, ROWS_OF] = [len(rows) for rows in turned]
        return np.concatenate(turned)

    def _searched(
        self, search: Search, model: Model, goal: Array, home: Array, seed: int, stopped: Event | None = None
    ) -> tuple[Array, int, int]:
        """What searches find for a goal (7 tasks,) from `home` and from random starts, those that are alike merged.

        The rows; how many branches they are, or a code if it is no goal or no start; and how many starts were tried.
        """
        tried = 0
        rows: list[Array] = []
        at = slice(ANSWER, ANSWER + model.nq)
        with search.scratch(model) as scratch:
            for k, start in enumerate([home, *model.sample(_STARTS * self.samples - 1, seed=seed)]):
                if stopped is not None and stopped.is_set():
                    break
                scratch.goal[:], scratch.start[:] = goal, start
                code, _ = search.solve_one(model, scratch, (seed + k) % WHOLE)
                if code < 0:
                    return np.empty((0, self._width)), code, 0
                tried += 1 + int(scratch.out[RESTARTS])
                if code != SOLVED:
                    continue
                q = scratch.out[at].copy()
                for i, turn in self._turning:
                    ways = _turns(q[i], turn, self._lower[i], self._upper[i], home[i])
                    q[i] = min(ways, key=lambda x: abs(x - home[i]))
                if any(np.all(np.abs(model.difference(row[BRANCH : BRANCH + model.nq], q)) <= _ALIKE) for row in rows):
                    continue
                distance = float(np.linalg.norm(model.difference(home, q)))
                rows.append(np.concatenate([[-1.0, 0.0, 0.0, distance], q, scratch.out[at.stop : -1]]))
        raw = np.array(rows).reshape(-1, self._width)
        raw = raw[raw[:, DISTANCE].argsort(kind="stable")]
        return self._turned(model, raw, home) if self.turns else raw, len(raw), tried

    def _turned(self, model: Model, raw: Array, rest: Array) -> Array:
        """The rows, and for each of them all that whole turns within the limits make of it."""
        joints = [i for i, _ in self._turning]
        parts = [np.empty((0, self._width))]
        for row in raw:
            q = row[BRANCH : BRANCH + model.nq]
            ways = [_turns(q[i], turn, self._lower[i], self._upper[i], rest[i]) for i, turn in self._turning]
            part = np.repeat(row[None], prod(len(way) for way in ways), axis=0)
            part[:, [BRANCH + i for i in joints]] = list(product(*ways))
            moved = part[:, [BRANCH + i for i in joints]] - rest[joints]
            still = row[DISTANCE] ** 2 - np.sum((q[joints] - rest[joints]) ** 2)
            part[:, DISTANCE] = np.sqrt(np.maximum(still, 0.0) + np.sum(moved**2, axis=1))
            parts.append(part)
        out = np.concatenate(parts)
        return out[out[:, DISTANCE].argsort(kind="stable")]


def _closed_up(room: Array, counts: Array, size: int) -> Array:
    """The rows in `room`, where those of `size` targets begin at WIDTH times the first: moved together, in place."""
    end = 0
    for first in range(0, len(counts), size):
        at, many = first * WIDTH, int(counts[first : first + size].sum())
        if end < at:
            room[end : end + many] = room[at : at + many]
        end += many
    room.resize((end, room.shape[1]), refcheck=False)  # gives back what is left, and moves nothing
    return room


def _check(limits: Any, turns: Any, samples: Any) -> None:
    """Raises TypeError or ValueError for settings that make no sense."""
    refuse_all_but_bools(limits)
    if not isinstance(turns, bool):
        raise TypeError(f"turns must be True or False, whether whole turns of a solution are others, got {turns!r}")
    whole("samples", samples, 1)


def _turning(problem: Problem) -> list[tuple[int, float]]:
    """The places in q of the joints that turn the task, and what makes a whole turn of each."""
    coordinates = problem.section("coordinates")
    turns = {i: _TURN for i, c in enumerate(coordinates) if c["turns"]}
    for arm in problem.section("arms"):
        turns = {int(i): _TURN / abs(rate) for i, rate in zip(arm["joints"], arm["rates"], strict=True)}
        if arm["swept"] and not arm["slides"]:
            turns[abs(int(arm["swept"])) - 1] = _TURN / abs(arm["swept_rate"])
    return [(int(coordinates["q"][i]), turn) for i, turn in turns.items()]


def _turns(x: float, turn: float, lower: float, upper: float, rest: float) -> list[float]:
    """What whole turns within the limits make of x; only the nearest to `rest` where there is no limit."""
    first, last = (lower - _ROUNDING - x) / turn, (upper + _ROUNDING - x) / turn
    if isinf(first) or isinf(last):
        return [x + float(min(max(np.rint((rest - x) / turn), np.ceil(first)), np.floor(last))) * turn]
    return [min(max(x + k * turn, lower), upper) for k in range(ceil(first), floor(last) + 1)]


@final
class BranchSolver:
    """A model and a task, prepared for all solutions of many targets, from any number of threads.

    It can be pickled.  See `solve_all`, also for what is raised.
    """

    __slots__ = ("_branching", "model", "seed")
    model: Model
    seed: int
    """What the random starts depend on, where there is no closed form."""

    def __init__(
        self,
        model: Model,
        tasks: Tasks,
        *,
        limits: bool = True,
        turns: bool = False,
        samples: int = 64,
        seed: int = 0,
    ) -> None:
        whole("seed", seed, 0)
        self.model, self.seed = model, seed
        self._branching = Branching(model, tasks, limits=limits, turns=turns, samples=samples)

    def __call__(self, target: Any = None, q0: ArrayLike | None = None) -> Solutions:
        """All solutions of `target` (the task's own if it is None), the nearest to `q0` (nq,), or to home, first.

        Raises ShapeError for a wrong shape, ValueError for an entry that is not finite.
        """
        return self._branching(self.model, target, q0, self.seed)

    def batch(self, targets: Any = None, q0: ArrayLike | None = None, *, threads: int | None = None) -> BranchBatch:
        """All solutions of each of many targets, in each of `threads`, or on all cores.

        `targets` has a row a problem, as for `solve_batch`: of a pose an SE3 of n, (n, 7) or (n, 4, 4) numbers.  `q0`
        is (nq,) for all or (n, nq).  The solutions of a target depend on its row, the settings and the seed, not on the
        other rows or on `threads`.  A row that is no target, or whose q0 is no start, is not `valid` and has no
        solutions; `explain` names it, and the others are solved.  Ctrl-C is a KeyboardInterrupt.

        Raises ShapeError, and ValueError for one q0 for all that is not finite.
        """
        return self._branching.batch(self.model, targets, q0, self.seed, threads)

    @property
    def closed_form(self) -> str | None:
        """What the axes of the arm have that gives its pose a closed form; None if a search must do."""
        return None if self._branching.form is None else self._branching.form.words

    @property
    def swept(self) -> str | None:
        """The coordinate that is swept, as the closed form gives the other six."""
        form = self._branching.form
        return None if form is None or form.swept is None else self.model.coordinates[form.swept]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What it solves for."""
        return self._branching.tasks


def solve_all(
    model: Model,
    tasks: Tasks,
    target: Any = None,
    q0: ArrayLike | None = None,
    *,
    limits: bool = True,
    turns: bool = False,
    samples: int = 64,
    seed: int = 0,
) -> Solutions:
    """All solutions of a task, the nearest to `q0` (nq,), or to the model's home, first.

    The pose of a frame that six turning joints move has a closed form if the last or the first three axes meet in a
    point, or if axes 2, 3 and 4 (or 3, 4 and 5) are parallel and the two beyond them meet: then all of its up to eight
    branches are found.  With a seventh joint, which may be a slide, at either end of such six, that joint is swept:
    `samples` values, evenly spread over its range, have their branches each.  Any other arm or task is searched from
    `q0` and random starts, drawn with `seed`, eight times `samples` calls of the solver; that misses some now and then.

    Every solution is within the tolerances, by forward kinematics at its q, and within the limits of the joints unless
    `limits` is False; each joint is as whole turns bring it nearest to `q0`, and with `turns=True` all that whole turns
    within the limits make of a solution follow too.  Joints that do not move the task stay as in `q0`.  The model keeps
    what it prepared for tasks of this structure.

    Raises FrameNotFound, ShapeError, and ValueError for numbers that are not finite or for a posture task.
    Source: Elias and Wen 2022, "IK-Geo: Unified Robot Inverse Kinematics Using Subproblem Decomposition",
    arXiv:2211.05737.
    """
    branching = _LAST.recall(model, tasks, limits, turns, samples)
    if branching is None:
        branching = _prepared(model, tasks, limits, turns, samples)
        _LAST.keep(model, tasks, limits, turns, samples, branching)
    if target is None:
        own = [getattr(task, "target", None) for task in several(tasks)]
        target = own if len(own) > 1 else own[0]
    return branching(model, target, q0, seed)


def _prepared(model: Model, tasks: Tasks, limits: bool, turns: bool, samples: int) -> Branching:
    """What the model keeps for tasks of this structure and these settings."""
    a_model(model)
    given = several(tasks)
    _check(limits, turns, samples)
    key = (Branching, limits, turns, samples, *(task.structure for task in given))
    branching: Branching | None = recall(model, key)
    if branching is None:
        branching = Branching(model, tasks, limits=limits, turns=turns, samples=samples)
        keep(model, key, branching)
    return branching


@final
class _Last:
    """The model, the task and the settings of the last call, and what was prepared for them: a task never changes.

    They are one tuple, which is replaced as a whole: a thread sees what it kept itself or what another did.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: tuple[Any, ...] = (_nothing, _nothing, None, None, None, None)

    def recall(self, model: Model, task: Any, limits: bool, turns: bool, samples: int) -> Branching | None:
        """What was kept for the very same objects, else None."""
        one, other, a, b, c, branching = self._kept
        same = one() is model and other() is task and a is limits and b is turns and c is samples
        return branching if same else None

    def keep(self, model: Model, task: Any, limits: bool, turns: bool, samples: int, branching: Branching) -> None:
        """Keep it, as long as the model and the task are there; several tasks, and those of a user's, are not kept."""
        if isinstance(task, Task) and not task.own:
            self._kept = (ref(model), ref(task), limits, turns, samples, branching)


def _nothing() -> None:
    """In place of a reference."""


_LAST: Final = _Last()
