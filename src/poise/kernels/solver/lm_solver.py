"""The driver: one problem solved, first from the caller's start alone, then from eight starts in eight lanes.

1. From q0, one number wide, as long as the error falls fast: a target that moves a little ends here.
2. Eight lanes, eight starts: lane 0 at q0, the others random.  The first lane to converge wins; a lane that stalls
   is kept as a candidate and starts anew elsewhere, until `max_restarts` new starts have been spent.
3. No start converged: the eight best candidates descend together to where the error falls no more, and the best
   is the answer, the caller's own unless another is clearly better (see `_BETTER`).

`ints` and `floats` hold a whole problem (see `poise.solving.problem`), `work1` and `work8` its workspaces.
"""

import functools
from collections import namedtuple

import numpy as np

from poise.kernels.algebra.scalar import sincos, uniform
from poise.kernels.kinematics.forward import FRAME, forward
from poise.kernels.machine.jit import FROZEN, REAL, REALS, TABLE, WHOLE, WHOLES, border, kernel
from poise.kernels.machine.lanes import WIDTH, any_of, floor, load, section, select, splat, sqrt, store, table
from poise.kernels.rows.residuals import AXIS, BODY, DISTANCE, GOAL, ORIENTATION, POSE, POSITION, TOOL, residuals
from poise.kernels.solver.pose_step import pose_direction
from poise.kernels.solver.step import advance, direction

HEADER = 19
SOLVED, UNSOLVED, RUNNING, BAD_GOAL, BAD_START = 0, 1, 2, -1, -2
FRESH, RESUME, FINISH = 0, 1, 2
CODE, ITERATIONS, RESTARTS, COST, STATIONARY, ANSWER = 0, 1, 2, 3, 4, 5

_MU, _LIMIT, _SLOW, _AGE, _COST, _SCORE, STARTED, _POOL_COST, _FRESH, STATE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
_MU_LOW = 0.03
"""Chan and Lawrence's gain; the smallest mu."""
_MU_LAST = 1e-5
"""The smallest mu of the last descent, which has flat valleys to follow."""
_FLOOR = 1e-13
"""Damping that remains at the target, so that a singular pose is no division by zero [m^2]."""
_INSIDE = 0.9998
"""A lane must be this far inside the squared tolerances, so that rounding in the other width cannot undo it."""
_EAGER = 48.0
"""Starts that are bold, and given up as soon as they fall slowly.  Every other of the later ones descends and may take
its time: by then the target is likely out of reach, and what counts is how near each comes."""
_FAR = 1.0
"""Errors beyond this [m^2, rad^2 a block] damp no more: a base that can travel is not held back by the distance."""
_BOLD = 4.0
"""A step of the search may raise the error this much: the way to a solution often leads over a ridge."""
_CAREFUL = 1.000000001
"""A step of the last descent may not, but for rounding."""
_POLISH = 300
"""Iterations of the last descent, at most."""
_LEVEL = 1.0 - 1e-7
"""A lane that falls by less than this factor in that time is at rest."""
_PAUSE = 10
"""Iterations between two looks at whether the last descent still gains."""
_BETTER = 0.985
"""A candidate must undercut the caller's own start by this factor, so that two that are much alike do not take turns
as a target moves."""

Problem = namedtuple(
    "Problem",
    "units effectors blocks raw slots coords balls jobs pairs places scales tools shapes limits boxes strides "
    "idle idle_limits idle_balls bodies",
)
Work = namedtuple("Work", "q frames e jacobian scratch free matrix y step before target state pool offsets")


