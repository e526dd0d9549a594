"""Where the parts of a robot shall be, frame by frame, so that it does what a body does that has other bones.

The body is scaled by its legs, on which it travels and stands.  Its bones keep their directions and have the robot's
lengths, so a hand or a foot goes where the robot's own limb, held alike, would bring it.  A foot that stands stays in
the middle of where that is meanwhile, flat while its heel is down, and the trunk goes along by what is lacking.

A place is where a part stands, which is a point of its frame, and a rotation is that of its frame, the robot's.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple, final

import numpy as np

from poise import SE3
from poise.extending import Array
from poise.quaternions import aligning, conjugate, matrix_quaternion, quaternion_product, rotate, unit_vectors
from poise_motion.anatomy.contact_schedule import Contact, Contacts, runs
from poise_motion.anatomy.median import median
from poise_motion.anatomy.parts import HIPS, PARENTS, RIGID, TOES, ancestors
from poise_motion.contact.pinning import Span, gently, pinned, pinned_turns, released, shares, smoothed
from poise_motion.contact.surface import Surface
from poise_motion.reference.bodies import Robot, Source, Targets, between

EASE: Final = 0.12
"""How long a foot takes to come to rest, and to leave where it stood [s]."""
_FRONT: Final = 0.01
"""How far behind the foremost point of a sole the others of its front are, at most [m]."""
TILTED: Final = 0.6
"""A foot that is turned away from flat by more does not stand on its sole, as one of a body that sits or lies [rad]."""
_STRAIGHT: Final = 0.02
"""The square of the sine of a knee that is bent so much that its leg's plane counts as much as the foot: 8 degrees."""
_FREE_TURN: Final = 3
"""Axes between shin and foot with which the foot turns as it will."""
_COMES: Final = 0.5
"""How long before it stands, and after, a part goes no lower than it does then where it is near the ground ..."""
_EDGE: Final = 0.1 * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
"""... so near [m], ..."""
_STEP: Final = 0.02
"""... of ground that is no more than this below [m]."""
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


def targets(source: Source, robot: Robot, *, by_bones: bool = True, ground: Surface | None = None) -> Targets:
    """Where the robot's parts shall be when it does as the body does.

    The ground is at height 0, where the body stands lowest; a body that never stands keeps its heights.

    Feet are where bones lead to from the trunk, which goes on the body's scaled path; and all go along by what the feet
    that stand lack to where they do, so that straight legs stay straight.  Without `by_bones` the feet too go on the
    body's scaled paths, as those of an animal; off its feet only where the bones lead.  To `ground`, as large as the
    robot, and from it parts go no lower than they stand there.
    """
    if robot.fixed_base:
        source = seen_from(source, robot)
    turns = {**source.turns, **{part: _sole_turns(source, robot, part) for part in robot.soles}}
    places = _by_bones(source, robot, turns)
    paths = {part: places[part] for part in robot.soles}
    stances = {part: _stances(source, robot, part, path) for part, path in paths.items()}
    if by_bones:
        shift = _shift(source, paths, stances)
        places = {part: path + shift for part, path in places.items()}
    else:
        for part in robot.soles:
            scaled = _scaled(source, robot, part)
            stances[part] = _stances(source, robot, part, scaled)
            places[part] = scaled + loose(source, part)[:, None] * (places[part] - scaled)
    for part in robot.soles:
        places[part] = _standing(source, robot, part, places[part], turns[part], stances[part])
        if ground is not None:
            places[part][:, 2] += _over(source, robot, part, places[part], ground)
    return Targets(places, turns, np.zeros(len(source.times), dtype=bool))


def _by_bones(source: Source, robot: Robot, turns: Mapping[str, Array]) -> dict[str, Array]:
    """By part, (frames, 3) where the body's bones lead, with the robot's lengths; `turns` (frames, 4) are by part."""
    stood_on = [part for part in robot.feet if source.contacts[part].any()] or [*robot.feet]
    lifts = [
        robot.standing(part, robot.ankles[part])
        - robot.scale * stood(source.places[part], source.contacts, part, heel=True)
        for part in stood_on
    ]
    lift, joints = float(np.mean(lifts)) if lifts else 0.0, dict[str, Array]()
    for part, parent in ancestors(robot.frames).items():
        if parent is None:
            joints[part] = _trunk(source, robot, part, lift)
        elif part in RIGID:
            joints[part] = joints[parent] + rotate(turns[parent], robot.rest(part, parent).xyz)
        else:
            joints[part] = joints[parent] + _bone(source, robot, part, parent)
    return joints | {
        part: joints[part] + rotate(turns[part], robot.points[part] - joint) for part, joint in robot.ankles.items()
    }


