"""The closed forms of six joints: the angles at which the axes make a given displacement.

With E_i the turn about axis i, all along the base's axes and as they lie where q is 0, the displacement from there to
the target is

    G = E_1 E_2 E_3 E_4 E_5 E_6,    G x = R x + d.

SPHERICAL: the last three axes meet in c.  Then G c = E_1 E_2 E_3 c, which gives the first three angles, and
(E_1 E_2 E_3)^-1 G is the turn of the last three.  Of the first three axes
    PARALLEL_23: 2 and 3 are parallel (Puma and most industrial arms),
    MEETING_12: 1 and 2 meet (the far end of a Panda or an iiwa),
    PARALLEL_12: 1 and 2 are parallel,
    SKEW: none of these; the third angle is a root of a quartic (Pieper).
THREE_PARALLEL: 2, 3 and 4 are parallel, and 5 and 6 meet in c (Universal Robots).  The height of G c above the plane
across them gives the first angle, their direction the fifth and the sixth; the rest is a triangle.

GENERAL: axes that lie anyhow, of which `first` to `fourth`, `centre` and `normal` are a point each, and `position` is
the choice that `elimination` begins with; see there.

An arm whose first axes have what is asked of the last ones is taken from the tip: G^-1 = E_6^-1 ... E_1^-1.

Source: Pieper 1968, "The kinematics of manipulators under computer control"; the decomposition by subproblems is Elias
and Wen's (2022, arXiv:2211.05737).

Every closed form makes three choices between two angles, and three signs say which; of a quartic two signs choose the
root.  Each returns six angles [rad], and a number above 0 where one of them does not matter.
"""

from poise.kernels.algebra.scalar import angle_of
from poise.kernels.algebra.vectors import (
    cross,
    dot,
    minus,
    opposite,
    plus,
    scaled,
    times,
    transposed,
    turned,
    turned_back,
    vector,
)
from poise.kernels.closed_form.quartic import unit_roots
from poise.kernels.closed_form.subproblems import facing, level
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import select, splat

SPHERICAL, THREE_PARALLEL, GENERAL = range(3)
PARALLEL_23, MEETING_12, PARALLEL_12, SKEW = range(4)


@kernel
def six_angles(rows, arm, r, d, signs, rest):
    """The angles of the branch that `signs` choose, for the displacement x -> r x + d; `rest`: where the joints are."""
    if arm.family == SPHERICAL:
        return _spherical(rows, arm, r, d, signs, rest)
    return _three_parallel(rows, arm, r, d, signs, rest)


