"""What limits leave to a step: low <= dq <= high, and G dq <= h; and to the updates of a Tracker's step together."""

import functools
from collections import namedtuple

import numpy as np

from poise.kernels.algebra.rotations import normalised, quaternion_step
from poise.kernels.algebra.swing_twist import linearised_limits
from poise.kernels.algebra.working_set import NONE, Limits
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, pitch, select, splat, sqrt, store
from poise.kernels.machine.memory import COLLISION_COUNT, COLLISIONS_CHANGED, ELSEWHERE, FRESH, PREDICTED
from poise.kernels.machine.views import section
from poise.kernels.requirements.balls import turn_ball, turn_since
from poise.kernels.requirements.braking import NO_LIMIT, allowed, allowed_anywhere
from poise.kernels.solver.ends import clip_start

BALL_ROWS = 3
"""Inequalities that the limits of a ball make: one of its swing, two of its twist."""
_TURN = 3.141592653589793
"""Half a width of twist from which on there is no end [rad]."""
_ANYWHERE = 1e20
"""The room of a coordinate without limits [rad]."""
_AHEAD = 0.2
"""How far a ball with limits may be wanted to turn [rad]: walls that stand for a border that bends lead astray."""
_AT_LIMIT = 1e-15
"""How far from a limit rounding leaves what has come to it [rad or m]."""


@kernel
def read_start(p, q0, q):
    """Copy the start q0 into q, quaternions to unit length; False if a number is too large.

    Coordinates are brought within their limits, unless they are to come back at their speed; those that no task moves
    then stay where they are.
    """
    if not clip_start(p, q0, q):
        return False
    if p.common[0].timed:
        for c in range(len(p.coordinates)):
            q[p.coordinates[c].q] = q0[p.coordinates[c].q]
        for c in range(len(p.idle)):
            q[p.idle[c].q] = q0[p.idle[c].q]
        for c in range(len(p.balls)):
            _put_unit(q0, p.balls[c].q, q)
        for c in range(len(p.idle_balls)):
            _put_unit(q0, p.idle_balls[c].q, q)
    return True


@kernel
def _put_unit(q0, i, q):
    q[i], q[i + 1], q[i + 2], q[i + 3] = normalised(q0[i], q0[i + 1], q0[i + 2], q0[i + 3])


StepConstraints = namedtuple("StepConstraints", "limits side squares buffer")
"""The limits of an update, what to try to hold of them, and room for the levels' lambda^2 and for the active set."""


@functools.partial(kernel, inline=True)
def left_to_limits(p, w, longest, low, high):
    """The box of an update from w.before, low <= dq <= high (n each) [rad or m], which always holds a step.

    low = max(l - q, -v dt) and high = min(u - q, v dt), and what is beyond a limit comes back at its speed; with
    accelerations it is what `set_step_bounds` found for the whole step, less the way of the updates before.  Entries
    are no longer than `longest`, where the others let them.  One number wide.
    """
    if len(p.rates) > 0:
        since_begun(p, w, w.before)
        for a in range(len(low)):
            low[a], high[a] = left(p, w, a)
            low[a] = max(low[a], min(-longest, high[a]))
            high[a] = min(high[a], max(longest, low[a]))
        return
    left_to_speeds(p, w.before, 1.0, longest, low, high)


@functools.partial(kernel, inline=True)
def left_to_speeds(p, q, updates, longest, low, high):
    """The box of so many updates from q (nq), low <= dq <= high (n each), where no accelerations are limited."""
    for a in range(len(low)):
        high[a] = min(longest, updates * p.speeds[a])
        low[a] = -high[a]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        fast = updates * p.speeds[c.v]
        low[c.v] = max(low[c.v], min(c.lower - q[c.q], fast))
        high[c.v] = min(high[c.v], max(c.upper - q[c.q], -fast))


@functools.partial(kernel, inline=True)
def left(p, w, a):
    """What speeds and accelerations leave to entry a of a step from w.before, once `since_begun` is told."""
    if len(p.rates) > 0:
        return load(w.least, a) - load(w.step_so_far, a), load(w.largest, a) - load(w.step_so_far, a)
    return splat(w.q, -p.speeds[a]), splat(w.q, p.speeds[a])


@kernel
def set_step_bounds(p, w):
    """w.least and w.largest (n): what speeds, accelerations, jerks and positions leave to the step from w.begun.

    Without accelerations there are none.
    """
    if len(p.rates) == 0:
        return
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        low, high = allowed_from(
            p.rates[c.v], c, load(w.begun, c.q), load(w.displacement, c.v), load(w.displacement_change, c.v)
        )
        store(w.least, c.v, low), store(w.largest, c.v, high)
    for b in range(len(p.balls)):
        for k in range(3):
            a = p.balls[b].v + k
            rate, v, s = p.rates[a], load(w.displacement, a), load(w.displacement_change, a)
            low, high = allowed_anywhere(v, s, rate.speed, rate.change, rate.jerk)
            store(w.least, a, low), store(w.largest, a, high)


