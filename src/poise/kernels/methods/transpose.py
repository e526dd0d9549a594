"""The Jacobian transpose step: see `poise.methods.transpose`."""

import functools

from poise.kernels.algebra.blocks import times
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, store


@functools.partial(kernel, inline=True)
def transpose_step(p, w):
    """step = alpha g with g = J^T e, alpha = <e, J g> / <J g, J g> (Buss 2004, eq. 5)."""
    times(p, w.jacobian, w.gradient, w.y)
    along, square = splat(w.e, 0.0), splat(w.e, 0.0)
    for i in range(len(w.y)):
        y = load(w.y, i)
        along = along + load(w.clamped, i) * y
        square = square + y * y
    # Where J^T e vanishes there is nowhere to go: 0, not 0 / 0.
    moving = square > 1e-280
    alpha = select(moving, along / select(moving, square, 1.0), 0.0)
    for a in range(len(w.step)):
        store(w.step, a, alpha * load(w.gradient, a))
