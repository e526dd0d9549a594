"""The active set at a rest: the limits and inequalities that hold it, by the signs of their multipliers.

One whose multiplier has the wrong sign is released (Nocedal and Wright 2006, section 16.5).
"""

from poise.kernels.gradients.split import LEAST, decompose_active, find_gradient, find_multipliers, rank_of
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch, sqrt
from poise.kernels.machine.layout import AT_LIMIT

MAY_RELEASE, STANDS = 1.0, 2.0
"""In w.kkt.releasable: a limit or condition that is weakly active, its multiplier being zero; one that was released
since others hold q there too, and that still stops changes to one side."""
WEAK = 1e-6
"""A multiplier this small, against the gradient of f, is zero."""


@kernel
def find_active_set(p, w, wanted):
    """Correct the active set at w.q by the signs of multipliers: w.free, w.kkt.active, w.kkt.limit_side,
    w.kkt.multiplier.

    Also w.kkt.releasable of what is weakly active, and w.kkt.lagrangian_gradient.  Returns how many rows are active,
    which are decomposed.  One constraint is released at a time, the most wrong one first, rows before limits; then
    those that depend on the others.
    """
    n, first, m = len(w.step), len(w.e), len(w.kkt.residual)
    while True:
        for a in range(n):
            w.free[a] = 1.0 if w.kkt.moving[a] > 0.5 and w.kkt.limit_side[a] == 0.0 else 0.0
        active_rows = decompose_active(w)
        find_gradient(p, w, 0.0, w.kkt.lagrangian_gradient)
        scale = 0.0
        if wanted:
            square = 0.0
            for a in range(n):
                square += w.kkt.moving[a] * w.kkt.lagrangian_gradient[a] * w.kkt.lagrangian_gradient[a]
            scale = WEAK * max(sqrt(square), LEAST)
            find_multipliers(active_rows, w)
            wrong = -1
            for k in range(first, m):
                if w.kkt.active[k] > 0.5 and (wrong < 0 or w.kkt.multiplier[k] > w.kkt.multiplier[wrong]):
                    wrong = k
            if wrong >= 0 and w.kkt.multiplier[wrong] > scale:
                w.kkt.active[wrong] = 0.0
                continue
            find_gradient(p, w, 1.0, w.kkt.lagrangian_gradient)
            inward, least = -1, -scale
            for a in range(n):
                push = -w.kkt.limit_side[a] * w.kkt.lagrangian_gradient[a]
                if w.kkt.moving[a] > 0.5 and abs(w.kkt.limit_side[a]) == 1.0 and push < least:
                    inward, least = a, push
            if inward >= 0:
                w.kkt.limit_side[inward] = 0.0
                continue
        if rank_of(active_rows, w) < active_rows and _release_dependent(p, w, wanted, scale, rank_of(active_rows, w)):
            continue
        for a in range(n):
            weak = not wanted or -w.kkt.limit_side[a] * w.kkt.lagrangian_gradient[a] <= scale
            w.kkt.releasable[a] = (
                MAY_RELEASE if w.kkt.moving[a] > 0.5 and abs(w.kkt.limit_side[a]) == 1.0 and weak else 0.0
            )
        for k in range(first, m):
            w.kkt.releasable[n + k] = (
                MAY_RELEASE if w.kkt.active[k] > 0.5 and (not wanted or w.kkt.multiplier[k] >= -scale) else 0.0
            )
        return active_rows


@kernel
def _release_dependent(p, w, wanted, scale, rank):
    """Release one limit or condition that depends on the other active ones, whose rank is `rank`; whether there is one.

    In a corner more is active than q has directions, and with all of it q could not follow a target.  Multipliers are
    not unique there: one is released for which the others can have the right signs alone.
    """
    n, first, tried = len(w.step), len(w.e), False
    for c in range(n + len(w.kkt.residual) - first):
        k = first + c - n
        if c < n:
            if not (w.kkt.moving[c] > 0.5 and abs(w.kkt.limit_side[c]) == 1.0):
                continue
            w.free[c] = 1.0
        else:
            if w.kkt.active[k] < 0.5:
                continue
            w.kkt.active[k] = 0.0
        active_rows, tried = decompose_active(w), True
        spare = rank_of(active_rows, w) > rank if c < n else rank_of(active_rows, w) == rank
        if spare and wanted:
            find_gradient(p, w, 0.0, w.kkt.lagrangian_gradient)
            find_multipliers(active_rows, w)
            find_gradient(p, w, 1.0, w.kkt.lagrangian_gradient)
            spare = (c >= n or abs(w.kkt.lagrangian_gradient[c]) <= scale) and _all_push(w, scale)
        if spare:
            if c < n:
                w.kkt.limit_side[c] = 0.0
            return True
        if c < n:
            w.free[c] = 0.0
        else:
            w.kkt.active[k] = 1.0
    if tried:
        active_rows = decompose_active(w)
        if wanted:
            find_gradient(p, w, 0.0, w.kkt.lagrangian_gradient)
            find_multipliers(active_rows, w)
            find_gradient(p, w, 1.0, w.kkt.lagrangian_gradient)
    return False


@kernel
def _all_push(w, scale):
    """Whether the multipliers of all active limits and conditions have the right sign, or are zero."""
    for a in range(len(w.step)):
        if (
            w.kkt.moving[a] > 0.5
            and abs(w.kkt.limit_side[a]) == 1.0
            and w.kkt.limit_side[a] * w.kkt.lagrangian_gradient[a] > scale
        ):
            return False
    for k in range(len(w.e), len(w.kkt.residual)):
        if w.kkt.active[k] > 0.5 and w.kkt.multiplier[k] > scale:
            return False
    return True


@kernel
def find_standing(p, w):
    """w.kkt.releasable = STANDS for limits and conditions that are not active, but at which w.kkt.stationary stands,
    where its derivative leads across them."""
    n, m = len(w.step), len(w.kkt.residual)
    row = pitch(w.kkt.rows, n)
    for k in range(len(p.coordinates)):
        x = p.coordinates[k]
        if w.free[x.v] > 0.5 and (
            w.kkt.stationary[x.q] <= x.lower + AT_LIMIT or w.kkt.stationary[x.q] >= x.upper - AT_LIMIT
        ):
            largest = 0.0
            for j in range(m):
                largest = max(largest, abs(w.kkt.residual_sensitivity[x.v * m + j]))
            for b in range(n):
                largest = max(largest, abs(w.kkt.gradient_sensitivity[x.v * n + b]))
            w.kkt.releasable[x.v] = STANDS if largest > WEAK else 0.0
    for k in range(len(w.e), m):
        if w.kkt.active[k] < 0.5 and w.kkt.residual[k] <= AT_LIMIT:
            largest = 0.0
            for j in range(m + n):
                along = 0.0
                for a in range(n):
                    along += w.kkt.rows[k * row + a] * (
                        w.kkt.residual_sensitivity[a * m + j] if j < m else w.kkt.gradient_sensitivity[a * n + j - m]
                    )
                largest = max(largest, abs(along))
            w.kkt.releasable[n + k] = STANDS if largest > WEAK else 0.0
