"""Among the configurations that fulfil the required tasks, one where the soft tasks are missed least.

Problem.  min 1/2 |e_s(q)|^2 subject to e_r(q) = 0 and l <= q <= u, of the rows that are soft and those required.
Step.     dq is the least of mu |dq|^2 + |e_s - J_s dq|^2 subject to J_r dq = e_r and to the limits: with J of all rows
          and D = diag(tiny, mu) it is J^T y, (J J^T + D) y = e, so a Levenberg-Marquardt step whose rows are damped
          apart, and none but the soft ones count as residuals (Nocedal and Wright 2006, sections 10.3 and 16).
Limits.   The step is the exact minimum within them, by a primal-dual active set (Hintermueller, Ito and Kunisch 2003):
          a joint is held where q + J^T y leaves its range, until these are the same joints as before.  Turns that would
          take a ball out of its limits are taken out of J.
Merit.    Near the required tasks 1/2 |e_s|^2 as it will be, to first order, when the last of e_r is made up for.  It
          must not rise; farther away |e_r|^2 must fall.
Damping.  mu by the ratio of what a step gained to what was predicted, 1/2 |mu y_s|^2 (Nielsen 1999).
Search.   Eight lanes, from q0 and from random starts; the least merit wins, of those that are alike the nearest to q0.
          It ends soon after one of them has fulfilled the soft tasks too.  Where q0 fulfils the required tasks and
          misses less than all that, the answer is what it leads to by itself.
Rest.     The step that is left, against the merit; a lane whose steps are taken back time and again is not at rest.
          One that has not come to rest when all end is the answer, from which the search goes on, if it misses less.
          From there it comes to the rest of gradients, see `rest`; where there is none beside it, it descends alone
          and tries again.
"""

import functools

import numpy as np

from poise.kernels.algebra.blocks import times, transpose_times
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.machine.jit import call, entry_point, kernel, routine
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.lanes import any_of, load, select, splat, store
from poise.kernels.machine.layout import (
    BAD_GOAL,
    BAD_START,
    BEGIN,
    CALL,
    CHOICE,
    CODE,
    END,
    ITERATIONS,
    PROGRESS,
    RESTARTS,
    RUNNING,
    SOFT,
    START,
    UNSOLVED,
    WIDTH,
)
from poise.kernels.machine.views import entry_at, narrow, problem_at, wide
from poise.kernels.solver.ends import aim_at, clip_start, evaluate, finish
from poise.kernels.solver.lane import begin, draw_offsets, renew
from poise.kernels.solver.limits import NEARLY, hold_balls
from poise.kernels.solver.nearness import near_turn, square_of
from poise.kernels.solver.rest import come_to_rest
from poise.kernels.solver.state import FRESH, INSIDE, LIMIT, STARTED
from poise.kernels.solver.step import advance, damping_factor

MU, NU, MISSED, PREDICTED, AGE, RESTING, EASE = range(CHOICE)
"""Rows of `choice`.  MU is against the longest soft column, MISSED is |e_r|^2 where the
step began and PREDICTED the merit that was predicted for its end, RESTING whether a lane is at rest or without hope,
EASE the factor of the required rows' damping."""
SPENT, ALIVE, UNTIL, PASSED, LEAST, SQUARE, FOUND, FULFILS, LEFT = range(PROGRESS)
"""Rows of `progress`: starts begun, lanes that go on, the iteration at which all end, and how many have passed; the
least merit, its squared distance from q0, and 1 where there is one; whether q0 fulfils the required tasks, and |e_s|^2
there."""
_STARTS = 32
"""Starts, at most, q0 among them."""
_MU, _LEAST_MU = 0.1, 1e-3
_EASE, _LEAST_EASE = 0.0075, 0.03
"""Factors of damping at first, and the smallest that they become."""
_FLOOR, _FLAT = 1e-13, 1e-12
"""Damping that is left at the target [m^2]; a squared column that counts as none."""
_NEAR = 1e-3
"""Below this |e_r|^2, against their longest squared column, the required tasks are nearly met, and the merit counts."""
_FAR_MU = 1e3
"""The least damping of the soft rows farther away, against their longest column."""
_SLIGHT, _MADE_UP = 1e-12, 0.25
"""Above the first, |e_r|^2 that falls by the second makes a step good, whatever becomes of the merit: it knows only to
first order what making up costs."""
_HOPE = 10.0
"""A start is given up where so many times what its next step is predicted to gain would leave it behind the best."""
_BACK = 0.25
"""What is left of a step that is taken back."""
_REST, _LAST_REST = 1e-7, 1e-12
"""A step that is predicted to gain no more than this share of the merit is rest: of a lane, and of the best alone."""
_EXACT = 1e-18
"""And there |e_r|^2 is below this [m^2, rad^2]: what is missed of the required tasks is gained of the soft ones."""
_LEVEL = 1e-11
"""A merit that has risen by no more than this share, which is rounding, has not risen."""
_ALIKE = 1e-6
"""Minima that differ by no more than this share are one."""
_PASSES, _LAST_PASSES = 3, 8
"""Active sets of a step, at most: of lanes, which go on with the last one, and of the best alone."""
_STIFF = 1e5
"""Damping that only steps which are taken back time and again lead to: a lane goes no further."""
_TIRED, _LONGEST = 20.0, 150.0
"""Iterations in which a start must come near the required tasks, and after which it is given up."""
_WAIT, _WHILE = 3, 24
"""All starts end when this many times as many iterations have passed as the first to rest took, and so many more."""
_MET = 6
"""And so many iterations after one has fulfilled the soft tasks too: only a nearer one could be better."""


