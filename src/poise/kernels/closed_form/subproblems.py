"""The two questions about one turn to which closed forms come down.

Both are Paden and Kahan's, in the form that has an answer for every input (Elias and Wen 2022, "IK-Geo: Unified Robot
Inverse Kinematics Using Subproblem Decomposition", arXiv:2211.05737, subproblems 1 and 4): where no angle will do, it
is the one that comes nearest.  An angle is a pair, its sine and cosine, and in either width; `rows` says which.

Where every angle does, it is `rest`, where the joint rests [rad], and the third number returned is 1 instead of 0.
"""

from poise.kernels.algebra.scalar import sincos
from poise.kernels.algebra.vectors import cross, dot
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, select, splat, sqrt

_LOOSE = 1e-20
"""Squared distance from the axis [m^2, or of unit vectors 1] below which the angle does not matter."""


@kernel
def facing(rows, k, p, q, rest):
    """The turn about the unit vector k that brings p nearest to q; (angle, 1 where it does not matter)."""
    # Both at right angles to the axis first: what is near to it keeps its digits.
    x, y = cross(k, p), cross(k, q)
    s, c = splat(rows, dot(k, cross(x, y))), splat(rows, dot(x, y))
    square = s * s + c * c
    loose = square < _LOOSE * _LOOSE
    scale = 1.0 / sqrt(select(loose, 1.0, square))
    return _or_rest(rows, s * scale, c * scale, loose, rest)


@kernel
def level(rows, k, p, h, height, sign, rest):
    """The turn about the unit vector k that brings h . p to `height`; (angle, 1 where it does not matter).

    Of the two, `sign` picks the one at which h . p rises with the angle, or falls.
    """
    x = cross(k, p)
    rise, now, wanted = dot(h, x), dot(cross(k, h), x), height - dot(h, k) * dot(k, p)
    # now cos + rise sin = wanted; the derivative there, rise cos - now sin, is the root.
    square = now * now + rise * rise
    most = sqrt(square)
    wanted = select(wanted > most, most, select(wanted < -most, -most, wanted))
    left = square - wanted * wanted
    root = sign * sqrt(select(left > 0.0, left, 0.0))
    scale = 1.0 / select(square < _LOOSE, 1.0, square)
    s, c = (rise * wanted - now * root) * scale, (now * wanted + rise * root) * scale
    return _or_rest(rows, splat(rows, s), splat(rows, c), splat(rows, square) < _LOOSE, rest)


@kernel
def _or_rest(rows, s, c, loose, rest):
    """The angle of s and c, or `rest` where it is loose."""
    if any_of(loose):
        s0, c0 = sincos(rest)
        s, c = select(loose, s0, s), select(loose, c0, c)
    return (s, c), select(loose, splat(rows, 1.0), 0.0)
