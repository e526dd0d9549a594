"""Limits of a ball: its swing within an ellipse, its twist within an interval; see `poise.model.swing`.

A rotation counts from `rest`, from the left: rotation = swing * twist * rest.  It is seen in the frame whose z axis is
the ball's axis, and x and y its directions of swing.  There w + z k is as the twist, and what is left is the swing
(c, x, y, 0).  With d the direction of the axis, a turn omega adds m . omega / c to the twist, m = (y, -x, c), and moves
the swing by what is left of omega without the twist's share of d.

These functions take one rotation, one in each lane, or called from Python arrays of them; `boundaries` and what follows
it the first two.
"""

from poise.kernels.algebra.scalar import angle_of, sincos
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, select, sqrt

NARROWEST = 4e-9
"""The least semi-axis and half width [rad]: a double's rounding, along the flattest ellipse, is a hundredth of it."""
MARGIN = 1e-9
"""How far inside of its limits a ball is put that was outside [rad]; twice as far it counts as at the limit."""
SLIGHT = 1e-12
"""The share of a turn that is rounding."""
_NO_WIDTH = 1.5 * NARROWEST
"""Semi-axes and half widths below have no room for a step [rad]."""
FREE = 4.0
"""A semi-axis or half width beyond every turn [rad]."""
_PI = 3.141592653589793
_STEPS = 16
"""Newton steps to the nearest point of an ellipse; what they leave, a radial scaling takes onto it."""


@kernel
def level(x, y, a, b):
    """1 on the ellipse of the semi-axes a and b, less inside."""
    return (x / a) * (x / a) + (y / b) * (y / b)


@kernel
def semi_axes(ball, x, y):
    """Those of the quarter of the ellipse that (x, y) lies in [rad]."""
    return select(x < 0.0, ball.a[0], ball.a[1]), select(y < 0.0, ball.b[0], ball.b[1])


@kernel
def flat(low, high):
    """Whether an interval from -low to high has no room for a step."""
    return low + high < 2.0 * _NO_WIDTH


@kernel
def nearest_on_ellipse(x, y, a, b):
    """The point of the ellipse that is nearest to (x, y) outside of it.

    It is (a^2 x / (t + a^2), b^2 y / (t + b^2)), with t >= 0 where that is on the ellipse (Eberly 2013, "Distance from
    a point to an ellipse").  The equation in t falls and is convex, so Newton's steps from below come without
    overshooting; from where one of its terms is 1 they have not far to go.
    """
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
def since_rest(ball, w, x, y, z):
    """The rotation that takes `rest` to the unit quaternion, in the frame whose z axis is the ball's axis."""
    r = ball.rest
    w1 = w * r[0] + x * r[1] + y * r[2] + z * r[3]
    x1 = x * r[0] - w * r[1] - y * r[3] + z * r[2]
    y1 = y * r[0] - w * r[2] - z * r[1] + x * r[3]
    z1 = z * r[0] - w * r[3] - x * r[2] + y * r[1]
    x1, y1, z1 = seen(ball, x1, y1, z1)
    return w1, x1, y1, z1


@kernel
def parts(ball, w, x, y, z):
    """Of a rotation since rest: the swing c, x, y; its rotation vector over x, y; the twist [rad], counted from the
    middle of its interval."""
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
def rotation(ball, rx, ry, twist):
    """The unit quaternion of a swing's rotation vector and of a twist, counted from the middle of its interval."""
    angle = sqrt(rx * rx + ry * ry)
    s, c = sincos(0.5 * angle)
    some = angle > 1e-150
    share = select(some, s / select(some, angle, 1.0), 0.5)
    rx, ry = rx * share, ry * share
    sine, cosine = sincos(0.5 * twist)
    cosine, sine = cosine * ball.cosine - sine * ball.sine, sine * ball.cosine + cosine * ball.sine
    x, y, z = back(ball, rx * cosine + ry * sine, ry * cosine - rx * sine, c * sine)
    w, r = c * cosine, ball.rest
    return (
        w * r[0] - x * r[1] - y * r[2] - z * r[3],
        x * r[0] + w * r[1] + y * r[3] - z * r[2],
        y * r[0] + w * r[2] + z * r[1] - x * r[3],
        z * r[0] + w * r[3] + x * r[2] - y * r[1],
    )


