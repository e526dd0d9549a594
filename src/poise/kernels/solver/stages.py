"""A search in stages: without ranges, all tasks, what is required alone, then towards a posture.

1. Where ranges are required, the other tasks are solved without them; an answer within all ranges is the answer.
   Where one is in the way of soft tasks, all tasks are searched for as if they were required.
2. The search for all tasks: from eight starts, for soft tasks, or by a method.
3. Where no start of that fulfils what is required, the search for it alone, from whose answer soft tasks are lessened.
4. From the answer towards the posture, by which it is judged then.  Beside soft tasks 2 begins at the posture, and at
   the caller's start where that fulfils what is required and misses less than the answer.  Where soft tasks are
   fulfilled they are as good as required, and the search for that is what solves.  Where they are missed q goes towards
   the posture among the configurations where what is missed is least; see `gradients.towards_posture`.

Each stage is a routine of its own, and the searches for other tasks have a problem and a workspace of their own.  A
stage that pauses pauses the search, which goes on with it; what has ended is not begun again.
"""

import numpy as np

from poise.kernels.algebra.rotations import turn_since
from poise.kernels.algebra.swing_twist import clipped
from poise.kernels.machine.jit import call, entry_point, kernel, routine
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.layout import (
    ANSWER,
    APPROACH,
    BAD_GOAL,
    BEGIN,
    BLOCKED,
    CALL,
    CODE,
    COST,
    DISTANCE,
    END,
    ITERATIONS,
    OWN,
    RESTARTS,
    RUNNING,
    SOLVED,
    STAGES,
    START,
    STATIONARY,
    UNSOLVED,
)
from poise.kernels.machine.views import entry_at, narrow, problem_at, section
from poise.kernels.solver.ends import aim_at, answer, clip_start, evaluate, finish, is_posture
from poise.kernels.solver.feasibility import is_feasible
from poise.kernels.solver.inner import measure, put_question
from poise.kernels.solver.state import INSIDE

_WITHOUT_RANGES, _ALL_REQUIRED, _OWN, _REQUIRED = range(4)
"""In `stage`."""
_LESS = 1.0 - 1e-6
"""By what share less must be missed at the caller's start than in an answer, so as to count."""


@entry_point(WHOLE)
def search(address):
    """Search for the goal that stands in the workspace, from the start there; a code, and `out`.

    Codes and phases are those of `lm_solver.solve`.
    """
    return _search(address)


@routine
def search_stage(address):
    """`search` as the stage of another; its code is that of the call."""
    request = entry_at(address, CALL)
    request.code = _search(address)


@kernel
def _search(address):
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    if request.phase == BEGIN:
        if len(p.posture_judged) > 0 and not is_posture(p, w.posture_goal):
            return BAD_GOAL
        request.stage = _WITHOUT_RANGES if request.without_ranges != 0 else _next_stage(request)
    code = UNSOLVED
    if request.stage == _WITHOUT_RANGES:
        code = _inner(w, request.without_ranges, p.goals_without_ranges, w.start, address)
        if code == RUNNING:
            return RUNNING
        if code == SOLVED and solves_all(p, w, address):
            return SOLVED
        request.stage, request.phase = _next_stage(request), BEGIN
    if request.stage == _ALL_REQUIRED and request.soft == 0:
        w.out[ITERATIONS] = 0.0
        code = _inner(w, request.all_required, p.goals_all_required, w.start, address)
        if code == RUNNING:
            return RUNNING
        if code == SOLVED:
            _take_all_required(w, address)
        else:
            request.stage, request.phase = _OWN, BEGIN
    if request.stage == _OWN:
        if request.phase == BEGIN and request.all_required != 0 and request.soft != 0:
            _begin_at_posture(p, w, address)
        code = _own(w, address)
        if code == RUNNING:
            return RUNNING
        if code == UNSOLVED and request.soft != 0:
            request.stage, request.phase = _REQUIRED, BEGIN
    if request.stage == _REQUIRED:
        if request.required == 0:  # nothing was required, and no start came to a number
            code = _certify(p, w)
        else:
            if _inner(w, request.required, p.goals_required, w.start, address) == RUNNING:
                return RUNNING
            code = _lessen_soft_tasks(p, w, address)
    if request.all_required != 0 and request.soft != 0:
        if request.stage != _ALL_REQUIRED:
            _return_to_start(w, address)
            code = _lead_from_start(p, w, code, address)
        if code == SOLVED and _are_soft_tasks_fulfilled(p, w):
            request.stage, request.phase = _ALL_REQUIRED, BEGIN
        if request.stage == _ALL_REQUIRED:
            q = section(w.out, ANSWER, len(w.q))
            if _inner(w, request.all_required, p.goals_all_required, q, address) == RUNNING:
                return RUNNING
            _take_all_required(w, address)
            code = SOLVED
        if code == SOLVED:
            measure(p, w, w.start)
    request.phase = BEGIN
    if len(p.posture_judged) > 0 and code >= 0:
        code = _towards_posture(p, w, code, address)
    if code == SOLVED and request.check_feasibility and (request.soft != 0 or len(p.posture_judged) > 0):
        for i in range(len(w.q)):  # where stages have led the answer since
            w.q[i] = w.out[ANSWER + i]
        w.clearance[1] = -np.inf
        code = SOLVED if is_feasible(p, w, address) else BLOCKED
    return code


