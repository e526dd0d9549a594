"""The five other angles of six axes that lie anyhow, where the determinant of `elimination` is 0."""

import numpy as np

from poise.kernels.algebra.scalar import angle_of, sincos
from poise.kernels.algebra.vectors import cross, dot, minus, plus, scaled, times, turned_back, vector
from poise.kernels.closed_form.circle import SPACE
from poise.kernels.closed_form.elimination import (
    FRONT,
    LINES,
    MIDDLE,
    REAR,
    ROOT,
    SPARE,
    TERMS,
    THIRD,
    axis_of,
    determinant,
    ring_displacement,
    third,
    turn_line,
)
from poise.kernels.machine.jit import kernel

ANGLES = SPACE
"""Where the angles of up to four solutions stand, in the room that elimination works in."""
OTHERS = ANGLES + 24
"""Where what is behind them stands."""
_SINGLE = 1e-3
"""Where the less of two singular values of four equations for one angle is below this share of the other, there may be
two such angles."""
_SHARED, _SHARED_CLEARLY = 1e-4, 1e-7
"""Below this share of the first the last but one pivot is 0, and two solutions share the angle of k: where two zeros
are too close to be told apart, and where there is one."""
_TWO = SPARE + 6
"""Where two vectors of twelve terms stand."""
_MIXED = 0.618


@kernel
def angles(arm, r, d, choice, work, s, c, wide):
    """The six angles of solutions at which the determinant is 0, at a sine and cosine of k, from ANGLES on.

    They stand in the order of the chain.  Two solutions may share the angle of k, the more so where it is known to no
    more than `wide` [rad], and the first angle of the ring may be one of two, so there are four at most.  Returns how
    many, and whether more share it, which then are missing.
    """
    _, third_last, second_last = determinant(work, s, c)
    shared = second_last < (_SHARED if wide > 0.0 else _SHARED_CLEARLY)
    order = (work[TERMS], work[TERMS + 1], work[TERMS + 2], work[TERMS + 3], work[TERMS + 4], work[TERMS + 5])
    ways, a1, b1, a2, b2 = 1, 0.0, 1.0, 0.0, 1.0
    _null_vector(work, order, 0.0, 1.0, not shared)
    if shared:
        for i in range(12):
            work[_TWO + i] = work[TERMS + i]
        _null_vector(work, order, 1.0, 0.0, False)
        for i in range(12):
            work[_TWO + 12 + i] = work[TERMS + i]
        ways, a1, b1, a2, b2 = _apart(work)
    r, d = ring_displacement(arm, r, d, choice)
    total = 0
    for way in range(ways):
        if shared:
            a, b = (a1, b1) if way == 0 else (a2, b2)
            for i in range(12):
                work[TERMS + i] = a * work[_TWO + i] + b * work[_TWO + 12 + i]
        total += _around(work, r, d, choice, s, c, ANGLES + 6 * total)
    return total, third_last < _SHARED


@kernel
def _null_vector(work, order, fifth, sixth, single):
    """Write the twelve terms that `determinant` has left 0: of two of the middle ones the last two are given."""
    for i in range(5, -1, -1):
        total = 0.0
        for j in range(i + 1, 6):
            total -= work[MIDDLE + 6 * i + j] * work[SPARE + j]
        pivot = work[MIDDLE + 7 * i]
        solved = total / pivot if abs(pivot) > 1e-300 else 0.0
        work[SPARE + i] = sixth if i == 5 else fifth if i == 4 and not single else solved
    for i in range(6):
        work[TERMS + 3 + np.int64(order[i])] = work[SPARE + i]
    for i in range(2, -1, -1):
        total = 0.0
        for j in range(i + 1, 9):
            total -= work[FRONT + 9 * i + j] * work[TERMS + j]
        pivot = work[FRONT + 10 * i]
        work[TERMS + i] = total / pivot if abs(pivot) > 1e-300 else 0.0
    for i in range(2, -1, -1):
        total = 0.0
        for j in range(8 - i):
            total -= work[REAR + 9 * i + j] * work[TERMS + 3 + j]
        pivot = work[REAR + 9 * i + 8 - i]
        work[TERMS + 11 - i] = total / pivot if abs(pivot) > 1e-300 else 0.0


