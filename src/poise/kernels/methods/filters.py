"""Steps through the singular values of J = sum sigma_i u_i v_i^T: see `poise.methods.filtered` and `.selective`."""

import functools

from poise.kernels.algebra.blocks import spread
from poise.kernels.algebra.scalar import exp
from poise.kernels.algebra.svd import decompose, identity, multiply
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, pitch, select, splat, sqrt, store
from poise.kernels.methods.criteria import RANK, widen
from poise.kernels.methods.damping import from_errors, from_values, ranked, shaped
from poise.kernels.methods.memory import DAMPING, SPLIT
from poise.kernels.methods.settings import (
    DROP,
    ESTIMATED,
    ESTIMATED_TWO,
    FILTER,
    FILTER_A,
    FILTER_B,
    GAUSSIAN,
    JPARSE,
    MANIPULABILITY_GAIN,
    NULL,
    OPTION,
    OPTION_A,
    RULE,
    RULE_A,
    RULE_B,
    RULE_C,
    TRUNCATED,
)

_RENEWED = 500.0
"""Updates after which the rotation kept from one to the next is made anew, before rounding shows in it."""


@functools.partial(kernel, inline=True)
def split(p, w):
    """Rows of w.rows become sigma_i v_i, of w.turn u_i, and w.along u_i^T e; the largest singular value.

    The decomposition of the last update is where this one starts.
    """
    m, n = len(w.e), len(w.step)
    row, side = pitch(w.rows, n), pitch(w.turn, m)
    age = load(w.memory, SPLIT)
    if any_of((age < 0.5) | (age >= _RENEWED)):
        identity(m, w.turn)
        age = 0.0 * age
    for i in range(m * row):
        store(w.room, i, splat(w.e, 0.0))
    spread(p, w.jacobian, w.free, row, w.room)
    multiply(m, n, w.turn, w.room, w.rows)
    store(w.memory, SPLIT, age + 1.0)
    decompose(m, n, w.rows, w.turn, w.sigma)
    top = splat(w.e, 0.0)
    for i in range(m):
        total = splat(w.e, 0.0)
        for k in range(m):
            total = total + load(w.turn, i * side + k) * load(w.clamped, k)
        store(w.along, i, total)
        x = load(w.sigma, i)
        top = select(x > top, x, top)
    return top


@functools.partial(kernel, inline=True)
def filtered_step(p, s, w):
    """step = sum tau_i v_i (u_i^T e) + (I - sum v_i v_i^T) phi, tau the filter (Buss 2004, section 6 and eq. 7)."""
    m, n = len(w.e), len(w.step)
    row = pitch(w.rows, n)
    top = split(p, w)
    kind = s[FILTER]
    damping = splat(w.e, 0.0)
    low = ranked(w.sigma, s[DROP] + (1.0 if s[RULE] == ESTIMATED_TWO else 0.0))
    if kind != TRUNCATED and kind != JPARSE:
        damping = from_values(p, s, w)
    store(w.memory, DAMPING, damping)
    for a in range(n):
        store(w.step, a, splat(w.e, 0.0))
    for i in range(m):
        sigma = load(w.sigma, i)
        safe = select(sigma > RANK * top, sigma, 1.0)
        inverse = select(sigma > RANK * top, 1.0 / safe, 0.0)
        if kind == TRUNCATED:
            tau = select(sigma > s[FILTER_A] * top, inverse, 0.0)
        elif kind == JPARSE:
            edge = s[FILTER_A] * top
            inside = sigma / select(edge > 0.0, edge * edge, 1.0)
            tau = select(sigma > edge, inverse, s[FILTER_B] * inside)
        else:
            own = damping
            if kind == GAUSSIAN:
                ratio = sigma * (1.0 / s[RULE_B])
                own = exp(-2.0 * ratio * ratio) * s[RULE_A]
            elif s[RULE] == ESTIMATED or s[RULE] == ESTIMATED_TWO:
                own = select(sigma <= low, shaped(sigma, s[RULE_A], s[RULE_B]), 0.0) + s[RULE_C]
            square = sigma * sigma + own
            tau = select(sigma > RANK * top, sigma / select(square > 0.0, square, 1.0), 0.0)
        scale = tau * inverse * load(w.along, i)
        for a in range(n):
            store(w.step, a, load(w.step, a) + scale * load(w.rows, i * row + a))
    if s[NULL]:
        add_null_term(p, s, w, top)


