"""How a tracker that creeps comes to rest: it leaps to where its steps lead.

Beyond reach, at a wall or between tasks that contradict each other an error stays, which the linear model of a step
knows nothing of: each step then leaves nearly all of the way that is left, and the next one is much like it.  Where
targets stand and the error has all but stopped falling, the last steps say by how much each of their directions
shrinks, and so where they end: with f_i the step from q_i, the next q plus sum of c_i f_i+1, c the least squares of
|f_m + sum of c_i (f_i+1 - f_i)|.  That is proposed, as a method's step is, and what must hold takes it; from there the
method steps on.  Where steps are rounding the arm stays, until something moves.

Source: Mesina 1977 and Eddy 1979, reduced rank extrapolation, again and again.
"""

from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.layout import METHOD
from poise.kernels.machine.memory import (
    COST,
    CREPT,
    DEPTH,
    ELSEWHERE,
    EVEN,
    FOLLOWING,
    FUTILE,
    INVERSE_RADIUS,
    MARKED,
    PREDICTED,
    SCORE,
    SCOUT,
)
from poise.kernels.machine.views import section
from poise.kernels.methods.update import length_of, move, remember, shorten
from poise.kernels.solver.ends import evaluate

_PATIENCE, _FALL = 30.0, 0.95
"""A squared error that has not fallen by this factor in so many steps has all but stopped falling."""
_SAME = 1e-8
"""Of the square of a difference, what is left without what is along the others and tells nothing more."""
_SWIFT = 0.99
"""A step of this share of what speeds allow is theirs, and tells nothing."""
_BOUNDED = 0.5
"""So is one that is of this share of the bound of `settling`: across an edge of a wall, where steps turn back."""
_CALM = 0.05
"""And one that changes by this share of what accelerations allow is theirs."""
_TOLD = 0.25
"""Of the square of the last step, what may be left that the differences do not tell."""
_FARTHEST = 0.1
"""The longest entry of a leap: beyond it the way has bent [rad or m]."""
_PACE = 0.5
"""Share of its speed at which the swiftest joint leaps."""
_WHILE = 100.0
"""Steps that a leap takes at most."""
_HELD = 1e-7
"""A leap whose step is no longer is held back [rad or m]."""
_LESS = 0.64
"""What a leap makes of the square of a step at most, or it was futile."""
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
    """Look how the last step went, w.step, and where the arm creeps begin a leap: w.memory[CREPT] is then below 0."""
    n, crept = len(w.step), w.memory[CREPT]
    if w.memory[SCORE] <= 1.0 or w.memory[SCOUT] == FOLLOWING:
        w.memory[CREPT] = 0.0
        return
    longest, swiftest = _size(p, w.step)
    hurries = swiftest >= _SWIFT or _changes(p, w)
    if crept < 0.0:
        _go_on(w, longest)
    elif crept < _PATIENCE:
        if crept == 0.0 or hurries or w.memory[COST] < _FALL * w.memory[MARKED]:
            w.memory[MARKED], crept = w.memory[COST], 0.0
        w.memory[CREPT] = crept + 1.0
        if w.memory[CREPT] == _PATIENCE:
            w.memory[FUTILE], w.memory[MARKED] = 0.0, 0.0
            # Without a plan a method knows nothing of walls, and where they let its steps end is no minimum.
            w.memory[EVEN] = 1.0 if len(p.braking_group) == 0 or len(p.plan) > 0 else 0.0
    elif longest <= _ROUNDING:
        w.memory[CREPT] = _RESTS
        for a in range(n):
            w.leap[a] = 0.0
    elif hurries or longest * w.memory[INVERSE_RADIUS] > _BOUNDED:
        w.memory[CREPT] = _PATIENCE
    else:
        seen = min(int(crept - _PATIENCE), DEPTH)
        for i in range(0 if crept < _PATIENCE + DEPTH + 1.0 else DEPTH * n):
            w.trail[i] = w.trail[i + n]
        for a in range(n):
            w.trail[seen * n + a] = w.step[a]
        w.memory[CREPT] = min(crept + 1.0, _PATIENCE + DEPTH + 1.0)
        if seen == DEPTH:
            _set_out(p, w)


@routine
def leap(p, w):
    """Move w.q by one step of the leap, in place of a method's; by the method's where something has moved."""
    if w.memory[CREPT] >= 0.0:
        call(w.routines[METHOD], p, w)
        return
    cost, score = evaluate(p, w)
    remember(w, cost)
    _, swiftest = _size(p, w.leap)
    share = min(1.0, _PACE / swiftest) if swiftest > 0.0 else 1.0
    for a in range(len(w.step)):
        w.step[a] = share * w.leap[a]
    shorten(p, w, 0.0)
    move(p, w)
    w.memory[COST], w.memory[SCORE], w.memory[PREDICTED] = cost, score, ELSEWHERE


