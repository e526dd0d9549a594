"""What solve and Tracker are given: checked, and turned into the numbers that the kernels read."""

import os
from collections.abc import Sequence
from contextlib import suppress
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.kernels.machine.layout import BAD_START, GOAL_NUMBERS
from poise.model.model import Model
from poise.spatial import SE3, SO3
from poise.tasks.base import Task

if TYPE_CHECKING:
    from poise.methods.base import Method

Tasks: TypeAlias = Task | Sequence[Task]
"""What a caller states: one task or several."""


def several(tasks: Tasks) -> tuple[Task, ...]:
    """The tasks, one or more; raises TypeError for what is none, ValueError if there are none."""
    if isinstance(tasks, Task):
        return (tasks,)
    found: tuple[Any, ...] = tuple(tasks) if isinstance(tasks, Sequence) and not isinstance(tasks, str) else (tasks,)
    if not found:
        raise InvalidValue("empty", "tasks is empty; state at least one")
    for i, task in enumerate(found):
        if not isinstance(task, Task):
            place = f"tasks[{i}]" if len(found) > 1 else "tasks"
            hint = "; the model comes first, then the tasks" if isinstance(task, Model) else ""
            raise InvalidType(
                "not-a-task", f"{place} must be a task, such as PoseTask(frame, target), got {task!r}{hint}"
            )
    return found


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_a_task(
    tasks: Sequence[Task],
    given: Any,
    name: str = "target",
    *,
    rows_on: Model | None = None,
    staying: int | None = None,
) -> list[tuple[str, Any]]:
    """What is given for each task, with its name in messages: a target, or on a model those of problems, a row each.

    One task takes it bare, or in a list.  None stands for None for each; that of the PostureTask at the place `staying`
    may be left out, and is None then.  Raises ShapeError for another number of them.
    """
    if len(tasks) == 1:
        return [(name, alone(given, name) if rows_on is None else _rows_alone(tasks[0], rows_on, given))]
    count = _count(given, arrays=rows_on is None and staying is None)
    if count == len(tasks) and not (staying is not None and count == 2 and _is_bare(given)):
        return [(f"{name}[{i}]", value) for i, value in enumerate(given)]
    if given is None:
        return [(f"{name}[{i}]", None) for i in range(len(tasks))]
    wanted = f"{len(tasks)} targets, one a task in their order"
    if rows_on is not None:
        wanted = f"a list of {len(tasks)}, one a task with a row a problem"
    if staying is not None:
        others = [*tasks[:staying], *tasks[staying + 1 :]]
        with suppress(ShapeError):
            if rows_on is not None and len(others) == 1:
                alone(given)  # raises for several poses, of which two would be one a task
            found = one_a_task(others, given, name, rows_on=rows_on)
            return [*found[:staying], (name, None), *found[staying:]]
        wanted += f", or {'one' if len(others) == 1 else len(others)} without that of the PostureTask"
    got = repr(given) if count is None else f"{count}"
    if isinstance(given, np.ndarray):
        got = f"an array of shape {given.shape}"
    elif isinstance(given, SE3) and given.array.ndim == 1:
        got = "one pose"
    raise ShapeError(f"{name} must be {wanted}, got {got}")


def _count(given: Any, *, arrays: bool) -> int | None:
    """How many targets a list holds, or an array where `arrays` may be one; None for what is none."""
    if isinstance(given, (list, tuple)):
        return len(given)
    if isinstance(given, np.ndarray):
        return len(given) if arrays and given.ndim else None
    return len(given) if isinstance(given, Sequence) and not isinstance(given, str) else None


def alone(target: Any, name: str = "target") -> Any:
    """The target of the only task: itself, or the one that a list holds.

    A list or tuple of one number is a target of one number.  Raises ShapeError for a list of several poses.
    """
    if isinstance(target, np.ndarray):
        return target[0] if target.ndim > 1 and len(target) == 1 else target
    if not isinstance(target, (list, tuple)):
        return target
    if len(target) == 1:
        return target if _is_bare(target) else target[0]
    if any(isinstance(one, (SE3, SO3)) for one in target):
        raise ShapeError(
            f"{name} must be one, for there is one task, got {len(target)}: solve_batch and a rollout take many"
        )
    return target


def _is_bare(target: Any) -> bool:
    """Whether it is the numbers of one target, not a list of targets."""
    return isinstance(target[0], Real) and all(isinstance(one, Real) for one in target)


def _rows_alone(task: Task, model: Model, targets: Any) -> Any:
    """The targets of the only task: themselves, or where they are no rows, what a list of one holds."""
    if not isinstance(targets, (list, tuple)) or len(targets) != 1:
        return targets
    try:
        task.goals_on(model, targets)
    except ValueError:
        return targets[0]
    return targets


