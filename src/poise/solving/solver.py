"""solve and Solver: names to arrays, arrays to a kernel, its answer to a Solution."""

from collections.abc import Sequence
from threading import get_ident
from time import perf_counter_ns
from typing import Any, final

import numpy as np
import numpy.typing as npt

from poise.errors import ShapeError
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.lanes import WIDTH, workspace
from poise.kernels.methods import method_loop
from poise.kernels.solver import lm_solver
from poise.methods.registry import AnyMethod, method_of
from poise.model.model import Model
from poise.solving.arguments import WHOLE, Task, joined, one_a_task, refuse_goal, refuse_start, several, whole
from poise.solving.bound_method import Updates
from poise.solving.posture import Posture
from poise.solving.problem import pack
from poise.solving.solution import Solution, TaskError
from poise.spatial import SE3, Array
from poise.tasks.base import levels
from poise.tasks.coupling import JointCouplingTask
from poise.tasks.distance import DistanceTask
from poise.tasks.mass import CentreOfMassTask
from poise.tasks.pose import PoseTask, PositionTask
from poise.tasks.posture import PostureTask
from poise.tasks.surface import LineTask, PlaneTask

_ITERATIONS = 30
"""Iterations of a start, at most, without a method of the caller's choice."""
_CHUNK = 32
"""Iterations between two looks at the clock, when there is a `max_time`."""
_PLACED = PositionTask | PlaneTask | LineTask | DistanceTask | CentreOfMassTask
"""Tasks with a position alone."""
_KEPT = 64
"""Prepared solvers that a model keeps for `solve`."""


