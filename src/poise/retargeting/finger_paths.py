"""How a robot's fingers stand, frame by frame, so that its hands do as a body's do: by a `HandRetargeter` a hand.

Bones of fingers keep their directions, as seen from the palm, and have the robot's lengths; so neither the size of a
hand nor where the arm brings it plays a part.  The first bones of a finger go with the first, and the robot's last one
with what the skeleton has from there to the tip.  Bones that no joint of the finger turns are of the palm.

Fingers of people bend within ranges; what a source shows beyond them is noise, and is brought back to them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.model.model import Model
from poise.motion.clip import Motion
from poise.quaternions import conjugate, quaternion_product, rotate, unit_vectors
from poise.retargeting.body import BodyMap
from poise.retargeting.fingers import Finger
from poise.retargeting.following import averaged
from poise.retargeting.hands import HandRetargeter
from poise.retargeting.landmarks import WEBXR
from poise.retargeting.parts import SIDES
from poise.retargeting.proportions import Proportions
from poise.solving.limits import Limits
from poise.solving.tracker import Tracker
from poise.spatial import SE3, Array
from poise.tasks.posture import PostureTask

_STAY: Final = 1e-5
"""Weight of how far the joints of a hand go from one frame to the next [1/rad^2]."""
_TURNS: Final = 0.5
"""Bones that turn less than this, whatever their finger does, are of the palm [rad]."""
_SAMPLES: Final = 8
_LANDMARKS: Final = {
    name: tuple(joint for joint in WEBXR if joint.startswith(name) and (name == "thumb" or "metacarpal" not in joint))
    for name in ("thumb", "index", "middle", "ring", "pinky")
}
"""By finger, the landmarks that stand for its points."""
_FINGER: Final = np.radians([[-45.0, 105.0, 35.0], [-15.0, 115.0, 20.0], [-25.0, 105.0, 20.0]])
"""By bone from the knuckle, the ends of the range in which it bends towards the palm, against the one before, and how
far it goes to either side [rad]: about 15 degrees more than is normal (American Academy of Orthopaedic Surgeons, Joint
Motion, 1965)."""
_THUMB: Final = np.radians([[-180.0, 180.0, 90.0], [0.0, 75.0, 90.0], [-35.0, 95.0, 90.0]])
"""The same of a thumb, whose first bone goes where it likes, and whose second one says where it bends."""
_TOLD: Final = np.radians(5.0)
"""What is beyond by less is not told of [rad]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Bone:
    """A bone of a robot's finger, and what it follows."""

    part: str
    place: int
    """From which of the points of its finger it reaches to the next."""
    frames: tuple[str, str]
    """Where it begins and ends."""
    length: float
    """[m]"""
    span: slice
    """The bones of the skeleton's finger that it follows."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class FingerPaths:
    """What the fingers of a robot are to do."""

    joints: tuple[str, ...]
    q: Array
    """(frames, joints) [rad or m]"""
    bones: tuple[tuple[str, Finger, int], ...]
    """The bones that follow: the robot's wrist, the finger, and the point of it where each begins."""
    ways: Array
    """(frames, bones, 3) where each should point, as its wrist sees it."""
    notes: tuple[str, ...]

    def off(self, motion: Motion) -> Array:
        """(frames, bones) the angle from where each bone of a robot points to where it should [rad]."""
        out = np.zeros(self.ways.shape[:2])
        for k, (wrist, finger, place) in enumerate(self.bones):
            bone = np.diff(finger.points(motion.model, motion.q), axis=1)[:, place]
            seen = rotate(conjugate(motion.model.poses(motion.q, [wrist]).wxyz[:, 0]), unit_vectors(bone))
            across = np.linalg.norm(np.cross(seen, self.ways[:, k]), axis=1)
            out[:, k] = np.arctan2(across, np.sum(seen * self.ways[:, k], axis=1))
        return out


