"""Among the configurations that fulfil the tasks, the nearest to a posture that a search of fixed length finds.

1. Eight lanes descend to the tasks, from the posture itself and from random starts drawn towards it.  Of those that
   arrive the seven nearest are kept, beside the answer that the solver found.
2. These eight slide side by side towards the posture, for a few steps.
3. The one that came nearest slides on alone to where it nearly rests, and comes to rest from there.
"""

import numpy as np

from poise.kernels.algebra.rotations import normalised
from poise.kernels.algebra.swing_twist import clipped
from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.lanes import any_of, load, select, splat, store
from poise.kernels.machine.layout import ANSWER, CALL, GATHER, ITERATIONS, RESTARTS, START, WIDTH
from poise.kernels.machine.views import entry_at, narrow, problem_at, wide
from poise.kernels.solver.descent import improve
from poise.kernels.solver.ends import clip_start, evaluate, finish
from poise.kernels.solver.lane import begin, draw_offsets, judge, renew
from poise.kernels.solver.nearness import turned_near
from poise.kernels.solver.rest import come_to_rest
from poise.kernels.solver.slide import BEST, LAST, ORIGIN, POOLED, posture_errors, slide
from poise.kernels.solver.state import AGE, ENDED, FRESH, INSIDE, LIMIT, SCORE, STARTED

_STARTS = 64
"""Descents, one from the posture and the others from random starts."""
_TOWARDS = 0.7
"""How much of the way from the posture to a random configuration is left to a start."""
_HASTE, _FALL, _OLD = 5.0, 0.25, 21.0
"""Iterations after which the error of a descent must fall by this factor each time, and after which it is given up."""
_SIDE_BY_SIDE, _ALONE = 16, 400
"""Steps towards the posture, at most."""
_NEARLY_STILL, _STILL = 1e-3, 1e-7
"""A step shorter than this is where Newton's steps are tried, and where nothing is at rest beside [rad or m]."""


@kernel
def _turn_near(p, w, centre, which):
    """Turn the revolute coordinates of these lanes by whole turns towards `centre`, as far as their limits allow."""
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        if c.turns:
            x = load(w.q, c.q)
            store(w.q, c.q, select(which, turned_near(c, x, centre[c.q]), x))


@kernel
def _sample_starts(p, w, offsets, centre, fresh):
    """Put each fresh lane at the start of its number, drawn towards `centre`; number 0 is there."""
    begin(p, w, fresh, offsets, centre)
    _turn_near(p, w, centre, fresh)
    for k in range(len(p.coordinates)):
        i = p.coordinates[k].q
        x = load(w.q, i)
        x = select(fresh, centre[i] + _TOWARDS * (x - centre[i]), x)
        store(w.q, i, x), store(w.before, i, x)
    for k in range(len(p.balls)):
        i = p.balls[k].q
        x0, x1, x2, x3 = load(w.q, i), load(w.q, i + 1), load(w.q, i + 2), load(w.q, i + 3)
        c0, c1, c2, c3 = centre[i], centre[i + 1], centre[i + 2], centre[i + 3]
        # Towards the nearer of the two quaternions of the same rotation.
        share = select(x0 * c0 + x1 * c1 + x2 * c2 + x3 * c3 < 0.0, splat(w.q, -_TOWARDS), splat(w.q, _TOWARDS))
        rest = 1.0 - _TOWARDS
        sampled = normalised(
            share * x0 + rest * c0, share * x1 + rest * c1, share * x2 + rest * c2, share * x3 + rest * c3
        )
        sampled = clipped(p.balls[k], sampled[0], sampled[1], sampled[2], sampled[3])
        for j in range(4):
            x = select(fresh, sampled[j], load(w.q, i + j))
            store(w.q, i + j, x), store(w.before, i + j, x)


@kernel
def _keep(v, lane):
    """Put q of a lane into the pool, in place of the farthest if it is nearer; place 0 holds the solver's answer."""
    slot = 1
    for k in range(2, WIDTH):
        if v.search.choice[POOLED, k] > v.search.choice[POOLED, slot]:
            slot = k
    choice = v.search.choice
    if choice[LAST, lane] < choice[POOLED, slot]:
        choice[POOLED, slot], choice[ORIGIN, slot] = choice[LAST, lane], v.state[STARTED, lane]
        for i in range(len(v.q)):
            v.pool[i, slot] = v.q[i, lane]