@kernel
def clipped(ball, w, x, y, z):
    """The unit quaternion where it keeps the ball's limits, and at the nearest place inside where it does not.

    Nearer to the border than half of MARGIN counts as outside, so that no other order of rounding finds it there.
    """
    if not ball.limited:
        return w, x, y, z
    w1, x1, y1, z1 = since_rest(ball, w, x, y, z)
    _, sx, sy, ratio, twist = parts(ball, w1, x1, y1, z1)
    rx, ry = sx * ratio, sy * ratio
    a, b = semi_axes(ball, rx, ry)
    out = level(rx, ry, a - 0.5 * MARGIN, b - 0.5 * MARGIN) > 1.0
    end = ball.half - 0.5 * MARGIN
    high, low = twist > end, twist < -end
    moved = out | high | low
    if not any_of(moved):
        return w, x, y, z
    nx, ny = nearest_on_ellipse(rx, ry, a - MARGIN, b - MARGIN)
    rx, ry = select(out, nx, rx), select(out, ny, ry)
    twist = select(high, ball.half - MARGIN, select(low, MARGIN - ball.half, twist))
    w1, x1, y1, z1 = rotation(ball, rx, ry, twist)
    return select(moved, w1, w), select(moved, x1, x), select(moved, y1, y), select(moved, z1, z)


@kernel
def ball_within_limits(ball, w, x, y, z):
    """Whether the unit quaternion keeps the ball's limits, with no slack."""
    w, x, y, z = since_rest(ball, w, x, y, z)
    _, sx, sy, ratio, twist = parts(ball, w, x, y, z)
    a, b = semi_axes(ball, sx * ratio, sy * ratio)
    return (level(sx * ratio, sy * ratio, a, b) <= 1.0) & (abs(twist) <= ball.half)


@kernel
def margins(ball, x, y, twist):
    """How far a swing's rotation vector and a twist, counted from the middle of its interval, are from their limits
    [rad]; negative outside.  Of a swing it is the way along its ray, FREE where there is none."""
    a, b = semi_axes(ball, x, y)
    root = sqrt(level(x, y, a, b))
    swung = root > 0.0
    return select(swung, sqrt(x * x + y * y) * (1.0 / select(swung, root, 1.0) - 1.0), FREE), ball.half - abs(twist)


@kernel
def random_rotation(ball, u0, u1, u2):
    """A rotation from three numbers in [0, 1): uniform over all (Shoemake 1992), or over the ellipse and the interval
    where the ball has limits."""
    if ball.limited:
        # A quarter has its share of the area: the halves of either axis have those of its length.
        turn, y_side = _side(u1, ball.b)
        turn, x_side = _side(turn, ball.a)
        s1, c1 = sincos(0.5 * _PI * turn)
        radius, half = sqrt(u0), min(ball.half, _PI)
        w, x, y, z = rotation(ball, x_side * radius * c1, y_side * radius * s1, half * (2.0 * u2 - 1.0))
        return clipped(ball, w, x, y, z)
    s1, c1 = sincos(2.0 * _PI * u1)
    s2, c2 = sincos(2.0 * _PI * u2)
    a, b = sqrt(1.0 - u0), sqrt(u0)
    return a * s1, a * c1, b * s2, b * c2


@kernel
def _side(u, ends):
    """A number in [0, 1) and the end of an interval, of one number in [0, 1) for both."""
    low, high = min(ends[0], _PI), min(ends[1], _PI)
    share = high / (low + high)
    up = u < share
    return select(up, u / share, (u - share) / (1.0 - share)), select(up, high, -low)