@final
class Solver:
    """A model and tasks, prepared: call it with targets and a start as often as you like.

    It holds its own workspace, so two threads need two solvers.  Joint limits are kept at every iterate, unless
    `limits` is False.  For a given `seed` the answer is the same in any process, on any thread.  See `solve`.

    Raises FrameNotFound for a frame that the model does not have, ValueError for settings that make no sense.
    """

    __slots__ = (
        "_blocks",
        "_floats",
        "_home",
        "_ints",
        "_near",
        "_own",
        "_pose_alone",
        "_posture",
        "_shape",
        "_size",
        "_traced",
        "_updates",
        "_wide",
        "_work",
        "frame_tasks",
        "limits",
        "max_iterations",
        "max_restarts",
        "max_time",
        "method",
        "model",
        "seed",
        "tasks",
        "velocities",
    )

    def __init__(
        self,
        model: Model,
        tasks: Task | Sequence[Task],
        *,
        method: str | AnyMethod | None = None,
        limits: bool = True,
        seed: int = 0,
        max_iterations: int | None = None,
        max_restarts: int = 200,
        max_time: float | None = None,
        trace: bool = False,
    ) -> None:
        self.model = model
        self.tasks: tuple[Task, ...] = several(tasks)
        self.frame_tasks = tuple(task for task in self.tasks if not isinstance(task, PostureTask))
        if method is None and len(levels(self.frame_tasks)) > 1:
            method = "priority"
        chosen = None if method is None else method_of(method)
        if max_iterations is None:
            max_iterations = _ITERATIONS if chosen is None else chosen.iterations
        if trace and chosen is None:
            raise ValueError("a trace is of one method's iterations; name one, such as method='lm'")
        whole("max_iterations", max_iterations, 1)
        whole("max_restarts", max_restarts, 0)
        whole("seed", seed, 0)
        if max_time is not None and not (isinstance(max_time, (int, float)) and max_time > 0.0):
            raise ValueError(f"max_time is {max_time!r}; it must be positive seconds, or None for no limit")
        self.seed, self.max_iterations, self.max_restarts = seed, max_iterations, max_restarts
        self.max_time = None if max_time is None or max_time > 1e9 else max_time
        packed = pack(model, self.frame_tasks)
        self.method, self.limits = chosen, limits
        self._ints, self._floats = packed.ints, packed.floats if limits else packed.without_limits()
        self.velocities = packed.velocities
        self._updates: Updates | None = None
        self._traced = np.zeros((0, 0))
        if chosen is None:
            self._work, self._wide = workspace(packed.rows), workspace(packed.rows, WIDTH)
            prepare(lm_solver.solve)
        else:
            self._updates = Updates(model, self.frame_tasks, packed, chosen, limits=limits)
            self._work, self._wide = self._updates.work, np.zeros((0, WIDTH))
            if trace:
                self._traced = self._updates.empty_trace(max_iterations + 1)
            prepare(method_loop.iterate)
        self._blocks = packed.blocks
        self._size = lm_solver.ANSWER + model.nq + packed.blocks + 1
        self._near = 0.1 * packed.blocks
        self._home = np.array(model.home)
        self._pose_alone = len(self.tasks) == 1 and isinstance(self.tasks[0], PoseTask)
        self._shape = (model.nq,)
        postures = [task for task in self.tasks if isinstance(task, PostureTask)]
        if len(postures) > 1:
            raise ValueError(f"tasks holds {len(postures)} PostureTasks; q can be near to one only")
        self._posture = Posture(model, postures[0], packed) if postures else None
        self._own: Array | None = None
        if all(task.target is not None for task in self.frame_tasks):
            self._own = joined([task.goal(task.target) for task in self.frame_tasks])

    def __call__(self, target: Any = None, q0: npt.ArrayLike | None = None, *, seed: int | None = None) -> Solution:
        """Solve for `target`, starting from `q0` (nq,), or from the model's home.

        `target` is the task's target, or a sequence of them for several tasks; None: the tasks' own.  A `q0` outside
        the limits is pulled in.  Raises ShapeError for a wrong shape, ValueError for an entry that is not finite.
        """
        began = perf_counter_ns()
        if self._pose_alone and type(target) is SE3 and target.array.ndim == 1:
            goal = target.array
        else:
            goal = self._goal_numbers(target)
        if q0 is None:
            start = self._home
        elif type(q0) is np.ndarray and q0.shape == self._shape:
            start = q0
        else:
            start = self._one_start(q0)
        if seed is None:
            seed = self.seed
        else:
            whole("seed", seed, 0)
        out = np.empty(self._size)
        timed_out = False
        if self.max_time is None and self._updates is None:
            try:
                code: int = lm_solver.solve(
                    self._ints, self._floats, goal, start, self._work, self._wide, out, seed,
                    self.max_iterations, self.max_restarts, self._near, WHOLE, lm_solver.FRESH,
                )  # fmt: skip
            except TypeError:  # the kernel takes one kind of array only, and q0 is of another
                code = self._run(goal, np.array(self._one_start(start)), out, seed, WHOLE, lm_solver.FRESH)
        elif self.max_time is None:
            code = self._run(goal, np.array(self._one_start(start)), out, seed, WHOLE, lm_solver.FRESH)
        else:
            end = began + int(self.max_time * 1e9)
            code, timed_out = self._run_until(end, goal, np.array(self._one_start(start)), out, seed)
        if code < 0:
            self._refuse(code, goal, start)
        if self._posture is not None:
            code = self._posture.settle(self._ints, self._floats, self._work, out, code)
        taken = perf_counter_ns() - began
        trace = self._updates.trace(self._traced) if self._updates is not None and len(self._traced) else None
        return Solution(self, out, goal, code, taken, timed_out, trace)

    def _one_start(self, q0: npt.ArrayLike) -> Array:
        start = self.model.check_q(q0, "q0")
        if start.shape != self._shape:
            raise ShapeError(f"q0 must have shape {self._shape}, one configuration, got {start.shape}")
        return start

    def _run(self, goal: Array, start: Array, out: Array, seed: int, chunk: int, phase: int) -> int:
        code: int
        if self._updates is None:
            code = lm_solver.solve(
                self._ints, self._floats, goal, start, self._work, self._wide, out, seed,
                self.max_iterations, self.max_restarts, self._near, chunk, phase,
            )  # fmt: skip
        else:
            u = self._updates
            code = method_loop.iterate(
                u.address, u.ints, u.floats, goal, start, self._work, out, self._traced, seed,
                self.max_iterations, self.max_restarts, chunk, phase,
            )  # fmt: skip
        return code

    def _run_until(self, end: int, goal: Array, start: Array, out: Array, seed: int) -> tuple[int, bool]:
        """Search in chunks until `end` (of perf_counter_ns); the code, and whether the time was spent."""
        code = self._run(goal, start, out, seed, _CHUNK, lm_solver.FRESH)
        while code == lm_solver.RUNNING:
            if perf_counter_ns() >= end:
                code = self._run(goal, start, out, seed, _CHUNK, lm_solver.FINISH)
                return code, code != lm_solver.SOLVED
            code = self._run(goal, start, out, seed, _CHUNK, lm_solver.RESUME)
        return code, False

    def _goal_numbers(self, target: Any) -> Array:
        """(7 tasks,) read-only numbers of the frame tasks' targets; a posture's target is taken on the way."""
        if target is None:
            if self._posture is not None:
                self._posture.aim(None)
            if self._own is None:
                raise ValueError("the tasks have no target; give one to the tasks or to the call")
            return self._own
        goals = []
        for task, (name, value) in zip(self.tasks, one_a_task(self.tasks, target), strict=True):
            if isinstance(task, PostureTask):
                if self._posture is not None:
                    self._posture.aim(value, name)
            else:
                goals.append(task.goal(value, name))
        return joined(goals)

    def _refuse(self, code: int, goal: Array, start: Array) -> None:
        """Say which number the kernel refused."""
        if code == lm_solver.BAD_START:
            self.model.check_q(start, "q0")
            refuse_start(start)
        refuse_goal(self.frame_tasks, goal)

    def linearise(self, q: npt.ArrayLike, target: Any = None) -> tuple[Array, Array]:
        """Residual rows and their Jacobian at `q` (nq,): `e` (m,) and `J` (m, nv), three rows a block, weights inside.

        Every row is `target - current` [m or rad], so that half of `e @ e` has the gradient `-J.T @ e`; with unequal
        weights of the rows of a rotation only to first order, near the target.
        """
        return self.rows_at(self._one_start(q), self._goal_numbers(target))

    def rows_at(self, q: Array, goal: Array) -> tuple[Array, Array]:
        """`linearise` at a configuration and goal numbers as a Solution holds them."""
        rows = 3 * self._blocks
        e, active = np.zeros(rows), np.zeros((rows, len(self.velocities)))
        start = np.array(q, dtype=np.float64)
        prepare(lm_solver.linearise)
        code = lm_solver.linearise(self._ints, self._floats, goal, start, self._work, e, active)
        if code < 0:
            self._refuse(code, goal, start)
        jacobian = np.zeros((rows, self.model.nv))
        jacobian[:, list(self.velocities)] = active
        return e, jacobian

    def task_errors(self, raw: Array) -> tuple[TaskError, ...]:
        """The error of each task from the kernel's answer."""
        left = iter(raw[lm_solver.ANSWER + self.model.nq :].tolist())
        out = []
        for task in self.tasks:
            if isinstance(task, PostureTask):
                out.append(TaskError("PostureTask", None, None, float(raw[-1])))
                continue
            position = next(left) if isinstance(task, PoseTask | _PLACED) else None
            rotation = None if isinstance(task, _PLACED) else next(left)
            if isinstance(task, JointCouplingTask):
                out.append(TaskError(task.label, None, None, rotation))
            else:
                out.append(TaskError(task.label, position, rotation))
        return tuple(out)