def _shift(source: Source, paths: Mapping[str, Array], stances: Mapping[str, Array]) -> Array:
    """(frames, 3) what feet on these paths (frames, 3) lack, on average, to the places (stances, 3) where they stand;
    before, between and after that it goes from one to the next."""
    lack, count = np.zeros((len(source.times), 3)), np.zeros(len(source.times))
    for part, places in stances.items():
        own = [one for one in source.contacts.intervals if one.part == part]
        for one, place in zip(own, places, strict=True):
            span = slice(one.start, one.stop)
            lack[span] += place - paths[part][span]
            count[span] += 1.0
    stands = count > 0.0
    if not stands.any():
        return lack
    known, mean = source.times[stands], lack[stands] / count[stands, None]
    through = np.stack([np.interp(source.times, known, column) for column in mean.T], axis=1)
    return smoothed(through, source.times, EASE)


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


def _scaled(source: Source, robot: Robot, part: str) -> Array:
    """(frames, 3) the path of the point of a part that stands as the body's toe or joint has it, scaled."""
    body = source.places.get(TOES.get(part, part), source.places[part])
    above = [0.0, 0.0, stood(body, source.contacts, part)]
    scaled: Array = robot.scale * (body - above) + [0.0, 0.0, robot.high(part)]
    return scaled


def _stances(source: Source, robot: Robot, part: str, path: Array) -> Array:
    """(stances, 3) where a part stands each time: in the middle of its path (frames, 3) then, on the ground."""
    own = [one for one in source.contacts.intervals if one.part == part]
    out = np.array([path[one.start : one.stop].mean(axis=0) for one in own]).reshape(-1, 3)
    for place, one in zip(out, own, strict=True):
        ground = ground_of(source, robot, one)
        place[2] = ground.height(place) + robot.high(part) / ground.normal[2]
    return out


@final
class Plane(NamedTuple):
    """The ground on which a robot's part stands: all places with normal . place = offset [m]."""

    normal: tuple[float, float, float]
    offset: float

    def height(self, place: Array) -> float:
        """How high it is beneath or above a place (3,) [m]."""
        x, y, z = self.normal
        return float(self.offset - x * place[0] - y * place[1]) / z


FLOOR: Final = Plane((0.0, 0.0, 1.0), 0.0)


def ground_of(source: Source, robot: Robot, contact: Contact) -> Plane:
    """The ground of a stance, scaled as the body is: through the middle of where the body's part is meanwhile."""
    if contact.normal[2] == 1.0:
        return Plane(contact.normal, robot.scale * contact.ground)
    x, y = source.paths[contact.part][contact.start : contact.stop, :, :2].mean(axis=(0, 1)).tolist()
    return Plane(contact.normal, robot.scale * float(np.dot(contact.normal, (x, y, contact.ground))))


def _sole_turns(source: Source, robot: Robot, part: str) -> Array:
    """(frames, 4) the rotations of a part that stands: of a foot, flat on the ground while its heel is down, and turned
    with its leg."""
    turns, flats, flat = _with_leg(source, robot, part), list[Span](), []
    if part in robot.props:
        return turns
    upright = matrix_quaternion(robot.axes[part].T)
    ways = quaternion_product(turns, conjugate(upright))
    for one in (one for one in source.contacts.intervals if one.part == part):
        heel = np.flatnonzero(source.contacts.points[part][one.start : one.stop, 0])
        down = slice(one.start, one.start + int(heel[-1]) + 1) if len(heel) else slice(0, 1)
        level = quaternion_product(aligning(one.normal), _level(ways[down], upright))
        if len(heel) and _between(turns[down], level) < TILTED:
            flats.append((down.start, down.stop))
            flat.append(level)
    return pinned_turns(turns, flats, np.array(flat), source.times, EASE) if flats else turns


