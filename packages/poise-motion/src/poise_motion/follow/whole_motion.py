"""A whole motion: raised where a body that lies is in the ground, and with links apart where they would meet.

Links are kept apart where a motion without that has some in one another, and all of it is followed again then: what
meets nowhere costs nothing.  Where the robot cannot do what the body does without meeting itself, or only with joints
that jerk, likeness goes first.
"""

from typing import Final, NamedTuple, final

import numpy as np

from poise import CollisionLimit, MissingExtra, ModelError
from poise.extending import Array, Limits, cached
from poise_motion.anatomy.parts import LIMBS
from poise_motion.follow.following import Followed
from poise_motion.follow.ground_clearance import on_ground
from poise_motion.follow.self_collision import meeting, touching
from poise_motion.follow.tracker_cache import cached_follower
from poise_motion.reference.bodies import Robot, Source, Targets

MIN_DISTANCE: Final = 1e-3
"""How far links are kept apart that would meet [m]: more than their hulls are rounded by; with ten times as much, what
crawls and what stands wide cannot bend its hips."""
_DEAR: Final = float(np.radians(2.0))
"""Limbs may point so much farther from the body's for it, on average [rad]."""


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
    dt, stated, adapted, speed, smooth, self_collision = settings
    bare, raised = adapted._replace(collision=None), aims
    if start is None and (adapted.collision is None or source.off_feet.any()):
        with cached_follower(robot, dt, bare.key, bare, speed) as follower:
            done, raised = on_ground(follower, source, aims, smooth=smooth)
            if adapted.collision is None:
                done = done or follower.follow(source, aims, smooth=smooth)
                return _apart(robot, source, aims, settings, done) if self_collision else Led(done, None)
    with cached_follower(robot, dt, stated.key, adapted, speed) as follower:
        done = follower.follow(source, raised, smooth=smooth, start=start)
    return Led(done, touching(adapted.collision, robot, source.contacts.intervals) if adapted.collision else None)


def _apart(robot: Robot, source: Source, aims: Targets, settings: Settings, done: Followed) -> Led:
    """The same with links kept apart, if some meet, and that is not too dear."""
    try:
        meets = meeting(robot.model, done.q)
    except (ModelError, MissingExtra) as error:
        return Led(done, None, (f"whether links are in one another is not known: {error}",))
    if not meets.any():
        return Led(done, None)
    limit = cached(robot.model, _apart, lambda: CollisionLimit(min_distance=MIN_DISTANCE))
    limits = settings.adapted._replace(collision=limit)
    with cached_follower(robot, settings.dt, limits.key, limits, settings.speed) as follower:
        other, _ = on_ground(follower, source, aims, smooth=settings.smooth)
        other = other or follower.follow(source, aims, smooth=settings.smooth)
    cost = _off(robot, source, other.q) - _off(robot, source, done.q)
    rough = _jerk(robot, other.q, settings.dt) / max(_jerk(robot, done.q, settings.dt), _CALM)
    if cost <= _DEAR and rough <= _ROUGH:
        return Led(other, limit)
    told = (
        f"in {meets.mean():.1%} of the frames links stay in one another: kept apart, limbs would point "
        f"{np.degrees(cost):.2g} degrees farther from the body's on average and joints jerk {rough:.2g} times as much; "
        f"limits=[CollisionLimit(min_distance={MIN_DISTANCE:g})] keeps them apart all the same, smooth=0.1 calms joints"
    )
    return Led(done, None, (told,))


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
