"""Followers that a model keeps, so that the next motion does not pay for their Trackers again."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

from poise.extending import Limits, cached, cores
from poise_motion.follow.following import Follower
from poise_motion.reference.bodies import Robot

_CACHED: Final = 8
"""Pairs of followers that wait for a motion, beside one for each thread."""
_LOCK: Final = Lock()


@contextmanager
def cached_followers(
    robot: Robot, dt: float, limits: Limits, adapted: Limits, speed: float
) -> Iterator[tuple[Follower, Follower]]:
    """One that keeps `adapted`, and one that keeps no shapes apart, for one thread; `limits` are as the user said them.

    They are those of another motion if there are any, of a body of any size.
    """
    touched = () if adapted.collision is None else tuple(adapted.collision.allowed)
    places = [
        (part, place.tobytes())
        for places in (robot.points, robot.axes, robot.ankles, robot.soles)
        for part, place in places.items()
    ]
    names = (*robot.frames.items(), *robot.roundings.items(), *robot.fingers, *touched)
    key = (dt, speed, limits.key, *names, *places)
    waiting: list[tuple[Any, tuple[Follower, Follower]]] = cached(robot.model, Follower, list)
    with _LOCK:
        place = next((k for k, (own, _) in enumerate(waiting) if own == key), None)
        pair = None if place is None else waiting.pop(place)[1]
    if pair is None:
        bare = Follower(robot, dt, limits._replace(collision=None), speed)
        pair = bare if adapted.collision is None else Follower(robot, dt, adapted, speed), bare
    for follower in pair:
        follower.robot = robot
    yield pair
    with _LOCK:
        waiting.append((key, pair))
        del waiting[: -(_CACHED + cores())]