@kernel
def boundaries(ball, w, x, y, z):
    """The borders of a ball at (w, x, y, z): the unit turns towards them, or 0, in the axis' frame, and their distance.

    Returns n, the level, its growth along n [1/rad]; m, the twist [rad], c; k.  n leads out of the ellipse, on which
    the level is 1; m twists, by 1 / c a radian of turn; k, normal to both, is the direction of swing without width.
    """
    w, x, y, z = since_rest(ball, w, x, y, z)
    c, sx, sy, ratio, twist = parts(ball, w, x, y, z)
    rx, ry = sx * ratio, sy * ratio
    a, b = semi_axes(ball, rx, ry)
    flat_a, flat_b = flat(ball.a[0], ball.a[1]), flat(ball.b[0], ball.b[1])
    zero = 0.0 * sx
    fx, fy = rx / (a * a), ry / (b * b)
    k0, k1, k2 = zero, zero, zero
    reached = level(rx, ry, a - 2.0 * MARGIN, b - 2.0 * MARGIN)
    if flat_a or flat_b:
        # In the coordinates of the swing the flat direction and the other are apart.
        k0, k1, k2 = flat_turn(ball, c, sx, sy, ratio)
        if flat_a:
            fx, reached = zero, level(zero, ry, a, b - 2.0 * MARGIN)
        if flat_b:
            fy, reached = zero + (1.0 if flat_a else 0.0), level(rx, zero, a - 2.0 * MARGIN, b)
    n0, n1, n2, rate = swing_turn(c, sx, sy, ratio, fx, fy)
    both = n0 * k0 + n1 * k1 + n2 * k2
    n0, n1, n2 = unit(n0 - both * k0, n1 - both * k1, n2 - both * k2)
    both = sy * k0 - sx * k1 + c * k2
    m0, m1, m2 = unit(sy - both * k0, -sx - both * k1, c - both * k2)
    return (n0, n1, n2), reached, 2.0 * rate, (m0, m1, m2), twist, c, (k0, k1, k2)


@kernel
def flat_turn(ball, c, sx, sy, ratio):
    """The unit turn along the direction of swing that has no width, the first if neither has."""
    zero = 0.0 * sx
    first = 1.0 if flat(ball.a[0], ball.a[1]) else 0.0
    k0, k1, k2, _ = swing_turn(c, sx, sy, ratio, zero + first, zero + (1.0 - first))
    return k0, k1, k2


@kernel
def flat_direction(ball, w, x, y, z):
    """The turn that a ball with a flat direction of swing never makes, along the joint frame's axes."""
    w, x, y, z = since_rest(ball, w, x, y, z)
    c, sx, sy, ratio, _ = parts(ball, w, x, y, z)
    k0, k1, k2 = flat_turn(ball, c, sx, sy, ratio)
    return back(ball, k0, k1, k2)


@kernel
def linearised_limits(ball, w, x, y, z):
    """Inequalities for a turn omega from (w, x, y, z): n . omega <= out, and -low <= m . omega <= high.

    To first order; where there is no border n or m is 0.  Along the joint frame's axes.
    """
    (n0, n1, n2), reached, rate, (m0, m1, m2), twist, c, _ = boundaries(ball, w, x, y, z)
    # The root of the level grows as fast along a ray as a distance.
    root = sqrt(reached)
    out = 2.0 * root * (1.0 - root) / select(rate > 1e-150, rate, 1.0)
    end = ball.half - 2.0 * MARGIN
    n0, n1, n2 = back(ball, n0, n1, n2)
    m0, m1, m2 = back(ball, m0, m1, m2)
    return (n0, n1, n2), out, (m0, m1, m2), (end + twist) * c, (end - twist) * c


