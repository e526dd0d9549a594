"""Damped least-squares steps without singular values: see `poise.methods.damped`."""

import functools

from poise.kernels.algebra.blocks import spread, times, transpose_times
from poise.kernels.algebra.cholesky import solve_symmetric
from poise.kernels.algebra.qr import least_norm
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.kinematics.forward import FRAME
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, section, select, splat, store
from poise.kernels.methods.damping import damp_estimated, from_errors, longest_column
from poise.kernels.methods.memory import DAMPING, LAST, MU, NU, PREDICTED
from poise.kernels.methods.settings import ESTIMATED, ESTIMATED_TWO, RULE, RULE_C
from poise.kernels.rows.residuals import ORIENTATION, POSITION


@functools.partial(kernel, inline=True)
def damped_step(p, s, plan, w, d):
    """step = J^T (J J^T + lambda^2 I)^-1 e (Buss 2004, eq. 11)."""
    size = w.e.shape[0]
    gram(p.jobs, p.pairs, size, w.jacobian, w.free, w.matrix)
    if s[RULE] == ESTIMATED or s[RULE] == ESTIMATED_TWO:
        for i in range(size):
            for j in range(i):
                store(w.matrix, j * size + i, load(w.matrix, i * size + j))
        store(d.memory, DAMPING, damp_estimated(s, d, size, w.matrix) + s[RULE_C])
        damping = splat(w.e, s[RULE_C])
    else:
        damping = from_errors(p, s, w, d)
        store(d.memory, DAMPING, damping)
    factor(size, damping, w.matrix)
    _through_rows(p, w, d)


@functools.partial(kernel, inline=True)
def _through_rows(p, w, d):
    """step = F J^T (L L^T)^-1 e, with the factor L in w.matrix."""
    back_substitute(w.e.shape[0], w.matrix, d.e, w.y)
    transpose_times(p.effectors, p.blocks, p.slots, w.jacobian, w.y, w.step)
    for a in range(w.step.shape[0]):
        store(w.step, a, load(w.step, a) * load(w.free, a))


@functools.partial(kernel, inline=True)
def columns_step(p, s, plan, w, d):
    """step = (J^T J + lambda^2 I)^-1 J^T e (Buss 2004, eq. 10); joints that are held have the identity's rows."""
    m, n = w.e.shape[0], w.step.shape[0]
    damping = from_errors(p, s, w, d)
    store(d.memory, DAMPING, damping)
    for i in range(m * n):
        store(d.rows, i, splat(w.e, 0.0))
    spread(p.effectors, p.blocks, p.slots, w.jacobian, w.free, n, d.rows)
    matrix = section(d.big, 0, n * n)
    for a in range(n):
        for b in range(a + 1):
            total = splat(w.e, 0.0)
            for i in range(m):
                total = total + load(d.rows, i * n + a) * load(d.rows, i * n + b)
            store(matrix, a * n + b, total)
        store(matrix, a * n + a, load(matrix, a * n + a) + damping + (1.0 - load(w.free, a)))
        store(w.step, a, load(d.g, a) * load(w.free, a))
    solve_symmetric(n, matrix, w.step)


@functools.partial(kernel, inline=True)
def orthogonal_step(p, s, plan, w, d):
    """The same step by orthogonal rows [J, lambda I] (Buss 2004, section 5): no squared condition number."""
    damping = from_errors(p, s, w, d)
    store(d.memory, DAMPING, damping)
    m, n = w.e.shape[0], w.step.shape[0]
    for i in range(m * n):
        store(d.big, i, splat(w.e, 0.0))
    spread(p.effectors, p.blocks, p.slots, w.jacobian, w.free, n, d.big)
    least_norm(m, n, damping, d.big, d.e, w.y, w.step)


@functools.partial(kernel, inline=True)
def judge_last(p, w, d, cost, score):
    """Set the gain-ratio damping by how well the last step was predicted; the lanes that must take it back.

    mu shrinks by max(1/3, 1 - (2 rho - 1)^3) where the error fell, and grows by nu, which doubles, where it did not:
    Nielsen 1999.  It starts from the largest diagonal entry of J^T J.
    """
    predicted, last = load(d.memory, PREDICTED), load(d.memory, LAST)
    mu, nu = load(d.memory, MU), load(d.memory, NU)
    judged, elsewhere = predicted > 0.0, predicted < 0.0
    largest = longest_column(p, w)
    worse = judged & (cost >= last) & (score > 1.0)
    rho = (last - cost) / select(judged, predicted, 1.0)
    x = 2.0 * rho - 1.0
    shrink = 1.0 - x * x * x
    shrink = select(shrink > 1.0 / 3.0, shrink, 1.0 / 3.0)
    mu = select(mu > 0.0, select(judged, mu * select(worse, nu, shrink), mu), largest)
    mu = select(elsewhere & (mu > largest), largest, mu)  # the damping of a pose at rest would hold a new target up
    store(d.memory, MU, mu)
    store(d.memory, NU, select(worse, 2.0 * nu, select(judged | elsewhere, 2.0, select(nu > 1.0, nu, 2.0))))
    store(d.memory, LAST, select(worse, last, cost))
    return worse


@functools.partial(kernel, inline=True)
def predict(p, w, d):
    """Remember by how much the linear model says that the step, as it is taken, lowers the error: 2 g.d - |J d|^2.

    Limits can bend a step uphill, which is still judged.
    """
    times(p.effectors, p.blocks, p.slots, w.jacobian, w.step, w.y)
    fall = splat(w.e, 0.0)
    for a in range(w.step.shape[0]):
        fall = fall + 2.0 * load(d.g, a) * load(w.step, a)
    for i in range(w.y.shape[0]):
        fall = fall - load(w.y, i) * load(w.y, i)
    store(d.memory, PREDICTED, select(fall < 0.0, 1e-300, fall))


