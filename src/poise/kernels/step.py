"""One step of projected Levenberg-Marquardt.

Step.     dq = J_F^T (J_F J_F^T + lambda^2 I)^-1 e over the free joints F, then q clipped to its limits; a joint is
          free unless it stands at a limit and the descent direction J^T e pushes it out.
Damping.  lambda^2 = mu |e|^2, after Chan and Lawrence 1988: it vanishes with the error, so a reachable target is
          approached quadratically, and it stays where a target is out of reach.
Accepted  if the error fell; else q goes a quarter of the way from where it was to where it went, and mu grows.
"""

from poise.kernels._jit import kernel
from poise.kernels.dense import back_substitute, factor, gram
from poise.kernels.lanes import load, select, splat, sqrt, store


@kernel
def direction(effectors, blocks, slots, coords, limits, jobs, pairs, q, e, jacobian, damping, free, matrix, y, step):
    """The damped least-squares step over the free joints, into `step` (active velocities)."""
    count = step.shape[0]
    for a in range(count):
        store(step, a, 0.0)
        store(free, a, 1.0)
    for k in range(effectors.shape[0]):
        slot0, columns = effectors[k, 8], effectors[k, 6]
        for b in range(effectors[k, 4], effectors[k, 5]):
            e0, e1, e2 = load(e, 3 * b), load(e, 3 * b + 1), load(e, 3 * b + 2)
            j = blocks[b]
            for c in range(columns):
                a = slots[slot0 + c]
                gradient = load(jacobian, j) * e0 + load(jacobian, j + 1) * e1 + load(jacobian, j + 2) * e2
                store(step, a, load(step, a) + gradient)
                j += 3
    for c in range(coords.shape[0]):
        x, g = load(q, coords[c, 0]), load(step, coords[c, 1])
        locked = ((x <= limits[c, 0]) & (g < 0.0)) | ((x >= limits[c, 1]) & (g > 0.0))
        store(free, coords[c, 1], select(locked, splat(q, 0.0), splat(q, 1.0)))
    size = e.shape[0]
    gram(jobs, pairs, size, jacobian, free, matrix)
    factor(size, damping, matrix)
    back_substitute(size, matrix, e, y)
    for a in range(count):
        store(step, a, 0.0)
    for k in range(effectors.shape[0]):
        slot0, columns = effectors[k, 8], effectors[k, 6]
        for b in range(effectors[k, 4], effectors[k, 5]):
            y0, y1, y2 = load(y, 3 * b), load(y, 3 * b + 1), load(y, 3 * b + 2)
            j = blocks[b]
            for c in range(columns):
                a = slots[slot0 + c]
                move = load(jacobian, j) * y0 + load(jacobian, j + 1) * y1 + load(jacobian, j + 2) * y2
                store(step, a, load(step, a) + move)
                j += 3
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
