"""Functions of one number, in either width, and the random numbers of the restarts."""

import numpy as np

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import floor, fma, rint, select


@kernel
def sincos(x):
    """Sine and cosine, to 2.4e-16 for |x| <= 1e10, and to 2e-11 of a unit in the last place of x for |x| <= 2^50.

    Ours because a call of the C library's would stop the lanes: no branch, a two-term reduction by quarter turns
    that fast arithmetic must not join into one.
    """
    k = rint(x * 0.6366197723675814)
    r = fma(k, -6.077100506506192e-11, fma(k, -1.5707963267341256, x))
    z = r * r
    s = r + r * z * (
        -1.66666666666666324348e-1
        + z
        * (
            8.33333333332248946124e-3
            + z
            * (
                -1.98412698298579493134e-4
                + z * (2.75573137070700676789e-6 + z * (-2.50507602534068634195e-8 + z * 1.58969099521155010221e-10))
            )
        )
    )
    c = (
        1.0
        - 0.5 * z
        + z
        * z
        * (
            4.16666666666666019037e-2
            + z
            * (
                -1.38888888888741095749e-3
                + z
                * (
                    2.48015872894767294178e-5
                    + z
                    * (-2.75573143513906633035e-7 + z * (2.08757232129817482790e-9 - z * 1.13596475577881948265e-11))
                )
            )
        )
    )
    m = k - 4.0 * floor(k * 0.25)
    odd = ((m >= 0.5) & (m <= 1.5)) | (m >= 2.5)
    sine, cosine = select(odd, c, s), select(odd, s, c)
    return select(m >= 1.5, -sine, sine), select((m >= 0.5) & (m <= 2.5), -cosine, cosine)


@kernel
def angle_of(s, c):
    """The angle in [-pi, pi] whose sine and cosine are as s to c, to 4e-16, in either width; 0 where both are 0.

    An octant, and of that the half around 0 or around a quarter of pi, is reached by reflections, so the polynomial
    (Chebyshev, in the square of a tangent up to tan(pi / 8)) is short, and there is one division and no branch.
    """
    x, y = select(c < 0.0, -c, c), select(s < 0.0, -s, s)
    steep = y > x
    low, high = select(steep, x, y), select(steep, y, x)
    outer = low > 0.41421356237309503 * high
    t = select(outer, low - high, low) / select(high > 0.0, select(outer, low + high, high), 1.0)
    z = t * t
    a = t + t * z * (
        -0.3333333333333333
        + z
        * (
            0.19999999999995516
            + z
            * (
                -0.14285714284665682
                + z
                * (
                    0.11111111015187018
                    + z
                    * (
                        -0.0909090457530649
                        + z
                        * (
                            0.07692183125376892
                            + z
                            * (
                                -0.06664510525508936
                                + z
                                * (
                                    0.05858140904866328
                                    + z * (-0.050854078345894844 + z * (0.03923044778479309 - z * 0.019175404711104935))
                                )
                            )
                        )
                    )
                )
            )
        )
    )
    a = select(outer, 0.7853981633974483 + a, a)
    a = select(steep, 1.5707963267948966 - a, a)
    a = select(c < 0.0, 3.141592653589793 - a, a)
    return select(s < 0.0, -a, a)


@kernel
def uniform(seed, place):
    """A number in [0, 1) that depends on its arguments alone: the splitmix64 finaliser over a counter."""
    h = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(place) * np.uint64(0xD1B54A32D192ED03)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    h = h ^ (h >> np.uint64(31))
    return (h >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def exp(x):
    """Exponential of x <= 0, to 1e-12 of 1, in either width; below -200 it is 0."""
    t = select(x < -200.0, -200.0, x) * (1.0 / 1024.0)
    y = 1.0 + t * (1.0 + t * (0.5 + t * (1.0 / 6.0 + t * (1.0 / 24.0 + t * (1.0 / 120.0)))))
    for _ in range(10):
        y = y * y
    return select(x < -200.0, 0.0, y)