@kernel
def _misses(p, w):
    """|e_r|^2, |e_s|^2, and the largest (error / tolerance)^2 of the soft blocks."""
    missed, left, beyond = splat(w.e, 0.0), splat(w.e, 0.0), splat(w.e, 0.0)
    for b in range(len(p.blocks)):
        block = p.blocks[b]
        e0, e1, e2 = load(w.e, 3 * b), load(w.e, 3 * b + 1), load(w.e, 3 * b + 2)
        if block.soft:
            left = left + (e0 * e0 + e1 * e1 + e2 * e2)
            u0, u1, u2 = e0 * block.inverse_weight[0], e1 * block.inverse_weight[1], e2 * block.inverse_weight[2]
            ratio = (u0 * u0 + u1 * u1 + u2 * u2) * block.enough
            beyond = select(ratio > beyond, ratio, beyond)
        else:
            missed = missed + (e0 * e0 + e1 * e1 + e2 * e2)
    return missed, left, beyond


@kernel
def _longest_columns(p, w):
    """The largest squares of a column of J_r and of one of J_s, over the effectors."""
    required, soft = splat(w.e, _FLAT), splat(w.e, _FLAT)
    for k in range(len(p.effectors)):
        for c in range(p.effectors[k].columns):
            of_required, of_soft = splat(w.e, 0.0), splat(w.e, 0.0)
            for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
                j = p.blocks[b].start + 3 * c
                x, y, z = load(w.jacobian, j), load(w.jacobian, j + 1), load(w.jacobian, j + 2)
                if p.blocks[b].soft:
                    of_soft = of_soft + (x * x + y * y + z * z)
                else:
                    of_required = of_required + (x * x + y * y + z * z)
            required = select(of_required > required, of_required, required)
            soft = select(of_soft > soft, of_soft, soft)
    return required, soft


