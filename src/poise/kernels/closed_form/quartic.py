"""The angles at which a trigonometric polynomial of the second degree is 0."""

from poise.kernels.machine.jit import kernel

_SWEEPS = 60
"""Iterations at most; simple roots take some twelve, double ones, which are good to half the digits, all."""
_RESTED = 1e-30
"""A sweep that moves no root by more than the root of this is the last."""
_LEAST = 1e-12
"""The first coefficient is raised to this share of the largest, so that all four roots exist."""


@kernel
def unit_roots(a0, a1, b1, a2, b2):
    """Four angles, each its sine and cosine, at which a0 + a1 cos + b1 sin + a2 cos(2 .) + b2 sin(2 .) is nearest to 0.

    In z = cos + i sin it is a polynomial of degree four, whose roots are found together (Durand 1960, Kerner 1966),
    in order from where they start; one that is not on the unit circle is no zero, and its direction is returned, which
    near the border is that of the smallest value.  For one number only.
    """
    size = max(abs(a0), abs(a1), abs(b1), abs(a2), abs(b2), 1e-300)
    c4, c3 = complex(0.5 * a2, -0.5 * b2), complex(0.5 * a1, -0.5 * b1)
    if abs(c4.real) + abs(c4.imag) < _LEAST * size:
        c4 = complex(_LEAST * size, 0.0)
    c2, c1, c0 = complex(a0, 0.0) / c4, c3.conjugate() / c4, c4.conjugate() / c4
    c3 = c3 / c4
    z1, z2, z3, z4 = complex(0.96, 0.28), complex(-0.28, 0.96), complex(-0.96, -0.28), complex(0.28, -0.96)
    for _ in range(_SWEEPS):
        m1 = _value(c3, c2, c1, c0, z1) / ((z1 - z2) * (z1 - z3) * (z1 - z4))
        z1 = z1 - m1
        m2 = _value(c3, c2, c1, c0, z2) / ((z2 - z1) * (z2 - z3) * (z2 - z4))
        z2 = z2 - m2
        m3 = _value(c3, c2, c1, c0, z3) / ((z3 - z1) * (z3 - z2) * (z3 - z4))
        z3 = z3 - m3
        m4 = _value(c3, c2, c1, c0, z4) / ((z4 - z1) * (z4 - z2) * (z4 - z3))
        z4 = z4 - m4
        if not max(_square(m1), _square(m2), _square(m3), _square(m4)) > _RESTED:
            break
    return _direction(z1), _direction(z2), _direction(z3), _direction(z4)


@kernel
def _value(c3, c2, c1, c0, z):
    """z^4 + c3 z^3 + c2 z^2 + c1 z + c0"""
    return (((z + c3) * z + c2) * z + c1) * z + c0


@kernel
def _square(z):
    """|z|^2"""
    return z.real * z.real + z.imag * z.imag


@kernel
def _direction(z):
    """Sine and cosine of the angle of z."""
    length = _square(z) ** 0.5
    return z.imag / length, z.real / length