@kernel
def allowed_from(rate, c, x, v, s):
    """The least and the largest step of a coordinate from x, after the step v, whose change was s.

    It stays within what a limit of the following error leaves as well as its limits let it.
    """
    low, high = allowed(x - c.lower, c.upper - x, v, s, rate.speed, rate.change, rate.jerk)
    if c.lower > rate.lower or c.upper < rate.upper:
        least, largest = allowed(x - rate.lower, rate.upper - x, v, s, rate.speed, rate.change, rate.jerk)
        low = select(low < least, least, select(low > largest, largest, low))
        high = select(high < least, least, select(high > largest, largest, high))
    return low, high


@kernel
def jerking(p):
    """Whether there are limits of jerk."""
    for a in range(len(p.rates)):
        if p.rates[a].jerk < NO_LIMIT:
            return True
    return False


@kernel
def loosen_step_bounds(p, w):
    """w.least and w.largest of a step that may be wanted, whatever speeds and accelerations let come of it."""
    if len(p.rates) == 0:
        return
    for a in range(len(p.rates)):
        store(w.least, a, splat(w.q, -_ANYWHERE)), store(w.largest, a, splat(w.q, _ANYWHERE))
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x = load(w.begun, c.q)
        store(w.least, c.v, c.lower - x), store(w.largest, c.v, c.upper - x)
    for b in range(len(p.balls)):
        for k in range(3 if p.balls[b].limited else 0):
            a = p.balls[b].v + k
            store(w.least, a, splat(w.q, -_AHEAD)), store(w.largest, a, splat(w.q, _AHEAD))


@kernel
def since_begun(p, w, q):
    """w.step_so_far (n) is the way from w.begun to q."""
    difference(p, w.begun, q, w.step_so_far)


@kernel
def difference(p, q0, q1, step):
    """step (n) leads from q0 to q1 (nq each)."""
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        store(step, c.v, load(q1, c.q) - load(q0, c.q))
    for b in range(len(p.balls)):
        a = p.balls[b].v
        u0, u1, u2 = turn_since(q0, q1, p.balls[b].q)
        store(step, a, u0), store(step, a + 1, u1), store(step, a + 2, u2)


@kernel
def clamp_whole_step(p, w, updates):
    """Bring w.q to where the way from w.begun, w.step_so_far, keeps what `set_step_bounds` left, each joint by
    itself."""
    since_begun(p, w, w.q)
    bent = splat(w.q, 0.0)
    for a in range(len(w.step_so_far)):
        x, low, high = load(w.step_so_far, a), load(w.least, a), load(w.largest, a)
        clamped = select(x < low, low, select(x > high, high, x))
        bent = select((x < low) | (x > high), 1.0, bent)
        store(w.step_so_far, a, clamped)
    for k in range(len(p.twists)):
        bent = _keep_twist(p.twists[k], updates * p.twists[k].most, w, bent)
    changed = bent > 0.5
    if not any_of(changed):
        return
    for r in range(len(p.coordinates)):
        c, rate = p.coordinates[r], p.rates[p.coordinates[r].v]
        x0 = load(w.begun, c.q)
        x = x0 + load(w.step_so_far, c.v)
        # What the limits allow, they allow to the last bit; and who brakes for a limit comes to stand at it.
        low, high = rate.lower - x0, rate.upper - x0
        x = select((x < rate.lower + _AT_LIMIT) & (load(w.least, c.v) >= low - _AT_LIMIT), rate.lower, x)
        x = select((x > rate.upper - _AT_LIMIT) & (load(w.largest, c.v) <= high + _AT_LIMIT), rate.upper, x)
        store(w.q, c.q, select(changed, x, load(w.q, c.q)))
    for b in range(len(p.balls)):
        i, a = p.balls[b].q, p.balls[b].v
        w0, x0, y0, z0 = load(w.begun, i), load(w.begun, i + 1), load(w.begun, i + 2), load(w.begun, i + 3)
        w1, x1, y1, z1 = quaternion_step(
            w0, x0, y0, z0, load(w.step_so_far, a), load(w.step_so_far, a + 1), load(w.step_so_far, a + 2)
        )  # fmt: skip
        store(w.q, i, select(changed, w1, load(w.q, i))), store(w.q, i + 1, select(changed, x1, load(w.q, i + 1)))
        store(w.q, i + 2, select(changed, y1, load(w.q, i + 2)))
        store(w.q, i + 3, select(changed, z1, load(w.q, i + 3)))
    store(w.memory, PREDICTED, select(changed, ELSEWHERE, load(w.memory, PREDICTED)))


