"""How a tracker that creeps comes to rest: it leaps to where its steps lead.

Beyond reach, at a wall or between tasks that contradict each other an error stays, which the linear model of a step
knows nothing of: each step then leaves nearly all of the way that is left, and the next one is much like it.  Where
targets stand and the error has all but stopped falling, the last steps say by how much each of their directions
shrinks, and so where they end: with f_i the step from q_i, the next q plus sum of c_i f_i+1, c the least squares of
|f_m + sum of c_i (f_i+1 - f_i)|.  That is proposed, as a method's step is, and what must hold takes it; from there the
method steps on.  Where steps are rounding the arm stays, until something moves.

Source: Mesina 1977 and Eddy 1979, reduced rank extrapolation, again and again.
"""

from poise.kernels.algebra.working_set import along
from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.layout import METHOD
from poise.kernels.machine.memory import (
    COST,
    CREPT,
    DEPTH,
    EVEN,
    FOLLOWING,
    FUTILE,
    INVERSE_RADIUS,
    MARKED,
    SCORE,
    SCOUT,
)
from poise.kernels.machine.views import section
from poise.kernels.methods.update import go_straight, move, size_of
from poise.kernels.solver.ends import evaluate

_PATIENCE, _FALL = 30.0, 0.95
"""A squared error that has not fallen by this factor in so many steps has all but stopped falling."""
_SAME = 1e-8
"""A difference whose square falls to this share when made orthogonal to the later ones depends on them."""
_SWIFT = 0.99
"""A step of this share of the limits of speed is determined by them, and says nothing of where steps lead."""
_BOUNDED = 0.5
"""Nor does one of this share of the trust radius: across an edge of a wall, where steps turn back."""
_CALM = 0.05
"""Nor one that changes by this share of the limits of acceleration."""
_TOLD = 0.25
"""Share of the square of the last step that the differences may leave unexplained, for a leap to begin."""
_FARTHEST = 0.1
"""The longest entry of a leap [rad or m]: beyond it the way has bent."""
_WHILE = 100.0
"""Steps that a leap takes at most."""
_HELD = 1e-7
"""A leap whose step is no longer than this is held back [rad or m], by what must hold."""
_LESS = 0.64
"""A leap was futile where the squared step after it is more than this share of that before."""
_FUTILE = 5.0
"""Futile leaps after which there are no more."""
_LEVEL = 1.000000001
"""A squared error that has risen by no more has not risen."""
_ROUNDING = 1e-12
"""A step that is no longer is rounding [rad or m]."""
_RESTS = -1000.0
"""In CREPT: the arm stays."""


@routine
def look_back(p, w):
    """After a step, w.step: count steps that creep, collect the trail, and begin a leap: CREPT is then below 0.

    CREPT counts up to _PATIENCE while the squared error does not fall by _FALL, then the DEPTH + 1 steps of the trail;
    below 0 it counts the steps of a leap down, and _RESTS is an arm that stays.
    """
    n, crept = len(w.step), w.memory[CREPT]
    if w.memory[SCORE] <= 1.0 or w.memory[SCOUT] == FOLLOWING:
        w.memory[CREPT] = 0.0
        return
    longest, swiftest = size_of(p, w.step)
    hurries = swiftest >= _SWIFT or _changes(p, w)
    if crept < 0.0:
        _go_on(w, longest)
    elif crept < _PATIENCE:
        if crept == 0.0 or hurries or w.memory[COST] < _FALL * w.memory[MARKED]:
            w.memory[MARKED], crept = w.memory[COST], 0.0
        w.memory[CREPT] = crept + 1.0
        if w.memory[CREPT] == _PATIENCE:
            w.memory[FUTILE], w.memory[MARKED] = 0.0, 0.0  # from here on MARKED is the squared step before a leap
            # Without a plan a method knows nothing of walls, and where they let its steps end is no minimum.
            w.memory[EVEN] = 1.0 if len(p.braking_group) == 0 or len(p.plan) > 0 else 0.0
    elif longest <= _ROUNDING:
        w.memory[CREPT] = _RESTS
        for a in range(n):
            w.stall.leap[a] = 0.0
    elif hurries or longest * w.memory[INVERSE_RADIUS] > _BOUNDED:
        w.memory[CREPT] = _PATIENCE  # the trail begins anew
    else:
        seen = min(int(crept - _PATIENCE), DEPTH)
        for i in range(0 if crept < _PATIENCE + DEPTH + 1.0 else DEPTH * n):
            w.stall.trail[i] = w.stall.trail[i + n]
        for a in range(n):
            w.stall.trail[seen * n + a] = w.step[a]
        w.memory[CREPT] = min(crept + 1.0, _PATIENCE + DEPTH + 1.0)
        if seen == DEPTH:
            _set_out(p, w)


