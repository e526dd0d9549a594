"""Damped least-squares steps without singular values: see `poise.methods.damped`."""

import functools
from typing import Final

from poise.kernels.algebra.blocks import spread, times, transpose_times
from poise.kernels.algebra.cholesky import solve_symmetric
from poise.kernels.algebra.qr import least_norm
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, store
from poise.kernels.machine.memory import FLOOR, LAST, MU, NU, PREDICTED, SHARE
from poise.kernels.machine.record import Record
from poise.kernels.machine.views import section
from poise.kernels.methods.damping import damp
from poise.kernels.methods.routines import stepping, updating
from poise.kernels.methods.update import hold_joints_at_limits, measure, move, restrain, undo_step
from poise.kernels.requirements.heavy_joints import ABLE, any_heavy_joint
from poise.kernels.solver.step import damping_factor, longest_column

ROWS: Final = Record("DampedRows", "separate")
"""`separate`: the damping rule adds what it damps to J J^T itself, and leaves a floor."""
PLAIN: Final = Record("Plain")
_LEAST = 1e-12
"""Bounds of mu: this share of the largest diagonal entry of J^T J, below which pivots are rounding, and one over this
times it, above which steps are."""


_FLOOR = 1e-12
"""Share of the largest diagonal entry of J M J^T that keeps the pivots of its inverse above rounding."""


@functools.partial(kernel, inline=True)
def damped_step(p, s, w):
    """step = J^T (J J^T + lambda^2 I)^-1 e (Buss 2004, eq. 11)."""
    size = len(w.e)
    gram(p, size, w.jacobian, w.free, w.matrix)
    if s.separate:
        for i in range(size):
            for j in range(i):
                store(w.matrix, j * size + i, load(w.matrix, i * size + j))
    damping = damp(p, w)
    if s.separate:
        damping = load(w.memory, FLOOR)
    factor(size, damping, w.matrix)
    through_rows(p, w)


@functools.partial(kernel, inline=True)
def through_rows(p, w):
    """step = F J^T (L L^T)^-1 e, with the factor L in w.matrix."""
    back_substitute(len(w.e), w.matrix, w.clamped, w.y)
    transpose_times(p, w.jacobian, w.y, w.step)
    for a in range(len(w.step)):
        store(w.step, a, load(w.step, a) * load(w.free, a))


def guided_step(p, s, w):
    """step = M J^T ((J M J^T + lambda^2 I)^-1 e - (J M J^T)^-1 J phi) + phi, towards the posture that is phi away.

    M is the diagonal of `p.weight_ratios` squared.  The second inverse, which takes J phi away, is damped by no more
    than rounding asks for (_FLOOR).  With heavy joints, what light joints cannot do of the step without weights, all
    joints do without weights: of e' = J J^T (J J^T + lambda^2 I)^-1 e, which that step does, it is
    rho (J M J^T + rho I)^-1 e', rho = ABLE times the largest diagonal entry.
    """
    size, n = len(w.e), len(w.step)
    weighted = any_heavy_joint(p)
    plain, rest = section(w.room, size * size, size * size), section(w.room, 2 * size * size, size)
    if weighted:
        # The step without weights; `plain` keeps its factor, `rest` becomes e'.
        gram(p, size, w.jacobian, w.free, plain)
        factor(size, damp(p, w), plain)
        back_substitute(size, plain, w.clamped, rest)
        transpose_times(p, w.jacobian, rest, w.step)
        for a in range(n):
            store(w.step, a, load(w.step, a) * load(w.free, a))
        times(p, w.jacobian, w.step, rest)
    for a in range(len(p.weight_ratios)):
        store(w.free, a, load(w.free, a) * (p.weight_ratios[a] * p.weight_ratios[a]))
    gram(p, size, w.jacobian, w.free, w.matrix)
    damping = damp(p, w)
    sharp, largest = section(w.room, 0, size * size), splat(w.e, 1e-300)
    for i in range(size):
        for j in range(i - i % 3 + 3):  # the tiles on and below the diagonal
            store(sharp, i * size + j, load(w.matrix, i * size + j))
        x = load(w.matrix, i * size + i)
        largest = select(x > largest, x, largest)
    times(p, w.jacobian, w.phi, w.along)
    factor(size, _FLOOR * largest, sharp)
    back_substitute(size, sharp, w.along, w.along)
    if weighted:
        _leave_tasks(p, w)
        _take_rest(p, w, ABLE * largest, plain, rest)
        damping = damping + ABLE * largest
    factor(size, damping, w.matrix)
    back_substitute(size, w.matrix, w.clamped, w.y)
    for i in range(size):
        store(w.y, i, load(w.y, i) - load(w.along, i))
    transpose_times(p, w.jacobian, w.y, w.step)
    for a in range(n):
        store(w.step, a, load(w.step, a) * load(w.free, a) + load(w.phi, a))


