"""Tracker: one update a time step, towards targets that move."""

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, Final, final

import numpy as np

from poise.checks import numbers, positive, whole
from poise.errors import ShapeError
from poise.kernels.machine.jit import prepare, watched
from poise.kernels.machine.layout import ANSWER, BAD_GOAL, BAD_START, GOAL_NUMBERS, NOT_FINITE, SOLVED, WIDTH
from poise.kernels.methods import method_loop
from poise.kernels.methods.memory import COST, FAILED, FRESH, SCORE, STAGE
from poise.kernels.requirements.stages import OPEN
from poise.methods.base import Method, method_of
from poise.model.model import Model, a_model
from poise.model.proximity import Proximity
from poise.model.scene import Scene
from poise.quaternions import pose_numbers
from poise.rate import LONGEST
from poise.solving.active import ActiveLimit, active_limits, at_distance
from poise.solving.arguments import (
    Tasks,
    cores,
    one_a_task,
    one_start,
    put_start,
    refuse_goal,
    refuse_numbers,
    refuse_start,
    room_for,
    several,
)
from poise.solving.borders import ranges
from poise.solving.bound_method import BoundMethod
from poise.solving.closing import Closing
from poise.solving.closure import Aside, loop_tasks
from poise.solving.collision import one_collision_limit
from poise.solving.explore import Explorer
from poise.solving.inequalities import Constraint, JerkLimit, Limit, VelocityLimit, values_of
from poise.solving.leash import Leash, Leashed
from poise.solving.posture import one_posture, posture_of, pulled
from poise.solving.problem import pack
from poise.solving.requirements import given_way
from poise.solving.scratch import Scratch
from poise.solving.twist import Lead, Twist
from poise.solving.weights import relative
from poise.spatial import SE3, Array, ArrayLike
from poise.tasks.base import POSITION, ROTATION, levels
from poise.tasks.error import TaskError
from poise.tasks.loop import LoopTask
from poise.tasks.posture import PostureTask

_BUSY: Final = (
    "another thread is in this Tracker, or was when this process was forked, and it has a past of its own: make one "
    "for each thread and process"
)

_NOT_FINITE: Final = (
    "a step of this Tracker was no finite number, as a singular pose can make it, and q stayed where it was: damp the "
    "method; `failed` tells of every such step, this warning of the first"
)


_FAR: Final = 1e20
"""A sum of squares of a posture above which each of its numbers is looked at."""


_LEASH: Final = Leash()


_AT_ONCE: Final = 8192
"""Steps of characters that a call of a kernel takes at most, or those of eight, so that Python hears of signals."""


