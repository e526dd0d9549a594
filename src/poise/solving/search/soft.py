"""Tasks that are not required: what a search needs for them, and what it does where no start fulfils the others."""

from collections.abc import Sequence

from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import (
    BEGIN,
    CHOICE,
    END,
)
from poise.solving.problem.problem import Problem
from poise.solving.problem.workspace import PHASE, Scratch
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
        {
            "search.choice": CHOICE,
            "other": len(problem.velocities),
            "best": problem.rows("q").stop - problem.rows("q").start,
        },
    )


def certified_start(scratch: Scratch) -> int:
    """Take the start as the answer; the code."""
    scratch.call[PHASE] = END
    try:
        code: int = prepare("solver.soft.optimise")(scratch.address)
    finally:
        scratch.call[PHASE] = BEGIN
    return code
