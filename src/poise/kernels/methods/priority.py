"""One update of the methods of task priority: see `poise.methods.priority`.

`plan` is of `method_plans.ranking`: the number of levels, the first place of each and the end of the last, then the
rows' numbers in the order of the levels, then how many inequalities are stated at the end of `s`.
"""

import functools

from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.blocks import spread
from poise.kernels.algebra.reflections import dot
from poise.kernels.algebra.svd import decompose, identity
from poise.kernels.algebra.working_set import Levels, Limits
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, packs, pitch, sqrt, store_pack, zeros
from poise.kernels.machine.views import section
from poise.kernels.methods.criteria import pull
from poise.kernels.methods.damping import from_errors
from poise.kernels.methods.limits import inequalities, left_to_limits, linear_rows
from poise.kernels.methods.memory import DAMPING, FRESH
from poise.kernels.methods.settings import (
    BAERLOCHER_BOULIC,
    CHIAVERINI,
    MAX_NORM,
    MAX_STEP,
    NULL,
    OPTION,
    RULE,
    RULE_A,
)
from poise.kernels.methods.update import hold_joints_at_limits, measure, move, restrain

_LESS = 1e-6
"""What a squared error counts against one of the level before, when iterates are compared."""
_RANK = 1e-6
"""Against |J_k|, a singular value of J_k P below which its direction is not open to level k.

Against the largest of J_k P itself it would pass rounding for a direction where the levels before leave nothing.
"""


@functools.partial(kernel, inline=True)
def lexicographic_update(p, s, w):
    """Move w.q by the step that is least in levels, within the limits; (squared errors before it, score).

    The errors of a later level count less.
    """
    cost, score, levels = _measure(p, s, w)
    for a in range(len(w.free)):
        w.free[a] = 1.0
    _spread_rows(p, s, w)
    _within_limits(p, s, p.plan[0], levels, w)
    return _go(p, s, w, cost, score)


@functools.partial(kernel, inline=True)
def projected_update(p, s, w):
    """Move w.q by one step of the methods that project level by level; (squared errors before it, score)."""
    cost, score, levels = _measure(p, s, w)
    hold_joints_at_limits(p, w)
    _spread_rows(p, s, w)
    _by_projectors(s, p.plan[0], levels, w)
    return _go(p, s, w, cost, score)


@functools.partial(kernel, inline=True)
def _measure(p, s, w):
    """Errors, clamped, and Jacobians at w.q; (squared errors, score, what `plan` says of the levels)."""
    _, score = measure(p, s, w, False)
    levels = section(p.plan, 1, len(p.plan) - 1)
    cost = _ranked_cost(p.plan[0], levels, w.e)
    return cost, score, levels


@functools.partial(kernel, inline=True)
def _spread_rows(p, s, w):
    """The Jacobian of all levels, row by row, and what the null-space terms ask for."""
    for a in range(len(w.step)):
        w.phi[a] = 0.0
    if s[NULL]:
        pull(p, s, w)
    row = pitch(w.rows, len(w.step))
    for i in range(len(w.e) * row):
        w.rows[i] = 0.0
    spread(p, w.jacobian, w.free, row, w.rows)


@functools.partial(kernel, inline=True)
def _go(p, s, w, cost, score):
    """Take the step."""
    restrain(p, s, w)
    move(p, w)
    w.memory[FRESH] = 1.0
    return cost, score


@kernel
def _ranked_cost(count, levels, e):
    """The sum of the levels' squared errors, each counting a little of the one before."""
    cost, share = 0.0, 1.0
    for k in range(count):
        for r in range(levels[k], levels[k + 1]):
            x = e[levels[count + 1 + r]]
            cost += share * x * x
        share *= _LESS
    return cost


@functools.partial(kernel, inline=True)
def _within_limits(p, s, count, levels, w):
    """w.step is the minimum in levels, within max(l - q, -v dt) <= step <= min(u - q, v dt) and the rows."""
    n, stated = len(w.step), inequalities(p, w)
    row = pitch(w.rows, n)
    rows, at = section(w.room, 0, stated * row), stated * row
    side, most = section(w.room, at, n + stated), section(w.room, at + n + stated, stated)
    at = at + n + 2 * stated
    squares, low, high = section(w.room, at, count), section(w.room, at + count, n), section(w.room, at + count + n, n)
    at = at + count + 2 * n
    room = section(w.room, at, len(w.room) - at)
    _level_dampings(p, s, count, levels, w, squares)
    left_to_limits(p, w, s[MAX_STEP], low, high)
    linear_rows(p, w, rows, most)
    if w.memory[FRESH] < 0.5:
        for c in range(n + stated):
            side[c] = 0.0
    pull = int(s[NULL] > 0.0)
    first, order = section(levels, 0, count + 1), section(levels, count + 1, len(w.e))
    stages = Levels(count, first, order, w.rows, w.clamped, squares, w.phi, pull)
    minimise(stages, Limits(low, high, rows, most), w.step, side, room)


