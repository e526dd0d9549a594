"""One update of the pairwise extended Jacobian: see `poise.methods.pairwise`.

`plan` is of `method_plans.pairs`: the number of pairs and the rows of each, then of each pair `source, first, last`,
then the entries, `unit, axis row, kind, velocity`, of which a pair has first to last.  Source k says that the point r
of a pair is the origin of joint k, which lies by a number behind the settings below that of unit k's frame; -1 - k,
that it is effector k.
"""

import functools

from poise.kernels.algebra.blocks import spread
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import FRAME, HELICAL, PRISMATIC
from poise.kernels.machine.views import section, table
from poise.kernels.methods.memory import FRESH
from poise.kernels.methods.settings import LU, OPTION, OPTION_A, OPTION_B
from poise.kernels.methods.update import linearise, move, restrain


@functools.partial(kernel, inline=True)
def pairwise_update(p, s, w):
    """Move w.q by the least-squares solution of [J; w P] dq = [e; 0], in either width; the sum of squares before it."""
    cost, score = linearise(p, s, w)
    m, n = len(w.e), len(w.step)
    count = m + p.plan[0] * p.plan[1]
    rows = section(w.room, 0, count * n)
    for i in range(count * n):
        store(rows, i, splat(w.e, 0.0))
    spread(p, w.jacobian, w.free, n, rows)
    pair_rows(p, s, w, n, section(w.room, m * n, p.plan[0] * p.plan[1] * n))
    rest, matrix = section(w.room, count * n, count), section(w.room, count * (n + 1), n * n)
    if s[OPTION] == LU:
        by_normal_equations(count, n, rows, w, matrix)
    else:
        for i in range(count):
            store(rest, i, load(w.clamped, i) if i < m else splat(w.e, 0.0))
        by_columns(count, n, rows, rest, matrix, w.step)
    restrain(p, s, w)
    move(p, w)
    store(w.memory, FRESH, 1.0)
    return cost, score