@kernel
def _constrained_step(p, w, damping, mu, passes):
    """The step of the module into w.step, its y into w.y; whether the active set has settled.

    `damping` is that of the required rows, `mu` that of the soft ones.  w.free is the active set, 0 for held joints,
    and w.other their ways to the limits; both are kept from the last step as a first guess.
    """
    unsettled = splat(w.q, 0.0)
    size = len(w.e)
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, free = load(w.q, c.q), load(w.free, c.v)
        still = (free < 0.5) & ((x <= c.lower) | (x >= c.upper))
        store(w.free, c.v, select(still, splat(w.q, 0.0), 1.0)), store(w.other, c.v, splat(w.q, 0.0))
    # (J F J^T + D) y = e - J other; then a joint is held exactly where q + J^T y is outside.
    for _ in range(passes):
        gram(p, size, w.jacobian, w.free, w.matrix)
        for b in range(len(p.blocks)):
            if p.blocks[b].soft:
                for i in range(3 * b, 3 * b + 3):
                    store(w.matrix, i * size + i, load(w.matrix, i * size + i) + mu)
        factor(size, damping, w.matrix)
        times(p, w.jacobian, w.other, w.y)
        for i in range(size):
            store(w.y, i, load(w.e, i) - load(w.y, i))
        back_substitute(size, w.matrix, w.y, w.y)
        transpose_times(p, w.jacobian, w.y, w.step)
        unsettled = splat(w.q, 0.0)
        for r in range(len(p.coordinates)):
            c = p.coordinates[r]
            x, s, free = load(w.q, c.q), load(w.step, c.v), load(w.free, c.v)
            low, high = x + s < c.lower, x + s > c.upper
            now = select(low | high, splat(w.q, 0.0), 1.0)
            way = select(low, c.lower - x, select(high, c.upper - x, 0.0))
            unsettled = unsettled + (now - free) * (now - free)
            store(w.free, c.v, now), store(w.other, c.v, way)
            store(w.step, c.v, select(low | high, way, s))
        unsettled = unsettled + hold_balls(p, w, splat(w.q, 1.0) > 0.0, w.step, w.step, NEARLY)
        if not any_of(unsettled > 0.5):
            break
    return unsettled < 0.5


@kernel
def _merits(p, w, damping, mu):
    """The merit at w.q, and the one that is predicted for the end of w.step, whose y is in w.y, which is written over.

    At w.q it is |e_s + mu y_s|^2 / 2, y solved for the right side (e_r, 0): what is left of the soft rows after the
    step that makes up for e_r and changes them least.  Predicted is |mu y_s|^2 / 2, the soft rows that the step leaves,
    and mu damping |y_r|^2 for making up later for the damping y_r that it leaves of the required ones.
    """
    size, promised, owed, here = len(w.e), splat(w.e, 0.0), splat(w.e, 0.0), splat(w.e, 0.0)
    for b in range(len(p.blocks)):
        for i in range(3 * b, 3 * b + 3):
            y, e = load(w.y, i), load(w.e, i)
            if p.blocks[b].soft:
                promised = promised + y * y
                e = splat(w.e, 0.0)
            else:
                owed = owed + y * y
            store(w.y, i, e)
    back_substitute(size, w.matrix, w.y, w.y)
    for b in range(len(p.blocks)):
        if p.blocks[b].soft:
            for i in range(3 * b, 3 * b + 3):
                left = load(w.e, i) + mu * load(w.y, i)
                here = here + left * left
    return 0.5 * here, 0.5 * mu * mu * promised + mu * damping * owed


