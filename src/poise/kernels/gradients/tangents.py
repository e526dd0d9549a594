"""Homogeneous matrices as poses, and cotangents of poses as those of matrices."""

from poise.kernels.kinematics.query import quaternion
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, WHOLE
from poise.kernels.machine.views import section

_LAST_ROW = 1e-9
_ROUNDED = 0.02
"""The largest entry of M M^T - I of a rotation that was rounded: then no direction is stretched by more than 3 %."""
_STEPS = 8
_DONE = 1e-15


@entry_point(REALS, REALS, WHOLE)
def poses_of(matrices, out, count):
    """Places and unit quaternions (count, 7) of matrices (count, 4, 4), whose rotations are made the nearest such; the
    first that is no rotation but for rounding, or `count`.

    Newton's iteration X <- (X + X^-T) / 2 leads to the nearest rotation (Higham 1986, doi:10.1137/0907079).
    """
    for k in range(count):
        m, pose = section(matrices, 16 * k, 16), section(out, 7 * k, 7)
        sound = abs(m[12]) <= _LAST_ROW and abs(m[13]) <= _LAST_ROW and abs(m[14]) <= _LAST_ROW
        if not sound or not abs(m[15] - 1.0) <= _LAST_ROW:
            return k
        for i in range(3):
            if not abs(m[4 * i + 3]) < 1e300:
                return k
            pose[i] = m[4 * i + 3]
        x = m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]
        if not _off(x) <= _ROUNDED or not _determinant(x) > 0.0:
            return k
        for _ in range(_STEPS):
            before, x = x, _halfway(x)
            if _change(before, x) <= _DONE:
                break
        pose[3], pose[4], pose[5], pose[6] = quaternion(x)
    return count


@entry_point(REALS, REALS, REALS, WHOLE)
def matrix_cotangents(twists, poses, out, count):
    """Cotangents (count, 4, 4) of matrices from those (count, 6) of twists, at poses (count, 7) of unit quaternions:
    g . w = <[g] R / 2, [w] R>, so what no rotation can do has no part."""
    for k in range(count):
        g, pose, m = section(twists, 6 * k, 6), section(poses, 7 * k, 7), section(out, 16 * k, 16)
        w, x, y, z = pose[3], pose[4], pose[5], pose[6]
        r0, r1, r2 = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
        r3, r4, r5 = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
        r6, r7, r8 = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
        a, b, c = 0.5 * g[3], 0.5 * g[4], 0.5 * g[5]
        m[0], m[1], m[2], m[3] = b * r6 - c * r3, b * r7 - c * r4, b * r8 - c * r5, g[0]
        m[4], m[5], m[6], m[7] = c * r0 - a * r6, c * r1 - a * r7, c * r2 - a * r8, g[1]
        m[8], m[9], m[10], m[11] = a * r3 - b * r0, a * r4 - b * r1, a * r5 - b * r2, g[2]
        m[12], m[13], m[14], m[15] = 0.0, 0.0, 0.0, 0.0


@kernel
def _off(x):
    """The largest entry of X X^T - I."""
    a, b, c, d, e, f, g, h, i = x
    first = max(abs(a * a + b * b + c * c - 1.0), abs(d * d + e * e + f * f - 1.0))
    second = max(abs(g * g + h * h + i * i - 1.0), abs(a * d + b * e + c * f))
    return max(max(first, second), max(abs(a * g + b * h + c * i), abs(d * g + e * h + f * i)))


@kernel
def _determinant(x):
    a, b, c, d, e, f, g, h, i = x
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


@kernel
def _halfway(x):
    """(X + X^-T) / 2, X^-T being the cofactors over the determinant."""
    a, b, c, d, e, f, g, h, i = x
    scale = 1.0 / _determinant(x)
    return (
        0.5 * (a + scale * (e * i - f * h)), 0.5 * (b + scale * (f * g - d * i)), 0.5 * (c + scale * (d * h - e * g)),
        0.5 * (d + scale * (c * h - b * i)), 0.5 * (e + scale * (a * i - c * g)), 0.5 * (f + scale * (b * g - a * h)),
        0.5 * (g + scale * (b * f - c * e)), 0.5 * (h + scale * (c * d - a * f)), 0.5 * (i + scale * (a * e - b * d)),
    )  # fmt: skip


@kernel
def _change(x, y):
    """The largest change of an entry."""
    largest = 0.0
    for a, b in zip(x, y):  # noqa: B905
        largest = max(largest, abs(a - b))
    return largest
