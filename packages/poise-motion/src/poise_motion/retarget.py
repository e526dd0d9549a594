"""`retarget`: the motion of a skeleton, carried to a robot."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple, final, overload

import numpy as np

from poise import InvalidType, InvalidValue, Model, Motion, World
from poise.clouds import HeightMap
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
    yes_or_no,
)
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.contact_schedule import GIVING, Contacts, Hold, StanceLike
from poise_motion.anatomy.foot_geometry import measured_as
from poise_motion.anatomy.four_legs import on_four
from poise_motion.anatomy.parts import ENDS, KNEES
from poise_motion.anatomy.proportions import Proportions
from poise_motion.contact.surface import Surface
from poise_motion.contact.touches import Touch, at_poses, check_objects, check_times, untouched
from poise_motion.follow.self_collision import meeting, standing, with_ground
from poise_motion.follow.whole_motion import MIN_DISTANCE, Led, Settings, follow_motion
from poise_motion.hands.finger_paths import FingerPaths, finger_paths
from poise_motion.reference.bodies import Robot, Source
from poise_motion.reference.four_legs import BOLD, on_four_legs, on_rigid_trunk
from poise_motion.reference.objects import touch_errors, with_objects
from poise_motion.reference.robots import standing_robot
from poise_motion.reference.sources import seen_body
from poise_motion.reference.targets import FLOOR, ground_of, hanging, seen_from, targets
from poise_motion.reference.within_reach import posture, within_reach
from poise_motion.report.notes import missing_fingers, notes
from poise_motion.report.report import Report, report

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
        led: Led,
        fingers: FingerPaths,
        *,
        objects: Mapping[str, Motion],
        given: Contacts | None,
        ground: World | None,
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
        self.ground = ground
        """What it climbs and walks on, as large as the robot, and the floor; None where no ground was given."""
        self._robot, self._seen, self._led = robot, seen, led
        self._fingers, self._again = fingers, again

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
            *notes(self.motion, self._robot, self._seen, self._led.done, self._led.collision),
            *self._led.notes,
            *missing_fingers(self.body),
            *self._fingers.notes,
            *untouched(self.objects, self.touches),
        )

    @cached_property
    def report(self) -> Report:
        """How well the robot follows the skeleton, measured when it is first asked for."""
        parts, followed = self.body.parts, self._led.done.targets
        stands = not self._robot.fixed_base
        found = self.contacts if stands else hanging(self._seen).contacts
        return report(
            self.source,
            self.motion,
            self.body,
            found,
            self._seen.paths,
            np.stack([followed.place(self._robot, part) for part in parts], axis=1),
            target_turns=np.stack([followed.turns[part] for part in parts], axis=1),
            places=self._places,
            points={part: self._robot.followed(part) for part in parts},
            joints=self._robot.ankles,
            ground=(_grounds(self._seen, self._robot) if found.parts else 0.0) if stands else None,
            world=self.ground,
            soles={**self._robot.soles, **{part: self._robot.balls(part) for part in self._robot.props}},
            roundings={part: self._robot.roundings[part] for part in self._robot.props},
            throughput=1.0 / (float(np.median(self._led.done.seconds)) + self._fingers.seconds),
            latency=float(np.quantile(self._led.done.seconds, 0.99)) + self._fingers.seconds,
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
    ground: World | HeightMap | Model | None = ...,
    self_collision: bool = ...,
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
    ground: World | HeightMap | Model | None = ...,
    self_collision: bool = ...,
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
    ground: World | HeightMap | Model | None = None,
    self_collision: bool = True,
) -> Retargeted | list[Retargeted]:
    """Let a robot do what a skeleton does, frame by frame, or motion by motion of several, which share the cores.

    Feet that stand, as found in the source, are held where they come down, and no foot goes into the ground, which is
    at height 0; a body that lies, crawls or turns over is raised until none of its shapes is.
    Trunk and hands follow, then how limbs and head are turned.  Joints keep their limits and,
    at the share `speed`, those of their velocities, and what `limits` adds, such as an `AccelerationLimit`, or a
    `CollisionLimit` for a body that meets more than the ground; False leaves the limits of joints away, and lets links
    meet.  The skeleton is scaled by the lengths of its bones.
    `body` says which joint is which frame; None: `BodyMap.found`.  `contacts` says when the parts that it has stand,
    in frames of the result, such as `done.contacts.with_stance("left_ankle", 30, 50)` of a result `done`; of several
    motions one for each, or None.  `fps` makes frames even at another rate.
    `stance` says how firmly feet stand: (metres, radians) by how much their places give, and within which their soles
    are tilted, before the whole body is bent for them; "hard", not at all, before all else; or "soft", as hands.
    `Contacts.with_hold` says it of one stance.
    With `smooth` [s] the motion is followed once more, averaged over about so long, under the same limits.
    `ground` is what the body climbs and walks on, where the source has it: the shapes of a World, a HeightMap, or a
    Model of which nothing moves, such as the URDF of a scene; the floor at height 0 is there too.  It is scaled as the
    body is, from the origin of the world: see `Retargeted.ground`.  Feet, hands and knees are held where they come down
    on it, and all else is kept out of it.
    With `self_collision`, a motion in which links would be in one another is followed again with them kept apart there,
    unless limbs then point more than two degrees farther from the body's, which `notes` say; False lets them meet.
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
    asked = _Asked(robot, body, fps, speed, Limits.of(limits), smooth, Hold.of(stance), ground, self_collision)
    yes_or_no("self_collision", self_collision)
    done = _carried(motions, given, things, asked, Surface.of(ground))
    return done[0] if single else done