@kernel
def unpack(ints, floats):
    """The sections of a problem."""
    nu, ne, nb, nr, ns = ints[0], ints[1], ints[2], ints[3], ints[4]
    nc, nballs, nj, npairs = ints[5], ints[6], ints[7], ints[8]
    i1 = HEADER + 5 * nu
    i2 = i1 + 10 * ne
    i3 = i2 + nb
    i4 = i3 + 4 * nr
    i5 = i4 + ns
    i6 = i5 + 4 * nc
    i7 = i6 + 2 * nballs
    i8 = i7 + 6 * nj
    i9 = i8 + 3 * npairs
    f1 = 16 * nu
    f2 = f1 + 2 * nr
    f3 = f2 + TOOL * ne
    f4 = f3 + 8 * nb
    f5 = f4 + 2 * nc
    f6 = f5 + 2 * nc + nc + 3 * nballs
    f7 = f6 + 2 * ints[13]
    return Problem(
        table(ints, HEADER, nu, 5),
        table(ints, i1, ne, 10),
        section(ints, i2, nb),
        table(ints, i3, nr, 4),
        section(ints, i4, ns),
        table(ints, i5, nc, 4),
        table(ints, i6, nballs, 2),
        table(ints, i7, nj, 6),
        table(ints, i8, npairs, 3),
        table(floats, 0, nu, 16),
        table(floats, f1, nr, 2),
        table(floats, f2, ne, TOOL),
        table(floats, f3, nb, 8),
        table(floats, f4, nc, 2),
        table(floats, f5, nc, 2),
        section(floats, f5 + 2 * nc, nc + 3 * nballs),
        section(ints, i9, ints[13]),
        table(floats, f6, ints[13], 2),
        section(ints, i9 + ints[13], ints[14]),
        table(floats, f7, ints[18], BODY),
    )


@kernel
def divide(ints, work):
    """The sections of a workspace."""
    nu, ne, m, nq, na, rows, widest = ints[0], ints[1], 3 * ints[2], ints[9], ints[10], ints[11], ints[12]
    w1 = nq + FRAME * nu
    w2 = w1 + m
    w3 = w2 + rows
    w4 = w3 + widest
    w5 = w4 + na
    w6 = w5 + m * m
    w7 = w6 + m
    w8 = w7 + na
    w9 = w8 + nq
    w10 = w9 + GOAL * ne
    w11 = w10 + STATE
    return Work(
        section(work, 0, nq),
        section(work, nq, FRAME * nu),
        section(work, w1, m),
        section(work, w2, rows),
        section(work, w3, widest),
        section(work, w4, na),
        section(work, w5, m * m),
        section(work, w6, m),
        section(work, w7, na),
        section(work, w8, nq),
        section(work, w9, GOAL * ne),
        section(work, w10, STATE),
        section(work, w11, nq),
        section(work, w11 + nq, ints[5] + 3 * ints[6]),
    )


@functools.partial(kernel, inline=True)
def aim_at(p, goal, target):
    """Read each effector's seven goal numbers into `target` (one number wide); False if one is no pose."""
    for k in range(p.effectors.shape[0]):
        g, at, kind = 7 * k, GOAL * k, p.effectors[k, 1]
        r0, r1, r2, r3, r4, r5, r6, r7, r8 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
        if kind in (POSE, ORIENTATION) or (kind == POSITION and p.effectors[k, 7] == 2):
            w, x, y, z = goal[g + 3], goal[g + 4], goal[g + 5], goal[g + 6]
            square = w * w + x * x + y * y + z * z
            if not 1e-24 < square < 1e300:
                return False
            s = 2.0 / square
            r0, r1, r2 = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
            r3, r4, r5 = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
            r6, r7, r8 = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)
            # R_target R_tool^T is compared with the unit's own rotation: the same error, one product less a step.
            t = p.tools[k]
            for i in range(3):
                target[at + i] = r0 * t[3 * i] + r1 * t[3 * i + 1] + r2 * t[3 * i + 2]
                target[at + 3 + i] = r3 * t[3 * i] + r4 * t[3 * i + 1] + r5 * t[3 * i + 2]
                target[at + 6 + i] = r6 * t[3 * i] + r7 * t[3 * i + 1] + r8 * t[3 * i + 2]
        if kind == DISTANCE:
            if not 0.0 <= goal[g + 3] < 1e300:
                return False
            target[at] = goal[g + 3]
        if kind != ORIENTATION:
            x, y, z = goal[g], goal[g + 1], goal[g + 2]
            if not abs(x) + abs(y) + abs(z) < 1e300:
                return False
            if kind == AXIS:
                length = sqrt(x * x + y * y + z * z)
                if not length > 1e-12:
                    return False
                x, y, z = x / length, y / length, z / length
            target[at + 9], target[at + 10], target[at + 11] = x, y, z
        if p.effectors[k, 7]:
            if p.effectors[k, 7] == 1:
                r0, r1, r2, r3, r4, r5, r6, r7, r8 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
            for b in range(p.effectors[k, 4], p.effectors[k, 5]):
                i, w = at + 12 + 9 * (b - p.effectors[k, 4]), p.shapes[b]
                target[i], target[i + 1], target[i + 2] = w[0] * r0, w[0] * r3, w[0] * r6
                target[i + 3], target[i + 4], target[i + 5] = w[1] * r1, w[1] * r4, w[1] * r7
                target[i + 6], target[i + 7], target[i + 8] = w[2] * r2, w[2] * r5, w[2] * r8
    return True


