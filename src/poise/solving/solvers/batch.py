"""Many problems of the same tasks: arrays in, arrays out, on all cores."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import whole, with_holes, yes_or_no
from poise.common.errors import InvalidType, ShapeError
from poise.kernels.machine.layout import ANSWER, CODE, COST, DISTANCE, ITERATIONS, RESTARTS, RUNNING, SOLVED, START
from poise.model.model import Model
from poise.model.units import ask_for_degrees_in
from poise.solving.answers.solution import Solution
from poise.solving.arguments.arguments import Tasks, joined, one_a_task, one_start, several
from poise.solving.arguments.moving import JointsLike, moving
from poise.solving.methods.posture import cost_posture, with_start
from poise.solving.problem.answer import Configurations
from poise.solving.requirements.limits import LimitsLike
from poise.solving.requirements.status import Status
from poise.solving.search.batching import solved
from poise.solving.search.lanes import in_lanes
from poise.solving.search.prepared import prepared_search
from poise.solving.search.search import Search
from poise.solving.search.settings import Preference
from poise.tasks.base import Task

if TYPE_CHECKING:
    from poise.methods.base import Method
    from poise.solving.gradients.batch_gradient import BatchGradient


@final
class SolutionBatch(Configurations, Sequence[Solution]):
    """The answers to many problems, in their order, as arrays; an index gives a `Solution`, a slice another batch."""

    __slots__ = ("_codes", "_late", "_raw", "_search", "_status", "goals", "model")
    model: Model
    """Whose joints these are."""
    goals: Array
    """(n, .) targets, as the kernels read them: 7 numbers for each task, then the nq of a PostureTask."""

    def __init__(
        self,
        model: Model,
        search: Search,
        raw: Array,
        goals: Array,
        codes: npt.NDArray[np.int8],
        late: npt.NDArray[np.bool_],
    ) -> None:
        self.model, self._search, self._raw = model, search, raw
        self.goals, self._codes, self._late = goals, codes, late
        self._status: npt.NDArray[np.object_] | None = None

    @property
    def q(self) -> Array:
        """(n, nq) configurations, each within its limits: the best that was found, or `q0` where nothing was."""
        return self._raw[:, ANSWER : ANSWER + self.model.nq]

    @property
    def success(self) -> npt.NDArray[np.bool_]:
        """(n,) whether every required task is within its tolerances."""
        return self._codes == SOLVED

    @property
    def status(self) -> npt.NDArray[np.object_]:
        """(n,) a `Status` each: how its solve ended; read-only."""
        if self._status is None:
            found = np.full(len(self), Status.CONVERGED, dtype=object)
            for i in np.flatnonzero(~self.success):
                found[i] = self[int(i)].status
            found.flags.writeable = False
            self._status = found
        return self._status

    @property
    def position_errors(self) -> Array:
        """(n, tasks) what is left of the position of each task at q [m]; NaN where it has none, or no target."""
        return self._errors("position")

    @property
    def rotation_errors(self) -> Array:
        """(n, tasks) what is left of the rotation of each task at q [rad]; NaN where it has none, or no target."""
        return self._errors("rotation")

    def _errors(self, name: str) -> Array:
        """(n, tasks) one field of the TaskErrors, from the norms of the blocks of rows."""
        unit = {"position": "m", "rotation": "rad"}[name]
        left = np.full((len(self), len(self._search.tasks.all)), np.nan)
        at = ANSWER + self.model.nq
        for k, task in enumerate(self._search.tasks.all):
            rows = [at + b for b, block in enumerate(task.blocks) if block.unit == unit]
            if rows:
                left[:, k] = np.sqrt((self._raw[:, rows] ** 2).sum(1))
            at += len(task.blocks)
        return left

    @property
    def cost(self) -> Array:
        """(n,) sum of the weighted squares of all errors, see `Solution.cost` [m^2 and rad^2]; NaN where nothing was
        found."""
        return self._raw[:, COST]

    @property
    def distance(self) -> Array:
        """(n,) how far q is from `q0`, see `Solution.distance` [rad and m]; NaN where nothing was found."""
        return self._raw[:, DISTANCE]

    @property
    def iterations(self) -> npt.NDArray[np.int64]:
        """(n,) iterations of the start that won."""
        return self._whole(ITERATIONS)

    @property
    def restarts(self) -> npt.NDArray[np.int64]:
        """(n,) starts that were begun, besides `q0`."""
        return self._whole(RESTARTS)

    @property
    def start(self) -> npt.NDArray[np.int64]:
        """(n,) the number of the start that led to q: 0 for `q0`; -1: a closed form, no start."""
        return self._whole(START)

    def _whole(self, column: int) -> npt.NDArray[np.int64]:
        return self._raw[:, column].astype(np.int64)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped it before all problems were solved."""
        return bool((self._codes == RUNNING).any())

    @property
    def counts(self) -> Counter[Status]:
        """How many problems ended with which status."""
        found = Counter(self.status[~self.success].tolist())
        converged = int(self.success.sum())
        return Counter({Status.CONVERGED: converged} if converged else {}) + found

    def gradient(self) -> "BatchGradient":
        """How each q moves with its targets; see `Solution.gradient`."""
        from poise.solving.gradients.batch_gradient import BatchGradient

        solved = self._raw[:, CODE] == SOLVED
        return BatchGradient(self.model, self._search, self.q, self.goals, solved)

    def explain(self) -> str:
        """A line for each status: how many problems ended so, and the rows of the first that did not converge."""
        lines = []
        status = self.status
        for one, many in self.counts.items():
            rows = np.flatnonzero(status == one)
            first = "" if one is Status.CONVERGED else f" (row{'s' * (many > 1)} {_some(rows)})"
            lines.append(f"{many:,} of {len(self):,}: {one.message}{first}.")
        return "\n".join(lines)

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, index: int) -> Solution: ...

    @overload
    def __getitem__(self, index: slice | npt.NDArray[Any]) -> "SolutionBatch": ...

    def __getitem__(self, index: Any) -> Any:
        if index is None or isinstance(index, (bool, np.bool_, tuple)):
            raise InvalidType(
                "wrong-type", f"a batch is indexed by a number, a slice or an array of them, got {index!r}"
            )
        if isinstance(index, (int, np.integer)):
            code = int(self._codes[index])
            late, others = bool(self._late[index]), "stored or random" if in_lanes(self._search) else "random"
            return Solution(self.model, self._search, self._raw[index], self.goals[index], code, 0, late, others=others)
        return SolutionBatch(
            self.model, self._search, self._raw[index], self.goals[index], self._codes[index], self._late[index]
        )

    def __iter__(self) -> Iterator[Solution]:
        return (self[i] for i in range(len(self)))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        counts = Counter(one.name for one in self.status)
        from poise.common import html

        return html.together(
            html.paragraph(f"{int(self.success.sum()):,} of {len(self):,} converged", bold=True),
            html.table(
                ("status", "problems"), [(name, f"{n:,}") for name, n in counts.most_common()], "how they ended"
            ),
        )

    def __repr__(self) -> str:
        return f"SolutionBatch({int(self.success.sum()):,} of {len(self):,} converged)"