@kernel
def _next_stage(request):
    """The stage after that without ranges."""
    return _ALL_REQUIRED if request.all_required != 0 and request.soft == 0 else _OWN


@kernel
def _own(w, address):
    """The search for all tasks in the phase that the call is in; its code."""
    call(w.routines[OWN], address)
    return entry_at(address, CALL).code


@kernel
def _inner(w, inner_address, goals, start, address):
    """The search for other tasks, in the phase that the call is in; its code.  It begins at `start` (nq)."""
    request, inner = entry_at(address, CALL), entry_at(inner_address, CALL)
    if request.phase == BEGIN:
        put_question(w, inner_address, goals, start, address)
    inner.phase = request.phase
    w1 = narrow(problem_at(inner.problem), inner.narrow, inner.routines)
    call(w1.routines[STAGES], inner_address)
    inner.phase = BEGIN
    return inner.code


@kernel
def solves_all(p, w, address):
    """Whether the answer of the search without ranges is within all of them; it is then that of `out`."""
    request = entry_at(address, CALL)
    inner = entry_at(request.without_ranges, CALL)
    found = narrow(problem_at(inner.problem), inner.narrow, inner.routines).out
    if not aim_at(p, w.goal, w.target):
        return False
    for i in range(len(w.q)):
        w.q[i] = found[ANSWER + i]
    cost, score = evaluate(p, w)
    if not score <= INSIDE:
        return False
    if request.check_feasibility:
        w.clearance[1] = -np.inf
        if not is_feasible(p, w, address):
            return False
    answer(p, w, cost, score, 0, 0, 0, False)
    for row in (ITERATIONS, RESTARTS, START, STATIONARY, DISTANCE):
        w.out[row] = found[row]
    w.out[len(w.out) - 1] = found[len(found) - 1]  # how far it is from a posture
    return True


@kernel
def _lessen_soft_tasks(p, w, address):
    """Go on from what the search for what is required came to; the code.

    Where it fulfils that the soft tasks are lessened from there; else its configuration is the answer.
    """
    request = entry_at(address, CALL)
    inner = entry_at(request.required, CALL)
    w1 = narrow(problem_at(inner.problem), inner.narrow, inner.routines)
    found, out, count, code = w1.out, w.out, len(w.q), UNSOLVED
    for i in range(count):  # w1.start keeps the caller's
        w.start[i] = found[ANSWER + i]
    if found[CODE] == SOLVED and request.phase != END:
        code = _own_from_one(w, address)
    if code != SOLVED:
        code = _certify(p, w)
        out[STATIONARY] = found[STATIONARY] if code != SOLVED else 0.0
    for i in range(count):
        w.start[i] = w1.start[i]
    out[ITERATIONS] += found[ITERATIONS]
    out[RESTARTS], out[START] = found[RESTARTS], found[START]
    measure(p, w, w.start)
    return code


@kernel
def _begin_at_posture(p, w, address):
    """Let what the posture draws begin there, if anything is searched.

    The caller's start is kept in the workspace of the search with all tasks required.
    """
    request = entry_at(address, CALL)
    inner = entry_at(request.all_required, CALL)
    kept = narrow(problem_at(inner.problem), inner.narrow, inner.routines).start
    for i in range(len(w.start)):
        kept[i] = w.start[i]
    if request.max_restarts > 0 and clip_start(p, w.start, w.pool):
        for r in range(len(p.coordinates)):
            put_coordinate(p, p.coordinates[r], w.start, w.posture_goal)
        for r in range(len(p.balls)):
            put_ball(p, p.balls[r], w.start, w.posture_goal)
        _put_idle(p, w.start, w.posture_goal)


@kernel
def _return_to_start(w, address):
    """The caller's start, as `_begin_at_posture` keeps it, into w.start."""
    inner = entry_at(entry_at(address, CALL).all_required, CALL)
    kept = narrow(problem_at(inner.problem), inner.narrow, inner.routines).start
    for i in range(len(w.start)):
        w.start[i] = kept[i]


@kernel
def _are_soft_tasks_fulfilled(p, w):
    """Whether what is left of each block in `out` is within its tolerance."""
    at, fulfilled = ANSWER + len(w.q), True
    for b in range(len(p.blocks)):
        fulfilled = fulfilled and w.out[at + b] * w.out[at + b] * p.blocks[b].enough <= 1.0
    return fulfilled


@kernel
def _take_all_required(w, address):
    """Let the answer to all tasks, required, be that of `out` where there is one."""
    inner = entry_at(entry_at(address, CALL).all_required, CALL)
    if inner.code == SOLVED:
        found, spent = narrow(problem_at(inner.problem), inner.narrow, inner.routines).out, w.out[ITERATIONS]
        for i in range(len(found)):
            w.out[i] = found[i]
        w.out[ITERATIONS] += spent
        w.out[STATIONARY] = 1.0  # less than nothing cannot be missed


