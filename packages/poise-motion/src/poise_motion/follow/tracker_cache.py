"""Followers that a model keeps, so that the next motion does not pay for their Trackers again."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

from poise.extending import Limits, cached, cores
from poise_motion.follow.following import Follower
from poise_motion.reference.bodies import Robot

_CACHED: Final = 16
"""Followers that wait for a motion, beside one for each thread."""
_LOCK: Final = Lock()


@contextmanager
def cached_follower(robot: Robot, dt: float, key: Hashable, limits: Limits, speed: float) -> Iterator[Follower]:
    """One that keeps `limits`, for one thread; `key` tells these from others.

    It is that of another motion if there is any, of a body of any size.
    """
    touched = () if limits.collision is None else tuple(limits.collision.allowed)
    places = [
        (part, place.tobytes())
        for places in (robot.points, robot.axes, robot.ankles, robot.soles)
        for part, place in places.items()
    ]
    names = (*robot.frames.items(), *robot.roundings.items(), *sorted(robot.props), *robot.fingers, *touched)
    whole = (dt, speed, key, *names, *places)
    waiting: list[tuple[Any, Follower]] = cached(robot.model, Follower, list)
    with _LOCK:
        place = next((k for k, (own, _) in enumerate(waiting) if own == whole), None)
        follower = None if place is None else waiting.pop(place)[1]
    if follower is None:
        follower = Follower(robot, dt, limits, speed)
    follower.robot = robot
    yield follower
    with _LOCK:
        waiting.append((whole, follower))
        del waiting[: -(_CACHED + cores())]
