"""A whole motion: raised where a body that lies is in the ground, and with links apart where they would meet.

Links are kept apart about the frames in which they are in one another without that, until none meet: what meets nowhere
costs nothing.  Where the robot cannot do what the body does without meeting itself, or only with joints that jerk,
likeness goes first.
"""

from dataclasses import replace
from typing import Final, NamedTuple, final

import numpy as np

from poise import CollisionLimit, MissingExtra, ModelError
from poise.extending import Array, Limits, cached
from poise_motion.anatomy.contact_schedule import Flags, runs
from poise_motion.anatomy.parts import LIMBS
from poise_motion.contact.pinning import frames_in
from poise_motion.follow.following import Followed, Follower, WarmStart
from poise_motion.follow.ground_clearance import on_ground
from poise_motion.follow.self_collision import meeting, touching
from poise_motion.follow.tracker_cache import cached_follower
from poise_motion.reference.bodies import Robot, Source, Targets

MIN_DISTANCE: Final = 1e-3
"""How far links are kept apart that would meet [m]: more than their hulls are rounded by; with ten times as much, what
crawls and what stands wide cannot bend its hips."""
_DEAR: Final = float(np.radians(2.0))
"""Limbs may point so much farther from the body's for it, on average [rad]."""
_RUN_IN: Final = 0.125
"""How long before links would meet, and after, they are kept apart [s]: a limb slows down, and gets away again."""
_ROUNDS: Final = 4
"""How often it is followed so, at most; the last time links are kept apart in all frames."""
_ROUGH: Final = 2.0
"""And its joints may jerk so many times as much."""
_CALM: Final = 500.0
"""Or, of a motion that is calmer than this, of it [rad/s^3]: recordings have 1,000 to 5,000."""


@final
class Settings(NamedTuple):
    """How a motion is followed."""

    dt: float
    """From frame to frame [s]."""
    stated: Limits
    """What must hold, as the same object for motions that share what is prepared."""
    adapted: Limits
    """The same for this motion."""
    speed: float
    smooth: float
    self_collision: bool
    """Whether links are kept apart that would meet."""


@final
class Led(NamedTuple):
    """What came of it."""

    done: Followed
    collision: CollisionLimit | None
    """What kept shapes apart."""
    notes: tuple[str, ...] = ()


def follow_motion(
    robot: Robot, source: Source, aims: Targets, settings: Settings, *, start: Array | None = None
) -> Led:
    """What a robot does that follows the targets, from the posture `start` (nq,) if there is one."""
    dt, stated, limits, speed, smooth, self_collision = settings
    asked, everywhere, key = limits.collision, np.ones(len(source.times), dtype=bool), (stated.key, self_collision)
    if asked is None and self_collision:
        limits = limits._replace(collision=cached(robot.model, _apart, _default))
    with cached_follower(robot, dt, key, limits, speed) as follower:
        if start is not None or (asked is not None and not source.off_feet.any()):
            wanted = aims if asked is None else replace(aims, apart=everywhere)
            done = follower.follow(source, wanted, smooth=smooth, start=start)
            return Led(done, _stated(asked, robot, source))
        warm_start = WarmStart()
        done, raised = on_ground(follower, source, aims, warm_start, smooth=smooth)
        if asked is not None:
            done = follower.follow(source, replace(raised, apart=everywhere), smooth=smooth)
            return Led(done, _stated(asked, robot, source))
        return _apart(follower, source, raised, settings, done, warm_start) if self_collision else Led(done, None)


def _stated(limit: CollisionLimit | None, robot: Robot, source: Source) -> CollisionLimit | None:
    """What kept shapes apart, of a limit that was asked for."""
    return None if limit is None else touching(limit, robot, source.contacts.intervals)


def _default() -> CollisionLimit:
    return CollisionLimit(min_distance=MIN_DISTANCE, continuous=False)  # frames alone are judged


def _apart(
    follower: Follower, source: Source, aims: Targets, settings: Settings, done: Followed, warm_start: WarmStart
) -> Led:
    """The same with links kept apart where they meet, if some do, and that is not too dear."""
    robot, other = follower.robot, done
    try:
        meets = meeting(robot.model, done.q)
    except (ModelError, MissingExtra) as error:
        return Led(done, None, (f"whether links are in one another is not known: {error}",))
    if not meets.any():
        return Led(done, None)
    share, reach = meets.mean(), frames_in(source.times, _RUN_IN)
    for k in range(_ROUNDS):
        # Accelerations are those of steps of one length, and steps that keep shapes apart are shorter.
        locally = k < _ROUNDS - 1 and not settings.adapted.others and (meets & ~aims.apart).any()
        aims = replace(aims, apart=aims.apart | (_widened(meets, reach) if locally else True))
        other, aims = on_ground(follower, source, aims, warm_start, smooth=settings.smooth)
        meets = meeting(robot.model, other.q)
        if not meets.any() or aims.apart.all():
            break
    cost = _off(robot, source, other.q) - _off(robot, source, done.q)
    rough = _jerk(robot, other.q, settings.dt) / max(_jerk(robot, done.q, settings.dt), _CALM)
    if cost <= _DEAR and rough <= _ROUGH:
        return Led(other, _default())
    told = (
        f"in {share:.1%} of the frames links stay in one another: kept apart, limbs would point "
        f"{np.degrees(cost):.2g} degrees farther from the body's on average and joints jerk {rough:.2g} times as much; "
        f"limits=[CollisionLimit(min_distance={MIN_DISTANCE:g})] keeps them apart all the same, smooth=0.1 calms joints"
    )
    return Led(done, None, (told,))


def _widened(flags: Flags, reach: int) -> Flags:
    """Flags (n,) that are set so many places before and after each that is."""
    out = flags.copy()
    for start, stop in runs(flags):
        out[max(0, start - reach) : stop + reach] = True
    return out


def _off(robot: Robot, source: Source, path: Array) -> float:
    """By how much limbs point another way than the body's along a path (frames, nq), on average [rad]."""
    bones = [pair for one, two, three in LIMBS.values() for pair in ((one, two), (two, three))]
    known = [(one, two) for one, two in bones if one in robot.frames and two in robot.frames]
    places = {part: robot.places(part, robot.joint(part), path) for part in {part for pair in known for part in pair}}
    angles = []
    for one, two in known:
        way, other = places[two] - places[one], source.places[two] - source.places[one]
        angles.append(np.arctan2(np.linalg.norm(np.cross(way, other), axis=1), (way * other).sum(axis=1)))
    return float(np.mean(angles)) if angles else 0.0


def _jerk(robot: Robot, path: Array, dt: float) -> float:
    """The root mean square of the jerk of hinges and slides along a path (frames, nq) [rad/s^3 or m/s^3]."""
    columns = [robot.model.index(joint.name).start for joint in robot.model.joints if joint.nq == 1]
    third = np.diff(path[:, columns], n=3, axis=0) / dt**3
    return float(np.sqrt(np.mean(third**2))) if third.size else 0.0
