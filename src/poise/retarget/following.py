"""The tasks of a robot that does as a body does, and how it follows them: one step a frame."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from poise.geometry.shapes import HalfSpace
from poise.methods.damping import Curvature
from poise.methods.criteria import RestPosture
from poise.methods.priority import TaskPriority
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.retarget.parts import ENDS, PARENTS, RIGID, ancestors
from poise.retarget.targets import Robot, Targets
from poise.solving.inequalities import Limit
from poise.solving.tracker import Tracker
from poise.spatial import SE3, Array, rotate
from poise.tasks.base import Task
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask
from poise.tasks.region import RegionTask

ABOVE: Final = HalfSpace((0.0, 0.0, -5e-4), (0.0, 0.0, -1.0))
"""What is not below the ground."""
FREE: Final = 6
"""How many joints bring a frame to any pose."""
SUBSTEP: Final = 0.0125
"""How long an update may stand for [s]; a frame that takes longer is followed in several."""
_HAND: Final = 0.1
"""Weight of how a hand is turned, against where it is [m/rad]."""
_REST: Final = 0.02
"""Pull to the robot's home, where no task has a say."""
_LAG: Final = 0.1
"""Gain of the damping: less follows more closely, and shakes where an arm is straight."""
_FIRST: Final = 0.02
"""The share of it that parts have which stand."""
_STARTS, _SETTLING = 8, 150
"""Starts from which the first frame is looked for, and how many steps each has."""
_LESS: Final = 1e-2
"""What a squared error counts against one of the level before, when starts are compared."""
_BETTER: Final = 0.5
"""A random start must come this much nearer than the robot's home, as its postures are less natural."""


def stated(robot: Robot, targets: Targets) -> tuple[list[Task], Array]:
    """The tasks, and (frames, tasks, 7) their targets.

    First come the parts that stand, which are held, and the ground, below which none of them goes; then the trunk and
    the hands; then how the chest, the head and the limbs are held.
    """
    model, some = robot.model, next(iter(targets.places.values()))
    tasks: list[Task] = []
    goals: list[Array] = []

    def add(task: Task, place: Array | None = None, turn: Array | None = None) -> None:
        goal = np.zeros((len(some), 7))
        goal[:, 3] = 1.0
        goal[:, :3] = 0.0 if place is None else place
        goal[:, 3:] = goal[:, 3:] if turn is None else turn
        tasks.append(task)
        goals.append(goal)

    for part, sole in robot.soles.items():
        frame, place, turn = robot.frames[part], targets.places[part], targets.turns[part]
        here = SE3.from_parts(robot.points[part])
        joints = between(model, robot.frames[robot.root], frame)
        if joints >= FREE:
            add(PoseTask(frame, offset=here), place, turn)
        else:
            toe = robot.toe(part)
            add(PositionTask(frame, offset=SE3.from_parts(toe)), place + rotate(turn, toe - robot.points[part]))
            if joints > 3:
                add(OrientationTask(frame, priority=2), None, turn)
        for point in sole:
            add(RegionTask(frame, ABOVE, offset=SE3.from_parts(point)))
    for part, parent in ancestors(robot.frames).items():
        frame, place, turn = robot.frames[part], targets.places[part], targets.turns[part]
        here = SE3.from_parts(robot.points[part])
        if part in robot.soles or (parent is None and robot.stays):
            continue
        if parent is None:
            add(PoseTask(frame, priority=1, offset=here), place, turn)
        elif not between(model, robot.frames[parent], frame):
            continue
        elif part == "chest":
            add(OrientationTask(frame, priority=1), None, turn)
        elif part == "head":
            add(OrientationTask(frame, priority=2), None, turn)
        elif part in ENDS:
            add(PositionTask(frame, priority=1, offset=here), place)
            add(OrientationTask(frame, priority=2, weight=_HAND), None, turn)
        elif part not in RIGID and not any(end in robot.soles and PARENTS[end] == part for end in ENDS):
            add(PositionTask(frame, priority=2, offset=here), place)
    return tasks, np.stack(goals, axis=1)


def between(model: Model, carrier: str, carried: str) -> int:
    """How many axes move a frame against one that carries it."""
    above, below = (model.root_path(model.frame(name).link) for name in (carrier, carried))
    return sum(joint.nv for joint in below) - sum(joint.nv for joint in above)


def follow(
    robot: Robot, tasks: Sequence[Task], goals: Array, dt: float, *, limits: Sequence[Limit] = (), speed: float = 1.0
) -> Array:
    """(frames, nq) what the robot does, one frame every `dt` seconds, within its limits of joints and their speeds."""
    method = TaskPriority(null_space=RestPosture(gain=_REST), damping=Curvature(_LAG), first_damping=_FIRST)
    updates = max(1, int(np.ceil(dt / SUBSTEP - 1e-9)))
    tracker = Tracker(robot.model, tasks, method, dt=dt, updates=updates, limits=list(limits) or True, speed=speed, settle=False)
    return tracker.rollout(first(robot, tasks, goals[0], method), goals, threads=1)


def first(robot: Robot, tasks: Sequence[Task], goals: Array, method: TaskPriority) -> Array:
    """(nq,) the posture from which the first goals (tasks, 7) are best fulfilled, of what many starts come to.

    The robot's home is preferred, as long as no other start comes much nearer.
    """
    model = robot.model
    starts = np.concatenate([model.home[None], model.sample(_STARTS - 1, seed=0)])
    trunk = [k for k, task in enumerate(tasks) if isinstance(task, PoseTask) and task.frame == robot.frames[robot.root]]
    for joint in model.joints:
        if joint.kind is JointKind.FLOATING and trunk:
            base = model.index(joint.name)
            carried = model.pose(joint.child, model.home).inverse() @ robot.pose(robot.root, model.home)
            starts[:, base] = (SE3(goals[trunk[0]]) @ carried.inverse()).array
    tracker = Tracker(model, tasks, method)
    ways = tracker.rollout(starts, np.broadcast_to(goals, (_STARTS, _SETTLING, *goals.shape)), threads=1)
    ends = ways[:, -1]
    left = sum(
        _LESS**task.priority * (task.judged(model, np.repeat(goal[None], _STARTS, axis=0), ends) ** 2).sum(axis=1)
        for task, goal in zip(tasks, goals, strict=True)
    )
    best = int(np.argmin(left))
    return ends[best] if left[best] < _BETTER * left[0] else ends[0]
