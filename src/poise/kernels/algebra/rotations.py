"""Turns: the rotation vector from one rotation, or direction, to another, and what a velocity makes of a quaternion."""

from poise.kernels.algebra.scalar import sincos
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, sqrt

_PI = 3.141592653589793
_SMALL = 5e-5
"""Half angle a [rad] below which (1 - a cot a) / (4 a^2) is replaced by its limit 1/12: the difference has lost more
digits there than the limit is off by."""


@kernel
def half_angle_ratio(c):
    """arccos(c) / sqrt(1 - c^2) on [0, 1], to 6e-10: half an angle over its sine, from its cosine."""
    u = 1.0 - c
    return 0.99999999972341244 + u * (
        0.33333341285613359
        + u
        * (
            0.13332957498623748
            + u
            * (
                0.057211907885685728
                + u
                * (
                    0.024746922870720807
                    + u
                    * (
                        0.015116314108640301
                        + u
                        * (
                            -0.0069569347556014541
                            + u
                            * (
                                0.029797453221689957
                                + u
                                * (
                                    -0.0382547053810137
                                    + u
                                    * (0.036507088698214037 + u * (-0.018817364088836139 + u * 0.0047826561308236532))
                                )
                            )
                        )
                    )
                )
            )
        )
    )


@kernel
def rotation_error(goal, rotation):
    """Rotation vector [rad] of E = G R^T, which takes the rotation R to the goal G; both (9,), row by row."""
    g0, g1, g2, g3, g4, g5, g6, g7, g8 = goal
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation
    v0 = (g6 * r3 + g7 * r4 + g8 * r5) - (g3 * r6 + g4 * r7 + g5 * r8)
    v1 = (g0 * r6 + g1 * r7 + g2 * r8) - (g6 * r0 + g7 * r1 + g8 * r2)
    v2 = (g3 * r0 + g4 * r1 + g5 * r2) - (g0 * r3 + g1 * r4 + g2 * r5)
    d0 = g0 * r0 + g1 * r1 + g2 * r2
    d1 = g3 * r3 + g4 * r4 + g5 * r5
    d2 = g6 * r6 + g7 * r7 + g8 * r8
    four_cc = 1.0 + d0 + d1 + d2  # 4 cos^2(angle / 2); v is 4 sin(angle / 2) cos(angle / 2) * axis
    near = four_cc < 1e-6
    root = sqrt(select(near, 1e-6, four_cc))
    ratio = half_angle_ratio(0.5 * root)
    scale = ratio / root
    e0, e1, e2 = v0 * scale, v1 * scale, v2 * scale
    if any_of(near):
        # At a half turn v vanishes; the symmetric part E + E^T still holds the axis: it is 2 (1 - cos) a a^T + 2 cos I.
        s0 = (g6 * r3 + g7 * r4 + g8 * r5) + (g3 * r6 + g4 * r7 + g5 * r8)
        s1 = (g0 * r6 + g1 * r7 + g2 * r8) + (g6 * r0 + g7 * r1 + g8 * r2)
        s2 = (g3 * r0 + g4 * r1 + g5 * r2) + (g0 * r3 + g1 * r4 + g2 * r5)
        first = (d0 >= d1) & (d0 >= d2)
        second = d1 >= d2
        cosine = 0.5 * (d0 + d1 + d2 - 1.0)
        a0 = select(first, 2.0 * (d0 - cosine), select(second, s2, s1))
        a1 = select(first, s2, select(second, 2.0 * (d1 - cosine), s0))
        a2 = select(first, s1, select(second, s0, 2.0 * (d2 - cosine)))
        forward = a0 * v0 + a1 * v1 + a2 * v2 >= 0.0
        length = sqrt(a0 * a0 + a1 * a1 + a2 * a2)
        angle = 3.141592653589793 - sqrt(select(four_cc > 0.0, four_cc, 0.0))
        turn = select(forward, angle, -angle) / length
        e0 = select(near, a0 * turn, e0)
        e1 = select(near, a1 * turn, e1)
        e2 = select(near, a2 * turn, e2)
    return e0, e1, e2


@kernel
def aim_error(a0, a1, a2, d0, d1, d2):
    """Rotation vector [rad] of the shortest turn that takes the unit vector a to d."""
    v0, v1, v2 = a1 * d2 - a2 * d1, a2 * d0 - a0 * d2, a0 * d1 - a1 * d0
    two_cc = 1.0 + a0 * d0 + a1 * d1 + a2 * d2  # 2 cos^2(angle / 2); v is 2 sin(angle / 2) cos(angle / 2) * axis
    near = two_cc < 1e-6
    c = sqrt(0.5 * select(near, 1e-6, two_cc))
    scale = half_angle_ratio(c) / c
    e0, e1, e2 = v0 * scale, v1 * scale, v2 * scale
    if any_of(near):
        # Any turn about an axis normal to a will do; the world axis least along a makes a sound one.
        q0, q1, q2 = a0 * a0, a1 * a1, a2 * a2
        first = (q0 <= q1) & (q0 <= q2)
        second = q1 <= q2
        n0 = select(first, 0.0, select(second, a2, -a1))
        n1 = select(first, -a2, select(second, 0.0, a0))
        n2 = select(first, a1, select(second, -a0, 0.0))
        turn = 3.141592653589793 / sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        e0 = select(near, n0 * turn, e0)
        e1 = select(near, n1 * turn, e1)
        e2 = select(near, n2 * turn, e2)
    return e0, e1, e2