@kernel
def _size(p, step):
    """The longest entry of a step, and the largest share of what a speed or a twist allows."""
    longest, swiftest = 0.0, 0.0
    for a in range(len(step)):
        x = abs(step[a])
        longest, swiftest = max(longest, x), max(swiftest, x / p.speeds[a])
    for k in range(len(p.twists)):
        swiftest = max(swiftest, length_of(p.twists[k], step) / p.twists[k].most)
    return longest, swiftest


@kernel
def _changes(p, w):
    """Whether accelerations have a say in the step."""
    changes = False
    for a in range(len(p.rates)):
        changes = changes or abs(w.displacement_change[a]) > _CALM * p.rates[a].change
    return changes


@kernel
def _go_on(w, longest):
    """Let w.leap be what is left of it; where that is nothing, or is held back, the method steps on.

    A step that the method takes back of a leap is no turn for `settling`.
    """
    left = 0.0
    for a in range(len(w.step)):
        w.last_step[a] = 0.0
        w.leap[a] -= w.step[a]
        left = max(left, abs(w.leap[a]))
    if w.memory[CREPT] > _RESTS:
        w.memory[CREPT] -= 1.0
        if left <= _ROUNDING or longest <= _HELD or w.memory[CREPT] < -_WHILE:
            w.memory[CREPT] = _PATIENCE


@kernel
def _set_out(p, w):
    """Begin a leap to where the steps of the trail lead, if they tell."""
    n = len(w.step)
    last, rest = section(w.trail, DEPTH * n, n), section(w.trail, (3 * DEPTH + 1) * n, n)
    square = _product(last, last)
    if w.memory[MARKED] > 0.0:
        w.memory[FUTILE] += 1.0 if square > _LESS * w.memory[MARKED] else 0.0
        w.memory[MARKED] = 0.0
    if w.memory[FUTILE] >= _FUTILE:
        return
    for a in range(n):
        rest[a], w.leap[a] = last[a], 0.0
    for c in range(DEPTH):
        one = section(w.trail, (DEPTH + 1 + 2 * c) * n, n)
        its = section(w.trail, (DEPTH + 2 + 2 * c) * n, n)
        at = (DEPTH - 1 - c) * n
        for a in range(n):
            its[a] = w.trail[at + n + a]
            one[a] = its[a] - w.trail[at + a]
        before = _product(one, one)
        for k in range(c):
            other = section(w.trail, (DEPTH + 1 + 2 * k) * n, n)
            _take_off(_product(one, other) / _product(other, other), other, one, k, its, w, n)
        length = _product(one, one)
        if length <= _SAME * before:
            break
        share = _product(rest, one) / length
        for a in range(n):
            rest[a] -= share * one[a]
            w.leap[a] -= share * its[a]
    if _product(rest, rest) > _TOLD * square or _product(w.leap, last) <= 0.0:
        return
    _bound(p, w)
    if _gains(p, w):
        w.memory[CREPT], w.memory[MARKED] = -1.0, square


@kernel
def _gains(p, w):
    """Whether the squared error where w.leap ends is not above that at w.q, which stays, as w.step does."""
    n = len(w.step)
    for i in range(len(w.q)):
        w.before[i] = w.q[i]
    for a in range(n):
        w.step[a] = w.leap[a]
    move(p, w)
    there, _ = evaluate(p, w)
    for i in range(len(w.q)):
        w.q[i] = w.before[i]
    for a in range(n):
        w.step[a] = w.trail[DEPTH * n + a]
    here, _ = evaluate(p, w)
    return there <= _LEVEL * here


@kernel
def _take_off(share, other, one, k, its, w, n):
    """Take that share of difference k off another one, and of what goes with it."""
    for a in range(n):
        one[a] -= share * other[a]
        its[a] -= share * w.trail[(DEPTH + 2 + 2 * k) * n + a]


@kernel
def _bound(p, w):
    """Let w.leap end within the limits, not too far away."""
    longest, _ = _size(p, w.leap)
    for a in range(len(w.leap)):
        w.leap[a] *= min(1.0, _FARTHEST / longest)
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        w.leap[c.v] = min(max(w.leap[c.v], c.lower - w.q[c.q]), c.upper - w.q[c.q])


@kernel
def _product(x, y):
    total = 0.0
    for a in range(len(x)):
        total += x[a] * y[a]
    return total