@functools.partial(kernel, inline=True)
def clip_start(p, q0, q):
    """Copy q0 into q, coordinates within their limits, quaternions to unit length; False if one is not finite."""
    for i in range(q0.shape[0]):
        if not abs(q0[i]) < 1e300:
            return False
        q[i] = q0[i]
    for c in range(p.coords.shape[0]):
        i = p.coords[c, 0]
        if p.coords[c, 2] and abs(q[i]) > 1e4:
            q[i] = q[i] - 6.283185307179586 * np.rint(q[i] / 6.283185307179586)  # sincos reads no more
        q[i] = min(max(q[i], p.limits[c, 0]), p.limits[c, 1])
    for c in range(p.idle.shape[0]):
        i = p.idle[c]
        q[i] = min(max(q[i], p.idle_limits[c, 0]), p.idle_limits[c, 1])
    for c in range(p.balls.shape[0]):
        if not _normalise(q, p.balls[c, 0]):
            return False
    for c in range(p.idle_balls.shape[0]):
        if not _normalise(q, p.idle_balls[c]):
            return False
    return True


@kernel
def _normalise(q, i):
    """Scale the quaternion at q[i] to unit length; False if it is zero."""
    square = q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3]
    if not square > 1e-24:
        return False
    scale = 1.0 / sqrt(square)
    for k in range(4):
        q[i + k] = q[i + k] * scale
    return True


@functools.partial(kernel, inline=True)
def evaluate(p, w):
    """Errors and Jacobians at w.q; the sum of squares and the score, which is at most 1 within the tolerances."""
    forward(p.units, p.places, w.q, w.frames)
    return residuals(
        p.effectors, p.units, p.raw, p.scales, p.tools, p.bodies, p.shapes, p.blocks, w.q, w.frames, w.target,
        w.scratch, w.e, w.jacobian,
    )  # fmt: skip


@functools.partial(kernel, inline=True)
def improve(p, w, cost, bold):
    """Move w.q by one step, from the errors and Jacobians there.

    A bold lane goes along the screw to a pose and may raise the error; the others descend on the sum of squares.
    """
    slack, low = select(bold, _BOLD, _CAREFUL), select(bold, _MU_LOW, _MU_LAST)
    limit, mu = load(w.state, _LIMIT), load(w.state, _MU)
    accepted = cost <= limit * slack
    far = _FAR * p.blocks.shape[0]
    damping = select(cost < far, cost, far) * mu + _FLOOR
    if p.effectors.shape[0] == 1 and p.effectors[0, 1] == POSE:
        columns = 3 * p.slots.shape[0]
        linear = section(w.jacobian, p.blocks[0], columns)
        angular = section(w.jacobian, p.blocks[1], columns)
        plain = p.effectors[0, 7] == 0
        pose_direction(
            p.slots, p.coords, p.limits, linear, angular, w.q, w.e, bold, plain, damping, w.free, w.step
        )  # fmt: skip
    else:
        direction(
        p.effectors, p.blocks, p.slots, p.coords, p.limits, p.jobs, p.pairs,
        w.q, w.e, w.jacobian, bold, damping, w.free, w.matrix, w.y, w.step,
        )  # fmt: skip
    advance(p.coords, p.limits, p.balls, accepted, w.step, w.q, w.before)
    store(w.state, _MU, select(accepted, select(mu > 2.0 * low, 0.5 * mu, low), mu * 4.0))
    # A limit below zero marks a start that has not been looked at yet.
    store(w.state, _LIMIT, select(accepted, cost, select(limit < 0.0, np.inf, limit)))


@kernel
def track(p, w, start, max_iterations, near):
    """Iterate from `start` as long as the error falls fast; (iterations, score)."""
    for i in range(start.shape[0]):
        w.q[i] = start[i]
        w.before[i] = start[i]
    w.state[_MU] = _MU_LOW
    w.state[_LIMIT] = np.inf
    cost, score = evaluate(p, w)
    if score <= _INSIDE or cost > near:
        return 0, score
    for i in range(max_iterations):
        improve(p, w, cost, cost >= 0.0)
        last = cost
        cost, score = evaluate(p, w)
        if score <= _INSIDE or not cost < 0.3 * last:
            return i + 1, score
    return max_iterations, score


