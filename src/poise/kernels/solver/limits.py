"""Which joints a step may move: those that do not stand at a limit that it would push them out of."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, store


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


@kernel
def hold_pushed(p, w, bold):
    """Set w.free to 0 for joints at a limit out of which w.step would push them, of lanes not bold; whether any is new.

    A joint that the descent pulls in may be pushed out by the step, which J^T J turns; clipped, it would gain little.
    """
    pushed = splat(w.free, 0.0)
    descends = select(bold, pushed, 1.0) > 0.0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, d = load(w.q, c.q), load(w.step, c.v)
        out = (((x <= c.lower) & (d < 0.0)) | ((x >= c.upper) & (d > 0.0))) & descends
        store(w.free, c.v, select(out, 0.0, load(w.free, c.v)))
        pushed = select(out, 1.0, pushed)
    return any_of(pushed > 0.0)
