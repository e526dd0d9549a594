"""The configuration of a robot's hand that is nearest to what landmarks ask, frame by frame, within the limits.

Problem.  min (1/N) sum_k w_k L(|e_k|) + delta |q - q_last|^2 subject to l <= q <= u, with e_k what each vector lacks,
          L the smooth L1 loss: L(x) = x^2 / (2 beta) up to beta, x - beta / 2 beyond.  Of positions each coordinate has
          a loss of its own.  A ball counts 8 (1 - cos(a / 2)) for its turn by a, which is a^2 where a is small.
Step.     Newton's, with how frames curve as joints turn, for targets are often out of reach; damped where the Hessian
          is not positive, and by what the last step gained (Nielsen 1999).  One that raises the objective is taken
          back.
Limits.   Joints at a limit that the descent would push out are held; those that the step takes beyond are put there,
          and the others stepped anew; what is beyond still is clipped.
Rest.     The gain that is predicted for the next step, against the objective.
"""

from poise.kernels.algebra.cholesky import factor, substitute
from poise.kernels.algebra.rotations import normalised, quaternion_step
from poise.kernels.algebra.swing_twist import clipped
from poise.kernels.algebra.vectors import cross, dot, minus, scaled, vector
from poise.kernels.hands.landmarks import (
    ALPHA,
    CHANGE,
    EACH,
    HUBER,
    LANDMARKS,
    PAIRS,
    aim_at_landmarks,
    weight_of,
)
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import call, entry_point, kernel
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import BAD_GOAL, BAD_START, CALL, COST, ITERATIONS, PRISMATIC, SOLVED
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, section
from poise.kernels.rows.frame import hung
from poise.kernels.solver.ends import clip_start
from poise.kernels.solver.step import damping_factor

_PASSES = 4
"""Active sets that are tried for a step."""
_REST = 1e-6
"""A step that is predicted to gain no more than this share of the objective is the last."""
_FLOOR = 1e-10
"""Of the Hessian's diagonal, so that joints that nothing asks for stay [1/rad^2]."""
_LEAST, _MOST = 1e-4, 1e8
"""Damping against the largest entry of the Hessian's diagonal: what is less is none, what is more is given up."""
_FIRST = 1e-2
"""Damping when the first step is taken back, likewise."""


@kernel
def _slopes(w, b, each, bend, r):
    """L'(x) / x of row r of block b, and x = |e_r|, or without `each` the length of all three rows."""
    e0, e1, e2 = w.e[3 * b], w.e[3 * b + 1], w.e[3 * b + 2]
    x = abs(w.e[3 * b + r]) if each else sqrt(e0 * e0 + e1 * e1 + e2 * e2)
    return 1.0 / (x if x > bend else bend), x


@kernel
def objective(p, w):
    """The objective at w.q; it leaves residual rows and their Jacobian there."""
    s, each, bend = p.settings, p.plan[EACH] > 0, p.settings[HUBER]
    forward(p.units, w.q, w.frames)
    total = 0.0
    for k in range(len(p.effectors)):
        call(w.routines[p.effectors[k].rows], p, w, k)
        for r in range(3 if each else 1):
            _, x = _slopes(w, p.effectors[k].first_block, each, bend, r)
            total += weight_of(w, k) * (x - 0.5 * bend if x > bend else 0.5 * x * x / bend)
    total = total / (len(p.effectors) * (3.0 if each else 1.0))
    gone = 0.0
    for r in range(len(p.coordinates)):
        i = p.coordinates[r].q
        gone += (w.q[i] - w.prior[i]) ** 2
    for r in range(len(p.balls)):
        gone += 8.0 * (1.0 - abs(_turn(w, p.balls[r].q)[0]))
    return total + s[CHANGE] * gone


@kernel
def _turn(w, i):
    """The unit quaternion that takes the last ball at row i of q to where it is now."""
    a, b, c, d = w.q[i], w.q[i + 1], w.q[i + 2], w.q[i + 3]
    e, f, g, h = w.prior[i], -w.prior[i + 1], -w.prior[i + 2], -w.prior[i + 3]
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