@kernel
def draw_offsets(offsets, seed):
    """Where the sequence of random starts begins in each coordinate."""
    for c in range(offsets.shape[0]):
        offsets[c] = uniform(seed, c)


@kernel
def _spread(p, offsets, place, start):
    """Coordinate `place` of point number `start` of an additive low-discrepancy sequence in the unit cube.

    It depends on the seed and its arguments alone, so the starts of a solve are the same in any order, on any thread.
    """
    x = offsets[place] + start * p.strides[place]
    return x - floor(x)


@kernel
def begin(p, w, fresh, offsets, q0):
    """Put each fresh lane at the start of its number: number 0 is the caller's, the others are random."""
    start = load(w.state, STARTED)
    given = start < 0.5
    for c in range(p.coords.shape[0]):
        i = p.coords[c, 0]
        low, high = p.boxes[c, 0], p.boxes[c, 1]
        if p.coords[c, 3]:
            low, high = max(q0[i] + low, p.limits[c, 0]), min(q0[i] + high, p.limits[c, 1])
        value = low + _spread(p, offsets, c, start) * (high - low)
        value = select(given, q0[i], select(value > high, high, value))
        _put(w, i, fresh, value)
    for c in range(p.balls.shape[0]):
        # Uniform over all rotations (Shoemake 1992).
        i, place = p.balls[c, 0], p.coords.shape[0] + 3 * c
        u = _spread(p, offsets, place, start)
        s1, c1 = sincos(6.283185307179586 * _spread(p, offsets, place + 1, start))
        s2, c2 = sincos(6.283185307179586 * _spread(p, offsets, place + 2, start))
        a, b = sqrt(1.0 - u), sqrt(u)
        _put(w, i, fresh, select(given, q0[i], a * s1))
        _put(w, i + 1, fresh, select(given, q0[i + 1], a * c1))
        _put(w, i + 2, fresh, select(given, q0[i + 2], b * s2))
        _put(w, i + 3, fresh, select(given, q0[i + 3], b * c2))
    # A lane not looked at yet has a limit below zero, and so counts as rejected once.
    store(w.state, _MU, select(fresh, 0.25 * _MU_LOW, load(w.state, _MU)))
    store(w.state, _LIMIT, select(fresh, -1.0, load(w.state, _LIMIT)))
    store(w.state, _SLOW, select(fresh, 0.0, load(w.state, _SLOW)))
    store(w.state, _AGE, select(fresh, -1.0, load(w.state, _AGE)))


@kernel
def _put(w, i, fresh, value):
    store(w.q, i, select(fresh, value, load(w.q, i)))
    store(w.before, i, select(fresh, value, load(w.before, i)))


@kernel
def keep_candidate(w, lane):
    """Put what a lane found into the pool, in place of the worst there; place 0 holds the caller's own start."""
    cost, best = w.state[_COST, lane], True
    if not cost <= w.state[_LIMIT, lane]:
        cost, best = w.state[_LIMIT, lane], False
    if not 0.0 <= cost < np.inf:
        return
    slot = 1
    for k in range(1, WIDTH):
        other = w.state[_POOL_COST, k]
        if abs(other - cost) < 0.001 * cost:  # most likely the same valley; the others are worth more
            slot = k
            break
        if other > w.state[_POOL_COST, slot]:
            slot = k
    if w.state[_POOL_COST, slot] <= cost:
        return
    w.state[_POOL_COST, slot] = cost
    for i in range(w.q.shape[0]):
        w.pool[i, slot] = w.q[i, lane] if best else w.before[i, lane]


@kernel
def nearest(w, q0):
    """The converged lane whose q is nearest to q0."""
    found, least = 0, np.inf
    for lane in range(WIDTH):
        if w.state[_SCORE, lane] <= _INSIDE:
            square = 0.0
            for i in range(q0.shape[0]):
                square += (w.q[i, lane] - q0[i]) * (w.q[i, lane] - q0[i])
            if square < least:
                found, least = lane, square
    return found


