"""A body that moves, the robot that follows it, and where its parts shall be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np

from poise import SE3, Model, OrientationTask, PoseTask, PositionTask, SwivelTask, Task
from poise.extending import Array, cached_property
from poise.quaternions import rotate
from poise_motion.anatomy.contact_schedule import GIVING, Contacts, Flags, Hold
from poise_motion.anatomy.parts import ancestors
from poise_motion.contact.touches import Touch


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
    touches: tuple[Touch, ...] = ()
    """When its hands touch them."""
    fingers: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, numbers in q) how the fingers of the robot stand when it does as this body does [rad or m]."""
    hold: Hold = GIVING
    """How firmly it stands where a contact does not say it."""


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
    props: frozenset[str] = frozenset()
    """The hands and knees among the parts that stand: while they do not, they are led as any other part."""
    highs: Mapping[str, float] = field(default_factory=dict)
    """By hand that stands, how high its point is over the ground then [m]."""

    @property
    def feet(self) -> tuple[str, ...]:
        """The parts that bear it."""
        return tuple(part for part in self.soles if part not in self.props)

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
        poses = self.model.poses(q, list(self.frames.values())).array.copy()
        poses[:, :3] += rotate(poses[:, 3:], np.array([self.points[part] for part in self.frames]))
        return dict(zip(self.frames, poses, strict=True))

    def joint(self, part: str) -> Array:
        """(3,) the joint of a part in its frame, which of a part that stands is another than its point [m]."""
        return self.ankles.get(part, self.points[part])

    def followed(self, part: str) -> Array:
        """(3,) the point of a part in its frame of which is told how well it follows [m]: of a hand its joint."""
        return self.joint(part) if part in self.props else self.points[part]

    def places(self, part: str, point: Array, path: Array) -> Array:
        """(n, 3) where a point (3,) in the frame of a part is along a path (n, nq) [m]."""
        there: Array = self.model.poses(path, [self.frames[part]])[:, 0].act(point)
        return there

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
        """How high the point of a part that stands is over the ground: of a ball or a hand it may be the middle [m]."""
        if part in self.highs or len(self.soles[part]) > 1:
            return self.highs.get(part, 0.0)
        return float(self.axes[part][:, 2] @ (self.points[part] - self.soles[part][0]))

    def bone(self, part: str, parent: str) -> float:
        """How far the joint of a part is from another part at neutral [m]."""
        joint = self.joint(part) - self.points[part]
        return float(np.linalg.norm(self.rest(part).act(joint) - self.rest(parent).xyz))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """By part of the robot, where it shall be and how it shall be turned; and when its shapes are kept apart."""

    places: Mapping[str, Array]
    """(frames, 3) [m]"""
    turns: Mapping[str, Array]
    """(frames, 4)"""
    apart: Flags
    """(frames,) when shapes are kept apart."""
    objects: Mapping[str, SE3] = field(default_factory=dict)
    """By name, (frames,) where objects are beside the robot."""

    def place(self, robot: Robot, part: str) -> Array:
        """(frames, 3) where the point of a part shall be of which is told how well it follows [m]."""
        aside = robot.followed(part) - robot.points[part]
        return self.places[part] + rotate(self.turns[part], aside) if aside.any() else self.places[part]


def between(model: Model, carrier: str, carried: str) -> int:
    """How many axes move a frame against one that carries it."""
    above, below = (model.root_path(model.frame(name).link) for name in (carrier, carried))
    return sum(joint.nv for joint in below) - sum(joint.nv for joint in above)