@kernel
def _apart(work):
    """Of two vectors of terms, how many sums a v + b w are of one solution, and the a and b of each, twice.

    Told apart by the angle of m, or, where they share that too, of n.
    """
    for each in range(2):
        square = 1e-300
        for i in range(12):
            square += work[_TWO + 12 * each + i] * work[_TWO + 12 * each + i]
        for i in range(12):
            work[_TWO + 12 * each + i] /= square**0.5
    by_m, by_n = _separated(work, 3), _separated(work, 1)
    return by_m[1:] if abs(by_m[0]) >= abs(by_n[0]) else by_n[1:]


@kernel
def _separated(work, shift):
    """How far apart they are by the angle whose terms are `shift` apart, negative if complex; then as `_apart`.

    Of one solution the later terms are the earlier ones times one number, so a and b are an eigenvector of a pencil of
    two rows: sums of the terms, weighted so that no angle makes them vanish.
    """
    x11 = x12 = x21 = x22 = y11 = y12 = y21 = y22 = 0.0
    for i in range(12 - shift):
        if shift == 3 or i % 3 != 2:
            v0, v1 = work[_TWO + i], work[_TWO + i + shift]
            w0, w1 = work[_TWO + 12 + i], work[_TWO + 12 + i + shift]
            v, w = v0 + _MIXED * v1, w0 + _MIXED * w1
            x11, x12, x21, x22 = x11 + v * v0, x12 + v * w0, x21 + w * v0, x22 + w * w0
            y11, y12, y21, y22 = y11 + v * v1, y12 + v * w1, y21 + w * v1, y22 + w * w1
    # det(C Y - S X) = 0 is p C C - q C S + t S S = 0.
    p, t = y11 * y22 - y12 * y21, x11 * x22 - x12 * x21
    q = y11 * x22 + x11 * y22 - y12 * x21 - x12 * y21
    left = q * q - 4.0 * p * t
    apart = left / max(q * q + 4.0 * abs(p * t), 1e-300)
    if left < 0.0:
        return apart, 0, 0.0, 1.0, 0.0, 1.0
    root = 0.5 * (q + (left**0.5 if q >= 0.0 else -(left**0.5)))
    # S : C is p : root, and root : t.
    a1, b1 = _kernel_of(root * y11 - p * x11, root * y12 - p * x12, root * y21 - p * x21, root * y22 - p * x22)
    a2, b2 = _kernel_of(t * y11 - root * x11, t * y12 - root * x12, t * y21 - root * x21, t * y22 - root * x22)
    return apart, 2, a1, b1, a2, b2


@kernel
def _kernel_of(m11, m12, m21, m22):
    """What a singular matrix of two rows takes to 0, by its larger row."""
    if m11 * m11 + m12 * m12 >= m21 * m21 + m22 * m22:
        return -m12, m11
    return -m22, m21


@kernel
def _around(work, r, d, choice, s, c, at):
    """The angles around the ring by the twelve terms of a solution; see `angles`."""
    sm, cm, sn, cn = _halves(work)
    h, p = vector(work, LINES + 30), vector(work, LINES + 33)
    x, u = turn_line(work, 4, (sn, cn), p, h)
    x, u = turn_line(work, 3, (sm, cm), x, u)
    x, u = turn_line(work, 2, (s, c), x, u)
    goal_x, goal_u = plus(times(r, p), d), times(r, h)
    many, first, second = _first_angles(work, x, u, goal_x, goal_u)
    ha, pa = vector(work, LINES + 6), vector(work, LINES + 9)
    y = minus(x, pa)
    across = _across(h)
    for i in range(many):
        b = first if i == 0 else second
        sb, cb = sincos(b)
        xb, ub = turn_line(work, 0, (-sb, cb), goal_x, goal_u)
        z = minus(xb, pa)
        sine = dot(ha, cross(y, z)) + dot(ha, cross(u, ub))
        cosine = dot(y, z) - dot(ha, y) * dot(ha, z) + dot(u, ub) - dot(ha, u) * dot(ha, ub)
        a = angle_of(sine, cosine)
        w = times(r, across)
        w = turned_back(vector(work, LINES), (sb, cb), w)
        w = turned_back(ha, sincos(a), w)
        w = turned_back(vector(work, LINES + 12), (s, c), w)
        w = turned_back(vector(work, LINES + 18), (sm, cm), w)
        w = turned_back(vector(work, LINES + 24), (sn, cn), w)
        to = at + 6 * i
        work[to + axis_of(choice, 0)], work[to + axis_of(choice, 1)] = b, a
        work[to + axis_of(choice, 2)], work[to + axis_of(choice, 3)] = angle_of(s, c), angle_of(sm, cm)
        work[to + axis_of(choice, 4)] = angle_of(sn, cn)
        work[to + axis_of(choice, 5)] = angle_of(dot(cross(h, across), w), dot(across, w))
    return many


