"""What holds an answer at its rest: limits and rows that must not be crossed, for as long as they push.

What pulls from outside is let go (Nocedal and Wright 2006, section 16.5), and may stand where it is all the same.
"""

from poise.kernels.gradients.split import LEAST, decompose_active, find_gradient, find_multipliers, rank_of
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch, sqrt

AT_LIMIT = 1e-6
"""A joint this near to a limit [rad or m] stands at it."""
MAY_RELEASE, STANDS = 1.0, 2.0
"""Of w.releasable: a limit or a condition that holds and may let go; one that was let go, as something else holds q
there, and that stops changes to one side all the same."""
WEAK = 1e-6
"""A multiplier this small, against what there is to hold, holds nothing."""


@kernel
def find_active_set(p, w, wanted):
    """w.free, w.active and w.multiplier at w.q, w.releasable of what holds with no multiplier, and
    w.lagrangian_gradient; how many rows hold, which are decomposed.

    What does not push from inside is let go, one after the other, and so is what leaves the others no say.
    """
    n, first, m = len(w.step), len(w.e), len(w.condition_residual)
    while True:
        for a in range(n):
            w.free[a] = 1.0 if w.moving[a] > 0.5 and w.limit_side[a] == 0.0 else 0.0
        active_rows = decompose_active(w)
        find_gradient(p, w, 0.0, w.lagrangian_gradient)
        scale = 0.0
        if wanted:
            square = 0.0
            for a in range(n):
                square += w.moving[a] * w.lagrangian_gradient[a] * w.lagrangian_gradient[a]
            scale = WEAK * max(sqrt(square), LEAST)
            find_multipliers(active_rows, w)
            wrong = -1
            for k in range(first, m):
                if w.active[k] > 0.5 and (wrong < 0 or w.multiplier[k] > w.multiplier[wrong]):
                    wrong = k
            if wrong >= 0 and w.multiplier[wrong] > scale:
                w.active[wrong] = 0.0
                continue
            find_gradient(p, w, 1.0, w.lagrangian_gradient)
            inward, least = -1, -scale
            for a in range(n):
                push = -w.limit_side[a] * w.lagrangian_gradient[a]
                if w.moving[a] > 0.5 and abs(w.limit_side[a]) == 1.0 and push < least:
                    inward, least = a, push
            if inward >= 0:
                w.limit_side[inward] = 0.0
                continue
        if rank_of(active_rows, w) < active_rows and _release_dependent(p, w, wanted, scale, rank_of(active_rows, w)):
            continue
        for a in range(n):
            weak = not wanted or -w.limit_side[a] * w.lagrangian_gradient[a] <= scale
            w.releasable[a] = MAY_RELEASE if w.moving[a] > 0.5 and abs(w.limit_side[a]) == 1.0 and weak else 0.0
        for k in range(first, m):
            w.releasable[n + k] = (
                MAY_RELEASE if w.active[k] > 0.5 and (not wanted or w.multiplier[k] >= -scale) else 0.0
            )
        return active_rows


@kernel
def _release_dependent(p, w, wanted, scale, rank):
    """Let go of one limit or condition that depends on all else which holds, of this rank; whether there is one.

    In a corner more holds than q has directions, so that with all of it q could not follow.  Without one of them the
    others must hold q as they did: multipliers are not unique there, and those are taken in which it has none.
    """
    n, first = len(w.step), len(w.e)
    for c in range(n + len(w.condition_residual) - first):
        k = first + c - n
        if c < n:
            if not (w.moving[c] > 0.5 and abs(w.limit_side[c]) == 1.0):
                continue
            w.free[c] = 1.0
        else:
            if w.active[k] < 0.5:
                continue
            w.active[k] = 0.0
        active_rows = decompose_active(w)
        spare = rank_of(active_rows, w) > rank if c < n else rank_of(active_rows, w) == rank
        if spare and wanted:
            find_gradient(p, w, 0.0, w.lagrangian_gradient)
            find_multipliers(active_rows, w)
            find_gradient(p, w, 1.0, w.lagrangian_gradient)
            spare = (c >= n or abs(w.lagrangian_gradient[c]) <= scale) and _all_push(w, scale)
        if spare:
            if c < n:
                w.limit_side[c] = 0.0
            return True
        if c < n:
            w.free[c] = 0.0
        else:
            w.active[k] = 1.0
    active_rows = decompose_active(w)
    if wanted:
        find_gradient(p, w, 0.0, w.lagrangian_gradient)
        find_multipliers(active_rows, w)
        find_gradient(p, w, 1.0, w.lagrangian_gradient)
    return False


@kernel
def _all_push(w, scale):
    """Whether all limits and conditions that hold push from inside, or with next to nothing."""
    for a in range(len(w.step)):
        if w.moving[a] > 0.5 and abs(w.limit_side[a]) == 1.0 and w.limit_side[a] * w.lagrangian_gradient[a] > scale:
            return False
    for k in range(len(w.e), len(w.condition_residual)):
        if w.active[k] > 0.5 and w.multiplier[k] > scale:
            return False
    return True


@kernel
def find_standing(p, w):
    """Let w.releasable be STANDS for limits and conditions that were let go, at which w.stationary is all the same,
    where its derivative leads across them."""
    n, m = len(w.step), len(w.condition_residual)
    row = pitch(w.condition_rows, n)
    for k in range(len(p.coordinates)):
        x = p.coordinates[k]
        if w.free[x.v] > 0.5 and (w.stationary[x.q] <= x.lower + AT_LIMIT or w.stationary[x.q] >= x.upper - AT_LIMIT):
            largest = 0.0
            for j in range(m):
                largest = max(largest, abs(w.residual_sensitivity[x.v * m + j]))
            for b in range(n):
                largest = max(largest, abs(w.gradient_sensitivity[x.v * n + b]))
            w.releasable[x.v] = STANDS if largest > WEAK else 0.0
    for k in range(len(w.e), m):
        if w.active[k] < 0.5 and w.condition_residual[k] <= AT_LIMIT:
            largest = 0.0
            for j in range(m + n):
                along = 0.0
                for a in range(n):
                    along += w.condition_rows[k * row + a] * (
                        w.residual_sensitivity[a * m + j] if j < m else w.gradient_sensitivity[a * n + j - m]
                    )
                largest = max(largest, abs(along))
            w.releasable[n + k] = STANDS if largest > WEAK else 0.0
