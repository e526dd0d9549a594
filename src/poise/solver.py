"""solve and Solver: names to arrays, arrays to a kernel, its answer to a Solution."""

from collections.abc import Sequence
from threading import get_ident
from time import perf_counter_ns
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from poise.errors import ShapeError
from poise.kernels import drive
from poise.kernels._jit import prepare
from poise.kernels.lanes import WIDTH
from poise.model import Model
from poise.nullspace import Posture
from poise.problem import pack
from poise.solution import Solution, TaskError
from poise.spatial import SE3, Array
from poise.tasks.aim import AxisTask, LookAtTask
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask
from poise.tasks.posture import PostureTask

Task: TypeAlias = PoseTask | PositionTask | OrientationTask | AxisTask | LookAtTask | PostureTask

_WHOLE = 2**62
"""A number of iterations that is never reached, and the first seed that the kernel's arithmetic has no room for."""
_CHUNK = 32
"""Iterations between two looks at the clock, when there is a `max_time`."""
_KEPT = 64
"""Prepared solvers that a model keeps for `solve`."""


@final
class Solver:
    """A model and tasks, prepared: call it with targets and a start as often as you like.

    It holds its own workspace, so two threads need two solvers.  Joint limits are kept at every iterate.  For a given
    `seed` the answer is the same in any process, on any thread.

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
        "_wide",
        "_work",
        "frame_tasks",
        "max_iterations",
        "max_restarts",
        "max_time",
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
        seed: int = 0,
        max_iterations: int = 30,
        max_restarts: int = 200,
        max_time: float | None = None,
    ) -> None:
        self.model = model
        self.tasks: tuple[Task, ...] = _several(tasks)
        _whole("max_iterations", max_iterations, 1)
        _whole("max_restarts", max_restarts, 0)
        _whole("seed", seed, 0)
        if max_time is not None and not (isinstance(max_time, (int, float)) and max_time > 0.0):
            raise ValueError(f"max_time is {max_time!r}; it must be positive seconds, or None for no limit")
        self.seed, self.max_iterations, self.max_restarts = seed, max_iterations, max_restarts
        self.max_time = None if max_time is None or max_time > 1e9 else max_time
        self.frame_tasks = tuple(task for task in self.tasks if not isinstance(task, PostureTask))
        packed = pack(model, self.frame_tasks)
        self._ints, self._floats = packed.ints, packed.floats
        self.velocities = packed.velocities
        self._work, self._wide = np.zeros(packed.rows), np.zeros((packed.rows, WIDTH))
        self._blocks = packed.blocks
        self._size = drive.ANSWER + model.nq + packed.blocks + 1
        self._near = 0.1 * packed.blocks
        self._home = np.array(model.home)
        self._pose_alone = len(self.tasks) == 1 and isinstance(self.tasks[0], PoseTask)
        self._shape = (model.nq,)
        postures = [task for task in self.tasks if isinstance(task, PostureTask)]
        if len(postures) > 1:
            raise ValueError(f"tasks holds {len(postures)} PostureTasks; q can be near to one only")
        self._posture = Posture(model, postures[0], packed) if postures else None
        prepare(drive.solve)
        self._own: Array | None = None
        if all(task.target is not None for task in self.frame_tasks):
            self._own = self._joined([task.goal(task.target) for task in self.frame_tasks])

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
            _whole("seed", seed, 0)
        out = np.empty(self._size)
        timed_out = False
        if self.max_time is None:
            try:
                code: int = drive.solve(
                    self._ints, self._floats, goal, start, self._work, self._wide, out, seed,
                    self.max_iterations, self.max_restarts, self._near, _WHOLE, drive.FRESH,
                )  # fmt: skip
            except TypeError:  # the kernel takes one kind of array only, and q0 is of another
                code = self._run(goal, np.array(self._one_start(start)), out, seed, _WHOLE, drive.FRESH)
        else:
            end = began + int(self.max_time * 1e9)
            code, timed_out = self._run_until(end, goal, np.array(self._one_start(start)), out, seed)
        if code < 0:
            self._refuse(code, goal, start)
        if self._posture is not None:
            code = self._posture.settle(self._ints, self._floats, self._work, out, code)
        return Solution(self, out, goal, code, perf_counter_ns() - began, timed_out)

    def _one_start(self, q0: npt.ArrayLike) -> Array:
        start = self.model.check_q(q0, "q0")
        if start.shape != self._shape:
            raise ShapeError(f"q0 must have shape {self._shape}, one configuration, got {start.shape}")
        return start

    def _run(self, goal: Array, start: Array, out: Array, seed: int, chunk: int, phase: int) -> int:
        code: int = drive.solve(
            self._ints, self._floats, goal, start, self._work, self._wide, out, seed,
            self.max_iterations, self.max_restarts, self._near, chunk, phase,
        )  # fmt: skip
        return code

    def _run_until(self, end: int, goal: Array, start: Array, out: Array, seed: int) -> tuple[int, bool]:
        """Search in chunks until `end` (of perf_counter_ns); the code, and whether the time was spent."""
        code = self._run(goal, start, out, seed, _CHUNK, drive.FRESH)
        while code == drive.RUNNING:
            if perf_counter_ns() >= end:
                code = self._run(goal, start, out, seed, _CHUNK, drive.FINISH)
                return code, code != drive.SOLVED
            code = self._run(goal, start, out, seed, _CHUNK, drive.RESUME)
        return code, False

    def _goal_numbers(self, target: Any) -> Array:
        """(7 tasks,) read-only numbers of the frame tasks' targets; a posture's target is taken on the way."""
        if target is None:
            if self._posture is not None:
                self._posture.aim(None)
            if self._own is None:
                raise ValueError("the tasks have no target; give one to the tasks or to the call")
            return self._own
        tasks = self.tasks
        targets = [target] if len(tasks) == 1 else target
        if not isinstance(targets, (Sequence, np.ndarray)) or len(targets) != len(tasks):
            count = "one pose" if isinstance(targets, SE3) else f"{target!r}"
            if isinstance(targets, (Sequence, np.ndarray)):
                count = f"{len(targets)}"
            raise ShapeError(f"target must be {len(tasks)} targets, one a task in their order, got {count}")
        goals = []
        for i, (task, value) in enumerate(zip(tasks, targets, strict=True)):
            name = f"target[{i}]" if len(tasks) > 1 else "target"
            if isinstance(task, PostureTask):
                if self._posture is not None:
                    self._posture.aim(value, name)
            else:
                goals.append(task.goal(value, name))
        return self._joined(goals)

    @staticmethod
    def _joined(goals: list[Array]) -> Array:
        joined = np.concatenate(goals) if goals else np.zeros(0)
        joined.flags.writeable = False
        return joined

    def _refuse(self, code: int, goal: Array, start: Array) -> None:
        """Say which number the kernel refused."""
        if code == drive.BAD_START:
            self.model.check_q(start, "q0")
            for i in np.flatnonzero(np.abs(start) >= 1e300):
                raise ValueError(f"q0[{i}] is {start[i]}, too large to compute with")
            raise ValueError("q0 holds a zero quaternion, which is no rotation; the identity is wxyz = 1 0 0 0")
        name = "target"
        for k, task in enumerate(self.frame_tasks):
            numbers = goal[7 * k : 7 * k + 7]
            if len(self.frame_tasks) > 1:
                name = f"target[{k}]"
            for i in np.flatnonzero(~np.isfinite(numbers)):
                raise ValueError(f"{name}[{i}] of {type(task).__name__}({task.frame!r}) is {numbers[i]}")
            if isinstance(task, AxisTask) and np.linalg.norm(numbers[:3]) < 1e-9:
                raise ValueError(f"{name} of AxisTask({task.frame!r}) is a zero direction")
        raise ValueError(f"{name} is no target: a quaternion is zero or a number is too large")

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
        prepare(drive.linearise)
        code = drive.linearise(self._ints, self._floats, goal, start, self._work, e, active)
        if code < 0:
            self._refuse(code, goal, start)
        jacobian = np.zeros((rows, self.model.nv))
        jacobian[:, list(self.velocities)] = active
        return e, jacobian

    def task_errors(self, raw: Array) -> tuple[TaskError, ...]:
        """The error of each task from the kernel's answer."""
        left = iter(raw[drive.ANSWER + self.model.nq :].tolist())
        out = []
        for task in self.tasks:
            if isinstance(task, PostureTask):
                out.append(TaskError("PostureTask", None, None, float(raw[-1])))
                continue
            position = next(left) if isinstance(task, (PoseTask, PositionTask)) else None
            rotation = None if isinstance(task, PositionTask) else next(left)
            out.append(TaskError(f"{type(task).__name__}({task.frame!r})", position, rotation))
        return tuple(out)


