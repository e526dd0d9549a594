"""One step of projected Levenberg-Marquardt.

Step.     dq = J_F^T (J_F J_F^T + lambda^2 I)^-1 e over the free joints F, then q clipped to its limits; a joint is
          free unless it stands at a limit and the descent direction J^T e pushes it out.  A bold step towards a pose
          goes along the screw to it: the same at the target, and a seventh fewer steps, but no descent far from it.
Damping.  lambda^2 = mu |e|^2, after Chan and Lawrence 1988: it vanishes with the error, so a reachable target is
          approached quadratically, and it stays where a target is out of reach.
Careful.  A careful lane damps by what its last step gained (Nielsen 1999), takes back a step that raised the error,
          and holds the joints at a limit that the step itself would push out.
Accepted  if the error fell; else q goes a quarter of the way from where it was to where it went, and mu grows.
"""

from poise.kernels.algebra.blocks import transpose_times
from poise.kernels.algebra.rotations import normalised, small_quaternion_step
from poise.kernels.algebra.swing_twist import clipped
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, store
from poise.kernels.solver.limits import free_joints


@kernel
def screw(e0, e1, e2, e3, e4, e5):
    """Linear velocity of the screw motion that makes the displacement e0..e2 while it turns by e3..e5, in unit time.

    A frame that steps along its screw goes straight to the target; one that steps along (e0, e1, e2) is carried off
    by its own turn.  It is V^-1 of the logarithm on SE(3); the series is good to 1e-3 at a half turn, and to rounding
    at the target.
    """
    c0, c1, c2 = e4 * e2 - e5 * e1, e5 * e0 - e3 * e2, e3 * e1 - e4 * e0
    t = e3 * e3 + e4 * e4 + e5 * e5
    k = 0.08333333333333333 + t * (0.001388888888888889 + t * (3.306878306878307e-05 + t * 8.267195767195768e-07))
    return (
        e0 - 0.5 * c0 + k * (e4 * c2 - e5 * c1),
        e1 - 0.5 * c1 + k * (e5 * c0 - e3 * c2),
        e2 - 0.5 * c2 + k * (e3 * c1 - e4 * c0),
    )


@kernel
def hold(p, w):
    """w.free = 0 for joints at a limit that the gradient J^T e would push out, else 1; w.step holds the gradient."""
    transpose_times(p, w.jacobian, w.e, w.step)
    free_joints(p, w, w.step)


@kernel
def damping_factor(gained, predicted):
    """The factor of the damping after a step: max(1/3, 1 - (2 rho - 1)^3), rho = gained / predicted (Nielsen 1999)."""
    x = 2.0 * (gained / predicted) - 1.0
    factor = 1.0 - x * x * x
    return select(factor > 1.0 / 3.0, factor, 1.0 / 3.0)


@kernel
def longest_column(p, w):
    """The largest squared column of the Jacobian of any one effector."""
    largest = splat(w.e, 0.0)
    for k in range(len(p.effectors)):
        for c in range(p.effectors[k].columns):
            square = splat(w.e, 0.0)
            for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
                j = p.blocks[b].start + 3 * c
                x, y, z = load(w.jacobian, j), load(w.jacobian, j + 1), load(w.jacobian, j + 2)
                square = square + (x * x + y * y + z * z)
            largest = select(square > largest, square, largest)
    return largest


@kernel
def direction(p, w, bold, damping):
    """w.step = F J^T (J F J^T + damping I)^-1 e, F = diag(w.free); in bold lanes e of a pose is that of its screw."""
    size, e, y, step = len(w.e), w.e, w.y, w.step
    gram(p, size, w.jacobian, w.free, w.matrix)
    factor(size, damping, w.matrix)
    for i in range(size):
        store(y, i, load(e, i))
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        if effector.rows < 0 and not effector.weighing:
            i = 3 * effector.first_block
            v0, v1, v2 = screw(
                load(e, i), load(e, i + 1), load(e, i + 2), load(e, i + 3), load(e, i + 4), load(e, i + 5)
            )
            store(y, i, select(bold, v0, load(e, i)))
            store(y, i + 1, select(bold, v1, load(e, i + 1)))
            store(y, i + 2, select(bold, v2, load(e, i + 2)))
    back_substitute(size, w.matrix, y, y)
    transpose_times(p, w.jacobian, y, step)
    for a in range(len(step)):
        store(step, a, load(step, a) * load(w.free, a))


@kernel
def advance(p, w, accepted, back):
    """w.q += w.step where the last step was accepted; else q goes back to the share `back` of the way from w.before.

    w.before follows where it was accepted.  Coordinates and balls are clipped to their limits.
    """
    q, before, step = w.q, w.before, w.step
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        i = c.q
        x, x0 = load(q, i), load(before, i)
        value = select(accepted, x + load(step, c.v), x0 + back * (x - x0))
        value = select(value < c.lower, c.lower, value)
        store(before, i, select(accepted, x, x0))
        store(q, i, select(value > c.upper, c.upper, value))
    for r in range(len(p.balls)):
        i, a = p.balls[r].q, p.balls[r].v
        w1, x1, y1, z1 = load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3)
        w0, x0, y0, z0 = load(before, i), load(before, i + 1), load(before, i + 2), load(before, i + 3)
        # To first order: normalising makes it exact enough for a step that the next corrects.
        nw, nx, ny, nz = small_quaternion_step(w1, x1, y1, z1, load(step, a), load(step, a + 1), load(step, a + 2))
        nw, nx, ny, nz = normalised(
            select(accepted, nw, w0 + back * (w1 - w0)),
            select(accepted, nx, x0 + back * (x1 - x0)),
            select(accepted, ny, y0 + back * (y1 - y0)),
            select(accepted, nz, z0 + back * (z1 - z0)),
        )
        nw, nx, ny, nz = clipped(p.balls[r], nw, nx, ny, nz)
        store(before, i, select(accepted, w1, w0)), store(before, i + 1, select(accepted, x1, x0))
        store(before, i + 2, select(accepted, y1, y0)), store(before, i + 3, select(accepted, z1, z0))
        store(q, i, nw), store(q, i + 1, nx), store(q, i + 2, ny), store(q, i + 3, nz)