@kernel
def square_share(t0, t1, t2):
    """The share of [t]^2 in the inverse of the right Jacobian of SO(3), for the rotation vector t [rad]; see
    `change_of_turn`."""
    half = 0.5 * sqrt(t0 * t0 + t1 * t1 + t2 * t2)
    far = half > _SMALL
    half = select(far, half, 1.0)
    sine, cosine = sincos(half)
    return select(far, (1.0 - half * cosine / sine) / (4.0 * half * half), 1.0 / 12.0)


@kernel
def change_of_turn(t, share, w0, w1, w2):
    """The change of a rotation vector, t - log(exp([t]) exp(-[w])), to first order in w.

    It is (1 + [t] / 2 + share [t]^2) w, with the inverse of the right Jacobian of SO(3) (Sola et al. 2018,
    arXiv:1812.01537, equation 144): share = (1 - a cot a) / (4 a^2), a half of the angle.
    """
    t0, t1, t2 = t
    along, rest = share * (t0 * w0 + t1 * w1 + t2 * w2), 1.0 - share * (t0 * t0 + t1 * t1 + t2 * t2)
    return (
        rest * w0 + along * t0 + 0.5 * (t1 * w2 - t2 * w1),
        rest * w1 + along * t1 + 0.5 * (t2 * w0 - t0 * w2),
        rest * w2 + along * t2 + 0.5 * (t0 * w1 - t1 * w0),
    )


@kernel
def quaternion_step(w, x, y, z, u0, u1, u2):
    """The unit quaternion (w, x, y, z) after a turn by the rotation vector (u0, u1, u2) [rad]."""
    angle = sqrt(u0 * u0 + u1 * u1 + u2 * u2)
    s, c = sincos(0.5 * angle)
    s = select(angle > 1e-8, s / select(angle > 1e-8, angle, 1.0), 0.5)
    u0, u1, u2 = u0 * s, u1 * s, u2 * s
    return normalised(
        c * w - u0 * x - u1 * y - u2 * z,
        c * x + u0 * w + u1 * z - u2 * y,
        c * y + u1 * w + u2 * x - u0 * z,
        c * z + u2 * w + u0 * y - u1 * x,
    )


@kernel
def small_quaternion_step(w, x, y, z, u0, u1, u2):
    """`quaternion_step` to first order, not normalised."""
    u0, u1, u2 = 0.5 * u0, 0.5 * u1, 0.5 * u2
    return (
        w - u0 * x - u1 * y - u2 * z,
        x + u0 * w + u1 * z - u2 * y,
        y + u1 * w + u2 * x - u0 * z,
        z + u2 * w + u0 * y - u1 * x,
    )


@kernel
def normalised(w, x, y, z):
    """The quaternion scaled to length 1."""
    scale = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    return w * scale, x * scale, y * scale, z * scale


@kernel
def angle(c, s):
    """The angle in [-pi, pi] whose cosine and sine are c and s, in either width."""
    back = c < 0.0
    half = sqrt(0.5 + 0.5 * select(back, -c, c))
    x = s * half_angle_ratio(half) / half
    x = select(back, select(s < 0.0, -_PI, _PI) - x, x)
    # One Newton step: sin(angle - x) = s cos x - c sin x.
    s0, c0 = sincos(x)
    return x + (s * c0 - c * s0)


@kernel
def turn_since(begun, q, i):
    """Rotation vector [rad] of the shortest turn that took the quaternion at row i from `begun` to `q`."""
    w0, x0, y0, z0 = load(begun, i), load(begun, i + 1), load(begun, i + 2), load(begun, i + 3)
    w1, x1, y1, z1 = load(q, i), load(q, i + 1), load(q, i + 2), load(q, i + 3)
    return turn_between(w0, x0, y0, z0, w1, x1, y1, z1)


@kernel
def turn_between(w0, x0, y0, z0, w1, x1, y1, z1):
    """Rotation vector [rad] of the shortest turn between two unit quaternions, along the joint frame's axes."""
    cosine = w1 * w0 + x1 * x0 + y1 * y0 + z1 * z0
    v0 = x1 * w0 - w1 * x0 + z1 * y0 - y1 * z0
    v1 = y1 * w0 - w1 * y0 + x1 * z0 - z1 * x0
    v2 = z1 * w0 - w1 * z0 + y1 * x0 - x1 * y0
    sine = sqrt(v0 * v0 + v1 * v1 + v2 * v2)
    short = angle(select(cosine < 0.0, -cosine, cosine), sine)
    still = sine < 1e-150  # where squares underflow; the ratio of angle and sine is 2 there
    scale = select(still, 2.0, 2.0 * short / select(still, 1.0, sine))
    scale = select(cosine < 0.0, -scale, scale)
    return v0 * scale, v1 * scale, v2 * scale