@functools.partial(kernel, inline=True)
def _improve(p, w, least_gain, exact, least, longest, passes):
    """Judge where the last step led, note in RESTING how it stands, and go on; the merit there.

    RESTING is 1 where |e_r|^2 is below `exact` and the next step gains no more than the share `least_gain`, and then q
    stays, and -1 where it will not come below the merit `least`.  After `longest` iterations a lane that fulfils the
    required tasks counts as at rest, and one that does not is given up.  `passes` are the active sets that are tried.
    """
    _, score = evaluate(p, w)
    missed, _, beyond = _misses(p, w)
    lever, scale = _longest_columns(p, w)
    choice = w.search.choice
    mu, nu, ease, age = load(choice, MU), load(choice, NU), load(choice, EASE), load(choice, AGE)
    # Required rows are damped by |e_r|^2, which vanishes with the error; soft rows by mu times their longest column.
    far = select(missed < len(p.blocks) * 1.0, missed, len(p.blocks) * 1.0)
    close = _NEAR * lever
    near = missed < close
    damping = select(near | (mu > _FAR_MU), mu, splat(w.e, _FAR_MU)) * scale
    required_damping = far * ease + _FLOOR
    active_set_found = _constrained_step(p, w, required_damping, damping, passes)
    merit, predicted = _merits(p, w, required_damping, damping)
    fresh = age < 0.5
    before, limit, promised = load(w.search.choice, MISSED), load(w.state, LIMIT), load(w.search.choice, PREDICTED)
    was_near, was_far = before < close, before >= close
    size = select(limit > 0.0, limit, -limit)
    level = merit <= limit + _LEVEL * size
    # Near the required tasks the merit decides, farther away |e_r|^2.
    nearer, restored = missed <= before, (missed < _MADE_UP * before) & (before > _SLIGHT)
    accepted = fresh | (near & (level | was_far | restored)) | (was_far & nearer)
    # The gain ratio, of steps that begin and end near, and that promised more than rounding.
    judged = near & was_near & (limit - promised > _LEVEL * size) & (limit < 1e300)
    promise = select(active_set_found, predicted, np.inf)
    change = damping_factor(limit - merit, select(judged, limit - promised, 1.0))
    after = select(accepted, select(judged, _at_least(mu * change, _LEAST_MU), mu), mu * nu)
    store(w.search.choice, MU, select(active_set_found, after, 2.0 * after))
    store(w.search.choice, NU, select(accepted, splat(w.e, 2.0), 2.0 * nu))
    store(w.search.choice, EASE, select(accepted, _at_least(0.5 * ease, _LEAST_EASE), 4.0 * ease))
    store(w.search.choice, MISSED, select(accepted, missed, before))
    # A step that was taken back tells nothing of the damping, nor does one whose active set is not the right one.
    store(w.search.choice, PREDICTED, select(accepted, promise, np.inf))
    store(w.state, LIMIT, select(accepted, merit, limit))
    gain = (1.0 + mu) * (merit - predicted)
    way = splat(w.q, 0.0)
    for a in range(len(w.step)):
        way = way + load(w.step, a) * load(w.step, a)
    # An upper bound of what is to be gained, without the cancellation of two merits that are alike.
    to_gain = 0.5 * (1.0 + mu) * (1.0 + mu) * scale * way
    still = accepted & active_set_found & (to_gain <= least_gain * merit) & (missed < exact)
    resting = (score <= INSIDE) & ((beyond <= INSIDE) | still | (accepted & (age >= longest)))
    tired = (age > longest) | (age > _LONGEST) | ((age > _TIRED) & (before >= close)) | (mu > _STIFF)
    hopeless = tired | (accepted & active_set_found & near & was_near & (merit - _HOPE * gain > least))
    store(w.search.choice, RESTING, select(resting, splat(w.e, 1.0), select(hopeless, splat(w.e, -1.0), 0.0)))
    store(w.search.choice, AGE, age + 1.0)
    for a in range(len(w.step)):
        store(w.step, a, select(resting, splat(w.e, 0.0), load(w.step, a)))
    advance(p, w, accepted | resting, _BACK)
    return select(beyond <= INSIDE, splat(w.e, 0.0), merit), score


@functools.partial(kernel, inline=True)
def _at_least(x, least):
    return select(x > least, x, least)


@kernel
def _forget(w):
    """Let the next step of each fresh lane be its first."""
    fresh, one = load(w.state, FRESH) > 0.5, splat(w.q, 1.0)
    store(w.search.choice, MU, select(fresh, _MU * one, load(w.search.choice, MU)))
    store(w.search.choice, NU, select(fresh, 2.0 * one, load(w.search.choice, NU)))
    store(w.search.choice, EASE, select(fresh, _EASE * one, load(w.search.choice, EASE)))
    store(w.search.choice, AGE, select(fresh, 0.0 * one, load(w.search.choice, AGE)))
    store(w.search.choice, MISSED, select(fresh, 1e300 * one, load(w.search.choice, MISSED)))
    store(w.search.choice, PREDICTED, select(fresh, np.inf * one, load(w.search.choice, PREDICTED)))
    store(w.state, LIMIT, select(fresh, np.inf * one, load(w.state, LIMIT)))
    store(w.state, FRESH, splat(w.q, 0.0))


@kernel
def _begin(p, v, offsets, q0):
    """Put each fresh lane at the start of its number, within the limits, which may be tighter than those of starts."""
    fresh = load(v.state, FRESH) > 0.5
    begin(p, v, fresh, offsets, q0)
    for k in range(len(p.coordinates)):
        c = p.coordinates[k]
        x = load(v.q, c.q)
        x = select(x < c.lower, splat(v.q, c.lower), select(x > c.upper, splat(v.q, c.upper), x))
        store(v.q, c.q, select(fresh, x, load(v.q, c.q)))
        store(v.before, c.q, select(fresh, x, load(v.before, c.q)))
    for a in range(len(v.free)):
        store(v.free, a, select(fresh, splat(v.q, 1.0), load(v.free, a)))
    _forget(v)