@routine
def leap(p, w):
    """One step of the leap, w.stall.leap, in place of a method's; the method's own where something has moved
    meanwhile."""
    if w.memory[CREPT] >= 0.0:
        call(w.routines[METHOD], p, w)
        return
    go_straight(p, w, w.stall.leap)


@kernel
def _changes(p, w):
    """Whether the step changes by more than _CALM of a limit of acceleration."""
    changes = False
    for a in range(len(p.rates)):
        changes = changes or abs(w.motion.displacement_change[a]) > _CALM * p.rates[a].change
    return changes


@kernel
def _go_on(w, longest):
    """Take the step off w.stall.leap, and end the leap where nothing is left, or it is held back, or takes too long.

    w.last_step is 0, so that a method that steps back after a leap is no turn for the trust radius.
    """
    left = 0.0
    for a in range(len(w.step)):
        w.last_step[a] = 0.0
        w.stall.leap[a] -= w.step[a]
        left = max(left, abs(w.stall.leap[a]))
    if w.memory[CREPT] > _RESTS:
        w.memory[CREPT] -= 1.0
        if left <= _ROUNDING or longest <= _HELD or w.memory[CREPT] < -_WHILE:
            w.memory[CREPT] = _PATIENCE


@kernel
def _set_out(p, w):
    """w.stall.leap = sum c_i f_{i+1} of the module from the trail f_0 .. f_m, if the fit is good and the error does not
    rise.

    The differences f_{i+1} - f_i, latest first, are made orthogonal one to another (Gram-Schmidt), and each f_{i+1} is
    combined likewise, so c need never be known.
    """
    n = len(w.step)
    last, rest = section(w.stall.trail, DEPTH * n, n), section(w.stall.trail, (3 * DEPTH + 1) * n, n)
    square = along(n, last, 0, last)
    if w.memory[MARKED] > 0.0:
        w.memory[FUTILE] += 1.0 if square > _LESS * w.memory[MARKED] else 0.0
        w.memory[MARKED] = 0.0
    if w.memory[FUTILE] >= _FUTILE:
        return
    for a in range(n):
        rest[a], w.stall.leap[a] = last[a], 0.0
    for c in range(DEPTH):
        one = section(w.stall.trail, (DEPTH + 1 + 2 * c) * n, n)  # the difference, orthogonal to those before it
        its = section(w.stall.trail, (DEPTH + 2 + 2 * c) * n, n)  # the f_{i+1} that goes with it
        at = (DEPTH - 1 - c) * n
        for a in range(n):
            its[a] = w.stall.trail[at + n + a]
            one[a] = its[a] - w.stall.trail[at + a]
        before = along(n, one, 0, one)
        for k in range(c):
            other = section(w.stall.trail, (DEPTH + 1 + 2 * k) * n, n)
            _take_off(along(n, one, 0, other) / along(n, other, 0, other), other, one, k, its, w, n)
        length = along(n, one, 0, one)
        if length <= _SAME * before:
            break
        share = along(n, rest, 0, one) / length
        for a in range(n):
            rest[a] -= share * one[a]
            w.stall.leap[a] -= share * its[a]
    if along(n, rest, 0, rest) > _TOLD * square or along(n, w.stall.leap, 0, last) <= 0.0:
        return
    _bound(p, w)
    if _gains(p, w):
        w.memory[CREPT], w.memory[MARKED] = -1.0, square


@kernel
def _gains(p, w):
    """Whether the squared error where w.stall.leap ends is not above that at w.q, which stays, as w.step does."""
    n = len(w.step)
    for i in range(len(w.q)):
        w.before[i] = w.q[i]
    for a in range(n):
        w.step[a] = w.stall.leap[a]
    move(p, w)
    there, _ = evaluate(p, w)
    for i in range(len(w.q)):
        w.q[i] = w.before[i]
    for a in range(n):
        w.step[a] = w.stall.trail[DEPTH * n + a]
    here, _ = evaluate(p, w)
    return there <= _LEVEL * here


@kernel
def _take_off(share, other, one, k, its, w, n):
    """one -= share * difference k, and its -= share * the step that goes with that."""
    for a in range(n):
        one[a] -= share * other[a]
        its[a] -= share * w.stall.trail[(DEPTH + 2 + 2 * k) * n + a]


@kernel
def _bound(p, w):
    """Shorten w.stall.leap to _FARTHEST, and clip where it ends to the limits of coordinates."""
    longest, _ = size_of(p, w.stall.leap)
    for a in range(len(w.stall.leap)):
        w.stall.leap[a] *= min(1.0, _FARTHEST / longest)
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        w.stall.leap[c.v] = min(max(w.stall.leap[c.v], c.lower - w.q[c.q]), c.upper - w.q[c.q])
