"""Where the parts of a robot shall be, frame by frame, so that it does what a body does that has other bones.

The body is scaled by its legs, on which it travels and stands.  Its bones keep their directions and have the robot's
lengths, so a hand goes where the robot's own arm, held alike, would bring it.  A foot that stands stays where it came
down, flat while its heel is down.

A place is where a part stands, which is a point of its frame, and a rotation is that of its frame, the robot's.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from poise import SE3
from poise.extending import Array
from poise.quaternions import conjugate, matrix_quaternion, quaternion_product, rotate
from poise_motion.anatomy.contact_schedule import Contacts, runs
from poise_motion.anatomy.median import median
from poise_motion.anatomy.parts import HIPS, PARENTS, RIGID, TOES, ancestors
from poise_motion.contact.pinning import Span, pinned, pinned_turns, shares
from poise_motion.reference.bodies import Robot, Source, Targets

EASE: Final = 0.12
"""How long a foot takes to come to rest, and to leave where it stood [s]."""
_FRONT: Final = 0.01
"""How far behind the foremost point of a sole the others of its front are, at most [m]."""
TILTED: Final = 0.6
"""A foot that is turned away from flat by more does not stand on its sole, as one of a body that sits or lies [rad]."""
SHORT: Final = 1e-6
"""Bones below this length have no direction [m]."""


def toe(sole: Array, axes: Array) -> Array:
    """(3,) the middle of the front of a sole (k, 3) [m] of a part with these axes (3, 3); of a ball, its only point."""
    ahead = sole @ axes[:, 0]
    middle: Array = sole[ahead > ahead.max() - _FRONT].mean(axis=0)
    return middle


def beneath(sole: Array, axes: Array, point: Array) -> Array:
    """(3,) the point of the plane of a sole (k, 3) [m] that is beneath another (3,); of a ball, its only point."""
    if len(sole) == 1:
        return np.array(sole[0])
    up = axes[:, 2]
    below: Array = point - (up @ point - (sole @ up).min()) * up
    return below


def targets(source: Source, robot: Robot) -> Targets:
    """Where the robot's parts shall be when it does as the body does.

    The ground is at height 0, where the body stands lowest; a body that never stands keeps its heights.  Off its feet
    the ankles too are where the bones lead.
    """
    if robot.fixed_base:
        source = seen_from(source, robot)
    turns, places = dict(source.turns), {}
    stood_on = [part for part in robot.soles if source.contacts[part].any()] or [*robot.soles]
    for part in robot.soles:
        places[part], turns[part] = foot(source, robot, part)
    lifts = [
        robot.standing(part, robot.ankles[part])
        - robot.scale * stood(source.places[part], source.contacts, part, heel=True)
        for part in stood_on
    ]
    lift = float(np.mean(lifts)) if lifts else 0.0
    for part, parent in ancestors(robot.frames).items():
        if part in places:
            continue
        if parent is None:
            places[part] = _trunk(source, robot, part, lift)
        elif part in RIGID:
            places[part] = places[parent] + rotate(turns[parent], robot.rest(part, parent).xyz)
        else:
            places[part] = places[parent] + _bone(source, robot, part, parent)
    for part, parent in ((part, PARENTS[part]) for part in robot.soles):
        share = loose(source, part)
        if share.any() and parent in places:
            from_parent = places[parent] + _bone(source, robot, part, parent)
            from_parent += rotate(turns[part], robot.points[part] - robot.ankles[part])
            places[part] += share[:, None] * (from_parent - places[part])
    return Targets(places, turns)


def seen_from(source: Source, robot: Robot) -> Source:
    """The same motion as one sees it who is carried along by the root, which the robot does not move."""
    root, rest = robot.root, robot.rest(robot.root)
    there = SE3(np.concatenate([source.places[root], source.turns[root]], axis=1))
    back = quaternion_product(np.broadcast_to(rest.wxyz, source.turns[root].shape), conjugate(source.turns[root]))
    return replace(
        source,
        places={part: rest.xyz + rotate(back, path - source.places[root]) for part, path in source.places.items()},
        turns={part: quaternion_product(back, turns) for part, turns in source.turns.items()},
        objects={name: rest @ there.inverse() @ pose for name, pose in source.objects.items()},
    )


def stood(path: Array, contacts: Contacts, part: str, *, heel: bool = False) -> float:
    """How high a point with the path (frames, 3) is over the ground while its part stands, or its heel does [m]."""
    above, stands = path[:, 2].copy(), np.zeros(len(path), dtype=bool)
    for contact in contacts.intervals:
        if contact.part == part:
            above[contact.start : contact.stop] -= contact.ground
            stands[contact.start : contact.stop] = True
    if heel and (stands & contacts.points[part][:, 0]).any():
        stands &= contacts.points[part][:, 0]
    return median(above[stands]) if stands.any() else float(above.min())


def foot(source: Source, robot: Robot, part: str) -> tuple[Array, Array]:
    """(frames, 3) and (frames, 4) the path of the point of a part that stands, from that of the body's toe or joint.

    While it stands the point of its sole does not move, and while the heel is down the sole is flat.
    No point of the sole is ever below the ground on which it stands.
    """
    times, contacts = source.times, source.contacts
    turns = source.turns[part]
    body = source.places.get(TOES.get(part, part), source.places[part])
    high = robot.high(part)
    path = robot.scale * (body - [0.0, 0.0, stood(body, contacts, part)]) + [0.0, 0.0, high]
    spans: list[Span] = []
    flats: list[Span] = []
    places, flat = [], []
    upright = matrix_quaternion(robot.axes[part].T)
    ways = quaternion_product(turns, conjugate(upright))
    for contact in contacts.intervals:
        if contact.part == part:
            spans.append((contact.start, contact.stop))
            x, y, _ = path[contact.start : contact.stop].mean(axis=0)
            places.append([x, y, robot.scale * contact.ground + high])
            heel = np.flatnonzero(contacts.points[part][contact.start : contact.stop, 0])
            down = (contact.start, contact.start + int(heel[-1]) + 1) if len(heel) else (0, 1)
            level = _level(ways[slice(*down)], upright)
            if len(heel) and _between(turns[slice(*down)], level) < TILTED:
                flats.append(down)
                flat.append(level)
    floor = np.zeros(len(times))
    if spans:
        path = pinned(path, spans, np.array(places), times, EASE)
        share, which = shares(spans, times, EASE)
        floor = share * (np.array(places)[which, 2] - high)
    if flats:
        turns = pinned_turns(turns, flats, np.array(flat), times, EASE)
    path[:, 2] += (1.0 - loose(source, part)) * sunk(robot, part, path, turns, floor)
    return path, turns


def stance(source: Source, part: str) -> Array:
    """(frames,) how much a part stands, from 0 to 1."""
    spans = [(one.start, one.stop) for one in source.contacts.intervals if one.part == part]
    return shares(spans, source.times, EASE)[0]


def loose(source: Source, part: str) -> Array:
    """(frames,) how much a foot is led as a hand is, from 0 to 1: off its feet, while it does not stand."""
    if not source.off_feet.any():
        return np.zeros(len(source.times))
    off, _ = shares(runs(source.off_feet), source.times, EASE)
    return off * (1.0 - stance(source, part))


def sunk(robot: Robot, part: str, path: Array, turns: Array, floor: Array) -> Array:
    """(frames,) how far a sole is below a floor (frames,), whose part has this path and these turns [m]; 0 above it."""
    w, x, y, z = np.ascontiguousarray(turns.T)
    up = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))
    balls = (robot.balls(part) - robot.points[part]).T[..., None]
    heights = balls[0] * up[0] + balls[1] * up[1] + balls[2] * up[2]
    lowest = path[:, 2] + heights.min(axis=0) - robot.roundings[part]
    return np.maximum(floor - lowest, 0.0)


def _level(ways: Array, upright: Array) -> Array:
    """(4,) the rotation `upright` (4,), turned about the vertical to be as near as can be to what `ways` (n, 4) make of
    it."""
    w, z = ways[:, 0], ways[:, 3]
    half = 0.5 * np.arctan2(2.0 * (w * z).sum(), (w * w - z * z).sum())
    return quaternion_product(np.array([np.cos(half), 0.0, 0.0, np.sin(half)]), upright)


def _between(turns: Array, turn: Array) -> float:
    """The median angle between rotations (n, 4) and another (4,) [rad]."""
    return median(2.0 * np.arccos(np.minimum(np.abs(turns @ turn), 1.0)))


def _trunk(source: Source, robot: Robot, part: str, lift: float) -> Array:
    """(frames, 3) where the part goes that carries all others: the middle of its hips is where the body's is."""
    if robot.fixed_base:
        return source.places[part]
    hips = [hip for hip in HIPS if part == "pelvis" and hip in robot.frames and hip in source.places]
    path = robot.scale * np.mean([source.places[hip] for hip in hips or [part]], axis=0) + [0.0, 0.0, lift]
    if hips:
        path = path - rotate(source.turns[part], np.mean([robot.rest(hip, part).xyz for hip in hips], axis=0))
    return path


def _bone(source: Source, robot: Robot, part: str, parent: str) -> Array:
    """(frames, 3) from a part to the next [m]: the body's direction, with the robot's length."""
    way = source.places[part] - source.places[parent]
    if PARENTS[part] != parent:  # a joint between the two is not known, so how far they are apart tells how it is bent
        return robot.scale * way
    length = np.linalg.norm(way, axis=1, keepdims=True)
    there = length > SHORT
    rest = robot.rest(part).xyz - robot.rest(parent).xyz
    return np.where(there, way * robot.bone(part, parent) / np.where(there, length, 1.0), rest)


def hanging(source: Source) -> Source:
    """The same body held by its trunk, whose feet stand on nothing."""
    found = source.contacts
    none = Contacts(found.parts, np.zeros_like(found.on), {k: np.zeros_like(v) for k, v in found.points.items()}, ())
    return replace(source, contacts=none, off_feet=np.ones(len(source.times), dtype=bool))
