"""What takes the steps of a Tracker, and of the guide on its ways round: a method bound to tasks, and its past."""

import warnings
from collections.abc import Sequence
from copy import copy
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import ANSWER, NOT_FINITE, SOLVED
from poise.kernels.machine.memory import FRESH, STAGE
from poise.kernels.requirements.stages import LOOPS_OPEN
from poise.methods.base import Method, method_of
from poise.model.model import Model
from poise.solving.arguments.arguments import one_start, refuse_numbers
from poise.solving.arguments.twist import Lead
from poise.solving.arguments.weights import relative
from poise.solving.methods.bound_method import bound_method
from poise.solving.methods.posture import cost_posture, one_posture, pulled
from poise.solving.problem.problem import pack
from poise.solving.requirements.active_limit import ActiveLimit
from poise.solving.requirements.active_limits import active_limits
from poise.solving.requirements.collision import at_distance
from poise.solving.requirements.inequalities import VelocityLimit
from poise.solving.requirements.limits import Limits
from poise.solving.requirements.loops import PassiveLoops, loop_tasks
from poise.solving.requirements.ranges import ranges
from poise.solving.requirements.tool_speed import ToolSpeedLimit
from poise.solving.tracking.following_error import FollowingErrorBound, FollowingErrorLimit
from poise.solving.tracking.loop_start import LoopStart
from poise.solving.tracking.targets import Targets
from poise.tasks.base import Task, levels
from poise.tasks.error import TaskError
from poise.tasks.loop import LoopTask

_NOT_FINITE: Final = (
    "a step of this Tracker was no finite number, as a singular pose or a task of your own can make it, and q stayed "
    "where it was, or braked where accelerations are limited: damp the method, or let the residual be a number "
    "everywhere; `failed` tells of every such step, this warning of the first"
)
_OF_SCRATCH: Final = ("measured", "memory", "q", "scratch", "targets")
"""What shares memory with a workspace, and is made anew with one."""
WAYS: Final = ("motion.displacement", "motion.displacement_change")
"""The rows of the workspace that hold the last step, and its change."""
_PASTS: Final = (
    "step", "last_step", "last_target", "last_guide", *WAYS, "approach.tracking_error",
    "approach.target_velocity", "approach.target_velocity_change", "approach.last_feed_forward",
    "approach.remaining_errors",
)  # fmt: skip
"""The rows of the workspace that hold what is remembered of steps."""


