"""What is asked of a robot, level by level, for each way in which it stands.

In the first level are the trunk, the hands and the feet, of which those that stand weigh more by as much as they shall
give less; then come elbows and knees, and how the head and the hands are turned.  The ground, below which no foot goes,
and how far a sole may be tilted are ranges, which no step leaves.  Parts that stand hard, and hands that touch objects,
their places before their turns, have levels of their own before all others.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np

from poise import SE3, ConeTask, HalfSpace, OrientationTask, PoseTask, PositionTask, RegionTask, SwivelTask, Task
from poise_motion.anatomy.contact_schedule import Hold
from poise_motion.anatomy.parts import BENDS, ENDS, KNEES, ancestors
from poise_motion.contact.touches import Touch
from poise_motion.reference.bodies import Robot, between
from poise_motion.reference.targets import FLOOR, Plane

_SUNK: Final = 5e-4
"""How far in the ground a foot may be [m]: if it were 0, all feet that stand would press on the border."""
_FREE: Final = 6
"""How many axes bring a frame to any pose."""
_PLACED: Final = 3
"""As many joints of a limb are taken up by the place of its end."""
_HAND_AXES: Final = 6
"""And as many by how its end is held."""
_HAND: Final = 0.1
"""Weight of how a hand or a foot is turned, against where it is [m/rad]."""
_ABOUT: Final = 0.3
"""The same of a sole about the vertical while it stands: there it would skate."""
_BENT: Final = 0.1
"""How far off a trunk may be as soon as a foot that stands gives by its `Hold.place` [m]."""
_PROP: Final = 2.0
"""Weight of where a hand or a knee stands: with that of a foot it bends the body that climbs."""


@final
class Standing(NamedTuple):
    """A part that stands."""

    part: str
    hold: Hold
    ground: Plane = FLOOR
    """The ground beneath it."""
    shapes: tuple[str, ...] = ()
    """The shapes of the ground that it may touch."""


@final
@dataclass(frozen=True, slots=True)
class Stance:
    """How a body stands, over a span of frames in which that stays the same."""

    holds: frozenset[Standing]
    """The parts that stand, on what, and how firmly."""
    off: bool
    """Whether it is off its feet, so that those that do not stand are led as hands are."""
    agile: bool
    """Whether it is off its feet at any time of the motion, which then is followed more closely."""
    touches: frozenset[Touch] = frozenset()
    """What its hands touch, or are about to."""
    landing: frozenset[str] = frozenset()
    """The feet that, off its feet, are about to stand, and knees that are."""
    apart: bool = False
    """Whether its shapes are kept apart."""

    @property
    def standing(self) -> frozenset[str]:
        """The parts that stand."""
        return frozenset(one.part for one in self.holds)

    @property
    def hard(self) -> frozenset[str]:
        """Those of them that do not give."""
        return frozenset(one.part for one in self.holds if one.hold.hard)

    @property
    def free(self) -> int:
        """The level of what is not held: after feet that do not give, and the places and turns of hands that touch."""
        return 3 if self.touches else 1 if self.hard else 0


def tasks(robot: Robot, stance: Stance) -> list[Task]:
    """What is asked of a robot that stands so, level by level.

    Feet that do not stand are led as hands are, on its feet in the first level as to how they are turned, above the
    ground; off its feet they are kept above it when they are about to stand.
    """
    model = robot.model
    made: list[Task] = []
    legs: list[Task] = []
    feet = frozenset[str]() if robot.fixed_base else stance.standing
    above = feet | (stance.landing - robot.props if stance.off else frozenset(robot.feet))
    holds = {one.part: one for one in stance.holds}
    palms, free = {touch.part: touch.palm for touch in stance.touches}, stance.free
    for part, parent in ancestors(robot.frames).items():
        frame, place = robot.frames[part], SE3.from_parts(robot.points[part])
        if part in feet:
            made += _standing(robot, part, holds[part].hold)
        elif parent is None:
            if not robot.fixed_base:
                made.append(PoseTask(frame, priority=free, offset=place))
        elif not between(model, robot.frames[robot.root if part in ENDS else parent], frame):
            continue  # a hand without a wrist is moved by its elbow
        elif part == "chest":
            made.append(OrientationTask(frame, priority=free))
        elif part == "head":
            made.append(OrientationTask(frame, priority=free + 1))
        elif part in palms:
            made.append(PositionTask(frame, priority=1, offset=SE3.from_parts(palms[part])))
            made.append(OrientationTask(frame, priority=2, weight=_HAND))
        elif part in ENDS:
            joint = SE3.from_parts(robot.ankles[part]) if part in robot.ankles and not robot.fixed_base else place
            made.append(PositionTask(frame, priority=free, offset=joint))
            if between(model, robot.frames[parent], frame):
                made.append(OrientationTask(frame, priority=free + (part not in above), weight=_HAND))
        elif part in KNEES and part in stance.landing:
            made.append(PositionTask(frame, priority=free, offset=place))
        elif part in BENDS and not any(end in stance.hard for end in BENDS[part]):
            root, end = BENDS[part]
            known = _HAND_AXES if end in palms else _PLACED
            if end in robot.frames and between(model, robot.frames[robot.root], robot.frames[end]) <= known:
                continue  # where its end is, or how it is held, says where its middle is
            if root in robot.frames and end in robot.frames:
                made.append(SwivelTask(*(robot.place(one) for one in (root, part, end)), priority=free + 1))
                if end in above and between(model, robot.frames[robot.root], robot.frames[end]) <= _HAND_AXES:
                    legs.append(made[-1])
            else:
                made.append(PositionTask(frame, priority=free + 1, offset=place))
    if all(any(task is leg for leg in legs) for task in made if task.priority > free):
        # Feet that are led as a whole say where the knees of such legs are: alone these make no level that can act.
        made = [task for task in made if task.priority <= free]
    for part in () if robot.fixed_base else (part for part in robot.frames if part in above):
        normal, offset = holds[part].ground if part in holds else FLOOR
        out = np.array(normal)
        half = HalfSpace((offset + robot.roundings[part] - _SUNK) * out, -out)
        level = max(free, 1) if model.loops else 0  # the way back to closed loops may lead below the ground
        balls = [SE3.from_parts(ball) for ball in robot.balls(part)]
        made += [RegionTask(robot.frames[part], half, priority=level, offset=ball) for ball in balls]
    return made


def _standing(robot: Robot, part: str, hold: Hold) -> list[Task]:
    """What holds a part where it stands: one that does not give alone in the first level, others beside the trunk."""
    frame, place = robot.frames[part], SE3.from_parts(robot.points[part])
    placed = between(robot.model, robot.frames[robot.root], frame) < _FREE
    if hold.hard:
        return [PositionTask(frame, offset=place) if placed else PoseTask(frame, offset=place)]
    weight = _PROP if part in robot.props else max(1.0, _BENT / hold.place)
    where = PositionTask(frame, offset=place, weight=weight)
    if placed:
        return [where]
    if part in robot.props:
        return [where, OrientationTask(frame, weight=_HAND)]
    turned = OrientationTask(frame, weight=(_HAND, _HAND, _ABOUT), axes="world")
    axis = robot.axes[part][:, 2]
    return [where, turned, *([ConeTask(frame, axis=axis, angle=hold.tilt)] if hold.tilt < np.pi else [])]


def held(robot: Robot, stance: Stance) -> list[Task]:
    """Of these tasks those that stay while a motion is followed once more: what stands, touches and is kept above."""
    return [
        task
        for task in tasks(robot, stance)
        if task.priority < stance.free or isinstance(task, RegionTask | ConeTask) or robot.part(task) in stance.standing
    ]
