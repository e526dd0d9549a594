"""Flat directions at a rest: those of the null space along which |missed|^2 has no curvature, and a posture decides."""

from poise.kernels.gradients.split import RANK, largest_curvature, rank_of
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch, sqrt

_NO_WEIGHT = 1e-12
"""The squared weight of a direction that moves nothing of a posture, against the largest of a joint."""


@kernel
def flat_size(w):
    """The largest curvature that counts as 0."""
    return RANK * largest_curvature(w)


@kernel
def find_flat(p, w):
    """w.kkt.flat_rows F at the rest: the flat directions that move joints with a weight of the posture, with
    F W^2 F^T = I; how many.  0 where there is no posture, or nothing is missed.
    """
    n, found, some, largest = len(w.step), 0, False, 0.0
    for k in range(len(w.kkt.missed)):
        some = some or w.kkt.missed[k] > 0.5
    if not some or len(p.posture_weights) == 0:
        return 0
    for a in range(n):
        largest = max(largest, p.posture_weights[a])
    count = _count_null(w)
    row, inner_row, bound = pitch(w.kkt.null_rows, n), pitch(w.kkt.inner_left, count), flat_size(w)
    for t in range(count):
        if w.kkt.inner_sizes[t] > bound:
            continue
        at = found * row
        for a in range(row):
            w.kkt.flat_rows[at + a] = 0.0
        for u in range(count):
            for a in range(n):
                w.kkt.flat_rows[at + a] = (
                    w.kkt.flat_rows[at + a] + w.kkt.inner_left[t * inner_row + u] * w.kkt.null_rows[u * row + a]
                )
        for _ in range(2):  # Gram and Schmidt, twice for rounding
            for u in range(found):
                along = _weighted(p, w, u * row, at)
                for a in range(n):
                    w.kkt.flat_rows[at + a] = w.kkt.flat_rows[at + a] - along * w.kkt.flat_rows[u * row + a]
        square = _weighted(p, w, at, at)
        if square > _NO_WEIGHT * largest * largest:
            for a in range(n):
                w.kkt.flat_rows[at + a] = w.kkt.flat_rows[at + a] / sqrt(square)
            found += 1
    return found


@kernel
def _weighted(p, w, first, second):
    """a^T W^2 b of the rows of w.kkt.flat_rows that begin at `first` and `second`, W being the posture's weights."""
    value = 0.0
    for a in range(len(w.step)):
        value += p.posture_weights[a] * p.posture_weights[a] * w.kkt.flat_rows[first + a] * w.kkt.flat_rows[second + a]
    return value


@kernel
def _count_null(w):
    """The dimension of the null space of the active rows over the free joints."""
    active_rows, free = 0, 0
    for k in range(len(w.kkt.active)):
        active_rows += 1 if w.kkt.active[k] > 0.5 else 0
    for a in range(len(w.free)):
        free += 1 if w.free[a] > 0.5 else 0
    return free - rank_of(active_rows, w)
