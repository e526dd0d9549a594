"""When the hands of a body touch an object, where on it, and with which point of its own a robot's hand does.

A hand stands on an object as a foot does on the ground, so it touches where its points, as the object sees them, are
near the surface and slow.  Its points are its wrist and all that is beyond; of a hand of which nothing is known, the
middle of a palm too, along the forearm.  A robot's hand touches with the sole that it has on the side of the object.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from poise import SE3, HalfSpace, InvalidType, InvalidValue, JointKind, Model, Motion, World
from poise.extending import Array
from poise.quaternions import conjugate, quaternion_product, rotate, unit_vectors
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.foot_geometry import one_body, palm
from poise_motion.anatomy.parts import SIDES
from poise_motion.contact.contacts import touching
from poise_motion.contact.surface import distances, nearest, shapes_of

_PALM: Final = 0.054
"""How far the middle of a palm is from the wrist, as a share of the body's height: half of a hand (Winter 2009)."""
_SPREAD: Final = 0.01
"""What is no farther from a wrist shows nothing of the hand [m]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """A time over which a hand touches an object, within 10 cm of one place; if it slides on, it touches anew."""

    part: str
    """The wrist of the hand."""
    object: str
    start: int
    """The first frame."""
    stop: int
    """The frame after the last one."""
    place: Array
    """(3,) on the surface of the object, in its frame [m]."""
    normal: Array
    """(3,) the unit vector out of it there."""
    turn: Array
    """(4,) how the frame of the robot's hand is turned then, as the object sees it; w x y z."""
    palm: Array
    """(3,) the point with which the robot's hand touches, in its frame [m]."""


def pose_of(thing: Motion) -> SE3:
    """(frames,) where an object is."""
    return thing.model.pose(_root(thing.model), thing.q)


def at_poses(thing: Motion, poses: SE3) -> Motion:
    """An object that is at `poses` (frames,) instead."""
    origin = thing.model.pose(_root(thing.model), thing.model.neutral)
    return replace(thing, q=(origin.inverse() @ poses).array)


def check_objects(objects: Sequence[Mapping[str, Motion]], motions: int) -> None:
    """Raises TypeError for what is no motion, ValueError for what is no rigid body with shapes that floats, and unless
    there is one mapping for each of so many motions."""
    if not all(isinstance(some, Mapping) for some in objects) or len(objects) != motions:
        raise InvalidValue(
            "wrong-type",
            f"objects must be motions by name, as in {{'box': motion}}, and of {motions} motions a list of {motions} "
            f"such mappings, got {objects!r}",
        )
    for name, thing in (pair for some in objects for pair in some.items()):
        if not isinstance(thing, Motion):
            raise InvalidType(
                "wrong-type",
                f"objects[{name!r}] must be a Motion, of a model that floats and has shapes, got {thing!r}",
            )
        model = thing.model
        kinds = [joint.kind for joint in model.joints if joint.nv]
        if kinds != [JointKind.FLOATING]:
            raise InvalidValue(
                "not-supported",
                f"objects[{name!r}] is a motion of {model.name!r}, which is no rigid body that floats: it has "
                f"{len(kinds)} joints that move; pz.load(file, base='floating') lets one float, lock() holds joints",
            )
        if not any(model.shapes.get(link) for link in one_body(model, _root(model))):
            raise InvalidValue(
                "no-shapes",
                f"objects[{name!r}] is a motion of {model.name!r}, which has no shape that a hand could touch; give "
                "its link one: <collision> in a file, ModelBuilder.shape, or with_shapes",
            )
        if any(isinstance(shape, HalfSpace) for shapes in model.shapes.values() for shape in shapes):
            raise InvalidValue(
                "not-supported",
                f"objects[{name!r}] is a motion of {model.name!r}, which has a half-space, and so no lowest point: "
                "make it a Box",
            )


