"""A search where its stages come to no answer, or to one at which not all holds that must.

1. Where a posture alone is missed, the stages once more from there, within its tolerance: an answer is the nearest by
   the sum of squares, and what counts is the largest of all differences.
2. Where the search without ranges came to what breaks limits, these fall-backs of that search; an answer within all
   ranges is the answer.
3. Where soft tasks are fulfilled at what breaks limits, the search for all tasks as if they were required, from there.
4. Steps that keep all that must hold, see `by_steps`.
5. What is required alone, and from its answer such steps towards what gives way; where they lead nowhere, that is
   missed as it is there.

What pauses goes on where it was.  The searches by steps and for what is required alone are made when they are first
needed, for they are dear to compile: the code is then NEEDS, and Python goes on with the phase GO_ON once it has done
what `needs` says.  It closes loops too.
"""

import numpy as np

from poise.kernels.machine.jit import call, entry_point, kernel, routine
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.layout import (
    ALONE_SEARCH,
    ANSWER,
    BEGIN,
    BLOCKED,
    CALL,
    CLOSED_ANSWER,
    CLOSED_STARTS,
    CODE,
    COORDINATE,
    COST,
    END,
    ITERATIONS,
    RESTARTS,
    RUNNING,
    SOLVED,
    STAGES,
    START,
    STATIONARY,
    STEPS_SEARCH,
    UNSOLVED,
)
from poise.kernels.machine.packing import header_word
from poise.kernels.machine.record import Record
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, section
from poise.kernels.solver.by_steps import are_made, keep_all, may_help, put_starts
from poise.kernels.solver.ends import aim_at, answer, clip_start, evaluate
from poise.kernels.solver.inner import (
    CAME_TO,
    PAUSED,
    ask,
    measure,
    pauses,
    phase_of,
    put_question,
    put_same_question,
    run_inner,
)
from poise.kernels.solver.stages import missed_by, put_ball, put_coordinate, solves_all

(
    _OWN_STAGES, _NEAR_POSTURE, _RANGES, _AS_REQUIRED, _STEPS, _TRIES, _ALONE, _ALONE_AGAIN, _ALONE_CLOSED, _TOWARDS,
) = range(10)  # fmt: skip
"""In `recourse`."""
_SHARE = 1.0 - 1e-9
"""Share of its tolerance that a posture is searched within, so that rounding takes nothing beyond it."""
_WORDS, _COORDINATE_WORDS = CALL.words, COORDINATE.words
_LOWER, _UPPER = COORDINATE.fields["lower"].word, COORDINATE.fields["upper"].word
_SECTION, _COORDINATES = Record("Section", "start count"), 8 * header_word("coordinates")
"""Where a problem says where its coordinates are."""


@entry_point(WHOLE)
def search(address):
    """`stages.search`, and what to do where that fails; a code, and `out`."""
    return _search(address)


@routine
def search_stage(address):
    """`search` as what another search does; its code is that of the call."""
    request = entry_at(address, CALL)
    request.code = _search(address)


@kernel
def _search(address):
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    state, spent = w.fallback.state, request.phase == END
    if request.phase == BEGIN:
        request.recourse, state[PAUSED] = _OWN_STAGES, 0.0
    if request.recourse == _OWN_STAGES:
        call(w.routines[STAGES], address)
        code = request.code
        if code == RUNNING or code < 0:
            return code
        state[CAME_TO], request.recourse = code, _NEAR_POSTURE
    code = np.int64(state[CAME_TO])
    if request.recourse == _NEAR_POSTURE:
        code = _search_near_posture(p, w, code, spent, address)
        if code == RUNNING:
            return code
        state[CAME_TO], request.recourse = code, _RANGES
    if request.recourse == _RANGES:
        code = _do_without_ranges(p, w, code, spent, address)
        if pauses(code):
            return code
        state[CAME_TO], request.recourse = code, _AS_REQUIRED
    if request.recourse == _AS_REQUIRED:
        code = _take_all_as_required(p, w, code, spent, address)
        if pauses(code):
            return code
        state[CAME_TO], request.recourse = code, _STEPS
    if request.recourse == _STEPS:
        if spent or not may_help(p, w, code, address):
            request.recourse = _ALONE
        elif not are_made(p, address):
            return ask(address, STEPS_SEARCH)
        else:
            put_starts(p, w)
            request.recourse = _TRIES
            if request.closes_loops:
                return ask(address, CLOSED_STARTS)
    if request.recourse == _TRIES:
        code = keep_all(p, w, code, spent, address)
        if pauses(code):
            return code
        state[CAME_TO], request.recourse = code, _ALONE
    return _solve_required_alone(p, w, code, spent, address)