@functools.partial(kernel, inline=True)
def halley_step(p, s, plan, w, d):
    """A damped step d, then the damped step of A = J + (dJ/dt along d) / 2 (Lloyd, Irani and Ahmadi 2022)."""
    size = w.e.shape[0]
    damping = from_errors(p, s, w, d)
    store(d.memory, DAMPING, damping)
    gram(p.jobs, p.pairs, size, w.jacobian, w.free, w.matrix)
    factor(size, damping, w.matrix)
    _through_rows(p, w, d)
    _bend(p, w)
    gram(p.jobs, p.pairs, size, w.jacobian, w.free, w.matrix)
    factor(size, damping, w.matrix)
    _through_rows(p, w, d)


@functools.partial(kernel, inline=True)
def _bend(p, w):
    """J += (dJ/dt) / 2 along the velocities w.step, for places and rotations whose rows have no weights.

    A joint's axis turns, and its origin moves, with what the joints before it do; the effector moves with all.
    """
    for k in range(p.effectors.shape[0]):
        kind, slot0 = p.effectors[k, 1], p.effectors[k, 8]
        if kind > ORIENTATION or p.effectors[k, 7] or p.effectors[k, 9]:
            continue
        at, block = FRAME * p.effectors[k, 0], p.effectors[k, 4]
        o = splat(w.e, 0.0)
        px, py, pz = load(w.frames, at), load(w.frames, at + 1), load(w.frames, at + 2)
        t0, t1, t2 = p.tools[k, 9], p.tools[k, 10], p.tools[k, 11]
        px = px + load(w.frames, at + 6) * t0 + load(w.frames, at + 9) * t1 + load(w.frames, at + 3) * t2
        py = py + load(w.frames, at + 7) * t0 + load(w.frames, at + 10) * t1 + load(w.frames, at + 4) * t2
        pz = pz + load(w.frames, at + 8) * t0 + load(w.frames, at + 11) * t1 + load(w.frames, at + 5) * t2
        linear, angular = p.blocks[block], p.blocks[p.effectors[k, 5] - 1]
        s0, s1, s2 = o, o, o
        if kind != ORIENTATION:
            for c in range(p.effectors[k, 6]):
                x = load(w.step, p.slots[slot0 + c])
                s0 = s0 + load(w.jacobian, linear + 3 * c) * x
                s1 = s1 + load(w.jacobian, linear + 3 * c + 1) * x
                s2 = s2 + load(w.jacobian, linear + 3 * c + 2) * x
        # The twist of what carries a joint: turn w and the velocity v of the point at the world's origin.
        w0, w1, w2, v0, v1, v2 = o, o, o, o, o, o
        n0, n1, n2, u0, u1, u2 = o, o, o, o, o, o
        for r in range(p.effectors[k, 2], p.effectors[k, 3]):
            axis, place, joint, column = p.raw[r, 0], p.raw[r, 1], p.raw[r, 2], p.raw[r, 3]
            if column < 0:
                column = -1 - column
            z0, z1, z2 = load(w.frames, axis), load(w.frames, axis + 1), load(w.frames, axis + 2)
            x0, x1, x2 = load(w.frames, place), load(w.frames, place + 1), load(w.frames, place + 2)
            scale, pitch = p.scales[r, 0], 1.0 if joint == 1 else p.scales[r, 1]
            z0, z1, z2 = z0 * scale, z1 * scale, z2 * scale
            speed = load(w.step, p.slots[slot0 + column])
            d0, d1, d2 = w1 * z2 - w2 * z1, w2 * z0 - w0 * z2, w0 * z1 - w1 * z0
            l0, l1, l2 = d0 * pitch, d1 * pitch, d2 * pitch
            u0, u1, u2 = u0 + z0 * (pitch * speed), u1 + z1 * (pitch * speed), u2 + z2 * (pitch * speed)
            if joint != 1:
                r0, r1, r2 = px - x0, py - x1, pz - x2
                m0 = s0 - v0 - (w1 * x2 - w2 * x1)
                m1 = s1 - v1 - (w2 * x0 - w0 * x2)
                m2 = s2 - v2 - (w0 * x1 - w1 * x0)
                l0 = l0 + d1 * r2 - d2 * r1 + z1 * m2 - z2 * m1
                l1 = l1 + d2 * r0 - d0 * r2 + z2 * m0 - z0 * m2
                l2 = l2 + d0 * r1 - d1 * r0 + z0 * m1 - z1 * m0
                n0, n1, n2 = n0 + z0 * speed, n1 + z1 * speed, n2 + z2 * speed
                u0 = u0 + (x1 * z2 - x2 * z1) * speed
                u1 = u1 + (x2 * z0 - x0 * z2) * speed
                u2 = u2 + (x0 * z1 - x1 * z0) * speed
            if kind != ORIENTATION:
                _add(w.jacobian, linear + 3 * column, 0.5 * l0, 0.5 * l1, 0.5 * l2)
            if kind != POSITION and joint != 1:
                _add(w.jacobian, angular + 3 * column, 0.5 * d0, 0.5 * d1, 0.5 * d2)
            if axis - place == 3:  # the first two axes of a ball wait for the third: all three turn as one
                w0, w1, w2, v0, v1, v2 = w0 + n0, w1 + n1, w2 + n2, v0 + u0, v1 + u1, v2 + u2
                n0, n1, n2, u0, u1, u2 = o, o, o, o, o, o


@kernel
def _add(jacobian, at, x, y, z):
    store(jacobian, at, load(jacobian, at) + x)
    store(jacobian, at + 1, load(jacobian, at + 1) + y)
    store(jacobian, at + 2, load(jacobian, at + 2) + z)
