"""Vectors of three, as tuples of numbers or of lanes."""

from poise.kernels.machine.jit import kernel


@kernel
def vector(numbers, i):
    """The vector whose first number is numbers[i]."""
    return numbers[i], numbers[i + 1], numbers[i + 2]


@kernel
def dot(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """a x b"""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def plus(a, b):
    """a + b"""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def minus(a, b):
    """a - b"""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def scaled(x, a):
    """x a"""
    return x * a[0], x * a[1], x * a[2]


@kernel
def opposite(a):
    """-a"""
    return -a[0], -a[1], -a[2]


@kernel
def turned(k, turn, v):
    """v turned about the unit vector k by the angle with this sine and cosine (Rodrigues)."""
    s, c = turn
    along, x = dot(k, v) * (1.0 - c), cross(k, v)
    return c * v[0] + s * x[0] + along * k[0], c * v[1] + s * x[1] + along * k[1], c * v[2] + s * x[2] + along * k[2]


@kernel
def turned_back(k, turn, v):
    """v turned about k the other way."""
    s, c = turn
    return turned(k, (-s, c), v)


@kernel
def times(r, v):
    """R v, for R row by row."""
    return (
        r[0] * v[0] + r[1] * v[1] + r[2] * v[2],
        r[3] * v[0] + r[4] * v[1] + r[5] * v[2],
        r[6] * v[0] + r[7] * v[1] + r[8] * v[2],
    )


@kernel
def transposed(r):
    """R^T, row by row."""
    return r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]


@kernel
def product(a, b):
    """A B, row by row."""
    c = transposed(b)
    return times(c, vector(a, 0)) + times(c, vector(a, 3)) + times(c, vector(a, 6))
