"""The step of Das, Slotine and Sheridan: see `poise.methods.das`."""

import functools

from poise.kernels.algebra.blocks import times
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import PRISMATIC
from poise.kernels.methods.filters import add_null_term, split
from poise.kernels.methods.memory import FRESH, PREDICTED, SWAY
from poise.kernels.methods.settings import NULL, OPTION, OPTION_A, OPTION_B, STIFFNESS, TURN_STIFFNESS


@functools.partial(kernel, inline=True)
def stiffen(p, s, w):
    """w.clamped becomes K_p e."""
    for k in range(len(p.effectors)):
        for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
            x = _stiffness(p, s, b)
            for i in range(3 * b, 3 * b + 3):
                store(w.clamped, i, x * load(w.clamped, i))


@functools.partial(kernel, inline=True)
def _stiffness(p, s, b):
    return s[STIFFNESS] if p.blocks[b].metres else s[TURN_STIFFNESS]


@functools.partial(kernel, inline=True)
def das_step(p, s, w):
    """step = alpha S J^T K_p e + beta (I - J^+ J) phi, from w.clamped = K_p e and w.gradient = J^T K_p e (eq. 2.8)."""
    n = len(w.step)
    square = splat(w.e, 0.0)
    for a in range(n):
        g = load(w.gradient, a)
        store(w.other, a, g)
        square = square + g * g
    alpha = _least(p, s, w)
    if s[OPTION_A] < 1e300:
        far = alpha * sqrt(square)
        over = far > s[OPTION_A]
        slower = select(over, 1.0 / select(over, far, 1.0), 1.0)
        for a in range(n):
            store(w.other, a, slower * load(w.gradient, a))
        for u in range(len(p.units)):
            a = p.criteria[1 + u]
            if a >= 0 and p.units[u].kind == PRISMATIC:
                store(w.other, a, load(w.gradient, a))
        alpha = _least(p, s, w)
    for a in range(n):
        store(w.other, a, alpha * load(w.other, a))
        store(w.step, a, splat(w.e, 0.0))
    if s[NULL]:
        add_null_term(p, s, w, split(p, w))
    beta = splat(w.e, 1.0)
    if s[OPTION] == 1.0:
        beta = _settle(p, s, w)
    square = splat(w.e, 0.0)
    for a in range(n):
        x = load(w.step, a)
        square = square + x * x
    size = beta * sqrt(square)
    over = size > s[OPTION_B]
    beta = beta * select(over, s[OPTION_B] / select(over, size, 1.0), 1.0)
    for a in range(n):
        store(w.step, a, load(w.other, a) + beta * load(w.step, a))


@functools.partial(kernel, inline=True)
def _least(p, s, w):
    """alpha = N / 2D along w.other = S J^T K_p e: where the linear model of the error is least (appendix A)."""
    times(p, w.jacobian, w.other, w.y)
    along, square = splat(w.e, 0.0), splat(w.e, 0.0)
    for k in range(len(p.effectors)):
        for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
            x = _stiffness(p, s, b)
            for i in range(3 * b, 3 * b + 3):
                y = load(w.y, i)
                along = along + load(w.clamped, i) * y
                square = square + x * y * y
    moving = square > 1e-280
    return select(moving, along / select(moving, square, 1.0), 0.0)


@functools.partial(kernel, inline=True)
def _settle(p, s, w):
    """beta, by which beta^2 |q - q_d|^2 never grows while the targets stand still (appendix A)."""
    posture = p.posture
    away = splat(w.e, 0.0)
    for c in range(len(p.coordinates)):
        i = p.coordinates[c].q
        x = load(w.q, i) - posture[i]
        away = away + x * x
    first = (load(w.memory, FRESH) < 0.5) | (load(w.memory, PREDICTED) < 0.0)
    last = select(first, away, load(w.memory, SWAY))
    grown = away > last
    beta = select(grown, last / select(grown, away, 1.0), 1.0)
    store(w.memory, SWAY, beta * beta * away)
    store(w.memory, PREDICTED, 0.0)
    return beta
