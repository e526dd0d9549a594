"""Tracker: one update a time step, towards targets that move."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from threading import Lock
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import numbers, positive, whole, yes_or_no
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.kernels.machine.layout import LARGEST
from poise.kernels.machine.memory import FAILED
from poise.methods.base import Method
from poise.model.model import Model, a_model
from poise.model.proximity import Proximity
from poise.rate import LONGEST
from poise.solving.arguments.arguments import Tasks, check_out, cores, several
from poise.solving.arguments.moving import JointsLike, moving
from poise.solving.arguments.twist import Lead
from poise.solving.methods.posture import cost_posture
from poise.solving.requirements.active_limit import ActiveLimit
from poise.solving.requirements.limits import Limits, LimitsLike, part_of_speeds
from poise.solving.search.fast_path import Line, line_of_tracker
from poise.solving.tracking.explore import Explorer
from poise.solving.tracking.following_error import FollowingErrorLimit
from poise.solving.tracking.report import explained
from poise.solving.tracking.rollouts import follow, go_on
from poise.solving.tracking.stepper import Stepper
from poise.tasks.error import TaskError

_BUSY: Final = (
    "another thread is in this Tracker, or was when this process was forked, and it has a past of its own: make one "
    "for each thread and process"
)
_FOLLOWING_ERROR: Final = FollowingErrorLimit()


@final
class Tracker:
    """Follow moving targets: each `step` takes one update of a method, or `updates` of them.

    Joint limits hold at every step, unless `limits` is False; a list of limits, such as `AccelerationLimit`, adds to
    them.  With the time step `dt` [s] no joint goes faster than the model's velocity limits over a whole step: it is
    shortened, or each joint bound by itself, whichever leaves less of the error.  A start outside the limits then comes
    back no faster.  With `speed`, a number above 0 and up to 1, they go at that part of those limits at most.  The
    method is "dls" unless another is named, "qp" where a limit ties joints together, as `LinearLimit` and
    `CollisionLimit` do, or a task is a range, and "priority", which bounds each joint's speed by itself, where tasks
    have different priorities.  A step that turns back makes the next ones shorter, until targets move, and an arm that
    creeps leaps to where its steps lead, so that it comes to rest where they stand still; `settle=False` leaves the
    method as it is published.  With `explore` an arm that limits or obstacles hold back from a target looks for a way
    round and follows it, within all that must hold; the step at which it looks takes some milliseconds, or, among many
    obstacles, seconds.  A tracker has a past of its own: a second thread that enters it is refused.  A target that a
    `Twist` moves is never farther ahead of its frame than `max_target_lead`: metres, or metres and radians.  A command
    is never farther ahead of a `measured` q than its `following_error`.

    A PostureTask among the tasks is the last level: each step goes as far towards its posture as they leave it, also of
    joints that no task moves.  The posture may be another at each step.

    No step leaves a range, such as the region of a `RegionTask`, the cone of a `ConeTask`, the interval of a
    `DistanceTask`, the polygon of a `SupportTask` or the limits of a `TorqueTask`, if it is required and of the first
    priority.  What begins outside gets no farther out, and comes back unless limits hold it.  Limits of joints, speeds
    and accelerations, and shapes that must not meet, stand before ranges, and ranges before all tasks; `explain` tells
    what gave way.

    The loops of the model that the tasks move, and each LoopTask, are closed at the end of every step, to 1e-7 m and
    rad, within all limits: a step that cannot be closed is shortened, at worst to none.  A start that is open is closed
    first, no faster than the speeds allow.  The method is then "qp" unless another is named or the tasks have
    priorities.

    `use` names the joints that may move, all by default, and `still` those that may not, as for `solve`: each step
    leaves what stands still where the `q` that it is given has it, pulled within its limits.  With `joint_costs`, joint
    to cost, as for `solve`, a step is that which costs least of all that do the same for the tasks: a base that costs
    10 moves by what the others cannot do.  The method is "dls", "qp" or "priority".

    Any method may propose a step; one that leaves no limit is taken as it is, and of another as much as all allow.
    Where it heeds no priorities, or follows no posture, it leads the first level, and the others get what that leaves.

    Raises FrameNotFound and JointNotFound for names that the model does not have, ValueError for settings that make no
    sense or for what the method cannot do.
    """

    __slots__ = ("_explorer", "_line", "_lock", "_stepper", "method", "model", "tasks")

    def __init__(
        self,
        model: Model,
        tasks: Tasks,
        method: str | Method | None = None,
        *,
        dt: float | None = None,
        updates: int = 1,
        limits: LimitsLike = True,
        use: JointsLike | None = None,
        still: JointsLike | None = None,
        joint_costs: Mapping[str, float] | None = None,
        settle: bool = True,
        explore: bool = False,
        speed: float = 1.0,
        max_target_lead: float | tuple[float, float] = (0.1, 0.5),
        following_error: FollowingErrorLimit = _FOLLOWING_ERROR,
    ) -> None:
        model = moving(a_model(model), use, still, joint_costs)
        whole("updates", updates, 1)
        rate = part_of_speeds(model, speed, dt)
        yes_or_no("settle", settle, ", whether steps that turn back grow shorter")
        yes_or_no("explore", explore, ", whether ways round are sought")
        if dt is not None:
            positive("dt", dt)
            if dt > LONGEST:
                raise InvalidValue("out-of-range", f"dt is {dt:g}; it must be at most {LONGEST:g} s")
        if not isinstance(following_error, FollowingErrorLimit):
            raise InvalidType(
                "not-a-limit",
                "following_error must be a FollowingErrorLimit, as in "
                f"following_error=FollowingErrorLimit(joints=0.2, distance=0.05), got {following_error!r}",
            )
        given, stated = Limits.of(limits), several(tasks)
        cost_posture(model, stated)
        stepper = self._stepper = Stepper(
            model, stated, method, given, rate, dt=dt, updates=updates, following_error=following_error, framed=stated,
            settle=settle, lead=Lead.of(max_target_lead),
        )  # fmt: skip
        self.model, self.method, self.tasks = model, stepper.method, stepper.targets.tasks
        self._explorer = Explorer(stepper, given, rate, following_error) if explore else None
        self._open()

    def _open(self) -> None:
        """Let one thread in at a time, by the quickest way that there is."""
        self._lock, stepper = Lock(), self._stepper
        self._line: Line | None = None
        if self._explorer is None and not stepper.closes_loops:
            own = [task for task in stepper.targets.followed if task.blocks]
            self._line = line_of_tracker(stepper.bound, own, stepper.scratch, self._lock, stepper.q.copy)

    def __getstate__(self) -> dict[str, Any]:
        own = {name: copy(getattr(self, name)) for name in ("_explorer", "_stepper")}
        return own | {"method": self.method, "model": self.model, "tasks": self.tasks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._open()

    def step(
        self, q: ArrayLike | None, target: Any = None, *, measured: ArrayLike | None = None, out: Array | None = None
    ) -> Array:
        """(nq,) where one step from `q` (nq,) towards `target` leads; None: towards `targets`, as they are.

        With None for `q` it begins where the last step led, which is what was commanded; the first one, and the first
        after `reset`, at `measured`.  `measured` (nq,) is where the robot is, by its encoders: the command is then no
        farther ahead of it than the tracker's `following_error`, and waits there; `active_limits` and `explain` tell.

        The array is new, or it is `out`, (nq,) of float64, which may be `q` itself.  A `q` outside the limits comes
        back as fast as speeds and accelerations let it; without a dt it is pulled in at once.  The last velocity is
        that of the last step, whatever `q` is: `reset` tells that the arm was put elsewhere.
        `target` is one target a task, as `solve` takes them, a `Twist`, or None for one that stays; or (tasks, 3)
        points if all are positions.  That of a PostureTask, (nq,), may be left out, and stays then.
        Raises ShapeError for a wrong shape, ValueError for an entry that is not finite or an `out` that cannot be
        written.
        """
        if self._line is not None:
            result = self._line.step(q, target, out, measured)
            if isinstance(result, int):
                self._stepper.warn_or_raise(result)
                return self._stepper.q.copy() if out is None else out
            if result is not None:
                return result
        if out is not None:
            check_out("out", out, self.model)
        if not self._lock.acquire(False):
            raise RuntimeError(_BUSY)
        stepper, explorer = self._stepper, self._explorer
        try:
            stepper.begin(q, target, measured)
            taking = stepper if explorer is None else explorer.chosen(stepper)
            taking.take()
            if explorer is not None and taking is not stepper:
                explorer.hand_back(stepper)
            if out is None:
                return stepper.q.copy()
            out[:] = stepper.q
            return out
        except BaseException:
            stepper.drop()
            if explorer is not None:
                explorer.guide.drop()
            raise
        finally:
            self._lock.release()

    def steps(self, q: Array, goals: Array, path: Array, postures: Array | None = None) -> None:
        """Fill `path` (steps, nq) by a `step` from `q` (nq,) towards each of `goals` (steps, tasks, 7), in one call.

        All are arrays of float64 without gaps; `postures` (steps, nq) are those of a PostureTask, which else stays.
        Raises as `step`.
        """
        targets = self._stepper.targets
        if postures is None:
            postures = np.tile(targets.posture, (len(path), 1))
        if self._explorer is None and self._stepper.bound.collision is None and not self._stepper.closes_loops:
            with self._entered() as stepper:
                stepper.measured[0] = np.nan
                stepper.warn_or_raise(go_on(stepper, q, goals, postures, path))
            return
        for k, row in enumerate(path):
            self.targets[:], targets.posture[:] = goals[k], postures[k]
            q = self.step(q, out=row)

    @property
    def targets(self) -> Array:
        """(tasks, 7) place and quaternion wxyz of each target, which the next step reads; write into it at will.

        A PostureTask has no row of it: see `posture`.
        """
        return self._stepper.targets.rows

    @targets.setter
    def targets(self, values: ArrayLike) -> None:
        given = numbers("targets", values)
        if given.shape != self.targets.shape:
            raise ShapeError(f"targets must have shape {self.targets.shape}, got {given.shape}")
        self.targets[:] = given

    @property
    def posture(self) -> Array | None:
        """(nq,) what the next step pulls to, if a PostureTask is followed; write into it at will."""
        targets = self._stepper.targets
        return None if targets.posture_place is None else targets.posture

    @posture.setter
    def posture(self, q: ArrayLike) -> None:
        targets = self._stepper.targets
        if targets.posture_place is None:
            raise InvalidValue(
                "needs", "posture is for a Tracker that follows a PostureTask: state one among the tasks"
            )
        given = targets.posture_of(q, "posture")
        if not np.abs(given).max(initial=0.0) <= LARGEST:
            self.model.normalize(given, "posture")  # says which number it is
        targets.posture[:] = given

    def aim(self, target: Any) -> None:
        """Take new targets for the next steps; see `step`."""
        with self._entered() as stepper:
            stepper.targets.aim(target)

    def rollout(self, q: ArrayLike, targets: Any, *, threads: int | None = None) -> Array:
        """(steps, nq) the way from `q` (nq,) with one step towards each of `targets` in turn, in one compiled loop.

        `targets` is a list of one a task with a row a step, as `solve_batch` takes them, or None for one that stays;
        that of a PostureTask is (steps, nq), or (nq,) for all steps, and may be left out.  Or it is an array without
        postures: (steps, tasks, 3) if all are positions, else (steps, tasks, 7), place and wxyz.  With `q` (characters,
        nq) and as many characters along a first axis, which postures that are for all do without, eight characters at a
        time are led at once in each of `threads` (None: as many as there are cores), and the result is (characters,
        steps, nq).  Each goes the same way to the bit for any number of threads and whoever is beside it, also as the
        only one of (1, nq); from (nq,) it goes as by `step`, which is the same until rounding decides something.
        The tracker's own past plays no part and is left fresh.
        Raises ShapeError for a wrong shape, ValueError for an entry that is not finite.
        """
        if threads is not None:
            whole("threads", threads, 1)
        start = self.model.check_q(q, "q")
        single = start.ndim == 1
        start, stepper = np.atleast_2d(start), self._stepper
        if stepper.loop_start is not None:
            stepper.loop_start.refuse_open(start)
        goals = stepper.targets.each_step(targets, None if single else len(start))
        path = np.empty((*goals.shape[:2], self.model.nq))
        if self._explorer is not None:
            failed = self._roll_by_steps(start, goals, path)
        else:
            with self._entered():
                failed = follow(stepper, start, goals, path, cores() if threads is None else threads, single=single)
        with self._entered():
            self.reset()
            stepper.memory[FAILED] = float(failed)
        return path[0] if single else path

    def reset(self) -> None:
        """Forget the past: the next step is a first one, from rest; errors are unclamped if the clamp is adaptive."""
        self._stepper.reset()
        if self._explorer is not None:
            self._explorer.reset()

    def take_over(self, other: "Tracker") -> None:
        """Go on where another Tracker of the same model is, from its last command with its velocity and acceleration.

        So limits of accelerations and jerks hold from the last step of the other to the next of this, whose `dt` may be
        another; one without such limits tells no acceleration, which counts as 0.  With None for its `q` the next step
        begins where the last one of the other led.
        Raises TypeError for what is no Tracker, ValueError for another model, for tasks that other joints move, and for
        a tracker without a `dt` where this one has accelerations.
        """
        if not isinstance(other, Tracker):
            raise InvalidType("wrong-type", f"the other must be a Tracker, got {other!r}")
        if other.model is not self.model:
            raise InvalidValue(
                "inconsistent",
                f"the other Tracker is of another model, {other.model.name}: it must be the same object, with the "
                "same joints still",
            )
        with self._entered() as stepper:
            stepper.take_over(other._stepper)
            if self._explorer is not None:
                self._explorer.reset()

    @property
    def velocity(self) -> Array:
        """(nv,) of the last step [rad/s or m/s], as it was commanded; 0 before the first and after a `reset`.

        Raises ValueError without a dt, and after a step that was refused.
        """
        with self._entered() as stepper:
            return stepper.velocity

    @property
    def errors(self) -> tuple[TaskError, ...]:
        """What the last step left of each of `tasks`, then of each loop: between its q and the targets as they are now.

        By forward kinematics, when it is asked for.  Raises ValueError before the first step and after a `reset`.
        """
        with self._entered() as stepper:
            return stepper.errors(stepper.last_q())

    @property
    def active_limits(self) -> tuple[ActiveLimit, ...]:
        """The limits that the last step ended at, of the joints that move the tasks, and of shapes; empty: none.

        A joint that moves nothing but a posture counts at the limit of its position where the posture is beyond it.
        Speeds count with a dt.  What a method gives away so as to stay clear of a limit is not told.  Raises ValueError
        before the first step and after a `reset`.
        """
        with self._entered() as stepper:
            return stepper.active_limits(stepper.last_q())

    @property
    def nearest(self) -> Proximity | None:
        """The two shapes that are nearest to each other after the last step; None without a CollisionLimit.

        Raises ValueError before the first step and after a `reset`.
        """
        with self._entered() as stepper:
            q, apart = stepper.last_q(), stepper.bound.collision
            return None if apart is None else apart.nearest(self.model, q)

    @property
    def failed(self) -> bool:
        """Whether the last step, or one of the last rollout, was no finite number.

        A singular pose can make it so, or a task of your own whose residual has no number there.  q then stayed where
        it was, or braked where accelerations are limited.
        """
        return bool(self._stepper.memory[FAILED] > 0.5)

    def explain(self) -> str:
        """A sentence or two: what the last step left of each task, the limits that it ended at, what gave way, and
        which other tasks hold one back, with what helps."""
        with self._entered() as stepper:
            return explained(stepper, explores=self._explorer is not None)

    def export(self, file: str | os.PathLike[str]) -> None:
        """Write it as a file that `libpoise` loads, in C, C++ or a browser, with its `dt`, all limits and shapes.

        Its targets are those that it has now; of its past nothing is kept.  Its home is the model's, or where loops are
        closed near there.  See the page "In C and C++" of the documentation.  Raises ValueError for a tracker that
        needs Python, and says what for.
        """
        from poise.solving.search.exporting import export_tracker

        stepper, home = self._stepper, self.model.home
        closed = None if stepper.loop_start is None else stepper.loop_start.closed(home)
        export_tracker(
            self.model, stepper.targets.followed[: len(self.tasks)], stepper.bound, stepper.scratch, file,
            home=home if closed is None else closed,
            explores=self._explorer is not None, passive_loops=stepper.passive_loops is not None,
        )  # fmt: skip

    def _roll_by_steps(self, starts: Array, goals: Array, path: Array) -> bool:
        """Fill `path` by steps, which may look for ways round; whether one was no finite number."""
        targets, failed = self._stepper.targets, False
        saved = targets.joined
        try:
            for c, q in enumerate(starts):
                self.reset()
                for k, row in enumerate(path[c]):
                    targets.joined = goals[c, k]
                    q = self.step(q, out=row)
                    failed = failed or self.failed
        finally:
            targets.joined = saved
        return failed

    @contextmanager
    def _entered(self) -> Iterator[Stepper]:
        """What takes the steps, other threads being kept out within the block; raises RuntimeError where one is in."""
        if not self._lock.acquire(False):
            raise RuntimeError(_BUSY)
        try:
            yield self._stepper
        finally:
            self._lock.release()
