"""The default solver: projected Levenberg-Marquardt from the caller's start, then from eight starts in eight lanes.

1. From q0, one number wide, as long as the error falls fast: a target that moves a little ends here.
2. Eight lanes: from q0 a bold descent and a careful one, the others from random starts.  What a stalled lane came to
   goes to the pool of candidates, and it begins at another start, until `max_restarts` random starts have been spent.
3. A lane has converged: with `nearest` the descents from q0 go on while they may end nearer to q0, and of all lanes
   that have converged the nearest wins.  Else the first wins, nothing is waited for, and no lane is careful.
4. No start converged: the eight best candidates descend together to where the error falls no more, and the best
   is the answer, the caller's own unless another is clearly better.

What lies where is said in `layout` and `work` of `poise.kernels.machine`.
"""

import numpy as np

from poise.kernels.machine.jit import call, entry_point, kernel, routine
from poise.kernels.machine.kinds import REALS, TABLE, WHOLE
from poise.kernels.machine.lanes import any_of, floor, load, select, splat, sqrt, store
from poise.kernels.machine.layout import (
    BAD_GOAL,
    BAD_START,
    BEGIN,
    BLOCKED,
    CALL,
    CLOSED_FORM,
    CODE,
    COST,
    END,
    ITERATIONS,
    RESTARTS,
    RUNNING,
    SEARCH,
    SOLVED,
    START,
    STATIONARY,
    UNSOLVED,
    WIDTH,
)
from poise.kernels.machine.views import entry_at, narrow, problem_at, wide
from poise.kernels.solver.descent import MU_LOW, improve
from poise.kernels.solver.ends import aim_at, answer, clip_start, evaluate, finish, spread_jacobian
from poise.kernels.solver.feasibility import is_feasible, judged, reject
from poise.kernels.solver.lane import begin, draw_offsets, judge, renew
from poise.kernels.solver.nearness import near_turn, square_of
from poise.kernels.solver.pool import MOST_POLISH, POLISH, keep_candidate, polish
from poise.kernels.solver.state import (
    AGE,
    ENDED,
    FRESH,
    INSIDE,
    LIMIT,
    MARK,
    MU,
    NU,
    PATIENCE,
    POOL_AGE,
    POOL_COST,
    POOL_SHUT,
    POOL_START,
    PREDICTED,
    SCORE,
    SLOW,
    STARTED,
)

_EAGER = 48.0
"""Starts before this one are bold, and given up as soon as their error falls slowly.  From it on every other one is not
and may take its time: by then the target is likely out of reach, and what counts is how near each comes."""
_NEAR = 0.1
"""A start with a larger error than this [m^2, rad^2 a block] is not tried alone, but goes to the lanes at once."""
_HOPE, _FAR_HOPE, _NEARBY = 0.9, 0.5, 2.0
"""A descent from q0 is waited for while its distance from there [rad or m] is less than the first share of the nearest
solution's; where it is more than the third, less than the second share."""
_WAIT, _BESIDE = 20.0, 1.0
"""Iterations that one which is farther than the second number [rad or m] is waited for at most: what takes longer, one
answer in a hundred, would be a tenth nearer."""
_YOUNG, _HASTY = 5.0, 2.5
"""Iterations before one can be slow; slow iterations after which a lane is given up."""
_LEAST_PATIENCE, _MORE_PATIENCE, _CLOSE = 6.0, 44.0, 1.0
"""Iterations without a real fall after which the careful lane is given up, and how many more for a target that is near:
half of them at this error at q0 [m^2, rad^2 a block]."""
_FALL, _ALMOST = 0.9, 1e-5
"""The factor of a real fall of the careful lane's error, and the error [m^2, rad^2 a block] below which any will do."""
_PROMISING = 1e-1
"""Below this error [m^2, rad^2 a block] more starts are worth while than usual: by the fourth root of the ratio, and
the more, the more velocities there are."""
_UNDERCUT = 0.99
"""A descent that comes below this share of an error that promises nothing is another."""
_BLOCKED = 5
"""Factor of the usual starts where solutions are found, but none is feasible: among crowds of 20 and 45 obstacles these
found a free solution of a Panda's pose wherever twenty times as many more did."""


