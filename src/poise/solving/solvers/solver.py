"""solve and Solver: names to arrays, arrays to a kernel, its answer to a Solution."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

from poise.common.array import Array, ArrayLike
from poise.common.errors import InvalidValue
from poise.model.model import Model
from poise.solving.answers.solution import Solution
from poise.solving.arguments.arguments import Tasks, one_start, several
from poise.solving.arguments.moving import JointsLike, moving
from poise.solving.methods.posture import cost_posture, with_start
from poise.solving.problem.rows import rows_at
from poise.solving.requirements.limits import LimitsLike
from poise.solving.search.prepared import prepared_search
from poise.solving.search.search import Search
from poise.solving.search.settings import Preference, SearchSettings
from poise.solving.solvers.batch import SolutionBatch, run_batch
from poise.tasks.base import Task

if TYPE_CHECKING:
    from poise.methods.base import Method


@final
class Solver:
    """A model and tasks, prepared: call it with targets and a start as often as you like, from any number of threads.

    Joint limits are kept at every iterate, unless `limits` is False.  For a given `seed` the answer is the same in any
    process, on any thread.  It can be pickled.  See `solve`.

    Raises FrameNotFound for a frame that the model does not have, ValueError for settings that make no sense.
    """

    __slots__ = ("_near", "_search", "model")

    def __init__(
        self,
        model: Model,
        tasks: Tasks,
        *,
        method: "str | Method | None" = None,
        limits: LimitsLike = True,
        use: JointsLike | None = None,
        still: JointsLike | None = None,
        joint_costs: Mapping[str, float] | None = None,
        select: Preference = "nearest",
        seed: int = 0,
        max_iterations: int | None = None,
        max_restarts: int | None = None,
        max_time: float | None = None,
        trace: bool = False,
    ) -> None:
        self.model, stated = moving(model, use, still, joint_costs), several(tasks)
        self._near = cost_posture(self.model, stated)
        self._search = Search(
            self.model, stated if self._near is None else (*stated, self._near), limits=limits,
            settings=SearchSettings(
                method=method, select=select, seed=seed, max_iterations=max_iterations, max_restarts=max_restarts,
                max_time=max_time, trace=trace,
            ),
        )  # fmt: skip

    def __call__(self, target: Any = None, q0: ArrayLike | None = None, *, seed: int | None = None) -> Solution:
        """Solve for `target`, starting from `q0` (nq,), or from the model's home.

        `target` is the task's target, bare or in a list, or a sequence of them for several tasks; None: the tasks' own,
        and in a sequence that of its task.  A `q0` outside the limits is pulled in, and `Solution.explain` tells of it.
        Raises ShapeError for a wrong shape, ValueError for an entry that is not finite or a task without a target.
        """
        if self._near is not None:
            target = with_start(self.model, self.tasks, target, q0, limits=self.limits)
        return self._search(self.model, target, q0, seed)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What it solves for, in the order of targets and errors; errors go on with what a TorqueLimit asks at rest,
        and with the loops of the model."""
        given = self._search.tasks.given
        return given if self._near is None else given[:-1]

    @property
    def method(self) -> "Method | None":
        """The method whose updates it iterates, if one was named or the tasks' priorities ask for one."""
        return self._search.method

    @property
    def limits(self) -> bool:
        """Whether joint limits hold."""
        return self._search.problem.limits

    @property
    def select(self) -> Preference:
        """Which solution it returns: the nearest to q0 of those found, or the first."""
        return self._search.settings.select

    @property
    def seed(self) -> int:
        """What the random starts depend on, where a call names no other."""
        return self._search.settings.seed

    @property
    def max_iterations(self) -> int:
        """Iterations of a start, at most; if none converges, the best of them descend as many further, 300 at least and
        20,000 at most."""
        return self._search.max_iterations

    @property
    def max_restarts(self) -> int:
        """Random starts, at most."""
        return self._search.max_restarts

    @property
    def max_time(self) -> float | None:
        """Seconds that a search takes, at most; None: no limit."""
        return self._search.settings.max_time

    @property
    def velocities(self) -> tuple[int, ...]:
        """The places in v of the velocities that move the tasks."""
        return self._search.problem.velocities

    def batch(
        self,
        targets: Any = None,
        q0: ArrayLike | None = None,
        *,
        best_effort: bool = True,
        seed: int | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> SolutionBatch:
        """Solve for many targets, from `q0` (n, nq) or from one start for all; see `solve_batch`."""
        if self._near is not None:
            targets = with_start(self.model, self.tasks, targets, q0, limits=self.limits, batch=True)
        return run_batch(
            self._search, self.model, self._search.tasks.given, targets, q0, seed, best_effort, threads, progress
        )

    def explain(self) -> str:
        """How it searches: a line for each of the stages, in the order in which they are walked."""
        from poise.solving.search.stages import stages_of

        return "\n".join(f"{k}. {stage}" for k, stage in enumerate(stages_of(self._search), 1))

    def export(self, file: "str | os.PathLike[str]") -> None:
        """Write it as a file that `libpoise` loads, in C, C++ or a browser, with all limits and shapes as they are now.

        The targets of its tasks, if they have any, are those that a call without a target is for.  `max_time` is not
        exported: a call has a deadline of its own there.  See the page "In C and C++" of the documentation.
        Raises ValueError for a solver that needs Python, and says what for.
        """
        if self._near is not None:
            raise InvalidValue(
                "not-exportable", "joint_costs need Python, which gives each call its start: export a Solver without"
            )
        from poise.solving.search.exporting import export_solver

        export_solver(self.model, self._search, file)

    def linearise(self, q: ArrayLike, target: Any = None) -> tuple[Array, Array]:
        """Residual rows and their Jacobian at `q` (nq,): `e` (m,) and `J` (m, nv), three rows a block, weights inside.

        Every row is `target - current` [m or rad], so that half of `e @ e` has the gradient `-J.T @ e`.
        """
        search = self._search
        if self._near is not None:
            target = with_start(self.model, self.tasks, target, q, limits=self.limits)
        goal = search.tasks.goal_numbers(target, self.model)
        e, jacobian = rows_at(self.model, search.tasks.all, search.bound, one_start(self.model, q), goal)
        return search.tasks.scales * e, search.tasks.scales[:, None] * jacobian


def solve(
    model: Model,
    tasks: Tasks,
    *,
    q0: ArrayLike | None = None,
    method: "str | Method | None" = None,
    limits: LimitsLike = True,
    use: JointsLike | None = None,
    still: JointsLike | None = None,
    joint_costs: Mapping[str, float] | None = None,
    select: Preference = "nearest",
    seed: int = 0,
    max_iterations: int | None = None,
    max_restarts: int | None = None,
    max_time: float | None = None,
    trace: bool = False,
) -> Solution:
    """Bring `model` to its `tasks`: one task or a sequence, each with its target.

    Projected Levenberg-Marquardt from `q0` (nq,), or from the model's home, and from up to `max_restarts` random starts
    drawn with `seed`, eight descents at once, of at most `max_iterations` each, for at most `max_time` seconds.  If
    none converges, the best of them descend further, to the closest configuration; that from `q0` is kept unless
    another's squared error is more than 1 % less.

    Where an arm of six joints has a closed form for a pose, its nearest solution is the answer and no start is made:
    then iterations, time, seed and `select` decide nothing.  Only with `max_restarts=0`, and at singular poses with a
    line of solutions, the search is made all the same.

    Of the solutions found, the nearest to `q0` is returned, by `Solution.distance`: when a start has converged, the
    descents from `q0` go on for as long as they may still end nearer.  With `select="first"` the first to converge is
    returned, sooner.  With `max_restarts=0` there are no starts but `q0`.  By default there are 200 random
    starts, and without a method of the caller's choice more, up to 20,000, the smaller the error that is left, unless
    it is at a minimum around which there is no solution, as an arm of five joints has whose file is rounded.

    With a `method`, a short name or an object such as `DampedLeastSquares(damping=0.1)`, its updates are iterated
    instead, from one start after the other, and `trace=True` keeps what each iteration of the last start did.  A start
    is given up after `max_iterations`, or when its error has all but stopped falling.  Tasks of different priorities
    are iterated with the method "priority" unless another that heeds them is named.

    Tasks with `required=False` are missed as little as the others allow, and the answer is not judged by them: without
    a method, a few starts descend on the sum of the squares of their errors among the configurations that fulfil the
    required tasks, `max_restarts` at most, 31 if it allows more.  The least of the minima where they come to rest is
    returned; of those that are alike the nearest to `q0`, and with `select="first"` the first of all.  It is a search,
    which proves nothing.  Where no start fulfils the required tasks, these are solved for alone.  Tasks none of which
    is required are a least-squares problem, and every q where it rests counts as solved.

    Joint limits are kept at every iterate, unless `limits` is False.  What a list of `limits` states beside them, such
    as LinearLimit and CollisionLimit, holds in the answer, as do ranges that are required: solutions are looked at,
    and where none holds, steps of the method "priority" lead from the best of them, or from `q0`, to one that does.
    Where none is found beside what gives way, such as a PostureTask, what is required is solved for alone, and such
    steps lead on from there.  Limits of speeds, accelerations and jerks, which a Tracker or a path takes from the same
    list, change nothing here; a TorqueLimit holds at rest, as a TorqueTask, whose error stands after those of the
    tasks.
    Returns the best configuration found, whether or not it converged; its errors are recomputed by forward kinematics.

    The loops of the model are closed: those that the tasks move are solved for with them, and their errors stand after
    those of the tasks; others that are open at `q0` are closed by their own joints.  An answer that misses its target
    is closed all the same, where Newton's steps from it lead to a closed one.

    `use` names the joints that may move, all by default, and `still` those that may not: joints, groups of the model or
    frames, which stand for all joints that carry them.  What stands still is where `q0` has it, beyond its limits
    too, which `Solution.explain` tells of, and is no unknown: a target that only it could reach is UNREACHABLE, with a
    certificate where there is one.  Six joints that have a closed form where the others stand find the nearest by it,
    which takes some milliseconds at each new place of these, and none with `select="first"`.
    `joint_costs` maps such names to what motion of the joints costs beside that of others, which cost 1: the answer is
    then the nearest to `q0` by `sum (cost_i (q_i - q0_i))^2` that is found, as with a PostureTask at `q0` of these
    weights, whose error stands last in `Solution.errors`.  All costs alike change nothing.

    The model keeps what it prepared for tasks of this structure, so the next call with other targets does not pay
    for it again.  Raises FrameNotFound, JointNotFound, ShapeError, and ValueError for numbers that are not finite or
    for what the method cannot do.
    """
    given = several(tasks)
    if use is not None or still is not None or joint_costs is not None:
        model = moving(model, use, still, joint_costs)
    costs = cost_posture(model, given)
    search = prepared_search(
        model, given if costs is None else (*given, costs), method=method, limits=limits, select=select,
        max_iterations=max_iterations, max_restarts=max_restarts, max_time=max_time, trace=trace,
    )  # fmt: skip
    for task in given:
        if not task.aimed:
            kind = type(task).__name__
            raise InvalidValue("no-target", f"{kind} has no target; give it one, as in {kind}(..., target=...)")
    target = given[0].target if len(given) == 1 else [task.target for task in given]
    if costs is not None:
        target = with_start(model, given, target, q0, limits=search.problem.limits)
    return search(model, target, q0, seed)