@kernel
def _leave_tasks(p, w):
    """Project phi into the null space: phi -= F J^T along, then scaled so that no entry is longer than before.

    w.along = (J M J^T)^-1 J phi, and is 0 afterwards.  A heavy base that is to go home by a little can ask for turns of
    an arm that is all but stretched, far beyond where the linear model holds.
    """
    transpose_times(p, w.jacobian, w.along, w.step)
    before, after = splat(w.e, 1e-300), splat(w.e, 1e-300)
    for a in range(len(w.step)):
        x = load(w.phi, a)
        y = x - load(w.step, a) * load(w.free, a)
        store(w.phi, a, y)
        x, y = select(x < 0.0, -x, x), select(y < 0.0, -y, y)
        before, after = select(x > before, x, before), select(y > after, y, after)
    share = select(after > before, before / after, 1.0)
    for a in range(len(w.step)):
        store(w.phi, a, share * load(w.phi, a))
    for i in range(len(w.e)):
        store(w.along, i, splat(w.e, 0.0))


@kernel
def _take_rest(p, w, rho, plain, rest):
    """phi += J^T (J J^T + lambda^2 I)^-1 rho (J M J^T + rho I)^-1 rest, with the factor of the first in `plain`."""
    size, n = len(w.e), len(w.step)
    able = section(w.room, 2 * size * size + size, size * size)
    for i in range(size):
        for j in range(i - i % 3 + 3):
            store(able, i * size + j, load(w.matrix, i * size + j))
    factor(size, rho, able)
    back_substitute(size, able, rest, rest)
    for i in range(size):
        store(rest, i, rho * load(rest, i))
    back_substitute(size, plain, rest, rest)
    transpose_times(p, w.jacobian, rest, w.step)
    for a in range(n):
        free = load(w.free, a) * (1.0 / (p.weight_ratios[a] * p.weight_ratios[a]))
        store(w.phi, a, load(w.phi, a) + load(w.step, a) * free)


def columns_step(p, s, w):
    """step = (J^T J + lambda^2 I)^-1 J^T e (Buss 2004, eq. 10); joints that are held have the identity's rows."""
    m, n = len(w.e), len(w.step)
    damping = damp(p, w)
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


def orthogonal_step(p, s, w):
    """The same step by orthogonal rows [J, lambda I] (Buss 2004, section 5): no squared condition number."""
    damping = damp(p, w)
    m, n = len(w.e), len(w.step)
    for i in range(m * n):
        store(w.room, i, splat(w.e, 0.0))
    spread(p, w.jacobian, w.free, n, w.room)
    least_norm(m, n, damping, w.room, w.clamped, w.y, w.step)


@functools.partial(kernel, inline=True)
def judge_last(p, w, cost, score):
    """Set the gain-ratio damping MU by how well the last step was predicted; the lanes that must take it back.

    mu shrinks by max(1/3, 1 - (2 rho - 1)^3) where the error fell, and grows by nu, which doubles, where it did not, or
    where the step was not finite: Nielsen 1999.  It starts from the largest diagonal entry of J^T J.  A step that was
    shortened says nothing of longer ones, so mu then does not shrink.
    """
    predicted, last = load(w.memory, PREDICTED), load(w.memory, LAST)
    mu, nu = load(w.memory, MU), load(w.memory, NU)
    judged, elsewhere = predicted > 0.0, predicted < 0.0
    largest = longest_column(p, w)
    share = load(w.memory, SHARE)
    worse = (judged & (cost >= last) & (score > 1.0)) | ((mu > 0.0) & (share <= 0.0))
    shrink = damping_factor(last - cost, select(judged, predicted, 1.0))
    shrink = select(shrink < 2.0, shrink, 2.0)
    shrink = select((share < 1.0) & (shrink < 1.0), 1.0, shrink)
    mu = select(mu > 0.0, select(judged, mu * select(worse, nu, shrink), mu), largest)
    mu = select(mu < _LEAST * largest, _LEAST * largest, mu)
    mu = select(_LEAST * mu > largest, largest * (1.0 / _LEAST), mu)
    mu = select(elsewhere & (mu > largest), largest, mu)  # the damping of a pose at rest would hold a new target up
    store(w.memory, MU, mu)
    store(w.memory, NU, select(worse, 2.0 * nu, select(judged | elsewhere, 2.0, select(nu > 1.0, nu, 2.0))))
    store(w.memory, LAST, select(worse, last, cost))
    return worse


@functools.partial(kernel, inline=True)
def predict(p, w):
    """PREDICTED = 2 g.d - |J d|^2, by which the linear model says that the step d, as it is taken, lowers |e|^2.

    Limits can bend a step uphill: it is then 1e-300, positive, so that the step is still judged.
    """
    times(p, w.jacobian, w.step, w.y)
    fall = splat(w.e, 0.0)
    for a in range(len(w.step)):
        fall = fall + 2.0 * load(w.gradient, a) * load(w.step, a)
    for i in range(len(w.y)):
        fall = fall - load(w.y, i) * load(w.y, i)
    store(w.memory, PREDICTED, select(fall < 0.0, 1e-300, fall))


def judged_update(p, s, w):
    """An update of damped least squares whose lambda follows from what the last step gained; see `GainRatio`."""
    cost, score = measure(p, w, True)
    hold_joints_at_limits(p, w)
    back = judge_last(p, w, cost, score)
    damped_step(p, s, w)
    restrain(p, w)
    undo_step(w, back)
    move(p, w)
    predict(p, w)
    store(w.memory, PREDICTED, select(back, 0.0, load(w.memory, PREDICTED)))
    return cost, score


damped = stepping(damped_step, ROWS)
guided = stepping(guided_step, PLAIN)
judged = updating(judged_update, ROWS)
columns = stepping(columns_step, PLAIN)
orthogonal = stepping(orthogonal_step, PLAIN)