@kernel
def track(p, w, start, max_iterations):
    """Descend from `start` (nq) while the sum of squares falls to less than 0.3 a step; (iterations, cost, score).

    These are at w.q; the sum of squares at `start` goes to `out`.
    """
    near = _NEAR * len(p.blocks)
    for i in range(len(start)):
        w.q[i] = start[i]
        w.before[i] = start[i]
    w.state[MU] = MU_LOW
    w.state[LIMIT] = np.inf
    cost, score = evaluate(p, w)
    w.out[COST] = cost
    if score <= INSIDE or cost > near:
        return 0, cost, score
    for i in range(max_iterations):
        improve(p, w, cost, cost >= 0.0, False)  # bold, unless the cost is NaN
        last = cost
        cost, score = evaluate(p, w)
        if score <= INSIDE or not cost < 0.3 * last:
            return i + 1, cost, score
    return max_iterations, cost, score


@kernel
def nearest(p, w, q0, spare):
    """The converged lane whose q is nearest to q0, and the square of its distance."""
    found, least = 0, np.inf
    for lane in range(WIDTH):
        if w.state[SCORE, lane] <= INSIDE:
            square = square_of(p, w, lane, q0, spare)
            if square < least:
                found, least = lane, square
    return found, least


@kernel
def hopeful(p, w, q0, spare, found, least):
    """Whether a descent from q0 may still end nearer to it than lane `found` did, whose distance squared is `least`."""
    bound = min(_HOPE * _HOPE * least, max(_FAR_HOPE * _FAR_HOPE * least, _NEARBY * _NEARBY))
    for lane in range(2):
        if w.state[STARTED, lane] == 0.0 and w.state[ENDED, lane] < 0.5:
            square = square_of(p, w, lane, q0, spare)
            if square < bound and (square < _BESIDE * _BESIDE or w.state[AGE, lane] < w.state[AGE, found] + _WAIT):
                return True
    return False


@kernel
def promises(p, w, usual_restarts, restarts):
    """How many random starts the least error so far is worth: the smaller it is, the likelier is a solution.

    A candidate around which there is known to be no solution (POOL_SHUT) promises nothing, and neither does a lane
    whose error is not clearly below that of such a candidate: it may be on its way there.
    """
    least, shut = np.inf, np.inf
    for lane in range(1, WIDTH):
        if w.state[POOL_SHUT, lane] > 0.5:
            shut = min(shut, w.state[POOL_COST, lane])
        else:
            least = min(least, w.state[POOL_COST, lane])
    for lane in range(WIDTH):
        if w.state[LIMIT, lane] < _UNDERCUT * shut:
            least = min(least, w.state[LIMIT, lane])
    share = least / (_PROMISING * len(p.blocks))
    return min(restarts, usual_restarts * len(w.step) / 6.0 / sqrt(sqrt(share))) if share < 1.0 else usual_restarts


