"""What gives way costs no solution: where none was found beside it, what is required is solved for alone.

From there steps that keep all that must hold lead towards what gives way; where they lead nowhere, it is missed as it
is there.
"""

from collections.abc import Callable, Sequence
from typing import Any

from poise.kernels.machine.layout import ANSWER, COST, DISTANCE, ITERATIONS, SOLVED
from poise.model.model import Model
from poise.solving.arguments.arguments import each_goal, joined, left_at
from poise.solving.problem.workspace import SEED, Scratch
from poise.solving.search.feasible_fallback import distance
from poise.tasks.base import Task


def required_alone(tasks: Sequence[Task]) -> list[Task] | None:
    """The tasks that are required; None where all are, or none."""
    required = [task for task in tasks if task.required]
    return required if required and len(required) < len(tasks) else None


def solved_required_only(
    search: Any, others: Any, by_steps: Callable[[], Any], model: Model, scratch: Scratch, end: float
) -> tuple[bool, bool]:
    """Whether `out` of the scratch of a search becomes a solution by way of `others`, the search for what is required
    alone, and whether the time was spent.

    `by_steps` gives a search for all of the tasks that leads on from there.
    """
    at, out, seed = slice(ANSWER, ANSWER + model.nq), scratch.out, int(scratch.call[SEED])
    each = zip(search.user_tasks, each_goal(search.tasks, scratch.goal[None]), strict=False)  # loops come after these
    own = [numbers for task, (numbers,) in each if task.required]
    goal = joined(others.tasks, [*own, *(loop.goal(None) for loop in others.loops)])
    with others.bound.scratch(model) as found:
        code, late = others.solve_one(model, found, goal, scratch.start, seed=seed, end=end)
        answer = found.out.copy()
    if code != SOLVED:
        return False, late
    steps = by_steps()
    with steps.bound.scratch(model) as found:
        found.set_fields(max_restarts=0)
        try:
            code, _ = steps.solve_one(model, found, scratch.goal, answer[at], seed=seed, end=end)
        finally:
            found.set_fields(max_restarts=steps.max_restarts)
        if code == SOLVED:
            answer[at], answer[COST] = found.out[at], found.out[COST]
            answer[ITERATIONS] += found.out[ITERATIONS]
    if code != SOLVED and len(others.loops) < len(search.loops):
        return False, False  # loops that wishes alone move need not be closed there
    left = left_at(search.tasks, model, scratch.goal[None], answer[at][None])
    out[: at.stop], out[at.stop :] = answer[: at.stop], left[0]
    out[DISTANCE] = distance(model, search.problem, scratch.start, answer[at])
    return True, False
