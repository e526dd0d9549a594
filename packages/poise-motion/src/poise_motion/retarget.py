"""`retarget`: the motion of a skeleton, carried to a robot."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, final, overload

import numpy as np

from poise import SE3, InvalidType, InvalidValue, Model, Motion
from poise.extending import (
    Array,
    Limits,
    LimitsLike,
    WorkQueue,
    a_model,
    as_looked_at,
    cached,
    cached_property,
    cores,
    finite_positive,
    not_negative,
)
from poise.quaternions import quaternion_matrix, quaternion_product, rotate
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.contact_schedule import GIVING, Contacts, Hold, StanceLike
from poise_motion.anatomy.foot_geometry import measured_as, rounding, sole
from poise_motion.anatomy.four_legs import on_four
from poise_motion.anatomy.parts import BENDS, ENDS, TOES
from poise_motion.anatomy.proportions import Proportions
from poise_motion.contact.contacts import contacts
from poise_motion.contact.lying import off_feet, on_soles
from poise_motion.contact.touches import Touch, at_poses, check_objects, check_times, pose_of, touches, untouched
from poise_motion.follow.following import Followed
from poise_motion.follow.ground_clearance import on_ground
from poise_motion.follow.self_collision import meeting, standing
from poise_motion.follow.tracker_cache import cached_followers
from poise_motion.hands.finger_paths import FingerPaths, finger_paths
from poise_motion.reference.bending import folding
from poise_motion.reference.bodies import Robot, Source
from poise_motion.reference.four_legs import BOLD, on_four_legs, on_rigid_trunk
from poise_motion.reference.objects import touch_errors, with_objects
from poise_motion.reference.targets import beneath, hanging, seen_from, targets, toe
from poise_motion.reference.within_reach import posture, within_reach
from poise_motion.report.notes import missing_fingers, notes
from poise_motion.report.report import Report, report

if TYPE_CHECKING:
    from poise import CollisionLimit

_HIPS: Final = 0.53
"""How high hips stand, as a share of a body's height (Winter 2009, fig. 4.1)."""
_HEIGHT: Final = 1.75
"""Of a body whose hips are not known [m]."""
_UNEVEN: Final = 1e-3
"""How much the time from frame to frame may differ from its mean, as a share of it, before frames are made even."""
_MOST: Final = 1e5
"""Frames a second, at most."""
_ALONE: Final = 30.0
"""Frames a second of a motion with a single one."""


