"""What is asked of a robot, level by level, for each way in which it stands.

First come the parts that stand, which are held, and the ground, below which no foot goes; then hands that touch
objects, their places before their turns; then the trunk, the hands and the parts that are on their way; then how the
limbs, the head and the hands are turned.
"""

from dataclasses import dataclass
from typing import Final, final

from poise import SE3, HalfSpace, Model, OrientationTask, PoseTask, PositionTask, RegionTask, SwivelTask, Task
from poise_motion.anatomy.parts import BENDS, ENDS, ancestors
from poise_motion.contact.touches import Touch
from poise_motion.reference.bodies import Robot

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


@final
@dataclass(frozen=True, slots=True)
class Stance:
    """How a body stands, over a span of frames in which that stays the same."""

    standing: frozenset[str]
    """The parts that stand."""
    off: bool
    """Whether it is off its feet, so that those that do not stand are led as hands are."""
    agile: bool
    """Whether it is off its feet at any time of the motion, which then is followed more closely."""
    touches: frozenset[Touch] = frozenset()
    """What its hands touch, or are about to."""
    landing: frozenset[str] = frozenset()
    """The parts that, off its feet, are about to stand."""

    @property
    def free(self) -> int:
        """The level of what is not held: after feet, and the places and turns of hands that touch."""
        return 3 if self.touches else 1


def tasks(robot: Robot, stance: Stance) -> list[Task]:
    """What is asked of a robot that stands so, level by level.

    A foot that is to come down swings above the ground; off its feet a body's feet are led as its hands are, and kept
    above the ground when they are about to stand.
    """
    model = robot.model
    made: list[Task] = []
    feet = frozenset[str]() if robot.fixed_base else stance.standing if stance.off else frozenset(robot.soles)
    palms, free = {touch.part: touch.palm for touch in stance.touches}, stance.free
    for part, parent in ancestors(robot.frames).items():
        frame, place = robot.frames[part], SE3.from_parts(robot.points[part])
        if part in feet:
            level = 0 if part in stance.standing else free
            if between(model, robot.frames[robot.root], frame) < _FREE:
                made.append(PositionTask(frame, priority=level, offset=place))
            elif part in stance.standing:
                made.append(PoseTask(frame, offset=place))
            else:
                made.append(PositionTask(frame, priority=free, offset=place))
                made.append(OrientationTask(frame, priority=free, weight=_HAND))
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
                made.append(OrientationTask(frame, priority=free + 1, weight=_HAND))
        elif part in BENDS and not any(end in feet for end in BENDS[part]):
            root, end = BENDS[part]
            known = _HAND_AXES if end in palms else _PLACED
            if robot.fixed_base and between(model, robot.frames[robot.root], robot.frames[end]) <= known:
                continue  # where its end is, or how it is held, says where its middle is
            if root in robot.frames and end in robot.frames:
                made.append(SwivelTask(*(robot.place(one) for one in (root, part, end)), priority=free + 1))
            else:
                made.append(PositionTask(frame, priority=free + 1, offset=place))
    for part in (part for part in robot.frames if part in feet or part in stance.landing):
        above = HalfSpace((0.0, 0.0, robot.roundings[part] - _SUNK), (0.0, 0.0, -1.0))
        level = free if model.loops else 0  # the way back to closed loops may lead below the ground
        balls = [SE3.from_parts(ball) for ball in robot.balls(part)]
        made += [RegionTask(robot.frames[part], above, priority=level, offset=ball) for ball in balls]
    return made


def between(model: Model, carrier: str, carried: str) -> int:
    """How many axes move a frame against one that carries it."""
    above, below = (model.root_path(model.frame(name).link) for name in (carrier, carried))
    return sum(joint.nv for joint in below) - sum(joint.nv for joint in above)
