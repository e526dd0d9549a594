"""Integration of a whole step: q after it, clipped to the limits of coordinates and balls."""

from poise.kernels.algebra.rotations import quaternion_step, turn_since
from poise.kernels.algebra.swing_twist import ball_within_limits
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.memory import UPDATES
from poise.kernels.requirements.balls import turned_within


@kernel
def move(p, start, step, share, q):
    """q (nq) is where that share of a step (n) leads from `start` (nq), whatever limits say."""
    for i in range(len(q)):
        q[i] = start[i]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        q[c.q] = start[c.q] + share * step[c.v]
    for b in range(len(p.balls)):
        i, a = p.balls[b].q, p.balls[b].v
        q[i], q[i + 1], q[i + 2], q[i + 3] = quaternion_step(
            start[i], start[i + 1], start[i + 2], start[i + 3],
            share * step[a], share * step[a + 1], share * step[a + 2],
        )  # fmt: skip


@kernel
def integrate_part(p, w, start, step, share, q):
    """q (nq) is where that share of a step (n) leads from `start` (nq).

    A coordinate within its limits stays there; one beyond goes as the step says.  A ball goes along its border.
    """
    has_rates = len(p.rates) > 0
    many = 1.0 if has_rates else w.memory[UPDATES]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x = start[c.q]
        lower, upper = c.lower, c.upper
        if (
            has_rates
        ):  # who begins beyond what a limit of the following error leaves is still within the limits of the joint
            rate = p.rates[c.v]
            lower, upper = lower if x >= lower else rate.lower, upper if x <= upper else rate.upper
        y = x + share * step[c.v]
        y = lower if y < lower <= x else y
        q[c.q] = upper if y > upper >= x else y
    for b in range(len(p.balls)):
        i, a = p.balls[b].q, p.balls[b].v
        w0, x0, y0, z0 = start[i], start[i + 1], start[i + 2], start[i + 3]
        u0, u1, u2 = share * step[a], share * step[a + 1], share * step[a + 2]
        if p.balls[b].limited and ball_within_limits(p.balls[b], w0, x0, y0, z0):
            w1, x1, y1, z1, _, _, _ = turned_within(
                p.balls[b], w0, x0, y0, z0, u0, u1, u2,
                many * p.speeds[a], many * p.speeds[a + 1], many * p.speeds[a + 2],
            )  # fmt: skip
        else:
            w1, x1, y1, z1 = quaternion_step(w0, x0, y0, z0, u0, u1, u2)
        q[i], q[i + 1], q[i + 2], q[i + 3] = w1, x1, y1, z1


@kernel
def integrate(p, w, start, step, q):
    """q (nq) is where a step (n) leads from `start` (nq); entries of balls with limits become the turns made."""
    integrate_part(p, w, start, step, 1.0, q)
    for b in range(len(p.balls)):
        i, a = p.balls[b].q, p.balls[b].v
        if p.balls[b].limited:
            step[a], step[a + 1], step[a + 2] = turn_since(start, q, i)
