"""A posture beside tasks that are not required: of the answers that miss these least, one near to it.

Where they are fulfilled they are as good as required, and the search for that is what solves.  Where they are missed q
goes towards the posture among the configurations where what is missed is least; see
`poise.kernels.gradients.towards_posture`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from poise.common.array import Array
from poise.kernels.gradients.stationary import NOT_UNIQUE
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import ANSWER, DISTANCE, ITERATIONS, RESTARTS, SOLVED, START, STATIONARY
from poise.model.model import Model
from poise.solving.gradients.conditions import conditions_of
from poise.solving.methods.posture import Posture
from poise.solving.problem.workspace import SEED, Scratch
from poise.solving.requirements.outcome import PreparedProblem
from poise.solving.search.feasible_fallback import distance
from poise.solving.search.soft import certified_start
from poise.tasks.base import Task
from poise.tasks.value import again

_HOW: Final = [ITERATIONS, RESTARTS, START]
"""What of `out` says how an answer was found."""


def all_required(tasks: Sequence[Task]) -> list[Task]:
    """The tasks, all of them required but for a posture."""
    return [_with(task, required=True) if task.blocks else _with(task, tolerance=np.inf) for task in tasks]


def _with(task: Task, **changes: Any) -> Task:
    changed: Task = again(type(task), {name: getattr(task, name) for name in task._field_names} | changes)
    return changed


def solved_near_posture(
    search: Any,
    posture: Posture,
    find: Callable[[], tuple[int, bool]],
    other: Callable[[Callable[[Sequence[Task]], Sequence[Task]]], Any],
    model: Model,
    scratch: Scratch,
    end: float,
) -> tuple[int, bool]:
    """Search from the posture on for what misses least, into `out` of the scratch, and go towards the posture there;
    the code, and whether the time was spent.

    `find` searches from the scratch's start, `other` gives the search for other tasks.
    """
    start, out, at = scratch.start.copy(), scratch.out, slice(ANSWER, ANSWER + model.nq)
    if search.max_restarts and model.sound(start):
        scratch.start[:] = posture.start(model, scratch)
    try:
        code, late = find()
    finally:
        scratch.start[:] = start
    if code != SOLVED:
        return code, late
    tolerances = np.concatenate([task.tolerances for task in search.frame_tasks])
    if not (out[at.stop : -1] <= tolerances).all():
        near = _nearest_minimum(model, search, scratch)
        if near is not None:
            _set_answer(model, scratch, near)
    else:
        inner, spent = other(all_required), out[ITERATIONS]
        with inner.bound.scratch(model) as found:
            found_code, late = inner.solve_one(
                model, found, scratch.goal, out[at], seed=int(scratch.call[SEED]), end=end
            )
            if found_code == SOLVED:
                out[:] = found.out
                out[ITERATIONS] += spent
    out[DISTANCE] = distance(model, search.problem, start, out[at])
    return code, late


def _nearest_minimum(model: Model, prepared: PreparedProblem, scratch: Scratch) -> Array | None:
    """(nq,) where what the answer in `out` misses is as little and at rest, nearer to the posture; None if nowhere."""
    q = scratch.out[ANSWER : ANSWER + model.nq]
    conditions = conditions_of(model, prepared)
    if conditions.narrow:
        return None
    with conditions.bound.scratch(model) as work:
        work.goal[:], work.start[:] = scratch.goal, q
        work.set_fields(given=1)
        if prepare("gradients.towards_posture.move_towards_posture")(work.address) > NOT_UNIQUE:
            return None
        return work.narrow[conditions.at["stationary"]].copy()


def _set_answer(model: Model, scratch: Scratch, q: Array) -> None:
    """Let q (nq,), which is at rest, be the answer in `out`, if it solves what is required."""
    out, before, start = scratch.out, scratch.out.copy(), scratch.start.copy()
    scratch.start[:] = q
    code = certified_start(scratch)
    scratch.start[:] = start
    if code == SOLVED:
        out[_HOW], out[STATIONARY] = before[_HOW], 1.0
    else:
        out[:] = before
