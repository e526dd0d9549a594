"""Where the parts of a robot shall be, frame by frame, so that it does what a body does that has other bones.

A body is scaled to the robot by its legs, as it travels and stands on them.  Its bones keep their directions and have
the robot's lengths, so a hand goes where the robot's own arm, held alike, would bring it.  A foot that stands stays
where it came down, flat while its heel is down.

A place is that of the origin of a part's frame, and a rotation that of its frame: the robot's, as in its model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from poise.model.model import Model
from poise.retarget.parts import HIPS, PARENTS, RIGID, TOES, ancestors
from poise.retarget.contacts import Contacts
from poise.retarget.holding import Span, held, held_turns
from poise.spatial import Array, conjugate, quaternion_matrix, quaternion_product, rotate

EASE: Final = 0.12
"""How long a foot takes to come to rest, and to leave where it stood [s]."""
SHORT: Final = 1e-6
"""Bones below this length have no direction [m]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A body that moves, in its own proportions."""

    times: Array
    """(frames,) [s]"""
    places: Mapping[str, Array]
    """By part, (frames, 3) where it is [m]."""
    turns: Mapping[str, Array]
    """By part, (frames, 4) how the robot's frame is turned when it does as this body: the body's own rotation, then
    that from its frame to the robot's."""
    contacts: Contacts


@final
@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The robot's own body."""

    model: Model
    frames: Mapping[str, str]
    """By part, its frame."""
    soles: Mapping[str, Array]
    """By part that stands, (k, 3) the points in its frame with which it does [m]."""
    toes: Mapping[str, Array]
    """By part that stands, (3,) the point that stays in place while it does."""

    @property
    def root(self) -> str:
        """The part that carries all others."""
        return next(iter(ancestors(self.frames)))

    @property
    def stays(self) -> bool:
        """Whether nothing moves that part, as on a pedestal."""
        return not any(joint.nv for joint in self.model.root_path(self.model.frame(self.frames[self.root]).link))

    def rest(self, part: str, within: str | None = None) -> tuple[Array, Array]:
        """(3,) and (4,) the pose of a part at neutral, in the world or in the frame of another part."""
        model = self.model
        pose = model.pose(self.frames[part], model.neutral)
        if within is not None:
            pose = model.pose(self.frames[within], model.neutral).inverse() @ pose
        return pose.xyz, pose.wxyz

    def standing(self, part: str) -> float:
        """How high a part is over the ground when it stands as at neutral [m]."""
        return -float((quaternion_matrix(self.rest(part)[1]) @ self.soles[part].T)[2].min())

    def bone(self, part: str, parent: str) -> float:
        """How far a part is from another at neutral [m]."""
        return float(np.linalg.norm(self.rest(part)[0] - self.rest(parent)[0]))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """By part of the robot, where it shall be and how it shall be turned."""

    places: Mapping[str, Array]
    """(frames, 3) [m]"""
    turns: Mapping[str, Array]
    """(frames, 4)"""


def targets(source: Source, robot: Target, scale: float) -> Targets:
    """Where the robot's parts shall be, of a body that is scaled to it by `scale`.

    The ground is at height 0, where the body stands lowest; a body that never stands keeps its heights.
    """
    turns, places = dict(source.turns), {}
    lifts = []
    for part in robot.soles:
        places[part], turns[part] = foot(source, robot, part, scale)
        lifts.append(robot.standing(part) - scale * stood(source.places[part], source.contacts, part, heel=True))
    lift = float(np.mean(lifts)) if lifts else 0.0
    for part, parent in ancestors(robot.frames).items():
        if part in places:
            continue
        if parent is None:
            places[part] = _trunk(source, robot, part, scale, lift)
        elif part in RIGID:
            place, _ = robot.rest(part, parent)
            places[part] = places[parent] + rotate(turns[parent], place)
        else:
            places[part] = places[parent] + _bone(source, robot, part, parent, scale)
    return Targets(places, turns)


