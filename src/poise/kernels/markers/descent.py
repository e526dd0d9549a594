"""The configuration whose markers and sensors are nearest to measured ones, frame by frame, within limits of joints.

Problem.  min 1/2 sum_k w_k |x_k(q)|^2 / sum_k w_k + 1/2 sum_a c_a (q_a - v_a)^2 subject to l <= q <= u, over what was
          measured in this frame: x_k is how far a marker is off, or the rotation vector by which a sensor is.  It is
          what OpenSim's tools of inverse kinematics make least, of either alone.
Start.    Where the last frame led, or as far again as it went, whichever is nearer.
Step.     Gauss and Newton's first, then Newton's, whose Hessian `markers.moments` has, and the former again where that
          is not positive; damped by what the last step gained (Nielsen 1999).  One that raises the objective is taken
          back.
Limits.   As of hands, see `hands.descent`: joints at a limit that the descent would push out are held.  A ball goes
          along the border of its own.
Loops.    Closed as of hands; each frame then begins where the last one ended.
Rest.     The gain that is predicted for the next step, against the objective.
"""

from poise.kernels.hands.descent import find_step, gain, go, state_metric
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.layout import BAD_GOAL, BAD_START, CALL, ITERATIONS, PRISMATIC, SOLVED
from poise.kernels.machine.memory import UPDATES
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, section
from poise.kernels.markers.moments import (
    AXES,
    AXIS,
    FIRST,
    HEAD,
    KIND,
    MEASURED,
    MOMENTS,
    PLACE,
    POINTS,
    TURN,
    VELOCITY,
    expand,
    squares,
    weight_of_all,
)
from poise.kernels.requirements.integrate import integrate
from poise.kernels.requirements.limits import difference
from poise.kernels.solver.ends import aim_at, clip_start
from poise.kernels.solver.step import damping_factor

_REST = 1e-10
"""A step that is predicted to gain no more than this share of the objective is the last."""
_LEAST_VALUE = 1e-20
"""Of an objective, what is none [m^2]."""
_FLOOR = 1e-9
"""Of the largest entry of the Hessian's diagonal, added to all of it, so that joints that nothing asks for stay."""
_LEAST, _MOST = 1e-4, 1e8
"""Damping against the largest entry of the Hessian's diagonal: what is less is none, what is more is given up."""
_FIRST = 1e-2
"""Damping when the first step is taken back, likewise."""
_FARTHEST = 1.0
"""A turn of one step [rad]; by more, what markers hardly see would go round and round."""


@kernel
def _objective(p, w, goals, aims, share, found):
    """The objective at w.q; it leaves the frames there, and in `found` what `squares` writes."""
    total, count = squares(p, w, goals, share, found), p.plan[MEASURED]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        weight = p.settings[count + c.v]
        if weight > 0.0:
            lack = w.q[c.q] - aims[c.v]
            total += 0.5 * weight * lack * lack
    return total


@kernel
def _expand(p, w, goals, aims, share, found, room, bend):
    """Gradient and Hessian (lower triangle, in w.room) of the objective at w.q; the largest entry of its diagonal.

    That is of what was measured alone, if anything was: beside a coordinate that a weight all but locks, the others
    would not move.
    """
    n, count = len(w.step), p.plan[MEASURED]
    for i in range(n * n):
        w.room[i] = 0.0
    for a in range(n):
        w.gradient[a] = 0.0
    first = MOMENTS * len(p.units)
    moments, twists = section(room, 0, first), section(room, first, len(room) - first)
    expand(p, w, goals, share, found, moments, twists, bend)
    largest = _largest(w)
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        weight = p.settings[count + c.v]
        if weight > 0.0:
            w.gradient[c.v] += weight * (w.q[c.q] - aims[c.v])
            w.room[c.v * n + c.v] += weight
    if largest == 0.0:
        largest = _largest(w)
    for a in range(n):
        w.room[a * n + a] += _FLOOR * largest
    return largest


@kernel
def _largest(w):
    """The largest entry of the diagonal of w.room."""
    n, largest = len(w.step), 0.0
    for a in range(n):
        largest = max(largest, abs(w.room[a * n + a]))
    return largest


