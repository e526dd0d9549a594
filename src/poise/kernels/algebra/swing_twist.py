"""Limits of a ball: its swing within an ellipse, its twist within an interval; see `poise.model.swing`.

Rotations are seen in the frame whose z axis is the ball's axis.  There w + z k is as the twist, and what is left is the
swing (c, x, y, 0).  With d the direction of the axis, a turn omega adds m . omega / c to the twist, m = (y, -x, c), and
moves the swing by what is left of omega without the twist's share of d.
"""

from poise.kernels.algebra.scalar import angle_of, sincos
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, select, sqrt

NARROWEST = 4e-9
"""The least semi-axis and half width [rad]: a double's rounding, along the flattest ellipse, is a hundredth of it."""
MARGIN = 1e-9
"""How far inside of its limits a ball is put that was outside [rad]; twice as far it counts as at the limit."""
FREE = 4.0
"""A semi-axis or half width beyond every turn [rad]."""
_STEPS = 16
"""Newton steps to the nearest point of an ellipse; what they leave, a radial scaling takes onto it."""


@kernel
def level(x, y, a, b):
    """1 on the ellipse of the semi-axes a and b, less inside."""
    return (x / a) * (x / a) + (y / b) * (y / b)


@kernel
def nearest_on_ellipse(x, y, a, b):
    """The point of the ellipse that is nearest to (x, y) outside of it; see `poise.model.swing.nearest_on_ellipse`."""
    aa, bb = a * a, b * b
    u, v = a * select(x < 0.0, -x, x), b * select(y < 0.0, -y, y)
    t = select(u - aa > v - bb, u - aa, v - bb)
    t = select(t > 0.0, t, 0.0)
    for _ in range(_STEPS):
        p, q = u / (t + aa), v / (t + bb)
        over = p * p + q * q - 1.0
        slope = 2.0 * (p * p / (t + aa) + q * q / (t + bb))
        t = t + select(over > 0.0, over / select(slope > 0.0, slope, 1.0), 0.0)
    x, y = aa * x / (t + aa), bb * y / (t + bb)
    length = sqrt(level(x, y, a, b))
    scale = 1.0 / select(length > 0.0, length, 1.0)
    return x * scale, y * scale


@kernel
def seen(ball, x, y, z):
    """A vector in the frame whose z axis is the ball's axis."""
    f = ball.frame
    return (
        f[0] * x + f[3] * y + f[6] * z,
        f[1] * x + f[4] * y + f[7] * z,
        f[2] * x + f[5] * y + f[8] * z,
    )


@kernel
def back(ball, x, y, z):
    """The same vector in the joint's own frame."""
    f = ball.frame
    return (
        f[0] * x + f[1] * y + f[2] * z,
        f[3] * x + f[4] * y + f[5] * z,
        f[6] * x + f[7] * y + f[8] * z,
    )


@kernel
def parts(ball, w, x, y, z):
    """Of the unit quaternion (w, x, y, z) in the axis' frame: the swing c, x, y; its rotation vector over x, y; the
    twist [rad], counted from the middle of its interval."""
    c = sqrt(w * w + z * z)
    some = c > 0.0
    divisor = select(some, c, 1.0)
    cosine, sine = select(some, w / divisor, 1.0), z / divisor
    sx, sy = x * cosine - y * sine, y * cosine + x * sine
    length = sqrt(sx * sx + sy * sy)
    long = length > 1e-150
    ratio = select(long, 2.0 * angle_of(length, c) / select(long, length, 1.0), 2.0)
    cosine, sine = cosine * ball.cosine + sine * ball.sine, sine * ball.cosine - cosine * ball.sine
    negative = cosine < 0.0
    twist = 2.0 * angle_of(select(negative, -sine, sine), select(negative, -cosine, cosine))
    return c, sx, sy, ratio, twist