@kernel
def _misses_posture(p, w):
    """Whether all but the posture is solved in `out`, which is too far from it."""
    judged = len(p.posture_judged)
    return judged > 0 and w.out[CODE] == SOLVED and w.out[len(w.out) - 1] > p.posture_judged[judged - 1]


# Near to a posture ----------------------------------------------------------------------------------------------------


@kernel
def _search_near_posture(p, w, code, spent, address):
    """The code of the stages from the answer on that misses the posture; `out` stays where they lead nowhere."""
    request, out, kept, begun = entry_at(address, CALL), w.out, w.fallback.kept, w.fallback.begun
    if w.fallback.state[PAUSED] < 0.5:
        if spent or code != UNSOLVED or request.near == 0 or not _misses_posture(p, w):
            return code
        for i in range(len(out)):
            kept[i] = out[i]
        for i in range(len(w.start)):
            begun[i], w.start[i] = w.start[i], out[ANSWER + i]
        _put_near(p, w, address)
    near = entry_at(request.near, CALL)
    near.phase = phase_of(w, spent)
    call(w.routines[STAGES], request.near)
    w.fallback.state[PAUSED] = 1.0 if near.code == RUNNING else 0.0
    if near.code == RUNNING:
        return RUNNING
    for i in range(len(w.start)):
        w.start[i] = begun[i]
    if near.code != SOLVED:
        for i in range(len(out)):
            out[i] = kept[i]
        return UNSOLVED
    measure(p, w, w.start)
    return SOLVED


@kernel
def _put_near(p, w, address):
    """Write to the room at `near` this record, without other searches, and the problem within the posture's tolerance.

    Another record is read there, for what is compiled takes a problem not to change.
    """
    request = entry_at(address, CALL)
    own, room = rows_at(address, _WORDS), rows_at(request.near, _WORDS + request.words)
    for i in range(_WORDS):
        room[i] = own[i]
    words = rows_at(request.problem, request.words)
    for i in range(request.words):
        room[_WORDS + i] = words[i]
    near = entry_at(request.near, CALL)
    near.problem, near.near = request.near + 8 * _WORDS, 0
    near.without_ranges, near.required, near.all_required, near.rest = 0, 0, 0, 0
    tolerance, section_of = _SHARE * p.posture_judged[len(w.q)], entry_at(request.problem + _COORDINATES, _SECTION)
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        if p.posture_judged[c.q] > 0.0:
            low, high = w.posture_goal[c.q] - tolerance, w.posture_goal[c.q] + tolerance
            at = _WORDS + section_of.start + _COORDINATE_WORDS * r
            room[at + _LOWER], room[at + _UPPER] = min(max(low, c.lower), c.upper), min(max(high, c.lower), c.upper)


# Without ranges, and as if all were required --------------------------------------------------------------------------


@kernel
def _do_without_ranges(p, w, code, spent, address):
    """The code where the search without ranges, whose stages have failed, does what else it can."""
    request, state = entry_at(address, CALL), w.fallback.state
    if request.without_ranges == 0:
        return code
    if state[PAUSED] < 0.5:
        inner = entry_at(request.without_ranges, CALL)
        p1 = problem_at(inner.problem)
        w1 = narrow(p1, inner.narrow, inner.routines)
        failed = inner.code == BLOCKED or (inner.code == UNSOLVED and _misses_posture(p1, w1))
        if spent or inner.falls_back == 0 or not failed:
            return code
        other = w1.fallback.state
        inner.recourse, other[CAME_TO], other[PAUSED], state[PAUSED] = _NEAR_POSTURE, inner.code, 0.0, 1.0
    ended = run_inner(w, request.without_ranges, spent)
    if pauses(ended):
        return ended
    return SOLVED if ended == SOLVED and solves_all(p, w, address) else code


@kernel
def _take_all_as_required(p, w, code, spent, address):
    """The code where `out`, which fulfils even soft tasks but not all that must hold, becomes what does, near to the
    posture."""
    request, out = entry_at(address, CALL), w.out
    if w.fallback.state[PAUSED] < 0.5:
        if spent or code != BLOCKED or request.soft == 0 or request.all_required == 0 or not _fulfils_all(p, w):
            return code
        put_question(w, request.all_required, p.goals_all_required, section(out, ANSWER, len(w.q)), address)
    ended = run_inner(w, request.all_required, spent)
    if ended != SOLVED:
        return ended if pauses(ended) else code
    inner = entry_at(request.all_required, CALL)
    found, iterations = narrow(problem_at(inner.problem), inner.narrow, inner.routines).out, out[ITERATIONS]
    for i in range(len(found)):
        out[i] = found[i]
    out[ITERATIONS] += iterations
    measure(p, w, w.start)
    return UNSOLVED if _misses_posture(p, w) else SOLVED


