"""All angles at which a trigonometric polynomial of degree eight is 0, none missed.

A piece of the circle is left out where the value in its middle is more than what the derivatives there allow it to
change by; where that holds of the first derivative it has one zero or none, as the signs at its ends say; else it is
halved.  What stays, where values are no more than noise, holds two zeros that are close, one that is double, or none.
"""

from poise.kernels.algebra.scalar import sincos
from poise.kernels.closed_form.elimination import DEGREE, SERIES
from poise.kernels.machine.jit import kernel

MOST = 32
"""Zeros and pieces that stay, at most."""
FOUND, ENDS, _STACK = 640, 704, 768
"""Where stand, in the room of `elimination`: of each zero or piece its two ends, alike for a zero; pieces to look at,
with the values at their ends."""
SPACE = 1024
_PIECES = 32
"""Of the circle, with which the search begins."""
_NOISES = 300.0
"""Values are noise below this many times the determinant's noise: that is an estimate, 150 times too small at worst."""
_NARROW = 1e-7
"""Half of a piece that is not halved any more [rad]."""
_CLOSE = 1e-6
"""Zeros and pieces that are nearer than this are one piece [rad]."""
_PI = 3.141592653589793
_BEGIN = 0.1 - _PI
"""Where the circle is cut open [rad]: at none of the right angles, where arms of right angles have double zeros."""


@kernel
def value(work, angle):
    """The polynomial at an angle [rad], and its derivative."""
    s, c = sincos(angle)
    total, slope, sk, ck = work[SERIES], 0.0, s, c
    for k in range(1, DEGREE + 1):
        a, b = work[SERIES + 2 * k], work[SERIES + 2 * k + 1]
        total += a * ck + b * sk
        slope += k * (b * ck - a * sk)
        sk, ck = sk * c + ck * s, ck * c - sk * s
    return total, slope


@kernel
def _looked_at(work, low, high, noise):
    """Of a piece: 0 if it has no zero, 1 if it has one at most, 2 if it is all noise, else 3."""
    s, c = sincos(0.5 * (low + high))
    r, sk, ck = 0.5 * (high - low), s, c
    # With x = k r: terms x^m / m! times what is even, or odd, in the derivatives.  Eight are looked at; what is behind
    # is bounded by the sum of all coefficients.
    t0, t1, t2, t3, t4, t5, t6, t7, t8, rest = work[SERIES], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(1, DEGREE + 1):
        a, b = work[SERIES + 2 * k], work[SERIES + 2 * k + 1]
        u, w, x = a * ck + b * sk, b * ck - a * sk, k * r
        t0 += u
        y = x
        t1 += w * y
        y *= x * 0.5
        t2 += u * y
        y *= x * (1.0 / 3.0)
        t3 += w * y
        y *= x * 0.25
        t4 += u * y
        y *= x * 0.2
        t5 += w * y
        y *= x * (1.0 / 6.0)
        t6 += u * y
        y *= x * (1.0 / 7.0)
        t7 += w * y
        y *= x * 0.125
        t8 += u * y
        rest += (abs(a) + abs(b)) * y * x * (1.0 / 9.0)
        sk, ck = sk * c + ck * s, ck * c - sk * s
    t2, t3, t4, t5, t6, t7, t8 = abs(t2), abs(t3), abs(t4), abs(t5), abs(t6), abs(t7), abs(t8)
    others = t2 + t3 + t4 + t5 + t6 + t7 + t8 + rest
    if abs(t0) > abs(t1) + others + noise:
        return 0
    # Of the remainder's derivative: nine times its terms, and a little more for those behind.
    if abs(t1) > 2.0 * t2 + 3.0 * t3 + 4.0 * t4 + 5.0 * t5 + 6.0 * t6 + 7.0 * t7 + 8.0 * t8 + 18.0 * rest:
        return 1
    if abs(t0) + abs(t1) + others < noise:
        return 2
    return 3


@kernel
def zeros(work, noise):
    """Write all zeros, and pieces that stay, in order from FOUND and ENDS on; how many, negative if there are too many.

    Coefficients are of the order of 1, and `noise` is what they are known to.
    """
    noise *= _NOISES
    found = 0
    v_first, _ = value(work, _BEGIN)
    low, v_low = _BEGIN, v_first
    for piece in range(_PIECES):
        high = _BEGIN + 2.0 * _PI * (piece + 1) / _PIECES
        v_high, _ = value(work, high)
        if piece == _PIECES - 1:
            v_high = v_first

        work[_STACK], work[_STACK + 1], work[_STACK + 2], work[_STACK + 3] = low, high, v_low, v_high
        top = 1
        while top > 0:
            top -= 1
            at = _STACK + 4 * top
            a, b, v_a, v_b = work[at], work[at + 1], work[at + 2], work[at + 3]
            kind = _looked_at(work, a, b, noise)
            if kind == 0 or (kind == 1 and (v_a > 0.0) == (v_b > 0.0)):
                continue
            if kind == 1 or kind == 2 or b - a < 2.0 * _NARROW:
                if kind == 1:
                    a = _zero_between(work, a, b, v_a)
                    b = a
                if found > 0 and a - work[ENDS + found - 1] < _CLOSE:
                    work[ENDS + found - 1] = b
                elif found == MOST:
                    return -1
                else:
                    work[FOUND + found], work[ENDS + found] = a, b
                    found += 1
            else:
                middle = 0.5 * (a + b)
                v_middle, _ = value(work, middle)
                work[at], work[at + 1], work[at + 2], work[at + 3] = middle, b, v_middle, v_b
                work[at + 4], work[at + 5], work[at + 6], work[at + 7] = a, middle, v_a, v_middle
                top += 2
        low, v_low = high, v_high
    return found


@kernel
def _zero_between(work, a, b, v_a):
    """The zero between two angles at which values have other signs: Newton's steps, or halves."""
    x = 0.5 * (a + b)
    for _ in range(60):
        v, slope = value(work, x)
        if (v > 0.0) == (v_a > 0.0):
            a = x
        else:
            b = x
        step = v / slope if slope != 0.0 else 0.0
        y = x - step
        if not (a < y < b):
            y = 0.5 * (a + b)
        if abs(y - x) < 1e-15 * (1.0 + abs(x)) or b - a < 1e-15:
            return y
        x = y
    return x
