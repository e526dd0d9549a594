"""Joints and balls that are held at their limits, where a descent or a step would push them out."""

from poise.kernels.algebra.swing_twist import SLIGHT, blocked, flat, flat_direction
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, store

NEARLY = 0.1
"""A ball is held at the border of its limits already where less than this share of the step leads there: clipped, the
rest of the step would lead along the border somewhere else."""


@kernel
def free_joints(p, w, gradient):
    """w.free is 0 for a joint at a limit out of which the descent `gradient` = J^T e would push it, else 1."""
    for a in range(len(w.free)):
        store(w.free, a, splat(w.free, 1.0))
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, g = load(w.q, c.q), load(gradient, c.v)
        held = ((x <= c.lower) & (g < 0.0)) | ((x >= c.upper) & (g > 0.0))
        store(w.free, c.v, select(held, splat(w.free, 0.0), splat(w.free, 1.0)))


@kernel
def hold_pushed(p, w, bold):
    """Set w.free to 0 for joints at a limit out of which w.step would push them, of lanes not bold; whether any is new.

    (J^T J + lambda^2 I)^-1 turns the gradient, so the step may push out a joint that the gradient pulls in; clipped, it
    would gain little.
    """
    pushed = splat(w.free, 0.0)
    descends = select(bold, pushed, 1.0) > 0.0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, d = load(w.q, c.q), load(w.step, c.v)
        out = (((x <= c.lower) & (d < 0.0)) | ((x >= c.upper) & (d > 0.0))) & descends
        store(w.free, c.v, select(out, 0.0, load(w.free, c.v)))
        pushed = select(out, 1.0, pushed)
    pushed = pushed + hold_balls(p, w, descends, w.step, w.step, NEARLY)
    return any_of(pushed > 0.0)


@kernel
def hold_balls(p, w, which, step, wanted, share):
    """Project balls at their limits: J <- J (I - n n^T) for each direction n in which `step` (n) would push one out.

    n is a turn, no axis of the velocity, so it cannot be held by w.free; with that J no step has a part along n.
    `wanted` (n) loses that part too.  In lanes `which` alone.  A border that `share` of the step reaches counts as
    reached.  1 in the lanes where `step` has pushed, else 0.
    """
    pushed = splat(w.free, 0.0)
    for r in range(len(p.balls)):
        ball = p.balls[r]
        if ball.limited:
            i, a = ball.q, ball.v
            u0, u1, u2 = load(step, a), load(step, a + 1), load(step, a + 2)
            n0, n1, n2, m0, m1, m2, k0, k1, k2 = blocked(
                ball, (load(w.q, i), load(w.q, i + 1), load(w.q, i + 2), load(w.q, i + 3)), (u0, u1, u2), share
            )
            n0, n1, n2 = select(which, n0, 0.0), select(which, n1, 0.0), select(which, n2, 0.0)
            m0, m1, m2 = select(which, m0, 0.0), select(which, m1, 0.0), select(which, m2, 0.0)
            k0, k1, k2 = select(which, k0, 0.0), select(which, k1, 0.0), select(which, k2, 0.0)
            held = n0 * n0 + n1 * n1 + n2 * n2 + (m0 * m0 + m1 * m1 + m2 * m2)
            across = k0 * u0 + k1 * u1 + k2 * u2
            slight = (SLIGHT * SLIGHT) * (u0 * u0 + u1 * u1 + u2 * u2)
            pushed = select((held > 0.5) | (across * across > slight), 1.0, pushed)
            if any_of(held + (k0 * k0 + k1 * k1 + k2 * k2) > 0.5):
                _take_out(p, w.jacobian, a, n0, n1, n2)
                _take_out(p, w.jacobian, a, m0, m1, m2)
                _take_out(p, w.jacobian, a, k0, k1, k2)
                _take_out_of(wanted, a, n0, n1, n2)
                _take_out_of(wanted, a, m0, m1, m2)
                _take_out_of(wanted, a, k0, k1, k2)
    return pushed


@kernel
def hold_flat(p, w):
    """J <- J (I - k k^T) for each direction k in which a ball has no room to swing at all."""
    for r in range(len(p.balls)):
        ball = p.balls[r]
        if ball.limited and (flat(ball.a[0], ball.a[1]) or flat(ball.b[0], ball.b[1])):
            i = ball.q
            k0, k1, k2 = flat_direction(ball, load(w.q, i), load(w.q, i + 1), load(w.q, i + 2), load(w.q, i + 3))
            _take_out(p, w.jacobian, ball.v, k0, k1, k2)


@kernel
def _take_out(p, jacobian, a, n0, n1, n2):
    """J <- J (I - n n^T) in the three columns of the velocities from `a` on, which stand side by side."""
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        for c in range(effector.columns):
            if p.slots[effector.first_slot + c] == a:
                for b in range(effector.first_block, effector.last_block):
                    j = p.blocks[b].start + 3 * c
                    for row in range(j, j + 3):
                        x, y, z = load(jacobian, row), load(jacobian, row + 3), load(jacobian, row + 6)
                        share = x * n0 + y * n1 + z * n2
                        store(jacobian, row, x - share * n0)
                        store(jacobian, row + 3, y - share * n1)
                        store(jacobian, row + 6, z - share * n2)


@kernel
def _take_out_of(v, a, n0, n1, n2):
    """v <- v - n n^T v in the entries of the same three velocities."""
    share = load(v, a) * n0 + load(v, a + 1) * n1 + load(v, a + 2) * n2
    store(v, a, load(v, a) - share * n0)
    store(v, a + 1, load(v, a + 1) - share * n1)
    store(v, a + 2, load(v, a + 2) - share * n2)


@kernel
def limited_balls(p):
    """How many balls have limits."""
    count = 0
    for r in range(len(p.balls)):
        if p.balls[r].limited:
            count += 1
    return count