@kernel
def pulled_in(ball, w, x, y, z):
    """The unit quaternion where it keeps the ball's limits, and at the nearest place inside where it does not."""
    x1, y1, z1 = seen(ball, x, y, z)
    c, sx, sy, ratio, twist = parts(ball, w, x1, y1, z1)
    rx, ry = sx * ratio, sy * ratio
    out = level(rx, ry, ball.a, ball.b) > 1.0
    high, low = twist > ball.half, twist < -ball.half
    if not any_of(out | high | low):
        return w, x, y, z
    nx, ny = nearest_on_ellipse(rx, ry, ball.a - MARGIN, ball.b - MARGIN)
    rx, ry = select(out, nx, rx), select(out, ny, ry)
    twist = select(high, ball.half - MARGIN, select(low, MARGIN - ball.half, twist))
    angle = sqrt(rx * rx + ry * ry)
    s, c = sincos(0.5 * angle)
    some = angle > 1e-150
    share = select(some, s / select(some, angle, 1.0), 0.5)
    rx, ry = rx * share, ry * share
    sine, cosine = sincos(0.5 * twist)
    cosine, sine = cosine * ball.cosine - sine * ball.sine, sine * ball.cosine + cosine * ball.sine
    vx, vy, vz = back(ball, rx * cosine + ry * sine, ry * cosine - rx * sine, c * sine)
    moved = out | high | low
    return select(moved, c * cosine, w), select(moved, vx, x), select(moved, vy, y), select(moved, vz, z)


@kernel
def blocked(ball, w, x, y, z, g0, g1, g2):
    """What a ball at (w, x, y, z) holds where (g0, g1, g2) would turn it: two orthogonal directions, unit or zero.

    At the border of the ellipse the way out of it, at an end of the twist the way of it; (g0, g1, g2) and the
    directions are angular, along the joint frame's axes.
    """
    x1, y1, z1 = seen(ball, x, y, z)
    h0, h1, h2 = seen(ball, g0, g1, g2)
    c, sx, sy, ratio, twist = parts(ball, w, x1, y1, z1)
    m0, m1, m2 = sy, -sx, c
    # The gradient of the ellipse's level: along the swing's direction the vector's length goes 2 / c with |(x, y)|.
    inner_a, inner_b = ball.a - 2.0 * MARGIN, ball.b - 2.0 * MARGIN
    near = c > 1e-9
    cc = select(near, c, 1.0)
    fx, fy = sx * ratio / (inner_a * inner_a), sy * ratio / (inner_b * inner_b)
    square = sx * sx + sy * sy
    along = (fx * sx + fy * sy) / select(square > 1e-300, square, 1.0)
    radial = 2.0 / cc - ratio
    fx, fy = ratio * fx + radial * along * sx, ratio * fy + radial * along * sy
    n0, n1, n2 = fx * c, fy * c, fy * sx - fx * sy
    d0, d1, d2 = 2.0 * c * sy, -2.0 * c * sx, 1.0 - 2.0 * square
    share = (n0 * d0 + n1 * d1 + n2 * d2) / cc
    n0, n1, n2 = n0 - share * m0, n1 - share * m1, n2 - share * m2
    length = sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    some = near & (length > 1e-150)
    scale = select(some, 1.0 / select(some, length, 1.0), 0.0)
    n0, n1, n2 = n0 * scale, n1 * scale, n2 * scale
    out = n0 * h0 + n1 * h1 + n2 * h2
    rim = (level(sx * ratio, sy * ratio, inner_a, inner_b) >= 1.0) & (out > 0.0)
    held = select(rim, 1.0, 0.0)
    n0, n1, n2 = n0 * held, n1 * held, n2 * held
    out = out * held
    # What is left of the turn, once the swing is held.
    h0, h1, h2 = h0 - out * n0, h1 - out * n1, h2 - out * n2
    grows = m0 * h0 + m1 * h1 + m2 * h2
    end = ball.half - 2.0 * MARGIN
    stops = ((twist >= end) & (grows > 0.0)) | ((twist <= -end) & (grows < 0.0))
    both = m0 * n0 + m1 * n1 + m2 * n2
    m0, m1, m2 = m0 - both * n0, m1 - both * n1, m2 - both * n2
    length = sqrt(m0 * m0 + m1 * m1 + m2 * m2)
    some = stops & (length > 1e-6)
    scale = select(some, 1.0 / select(some, length, 1.0), 0.0)
    n0, n1, n2 = back(ball, n0, n1, n2)
    m0, m1, m2 = back(ball, m0 * scale, m1 * scale, m2 * scale)
    return n0, n1, n2, m0, m1, m2
