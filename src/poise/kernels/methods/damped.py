"""Damped least-squares steps without singular values: see `poise.methods.damped`."""

import functools

from poise.kernels.algebra.blocks import spread, times, transpose_times
from poise.kernels.algebra.cholesky import solve_symmetric
from poise.kernels.algebra.qr import least_norm
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.kinematics.forward import tool_point
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, store
from poise.kernels.machine.layout import PRISMATIC
from poise.kernels.machine.views import section
from poise.kernels.methods.damping import damp_estimated, from_errors, longest_column
from poise.kernels.methods.memory import DAMPING, LAST, MU, NU, PREDICTED
from poise.kernels.methods.settings import ESTIMATED, ESTIMATED_TWO, RULE, RULE_C


@functools.partial(kernel, inline=True)
def damped_step(p, s, w):
    """step = J^T (J J^T + lambda^2 I)^-1 e (Buss 2004, eq. 11)."""
    size = len(w.e)
    gram(p, size, w.jacobian, w.free, w.matrix)
    if s[RULE] == ESTIMATED or s[RULE] == ESTIMATED_TWO:
        for i in range(size):
            for j in range(i):
                store(w.matrix, j * size + i, load(w.matrix, i * size + j))
        store(w.memory, DAMPING, damp_estimated(s, w, size, w.matrix) + s[RULE_C])
        damping = splat(w.e, s[RULE_C])
    else:
        damping = from_errors(p, s, w)
        store(w.memory, DAMPING, damping)
    factor(size, damping, w.matrix)
    _through_rows(p, w)


@functools.partial(kernel, inline=True)
def _through_rows(p, w):
    """step = F J^T (L L^T)^-1 e, with the factor L in w.matrix."""
    back_substitute(len(w.e), w.matrix, w.clamped, w.y)
    transpose_times(p, w.jacobian, w.y, w.step)
    for a in range(len(w.step)):
        store(w.step, a, load(w.step, a) * load(w.free, a))


@functools.partial(kernel, inline=True)
def columns_step(p, s, w):
    """step = (J^T J + lambda^2 I)^-1 J^T e (Buss 2004, eq. 10); joints that are held have the identity's rows."""
    m, n = len(w.e), len(w.step)
    damping = from_errors(p, s, w)
    store(w.memory, DAMPING, damping)
    for i in range(m * n):
        store(w.rows, i, splat(w.e, 0.0))
    spread(p, w.jacobian, w.free, n, w.rows)
    matrix = section(w.room, 0, n * n)
    for a in range(n):
        for b in range(a + 1):
            total = splat(w.e, 0.0)
            for i in range(m):
                total = total + load(w.rows, i * n + a) * load(w.rows, i * n + b)
            store(matrix, a * n + b, total)
        store(matrix, a * n + a, load(matrix, a * n + a) + damping + (1.0 - load(w.free, a)))
        store(w.step, a, load(w.gradient, a) * load(w.free, a))
    solve_symmetric(n, matrix, w.step)


@functools.partial(kernel, inline=True)
def orthogonal_step(p, s, w):
    """The same step by orthogonal rows [J, lambda I] (Buss 2004, section 5): no squared condition number."""
    damping = from_errors(p, s, w)
    store(w.memory, DAMPING, damping)
    m, n = len(w.e), len(w.step)
    for i in range(m * n):
        store(w.room, i, splat(w.e, 0.0))
    spread(p, w.jacobian, w.free, n, w.room)
    least_norm(m, n, damping, w.room, w.clamped, w.y, w.step)


@functools.partial(kernel, inline=True)
def judge_last(p, w, cost, score):
    """Set the gain-ratio damping by how well the last step was predicted; the lanes that must take it back.

    mu shrinks by max(1/3, 1 - (2 rho - 1)^3) where the error fell, and grows by nu, which doubles, where it did not:
    Nielsen 1999.  It starts from the largest diagonal entry of J^T J.
    """
    predicted, last = load(w.memory, PREDICTED), load(w.memory, LAST)
    mu, nu = load(w.memory, MU), load(w.memory, NU)
    judged, elsewhere = predicted > 0.0, predicted < 0.0
    largest = longest_column(p, w)
    worse = judged & (cost >= last) & (score > 1.0)
    rho = (last - cost) / select(judged, predicted, 1.0)
    x = 2.0 * rho - 1.0
    shrink = 1.0 - x * x * x
    shrink = select(shrink > 1.0 / 3.0, shrink, 1.0 / 3.0)
    mu = select(mu > 0.0, select(judged, mu * select(worse, nu, shrink), mu), largest)
    mu = select(elsewhere & (mu > largest), largest, mu)  # the damping of a pose at rest would hold a new target up
    store(w.memory, MU, mu)
    store(w.memory, NU, select(worse, 2.0 * nu, select(judged | elsewhere, 2.0, select(nu > 1.0, nu, 2.0))))
    store(w.memory, LAST, select(worse, last, cost))
    return worse


