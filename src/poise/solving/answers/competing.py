"""Which other tasks keep one short of its target where an arm is at rest, in sentences with the mend.

With e_k and J_k the weighted rows of task k, g_k = J_k^T e_k is where it pulls.  What comes before it, such as tasks of
an earlier level, loops and ranges that are not left, lets it go in the null space of its rows alone.  At rest there is
nothing left there of the sum of the pulls of its level; so either its own pull lies in the rows of what comes before
it, or others of its level pull against it, and by how much is the part that they take of |g_k|^2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.cached import cached_property
from poise.kernels.machine.layout import GOAL_NUMBERS
from poise.model.model import Model
from poise.solving.methods.posture import one_posture
from poise.solving.problem.problem import velocity_names
from poise.solving.problem.rows import rows_at
from poise.solving.problem.workspace import Bound
from poise.solving.requirements.positions import pushed_out
from poise.tasks.base import Task
from poise.tasks.loop import LoopTask
from poise.tasks.velocity import OfVelocities

_SINGULAR: Final = 1e-3
"""A pull that is this small beside |J| |e| is none: no joint leads there, whatever other tasks ask for."""
_AT_REST: Final = 0.05
"""What may be left of the pulls of a level at rest, as a share of the task's own."""
_HOLDS: Final = 0.3
"""The share of a pull that one task takes, to be named."""
_NUDGE: Final = 1e-3
"""How far along a pull it is looked whether a range ends there [rad or m]."""
_RANK: Final = 1e-6
"""Directions of rows whose singular value is this small beside the largest are none."""
_OUTWEIGHS: Final = 3.0
"""One weight decides against another, rather than share with it, from this factor on."""
_MOSTLY: Final = 0.9
"""The share of a pull that joints take on which it all but depends."""
_CREEPS: Final = 1e-2
"""A task that comes nearer by less than this share of its error a step is as good as held."""


@final
@dataclass(frozen=True, eq=False)
class Question:
    """What is asked about: an arm at `q` (nq,), and the tasks that it follows there."""

    model: Model
    tasks: Sequence[Task]
    """As they are solved for, the loops last."""
    user_tasks: Sequence[Task]
    """As they were stated, without the loops."""
    bound: Bound
    q: Array
    goal: Array
    """The goal numbers of all tasks, as the kernels read them."""
    row_shares: Array | float = 1.0
    """(m,) or one for all: the share of each row that a step asks for, where errors are clamped."""

    @cached_property
    def pulls(self) -> "list[Pull]":
        """Those of all tasks with rows at q, which each of the questions below looks at."""
        return _pulls(self, self.q)


@final
class Pull:
    """Where a task pulls, along the velocities that move the tasks (n,)."""

    __slots__ = ("as_given", "e", "rows", "task")

    def __init__(self, task: Task, as_given: Task, e: Array, rows: Array) -> None:
        self.task, self.as_given, self.e, self.rows = task, as_given, e, rows

    @property
    def pull(self) -> Array:
        """(n,) its descent."""
        return self.e @ self.rows

    @property
    def scale(self) -> float:
        """How large it could be."""
        return float(np.linalg.norm(self.rows) * np.linalg.norm(self.e))

    @property
    def heaviest(self) -> float:
        """The largest of its weights, as they were stated."""
        return max(float(np.max(getattr(self.as_given, name))) for name in self.as_given.weight_names)

    def __str__(self) -> str:
        """It, with its weights."""
        named = (f"{name}={_short(getattr(self.as_given, name))}" for name in self.as_given.weight_names)
        return f"{self.task.label} with {' and '.join(named)}"


def rivals(question: Question) -> list[str]:
    """A sentence for each task that others keep short of its target at q; none where the arm is not at rest."""
    missed = _missed(question, question.q)
    with_rows = [task for task in question.tasks if task.blocks]
    short = any(_short_of(task, left[0]) for task, left in zip(with_rows, missed, strict=True))
    if len(with_rows) < 2 or not short or not all(np.isfinite(left).all() for left in missed):
        return []
    pulls, out = question.pulls, list[str]()
    told: set[frozenset[int]] = set()
    order = sorted(range(len(pulls)), key=lambda k: (pulls[k].task.level, pulls[k].heaviest))
    for k in order:  # the lighter of two that pull against each other is the one that is held
        if not _short_of(pulls[k].task, missed[k][0]):
            continue
        before, against = _holders(question, pulls, missed, k)
        out += [_first(pulls[k], pulls[j]) for j in before]
        for j in against:
            if frozenset((k, j)) not in told:
                told.add(frozenset((k, j)))
                out.append(_against(pulls[k], pulls[j]))
    return out


