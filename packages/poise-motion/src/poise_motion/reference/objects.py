"""Where objects go beside a robot, and the robot's hands on them.

An object keeps its size, and its path is scaled as the body's is.  So that no arm has to be held in another way for
that, it is moved along the ground to where the robot's hands are on average at their places on it.  Its lowest point
has the height of the scaled one, so that it stands on what is scaled alike, and never in the ground.  A robot that
stands fixed has it as its trunk sees it.  A hand keeps to its place as a foot that stands does on the ground.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from poise import SE3, Motion
from poise.extending import Array
from poise.quaternions import conjugate, quaternion_product, rotate
from poise.spatial import frozen
from poise_motion.anatomy.foot_geometry import lowest
from poise_motion.contact.pinning import pinned, pinned_turns, shares
from poise_motion.contact.touches import Touch
from poise_motion.reference.bodies import Robot, Source, Targets
from poise_motion.reference.targets import seen_from

_REACH: Final = 0.4
"""How long a hand takes from its own path to an object, and back [s]."""
_OUT: Final = 0.08
"""How far outside of its place it passes [m], so that it does not go through the object, ..."""
_COMES: Final = 0.2
"""... until so long before it touches, and from so long after [s]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """How well a robot's hand keeps to a place of an object."""

    touch: Touch
    times: Array
    """(frames of the touch,) [s]"""
    off: Array
    """(frames of the touch,) how far the point of the hand that touches is from its place on the object [m]."""

    def __str__(self) -> str:
        return (
            f"{self.touch.part} on {self.touch.object} from {self.times[0]:.2f} to {self.times[-1]:.2f} s: within "
            f"{1000.0 * self.off.mean():.2g} mm of its place on average, {1000.0 * self.off.max():.2g} mm at most"
        )


def with_objects(aims: Targets, source: Source, robot: Robot, objects: Mapping[str, Motion]) -> Targets:
    """The targets of a robot that does as a body does, with the `objects` of the source beside it."""
    around = np.zeros(3)
    if robot.fixed_base:
        source, around = seen_from(source, robot), robot.rest(robot.root).xyz
    out = {}
    for name, pose in source.objects.items():
        scaled = around + robot.scale * (pose.xyz - around)
        own = [touch for touch in source.touches if touch.object == name]
        ways = [_away(touch, aims.places[touch.part] - scaled, pose.wxyz, robot) for touch in own]
        if ways:
            frames = [touch.stop - touch.start for touch in own]
            scaled += rotate(pose.wxyz, np.average(ways, axis=0, weights=frames))
        if not robot.fixed_base:
            bottom = lowest(objects[name].model, objects[name].q).min(axis=1)
            scaled[:, 2] = pose.xyz[:, 2] + (robot.scale - 1.0) * bottom
        out[name] = SE3(np.concatenate([scaled, pose.wxyz], axis=1))
    return replace(aims, objects=out)


def _away(touch: Touch, way: Array, turns: Array, robot: Robot) -> Array:
    """(3,) how far a hand that goes `way` (frames, 3) from an object that is turned so (frames, 4) is from its place
    there, on average over a touch, as the object sees it [m]."""
    span = slice(touch.start, touch.stop)
    seen: Array = rotate(conjugate(turns[span]), way[span]).mean(axis=0)
    return seen - _wrist(touch, robot)


def _wrist(touch: Touch, robot: Robot) -> Array:
    """(3,) where the point of a hand is that its part goes by, as the object sees it [m]."""
    return touch.place + rotate(touch.turn, robot.points[touch.part] - touch.palm)


def on_objects(aims: Targets, source: Source, robot: Robot) -> Targets:
    """The targets with hands at their places of the objects that they touch."""
    places, turns = dict(aims.places), dict(aims.turns)
    for part in {touch.part: None for touch in source.touches}:
        own = sorted((touch for touch in source.touches if touch.part == part), key=lambda touch: touch.start)
        spans = [(touch.start, touch.stop) for touch in own]
        poses = [aims.objects[touch.object] for touch in own]
        out = _OUT * (1.0 - np.max([shares([span], source.times, _COMES)[0] for span in spans], axis=0))[:, None]
        there = [pose.act(_wrist(touch, robot) + out * touch.normal) for touch, pose in zip(own, poses, strict=True)]
        turned = [
            quaternion_product(pose.wxyz, np.broadcast_to(touch.turn, pose.wxyz.shape))
            for touch, pose in zip(own, poses, strict=True)
        ]
        places[part] = pinned(places[part], spans, np.array(there), source.times, _REACH)
        turns[part] = pinned_turns(turns[part], spans, np.array(turned), source.times, _REACH)
    return replace(aims, places=places, turns=turns)


def touch_errors(motion: Motion, robot: Robot, source: Source, objects: Mapping[str, SE3]) -> tuple[Kept, ...]:
    """How well a motion of the robot keeps each touch of objects that are at these poses (frames,)."""
    out = []
    for touch in source.touches:
        span = slice(touch.start, touch.stop)
        palm = robot.model.pose(robot.frames[touch.part], motion.q[span]).act(touch.palm)
        off = np.linalg.norm(palm - objects[touch.object].act(touch.place)[span], axis=1)
        out.append(Kept(touch, frozen(motion.times[span]), frozen(off)))
    return tuple(out)
