"""How far a command may be ahead of the measured q: one that leads farther is taken again, within tighter limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import positive
from poise.kernels.machine import packing
from poise.model.model import Model
from poise.quaternions import conjugate, quaternion_log, quaternion_product
from poise.solving.arguments.arguments import one_start
from poise.solving.problem.problem import Problem
from poise.solving.requirements.active_limits import ActiveLimit
from poise.solving.requirements.inequalities import Values, check_values, values_of
from poise.spatial import SE3
from poise.tasks.base import Task
from poise.tasks.frame import OfFrame
from poise.tasks.value import Value, freeze

_ON: Final = 1e-6
"""What is this near to the end of its limit of the following error [rad or m] is on it."""
_PARTS: Final = 32
_ROUNDS: Final = 3
"""The share of a step that the limit of the following error lets go is found to one of 32^3 parts: of 3 cm to less than
`_ON`."""


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

    __slots__ = (
        "_frames",
        "_lower",
        "_model",
        "_most",
        "_names",
        "_places",
        "_rates",
        "_reach",
        "_some",
        "_there",
        "_upper",
        "_velocities",
        "_whole",
        "measured",
        "shortened",
        "words",
    )

    def __init__(
        self, following_error: FollowingErrorLimit, model: Model, tasks: Sequence[Task], problem: Problem
    ) -> None:
        """Raises ValueError, ShapeError and JointNotFound for joints that the model does not have."""
        reach = values_of(following_error, model, following_error.joints)
        self._model, self._velocities = model, list(problem.velocities)
        self._most = (float(following_error.distance), float(following_error.angle))
        self._frames = [task for task in tasks if isinstance(task, OfFrame)]
        coordinates = problem.section("coordinates")
        alone = {model.index(joint.name).start: joint.name for joint in model.joints if joint.nq == 1}
        self._some = np.array([i for i, c in enumerate(coordinates) if int(c["q"]) in alone], dtype=np.int64)
        self._places = coordinates["q"][self._some]
        self._names = [alone[int(at)] for at in self._places]
        self._reach = reach[np.array(self._velocities, dtype=np.int64)[coordinates["v"][self._some]]]
        self._lower, self._upper = coordinates["lower"][self._some].copy(), coordinates["upper"][self._some].copy()
        self._rates = problem.section("rates")
        self._whole = self.words = problem.words
        """The problem, and it with the limits that the last call of `shortens` left to the joints."""
        self.measured: Array | None = None
        self._there: list[SE3] = []
        self.shortened = False
        """Whether the last step had to be taken again."""

    def measure(self, measured: ArrayLike | None) -> None:
        """Take (nq,) where the robot is; None leaves all steps as they are.  Raises ShapeError and ValueError."""
        given = None if measured is None else one_start(self._model, measured, "measured")
        self.measured, self.shortened = None if given is None else self._model.normalize(given, "measured"), False
        if self.measured is not None:
            self._there = [task.frame_pose(self._model, self.measured) for task in self._frames]

    def shortens(self, before: Array, after: Array, travel: Array, travel_change: Array) -> bool:
        """Whether a step from `before` to `after` (nq,) must be taken again, within the limits that `words` state.

        It is judged where a joint with accelerations could come to rest, after its way of this step, `travel`, and the
        change of that, `travel_change`.
        """
        self.shortened = self.measured is not None and self._shortens(
            self.measured, before, after, travel, travel_change
        )
        return self.shortened

    def _shortens(self, measured: Array, before: Array, after: Array, travel: Array, travel_change: Array) -> bool:
        model = self._model
        end = self._stopped(after, travel, travel_change)
        low, high = measured[self._places] - self._reach, measured[self._places] + self._reach
        ahead = end[self._places]
        joints = bool(((ahead < low) | (ahead > high)).any())
        frames = bool(self._over(end) > 1.0)
        if not (joints or frames):
            return False
        if frames:
            came_out = bool(self._over(before) <= 1.0)
            to = end if came_out else measured
            way = model.difference(before, to)
            share = _turning(lambda s: (self._over(model.integrate(before, s[:, None] * way)) <= 1.0) == came_out)
            here, there = before[self._places], model.integrate(before, share * way)[self._places]
            if not came_out:
                here = there
            low, high = np.clip(np.minimum(here, there), low, high), np.clip(np.maximum(here, there), low, high)
        self.words = self._whole.copy()
        coordinates = packing.unpack(self.words, "coordinates")
        coordinates["lower"][self._some] = np.clip(low, self._lower, self._upper)
        coordinates["upper"][self._some] = np.clip(high, self._lower, self._upper)
        return True

    def active(self, found: Sequence[ActiveLimit], q: Array) -> tuple[ActiveLimit, ...]:
        """The limits `found` of the last step, to the command `q` (nq,), and what it is at the end of its limit of the
        following error.

        What brakes for the limit of the following error brakes for no other limit.
        """
        measured = self.measured
        if measured is None:
            return tuple(found)
        ahead = q[self._places] - measured[self._places]
        joints = [
            ActiveLimit("following error", name, float(x), float(np.copysign(most, x)))
            for name, x, most in zip(self._names, ahead, self._reach, strict=True)
            if abs(x) >= most - _ON
        ]
        frames = [
            ActiveLimit("following error", task.frame, x, most)
            for task, errors in zip(self._frames, self._following_errors(q), strict=True)
            for x, most in zip(map(float, errors), self._most, strict=True)
            if x >= most - _ON
        ]
        at_end = {limit.name for limit in joints}
        braking = [limit for limit in found if limit.kind in ("braking", "jerk") and (frames or limit.name in at_end)]
        return (*(limit for limit in found if limit not in braking), *joints, *frames)

    def _over(self, q: Array) -> Array:
        """(...) the largest share of its limit of the following error by which a frame at `q` (..., nq) is ahead."""
        shares = [x / most for errors in self._following_errors(q) for x, most in zip(errors, self._most, strict=True)]
        return np.max(shares, axis=0) if shares else np.zeros(q.shape[:-1])

    def _following_errors(self, q: Array) -> list[tuple[Array, Array]]:
        """How far the frame of each task at `q` (..., nq) is from where it was measured [m], and turned [rad]."""
        found = []
        for task, there in zip(self._frames, self._there, strict=True):
            here = task.frame_pose(self._model, q)
            turn = quaternion_log(quaternion_product(here.wxyz, conjugate(there.wxyz)))
            found.append((np.linalg.norm(here.xyz - there.xyz, axis=-1), np.linalg.norm(turn, axis=-1)))
        return found

    def _stopped(self, q: Array, travel: Array, travel_change: Array) -> Array:
        """(nq,) beyond `q`, where every joint is at rest for sure that brakes from now on."""
        if not len(self._rates):
            return q
        v, jerk = np.abs(travel), self._rates["jerk"]
        rising = np.maximum(0.0, np.copysign(1.0, travel) * travel_change)
        steps = rising / jerk
        fastest = v + 0.5 * rising * steps
        brake = np.maximum(np.minimum(self._rates["change"], np.sqrt(fastest * jerk)), np.finfo(float).tiny)
        way = steps * (v + rising * steps / 3.0) + 0.5 * fastest * (fastest / brake + 1.0 + brake / jerk)
        whole = np.zeros(self._model.nv)
        whole[self._velocities] = np.copysign(way, travel)
        return self._model.integrate(q, whole)


def _turning(holds: Callable[[Array], Any]) -> float:
    """The largest part of 1 up to which `holds` is true, as if it changed once."""
    low, width = 0.0, 1.0
    for _ in range(_ROUNDS):
        parts = low + width * np.arange(1, _PARTS + 1) / _PARTS
        low += width * int(np.cumprod(holds(parts))[: _PARTS - 1].sum()) / _PARTS
        width /= _PARTS
    return low
