"""The configuration of a robot's hand that is nearest to what landmarks ask, frame by frame, within the limits.

Problem.  min (1/N) sum_k w_k L(|e_k|) + delta |q - q_last|^2 subject to l <= q <= u, with e_k what each vector lacks,
          L the smooth L1 loss: L(x) = x^2 / (2 beta) up to beta, x - beta / 2 beyond.  Of positions each coordinate has
          a loss of its own.  Of a ball |q - q_last| is the angle of its turn.
Step.     Newton's, with how frames curve as joints turn, for targets are often out of reach; damped where the Hessian
          is not positive, and by what the last step gained (Nielsen 1999).  One that raises the objective is taken
          back.
Limits.   Joints at a limit that the descent would push out are held; those that the step takes beyond are put there,
          and the others stepped anew; what is beyond still is clipped.
Others.   Sums, shapes and loops are those of a Tracker's step, `kernels.stepping.project_step`: it is taken as it is
          where they hold, else the nearest that keeps them, by the Hessian, so the quadratic model's own minimum within
          them (sequential quadratic programming); so is one that would take a ball beyond its limits.  From where
          something is broken every step counts.
Rest.     The gain that is predicted for the next step, against the objective.
"""

from poise.kernels.algebra.cholesky import factor, substitute
from poise.kernels.algebra.rotations import quaternion_step
from poise.kernels.algebra.swing_twist import ball_within_limits
from poise.kernels.algebra.vectors import cross, dot, minus, scaled, vector
from poise.kernels.hands.landmarks import (
    ALPHA,
    CHANGE,
    COUNT,
    EACH,
    HUBER,
    LANDMARKS,
    PAIRS,
    aim_at_landmarks,
    weight_of,
)
from poise.kernels.kinematics.forward import column_change, forward, is_curved
from poise.kernels.machine.jit import call, entry_point, kernel
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import (
    BAD_GOAL,
    BAD_START,
    CALL,
    CLOSED,
    CODE,
    COLLISION_ROWS,
    COST,
    ITERATIONS,
    PRISMATIC,
    PROJECT_STEP,
    SOLVED,
)
from poise.kernels.machine.memory import MEMORY, TOO_NEAR, UPDATES
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, section
from poise.kernels.requirements.integrate import integrate
from poise.kernels.requirements.limits import difference
from poise.kernels.requirements.loops import aim_by_metric, evaluate_loops, put_metric
from poise.kernels.requirements.nearest_step import nearest_step, state_box, state_rows
from poise.kernels.rows.frame import hung
from poise.kernels.rows.sums import slack_of_sums
from poise.kernels.solver.ends import aim_at, clip_start
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
BROKEN = CODE
"""Row of `out` that has no code here."""


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
    forward(p.units, p.pieces, w.q, w.frames)
    total = 0.0
    for k in range(p.plan[COUNT]):
        call(w.routines[p.effectors[k].rows], p, w, k)
        for r in range(3 if each else 1):
            _, x = _slopes(w, p.effectors[k].first_block, each, bend, r)
            total += weight_of(w, k) * (x - 0.5 * bend if x > bend else 0.5 * x * x / bend)
    total, gone = total / (p.plan[COUNT] * (3.0 if each else 1.0)), 0.0
    difference(p, w.prior, w.q, w.moved)
    for a in range(len(w.moved)):
        gone += w.moved[a] * w.moved[a]
    return total + s[CHANGE] * gone


@kernel
def _expand(p, w):
    """Gradient and Hessian (lower triangle, in w.room) of the objective at w.q, from its rows and their Jacobian."""
    n, each, bend = len(w.step), p.plan[EACH] > 0, p.settings[HUBER]
    hessian, share = w.room, 1.0 / (p.plan[COUNT] * (3.0 if each else 1.0))
    for i in range(n * n):
        hessian[i] = 0.0
    for a in range(n):
        w.gradient[a] = 0.0
    for k in range(p.plan[COUNT]):
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
        w.gradient[a] += change * w.moved[a]


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
        if is_curved(p, s):
            x0, x1, x2, _, _, _ = column_change(s, w.frames, x, y, z)
            w.room[b * n + b] += f0 * x0 + f1 * x1 + f2 * x2
        for k in range(frame.first_column, i + 1):
            r = p.columns[k]
            if r.kind != PRISMATIC:
                a = p.slots[slot + (r.column if r.column >= 0 else -1 - r.column)]
                curved = r.scale * dot(vector(w.frames, r.axis), g)
                w.room[a * n + b if a > b else b * n + a] += 2.0 * curved if a == b and k < i else curved


