"""What a person should know of a motion that was carried over, in sentences."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from poise import CollisionLimit, Motion
from poise.quaternions import unit_vectors
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.contact_schedule import Flags, runs
from poise_motion.anatomy.parts import ENDS, FINGERS, SIDES
from poise_motion.follow.detours import at_ends
from poise_motion.follow.following import Followed
from poise_motion.follow.self_collision import collision_notes
from poise_motion.reference.bodies import Robot, Source

_AWAY: Final = 0.05
"""A hand or a trunk that is this far from where it should be is told of [m]."""
_JUMP: Final = 15.0
"""What is faster than this from one frame to the next [m/s], ..."""
_SUDDEN: Final = 0.5
"""... and not by this share of it in the frames before and after, jumps: a kick or a throw takes several frames."""
_AHEAD: Final = 0.02
"""By this share of its length a leg must point, with its toes or its knee, to the front or to the back to tell it."""
_SHOWN: Final = 3
_SHAKES: Final = 0.01
"""What a joint turns there and back from frame to frame that is no rounding [rad or m], ..."""
_OFTEN: Final = 5
"""... and how often in a row it does, at least."""


def notes(
    motion: Motion, robot: Robot, source: Source, done: Followed, collision: CollisionLimit | None = None
) -> tuple[str, ...]:
    """Of a motion of the robot: jumps of the source, sides that are swapped, feet that are not there, times off its
    feet, limits that kept it from its targets, shapes that were kept `apart`, joints that shake."""
    return (
        *_jumps(source),
        *_swapped(source),
        *_feet(robot, source),
        *_off_feet(robot, source),
        *_round(source, done),
        *_limited(motion, robot, done),
        *(() if collision is None else collision_notes(collision, robot, motion.q)),
        *shaking(motion),
    )


def _jumps(source: Source) -> list[str]:
    steps = np.diff(source.times)[:, None]
    jumps = np.zeros(len(source.times), dtype=bool)
    for path in source.places.values():
        speed = np.diff(path, axis=0) / steps
        fast = np.linalg.norm(speed, axis=1)
        change = np.linalg.norm(np.diff(speed, axis=0, prepend=0.0, append=0.0), axis=1)
        jumps[1:] |= (fast > _JUMP) & (np.minimum(change[:-1], change[1:]) > _SUDDEN * fast)
    frames = np.flatnonzero(jumps)
    if not len(frames):
        return []
    which = f"frame {frames[0]}" if len(frames) == 1 else f"{len(frames)} frames, the first of them {frames[0]}"
    return [f"the source jumps at {which}; the robot follows as fast as its joints may go"]


def _swapped(source: Source) -> list[str]:
    """Whether what is called left is on the right of a body, as its toes show, or else its knees."""
    places = source.places
    pairs = [[f"{side}_{name}" for side in SIDES] for name in ("hip", "shoulder", "knee", "ankle", "toe")]
    hips, shoulders, knees, ankles, toes = ([places[part] for part in pair if part in places] for pair in pairs)
    if min(map(len, (hips, shoulders, knees, ankles))) < len(SIDES) or len(source.contacts.parts) > len(SIDES):
        return []  # not known, or on four legs
    up, left = np.mean(shoulders, axis=0) - np.mean(hips, axis=0), hips[0] - hips[1]
    legs = np.mean(hips, axis=0) - np.mean(ankles, axis=0)
    if len(toes) == len(SIDES):
        ahead = np.mean(toes, axis=0) - np.mean(ankles, axis=0)
    else:
        ahead = np.mean(knees, axis=0) - 0.5 * (np.mean(hips, axis=0) + np.mean(ankles, axis=0))
    front = unit_vectors(np.cross(unit_vectors(left), unit_vectors(up)))
    if np.mean(np.sum(front * ahead, axis=1)) > -_AHEAD * np.mean(np.linalg.norm(legs, axis=1)):
        return []
    return [
        "left and right of the source seem to be swapped, or the file to be mirrored: its toes or knees point to the "
        "back of a body whose left is on that side; swap the names in the map's source"
    ]


def _feet(robot: Robot, source: Source) -> list[str]:
    if not source.contacts.parts:
        return ["no part stands on the ground, so nothing is held there; the map's `contacts` names those that do"]
    if robot.fixed_base:
        return [f"{robot.model.name} stands fixed in the world and its feet hang; base='floating' lets it walk"]
    never = [part for part in source.contacts.parts if part not in robot.props and not source.contacts[part].any()]
    return [f"{' and '.join(never)} never {'stands' if len(never) == 1 else 'stand'} on the ground"] if never else []


def _off_feet(robot: Robot, source: Source) -> list[str]:
    """When the body lies, crawls or turns over."""
    if robot.fixed_base:
        return []
    return [
        f"from {source.times[start]:.2f} to {source.times[stop - 1]:.2f} s the body is off its feet: it lies, crawls, "
        "sits or turns over, so a foot whose sole cannot face the ground is not held, and what is too low is raised"
        for start, stop in runs(source.off_feet)
    ]


def shaking(motion: Motion) -> list[str]:
    """The joints that reverse at each frame for a while."""
    steps = motion.model.difference(motion.q[:-1], motion.q[1:])
    back = (steps[1:] * steps[:-1] < 0.0) & (np.minimum(np.abs(steps[1:]), np.abs(steps[:-1])) > _SHAKES)
    out = []
    for joint in (joint for joint in motion.model.joints if joint.nv == 1):
        spans = [
            span for span in runs(back[:, motion.model.velocity_index(joint.name).start]) if np.ptp(span) >= _OFTEN
        ]
        if spans:
            out.append(
                f"{joint.name} reverses at each frame from {motion.times[spans[0][0]]:.2f} to "
                f"{motion.times[spans[0][1] + 1]:.2f} s"
                + (f", and {len(spans) - 1} times more" if len(spans) > 1 else "")
                + "; smooth=0.1 would calm it"
            )
    return out


def _round(source: Source, done: Followed) -> list[str]:
    """The limbs that went round what they could not pass."""
    return [
        f"from {source.times[way.start]:.2f} to {source.times[way.stop - 1]:.2f} s the {way.limb.name} goes round: its "
        "joints cannot go where the source's do"
        for way in done.detours
    ]


def _limited(motion: Motion, robot: Robot, done: Followed) -> list[str]:
    """The parts that limits kept away, and the joints that were at a limit then."""
    out = []
    for part in (robot.root, *(end for end in ENDS if end in robot.frames and end not in robot.feet)):
        there = robot.places(part, robot.followed(part), motion.q)
        away = np.linalg.norm(there - done.targets.place(robot, part), axis=1) > _AWAY
        if not away.any():
            continue
        shares = _at_limits(motion, robot, away)
        names = ", ".join(f"{name} {share:.0%}" for name, share in shares[:_SHOWN])
        out.append(
            f"in {away.mean():.1%} of the frames {part} is more than {100 * _AWAY:.0f} cm from where it should be"
            + (f"; then at a limit: {names}" if names else "")
        )
    return out


def _at_limits(motion: Motion, robot: Robot, frames: Flags) -> list[tuple[str, float]]:
    """The joints that move a part and are at a limit in some of these frames, with the share of them, highest first."""
    model = robot.model
    moving = {joint.name for frame in robot.frames.values() for joint in model.root_path(model.frame(frame).link)}
    names = [joint.name for joint in model.joints if joint.name in moving and joint.nq == 1]
    columns = np.array([model.index(name).start for name in names], dtype=int)
    shares = at_ends(model, motion.q[frames], columns).mean(axis=0)
    found = [(name, float(share)) for name, share in zip(names, shares, strict=True) if share > 0.0]
    return sorted(found, key=lambda one: -one[1])


def missing_fingers(body: BodyMap) -> list[str]:
    """The fingers that only one of the two has, and those of both on a hand that the map does not bring."""
    lacking = {part: why for part, why in body.missing.items() if part in FINGERS}
    for part in FINGERS:
        if part in body.source and part in body.robot and part not in body.fingers:
            wrist = f"{part.partition('_')[0]}_wrist"
            without = [name for name, column in (("source", body.source), ("robot", body.robot)) if wrist not in column]
            lacking[part] = f"the map has no {wrist} in its {' and '.join(without)}"
    return left_out(lacking)


def left_out(fingers: Mapping[str, str]) -> list[str]:
    """Fingers, and why nothing moves them, in words."""
    reasons: dict[str, list[str]] = {}
    for part, why in fingers.items():
        reasons.setdefault(why, []).append(part)
    return [f"{', '.join(parts).replace('_', ' ')} not carried over: {why}" for why, parts in reasons.items()]