@kernel
def _gather(p, v, posture, centre, offsets, starts):
    """Descend to the tasks from this many starts around `centre`, and keep the nearest to `posture` in the pool."""
    for lane in range(WIDTH):
        v.state[STARTED, lane] = lane
    _sample_starts(p, v, offsets, centre, load(v.state, STARTED) >= 0.0)
    spent, alive = WIDTH, WIDTH
    while alive > 0:
        cost, score = evaluate(p, v)
        late = (load(v.state, AGE) > _HASTE) & (cost > _FALL * load(v.state, LIMIT))
        ended = judge(v, cost, score, select(late, splat(v.q, 1.0), 0.0), 0.5, _OLD)
        if any_of(ended):
            _turn_near(p, v, centre, ended)
            store(v.search.choice, LAST, posture_errors(p, v, posture))
            for lane in range(WIDTH):
                v.state[FRESH, lane] = 0.0
                if v.state[ENDED, lane] > 0.5:
                    if v.state[SCORE, lane] <= INSIDE:
                        _keep(v, lane)
                    if renew(v, lane, spent, spent < starts):
                        spent += 1
                    else:
                        alive -= 1
            _sample_starts(p, v, offsets, centre, load(v.state, FRESH) > 0.5)
        improve(p, v, cost, cost >= 0.0, False)


@kernel
def _set_centre(p, w):
    """What random starts are drawn around into w.pool: the posture within the limits, w.q where it has no weight."""
    weight, posture, centre = p.posture_weights, w.posture_goal, w.pool
    for i in range(len(w.q)):
        centre[i] = w.q[i]
    for k in range(len(p.coordinates)):
        c = p.coordinates[k]
        if weight[c.v] > 0.0:
            centre[c.q] = min(max(posture[c.q], c.lower), c.upper)
    for k in range(len(p.balls)):
        i, a = p.balls[k].q, p.balls[k].v
        if weight[a] + weight[a + 1] + weight[a + 2] > 0.0:
            near = clipped(p.balls[k], posture[i], posture[i + 1], posture[i + 2], posture[i + 3])
            for j in range(4):
                centre[i + j] = near[j]


@routine
def gather_lanes(p, w, v, address):
    """Replace w.q by another configuration that fulfils the tasks, if one comes nearer to the posture.

    A routine of its own, as that of the solver's search is.  Starts are drawn around w.pool.
    """
    request = entry_at(address, CALL)
    count, posture = len(w.q), w.posture_goal
    for i in range(len(w.target)):
        store(v.target, i, w.target[i])
    draw_offsets(w.offsets, request.seed)
    store(v.search.choice, POOLED, splat(v.q, np.inf))
    for i in range(count):
        store(v.q, i, w.q[i]), store(v.pool, i, w.q[i])
    starts = min(_STARTS, WIDTH + request.max_restarts)
    _gather(p, v, posture, w.pool, w.offsets, starts)
    for i in range(count):
        store(v.q, i, load(v.pool, i))
    slide(p, v, posture, _SIDE_BY_SIDE, _STILL)
    nearest = 0
    for lane in range(WIDTH):
        if v.search.choice[BEST, lane] < v.search.choice[BEST, nearest]:
            nearest = lane
    for i in range(count):
        w.q[i] = v.before[i, nearest]
    # These starts are counted after those of the solver.
    if nearest > 0:
        w.out[START] = w.out[RESTARTS] + 1.0 + v.search.choice[ORIGIN, nearest]
    w.out[RESTARTS] += starts


@routine
def approach_posture(address):
    """Bring the solved configuration of `out` as near to `posture_goal` as the tasks allow, and certify it anew.

    The workspaces are as the search left them, and the code is that of the call.  Without `max_restarts`, or after a
    method of the caller's, which has no lanes, there is no search: the configuration slides to where it rests.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    out = w.out
    for i in range(len(w.q)):
        w.q[i] = out[ANSWER + i]
    _set_centre(p, w)
    _turn_near(p, w, w.pool, True)
    if request.wide != 0 and request.max_restarts > 0:
        call(w.routines[GATHER], p, w, wide(p, request.wide, request.wide_routines), address)
    iterations, rests = 0, False
    for still in (_NEARLY_STILL, _STILL):
        if not rests:
            iterations += slide(p, w, w.posture_goal, _ALONE, still)
            for i in range(len(w.q)):
                w.q[i] = w.before[i]
            rests = come_to_rest(p, w, address)
    clip_start(p, w.start, w.pool)  # what the distance is measured from
    request.code = finish(
        p, w, np.int64(out[ITERATIONS]) + iterations, np.int64(out[RESTARTS]), np.int64(out[START]), False
    )