def finger_paths(
    motion: Motion,
    robot: Model,
    body: BodyMap,
    proportions: Proportions,
    dt: float,
    *,
    limits: Limits,
    speed: float = 1.0,
    smooth: float = 0.0,
) -> FingerPaths:
    """What the fingers do that both have, each hand by itself, then as fast as their joints may go.

    Frames are `dt` [s] apart.  `speed` is the share of the velocity limits, and over `smooth` [s] a path is averaged.
    Of `limits` all hold but those of shapes, which fingers do not move for.
    """
    joints, bones, notes = list[str](), list[tuple[str, Finger, int]](), list[str]()
    q, ways = [np.zeros((len(motion), 0))], [np.zeros((len(motion), 0, 3))]
    for side in SIDES:
        wrist = f"{side}_wrist"
        fingers = {part: both for part, both in proportions.fingers.items() if part.startswith(side)}
        hand = _hand(robot, {part: other for part, (_, other) in fingers.items()})
        follow = [bone for part, (one, other) in fingers.items() for bone in _bones(hand, part, one, other)]
        if not follow:
            continue
        turns = motion.model.poses(motion.q, [body.source[wrist]]).wxyz[:, 0]
        back = conjugate(quaternion_product(turns, np.broadcast_to(proportions.offsets[wrist], turns.shape)))
        axes = proportions.robot_axes[wrist]
        seen = {}
        for part, (one, _) in fingers.items():
            bent = unit_vectors(rotate(back[:, None], np.diff(one.points(motion.model, motion.q), axis=1)))
            human, told = _human(part, bent @ axes)
            seen[part], notes = human @ axes.T, [*notes, *told]
        wanted = np.stack([unit_vectors(seen[bone.part][:, bone.span].sum(axis=1)) for bone in follow], axis=1)
        done = _followed(hand, body.robot[wrist], follow, wanted, motion.times, limits.positions)
        joints += [joint.name for joint in hand.joints if joint.nq]
        bones += [(body.robot[wrist], fingers[bone.part][1], bone.place) for bone in follow]
        notes += done.notes
        q.append(averaged(hand, done.q, smooth / dt) if smooth > 0.0 and len(motion) > 1 else done.q)
        ways.append(wanted)
    path = _in_time(robot, joints, np.concatenate(q, axis=1), dt, limits, speed)
    return FingerPaths(tuple(joints), path, tuple(bones), np.concatenate(ways, axis=1), tuple(notes))


def _hand(robot: Model, fingers: Mapping[str, Finger]) -> Model:
    """A robot of which nothing moves but these fingers; a frame ends each, called as its part is."""
    free = {robot.follows(robot.joint(name))[0] for finger in fingers.values() for name in finger.joints}
    held = {joint.name: robot.home[robot.index(joint.name)] for joint in robot.joints if joint.nq and joint.name not in free}
    hand = robot.lock(held)
    for part, finger in fingers.items():
        hand = hand.with_frame(_end(part), link=finger.links[-1], origin=SE3.from_parts(finger.tip))
    return hand


def _end(part: str) -> str:
    return f"end of {part}"


def _bones(hand: Model, part: str, one: Finger, other: Finger) -> list[_Bone]:
    """The bones of a robot's finger that its joints turn, each with what it follows of a skeleton's."""
    if not hand.nq:
        return []
    sampled = np.diff(other.points(hand, hand.sample(_SAMPLES, seed=0)), axis=1)
    lengths = np.linalg.norm(sampled[0], axis=1)
    turned = np.linalg.norm(np.ptp(unit_vectors(sampled), axis=0), axis=1) > _TURNS
    moving, most = np.flatnonzero(turned), len(one.links)
    starts = np.minimum(np.arange(len(moving)), most - 1)
    stops = np.append(starts[:-1] + 1, most)
    frames = (*other.links, _end(part))
    return [
        _Bone(part, int(i), (frames[i], frames[i + 1]), float(lengths[i]), slice(int(start), int(stop)))
        for i, start, stop in zip(moving, starts, stops, strict=True)
    ]


