"""Tracker: one update a time step, towards targets that move."""

from collections.abc import Sequence
from functools import partial
from typing import Any, final

import numpy as np
import numpy.typing as npt

from poise.errors import ShapeError
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.lanes import WIDTH
from poise.kernels.methods import method_loop
from poise.kernels.methods.memory import FAILED, MEMORY
from poise.kernels.solver import lm_solver
from poise.methods.base import positive
from poise.methods.registry import AnyMethod, method_of
from poise.model.model import Model
from poise.solving.arguments import Task, one_a_task, refuse_goal, refuse_start, several, whole
from poise.solving.bound_method import Updates
from poise.solving.inequalities import Limit, VelocityLimit
from poise.solving.problem import pack
from poise.spatial import SE3, Array
from poise.tasks.base import levels
from poise.tasks.pose import PositionTask
from poise.tasks.posture import PostureTask


@final
class Tracker:
    """Follow moving targets: each `step` takes one update of a method, or `updates` of them.

    Joint limits hold at every step, unless `limits` is False; a list of limits, such as `LinearLimit`, adds to them.
    With the time step `dt` [s] no joint goes faster than the model's velocity limits: the whole update is shortened.
    The method is "dls" unless another is named, and "priority", which bounds each joint's speed by itself, where the
    tasks have different priorities.  A tracker belongs to one thread.

    Raises FrameNotFound for a frame that the model does not have, ValueError for settings that make no sense or for
    what the method cannot do.
    """

    __slots__ = (
        "_count",
        "_goal",
        "_points",
        "_points_shape",
        "_prepared",
        "_q",
        "_shape",
        "_step",
        "_targets",
        "method",
        "model",
        "tasks",
    )

    def __init__(
        self,
        model: Model,
        tasks: Task | Sequence[Task],
        method: str | AnyMethod | None = None,
        *,
        dt: float | None = None,
        updates: int = 1,
        limits: bool | Sequence[Limit] = True,
    ) -> None:
        whole("updates", updates, 1)
        if dt is not None:
            positive("dt", dt)
        frame_tasks = []
        for task in several(tasks):
            if isinstance(task, PostureTask):
                raise ValueError(
                    "a Tracker takes no PostureTask: give the method null_space=RestPosture(q=...) instead, as in "
                    "DampedLeastSquares(null_space=RestPosture())"
                )
            frame_tasks.append(task)
        self.tasks = tuple(frame_tasks)
        if method is None:
            method = "priority" if len(levels(self.tasks)) > 1 else "dls"
        self.model, self.method = model, method_of(method)
        self._prepared = Updates(
            model,
            self.tasks,
            pack(model, self.tasks),
            self.method,
            limits=limits is not False,
            also=[
                *(() if isinstance(limits, bool) else limits),
                *(() if dt is None else (VelocityLimit(dt / updates),)),
            ],
        )
        self._count, self._shape = updates, (model.nq,)
        self._q, self._goal = self._prepared.answer, self._prepared.goal
        self._targets = self._goal.reshape(-1, 7)
        self._targets[:, 3] = 1.0
        for k, task in enumerate(self.tasks):
            self._targets[k] = task.at(model, model.home) if task.target is None else task.goal(task.target)
        self._points = self._targets[:, :3]
        self._points_shape = self._points.shape if all(isinstance(t, PositionTask) for t in self.tasks) else None
        prepare(method_loop.step)
        u = self._prepared
        self._step = partial(method_loop.step, u.address, u.ints, u.floats, u.work, updates)

    @property
    def targets(self) -> Array:
        """(tasks, 7) place and quaternion wxyz of each target, which the next step reads; write into it at will."""
        return self._targets

    @targets.setter
    def targets(self, values: npt.ArrayLike) -> None:
        self._targets[:] = values

    def step(self, q: npt.ArrayLike, target: Any = None) -> Array:
        """(nq,) where one step from `q` (nq,) towards `target` leads; None: towards `targets`, as they are.

        The array is the tracker's own and is overwritten by the next step.  A `q` outside the limits is pulled in.
        `target` is one target a task, as `solve` takes them, or (tasks, 3) points if all are positions.
        Raises ShapeError for a wrong shape, ValueError for an entry that is not finite.
        """
        if target is not None:
            self.aim(target)
        if type(q) is not np.ndarray or q.shape != self._shape:
            q = self._start(q)
        try:
            code: int = self._step(q)
        except TypeError:  # the kernel takes one kind of array only
            q = np.array(self._start(q))
            code = self._step(q)
        if code < 0:
            self._refuse(code, q)
        return self._q

    def aim(self, target: Any) -> None:
        """Take new targets for the next steps; see `step`."""
        if type(target) is np.ndarray and target.shape == self._points_shape:
            self._points[:] = target
            return
        for k, (name, value) in enumerate(one_a_task(self.tasks, target)):
            self._targets[k] = self.tasks[k].goal(value, name)

    def reset(self) -> None:
        """Forget the past: the next step is a first one, with errors unclamped where the clamp is adaptive."""
        u = self._prepared
        u.work[u.memory(0) : u.memory(MEMORY)] = 0.0

    @property
    def failed(self) -> bool:
        """Whether the last step, or one of the last rollout, was no finite number, as a singular pose can make it.

        q then stayed where it was.
        """
        return bool(self._prepared.work[self._prepared.memory(FAILED)] > 0.5)

    def rollout(self, q: npt.ArrayLike, targets: npt.ArrayLike | SE3) -> Array:
        """(steps, nq) the way from `q` (nq,) with one step towards each of `targets` in turn, in one compiled loop.

        `targets` is (steps, tasks, 3) if all tasks are positions, else (steps, tasks, 7), place and wxyz.  With `q`
        (characters, nq) and as many characters along a first axis of `targets`, eight characters at a time are led
        at once, and the result is (characters, steps, nq).  The tracker's own past plays no part and is left fresh.
        Raises ShapeError for a wrong shape, ValueError for an entry that is not finite.
        """
        start = self.model.check_q(q, "q")
        goals = targets.array[..., None, :] if isinstance(targets, SE3) else np.asarray(targets, dtype=np.float64)
        single = start.ndim == 1
        start = np.atleast_2d(start)
        if single:
            goals = goals[None]
        k, width = len(self.tasks), 3 if self._points_shape is not None and goals.shape[-1:] == (3,) else 7
        if goals.ndim != 4 or goals.shape[0] != len(start) or goals.shape[2:] != (k, width):
            many = "" if single else f"{len(start)}, "
            raise ShapeError(
                f"targets must have shape ({many}steps, {k}, {width}), got {goals.shape[1:] if single else goals.shape}"
            )
        characters, steps = goals.shape[:2]
        full = np.zeros((characters, steps, k, 7))
        full[..., 3] = 1.0
        full[..., :width] = goals
        path = np.empty((characters, steps, self.model.nq))
        codes = set()
        u = self._prepared
        if characters == 1 or not u.characters:
            prepare(method_loop.rollout)
            for c in range(characters):
                code = method_loop.rollout(
                    u.address, u.ints, u.floats, full[c].ravel(), np.array(start[c]), u.work, path[c].ravel(),
                    steps, self._count,
                )  # fmt: skip
                codes.add(code)
                self._check_rollout(code, start[c : c + 1], full[c : c + 1])
        else:
            prepare(method_loop.rollout_lanes)
            method, wide = u.wide()
            for c in range(0, characters, WIDTH):
                some = slice(c, c + WIDTH)
                count = min(WIDTH, characters - c)
                code = method_loop.rollout_lanes(
                    method, u.ints, u.floats, full[some].ravel(), np.array(start[some]).ravel(), u.work, wide,
                    path[some].ravel(), count, steps, self._count,
                )  # fmt: skip
                codes.add(code)
                self._check_rollout(code, start[some], full[some])
        self.reset()
        u.work[u.memory(FAILED)] = float(method_loop.NOT_FINITE in codes)
        return path[0] if single else path

    def _check_rollout(self, code: int, starts: Array, goals: Array) -> None:
        if code == lm_solver.BAD_GOAL:
            for goal in goals.reshape(-1, 7 * len(self.tasks)):
                if not np.isfinite(goal).all():
                    refuse_goal(self.tasks, goal)
            refuse_goal(self.tasks, goals[0, 0].ravel())
        if code == lm_solver.BAD_START:
            refuse_start(starts[0], "q")

    def _start(self, q: npt.ArrayLike) -> Array:
        start = self.model.check_q(q, "q")
        if start.shape != self._shape:
            raise ShapeError(f"q must have shape {self._shape}, one configuration, got {start.shape}")
        return start

    def _refuse(self, code: int, q: Array) -> None:
        """Say which number the kernel refused."""
        if code == lm_solver.BAD_START:
            refuse_start(self.model.check_q(q, "q"), "q")
        refuse_goal(self.tasks, self._goal)