def check_times(objects: Mapping[str, Motion], motion: Motion) -> None:
    """Raises ValueError for an object that is not there while a body moves."""
    for name, thing in objects.items():
        if thing.times[0] > motion.times[-1] or thing.times[-1] < motion.times[0]:
            raise InvalidValue(
                "inconsistent",
                f"objects[{name!r}] is there from {thing.times[0]:g} to {thing.times[-1]:g} s, and the body moves from "
                f"{motion.times[0]:g} to {motion.times[-1]:g} s: give both the same times",
            )


def untouched(objects: Mapping[str, Motion], found: Sequence[Touch]) -> list[str]:
    """What is to be said of objects that no hand touches."""
    return [
        f"no hand touches {name!r}: none comes within 4 cm of it and goes along; look at its place, units and times"
        for name in objects
        if not any(touch.object == name for touch in found)
    ]


def touches(
    motion: Motion, objects: Mapping[str, Motion], body: BodyMap, robot: Model, turns: Mapping[str, Array], size: float
) -> tuple[Touch, ...]:
    """When hands that do not stand on the ground touch `objects`, which have the frames of the motion, by object.

    `turns` are by part (frames, 4) how the robot's frame is turned when it does as the body does; `size` is the height
    of the body [m].  A hand touches one object at a time, that which is named first.
    """
    wrists = [part for part in (f"{side}_wrist" for side in SIDES) if part in body.parts and part not in body.contacts]
    hands = {part: _points(motion, body, part, size) for part in wrists if objects}
    taken = {part: np.zeros(len(motion), dtype=bool) for part in wrists}
    out = []
    for name, thing in objects.items():
        there, surface = pose_of(thing), _surface(thing.model)
        back = conjugate(there.wxyz)[:, None]
        seen = {part: rotate(back, points - there.xyz[:, None]) for part, points in hands.items()}
        far = {part: distances(surface, path) for part, path in seen.items()}
        found = touching(seen, far, motion.times, size=size)
        for one in found.intervals:
            span = slice(one.start, one.stop)
            if taken[one.part][span].any():
                continue
            taken[one.part][span] = True
            middle = seen[one.part][span][found.points[one.part][span]].mean(axis=0)
            place, normal = nearest(surface, middle)
            turn = _mean(quaternion_product(conjugate(there.wxyz[span]), turns[one.part][span]))
            x, y, z = rotate(conjugate(turn), normal).tolist()
            with_it = palm(robot, body.robot[one.part], (x, y, z))
            out.append(Touch(one.part, name, one.start, one.stop, place, normal, turn, with_it))
    return tuple(out)


def _root(model: Model) -> str:
    """The link of a rigid body that floats."""
    return next(joint.child for joint in model.joints if joint.kind is JointKind.FLOATING)


def _points(motion: Motion, body: BodyMap, part: str, size: float) -> Array:
    """(frames, points, 3) where the points of a hand go [m]."""
    model, wrist = motion.model, body.source[part]
    beyond = {model.frame(wrist).link}
    for joint in model.joints:  # parents before children
        if joint.parent in beyond:
            beyond.add(joint.child)
    names = [name for name in model.frames if model.frame(name).link in beyond]
    places = motion.positions(names)
    elbow = body.source.get(part.replace("wrist", "elbow"))
    if np.ptp(places, axis=1).max() > _SPREAD or elbow is None:
        return places
    forearm = unit_vectors(places[:, 0] - motion.positions([elbow])[:, 0])
    return np.stack([places[:, 0], places[:, 0] + _PALM * size * forearm], axis=1)


def _surface(model: Model) -> World:
    """What an object is made of, in the frame of its root."""
    root = _root(model)
    return shapes_of(model, one_body(model, root), model.pose(root, model.neutral))


def _mean(turns: Array) -> Array:
    """(4,) the rotation that is nearest to all of some (n, 4) (Markley et al. 2007)."""
    return np.linalg.eigh(turns.T @ turns)[1][:, -1]
