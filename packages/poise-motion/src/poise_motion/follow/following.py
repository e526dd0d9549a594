"""How a robot follows where its parts shall be: tasks in levels, one step a frame.

What stands changes, and with it what is asked, so there is a Tracker for each set of parts that stand, and one takes
over from another with the robot's velocities.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Final, NamedTuple, Self, final

import numpy as np

from poise import ConeTask, InvalidValue, Model, OrientationTask, PoseTask, PositionTask, PostureTask, Task, Tracker
from poise.criteria import RestPosture
from poise.damping import Curvature
from poise.extending import Array, Limits
from poise.methods import TaskPriority
from poise.quaternions import conjugate, part_of_turn, quaternion_product, rotate
from poise_motion.contact.pinning import Span, fading
from poise_motion.follow.detours import Detour, Limb, detour, limbs
from poise_motion.follow.first_frame import converged, first
from poise_motion.follow.postures import averaged, begun_at
from poise_motion.follow.self_collision import touching
from poise_motion.follow.spans import CATCH_UP, pieces, spans
from poise_motion.follow.task_stack import Stance, Standing, held, tasks
from poise_motion.reference.bodies import Robot, Source, Targets
from poise_motion.reference.objects import on_objects
from poise_motion.reference.targets import EASE, FLOOR, ground_of, sunk

SUBSTEP: Final = 0.0125
"""How long an update may stand for [s]; a frame that takes longer is followed in several."""
_UPDATES: Final = 100
"""But no more than these, of which each stands for longer."""
_LAG: Final = 0.1
"""Gain of the damping: less follows more closely, and shakes where an arm is straight."""
_CLOSE: Final = 0.05
"""The same for a body that gets off its feet, whose trunk and limbs turn far from one frame to the next."""
_FIRST: Final = 0.02
"""The share of it that the first level has: where the trunk lags, limbs do that stand."""
_FREE_FALL: Final = 0.2
"""The same while nothing stands, off its feet."""
_HOME_PULL: Final = 0.02
"""Pull to the robot's home, where no task has a say."""
_AT_ONCE: Final = 1024
"""Frames of one call at most, so that Python hears of signals."""
_CHECKPOINT_SPACING: Final = 100
"""Frames from one mark to the next, at least."""
_ROUNDS: Final = 12
"""How often a path is followed once more with ways round what held an arm, at most."""
_WORTH: Final = 0.8
"""The share of the frames in which an arm is off that may be left, for a way round to be gone."""


