"""The posture of the first frame: of what many starts come to, the one that does best what is asked."""

from collections.abc import Callable
from typing import Final

import numpy as np

from poise import SE3, JointKind, PoseTask, Tracker
from poise.extending import Array
from poise_motion.reference.bodies import Robot

_STARTS, _ITERATIONS = 8, 100
"""Starts from which the first frame is looked for, and how many steps each has."""
_LESS: Final = 1e-2
"""What a squared error counts against one of the level before, when starts are compared."""
_GOOD: Final = 5e-5
"""What is left from the robot's home, by which no other start is looked at."""
_BETTER: Final = 0.5
"""A random start must come this much nearer than the robot's home, as its postures are less natural."""


def first(
    robot: Robot,
    tracker: Tracker,
    goals: Array,
    start: Array | None = None,
    *,
    free: int = 1,
    levels: int = 3,
    is_feasible: Callable[[Array], bool] = lambda _: True,
) -> Array:
    """(nq,) the posture from which the first goals (tasks, 7) are best fulfilled, of what many starts come to.

    The robot's home is preferred, as long as no other start comes much nearer in what is asked on so many levels, of
    which those before `free` are of what is held; with a `start` (nq,) there is no other.  A posture that `is_feasible`
    goes before all that are not.
    """
    model = robot.model
    if start is not None:
        return converged(tracker, start, goals)
    starts = np.concatenate([model.home[None], model.sample(_STARTS - 1, seed=0)])
    trunk = [
        k
        for k, task in enumerate(tracker.tasks)
        if isinstance(task, PoseTask) and task.frame == robot.frames[robot.root]
    ]
    for joint in model.joints:
        if joint.kind is JointKind.FLOATING and trunk:
            carried = model.pose(joint.child, model.home).inverse() @ robot.pose(robot.root, model.home)
            starts[:, model.index(joint.name)] = (SE3(goals[trunk[0]]) @ carried.inverse()).array
    best, least, best_sound = starts[0], np.inf, False
    for k, start in enumerate(starts):
        end = converged(tracker, start, goals)
        left = sum(
            _LESS ** (task.priority + (free == 0))
            * min(1.0, float(np.max(task.weight))) ** 2
            * float((task.judged(model, goal[None], end[None]) ** 2).sum())
            for task, goal in zip(tracker.tasks, goals, strict=True)
            if task.priority < levels
        )
        sound = is_feasible(end)
        if sound > best_sound or (sound == best_sound and left < least * (_BETTER if k == 1 else 1.0)):
            best, least, best_sound = end, left, sound
        if k == 0 and best_sound and least < _GOOD:
            break
    return best


def converged(tracker: Tracker, starts: Array, goals: Array, steps: int = _ITERATIONS) -> Array:
    """(..., nq) where starts (..., nq) are after so many steps towards the goals (tasks, 7)."""
    if not tracker.model.loops:
        still = np.broadcast_to(goals, (*starts.shape[:-1], steps, *goals.shape))
        end: Array = tracker.rollout(starts, still, threads=1)[..., -1, :]
        return end
    out = np.array(starts)
    for q in np.atleast_2d(out):  # a rollout does not keep loops closed
        tracker.reset()
        tracker.targets = goals
        for _ in range(steps):
            tracker.step(q, out=q)
    return out