@functools.partial(kernel, inline=True)
def pair_rows(p, s, w, n, rows):
    """Add w P to the zeros in `rows`: of each pair the velocity of its point r, then its turn times the length."""
    pairs, size = p.plan[0], p.plan[1]
    heads = table(p.plan, 2, pairs, 3)
    first = 2 + 3 * pairs
    entries = table(p.plan, first, (len(p.plan) - first) // 4, 4)
    heights = p.plan_reals
    weight, length = s[OPTION_A], s[OPTION_A] * s[OPTION_B]
    for i in range(pairs):
        source = heads[i, 0]
        if source >= 0:
            at, lift = FRAME * source, heights[i]
            x = load(w.frames, at) - lift * load(w.frames, at + 3)
            y = load(w.frames, at + 1) - lift * load(w.frames, at + 4)
            z = load(w.frames, at + 2) - lift * load(w.frames, at + 5)
        else:
            k = -1 - source
            at = FRAME * p.effectors[k].tip
            t0, t1, t2 = p.effectors[k].tool[9], p.effectors[k].tool[10], p.effectors[k].tool[11]
            x = load(w.frames, at) + load(w.frames, at + 6) * t0 + load(w.frames, at + 9) * t1
            y = load(w.frames, at + 1) + load(w.frames, at + 7) * t0 + load(w.frames, at + 10) * t1
            z = load(w.frames, at + 2) + load(w.frames, at + 8) * t0 + load(w.frames, at + 11) * t1
            x = x + load(w.frames, at + 3) * t2
            y = y + load(w.frames, at + 4) * t2
            z = z + load(w.frames, at + 5) * t2
        for j in range(heads[i, 1], heads[i, 2]):
            unit, axis, kind, a = entries[j, 0], entries[j, 1], entries[j, 2], entries[j, 3]
            scale, to, place = load(w.free, a) * p.units[unit].multiplier, size * i * n + a, FRAME * unit
            z0, z1, z2 = (
                load(w.frames, axis) * scale,
                load(w.frames, axis + 1) * scale,
                load(w.frames, axis + 2) * scale,
            )
            if kind == PRISMATIC:
                l0, l1, l2 = z0, z1, z2
            else:
                r0, r1, r2 = x - load(w.frames, place), y - load(w.frames, place + 1), z - load(w.frames, place + 2)
                l0, l1, l2 = z1 * r2 - z2 * r1, z2 * r0 - z0 * r2, z0 * r1 - z1 * r0
                if kind == HELICAL:
                    pitch = p.units[unit].pitch
                    l0, l1, l2 = l0 + pitch * z0, l1 + pitch * z1, l2 + pitch * z2
            # Joints that follow one another have one column.
            store(rows, to, load(rows, to) + weight * l0)
            store(rows, to + n, load(rows, to + n) + weight * l1)
            store(rows, to + 2 * n, load(rows, to + 2 * n) + weight * l2)
            if size == 6 and kind != PRISMATIC:
                store(rows, to + 3 * n, load(rows, to + 3 * n) + length * z0)
                store(rows, to + 4 * n, load(rows, to + 4 * n) + length * z1)
                store(rows, to + 5 * n, load(rows, to + 5 * n) + length * z2)


@functools.partial(kernel, inline=True)
def by_normal_equations(count, n, rows, w, matrix):
    """w.step = (A^T A)^-1 J^T e by LU, A the `rows` (count x n); joints that are held have the identity's rows.

    A^T A is definite or singular, so the pivots stay on the diagonal.
    """
    for a in range(n):
        for b in range(n):
            total = splat(w.e, 0.0)
            for i in range(count):
                total = total + load(rows, i * n + a) * load(rows, i * n + b)
            store(matrix, a * n + b, total)
        store(matrix, a * n + a, load(matrix, a * n + a) + (1.0 - load(w.free, a)))
        store(w.step, a, load(w.gradient, a) * load(w.free, a))
    for k in range(n):
        for i in range(k + 1, n):
            factor = load(matrix, i * n + k) / load(matrix, k * n + k)
            for j in range(k + 1, n):
                store(matrix, i * n + j, load(matrix, i * n + j) - factor * load(matrix, k * n + j))
            store(w.step, i, load(w.step, i) - factor * load(w.step, k))
    back_substitute_upper(n, matrix, w.step)


@functools.partial(kernel, inline=True)
def by_columns(count, n, rows, rest, matrix, x):
    """x (n) of least |A x - b| by orthonormal columns, A the `rows` (count x n), b `rest`: A^T A is never formed.

    The modified Gram-Schmidt process takes b along as one more column (Bjorck 1967); zero columns leave x at 0.
    """
    for k in range(n):
        square = splat(rows, 0.0)
        for i in range(count):
            value = load(rows, i * n + k)
            square = square + value * value
        empty = square <= 0.0
        size = sqrt(select(empty, 1.0, square))
        inverse = select(empty, 0.0, 1.0 / size)
        store(matrix, k * n + k, size)
        for i in range(count):
            store(rows, i * n + k, load(rows, i * n + k) * inverse)
        for j in range(k + 1, n + 1):
            along = splat(rows, 0.0)
            for i in range(count):
                other = load(rows, i * n + j) if j < n else load(rest, i)
                along = along + load(rows, i * n + k) * other
            for i in range(count):
                part = along * load(rows, i * n + k)
                if j < n:
                    store(rows, i * n + j, load(rows, i * n + j) - part)
                else:
                    store(rest, i, load(rest, i) - part)
            if j < n:
                store(matrix, k * n + j, along)
            else:
                store(x, k, along)
    back_substitute_upper(n, matrix, x)


@kernel
def back_substitute_upper(n, matrix, x):
    """Replace x (n) by U^-1 x, U the upper triangle of `matrix` (n x n)."""
    for i in range(n - 1, -1, -1):
        value = load(x, i)
        for k in range(i + 1, n):
            value = value - load(matrix, i * n + k) * load(x, k)
        store(x, i, value / load(matrix, i * n + i))