@final
class Stepper:
    """A method bound to tasks, the targets that it reads, and the workspace that holds its past."""

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        method: str | Method | None,
        given: Limits,
        rate: VelocityLimit,
        *,
        dt: float | None,
        updates: int,
        following_error: FollowingErrorLimit,
        framed: Sequence[Task],
        settle: bool,
        lead: Lead,
    ) -> None:
        """With a `dt` [s] joints go at a `rate` of the model's speeds; `following_error` bounds the frames of the tasks
        `framed`."""
        tasks = tuple(task.in_steps(model, None if dt is None else dt / updates) for task in tasks)
        posture, limits = one_posture(tasks), given.positions
        followed = (*relative(tasks)[0], *loop_tasks(model, tasks))
        frame_tasks = tuple(task for task in followed if task.blocks)
        self.passive_loops = PassiveLoops.of(model, tasks, limits=limits)
        """Loops that no task moves; None where there are none."""
        loops = [task for task in frame_tasks if isinstance(task, LoopTask)]
        speeds = () if dt is None else (rate, *(limit for limit in given.others if isinstance(limit, VelocityLimit)))
        self.loop_start = LoopStart(model, loops, limits=limits, bounds=speeds, dt=dt) if loops else None
        """Where a start is led at which loops are open; None where there are none."""
        weighing = cost_posture(model, ()) if posture is None else posture
        if method is None:
            tied = given.timeless(model).has_constraints or bool(loops) or bool(ranges(frame_tasks))
            ranked = len(levels(frame_tasks)) > 1 or (tied and weighing is not None)
            method = "priority" if ranked else "qp" if tied else "dls"
        self.model, self.method, self._warned = model, method_of(method), False
        self._tools = tuple(limit for limit in given.others if isinstance(limit, ToolSpeedLimit))
        if posture is None and weighing is not None and not self.method.in_levels.follows_posture:
            raise InvalidValue(
                "not-supported",
                f"the method {self.method.name!r} knows no joint_costs: choose 'dls', 'qp' or 'priority'",
            )
        also = [] if posture is None else pulled(model, posture)
        problem = pack(model, frame_tasks, limits=limits, also=[*also, *given.tied(model)])
        self.bound = bound_method(
            model, frame_tasks, problem, self.method, "step", limits=limits,
            also=[*given.others, *(() if dt is None else (rate,))], collision=given.collision, keep_constraints=True,
            stepping=True, dt=dt, updates=updates, posture=weighing, pulls=posture is not None,
            numbers={"anti_chatter": int(settle)},
        )  # fmt: skip
        self._error_bound = FollowingErrorBound(following_error, model, framed, self.bound.problem)
        self._bind(tasks, followed, lead, dt)
        if posture is None:
            self.targets.posture[:] = model.home[: len(self.targets.posture)]  # which pulls nothing, and is read
        for task, goal in zip(followed, self.targets.goals, strict=True):
            goal[:] = task.at(model, model.home) if task.target is None else task.goal_on(model)

    def _bind(self, *of_targets: Any) -> None:
        """Make the workspace that holds its past, and the targets of these tasks, to be followed so."""
        scratch = self.scratch = self.bound.new(self.model)
        self.measured: Array = scratch.follow(self._error_bound.problem)
        """(nq,) where the robot was at the last step, beginning with NaN where that was not known."""
        self.q: Array = scratch.out[ANSWER : ANSWER + self.model.nq]
        """(nq,) where the last step led; NaN before the first."""
        self.q[:] = np.nan
        self.memory: Array = self.part("memory")
        self.targets = Targets(self.model, self.bound, scratch, *of_targets)

    def __getstate__(self) -> dict[str, Any]:
        own = {name: copy(getattr(self, name)) for name in ("passive_loops", "loop_start")}
        state = {name: value for name, value in self.__dict__.items() if name not in _OF_SCRATCH}
        return state | own | {"past": self.scratch.past(), "of_targets": self.targets.given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        past, of_targets = state.pop("past"), state.pop("of_targets")
        self.__dict__.update(state)
        self._bind(*of_targets)
        self.scratch.return_to(past)

    @property
    def closes_loops(self) -> bool:
        """Whether Python has to see to loops after a step."""
        return self.loop_start is not None or self.passive_loops is not None

    @property
    def has_rates(self) -> bool:
        """Whether the last step bounds the next, as by accelerations."""
        return len(self.bound.problem.section("rates")) > 0

    def part(self, name: str) -> Array:
        """The rows of the workspace of this name."""
        return self.scratch.narrow[self.bound.problem.rows(name)]

    def begin(self, q: ArrayLike | None, target: Any, measured: ArrayLike | None) -> None:
        """Write what the next step reads, see `Tracker.step`."""
        scratch = self.scratch
        scratch.begin_at(self.model, self._last_command(measured) if q is None else q, "q")
        if target is not None:
            self.targets.aim(target, stepping=True)
        if scratch.scene is not None:
            scratch.sync_scene()
        if measured is None:
            self.measured[0] = np.nan
        else:
            self._error_bound.measure(self.measured, measured)

    def take(self) -> None:
        """Take the step from what stands in the workspace; where it leads is `q`."""
        start, code = self.scratch.start, self.bound.run(self.scratch.address)
        if code != SOLVED:
            self.warn_or_raise(code, stacklevel=4)
        if self.passive_loops is not None:
            self.passive_loops.warn_if_open(self.model, start)
        if self.loop_start is not None:
            if self.memory[STAGE] == LOOPS_OPEN:
                self.q[:] = self.loop_start(start)
            else:
                self.loop_start.forget()

    def warn_or_raise(self, code: int, stacklevel: int = 3) -> None:
        """Warn of the first step that was no finite number; raise ValueError for numbers that a kernel refused."""
        if code == NOT_FINITE and not self._warned:
            self._warned = True
            warnings.warn(_NOT_FINITE, RuntimeWarning, stacklevel=stacklevel)
        if code < 0:
            refuse_numbers(code, self.model, self.targets.followed, self.targets.joined, self.scratch.start, "q")

    def drop(self) -> None:
        """Let nothing be told of a step that was not taken."""
        self.scratch.start[:] = np.nan

    def reset(self) -> None:
        """Forget the past."""
        self.memory[:] = 0.0
        self.q[:] = np.nan
        for past in _PASTS:
            self.part(past)[:] = 0.0
        if self.scratch.scene is not None:
            self.scratch.scene.forget()
        if self.loop_start is not None:
            self.loop_start.forget()

    def take_over(self, other: "Stepper") -> None:
        """Go on after the last step of another of the same model, see `Tracker.take_over`."""
        velocities, ways, dt = self.bound.problem.velocities, [other.part(way).copy() for way in WAYS], other.targets.dt
        if other.bound.problem.velocities != velocities:
            raise InvalidValue(
                "inconsistent",
                "the tasks of the other Tracker are moved by other joints, so its velocities are not known",
            )
        command, shorter = other.q.copy(), 1.0
        if self.has_rates:
            if dt is None:
                raise InvalidValue("no-dt", "the other Tracker has no dt, so its velocities are not known: give it one")
            assert self.targets.dt is not None
            shorter = self.targets.dt / dt
            if not other.has_rates:
                ways = [other.velocity[list(velocities)] * dt, np.zeros(len(velocities))]
        self.reset()
        self.q[:] = command
        if self.has_rates:
            for power, (name, way) in enumerate(zip(WAYS, ways, strict=True), 1):
                self.part(name)[:] = shorter**power * way

    def _last_command(self, measured: ArrayLike | None) -> ArrayLike:
        """(nq,) where the last step led, or that of the tracker that was taken over; `measured` before the first."""
        if not np.isnan(self.q[0]):
            return self.q
        if measured is None:
            raise InvalidValue(
                "needs", "q is None, and no step has led anywhere yet: give q, or measured, where the robot is"
            )
        return one_start(self.model, measured, "measured")

    # What is told of the last step -----------------------------------------------------------------------------------

    @property
    def has_stepped(self) -> bool:
        """Whether a step was taken, and nothing has been forgotten since."""
        return bool(self.memory[FRESH] > 0.5)

    @property
    def refused(self) -> bool:
        """Whether the last step raised an error, so that no q came of it."""
        return bool(np.isnan(self.scratch.start[0]))

    def last_q(self) -> Array:
        """(nq,) where the last step led; raises ValueError where there is nothing to tell."""
        if not self.has_stepped:
            raise InvalidValue("needs", "no step has been taken, so there is nothing to tell of it: call step first")
        if self.refused:
            raise InvalidValue(
                "needs", "the last step was refused or interrupted, so there is nothing to tell of it: take another"
            )
        return self.q

    def last_start(self) -> Array:
        """(nq,) where the last step began."""
        return self.model.normalize(self.scratch.start)

    @property
    def velocity(self) -> Array:
        """(nv,) of the last step, see `Tracker.velocity`."""
        if self.targets.dt is None:
            raise InvalidValue("no-dt", "a velocity needs the time of a step: give the Tracker dt [s]")
        if not self.has_stepped:
            return np.zeros(self.model.nv)
        q = self.last_q()
        return self.model.difference(self.last_start(), q) / self.targets.dt

    def errors(self, q: Array) -> tuple[TaskError, ...]:
        """What is left of each task that is followed, at `q` (nq,)."""
        pairs = zip(self.targets.followed, self.targets.goals, strict=True)
        return tuple(task.error(task.judged(self.model, goal[None], q[None])[0]) for task, goal in pairs)

    def active_limits(self, q: Array) -> tuple[ActiveLimit, ...]:
        """The limits that the last step ended at, at `q` (nq,)."""
        bound, targets = self.bound, self.targets
        found = active_limits(
            self.model, bound.problem, self.scratch.narrow, self.last_start(), q, targets.dt, bound.numbers["updates"],
            targets.posture,
        )  # fmt: skip
        found = self._error_bound.active(found, self.measured, q)
        if targets.dt is not None:
            found += tuple(
                met for limit in self._tools for met in limit.met(self.model, self.last_start(), q, targets.dt)
            )
        if bound.collision is None:
            return found
        return (*found, *at_distance(bound.collision, self.model, bound.collision.nearest(self.model, q)))
