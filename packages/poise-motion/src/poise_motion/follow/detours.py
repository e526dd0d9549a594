"""Arms that a limit caught: where a body's arm passes through what a robot's cannot, the robot's goes round.

A step goes to the nearest posture that is better, so an arm that comes to a limit while the body's goes on is held
there, also when the body's arm has long been where the robot's could be by another way.  Such times are found, with the
posture that several starts come to; the joints go there straight, which limits that are intervals allow, in a time
that their speeds allow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, final

import numpy as np

from poise import SE3, Model, Tracker
from poise.extending import Array, cached_property
from poise_motion.anatomy.contact_schedule import Flags, runs
from poise_motion.anatomy.parts import LIMBS, RIGID, ancestors
from poise_motion.contact.pinning import Span
from poise_motion.follow.first_frame import converged
from poise_motion.follow.task_stack import Stance, tasks
from poise_motion.reference.bodies import Robot, Targets

_AWAY: Final = (0.08, 0.25)
"""How far off the end of a limb is that may have been caught [m], or as a share of the limb, whichever is less."""
_LASTS: Final = 0.4
"""For how long, at least [s]."""
_TOUCH: Final = 1e-6
"""How near to an end of its range a joint is at it [rad or m]."""
_FREE: Final = 0.5
"""The share of that distance within which a posture must be that is worth the way."""
_STARTS: Final = 12
_LOOKING: Final = 40
"""Steps of each of them."""
_LOOKS: Final = 3
"""Moments of a time at a limit at which a better posture is looked for."""
_LIGHTER: Final = 10.0
"""Of so much less weight is what stands a level later."""
_SPEED_SHARE: Final = 0.9
"""The share of their speeds at which joints go round."""
_FASTEST: Final = 10.0
"""And no joint goes faster than this [rad/s or m/s]."""
_LEAST: Final = 0.25
"""How long that takes at least [s]."""
_PEAK: Final = 1.875
"""The largest slope of 10 s^3 - 15 s^4 + 6 s^5."""


@final
@dataclass(frozen=True, eq=False)
class Limb:
    """A limb that stands on nothing."""

    name: str
    """Such as `left arm`."""
    root: str | None
    """The part that it hangs on, if its place is known."""
    end: str
    parts: frozenset[str]
    """Those that its joints move."""
    joints: tuple[str, ...]
    columns: Array
    """(k,) where the joints are in q."""
    reach: float
    """Its length [m]."""
    base: str | None
    """The frame from which the tracker sees it; None: the world."""
    make: Callable[[], Tracker]
    """Makes its `tracker`."""

    @cached_property
    def tracker(self) -> Tracker:
        """Leads it, and what carries it, by what is asked of them, and nothing else of the robot; made when the limb is
        caught, as few are."""
        return self.make()

    def off(self, robot: Robot, targets: Targets, path: Array, frames: slice | int = slice(None)) -> Array:
        """(n,) how far its end is from where it should be, seen from its root, along a path (n, nq) [m]."""
        error = _places(robot, self.end, path) - targets.places[self.end][frames]
        if self.root is not None:
            error = error - (_places(robot, self.root, path) - targets.places[self.root][frames])
        out: Array = np.linalg.norm(error, axis=-1)
        return out

    def solved_from(self, robot: Robot, targets: Targets, frame: int, starts: Array) -> Array:
        """(k, nq) what starts (k, nq), which differ in its joints alone, come to by what it should do at a frame."""
        parts = [part for task in self.tracker.tasks if (part := robot.part(task)) is not None]
        goals = SE3(np.array([[*targets.places[part][frame], *targets.turns[part][frame]] for part in parts]))
        if self.base is not None:
            there = SE3.from_parts(robot.pose(robot.root, starts[0]).xyz - targets.places[robot.root][frame])
            goals = robot.model.pose(self.base, starts[0]).inverse() @ there @ goals
        return converged(self.tracker, starts, goals.array, _LOOKING)

    @property
    def away(self) -> float:
        """How far off its end is when it may have been caught [m]."""
        return min(_AWAY[0], _AWAY[1] * self.reach)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Detour:
    """A time in which a limb follows no targets, but a way of its joints."""

    limb: Limb
    start: int
    stop: int
    path: Array
    """(stop - start, k) its joints [rad]."""
    caught: Span
    """The frames in which it was held, without the detour."""


def limbs(robot: Robot) -> tuple[Limb, ...]:
    """The arms, and legs that hang, of hinges only, of which the end and another part are known."""
    model, carriers, out = robot.model, ancestors(robot.frames), []
    for kind, parts in LIMBS.items():
        known = [part for part in parts if part in robot.frames]
        end = parts[-1]
        if end not in known or (end in robot.feet and not robot.fixed_base) or known == [robot.root]:
            continue
        carrier = carriers[known[0]]
        carried = () if carrier is None else model.root_path(model.frame(robot.frames[carrier]).link)
        joints = [j for j in model.root_path(model.frame(robot.frames[end]).link)[len(carried) :] if j.nv]
        if not joints or any(joint.nq != 1 or joint.mimic is not None for joint in joints):
            continue
        root = known[0] if known[0] in RIGID else carrier
        places = [robot.rest(part).xyz for part in (*([root] if root else ()), *(p for p in known if p != root))]
        reach = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
        columns = np.concatenate([np.atleast_1d(np.arange(model.nq)[model.index(joint.name)]) for joint in joints])
        if reach > 0.0:
            moved, names = frozenset(part for part in known if part not in RIGID), tuple(joint.name for joint in joints)
            base, some = (None, moved) if carrier is None else (robot.frames[robot.root], moved | {carrier})
            make = partial(_tracker, robot, some - {robot.root}, base)
            out.append(Limb(kind.replace("_", " "), root, end, moved, names, columns, reach, base, make))
    return tuple(out)


def _tracker(robot: Robot, parts: frozenset[str], base: str | None) -> Tracker:
    """One that leads parts that stand on nothing, seen from a base, by weights in place of levels: in eight lanes."""
    stack: list[Any] = [task for task in tasks(robot, Stance(frozenset(), False, False)) if robot.part(task) in parts]
    first = min(task.priority for task in stack)
    seen = [replace(task.lighter(_LIGHTER ** (task.priority - first)), base=base, priority=0) for task in stack]
    return Tracker(robot.model, seen)


def detour(
    robot: Robot, limb: Limb, targets: Targets, path: Array, dt: float, speed: float, but: Sequence[Span]
) -> tuple[Detour | None, list[Span]]:
    """The first way round for a limb that a limit caught along a path (frames, nq), if there is one.

    Frames in `but` are not looked at.  With it come those that were, and of which no way leads out.
    """
    least, stuck = max(2, int(np.ceil(_LASTS / dt))), list[Span]()
    held = np.asarray(at_ends(robot.model, path, limb.columns).any(axis=1))
    caught = np.zeros(len(path), dtype=bool)
    for frames in (slice(*span) for span in _spans(held, but, least)):
        caught[frames] = limb.off(robot, targets, path[frames], frames) > limb.away
    for span in _spans(caught, (), least):
        found = _way(robot, limb, targets, path, span, dt, speed)
        if found is not None:
            return found, stuck
        stuck.append(span)
    return None, stuck


def _way(
    robot: Robot, limb: Limb, targets: Targets, path: Array, caught: Span, dt: float, speed: float
) -> Detour | None:
    """The way out for a limb that is held in those frames, the earliest that there is; None where there is none."""
    model, first, last = robot.model, max(caught[0], 1), caught[1] - 1
    for frame in dict.fromkeys(np.linspace(first, last, _LOOKS).astype(int).tolist()):
        goal = _goal(robot, limb, targets, path[frame], frame)
        if goal is None:
            continue
        frames = _duration(model, limb, goal - path[frame, limb.columns], dt, speed)
        start = max(first, frame - frames)
        stop = start + frames
        if stop > len(path):
            continue
        goal = _goal(robot, limb, targets, path[stop - 1], stop - 1)
        if goal is None:
            continue
        begin = path[start - 1, limb.columns]
        frames = _duration(model, limb, goal - begin, dt, speed)
        if start + frames > len(path):
            continue
        s = np.arange(1, frames + 1)[:, None] / frames
        return Detour(
            limb, start, start + frames, begin + (goal - begin) * s**3 * (10.0 - s * (15.0 - 6.0 * s)), caught
        )
    return None


def _goal(robot: Robot, limb: Limb, targets: Targets, q: Array, frame: int) -> Array | None:
    """(k,) the joints of a limb with which it is where it should be at a frame, the nearest that was found."""
    model = robot.model
    starts = np.tile(q, (_STARTS, 1))
    starts[0, limb.columns] = model.home[limb.columns]
    starts[1:, limb.columns] = model.sample(_STARTS - 1, seed=0)[:, limb.columns]
    ends = limb.solved_from(robot, targets, frame, starts)
    near = limb.off(robot, targets, ends, frame) < _FREE * limb.away
    if not near.any():
        return None
    ways = np.abs(ends[near][:, limb.columns] - q[limb.columns]).max(axis=1)
    best: Array = ends[near][int(np.argmin(ways)), limb.columns]
    return best


def _duration(model: Model, limb: Limb, way: Array, dt: float, speed: float) -> int:
    """How many frames the joints of a limb need for a way (k,) [rad]."""
    speeds = np.concatenate([np.atleast_1d(model.velocity[model.velocity_index(name)]) for name in limb.joints])
    longest = _PEAK * float((np.abs(way) / np.minimum(_SPEED_SHARE * speed * speeds, _FASTEST)).max())
    return int(np.ceil(max(longest, _LEAST) / dt))


def at_ends(model: Model, path: Array, columns: Array) -> Flags:
    """(frames, k) whether coordinates (k,) are at an end of their range along a path (frames, nq)."""
    x, lower, upper = (values[..., columns] for values in (path, model.lower, model.upper))
    return np.asarray((x < lower + _TOUCH) | (x > upper - _TOUCH))


def _spans(off: Flags, but: Sequence[Span], least: int) -> list[Span]:
    """The spans of frames in which `off` (frames,) holds for so long, apart from those in `but`."""
    those = off.copy()
    for start, stop in but:
        those[start:stop] = False
    return [(start, stop) for start, stop in runs(those) if stop - start >= least]


def _places(robot: Robot, part: str, path: Array) -> Array:
    """(n, 3) where a part is along a path (n, nq) [m]."""
    places: Array = robot.model.poses(path, [robot.frames[part]])[:, 0].act(robot.points[part])
    return places
