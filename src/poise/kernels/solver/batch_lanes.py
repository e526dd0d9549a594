"""Many problems of the same tasks, eight at a time: each in a lane, which takes the next when its own has ended.

What a closed form solves is solved by that, beforehand.  Another problem begins at the caller's q0.  If the descent
from there stalls, it begins anew at the stored configuration that is nearest to the goal and to q0
(`poise.kernels.solver.starts`), then at the next nearest, then at random ones.  Where nearness to q0 is not asked for,
it does so at once if the error at q0 is larger than usual at stored configurations.
What is solved is certified by the forward kinematics of its last iterate.  An answer far from a q0 with a small error
has STRAYED, by a step that was too bold or a start that was given up too soon; of it, and of a problem that its starts
do not solve, the best is returned, and the caller asks the search of `lm_solver`.

No lane knows of another: an answer depends on the problem, the seed and the index alone.
"""

import numpy as np

from poise.kernels.machine.jit import call, entry_point, kernel
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.machine.layout import (
    BAD_GOAL,
    BAD_START,
    BLOCKED,
    CALL,
    CLOSED_FORM,
    CODE,
    DISTANCE,
    GOAL_NUMBERS,
    RESTARTS,
    RUNNING,
    SOLVED,
    STRAYED,
    UNSOLVED,
    WIDTH,
)
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, section, wide
from poise.kernels.solver.descent import improve
from poise.kernels.solver.ends import aim_at, answer, clip_start, evaluate
from poise.kernels.solver.feasibility import is_feasible
from poise.kernels.solver.lane import begin, draw_offsets, judge, renew
from poise.kernels.solver.nearness import near_turn
from poise.kernels.solver.starts import INDEX, nearest_stored, put_stored, query
from poise.kernels.solver.state import (
    AGE,
    BEST_CLEARANCE,
    ENDED,
    FIRST,
    FRESH,
    INSIDE,
    LANE_COST,
    LEAST,
    LIMIT,
    MEASURE,
    PROBLEM,
    SCORE,
    SLOW,
    STARTED,
)

_STORED = 6
"""Starts of a problem that are looked up in the index, at most."""
_YOUNG, _YOUNGER, _FALL, _HASTY = 1.0, 1.5, 0.5, 1.5
"""After max(first, second blocks - 2) iterations one is slow in which the sum of squares falls by less than the third
factor; more slow ones than the fourth number end a start."""
_STRAY, _FAR = 5.0, 0.2
"""An answer has strayed that is farther from q0 [rad or m] than the first times the error at q0 [m, rad], and than the
second."""


