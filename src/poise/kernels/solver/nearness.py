"""Distances between configurations, and whole turns of joints, which change no task, that make them least."""

import functools

import numpy as np

from poise.kernels.algebra.scalar import angle_of
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import floor, rint, select, sqrt
from poise.kernels.rows.sums import slack_of_sums

_TURN = 6.283185307179586
_ROUNDING = 1e-9
"""A joint that whole turns take over its limit by no more than this stands at it [rad]."""
_MOST = 4096
"""Ways to turn the joints of a configuration that are tried, at most."""
_AROUND = 2.0
"""Whole turns to each side that are tried of a joint without limits."""


@functools.partial(kernel, inline=True)
def turned_near(c, x, x0):
    """x by whole turns nearest to x0 within the limits of coordinate c, which turns; x itself where no turn fits."""
    up, down = floor((c.upper + _ROUNDING - x) / _TURN), -floor((x - c.lower + _ROUNDING) / _TURN)
    turns = rint((x0 - x) / _TURN)
    turns = select(turns > up, up, turns)
    turns = select(turns < down, down, turns)
    turned = x + turns * _TURN
    turned = select(turned < c.lower, c.lower, turned)
    turned = select(turned > c.upper, c.upper, turned)
    return select((up >= down) & (turns * turns > 0.5), turned, x)


@kernel
def square_between(p, q, q0):
    """The squared distance between two configurations: of coordinates [rad or m] and of angles between balls."""
    square = 0.0
    for r in range(len(p.coordinates)):
        i = p.coordinates[r].q
        square += (q[i] - q0[i]) ** 2
    for r in range(len(p.balls)):
        square += angle_between(q, q0, p.balls[r].q) ** 2
    return square


@kernel
def angle_between(q, q0, i):
    """The angle [rad] between two rotations, whose unit quaternions begin at i."""
    # |q - q0| is twice the sine of a quarter of the angle, which keeps the digits of small ones.
    minus = (q[i] - q0[i]) ** 2 + (q[i + 1] - q0[i + 1]) ** 2
    minus += (q[i + 2] - q0[i + 2]) ** 2 + (q[i + 3] - q0[i + 3]) ** 2
    plus = (q[i] + q0[i]) ** 2 + (q[i + 1] + q0[i + 1]) ** 2
    plus += (q[i + 2] + q0[i + 2]) ** 2 + (q[i + 3] + q0[i + 3]) ** 2
    return 4.0 * angle_of(sqrt(min(minus, plus)), sqrt(max(minus, plus)))


@kernel
def square_of(p, w, lane, q0, spare):
    """`square_between` q of a lane and q0, after whole turns that bring its joints nearest; `spare` (nq) is scratch."""
    for i in range(len(q0)):
        spare[i] = w.q[i, lane]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        if c.turns:
            spare[c.q] = turned_near(c, spare[c.q], q0[c.q])
    return square_between(p, spare, q0)


@kernel
def near_turn(p, w, start):
    """Turn every revolute coordinate by whole turns towards `start`, as far as its limits allow; whether any turned.

    Where limits of sums do not hold there, it is as near to `start` as whole turns bring it that let them hold.
    """
    turned = False
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        if c.turns:
            x = turned_near(c, w.q[c.q], start[c.q])
            if x != w.q[c.q]:
                w.q[c.q], turned = x, True
    return (slack_of_sums(p, w.q) < 0.0 and turn_within(p, w, start)) or turned


@kernel
def turn_within(p, w, start):
    """Search all whole turns of w.q for those that let limits of sums hold, nearest to `start`; whether there are any.

    If not, or if there are more than _MOST ways, w.q stays.  w.step is written over.
    """
    total = np.int64(1)
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        w.step[r] = w.q[c.q]
        if c.turns:
            total = min(total * _turns_of(c, w.q[c.q])[1], np.int64(_MOST + 1))
    if total == 1 or total > _MOST:
        return False
    best, least = np.int64(-1), np.inf
    for k in range(total):
        square = _put_turns(p, w, start, k)
        if square < least and slack_of_sums(p, w.q) >= 0.0:
            best, least = k, square
    if best >= 0:
        _put_turns(p, w, start, best)
        return True
    for r in range(len(p.coordinates)):
        w.q[p.coordinates[r].q] = w.step[r]
    return False


@kernel
def _turns_of(c, x):
    """The fewest whole turns that keep x, of a coordinate c that turns, within its limits, and how many there are."""
    low, high = -floor((x - c.lower + _ROUNDING) / _TURN), floor((c.upper + _ROUNDING - x) / _TURN)
    low, high = max(low, -_AROUND), min(high, _AROUND)
    return (low, np.int64(high - low + 1.0)) if high >= low else (0.0, np.int64(1))


@kernel
def _put_turns(p, w, start, number):
    """w.q = w.step with the whole turns of this number, one digit a joint; its squared distance from `start`."""
    square, rest = 0.0, np.int64(number)
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x = w.step[r]
        if c.turns:
            low, ways = _turns_of(c, x)
            turns, rest = low + rest % ways, rest // ways
            if turns != 0.0:
                x = min(max(x + turns * _TURN, c.lower), c.upper)
            square += (x - start[c.q]) ** 2
        w.q[c.q] = x
    return square