def _some(rows: npt.NDArray[np.intp], most: int = 5) -> str:
    return ", ".join(map(str, rows[:most])) + (", ..." if len(rows) > most else "")


def solve_batch(
    model: Model,
    tasks: Tasks,
    targets: Any = None,
    *,
    q0: ArrayLike | None = None,
    method: "str | Method | None" = None,
    limits: LimitsLike = True,
    use: JointsLike | None = None,
    still: JointsLike | None = None,
    joint_costs: Mapping[str, float] | None = None,
    select: Preference = "nearest",
    best_effort: bool = True,
    seed: int = 0,
    threads: int | None = None,
    max_iterations: int | None = None,
    max_restarts: int | None = None,
    max_time: float | None = None,
    progress: bool | None = None,
) -> SolutionBatch:
    """Solve the same tasks for n targets, eight problems side by side in each of `threads`, or of all cores.

    `targets` has a row a problem: of a PoseTask an SE3 of a batch, (n, 7) numbers, place and quaternion wxyz, or
    (n, 4, 4) matrices; of an OrientationTask an SO3; of others an array, such as (n, 3) points.  For several tasks it
    is a list of them, one a task; None stands for the task's own, and one posture (nq,) may be for all.  `q0` is
    (n, nq), or (nq,) for all.

    Each problem begins at its `q0`, then at the stored configuration that is nearest to the target and to q0, then at
    random ones.  So an answer is near to q0, but not compared with others as `solve` does.  With `select="first"` a
    problem begins at a stored configuration at once, unless q0 is as near to its target; without `q0` always.  An arm
    of six joints that has a closed form gets the nearest of all its solutions.  What a few starts do not solve is
    searched for as by `solve`, which takes a thousand times as long; with `best_effort=False` it is given up after
    `max_restarts` starts instead, and its q is the best that they came to.  With a `method`, priorities, a PostureTask,
    a task that is not required or a `max_time`, the seconds for one problem, that is less than lanes may take, some
    hundredths, all problems are solved as by `solve`, on all cores.

    An answer depends on its problem, the seed, and nothing else: not on the other problems, their order, or `threads`;
    but where joints stand `still`, on whether they do so at one place in all starts, for only then is there a closed
    form of the others.  A row that is no target or no start has the status BAD_INPUT, and the others are solved.
    Ctrl-C returns what is done, with a RuntimeWarning; the rest is INTERRUPTED.  Whatever its status, a q is finite and
    within the limits: where nothing was found it is the start.  `progress` shows a bar on stderr; None: for long
    batches in a terminal, which elsewhere write a line every ten seconds to the logger "poise"; False: neither.  See
    `solve` for the other arguments.

    Raises FrameNotFound, JointNotFound, ShapeError, and ValueError for settings that make no sense.
    """
    model, given = moving(model, use, still, joint_costs), several(tasks)
    costs = cost_posture(model, given)
    if costs is not None:
        targets = with_start(model, given, targets, q0, limits=limits is not False, batch=True)
        given = (*given, costs)
    search = prepared_search(
        model, given, method=method, limits=limits, select=select, max_iterations=max_iterations,
        max_restarts=max_restarts, max_time=max_time,
    )  # fmt: skip
    # The search is kept for tasks of this structure, and may have been made for others with targets of their own.
    return run_batch(search, model, given, targets, q0, seed, best_effort, threads, progress)


