"""Where the parts of a robot shall be, frame by frame, so that it does what a body does that has other bones.

The body is scaled by its legs, on which it travels and stands.  Its bones keep their directions and have the robot's
lengths, so a hand goes where the robot's own arm, held alike, would bring it.  A foot that stands stays where it came
down, flat while its heel is down.

A place is where a part stands, which is a point of its frame, and a rotation is that of its frame, the robot's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.cached import cached_property
from poise.model.frame import Frame
from poise.model.kinematics import all_poses
from poise.model.model import Model
from poise.quaternions import conjugate, matrix_quaternion, quaternion_product, rotate
from poise.retargeting.anatomy.contact_schedule import Contacts, Flags, runs
from poise.retargeting.anatomy.median import median
from poise.retargeting.anatomy.parts import HIPS, PARENTS, RIGID, TOES, ancestors
from poise.retargeting.contact.holding import Span, held, held_turns, shares
from poise.spatial import SE3
from poise.tasks.base import Task
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask
from poise.tasks.swivel import SwivelTask

if TYPE_CHECKING:
    from poise.retargeting.contact.touches import Touch

EASE: Final = 0.12
"""How long a foot takes to come to rest, and to leave where it stood [s]."""
_FRONT: Final = 0.01
"""How far behind the foremost point of a sole the others of its front are, at most [m]."""
TILTED: Final = 0.6
"""A foot that is turned away from flat by more does not stand on its sole, as one of a body that sits or lies [rad]."""
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
    """By part, (frames, 4) how the robot's frame is turned when it does as this body does."""
    contacts: Contacts
    paths: Mapping[str, Array]
    """By part that may stand, (frames, points, 3) its points, in which contacts were looked for [m]."""
    off_feet: Flags
    """(frames,) when the body lies, crawls or turns over."""
    objects: Mapping[str, SE3] = field(default_factory=dict)
    """By name, (frames,) where objects are that it may touch."""
    touches: "tuple[Touch, ...]" = ()
    """When its hands touch them."""
    fingers: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, numbers in q) how the fingers of the robot stand when it does as this body does [rad or m]."""


@final
@dataclass(frozen=True, eq=False)
class Robot:
    """The body of a robot."""

    model: Model
    frames: Mapping[str, str]
    """By part, its frame."""
    points: Mapping[str, Array]
    """By part, (3,) the point of its frame that goes where the part shall be [m]: of a part that stands, on its sole,
    beneath the toe or else beneath its joint."""
    axes: Mapping[str, Array]
    """By part, (3, 3) forward, left and up as columns, in its frame, of a body that stands upright."""
    ankles: Mapping[str, Array]
    """By part that stands, (3,) its joint in its frame [m]."""
    soles: Mapping[str, Array]
    """By part that stands, (k, 3) the points in its frame with which it does [m]."""
    roundings: Mapping[str, float]
    """By part that stands, the radius of the balls that these points are the lowest of [m]."""
    scale: float
    """Its size, as a share of the body that it follows."""
    fingers: tuple[str, ...] = ()
    """The joints of its fingers that follow those of the body."""

    @property
    def root(self) -> str:
        """The part that carries all others."""
        return next(iter(ancestors(self.frames)))

    @property
    def fixed_base(self) -> bool:
        """Whether nothing moves that part, as on a pedestal."""
        return not any(joint.nv for joint in self.model.root_path(self.model.frame(self.frames[self.root]).link))

    @staticmethod
    def place(part: str) -> str:
        """The frame of the model that stands where a part does."""
        return f"place of {part}"

    def part_at(self, frame: str) -> str:
        """The part of that frame."""
        return frame.removeprefix(self.place(""))

    def part_of(self, frame: str) -> str:
        """The part whose frame this is."""
        return next(part for part, name in self.frames.items() if name == frame)

    def part(self, task: Task) -> str | None:
        """The part of a task."""
        if isinstance(task, SwivelTask):
            return self.part_at(task.middle)
        return self.part_of(task.frame) if isinstance(task, PoseTask | PositionTask | OrientationTask) else None

    def pose(self, part: str, q: Array) -> SE3:
        """The pose of a part at `q` (nq,): its place, and the rotation of its frame."""
        return self.model.pose(self.frames[part], q) @ SE3.from_parts(self.points[part])

    def poses(self, q: Array) -> dict[str, Array]:
        """By part, (7,) its pose at `q` (nq,), as `pose` has it: place, and quaternion w x y z."""
        frames, points = self._parts
        poses = all_poses(self.model, frames, q)
        poses[:, :3] += rotate(poses[:, 3:], points)
        return dict(zip(self.frames, poses, strict=True))

    @cached_property
    def _parts(self) -> tuple[list[Frame], Array]:
        """The frames of all parts, and (parts, 3) their points in them."""
        points = [self.points[part] for part in self.frames]
        return [self.model.frame(name) for name in self.frames.values()], np.array(points)

    def rest(self, part: str, within: str | None = None) -> SE3:
        """The pose of a part at neutral, in the world or seen from another part."""
        pose = self._rest[part]
        return pose if within is None else self._rest[within].inverse() @ pose

    @cached_property
    def _rest(self) -> dict[str, SE3]:
        return {part: SE3(pose) for part, pose in self.poses(self.model.neutral).items()}

    def balls(self, part: str) -> Array:
        """(k, 3) the middles of the balls that a sole consists of, in its frame [m]."""
        return self.soles[part] + self.roundings[part] * self.axes[part][:, 2]

    def standing(self, part: str, point: Array) -> float:
        """How high a point (3,) in the frame of a part is over the ground when that stands upright [m]."""
        up = self.axes[part][:, 2]
        return float(up @ point - (self.soles[part] @ up).min())

    def high(self, part: str) -> float:
        """How high the point of a part that stands is over the ground: of a ball it may be the middle [m]."""
        return (
            float(self.axes[part][:, 2] @ (self.points[part] - self.soles[part][0]))
            if len(self.soles[part]) == 1
            else 0.0
        )

    def bone(self, part: str, parent: str) -> float:
        """How far the joint of a part is from another part at neutral [m]."""
        joint = self.ankles.get(part, self.points[part]) - self.points[part]
        return float(np.linalg.norm(self.rest(part).act(joint) - self.rest(parent).xyz))


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


@final
@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """By part of the robot, where it shall be and how it shall be turned."""

    places: Mapping[str, Array]
    """(frames, 3) [m]"""
    turns: Mapping[str, Array]
    """(frames, 4)"""
    objects: Mapping[str, SE3] = field(default_factory=dict)
    """By name, (frames,) where objects are beside the robot."""


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
            led = places[parent] + _bone(source, robot, part, parent)
            led += rotate(turns[part], robot.points[part] - robot.ankles[part])
            places[part] += share[:, None] * (led - places[part])
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
        path = held(path, spans, np.array(places), times, EASE)
        share, which = shares(spans, times, EASE)
        floor = share * (np.array(places)[which, 2] - high)
    if flats:
        turns = held_turns(turns, flats, np.array(flat), times, EASE)
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
