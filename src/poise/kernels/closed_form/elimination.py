"""Six axes that lie anyhow: a polynomial in one angle, whose zeros are all solutions, and the other five angles.

With E_i the turn about axis i, the axes taken in an order in which they close a ring,

    E_b E_a E_k E_m E_n E_z = G,

the line on which the last axis z lies, a point x and a direction u, is carried by both sides of

    E_k E_m E_n (x, u) = E_a^-1 E_b^-1 G (x, u).

Of a line seen from a point of axis k, the fourteen numbers x, u, x.x, x.u, x cross u and (x.x) u - 2 (x.u) x are
bilinear in the cosines and sines of the two angles on the right, and trilinear on the left.  The eight terms on the
right leave six equations without them.  At a given angle of k these are linear in the nine terms of half the angles of
m and n; times cosine and sine of half the angle of m they are twelve in twelve terms, and their determinant, a
trigonometric polynomial of degree eight in the angle of k, vanishes at all solutions, sixteen at most.

Which axis is k is a choice: of six, those whose left side does not pass the target.  Where lines of the right side
meet, or three of the left side do, the determinant vanishes everywhere, and another choice has to do.

Source: Raghavan and Roth 1993, "Inverse kinematics of the general 6R manipulator and related linkages".  The
determinant is sampled on the circle, where the zeros are, instead of expanded; what samples say beyond the eighth
degree is their noise.
"""

from poise.kernels.algebra.scalar import sincos
from poise.kernels.algebra.vectors import cross, dot, minus, opposite, plus, scaled, times, transposed, turned, vector
from poise.kernels.machine.jit import kernel

CHOICES = 6
"""How many axes k may be."""
DEGREE = 8
"""Of the determinant in the angle of k."""
_SAMPLES = 20
"""Of the determinant: seventeen give it, and three its noise."""
LINES, _RIGHT, _LEFT, _CUBIC, SPARE, FRONT, REAR, MIDDLE, TERMS, SERIES = 0, 36, 162, 246, 408, 462, 516, 570, 606, 618
"""Where stand, in the room that elimination works in: the six lines, 6 each; the 14 x 9 terms of the right side; six
combinations of the fourteen; the six trilinear equations, 27 terms each; fourteen numbers, or six; two copies of the
equations at an angle of k, 6 x 9, from which three terms in front are eliminated, and three in the rear; what is left
in the middle, 6 x 6; the twelve terms of a solution; the coefficients of the determinant, 22."""
THIRD, ROOT = 1.0 / 3.0, 0.5773502691896258
_SINE = 0.8660254037844386
_COARSE = 1e-6
"""A determinant whose noise is more than this share of it tells nothing."""
_EPSILON = 1e-16
"""Rounding of the lines' numbers, as a share of them."""


@kernel
def coefficients(arm, r, d, choice, work):
    """Write the determinant for a choice of k into `work`, for the displacement x -> r x + d: its SERIES.

    These are cosines and sines in turn, of angles 0 to 8.  Returns its noise, negative if it says nothing.
    """
    r, d = _arrange(arm, r, d, choice, work)
    _right_side(r, d, work)
    return _series(work, _EPSILON * _equations(work))


@kernel
def axis_of(choice, place):
    """Which of the six axes is at a place of the ring b, a, k, m, n, z."""
    k = 1 if choice < 2 else 2 if choice < 4 else 0
    if choice & 1:
        return (5 - k + 8 - place) % 6
    return (k + 4 + place) % 6


@kernel
def line_of(arm, i):
    """Direction and a point of axis i."""
    h = vector(arm.axes, 3 * i)
    if i == 0:
        return h, vector(arm.first, 0)
    if i == 1:
        return h, vector(arm.second, 0)
    if i == 2:
        return h, vector(arm.third, 0)
    if i == 3:
        return h, vector(arm.fourth, 0)
    if i == 4:
        return h, vector(arm.centre, 0)
    return h, vector(arm.normal, 0)


