"""The step of Das, Slotine and Sheridan: see `poise.methods.das`."""

import functools

from poise.kernels.algebra.blocks import times
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, section, select, splat, sqrt, store
from poise.kernels.methods.filters import add_null_term, split
from poise.kernels.methods.memory import FRESH, PREDICTED, SWAY
from poise.kernels.methods.settings import NULL, OPTION, OPTION_A, OPTION_B, SETTINGS, STIFFNESS, TURN_STIFFNESS
from poise.kernels.rows.residuals import in_metres

_PRISMATIC = 1


@functools.partial(kernel, inline=True)
def stiffen(p, s, d):
    """d.e becomes K_p e."""
    for k in range(p.effectors.shape[0]):
        for b in range(p.effectors[k, 4], p.effectors[k, 5]):
            x = _stiffness(p, s, k, b)
            for i in range(3 * b, 3 * b + 3):
                store(d.e, i, x * load(d.e, i))


@functools.partial(kernel, inline=True)
def _stiffness(p, s, k, b):
    return s[STIFFNESS] if in_metres(p.effectors, k, b) else s[TURN_STIFFNESS]


@functools.partial(kernel, inline=True)
def das_step(p, s, plan, w, d):
    """step = alpha S J^T K_p e + beta (I - J^+ J) phi, from d.e = K_p e and d.g = J^T K_p e (eq. 2.8)."""
    n = w.step.shape[0]
    square = splat(w.e, 0.0)
    for a in range(n):
        g = load(d.g, a)
        store(d.h, a, g)
        square = square + g * g
    alpha = _least(p, s, w, d)
    if s[OPTION_A] < 1e300:
        far = alpha * sqrt(square)
        over = far > s[OPTION_A]
        slower = select(over, 1.0 / select(over, far, 1.0), 1.0)
        for a in range(n):
            store(d.h, a, slower * load(d.g, a))
        for u in range(p.units.shape[0]):
            a = plan[1 + u]
            if a >= 0 and p.units[u, 1] == _PRISMATIC:
                store(d.h, a, load(d.g, a))
        alpha = _least(p, s, w, d)
    for a in range(n):
        store(d.h, a, alpha * load(d.h, a))
        store(w.step, a, splat(w.e, 0.0))
    if s[NULL]:
        add_null_term(p, s, w, d, split(p, w, d))
    beta = splat(w.e, 1.0)
    if s[OPTION] == 1.0:
        beta = _settle(p, s, w, d)
    square = splat(w.e, 0.0)
    for a in range(n):
        x = load(w.step, a)
        square = square + x * x
    size = beta * sqrt(square)
    over = size > s[OPTION_B]
    beta = beta * select(over, s[OPTION_B] / select(over, size, 1.0), 1.0)
    for a in range(n):
        store(w.step, a, load(d.h, a) + beta * load(w.step, a))


@functools.partial(kernel, inline=True)
def _least(p, s, w, d):
    """alpha = N / 2D along d.h = S J^T K_p e: where the linear model of the error is least (appendix A)."""
    times(p.effectors, p.blocks, p.slots, w.jacobian, d.h, w.y)
    along, square = splat(w.e, 0.0), splat(w.e, 0.0)
    for k in range(p.effectors.shape[0]):
        for b in range(p.effectors[k, 4], p.effectors[k, 5]):
            x = _stiffness(p, s, k, b)
            for i in range(3 * b, 3 * b + 3):
                y = load(w.y, i)
                along = along + load(d.e, i) * y
                square = square + x * y * y
    moving = square > 1e-280
    return select(moving, along / select(moving, square, 1.0), 0.0)


@functools.partial(kernel, inline=True)
def _settle(p, s, w, d):
    """beta, by which beta^2 |q - q_d|^2 never grows while the targets stand still (appendix A)."""
    posture = section(s, SETTINGS + w.step.shape[0], w.q.shape[0])
    away = splat(w.e, 0.0)
    for c in range(p.coords.shape[0]):
        i = p.coords[c, 0]
        x = load(w.q, i) - posture[i]
        away = away + x * x
    first = (load(d.memory, FRESH) < 0.5) | (load(d.memory, PREDICTED) < 0.0)
    last = select(first, away, load(d.memory, SWAY))
    grown = away > last
    beta = select(grown, last / select(grown, away, 1.0), 1.0)
    store(d.memory, SWAY, beta * beta * away)
    store(d.memory, PREDICTED, 0.0)
    return beta