@final
class _Asked(NamedTuple):
    """What `retarget` was asked for, of all motions."""

    robot: Model
    body: BodyMap | None
    fps: float | None
    speed: float
    limits: Limits
    smooth: float
    stance: Hold
    ground: World | HeightMap | Model | None
    self_collision: bool

    def again(self, motion: Motion, objects: Mapping[str, Motion]) -> Callable[..., Retargeted]:
        """To carry a motion again, with another `body` and other `contacts`."""
        settings = self._asdict() | {"limits": self.limits.as_given, "objects": objects}
        return partial(retarget, motion, **{name: value for name, value in settings.items() if name != "body"})


def _carried(
    motions: list[Motion], given: object, objects: Sequence[Mapping[str, Motion]], asked: _Asked, ground: Surface | None
) -> list[Retargeted]:
    for one in motions:
        if not isinstance(one, Motion):
            raise InvalidType(
                "wrong-type", f"motion must be a Motion, as load_motion gives, or several of them, got {one!r}"
            )
    if asked.fps is not None:
        finite_positive("fps", asked.fps)
        if asked.fps > _MOST:
            raise InvalidValue("out-of-range", f"fps is {asked.fps:g}; at most {_MOST:,.0f} frames a second are made")
    not_negative("smooth", asked.smooth, " [s]")
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
                out[k] = _one(motions[k], stances[k], objects[k], asked, ground)
            except Exception as error:
                failed[k] = error

    pieces.share(work, max(1, min(len(motions), cores())))
    if failed:  # those before it were begun before it, so that the first one is the same each time
        raise failed[min(failed)]
    return [out[k] for k in range(len(motions))]


