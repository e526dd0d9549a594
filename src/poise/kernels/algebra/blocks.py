"""Products with the Jacobian J, which is stored by effectors in blocks of three rows."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, store


@kernel
def times(p, jacobian, v, y):
    """y = J v, of active velocities v."""
    for i in range(len(y)):
        store(y, i, 0.0)
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        slot0, columns = effector.first_slot, effector.columns
        for b in range(effector.first_block, effector.last_block):
            y0, y1, y2 = load(y, 3 * b), load(y, 3 * b + 1), load(y, 3 * b + 2)
            j = p.blocks[b].start
            for c in range(columns):
                x = load(v, p.slots[slot0 + c])
                y0 = y0 + load(jacobian, j) * x
                y1 = y1 + load(jacobian, j + 1) * x
                y2 = y2 + load(jacobian, j + 2) * x
                j += 3
            store(y, 3 * b, y0), store(y, 3 * b + 1, y1), store(y, 3 * b + 2, y2)


@kernel
def transpose_times(p, jacobian, y, v):
    """v = J^T y, of residual rows y."""
    for a in range(len(v)):
        store(v, a, 0.0)
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        slot0, columns = effector.first_slot, effector.columns
        for b in range(effector.first_block, effector.last_block):
            y0, y1, y2 = load(y, 3 * b), load(y, 3 * b + 1), load(y, 3 * b + 2)
            j = p.blocks[b].start
            for c in range(columns):
                a = p.slots[slot0 + c]
                product = load(jacobian, j) * y0 + load(jacobian, j + 1) * y1 + load(jacobian, j + 2) * y2
                store(v, a, load(v, a) + product)
                j += 3


@kernel
def spread(p, jacobian, free, pitch, rows):
    """J F as dense rows, `pitch` apart, F the diagonal of `free`; entries that J lacks are left as they are."""
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        slot0, columns = effector.first_slot, effector.columns
        for b in range(effector.first_block, effector.last_block):
            j, at = p.blocks[b].start, 3 * b * pitch
            for c in range(columns):
                a = p.slots[slot0 + c]
                f = load(free, a)
                store(rows, at + a, load(jacobian, j) * f)
                store(rows, at + pitch + a, load(jacobian, j + 1) * f)
                store(rows, at + 2 * pitch + a, load(jacobian, j + 2) * f)
                j += 3