@functools.partial(kernel, inline=True)
def add_null_term(p, s, w, top):
    """step += phi - sum v_i (v_i^T phi): nothing of it moves an effector, to first order."""
    if s[MANIPULABILITY_GAIN] != 0.0:
        widen(p, s, w, top)
    m, n = len(w.e), len(w.step)
    row = pitch(w.rows, n)
    for a in range(n):
        store(w.step, a, load(w.step, a) + load(w.phi, a))
    for i in range(m):
        sigma = load(w.sigma, i)
        along = splat(w.e, 0.0)
        for a in range(n):
            along = along + load(w.rows, i * row + a) * load(w.phi, a)
        scale = select(sigma > RANK * top, along / select(sigma > RANK * top, sigma * sigma, 1.0), 0.0)
        for a in range(n):
            store(w.step, a, load(w.step, a) - scale * load(w.rows, i * row + a))


@functools.partial(kernel, inline=True)
def selective_step(p, s, w):
    """Each singular direction's own clamp gamma_i: selectively damped least squares (Buss and Kim 2005).

    phi_i = v_i (u_i^T e) sigma_i / (sigma_i^2 + lambda^2) goes no farther than gamma_i = gamma_max min(1, N_i / M_i):
    N_i is how far a unit of u_i moves all effectors, and M_i bounds how far they would travel on the way.  OPTION 1
    has the soft clamps of the released program in place of the paper's; lambda^2 is 0 in both.
    """
    m, n = len(w.e), len(w.step)
    row, side = pitch(w.rows, n), pitch(w.turn, m)
    widest, soft = s[OPTION_A], s[OPTION] == 1.0
    damping = from_errors(p, s, w)
    store(w.memory, DAMPING, damping)
    for a in range(n):
        store(w.other, a, splat(w.e, 0.0))
        store(w.step, a, splat(w.e, 0.0))
    for k in range(len(p.effectors)):
        for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
            j = p.blocks[b].start
            for c in range(p.effectors[k].columns):
                a = p.slots[p.effectors[k].first_slot + c]
                x, y, z = load(w.jacobian, j), load(w.jacobian, j + 1), load(w.jacobian, j + 2)
                store(w.other, a, load(w.other, a) + sqrt(x * x + y * y + z * z))
                j += 3
    top = split(p, w)
    for i in range(m):
        sigma = load(w.sigma, i)
        real = sigma > RANK * top
        inverse = select(real, 1.0 / select(real, sigma, 1.0), 0.0)
        moved = splat(w.e, 0.0)
        for k in range(0, m, 3):
            x, y, z = load(w.turn, i * side + k), load(w.turn, i * side + k + 1), load(w.turn, i * side + k + 2)
            moved = moved + sqrt(x * x + y * y + z * z)
        travel, longest = splat(w.e, 0.0), splat(w.e, 0.0)
        for a in range(n):
            v = load(w.rows, i * row + a)
            v = select(v < 0.0, -v, v)
            travel = travel + v * load(w.other, a)
            longest = select(v > longest, v, longest)
        travel = travel * inverse * inverse
        gamma = widest * select(moved < travel, moved / select(real, travel, 1.0), 1.0)
        square = sigma * sigma + damping
        scale = select(real, load(w.along, i) / select(real, square, 1.0), 0.0)
        size = longest * select(scale < 0.0, -scale, scale)
        if soft:
            scale = scale * gamma / (gamma + size)
        else:
            scale = scale * select(size > gamma, gamma / select(real, size, 1.0), 1.0)
        scale = select(real, scale, 0.0)
        for a in range(n):
            store(w.step, a, load(w.step, a) + scale * load(w.rows, i * row + a))
    longest = splat(w.e, 0.0)
    for a in range(n):
        x = load(w.step, a)
        x = select(x < 0.0, -x, x)
        longest = select(x > longest, x, longest)
    over = longest > widest
    scale = widest / (widest + longest) if soft else widest / select(over, longest, 1.0)
    scale = select(over, scale, 1.0)
    for a in range(n):
        store(w.step, a, load(w.step, a) * scale)
    if s[NULL]:
        add_null_term(p, s, w, top)
