"""A batch that is being solved: pieces for threads, lanes for what they can solve, single searches for the rest."""

import warnings
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.checks import whole
from poise.common.progress import shown_or_logged
from poise.kernels.machine.layout import (
    ANSWER,
    BAD_GOAL,
    BAD_START,
    BLOCKED,
    CODE,
    DISTANCE,
    GIVEN_UP,
    ITERATIONS,
    RESTARTS,
    RUNNING,
    SOLVED,
    START,
    STATIONARY,
    STRAYED,
    UNSOLVED,
)
from poise.model.model import Model
from poise.solving.arguments.arguments import cores, left_at
from poise.solving.arguments.work_queue import WorkQueue
from poise.solving.problem.workspace import Scratch
from poise.solving.search.lanes import in_lanes, index_of, solve_many
from poise.solving.search.search import Search
from poise.solving.search.without_ranges import goals_without, with_ranges

_NONE: Final = np.zeros(0, dtype=np.intp)
_UNDONE: Final = np.array([RUNNING], dtype=np.int8)
_CHUNK: Final = 1024
"""Problems that a thread takes at a time."""
_WHOLE: Final = [CODE, ITERATIONS, RESTARTS, START, STATIONARY]
"""Columns of an answer that hold whole numbers, and so 0 where nothing was solved."""
_SLOW_CHUNK: Final = 64
"""The same where many of them may be searched for one by one, so that all threads have some."""
_MANY: Final = 500_000
"""So many problems take long enough to tell of it."""
_SLOW_MANY: Final = 200
"""The same where each may take milliseconds."""


def _nothing_of(search: Search) -> Array:
    """(1, rows of `out`) an answer of which nothing was found; the search keeps it."""
    derived = search.bound.derived
    if _nothing_of not in derived:
        out = search.problem.rows("out")
        nothing = np.full((1, out.stop - out.start), np.nan)
        nothing[:, _WHOLE] = 0.0
        derived[_nothing_of] = nothing
    found: Array = derived[_nothing_of]
    return found


def _starts_or_home(model: Model, starts: Array, *, limits: bool) -> Array:
    """(n, nq) the starts (n, nq) within the limits, where they hold, and home in place of those that are none."""
    valid = model.normalize(np.where(model.sound(starts)[:, None], starts, model.home))
    return model.clip(valid) if limits else valid