def brakes(question: Question, before: Array) -> list[str]:
    """A sentence for each task of a Tracker that creeps, because weights of a posture or costs of motion say so.

    The last step led from `before` (nq,) to q.
    """
    problem, posture = question.bound.problem, one_posture(question.tasks)
    shares = problem.section("weight_ratios") if posture is not None else np.zeros(0)
    if not len(shares) and not any(isinstance(task, OfVelocities) for task in question.tasks):
        return []
    missed = _missed(question, before, question.q)
    if not all(np.isfinite(left).all() for left in missed):
        return []
    pulls, out = question.pulls, list[str]()
    for this, (was, left) in zip(pulls, missed, strict=True):
        came = float(np.linalg.norm(was) - np.linalg.norm(left))
        if not _short_of(this.task, left) or came > _CREEPS * float(np.linalg.norm(left)):
            continue
        pull = _free(question, this.pull) * this.pull
        size = float(np.linalg.norm(pull))
        if size <= _SINGULAR * this.scale:
            continue
        heavy = (shares <= _CREEPS) & (np.abs(pull) > _HOLDS * size) if len(shares) else np.zeros(len(pull), np.bool_)
        if posture is not None and float(np.linalg.norm(pull[heavy])) > _MOSTLY * size:
            most = posture.weights(question.model)[list(problem.velocities)][heavy].max()
            out.append(
                f"{this.task.label} needs {_joints(question, heavy)}, whose weight in the PostureTask, {most:g}, makes "
                "it creep: lower that weight."
            )
        way = float(np.linalg.norm(this.rows @ pull))
        for other in pulls:
            if isinstance(other.task, OfVelocities) and other.task.level == this.task.level:
                cost = float(np.linalg.norm(other.rows @ pull))
                if way**2 < _CREEPS * cost**2:
                    out.append(f"{other} makes {this.task.label} creep: lower that weight.")
    return out


def limited(question: Question, before: Array) -> list[str]:
    """The tasks that come no nearer, by the last step from `before` (nq,) to q, for their pull is into limits."""
    out = []
    for this, (was, left) in zip(question.pulls, _missed(question, before, question.q), strict=True):
        came, pull = float(np.linalg.norm(was) - np.linalg.norm(left)), this.pull
        size = float(np.linalg.norm(pull))
        stopped = float(np.linalg.norm(pull - _free(question, pull) * pull))
        held = stopped > _HOLDS * size > _HOLDS * _SINGULAR * this.scale
        if _short_of(this.task, left) and held and came <= _CREEPS * float(np.linalg.norm(left)):
            out.append(this.task.label)
    return out


def _missed(question: Question, *qs: Array) -> list[Array]:
    """(len(qs), blocks) how much of each task with rows is left at each of `qs`."""
    rows = question.goal[: GOAL_NUMBERS * sum(bool(task.blocks) for task in question.tasks)].reshape(-1, GOAL_NUMBERS)
    with_rows = [task for task in question.tasks if task.blocks]
    at = np.array(qs)
    return [
        task.judged(question.model, np.repeat(goal[None], len(at), axis=0), at)
        for task, goal in zip(with_rows, rows, strict=True)
    ]


def _short_of(task: Task, left: Array) -> bool:
    """Whether so much left of each block (blocks,) is too much, of a task that has somewhere to come."""
    return not isinstance(task, LoopTask | OfVelocities) and bool((left > task.tolerances).any())


def _pulls(question: Question, q: Array) -> list[Pull]:
    """Those of all tasks with rows, at `q` (nq,)."""
    e, jacobian = rows_at(question.model, question.tasks, question.bound, q, question.goal)
    e *= question.row_shares
    active = jacobian[:, list(question.bound.problem.velocities)]
    out, at = [], 0
    for k, task in enumerate(question.tasks):
        if task.blocks:
            rows = slice(at, at := at + 3 * len(task.blocks))
            out.append(
                Pull(task, question.user_tasks[k] if k < len(question.user_tasks) else task, e[rows], active[rows])
            )
    return out