@kernel
def _expand(p, w):
    """Gradient and Hessian (lower triangle, in w.room) of the objective at w.q, from its rows and their Jacobian."""
    n, each, bend = len(w.step), p.plan[EACH] > 0, p.settings[HUBER]
    hessian, share = w.room, 1.0 / (len(p.effectors) * (3.0 if each else 1.0))
    for i in range(n * n):
        hessian[i] = 0.0
    for a in range(n):
        w.gradient[a] = 0.0
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        b, first = effector.first_block, effector.first_slot
        start, weight = p.blocks[b].start, weight_of(w, k) * share
        e0, e1, e2 = w.e[3 * b], w.e[3 * b + 1], w.e[3 * b + 2]
        c0, x = _slopes(w, b, each, bend, 0)
        c1, c2, bent = c0, c0, 0.0
        if each:
            c1, _ = _slopes(w, b, each, bend, 1)
            c2, _ = _slopes(w, b, each, bend, 2)
        elif x > bend:
            bent = weight / (x * x * x)
        c0, c1, c2 = weight * c0, weight * c1, weight * c2
        f0, f1, f2 = c0 * e0, c1 * e1, c2 * e2
        _curve(p, w, effector, p.task_frames[effector.first_frame], f0, f1, f2)
        _curve(p, w, effector, p.task_frames[effector.first_frame + 1], -f0, -f1, -f2)
        for c in range(effector.columns):
            a, j = p.slots[first + c], start + 3 * c
            j0, j1, j2 = w.jacobian[j], w.jacobian[j + 1], w.jacobian[j + 2]
            w.gradient[a] -= f0 * j0 + f1 * j1 + f2 * j2
            pull = bent * (e0 * j0 + e1 * j1 + e2 * j2)
            j0, j1, j2 = c0 * j0 - pull * e0, c1 * j1 - pull * e1, c2 * j2 - pull * e2
            for d in range(c + 1):
                o, i = p.slots[first + d], start + 3 * d
                at = a * n + o if a > o else o * n + a
                hessian[at] += j0 * w.jacobian[i] + j1 * w.jacobian[i + 1] + j2 * w.jacobian[i + 2]
    change = 2.0 * p.settings[CHANGE]
    for a in range(n):
        hessian[a * n + a] += change + _FLOOR
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        w.gradient[c.v] += change * (w.q[c.q] - w.prior[c.q])
    for r in range(len(p.balls)):
        a = p.balls[r].v
        t0, t1, t2, t3 = _turn(w, p.balls[r].q)
        way = -2.0 * change if t0 < 0.0 else 2.0 * change
        w.gradient[a] += way * t1
        w.gradient[a + 1] += way * t2
        w.gradient[a + 2] += way * t3


@kernel
def _curve(p, w, effector, frame, f0, f1, f2):
    """Add the second derivatives of the place p of a frame to the Hessian: f . d^2 p / dq_r dq_s = f . (z_r x J_s).

    Axis r is the one of the two that is nearer to the root; z_r is 0 where it slides.
    """
    n, slot = len(w.step), effector.first_slot
    _, _, _, _, _, _, _, _, _, x, y, z = hung(frame.unit, frame.tool, w.frames)
    for i in range(frame.first_column, frame.last_column):
        s = p.columns[i]
        j = scaled(s.scale, vector(w.frames, s.axis))
        if s.kind != PRISMATIC:
            j = cross(j, minus((x, y, z), vector(w.frames, s.place)))
        g = cross(j, (f0, f1, f2))
        b = p.slots[slot + (s.column if s.column >= 0 else -1 - s.column)]
        for k in range(frame.first_column, i + 1):
            r = p.columns[k]
            if r.kind != PRISMATIC:
                a = p.slots[slot + (r.column if r.column >= 0 else -1 - r.column)]
                curved = r.scale * dot(vector(w.frames, r.axis), g)
                w.room[a * n + b if a > b else b * n + a] += 2.0 * curved if a == b and k < i else curved


@kernel
def _find_step(p, w, damping):
    """The damped step within the limits into w.step; its predicted gain, -1 where the matrix is not positive definite.

    Entries that are not free have the step w.other, 0 or the way to a limit, and couple to the others by the Hessian.
    """
    n, hessian = len(w.step), w.room
    for a in range(n):
        w.free[a], w.other[a] = 1.0, 0.0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, g = w.q[c.q], w.gradient[c.v]
        if (x <= c.lower and g > 0.0) or (x >= c.upper and g < 0.0):
            w.free[c.v] = 0.0
    for _ in range(_PASSES):
        for a in range(n):
            w.step[a] = -w.gradient[a] if w.free[a] > 0.5 else w.other[a]
        for a in range(n):
            for b in range(a + 1):
                h = hessian[a * n + b]
                if w.free[a] < 0.5 or w.free[b] < 0.5:
                    if w.free[a] > 0.5:
                        w.step[a] -= h * w.other[b]
                    if w.free[b] > 0.5:
                        w.step[b] -= h * w.other[a]
                    h = 0.0
                w.matrix[a * n + b] = h
            w.matrix[a * n + a] = w.matrix[a * n + a] + damping if w.free[a] > 0.5 else 1.0
        if not factor(n, w.matrix) > 0.0:
            return -1.0
        substitute(n, w.matrix, w.step)
        beyond = False
        for r in range(len(p.coordinates)):
            c = p.coordinates[r]
            a, x = c.v, w.q[c.q] + w.step[c.v]
            if w.free[a] > 0.5 and (x < c.lower or x > c.upper):
                beyond = True
                w.free[a] = 0.0
                w.other[a] = (c.lower if x < c.lower else c.upper) - w.q[c.q]
                w.step[a] = w.other[a]
        if not beyond:
            break
    gain = 0.0
    for a in range(n):
        curve = 0.5 * hessian[a * n + a] * w.step[a]
        for b in range(a):
            curve += hessian[a * n + b] * w.step[b]
        gain -= w.step[a] * (w.gradient[a] + curve)
    return gain


