"""Clamps of errors: ClampMag, fixed or adaptive.

ClampMag shortens the error of each effector to D_max, whatever its weights.  Source: Buss 2004, sections 2 and 8; Buss
and Kim 2005.
"""

import functools

import numpy as np

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.machine.layout import GOAL
from poise.kernels.machine.memory import EVEN, FRESH, SEEN
from poise.kernels.rows.residuals import weigh, weights_at

NO_CLAMP, FIXED, ADAPTIVE, RELEASED = range(4)
"""`clamp` of the settings; RELEASED is ADAPTIVE as the authors' released program computes it."""


@functools.partial(kernel, inline=True)
def clamp_errors(p, w):
    """w.clamped = w.e, each block shortened to its D_max [m, rad], times its gain.

    With EVEN, of an arm that has crept towards what it cannot reach, all blocks are shortened by one share, as long as
    any is: so its steps end where the sum of the squared errors themselves is least, not that of clamped ones.
    """
    common, least = p.common[0], splat(w.e, 1.0)
    for k in range(len(p.effectors)):
        first = p.effectors[k].first_block
        for b in range(first, p.effectors[k].last_block):
            e0, e1, e2 = load(w.e, 3 * b), load(w.e, 3 * b + 1), load(w.e, 3 * b + 2)
            if common.clamp != NO_CLAMP:
                u0, u1, u2 = _unweighted(p, k, b, e0, e1, e2)
                size = sqrt(u0 * u0 + u1 * u1 + u2 * u2)
                longest = splat(w.e, common.max_error if p.blocks[b].metres else common.max_turn)
                if common.clamp >= ADAPTIVE:
                    longest = _adapted(common.clamp == RELEASED, p, w, k, b, size, longest)
                    store(w.cap, b, longest)
                scale = select(size > longest, longest / size, 1.0)
                least = select(scale < least, scale, least)
                e0, e1, e2 = e0 * scale, e1 * scale, e2 * scale
            store(w.clamped, 3 * b, e0), store(w.clamped, 3 * b + 1, e1), store(w.clamped, 3 * b + 2, e2)
    even = load(w.memory, EVEN) > 0.0
    if any_of(even):
        for i in range(3 * len(p.blocks)):
            store(w.clamped, i, select(even, least * load(w.e, i), load(w.clamped, i)))
        store(w.memory, EVEN, select(even & (least < 1.0), splat(w.e, 1.0), 0.0))
    if common.geared:
        for b in range(len(p.blocks)):
            for i in range(3 * b, 3 * b + 3):
                store(w.clamped, i, p.blocks[b].gain * load(w.clamped, i))


@kernel
def _unweighted(p, k, b, x, y, z):
    """Rows of block b of effector k without their weights; 0 along axes whose weight is 0."""
    inverse = p.blocks[b].inverse_weight
    if p.effectors[k].weighing:
        return x * inverse[0], y * inverse[1], z * inverse[2]
    return x, y, z


@functools.partial(kernel, inline=True)
def _adapted(released, p, w, k, b, size, base):
    """Adaptive D_max of block b: `base` plus what the last step came closer; infinite at first and after a jump.

    `size` is the length of its error.  A rotation has jumped where its error has grown by more than `base`, a place
    where its target moved by more than that.
    """
    at, seen = GOAL * k + 9, SEEN * k + 9
    l0, l1, l2 = load(w.last_errors, 3 * b), load(w.last_errors, 3 * b + 1), load(w.last_errors, 3 * b + 2)
    l0, l1, l2 = _unweighted(p, k, b, l0, l1, l2)
    before = sqrt(l0 * l0 + l1 * l1 + l2 * l2)
    if b != p.effectors[k].position:
        jumped = size > before + base
        gain = splat(w.e, 0.0)
    else:
        t0 = load(w.target, at) - load(w.last_target, seen)
        t1 = load(w.target, at + 1) - load(w.last_target, seen + 1)
        t2 = load(w.target, at + 2) - load(w.last_target, seen + 2)
        jumped = t0 * t0 + t1 * t1 + t2 * t2 > base * base
        if p.effectors[k].weighing:
            t0, t1, t2 = weigh(t0, t1, t2, p.blocks[b].weight, w.target, weights_at(p.effectors[k], k, b))
        a0, a1, a2 = load(w.e, 3 * b) - t0, load(w.e, 3 * b + 1) - t1, load(w.e, 3 * b + 2) - t2
        a0, a1, a2 = _unweighted(p, k, b, a0, a1, a2)
        after = sqrt(a0 * a0 + a1 * a1 + a2 * a2)
        gain = before - after
        if released:
            # The released program looks at three numbers from the k-th on, and at how much farther the step led.
            l0, l1, l2 = load(w.last_errors, k), load(w.last_errors, k + 1), load(w.last_errors, k + 2)
            gain = after - sqrt(l0 * l0 + l1 * l1 + l2 * l2)
            jumped = size < 0.0
    longest = base + select(gain > 0.0, gain, 0.0)
    return select(jumped | (load(w.memory, FRESH) < 0.5), np.inf, longest)