@kernel
def search(p, w, q0, offsets, max_iterations, max_restarts, spent, chunk):
    """Eight lanes until one converges, the restarts are spent, or `chunk` iterations have passed.

    Returns (lane or -1, restarts spent, whether it may go on).
    """
    for _ in range(chunk):
        cost, score = evaluate(p, w)
        limit = load(w.state, _LIMIT)
        age = load(w.state, _AGE) + 1.0
        start = load(w.state, STARTED)
        eager = (start < _EAGER) | (start - 2.0 * floor(0.5 * start) > 0.5)
        hope = select(eager, 0.25, splat(w.q, 0.97))
        slow = load(w.state, _SLOW) + select((age > 6.0) & (cost > hope * limit), splat(w.q, 1.0), 0.0)
        store(w.state, _COST, cost), store(w.state, _SCORE, score)
        store(w.state, _AGE, age), store(w.state, _SLOW, slow)
        if any_of(score <= _INSIDE):
            return nearest(w, q0), spent, False
        tired = (slow > 2.5) | (age >= max_iterations)
        if any_of(tired):
            alive = False
            for lane in range(WIDTH):
                w.state[_FRESH, lane] = 0.0
                if w.state[_SLOW, lane] > 2.5 or w.state[_AGE, lane] >= max_iterations:
                    if w.state[STARTED, lane] >= 0.0:
                        keep_candidate(w, lane)
                    if spent < max_restarts:
                        spent += 1
                        w.state[STARTED, lane] = WIDTH - 1 + spent
                        w.state[_FRESH, lane] = 1.0
                        alive = True
                    else:
                        w.state[STARTED, lane] = -1.0
                        w.state[_SLOW, lane] = 0.0
                        w.state[_AGE, lane] = -1e18
                elif w.state[_AGE, lane] >= 0.0:
                    alive = True
            if not alive:
                return -1, spent, False
            begin(p, w, load(w.state, _FRESH) > 0.5, offsets, q0)
        improve(p, w, cost, eager)
    return -1, spent, True


@kernel
def polish(p, w, max_iterations):
    """Let the pool descend to where it falls no more; the best lane, whether it came to rest, and the iterations."""
    for lane in range(WIDTH):
        empty = not w.state[_POOL_COST, lane] < np.inf
        for i in range(w.q.shape[0]):
            w.q[i, lane] = w.pool[i, 0] if empty else w.pool[i, lane]
            w.before[i, lane] = w.q[i, lane]
        w.state[_MU, lane] = _MU_LOW
        w.state[_LIMIT, lane] = np.inf
        w.state[_SLOW, lane] = np.inf
    resting, k = False, 0
    while k < max_iterations:
        k += 1
        cost, score = evaluate(p, w)
        store(w.state, _COST, cost), store(w.state, _SCORE, score)
        if any_of(score <= _INSIDE):
            break
        if k % _PAUSE == 0:
            resting = rested(w)
            if resting:
                break
        improve(p, w, cost, cost < 0.0)
    best = 0
    for lane in range(WIDTH):
        if not w.state[_COST, lane] <= w.state[_LIMIT, lane]:
            w.state[_COST, lane] = w.state[_LIMIT, lane]
            for i in range(w.q.shape[0]):
                w.q[i, lane] = w.before[i, lane]
        margin = _BETTER if best == 0 else 1.0
        if w.state[_COST, lane] < margin * w.state[_COST, best]:
            best = lane
    return best, resting, k


@kernel
def rested(w):
    """Whether no lane that can still win has fallen by more than rounding since this was last asked."""
    best = np.inf
    for lane in range(WIDTH):
        best = min(best, w.state[_LIMIT, lane])
    resting = True
    for lane in range(WIDTH):
        now, then = w.state[_LIMIT, lane], w.state[_SLOW, lane]
        if now < 2.0 * best and not now > _LEVEL * then:
            resting = False
        w.state[_SLOW, lane] = now
    return resting


@kernel
def finish(p, w, out, iterations, restarts, stationary, count):
    """Certify w.q (one number wide) by forward kinematics and write the answer; (code).

    `out`: code, iterations, restarts, cost, stationary, q, then the error of each block in its own units.
    """
    cost, score = evaluate(p, w)
    code = SOLVED if score <= 1.0 else UNSOLVED
    out[CODE], out[ITERATIONS], out[RESTARTS], out[COST], out[STATIONARY] = (
        code, iterations, restarts, cost, stationary,
    )  # fmt: skip
    for i in range(count):
        out[ANSWER + i] = w.q[i]
    for b in range(p.blocks.shape[0]):
        x = w.e[3 * b] * p.shapes[b, 3]
        y = w.e[3 * b + 1] * p.shapes[b, 4]
        z = w.e[3 * b + 2] * p.shapes[b, 5]
        out[ANSWER + count + b] = sqrt(x * x + y * y + z * z)
    return code


