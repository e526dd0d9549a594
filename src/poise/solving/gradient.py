"""The gradient of an answer: how q moves with targets, a posture, weights and placements of the model."""

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Final, Literal, TypeAlias, final

import numpy as np

from poise.cached import cached_property
from poise.checks import finite
from poise.kernels.machine.layout import GOAL_NUMBERS, PLACE, TURN
from poise.model.loosening import Loose, loosened, tool_of
from poise.model.model import Model
from poise.quaternions import quaternion_exp, quaternion_product
from poise.solving.inverses import ONE_SIDED, SINGULAR, has_inverses, inverses_at
from poise.solving.outcome import Asked
from poise.solving.stationary import STEP, Stationary, stationary
from poise.spatial import Array, ArrayLike
from poise.tasks.base import Task
from poise.tasks.frame import OfFrame
from poise.tasks.posture import PostureTask
from poise.tasks.value import again

_SIX: Final = 6
Word: TypeAlias = Literal["smooth", "one-sided", "undefined"]


@final
class SolutionGradient:
    """The derivatives of `Solution.q`, as velocities: rows are those of v, and a column is what changes by one unit.

    A pose changes by a twist, linear, then angular, along the axes in which it is stated: `xyz + v` and `exp(w) R`.
    Limits that hold q hold it still, curvature of the tasks counts, and nothing is damped.  Where something is to be
    least, it is the derivative at the exact rest, to which a few of Newton's steps lead from q.
    """

    def __init__(self, model: Model, asked: Asked, q: Array, goal: Array, *, solved: bool) -> None:
        self._model, self._asked, self._q, self._goal, self._solved = model, asked, q, goal, solved
        self._of: Array | None = None
        """(nv,) what a number depends on q by, whose gradient this is; None: that of q."""
        self._inverse: Array | None = None
        """(nv, 6) by the target of a pose alone."""
        self._at_limit = False
        if solved and has_inverses(asked):
            inverses, known = inverses_at(model, asked, q[None])
            self._inverse = None if known[0] == SINGULAR else inverses[0]
            self._at_limit = known[0] == ONE_SIDED

    @cached_property
    def _found(self) -> Stationary:
        return stationary(self._model, self._asked, self._q, self._goal, solved=self._solved)

    @property
    def q(self) -> Array:
        """(nq,) where the derivative is taken: the answer, or the exact rest beside it where something is least."""
        return self._q if self._inverse is not None else self._found.q

    @property
    def status(self) -> Word:
        """Whether q has a derivative: "smooth" from all sides; "one-sided", another where a limit lets go, and here
        that with the limits held; "undefined", none, and then whoever asks for one gets a ValueError."""
        if self._inverse is not None:
            return "one-sided" if self._at_limit else "smooth"
        if self._found.undefined:
            return "undefined"
        return "one-sided" if self._found.one_sided else "smooth"

    @property
    def reason(self) -> str:
        """Why it is not smooth, as a sentence; empty where it is."""
        if self.status == "smooth":
            return ""
        if self._found.undefined:
            return f"There is no derivative: {self._found.undefined}."
        return (
            f"{', '.join(self._found.one_sided)} stands at a limit that nothing pushes it to: the derivative is that "
            "of changes which do, and others take it away from there."
        )

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
        or a rotation, of others a column a number; (nv, 0) of one without a target, (nv, nv) of a posture."""
        if self._inverse is not None:
            if self._of is None:
                return (self._inverse,)
            pulled, _ = inverses_at(self._model, self._asked, self._q[None], self._of[None])
            return (pulled[0],)
        places = _places(self._asked.tasks)
        stated = self._asked.tasks[: len(self._asked.stated)]
        return tuple(
            self.by_posture if place is None else self._by_goal(task, place)
            for task, place in zip(stated, places[: len(stated)], strict=True)
        )

    @cached_property
    def by_posture(self) -> Array:
        """(nv, nv) by the velocities of the PostureTask's target; (nv, 0) where there is none."""
        if not any(isinstance(task, PostureTask) for task in self._asked.tasks):
            return self._moved(np.zeros((len(self._found.y), 0)), np.zeros((self._model.nv, 0)))
        rest, q = self._goal[GOAL_NUMBERS * len(self._asked.frame_tasks) :], self._found.q
        ends = (
            [self._model.difference(self._model.integrate(rest, way), q) for way in (step, -step)]
            for step in STEP * np.eye(self._model.nv)
        )
        pulls = [(above - below) / (2.0 * STEP) for above, below in ends]
        return self._moved(np.zeros((len(self._found.y), len(pulls))), self._found.posture[:, None] * np.array(pulls).T)

    @cached_property
    def by_weights(self) -> tuple[Array, ...]:
        """By the weights of each task, a column a row of its residual, three a block; where one weight is that of
        several rows, the sum of their columns.  Of a posture (nv, nv)."""
        found, out = self._found, []
        e, jacobian = found.conditions(found.q, self._goal[: GOAL_NUMBERS * len(self._asked.frame_tasks)])
        at = 0
        for task in self._asked.tasks[: len(self._asked.stated)]:
            if isinstance(task, PostureTask):
                rest = self._goal[GOAL_NUMBERS * len(self._asked.frame_tasks) :]
                pull = np.where(found.posture > 0.0, 2.0 * np.sqrt(found.posture), 0.0)
                changes = np.diag(pull * self._model.difference(rest, found.q))
            else:
                rows = np.arange(at, at + 3 * len(task.blocks))
                weight = np.array([w for block in task.blocks for w in block.weight])
                each = np.divide(-2.0 * e[rows], weight, out=np.zeros(len(rows)), where=weight != 0.0)
                changes = (each * found.missed[rows] / self._asked.scales[rows])[:, None] * jacobian[rows]
                changes, at = changes.T, at + len(rows)
            out.append(self._moved(np.zeros((len(e), changes.shape[1])), changes))
        return tuple(out)

    def by_placement(self, name: str) -> Array:
        """(nv, 6) by the origin of the joint `name` in its parent link, or of the frame `name` in its link.

        It moves along the axes of that link, as a file states it: the first three columns are its `xyz`, so that a link
        that ends there grows by them.  Raises NameNotFound, and ValueError for a link, which its joint places.
        """
        loose = loosened(self._model, name)
        return self._by_loose(loose, self._asked.frame_tasks)

    def by_offset(self, task: int = 0) -> Array:
        """(nv, 6) by the `offset` of a task about a frame: a tool's, along the axes of the frame.

        Raises IndexError for a task that is not there, ValueError for one that is about no frame.
        """
        tasks = self._asked.tasks[: len(self._asked.stated)]
        if not -len(tasks) <= task < len(tasks):
            raise IndexError(f"there is no task {task}: this answer has {len(tasks)}, counted from 0")
        given = tasks[task]
        if not isinstance(given, OfFrame):
            raise ValueError(f"{given.label} is not about one frame, and has no offset: ask for another task")
        loose = tool_of(self._model, given.frame, given.offset)
        values = {name: getattr(given, name) for name in given._field_names} | {"frame": loose.frame, "offset": None}
        held = again(type(given), values)
        return self._by_loose(loose, tuple(held if each is given else each for each in self._asked.frame_tasks))

    def vjp(self, cotangent: ArrayLike) -> "SolutionGradient":
        """The same of one number, with this derivative (nv,) by q: without forming the rest, each is (k,), not (nv, k).

        Raises ShapeError for another shape, ValueError for numbers that are not finite.
        """
        given = finite("cotangent", cotangent, self._model.nv)
        made = copy(self)
        made._of = given
        for name in ("by_target", "by_posture", "by_weights"):
            made.__dict__.pop(name, None)
        return made

    def __repr__(self) -> str:
        least = ", least change" if self.least_change else ""
        return f"SolutionGradient({self.status}{least})"

    # Details -----------------------------------------------------------------------------------------------------

    def _moved(self, lacking: Array, pulls: Array) -> Array:
        """What q does where rows lack more by `lacking` (m, k) and grad L is more by `pulls` (nv, k)."""
        if self._found.undefined:
            raise ValueError(self.reason)
        if self._of is None:
            return self._found.answers @ lacking - self._found.yields @ pulls
        return (self._of @ self._found.answers) @ lacking - (self._of @ self._found.yields) @ pulls

    def _pull(self, e: Array, jacobian: Array) -> Array:
        """The part of grad L that the rows make."""
        out: Array = -(np.where(self._found.missed, e, self._found.y) @ jacobian)
        return out

    def _by_goal(self, task: Task, at: int) -> Array:
        """By the target of a task whose numbers begin there."""
        found, count = self._found, GOAL_NUMBERS * len(self._asked.frame_tasks)
        lacking, pulls = [], []
        for step in _steps(task):
            ends = []
            for sign in (STEP, -STEP):
                goal = self._goal[:count].copy()
                goal[at : at + GOAL_NUMBERS] = step.of(goal[at : at + GOAL_NUMBERS], sign)
                ends.append(found.conditions(found.q, goal))
            (e, above), (e_below, below) = ends
            lacking.append((e - e_below) / (2.0 * STEP))
            pulls.append((self._pull(e, above) - self._pull(e_below, below)) / (2.0 * STEP))
        m, n = len(found.y), self._model.nv
        return self._moved(np.array(lacking).reshape(-1, m).T, np.array(pulls).reshape(-1, n).T)

    def _by_loose(self, loose: Loose, tasks: Sequence[Task]) -> Array:
        """By a placement that was let loose, for the tasks as they are there."""
        conditions = self._found.conditions.on(loose, tasks)
        goal, q = self._goal[: GOAL_NUMBERS * len(tasks)], loose.widened(self._found.q)
        _, jacobian = conditions(q, goal)
        pulls = np.zeros((_SIX, self._model.nv))
        if self._found.y.any() or self._found.missed.any():
            for k in range(_SIX):
                way = np.zeros(loose.model.nv)
                way[loose.loose.start + k] = STEP
                ends = [conditions(loose.model.integrate(q, step), goal) for step in (way, -way)]
                above, below = (self._pull(e, rows[:, loose.velocities]) for e, rows in ends)
                pulls[k] = (above - below) / (2.0 * STEP)
        return self._moved(-jacobian[:, loose.loose], pulls.T)


