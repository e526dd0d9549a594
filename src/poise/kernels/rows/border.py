"""The sides of ranges: how far a task is beyond each, and what every velocity does to that."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, pitch


@kernel
def put_side(p, w, k, i, gap, columns, g0, g1, g2):
    """Side i: its gap [m or rad], less than 0 inside, and its row, g^T J of the columns (3 each) of effector k."""
    effector, n = p.effectors[k], len(w.step)
    row = pitch(w.border_rows, n)
    for a in range(row):
        w.border_rows[i * row + a] = 0.0
    for c in range(effector.columns):
        slope = g0 * load(columns, 3 * c) + g1 * load(columns, 3 * c + 1) + g2 * load(columns, 3 * c + 2)
        w.border_rows[i * row + p.slots[effector.first_slot + c]] = slope
    w.gap[i] = gap
