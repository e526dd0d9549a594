"""Strands: eight configurations led along a whole path side by side, each from its own start.

A strand solves each waypoint from its answer to the one before, by the descent of `lm_solver`.  Where it cannot reach
a waypoint it comes as near as it can and goes on from there, more careful, so that it may be back on the path later.
"""

import numpy as np

from poise.kernels.machine.jit import entry_point
from poise.kernels.machine.kinds import BATCH, TABLE, WHOLE
from poise.kernels.machine.lanes import any_of, load, select, splat, store
from poise.kernels.machine.layout import BAD_GOAL, BAD_START, CALL, GO_ON, GOAL_NUMBERS, SOLVED, WIDTH
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, section, wide
from poise.kernels.solver.descent import improve
from poise.kernels.solver.ends import aim_at, clip_start, evaluate, spread_jacobian
from poise.kernels.solver.lane import begin, judge
from poise.kernels.solver.state import AGE, ENDED, INSIDE, LIMIT, MEASURE, SCORE, SLOW, STARTED

_BOLD = 5.5
"""Iterations that may raise the error, where the last waypoint was reached; later ones descend."""
_FALL, _PATIENCE = 0.7, 5.5
"""A slow iteration does not lower the error by this factor; after so many a strand stops short of its waypoint."""


@entry_point(WHOLE)
def follow_lanes(address):
    """Lead up to eight `problems` from starts (problems x nq) along goals (steps x GOAL_NUMBERS an effector); a code.

    Writes `path` (problems x steps x nq) and into `answers` (problems x steps) the scores, at most 1 where a waypoint
    is reached.  The row MEASURE of a lane's state says whether it is off the path.  In the phase GO_ON the strands that
    were led last in this scratch go on along further goals, as if they had not been stopped.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w, v = narrow(p, request.narrow, request.routines), wide(p, request.wide, request.wide_routines)
    count, numbers, steps, strands = len(w.q), GOAL_NUMBERS * len(p.effectors), request.steps, request.problems
    goals, starts = rows_at(request.goals, steps * numbers), rows_at(request.starts, strands * count)
    path, scores = rows_at(request.path, strands * steps * count), rows_at(request.answers, strands * steps)
    if request.phase != GO_ON:
        for lane in range(WIDTH):
            if not clip_start(p, section(starts, min(lane, strands - 1) * count, count), w.q):
                return BAD_START
            for i in range(count):
                v.q[i, lane] = w.q[i]
        store(v.state, STARTED, 0.0), store(v.state, MEASURE, 0.0)
    for k in range(steps):
        if not aim_at(p, section(goals, k * numbers, numbers), w.target):
            return BAD_GOAL
        for i in range(len(w.target)):
            store(v.target, i, w.target[i])
        for i in range(count):
            store(v.pool, i, load(v.q, i)), store(v.before, i, load(v.q, i))
        begin(p, v, load(v.state, STARTED) > -0.5, w.offsets, v.pool)
        store(v.state, LIMIT, np.inf)
        for lane in range(strands):
            scores[lane * steps + k] = np.inf
        busy = True
        while busy:
            cost, score = evaluate(p, v)
            slow = load(v.state, SLOW) + select(cost > _FALL * load(v.state, LIMIT), splat(v.q, 1.0), 0.0)
            if any_of(judge(v, cost, score, slow, _PATIENCE, request.max_iterations)):
                for lane in range(strands):
                    at = lane * steps + k
                    if scores[at] == np.inf and v.state[ENDED, lane] > 0.5:
                        scores[at] = min(v.state[SCORE, lane], 1e300)
                        lost = scores[at] > INSIDE
                        v.state[MEASURE, lane] = 1.0 if lost else 0.0
                        for i in range(count):
                            path[at * count + i] = v.before[i, lane] if lost else v.q[i, lane]
            busy = False
            for lane in range(strands):
                busy = busy or scores[lane * steps + k] == np.inf
            if busy:
                improve(p, v, cost, (load(v.state, AGE) < _BOLD) & (load(v.state, MEASURE) < 0.5), False)
        for lane in range(WIDTH):
            at = min(lane, strands - 1) * steps + k
            for i in range(count):
                v.q[i, lane] = path[at * count + i]
    return SOLVED


@entry_point(WHOLE, TABLE, BATCH)
def rows_along(address, e, jacobians):
    """Residual rows `e` (steps, m) and Jacobians (steps, m, active velocities) at `path` (steps x nq); a code.

    Into `answers` (steps,) go the scores, at most 1 where a waypoint is reached.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    count, numbers = len(w.q), GOAL_NUMBERS * len(p.effectors)
    goals, path = rows_at(request.goals, request.steps * numbers), rows_at(request.path, request.steps * count)
    scores = rows_at(request.answers, request.steps)
    for k in range(request.steps):
        if not aim_at(p, section(goals, k * numbers, numbers), w.target):
            return BAD_GOAL
        for i in range(count):
            w.q[i] = path[k * count + i]
        _, scores[k] = evaluate(p, w)
        for i in range(len(w.e)):
            e[k, i] = w.e[i]
        spread_jacobian(p, w, jacobians[k])
    return SOLVED
