"""One step of projected Levenberg-Marquardt.

Step.     dq = J_F^T (J_F J_F^T + lambda^2 I)^-1 e over the free joints F, then q clipped to its limits; a joint is
          free unless it stands at a limit and the descent direction J^T e pushes it out.  A bold step towards a pose
          goes along the screw to it: the same at the target, and a seventh fewer steps, but no descent far from it.
Damping.  lambda^2 = mu |e|^2, after Chan and Lawrence 1988: it vanishes with the error, so a reachable target is
          approached quadratically, and it stays where a target is out of reach.
Accepted  if the error fell; else q goes a quarter of the way from where it was to where it went, and mu grows.
"""

from poise.kernels.algebra.blocks import transpose_times
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.rows.residuals import POSE


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
def direction(
    effectors, blocks, slots, coords, limits, jobs, pairs, q, e, jacobian, bold, damping, free, matrix, y, step
):
    """The damped least-squares step over the free joints, into `step` (active velocities); a bold one along screws."""
    count = step.shape[0]
    transpose_times(effectors, blocks, slots, jacobian, e, step)
    for a in range(count):
        store(free, a, 1.0)
    for c in range(coords.shape[0]):
        x, g = load(q, coords[c, 0]), load(step, coords[c, 1])
        locked = ((x <= limits[c, 0]) & (g < 0.0)) | ((x >= limits[c, 1]) & (g > 0.0))
        store(free, coords[c, 1], select(locked, splat(q, 0.0), splat(q, 1.0)))
    size = e.shape[0]
    gram(jobs, pairs, size, jacobian, free, matrix)
    factor(size, damping, matrix)
    for i in range(size):
        store(y, i, load(e, i))
    for k in range(effectors.shape[0]):
        if effectors[k, 1] == POSE and not effectors[k, 7]:
            i = 3 * effectors[k, 4]
            v0, v1, v2 = screw(
                load(e, i), load(e, i + 1), load(e, i + 2), load(e, i + 3), load(e, i + 4), load(e, i + 5)
            )
            store(y, i, select(bold, v0, load(e, i)))
            store(y, i + 1, select(bold, v1, load(e, i + 1)))
            store(y, i + 2, select(bold, v2, load(e, i + 2)))
    back_substitute(size, matrix, y, y)
    transpose_times(effectors, blocks, slots, jacobian, y, step)
    for a in range(count):
        store(step, a, load(step, a) * load(free, a))


@kernel
def advance(coords, limits, balls, accepted, step, q, before):
    """Go on where the error fell, else a quarter of the way from `before`; every coordinate within its limits."""
    for c in range(coords.shape[0]):
        i = coords[c, 0]
        x, x0 = load(q, i), load(before, i)
        value = select(accepted, x + load(step, coords[c, 1]), x0 + 0.25 * (x - x0))
        value = select(value < limits[c, 0], limits[c, 0], value)
        store(before, i, select(accepted, x, x0))
        store(q, i, select(value > limits[c, 1], limits[c, 1], value))
    for c in range(balls.shape[0]):
        i, a = balls[c, 0], balls[c, 1]
        w, x, y, z = load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3)
        w0, x0, y0, z0 = load(before, i), load(before, i + 1), load(before, i + 2), load(before, i + 3)
        u0, u1, u2 = 0.5 * load(step, a), 0.5 * load(step, a + 1), 0.5 * load(step, a + 2)
        # The turn by the step, to first order: normalising makes it exact enough for a step that the next corrects.
        nw = select(accepted, w - u0 * x - u1 * y - u2 * z, w0 + 0.25 * (w - w0))
        nx = select(accepted, x + u0 * w + u1 * z - u2 * y, x0 + 0.25 * (x - x0))
        ny = select(accepted, y + u1 * w + u2 * x - u0 * z, y0 + 0.25 * (y - y0))
        nz = select(accepted, z + u2 * w + u0 * y - u1 * x, z0 + 0.25 * (z - z0))
        scale = 1.0 / sqrt(nw * nw + nx * nx + ny * ny + nz * nz)
        store(before, i, select(accepted, w, w0)), store(before, i + 1, select(accepted, x, x0))
        store(before, i + 2, select(accepted, y, y0)), store(before, i + 3, select(accepted, z, z0))
        store(q, i, nw * scale), store(q, i + 1, nx * scale)
        store(q, i + 2, ny * scale), store(q, i + 3, nz * scale)