@kernel
def search(
    p,
    own,
    w,
    q0,
    spare,
    offsets,
    max_iterations,
    restarts,
    usual_restarts,
    spent,
    chunk,
    wait,
    check_feasibility,
    address,
):
    """Eight lanes until one converges, the restarts are spent, or `chunk` iterations have passed.

    With `wait` the descents from q0 go on then, while they may end nearer to q0.  Beyond `usual_restarts` starts go on
    up to `restarts`, the more the smaller the least error is.  With `check_feasibility`, a solution counts only where
    all that must hold does.  `own` is a workspace of one number, `spare` (nq) scratch.  Returns (lane or -1, restarts
    spent, whether it may go on).
    """
    # A lane is slow in an iteration whose cost is not below `hope` times its last; it ends after `patience` of them.
    for _ in range(chunk):
        caring = w.state[PATIENCE, 1] > 0.0
        cost, score = evaluate(p, w)
        limit, start = load(w.state, LIMIT), load(w.state, STARTED)
        bold = (start < _EAGER) | (start - 2.0 * floor(0.5 * start) > 0.5)
        hope, patience = select(bold, 0.25, splat(w.q, 0.97)), splat(w.q, _HASTY)
        late = (load(w.state, AGE) > _YOUNG) & (cost > hope * limit)
        slow = load(w.state, SLOW) + select(late, splat(w.q, 1.0), 0.0)
        if caring:
            careful, mark = load(w.state, PATIENCE) > 0.0, load(w.state, MARK)
            fallen = (cost < _FALL * mark) | (cost < _ALMOST * len(p.blocks))
            store(w.state, MARK, select(fallen, cost, mark))
            slow = select(careful, select(fallen, 0.0, load(w.state, SLOW) + 1.0), slow)
            patience = select(careful, load(w.state, PATIENCE), patience)
            bold = bold & (load(w.state, PATIENCE) <= 0.0)
        ended = judge(w, cost, score, slow, patience, max_iterations)
        if check_feasibility and any_of(load(w.state, SCORE) <= INSIDE):
            reject(p, own, w, address)
        if any_of(load(w.state, SCORE) <= INSIDE):
            lane, least = nearest(p, w, q0, spare)
            if not (wait and hopeful(p, w, q0, spare, lane, least)):
                return lane, spent, False
        elif any_of(ended):
            alive = False
            for lane in range(WIDTH):
                w.state[FRESH, lane] = 0.0
                if w.state[ENDED, lane] > 0.5:
                    keep_candidate(p, own, w, lane)
                    w.state[PATIENCE, lane] = 0.0
                    # A solution was found, but something did not hold there: w.clearance[1] is no longer -inf.
                    blocked = check_feasibility and own.clearance[1] > -np.inf
                    most = min(_BLOCKED * usual_restarts, restarts) if blocked else usual_restarts
                    more = spent < most or (not blocked and spent < promises(p, w, usual_restarts, restarts))
                    if renew(w, lane, spent + 1, more):
                        spent += 1
                alive = alive or w.state[STARTED, lane] >= 0.0
            if not alive:
                return -1, spent, False
            begin(p, w, load(w.state, FRESH) > 0.5, offsets, q0)
        improve(p, w, cost, bold, caring)
    return -1, spent, True


@routine
def search_lanes(p, w, v, address):
    """Search from eight starts, or go on: w.q is where it led, and `out` says how; its code is RUNNING if it paused.

    A routine of its own, which `solve` calls through its address, so that the two widths can be compiled side by side.
    """
    request = entry_at(address, CALL)
    count, out = len(w.q), w.out
    if request.phase == BEGIN:
        for i in range(len(w.target)):
            store(v.target, i, w.target[i])
        draw_offsets(w.offsets, request.seed)
        for i in range(count):
            store(v.q, i, w.pool[i]), store(v.before, i, w.pool[i])
        own = 2 if request.nearest else 1  # lanes that begin at q0: the bold one, and with `nearest` the careful one
        spent = min(WIDTH - own, request.max_restarts)
        for lane in range(WIDTH):
            start = max(lane - own + 1, 0)
            v.state[STARTED, lane] = start if start <= spent else -1
        begin(p, v, load(v.state, STARTED) >= -1.0, w.offsets, w.pool)
        store(v.state, LIMIT, np.inf)
        store(v.state, PATIENCE, 0.0), store(v.state, MARK, np.inf)
        store(v.state, NU, 2.0), store(v.state, PREDICTED, 0.0)
        if request.nearest:
            far = out[COST] / (_CLOSE * len(p.blocks))
            v.state[PATIENCE, 1] = _LEAST_PATIENCE + _MORE_PATIENCE / (1.0 + far * far)
        store(v.state, POOL_COST, np.inf), store(v.state, POOL_AGE, 0.0), store(v.state, POOL_START, 0.0)
        store(v.state, POOL_SHUT, 0.0)
        v.state[POOL_COST, 0] = 0.0  # place 0 of the pool is q0 itself, whatever its error
        for i in range(count):
            v.pool[i, 0] = w.pool[i]
        out[RESTARTS] = spent
    lane, spent, stationary = -1, np.int64(out[RESTARTS]), False
    if request.phase == END:
        found, least = nearest(p, v, w.pool, w.before)
        lane = found if least < np.inf else -1
    else:
        lane, spent, more = search(
            p, w, v, w.pool, w.before, w.offsets, request.max_iterations, request.max_restarts, request.usual_restarts,
            spent,
            request.chunk, request.nearest != 0, request.check_feasibility, address,
        )  # fmt: skip
        out[RESTARTS] = spent
        if lane < 0 and more:
            out[CODE] = RUNNING
            return
    out[STATIONARY] = 0.0
    # Solutions were found, but none at which all holds: the one that misses least is the answer, and nothing descends.
    if lane < 0 and request.check_feasibility and w.clearance[1] > -np.inf:
        out[CODE], out[ITERATIONS], out[START] = UNSOLVED, 0.0, 0.0
        for i in range(count):
            w.q[i] = w.best[i]
        return
    if lane < 0:
        for k in range(WIDTH):
            if v.state[STARTED, k] >= 0.0:
                keep_candidate(p, w, v, k)
        most = POLISH if request.phase == END else min(max(POLISH, request.max_iterations), MOST_POLISH)
        lane, stationary, iterations = polish(p, v, most)
        start = v.state[POOL_START, lane]
    else:
        iterations, start = np.int64(max(v.state[AGE, lane], 0.0)), v.state[STARTED, lane]
    out[CODE], out[ITERATIONS], out[START], out[STATIONARY] = UNSOLVED, iterations, start, stationary
    for i in range(count):
        w.q[i] = v.q[i, lane]


