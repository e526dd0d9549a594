"""How a robot's fingers stand, frame by frame, so that its hands do as a body's do: by a `HandRetargeter` a hand.

Bones of fingers keep their directions, as seen from the palm, and have the robot's lengths; so neither the size of a
hand nor where the arm brings it plays a part.  The first bones of a finger go with the first, and the robot's last one
with what the skeleton has from there to the tip.  Bones that no joint of the finger turns are of the palm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter
from typing import Final, final

import numpy as np

from poise import SE3, JointKind, Model, Motion, PostureTask, Tracker
from poise.extending import WEBXR, Array, Limits
from poise.quaternions import conjugate, quaternion_product, rotate, unit_vectors
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.fingers import Finger, points_of
from poise_motion.anatomy.human_fingers import within_human
from poise_motion.anatomy.parts import SIDES
from poise_motion.anatomy.proportions import Proportions
from poise_motion.follow.following import columns_of
from poise_motion.follow.postures import averaged
from poise_motion.hands.hands import HandRetargeter
from poise_motion.report.notes import left_out

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
_BEHIND: Final = np.radians(15.0)
"""What a joint is away from where it should be that is told of [rad]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Bone:
    """A bone of a robot's finger, and what it follows."""

    part: str
    place: int
    """From which of the points of its finger it reaches to the next."""
    frames: tuple[str, str]
    """Where it begins and ends, ..."""
    landmarks: tuple[str, str]
    """... and of a human hand."""
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
    """(frames, numbers of these joints) as in a configuration [rad or m]"""
    bones: tuple[tuple[str, Finger, int], ...]
    """The bones that follow: the robot's wrist, the finger, and the point of it where each begins."""
    ways: Array
    """(frames, bones, 3) where each should point, as its wrist sees it."""
    seconds: float
    """What a frame took."""
    notes: tuple[str, ...]

    def off(self, motion: Motion) -> Array:
        """(frames, bones) the angle from where each bone of a robot points to where it should [rad]."""
        out = np.zeros(self.ways.shape[:2])
        for k, (wrist, finger, place) in enumerate(self.bones):
            bone = np.diff(points_of({"": finger}, motion.model, motion.q)[""], axis=1)[:, place]
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
    Of `limits` all hold but those of shapes: fingers may close into things.
    """
    hands = [replace(_nothing(len(motion)), notes=tuple(left_out(proportions.missing)))]
    for side in SIDES:
        fingers = {part: both for part, both in proportions.fingers.items() if part.startswith(side)}
        if fingers and robot.loops:
            none = f"{robot.name} has closed loops, which no hand is moved with: the {side} fingers are left at home"
            hands.append(replace(_nothing(len(motion)), notes=(none,)))
        elif fingers:
            hands.append(_one_hand(motion, robot, body, proportions, fingers, limits.positions))
    wanted = _together(hands, len(motion))
    if not wanted.joints:
        return wanted
    tracker = _in_time(robot, wanted.joints, dt, limits, speed)
    began = perf_counter()
    columns = columns_of(robot, wanted.joints)
    postures = np.tile(robot.home, (len(motion), 1))
    postures[:, columns] = wanted.q
    if smooth > 0.0 and len(motion) > 1:
        postures = averaged(robot, postures, smooth / dt)
    path = tracker.rollout(postures[0], [postures])[:, columns]
    seconds = wanted.seconds + (perf_counter() - began) / len(motion)
    notes = (*wanted.notes, *_behind(path, postures[:, columns]))
    return replace(wanted, q=path, seconds=seconds, notes=notes)


def _nothing(frames: int) -> FingerPaths:
    """Of a robot whose fingers do nothing."""
    return FingerPaths((), np.zeros((frames, 0)), (), np.zeros((frames, 0, 3)), 0.0, ())


def _together(hands: Sequence[FingerPaths], frames: int) -> FingerPaths:
    """What several hands do."""
    every = [_nothing(frames), *hands]
    return FingerPaths(
        tuple(name for hand in every for name in hand.joints),
        np.concatenate([hand.q for hand in every], axis=1),
        tuple(bone for hand in every for bone in hand.bones),
        np.concatenate([hand.ways for hand in every], axis=1),
        sum(hand.seconds for hand in every),
        tuple(note for hand in every for note in hand.notes),
    )


def _one_hand(
    motion: Motion,
    robot: Model,
    body: BodyMap,
    proportions: Proportions,
    fingers: Mapping[str, tuple[Finger, Finger]],
    limits: bool,
) -> FingerPaths:
    """What the fingers of one hand do, however fast that is."""
    wrist = f"{next(iter(fingers)).partition('_')[0]}_wrist"
    hand = _hand(robot, {part: other for part, (_, other) in fingers.items()})
    bones = [bone for part, (one, other) in fingers.items() for bone in _bones(hand, part, one, other)]
    if not bones:
        return _nothing(len(motion))
    links = {bone.frames: bone.landmarks for bone in bones}
    follower = HandRetargeter(hand, links, align=False, regularization=_STAY, limits=limits, q0=hand.home)
    began = perf_counter()
    turns = motion.model.poses(motion.q, [body.source[wrist]]).wxyz[:, 0]
    back = conjugate(quaternion_product(turns, np.broadcast_to(proportions.offsets[wrist], turns.shape)))
    axes, seen, notes = proportions.robot_axes[wrist], dict[str, Array](), list[str]()
    points = points_of({part: one for part, (one, _) in fingers.items()}, motion.model, motion.q)
    for part, places in points.items():
        bent = unit_vectors(rotate(back[:, None], np.diff(places, axis=1)))
        human, remarks = within_human(part, bent @ axes)
        seen[part], notes = human @ axes.T, [*notes, *remarks]
    ways = np.stack([unit_vectors(seen[bone.part][:, bone.span].sum(axis=1)) for bone in bones], axis=1)
    turned = hand.pose(body.robot[wrist], hand.neutral).rotation.act(ways)
    q = _followed(follower, _landmarks(bones, turned))
    return FingerPaths(
        tuple(joint.name for joint in hand.joints if joint.nq),
        q,
        tuple((body.robot[wrist], fingers[bone.part][1], bone.place) for bone in bones),
        ways,
        (perf_counter() - began) / len(motion),
        tuple(notes),
    )


def _followed(follower: HandRetargeter, points: Array) -> Array:
    """(frames, nq) what a hand does for landmarks (frames, 25, 3).

    Bones do not show how a ball joint turns them about themselves, and from frame to frame such turns would add up: a
    hand with ball joints goes from its home in each frame, by the shortest way.
    """
    hand = follower.model
    if not any(joint.kind is JointKind.SPHERICAL for joint in hand.joints):
        return follower.retarget(points).q
    return np.stack([follower.step(frame, last=hand.home) for frame in points])


def _behind(path: Array, wanted: Array) -> list[str]:
    """Where joints could not go as fast as they should, in words."""
    behind = (np.abs(path - wanted) > _BEHIND).any(axis=1)
    if not behind.any():
        return []
    return [
        f"in {behind.mean():.1%} of the frames a finger is more than {np.degrees(_BEHIND):.0f} deg behind the "
        "source's, and as fast as its joints may go"
    ]


def _hand(robot: Model, fingers: Mapping[str, Finger]) -> Model:
    """A robot of which nothing moves but these fingers; a frame ends each, called as its part is."""
    free = {robot.follows(robot.joint(name))[0] for finger in fingers.values() for name in finger.joints}
    locked = {
        joint.name: robot.home[robot.index(joint.name)] for joint in robot.joints if joint.nq and joint.name not in free
    }
    hand = robot.lock(locked)
    for part, finger in fingers.items():
        hand = hand.with_frame(_end(part), link=finger.links[-1], origin=SE3.from_parts(finger.tip))
    return hand


def _end(part: str) -> str:
    return f"end of {part}"


def _bones(hand: Model, part: str, one: Finger, other: Finger) -> list[_Bone]:
    """The bones of a robot's finger that its joints turn, each with what it follows of a skeleton's."""
    if not hand.nq:
        return []
    sampled = np.diff(points_of({part: other}, hand, hand.sample(_SAMPLES, seed=0))[part], axis=1)
    lengths = np.linalg.norm(sampled[0], axis=1)
    turned = np.linalg.norm(np.ptp(unit_vectors(sampled), axis=0), axis=1) > _TURNS
    moving, most = np.flatnonzero(turned), len(one.links)
    starts = np.minimum(np.arange(len(moving)), most - 1)
    stops = np.append(starts[:-1] + 1, most)
    ends = tuple(pairwise((*other.links, _end(part))))
    landmarks = tuple(pairwise(_LANDMARKS[part.partition("_")[2]]))
    return [
        _Bone(part, i, ends[i], landmarks[i], float(lengths[i]), slice(start, stop))
        for i, start, stop in zip(moving.tolist(), starts.tolist(), stops.tolist(), strict=True)
    ]


def _landmarks(bones: Sequence[_Bone], ways: Array) -> Array:
    """(frames, 25, 3) a hand whose bones point along `ways` (frames, bones, 3), as long as the robot's [m]."""
    points = np.zeros((len(ways), len(WEBXR), 3))
    for k, bone in enumerate(bones):
        begin, end = (WEBXR.index(name) for name in bone.landmarks)
        points[:, end] = points[:, begin] + bone.length * ways[:, k]
    return points


def _in_time(robot: Model, joints: Sequence[str], dt: float, limits: Limits, speed: float) -> Tracker:
    """What moves these joints as fast as the limits let them."""
    posture = PostureTask(weight={joint.name: float(joint.name in joints) for joint in robot.joints if joint.nv})
    return Tracker(robot, [posture], dt=dt, limits=limits._replace(collision=None).as_given, speed=speed, settle=False)
