"""Tasks that are not required: what a search needs for them, and what it does where no start fulfils the others."""

from collections.abc import Sequence
from typing import Any

from poise.common.array import Array
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import (
    ANSWER,
    BEGIN,
    CHOICE,
    CODE,
    DISTANCE,
    END,
    GOAL_NUMBERS,
    ITERATIONS,
    RESTARTS,
    SOLVED,
    START,
    STATIONARY,
)
from poise.model.model import Model
from poise.solving.problem.problem import Problem
from poise.solving.problem.workspace import PHASE, SEED, Scratch
from poise.solving.requirements.outcome import PreparedProblem
from poise.solving.search.feasible_fallback import distance
from poise.tasks.base import Task, levels


def soft_alone(tasks: Sequence[Task]) -> bool:
    """Whether there are soft tasks, all of one level, and all required ones, no ranges, of one level before it."""
    required = [task for task in tasks if task.required]
    if any(task.inequality_rows for task in required):  # within a range nothing pulls, and beyond it no descent may go
        return False
    soft = [task for task in tasks if not task.required]
    if not soft or len(levels(soft)) > 1 or len(levels(required)) > 1:
        return False
    return not required or required[0].level < soft[0].level


def with_soft_rows(problem: Problem) -> Problem:
    """It with the rows that `poise.kernels.solver.soft` works in."""
    return problem.extended(
        {},
        {"choice": CHOICE, "other": len(problem.velocities), "best": problem.rows("q").stop - problem.rows("q").start},
    )


def certified_start(scratch: Scratch) -> int:
    """Take the start as the answer; the code."""
    scratch.call[PHASE] = END
    try:
        code: int = prepare("solver.soft.optimise")(scratch.address)
    finally:
        scratch.call[PHASE] = BEGIN
    return code


def from_required(prepared: PreparedProblem, inner: Any, model: Model, scratch: Scratch) -> tuple[int, bool]:
    """Solve for the required tasks alone by the search `inner`, then lessen the soft ones from there.

    The code, and whether the time was spent.
    """
    if inner is None:  # nothing was required, and no start came to a number
        return certified_start(scratch), False
    tasks = prepared.frame_tasks
    goals = scratch.goal[: GOAL_NUMBERS * len(tasks)].reshape(-1, GOAL_NUMBERS)[[task.required for task in tasks]]
    with inner.bound.scratch(model) as found:
        _, late = inner.solve_one(model, found, goals.ravel(), scratch.start, seed=int(scratch.call[SEED]))
        return _from_there(model, prepared.problem, scratch, found.out), late


def _from_there(model: Model, problem: Problem, scratch: Scratch, found: Array) -> int:
    """Go on from what a search for the required tasks alone has written, `found`; the code.

    Where it has fulfilled them the soft ones are lessened from there; else its configuration is the answer.
    """
    start, out = scratch.start.copy(), scratch.out
    saved_call = scratch.call.copy()
    code = -1
    try:
        scratch.start[:] = found[ANSWER : ANSWER + model.nq]
        if found[CODE] == SOLVED:
            scratch.set_fields(max_restarts=0)
            code = prepare("solver.soft.optimise")(scratch.address)
        if code != SOLVED:
            code = certified_start(scratch)
            out[STATIONARY] = found[STATIONARY] if code != SOLVED else 0.0
    finally:
        scratch.call[:], scratch.start[:] = saved_call, start
    out[ITERATIONS] = out[ITERATIONS] + found[ITERATIONS]
    out[RESTARTS], out[START] = found[RESTARTS], found[START]
    out[DISTANCE] = distance(model, problem, start, out[ANSWER : ANSWER + model.nq])
    return code
