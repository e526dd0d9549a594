"""How a ball turns in a step: within its limits, and no faster than it may.

A turn that leaves the limits ends at the nearest place inside, so that it goes on along the border.  That may be
farther about some axis than the turn was, for the border bends: where it is too far, less of the turn is taken.  A ball
that begins outside comes back as far as its speeds let it.
"""

import functools

from poise.kernels.algebra.rotations import quaternion_step, turn_between, turn_since
from poise.kernels.algebra.swing_twist import clipped, linearised_limits
from poise.kernels.algebra.working_set import NONE
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, pitch, select, splat, store
from poise.kernels.machine.memory import ELSEWHERE, PREDICTED
from poise.kernels.rows.rounding import ROUNDING

BALL_ROWS = 3
"""Inequalities that the limits of a ball make: one of its swing, two of its twist."""
_TURN = 3.141592653589793
"""A twist whose interval has this half width [rad] is a whole turn, and has no limit."""
_TRIALS = 8
"""So often less of a turn is tried before none of it is taken."""
_LESS = 0.98
"""What is tried of the share that would be slow enough if the border were straight."""


@kernel
def turn_ball(ball, before, step, speeds, many, q):
    """Write into q where the ball's entries of `step` lead from `before`.

    A ball with limits stays within them, about each axis within `many` times its speed, and the entries become the turn
    that it made.
    """
    i, a = ball.q, ball.v
    w0, x0, y0, z0 = load(before, i), load(before, i + 1), load(before, i + 2), load(before, i + 3)
    u0, u1, u2 = load(step, a), load(step, a + 1), load(step, a + 2)
    if ball.limited:
        f0, f1, f2 = many * speeds[a], many * speeds[a + 1], many * speeds[a + 2]
        w1, x1, y1, z1, u0, u1, u2 = turned_within(ball, w0, x0, y0, z0, u0, u1, u2, f0, f1, f2)
        store(step, a, u0), store(step, a + 1, u1), store(step, a + 2, u2)
    else:
        w1, x1, y1, z1 = quaternion_step(w0, x0, y0, z0, u0, u1, u2)
    store(q, i, w1), store(q, i + 1, x1), store(q, i + 2, y1), store(q, i + 3, z1)


@kernel
def turned_within(ball, w0, x0, y0, z0, u0, u1, u2, f0, f1, f2):
    """The quaternion of a limited ball after the turn u [rad] from (w0, x0, y0, z0), or a share of u, and its turn.

    About no axis is that turn more than f [rad].
    """
    s0, s1, s2 = 1.0 / f0, 1.0 / f1, 1.0 / f2
    share, fast = 1.0 + 0.0 * w0, w0 * w0 > -1.0
    w1, x1, y1, z1, t0, t1, t2 = w0, x0, y0, z0, u0, u1, u2
    for _ in range(_TRIALS):
        w1, x1, y1, z1 = quaternion_step(w0, x0, y0, z0, share * u0, share * u1, share * u2)
        w1, x1, y1, z1 = clipped(ball, w1, x1, y1, z1)
        t0, t1, t2 = turn_between(w0, x0, y0, z0, w1, x1, y1, z1)
        over = _farthest(t0 * s0, t1 * s1, t2 * s2)
        fast = over > 1.0 + ROUNDING
        if not any_of(fast):
            return w1, x1, y1, z1, t0, t1, t2
        share = select(fast, _LESS * share / over, share)
    # No share is slow enough: the ball began outside, and comes straight back, as far as its speeds let it.
    w2, x2, y2, z2 = clipped(ball, w0, x0, y0, z0)
    v0, v1, v2 = turn_between(w0, x0, y0, z0, w2, x2, y2, z2)
    over = _farthest(v0 * s0, v1 * s1, v2 * s2)
    share = 1.0 / select(over > 1.0, over, 1.0)
    v0, v1, v2 = share * v0, share * v1, share * v2
    w2, x2, y2, z2 = quaternion_step(w0, x0, y0, z0, v0, v1, v2)
    w1, x1, y1, z1 = select(fast, w2, w1), select(fast, x2, x1), select(fast, y2, y1), select(fast, z2, z1)
    return w1, x1, y1, z1, select(fast, v0, t0), select(fast, v1, t1), select(fast, v2, t2)


@functools.partial(kernel, inline=True)
def ball_rows(p, w, first, rows, most):
    """From row `first` on BALL_ROWS for each ball with limits: tangents of its ellipse of swing and interval of twist.

    A row with no limit to meet has the bound NONE.  Beyond a limit the bound is 0: no farther, but not back at once.
    """
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


@kernel
def shorten_whole_step(p, w, updates):
    """Shorten the step from w.begun to w.q, all joints by one share, until balls keep `updates` times their speeds.

    Speeds that every update keeps hold for their sum, but for turns about different axes: these do not add up like
    vectors, and their sum can turn farther about a third axis.
    """
    ratio = splat(w.q, 1.0)
    for b in range(len(p.balls)):
        a = p.balls[b].v
        u0, u1, u2 = turn_since(w.begun, w.q, p.balls[b].q)
        s0, s1, s2 = updates * p.speeds[a], updates * p.speeds[a + 1], updates * p.speeds[a + 2]
        fastest = _farthest(u0 * (1.0 / s0), u1 * (1.0 / s1), u2 * (1.0 / s2))
        ratio = select(fastest > ratio, fastest, ratio)
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
def _farthest(x, y, z):
    """The largest of |x|, |y| and |z|."""
    x, y, z = select(x < 0.0, -x, x), select(y < 0.0, -y, y), select(z < 0.0, -z, z)
    x = select(y > x, y, x)
    return select(z > x, z, x)