@kernel
def put_vector(numbers, i, x):
    """Write a vector, its first number to numbers[i]."""
    numbers[i], numbers[i + 1], numbers[i + 2] = x[0], x[1], x[2]


@kernel
def _scale(arm):
    """One over the largest distance of the points of axes from the first."""
    square = 1e-300
    for i in range(6):
        _, x = line_of(arm, i)
        y = minus(x, vector(arm.first, 0))
        square = max(square, dot(y, y))
    return 1.0 / square**0.5


@kernel
def ring_displacement(arm, r, d, choice):
    """What the ring makes of x, r x + d: from the tip the inverse, in lengths of the arm's size."""
    if choice & 1:
        r = transposed(r)
        d = opposite(times(r, d))
    return r, scaled(_scale(arm), d)


@kernel
def _arrange(arm, r, d, choice, work):
    """Write the lines of the ring, in lengths of the arm's size; its displacement.

    Axes b and a that come after k in the chain are taken before the first, where the target has carried them.
    """
    back, k = choice & 1, axis_of(choice, 2)
    size = _scale(arm)
    r, d = ring_displacement(arm, r, d, choice)
    for place in range(6):
        i = axis_of(choice, place)
        h, x = line_of(arm, i)
        x = scaled(size, x)
        if back:
            h = opposite(h)
        if place < 2 and ((i < k) if back else (i > k)):
            h, x = times(r, h), plus(times(r, x), d)
        put_vector(work, LINES + 6 * place, h)
        put_vector(work, LINES + 6 * place + 3, x)
    return r, d


@kernel
def turn_line(work, place, turn, x, u):
    """A point and a direction, turned about a line of the ring."""
    h, p = vector(work, LINES + 6 * place), vector(work, LINES + 6 * place + 3)
    return plus(turned(h, turn, minus(x, p)), p), turned(h, turn, u)


@kernel
def third(i):
    """Sine and cosine of i thirds of a turn."""
    if i == 0:
        return 0.0, 1.0
    return (_SINE if i == 1 else -_SINE), -0.5


@kernel
def _fourteen(x, u, out, at, stride):
    """The fourteen numbers of a line."""
    xx, xu, c = dot(x, x), dot(x, u), cross(x, u)
    for i in range(3):
        out[at + i * stride], out[at + (3 + i) * stride], out[at + (8 + i) * stride] = x[i], u[i], c[i]
        out[at + (11 + i) * stride] = xx * u[i] - 2.0 * xu * x[i]
    out[at + 6 * stride], out[at + 7 * stride] = xx, xu


@kernel
def _as_angles(rows, at, stride):
    """Three samples at thirds of a turn become a number, and what multiplies cosine and sine."""
    a, b, c = rows[at], rows[at + stride], rows[at + 2 * stride]
    rows[at], rows[at + stride], rows[at + 2 * stride] = (
        (a + b + c) * THIRD,
        (2.0 * a - b - c) * THIRD,
        (b - c) * ROOT,
    )


@kernel
def _as_halves(rows, at, stride):
    """The same, as what multiplies C C, C S and S S of half the angle."""
    _as_angles(rows, at, stride)
    a, b, c = rows[at], rows[at + stride], rows[at + 2 * stride]
    rows[at], rows[at + stride], rows[at + 2 * stride] = a + b, 2.0 * c, a - b


@kernel
def _right_side(r, d, work):
    """The terms of the right side: column j of 14 at _RIGHT + 14 j, the one without an angle first."""
    origin = vector(work, LINES + 15)
    x0, u0 = plus(times(r, vector(work, LINES + 33)), d), times(r, vector(work, LINES + 30))
    for i in range(3):
        s, c = third(i)
        x1, u1 = turn_line(work, 0, (-s, c), x0, u0)
        for j in range(3):
            s, c = third(j)
            x, u = turn_line(work, 1, (-s, c), x1, u1)
            _fourteen(minus(x, origin), u, work, _RIGHT + 14 * (3 * i + j), 1)
    for m in range(14):
        for i in range(3):
            _as_angles(work, _RIGHT + 42 * i + m, 14)
        for j in range(3):
            _as_angles(work, _RIGHT + 14 * j + m, 42)


