"""Distances from points and segments to cylinders, in the cylinder's own frame.

Its middle is 0, its axis lies along z, `half` are its radius, twice, and half its length.

Each kernel gives the distance [m], negative within, the point of the first that is nearest to the cylinder or deepest
in it, and the unit vector away from the cylinder.
"""

import functools

from poise.kernels.algebra.vectors import dot, minus, plus, scaled
from poise.kernels.collision.boxes import point_box
from poise.kernels.collision.directions import LOST, TOUCH, absolute, chosen, clamped, larger, smaller
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, select, sqrt

_MOST = 64
"""Steps; a handful is enough unless a segment passes the rim at the distance of the radius."""
_ENOUGH = 1e-16
"""A step that is shorter [m] than this share of the segment, or of the cylinder, changes nothing."""


@functools.partial(kernel, inline=True)
def point_cylinder(p, half):
    """From the point p; in the plane of it and the axis a cylinder is a box."""
    off, x, y = _off_axis(p)
    distance, _, n = point_box((off, 0.0 * off, p[2]), half)
    return distance, p, (n[0] * x, n[0] * y, n[2])


@functools.partial(kernel, inline=True)
def segment_cylinder(c, z, h, half):
    """From the segment from c - h z to c + h z.

    The touch of cores is for a search to tell, so no distance is negative here; at 0 the unit vector is none.
    """
    t = _nearest(c, z, h, half)
    p = plus(c, scaled(t, z))
    u, _ = _beyond(p, z, half)
    # Within the segment it is across it, which of a short way rounding does not say.
    u = chosen(absolute(t) < h, minus(u, scaled(dot(u, z), z)), u)
    distance = sqrt(dot(u, u))
    return distance, p, scaled(1.0 / select(distance < TOUCH, 1.0, distance), u)


@kernel
def farthest_of_cylinder(v, half):
    """The point of the cylinder that lies farthest along v; the middle of what is as far."""
    off = sqrt(v[0] * v[0] + v[1] * v[1])
    level, flat = off < TOUCH, absolute(v[2]) < TOUCH
    per = select(level, 0.0, half[0] / select(level, 1.0, off))
    return per * v[0], per * v[1], select(flat, 0.0, select(v[2] < 0.0, -half[2], half[2]))


@kernel
def _off_axis(p):
    """How far p is from the axis, and the unit vector from there, along x and y; x on the axis itself."""
    off = sqrt(p[0] * p[0] + p[1] * p[1])
    on = off < LOST
    per = 1.0 / select(on, 1.0, off)
    return off, select(on, 1.0, per * p[0]), per * p[1]


@kernel
def _beyond(p, z, half):
    """The way to p from the nearest point of the cylinder, 0 within; and how fast its part along z grows along z."""
    off, x, y = _off_axis(p)
    out, over = larger(off - half[0], 0.0), p[2] - clamped(p[2], half[2])
    around = x * z[1] - y * z[0]
    along = x * z[0] + y * z[1]
    side = select(off > half[0], along * along + around * around * out / select(off > half[0], off, 1.0), 0.0)
    return (out * x, out * y, over), side + select(absolute(p[2]) > half[2], z[2] * z[2], 0.0)


@functools.partial(kernel, inline=True)
def _nearest(c, z, h, half):
    """Where on the segment the distance to the cylinder is least, as a multiple of z.

    Half the derivative of the squared distance never falls.  Between the planes of the flat ends and the place that is
    nearest to the axis it is convex or concave, so that Newton's steps come from one side and do not pass its zero.
    """
    # Brackets: the ends, the planes of the flat ends, and the place nearest to the axis.
    foot = clamped(-(c[0] * z[0] + c[1] * z[1]) * _inverse(z[0] * z[0] + z[1] * z[1]), h)
    per = _inverse(z[2])
    low, high = -h + 0.0 * foot, h + 0.0 * foot
    first, last = low, high
    for i in range(5):
        if i < 2:
            t = clamped(((half[2] if i == 0 else -half[2]) - c[2]) * per, h)
        else:
            t = foot if i == 2 else last if i == 3 else first
        slope = _slope(c, z, t, half)[0]
        low = larger(low, select(slope <= 0.0, t, first))
        high = smaller(high, select(slope >= 0.0, t, last))
    flat = high <= low
    t = select(flat, 0.5 * (low + high), select(low >= foot, high, low))
    low, high = select(flat, t, low), select(flat, t, high)
    least = _ENOUGH * (h + half[0] + half[2])
    for _ in range(_MOST):
        slope, rate = _slope(c, z, t, half)
        low, high = select(slope <= 0.0, t, low), select(slope >= 0.0, t, high)
        step = t - slope / select(rate <= 0.0, 1.0, rate)
        # A derivative jumps at a flat end and at the side, where a step may lead too far.
        step = select((rate > 0.0) & (step > low) & (step < high), step, 0.5 * (low + high))
        moved, t = absolute(step - t), step
        if not any_of(moved > least):
            break
    return t


@kernel
def _slope(c, z, t, half):
    """Half the derivative of the squared distance at c + t z along z, and that one's derivative."""
    u, rate = _beyond(plus(c, scaled(t, z)), z, half)
    return dot(u, z), rate


@kernel
def _inverse(x):
    """1 / x, or a large number."""
    return 1.0 / select(absolute(x) < 1e-30, 1e-30, x)