@entry_point(WHOLE)
def solve(address):
    """Solve one problem; returns a code and fills `out`, see `poise.kernels.machine.layout`.

    After `chunk` iterations the search pauses and returns RUNNING: call again with the phase GO_ON, or with END to stop
    searching.
    """
    return _solve(address)


@routine
def solve_stage(address):
    """`solve` as a stage of a search; its code is that of the call."""
    request = entry_at(address, CALL)
    request.code = _solve(address)


@kernel
def _solve(address):
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    out = w.out
    if request.phase == BEGIN:
        if not aim_at(p, w.goal, w.target):
            return BAD_GOAL
        if not clip_start(p, w.start, w.pool):
            return BAD_START
        if request.check_feasibility:
            w.clearance[1] = -np.inf
        if len(p.arms) > 0 and request.max_restarts > 0:
            call(w.routines[CLOSED_FORM], p, w, wide(p, request.wide, request.wide_routines), address)
            if out[CODE] == SOLVED or out[CODE] == BLOCKED:
                return np.int64(out[CODE])
        iterations, cost, score = track(p, w, w.pool, request.max_iterations)
        turned = score <= INSIDE and near_turn(p, w, w.pool)
        if score <= INSIDE and (request.check_feasibility == 0 or is_feasible(p, w, address)):
            if turned:
                cost, score = evaluate(p, w)
            return answer(p, w, cost, score, iterations, np.int64(0), np.int64(0), False)
    call(w.routines[SEARCH], p, w, wide(p, request.wide, request.wide_routines), address)
    if out[CODE] == RUNNING:
        return RUNNING
    near_turn(p, w, w.pool)
    restarts, start = np.int64(out[RESTARTS]), np.int64(out[START])
    code = finish(p, w, np.int64(out[ITERATIONS]), restarts, start, out[STATIONARY] > 0.5)
    return judged(p, w, code, request.check_feasibility, address)


@entry_point(WHOLE, REALS, TABLE)
def linearise(address, e, jacobian):
    """Residual rows `e` (m,) and Jacobian `jacobian` (m, active velocities) at `start`; a code."""
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    if not aim_at(p, w.goal, w.target):
        return BAD_GOAL
    if not clip_start(p, w.start, w.q):
        return BAD_START
    evaluate(p, w)
    for i in range(len(e)):
        e[i] = w.e[i]
    spread_jacobian(p, w, jacobian)
    return SOLVED