@kernel
def _equations(work):
    """The six trilinear equations: what is at right angles to the eight columns of the right side, times the left.

    Returns by how much more than the lines' numbers these are rounded, as where the columns are nearly dependent.
    """
    most = least = 0.0
    # Householder's reflections of the columns, each kept where its column was; of a column of zeros it is none.
    for j in range(8):
        at = _RIGHT + 14 * (j + 1)
        square = 0.0
        for m in range(j, 14):
            square += work[at + m] * work[at + m]
        length = square**0.5
        most = max(most, length)
        work[at + j] += length if work[at + j] >= 0.0 else -length
        square = 0.0
        for m in range(j, 14):
            square += work[at + m] * work[at + m]
        scale = (2.0 / square) ** 0.5 if square > 1e-28 else 0.0
        if square > 1e-28 and (least == 0.0 or length < least):
            least = length
        for m in range(14):
            work[at + m] = work[at + m] * scale if m >= j else 0.0
        for other in range(j + 1, 8):
            to, along = _RIGHT + 14 * (other + 1), 0.0
            for m in range(j, 14):
                along += work[at + m] * work[to + m]
            for m in range(j, 14):
                work[to + m] -= along * work[at + m]
    for i in range(6):
        to = _LEFT + 14 * i
        for m in range(14):
            work[to + m] = 1.0 if m == 8 + i else 0.0
        for j in range(7, -1, -1):
            at, along = _RIGHT + 14 * (j + 1), 0.0
            for m in range(j, 14):
                along += work[at + m] * work[to + m]
            for m in range(j, 14):
                work[to + m] -= along * work[at + m]
    origin, x0, u0 = vector(work, LINES + 15), vector(work, LINES + 33), vector(work, LINES + 30)
    for n in range(3):
        x1, u1 = turn_line(work, 4, third(n), x0, u0)
        for m in range(3):
            x2, u2 = turn_line(work, 3, third(m), x1, u1)
            for k in range(3):
                x, u = turn_line(work, 2, third(k), x2, u2)
                _fourteen(minus(x, origin), u, work, SPARE, 1)
                for i in range(6):
                    total = 0.0
                    for row in range(14):
                        total += work[_LEFT + 14 * i + row] * (work[SPARE + row] - work[_RIGHT + row])
                    work[_CUBIC + 27 * i + 9 * k + 3 * m + n] = total
    for i in range(6):
        at = _CUBIC + 27 * i
        for a in range(9):
            _as_angles(work, at + a, 9)
        for a in range(9):
            _as_halves(work, at + 3 * a, 1)
        for a in range(3):
            for b in range(3):
                _as_halves(work, at + 9 * a + b, 3)
    return most / max(least, 1e-300)


@kernel
def _series(work, rounding):
    """The coefficients of the determinant by its samples, and its noise.

    Each sample has a noise of its own, which the terms behind the eighth degree tell.  What all share is the `rounding`
    of the equations: the smaller the least pivot, the more of the determinant it is.
    """
    shared = 0.0
    for i in range(22):
        work[SERIES + i] = 0.0
    step_s, step_c = sincos(6.283185307179586 / _SAMPLES)
    s, c = 0.0, 1.0
    for _ in range(_SAMPLES):
        value, _, _ = determinant(work, s, c)
        least = abs(work[MIDDLE + 35])
        for i in range(3):
            least = min(least, abs(work[FRONT + 10 * i]), abs(work[REAR + 8 + 8 * i]))
        shared = max(shared, rounding * abs(value) * abs(work[MIDDLE]) / max(least, 1e-300))
        sk, ck = 0.0, 1.0
        for k in range(11):
            work[SERIES + 2 * k] += value * ck
            work[SERIES + 2 * k + 1] += value * sk
            sk, ck = sk * c + ck * s, ck * c - sk * s
        s, c = s * step_c + c * step_s, c * step_c - s * step_s
    most, noise = 0.0, shared
    for k in range(22):
        work[SERIES + k] *= (1.0 if k < 2 else 2.0) / _SAMPLES
        if k <= 2 * DEGREE + 1:
            most = max(most, abs(work[SERIES + k]))
        else:
            noise = max(noise, abs(work[SERIES + k]))
    if not noise < _COARSE * most or not most < 1e300:
        return -1.0
    for k in range(2 * DEGREE + 2):
        work[SERIES + k] /= most
    return max(noise / most, 1e-16)


