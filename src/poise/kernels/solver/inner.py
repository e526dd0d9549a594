"""Other searches that a search leans on: each has a record of a call, a problem and a workspace of its own.

Who works in another's workspace makes the view of it on the spot, from its record: what a kernel returns by memory has
the layout of a machine of 64 bits, and a page has addresses of 32.
"""

from poise.kernels.machine.jit import call, kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import (
    ANSWER,
    BEGIN,
    CALL,
    DISTANCE,
    END,
    FALLBACK_STATE,
    FALLBACKS,
    GO_ON,
    NEEDS,
    RUNNING,
)
from poise.kernels.machine.views import entry_at, narrow, problem_at, section
from poise.kernels.solver.ends import clip_start
from poise.kernels.solver.nearness import square_between

CAME_TO, PAUSED, TRY, TRIES, BEST, GOOD, ENDED = range(FALLBACK_STATE)
"""Rows of `fallback.state`.  CAME_TO: the code so far.  PAUSED: 1 where another search is to go on.  Of steps, TRY: the
start that is tried, of TRIES; BEST: that of the best answer, -1 before one; GOOD: its rank; ENDED: its code."""


@kernel
def put_question(w, inner_address, goals, start, address):
    """Tell another search its goal, its start (nq) and the seed.

    `goals` are the places among the goal numbers, and those of the posture behind them, of its own.
    """
    inner = entry_at(inner_address, CALL)
    w1 = narrow(problem_at(inner.problem), inner.narrow, inner.routines)
    count, all_goals = len(w1.goal), len(w.goal)
    for i in range(len(goals)):
        at = goals[i]
        x = w.goal[at] if at < all_goals else w.posture_goal[at - all_goals]
        if i < count:
            w1.goal[i] = x
        else:
            w1.posture_goal[i - count] = x
    _put_start(w1, inner_address, start, address)


@kernel
def put_same_question(w, inner_address, start, address):
    """The same of a search for the same tasks."""
    inner = entry_at(inner_address, CALL)
    w1 = narrow(problem_at(inner.problem), inner.narrow, inner.routines)
    for i in range(len(w.goal)):
        w1.goal[i] = w.goal[i]
    for i in range(len(w.posture_goal)):
        w1.posture_goal[i] = w.posture_goal[i]
    _put_start(w1, inner_address, start, address)


@kernel
def _put_start(w1, inner_address, start, address):
    """The start (nq) and the seed."""
    request, inner = entry_at(address, CALL), entry_at(inner_address, CALL)
    for i in range(len(start)):
        w1.start[i] = start[i]
    inner.seed = request.seed


@kernel
def pauses(code):
    """Whether it is the code of a search that goes on."""
    return code in (RUNNING, NEEDS)


@kernel
def phase_of(w, spent):
    """The phase of another search: from its beginning unless it is paused."""
    return BEGIN if w.fallback.state[PAUSED] < 0.5 else END if spent else GO_ON


@kernel
def run_inner(w, inner_address, spent):
    """Another search, with what it does where it fails; its code."""
    inner = entry_at(inner_address, CALL)
    inner.phase = phase_of(w, spent)
    w1 = narrow(problem_at(inner.problem), inner.narrow, inner.routines)
    call(w1.routines[FALLBACKS], inner_address)
    inner.phase = BEGIN
    w.fallback.state[PAUSED] = 1.0 if pauses(inner.code) else 0.0
    return inner.code


@kernel
def ask(address, what):
    """NEEDS, of this."""
    entry_at(address, CALL).needs = what
    return NEEDS


@kernel
def measure(p, w, start):
    """Write how far the answer in w.out is from a start (nq)."""
    if clip_start(p, start, w.pool):
        w.out[DISTANCE] = sqrt(square_between(p, section(w.out, ANSWER, len(w.q)), w.pool))