def solved(
    search: Search,
    model: Model,
    goals: Array,
    starts: Array,
    *,
    threads: int | None,
    progress: bool | None,
    **settings: Any,
) -> tuple[Array, npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
    """(n, rows of `out`) answers, (n,) their codes, and (n,) whether their time was spent; `settings` as of `Batch`.

    Where there are ranges, and what else there is can be solved side by side, that is solved first, and what the ranges
    are in the way of once more.  Where it cannot, each problem is a call of its own, with the stages that a call has.
    What stands still at one place in all starts is locked there, where the others have a closed form then.
    """
    sound = model.sound(starts) if model.still else np.zeros(len(starts), dtype=np.bool_)
    valid = starts[sound]  # what is no start says nothing of the others
    one = len(valid) and (valid[:, model._standing] == valid[0, model._standing]).all()
    locked = search.locked(model, valid[0]) if one else None
    if locked is not None:
        own, part = locked
        begun = np.where(sound[:, None], starts[:, part.moved], np.nan)
        raw, codes, late = solved(own, part.model, goals, begun, threads=threads, progress=progress, **settings)
        return part.whole(raw), codes, late
    if search.without_ranges is None or not in_lanes(search.without_ranges) or not len(goals):
        return Batch(search, model, goals, starts, **settings).run(threads, progress)
    others = goals_without(search.problem, goals)
    raw, codes, late = Batch(search.without_ranges, model, others, starts, **settings).run(threads, progress)
    raw, inside = with_ranges(model, search.tasks.of_frames, goals, raw)
    rest = np.flatnonzero(~inside | (codes != SOLVED))
    if (codes == RUNNING).any():  # it was stopped
        codes[rest] = RUNNING
    elif len(rest):
        again = Batch(search, model, goals[rest], starts[rest], **settings)
        raw[rest], codes[rest], late[rest] = again.run(threads, progress)
    return raw, codes, late


@final
class Batch:
    """The problems of a batch, handed out to threads in pieces."""

    def __init__(
        self,
        search: Search,
        model: Model,
        goals: Array,
        starts: Array,
        seed: int,
        *,
        given: bool,
        best_effort: bool,
    ) -> None:
        self.search, self.model, self.goals, self.starts = search, model, goals, starts
        self.seed, self.given, self.best_effort = seed, given, best_effort
        n = len(goals)
        self.raw = _nothing_of(search).repeat(n, axis=0)
        self.codes = _UNDONE.repeat(n)
        self.late = np.zeros(n, dtype=np.bool_)
        self.done = 0
        self.lanes = in_lanes(search)
        self.index = index_of(search, model) if self.lanes and n else 0
        self._fast = self.lanes and (search.limits.collision is None or not best_effort)
        self._queue = WorkQueue(n, _CHUNK if self._fast else _SLOW_CHUNK)

    def run(
        self, threads: int | None, progress: bool | None
    ) -> tuple[Array, npt.NDArray[np.int8], npt.NDArray[np.bool_]]:
        """Solve all problems, or those until Ctrl-C; what `solved` says of them."""
        n, pieces = len(self.goals), len(self._queue)
        if threads is not None:
            whole("threads", threads, 1)
        threads = min(threads or cores(), pieces) if pieces > 1 else 1
        try:
            if progress or (progress is None and n >= (_MANY if self._fast else _SLOW_MANY)):
                with shown_or_logged("solving", n, progress) as report:
                    self._queue.share(self._work, threads, lambda: report(self.done))
                    report(self.done)
            else:
                self._queue.share(self._work, threads)
        except KeyboardInterrupt:
            rest = int((self.codes == RUNNING).sum())
            if not rest:
                raise  # nothing is left to stop
            words = f"{n - rest:,} of {n:,} problems are done, the status of the others is INTERRUPTED"
            warnings.warn(f"stopped by Ctrl-C: {words}", RuntimeWarning, stacklevel=5)
        self._fill()
        return self.raw, self.codes, self.late

    def _fill(self) -> None:
        """Let each q of which nothing was found be its start, or the model's home where that is none.

        Its errors are those there, but where the target is bad.  Of what Ctrl-C broke off nothing was found.
        """
        if not np.count_nonzero(self.codes):  # SOLVED is 0
            return
        self.raw[self.codes == RUNNING] = _nothing_of(self.search)
        q, left = np.split(self.raw[:, ANSWER:], [self.model.nq], axis=1)
        rows = np.flatnonzero(self.codes != SOLVED)
        rows = rows[~np.isfinite(q[rows]).all(axis=1)]
        if not len(rows):
            return
        q[rows] = _starts_or_home(self.model, self.starts[rows], limits=self.search.problem.limits)
        rows = rows[self.codes[rows] != BAD_GOAL]
        left[rows] = left_at(self.search.tasks.all, self.model, self.goals[rows], q[rows])

    def _work(self) -> None:
        """Solve one piece after the other, until there are no more or another thread has failed."""
        with self.search.bound.scratch(self.model) as scratch:
            for chunk in self._queue:
                left = self._solve_in_lanes(scratch, chunk) if self.lanes else np.array(chunk)
                for k in left:
                    if self._queue.stopped:
                        return
                    self._solve(scratch, int(k))
                self.done += len(chunk)

    def _solve_in_lanes(self, scratch: Scratch, chunk: range) -> npt.NDArray[np.intp]:
        """Solve a piece, eight problems at a time; those that are left."""
        some = slice(chunk.start, chunk.stop)
        raw = self.raw[some]
        solve_many(
            self.search, scratch, self.goals[some], self.starts[some], raw, self.index, self.seed,
            given=self.given, best_effort=self.best_effort,
        )  # fmt: skip
        if not self.search.has_passive_loops and not np.count_nonzero(raw[:, CODE]):
            self.codes[some] = SOLVED
            return _NONE
        codes = raw[:, CODE].astype(np.int8)
        strayed = codes == STRAYED
        codes[strayed] = SOLVED
        for k, row in enumerate(raw if self.search.has_passive_loops else ()):
            codes[k] = self.search.close_passive_loops(
                self.model, scratch, row[ANSWER : ANSWER + self.model.nq], codes[k]
            )
        strayed &= codes == SOLVED
        codes[strayed] = STRAYED
        raw[:, CODE] = np.where((codes == SOLVED) | strayed, codes, UNSOLVED)
        codes[strayed] = RUNNING
        if self.best_effort:
            codes[(codes == UNSOLVED) | (codes == BLOCKED)] = RUNNING
        codes[codes == UNSOLVED] = GIVEN_UP
        self.codes[some] = codes
        left: npt.NDArray[np.intp] = np.flatnonzero(codes == RUNNING) + chunk.start
        return left

    def _solve(self, scratch: Scratch, k: int) -> None:
        """Solve one problem as a call of a Solver does; of one that strayed in the lanes the nearer answer is kept."""
        code, self.late[k] = self.search.solve_one(self.model, scratch, self.goals[k], self.starts[k], seed=self.seed)
        nearer = code == SOLVED and scratch.out[DISTANCE] < self.raw[k, DISTANCE]
        if self.raw[k, CODE] == STRAYED and not nearer:
            self.raw[k, CODE], code, self.late[k] = SOLVED, SOLVED, False
        elif code not in (BAD_GOAL, BAD_START):
            self.raw[k] = scratch.out
        self.codes[k] = code
