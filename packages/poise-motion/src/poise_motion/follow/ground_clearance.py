"""Bodies that lie on more than their feet: raised until nothing of the robot is in the ground.

Where a body lies, crawls or rolls, what touches is its back, its knees or its hands, and a robot is thicker or thinner
there.  So its motion is followed, the heights of its shapes over the ground are measured, frame by frame, and it is
followed again with targets that are as much higher: all of them by what its trunk and the inner limbs lack, a hand or a
foot by what that still lacks itself.  A part that stands stays.

How much they are raised is one number a frame, which comes and goes gently: the largest of the times about a frame,
averaged over them, so it suffices everywhere and its acceleration is bounded.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from poise.extending import Array
from poise.quaternions import rotate, unit_vectors
from poise_motion.anatomy.foot_geometry import lowest
from poise_motion.anatomy.parts import LIMBS, PARENTS
from poise_motion.contact.pinning import gently, smoothed
from poise_motion.follow.following import Followed, Follower, WarmStart
from poise_motion.reference.bodies import Robot, Source, Targets
from poise_motion.reference.targets import stance

_DEEP: Final = 0.004
"""What is less deep in the ground is left there [m]: a millimetre less than is promised, for the points of a sole are
as low as its lowest."""
_ROUNDS: Final = 7
"""How often a motion is raised and followed again, at most."""
_ALONG: Final = 0.1
"""Half of the time over which the way of a shoulder is averaged, with which a hand goes along [s]."""
_WHOLE: Final = "whole"


def on_ground(
    follower: Follower, source: Source, aims: Targets, warm_start: WarmStart, *, smooth: float = 0.0
) -> tuple[Followed, Targets]:
    """What the robot does, and the targets, of a body that gets off its feet raised where it is in the ground; with
    what a `warm_start` knows of it, from where these were raised to.

    Raises ModelError and MissingExtra for meshes that may collide and cannot be read.
    """
    robot, lies = follower.robot, not follower.robot.fixed_base and bool(source.off_feet.any())
    links = _carried(robot) if lies else {}
    if lies and warm_start.done is None:
        done = warm_start.done = follower.go(source, aims)
        aims = _higher(along(aims, source, robot, done.q), source, robot, _depths(robot, links, done.q))
    done = follower.follow(source, aims, smooth=smooth, warm_start=warm_start)
    for _ in range(_ROUNDS if lies else 0):
        depths = _depths(robot, links, done.q)
        if max(depth.max() for depth in depths.values()) < _DEEP:
            break
        aims = _higher(aims, source, robot, depths)
        done = follower.follow(source, aims, smooth=smooth, warm_start=warm_start)
    return done, aims


def _depths(robot: Robot, links: Mapping[str, list[str]], path: Array) -> dict[str, Array]:
    """By part, (frames,) how deep its links are in the ground along a path (frames, nq) [m]; less than none where they
    are above it."""
    heights = lowest(robot.model, path, links=[name for own in links.values() for name in own], under=-_DEEP)
    parts = np.split(heights, np.cumsum([len(own) for own in links.values()])[:-1], axis=1)
    return {part: -high.min(axis=1, initial=np.inf) for part, high in zip(links, parts, strict=True)}


def _higher(aims: Targets, source: Source, robot: Robot, depths: Mapping[str, Array]) -> Targets:
    """Targets that are higher where parts are so deep in the ground (frames,) [m]."""
    whole = gently(_needed(depths[_WHOLE]), source.times)
    rises = {part: gently(_needed(depth - whole), source.times) for part, depth in depths.items() if part != _WHOLE}
    return raised(aims, source, robot, whole, rises)


def _carried(robot: Robot) -> dict[str, list[str]]:
    """The links with shapes that hands and feet move, by part, and all others."""
    model, out = robot.model, dict[str, list[str]]()
    left = [name for name in model.shapes if model.root_path(name)]
    for _, middle, end in LIMBS.values():
        if end in robot.frames and middle in robot.frames:
            inner = len(model.root_path(model.frame(robot.frames[middle]).link))
            tip = model.root_path(model.frame(robot.frames[end]).link)
            first = next((joint for joint in tip[inner:] if joint.nv), None)
            own = [name for name in left if first is not None and first in model.root_path(name)]
            out[end] = own
            left = [name for name in left if name not in own]
    return {part: own for part, own in ({_WHOLE: left} | out).items() if own or part == _WHOLE}


def _needed(depths: Array) -> Array:
    """(frames,) by how much a part is raised that is so deep in the ground [m]."""
    return np.where(depths > _DEEP, depths, 0.0)


def along(aims: Targets, source: Source, robot: Robot, path: Array) -> Targets:
    """Targets of hands, as far from where the shoulders are along a path (frames, nq) as from where these should be.

    Where a trunk cannot bend as the body's does, its arms still point as the body's do.
    """
    places = dict(aims.places)
    for shoulder, _, hand in (parts for parts in LIMBS.values() if parts[0].endswith("shoulder")):
        if shoulder in robot.frames and hand in places and hand not in robot.feet:
            there = robot.model.poses(path, [robot.frames[shoulder]])[:, 0].act(robot.points[shoulder])
            places[hand] = places[hand] + smoothed(there - aims.places[shoulder], source.times, _ALONG)
    return replace(aims, places=places)


def raised(aims: Targets, source: Source, robot: Robot, whole: Array, rises: Mapping[str, Array]) -> Targets:
    """Targets that are higher by `whole` (frames,), and hands and feet by more [m]; what stands stays.

    A level forearm or shin is turned about its elbow or knee, so that nothing else moves, and one that hangs is bent.
    """
    up = np.array([0.0, 0.0, 1.0])
    places = {part: path + (whole * (1.0 - stance(source, part)))[:, None] * up for part, path in aims.places.items()}
    for part, rise in rises.items():
        parent = PARENTS[part]
        assert parent is not None
        more = (rise * (1.0 - stance(source, part)))[:, None] * up
        near = more[:, 2] > 0.0
        joint = rotate(aims.turns[part][near], robot.ankles.get(part, robot.points[part]) - robot.points[part])
        way = places[part][near] + joint - places[parent][near]
        length = np.linalg.norm(way, axis=1, keepdims=True)
        turned = unit_vectors(way + more[near]) * length - way
        hangs = unit_vectors(way)[:, 2:] ** 2
        places[part][near] += hangs * more[near] + (1.0 - hangs) * turned
    return replace(aims, places=places)