@kernel
def _across(h):
    """A unit vector at right angles to another."""
    x, y, z = abs(h[0]), abs(h[1]), abs(h[2])
    least = min(x, y, z)
    out = cross(
        h, (1.0 if x == least else 0.0, 1.0 if x > least and y == least else 0.0, 1.0 if min(x, y) > least else 0.0)
    )
    return scaled(1.0 / dot(out, out) ** 0.5, out)


@kernel
def _halves(work):
    """Sines and cosines of the angles of m and n, by the twelve terms of a solution."""
    # Two that follow each other are as cosine to sine of half an angle: the largest two tell it best.
    most, cm, sm = -1.0, 1.0, 0.0
    for i in range(9):
        a, b = work[TERMS + i], work[TERMS + i + 3]
        if a * a + b * b > most:
            most, cm, sm = a * a + b * b, a, b
    least, cn, sn = -1.0, 1.0, 0.0
    for i in range(12):
        if i % 3 != 2:
            a, b = work[TERMS + i], work[TERMS + i + 1]
            if a * a + b * b > least:
                least, cn, sn = a * a + b * b, a, b
    one, two = 1.0 / max(most, 1e-300), 1.0 / max(least, 1e-300)
    return 2.0 * sm * cm * one, (cm * cm - sm * sm) * one, 2.0 * sn * cn * two, (cn * cn - sn * sn) * two


@kernel
def _first_angles(work, x, u, goal_x, goal_u):
    """How many angles of b there may be, one or two, and these: linear in what the turn about a leaves alone."""
    ha, pa = vector(work, LINES + 6), vector(work, LINES + 9)
    w1, w2, w3, w4 = _invariants(ha, minus(x, pa), u)
    x0, u0 = turn_line(work, 0, third(0), goal_x, goal_u)
    x1, u1 = turn_line(work, 0, _back(1), goal_x, goal_u)
    x2, u2 = turn_line(work, 0, _back(2), goal_x, goal_u)
    a1, a2, a3, a4 = _invariants(ha, minus(x0, pa), u0)
    b1, b2, b3, b4 = _invariants(ha, minus(x1, pa), u1)
    c1, c2, c3, c4 = _invariants(ha, minus(x2, pa), u2)
    m11 = m12 = m22 = r1 = r2 = 0.0
    for w, a, b, c in ((w1, a1, b1, c1), (w2, a2, b2, c2), (w3, a3, b3, c3), (w4, a4, b4, c4)):
        cosine, sine = (2.0 * a - b - c) * THIRD, (b - c) * ROOT
        left = w - (a + b + c) * THIRD
        m11, m12, m22 = m11 + cosine * cosine, m12 + cosine * sine, m22 + sine * sine
        r1, r2 = r1 + cosine * left, r2 + sine * left
    # Eigenvalues of the normal equations, and the direction of the larger.
    half, mean = 0.5 * (m11 - m22), 0.5 * (m11 + m22)
    spread = (half * half + m12 * m12) ** 0.5
    large, small = mean + spread, mean - spread
    ex, ey = (half + spread, m12) if half >= 0.0 else (m12, spread - half)
    length = (ex * ex + ey * ey) ** 0.5
    if not length > 0.0:
        return 1, 0.0, 0.0
    ex, ey = ex / length, ey / length
    along = (ex * r1 + ey * r2) / large
    if small > _SINGLE * _SINGLE * large:
        across = (ex * r2 - ey * r1) / small
        return 1, angle_of(ey * along + ex * across, ex * along - ey * across), 0.0
    along = min(max(along, -1.0), 1.0)
    across = (1.0 - along * along) ** 0.5
    return (
        2,
        angle_of(ey * along + ex * across, ex * along - ey * across),
        angle_of(ey * along - ex * across, ex * along + ey * across),
    )


@kernel
def _back(i):
    """Sine and cosine of i thirds of a turn the other way."""
    s, c = third(i)
    return -s, c


@kernel
def _invariants(h, x, u):
    """What a turn about h leaves of a line that is seen from a point of its axis."""
    return dot(h, u), dot(h, x), dot(x, x), dot(h, cross(x, u))
