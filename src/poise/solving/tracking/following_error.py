"""How far a command may be ahead of the measured q: one that leads farther is taken again, within tighter limits.

The kernel is `kernels.requirements.following_error`; here are its numbers, and what is told of a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import positive
from poise.kernels.machine import packing
from poise.kernels.machine.layout import AT_LIMIT, COORDINATE, EFFECTOR, FRAME
from poise.kernels.requirements.following_error import POSE
from poise.model.model import Model
from poise.model.tree import carrying, unit_arrays
from poise.quaternions import conjugate, quaternion_log, quaternion_product
from poise.solving.arguments.arguments import one_start
from poise.solving.problem.problem import Problem
from poise.solving.requirements.active_limit import ActiveLimit
from poise.solving.requirements.inequalities import Values, check_values, values_of
from poise.tasks.base import Task
from poise.tasks.effector import Units
from poise.tasks.frame import OfFrame
from poise.tasks.value import Value, freeze


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FollowingErrorLimit(Value):
    """How far the command of a `Tracker.step` may be ahead of the q that is `measured`.

    Each joint of one coordinate by `joints`, numbers as an `AccelerationLimit` takes them, and the frames of the tasks
    by `distance` and `angle`; `math.inf` is none.  A joint that comes to its end goes no farther, as at a limit of its
    position; a frame that does lets the whole command wait.  What is beyond, for the arm was pushed away or sank, comes
    back towards the measured q.  Limits of speeds, accelerations, jerks and shapes stand before the limit of the
    following error.

    Raises ValueError for a number that is not above 0.
    """

    joints: Values = 0.3
    """[rad or m]"""
    distance: float = 0.2
    """[m]"""
    angle: float = 0.5
    """[rad]"""

    def __post_init__(self) -> None:
        check_values(self, self.joints)
        for name in ("distance", "angle"):
            positive(name, getattr(self, name))
        freeze(self)


@final
class FollowingErrorBound:
    """A limit of the following error prepared for the problem of a Tracker."""

    __slots__ = ("_frames", "_model", "_most", "_names", "_places", "_reach", "problem")

    def __init__(
        self, following_error: FollowingErrorLimit, model: Model, tasks: Sequence[Task], problem: Problem
    ) -> None:
        """Raises ValueError, ShapeError and JointNotFound for joints that the model does not have."""
        reach = values_of(following_error, model, following_error.joints)
        self._model, self._most = model, (float(following_error.distance), float(following_error.angle))
        self._frames = [task for task in tasks if isinstance(task, OfFrame)]
        coordinates = problem.section("coordinates")
        alone = {model.index(joint.name).start: joint.name for joint in model.joints if joint.nq == 1}
        some = np.array([int(q) in alone for q in coordinates["q"]], dtype=np.bool_)
        self._places = coordinates["q"][some]
        self._names = [alone[int(at)] for at in self._places]
        every = reach[np.array(problem.velocities, dtype=np.int64)[coordinates["v"]]]
        self._reach = every[some]
        limits = packing.start_of(problem.words, "coordinates") + COORDINATE.fields["lower"].word
        words = limits + COORDINATE.words * np.arange(len(coordinates))
        self.problem = self._packed(problem, every, np.where(some, words, 0))
        """What the kernel reads, see `following` in `layout.PROBLEM`."""

    def _packed(self, problem: Problem, reach: Array, words: Array) -> Problem:
        """The frames, seen from their bases, and how far they and each coordinate may be ahead."""
        model, frames = self._model, self._frames
        needed = [task.needed(model) for task in frames]
        units, number = carrying(model.tree, sorted(set().union(*needed)))
        arrays = unit_arrays(units, {number[unit] for some in needed for unit in some})
        effectors = np.zeros(len(frames), dtype=EFFECTOR.dtype)
        for effector, task in zip(effectors, frames, strict=True):
            found = task.effector(Units(model, units, arrays, number))
            effector["tip"], effector["base"] = found.tip, found.base
            effector["tool"], effector["base_tool"] = found.tool, found.base_tool
        distance, angle = self._most
        # A turn by pi is the farthest that there is, so a wider limit is none.
        turn = 8.0 * np.sin(0.5 * angle) ** 2 if angle < np.pi else np.inf
        parts = {
            **arrays.sections,
            "effectors": effectors.view(np.int64),
            "following": [distance**2, turn, *reach],
            "following_words": words,
        }
        nq, poses = model.nq, POSE * len(frames)
        rows = {
            "start": nq, "q": nq, "before": nq, "step": len(problem.velocities),
            "frames": FRAME * len(units), "target": poses, "scratch": poses,
        }  # fmt: skip
        return Problem(packing.pack(parts, rows), problem.velocities)

    def measure(self, row: Array, measured: ArrayLike) -> None:
        """Write (nq,) where the robot is into a row; raises ShapeError and ValueError."""
        given = one_start(self._model, measured, "measured")
        self._model.normalize(given, "measured")  # says which quaternion is none
        row[:] = given

    def active(self, found: Sequence[ActiveLimit], measured: Array, q: Array) -> tuple[ActiveLimit, ...]:
        """The limits `found` of the last step, to the command `q` (nq,), and what it is at the end of its limit of the
        following error, from `measured` (nq,).

        What brakes for the limit of the following error brakes for no other limit.
        """
        if np.isnan(measured[0]):
            return tuple(found)
        ahead = q[self._places] - measured[self._places]
        joints = [
            ActiveLimit("following error", name, float(x), float(np.copysign(most, x)))
            for name, x, most in zip(self._names, ahead, self._reach, strict=True)
            if abs(x) >= most - AT_LIMIT
        ]
        frames = [
            ActiveLimit("following error", task.frame, x, most)
            for task in self._frames
            for x, most in zip(self._ahead(task, measured, q), self._most, strict=True)
            if x >= most - AT_LIMIT
        ]
        at_end = {limit.name for limit in joints}
        braking = [limit for limit in found if limit.kind in ("braking", "jerk") and (frames or limit.name in at_end)]
        return (*(limit for limit in found if limit not in braking), *joints, *frames)

    def _ahead(self, task: OfFrame, measured: Array, q: Array) -> tuple[float, float]:
        """How far the frame of a task at `q` (nq,) is from where it was measured [m], and turned [rad]."""
        here, there = (task.frame_pose(self._model, at) for at in (q, measured))
        turn = quaternion_log(quaternion_product(here.wxyz, conjugate(there.wxyz)))
        return float(np.linalg.norm(here.xyz - there.xyz)), float(np.linalg.norm(turn))
