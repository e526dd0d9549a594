"""How a ball turns in a step: within its limits, and no faster than it may.

A turn that leaves the limits ends at the nearest place inside, so that it goes on along the border.  That may be
farther about some axis than the turn was, for the border bends: where it is too far, less of the turn is taken.  A ball
that begins outside comes back as far as its speeds let it.
"""

from poise.kernels.algebra.rotations import quaternion_step, turn_between
from poise.kernels.algebra.swing_twist import clipped
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, store
from poise.kernels.rows.rounding import ROUNDING

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


@kernel
def _farthest(x, y, z):
    """The largest of |x|, |y| and |z|."""
    x, y, z = select(x < 0.0, -x, x), select(y < 0.0, -y, y), select(z < 0.0, -z, z)
    x = select(y > x, y, x)
    return select(z > x, z, x)
