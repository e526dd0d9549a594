"""All solutions of a target, by closed form where the axes have one, else by searches from many starts."""

from dataclasses import replace
from itertools import product
from math import ceil, floor, inf, isinf, pi, prod
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import WHOLE, whole, yes_or_no
from poise.common.errors import InvalidValue
from poise.kernels.closed_form.branches import BRANCH, CERTIFIED, DISTANCE, DOUBT, MISSED, ROWS_OF, SAID, TAKEN
from poise.kernels.closed_form.elimination import CHOICES
from poise.kernels.closed_form.general import MOST
from poise.kernels.machine.layout import ANSWER, COST, RESTARTS, REVOLUTE, SOLVED, WIDTH
from poise.model.model import Model, a_model
from poise.solving.answers.branches import BranchBatch, Solutions
from poise.solving.answers.intervals import Interval
from poise.solving.arguments.arguments import Tasks, alone, cores, one_start, refusal, refuse_numbers, several
from poise.solving.arguments.lru_cache import cached
from poise.solving.arguments.weights import relative
from poise.solving.arguments.work_queue import WorkQueue
from poise.solving.problem.closed_form import ClosedForm, DirectForm, closed_form, direct_form, turning
from poise.solving.problem.problem import Problem, pack
from poise.solving.problem.workspace import Bound, Scratch
from poise.solving.requirements.limits import Limits, LimitsLike, with_feasibility_check
from poise.solving.requirements.loops import loop_tasks
from poise.solving.requirements.sums import slack_in
from poise.solving.search.search import Search
from poise.solving.search.settings import SearchSettings
from poise.solving.solvers.batch import problems_of
from poise.solving.solvers.idle_joints import IdleJoints
from poise.solving.solvers.sweep import Sweep, new_scratch, run_goals
from poise.solving.unreachable.infeasibility import with_still_locked
from poise.spatial import SE3
from poise.tasks.base import Task
from poise.tasks.pose import PoseTask

_STARTS: Final = 8
"""Searches for each of the `samples`, where there is no closed form."""
_SETTINGS: Final = SearchSettings(select="first", max_restarts=7)
"""Of the search from each start, which has few random starts of its own."""
_ALIKE: Final = 1e-3
"""Two answers of searches whose joints differ by no more than this are one [rad or m]."""
_AS_GOOD: Final = 1.01
"""What is missed of tasks that are not required may be this many times the least in one of its solutions."""
_ROUNDING: Final = 1e-9
"""A joint that whole turns take over its limit by no more than this stands at it [rad]."""
_CLIPPED: Final = 1e-6
"""A start may be beyond limits by no more than this, and is clipped [rad or m]."""
_TURN: Final = 2.0 * pi
_BUFFER: Final = 2**16
"""Numbers that a thread collects the branches of a piece in, so that they stay in the cache [doubles]."""
_NAMED: Final = 5
"""Rows that are named, at most, of those that are no target."""