@kernel
def _spherical(rows, arm, r, d, signs, rest):
    """SPHERICAL: three angles for the place of the centre, three for the rotation."""
    axes = arm.axes
    h1, h2, h3 = vector(axes, 0), vector(axes, 3), vector(axes, 6)
    h4, h5, h6 = vector(axes, 9), vector(axes, 12), vector(axes, 15)
    p1, p2, p3, centre = vector(arm.first, 0), vector(arm.second, 0), vector(arm.third, 0), vector(arm.centre, 0)
    x = minus(plus(times(r, centre), d), p1)
    a, b, n = minus(centre, p3), minus(p3, p2), minus(p2, p1)
    # E_1 (n + E_2 (b + E_3 a)) = x, where E_i is a turn alone.
    if arm.position == PARALLEL_23:  # h_2 . E_1^-1 x is the same before and after turns about h_2
        t1, f1 = level(rows, opposite(h1), x, h2, dot(h2, minus(centre, p1)), signs[0], rest[0])
        y = minus(turned_back(h1, t1, x), n)
        t3, f3 = level(rows, h3, a, b, 0.5 * (dot(y, y) - dot(a, a) - dot(b, b)), signs[1], rest[2])
        t2, f2 = facing(rows, h2, plus(turned(h3, t3, a), b), y, rest[1])
    elif arm.position == MEETING_12:  # n = 0
        t3, f3 = level(rows, h3, a, b, 0.5 * (dot(x, x) - dot(a, a) - dot(b, b)), signs[1], rest[2])
        z = plus(turned(h3, t3, a), b)
        t1, f1 = level(rows, opposite(h1), x, h2, dot(h2, z), signs[0], rest[0])
        t2, f2 = facing(rows, h2, z, turned_back(h1, t1, x), rest[1])
    elif arm.position == PARALLEL_12:
        t3, f3 = level(rows, h3, a, h1, dot(h1, minus(minus(x, n), b)), signs[0], rest[2])
        z = plus(turned(h3, t3, a), b)
        t2, f2 = level(rows, h2, z, n, 0.5 * (dot(x, x) - dot(z, z) - dot(n, n)), signs[1], rest[1])
        t1, f1 = facing(rows, h1, plus(turned(h2, t2, z), n), x, rest[0])
    else:
        t1, t2, t3 = _skew(rows, (h1, h2, h3), a, b, n, x, signs, rest)
        f1 = f2 = f3 = splat(rows, 0.0)
    # The wrist: E_4 E_5 h_6 = m, for E_6 does not move its own axis.
    m = _back(h1, t1, h2, t2, h3, t3, times(r, h6))
    t5, f5 = level(rows, h5, h6, h4, dot(h4, m), signs[2], rest[4])
    t4, f4 = facing(rows, h4, turned(h5, t5, h6), m, rest[3])
    # A height tells little of an angle near 0 or a half turn, where a direction tells all.
    t5, _ = facing(rows, h5, h6, turned_back(h4, t4, m), rest[4])
    # The sixth from a vector across its axis, so that it makes up for whatever the fourth was where that is free.
    across = vector(arm.normal, 0)
    seen = turned_back(h5, t5, turned_back(h4, t4, _back(h1, t1, h2, t2, h3, t3, times(r, across))))
    return (
        angle_of(t1[0], t1[1]),
        angle_of(t2[0], t2[1]),
        angle_of(t3[0], t3[1]),
        angle_of(t4[0], t4[1]),
        angle_of(t5[0], t5[1]),
        angle_of(dot(cross(h6, across), seen), dot(across, seen)),
        f1 + f2 + f3 + f4 + f5,
    )


@kernel
def _back(h1, t1, h2, t2, h3, t3, v):
    """v as it was before the first three turns."""
    return turned_back(h3, t3, turned_back(h2, t2, turned_back(h1, t1, v)))


@kernel
def _skew(rows, axes, a, b, n, x, signs, rest):
    """Three turns with E_1 (n + E_2 (b + E_3 a)) = x, where n is the common normal of the first two axes.

    With u = b + E_3 a, both h_1 . E_2 u and n . E_2 u are known by the third angle, along h_1 and by the distance |x|;
    that E_2 does not change the length of u makes them a quartic.
    """
    h1, h2, h3 = axes
    along = scaled(dot(h3, a), h3)
    k, aa = dot(h1, h2), dot(n, n)
    ss = 1.0 - k * k
    u_c, u_s, u_0 = minus(a, along), cross(h3, a), plus(along, b)
    # Each is a number, and what multiplies the cosine and the sine of the third angle.
    w = dot(h2, u_0), dot(h2, u_c), dot(h2, u_s)
    uu = dot(a, a) + dot(b, b) + 2.0 * dot(b, along), 2.0 * dot(b, u_c), 2.0 * dot(b, u_s)
    v = dot(h1, x) - k * w[0], -k * w[1], -k * w[2]
    g = 0.5 * (dot(x, x) - aa - uu[0]), -0.5 * uu[1], -0.5 * uu[2]
    one, two, three = _square(v), _square(g), _square(w)
    # |E_2 u|^2 = |u|^2 in the frame h_2, n, h_2 x n: aa v^2 + ss g^2 + aa ss (w^2 - uu) = 0.
    z1, z2, z3, z4 = unit_roots(
        aa * one[0] + ss * two[0] + aa * ss * (three[0] - uu[0]),
        aa * one[1] + ss * two[1] + aa * ss * (three[1] - uu[1]),
        aa * one[2] + ss * two[2] + aa * ss * (three[2] - uu[2]),
        aa * one[3] + ss * two[3] + aa * ss * three[3],
        aa * one[4] + ss * two[4] + aa * ss * three[4],
    )
    i, j = signs[0] > 0.0, signs[1] > 0.0
    s = select(i, select(j, z1[0], z2[0]), select(j, z3[0], z4[0]))
    c = select(i, select(j, z1[1], z2[1]), select(j, z3[1], z4[1]))
    t3 = s, c
    u = plus(b, turned(h3, t3, a))
    height, side = (dot(h1, x) - k * dot(h2, u)) / ss, 0.5 * (dot(x, x) - aa - dot(u, u)) / aa
    y = plus(scaled(dot(h2, u) - k * height, h2), plus(scaled(height, h1), scaled(side, n)))
    t2, _ = facing(rows, h2, u, y, rest[1])
    t1, _ = facing(rows, h1, plus(turned(h2, t2, u), n), x, rest[0])
    return t1, t2, t3