@kernel
def _eliminate(work, at, first, way):
    """Three columns of 6 x 9, with pivots from all rows, from `first` on one after the other; the product of pivots."""
    product = 1.0
    for step in range(3):
        column, best = first + way * step, step
        for i in range(step + 1, 6):
            if abs(work[at + 9 * i + column]) > abs(work[at + 9 * best + column]):
                best = i
        if best != step:
            product = -product
            for j in range(9):
                a, b = at + 9 * step + j, at + 9 * best + j
                work[a], work[b] = work[b], work[a]
        pivot = work[at + 9 * step + column]
        product *= pivot
        inverse = 1.0 / pivot if abs(pivot) > 1e-300 else 0.0
        for i in range(step + 1, 6):
            factor = work[at + 9 * i + column] * inverse
            for j in range(9):
                work[at + 9 * i + j] -= factor * work[at + 9 * step + j]
    return product


@kernel
def determinant(work, s, c):
    """The determinant at the angle of k with this sine and cosine; the last but two and the last but one of six pivots,
    as shares of the first.

    The factors stay in `work`, for `terms`.  Of the twelve rows six are without the first three terms and six without
    the last three, so that three steps in each leave six rows in six terms.
    """
    for i in range(6):
        for j in range(9):
            at = _CUBIC + 27 * i + j
            value = work[at] + c * work[at + 9] + s * work[at + 18]
            work[FRONT + 9 * i + j] = work[REAR + 9 * i + j] = value
    value = _eliminate(work, FRONT, 0, 1) * _eliminate(work, REAR, 8, -1)
    for i in range(3):
        for j in range(6):
            work[MIDDLE + 6 * i + j] = work[FRONT + 9 * (3 + i) + 3 + j]
            work[MIDDLE + 6 * (3 + i) + j] = work[REAR + 9 * (3 + i) + j]
    for j in range(6):
        work[TERMS + j] = j  # where each column came from
    third = second = last = first = 0.0
    for step in range(6):
        row, column, most = step, step, -1.0
        for i in range(step, 6):
            for j in range(step, 6):
                size = abs(work[MIDDLE + 6 * i + j])
                if size > most:
                    row, column, most = i, j, size
        if row != step:
            value = -value
            for j in range(6):
                a, b = MIDDLE + 6 * step + j, MIDDLE + 6 * row + j
                work[a], work[b] = work[b], work[a]
        if column != step:
            value = -value
            work[TERMS + step], work[TERMS + column] = work[TERMS + column], work[TERMS + step]
            for i in range(6):
                a, b = MIDDLE + 6 * i + step, MIDDLE + 6 * i + column
                work[a], work[b] = work[b], work[a]
        pivot = work[MIDDLE + 7 * step]
        value *= pivot
        third, second, last = second, last, abs(pivot)
        if step == 0:
            first = max(last, 1e-300)
        if step < 5:
            inverse = 1.0 / pivot if last > 1e-300 else 0.0
            for i in range(step + 1, 6):
                factor = work[MIDDLE + 6 * i + step] * inverse
                for j in range(step, 6):
                    work[MIDDLE + 6 * i + j] -= factor * work[MIDDLE + 6 * step + j]
    return value, third / first, second / first