def _with_leg(source: Source, robot: Robot, part: str) -> Array:
    """(frames, 4) the rotations of a foot, turned about the vertical to where its leg bends.

    An ankle of two axes has the left of its foot square to the plane of its leg, so where a knee is bent that says how
    the foot is turned, and where it is straight the foot does.
    """
    hip, knee = (part.replace("ankle", other) for other in ("hip", "knee"))
    turns = source.turns[part]
    if part not in TOES or knee not in robot.frames or hip not in source.places:
        return turns
    if between(robot.model, robot.frames[knee], robot.frames[part]) >= _FREE_TURN:
        return turns
    thigh, shin = (unit_vectors(source.places[b] - source.places[a]) for a, b in ((hip, knee), (knee, part)))
    across = np.cross(thigh, shin)
    own = rotate(turns, robot.axes[part][:, 1])[:, :2]
    to = own + across[:, :2] * np.linalg.norm(across, axis=1, keepdims=True) / _STRAIGHT
    angles = np.arctan2(own[:, 0] * to[:, 1] - own[:, 1] * to[:, 0], (own * to).sum(axis=1))
    half = 0.5 * (1.0 - loose(source, part)) * smoothed(angles[:, None], source.times, EASE)[:, 0]
    about = np.stack([np.cos(half), 0.0 * half, 0.0 * half, np.sin(half)], axis=1)
    return quaternion_product(about, turns)


def _standing(source: Source, robot: Robot, part: str, path: Array, turns: Array, stances: Array) -> Array:
    """(frames, 3) the path of a part that is at its places (stances, 3) while it stands.

    Along the ground it begins to leave a place while it still stands, as far as its stance gives.  No point of its sole
    is ever below the ground on which it stands, except off its feet.
    """
    own = [one for one in source.contacts.intervals if one.part == part]
    spans = [(one.start, one.stop) for one in own]
    out, normals, floor = path.copy(), np.tile((0.0, 0.0, 1.0), (len(path), 1)), np.zeros(len(path))
    if spans:
        gaps = [path[one.start : one.stop, :2] - place[:2] for one, place in zip(own, stances, strict=True)]
        holds = [one.hold or source.hold for one in own]
        early = released(spans, gaps, source.times, EASE, [0.0 if hold.hard else hold.place for hold in holds])
        out[:, :2] = pinned(path[:, :2], spans, stances[:, :2], source.times, EASE, early)
        out[:, 2:] = pinned(path[:, 2:], spans, stances[:, 2:], source.times, EASE)
        share, which = shares(spans, source.times, EASE)
        grounds = [ground_of(source, robot, one) for one in own]
        ways = np.array([ground.normal for ground in grounds])
        normals = unit_vectors(normals + share[:, None] * (ways[which] - normals))
        floor = share * np.array([ground.offset for ground in grounds])[which]
    out[:, 2] += (1.0 - loose(source, part)) * sunk(robot, part, out, turns, normals, floor)
    return out


def _over(source: Source, robot: Robot, part: str, path: Array, ground: Surface) -> Array:
    """(frames,) how much higher than its path (frames, 3) a part goes where it comes to the ground or leaves it, to be
    above it before it is over its edge [m]."""
    needs, times = np.zeros(len(path)), source.times
    for one in (one for one in source.contacts.intervals if one.part == part):
        first, last = np.searchsorted(times, (times[one.start] - _COMES, times[one.stop - 1] + _COMES))
        plane, spots = ground_of(source, robot, one), path[first:last, None] + _EDGE
        level = np.array([plane.height(place) for place in path[first:last]])
        spots[..., 2] = level[:, None]
        near = ground(spots.reshape(-1, 3)).reshape(spots.shape[:2]).max(axis=1) > level - _STEP
        lacks = np.where(near, level + robot.high(part) - path[first:last, 2], 0.0)
        needs[first:last] = np.maximum(needs[first:last], lacks)
    return gently(needs, times) * (1.0 - stance(source, part))


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


def sunk(robot: Robot, part: str, path: Array, turns: Array, normals: Array, floor: Array) -> Array:
    """(frames,) how far a sole is below a floor, whose part has this path and these turns [m]; 0 above it.

    In each frame the floor is all places with normal . place = floor, of `normals` (frames, 3) and `floor` (frames,).
    """
    up = rotate(conjugate(turns), normals)
    heights = (robot.balls(part) - robot.points[part]) @ up.T
    lowest = (path * normals).sum(axis=1) + heights.min(axis=0) - robot.roundings[part]
    return np.maximum(floor - lowest, 0.0) / normals[:, 2]


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