@kernel
def remember_step(w, within_limits):
    """Remember that the whole step was w.step.

    One that was not `within_limits` broke its limits, and its acceleration is none that a jerk could go on from.
    """
    for a in range(len(w.step)):
        x = load(w.step, a)
        store(w.displacement_change, a, x - load(w.displacement, a) if within_limits else splat(w.step, 0.0))
        store(w.displacement, a, x)


@kernel
def _keep_twist(twist, most, w, bent):
    """Bring some of w.step_so_far to a length of at most `most`, towards what of the last step the box still holds;
    whether.

    Both are within the box, and so is all between them.  Where that is itself too long, the last step is what all
    speeds and accelerations let go on.
    """
    first, count = twist.first, twist.count
    longest = most * most
    square, other = splat(w.q, 0.0), splat(w.q, 0.0)
    for a in range(first, first + count):
        x, y = load(w.step_so_far, a), _last_step_clamped(w, a)
        square, other = square + x * x, other + y * y
    over, astray = square > longest, other > longest
    if not any_of(over):
        return bent
    # The largest share s of the way from y to x with |y + s (x - y)| <= most.
    aa, ab, bb = splat(w.q, 0.0), splat(w.q, 0.0), splat(w.q, 0.0)
    for a in range(first, first + count):
        y = select(astray, load(w.displacement, a), _last_step_clamped(w, a))
        d = load(w.step_so_far, a) - y
        aa, ab, bb = aa + d * d, ab + d * y, bb + y * y
    slack = longest - bb
    root = sqrt(ab * ab + aa * select(slack < 0.0, 0.0, slack))
    # Of the two forms of the root, the one without a difference of near numbers.
    share = select(ab > 0.0, slack / select(ab > 0.0, ab + root, 1.0), (root - ab) / select(aa > 0.0, aa, 1.0))
    share = select(share < 0.0, 0.0, select(share > 1.0, 1.0, share))
    for a in range(first, first + count):
        x = load(w.step_so_far, a)
        y = select(astray, load(w.displacement, a), _last_step_clamped(w, a))
        store(w.step_so_far, a, select(over, y + share * (x - y), x))
    return select(over, 1.0, bent)


@kernel
def _last_step_clamped(w, a):
    """What the box leaves of an entry of the last step."""
    y, low, high = load(w.displacement, a), load(w.least, a), load(w.largest, a)
    return select(y < low, low, select(y > high, high, y))


@functools.partial(kernel, inline=True)
def step_constraints(p, w, levels, longest):
    """What limits leave to an update: box and rows, what held the last one, room for `levels` lambda^2, and more room.

    The room is that of `poise.methods.ranking`.
    """
    n = len(w.step)
    linear, range_sides = len(p.inequalities) // (n + 1), len(w.range_bounds)
    fixed = linear + range_sides + BALL_ROWS * limited_balls(p)
    count, most = fixed + np.int64(w.memory[COLLISION_COUNT]), fixed + len(w.collision_bounds)
    row = pitch(w.rows, n)
    rows, ends = section(w.room, 0, count * row), section(w.room, most * row, count)
    side, at = section(w.room, most * row + most, n + count), most * (row + 2) + n
    squares, low, high = (
        section(w.room, at, levels),
        section(w.room, at + levels, n),
        section(w.room, at + levels + n, n),
    )
    at = pitch(w.rows, at + levels + 2 * n)
    left_to_limits(p, w, longest, low, high)
    put_rows(p, w, rows, ends)
    if w.memory[FRESH] < 0.5:
        for c in range(n + count):
            side[c] = 0.0
    elif w.memory[COLLISIONS_CHANGED] > 0.5:
        for c in range(n + fixed, n + count):
            side[c] = 0.0
    return StepConstraints(Limits(low, high, rows, ends), side, squares, section(w.room, at, len(w.room) - at))


@functools.partial(kernel, inline=True)
def put_rows(p, w, rows, most):
    """rows (in packs) and most: what sums of joints, sides of ranges, balls and pairs of shapes ask of a step from w.q;
    how many there are."""
    n, range_sides, pairs = len(w.step), len(w.range_bounds), np.int64(w.memory[COLLISION_COUNT])
    row, linear = pitch(rows, n), len(p.inequalities) // (n + 1)
    fixed = linear + range_sides + BALL_ROWS * limited_balls(p)
    _linear_rows(p, w, linear, rows, most)
    for i in range(range_sides):
        for c in range(row):
            rows[(linear + i) * row + c] = w.range_jacobian[i * row + c]
        most[linear + i] = w.range_bounds[i]
    _ball_rows(p, w, linear + range_sides, rows, most)
    for k in range(pairs):
        for c in range(row):
            rows[(fixed + k) * row + c] = w.collision_rows[k * row + c]
        most[fixed + k] = w.collision_bounds[k]
    return fixed + pairs