def seen_from(source: Source, robot: Target) -> Source:
    """The same motion as one who is carried along by the robot's root sees it, where that stays."""
    root = robot.root
    place, turn = robot.rest(root)
    back = quaternion_product(np.broadcast_to(turn, source.turns[root].shape), conjugate(source.turns[root]))
    return replace(
        source,
        places={part: place + rotate(back, path - source.places[root]) for part, path in source.places.items()},
        turns={part: quaternion_product(back, turns) for part, turns in source.turns.items()},
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
    return float(np.median(above[stands]) if stands.any() else above.min())


def foot(source: Source, robot: Target, part: str, scale: float) -> tuple[Array, Array]:
    """(frames, 3) and (frames, 4) the path of a part that stands, from that of the body's own.

    While it stands a point of its sole, that below the toe, does not move, and while the heel is down the sole is flat.
    No point of the sole is ever below the ground.
    """
    times, contacts = source.times, source.contacts
    turns = source.turns[part]
    body = source.places.get(TOES.get(part, part), source.places[part])
    path = scale * (body - [0.0, 0.0, stood(body, contacts, part)])
    spans: list[Span] = []
    flats: list[Span] = []
    stays, flat = [], []
    for contact in contacts.intervals:
        if contact.part == part:
            spans.append((contact.start, contact.stop))
            x, y, _ = path[contact.start : contact.stop].mean(axis=0)
            stays.append([x, y, scale * contact.ground])
            heel = np.flatnonzero(contacts.points[part][contact.start : contact.stop, 0])
            if len(heel):
                flats.append((contact.start, contact.start + int(heel[-1]) + 1))
                flat.append(_level(turns[slice(*flats[-1])], robot.rest(part)[1]))
    if spans:
        path = held(path, spans, np.array(stays), times, EASE)
    if flats:
        turns = held_turns(turns, flats, np.array(flat), times, EASE)
    rotations = quaternion_matrix(turns)
    place = path - rotations @ robot.toes[part]
    lowest = (rotations @ robot.soles[part].T)[:, 2].min(axis=1) + place[:, 2]
    place[:, 2] -= np.minimum(lowest, 0.0)
    return place, turns


def _level(turns: Array, rest: Array) -> Array:
    """(4,) the rotation `rest` (4,), turned about the vertical to be as near to `turns` (n, 4) as can be."""
    ways = quaternion_product(turns, np.broadcast_to(conjugate(rest), turns.shape))
    w, z = ways[:, 0], ways[:, 3]
    half = 0.5 * np.arctan2(2.0 * (w * z).sum(), (w * w - z * z).sum())
    return quaternion_product(np.array([np.cos(half), 0.0, 0.0, np.sin(half)]), rest)


def _trunk(source: Source, robot: Target, part: str, scale: float, lift: float) -> Array:
    """(frames, 3) where the part goes that carries all others: the middle of its hips is where the body's is."""
    if robot.stays:
        return source.places[part]
    hips = [hip for hip in HIPS if part == "pelvis" and hip in robot.frames and hip in source.places]
    middle = np.mean([source.places[hip] for hip in hips or [part]], axis=0)
    path = scale * middle + [0.0, 0.0, lift]
    if hips:
        path = path - rotate(source.turns[part], np.mean([robot.rest(hip, part)[0] for hip in hips], axis=0))
    return path


def _bone(source: Source, robot: Target, part: str, parent: str, scale: float) -> Array:
    """(frames, 3) from a part to the next [m]: the body's direction, with the robot's length."""
    way = source.places[part] - source.places[parent]
    if PARENTS[part] != parent:  # a joint between the two is not known, so how far they are apart tells how it is bent
        return scale * way
    length = np.linalg.norm(way, axis=1, keepdims=True)
    there = length > SHORT
    rest = robot.rest(part)[0] - robot.rest(parent)[0]
    return np.where(there, way * robot.bone(part, parent) / np.where(there, length, 1.0), rest)
