"""The nearest branch of a closed form: eight candidates in eight lanes, certified by forward kinematics."""

import numpy as np

from poise.kernels.closed_form.branches import PLACE_ERROR, TURN_ERROR, measure
from poise.kernels.closed_form.candidates import FITS, LOOSE, candidates, give_choices
from poise.kernels.machine.jit import routine
from poise.kernels.machine.lanes import any_of, load, splat, sqrt, store
from poise.kernels.machine.layout import (
    ANSWER,
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
from poise.kernels.solver.lm_solver import INSIDE, is_clear


@routine
def nearest_branch(p, w, v, address):
    """Write into `out` the branch of the pose in w.target that is nearest to w.pool = q0.

    Where there is a scene, it is the nearest whose shapes are apart.  Its code is UNSOLVED if none fits, and at a
    singular pose with a line of solutions, of which another may be nearer.  p.arms[0] is an arm of six axes, whose
    candidates are branches to rounding.
    """
    out, count = w.out, len(w.q)
    for i in range(len(w.target)):
        store(v.target, i, w.target[i])
    give_choices(v)
    candidates(p, v, w.target, w.pool, 0.0)
    cost, score = measure(p, v)
    square = splat(v.q, 0.0)
    for r in range(len(p.coordinates)):
        i = p.coordinates[r].q
        way = load(v.q, i) - w.pool[i]
        square = square + way * way
    # Rows of the state, which no search is using yet.
    store(v.state, 0, square), store(v.state, 1, score), store(v.state, 2, cost)
    scene = entry_at(address, CALL).scene
    nearest, least = 0, np.inf
    for _ in range(WIDTH):
        nearest, least = 0, np.inf
        for lane in range(WIDTH):
            if v.branches[FITS, lane] > 0.5 and v.state[1, lane] <= INSIDE and v.state[0, lane] < least:
                nearest, least = lane, v.state[0, lane]
        if scene == 0 or not least < np.inf:
            break
        for i in range(count):
            w.q[i] = v.q[i, nearest]
        if is_clear(p, w, address):
            break
        v.state[0, nearest] = np.inf
    if not least < np.inf or any_of(load(v.branches, LOOSE) > 0.5):
        out[CODE] = UNSOLVED
        return
    out[CODE], out[ITERATIONS], out[RESTARTS], out[START] = SOLVED, 0.0, 0.0, BY_CLOSED_FORM
    out[DISTANCE], out[COST], out[STATIONARY] = sqrt(least), v.state[2, nearest], 0.0
    for i in range(count):
        out[ANSWER + i] = v.q[i, nearest]
    out[ANSWER + count] = v.branches[PLACE_ERROR, nearest]
    out[ANSWER + count + 1] = v.branches[TURN_ERROR, nearest]