@final
class Branching:
    """Tasks prepared for a model, which it does not hold: what `BranchSolver` and `solve_all` are made of.

    Any number of threads may call it at once, and it can be sent to a process.
    """

    def __init__(self, model: Model, tasks: Tasks, *, limits: LimitsLike, turns: bool, samples: int) -> None:
        a_model(model)
        check(turns, samples)
        self.tasks = several(tasks)
        asked = Limits.of(limits)
        self._limits = asked.timeless(model)
        self.limits, self.turns, self.samples = self._limits.positions, turns, samples
        self._home = np.array(model.home)
        self.form: ClosedForm | None = None
        self.direct: DirectForm | None = None
        """What gives the starts of all searches, so that these find all."""
        self._search: Search | None = None
        self._own: Array | None = None
        self._checked: Problem | None = None
        """What tells whether all that is stated beside the limits of joints holds."""
        self._idle: IdleJoints | None = None
        """What moves no pose, but is in sums that hold: the branches of a closed form say nothing of it."""
        self._locks = False
        """Whether the joints that may move can have a closed form where the others stand."""
        if len(self.tasks) == 1 and isinstance(self.tasks[0], PoseTask) and not asked.at_rest(model):
            self._use_closed_form(model, self.tasks[0])
        if self.form is None:
            self._search = Search(model, self.tasks, limits=asked, settings=_SETTINGS)
        problem = self.form.problem if self._search is None else self._search.problem
        if self._limits.has_constraints:
            self._checked = with_feasibility_check(model, problem, self._limits) if self._search is None else problem
            if self.form is not None or self.direct is not None or self._locks:
                self._idle = IdleJoints(self._checked, pack(model, self.tasks, limits=self.limits).velocities)
        self.judged: tuple[Task, ...] = self.tasks if self._search is None else self._search.tasks.all
        """Whose errors are told."""
        self._soft = not all(task.required for task in self.judged if task.blocks)
        self._turning = turning(problem)
        infinite = np.full(model.nq, np.inf)
        self._lower: Array = model.lower if self.limits else -infinite
        self._upper: Array = model.upper if self.limits else infinite
        self._values = 1 if self.form is None or self.form.swept is None else samples
        general = self.form is not None and self.form.general
        self._most_rows = self._values * (MOST if general else WIDTH)
        """Rows of a target, at most."""
        self._one_pack = self._most_rows == WIDTH
        """Whether all rows of a target come out of the kernel in order."""
        self._width = BRANCH + model.nq + problem.blocks + (self._search is not None)
        settings = {"samples": self._values, "problems": 1}
        self._bound = (
            Bound(problem, ("branches",), wide=True, collision=self._limits.collision, numbers=settings)
            if self._search is None
            else self._search.bound
        )
        if general:
            self._begin_with_the_best(model)
        self._sweep: Sweep | None = None
        if self.form is not None and self.form.swept is not None:
            self._sweep = Sweep(self.form, self._bound, self.tasks, limits, self._lower, self._upper, samples)

    def _begin_with_the_best(self, model: Model) -> None:
        """Let elimination begin with the choice that serves the most of some poses."""
        assert self.form is not None
        goals, answers = self.form.trials, np.empty((len(self.form.trials), SAID))
        found, starts = np.empty((len(goals) * self._most_rows, self._width)), np.tile(self._home, (len(goals), 1))
        served = []
        for choice in range(CHOICES):
            form = self.form.beginning_with(choice)
            bound = replace(self._bound, problem=form.problem)
            run_goals(bound, new_scratch(bound, model, found), found, goals, starts, answers)
            served.append((int(np.sum(answers[:, TAKEN] == choice)), -choice, form, bound))
            if served[-1][0] == len(goals):
                break
        _, _, self.form, self._bound = max(served, key=lambda one: one[:2])

    def _use_closed_form(self, model: Model, pose_task: PoseTask) -> None:
        """Find the closed form of a pose, if its arm has one, all of it is required, and no loop goes along."""
        task = relative([pose_task])[0][0]
        assert isinstance(task, PoseTask)
        if task.required and all(min(b.weight) > 0.0 for b in task.blocks) and not loop_tasks(model, self.tasks):
            self.form = closed_form(model, task, pack(model, [task], limits=self.limits, also=self._limits.tied(model)))
            self._own = None if task.target is None else task.goal(task.target)
            if self.form is None:
                self.direct = direct_form(model, task)
            self._locks = bool(model.still) and self.form is None and self.direct is None

    def __call__(self, model: Model, target: Any, q0: ArrayLike | None, seed: int) -> Solutions:
        """All solutions; see `BranchSolver`."""
        if self._search is not None:
            return self._call_search(self._search, model, target, q0, seed)
        bound = self._bound
        try:
            scratch = bound.idle.pop()
        except IndexError:
            scratch = new_scratch(bound, model, np.empty((self._most_rows, self._width)))
        try:
            if self._checked is not None:
                scratch.sync_scene()
            if type(target) is SE3 and target.array.ndim == 1:
                scratch.goal_view[:] = target.array
            else:
                scratch.goal[:] = self._goal(target)
            scratch.begin_at(model, self._home if q0 is None else q0)
            raw, goal = scratch.lent["found"][: bound.run(scratch.address)].copy(), scratch.goal.copy()
            start = scratch.start.copy() if model.still else self._home
            answers, searched = scratch.lent["answers"], False
            raw = self._nearest_first(model, scratch, raw, scratch.start)
            if self._sweep is not None and self._values > 1 and not len(raw):
                raw = self._sweep.between(model, goal, scratch.start, answers, seed)
                raw = self._nearest_first(model, scratch, raw, scratch.start)
                searched = len(raw) > 0
            total, missed, doubt = int(answers[CERTIFIED]), bool(answers[MISSED]), bool(answers[DOUBT])
            if total < 0:
                refuse_numbers(total, model, self.judged, scratch.goal, scratch.start)
        finally:
            bound.idle.append(scratch)
        return Solutions(model, self, raw, total, goal, start, starts=int(searched), missed=missed, doubt=doubt)

    def _call_search(self, search: Search, model: Model, target: Any, q0: ArrayLike | None, seed: int) -> Solutions:
        """All solutions that searches find."""
        whole("seed", seed, 0)
        goal = search.tasks.goal_numbers(target, model)
        home = one_start(model, self._home if q0 is None else q0)
        raw, total, attempts, line = self._searched(search, model, goal, home, seed)
        if total < 0:
            refuse_numbers(total, model, self.judged, goal, home)
        return Solutions(model, self, raw, total, goal, home, starts=attempts, missed=line)

    def intervals(self, model: Model, target: Any, q0: ArrayLike | None, seed: int) -> tuple[Interval, ...]:
        """All solutions of a swept arm, see `BranchSolver.intervals`."""
        if self._sweep is None:
            raise InvalidValue(
                "not-supported", "intervals are those of a joint that is swept, and none is: see `swept`"
            )
        rest = one_start(model, self._home if q0 is None else q0)
        return self._sweep.intervals(model, self._goal(target), rest, seed)

    def _goal(self, target: Any) -> Array:
        """(7,) numbers of a target, or of the task's own."""
        if target is not None:
            return self.tasks[0].goal(alone(target), "target")
        if self._own is None:
            raise InvalidValue("no-target", "the task has no target; give one to the task or to the call")
        return self._own

    def batch(self, model: Model, targets: Any, q0: ArrayLike | None, seed: int, threads: int | None) -> BranchBatch:
        """All solutions of many targets; see `BranchSolver.batch`."""
        whole("seed", seed, 0)
        threads = cores() if threads is None else threads
        whole("threads", threads, 1)
        search = self._search
        goals, starts = problems_of(model, self.tasks, targets, q0, () if search is None else search.tasks.beside)
        n = len(goals)
        size = max(1, _BUFFER // (self._most_rows * self._width)) if search is None else 1
        queue, answers = WorkQueue(n, size), np.empty((n, SAID))
        # Without a sweep there are no more rows than this, so each piece is written where it stays but for gaps.
        plain = search is None and self._one_pack and not self.turns and self._checked is None
        buffer = np.empty((n * WIDTH, self._width)) if plain else None
        parts = [np.empty((0, self._width))] * max(1, len(queue))

        def work() -> None:
            found = np.empty((0 if buffer is not None else size * self._most_rows, self._width))
            scratch = new_scratch(self._bound, model, found) if search is None else None
            for chunk in queue:
                i, some = chunk.start, slice(chunk.start, chunk.stop)
                if search is not None:
                    part, total, _, line = self._searched(search, model, goals[i], starts[i], seed, queue)
                    parts[i], answers[i] = part, (len(part), total, line, self.direct is None, -1)
                elif scratch is not None and buffer is not None:
                    piece = buffer[i * WIDTH : chunk.stop * WIDTH]
                    run_goals(self._bound, scratch, piece, goals[some], starts[some], answers[some])
                elif scratch is not None:
                    count = run_goals(self._bound, scratch, found, goals[some], starts[some], answers[some])
                    part = self._sorted(model, scratch, found[:count], starts[some], answers[some])
                    parts[i // size] = self._filled(
                        model, scratch, part, goals[some], starts[some], answers[some], seed
                    )

        queue.share(work, max(1, min(threads, len(queue))))
        raw = np.concatenate(parts) if buffer is None else _closed_up(buffer, answers[:, ROWS_OF], size)
        return BranchBatch(raw, answers, model.nq, self._refused(model, goals, answers[:, CERTIFIED]))

    def _refused(self, model: Model, goals: Array, said: Array) -> str:
        """Which rows are no target or no start, and why the first is not; empty if all are."""
        bad = np.flatnonzero(said < 0.0)
        if not len(bad):
            return ""
        rows = ", ".join(map(str, bad[:_NAMED])) + (", ..." if len(bad) > _NAMED else "")
        first = refusal(int(said[bad[0]]), model, self.judged, goals[bad[0]])
        return f"{len(bad):,} of {len(said):,} have no target or no start (row{'s' * (len(bad) > 1)} {rows}): {first}."

    def _nearest_first(self, model: Model, scratch: Scratch, raw: Array, rest: Array) -> Array:
        """The rows of one target, the nearest first, with their whole turns if they are asked for."""
        if not self._one_pack:
            raw = raw[raw[:, DISTANCE].argsort(kind="stable")]
        return self._turned(model, scratch, raw, rest) if self.turns or self._checked is not None else raw

    def _filled(
        self, model: Model, scratch: Scratch, raw: Array, goals: Array, starts: Array, answers: Array, seed: int
    ) -> Array:
        """The rows of some targets with those of which a sweep found none."""
        if self._sweep is None or self._values == 1:
            return raw
        each = np.split(raw, np.cumsum(answers[:, ROWS_OF].astype(np.int64))[:-1])
        for i in np.flatnonzero(answers[:, ROWS_OF] == 0.0):
            part = self._sweep.between(model, goals[i], starts[i], answers[i], seed)
            each[i] = self._sorted(model, scratch, part, starts[i : i + 1], answers[i : i + 1])
        return np.concatenate(each)

    def _sorted(self, model: Model, scratch: Scratch, raw: Array, starts: Array, answers: Array) -> Array:
        """The rows of some targets, of each the nearest first, with their whole turns if they are asked for."""
        counts = answers[:, ROWS_OF].astype(np.int64)
        raw = raw[np.lexsort((raw[:, DISTANCE], np.repeat(np.arange(len(counts)), counts)))]
        if not self.turns and self._checked is None:
            return raw
        each = np.split(raw, np.cumsum(counts)[:-1])
        turned = [self._turned(model, scratch, rows, rest) for rows, rest in zip(each, starts, strict=True)]
        answers[:, ROWS_OF] = [len(rows) for rows in turned]
        return np.concatenate(turned)

    def _searched(
        self, search: Search, model: Model, goal: Array, home: Array, seed: int, queue: WorkQueue | None = None
    ) -> tuple[Array, int, int, bool]:
        """What searches find, from home and from random starts, those that are alike merged.

        The rows; how many branches they are, or a code if it is no goal or no start; how many starts were tried; and
        whether there is a line of solutions.
        """
        attempts, least, branches, line = 0, inf, None, False
        rows: list[Array] = []
        at = slice(ANSWER, ANSWER + model.nq)
        with search.bound.scratch(model) as scratch:
            if self.direct is not None:
                branches, all_starts, line = self._known_starts(self.direct, goal, home)
            elif (known := self.of_locked(model, goal, home, seed, turns=False)) is not None:
                all_starts = [*known, home][: max(1, len(known))]
            else:
                random = model.sample(_STARTS * self.samples - 1, seed=seed)
                all_starts = [home, *search.problem.started(home, random)]
            if self._idle is not None:
                self._idle.lead_all(all_starts)
            for k, start in enumerate(all_starts):
                if queue is not None and queue.stopped:
                    break
                code, _ = search.solve_one(model, scratch, goal, start, seed=(seed + k) % WHOLE)
                if code < 0:
                    return np.empty((0, self._width)), code, 0, False
                attempts += 1 + int(scratch.out[RESTARTS])
                if code != SOLVED or (self._soft and scratch.out[COST] > _AS_GOOD * least):
                    continue
                if self._soft and _AS_GOOD * scratch.out[COST] < least:
                    rows.clear()
                least = min(least, float(scratch.out[COST]))
                q = scratch.out[at].copy()
                for i, turn in self._turning:
                    ways = _turns(q[i], turn, self._lower[i], self._upper[i], home[i])
                    q[i] = min(ways, key=lambda x: abs(x - home[i]))
                if not self._holds(model, scratch, q):
                    q = scratch.out[at].copy()
                if any(np.all(np.abs(model.difference(row[BRANCH : BRANCH + model.nq], q)) <= _ALIKE) for row in rows):
                    continue
                distance = float(np.linalg.norm(model.difference(home, q)))
                rows.append(np.concatenate([[-1.0, 0.0, 0.0, distance], q, scratch.out[at.stop :]]))
            raw = np.array(rows).reshape(-1, self._width)
            raw = raw[raw[:, DISTANCE].argsort(kind="stable")]
            total = len(raw) if branches is None else branches
            return self._turned(model, scratch, raw, home) if self.turns else raw, total, attempts, line

    def _known_starts(self, direct: DirectForm, goal: Array, home: Array) -> tuple[int, list[Array], bool]:
        """How many branches a goal (7,) has, and starts (nq,) at those within the limits, nearest to `home`.

        And whether there is a line of solutions, of which one is then searched for from `home`.
        """
        if not (np.isfinite(goal).all() and np.any(goal[3:])):
            return 0, [home], False
        task = self.judged[0]
        found, line = direct.candidates(SE3(goal).matrix(), (task.blocks[0].tolerance, task.blocks[1].tolerance))
        starts, axes = list[Array](), direct.axes
        joints = list(axes.joints)
        turning = [
            (i, _TURN / abs(rate))
            for i, rate, kind in zip(joints, axes.rates, axes.kinds, strict=True)
            if kind == REVOLUTE
        ]
        for each in found:
            q = home.copy()
            q[joints] = each
            for i, turn in turning:
                ways = _turns(q[i], turn, self._lower[i] - _CLIPPED, self._upper[i] + _CLIPPED, home[i])
                q[i] = ways[int(np.argmin(np.abs(np.array(ways) - home[i])))] if ways else inf
            if np.all((q[joints] >= self._lower[joints] - _CLIPPED) & (q[joints] <= self._upper[joints] + _CLIPPED)):
                starts.append(q)
        return (1, [home], True) if line and not len(found) else (len(found), starts, line)

    def of_locked(self, model: Model, goal: Array, start: Array, seed: int, *, turns: bool) -> Array | None:
        """(k, nq) all solutions of a goal with what stands still locked where `start` (nq,) has it; None where the
        others have no closed form then."""
        if not (self._locks and np.isfinite(goal).all() and np.any(goal[3:])):
            return None
        rest = model.normalize(model.clip(start) if self.limits else start)
        locked = with_still_locked(model, rest)
        limits, samples = self.limits, self.samples
        known = cached(
            locked, (Branching, limits, turns, samples, self.tasks[0].structure),
            lambda: Branching(locked, self.tasks, limits=limits, turns=turns, samples=samples),
        )  # fmt: skip
        if known.form is None and known.direct is None:
            return None
        moved = np.concatenate([np.arange(model.nq)[model.index(name)] for name in locked.joint_names])
        found = known(locked, SE3(goal), rest[moved], seed)
        out = np.tile(rest, (len(found), 1))
        out[:, moved] = found.q
        return out

    def _holds(self, model: Model, scratch: Scratch, q: Array) -> bool:
        """Whether all that is stated beside the limits of joints holds at q (nq,)."""
        if self._checked is None:
            return True
        if not (np.add(*slack_in(self._checked, q)) >= 0.0).all():
            return False
        limit = self._limits.collision
        return limit is None or scratch.scene is None or limit.holds_in(model, scratch.scene, q)

    def _turned(self, model: Model, scratch: Scratch, raw: Array, rest: Array) -> Array:
        """What whole turns within the limits make of the rows: all where everything holds, or of each the nearest."""
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
            part = part[part[:, DISTANCE].argsort(kind="stable")]
            if self._idle is not None:
                self._idle.lead_all(part[:, BRANCH : BRANCH + model.nq])
            feasible = [way for way in part if self._holds(model, scratch, way[BRANCH : BRANCH + model.nq])]
            parts += [way[None] for way in (feasible if self.turns else feasible[:1])]
        out = np.concatenate(parts)
        return out[out[:, DISTANCE].argsort(kind="stable")]


def _closed_up(buffer: Array, counts: Array, size: int) -> Array:
    """The rows in `buffer`, where those of `size` targets begin at WIDTH times the first: moved together, in place."""
    end = 0
    for first in range(0, len(counts), size):
        at, many = first * WIDTH, int(counts[first : first + size].sum())
        if end < at:
            buffer[end : end + many] = buffer[at : at + many]
        end += many
    buffer.resize((end, buffer.shape[1]), refcheck=False)  # gives back what is left, and moves nothing
    return buffer


def check(turns: bool, samples: int) -> None:
    """Raises TypeError or ValueError for settings that make no sense."""
    yes_or_no("turns", turns, ", whether whole turns of a solution are others")
    whole("samples", samples, 1)


def _turns(x: float, turn: float, lower: float, upper: float, rest: float) -> list[float]:
    """What whole turns within the limits make of x; only the nearest to `rest` where there is no limit."""
    first, last = (lower - _ROUNDING - x) / turn, (upper + _ROUNDING - x) / turn
    if isinf(first) or isinf(last):
        return [x + float(min(max(np.rint((rest - x) / turn), np.ceil(first)), np.floor(last))) * turn]
    return [min(max(x + k * turn, lower), upper) for k in range(ceil(first), floor(last) + 1)]