def _followed(hand: Model, wrist: str, bones: Sequence[_Bone], ways: Array, times: Array, limits: bool) -> Motion:
    """The motion of a hand whose bones point along `ways` (frames, bones, 3), as its wrist sees them."""
    points, links = np.zeros((len(ways), len(WEBXR), 3)), {}
    turned = hand.pose(wrist, hand.neutral).rotation.act(ways)
    for k, bone in enumerate(bones):
        begin, end = _LANDMARKS[bone.part.partition("_")[2]][bone.place : bone.place + 2]
        points[:, WEBXR.index(end)] = points[:, WEBXR.index(begin)] + bone.length * turned[:, k]
        links[bone.frames] = begin, end
    return HandRetargeter(hand, links, align=False, regularization=_STAY, limits=limits).retarget(points, times=times)


def _in_time(robot: Model, joints: Sequence[str], path: Array, dt: float, limits: Limits, speed: float) -> Array:
    """The path (frames, joints) of some joints, as fast as the limits let them follow it."""
    if not joints:
        return path
    columns = [robot.index(name).start for name in joints]
    asked = PostureTask(weight={joint.name: float(joint.name in joints) for joint in robot.joints if joint.nv})
    stated = limits._replace(apart=None).stated
    tracker = Tracker(robot, [asked], dt=dt, limits=stated, speed=speed, settle=False)
    postures = np.tile(robot.home, (len(path), 1))
    postures[:, columns] = path
    return tracker.rollout(postures[0], [postures])[:, columns]


def _human(part: str, ways: Array) -> tuple[Array, list[str]]:
    """The bones (frames, bones, 3) of a finger, of length 1 and seen along the axes of its palm, as far as people bend
    them, and what was beyond, in words."""
    side, _, name = part.partition("_")
    flat = np.array([[0.0, 0.0, -1.0], [0.0, 1.0 if side == "right" else -1.0, 0.0], [1.0, 0.0, 0.0]])
    seen = np.broadcast_to(flat, (len(ways), 3, 3))  # along the bone before, towards the palm, to the thumb's side
    if name == "thumb" and ways.shape[1] > 1:
        along, beyond = ways[:, 0], ways[:, 1]
        bend = unit_vectors(beyond - along * np.sum(along * beyond, axis=1, keepdims=True))
        seen = np.stack([along, bend, np.cross(bend, along)], axis=1)
    kept, out, beyond_by = seen, ways.copy(), np.zeros(len(ways))
    for k, (low, high, aside) in enumerate((_THUMB if name == "thumb" else _FINGER)[: ways.shape[1]]):
        if name == "thumb" and k == 0:
            continue
        along, bent, to_side = np.einsum("fij,fj->if", seen, ways[:, k])
        bend, swing = np.arctan2(bent, along), np.arcsin(np.clip(to_side, -1.0, 1.0))
        middle = 0.5 * (low + high)
        bend = middle + np.remainder(bend - middle + np.pi, 2.0 * np.pi) - np.pi  # by the shorter way from the middle
        human, sideways = np.clip(bend, low, high), np.clip(swing, -aside, aside)
        beyond_by = np.maximum(beyond_by, np.maximum(np.abs(bend - human), np.abs(swing - sideways)))
        seen, kept = _bent(seen, bend, swing), _bent(kept, human, sideways)
        out[:, k] = kept[:, 0]
    told = beyond_by > _TOLD
    if not told.any():
        return out, []
    return out, [
        f"in {told.mean():.1%} of the frames the source bends the {part.replace('_', ' ')} farther than people can, by up "
        f"to {np.degrees(beyond_by.max()):.0f} deg; it was brought back"
    ]


def _bent(axes: Array, bend: Array, swing: Array) -> Array:
    """Axes (frames, 3, 3), as rows, of a bone that is bent and swung to the side against the one before [rad]."""
    along, palm, aside = axes[:, 0], axes[:, 1], axes[:, 2]
    c, s = np.cos(bend)[:, None], np.sin(bend)[:, None]
    along, palm = c * along + s * palm, c * palm - s * along
    c, s = np.cos(swing)[:, None], np.sin(swing)[:, None]
    return np.stack([c * along + s * aside, palm, c * aside - s * along], axis=1)
