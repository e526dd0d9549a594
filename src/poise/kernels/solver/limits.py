"""Which joints a step may move: those that do not stand at a limit that it would push them out of."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, store


@kernel
def free_joints(p, w, gradient):
    """w.free is 0 for a joint at a limit out of which the descent `gradient` = J^T e would push it, else 1."""
    for a in range(len(w.free)):
        store(w.free, a, splat(w.free, 1.0))
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, g = load(w.q, c.q), load(gradient, c.v)
        held = ((x <= c.lower) & (g < 0.0)) | ((x >= c.upper) & (g > 0.0))
        store(w.free, c.v, select(held, splat(w.free, 0.0), splat(w.free, 1.0)))
