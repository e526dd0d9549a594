"""Choices between numbers and between vectors, lane by lane, and unit vectors."""

from poise.kernels.algebra.vectors import dot, scaled
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, select, sqrt

TOUCH = 1e-12
"""Cores that are no farther apart than this [m] touch: rounding alone would decide about their direction."""
ROUNDING = 1e-9
"""By how much bounds of distances are loosened for rounding [m]."""
NOTHING = 1e300
"""The distance of shapes of which only one below a bound is asked for, and theirs is not."""
LOST = 1e-140
"""The square of what is shorter than this [m] has lost digits, or all of them: it says neither length nor direction."""


@kernel
def alike(x, number):
    """A number in the width of x."""
    return select(x < x, x, number)


@kernel
def absolute(x):
    """|x|"""
    return select(x < 0.0, -x, x)


@kernel
def sign(x):
    """-1 where x < 0, else 1."""
    return select(x < 0.0, -1.0, 1.0)


@kernel
def larger(x, y):
    """The larger of two numbers; y if it is none."""
    return select(x > y, x, y)


@kernel
def smaller(x, y):
    """The smaller of two numbers; y if it is none."""
    return select(x < y, x, y)


@kernel
def clamped(x, h):
    """The number from -h to h that is nearest to x."""
    x = select(x > h, h, x)
    return select(x < -h, -h, x)


@kernel
def chosen(condition, a, b):
    """The vector a where the condition holds, else b."""
    return select(condition, a[0], b[0]), select(condition, a[1], b[1]), select(condition, a[2], b[2])


@kernel
def across(a):
    """A vector across a, of no length in particular: that with the axis of the world which is least along a."""
    x, y, z = absolute(a[0]), absolute(a[1]), absolute(a[2])
    first, second = (x <= y) & (x <= z), y <= z
    return (
        select(first, 0.0, select(second, a[2], -a[1])),
        select(first, -a[2], select(second, 0.0, a[0])),
        select(first, a[1], select(second, -a[0], 0.0)),
    )


@kernel
def separation(way, spare):
    """How far it is along `way` [m], and its unit vector; that of `spare` where there is no way."""
    square = dot(way, way)
    near = square < TOUCH * TOUCH
    v = way
    if any_of(near):
        v = chosen(near, spare, v)
        square = dot(v, v)
    n = scaled(1.0 / sqrt(square), v)
    return dot(n, way), n