@kernel
def _polish(p, w, most):
    """Go on alone from w.q and its active set w.free (one number wide) until it rests, for so many steps at most;
    whether it does, the steps.

    Where it does not, w.q is the last iterate that was accepted with the required tasks fulfilled.
    """
    for i in range(len(w.q)):
        w.before[i] = w.q[i]
        w.best[i] = w.q[i]
    w.state[FRESH], w.search.choice[RESTING] = 1.0, 0.0
    _forget(w)
    steps = 0
    while w.search.choice[RESTING] > -0.5 and steps <= most:
        _, score = _improve(p, w, _LAST_REST, _EXACT, np.inf, np.inf, _LAST_PASSES)
        if w.search.choice[RESTING] > 0.5:
            return True, steps
        steps += 1
        if score <= INSIDE and w.search.choice[PREDICTED] < np.inf:
            for i in range(len(w.q)):
                w.best[i] = w.before[i]
    for i in range(len(w.q)):
        w.q[i] = w.best[i]
    return False, steps


@routine
def soft_lanes(p, w, v, address):
    """Put the best configuration that a few starts lead to into w.q, and how it was found into `out`.

    A routine of its own, as the solver's search is.  START is -1 where no start fulfils the required tasks.  The code
    is RUNNING where several starts have gone on for `chunk` iterations: called again it goes on, or in the phase END
    takes the best so far.
    """
    request = entry_at(address, CALL)
    count, out, progress = len(w.q), w.out, w.search.progress
    starts = min(_STARTS, 1 + request.max_restarts)
    if request.phase == BEGIN:
        for i in range(len(w.target)):
            store(v.target, i, w.target[i])
        for a in range(len(w.free)):
            w.free[a] = 1.0
        draw_offsets(w.offsets, request.seed)
        for i in range(count):
            store(v.q, i, w.pool[i]), store(v.before, i, w.pool[i])
        for lane in range(WIDTH):
            v.state[STARTED, lane] = lane if lane < starts else -1
        store(v.state, FRESH, 1.0)
        _begin(p, v, w.offsets, w.pool)
        out[START], out[ITERATIONS] = -1.0, 0.0
        progress[SPENT], progress[ALIVE], progress[UNTIL], progress[PASSED] = (
            min(WIDTH, starts), min(WIDTH, starts), 3.0 * _LONGEST, 0.0,
        )  # fmt: skip
        progress[LEAST], progress[SQUARE], progress[FOUND] = np.inf, np.inf, 0.0
    spent, alive, until, age = (
        np.int64(progress[SPENT]), np.int64(progress[ALIVE]), np.int64(progress[UNTIL]), np.int64(progress[PASSED]),
    )  # fmt: skip
    least, distance, found = progress[LEAST], progress[SQUARE], progress[FOUND] > 0.5
    pause = age + request.chunk if starts > 1 else until
    longest = np.float64(request.max_iterations) if request.max_iterations < _LONGEST else np.inf
    while alive > 0 and age < until and request.phase != END:
        if age >= pause:
            progress[SPENT], progress[ALIVE], progress[UNTIL], progress[PASSED] = spent, alive, until, age
            progress[LEAST], progress[SQUARE], progress[FOUND] = least, distance, 1.0 if found else 0.0
            out[CODE] = RUNNING
            return
        age += 1
        merit, score = _improve(p, v, _REST, np.inf, least, longest, _PASSES)
        ended = load(v.search.choice, RESTING)
        if not any_of((ended * ended > 0.5) & (load(v.state, STARTED) >= 0.0)):
            continue
        store(v.state, LIMIT, select(ended > 0.5, merit, load(v.state, LIMIT)))
        for lane in range(WIDTH):
            if v.state[STARTED, lane] < 0.0 or abs(v.search.choice[RESTING, lane]) < 0.5:
                continue
            if v.search.choice[RESTING, lane] > 0.5:
                # The least merit; of those that are alike the nearest to q0.
                value, square = v.state[LIMIT, lane], square_of(p, v, lane, w.pool, w.before)
                margin = _ALIKE * abs(least) if found else 0.0
                if value < least - margin or (value <= least + margin and square < distance):
                    least, distance = value, square
                    out[START], out[ITERATIONS] = v.state[STARTED, lane], v.search.choice[AGE, lane]
                    for i in range(count):
                        w.q[i] = v.q[i, lane]
                    for a in range(len(w.free)):
                        w.free[a] = v.free[a, lane]
                if not found:
                    found, until = True, min(until, _WAIT * age + _WHILE)
                if least <= 0.0:
                    until = min(until, age + _MET)
            if renew(v, lane, spent, spent < starts):
                spent += 1
            else:
                alive -= 1
        if found and not request.nearest:
            break
        if any_of(load(v.state, FRESH) > 0.5):
            _begin(p, v, w.offsets, w.pool)
    out[CODE], out[RESTARTS] = UNSOLVED, spent - 1
    # Lanes that have not come to rest: their last accepted q, if it fulfils the required tasks and misses less.
    for i in range(count):
        store(v.q, i, load(v.before, i))
    _, score = evaluate(p, v)
    _, soft, _ = _misses(p, v)
    store(v.search.choice, RESTING, score), store(v.search.choice, MISSED, 0.5 * soft)
    choice = v.search.choice
    for lane in range(WIDTH):
        going = v.state[STARTED, lane] >= 0.0 or not found
        if going and choice[RESTING, lane] <= INSIDE and choice[MISSED, lane] < (1.0 - _ALIKE) * least:
            least, out[START], out[ITERATIONS] = choice[MISSED, lane], v.state[STARTED, lane], choice[AGE, lane]
            for i in range(count):
                w.q[i] = v.q[i, lane]
            for a in range(len(w.free)):
                w.free[a] = v.free[a, lane]