@kernel
def blocked(ball, wxyz, turn, share):
    """The directions that a ball at `wxyz` may not turn in where (3,) `turn` would: three orthogonal ones, unit or 0.

    At the border of the ellipse the way out of it, n, and at an end of the twist the way beyond, m; both, where the
    turn without the one goes beyond the other.  A border that this `share` of the turn reaches counts as reached.  A
    twist or a direction of swing without width is held both ways, one such direction of swing as the third, k.  Turns
    are rotation vectors along the joint frame's axes.
    """
    w, x, y, z = wxyz
    h0, h1, h2 = seen(ball, turn[0], turn[1], turn[2])
    (n0, n1, n2), reached, rate, (m0, m1, m2), twist, c, (k0, k1, k2) = boundaries(ball, w, x, y, z)
    wrong = k0 * h0 + k1 * h1 + k2 * h2
    h0, h1, h2 = h0 - wrong * k0, h1 - wrong * k1, h2 - wrong * k2
    way_out = n0 * h0 + n1 * h1 + n2 * h2
    inside = reached + share * rate * way_out < 1.0
    if flat(ball.a[0], ball.a[1]) and flat(ball.b[0], ball.b[1]):
        inside = way_out * way_out < 0.0
        sign = select(way_out < 0.0, -1.0, 1.0)
        n0, n1, n2, way_out = n0 * sign, n1 * sign, n2 * sign, way_out * sign
    beyond = m0 * h0 + m1 * h1 + m2 * h2
    end = ball.half - 2.0 * MARGIN
    ahead = twist + share * beyond / select(c > 1e-9, c, 1.0)
    between = (ahead < end) & (ahead > -end)
    low = twist < 0.0
    if flat(ball.half, ball.half):
        between = beyond * beyond < 0.0
        low = beyond < 0.0
    sign = select(low, -1.0, 1.0)
    m0, m1, m2, beyond = m0 * sign, m1 * sign, m2 * sign, beyond * sign
    both = m0 * n0 + m1 * n1 + m2 * n2
    slight = SLIGHT * sqrt(h0 * h0 + h1 * h1 + h2 * h2)
    in_swing, in_twist = inside | (way_out <= slight), between | (beyond <= slight)
    # The nearest turn that keeps both: this one, else without n or without m, else without either.
    free = in_swing & in_twist
    without_n = between | (beyond - both * way_out <= slight)
    without_m = inside | (way_out - both * beyond <= slight)
    n_alone, m_alone = (
        select(in_swing, 0.0, select(without_n, 1.0, 0.0)),
        select(in_twist, 0.0, select(without_m, 1.0, 0.0)),
    )
    hold_n = select(free | (m_alone > n_alone), 0.0, 1.0)
    hold_m = select(free | (n_alone > 0.5), 0.0, 1.0)
    n0, n1, n2 = n0 * hold_n, n1 * hold_n, n2 * hold_n
    both = m0 * n0 + m1 * n1 + m2 * n2
    m0, m1, m2 = unit(m0 - both * n0, m1 - both * n1, m2 - both * n2)
    n0, n1, n2 = back(ball, n0, n1, n2)
    m0, m1, m2 = back(ball, m0 * hold_m, m1 * hold_m, m2 * hold_m)
    k0, k1, k2 = back(ball, k0, k1, k2)
    return n0, n1, n2, m0, m1, m2, k0, k1, k2


@kernel
def unit(x, y, z):
    """The vector at unit length, or 0 where it is all but that."""
    length = sqrt(x * x + y * y + z * z)
    some = length > 1e-6
    scale = select(some, 1.0 / select(some, length, 1.0), 0.0)
    return x * scale, y * scale, z * scale


@kernel
def swing_turn(c, sx, sy, ratio, fx, fy):
    """The unit turn along which f = (fx, fy) . r grows fastest while the twist stays, and how fast [1/rad].

    r = ratio (sx, sy) is the rotation vector of the swing (c, sx, sy); 0 where there is no such turn.
    """
    near = c > 1e-9
    cc = select(near, c, 1.0)
    # Along the swing's direction its angle grows by 2 / c with |(sx, sy)|, across it by its ratio to |(sx, sy)|.
    square = sx * sx + sy * sy
    along = (fx * sx + fy * sy) / select(square > 1e-300, square, 1.0)
    radial = 2.0 / cc - ratio
    fx, fy = ratio * fx + radial * along * sx, ratio * fy + radial * along * sy
    n0, n1, n2 = fx * c, fy * c, fy * sx - fx * sy
    d0, d1, d2 = 2.0 * c * sy, -2.0 * c * sx, 1.0 - 2.0 * square
    share = (n0 * d0 + n1 * d1 + n2 * d2) / cc
    n0, n1, n2 = 0.5 * (n0 - share * sy), 0.5 * (n1 + share * sx), 0.5 * (n2 - share * c)
    length = sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    some = near & (length > 1e-150)
    scale = select(some, 1.0 / select(some, length, 1.0), 0.0)
    return n0 * scale, n1 * scale, n2 * scale, length