def _several(tasks: Task | Sequence[Task]) -> tuple[Task, ...]:
    """The tasks, one or more; raises TypeError for what is none, ValueError if there are none."""
    several = tuple(tasks) if isinstance(tasks, Sequence) and not isinstance(tasks, str) else (tasks,)
    if not several:
        raise ValueError("tasks is empty; state at least one")
    for i, task in enumerate(several):
        if not isinstance(task, Task):
            place = f"tasks[{i}]" if len(several) > 1 else "tasks"
            raise TypeError(f"{place} must be a task, such as PoseTask(frame, target), got {task!r}")
    return several


def _whole(name: str, value: int, least: int) -> None:
    """Raises ValueError unless `value` is a whole number from `least` on that the kernel has room for."""
    if not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} is {value!r}; it must be a whole number")
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}")
    if value >= _WHOLE:
        raise ValueError(f"{name} is {value}; it must be less than 2**62")


def solve(
    model: Model,
    tasks: Task | Sequence[Task],
    *,
    q0: npt.ArrayLike | None = None,
    seed: int = 0,
    max_iterations: int = 30,
    max_restarts: int = 200,
    max_time: float | None = None,
) -> Solution:
    """Bring `model` to its `tasks`: one task or a sequence, each with its target.

    Projected Levenberg-Marquardt from `q0` (nq,), or from the model's home, and from random starts drawn with `seed`:
    eight at once, then up to `max_restarts` more, of at most `max_iterations` each, for at most `max_time` seconds.  If
    none converges, the best of them descend further, to the closest configuration.
    Joint limits are kept at every iterate.  Returns the best configuration found, whether or not it converged; its
    errors are recomputed by forward kinematics.

    The model keeps what it prepared for tasks of this structure, so the next call with other targets does not pay
    for it again.  Raises FrameNotFound, ShapeError, and ValueError for numbers that are not finite.
    """
    several = _several(tasks)
    key = (get_ident(), max_iterations, max_restarts, max_time, *(task.structure for task in several))
    prepared = model.prepared
    solver = prepared.get(key)
    if solver is None:
        solver = Solver(model, tasks, max_iterations=max_iterations, max_restarts=max_restarts, max_time=max_time)
        while len(prepared) >= _KEPT:
            prepared.pop(next(iter(prepared)), None)
        prepared[key] = solver
    targets = [model.home if type(t) is PostureTask and t.target is None else t.target for t in several]
    for task, target in zip(several, targets, strict=True):
        if target is None:
            raise ValueError(f"{type(task).__name__} has no target; give it one")
    return solver(targets if len(targets) > 1 else targets[0], q0, seed=seed)