def solve(
    model: Model,
    tasks: Task | Sequence[Task],
    *,
    q0: npt.ArrayLike | None = None,
    method: str | AnyMethod | None = None,
    limits: bool = True,
    seed: int = 0,
    max_iterations: int | None = None,
    max_restarts: int = 200,
    max_time: float | None = None,
    trace: bool = False,
) -> Solution:
    """Bring `model` to its `tasks`: one task or a sequence, each with its target.

    Projected Levenberg-Marquardt from `q0` (nq,), or from the model's home, and from random starts drawn with `seed`:
    eight at once, then up to `max_restarts` more, of at most `max_iterations` each, for at most `max_time` seconds.  If
    none converges, the best of them descend further, to the closest configuration.

    With a `method`, a short name or an object such as `DampedLeastSquares(damping=0.1)`, its updates are iterated
    instead, from one start after the other, and `trace=True` keeps what each iteration of the last start did.  A start
    is given up after `max_iterations`, or when its error has all but stopped falling.  Tasks of different priorities
    are iterated with the method "priority" unless another that heeds them is named.

    Joint limits are kept at every iterate, unless `limits` is False.  Returns the best configuration found, whether or
    not it converged; its errors are recomputed by forward kinematics.

    The model keeps what it prepared for tasks of this structure, so the next call with other targets does not pay
    for it again.  Raises FrameNotFound, ShapeError, and ValueError for numbers that are not finite or for what the
    method cannot do.
    """
    given = several(tasks)
    chosen = method_of(method) if method is not None else None
    structures = (task.structure for task in given)
    key = (get_ident(), chosen, limits, max_iterations, max_restarts, max_time, trace, *structures)
    prepared = model.prepared
    solver = prepared.get(key)
    if solver is None:
        solver = Solver(
            model, tasks, method=chosen, limits=limits, max_iterations=max_iterations, max_restarts=max_restarts,
            max_time=max_time, trace=trace,
        )  # fmt: skip
        while len(prepared) >= _KEPT:
            prepared.pop(next(iter(prepared)), None)
        prepared[key] = solver
    targets = [model.home if type(t) is PostureTask and t.target is None else t.target for t in given]
    for task, target in zip(given, targets, strict=True):
        if target is None:
            raise ValueError(f"{type(task).__name__} has no target; give it one")
    return solver(targets if len(targets) > 1 else targets[0], q0, seed=seed)