@kernel
def _minimise(p, w, goals, aims, share, most, address):
    """Bring w.q to where the objective rests, from where it is; the objective, and the steps that it took."""
    first, loops = p.plan[FIRST], len(p.loops) > 0
    last = first + 3 * p.plan[MEASURED]
    found, room = section(w.scratch, first, last - first), section(w.scratch, last, len(w.scratch) - last)
    value, spent = _objective(p, w, goals, aims, share, found), 0
    if most > 0 and not loops:
        value = _begin_ahead(p, w, goals, aims, share, found, value)
    damping, growth, bend = 0.0, 2.0, 0.0
    largest = _expand(p, w, goals, aims, share, found, room, bend)
    while spent < most and value > _LEAST_VALUE and damping <= _MOST * largest:
        spent += 1
        if loops:
            state_metric(w, damping, largest)
        if not find_step(p, w, damping):
            if bend > 0.0:
                bend = 0.0
                largest = _expand(p, w, goals, aims, share, found, room, bend)
            else:
                damping = max(4.0 * damping, _FIRST * largest)
            continue
        for i in range(len(w.q)):
            w.begun[i] = w.q[i]
        _shorten(p, w)
        opened = False
        if loops:
            opened = go(p, w, address)
        else:
            integrate(p, w, w.begun, w.step, w.q)
        promised = gain(w)
        new = _objective(p, w, goals, aims, share, found)
        if not opened and 0.0 <= promised <= _REST * value:
            if new > value:
                _take_back(w)
                new = _objective(p, w, goals, aims, share, found)
            value = new
            break
        if opened or (promised > 0.0 and new < value):
            if not opened:
                damping = damping * damping_factor(value - new, promised)
            damping = damping if damping > _LEAST * largest else 0.0
            value, growth, bend = new, 2.0, 1.0
            largest = _expand(p, w, goals, aims, share, found, room, bend)
        else:
            _take_back(w)
            value = _objective(p, w, goals, aims, share, found)
            damping = max(growth * damping, _FIRST * largest)
            growth = 2.0 * growth
    return value, spent


@kernel
def _shorten(p, w):
    """Shorten w.step so that nothing turns farther than quadratic models of turns hold."""
    most = 0.0
    for i in range(p.plan[AXES]):
        at = HEAD + AXIS * i
        if p.plan[at + KIND] != PRISMATIC:
            most = max(most, abs(w.step[p.plan[at + VELOCITY]]))
    if most > _FARTHEST:
        for a in range(len(w.step)):
            w.step[a] = w.step[a] * (_FARTHEST / most)


@kernel
def _begin_ahead(p, w, goals, aims, share, found, value):
    """Go on as from the frame before to the last one, where that is nearer; the objective."""
    for i in range(len(w.q)):
        w.begun[i] = w.q[i]
    integrate(p, w, w.begun, w.moved, w.q)
    new = _objective(p, w, goals, aims, share, found)
    if new < value:
        return new
    _take_back(w)
    return _objective(p, w, goals, aims, share, found)


@kernel
def _take_back(w):
    for i in range(len(w.q)):
        w.q[i] = w.begun[i]


@entry_point(WHOLE)
def follow(address):
    """`path` (steps x nq) and `found` (steps x all x 3), the markers' places [m] and the turns of sensors [rad] there,
    for each of the measured places and rotations in `goals` (steps x (markers x 3 and sensors x 9)), NaN in gaps, and
    of the values in `postures` (steps x n); a code.

    It goes on from the last call, or from `start` with `given`.  `answers` (steps x 2) are the objective of each frame,
    and 1 where it took all the steps that it may, else 0; ITERATIONS are the steps of all frames.  Where nothing was
    measured the values alone count.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    count, n, each = len(w.q), len(w.step), 3 * p.plan[MEASURED]
    width = PLACE * p.plan[POINTS] + TURN * (p.plan[MEASURED] - p.plan[POINTS])
    goals, path = rows_at(request.goals, request.steps * width), rows_at(request.path, request.steps * count)
    aims, found = rows_at(request.postures, request.steps * n), rows_at(request.found, request.steps * each)
    answers = rows_at(request.answers, 2 * request.steps)
    if request.given != 0:
        if not clip_start(p, w.start, w.q):
            return BAD_START
        for a in range(n):
            w.moved[a] = 0.0
    if len(p.loops) > 0 and not aim_at(p, w.goal, w.target):
        return BAD_GOAL
    w.out[ITERATIONS], w.memory[UPDATES] = 0.0, 1.0
    for f in range(request.steps):
        some = section(goals, f * width, width)
        total = weight_of_all(p, some)
        share = 1.0 / total if total > 0.0 else 0.0
        for i in range(count):
            w.prior[i] = w.q[i]
        value, spent = _minimise(p, w, some, section(aims, f * n, n), share, request.max_iterations, address)
        answers[2 * f], answers[2 * f + 1] = value, 1.0 if spent >= request.max_iterations else 0.0
        w.out[ITERATIONS] += spent
        if f > 0 or request.given == 0:
            difference(p, w.prior, w.q, w.moved)
        for i in range(count):
            path[f * count + i] = w.q[i]
        for i in range(each):
            found[f * each + i] = w.scratch[p.plan[FIRST] + i]
    return SOLVED
