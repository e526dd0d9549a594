"""Feasibility of solutions: limits of sums and distances of shapes."""

import numpy as np

from poise.kernels.machine.jit import call, kernel
from poise.kernels.machine.layout import (
    BLOCKED,
    CALL,
    CLEARANCE,
    SOLVED,
    WIDTH,
)
from poise.kernels.machine.views import entry_at
from poise.kernels.rows.sums import slack_of_sums
from poise.kernels.solver.nearness import near_turn
from poise.kernels.solver.state import HOLDS, INSIDE, LANE_COST, LIMIT, SCORE, SLOW


@kernel
def is_feasible(p, w, address):
    """Whether limits A q <= b hold at w.q, one number wide, and all shapes are as far apart as asked.

    w.clearance[0] is the least slack of both.  Of what is not feasible w.best keeps the q with the largest slack, and
    w.clearance[1] that slack, -inf before the first.
    """
    w.clearance[0] = slack_of_sums(p, w.q)
    if entry_at(address, CALL).scene:
        slack = w.clearance[0]
        call(w.routines[CLEARANCE], p, w, address)
        w.clearance[0] = min(w.clearance[0] - p.collision[0].distance, slack)
    if w.clearance[0] >= 0.0:
        return True
    if w.clearance[0] > w.clearance[1]:
        w.clearance[1] = w.clearance[0]
        for i in range(len(w.q)):
            w.best[i] = w.q[i]
    return False


@kernel
def judged(p, w, code, check_feasibility, address):
    """The code of the answer at w.q: BLOCKED where solutions were found, but none that is feasible."""
    if not check_feasibility or (code == SOLVED and is_feasible(p, w, address)):
        return code
    return BLOCKED if w.clearance[1] > -np.inf else code


@kernel
def reject(p, w, v, address):
    """End lanes that have converged to what is not feasible: infinite cost and slowness, so that they begin anew."""
    for lane in range(WIDTH):
        if v.state[SCORE, lane] <= INSIDE and v.state[HOLDS, lane] < 0.5:
            for i in range(len(w.q)):
                w.q[i] = v.q[i, lane]
            near_turn(p, w, w.pool)
            if is_feasible(p, w, address):
                v.state[HOLDS, lane] = 1.0
            else:
                v.state[SCORE, lane], v.state[SLOW, lane] = np.inf, np.inf
                v.state[LANE_COST, lane], v.state[LIMIT, lane] = np.inf, np.inf
