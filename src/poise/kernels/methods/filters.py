"""Steps through the singular values of J = sum sigma_i u_i v_i^T: see `poise.methods.filtered`."""

import functools
from typing import Final

from poise.kernels.algebra.blocks import spread
from poise.kernels.algebra.scalar import exp
from poise.kernels.algebra.svd import decompose, identity, multiply
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, pitch, select, splat, store
from poise.kernels.machine.memory import DAMPING, FLOOR, SPLIT
from poise.kernels.machine.record import Record
from poise.kernels.methods.criteria import RANK, add_manipulability
from poise.kernels.methods.damping import damp
from poise.kernels.methods.routines import stepping

FILTER: Final = Record("Filter", "kind separate", "cutoff gain largest width")
"""The filter tau of the singular values sigma, of which the largest is sigma_1.

- TRUNCATED: 1 / sigma, 0 up to `cutoff` sigma_1.
- GAUSSIAN: sigma / (sigma^2 + lambda^2), lambda^2 = `largest` exp(-2 (sigma / `width`)^2).
- JPARSE: 1 / sigma above `cutoff` sigma_1, else `gain` sigma / (`cutoff` sigma_1)^2.
- SMOOTH: sigma / (sigma^2 + lambda^2) by the damping rule, which has a lambda of its own for each sigma if
  `separate`."""
TRUNCATED, GAUSSIAN, JPARSE, SMOOTH = range(4)
_RENEWED = 500.0
"""Updates after which the rotation kept from one to the next is made anew, before rounding shows in it."""


@functools.partial(kernel, inline=True)
def split(p, w):
    """Decompose J F: w.rows becomes sigma_i v_i, w.turn u_i, w.sigma, w.along u_i^T e; the largest singular value.

    It starts from the rotation w.turn of the last update, with which the rows are almost orthogonal already.
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
def add_null_term(p, w, top):
    """step += phi - sum v_i (v_i^T phi), if there is a phi: nothing of it moves an effector, to first order."""
    if not p.common[0].null:
        return
    if p.common[0].manipulability_gain != 0.0:
        add_manipulability(p, w, top)
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
def inverses(sigma, top):
    """1 / sigma, and 0 where sigma is no more than RANK of the largest, `top`."""
    real = sigma > RANK * top
    return select(real, 1.0 / select(real, sigma, 1.0), 0.0)


def filtered_step(p, s, w):
    """step = sum tau_i v_i (u_i^T e) + (I - sum v_i v_i^T) phi, tau the filter (Buss 2004, section 6 and eq. 7)."""
    m, n = len(w.e), len(w.step)
    row = pitch(w.rows, n)
    top = split(p, w)
    damping, floor = splat(w.e, s.largest), splat(w.e, 0.0)
    if s.kind == SMOOTH:
        damping = damp(p, w)
        floor = load(w.memory, FLOOR)
    store(w.memory, DAMPING, damping)
    for a in range(n):
        store(w.step, a, splat(w.e, 0.0))
    for i in range(m):
        sigma = load(w.sigma, i)
        inverse = inverses(sigma, top)
        if s.kind == TRUNCATED:
            tau = select(sigma > s.cutoff * top, inverse, 0.0)
        elif s.kind == JPARSE:
            edge = s.cutoff * top
            inside = sigma / select(edge > 0.0, edge * edge, 1.0)
            tau = select(sigma > edge, inverse, s.gain * inside)
        else:
            own = damping
            if s.kind == GAUSSIAN:
                ratio = sigma * (1.0 / s.width)
                own = exp(-2.0 * ratio * ratio) * s.largest
            elif s.separate:
                own = load(w.y, i) + floor
            square = sigma * sigma + own
            tau = select(sigma > RANK * top, sigma / select(square > 0.0, square, 1.0), 0.0)
        scale = tau * inverse * load(w.along, i)  # w.rows has sigma_i v_i
        for a in range(n):
            store(w.step, a, load(w.step, a) + scale * load(w.rows, i * row + a))
    add_null_term(p, w, top)


filtered = stepping(filtered_step, FILTER)
