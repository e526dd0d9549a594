"""How a tracker comes to rest: a step that turns back makes the next ones shorter.

Where a method overshoots, or two of its steps undo each other, the path turns by more than a right angle.  The longest
entry of a step is then bounded by half of what it was; a step that goes on, as long as the bound, widens it.  What
gains nothing by going to and fro so dies out, whatever the method, and what makes way goes on.  The bound is let go by
as much as targets, or q, are moved from outside.

Source: the rule of signs of Jacobs 1988 and of Riedmiller and Braun 1993, for the step as a whole.
"""

import functools

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.machine.layout import GOAL
from poise.kernels.methods.memory import CURB, SEEN, TURNED

_SHORTER, _LONGER, _TIRING = 0.5, 1.5, 0.1
_AT_BOUND = 0.99
"""Of the bound, a step that is as long as it."""
_LEAST = 1e-12
"""A step as short as rounding tells nothing [rad or m]."""
_ROOM = 10.0
"""What a target that moves lets a step be longer [rad/m]; a robot a metre tall turns its joints by less to follow."""


@functools.partial(kernel, inline=True)
def curb(w):
    """Bound the next steps by what the last one did."""
    along, longest, last = splat(w.e, 0.0), splat(w.e, 0.0), splat(w.e, 0.0)
    for a in range(len(w.step)):
        x, y = load(w.step, a), load(w.last_step, a)
        along = along + x * y
        x1, y1 = select(x < 0.0, -x, x), select(y < 0.0, -y, y)
        longest = select(x1 > longest, x1, longest)
        last = select(y1 > last, y1, last)
        store(w.last_step, a, x)
    curbed = load(w.memory, CURB)
    farther = select(last > longest, last, longest)
    turned = (along < 0.0) & (farther > _LEAST)
    if any_of(turned | (curbed > 0.0)):
        shorter = 1.0 / (_SHORTER * select(turned, farther, 1.0))
        shorter = select(shorter > curbed, shorter, curbed)
        turns = load(w.memory, TURNED)
        growth = 1.0 + (_LONGER - 1.0) / (1.0 + _TIRING * turns)
        longer = select(longest * curbed > _AT_BOUND, curbed / growth, curbed)
        store(w.memory, TURNED, select(turned, turns + 1.0, turns))
        store(w.memory, CURB, select(turned, shorter, longer))
        for k in range(len(w.last_target) // SEEN):
            for i in range(SEEN):
                store(w.last_target, SEEN * k + i, load(w.target, GOAL * k + i))


@functools.partial(kernel, inline=True)
def let_go(w):
    """Widen the bound by as much as the targets have moved since the last update."""
    if any_of(load(w.memory, CURB) > 0.0):
        square = splat(w.e, 0.0)
        for k in range(len(w.last_target) // SEEN):
            for i in range(SEEN):
                x = load(w.target, GOAL * k + i) - load(w.last_target, SEEN * k + i)
                square = square + x * x
        widen(w, sqrt(square))


@functools.partial(kernel, inline=True)
def widen(w, moved):
    """Widen the bound, for something was moved so far."""
    curbed = load(w.memory, CURB)
    store(w.memory, CURB, curbed / (1.0 + _ROOM * curbed * moved))
    store(w.memory, TURNED, select(moved > 0.0, 0.0, load(w.memory, TURNED)))