def joined(tasks: Sequence[Task], goals: Sequence[Array]) -> Array:
    """(..., .) read-only numbers, as the kernels read them: 7 for each task with rows, then nq of a posture."""
    for k, task in enumerate(tasks):
        if not task.blocks:
            goals = [*goals[:k], *goals[k + 1 :], goals[k]]
    # Of one, a copy takes a fourth of the time.
    out = np.concatenate(goals, axis=-1) if len(goals) > 1 else goals[0].copy() if goals else np.zeros(0)
    out.flags.writeable = False
    return out


def each_goal(tasks: Sequence[Task], goals: Array) -> list[Array]:
    """Of goals (n, .), joined, those of each of the tasks: (n, 7), of a posture (n, nq)."""
    places = iter(range(0, goals.shape[1] + 1, GOAL_NUMBERS))
    posture = goals[:, GOAL_NUMBERS * sum(bool(task.blocks) for task in tasks) :]
    return [goals[:, (at := next(places)) : at + GOAL_NUMBERS] if task.blocks else posture for task in tasks]


def refuse_goal(model: Model, tasks: Sequence[Task], goal: Array, where: str = "") -> NoReturn:
    """Raises ValueError that says which number of `goal`, those of all tasks as they are `joined`, is no target, and
    `where` first."""
    for k, (task, (numbers,)) in enumerate(zip(tasks, each_goal(tasks, goal[None]), strict=True)):
        task.refuse(model, numbers, f"{where}target[{k}]" if len(tasks) > 1 else f"{where}target")
    raise InvalidValue("not-a-rotation", f"{where}a quaternion of the target is zero")


def one_start(model: Model, q0: ArrayLike, name: str = "q0") -> Array:
    """(nq,) one configuration; raises ShapeError, or ValueError for an entry that is not finite."""
    start = model.check_q(q0, name)
    if start.shape != (model.nq,):
        raise ShapeError(f"{name} must have shape ({model.nq},), one configuration, got {start.shape}")
    return start


def start_of(model: Model, q0: ArrayLike, name: str = "q0") -> Array:
    """(nq,) one configuration, whose numbers a kernel checks; raises ShapeError."""
    try:
        given = np.asarray(q0)
    except (TypeError, ValueError):
        given = np.zeros(0)
    plain = given.shape == (model.nq,) and given.dtype.kind in "fiu" and not hasattr(q0, "mask")
    return given if plain else one_start(model, q0, name)


def check_out(name: str, out: Any, model: Model) -> None:
    """Raises TypeError, ShapeError or ValueError unless `out` is an array for one configuration (nq,) of float64."""
    if type(out) is np.ndarray and out.dtype == np.float64 and out.shape == (model.nq,) and out.flags.writeable:
        return
    wanted = f"{name} must be an array of float64 and of shape ({model.nq},), such as np.empty({model.nq})"
    if not isinstance(out, np.ndarray) or out.dtype != np.float64:
        raise InvalidType(
            "not-an-array", f"{wanted}, got {out.dtype if isinstance(out, np.ndarray) else type(out).__name__}"
        )
    if out.shape != (model.nq,):
        raise ShapeError(f"{wanted}, got shape {out.shape}")
    if not out.flags.writeable:
        raise InvalidValue(
            "not-an-array", f"{name} is read-only: give an array that can be written, or leave {name} out"
        )


def refuse_numbers(
    code: int, model: Model, tasks: Sequence[Task], goal: Array, start: Array, name: str = "q0"
) -> NoReturn:
    """Raises ValueError that says which number a kernel refused with this code."""
    if code == BAD_START:
        model.check_q(start, name)
        refuse_start(name)
    refuse_goal(model, tasks, goal)


def refusal(code: int, model: Model, tasks: Sequence[Task], goal: Array) -> str:
    """Why a kernel refused a row of a batch with this code."""
    if code == BAD_START:
        return "q0 holds a number that is not finite or too large, or a zero quaternion"
    try:
        refuse_goal(model, tasks, goal)
    except ValueError as error:
        return str(error)


def refuse_start(name: str) -> NoReturn:
    """Raises ValueError that says why an argument (nq,) of this name, whose numbers are sound each, is no start."""
    raise InvalidValue(
        "not-a-rotation", f"{name} holds a zero quaternion, which is no rotation; the identity is wxyz = 1 0 0 0"
    )


def chosen(method: "str | Method | None") -> "Method | None":
    """The method that was named or given, as `method_of` says; what methods stand on is imported for one alone."""
    if method is None:
        return None
    from poise.methods.base import method_of

    return method_of(method)


def left_at(tasks: Sequence[Task], model: Model, goals: Array, q: Array) -> Array:
    """(n, blocks + 1) what `out` says is left of tasks, at `q` (n, nq), for goals (n, .); NaN for a goal that is none,
    and at the end where there is no posture."""
    left = []
    for task, goal in zip(tasks, each_goal(tasks, goals), strict=True):
        sizes = np.full((len(q), len(task.tolerances)), np.nan)
        sound = task.sound(model, goal)
        sizes[sound] = task.judged(model, goal[sound], q[sound])
        left.append(sizes)
    found = joined(tasks, left)
    return found if any(not task.blocks for task in tasks) else np.hstack([found, np.full((len(q), 1), np.nan)])