@kernel
def _square(f):
    """(f_0 + f_1 cos + f_2 sin)^2: a number, and what multiplies cos, sin, and cos and sin of the double angle."""
    return (
        f[0] * f[0] + 0.5 * (f[1] * f[1] + f[2] * f[2]),
        2.0 * f[0] * f[1],
        2.0 * f[0] * f[2],
        0.5 * (f[1] * f[1] - f[2] * f[2]),
        f[1] * f[2],
    )


@kernel
def _three_parallel(rows, arm, r, d, signs, rest):
    """THREE_PARALLEL: h, the direction of the three, stays what it is in E_2 E_3 E_4."""
    axes = arm.axes
    h1, h, h5, h6 = vector(axes, 0), vector(axes, 3), vector(axes, 12), vector(axes, 15)
    p1, p2, p3, p4 = vector(arm.first, 0), vector(arm.second, 0), vector(arm.third, 0), vector(arm.fourth, 0)
    centre, across = vector(arm.centre, 0), vector(arm.normal, 0)
    x = minus(plus(times(r, centre), d), p1)
    t1, f1 = level(rows, opposite(h1), x, h, dot(h, minus(centre, p1)), signs[0], rest[0])
    axis = turned(h1, t1, h)
    t5, f5 = level(rows, h5, h6, h, dot(axis, times(r, h6)), signs[2], rest[4])
    m = times(transposed(r), axis)
    t6, f6 = facing(rows, h6, m, turned_back(h5, t5, h), rest[5])
    # A height tells little of an angle near 0 or a half turn, where a direction tells all.
    t5, _ = facing(rows, opposite(h5), h, turned(h6, t6, m), rest[4])
    # What the three turn by together, from a vector across them.
    seen = turned_back(h1, t1, times(r, turned_back(h6, t6, turned_back(h5, t5, across))))
    t = dot(cross(h, across), seen), dot(across, seen)
    y = minus(minus(turned_back(h1, t1, x), minus(p2, p1)), turned(h, t, minus(centre, p4)))
    a, b = minus(p4, p3), minus(p3, p2)
    t3, f3 = level(rows, h, a, b, 0.5 * (dot(y, y) - dot(a, a) - dot(b, b)), signs[1], rest[2])
    t2, f2 = facing(rows, h, plus(turned(h, t3, a), b), y, rest[1])
    second, third = angle_of(t2[0], t2[1]), angle_of(t3[0], t3[1])
    return (
        angle_of(t1[0], t1[1]),
        second,
        third,
        angle_of(t[0], t[1]) - second - third,
        angle_of(t5[0], t5[1]),
        angle_of(t6[0], t6[1]),
        f1 + f2 + f3 + f5 + f6,
    )
