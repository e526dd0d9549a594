"""An answer that keeps all that must hold, where eight lanes came to none: the steps of a method lead there.

They begin at what the lanes came to, which is near to the targets, then at the caller's q0, which may be where all
holds; at random starts only where neither leads to where it does.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import (
    ANSWER,
    BLOCKED,
    BY_CLOSED_FORM,
    CODE,
    COST,
    DISTANCE,
    ITERATIONS,
    RESTARTS,
    SOLVED,
    START,
)
from poise.kernels.machine.memory import RANK
from poise.model.model import Model
from poise.solving.problem.problem import Problem, distance
from poise.solving.problem.workspace import SEED, Scratch
from poise.solving.requirements.sums import slack_in
from poise.solving.search.kernel_search import KernelSearch

if TYPE_CHECKING:
    from poise.solving.requirements.collision import CollisionLimit

_RESTARTS: Final = 7
"""Random starts, at most."""
_MORE: Final = 4
"""And so many, for _SHORT iterations each, where what is not required shall be missed as little as can be."""
_LESS: Final = 1.0 - 1e-6
"""A cost that is less by this factor is lower."""
_SHORT: Final = 50
"""Iterations from q0, at most, where something that holds is known: what leads to the targets takes fewer."""
CloseLoops: TypeAlias = Callable[[Array], Array | None]
"""Gives the q (nq,) near to another at which all loops are closed, or None."""


def satisfies(problem: Problem, collision: "CollisionLimit | None", model: Model, scratch: Scratch, q: Array) -> bool:
    """Whether limits of sums hold at q (nq,), and shapes are as far apart as asked."""
    if not (np.add(*slack_in(problem, q)) >= 0.0).all():
        return False
    return collision is None or scratch.scene is None or collision.holds_in(model, scratch.scene, q)


def feasible_answer(
    search: Callable[[], KernelSearch], model: Model, scratch: Scratch, code: int, end: float, closed: CloseLoops
) -> tuple[int, bool]:
    """Let `out` of the scratch be an answer that keeps all; the code, and whether the time was spent.

    `search` gives one by METHOD for the same tasks, `closed` closes loops near to a q (nq,).
    """
    at, out = slice(ANSWER, ANSWER + model.nq), scratch.out
    first, start = out[at].copy(), scratch.start.copy()
    begins = [(closed(begin.copy()) if np.isfinite(begin).all() else None) for begin in (first, start)]
    if begins[0] is None and begins[1] is None:
        return (BLOCKED if code == SOLVED else code), False
    inner, late = search(), False
    has_soft = not all(task.required for task in inner.tasks.of_frames)
    seed = int(scratch.call[SEED])
    if has_soft:  # which may end at one minimum from here, and at another from there
        begins += [closed(begin) for begin in model.sample(_MORE, seed=seed)]
    best: tuple[Array, Array, int] | None = None
    good, ways = 0.5, [*((begin, 0) for begin in begins), (begins[1], min(_RESTARTS, inner.max_restarts))]
    for k, (begin, restarts) in enumerate(ways):
        if begin is None or (restarts and best is not None):
            continue
        brief = best is not None and (not has_soft or 2 <= k < len(begins))
        most = min(_SHORT, inner.max_iterations) if brief else inner.max_iterations
        with inner.bound.scratch(model) as found:
            numbers = {"seed": seed, "max_restarts": restarts, "max_iterations": most}
            ended, late = inner.solve_one(model, found, scratch.goal, begin, end=end, **numbers)
            rank = found.narrow[inner.problem.rows("loop")][RANK] if ended >= 0 else 0.0
            less = best is not None and rank == good and found.out[COST] < _LESS * best[0][COST]
            if rank > good or (has_soft and less):
                best, good = (found.out.copy(), begin, ended), rank
                if has_soft and brief:
                    ways.append((best[0][at].copy(), 0))  # from where it goes on to rest
        if late or (rank > 1.5 and not has_soft):
            break
    if best is None:
        return (BLOCKED if code == SOLVED else code), late
    answer, begin, ended = best
    attempts, spent, came_from = out[RESTARTS], out[ITERATIONS], out[START]
    out[:] = answer
    solved = answer[CODE] == SOLVED
    out[RESTARTS], out[ITERATIONS] = attempts + answer[RESTARTS], spent + answer[ITERATIONS]
    out[START] = came_from if begin is begins[0] and (solved or came_from == BY_CLOSED_FORM) else answer[START]
    out[DISTANCE] = distance(model, inner.problem, start, out[at])
    if solved:
        return ended, late
    return (code if code != SOLVED else BLOCKED), late