@kernel
def _solve(w, damping):
    """w.step is the least of the damped model, w.other where w.free is 0; False where it is not positive definite.

    The latter couple to the others by the Hessian, in w.other of which free entries are 0.
    """
    n = len(w.step)
    for a in range(n):
        w.step[a] = -w.gradient[a] if w.free[a] > 0.5 else w.other[a]
    for a in range(n):
        for b in range(a + 1):
            h = w.room[a * n + b]
            w.step[a] -= w.free[a] * h * w.other[b]
            w.step[b] -= w.free[b] * h * w.other[a]
            w.matrix[a * n + b] = w.free[a] * w.free[b] * h
        w.matrix[a * n + a] = w.matrix[a * n + a] + damping if w.free[a] > 0.5 else 1.0
    if not factor(n, w.matrix) > 0.0:
        return False
    substitute(n, w.matrix, w.step)
    return True


@kernel
def find_step(p, w, damping):
    """The damped step within the limits of joints into w.step; False where the matrix is not positive definite."""
    for a in range(len(w.step)):
        w.free[a], w.other[a] = 1.0, 0.0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, g = w.q[c.q], w.gradient[c.v]
        if (x <= c.lower and g > 0.0) or (x >= c.upper and g < 0.0):
            w.free[c.v] = 0.0
    for _ in range(_PASSES):
        if not _solve(w, damping):
            return False
        beyond = False
        for r in range(len(p.coordinates)):
            c = p.coordinates[r]
            a, x = c.v, w.q[c.q] + w.step[c.v]
            if w.free[a] > 0.5 and (x < c.lower or x > c.upper):
                beyond, w.free[a] = True, 0.0
                w.other[a] = (c.lower if x < c.lower else c.upper) - w.q[c.q]
                w.step[a] = w.other[a]
        if not beyond:
            break
    return True


@kernel
def gain(w):
    """By how much the objective falls along w.step, by its gradient and Hessian."""
    n, gained = len(w.step), 0.0
    for a in range(n):
        curve = 0.5 * w.room[a * n + a] * w.step[a]
        for b in range(a):
            curve += w.room[a * n + b] * w.step[b]
        gained -= w.step[a] * (w.gradient[a] + curve)
    return gained


@kernel
def state_metric(w, damping, largest):
    """Let what must hold change a step so that the damped objective is the least that it leaves; a Hessian that is not
    positive is damped more."""
    for a in range(len(w.step)):
        w.free[a], w.other[a] = 1.0, 0.0
    while not _solve(w, damping) and damping < _MOST * largest:
        damping = max(4.0 * damping, _FIRST * largest)
    put_metric(w, w.matrix)
    aim_by_metric(w, w.step)


@kernel
def is_broken(p, w, address):
    """Whether at w.q something does not hold that must beside limits of joints; what a step from there must keep of
    shapes is stated."""
    if len(p.collision) > 0:
        call(w.routines[COLLISION_ROWS], p, w, address)
    near, opened = w.memory[TOO_NEAR] > 0.0, len(p.loops) > 0 and evaluate_loops(p, w, w.q) > CLOSED
    return near or opened or slack_of_sums(p, w.q) < 0.0


@kernel
def _leaves_balls(p, w):
    """Whether w.step from w.begun takes a ball beyond its limits."""
    for r in range(len(p.balls)):
        i, a = p.balls[r].q, p.balls[r].v
        t, x, y, z = quaternion_step(
            w.begun[i], w.begun[i + 1], w.begun[i + 2], w.begun[i + 3], w.step[a], w.step[a + 1], w.step[a + 2]
        )  # fmt: skip
        if p.balls[r].limited and not ball_within_limits(p.balls[r], t, x, y, z):
            return True
    return False