@functools.partial(kernel, inline=True)
def _level_dampings(p, s, count, levels, w, squares):
    """lambda^2 of each level, by the rule, from the errors of that level alone."""
    m = len(w.e)
    for i in range(m):
        w.y[i] = w.clamped[i]
    for k in range(count):
        for i in range(m):
            w.clamped[i] = 0.0
        for r in range(levels[k], levels[k + 1]):
            i = levels[count + 1 + r]
            w.clamped[i] = w.y[i]
        squares[k] = from_errors(p, s, w)
    for i in range(m):
        w.clamped[i] = w.y[i]
    w.memory[DAMPING] = squares[0]


@functools.partial(kernel, inline=True)
def _by_projectors(s, count, levels, w):
    """w.step by the inverses of J_k P, or of J_k, and P <- P - (J_k P)^+ (J_k P) from level to level.

    Levels of Siciliano and Slotine start from what the ones before have done, those of Chiaverini do not.
    """
    m, n = len(w.e), len(w.step)
    row, wide = pitch(w.rows, n), packs(w.rows, n)
    left = section(w.room, 0, n * row)
    part = section(w.room, n * row, m * row)
    own = section(w.room, (n + m) * row, row)
    for i in range(n * row):
        left[i] = 0.0
    for a in range(n):
        left[a * row + a] = 1.0
        w.step[a] = 0.0
    for k in range(count):
        first, size = levels[k], levels[k + 1] - levels[k]
        order = section(levels, count + 1 + first, size)
        least = 0.0
        for r in range(size):
            error = w.clamped[order[r]]
            for a in range(n):
                x = w.rows[order[r] * row + a]
                least += x * x
                if s[OPTION] != CHIAVERINI:
                    error -= x * w.step[a]
            w.along[r] = error
        least = _RANK * sqrt(least)
        for c in range(wide):
            store_pack(own, c, zeros(own))
        if s[OPTION] == CHIAVERINI:
            for r in range(size):
                for c in range(wide):
                    store_pack(part, r * wide + c, load_pack(w.rows, order[r] * wide + c))
            identity(size, w.spare)
            decompose(size, n, part, w.spare, w.sigma)
            _add_inverse(size, n, part, w.spare, w.sigma, w.along, least, 0.0, own)
        _project(size, n, order, w.rows, left, part)
        identity(size, w.spare)
        decompose(size, n, part, w.spare, w.sigma)
        if s[OPTION] == CHIAVERINI:
            for a in range(n):
                w.step[a] += dot(left, a * wide, own, 0, 0, wide)
        else:
            damping = 0.0
            if s[OPTION] == BAERLOCHER_BOULIC:
                damping = _level_damping(s, size, w.sigma, w.along, least)
                if k == 0:
                    w.memory[DAMPING] = damping
            _add_inverse(size, n, part, w.spare, w.sigma, w.along, least, damping, own)
            for a in range(n):
                w.step[a] += own[a]
        for r in range(size):
            if w.sigma[r] > least:
                inverse = 1.0 / (w.sigma[r] * w.sigma[r])
                for a in range(n):
                    x = part[r * row + a] * inverse
                    for c in range(wide):
                        change = x * load_pack(part, r * wide + c)
                        store_pack(left, a * wide + c, load_pack(left, a * wide + c) - change)
    if s[NULL]:
        for c in range(wide):
            store_pack(own, c, zeros(own))
        for a in range(n):
            own[a] = w.phi[a]
        for a in range(n):
            w.step[a] += dot(left, a * wide, own, 0, 0, wide)


@kernel
def _project(size, n, order, rows, left, part):
    """part = J_k P."""
    row, wide = pitch(rows, n), packs(rows, n)
    for r in range(size):
        for c in range(wide):
            store_pack(part, r * wide + c, zeros(part))
        for a in range(n):
            x = rows[order[r] * row + a]
            if x != 0.0:
                for c in range(wide):
                    at = r * wide + c
                    store_pack(part, at, load_pack(part, at) + x * load_pack(left, a * wide + c))


@kernel
def _add_inverse(size, n, part, turn, sigma, error, least, damping, out):
    """out += sum sigma_i / (sigma_i^2 + lambda^2) v_i u_i^T e, over the singular values of more than `least`."""
    wide, side = packs(part, n), pitch(turn, size)
    for r in range(size):
        if sigma[r] > least:
            along = 0.0
            for i in range(size):
                along += turn[r * side + i] * error[i]
            scale = along / (sigma[r] * sigma[r] + damping)
            for c in range(wide):
                store_pack(out, c, load_pack(out, c) + scale * load_pack(part, r * wide + c))


@kernel
def _level_damping(s, size, sigma, error, least):
    """lambda^2 of a level: the constant, or that of Maciejewski and Klein's rule for its smallest singular value."""
    if s[RULE] != MAX_NORM:
        return s[RULE_A]
    low, square = 1e300, 0.0
    for r in range(size):
        square += error[r] * error[r]
        if sigma[r] > least:
            low = min(low, sigma[r])
    reach = sqrt(square) / s[RULE_A]
    if low >= reach:
        return 0.0
    return low * (reach - low) if low >= 0.5 * reach else 0.25 * reach * reach
