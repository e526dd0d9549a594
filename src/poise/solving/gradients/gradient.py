"""The gradient of an answer: how q moves with targets, a posture, weights and placements of the model."""

import math
from collections.abc import Sequence
from copy import copy
from typing import Literal, TypeAlias, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import finite
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import GOAL_NUMBERS
from poise.model.loosening import Loose, loosened, tool_of
from poise.model.model import Model
from poise.solving.arguments.lru_cache import cached
from poise.solving.gradients.conditions import Conditions, by_task
from poise.solving.gradients.inverses import ONE_SIDED, SINGULAR, inverses_of
from poise.solving.gradients.stationary import Stationary, stationary
from poise.solving.requirements.outcome import PreparedProblem
from poise.tasks.base import Task
from poise.tasks.frame import OfFrame
from poise.tasks.posture import PostureTask
from poise.tasks.value import again

Word: TypeAlias = Literal["smooth", "one-sided", "undefined"]


@final
class SolutionGradient:
    """The derivatives of `Solution.q`, as velocities: rows are those of v, and a column is what changes by one unit.

    A pose changes by a twist, linear, then angular, along the axes in which it is stated: `xyz + v` and `exp(w) R`.
    Limits that hold q hold it still, curvature of the tasks counts, and nothing is damped.  Where something is to be
    least, it is the derivative at the exact rest, to which a few of Newton's steps lead from q.
    """

    def __init__(self, model: Model, prepared: PreparedProblem, q: Array, goal: Array, solved: bool) -> None:
        """Of the answer q (nq,) to what was asked for these goal numbers, and whether all that is required of it is
        within its tolerances."""
        self._model, self._prepared, self._answer, self._goal, self._solved = model, prepared, q, goal, solved
        self._of: Array | None = None
        """(nv,) what a number depends on q by, whose gradient this is; None: that of q."""
        self._inverse: Array | None = None
        """(nv, 6) by the target of a pose alone, found at once; None where there is more to it."""
        self._at_limit = False
        if solved:
            inverses = inverses_of(self._model, prepared)
            if inverses.there:
                inverse, known = inverses.of_one(q)
                if known != SINGULAR:
                    self._inverse, self._at_limit, self.by_target = inverse, known == ONE_SIDED, (inverse,)

    @cached_property
    def _found(self) -> Stationary:
        return stationary(self._model, self._prepared, self._answer, self._goal, solved=self._solved)

    @property
    def q(self) -> Array:
        """(nq,) where the derivative is taken: the answer, or the exact rest beside it where something is least."""
        return self._answer if self._inverse is not None else self._found.q

    @property
    def status(self) -> Word:
        """Whether q has a derivative: "smooth" from all sides; "one-sided", another where a limit lets go, and here
        that with the limits held, or none where a limit is in the way, and here that away from it; "undefined", none,
        and then whoever asks for one gets a ValueError."""
        if self._inverse is not None:
            return "one-sided" if self._at_limit else "smooth"
        if self._found.undefined:
            return "undefined"
        return "one-sided" if self._found.one_sided or self._found.standing else "smooth"

    @property
    def reason(self) -> str:
        """Why it is not smooth, as a sentence; empty where it is."""
        if self.status == "smooth":
            return ""
        if self._found.undefined:
            return f"There is no derivative: {self._found.undefined}."
        free, stands = ", ".join(self._found.one_sided), ", ".join(self._found.standing)
        parts = [
            f"{free} stands at a limit that nothing pushes it to: the derivative is that of changes which do, and "
            "others take it away from there."
        ] if free else []  # fmt: skip
        if stands:
            parts.append(
                f"{stands} stands at a limit beside others that hold q: the derivative is that of changes which take "
                "it away from there, and others are stopped."
            )
        return " ".join(parts)

    @property
    def least_change(self) -> bool:
        """Whether q is one of many that answer as well, so that the derivative is the least change of q which does: by
        the sum of the squares of all velocities [rad and m]."""
        if self._inverse is not None:
            return int(np.count_nonzero(self._inverse.any(axis=1))) > self._inverse.shape[1]
        return self._found.least_change

    @cached_property
    def by_target(self) -> tuple[Array, ...]:
        """By the target of each task, in their order: (nv, 6) of a pose, (nv, 3) of a point, a direction [1/its unit]
        or a rotation, (nv, 6) of the point of a plane or line and of the turn of its normal or direction, of others a
        column a number; (nv, 0) of one without a target, (nv, nv) of a posture."""
        if self._inverse is not None:
            return (inverses_of(self._model, self._prepared).of_one(self.q, self._of)[0],)
        if self._found.undefined:
            raise InvalidValue("undefined", self.reason)
        return by_task(self._prepared, self._by_goals)

    @cached_property
    def _by_goals(self) -> Array:
        """(nv, columns) by all that targets say."""
        return self._found.by_goals(self._of)

    @property
    def by_posture(self) -> Array:
        """(nv, nv) by the velocities of the PostureTask's target; (nv, 0) where there is none."""
        if self._found.undefined:
            raise InvalidValue("undefined", self.reason)
        return self._by_goals[..., self._found.conditions.steps :]

    @cached_property
    def by_weights(self) -> tuple[Array, ...]:
        """By the weights of each task, a column a row of its residual, three a block; where one weight is that of
        several rows, the sum of their columns.  Of a posture (nv, nv)."""
        found, out = self._found, []
        e, jacobian = found.rows()
        at = 0
        for task in self._prepared.tasks.stated_as_solved:
            if isinstance(task, PostureTask):
                pull = np.where(found.posture > 0.0, 2.0 * np.sqrt(found.posture), 0.0)
                posture = self._goal[GOAL_NUMBERS * len(self._prepared.tasks.of_frames) :]
                changes = np.diag(pull * self._model.difference(posture, found.q))
            else:
                rows = np.arange(at, at + 3 * len(task.blocks))
                weight = np.array([w for block in task.blocks for w in block.weight])
                for k, block in enumerate(task.blocks):
                    if block.whole and block.unit == "rad" and len({*block.weight}) == 1 and block.weight[0]:
                        own = rows[3 * k : 3 * k + 3]
                        jacobian[own] = _changes_of_turn(e[own] / weight[own], jacobian[own])
                each = np.divide(-2.0 * e[rows], weight, out=np.zeros(len(rows)), where=weight != 0.0)
                changes = (each * found.missed[rows] / self._prepared.tasks.scales[rows])[:, None] * jacobian[rows]
                changes, at = changes.T, at + len(rows)
            out.append(self._moved(None, changes))
        return tuple(out)

    def by_placement(self, name: str) -> Array:
        """(nv, 6) by the origin of the joint `name` in its parent link, or of the frame `name` in its link.

        It moves along the axes of that link, as a file states it: the first three columns are its `xyz`, so that a link
        that ends there grows by them.  Raises NameNotFound, and ValueError for a link, which its joint places.
        """
        loose = cached(self._model, (loosened, name), lambda: loosened(self._model, name))
        return self._by_loose(loose, self._prepared.tasks.of_frames, name)

    def by_offset(self, task: int = 0) -> Array:
        """(nv, 6) by the `offset` of a task about a frame: a tool's, along the axes of the frame.

        Raises IndexError for a task that is not there, ValueError for one that is about no frame.
        """
        tasks = self._prepared.tasks.stated_as_solved
        if not -len(tasks) <= task < len(tasks):
            raise IndexError(f"there is no task {task}: this answer has {len(tasks)}, counted from 0")
        given = tasks[task]
        if not isinstance(given, OfFrame):
            raise InvalidValue(
                "not-supported", f"{given.label} is not about one frame, and has no offset: ask for another task"
            )
        model, key = self._model, (tool_of, self._prepared, task)
        loose = cached(model, key, lambda: tool_of(model, given.frame, given.offset))
        values = {name: getattr(given, name) for name in given._field_names} | {"frame": loose.frame, "offset": None}
        replaced = again(type(given), values)
        return self._by_loose(
            loose, tuple(replaced if each is given else each for each in self._prepared.tasks.of_frames), task
        )

    def vjp(self, cotangent: ArrayLike) -> "SolutionGradient":
        """The same of one number, with this derivative (nv,) by q: without forming the rest, each is (k,), not (nv, k).

        Raises ShapeError for another shape, ValueError for numbers that are not finite.
        """
        given = finite("cotangent", cotangent, self._model.nv)
        made = copy(self)
        made._of = given
        for name in ("by_target", "by_weights", "_by_goals"):
            made.__dict__.pop(name, None)
        return made

    def __repr__(self) -> str:
        least = ", least change" if self.least_change else ""
        return f"SolutionGradient({self.status}{least})"

    # Details -----------------------------------------------------------------------------------------------------

    def _moved(self, lacking: Array | None, pulls: Array) -> Array:
        """What q does where rows lack `lacking` (m, k) more, None if nothing, and grad L is `pulls` (nv, k) more."""
        found = self._found
        if found.undefined:
            raise InvalidValue("undefined", self.reason)
        answers, yields = found.answers, found.yields
        if self._of is not None:
            answers, yields = self._of @ answers, self._of @ yields
        moved: Array = -(yields @ pulls)
        return moved if lacking is None else answers @ lacking + moved

    def _by_loose(self, loose: Loose, tasks: Sequence[Task], name: str | int) -> Array:
        """By a placement that was let loose, for the tasks as they are there."""
        found = self._found
        if found.undefined:
            raise InvalidValue("undefined", self.reason)
        there = cached(self._model, (Conditions, self._prepared, name), lambda: found.conditions.on(loose, tasks))
        return self._moved(*found.by_placement(loose, there))


def _changes_of_turn(t: Array, rows: Array) -> Array:
    """The derivative (3, nv) of a rotation vector t (3,) [rad], of which `rows` (3, nv) are the angular velocities.

    With weights that are all the same kernels take these themselves, which have the same part along t; see
    `poise.kernels.algebra.rotations.change_of_turn`.
    """
    half = 0.5 * float(np.linalg.norm(t))
    share = (1.0 - half / math.tan(half)) / (4.0 * half * half) if half > 5e-5 else 1.0 / 12.0
    once = np.cross(t, rows, axisb=0, axisc=0)
    return np.asarray(rows + 0.5 * once + share * np.cross(t, once, axisb=0, axisc=0))