@final
class Tracker:
    """Follow moving targets: each `step` takes one update of a method, or `updates` of them.

    Joint limits hold at every step, unless `limits` is False; a list of limits, such as `AccelerationLimit`, adds to
    them.  With the time step `dt` [s] no joint goes faster than the model's velocity limits over a whole step: it is
    shortened, or each joint bound by itself, whichever leaves less of the error.  A start outside the limits then comes
    back no faster.  With `speed`, a number above 0 and up to 1, they go at that part of those limits at most.
    The method is "dls" unless another is named, "qp" where a limit ties joints together, as `LinearLimit` and
    `CollisionLimit` do, or a task is a range, and "priority", which bounds each joint's speed by itself, where tasks
    have different priorities.  A step that turns back makes the next ones shorter, until targets move, so that
    the arm comes to rest where they stand still; `settle=False` leaves the method as it is published.  With `explore`
    an arm that limits or obstacles hold back from a target looks for a way round and follows it, within the same
    limits; the step at which it looks takes some milliseconds, or, among many obstacles, seconds.  A tracker has a
    past of its own: a second thread that enters it is refused.  A target that a `Twist` moves is never farther ahead of
    its frame than `lead`: metres, or metres and radians.  A command is never farther ahead of a `measured` q than its
    `leash`.

    A PostureTask among the tasks is the last level: each step goes as far towards its posture as they leave it, with
    `dls` and `priority`, also of joints that no task moves.  The posture may be another at each step.

    No step leaves a range, such as the region of a `RegionTask`, the cone of a `ConeTask`, the interval of a
    `DistanceTask` or the polygon of a `SupportTask`, if it is required and of the first priority.  What begins outside
    gets no farther out, and comes back unless limits hold it.  Limits of joints, speeds and accelerations, and shapes
    that must not meet, stand before ranges, and ranges before all tasks; `explain` tells what gave way.

    The loops of the model that the tasks move, and each LoopTask, are closed at the end of every step, to 1e-7 m and
    rad, within all limits: a step that cannot be closed is shortened, at worst to none.  A start that is open is closed
    first, no faster than the speeds allow.  The method is then "qp" unless another is named or the tasks have
    priorities.  `explore` keeps no loops closed.

    Any method may propose a step; one that leaves no limit is taken as it is, and of another as much as all allow.

    Raises FrameNotFound for a frame that the model does not have, ValueError for settings that make no sense or for
    what the method cannot do.
    """

    __slots__ = (
        "_apart",
        "_aside",
        "_bound",
        "_closing",
        "_copy",
        "_count",
        "_dt",
        "_explorer",
        "_followed",
        "_goal",
        "_guide",
        "_lead",
        "_leash",
        "_leashed",
        "_lock",
        "_memory",
        "_points",
        "_points_shape",
        "_pose_alone",
        "_posture",
        "_posture_task",
        "_prepared",
        "_q",
        "_scenes",
        "_scratch",
        "_settles",
        "_start",
        "_step",
        "_targets",
        "_warned",
        "method",
        "model",
        "tasks",
    )

    def __init__(
        self,
        model: Model,
        tasks: Tasks,
        method: str | Method | None = None,
        *,
        dt: float | None = None,
        updates: int = 1,
        limits: bool | Sequence[Limit | Constraint] = True,
        settle: bool = True,
        explore: bool = False,
        speed: float = 1.0,
        lead: float | tuple[float, float] = (0.1, 0.5),
        leash: Leash = _LEASH,
    ) -> None:
        a_model(model)
        whole("updates", updates, 1)
        pace = _pace(model, speed, dt)
        if not isinstance(settle, bool):
            raise TypeError(f"settle must be True or False, whether steps that turn back grow shorter, got {settle!r}")
        if dt is not None:
            positive("dt", dt)
            if dt > LONGEST:
                raise ValueError(f"dt is {dt:g}; it must be at most {LONGEST:g} s")
        found = tuple(
            task if isinstance(task, PostureTask) else task.in_steps(model, None if dt is None else dt / updates)
            for task in several(tasks)
        )
        self.tasks = tuple(task for task in found if not isinstance(task, PostureTask))
        self._posture_task = one_posture(found)
        if self._posture_task is not None:
            if not self.tasks:
                raise ValueError("a Tracker needs a task beside a PostureTask, which is followed as far as it lets it")
            if explore:
                raise ValueError("explore=True does not follow a PostureTask: leave one of them out")
        stated = _limits_beside(limits)
        self._apart = one_collision_limit(stated)
        self._followed = (*relative(self.tasks)[0], *loop_tasks(model, found))
        self._aside = Aside.of(model, found, limits=limits is not False)
        loops = [task for task in self._followed if isinstance(task, LoopTask)]
        if explore and loops:
            raise ValueError(f"explore=True does not keep loops closed, such as {loops[0].label}: leave it out")
        speeds = () if dt is None else (pace, *(limit for limit in stated if isinstance(limit, VelocityLimit)))
        self._closing = Closing(model, loops, limits=limits is not False, bounds=speeds, dt=dt) if loops else None
        if method is None:
            tied = any(getattr(limit, "ties", False) for limit in stated)
            tied = tied or bool(loops) or bool(ranges(self._followed))
            ranked = len(levels(self._followed)) > 1 or (tied and self._posture_task is not None)
            method = "priority" if ranked else "qp" if tied else "dls"
        self.model, self.method = model, method_of(method)
        also = () if self._posture_task is None else pulled(model, self._posture_task)
        problem = pack(model, self._followed, limits=limits is not False, also=also)
        self._prepared = BoundMethod(
            model,
            self._followed,
            problem,
            self.method,
            limits=limits is not False,
            also=[
                *(limit for limit in stated if limit is not self._apart),
                *(() if dt is None else (pace,)),
            ],
            apart=self._apart,
            within=True,
            dt=dt,
            updates=updates,
            posture=self._posture_task,
        )
        self._count, self._dt, self._settles = updates, dt, settle
        self._lead = Lead.of(lead)
        if not isinstance(leash, Leash):
            raise TypeError(f"leash must be a Leash, as in leash=Leash(joints=0.2, distance=0.05), got {leash!r}")
        values_of(leash, model, leash.joints)
        self._leash = leash
        self._explorer, self._guide = None, None
        if explore:
            if any(isinstance(limit, JerkLimit) for limit in stated):
                raise ValueError("explore=True does not keep a JerkLimit: leave one of them out")
            for task in self._prepared.ranges:
                raise ValueError(
                    f"explore=True does not keep within {task.label}: leave one of them out, or give the task a later "
                    "priority, with which it is felt from outside only"
                )
            held = limits is not False
            self._explorer = Explorer(model, self.tasks, self._apart, limits=held)
            self._guide = Tracker(model, self._explorer.tasks, "qp", dt=dt, updates=updates, limits=limits, speed=speed)
        self._bind()
        self._targets[:, 3] = 1.0
        for k, task in enumerate(self._followed):
            self._targets[k] = task.at(model, model.home) if task.target is None else task.goal(task.target)
        if self._posture_task is not None:
            given = self._posture_task.target
            self._posture[:] = posture_of(model, model.home if given is None else given)

    def _bind(self) -> None:
        """Make the workspace that holds the tracker's past."""
        self._lock, self._warned = Lock(), False
        self._leashed: Leashed | None = None
        self._bound = self._prepared.bound()
        scratch = self._scratch = Scratch(self._bound)
        scratch.tell(updates=self._count, settle=int(self._settles))
        self._scenes: list[Scene] = []
        self._start, self._goal = scratch.start_view, scratch.goal_view
        self._q = scratch.out[ANSWER : ANSWER + self.model.nq]
        self._q[:] = np.nan
        self._copy = self._q.copy
        self._memory = scratch.narrow[self._prepared.problem.rows("memory")]
        self._targets = scratch.goal.reshape(-1, GOAL_NUMBERS)
        self._points = self._targets[: len(self.tasks), :3]
        self._points_shape = self._points.shape if all(task.leads == (POSITION,) for task in self.tasks) else None
        self._pose_alone = [task.leads for task in self._followed] == [(POSITION, ROTATION)]
        self._posture = scratch.narrow[self._prepared.problem.rows("guide")]
        if self._apart is not None:
            scratch.surround(self._apart.scene(self.model, ahead=self._dt or 0.0))
        prepare(method_loop.step)
        self._step = partial(watched(method_loop.step, self._bound.reads), scratch.address)

    def __getstate__(self) -> dict[str, Any]:
        names = (
            "_apart", "_aside", "_closing", "_count", "_dt", "_explorer", "_followed", "_guide", "_lead", "_leash",
            "_posture_task", "_prepared", "_settles", "method", "model", "tasks",
        )  # fmt: skip
        kept = {name: getattr(self, name) for name in names}
        return {**kept, "work": self._scratch.narrow.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        work = state.pop("work")
        for name, value in state.items():
            setattr(self, name, value)
        self._bind()
        self._scratch.narrow[:] = work

    @property
    def targets(self) -> Array:
        """(tasks, 7) place and quaternion wxyz of each target, which the next step reads; write into it at will."""
        return self._targets[: len(self.tasks)]

    @targets.setter
    def targets(self, values: ArrayLike) -> None:
        given = numbers("targets", values)
        if given.shape != self.targets.shape:
            raise ShapeError(f"targets must have shape {self.targets.shape}, got {given.shape}")
        self.targets[:] = given

    @property
    def posture(self) -> Array | None:
        """(nq,) what the next step pulls to, if a PostureTask is followed; write into it at will."""
        return None if self._posture_task is None else self._posture

    @posture.setter
    def posture(self, q: ArrayLike) -> None:
        self._pull(q)

    def _pull(self, q: ArrayLike) -> None:
        """Take a posture for the next steps."""
        if self._posture_task is None:
            raise ValueError("posture is for a Tracker that follows a PostureTask: state one among the tasks")
        try:
            given = np.asarray(q, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.zeros(0)
        # NaN and what is too large show in the sum of squares.
        if given.shape != self._posture.shape or not given @ given < _FAR:
            given = one_start(self.model, q, "posture")
        self._posture[:] = given

    def step(
        self,
        q: ArrayLike | None,
        target: Any = None,
        *,
        measured: ArrayLike | None = None,
        posture: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """(nq,) where one step from `q` (nq,) towards `target` leads; None: towards `targets`, as they are.

        With None for `q` it begins where the last step led, which is what was commanded; the first one, and the first
        after `reset`, at `measured`.  `measured` (nq,) is where the robot is, by its encoders: the command is then no
        farther ahead of it than the tracker's `leash`, and waits there; `active_limits` and `explain` tell.

        The array is new, or it is `out`, (nq,) of float64, which may be `q` itself.  A `q` outside the limits comes
        back as fast as speeds and accelerations let it; without a dt it is pulled in at once.  The last velocity is
        that of the last step, whatever `q` is: `reset` tells that the arm was put elsewhere.
        `target` is one target a task, as `solve` takes them, a `Twist`, or None for one that stays; or (tasks, 3)
        points if all are positions.  `posture` (nq,) is a new one for the PostureTask; None: it stays.
        Raises ShapeError for a wrong shape, ValueError for an entry that is not finite or an `out` that cannot be
        written.
        """
        if out is not None:
            room_for("out", out, self.model)
        if not self._lock.acquire(False):
            raise RuntimeError(_BUSY)
        try:
            try:
                self._start[:] = q
            except (TypeError, ValueError):  # no doubles, or not as many
                put_start(self._scratch.start, self.model, self._last_command(measured) if q is None else q, "q")
            if target is not None:
                if self._pose_alone and type(target) is SE3 and target.array.ndim == 1:
                    self._goal[:] = target.array
                elif self._pose_alone and (pose := pose_numbers(target)) is not None:
                    self._goal[:] = pose
                else:
                    self._aim(target, stepping=True)
            if posture is not None:
                self._pull(posture)
            if self._apart is not None:
                self._scratch.look_around()
            if self._explorer is None or not self._go_round(self._explorer):
                code: int = (
                    self._step() if measured is None and self._leashed is None else self._step_on_leash(measured)
                )
                if code != SOLVED:
                    self._complain(code)
                if self._aside is not None:
                    self._aside.watch(self.model, self._scratch.start)
                if self._closing is not None:
                    if self._memory[STAGE] == OPEN:
                        self._q[:] = self._closing(self._scratch.start)
                    else:
                        self._closing.forget()
            if out is None:
                return self._copy()
            out[:] = self._q
            return out
        except BaseException:
            self._scratch.start[:] = np.nan  # so that nothing is told of a step that was not taken
            raise
        finally:
            self._lock.release()

    def _last_command(self, measured: ArrayLike | None) -> ArrayLike:
        """(nq,) where the last step led, or that of the tracker that was taken over; `measured` before the first."""
        if not np.isnan(self._q[0]):
            return self._q
        if measured is None:
            raise ValueError("q is None, and no step has led anywhere yet: give q, or measured, where the robot is")
        return one_start(self.model, measured, "measured")

    def _step_on_leash(self, measured: ArrayLike | None) -> int:
        """A step that is not farther ahead of `measured` (nq,) than the leash; a code."""
        scratch = self._scratch
        if self._leashed is None:
            if self._explorer is not None:
                raise ValueError("explore=True keeps no leash: leave measured out, or make a Tracker without explore")
            if not self.method.capabilities.limits:
                raise ValueError(
                    f"the method {self.method.name!r} keeps no limits of joints, and so no leash: leave measured out, "
                    "or choose another method, such as 'dls'"
                )
            self._leashed = Leashed(self._leash, self.model, self.tasks, self._prepared.problem)
        if measured is not None:
            measured = self.model.normalize(one_start(self.model, measured, "measured"), "measured")
        before = scratch.narrow.copy()
        code: int = self._step()
        rows = (self._prepared.problem.rows(name) for name in ("travel", "surge"))
        travel, surge = (scratch.narrow[at] for at in rows)
        start = self.model.normalize(scratch.start)
        if code == SOLVED and self._leashed.shortens(start, self._q, travel, surge, measured):
            scratch.narrow[:] = before
            scratch.tell(problem=self._leashed.words.ctypes.data)
            try:
                code = self._step()
            finally:
                scratch.tell(problem=self._bound.words.ctypes.data)
        return code

    def _complain(self, code: int) -> None:
        """Warn of the first step that was no finite number; raise ValueError for numbers that a kernel refused."""
        if code == NOT_FINITE and self._posture_task is not None and not np.isfinite(self._posture).all():
            self._scratch.narrow[self._prepared.problem.rows("last_guide")] = self._scratch.start
            raise ValueError("posture holds a zero quaternion or an entry that is not finite; give a configuration")
        if code == NOT_FINITE and not self._warned:
            self._warned = True
            warnings.warn(_NOT_FINITE, RuntimeWarning, stacklevel=3)
        if code < 0:
            refuse_numbers(code, self.model, self._followed, self._scratch.goal, self._scratch.start, "q")

    def _go_round(self, explorer: Explorer) -> bool:
        """Take a step on the way round, where there is one; else let the explorer see how the last step went."""
        assert self._guide is not None
        scratch, guide = self._scratch, self._guide
        if self._memory[FRESH] > 0.5:
            explorer.look(scratch.start, self._memory[COST], self._memory[SCORE])
        corner = explorer.corner(scratch.start, scratch.goal)
        if corner is None:
            return False
        pasts = ("travel", "surge")
        for past in pasts:
            guide._scratch.narrow[guide._prepared.problem.rows(past)] = scratch.narrow[
                self._prepared.problem.rows(past)
            ]
        guide.targets[:, 0] = corner
        guide.step(scratch.start, out=self._q)
        for past in (*pasts, "least", "largest"):
            scratch.narrow[self._prepared.problem.rows(past)] = guide._scratch.narrow[
                guide._prepared.problem.rows(past)
            ]
        return True

    def aim(self, target: Any) -> None:
        """Take new targets for the next steps; see `step`."""
        with self._entered():
            self._aim(target)

    def _aim(self, target: Any, *, stepping: bool = False) -> None:
        if type(target) is np.ndarray and target.shape == self._points_shape:
            self._points[:] = target
            return
        aimed = {  # all of them, before one is taken
            k: self._moved(k, value, name, stepping=stepping)
            if type(value) is Twist
            else self.tasks[k].goal(value, name)
            for k, (name, value) in enumerate(one_a_task(self.tasks, target))
            if value is not None
        }
        for k, goal in aimed.items():
            self._targets[k] = goal

    def _moved(self, k: int, twist: Twist, name: str, *, stepping: bool) -> Array:
        """(7,) the target of task `k` after a step of its `twist`."""
        task = self.tasks[k]
        if self._dt is None or not stepping:
            raise ValueError(
                f"{name} is a Twist, which needs the time of a step: give the Tracker dt [s], and the Twist to `step`"
            )
        here = twist.seen(task, self.model, self._scratch.start, name)
        target, given = here.copy(), self._targets[k]
        some = slice(0 if POSITION in task.leads else 3, 7 if ROTATION in task.leads else 3)
        if self._memory[FRESH] > 0.5:
            target[some] = given[some]
        moved = given.copy()
        moved[some] = twist.moved(target, here, self._dt, self._lead)[some]
        return moved

    def reset(self) -> None:
        """Forget the past: the next step is a first one, from rest; errors are unclamped if the clamp is adaptive."""
        self._memory[:] = 0.0
        self._q[:] = np.nan
        for past in (
            "last_step", "last_target", "last_guide", "travel", "surge", "behind", "flow", "flow_change", "steady"
        ):  # fmt: skip
            self._scratch.narrow[self._prepared.problem.rows(past)] = 0.0
        if self._explorer is not None:
            self._explorer.forget()
        if self._closing is not None:
            self._closing.forget()

    def take_over(self, other: "Tracker") -> None:
        """Go on where another Tracker of the same model is, from its last command with its velocity and acceleration.

        So limits of accelerations and jerks hold from the last step of the other to the next of this, whose `dt` may be
        another; one without such limits tells no acceleration, which counts as 0.  With None for its `q` the next step
        begins where the last one of the other led.
        Raises TypeError for what is no Tracker, ValueError for another model, for tasks that other joints move, and for
        a tracker without a `dt` where this one has accelerations.
        """
        if not isinstance(other, Tracker):
            raise TypeError(f"the other must be a Tracker, got {other!r}")
        if other.model is not self.model:
            raise ValueError(f"the other Tracker is of another model, {other.model.name}: it must be the same object")
        problem, theirs = self._prepared.problem, other._prepared.problem
        if theirs.velocities != problem.velocities:
            raise ValueError(
                "the tasks of the other Tracker are moved by other joints, so its velocities are not known"
            )
        travel, surge = (self._scratch.narrow[problem.rows(past)] for past in ("travel", "surge"))
        pasts = [other._scratch.narrow[theirs.rows(past)].copy() for past in ("travel", "surge")]
        command = other._q.copy()
        shorter = 1.0
        if len(travel):
            if other._dt is None:
                raise ValueError("the other Tracker has no dt, so its velocities are not known: give it one")
            assert self._dt is not None
            shorter = self._dt / other._dt
            if not len(pasts[0]):
                pasts = [other.velocity[list(problem.velocities)] * other._dt, np.zeros(len(travel))]
        with self._entered():
            self.reset()
            self._q[:] = command
            if len(travel):
                travel[:], surge[:] = shorter * pasts[0], shorter**2 * pasts[1]

    @property
    def velocity(self) -> Array:
        """(nv,) of the last step [rad/s or m/s], as it was commanded; 0 before the first and after a `reset`.

        Raises ValueError without a dt, and after a step that was refused.
        """
        if self._dt is None:
            raise ValueError("a velocity needs the time of a step: give the Tracker dt [s]")
        with self._entered():
            if self._memory[FRESH] < 0.5:
                return np.zeros(self.model.nv)
            q = self._last_q()
            return self.model.difference(self.model.normalize(self._scratch.start), q) / self._dt

    @property
    def errors(self) -> tuple[TaskError, ...]:
        """What the last step left of each task, then of each loop: between its q and `targets` as they are now.

        By forward kinematics, when it is asked for.  Raises ValueError before the first step and after a `reset`.
        """
        with self._entered():
            return self._errors(self._last_q())

    @property
    def active_limits(self) -> tuple[ActiveLimit, ...]:
        """The limits that the last step ended at, of the joints that move the tasks, and of shapes; empty: none.

        Speeds count with a dt.  What a method gives away so as to stay clear of a limit is not told.  Raises ValueError
        before the first step and after a `reset`.
        """
        with self._entered():
            return self._active(self._last_q())

    @property
    def nearest(self) -> Proximity | None:
        """The two shapes that are nearest to each other after the last step; None without a CollisionLimit.

        Raises ValueError before the first step and after a `reset`.
        """
        with self._entered():
            q = self._last_q()
            return None if self._apart is None else self._apart.nearest(self.model, q)

    def explain(self) -> str:
        """A sentence or two: what the last step left of each task, the limits that it ended at, and what gave way."""
        with self._entered():
            if self._memory[FRESH] < 0.5:
                return "No step has been taken."
            if self._refused:
                return "The last step was refused or interrupted."
            q = self._last_q()
            left = "; ".join(task.words(error) for task, error in zip(self._followed, self._errors(q), strict=True))
            active = self._active(q)
            gave = given_way(int(self._memory[STAGE]), ranged=bool(self._prepared.ranges))
        held = f" Held by limits: {'; '.join(map(str, active))}." if active else ""
        return f"What is left: {left}.{held}" + (f" Nothing kept all limits: {gave} gave way." if gave else "")

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """Keep other threads out within the block; raises RuntimeError where one is in."""
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(_BUSY)
        try:
            yield
        finally:
            self._lock.release()

    def _last_q(self) -> Array:
        """(nq,) where the last step led."""
        if self._memory[FRESH] < 0.5:
            raise ValueError("no step has been taken, so there is nothing to tell of it: call step first")
        if self._refused:
            raise ValueError(
                "the last step was refused or interrupted, so there is nothing to tell of it: take another"
            )
        return self._q

    @property
    def _refused(self) -> bool:
        """Whether the last step raised an error, so that no q came of it."""
        return bool(np.isnan(self._scratch.start[0]))

    def _errors(self, q: Array) -> tuple[TaskError, ...]:
        pairs = zip(self._followed, self._targets, strict=True)
        return tuple(task.error(task.judged(self.model, goal[None], q[None])[0]) for task, goal in pairs)

    def _active(self, q: Array) -> tuple[ActiveLimit, ...]:
        before = self.model.normalize(self._scratch.start)
        problem, work = self._prepared.problem, self._scratch.narrow
        found = active_limits(self.model, problem, work, before, q, self._dt, self._count)
        if self._leashed is not None:
            found = tuple(self._leashed.active(found, q))
        if self._apart is None:
            return found
        return (*found, *at_distance(self._apart, self.model, self._apart.nearest(self.model, q)))

    @property
    def failed(self) -> bool:
        """Whether the last step, or one of the last rollout, was no finite number, as a singular pose can make it.

        q then stayed where it was.
        """
        return bool(self._memory[FAILED] > 0.5)

    def rollout(
        self,
        q: ArrayLike,
        targets: ArrayLike | SE3,
        *,
        posture: ArrayLike | None = None,
        threads: int | None = None,
    ) -> Array:
        """(steps, nq) the way from `q` (nq,) with one step towards each of `targets` in turn, in one compiled loop.

        `targets` is (steps, tasks, 3) if all tasks are positions, else (steps, tasks, 7), place and wxyz.  With `q`
        (characters, nq) and as many characters along a first axis of `targets`, eight characters at a time are led
        at once in each of `threads` (None: as many as there are cores), and the result is (characters, steps, nq), the
        same for any number of threads; one that is led alone goes the same way to rounding.  `posture` is what the
        PostureTask pulls to: (nq,) for all steps, (steps, nq), or (characters, steps, nq); None: the tracker's.  The
        tracker's own past plays no part and is left fresh.
        Raises ShapeError for a wrong shape, ValueError for an entry that is not finite.
        """
        if threads is not None:
            whole("threads", threads, 1)
        if self._explorer is not None:
            raise ValueError("a rollout does not explore: take steps, or make a Tracker without explore")
        start = self.model.check_q(q, "q")
        goals = targets.array[..., None, :] if isinstance(targets, SE3) else numbers("targets", targets)
        single = start.ndim == 1
        start = np.atleast_2d(start)
        if self._closing is not None:
            self._closing.refuse_open(start)
        if single:
            goals = goals[None]
        k, width = len(self.tasks), 3 if self._points_shape is not None and goals.shape[-1:] == (3,) else 7
        if goals.ndim != 4 or goals.shape[0] != len(start) or goals.shape[2:] != (k, width):
            many = "" if single else f"{len(start)}, "
            raise ShapeError(
                f"targets must have shape ({many}steps, {k}, {width}), got {goals.shape[1:] if single else goals.shape}"
            )
        characters, steps = goals.shape[:2]
        full = np.tile(self._targets, (characters, steps, 1, 1))  # loops have theirs
        full[..., :k, :] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
        full[..., :k, :width] = goals
        path = np.empty((characters, steps, self.model.nq))
        pulls = self._postures(posture, path.shape)
        with self._entered():
            failed = self._roll(start, full, pulls, path, cores() if threads is None else threads)
            self.reset()
            self._memory[FAILED] = float(failed)
        if failed and pulls is not None:
            self.model.normalize(pulls, "posture")  # raises for zero quaternions
        return path[0] if single else path

    def _postures(self, posture: ArrayLike | None, shape: tuple[int, ...]) -> Array | None:
        """(characters, steps, nq) what each step of a rollout pulls to; None: to the tracker's."""
        if posture is None:
            return None
        if self._posture_task is None:
            raise ValueError("posture is for a Tracker that follows a PostureTask: state one among the tasks")
        given = self.model.check_q(posture, "posture")
        if given.shape != shape[-given.ndim :]:
            raise ShapeError(
                f"posture must have shape ({shape[-1]},), {shape[1:]} or {shape}, (characters, steps, nq), got "
                f"{given.shape}"
            )
        return np.ascontiguousarray(np.broadcast_to(given, shape))

    def _roll(self, starts: Array, goals: Array, pulls: Array | None, path: Array, threads: int) -> bool:
        """Fill `path` (characters, steps, nq); whether a step was no finite number."""
        characters = len(path)
        if not path.size:
            return False
        alone = characters == 1 or not self._prepared.characters
        prepare(method_loop.rollout if alone else method_loop.rollout_lanes)
        lanes = min(-(-characters // (WIDTH * threads)), max(1, _AT_ONCE // (WIDTH * path.shape[1])))
        many = 1 if alone else WIDTH * lanes
        groups = [slice(c, c + many) for c in range(0, characters, many)]

        def roll(some: slice) -> int:
            return self._roll_some(
                starts[some], goals[some], None if pulls is None else pulls[some], path[some], alone=alone
            )

        if min(threads, len(groups)) == 1:
            return NOT_FINITE in list(map(roll, groups))
        with ThreadPoolExecutor(min(threads, len(groups))) as pool:
            return NOT_FINITE in list(pool.map(roll, groups))

    def _roll_some(self, starts: Array, goals: Array, pulls: Array | None, path: Array, *, alone: bool) -> int:
        """Lead one character, or several, eight side by side; a code."""
        with self._bound.scratch() as scratch:
            scratch.tell(updates=self._count, settle=int(self._settles), steps=path.shape[1], characters=len(path))
            scratch.tell_of(goals=goals, path=path, **({} if pulls is None else {"postures": pulls}))
            rows = self._prepared.problem.rows("guide")
            scratch.narrow[rows] = self._posture
            if pulls is None:
                scratch.tell(postures=0)
            if alone:
                scratch.start[:] = starts[0]
                with self._shapes(scratch):
                    code: int = watched(method_loop.rollout, self._bound.reads)(scratch.address)
            else:
                scratch.widen(self._bound)
                assert scratch.wide is not None
                scratch.wide[rows] = self._posture[:, None]
                path[:, 0] = starts
                code = watched(method_loop.rollout_lanes, self._bound.reads)(scratch.address)
        self._check_rollout(code, starts, goals)
        return code

    @contextmanager
    def _shapes(self, scratch: Scratch) -> Iterator[None]:
        """Let scratch have shapes that nobody else has within the block, as if seen for the first time."""
        if self._apart is None:
            yield
            return
        try:
            scene = self._scenes.pop()
            scene.sync()
        except IndexError:
            scene = self._apart.scene(self.model, ahead=self._dt or 0.0)
        scene.forget()
        scratch.surround(scene)
        scratch.tell(scene_changed=0)
        try:
            yield
        finally:
            self._scenes.append(scene)

    def _check_rollout(self, code: int, starts: Array, goals: Array) -> None:
        if code == BAD_GOAL:
            for goal in goals.reshape(-1, GOAL_NUMBERS * len(self._followed)):
                if not np.isfinite(goal).all():
                    refuse_goal(self._followed, goal)
            refuse_goal(self._followed, goals[0, 0].ravel())
        if code == BAD_START:
            refuse_start(starts[0], "q")


def _pace(model: Model, speed: float, dt: float | None) -> VelocityLimit:
    """The part `speed` of the model's velocity limits; raises ValueError where it is none, or says nothing."""
    if (
        isinstance(speed, bool)
        or not isinstance(speed, (int, float, np.floating, np.integer))
        or not 0.0 < speed <= 1.0
    ):
        raise ValueError(f"speed is {speed!r}; it is a part of the model's velocity limits, above 0 and up to 1")
    if speed == 1.0:
        return VelocityLimit()
    if dt is None:
        raise ValueError(f"speed={speed:g} needs the time of a step: give the Tracker dt [s]")
    if not np.isfinite(model.velocity).any():
        raise ValueError(
            f"speed={speed:g} is a part of the model's velocity limits, and {model.name} has none: state them with "
            "model.with_limits(velocity={joint: rad/s or m/s})"
        )
    return VelocityLimit(speed * model.velocity)


def _limits_beside(limits: bool | Sequence[Limit | Constraint]) -> Sequence[Any]:
    """The limits beside those of the joints; raises TypeError for what is none."""
    if isinstance(limits, bool):
        return ()
    kinds = ("inequalities", "guard")
    if not isinstance(limits, (list, tuple)) or not all(
        any(callable(getattr(x, k, None)) for k in kinds) for x in limits
    ):
        raise TypeError(f"limits must be True, False or a list of limits such as AccelerationLimit, got {limits!r}")
    return limits