@kernel
def _lead_from_start(p, w, code, address):
    """Lessen soft tasks from the caller's start, where that fulfils what is required and less is missed there than in
    `out`, which came from the posture; the code.

    The answer in `out` stays where limits or shapes are in the way of what the start leads to.
    """
    request, out, count = entry_at(address, CALL), w.out, len(w.q)
    if code < 0 or not clip_start(p, w.start, w.pool):
        return code
    for i in range(count):
        w.q[i] = w.pool[i]
    cost, score = evaluate(p, w)
    if not score <= INSIDE or (code == SOLVED and cost >= _LESS * out[COST]):
        return code
    inner = entry_at(request.all_required, CALL)
    kept = narrow(problem_at(inner.problem), inner.narrow, inner.routines).out
    for i in range(len(out)):
        kept[i] = out[i]
    led = _certify(p, w) if request.phase == END else _own_from_one(w, address)
    if led == SOLVED and request.check_feasibility:
        for i in range(count):
            w.q[i] = out[ANSWER + i]
        w.clearance[1] = -np.inf
        led = SOLVED if is_feasible(p, w, address) else BLOCKED
    if led != SOLVED:
        for i in range(len(out)):
            out[i] = kept[i]
        return code
    out[ITERATIONS] += kept[ITERATIONS]
    out[RESTARTS] = kept[RESTARTS]
    return SOLVED


@kernel
def _own_from_one(w, address):
    """The search for all tasks from w.start alone, which does not pause; its code."""
    request = entry_at(address, CALL)
    most, request.max_restarts, request.phase = request.max_restarts, 0, BEGIN
    code = _own(w, address)
    request.max_restarts = most
    return code


@kernel
def _certify(p, w):
    """Take the start as the answer to soft tasks; the code."""
    clip_start(p, w.start, w.pool)
    for i in range(len(w.q)):
        w.q[i] = w.pool[i]
    return finish(p, w, np.int64(0), np.int64(0), np.int64(0), False)


@kernel
def _towards_posture(p, w, code, address):
    """Bring a solution in `out` near to the posture, and judge what stands there by its distance from it; the code.

    The last entry of `out` is the distance.
    """
    out, q = w.out, section(w.out, ANSWER, len(w.q))
    if code == SOLVED and entry_at(address, CALL).approach != 0:
        _put_idle(p, q, w.posture_goal)
        if _pulls(p):
            call(w.routines[APPROACH], address)
            code = entry_at(address, CALL).code
    missed = missed_by(p, q, w.posture_goal)
    out[len(out) - 1] = missed
    if code == SOLVED and missed > p.posture_judged[len(q)]:
        out[STATIONARY] = 1.0
        code = UNSOLVED
    return code


@kernel
def _pulls(p):
    """Whether the posture pulls anything that the tasks move."""
    pulls = False
    for a in range(len(p.posture_weights)):
        pulls = pulls or p.posture_weights[a] > 0.0
    return pulls


@kernel
def _put_idle(p, q, goal):
    """Let what no task moves be where the posture has it, within its limits."""
    for r in range(len(p.idle)):
        put_coordinate(p, p.idle[r], q, goal)
    for r in range(len(p.idle_balls)):
        put_ball(p, p.idle_balls[r], q, goal)


@kernel
def put_coordinate(p, c, q, goal):
    """The same of one coordinate."""
    if p.posture_judged[c.q] > 0.0:
        q[c.q] = min(max(goal[c.q], c.lower), c.upper)


@kernel
def put_ball(p, ball, q, goal):
    """The same of one ball."""
    i = ball.q
    if p.posture_judged[i] + p.posture_judged[i + 1] + p.posture_judged[i + 2] > 0.0:
        q[i], q[i + 1], q[i + 2], q[i + 3] = clipped(ball, goal[i], goal[i + 1], goal[i + 2], goal[i + 3])


@kernel
def missed_by(p, q, goal):
    """The largest difference of q (nq) and the posture, of the velocities that count [rad or m]."""
    most = 0.0
    for r in range(len(p.coordinates)):
        most = max(most, p.posture_judged[p.coordinates[r].q] * abs(goal[p.coordinates[r].q] - q[p.coordinates[r].q]))
    for r in range(len(p.idle)):
        most = max(most, p.posture_judged[p.idle[r].q] * abs(goal[p.idle[r].q] - q[p.idle[r].q]))
    for r in range(len(p.balls)):
        most = max(most, _turned(p, q, goal, p.balls[r].q))
    for r in range(len(p.idle_balls)):
        most = max(most, _turned(p, q, goal, p.idle_balls[r].q))
    return most


@kernel
def _turned(p, q, goal, i):
    """The same of the ball whose quaternion begins at i."""
    u0, u1, u2 = turn_since(q, goal, i)
    return max(p.posture_judged[i] * abs(u0), max(p.posture_judged[i + 1] * abs(u1), p.posture_judged[i + 2] * abs(u2)))