def _holders(question: Question, pulls: Sequence[Pull], missed: Sequence[Array], k: int) -> tuple[list[int], list[int]]:
    """The tasks that come before task `k` and hold it, and those of its level that pull against it."""
    this = pulls[k]
    alike = [
        j
        for j, other in enumerate(pulls)
        if other.task.level == this.task.level and not isinstance(other.task, LoopTask)
    ]
    if not this.pull.any():
        return [], []
    total = np.sum([pulls[j].pull for j in alike], axis=0)
    free = _free(question, total)
    pull = free * this.pull
    size = float(np.linalg.norm(pull))
    if size <= _SINGULAR * this.scale:
        return [], []
    first = {
        j: free * other.rows
        for j, other in enumerate(pulls)
        if j != k and (other.task.level < this.task.level or isinstance(other.task, LoopTask))
    }
    first |= {j: free * rows for j, rows in _walls(question, pulls, missed, k, pull) if j != k}
    taken = {j: rows for j, rows in first.items() if not isinstance(pulls[j].task, LoopTask)}
    loops = [rows for j, rows in first.items() if isinstance(pulls[j].task, LoopTask)]
    if float(np.linalg.norm(_beyond(loops, pull))) <= _AT_REST * size:
        return [], []  # of loops alone
    rest, left = (_beyond([*first.values()], of) for of in (free * total, pull))
    if float(np.linalg.norm(rest)) > _AT_REST * size:
        return [], []
    if float(np.linalg.norm(left)) <= 2.0 * _AT_REST * size:
        parts = {j: float(np.linalg.norm(pull - _beyond([rows], pull))) / size for j, rows in taken.items()}
        return [j for j, part in parts.items() if part >= _HOLDS], []
    against = {j: -float(free * pulls[j].pull @ left) / float(left @ left) for j in alike if j != k}
    return [], [j for j, part in against.items() if part >= _HOLDS]


def _walls(
    question: Question, pulls: Sequence[Pull], missed: Sequence[Array], k: int, pull: Array
) -> Iterator[tuple[int, Array]]:
    """The ranges that are not left and end along a pull (n,), each with its rows there."""
    walls = [
        j
        for j, other in enumerate(pulls)
        if j != k and other.task.inequality_rows and other.task.level == 0 and not _short_of(other.task, missed[j][0])
    ]
    if not walls:
        return
    way = np.zeros(question.model.nv)
    way[list(question.bound.problem.velocities)] = _NUDGE * pull / np.linalg.norm(pull)
    there = _pulls(question, question.model.integrate(question.q, way))
    yield from ((j, there[j].rows) for j in walls if there[j].e.any())


def _free(question: Question, pull: Array) -> Array:
    """(n,) 1 for the velocities that no limit of a joint holds against a pull (n,), 0 for the others."""
    free = np.ones(len(pull))
    c = question.bound.problem.section("coordinates")
    free[c["v"][pushed_out(question.q[c["q"]], c["lower"], c["upper"], pull[c["v"]])]] = 0.0
    return free


def _beyond(rows: Sequence[Array], pull: Array) -> Array:
    """(n,) what of a pull lies in the null space of these rows."""
    if not rows:
        return pull
    sizes, right = np.linalg.svd(np.vstack(rows), full_matrices=False)[1:]
    span = right[sizes > _RANK * sizes.max(initial=0.0)]
    left: Array = pull - span.T @ (span @ pull)
    return left


def _first(held: Pull, holder: Pull) -> str:
    """What is said of a task that one before it holds."""
    one, other = held.task, holder.task
    if other.inequality_rows and other.level == 0:
        return f"{other.label} is a range that is not left, and holds {one.label} back: widen it, or move the target."
    why = f"has priority={other.priority}" if other.priority != one.priority else "is required"
    same = "the same priority" if other.priority != one.priority else "the same required="
    return f"{other.label} {why}, and holds {one.label} back: give both {same} to share what is missed."


def _against(held: Pull, other: Pull) -> str:
    """What is said of two tasks of a level that pull against each other."""
    if other.heaviest >= _OUTWEIGHS * held.heaviest:
        return (
            f"{held.task.label} is short because {other} outweighs it: lower that weight, or put that task behind with "
            f"priority={held.task.priority + 1}."
        )
    return (
        f"{held} and {other} pull against each other: give the one that matters less a lower weight, or "
        f"priority={held.task.priority + 1}."
    )


def _joints(question: Question, which: npt.NDArray[np.bool_]) -> str:
    """The joints of these velocities (n,), in words."""
    names, velocities = velocity_names(question.model), np.array(question.bound.problem.velocities)
    return " and ".join(dict.fromkeys(repr(names[v]) for v in velocities[which]))


def _short(weight: object) -> str:
    """A weight, as one writes it."""
    return f"({', '.join(f'{x:g}' for x in weight)})" if isinstance(weight, tuple) else f"{weight:g}"
