"""Problems of a batch side by side, a lane each, as `kernels.solver.batch_lanes` solves them."""

from typing import Final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.jit import prepare, watched
from poise.model.model import Model
from poise.solving.problem.start_index import Words, start_index
from poise.solving.problem.workspace import Scratch
from poise.solving.search.search import Search

_RESTARTS: Final = 24
"""Starts of a problem in a lane, at most, before eight lanes search for it."""
_START: Final = 2e-4
"""What a start in a lane takes at most [s]: with four tasks on a humanoid a quarter of it."""
_MANY: Final = "solver.batch_lanes.solve_many"


def in_lanes(search: Search) -> bool:
    """Whether problems of a batch are solved side by side: no method or posture, no soft task, and time enough."""
    longest = search.settings.max_time
    hurried = longest is not None and longest < _START * (1 + search.bound.numbers["usual_restarts"])
    return search.method is None and search.posture is None and not hurried and not search.soft


def index_of(search: Search, model: Model) -> Words | None:
    """The index of starts for a batch; None where none helps, or where no start but q0 is wanted."""
    prepare(_MANY)
    derived = search.bound.derived
    if derived.get(index_of) is None and search.max_restarts:
        derived[index_of] = start_index(model, search.tasks.of_frames, search.problem)
    found: Words | None = derived.get(index_of)
    return found


def solve_many(
    search: Search,
    scratch: Scratch,
    goals: Array,
    starts: Array,
    answers: Array,
    index: Words | None,
    seed: int,
    *,
    given: bool,
    best_effort: bool,
) -> None:
    """Solve problems in lanes: goals (n, 7 tasks), starts (n, nq), answers (n, rows of `out`) with their codes.

    The code of a problem that is left is RUNNING: after a few starts if its `best_effort` is to be searched for,
    else after all of them.
    """
    goals, starts, own = np.ascontiguousarray(goals), np.ascontiguousarray(starts), search.bound.numbers
    scratch.set_fields(
        problems=len(goals), given=int(given), index=0 if index is None else index.ctypes.data, seed=seed,
        max_restarts=min(own["max_restarts"], _RESTARTS if best_effort else own["usual_restarts"]),
    )  # fmt: skip
    scratch.set_arrays(goals=goals, starts=starts, answers=answers)
    try:
        watched(prepare(_MANY), search.bound.reads)(scratch.address)
    finally:
        scratch.set_fields(max_restarts=own["max_restarts"], seed=own["seed"])
