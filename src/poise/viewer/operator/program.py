"""The operator's program: a hand that is guided while everything around it may be changed.

Source.   Das, Slotine and Sheridan 1988, sections 2.4 and 3: the operator guides the effector with a joystick, changes
          obstacles' places, shapes and sizes and the desired joints while the joints are computed, tries a variety of
          ways, and commits to one, whose joint positions are the commands.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite_positive, yes_or_no
from poise.common.errors import InvalidValue, ShapeError
from poise.geometry.shapes import Rounded
from poise.geometry.world import World
from poise.methods.base import Method, method_of
from poise.model.model import Model
from poise.model.proximity import Proximity
from poise.quaternions import conjugate, quaternion_log, quaternion_product
from poise.solving.arguments.twist import Lead, Twist
from poise.solving.requirements.collision import CollisionLimit
from poise.solving.tracking.tracker import Tracker
from poise.spatial import SE3, frozen, pose_of
from poise.tasks.pose import PoseTask, PositionTask
from poise.viewer.operator.attempt import Attempt
from poise.viewer.operator.control_law import Law
from poise.viewer.operator.moment import Snapshot
from poise.viewer.operator.setup import Obstacle, Setup, aimed, named, surround
from poise.viewer.operator.work import Work
from poise.viewer.session.body import bodied, reach
from poise.viewer.session.guided import Guided, Part

_LONGEST_TICK: Final = 1.0
_FIRST_TICK: Final = 1.0 / 60.0
"""[s]"""
_AHEAD: Final = 0.05
_AHEAD_TURNED: Final = 0.3
"""How far a target that is driven is ahead of the hand: as a share of the way along the links, and [rad]."""
_MOST_NUMBERS: Final = 20_000_000
"""Of a recording."""


_KeyedTracker: TypeAlias = tuple[tuple[Any, ...], Tracker]
"""A method at work, and what it was made from."""


@final
class Program(Guided):
    """Guide a frame of a model; see the module.

    A loop calls `tick`; every other method may be called meanwhile by any thread.  What makes no sense is refused with
    an error and changes nothing.  A `moment` needs no lock.

    Raises FrameNotFound for a frame that the model does not have, ValueError for one that no joint moves.
    """

    def __init__(
        self,
        model: Model,
        frame: str | None = None,
        *,
        turns: bool = False,
        start: ArrayLike | None = None,
        setup: Setup | None = None,
        lead: Lead | None = None,
    ) -> None:
        """`frame` None is the model's tip, `turns` says whether the target's rotation is followed too.

        `start` (nq,) is where it begins, None: the model's home.  `lead` is how far a target that is driven may be
        ahead of the hand; None: 5 % of the way along the links, and 0.3 rad.
        """
        frame = model.tip if frame is None else frame
        yes_or_no("turns", turns)
        self.turns = turns
        super().__init__(model, World(), (PoseTask(frame) if turns else PositionTask(frame),), frame)
        self._edit_lock = nullcontext()  # ticks go on while a method is made
        self._body = bodied(model, self.frame)
        self.lead = Lead(max(_AHEAD * reach(model, self.frame), 1e-3), _AHEAD_TURNED) if lead is None else lead
        self._start = frozen(self._configuration("start", model.home if start is None else start))
        self._stopping, self._dt = World(), _FIRST_TICK
        self._attempts: tuple[Attempt, ...] = ()
        self._committed: str | None = None
        self._recording: str | None = None
        self._rows: list[tuple[float, Array, SE3, Setup]] = []
        """Of the recording."""
        self._paused = False
        self._setup = Setup.of(model) if setup is None else setup
        self._target = self.model.pose(self.frame, self._start)
        self._keyed: _KeyedTracker = self._tracker_for(self._setup, self._dt, None)
        self._set(self._setup, self._keyed)
        self._put(self._start)

    # Guide -----------------------------------------------------------------------------------------------------------

    def aim(self, target: Any) -> None:
        """Put the target at a pose, as `SE3.parse` takes it, or at a point (3,), however far away."""
        with self._edited():
            self._target = aimed(target, self._target.rotation)

    def drive(
        self,
        linear: ArrayLike = (0.0, 0.0, 0.0),
        angular: ArrayLike = (0.0, 0.0, 0.0),
        *,
        frame: Literal["world", "tool"] = "world",
    ) -> None:
        """Move the target at these velocities (3,) [m/s] and (3,) [rad/s] until told otherwise.

        See `Twist`; where the target is ahead of the hand by more than `lead` already, it gets no farther.
        """
        drive = Twist(linear, angular, frame)
        with self._edited():
            self._drive = drive

    def drag(self, k: int, pose: ArrayLike) -> bool:
        """Put the target where its gizmo is (7,); False if that is refused."""
        return self.edit([None], lambda: self.aim(SE3(pose) if self.turns else SE3(pose).xyz), held=True)

    def release(self) -> None:
        """The target stays where it is."""
        self.let_go()

    # Set -------------------------------------------------------------------------------------------------------------

    def tune(self, **terms: Any) -> None:
        """Change terms of the `Law`, by their names."""
        known = [field.name for field in fields(Law)]
        for name in terms:
            if name not in known:
                raise InvalidValue("unknown-word", f"the law has no {name!r}; it has {', '.join(known)}")
        self._change(lambda setup: replace(setup, law=replace(setup.law, **terms)))

    def choose(self, method: str | Method | None) -> None:
        """Lead by another method, by its short name or with settings; None: by the law."""
        chosen = None if method is None else method_of(method)
        self._change(lambda setup: replace(setup, method=chosen))

    def desire(self, q: ArrayLike) -> None:
        """Set the desired joints q_d (nq,)."""
        desired = tuple(self._configuration("desired", q).tolist())
        self._change(lambda setup: replace(setup, desired=desired))

    def keep(self, **settings: Any) -> None:
        """Change `min_distance`, `self_collision` or `updates` of the `Setup`."""
        known = ("min_distance", "self_collision", "updates")
        for name in settings:
            if name not in known:
                raise InvalidValue("unknown-word", f"there is no setting {name!r}; there are {', '.join(known)}")
        self._change(lambda setup: replace(setup, **settings))

    def add(self, name: str, shape: Rounded, *, repels: bool = True, stops: bool = False) -> None:
        """Put an obstacle into the scene; see `Obstacle`."""
        obstacle = Obstacle(name=name, shape=shape, repels=repels, stops=stops)
        self._change(lambda setup: replace(setup, obstacles=(*setup.obstacles, obstacle)))

    def move(self, name: str, pose: Any) -> None:
        """Bring an obstacle's own frame to a pose, as `SE3.parse` takes it, or to a point (3,)."""

        def moved(obstacle: Obstacle) -> Obstacle:
            return replace(obstacle, shape=obstacle.shape.at(aimed(pose, obstacle.shape.pose.rotation)))

        self._change(lambda setup: setup.edited(name, moved))

    def reshape(self, name: str, shape: Rounded) -> None:
        """Give an obstacle another size or shape, at the place where that says that it is."""
        self._change(lambda setup: setup.edited(name, lambda o: replace(o, shape=shape)))

    def heed(self, name: str, *, repels: bool | None = None, stops: bool | None = None) -> None:
        """Say whether an obstacle repels and whether it stops; None: as it was."""
        changes: dict[str, Any] = {k: v for k, v in (("repels", repels), ("stops", stops)) if v is not None}
        self._change(lambda setup: setup.edited(name, lambda o: replace(o, **changes)))

    def remove(self, name: str) -> None:
        """Take an obstacle away."""
        self._change(lambda setup: setup.edited(name, lambda o: None))

    def load(self, setup: Setup) -> None:
        """Take over a whole setup, such as one from a file."""
        self._change(lambda _: setup)

    # Run -------------------------------------------------------------------------------------------------------------

    def tick(self, dt: float) -> Snapshot:
        """One update, of `dt` seconds; give the same at each call, for another makes the method anew.

        It moves nothing while paused.  Raises ValueError for a time that is no positive number up to 1 s; a step that
        fails is the moment's `trouble`.
        """
        finite_positive("dt", dt)
        if dt > _LONGEST_TICK:
            raise InvalidValue("out-of-range", f"dt is {dt:g}; a tick takes at most {_LONGEST_TICK:g} s")
        with self._edited():
            if dt != self._dt:
                self._keyed, self._dt = self._tracker_for(self._setup, dt, self._keyed), dt
            if not self._paused:
                self._advance()
        return self.moment

    def step(self) -> Snapshot:
        """One update of as many seconds as the last; and pause."""
        with self._edited():
            self._paused = True
            self._advance()
        return self.moment

    def pause(self) -> None:
        """Let ticks move nothing."""
        with self._edited():
            self._paused = True

    def resume(self) -> None:
        """Go on."""
        with self._edited():
            self._paused = False

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        self.resume() if self._paused else self.pause()

    def reset(self, q: ArrayLike | None = None) -> None:
        """Put the robot at `q` (nq,), which is the start from now on; None: at the start.  The target is its hand.

        Raises ValueError while an attempt is recorded.
        """
        with self._edited():
            self._refuse_recording("put the robot elsewhere")
            if q is not None:
                self._start = frozen(self._configuration("start", q))
            self._put(self._start)

    @property
    def moment(self) -> Snapshot:
        """The program as it is."""
        return self._moment

    # Record ----------------------------------------------------------------------------------------------------------

    def record(self, name: str | None = None) -> str:
        """Record an attempt from here on; the name, None: the next that is free.  Raises ValueError for a taken one."""
        with self._edited():
            self._refuse_recording("record another")
            taken = [attempt.name for attempt in self._attempts]
            if name is None:
                name = next(n for n in map("attempt {}".format, range(1, len(taken) + 2)) if n not in taken)
            if named("an attempt", name) in taken:
                raise InvalidValue(
                    "duplicate", f"there is an attempt {name!r} already; discard it, or choose another name"
                )
            self._recording, self._rows = name, [(self._time, self._q, self._target, self._setup)]
            return name

    def stop(self) -> Attempt:
        """End the recording; its attempt is kept beside the others.  Raises ValueError where none is recorded."""
        with self._edited():
            if self._recording is None:
                raise InvalidValue("needs", "nothing is being recorded: call record first")
            return self._keep_recording(self._recording)

    def toggle_recording(self) -> None:
        """Begin an attempt, or end it."""
        self.record() if self._recording is None else self.stop()

    def attempt_of(self, name: str) -> Attempt:
        """The attempt of this name; raises ValueError, with the names that there are."""
        attempts = self._moment.attempts
        for attempt in attempts:
            if attempt.name == name:
                return attempt
        names = ", ".join(repr(attempt.name) for attempt in attempts) or "none"
        raise InvalidValue("unknown-word", f"there is no attempt {name!r}; there are: {names}")

    def discard(self, name: str) -> None:
        """Throw an attempt away."""
        with self._edited():
            gone = self.attempt_of(name)
            self._attempts = tuple(attempt for attempt in self._attempts if attempt is not gone)
            if self._committed == name:
                self._committed = None

    def commit(self, name: str) -> Attempt:
        """Choose the attempt whose joints are the commands."""
        with self._edited():
            self._committed = self.attempt_of(name).name
            return self.attempt_of(name)

    # Keep ------------------------------------------------------------------------------------------------------------

    @property
    def work(self) -> Work:
        """All that has been made, as it is now, for `save_work`."""
        with self._lock:
            return Work(
                model=self.model, frame=self.frame, turns=self.turns, start=self._start, setup=self._setup,
                attempts=self._attempts, committed=self._committed,
            )  # fmt: skip

    def open_work(self, work: Work) -> None:
        """Go on with such work, in place of all that there is, from its start.

        Raises ValueError while an attempt is recorded, and for work with another robot, frame or kind of target.
        """
        if work.model.coordinates != self.model.coordinates:
            raise InvalidValue(
                "inconsistent", f"the work is with the robot {work.model.name!r}, whose joints have other names"
            )
        if (work.frame, work.turns) != (self.frame, self.turns):
            there, here = ("pose" if turns else "position" for turns in (work.turns, self.turns))
            raise InvalidValue(
                "inconsistent",
                f"the work guides the {there} of {work.frame!r}, and the program the {here} of {self.frame!r}: "
                "start the program with that",
            )
        start, dt = frozen(self._configuration("start", work.start)), self._dt
        keyed = self._tracker_for(work.setup, dt, None)
        with self._edited():
            self._refuse_recording("take up other work")
            self._set(work.setup, keyed if self._dt == dt else self._tracker_for(work.setup, self._dt, None))
            self._start, self._attempts, self._committed = start, work.attempts, work.committed
            self._put(start)

    # Details ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def _edited(self) -> Iterator[None]:
        """Hold the lock, and publish what there is then."""
        with self._lock:
            yield
            self._publish()

    def _part(self, part: Part) -> Any:
        if part is None:
            return self._target
        return next((obstacle for obstacle in self._setup.obstacles if obstacle.name == part), None)

    def _bring_back(self, part: Part, was: Any) -> None:
        if part is None:
            self.aim(was)
        elif part in self.world:
            self._change(lambda setup: setup.edited(part, lambda _: was))
        elif was is not None:
            self._change(lambda setup: replace(setup, obstacles=(*setup.obstacles, was)))

    def _configuration(self, name: str, q: ArrayLike) -> Array:
        """(nq,) a configuration within the limits; raises ShapeError or ValueError."""
        found = self.model.normalize(q, name)
        if found.ndim != 1:
            raise ShapeError(f"{name} must be one configuration ({self.model.nq},), got shape {found.shape}")
        outside = (found < self.model.lower) | (found > self.model.upper)
        if outside.any():
            i = int(outside.argmax())
            raise InvalidValue(
                "outside-limits",
                f"{name} has {self.model.coordinates[i]!r} at {found[i]:g}, and its limits are "
                f"{self.model.lower[i]:g} and {self.model.upper[i]:g}",
            )
        return found

    def _change(self, edit: Callable[[Setup], Setup]) -> None:
        """Take over an edited setup, if it can be led by.

        What leads by it is made outside the lock, since a method may have to be compiled; if something else has changed
        meanwhile, the edit is made once more.
        """
        while True:
            with self._lock:
                before, dt, keyed = self._setup, self._dt, self._keyed
            setup = edit(before)
            made = self._tracker_for(setup, dt, keyed)
            with self._edited():
                if self._setup is before and self._dt == dt:
                    self._set(setup, made)
                    return

    def _set(self, setup: Setup, keyed: _KeyedTracker) -> None:
        self._setup, self._keyed = setup, keyed
        surround(self.world, setup.obstacles)
        surround(self._stopping, setup.stopping)

    def _tracker_for(self, setup: Setup, dt: float, old: _KeyedTracker | None) -> _KeyedTracker:
        """What leads by a setup; of the old one, it keeps what would be made the same.

        Raises ShapeError or ValueError for a setup that nothing can lead by.
        """
        if len(setup.desired) != self.model.nq:
            raise ShapeError(
                f"desired has {len(setup.desired)} numbers, and {self.model.name} has {self.model.nq} (nq)"
            )
        method, period = setup.full_method, dt / setup.updates
        limit = (setup.min_distance, setup.self_collision) if setup.stops else None
        key = (method, period, limit)
        if old is not None and old[0] == key:
            return old
        collision = CollisionLimit(self._stopping, min_distance=setup.min_distance, self_collision=setup.self_collision)
        model, limits = (self.model, True) if limit is None else (self._body, [collision])
        return key, Tracker(model, self._tasks[0], method, dt=period, limits=limits, settle=False)

    def _put(self, q: Array) -> None:
        """Rest at q, with the target at the hand."""
        self._q, self._time, self._ticks = q, 0.0, 0
        self._hand = self._target = self.model.pose(self.frame, q)
        self._drive = Twist()
        self._velocity = frozen(np.zeros(self.model.nv))
        self._trouble: str | None = None
        self._keyed[1].reset()
        self._publish()

    def _advance(self) -> None:
        """One update: the target, then the joints."""
        if np.any(self._drive.linear) or np.any(self._drive.angular):
            self._target = self._driven()
        before = q = self._q
        self._trouble, goal = None, self._target if self.turns else self._target.xyz
        try:
            for _ in range(self._setup.updates):
                q = self._keyed[1].step(q, goal)
            self._q = frozen(q)
        except (ValueError, RuntimeError, Warning) as error:
            self._trouble = str(error)
        if self._keyed[1].failed:
            self._trouble = "the step was no finite number, as a singular pose can make it: damp the method"
        self._velocity = frozen(self.model.difference(before, self._q) / self._dt)
        self._hand = self.model.pose(self.frame, self._q)
        self._time, self._ticks = self._time + self._dt, self._ticks + 1
        if self._recording is not None:
            self._rows.append((self._time, self._q, self._target, self._setup))
            if len(self._rows) * (8 + self.model.nq) > _MOST_NUMBERS:
                name = self._keep_recording(self._recording).name
                self._trouble = f"the recording of {name!r} has ended, for it is as long as one may be"

    def _driven(self) -> SE3:
        """Where the target is a tick later; where nothing turns, it has the rotation of the hand, or its own."""
        target, hand = self._target.array, self._hand.array
        if not self.turns:
            target = np.array([*target[:3], *hand[3:]])
        lead = replace(self.lead, distance=max(self.lead.distance, math.dist(target[:3], hand[:3])))
        moved = self._drive.moved(target, hand, self._dt, lead)
        turned = moved if self.turns and np.any(self._drive.angular) else target
        return pose_of(np.array([*moved[:3], *turned[3:]]))

    def _keep_recording(self, name: str) -> Attempt:
        time, q, target, setups = zip(*self._rows, strict=True)
        attempt = Attempt(
            name=name, model=self.model, frame=self.frame, turns=self.turns, time=np.array(time) - time[0],
            q=np.array(q), target=np.array([pose.array for pose in target]),
            setups=tuple((i, now) for i, now in enumerate(setups) if i == 0 or now is not setups[i - 1]),
        )  # fmt: skip
        self._attempts, self._recording, self._rows = (*self._attempts, attempt), None, []
        return attempt

    def _refuse_recording(self, what: str) -> None:
        if self._recording is not None:
            raise InvalidValue(
                "conflict", f"the attempt {self._recording!r} is being recorded: stop that first, then {what}"
            )

    def _publish(self) -> None:
        turn = quaternion_log(quaternion_product(self._target.wxyz, conjugate(self._hand.wxyz)))
        self._moment = Snapshot(
            time=self._time,
            ticks=self._ticks,
            q=self._q,
            tasks=self._tasks,
            goals=self._target.array[None],
            nearest=self._nearest(),
            velocity=self._velocity,
            target=self._target,
            hand=self._hand,
            position_error=math.dist(self._target.xyz, self._hand.xyz),
            rotation_error=float(np.linalg.norm(turn)),
            drive=self._drive,
            paused=self._paused,
            recording=self._recording,
            setup=self._setup,
            attempts=self._attempts,
            committed=self._committed,
            trouble=self._trouble,
        )

    def _nearest(self) -> Proximity | None:
        found = self._body.distance(self._q, self.world) if self._setup.obstacles else None
        return found if isinstance(found, Proximity) else None
