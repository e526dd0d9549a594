"""The sides of ranges: how far a task is beyond each, and what every velocity does to that."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, pitch, sqrt


@kernel
def put_side(p, w, k, i, residual, columns, gradient):
    """Side i: its gap [m or rad], less than 0 inside, and its row, g^T J of the columns (3 each) of effector k.

    The gradient g has the length 1, or 0 where the gap has no slope; no direction changes the gap faster than the
    columns are long.
    """
    effector, (g0, g1, g2) = p.effectors[k], gradient
    begin_side(w, i, residual)
    for c in range(effector.columns):
        x, y, z = load(columns, 3 * c), load(columns, 3 * c + 1), load(columns, 3 * c + 2)
        add_to_side(w, i, p.slots[effector.first_slot + c], g0 * x + g1 * y + g2 * z, sqrt(x * x + y * y + z * z))


@kernel
def begin_side(w, i, residual):
    """Side i: its gap [m or rad], less than 0 inside, and a row of zeros."""
    row = pitch(w.sides.jacobian, len(w.step))
    for a in range(row):
        w.sides.jacobian[i * row + a], w.sides.column_norms[i * row + a] = 0.0, 0.0
    w.sides.residual[i] = residual


@kernel
def add_to_side(w, i, a, slope, most):
    """Add to the row of side i what velocity a does to its gap, and the most that columns as long can do."""
    at = i * pitch(w.sides.jacobian, len(w.step)) + a
    w.sides.jacobian[at] += slope
    w.sides.column_norms[at] += most