@final
class Checkpoints(NamedTuple):
    """Frames from which a motion can be followed otherwise that is the same up to there."""

    wanted: Targets
    """What was followed, before that was changed by where feet came down."""
    trackers: dict[int, Tracker]
    """By frame, the Tracker that led there."""
    begin: Array
    """(nq,) the posture before the first frame."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """What the robot did."""

    q: Array
    """(frames, nq)"""
    targets: Targets
    """What it followed: feet that stand do so where they came down."""
    seconds: Array
    """(frames,) what each frame took, on average over a span in which what stands stays the same."""
    detours: tuple[Detour, ...] = ()
    """The ways on which arms went round what they could not pass."""
    checkpoints: Checkpoints | None = None
    """From where the same can be followed otherwise; None where nobody will."""


@final
class WarmStart:
    """What was found while a motion was followed with targets that are nearly the same."""

    def __init__(self) -> None:
        self.spans = defaultdict[Limb, list[Span]](list)
        """The frames of limbs that need no further look for ways round."""
        self.detours: tuple[Detour, ...] = ()
        """The ways that are worth it."""
        self.done: Followed | None = None
        """What the robot did the last time."""


@final
class _TaskRows(NamedTuple):
    """What the tasks of a Tracker lead."""

    tasks: int
    """How many there are."""
    places: list[tuple[int, str, Array | None]]
    """The numbers of those that lead a place, each with the part of which, and how far (3,) what is led is from that
    of the part, in its frame [m]; None for no way."""
    turns: list[tuple[int, str]]
    """The numbers of those that lead a rotation, each with the part of which."""
    axes: list[tuple[int, str, Array]]
    """The numbers of those that lead an axis (3,), each with the part that it is of."""

    @classmethod
    def by(cls, robot: Robot, stack: Sequence[Task]) -> Self:
        places, turns, axes = list[tuple[int, str, Array | None]](), [], []
        for k, task in enumerate(stack):
            part = robot.part(task)
            if isinstance(task, ConeTask):
                axes.append((k, robot.part_of(task.frame), np.array(task.axis)))
            if part is not None and not isinstance(task, OrientationTask):
                offset = task.offset if isinstance(task, PositionTask | PoseTask) else None
                aside = np.zeros(3) if offset is None else offset.xyz - robot.points[part]
                places.append((k, part, aside if aside.any() else None))
            if part is not None and isinstance(task, PoseTask | OrientationTask):
                turns.append((k, part))
        return cls(len(stack), places, turns, axes)


@final
class Follower:
    """A robot, and a Tracker for each way to stand."""

    def __init__(self, robot: Robot, dt: float, limits: Limits, speed: float) -> None:
        self.robot, self._dt, self._limits, self._speed = robot, dt, limits, speed
        self._trackers: dict[tuple[Stance, bool, frozenset[str]], Tracker] = {}
        self._updates = min(_UPDATES, max(1, int(np.ceil(dt / SUBSTEP - 1e-9))))
        self._untimed_trackers: dict[tuple[Stance, bool], Tracker] = {}
        self._rows: dict[Tracker, _TaskRows] = {}
        self._limbs = limbs(robot)
        self._fingers = columns_of(robot.model, robot.fingers)

    def follow(
        self,
        source: Source,
        targets: Targets,
        *,
        smooth: float = 0.0,
        start: Array | None = None,
        warm_start: WarmStart | None = None,
    ) -> Followed:
        """What the robot does, frame by frame; averaged over `smooth` [s] and followed again where that is not 0.

        Where the posture of the first frame is known, to begin with, it is `start` (nq,); else it is looked for.  Ways
        round of `warm_start` are gone again or left, and what is found is added: targets that are a little higher are
        followed without another search.
        """
        warm_start = WarmStart() if warm_start is None else warm_start
        done = self.go(source, targets, warm_start.detours, start, warm_start.done)
        for _ in range(_ROUNDS):
            ways = self._ways(source, done, warm_start.spans)
            if not ways:
                break
            other = self.go(source, targets, (*done.detours, *ways), start, done)
            worth = [way for way in ways if self._worth(way, done, other)]
            if worth:
                all_are = len(worth) == len(ways)
                done = other if all_are else self.go(source, targets, (*done.detours, *worth), start, done)
        warm_start.detours, warm_start.done = done.detours, done
        done = replace(done, q=done.q.copy(), seconds=done.seconds.copy(), checkpoints=None)
        if smooth > 0.0 and len(done.q) > 1:
            again = replace(done, targets=self._stood(source, done))
            postures = averaged(self.robot.model, done.q, smooth / self._dt)
            self._walk(source, again, postures, begin=postures[0])
        return done

    def _stood(self, source: Source, done: Followed) -> Targets:
        """The targets, those of parts that stand as far given way as they were."""
        places, turns = dict(done.targets.places), dict(done.targets.turns)
        for part in self.robot.soles:
            on = source.contacts[part]
            poses = self.robot.model.poses(done.q[on], [self.robot.frames[part]])[:, 0]
            places[part], turns[part] = places[part].copy(), turns[part].copy()
            places[part][on], turns[part][on] = poses.act(self.robot.points[part]), poses.wxyz
        return replace(done.targets, places=places, turns=turns)

    def go(
        self,
        source: Source,
        targets: Targets,
        detours: tuple[Detour, ...] = (),
        start: Array | None = None,
        like: Followed | None = None,
    ) -> Followed:
        """Follow the targets once, with these ways round and no others.

        Up to where they are those of `like` the robot does as it did there.
        """
        wanted = on_objects(targets, source, self.robot)
        places, turns = ({part: path.copy() for part, path in some.items()} for some in (wanted.places, wanted.turns))
        own = replace(wanted, places=places, turns=turns)
        frames = len(source.times)
        checkpoints, known = Checkpoints(wanted, {}, np.empty(self.robot.model.nq)), False
        done = Followed(np.empty((frames, self.robot.model.nq)), own, np.zeros(frames), detours, checkpoints)
        if like is not None and like.checkpoints is not None:
            alike = _alike(done, like, like.checkpoints.wanted, wanted)
            checkpoints.trackers.update(
                {frame: tracker for frame, tracker in like.checkpoints.trackers.items() if frame < alike}
            )
            if checkpoints.trackers:
                self._resume(source, done, like, max(checkpoints.trackers))
            checkpoints.begin[:], known = like.checkpoints.begin, alike > 0
        self._walk(source, done, None, start, checkpoints.begin if known else None)
        return done

    def _resume(self, source: Source, done: Followed, like: Followed, checkpoint: int) -> None:
        """Do up to a mark as was done before."""
        done.q[:checkpoint], done.seconds[:checkpoint] = like.q[:checkpoint], like.seconds[:checkpoint]
        _begin_as(done.targets, like.targets, checkpoint)
        for part in source.contacts.parts:
            came = [one.start for one in source.contacts.intervals if one.part == part and 0 < one.start < checkpoint]
            if came:
                here = self.robot.poses(done.q[came[-1] - 1])[part]
                _pin(self.robot, source, done.targets, part, came[-1], here)
        _begin_as(done.targets, like.targets, checkpoint)

    def _ways(self, source: Source, done: Followed, searched: dict[Limb, list[Span]]) -> list[Detour]:
        """The next way round for each limb that needs one, and that has not been tried."""
        ways, ease = [], int(np.ceil(CATCH_UP / self._dt))
        standing = Stance(frozenset(Standing(part, source.hold) for part in source.contacts.parts), False, False)
        for limb in self._limbs:
            way, vain = detour(self.robot, limb, done.targets, done.q, self._dt, self._speed, searched[limb])
            searched[limb] += vain
            if way is not None and self._free(standing, limb.parts):  # else nothing else is asked of the robot
                searched[limb] += [way.caught, (way.start, way.stop + ease)]
                ways.append(way)
        return ways

    def _worth(self, way: Detour, before: Followed, after: Followed) -> bool:
        """Whether a limb is off in fewer frames, from the begin of a way to where it follows again, or was caught, and
        by the end of the motion in no more."""
        till = max(way.caught[1], way.stop + int(np.ceil(CATCH_UP / self._dt))) - way.start
        rest = slice(way.start, None)
        was, is_off = (
            way.limb.off(self.robot, done.targets, done.q[rest], rest) > way.limb.away for done in (before, after)
        )
        return bool(is_off[:till].sum() < _WORTH * was[:till].sum() and is_off.sum() <= was.sum())

    def _walk(
        self,
        source: Source,
        done: Followed,
        postures: Array | None,
        start: Array | None = None,
        begin: Array | None = None,
    ) -> None:
        """Fill the path by one step a frame: towards targets, or towards postures with feet held; from `begin` (nq,),
        or what is found from `start` (nq,) or else from many."""
        path, targets, again = done.q, done.targets, postures is not None
        checkpoints = {} if done.checkpoints is None else done.checkpoints.trackers
        q, last, checkpoint = path[0].copy(), None, max(checkpoints, default=0)
        if checkpoint:
            q, last = path[checkpoint - 1].copy(), checkpoints[checkpoint]
        for stance, coming, span in spans(source, () if again else done.detours, self.robot):
            if span.start < checkpoint:
                continue
            ways = [] if again else [way for way in done.detours if way.start <= span.start < way.stop]
            # A copy of a Tracker that keeps shapes apart would pack them anew.
            due = span.start >= checkpoint + _CHECKPOINT_SPACING and not targets.apart[span.start - 1]
            if last is not None and not again and due:
                checkpoint = span.start
                checkpoints[checkpoint] = copy(last)
            away = frozenset(part for way in ways for part in way.limb.parts)
            stance = replace(stance, apart=bool(targets.apart[span.start]))
            rows = self._rows_of(self._tracker(stance, again, away))
            pulls = None if postures is None else postures[span]
            if postures is not None and last is not None:
                pulls = begun_at(self.robot.model, postures[span], q, postures[span.start - 1], source.times[span])
            if last is None:
                goals = _goals(rows, targets, span)
                q = self._first(stance, goals[0], start) if begin is None else begin
                if done.checkpoints is not None:
                    done.checkpoints.begin[:] = q
            else:
                here = self.robot.poses(q)
                for part in () if again else coming:
                    _pin(self.robot, source, targets, part, span.start, here[part])
                goals = _goals(rows, targets, slice(span.start - 1, span.stop))
                goals, before = goals[1:], goals[0]
                _ease_in(rows, goals, before, here, source.times[span], but=coming)
            if ways:
                pulls = np.tile(q, (span.stop - span.start, 1))
                for way in ways:
                    pulls[:, way.limb.columns] = way.path[span.start - way.start : span.stop - way.start]
            for piece in pieces(targets.apart, span):
                rest = piece.start - span.start
                if rest:  # what kept shapes apart has kept parts from where they were led
                    times = source.times[piece.start : span.stop]
                    _ease_in(rows, goals[rest:], goals[rest - 1].copy(), self.robot.poses(q), times, but=())
                tracker = self._tracker(replace(stance, apart=bool(targets.apart[piece.start])), again, away)
                if last is None:
                    tracker.reset()
                else:
                    tracker.take_over(last)
                last = tracker
                q = self._steps(tracker, q, goals[rest:], None if pulls is None else pulls[rest:], source, done, piece)

    def _steps(
        self, tracker: Tracker, q: Array, goals: Array, pulls: Array | None, source: Source, done: Followed, span: slice
    ) -> Array:
        """(nq,) where the robot is after a span; what it does there is in `done`."""
        alone = bool(done.targets.apart[span.start])
        each = self._updates if alone else 1
        many = 1 if alone or self._fingers else _AT_ONCE
        for frame in range(span.start, span.stop, many):
            began = perf_counter()
            now = slice(frame, min(frame + many, span.stop))
            some = slice(now.start - span.start, now.stop - span.start)
            for _ in range(each):
                tracker.steps(q, goals[some], done.q[now], None if pulls is None else pulls[some])
                q = done.q[now.stop - 1]
            if self._fingers:
                done.q[now, self._fingers] = source.fingers[now]
            done.seconds[now] += (perf_counter() - began) / (now.stop - frame)
        return q

    def _rows_of(self, tracker: Tracker) -> _TaskRows:
        if tracker not in self._rows:
            self._rows[tracker] = _TaskRows.by(self.robot, [task for task in tracker.tasks if task.blocks])
        return self._rows[tracker]

    def _free(self, stance: Stance, away: frozenset[str]) -> list[Task]:
        """What is asked while parts of limbs are on a way of their own; a hand that stands or touches keeps it."""
        away -= {touch.part for touch in stance.touches} | (stance.standing - frozenset(self.robot.feet))
        return [task for task in tasks(self.robot, stance) if self.robot.part(task) not in away]

    def _tracker(self, stance: Stance, again: bool, away: frozenset[str] = frozenset()) -> Tracker:
        """The one for a way to stand, with these parts on ways of their own."""
        key = (stance, again, away)
        if key not in self._trackers:
            stack = tasks(self.robot, stance)
            if not stack:
                hint = "; base='floating' lets it move" if self.robot.fixed_base else ""
                raise InvalidValue(
                    "nothing-moves",
                    f"no joint of {self.robot.model.name} moves one of {', '.join(self.robot.frames)} against another, "
                    f"so there is nothing to follow{hint}",
                )
            chosen: list[Task] = [*stack]
            lag = _CLOSE if stance.agile else _LAG
            share = _LAG * _FIRST / lag if stance.standing or not stance.off else _FREE_FALL
            plain = TaskPriority(damping=Curvature(lag), first_damping=share)
            method = replace(plain, null_space=RestPosture(gain=_HOME_PULL))
            if again:
                chosen, method = [*held(self.robot, stance), PostureTask()], plain
            elif away:
                pulled = {name for limb in self._limbs if limb.parts & away for name in limb.joints}
                weights = {joint.name: float(joint.name in pulled) for joint in self.robot.model.joints if joint.nv}
                chosen, method = [*self._free(stance, away), PostureTask(weight=weights)], plain
            self._trackers[key] = Tracker(
                self.robot.model,
                chosen,
                method,
                dt=self._dt / self._updates if stance.apart else self._dt,  # a CollisionLimit is kept step by step
                updates=1 if stance.apart else self._updates,
                limits=self._on(stance).as_given,
                speed=self._speed,
                settle=False,
            )
        return self._trackers[key]

    def _on(self, stance: Stance) -> Limits:
        """The limits, in which feet may touch the shapes of the ground on which they stand; and all, unless apart."""
        limit = self._limits.collision if stance.apart else None
        kept = None if limit is None else touching(limit, self.robot, stance.holds)
        return self._limits._replace(collision=kept)

    def _first(self, stance: Stance, goals: Array, start: Array | None) -> Array:
        """(nq,) the posture of the first frame; sought once more where its shapes are nearer than they may be."""
        levels, collision, model = stance.free + (1 if stance.off else 2), self._on(stance).collision, self.robot.model
        found = first(self.robot, self._untimed_tracker(stance), goals, start, free=stance.free, levels=levels)
        if collision is None or collision.holds_in(model, scene := collision.scene(model), found):
            return found
        tracker, is_feasible = self._untimed_tracker(stance, collision=True), partial(collision.holds_in, model, scene)
        separated: Array = converged(tracker, found, goals)
        return (
            separated
            if is_feasible(separated)
            else first(self.robot, tracker, goals, start, free=stance.free, levels=levels, is_feasible=is_feasible)
        )

    def _untimed_tracker(self, stance: Stance, *, collision: bool = False) -> Tracker:
        """The one that comes to a frame: its steps stand for no time, and with `collision` shapes are kept apart."""
        if (stance, collision) not in self._untimed_trackers:
            tracker = self._tracker(stance, False)
            limits = self._limits._replace(others=(), collision=self._on(stance).collision if collision else None)
            self._untimed_trackers[stance, collision] = Tracker(
                self.robot.model, tracker.tasks, tracker.method, limits=limits.as_given
            )
        return self._untimed_trackers[stance, collision]


def _alike(one: Followed, other: Followed, wanted: Targets, wanted_other: Targets) -> int:
    """The first frame in which other things were asked."""
    first = min([len(one.q), *(way.start for way in {*one.detours} ^ {*other.detours})])
    first = min([first, *np.flatnonzero(wanted.apart != wanted_other.apart)[:1].tolist()])
    for mine, theirs in ((wanted.places, wanted_other.places), (wanted.turns, wanted_other.turns)):
        for part, path in mine.items():
            if path is not theirs[part] and (differs := (path[:first] != theirs[part][:first]).any(axis=1)).any():
                first = int(np.argmax(differs))
    return first


def _begin_as(targets: Targets, others: Targets, frames: int) -> None:
    """Let targets be others for so many frames."""
    for mine, theirs in ((targets.places, others.places), (targets.turns, others.turns)):
        for part, path in mine.items():
            path[:frames] = theirs[part][:frames]


def _goals(rows: _TaskRows, targets: Targets, span: slice) -> Array:
    """(frames, tasks, 7) the targets of tasks over a span of frames."""
    out = np.zeros((span.stop - span.start, rows.tasks, 7))
    out[..., 3] = 1.0
    for k, part, aside in rows.places:
        out[:, k, :3] = targets.places[part][span]
        if aside is not None:
            out[:, k, :3] += rotate(targets.turns[part][span], aside)
    for k, part in rows.turns:
        out[:, k, 3:] = targets.turns[part][span]
    for k, part, axis in rows.axes:
        out[:, k, :3] = rotate(targets.turns[part][span], axis)
    return out


def _ease_in(
    rows: _TaskRows, goals: Array, before: Array, here: Mapping[str, Array], times: Array, *, but: Sequence[str]
) -> None:
    """Let the targets (frames, tasks, 7) of a span begin as far off as the parts are, and come to what they were.

    In the frame before the span the parts are at `here` (7,), so far from the targets `before` (tasks, 7) of that
    frame; those named in `but` are held where they are.  So what the levels before the span kept a part from is caught
    up in time, and not in the first frame.
    """
    fade = fading(times[: np.searchsorted(times, times[0] + CATCH_UP)], CATCH_UP)[:, None]
    near = goals[: len(fade)]
    places = [
        (k, here[part][:3] if aside is None else here[part][:3] + rotate(here[part][3:], aside))
        for k, part, aside in rows.places
        if part not in but
    ]
    if places:
        those, points = [k for k, _ in places], np.array([place for _, place in places])
        near[:, those, :3] += fade[..., None] * (points - before[those, :3])
    turns = [(k, here[part][3:]) for k, part in rows.turns if part not in but]
    if turns:
        those, poses = [k for k, _ in turns], np.array([turn for _, turn in turns])
        way = part_of_turn(quaternion_product(conjugate(before[those, 3:]), poses), fade)
        near[:, those, 3:] = quaternion_product(near[:, those, 3:], way)


def columns_of(model: Model, joints: Sequence[str]) -> list[int]:
    """Where the numbers of joints stand in a configuration."""
    return [i for name in joints for i in range(*model.index(name).indices(model.nq))]


def _pin(robot: Robot, source: Source, targets: Targets, part: str, frame: int, here: Array) -> None:
    """Change the targets of a part that comes to stand at this frame, so that it stays at `here` (7,), where it is.

    Along the ground it stays there until it leaves it; how high it is and how it is turned is put right in time.
    """
    stances = [one for one in source.contacts.intervals if one.part == part]
    k = next(k for k, one in enumerate(stances) if one.start == frame)
    stop = stances[k].stop
    last = len(source.times) if k + 1 == len(stances) else stances[k + 1].start
    now = slice(frame, int(min(last, np.searchsorted(source.times, source.times[stop - 1] + EASE) + 1)))
    times, places, turns = source.times[now], targets.places[part], targets.turns[part]
    share = np.ones(len(times))
    share[stop - 1 - frame :] = fading(times[stop - 1 - frame :], EASE)
    off, way = here[:3] - places[frame - 1], quaternion_product(conjugate(turns[frame - 1]), here[3:])
    places[now, :2] += share[:, None] * off[:2]
    places[now, 2] += fading(times, EASE) * off[2]
    turns[now] = quaternion_product(turns[now], part_of_turn(way, fading(times, CATCH_UP)))
    ground, normals, floor = ground_of(source, robot, stances[k]), np.tile(FLOOR.normal, (len(times), 1)), 0.0 * times
    places[now, 2] -= share * (off[:2] @ ground.normal[:2]) / ground.normal[2]
    normals[: stop - frame], floor[: stop - frame] = ground
    places[now, 2] += sunk(robot, part, places[now], turns[now], normals, floor)