@final
class Retargeted:
    """What a robot does in place of a skeleton; print it for its report."""

    def __init__(
        self,
        motion: Motion,
        source: Motion,
        body: BodyMap,
        robot: Robot,
        seen: Source,
        done: Followed,
        fingers: FingerPaths,
        collision: "CollisionLimit | None",
        *,
        objects: Mapping[str, Motion],
        given: Contacts | None,
        again: "Callable[..., Retargeted]",
    ) -> None:
        self.motion = motion
        """Of the robot, frame by frame that of the source."""
        self.source = source
        """The skeleton's, with even frames."""
        self.body = body
        """Which joint became which frame."""
        self.contacts: Contacts = seen.contacts
        """When the parts that may stand do so, as found in the source, or as given."""
        self.given = given
        """The contacts that were given."""
        self.objects: Mapping[str, Motion] = objects
        """By name, the motion of each object beside the robot."""
        self.touches: tuple[Touch, ...] = seen.touches
        """When its hands touch them, as found in the source."""
        self._robot, self._seen, self._done = robot, seen, done
        self._fingers, self._collision, self._again = fingers, collision, again

    def again(self, *, body: BodyMap | None = None, contacts: Contacts | None = None) -> "Retargeted":
        """Carry the same motion with the same settings, by another map or with other contacts; None: with those it had.

        Contacts that were not given are found anew.  Raises as `retarget` does.
        """
        return self._again(
            body=self.body if body is None else body, contacts=self.given if contacts is None else contacts
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, and what limits kept the robot from, in sentences."""
        return (
            *notes(self.motion, self._robot, self._seen, self._done, self._collision),
            *missing_fingers(self.body),
            *self._fingers.notes,
            *untouched(self.objects, self.touches),
        )

    @cached_property
    def report(self) -> Report:
        """How well the robot follows the skeleton, measured when it is first asked for."""
        parts, followed = self.body.parts, self._done.targets
        stands = not self._robot.fixed_base
        found = self.contacts if stands else hanging(self._seen).contacts
        return report(
            self.source,
            self.motion,
            self.body,
            found,
            self._seen.paths,
            np.stack([followed.places[part] for part in parts], axis=1),
            target_turns=np.stack([followed.turns[part] for part in parts], axis=1),
            places=self._places,
            points=self._robot.points,
            joints=self._robot.ankles,
            ground=(_grounds(found, self._robot.scale) if found.parts else 0.0) if stands else None,
            soles=self._robot.soles,
            throughput=1.0 / (float(np.median(self._done.seconds)) + self._fingers.seconds),
            latency=float(np.quantile(self._done.seconds, 0.99)) + self._fingers.seconds,
            notes=self.notes,
            fingers=self._fingers.off(self.motion),
            touches=touch_errors(self.motion, self._robot, self._seen, followed.objects),
            meets=meeting(self.motion.model, self.motion.q),
        )

    @property
    def _places(self) -> Array | None:
        """(frames, parts, 3) where the parts of the body are, as the trunk sees them that the robot does not move."""
        if not self._robot.fixed_base:
            return None
        seen = seen_from(self._seen, self._robot)
        return np.stack([seen.places[part] for part in self.body.parts], axis=1)

    def __str__(self) -> str:
        return str(self.report)

    def _repr_html_(self) -> str:
        return self.report._repr_html_()


@overload
def retarget(
    motion: Motion,
    robot: Model,
    *,
    body: BodyMap | None = ...,
    contacts: Contacts | None = ...,
    fps: float | None = ...,
    speed: float = ...,
    limits: LimitsLike = ...,
    smooth: float = ...,
    stance: StanceLike = ...,
    objects: Mapping[str, Motion] | None = ...,
) -> Retargeted: ...
@overload
def retarget(
    motion: Sequence[Motion],
    robot: Model,
    *,
    body: BodyMap | None = ...,
    contacts: Sequence[Contacts | None] | None = ...,
    fps: float | None = ...,
    speed: float = ...,
    limits: LimitsLike = ...,
    smooth: float = ...,
    stance: StanceLike = ...,
    objects: Sequence[Mapping[str, Motion]] | None = ...,
) -> list[Retargeted]: ...
def retarget(
    motion: Motion | Sequence[Motion],
    robot: Model,
    *,
    body: BodyMap | None = None,
    contacts: Contacts | Sequence[Contacts | None] | None = None,
    fps: float | None = None,
    speed: float = 1.0,
    limits: LimitsLike = True,
    smooth: float = 0.0,
    stance: StanceLike = GIVING,
    objects: Mapping[str, Motion] | Sequence[Mapping[str, Motion]] | None = None,
) -> Retargeted | list[Retargeted]:
    """Let a robot do what a skeleton does, frame by frame, or motion by motion of several, which share the cores.

    Feet that stand, as found in the source, are held where they come down, and no foot goes into the ground, which is
    at height 0; a body that lies, crawls or turns over is raised until none of its shapes is.
    Trunk and hands follow, then how limbs and head are turned.  Joints keep their limits and,
    at the share `speed`, those of their velocities, and what `limits` adds, such as an `AccelerationLimit`, or a
    `CollisionLimit` for a body that meets more than the ground; False leaves the limits of joints away.  The skeleton
    is scaled by the lengths of its bones.
    `body` says which joint is which frame; None: `BodyMap.found`.  `contacts` says when the parts that it has stand,
    in frames of the result, such as `done.contacts.with_stance("left_ankle", 30, 50)` of a result `done`; of several
    motions one for each, or None.  `fps` makes frames even at another rate.
    `stance` says how firmly feet stand: (metres, radians) by how much their places give, and within which their soles
    are tilted, before the whole body is bent for them; "hard", not at all, before all else; or "soft", as hands.
    `Contacts.with_hold` says it of one stance.
    With `smooth` [s] the motion is followed once more, averaged over about so long, under the same limits.
    `objects` are by name the motions of what hands touch, each of a rigid body that floats and has shapes; of several
    motions a mapping each.  They are moved as the body is scaled, and a hand keeps to the place where it touches one.

    Load a robot that walks with `base="floating"`; one that stands on a pedestal moves its arms as the skeleton does
    relative to its own trunk.

    Raises FrameNotFound for a map that names what is not there, ValueError for bodies without a common part, for bones
    without length, for contacts of parts that cannot stand, for objects that are no rigid bodies and for settings that
    make no sense, ShapeError for contacts of another number of frames.
    """
    a_model(robot)
    single = isinstance(motion, Motion)
    several: Iterable[Any] = motion if not single and isinstance(motion, Iterable) else [motion]
    motions: list[Motion] = [*several]  # what is no motion is told of
    given = [contacts] if single else [None] * len(motions) if contacts is None else contacts
    things = [*([objects] if single and objects is not None else objects or [{}] * len(motions))]
    firm = Hold.of(stance)
    done = _carried(motions, robot, body, given, fps, speed, Limits.of(limits), smooth, hold=firm, objects=things)
    return done[0] if single else done


def _carried(
    motions: list[Motion],
    robot: Model,
    body: BodyMap | None,
    given: object,
    fps: float | None,
    speed: float,
    limits: Limits,
    smooth: float,
    *,
    hold: Hold,
    objects: Sequence[Mapping[str, Motion]],
) -> list[Retargeted]:
    for one in motions:
        if not isinstance(one, Motion):
            raise InvalidType(
                "wrong-type", f"motion must be a Motion, as load_motion gives, or several of them, got {one!r}"
            )
    if fps is not None:
        finite_positive("fps", fps)
        if fps > _MOST:
            raise InvalidValue("out-of-range", f"fps is {fps:g}; at most {_MOST:,.0f} frames a second are made")
    not_negative("smooth", smooth, " [s]")
    check_objects(objects, len(motions))
    stances = _each(given, len(motions))
    out: dict[int, Retargeted] = {}
    failed: dict[int, Exception] = {}
    pieces = WorkQueue(len(motions), 1)

    def work() -> None:
        for k in chain.from_iterable(pieces):
            if failed:
                return
            try:
                asked = motions[k], robot, body, stances[k], fps, speed, limits, smooth
                out[k] = _one(*asked, hold=hold, objects=objects[k])
            except Exception as error:
                failed[k] = error

    pieces.share(work, max(1, min(len(motions), cores())))
    if failed:  # those before it were begun before it, so that the first one is the same each time
        raise failed[min(failed)]
    return [out[k] for k in range(len(motions))]


def _one(
    motion: Motion,
    robot: Model,
    body: BodyMap | None,
    given: Contacts | None,
    fps: float | None,
    speed: float,
    limits: Limits,
    smooth: float,
    *,
    hold: Hold,
    objects: Mapping[str, Motion],
) -> Retargeted:
    even = _even(motion, fps)
    check_times(objects, even)
    things = {name: replace(thing, times=even.times, q=thing.at(even.times)) for name, thing in objects.items()}
    known = BodyMap.found(even, robot) if body is None else body
    if not known.parts:
        raise InvalidValue(
            "inconsistent", f"the map has no part in common: {sorted(known.source)} and {sorted(known.robot)}"
        )
    proportions = Proportions.of(even, robot, known)
    animal = set(known.contacts) == set(ENDS) and on_four(even, known.source)
    dt = 1.0 / (even.fps or fps or _ALONE)
    fingers = finger_paths(even, robot, known, proportions, dt, limits=limits, speed=speed, smooth=smooth)
    seen = _seen(even, known, proportions, given, BOLD if animal else 1.0, robot, things)
    firm = Hold.of("hard") if animal and hold == GIVING else hold  # a paw is a point, which has nothing to give
    seen = replace(seen, fingers=fingers.q, hold=firm)
    machine = replace(_robot(robot, known, proportions, seen.contacts.parts), fingers=fingers.joints)
    if animal:
        machine = on_four_legs(machine, even, known.source)
        seen = on_rigid_trunk(seen, machine)
    followed = hanging(seen) if machine.fixed_base else seen
    wanted = with_objects(targets(followed, machine, by_bones=not animal), followed, machine, things)
    adapted = limits
    if limits.collision is not None:
        looked_at = cached(machine.model, as_looked_at, partial(as_looked_at, machine.model, robot))
        machine = replace(machine, model=looked_at)
        adapted = limits._replace(collision=standing(limits.collision, machine, followed, wanted))
    with cached_followers(machine, dt, limits, adapted, speed) as (follower, bare):
        if animal:
            wanted = within_reach(wanted, machine, seen.times)
            done = follower.follow(followed, wanted, smooth=smooth, start=posture(machine, wanted))
        else:
            done = on_ground(follower, followed, wanted, bare, smooth=smooth)
    moved = Motion(robot, even.times, done.q, name=motion.name)
    carried = {name: at_poses(thing, wanted.objects[name]) for name, thing in things.items()}
    again = partial(
        retarget,
        motion,
        robot,
        fps=fps,
        speed=speed,
        limits=limits.as_given,
        smooth=smooth,
        stance=hold,
        objects=objects,
    )
    made = (moved, even, known, machine, seen, done, fingers, adapted.collision)
    return Retargeted(*made, objects=carried, given=given, again=again)


def _each(given: object, count: int) -> list[Contacts | None]:
    """The contacts that are given of each motion."""
    out: list[Contacts | None] = []
    for one in given if isinstance(given, Sequence) else [given]:
        if one is not None and not isinstance(one, Contacts):
            raise InvalidType(
                "wrong-type", f"contacts must be Contacts, as Contacts.of and done.contacts give, got {one!r}"
            )
        out.append(one)
    if len(out) != count:
        raise InvalidValue(
            "wrong-length", f"contacts must be a list with one entry for each of the {count} motions, got {len(out)}"
        )
    return out


def _even(motion: Motion, fps: float | None) -> Motion:
    """The motion with frames that are equally far apart."""
    steps = np.diff(motion.times)
    if fps is None and (not len(steps) or np.ptp(steps) < _UNEVEN * steps.mean()):
        return motion
    rate = motion.fps if fps is None else fps
    if not rate:
        return motion
    times = motion.times[0] + np.arange(int(motion.duration * rate + 1e-6) + 1) / rate
    return replace(motion, times=times, q=motion.at(times))


def _robot(robot: Model, body: BodyMap, proportions: Proportions, standing: Sequence[str]) -> Robot:
    """The robot's body, with the limits of knees and elbows on the side to which they fold; the model keeps it."""
    toed = tuple(part for part in standing if TOES.get(part) in body.source)
    values = (*proportions.robot_points.values(), *proportions.robot_axes.values())
    key = (_standing, *body.robot.items(), *body.parts, *standing, *toed, *(x.tobytes() for x in values))
    made = cached(robot, key, partial(_standing, robot, body, proportions, standing, toed))
    return replace(made, scale=proportions.scales["leg"])


def _standing(
    robot: Model, body: BodyMap, proportions: Proportions, standing: Sequence[str], toed: Sequence[str]
) -> Robot:
    """A robot of no particular size that stands on some of its parts, of which some have toes in the source."""
    folds = folding(robot, body.robot)
    frames = {part: body.robot[part] for part in body.parts}
    up = {part: _up(robot, frames[part], proportions.robot_axes[part]) for part in standing}
    soles = {part: sole(robot, frames[part], up=up[part]) for part in standing}
    points = dict(proportions.robot_points)
    for part, plane in soles.items():
        axes = proportions.robot_axes[part]
        points[part] = toe(plane, axes) if part in toed else beneath(plane, axes, points[part])
    model = robot.with_limits(folds) if folds else robot
    limbs = {part for middle, ends in BENDS.items() for part in (middle, *ends)}
    for part in (part for part in frames if part in limbs):
        frame = robot.frame(frames[part])
        model = model.with_frame(
            Robot.place(part), link=frame.link, origin=frame.origin @ SE3.from_parts(proportions.robot_points[part])
        )
    return Robot(
        measured_as(model, robot),
        frames,
        points,
        dict(proportions.robot_axes),
        {part: proportions.robot_points[part] for part in standing},
        soles,
        {part: rounding(robot, frames[part], up=up[part]) for part in standing},
        1.0,
    )


def _up(robot: Model, frame: str, axes: Array) -> tuple[float, float, float]:
    """The direction in the world that is up for a part with these axes (3, 3), as the robot is at neutral."""
    x, y, z = (quaternion_matrix(robot.pose(frame, robot.neutral).wxyz) @ axes[:, 2]).tolist()
    return x, y, z


def _seen(
    motion: Motion,
    body: BodyMap,
    proportions: Proportions,
    given: Contacts | None,
    larger: float,
    robot: Model,
    objects: Mapping[str, Motion],
) -> Source:
    """Where the parts of the skeleton are, and objects, which have its frames; contacts that are not given are
    those of a body `larger` times as large."""
    toes = [tip for ankle, tip in TOES.items() if ankle in body.parts and tip not in body.parts and tip in body.source]
    poses = motion.model.poses(motion.q, [body.source[part] for part in (*body.parts, *toes)]).array
    numbers = np.ascontiguousarray(poses.T)  # (7, parts, frames)
    xyz, wxyz = (np.moveaxis(some, 0, -1) for some in (numbers[:3], numbers[3:, : len(body.parts)]))
    places = dict(zip((*body.parts, *toes), np.array(xyz, order="C"), strict=True))
    for part, turned in zip(body.parts, wxyz, strict=True):
        if (point := proportions.source_points[part]).any():
            places[part] += rotate(turned, point)
    offsets = np.array([proportions.offsets[part] for part in body.parts])[:, None]
    turns = dict(zip(body.parts, quaternion_product(wxyz, offsets), strict=True))
    paths = {
        part: np.stack([places[point] for point in (part, TOES.get(part)) if point in places], axis=1)
        for part in body.contacts
        if part in places
    }
    size = _HEIGHT if proportions.standing is None else proportions.standing[0] / _HIPS
    found = contacts(paths, motion.times, size=larger * size, steps=list(paths))
    off = np.zeros(len(motion), dtype=bool)
    if TOES.keys() >= paths.keys():
        found = on_soles(found, *_facing(places, turns, proportions, paths), motion.times)
    if given is not None:
        found = found.replaced(given)
    if TOES.keys() >= paths.keys():
        off = off_feet(places, found, motion.times, _HIPS * size)
    things = {name: pose_of(thing) for name, thing in objects.items()}
    touched = touches(motion, objects, body, robot, turns, size)
    return Source(motion.times, places, turns, found, paths, off, things, touched)


def _facing(
    places: Mapping[str, Array], turns: Mapping[str, Array], proportions: Proportions, feet: Iterable[str]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """By foot, (frames, 3) up in it and along its shin."""
    knees = {foot: foot.replace("ankle", "knee") for foot in feet}
    ups = {foot: rotate(turns[foot], proportions.robot_axes[foot][:, 2]) for foot in knees}
    return ups, {foot: places[knee] - places[foot] for foot, knee in knees.items() if knee in places}


def _grounds(found: Contacts, scale: float) -> Array:
    """(frames, parts) how high the ground is beneath each part while it stands [m]; 0 at other times."""
    out = np.zeros_like(found.on, dtype=np.float64)
    for contact in found.intervals:
        out[contact.start : contact.stop, found.parts.index(contact.part)] = scale * contact.ground
    return out