@kernel
def limited_balls(p):
    """How many balls have limits."""
    count = 0
    for r in range(len(p.balls)):
        if p.balls[r].limited:
            count += 1
    return count


@functools.partial(kernel, inline=True)
def _ball_rows(p, w, first, rows, most):
    """From row `first` on: that no ball swings out of its ellipse, or twists out of its interval."""
    row = pitch(rows, len(w.step))
    at = first
    for r in range(len(p.balls)):
        ball = p.balls[r]
        if ball.limited:
            i, a = ball.q, ball.v
            n, out, m, low, high = linearised_limits(ball, w.q[i], w.q[i + 1], w.q[i + 2], w.q[i + 3])
            for k in range(BALL_ROWS):
                for c in range(row):
                    rows[(at + k) * row + c] = 0.0
            for k in range(3):
                rows[at * row + a + k] = n[k]
                rows[(at + 1) * row + a + k] = m[k]
                rows[(at + 2) * row + a + k] = -m[k]
            some = n[0] * n[0] + n[1] * n[1] + n[2] * n[2] > 0.5
            twisting = ball.half < _TURN
            most[at] = max(out, 0.0) if some else NONE
            most[at + 1] = max(high, 0.0) if twisting else NONE
            most[at + 2] = max(low, 0.0) if twisting else NONE
            at += BALL_ROWS


@functools.partial(kernel, inline=True)
def _linear_rows(p, w, count, rows, most):
    """rows = A (in packs) and most = b - A q, of the limits A q <= b."""
    n, table = len(w.step), p.inequalities
    row = pitch(rows, n)
    for i in range(count):
        at = i * (n + 1)
        for c in range(row):
            rows[i * row + c] = table[at + c] if c < n else 0.0
        left = table[at + n]
        for r in range(len(p.coordinates)):
            left -= table[at + p.coordinates[r].v] * w.q[p.coordinates[r].q]
        most[i] = left


@kernel
def shorten_whole_step(p, w, updates):
    """Let w.q go less far from w.begun, along the same way, until no ball has turned faster than `updates` of w.speeds.

    Updates that keep the speeds add up to a step that does, but for turns about different axes: along a third axis they
    can add up to more.
    """
    ratio = splat(w.q, 1.0)
    for b in range(len(p.balls)):
        a = p.balls[b].v
        u0, u1, u2 = turn_since(w.begun, w.q, p.balls[b].q)
        ratio = _larger(ratio, u0 * (1.0 / (updates * p.speeds[a])))
        ratio = _larger(ratio, u1 * (1.0 / (updates * p.speeds[a + 1])))
        ratio = _larger(ratio, u2 * (1.0 / (updates * p.speeds[a + 2])))
    over = ratio > 1.0
    if not any_of(over):
        return
    scale = 1.0 / ratio
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, x0 = load(w.q, c.q), load(w.begun, c.q)
        nearer = x0 + (x - x0) * scale
        nearer = select((nearer < c.lower) & (x >= c.lower), c.lower, nearer)
        nearer = select((nearer > c.upper) & (x <= c.upper), c.upper, nearer)
        store(w.q, c.q, select(over, nearer, x))
    for b in range(len(p.balls)):
        ball = p.balls[b]
        i, a = ball.q, ball.v
        u0, u1, u2 = turn_since(w.begun, w.q, i)
        w1, x1, y1, z1 = load(w.q, i), load(w.q, i + 1), load(w.q, i + 2), load(w.q, i + 3)
        store(w.step, a, u0 * scale), store(w.step, a + 1, u1 * scale), store(w.step, a + 2, u2 * scale)
        turn_ball(ball, w.begun, w.step, p.speeds, updates, w.q)
        store(w.q, i, select(over, load(w.q, i), w1)), store(w.q, i + 1, select(over, load(w.q, i + 1), x1))
        store(w.q, i + 2, select(over, load(w.q, i + 2), y1)), store(w.q, i + 3, select(over, load(w.q, i + 3), z1))
    store(w.memory, PREDICTED, select(over, ELSEWHERE, load(w.memory, PREDICTED)))


@kernel
def _larger(ratio, x):
    """The larger of `ratio` and |x|."""
    x = select(x < 0.0, -x, x)
    return select(x > ratio, x, ratio)