@kernel
def _fulfils_all(p, w):
    """Whether what is left of each block in `out` is within its tolerance, also of soft tasks."""
    at, fulfilled = ANSWER + len(w.q), True
    for b in range(len(p.blocks)):
        left, block = w.out[at + b], p.blocks[b]
        fulfilled = fulfilled and left * left * (block.inverse_square_tolerance + block.enough) <= 1.0
    return fulfilled


# What is required alone -----------------------------------------------------------------------------------------------


@kernel
def _solve_required_alone(p, w, code, spent, address):
    """The code where `out` becomes a solution by way of the search for what is required alone."""
    request, paused = entry_at(address, CALL), w.fallback.state[PAUSED] > 0.5
    if request.recourse == _ALONE and not paused:
        if spent or request.solves_alone == 0 or code not in (UNSOLVED, BLOCKED):
            return code
        if request.alone == 0:
            return ask(address, ALONE_SEARCH)
        put_question(w, request.alone, p.goals_alone, w.start, address)
        _put_idle_of_alone(p, w, address)
    if request.recourse == _ALONE:
        ended = run_inner(w, request.alone, spent)
        if pauses(ended):
            return ended
        request.recourse = _ALONE_CLOSED
        if ended != SOLVED:
            if spent or len(p.posture_judged) == 0:
                return code
            # What is idle may be in the way at the posture.
            put_question(w, request.alone, p.goals_alone, w.start, address)
            request.recourse = _ALONE_AGAIN
    if request.recourse == _ALONE_AGAIN:
        ended = run_inner(w, request.alone, spent)
        if ended != SOLVED:
            return ended if pauses(ended) else code
        request.recourse = _ALONE_CLOSED
    if request.recourse == _ALONE_CLOSED:
        request.recourse = _TOWARDS
        if request.closes_loops:
            return ask(address, CLOSED_ANSWER)
    if entry_at(request.alone, CALL).code != SOLVED:  # what else was closed is too near to something
        return code
    return _go_towards_soft(p, w, code, spent, address)


@kernel
def _put_idle_of_alone(p, w, address):
    """Let what the posture draws and no required task moves begin there."""
    request = entry_at(address, CALL)
    inner = entry_at(request.alone, CALL)
    others = problem_at(inner.problem)
    w2 = narrow(others, inner.narrow, inner.routines)
    if len(p.posture_judged) > 0:
        for r in range(len(others.idle)):
            put_coordinate(p, others.idle[r], w2.start, w.posture_goal)
        for r in range(len(others.idle_balls)):
            put_ball(p, others.idle_balls[r], w2.start, w.posture_goal)


@kernel
def _go_towards_soft(p, w, code, spent, address):
    """Let `out` be the answer to what is required alone, brought nearer to what gives way by steps; the code."""
    request, out, count, ended = entry_at(address, CALL), w.out, len(w.q), UNSOLVED
    alone, paused = entry_at(request.alone, CALL), w.fallback.state[PAUSED] > 0.5
    found = narrow(problem_at(alone.problem), alone.narrow, alone.routines).out
    if not (spent and not paused):
        if request.by_steps == 0:
            return ask(address, STEPS_SEARCH)
        if not paused:
            steps = entry_at(request.by_steps, CALL)
            steps.max_restarts, steps.max_iterations = 0, steps.usual_iterations
            put_same_question(w, request.by_steps, section(found, ANSWER, count), address)
        ended = run_inner(w, request.by_steps, spent)
        if pauses(ended):
            return ended
    if ended != SOLVED and request.opens_loops:  # those that wishes alone move need not be closed there
        return code
    for i in range(count):
        w.q[i] = found[ANSWER + i]
    cost, iterations = found[COST], found[ITERATIONS]
    if ended == SOLVED:
        steps = entry_at(request.by_steps, CALL)
        led = narrow(problem_at(steps.problem), steps.narrow, steps.routines).out
        for i in range(count):
            w.q[i] = led[ANSWER + i]
        cost, iterations = led[COST], iterations + led[ITERATIONS]
    if not (aim_at(p, w.goal, w.target) and clip_start(p, w.start, w.pool)):
        return code
    left, score = evaluate(p, w)
    answer(p, w, left, score, 0, 0, 0, False)
    for row in (CODE, RESTARTS, START, STATIONARY):
        out[row] = found[row]
    out[COST], out[ITERATIONS] = cost, iterations
    if len(p.posture_judged) > 0:
        out[len(out) - 1] = missed_by(p, w.q, w.posture_goal)
    return SOLVED