@kernel
def _advance(p, w):
    """Go where w.step leads, every coordinate within its limits."""
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        w.q[c.q] = min(max(w.q[c.q] + w.step[c.v], c.lower), c.upper)
    for r in range(len(p.balls)):
        i, a = p.balls[r].q, p.balls[r].v
        t, x, y, z = quaternion_step(
            w.q[i], w.q[i + 1], w.q[i + 2], w.q[i + 3], w.step[a], w.step[a + 1], w.step[a + 2]
        )  # fmt: skip
        w.q[i], w.q[i + 1], w.q[i + 2], w.q[i + 3] = clipped(p.balls[r], t, x, y, z)


@kernel
def _minimise(p, w, most):
    """Bring w.q from w.prior to where the objective rests; the objective, and the steps that it took."""
    n = len(w.step)
    for i in range(len(w.q)):
        w.q[i], w.before[i] = w.prior[i], w.prior[i]
    damping, growth, promised, value, spent = 0.0, 2.0, 0.0, objective(p, w), 0
    _expand(p, w)
    while spent < most:
        largest = 0.0
        for a in range(n):
            largest = max(largest, abs(w.room[a * n + a]))
        if damping > _MOST * largest:
            break
        promised = _find_step(p, w, damping)
        spent += 1
        if promised < 0.0:
            damping = max(4.0 * damping, _FIRST * largest)
            continue
        for i in range(len(w.q)):
            w.before[i] = w.q[i]
        _advance(p, w)
        if promised <= _REST * value:
            break
        found = objective(p, w)
        if found < value:
            damping = damping * damping_factor(value - found, promised)
            damping = damping if damping > _LEAST * largest else 0.0
            value, growth = found, 2.0
            _expand(p, w)
        else:
            for i in range(len(w.q)):
                w.q[i] = w.before[i]
            damping = max(growth * damping, _FIRST * largest)
            growth = 2.0 * growth
    return value, spent


@kernel
def _smooth(p, w):
    """Let w.best, what the caller is given, follow w.q by the share ALPHA of the way."""
    share = p.settings[ALPHA]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x = w.best[c.q] + share * (w.q[c.q] - w.best[c.q])
        w.best[c.q] = min(max(x, c.lower), c.upper)  # rounding may have led beyond
    for r in range(len(p.balls)):
        i, towards = p.balls[r].q, 0.0
        for k in range(i, i + 4):
            towards += w.best[k] * w.q[k]
        own = 1.0 - share if towards > 0.0 else share - 1.0
        w.best[i], w.best[i + 1], w.best[i + 2], w.best[i + 3] = normalised(
            own * w.best[i] + share * w.q[i],
            own * w.best[i + 1] + share * w.q[i + 1],
            own * w.best[i + 2] + share * w.q[i + 2],
            own * w.best[i + 3] + share * w.q[i + 3],
        )


@entry_point(WHOLE)
def follow(address):
    """`path` (steps x nq), a configuration for each of the landmarks in `goals` (steps x landmarks x 3); a code.

    It goes on from the last call, or from `start` with `given`.  COST is the objective of the last frame, ITERATIONS
    are the steps of all.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    count, width = len(w.q), 3 * p.plan[LANDMARKS]
    goals, path = rows_at(request.goals, request.steps * width), rows_at(request.path, request.steps * count)
    fresh = request.given != 0
    if fresh:
        if not clip_start(p, w.start, w.prior):
            return BAD_START
        for k in range(p.plan[PAIRS]):
            w.memory[k] = 0.0
    w.out[ITERATIONS] = 0.0
    for f in range(request.steps):
        if not aim_at_landmarks(p, w, section(goals, f * width, width)):
            return BAD_GOAL
        w.out[COST], spent = _minimise(p, w, request.max_iterations)
        w.out[ITERATIONS] += spent
        if fresh:
            for i in range(count):
                w.best[i] = w.q[i]
        _smooth(p, w)
        fresh = False
        for i in range(count):
            w.prior[i] = w.q[i]
            path[f * count + i] = w.best[i]
    return SOLVED


@entry_point(WHOLE)
def value(address):
    """Write into COST the objective of the landmarks in `goals` at `start`, `prior` being the last q; a code.

    Pinches are what they were after the last frame.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    if not aim_at_landmarks(p, w, rows_at(request.goals, 3 * p.plan[LANDMARKS])):
        return BAD_GOAL
    for i in range(len(w.q)):
        w.q[i] = w.start[i]
    w.out[COST] = objective(p, w)
    return SOLVED