@entry_point(WHOLE)
def solve_many(address):
    """Solve `problems` problems: goals (n, GOAL_NUMBERS an effector) from starts (n, nq), answers (n, rows of `out`).

    An answer's CODE is SOLVED, STRAYED, BAD_GOAL, BAD_START, or BLOCKED or UNSOLVED with the best that its starts came
    to.  Returns the iterations.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    v = wide(p, request.wide, request.wide_routines)
    count, numbers, columns = len(w.q), GOAL_NUMBERS * len(p.effectors), len(w.out)
    goals, starts = (
        rows_at(request.goals, request.problems * numbers),
        rows_at(request.starts, request.problems * count),
    )
    answers = rows_at(request.answers, request.problems * columns)
    near = np.inf if request.nearest or request.index == 0 else entry_at(request.index, INDEX).usual
    young = max(_YOUNG, _YOUNGER * len(p.blocks) - 2.0)
    draw_offsets(w.offsets, request.seed)
    store(v.state, PROBLEM, -1.0), store(v.state, SLOW, 0.0), store(v.state, AGE, 0.0)
    store(v.state, LIMIT, np.inf), store(v.state, SCORE, np.inf), store(v.state, STARTED, -1.0)
    store(v.state, ENDED, 0.0)
    for i in range(len(w.target)):
        store(v.target, i, 0.0)
    for i in range(count):
        store(v.q, i, 0.0), store(v.before, i, 0.0), store(v.pool, i, 0.0)
    if request.check_feasibility:
        w.clearance[1] = -np.inf
    closed = len(p.arms) > 0 and request.max_restarts > 0
    if closed:
        solve_closed(p, w, v, goals, starts, answers, address)
    upcoming, iterations = 0, 0
    while True:
        alive = False
        for lane in range(WIDTH):
            v.state[FRESH, lane] = 0.0
            k = np.int64(v.state[PROBLEM, lane])
            if v.state[ENDED, lane] > 0.5:
                if v.state[SCORE, lane] <= INSIDE:
                    k = -1
                elif v.state[STARTED, lane] >= request.max_restarts:
                    answers[columns * k + RESTARTS], k = v.state[STARTED, lane], -1
                else:
                    renew(v, lane, v.state[STARTED, lane] + 1.0, True)
            while k < 0 and upcoming < request.problems:
                k, upcoming = upcoming, upcoming + 1
                if closed and answers[columns * k + CODE] != RUNNING:
                    k = -1
                    continue
                code = assign_problem(
                    p, w, v, lane, section(goals, numbers * k, numbers), section(starts, count * k, count)
                )
                if code != SOLVED:
                    answers[columns * k + CODE], k = code, -1
                else:
                    answers[columns * k + CODE] = UNSOLVED
            v.state[PROBLEM, lane] = k
            if k < 0:
                renew(v, lane, 0.0, False)
            alive = alive or k >= 0
        if not alive:
            return iterations
        fresh = load(v.state, FRESH) > 0.5
        begin(p, v, fresh, w.offsets, v.pool)
        store(v.state, LIMIT, select(fresh, np.inf, load(v.state, LIMIT)))
        if request.index != 0:
            look_up(p, w, v, request, goals)
        busy = True
        while busy:
            iterations += 1
            cost, score = evaluate(p, v)
            started, age = load(v.state, STARTED), load(v.state, AGE)
            late = (age > young) & (cost > _FALL * load(v.state, LIMIT))
            slow = load(v.state, SLOW) + select(late, splat(v.q, 1.0), 0.0)
            first = (started < 0.5) & (age < -0.5)
            store(v.state, FIRST, select(first, cost, load(v.state, FIRST)))
            slow = select(first & (cost > near), np.inf, slow)
            if any_of(judge(v, cost, score, slow, _HASTY, request.max_iterations)):
                busy = False
                for lane in range(WIDTH):
                    if v.state[ENDED, lane] > 0.5:
                        end_start(p, w, v, lane, request, answers, address)
            improve(p, v, cost, score >= 0.0, False)


@kernel
def solve_closed(p, w, v, goals, starts, answers, address):
    """Solve by closed form, one problem after the other; the CODE of what is left to the lanes is RUNNING."""
    count, numbers, columns = len(w.q), GOAL_NUMBERS * len(p.effectors), len(w.out)
    for k in range(len(answers) // columns):
        answers[columns * k + CODE] = RUNNING
        goal, start = section(goals, numbers * k, numbers), section(starts, count * k, count)
        if aim_at(p, goal, w.target) and clip_start(p, start, w.pool):
            call(w.routines[CLOSED_FORM], p, w, v, address)
            if w.out[CODE] != UNSOLVED:
                for i in range(columns - 1):
                    answers[columns * k + i] = w.out[i]


@kernel
def assign_problem(p, w, v, lane, goal, start):
    """Give a problem to a lane; SOLVED, or the code of what is wrong with it."""
    if not aim_at(p, goal, w.target):
        return BAD_GOAL
    if not clip_start(p, start, w.q):
        return BAD_START
    for i in range(len(w.target)):
        v.target[i, lane] = w.target[i]
    for i in range(len(w.q)):
        v.pool[i, lane] = w.q[i]
    for c in range(len(p.idle)):
        i = p.idle[c].q
        v.q[i, lane] = w.q[i]
    for c in range(len(p.idle_balls)):
        for i in range(p.idle_balls[c].q, p.idle_balls[c].q + 4):
            v.q[i, lane] = w.q[i]
    v.state[STARTED, lane], v.state[FRESH, lane], v.state[MEASURE, lane] = 0.0, 1.0, -1.0
    v.state[LEAST, lane], v.state[BEST_CLEARANCE, lane], v.state[FIRST, lane] = np.inf, -np.inf, np.inf
    return SOLVED


@kernel
def look_up(p, w, v, request, goals):
    """Take starts 1 to _STORED of fresh lanes from the index; start 0 too where no starts are `given`."""
    numbers = GOAL_NUMBERS * len(p.effectors)
    for lane in range(WIDTH):
        if v.state[FRESH, lane] > 0.5 and request.given == 0 and v.state[STARTED, lane] == 0.0:
            v.state[STARTED, lane] = 1.0
        if v.state[FRESH, lane] > 0.5 and 1.0 <= v.state[STARTED, lane] <= _STORED:
            for i in range(len(w.q)):
                w.q[i] = v.pool[i, lane]
            k = np.int64(v.state[PROBLEM, lane])
            query(p, request.index, section(goals, numbers * k, numbers), w.q, w.search.query)
            measure, place = nearest_stored(
                p, request.index, w.q, request.nearest != 0, v.state[MEASURE, lane], w.search.query
            )
            if measure < np.inf:
                v.state[MEASURE, lane] = measure
                for i in range(len(w.q)):
                    v.q[i, lane] = w.q[i]
                put_stored(p, request.index, place, v.q, lane)
                for i in range(len(w.q)):
                    v.before[i, lane] = v.q[i, lane]


@kernel
def end_start(p, w, v, lane, request, answers, address):
    """Write the end of a lane's start as the answer of its problem if that is solved, or if it is the best so far.

    A solution that is not feasible is better than none; of these the one with the largest slack is kept.
    """
    cost = v.state[LANE_COST, lane]
    solved, code = v.state[SCORE, lane] <= INSIDE, UNSOLVED
    if not solved and not (v.state[BEST_CLEARANCE, lane] == -np.inf and cost < v.state[LEAST, lane]):
        return
    at = len(w.out) * np.int64(v.state[PROBLEM, lane])
    for i in range(len(w.q)):
        w.q[i], w.pool[i] = v.q[i, lane], v.pool[i, lane]
    near_turn(p, w, w.pool)
    if not solved:
        v.state[LEAST, lane] = cost
    elif request.check_feasibility == 0 or is_feasible(p, w, address):
        code = SOLVED
    else:
        v.state[SCORE, lane], v.state[SLOW, lane] = np.inf, np.inf
        if not w.clearance[0] > v.state[BEST_CLEARANCE, lane]:
            return
        v.state[BEST_CLEARANCE, lane], code = w.clearance[0], BLOCKED
    for i in range(len(w.e)):
        w.e[i] = v.e[i, lane]
    started = np.int64(v.state[STARTED, lane])
    answer(p, w, cost, v.state[SCORE, lane], np.int64(v.state[AGE, lane]), started, started, False)
    if code == SOLVED and request.nearest and w.out[DISTANCE] > max(_FAR, _STRAY * sqrt(v.state[FIRST, lane])):
        code = STRAYED
    w.out[CODE] = code
    for i in range(len(w.out) - 1):
        answers[at + i] = w.out[i]