class _Step:
    """A change of one number of a target."""

    def __init__(self, place: int, scale: float = 1.0, *, turn: bool = False) -> None:
        self.place, self.scale, self.turn = place, scale, turn

    def of(self, goal: Array, way: float) -> Array:
        """(7,) the goal after a step."""
        out = goal.copy()
        if self.turn:
            out[3:] = quaternion_product(quaternion_exp(way * np.eye(3)[self.place]), goal[3:])
        else:
            out[self.place] += way * self.scale
        return out


def _steps(task: Task) -> Iterator[_Step]:
    """The changes of a task's target, one a column."""
    if not task.takes_target:
        return
    if task.goal_kind & TURN:
        yield from (_Step(i) for i in range(3 if task.goal_kind & PLACE else 0))
        yield from (_Step(i, turn=True) for i in range(3))
    elif task.to_point:
        scale = task.goal(np.ones(3))[0]
        yield from (_Step(i, scale) for i in range(3))
    else:
        yield from (_Step(i) for i in range(GOAL_NUMBERS if task.own else 1))


def _places(tasks: Sequence[Task]) -> list[int | None]:
    """Where the goal numbers of each task begin; None of a posture."""
    out: list[int | None] = []
    for task in tasks:
        out.append(GOAL_NUMBERS * sum(place is not None for place in out) if task.blocks else None)
    return out