@kernel
def go(p, w, address):
    """Go from w.begun by w.step as far as all that must hold lets; whether some of it did not at w.begun."""
    for i in range(len(w.q)):
        w.q[i] = w.begun[i]
    broken = is_broken(p, w, address)
    if len(p.loops) > 0 or _leaves_balls(p, w):  # a step that ignores these is led back to elsewhere
        state_rows(p, w, False)
        state_box(p, w, False)
        nearest_step(p, w, w.other, True, w.step)
    integrate(p, w, w.begun, w.step, w.q)
    if len(p.braking_group) > 0:
        call(w.routines[PROJECT_STEP], p, w, address)
    return broken


@kernel
def _minimise(p, w, most, address):
    """Bring w.q from w.prior to where the objective rests; the objective, and the steps that it took."""
    n = len(w.step)
    for i in range(len(w.q)):
        w.q[i] = w.prior[i]
    damping, growth, value, spent = 0.0, 2.0, objective(p, w), 0
    _expand(p, w)
    while spent < most:
        largest = 0.0
        for a in range(n):
            largest = max(largest, abs(w.room[a * n + a]))
        if damping > _MOST * largest:
            break
        spent += 1
        if len(p.braking_group) > 0:
            state_metric(w, damping, largest)
        if not find_step(p, w, damping):
            damping = max(4.0 * damping, _FIRST * largest)
            continue
        for i in range(len(w.q)):
            w.begun[i] = w.q[i]
        broken = go(p, w, address)
        promised = gain(w)
        if not broken and 0.0 <= promised <= _REST * value:
            break
        found = objective(p, w)
        if broken or (promised > 0.0 and found < value):
            if not broken:
                damping = damping * damping_factor(value - found, promised)
            damping = damping if damping > _LEAST * largest else 0.0
            value, growth = found, 2.0
            _expand(p, w)
        else:
            for i in range(len(w.q)):
                w.q[i] = w.begun[i]
            damping = max(growth * damping, _FIRST * largest)
            growth = 2.0 * growth
    return value, spent


@kernel
def _smooth(p, w, address):
    """Let w.best, what the caller is given, follow w.q by the share ALPHA of the way, and w.q be where that leads."""
    difference(p, w.best, w.q, w.step)
    for a in range(len(w.step)):
        w.step[a] = p.settings[ALPHA] * w.step[a]
    for i in range(len(w.q)):
        w.begun[i] = w.best[i]
    aim_by_metric(w, w.step)
    go(p, w, address)


@entry_point(WHOLE)
def follow(address):
    """`path` (steps x nq), a configuration for each of the landmarks in `goals` (steps x landmarks x 3); a code.

    It goes on from the last call, or from `start` with `given`.  COST is the objective of the last frame, ITERATIONS
    are the steps of all, and BROKEN the frames at whose end not all holds that must.
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
            w.memory[MEMORY + k] = 0.0
    if len(p.loops) > 0 and not aim_at(p, w.goal, w.target):
        return BAD_GOAL
    w.out[ITERATIONS], w.out[BROKEN], w.memory[UPDATES] = 0.0, 0.0, 1.0
    for f in range(request.steps):
        if not aim_at_landmarks(p, w, section(goals, f * width, width)):
            return BAD_GOAL
        w.out[COST], spent = _minimise(p, w, request.max_iterations, address)
        w.out[ITERATIONS] += spent
        for i in range(count):
            w.prior[i] = w.q[i]
        if not fresh and p.settings[ALPHA] < 1.0:
            _smooth(p, w, address)
        fresh = False
        w.out[BROKEN] += 1.0 if is_broken(p, w, address) else 0.0
        for i in range(count):
            w.best[i], path[f * count + i] = w.q[i], w.q[i]
    return SOLVED