def _one(
    motion: Motion, given: Contacts | None, objects: Mapping[str, Motion], asked: _Asked, ground: Surface | None
) -> Retargeted:
    robot, limits = asked.robot, asked.limits
    even = _even(motion, asked.fps)
    check_times(objects, even)
    things = {name: replace(thing, times=even.times, q=thing.at(even.times)) for name, thing in objects.items()}
    known = BodyMap.found(even, robot) if asked.body is None else asked.body
    if not known.parts:
        raise InvalidValue(
            "inconsistent", f"the map has no part in common: {sorted(known.source)} and {sorted(known.robot)}"
        )
    proportions = Proportions.of(even, robot, known)
    animal = set(known.contacts) == set(ENDS) and on_four(even, known.source)
    climbing = () if animal or ground is None else (*KNEES, *(() if objects else ENDS[2:]))
    known = replace(known, contacts=tuple(dict.fromkeys((*known.contacts, *(p for p in climbing if p in known.parts)))))
    props = frozenset(part for part in known.contacts if part in (*KNEES, *climbing))
    dt = 1.0 / (even.fps or asked.fps or _ALONE)
    fingers = finger_paths(even, robot, known, proportions, dt, limits=limits, speed=asked.speed, smooth=asked.smooth)
    larger = BOLD if animal else 1.0
    seen = seen_body(even, known, proportions, given, larger, robot, things, ground=ground, props=props)
    # A paw is a point, which has nothing to give.
    firm = Hold.of("hard") if animal and asked.stance == GIVING else asked.stance
    seen = replace(seen, fingers=fingers.q, hold=firm)
    machine = replace(standing_robot(robot, known, proportions, seen.contacts.parts, props), fingers=fingers.joints)
    if animal:
        machine = on_four_legs(machine, even, known.source)
        seen = on_rigid_trunk(seen, machine)
    followed = hanging(seen) if machine.fixed_base else seen
    there = None if ground is None else _beside(ground, machine)
    aims = targets(followed, machine, by_bones=not animal, ground=there)
    wanted = with_objects(aims, followed, machine, things)
    if (asked.self_collision and not animal) or ground is not None or limits.collision is not None:
        machine = replace(machine, model=cached(machine.model, _looked_at, partial(_looked_at, machine.model, robot)))
    stated = adapted = limits
    if limits.collision is not None:
        adapted = limits._replace(collision=standing(limits.collision, machine, followed, wanted))
    if there is not None and any(machine.model.fitted_shapes.values()):
        limit = partial(
            with_ground, adapted.collision, there.world, min_distance=MIN_DISTANCE, self_collision=asked.self_collision
        )
        key = (with_ground, there, adapted.collision, asked.self_collision)
        stated = adapted = limits._replace(collision=cached(machine.model, key, limit))
    if animal:
        wanted = within_reach(wanted, machine, seen.times)
    led = follow_motion(
        machine,
        followed,
        wanted,
        Settings(dt, stated, adapted, asked.speed, asked.smooth, asked.self_collision and limits.positions),
        start=posture(machine, wanted) if animal else None,
    )
    moved = Motion(robot, even.times, led.done.q, name=motion.name)
    carried = {name: at_poses(thing, wanted.objects[name]) for name, thing in things.items()}
    made = (moved, even, known, machine, seen, led, fingers)
    return Retargeted(
        *made,
        objects=carried,
        given=given,
        ground=None if there is None else there.world,
        again=asked.again(motion, objects),
    )


def _looked_at(model: Model, robot: Model) -> Model:
    """A robot's body, with what is known of the robot's shapes."""
    return measured_as(as_looked_at(model, robot), robot)


def _beside(ground: Surface, robot: Robot) -> Surface:
    """The ground as large as the robot; the model keeps it."""
    if robot.fixed_base:
        raise InvalidValue(
            "not-supported", f"{robot.model.name} stands fixed in the world; base='floating' lets it climb on ground"
        )
    return cached(robot.model, (Surface, ground.key, robot.scale), lambda: ground.scaled(robot.scale))


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


def _grounds(source: Source, robot: Robot) -> Array:
    """(frames, parts, 4) the ground beneath each part while it stands, normal and offset; the floor at other times."""
    found = source.contacts
    out = np.tile((*FLOOR.normal, FLOOR.offset), (*found.on.shape, 1))
    for contact in found.intervals:
        normal, offset = ground_of(source, robot, contact)
        out[contact.start : contact.stop, found.parts.index(contact.part)] = (*normal, offset)
    return out
