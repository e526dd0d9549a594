"""The nearest branch of a closed form: eight candidates in eight lanes, certified by forward kinematics."""

import numpy as np

from poise.kernels.closed_form.branches import measure
from poise.kernels.closed_form.candidates import FITS, LOOSE, PLACE_ERROR, TURN_ERROR, candidates, give_choices
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import any_of, load, splat, sqrt, store
from poise.kernels.machine.layout import (
    ANSWER,
    BLOCKED,
    BY_CLOSED_FORM,
    CALL,
    CODE,
    COST,
    DISTANCE,
    ITERATIONS,
    RESTARTS,
    SOLVED,
    START,
    STATIONARY,
    UNSOLVED,
    WIDTH,
)
from poise.kernels.machine.views import entry_at
from poise.kernels.rows.sums import slack_of_sums
from poise.kernels.solver.feasibility import is_feasible
from poise.kernels.solver.nearness import square_between, turn_within
from poise.kernels.solver.state import INSIDE

_SQUARE, _SCORE, _COST = range(3)
"""Rows of `state` here: the square of a lane's distance from q0, its score, the sum of the squares of its errors."""
_TIGHT = 1e6
"""One over the square of the largest tolerance [m, rad] within which there is nothing but the branches themselves."""


@routine
def nearest_branch(p, w, v, address):
    """Write into `out` the branch of the pose in w.target that is nearest to w.pool = q0.

    With `check_feasibility` it is the nearest one that is feasible; if there are branches but none is, its code is
    BLOCKED, and it is the one with the largest slack.  The code is UNSOLVED if none fits, and at a singular pose with a
    line of solutions, of which another may be nearer.  p.arms[0] is an arm of six axes, whose candidates are branches
    to rounding.
    """
    out, count = w.out, len(w.q)
    for i in range(len(w.target)):
        store(v.target, i, w.target[i])
    give_choices(v)
    candidates(p, v, w.target, w.pool, 0.0, 0.0)
    cost, score = measure(p, v)
    square = splat(v.q, 0.0)
    for r in range(len(p.coordinates)):
        i = p.coordinates[r].q
        way = load(v.q, i) - w.pool[i]
        square = square + way * way
    # Rows of the state, which no search is using yet.
    store(v.state, _SQUARE, square), store(v.state, _SCORE, score), store(v.state, _COST, cost)
    found, code = _nearest_left(v), SOLVED
    if entry_at(address, CALL).check_feasibility != 0 and found >= 0:
        found, code = _nearest_that_holds(p, w, v, found, address)
    if found < 0 or any_of(load(v.search.branches, LOOSE) > 0.5):
        out[CODE] = UNSOLVED
        return
    out[CODE], out[ITERATIONS], out[RESTARTS], out[START] = code, 0.0, 0.0, BY_CLOSED_FORM
    out[DISTANCE], out[COST], out[STATIONARY] = sqrt(v.state[_SQUARE, found]), v.state[_COST, found], 0.0
    for i in range(count):
        out[ANSWER + i] = v.q[i, found]
    out[ANSWER + count] = v.search.branches[PLACE_ERROR, found]
    out[ANSWER + count + 1] = v.search.branches[TURN_ERROR, found]


@kernel
def _nearest_left(v):
    """The lane of the nearest branch that is left; -1 if there is none."""
    found, least = -1, np.inf
    for lane in range(WIDTH):
        if v.search.branches[FITS, lane] > 0.5 and v.state[_SCORE, lane] <= INSIDE and v.state[_SQUARE, lane] < least:
            found, least = lane, v.state[_SQUARE, lane]
    return found


@kernel
def _nearest_that_holds(p, w, v, found, address):
    """The lane of the nearest feasible branch, from `found` on, and SOLVED.

    Without one it is that of the branch with the largest slack, and BLOCKED; -1 where there may be other solutions.
    """
    best, most = found, -np.inf
    while found >= 0:
        for i in range(len(w.q)):
            w.q[i] = v.q[i, found]
        if is_feasible(p, w, address):
            return found, SOLVED
        if w.clearance[0] > most:
            best, most = found, w.clearance[0]
        # Whole turns may let limits of sums hold; the branch is then farther from q0, and is judged again in its turn.
        if slack_of_sums(p, w.q) < 0.0 and turn_within(p, w, w.pool):
            v.state[_SQUARE, found] = square_between(p, w.q, w.pool)  # another may be nearer now
            for i in range(len(w.q)):
                v.q[i, found] = w.q[i]
        else:
            v.search.branches[FITS, found] = 0.0
        found = _nearest_left(v)
    whole = min(p.blocks[0].inverse_square_tolerance, p.blocks[1].inverse_square_tolerance) >= _TIGHT
    for lane in range(WIDTH):
        # What comes near to the pose without being there to rounding may be a branch all the same.
        whole = whole and (v.state[_SCORE, lane] <= INSIDE or v.state[_COST, lane] > p.arms[0].near)
    return best if whole else -1, BLOCKED
