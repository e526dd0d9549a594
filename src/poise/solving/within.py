"""An answer that keeps all that must hold, where eight lanes came to none: the steps of a method lead there.

They begin at what the lanes came to, which is near to the targets; where that leads to nothing that holds, at the
caller's q0, which may be where all does; at random starts only where neither leads there.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from poise.kernels.machine.layout import (
    ANSWER,
    BLOCKED,
    BY_CLOSED_FORM,
    CODE,
    DISTANCE,
    ITERATIONS,
    RESTARTS,
    SOLVED,
    START,
)
from poise.kernels.methods.memory import RANK
from poise.model.model import Model
from poise.solving.problem import Problem
from poise.solving.scratch import SEED, Scratch
from poise.spatial import Array

if TYPE_CHECKING:
    from poise.solving.collision import CollisionLimit

METHOD: Final = "priority"
"""Whose steps they are: those of levels, a posture the last of them."""
_RESTARTS: Final = 7
"""Random starts, at most."""
Closing: TypeAlias = Callable[[Array], Array | None]
"""Gives the q (nq,) near to another at which all loops are closed, or None."""


def keeps(problem: Problem, apart: "CollisionLimit | None", model: Model, scratch: Scratch, q: Array) -> bool:
    """Whether limits of sums hold at q (nq,), and shapes are as far apart as asked."""
    rows = problem.section("inequalities").reshape(-1, len(problem.velocities) + 1)
    coordinates = problem.section("coordinates")
    at = q[coordinates["q"]]
    rounding = 1e-12 * max(1.0, float(np.abs(at).max(initial=0.0)))
    if not (rows[:, :-1][:, coordinates["v"]] @ at <= rows[:, -1] + rounding).all():
        return False
    return apart is None or scratch.scene is None or apart.holds_in(model, scratch.scene, q)


def brought_within(
    search: Callable[[], Any], model: Model, scratch: Scratch, code: int, end: float, closed: Closing
) -> tuple[int, bool]:
    """Let `out` of the scratch be an answer that keeps all; the code, and whether the time was spent.

    `search` gives one by METHOD for the same tasks, `closed` closes loops near to a q (nq,).
    """
    at, out = slice(ANSWER, ANSWER + model.nq), scratch.out
    first, start = out[at].copy(), scratch.start.copy()
    begins = [(closed(begin.copy()) if np.isfinite(begin).all() else None) for begin in (first, start)]
    if begins[0] is None and begins[1] is None:
        return (BLOCKED if code == SOLVED else code), False
    inner, ended, late = search(), code, False
    answer: Array | None = None
    for begin, restarts in ((begins[0], 0), (begins[1], 0), (begins[1], min(_RESTARTS, inner.max_restarts))):
        if begin is None:
            continue
        with inner.bound.scratch(model) as found:
            found.tell(max_restarts=restarts)
            try:
                ended, late = inner.solve_one(model, found, scratch.goal, begin, seed=int(scratch.call[SEED]), end=end)
            finally:
                found.tell(max_restarts=inner.max_restarts)
            if ended >= 0 and found.narrow[inner.problem.rows("loop")][RANK] > 0.5:
                answer = found.out.copy()
        if late or answer is not None:
            break
    if answer is None:
        return (BLOCKED if code == SOLVED else code), late
    tried, spent, came_from = out[RESTARTS], out[ITERATIONS], out[START]
    out[:] = answer
    solved = answer[CODE] == SOLVED
    out[RESTARTS], out[ITERATIONS] = tried + answer[RESTARTS], spent + answer[ITERATIONS]
    out[START] = came_from if begin is begins[0] and (solved or came_from == BY_CLOSED_FORM) else answer[START]
    out[DISTANCE] = distance(model, inner.problem, start, out[at])
    if solved:
        return ended, late
    return (code if code != SOLVED else BLOCKED), late


def distance(model: Model, problem: Problem, start: Array, q: Array) -> float:
    """How far q (nq,) is from a start (nq,), as that is within the limits, by what moves: see `Solution.distance`."""
    q0 = model.clip(start) if problem.limits else start
    return float(np.linalg.norm(model.difference(q0, q)[list(problem.velocities)]))
