"""How an arm with accelerations stops at its target: the error that a method sees is no larger than it can brake in.

A step towards a target is as long as the error, and the next one would have to be none.  An arm that may change its
velocity by little in a step would fly past and swing.  With e the error, and c what it fell by in the last step, going
on like this ends after N = e.c / c.c steps, at N times the last step's way for each joint.  So the joints are to go no
faster than f times as they do, where each can still brake in that room, and the error that is left along c after this
step is to be (N - f) c.c: the method sees no more of e than the rest.  What c is of a target that moves, the arm's
motion is relative to it, so that one that is followed without error is not braked for.
"""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.methods.braking import NO_LIMIT
from poise.kernels.methods.memory import EASE, FRESH, LEFT

AT_FIRST = -1.0
"""In LEFT: the step has begun, and its errors are not known yet."""
_FIRM = 0.8
"""Share of the acceleration that braking for a target is planned with; the linear model does not know the rest."""

_LONG = 100.0
"""Steps that a brake takes to be fully on, at most: more would creep up to a target."""


@kernel
def approach(p, w):
    """Shorten w.clamped to what of the errors w.e this step may take away."""
    along = splat(w.e, 0.0)
    first = load(w.memory, LEFT) < 0.0
    if any_of(first):
        square, fresh = splat(w.e, 0.0), load(w.memory, FRESH) < 0.5
        for i in range(len(w.e)):
            e = load(w.e, i)
            c = select(fresh, 0.0, load(w.sought, i) - e)
            store(w.closing, i, c), store(w.sought, i, e)
            along, square = along + e * c, square + c * c
        closing = (along > 0.0) & (square > 1e-280)
        steps = select(closing, along / select(closing, square, 1.0), 0.0)
        slower = steps
        for a in range(len(w.travel)):
            x = load(w.travel, a)
            x = select(x < 0.0, -x, x)
            room, rise = steps * x, 0.0 * x
            if p.paces[a].jerk < NO_LIMIT:
                y = select(load(w.travel, a) < 0.0, -load(w.surge, a), load(w.surge, a))
                y = select(y < 0.0, 0.0, y)
                n = y / p.paces[a].jerk
                room, rise = room - n * (x + y * n * (1.0 / 3.0)), 0.5 * y * n
                room = select(room < 0.0, 0.0, room)
            v = _braking(room, p.paces[a]) - rise
            v = select(v < 0.0, 0.0, v)
            share = v / select(x > 1e-280, x, 1.0)
            slower = select((x > 1e-280) & (share < slower), share, slower)
        store(w.memory, LEFT, (steps - slower) * square)
        along = splat(w.e, 0.0)
    seen = splat(w.e, 0.0)
    for i in range(len(w.e)):
        c = load(w.closing, i)
        along, seen = along + load(w.e, i) * c, seen + load(w.clamped, i) * c
    left = load(w.memory, LEFT)
    wanted = along - left
    wanted = select(wanted < 0.0, 0.0, wanted)
    shortened = (left > 0.0) & (seen > wanted)
    share = select(shortened, wanted / select(shortened, seen, 1.0), 1.0)
    for i in range(len(w.e)):
        store(w.clamped, i, share * load(w.clamped, i))
    store(w.memory, EASE, share)


@kernel
def _braking(room, pace):
    """The v with v^2 / 2a + v (1 + a / j) / 2 = room: one that can brake to rest within the room, jerk and all."""
    most = _FIRM * min(pace.change, _LONG * pace.jerk)
    if most >= _FIRM * NO_LIMIT:
        return room
    half = 0.5 + 0.5 * most / pace.jerk
    v = most * (sqrt(half * half + 2.0 * room / most) - half)
    return select(v < room, v, room)


@kernel
def ease(p, w):
    """Shorten w.step by as much as `approach` has shortened the errors, where the step was not made of those."""
    if len(p.paces) > 0:
        share = load(w.memory, EASE)
        for a in range(len(w.step)):
            store(w.step, a, share * load(w.step, a))
