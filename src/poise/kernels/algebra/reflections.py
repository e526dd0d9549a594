"""Products of rows in packs, and Householder's reflections of them.  One problem at a time.

To take away from a row what is along another, as Gram and Schmidt do, is the same sum with another length: `reflect`.
"""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, sqrt, store_pack, total, zeros
from poise.kernels.machine.layout import WIDTH


@kernel
def dot(a, i, b, j, start, stop):
    """The product of two rows, at packs i and j, over their packs from `start` to `stop`."""
    along = zeros(a)
    for k in range(start, stop):
        along = along + load_pack(a, i + k) * load_pack(b, j + k)
    return total(a, along)


@kernel
def tail(a, at, start, stop):
    """The squared length of a row, at number `at`, from its entry `start` on."""
    edge = min(WIDTH * ((start + WIDTH - 1) // WIDTH), stop)
    square = 0.0
    for k in range(start, edge):
        square = square + a[at + k] * a[at + k]
    return square + dot(a, at // WIDTH, a, at // WIDTH, edge // WIDTH, stop // WIDTH)


@kernel
def mirror(a, at, start, stop, square, v, to):
    """v, with which I - v v^T takes a row's entries from `start` on into the first of them; what that becomes.

    `square` is their squared length; v is written behind number `to`.
    """
    length = sqrt(square)
    head = a[at + start]
    scale = 1.0 / sqrt(square + length * abs(head))
    for c in range(start // WIDTH, stop // WIDTH):
        store_pack(v, to // WIDTH + c, load_pack(a, at // WIDTH + c) * scale)
    for k in range(WIDTH * (start // WIDTH), start):
        v[to + k] = 0.0
    end = length if head < 0.0 else -length
    v[to + start] = (head - end) * scale
    return end


@kernel
def reflect(a, i, v, j, start, stop):
    """Row (I - v v^T), at packs i and j, v being zero before pack `start`; the product of the row and v.

    With |v|^2 = 2 that is the reflection, with |v| = 1 what is left of the row beside v.
    """
    across = dot(a, i, v, j, start, stop)
    for k in range(start, stop):
        store_pack(a, i + k, load_pack(a, i + k) - across * load_pack(v, j + k))
    return across
