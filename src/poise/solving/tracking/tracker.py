"""Tracker: one update a time step, towards targets that move."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from threading import Lock
from typing import Any, Final, cast, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import numbers, positive, whole, yes_or_no
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.kernels.machine.layout import ANSWER, LARGEST, NOT_FINITE, SOLVED
from poise.kernels.machine.memory import (
    COST,
    DONE,
    FAILED,
    FOLLOWING,
    FRESH,
    INVERSE_RADIUS,
    SCORE,
    SCOUT,
    SHORTENED,
    STAGE,
)
from poise.kernels.requirements.stages import LOOPS_OPEN
from poise.methods.base import Method, method_of
from poise.model.model import Model, a_model
from poise.model.proximity import Proximity
from poise.rate import LONGEST
from poise.solving.answers.competing import Question, brakes, limited, rivals
from poise.solving.arguments.arguments import Tasks, check_out, cores, one_start, refuse_numbers, several
from poise.solving.arguments.twist import Lead
from poise.solving.arguments.weights import relative
from poise.solving.methods.bound_method import bound_method
from poise.solving.methods.posture import one_posture, pulled
from poise.solving.problem.problem import pack
from poise.solving.requirements.active_limits import ActiveLimit, active_limits, at_distance
from poise.solving.requirements.inequalities import VelocityLimit
from poise.solving.requirements.limits import Limits, LimitsLike, part_of_speeds
from poise.solving.requirements.loop_projection import PassiveLoops, loop_tasks
from poise.solving.requirements.ranges import ranges
from poise.solving.requirements.sections import relaxed_constraints
from poise.solving.search.fast_path import line_of_tracker
from poise.solving.tracking.explore import Explorer
from poise.solving.tracking.following_error import FollowingErrorBound, FollowingErrorLimit
from poise.solving.tracking.loop_start import LoopStart
from poise.solving.tracking.rollouts import Rollouts, go_on
from poise.solving.tracking.targets import Targets
from poise.tasks.base import levels
from poise.tasks.error import TaskError
from poise.tasks.loop import LoopTask

_BUSY: Final = (
    "another thread is in this Tracker, or was when this process was forked, and it has a past of its own: make one "
    "for each thread and process"
)
_SCOUT_WORDS: Final = {
    FOLLOWING: " A joint's limit held it back, so it goes round by another posture.",
    DONE: (
        " No posture was found in which the limits let it come nearer: solve tells whether the target is within reach, "
        "explore=True looks farther, and a PostureTask keeps joints from their limits on the way."
    ),
}
"""What is said of what the scout does."""
_BEYOND: Final = 3.0
"""Where a step is so many times as long as `settling` lets those towards targets be, it is none of these, and weights
are not why the targets come no nearer."""
_NOT_FINITE: Final = (
    "a step of this Tracker was no finite number, as a singular pose or a task of your own can make it, and q stayed "
    "where it was, or braked where accelerations are limited: damp the method, or let the residual be a number "
    "everywhere; `failed` tells of every such step, this warning of the first"
)
_FOLLOWING_ERROR: Final = FollowingErrorLimit()
_WAYS: Final = ("motion.displacement", "motion.displacement_change")
"""The rows of the workspace that hold the last step, and its change."""
_PASTS: Final = (
    "last_step", "last_target", "last_guide", *_WAYS, "approach.tracking_error",
    "approach.target_velocity", "approach.target_velocity_change", "approach.last_feed_forward",
    "approach.remaining_errors",
)  # fmt: skip
"""The rows of the workspace that hold what a tracker remembers of its steps."""


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
    `DistanceTask` or the polygon of a `SupportTask`, if it is required and of the first priority.  What begins outside
    gets no farther out, and comes back unless limits hold it.  Limits of joints, speeds and accelerations, and shapes
    that must not meet, stand before ranges, and ranges before all tasks; `explain` tells what gave way.

    The loops of the model that the tasks move, and each LoopTask, are closed at the end of every step, to 1e-7 m and
    rad, within all limits: a step that cannot be closed is shortened, at worst to none.  A start that is open is closed
    first, no faster than the speeds allow.  The method is then "qp" unless another is named or the tasks have
    priorities.

    Any method may propose a step; one that leaves no limit is taken as it is, and of another as much as all allow.
    Where it heeds no priorities, or follows no posture, it leads the first level, and the others get what that leaves.

    Raises FrameNotFound for a frame that the model does not have, ValueError for settings that make no sense or for
    what the method cannot do.
    """

    __slots__ = (
        "_bound",
        "_collision",
        "_dt",
        "_error_bound",
        "_explorer",
        "_followed",
        "_guide",
        "_line",
        "_lock",
        "_loop_start",
        "_memory",
        "_passive_loops",
        "_q",
        "_scratch",
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
        limits: LimitsLike = True,
        settle: bool = True,
        explore: bool = False,
        speed: float = 1.0,
        max_target_lead: float | tuple[float, float] = (0.1, 0.5),
        following_error: FollowingErrorLimit = _FOLLOWING_ERROR,
    ) -> None:
        a_model(model)
        whole("updates", updates, 1)
        rate = part_of_speeds(model, speed, dt)
        yes_or_no("settle", settle, ", whether steps that turn back grow shorter")
        yes_or_no("explore", explore, ", whether ways round are sought")
        if dt is not None:
            positive("dt", dt)
            if dt > LONGEST:
                raise InvalidValue("out-of-range", f"dt is {dt:g}; it must be at most {LONGEST:g} s")
        self.tasks = tuple(task.in_steps(model, None if dt is None else dt / updates) for task in several(tasks))
        posture = one_posture(self.tasks)
        given = Limits.of(limits)
        self._collision = given.collision
        self._followed = (*relative(self.tasks)[0], *loop_tasks(model, self.tasks))
        frame_tasks = tuple(task for task in self._followed if task.blocks)
        self._passive_loops = PassiveLoops.of(model, self.tasks, limits=given.positions)
        loops = [task for task in frame_tasks if isinstance(task, LoopTask)]
        speeds = () if dt is None else (rate, *(limit for limit in given.others if isinstance(limit, VelocityLimit)))
        self._loop_start = LoopStart(model, loops, limits=given.positions, bounds=speeds, dt=dt) if loops else None
        if method is None:
            tied = given.timeless(model).has_constraints or bool(loops) or bool(ranges(frame_tasks))
            ranked = len(levels(frame_tasks)) > 1 or (tied and posture is not None)
            method = "priority" if ranked else "qp" if tied else "dls"
        self.model, self.method = model, method_of(method)
        also = [] if posture is None else pulled(model, posture)
        problem = pack(model, frame_tasks, limits=given.positions, also=[*also, *given.tied(model)])
        self._bound = bound_method(
            model, frame_tasks, problem, self.method, "step", limits=given.positions,
            also=[*given.others, *(() if dt is None else (rate,))], collision=self._collision, keep_constraints=True,
            stepping=True, dt=dt, updates=updates, posture=posture, numbers={"anti_chatter": int(settle)},
        )  # fmt: skip
        self._dt, self._warned = dt, False
        lead = Lead.of(max_target_lead)
        if not isinstance(following_error, FollowingErrorLimit):
            raise InvalidType(
                "not-a-limit",
                "following_error must be a FollowingErrorLimit, as in "
                f"following_error=FollowingErrorLimit(joints=0.2, distance=0.05), got {following_error!r}",
            )
        self._error_bound = FollowingErrorBound(following_error, model, self.tasks, self._bound.problem)
        self._explorer: Explorer | None = None
        self._guide: Tracker | None = None
        if explore:
            velocities = self._bound.problem.velocities
            self._explorer = Explorer(model, frame_tasks, ranges(frame_tasks), velocities, given)
            self._guide = Tracker(
                model, self._explorer.guide_tasks, "priority", dt=dt, updates=updates, limits=limits, speed=speed
            )
        self._bind(lead)
        if self._guide is not None:
            guide = self._guide
            guide._error_bound = FollowingErrorBound(following_error, model, self.tasks, guide._bound.problem)
            guide._scratch.follow(guide._error_bound.problem)
        for task, goal in zip(self._followed, self._targets.goals, strict=True):
            goal[:] = task.at(model, model.home) if task.target is None else task.goal_on(model)

    def _bind(self, lead: Lead) -> None:
        """Make the workspace that holds the tracker's past."""
        self._lock = Lock()
        scratch = self._scratch = self._bound.new(self.model)
        scratch.follow(self._error_bound.problem)
        self._q = scratch.out[ANSWER : ANSWER + self.model.nq]
        self._q[:] = np.nan
        self._memory = self._part("memory")
        self._targets = Targets(self.model, self.tasks, self._followed, self._bound, scratch, lead, self._dt)
        self._line = None
        if self._explorer is None and self._loop_start is None and self._passive_loops is None:
            look = None if self._collision is None else scratch.sync_scene
            own = [task for task in self._followed if task.blocks]
            self._line = line_of_tracker(self._bound, own, scratch, look, self._lock, self._q.copy)

    def __getstate__(self) -> dict[str, Any]:
        names = ("_collision", "_bound", "_dt", "_followed", "_warned", "method", "model", "tasks")
        own = ("_passive_loops", "_loop_start", "_explorer", "_guide", "_error_bound")
        state = {name: getattr(self, name) for name in names} | {name: copy(getattr(self, name)) for name in own}
        return {**state, "lead": self._targets.lead, "past": self._scratch.past()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        past, lead = state.pop("past"), state.pop("lead")
        for name, value in state.items():
            setattr(self, name, value)
        self._bind(lead)
        self._scratch.return_to(past)

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
            if type(result) is int:
                self._warn_or_raise(result)
                return self._q.copy() if out is None else out
            if result is not None:
                return cast(Array, result)
        if out is not None:
            check_out("out", out, self.model)
        if not self._lock.acquire(False):
            raise RuntimeError(_BUSY)
        try:
            self._scratch.begin_at(self.model, self._last_command(measured) if q is None else q, "q")
            if target is not None:
                self._targets.aim(target, stepping=True)
            if self._collision is not None:
                self._scratch.sync_scene()
            self._error_bound.measure(self._measured, measured)
            if self._explorer is None or not self._detour_step(self._explorer, measured):
                code = self._bound.run(self._scratch.address)
                if code != SOLVED:
                    self._warn_or_raise(code)
                if self._passive_loops is not None:
                    self._passive_loops.warn_if_open(self.model, self._scratch.start)
                if self._loop_start is not None:
                    if self._memory[STAGE] == LOOPS_OPEN:
                        self._q[:] = self._loop_start(self._scratch.start)
                    else:
                        self._loop_start.forget()
            if out is None:
                return self._q.copy()
            out[:] = self._q
            return out
        except BaseException:
            self._scratch.start[:] = np.nan  # so that nothing is told of a step that was not taken
            self._scratch.resync_scene()
            raise
        finally:
            self._lock.release()

    def steps(self, q: Array, goals: Array, path: Array, postures: Array | None = None) -> None:
        """Fill `path` (steps, nq) by a `step` from `q` (nq,) towards each of `goals` (steps, tasks, 7), in one call.

        All are arrays of float64 without gaps; `postures` (steps, nq) are those of a PostureTask, which else stays.
        Raises as `step`.
        """
        if postures is None:
            postures = np.tile(self._targets.posture, (len(path), 1))
        more = self._collision, self._explorer, self._loop_start, self._passive_loops
        if all(one is None for one in more):
            with self._entered():
                self._error_bound.measure(self._measured, None)
                self._warn_or_raise(go_on(self._bound, self._scratch, q, goals, postures, path))
            return
        for k, row in enumerate(path):
            self.targets[:], self._targets.posture[:] = goals[k], postures[k]
            q = self.step(q, out=row)

    @property
    def targets(self) -> Array:
        """(tasks, 7) place and quaternion wxyz of each target, which the next step reads; write into it at will.

        A PostureTask has no row of it: see `posture`.
        """
        return self._targets.rows

    @targets.setter
    def targets(self, values: ArrayLike) -> None:
        given = numbers("targets", values)
        if given.shape != self.targets.shape:
            raise ShapeError(f"targets must have shape {self.targets.shape}, got {given.shape}")
        self.targets[:] = given

    @property
    def posture(self) -> Array | None:
        """(nq,) what the next step pulls to, if a PostureTask is followed; write into it at will."""
        return None if self._targets.posture_place is None else self._targets.posture

    @posture.setter
    def posture(self, q: ArrayLike) -> None:
        if self._targets.posture_place is None:
            raise InvalidValue(
                "needs", "posture is for a Tracker that follows a PostureTask: state one among the tasks"
            )
        given = self._targets.posture_of(q, "posture")
        if not np.abs(given).max(initial=0.0) <= LARGEST:
            self.model.normalize(given, "posture")  # says which number it is
        self._targets.posture[:] = given

    def aim(self, target: Any) -> None:
        """Take new targets for the next steps; see `step`."""
        with self._entered():
            self._targets.aim(target)

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
        start = np.atleast_2d(start)
        if self._loop_start is not None:
            self._loop_start.refuse_open(start)
        goals = self._targets.each_step(targets, None if single else len(start))
        path = np.empty((*goals.shape[:2], self.model.nq))
        if self._explorer is not None:
            failed = self._roll_by_steps(start, goals, path)
        else:
            shared = cores() if threads is None else threads
            rollouts = Rollouts(self.model, self._followed, self._bound)
            with self._entered():
                failed = rollouts.follow(start, goals, path, shared, single=single)
        with self._entered():
            self.reset()
            self._memory[FAILED] = float(failed)
        return path[0] if single else path

    def reset(self) -> None:
        """Forget the past: the next step is a first one, from rest; errors are unclamped if the clamp is adaptive."""
        self._memory[:] = 0.0
        self._q[:] = np.nan
        for past in _PASTS:
            self._part(past)[:] = 0.0
        if self._scratch.scene is not None:
            self._scratch.scene.forget()
        if self._explorer is not None and self._guide is not None:
            self._explorer.forget()
            self._guide.reset()
        if self._loop_start is not None:
            self._loop_start.forget()

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
                "inconsistent", f"the other Tracker is of another model, {other.model.name}: it must be the same object"
            )
        velocities = self._bound.problem.velocities
        if other._bound.problem.velocities != velocities:
            raise InvalidValue(
                "inconsistent",
                "the tasks of the other Tracker are moved by other joints, so its velocities are not known",
            )
        travel, travel_change = map(self._part, _WAYS)
        theirs_were = [other._part(past).copy() for past in _WAYS]
        command, shorter = other._q.copy(), 1.0
        if len(travel):
            if other._dt is None:
                raise InvalidValue("no-dt", "the other Tracker has no dt, so its velocities are not known: give it one")
            assert self._dt is not None
            shorter = self._dt / other._dt
            if not len(theirs_were[0]):
                theirs_were = [other.velocity[list(velocities)] * other._dt, np.zeros(len(travel))]
        with self._entered():
            self.reset()
            self._q[:] = command
            if len(travel):
                travel[:], travel_change[:] = shorter * theirs_were[0], shorter**2 * theirs_were[1]

    @property
    def velocity(self) -> Array:
        """(nv,) of the last step [rad/s or m/s], as it was commanded; 0 before the first and after a `reset`.

        Raises ValueError without a dt, and after a step that was refused.
        """
        if self._dt is None:
            raise InvalidValue("no-dt", "a velocity needs the time of a step: give the Tracker dt [s]")
        with self._entered():
            if self._memory[FRESH] < 0.5:
                return np.zeros(self.model.nv)
            q = self._last_q()
            return self.model.difference(self.model.normalize(self._scratch.start), q) / self._dt

    @property
    def errors(self) -> tuple[TaskError, ...]:
        """What the last step left of each of `tasks`, then of each loop: between its q and the targets as they are now.

        By forward kinematics, when it is asked for.  Raises ValueError before the first step and after a `reset`.
        """
        with self._entered():
            return self._errors(self._last_q())

    @property
    def active_limits(self) -> tuple[ActiveLimit, ...]:
        """The limits that the last step ended at, of the joints that move the tasks, and of shapes; empty: none.

        A joint that moves nothing but a posture counts at the limit of its position where the posture is beyond it.
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
            return None if self._collision is None else self._collision.nearest(self.model, q)

    @property
    def failed(self) -> bool:
        """Whether the last step, or one of the last rollout, was no finite number.

        A singular pose can make it so, or a task of your own whose residual has no number there.  q then stayed where
        it was, or braked where accelerations are limited.
        """
        return bool(self._memory[FAILED] > 0.5)

    def explain(self) -> str:
        """A sentence or two: what the last step left of each task, the limits that it ended at, what gave way, and
        which other tasks hold one back, with what helps."""
        with self._entered():
            if self._memory[FRESH] < 0.5:
                return "No step has been taken."
            if self._refused:
                return "The last step was refused or interrupted."
            q = self._last_q()
            left = [task.words(error) for task, error in zip(self._followed, self._errors(q), strict=True)]
            active = self._active(q)
            gave = relaxed_constraints(int(self._memory[STAGE]), self._bound.problem, active)
            others = "".join(f" {sentence}" for sentence in self._others(q, active))
        held = f" Held by limits: {'; '.join(map(str, active))}." if active else ""
        gave = f" Nothing kept all limits: {gave} gave way." if gave else ""
        return f"What is left: {'; '.join(left)}.{held}{gave}{others}{_SCOUT_WORDS.get(self._memory[SCOUT], '')}"

    def _others(self, q: Array, active: Sequence[ActiveLimit]) -> list[str]:
        """A sentence for each task that others keep short at q (nq,), but where joints go as fast as they may."""
        if any(limit.kind not in ("position", "distance", "linear") for limit in active):
            return []
        goals = zip(self._followed, self._targets.goals, strict=True)
        if not all(task.sound(self.model, goal[None]).all() for task, goal in goals):
            return []  # targets that were written meanwhile, and are none
        e, clamped = self._part("e"), self._part("clamped")
        share = np.divide(clamped, e, out=np.ones_like(e), where=e != 0.0) if len(clamped) == len(e) else 1.0
        asked = Question(self.model, self._followed, self.tasks, self._bound, q, self._scratch.goal, share)
        before = self.model.normalize(self._scratch.start)
        longest = float(np.abs(self.model.difference(before, q)).max(initial=0.0))
        settled = longest * self._memory[INVERSE_RADIUS] > _BEYOND
        said = rivals(asked) + ([] if settled else brakes(asked, before))
        looked_for = self._explorer is not None or self._scratch.scout is not None
        held = "" if looked_for or not active else " and ".join(limited(asked, before))
        return [*([f"Limits let {held} come no nearer: explore=True looks for a way round."] if held else []), *said]

    def export(self, file: str | os.PathLike[str]) -> None:
        """Write it as a file that `libpoise` loads, in C, C++ or a browser, with its `dt`, all limits and shapes.

        Its targets are those that it has now; of its past nothing is kept.  Its home is the model's, or where loops are
        closed near there.  See the page "In C and C++" of the documentation.  Raises ValueError for a tracker that
        needs Python, and says what for.
        """
        from poise.solving.search.exporting import export_tracker

        closed = None if self._loop_start is None else self._loop_start.closed(self.model.home)
        export_tracker(
            self.model, self._followed[: len(self.tasks)], self._bound, self._scratch, file,
            home=self.model.home if closed is None else closed,
            explores=self._explorer is not None, passive_loops=self._passive_loops is not None,
        )  # fmt: skip

    def _last_command(self, measured: ArrayLike | None) -> ArrayLike:
        """(nq,) where the last step led, or that of the tracker that was taken over; `measured` before the first."""
        if not np.isnan(self._q[0]):
            return self._q
        if measured is None:
            raise InvalidValue(
                "needs", "q is None, and no step has led anywhere yet: give q, or measured, where the robot is"
            )
        return one_start(self.model, measured, "measured")

    @property
    def _measured(self) -> Array:
        """(nq,) where the robot was at the last step, beginning with NaN where that was not known."""
        assert self._scratch.measured is not None
        return self._scratch.measured

    def _part(self, name: str) -> Array:
        """The rows of the workspace of this name."""
        return self._scratch.narrow[self._bound.problem.rows(name)]

    def _warn_or_raise(self, code: int) -> None:
        """Warn of the first step that was no finite number; raise ValueError for numbers that a kernel refused."""
        if code == NOT_FINITE and not self._warned:
            self._warned = True
            warnings.warn(_NOT_FINITE, RuntimeWarning, stacklevel=3)
        if code < 0:
            refuse_numbers(code, self.model, self._followed, self._targets.joined, self._scratch.start, "q")

    def _detour_step(self, explorer: Explorer, measured: ArrayLike | None) -> bool:
        """Take a step on the way round, where there is one; else let the explorer see how the last step went."""
        assert self._guide is not None
        scratch, guide = self._scratch, self._guide
        explorer.waits = self._memory[SHORTENED] > 0.5
        if self._memory[FRESH] > 0.5:
            explorer.look(scratch.start, self._memory[COST], self._memory[SCORE])
        corner = explorer.corner(scratch.start, scratch.goal)
        if corner is None:
            return False
        mine, theirs = self._bound.problem, guide._bound.problem
        some = [theirs.velocities.index(v) for v in mine.velocities]
        has_rates = len(mine.section("rates")) > 0
        for past in _WAYS if has_rates else ():
            guide._part(past)[some] = self._part(past)
        guide._targets.frames[: len(explorer.places)] = self._targets.frames[explorer.places]
        guide._targets.posture[:] = corner
        guide.step(scratch.start, measured=measured, out=self._q)
        for past in (*_WAYS, "motion.least", "motion.largest") if has_rates else ():
            self._part(past)[:] = guide._part(past)[some]
        some_memory = [STAGE, SHORTENED]
        self._memory[some_memory] = guide._memory[some_memory]
        self._measured[:] = guide._measured
        return True

    def _roll_by_steps(self, starts: Array, goals: Array, path: Array) -> bool:
        """Fill `path` by steps, which may look for ways round; whether one was no finite number."""
        saved, failed = self._targets.joined, False
        try:
            for c, q in enumerate(starts):
                self.reset()
                for k, row in enumerate(path[c]):
                    self._targets.joined = goals[c, k]
                    q = self.step(q, out=row)
                    failed = failed or self.failed
        finally:
            self._targets.joined = saved
        return failed

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """Keep other threads out within the block; raises RuntimeError where one is in."""
        if not self._lock.acquire(False):
            raise RuntimeError(_BUSY)
        try:
            yield
        finally:
            self._lock.release()

    def _last_q(self) -> Array:
        """(nq,) where the last step led."""
        if self._memory[FRESH] < 0.5:
            raise InvalidValue("needs", "no step has been taken, so there is nothing to tell of it: call step first")
        if self._refused:
            raise InvalidValue(
                "needs", "the last step was refused or interrupted, so there is nothing to tell of it: take another"
            )
        return self._q

    @property
    def _refused(self) -> bool:
        """Whether the last step raised an error, so that no q came of it."""
        return bool(np.isnan(self._scratch.start[0]))

    def _errors(self, q: Array) -> tuple[TaskError, ...]:
        pairs = zip(self._followed, self._targets.goals, strict=True)
        return tuple(task.error(task.judged(self.model, goal[None], q[None])[0]) for task, goal in pairs)

    def _active(self, q: Array) -> tuple[ActiveLimit, ...]:
        before = self.model.normalize(self._scratch.start)
        bound, posture = self._bound, self._targets.posture
        updates, work = bound.numbers["updates"], self._scratch.narrow
        found = active_limits(self.model, bound.problem, work, before, q, self._dt, updates, posture)
        found = self._error_bound.active(found, self._measured, q)
        if self._collision is None:
            return found
        return (*found, *at_distance(self._collision, self.model, self._collision.nearest(self.model, q)))