@kernel
def near_turn(p, w, start):
    """Turn every revolute coordinate by whole turns towards `start`, as far as its limits allow."""
    for c in range(p.coords.shape[0]):
        i = p.coords[c, 0]
        if p.coords[c, 2]:
            turns = np.rint((start[i] - w.q[i]) / 6.283185307179586)
            x = w.q[i] + turns * 6.283185307179586
            while turns != 0.0 and not p.limits[c, 0] <= x <= p.limits[c, 1]:
                turns = turns - 1.0 if turns > 0.0 else turns + 1.0
                x = w.q[i] + turns * 6.283185307179586
            if turns != 0.0:
                w.q[i] = x


@border(WHOLES, REALS, FROZEN, REALS, REALS, TABLE, REALS, WHOLE, WHOLE, WHOLE, REAL, WHOLE, WHOLE)
def solve(ints, floats, goal, q0, work1, work8, out, seed, max_iterations, max_restarts, near, chunk, phase):
    """Solve one problem; returns one of the codes above and fills `out` (see `finish`).

    With `chunk` the search pauses after so many iterations and returns RUNNING: call again with the phase RESUME, or
    with FINISH to stop searching.
    """
    p = unpack(ints, floats)
    w = divide(ints, work1)
    count = q0.shape[0]
    v = divide(ints, work8)
    if phase == FRESH:
        if not aim_at(p, goal, w.target):
            return BAD_GOAL
        if not clip_start(p, q0, w.pool):
            return BAD_START
        iterations, score = track(p, w, w.pool, max_iterations, near)
        if score <= _INSIDE:
            near_turn(p, w, w.pool)
            return finish(p, w, out, iterations, np.int64(0), False, count)
        for i in range(w.target.shape[0]):
            store(v.target, i, w.target[i])
        draw_offsets(w.offsets, seed)
        for i in range(count):
            store(v.q, i, w.pool[i]), store(v.before, i, w.pool[i])
        for lane in range(WIDTH):
            v.state[STARTED, lane] = lane
        begin(p, v, load(v.state, STARTED) >= 0.0, w.offsets, w.pool)
        store(v.state, _LIMIT, np.inf), store(v.state, _POOL_COST, np.inf)
        v.state[_POOL_COST, 0] = 0.0
        for i in range(count):
            v.pool[i, 0] = w.pool[i]
        out[RESTARTS] = 0.0
    spent = np.int64(out[RESTARTS])
    stationary = False
    if phase != FINISH:
        lane, spent, more = search(p, v, w.pool, w.offsets, max_iterations, max_restarts, spent, chunk)
        out[RESTARTS] = spent
        if lane < 0 and more:
            return RUNNING
    else:
        lane = -1
    if lane < 0:
        for k in range(WIDTH):
            if v.state[STARTED, k] >= 0.0:
                keep_candidate(v, k)
        lane, stationary, iterations = polish(p, v, _POLISH)
    else:
        iterations = np.int64(max(v.state[_AGE, lane], 0.0))
    for i in range(count):
        w.q[i] = v.q[i, lane]
    near_turn(p, w, w.pool)
    return finish(p, w, out, iterations, spent, stationary, count)


@border(WHOLES, REALS, FROZEN, REALS, REALS, REALS, TABLE)
def linearise(ints, floats, goal, q, work, e, jacobian):
    """Residual rows `e` (m,) and Jacobian `jacobian` (m, active velocities) at q; a negative code for bad input."""
    p = unpack(ints, floats)
    w = divide(ints, work)
    if not aim_at(p, goal, w.target):
        return BAD_GOAL
    if not clip_start(p, q, w.q):
        return BAD_START
    evaluate(p, w)
    for i in range(e.shape[0]):
        e[i] = w.e[i]
    for k in range(p.effectors.shape[0]):
        for b in range(p.effectors[k, 4], p.effectors[k, 5]):
            for s in range(p.effectors[k, 6]):
                for r in range(3):
                    jacobian[3 * b + r, p.slots[p.effectors[k, 8] + s]] = w.jacobian[p.blocks[b] + 3 * s + r]
    return SOLVED