@kernel
def _at(p, w):
    """Whether w.q (one number wide) fulfils the required tasks, |e_s|^2 there, and whether it fulfils the soft ones."""
    _, score = evaluate(p, w)
    _, left, beyond = _misses(p, w)
    return score <= INSIDE, left, beyond <= INSIDE


@kernel
def _settle(p, w, address):
    """Go on from w.q and its active set until it rests; whether it does, and the steps of a descent on the way."""
    near_turn(p, w, w.pool)
    within, _, fulfilled = _at(p, w)
    if within and (fulfilled or come_to_rest(p, w, address)):
        return True, 0
    resting, steps = _polish(p, w, entry_at(address, CALL).max_iterations)
    return come_to_rest(p, w, address) or resting, steps


@entry_point(WHOLE)
def optimise(address):
    """Fulfil the required tasks from `start` or nearby, and the soft ones as well as they allow; a code, and `out`.

    Codes and phases are those of `lm_solver.solve`.
    """
    return _optimise(address)


@routine
def optimise_stage(address):
    """`optimise` as a stage of a search; its code is that of the call."""
    request = entry_at(address, CALL)
    request.code = _optimise(address)


@kernel
def _optimise(address):
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    out, progress = w.out, w.search.progress
    if request.phase == BEGIN:
        if not aim_at(p, w.goal, w.target):
            return BAD_GOAL
        if not clip_start(p, w.start, w.pool):
            return BAD_START
        for i in range(len(w.q)):
            w.q[i] = w.pool[i]
        within, left, _ = _at(p, w)
        progress[FULFILS], progress[LEFT] = 1.0 if within else 0.0, left
    call(w.routines[SOFT], p, w, wide(p, request.wide, request.wide_routines), address)
    if out[CODE] == RUNNING:
        return RUNNING
    fulfils, missed = progress[FULFILS] > 0.5, progress[LEFT]
    if out[START] < 0.0 and not fulfils:
        return UNSOLVED
    resting, steps = False, 0
    if out[START] >= 0.0:
        resting, steps = _settle(p, w, address)
    if fulfils and (out[START] < 0.0 or missed < (1.0 - _ALIKE) * _at(p, w)[1]):
        for i in range(len(w.q)):
            w.q[i] = w.pool[i]
        for a in range(len(w.free)):
            w.free[a] = 1.0
        resting, steps = _settle(p, w, address)
        out[START], out[ITERATIONS] = 0.0, 0.0
    return finish(p, w, np.int64(out[ITERATIONS]) + steps, np.int64(out[RESTARTS]), np.int64(out[START]), resting)
