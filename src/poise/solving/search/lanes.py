"""Problems of a batch side by side, a lane each, as `kernels.solver.batch_lanes` solves them."""

from typing import Final

from poise.common.array import Array
from poise.kernels.machine.jit import prepare, watched
from poise.kernels.machine.layout import CALL
from poise.model.model import Model
from poise.solving.problem.start_index import start_index
from poise.solving.problem.workspace import SEED, Scratch, address_of
from poise.solving.search.search import Search

_RESTARTS: Final = 24
"""Starts of a problem in a lane, at most, before eight lanes search for it."""
_START: Final = 2e-4
"""What a start in a lane takes at most [s]: with four tasks on a humanoid a quarter of it."""
_MANY: Final = "solver.batch_lanes.solve_many"
_GOALS, _STARTS, _ANSWERS, _PROBLEMS, _FROM_Q0, _INDEX, _MOST = (
    CALL.fields[name].word for name in ("goals", "starts", "answers", "problems", "given", "index", "max_restarts")
)


def in_lanes(search: Search) -> bool:
    """Whether problems of a batch are solved side by side: no method or posture, no soft task, and time enough."""
    longest = search.settings.max_time
    hurried = longest is not None and longest < _START * (1 + search.bound.numbers["usual_restarts"])
    return search.method is None and search.posture is None and not hurried and not search.soft


def index_of(search: Search, model: Model) -> int:
    """Where the index of starts for a batch is, which the search keeps; 0 where none helps, or where no start but q0 is
    wanted."""
    derived = search.bound.derived
    if index_of not in derived:
        prepare(_MANY)
        words = start_index(model, search.tasks.of_frames, search.problem) if search.max_restarts else None
        derived.setdefault(index_of, (0 if words is None else words.ctypes.data, words))
    found: int = derived[index_of][0]
    return found


def solve_many(
    search: Search,
    scratch: Scratch,
    goals: Array,
    starts: Array,
    answers: Array,
    index: int,
    seed: int,
    *,
    given: bool,
    best_effort: bool,
) -> None:
    """Solve problems in lanes: goals (n, 7 tasks), starts (n, nq), answers (n, rows of `out`) with their codes.

    `index` is where that of starts is, 0 without one.  The code of a problem that is left is RUNNING: after a few
    starts if its `best_effort` is to be searched for, else after all of them.
    """
    own, call = search.bound.numbers, scratch.call
    # Copies are contiguous, and can be written to: so their addresses are known sooner.
    goals, starts = goals.copy(), starts.copy()
    scratch.lent = {"goals": goals, "starts": starts, "answers": answers}
    # One by one, which takes a third of the time of `set_fields` and `set_arrays`: a batch may be of one problem.
    call[_GOALS], call[_STARTS], call[_ANSWERS] = address_of(goals), address_of(starts), address_of(answers)
    call[_PROBLEMS], call[_FROM_Q0], call[_INDEX], call[SEED] = len(goals), given, index, seed
    call[_MOST] = min(own["max_restarts"], _RESTARTS if best_effort else own["usual_restarts"])
    try:
        watched(prepare(_MANY), search.bound.reads)(scratch.address)
    finally:
        call[_MOST], call[SEED] = own["max_restarts"], own["seed"]
