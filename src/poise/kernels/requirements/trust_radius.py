"""The trust radius by which a tracker comes to rest: a step that turns back makes the next ones shorter.

Where a method overshoots, or two of its steps undo each other, the path turns by more than a right angle.  The longest
entry of a step is then bounded by half of the longer of the two, or of the bound that held them; a step that goes on,
as long as the bound, widens it, and the less the more often the path has turned.  So what gains nothing by going to and
fro dies out, whatever the method, and what makes way goes on.  The bound is widened by as much as targets, q or shapes
of the world are moved from outside, and a turn that such a move of the targets may have made is none.

Source: the rule of signs of Jacobs 1988 and of Riedmiller and Braun 1993, for the step as a whole.
"""

import functools

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.machine.layout import GOAL, WAY
from poise.kernels.machine.memory import CREPT, FRESH, INVERSE_RADIUS, MU, SEEN, SHARE, STIRRED, TURNED
from poise.kernels.machine.views import section

_SHORTER, _LONGER = 0.5, 1.5
"""What a turn makes of the longer of two steps, or of the bound, and the first step that goes on of the bound."""
_TIRING = 0.2
"""What a turn takes from later growth: after T of them the bound widens by 1 + 0.5 / (1 + T / 5), so that a cycle that
turns every P steps dies out as soon as T is above 4 P."""
_AT_BOUND = 0.99
"""Share of the bound from which a step that was shortened is as long as it."""
_LEAST = 1e-16
"""The least bound, and the shortest step that tells anything [rad or m]."""
STILL = 1e-10
"""Who is moved by no more stands still [m, rad or 1]: rounding of what a caller computes anew in each step."""
_WIDENING = 100.0
"""How much longer a step may be for each metre or radian that something was moved [rad or m]."""
_CALMING = 0.5
"""Factor by which STIRRED, the longest step whose turn may be due to the targets, falls in each update."""


@functools.partial(kernel, inline=True)
def adapt_trust_radius(p, w):
    """Adapt INVERSE_RADIUS, one over the bound of the next steps, by w.step and the one before, w.last_step.

    A turn, w.step . w.last_step < 0, halves it; a step along the bound widens it.
    """
    along, longest, last = splat(w.e, 0.0), splat(w.e, 0.0), splat(w.e, 0.0)
    for a in range(len(w.step)):
        x, y = load(w.step, a), load(w.last_step, a)
        along = along + x * y
        size, before = select(x < 0.0, -x, x), select(y < 0.0, -y, y)
        longest = select(size > longest, size, longest)
        last = select(before > last, before, last)
        store(w.last_step, a, x)
    bound = load(w.memory, INVERSE_RADIUS)
    farther = select(last > longest, last, longest)
    stirred = load(w.memory, STIRRED)
    # A turn of steps that are no longer than STIRRED may be the answer to targets that moved.
    turned = (along < 0.0) & (farther > select(stirred > _LEAST, stirred, _LEAST))
    store(w.memory, STIRRED, _CALMING * stirred)
    if any_of(turned | (bound > 0.0)):
        turns = load(w.memory, TURNED)
        shorter = 1.0 / select(turned, farther, 1.0)
        shorter = select(shorter > bound, shorter, bound) * (1.0 / _SHORTER)
        shorter = select(shorter * _LEAST > 1.0, 1.0 / _LEAST, shorter)
        # Only a step that the bound held, as long as it and shortened, says that it is too tight.
        longer = bound / (1.0 + (_LONGER - 1.0) / (1.0 + _TIRING * turns))
        longer = select((longest * bound > _AT_BOUND) & (load(w.memory, SHARE) < 1.0), longer, bound)
        store(w.memory, INVERSE_RADIUS, select(turned, shorter, longer))
        store(w.memory, TURNED, select(turned, turns + 1.0, turns))
        # Gain-ratio damping learns from whole steps alone: without this it would keep a step that turns for ever.
        store(w.memory, MU, load(w.memory, MU) * select(turned, splat(w.e, 2.0), 1.0))
    store_targets(p, w)


@kernel
def keep_still_targets(p, w):
    """Targets and a posture that stand, up to STILL, stay what they were in the last update, to the bit.

    They are compared with where they were last let go to, so what moves slowly is followed in steps of STILL.
    """
    if w.memory[FRESH] < 0.5:
        return
    for k in range(len(p.effectors)):
        now, last = section(w.target, GOAL * k, SEEN), section(w.last_target, SEEN * k, SEEN)
        if p.effectors[k].goal & WAY == 0:
            _keep_still(now, last, first_seen(p.effectors[k]))
    _keep_still(w.guide, w.last_guide, 0)


@kernel
def _keep_still(now, last, first):
    """Let entries from `first` on be the last ones, if none is farther from its last than STILL."""
    farthest = 0.0
    for i in range(first, len(now)):
        farthest = max(farthest, abs(now[i] - last[i]))
    for i in range(first if farthest <= STILL else len(now), len(now)):
        now[i] = last[i]


@functools.partial(kernel, inline=True)
def release_trust_radius(p, w):
    """Widen the bound by as much as the targets, and a posture, have moved since the last update.

    STIRRED keeps up to which length the turn of a step may answer that move.
    """
    moved, stirred = away_from_last_targets(p, w), load(w.memory, STIRRED)
    store(w.memory, STIRRED, select(_WIDENING * moved > stirred, _WIDENING * moved, stirred))
    widen_trust_radius(w, moved)


@functools.partial(kernel, inline=True)
def away_from_last_targets(p, w):
    """How far targets and posture are from where they were, as numbers: places [m], rotation matrices, joints."""
    square = splat(w.e, 0.0)
    for k in range(len(p.effectors)):
        for i in range(first_seen(p.effectors[k]), SEEN):
            x = load(w.target, GOAL * k + i) - load(w.last_target, SEEN * k + i)
            square = square + x * x
    for i in range(len(w.guide)):
        x = load(w.guide, i) - load(w.last_guide, i)
        square = square + x * x
    return sqrt(square)


@functools.partial(kernel, inline=True)
def store_targets(p, w):
    """Keep where the targets are.  A target with WAY is the way of an update: it moves anew each time, so 0 is kept."""
    for k in range(len(p.effectors)):
        stays = 0.0 if p.effectors[k].goal & WAY else 1.0
        for i in range(first_seen(p.effectors[k]), SEEN):
            store(w.last_target, SEEN * k + i, stays * load(w.target, GOAL * k + i))


@functools.partial(kernel, inline=True)
def first_seen(effector):
    """The first of the rows before SEEN that the task reads: of a position alone the three of its place."""
    return SEEN - 3 if effector.position >= 0 and effector.rotation < 0 and not effector.weighing else 0


@functools.partial(kernel, inline=True)
def widen_trust_radius(w, moved):
    """Let the bound grow by _WIDENING times `moved` [m or rad], and forget turns and creeping where that is not 0."""
    bound = load(w.memory, INVERSE_RADIUS)
    store(w.memory, INVERSE_RADIUS, bound / (1.0 + _WIDENING * bound * moved))
    for row in (TURNED, CREPT):
        store(w.memory, row, select(moved > 0.0, 0.0, load(w.memory, row)))