@functools.partial(kernel, inline=True)
def predict(p, w):
    """Remember by how much the linear model says that the step, as it is taken, lowers the error: 2 g.d - |J d|^2.

    Limits can bend a step uphill, which is still judged.
    """
    times(p, w.jacobian, w.step, w.y)
    fall = splat(w.e, 0.0)
    for a in range(len(w.step)):
        fall = fall + 2.0 * load(w.gradient, a) * load(w.step, a)
    for i in range(len(w.y)):
        fall = fall - load(w.y, i) * load(w.y, i)
    store(w.memory, PREDICTED, select(fall < 0.0, 1e-300, fall))


@functools.partial(kernel, inline=True)
def halley_step(p, s, w):
    """A damped step d, then the damped step of A = J + (dJ/dt along d) / 2 (Lloyd, Irani and Ahmadi 2022)."""
    size = len(w.e)
    damping = from_errors(p, s, w)
    store(w.memory, DAMPING, damping)
    gram(p, size, w.jacobian, w.free, w.matrix)
    factor(size, damping, w.matrix)
    _through_rows(p, w)
    _bend(p, w)
    gram(p, size, w.jacobian, w.free, w.matrix)
    factor(size, damping, w.matrix)
    _through_rows(p, w)


@functools.partial(kernel, inline=True)
def _bend(p, w):
    """J += (dJ/dt) / 2 along the velocities w.step, for places and rotations whose rows have no weights.

    A joint's axis turns, and its origin moves, with what the joints before it do; the effector moves with all.
    """
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        slot0 = effector.first_slot
        if (effector.position < 0 and effector.rotation < 0) or effector.weighing or effector.base:
            continue
        block = effector.first_block
        o = splat(w.e, 0.0)
        px, py, pz = tool_point(effector, w.frames)
        linear, angular = p.blocks[block].start, p.blocks[p.effectors[k].last_block - 1].start
        s0, s1, s2 = o, o, o
        if effector.position >= 0:
            for c in range(p.effectors[k].columns):
                x = load(w.step, p.slots[slot0 + c])
                s0 = s0 + load(w.jacobian, linear + 3 * c) * x
                s1 = s1 + load(w.jacobian, linear + 3 * c + 1) * x
                s2 = s2 + load(w.jacobian, linear + 3 * c + 2) * x
        # The twist of what carries a joint: turn w and the velocity v of the point at the world's origin.
        w0, w1, w2, v0, v1, v2 = o, o, o, o, o, o
        n0, n1, n2, u0, u1, u2 = o, o, o, o, o, o
        for r in range(p.effectors[k].first_column, p.effectors[k].last_column):
            axis, place, joint, column = p.columns[r].axis, p.columns[r].place, p.columns[r].kind, p.columns[r].column
            if column < 0:
                column = -1 - column
            z0, z1, z2 = load(w.frames, axis), load(w.frames, axis + 1), load(w.frames, axis + 2)
            x0, x1, x2 = load(w.frames, place), load(w.frames, place + 1), load(w.frames, place + 2)
            scale, pitch = p.columns[r].scale, 1.0 if joint == PRISMATIC else p.columns[r].pitch
            z0, z1, z2 = z0 * scale, z1 * scale, z2 * scale
            speed = load(w.step, p.slots[slot0 + column])
            d0, d1, d2 = w1 * z2 - w2 * z1, w2 * z0 - w0 * z2, w0 * z1 - w1 * z0
            l0, l1, l2 = d0 * pitch, d1 * pitch, d2 * pitch
            u0, u1, u2 = u0 + z0 * (pitch * speed), u1 + z1 * (pitch * speed), u2 + z2 * (pitch * speed)
            if joint != PRISMATIC:
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
            if effector.position >= 0:
                _add(w.jacobian, linear + 3 * column, 0.5 * l0, 0.5 * l1, 0.5 * l2)
            if effector.rotation >= 0 and joint != PRISMATIC:
                _add(w.jacobian, angular + 3 * column, 0.5 * d0, 0.5 * d1, 0.5 * d2)
            if axis - place == 3:  # the first two axes of a ball wait for the third: all three turn as one
                w0, w1, w2, v0, v1, v2 = w0 + n0, w1 + n1, w2 + n2, v0 + u0, v1 + u1, v2 + u2
                n0, n1, n2, u0, u1, u2 = o, o, o, o, o, o


@kernel
def _add(jacobian, at, x, y, z):
    store(jacobian, at, load(jacobian, at) + x)
    store(jacobian, at + 1, load(jacobian, at + 1) + y)
    store(jacobian, at + 2, load(jacobian, at + 2) + z)