def run_batch(
    search: Search,
    model: Model,
    tasks: Sequence[Task],
    targets: Any,
    q0: ArrayLike | None,
    seed: int | None,
    best_effort: bool,
    threads: int | None,
    progress: bool | None,
) -> SolutionBatch:
    """Solve for many targets of these tasks with a search that was prepared for such."""
    yes_or_no("best_effort", best_effort, ", whether what is not solved comes close")
    if seed is None:
        seed = search.settings.seed
    else:
        whole("seed", seed, 0)
    goals, starts = problems_of(model, tasks, targets, q0, search.tasks.beside)
    if q0 is not None and len(starts) and search.problem.limits:
        ask_for_degrees_in(model, starts[0], "q0")
    raw, codes, late = solved(
        search, model, goals, starts, threads=threads, progress=progress, seed=seed, given=q0 is not None,
        best_effort=best_effort,
    )  # fmt: skip
    return SolutionBatch(model, search, raw, goals, codes, late)


def problems_of(
    model: Model,
    tasks: Sequence[Task],
    targets: Any,
    q0: ArrayLike | None,
    beside: Sequence[Task] = (),
    name: str = "targets",
) -> tuple[Array, Array]:
    """(n, .) goal numbers and (n, nq) starts; rows may hold any numbers.  Those `beside` the tasks come after them, and
    take no target.

    Raises ShapeError, and ValueError for one start for all that is none.
    """
    given = one_a_task(tasks, targets, name, rows_on=model)
    parts = [task.goals_on(model, value, of_task) for task, (of_task, value) in zip(tasks, given, strict=True)]
    sizes = {len(part) for part in parts if part.ndim > 1}
    if len(sizes) > 1:
        found = [f"{of_task} has {len(part)}" for part, (of_task, _) in zip(parts, given, strict=True) if part.ndim > 1]
        raise ShapeError(f"all {name} must have as many rows; {', '.join(found)}")
    starts = _starts(model, q0)
    n = sizes.pop() if sizes else len(starts) if starts.ndim == 2 else 1
    if starts.ndim == 2 and len(starts) != n:
        raise ShapeError(f"q0 has {len(starts)} rows for {n} {name}; give one start a target, or one for all")
    parts += [task.goal(None) for task in beside]
    return joined((*tasks, *beside), [_rows_of(part, n) for part in parts]), _rows_of(starts, n)


def _rows_of(numbers: Array, n: int) -> Array:
    """(n, .) of one row for all, or of as many."""
    if n == 1:
        return numbers.reshape(1, -1)  # as below, in a tenth of the time
    return numbers if numbers.ndim == 2 and len(numbers) == n else np.broadcast_to(numbers, (n, numbers.shape[-1]))


def _starts(model: Model, q0: ArrayLike | None) -> Array:
    """(nq,) one start for all or (n, nq); raises ShapeError for other shapes.  Rows may hold any numbers."""
    if q0 is None:
        return np.array(model.home)
    starts = with_holes("q0", q0, f"numbers of shape ({model.nq},), one start for all, or (n, {model.nq})")
    if starts.ndim not in (1, 2) or starts.shape[-1] != model.nq:
        raise ShapeError(f"q0 must have shape ({model.nq},), one start for all, or (n, {model.nq}), got {starts.shape}")
    return one_start(model, starts) if starts.ndim == 1 else starts
