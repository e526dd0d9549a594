"""Distances between points and segments.

Each kernel gives the distance [m], the nearest point of either core, and the unit vector from the first to the second.
Where the cores touch that is across both, if they are segments: what is rounded then gets away by the shortest way.
"""

import functools

from poise.kernels.algebra.vectors import cross, dot, minus, plus, scaled
from poise.kernels.collision.directions import TOUCH, absolute, across, chosen, clamped, larger, separation, smaller
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, select, sqrt

_SKEW, _CROSSED = 1e-24, 1e-12
"""Squared sines of the angle between two segments: from the first on their lines have one nearest point, from the
second on the common normal is known better than the way between two points that nearly meet."""


@functools.partial(kernel, inline=True)
def point_point(p, q):
    """From p to q."""
    way = minus(q, p)
    distance, n = separation(way, (0.0, 0.0, 1.0))
    return distance, p, q, n


@functools.partial(kernel, inline=True)
def point_segment(p, c, z, h):
    """From p to the segment from c - h z to c + h z."""
    q = plus(c, scaled(clamped(dot(z, minus(p, c)), h), z))
    distance, n = separation(minus(q, p), across(z))
    return distance, p, q, n


@functools.partial(kernel, inline=True)
def segment_segment(c1, z1, h1, c2, z2, h2):
    """From the segment around c1 to that around c2.

    The nearest points of the lines, each clamped and then seen again from the other (Ericson 2005, section 5.1.9);
    parallel ones begin at the middle of where they are side by side.
    """
    r, k = minus(c1, c2), cross(z1, z2)
    square, b, c, f = dot(k, k), dot(z1, z2), dot(z1, r), dot(z2, r)
    skew = square > _SKEW
    side_by_side = 0.5 * (larger(-h1, -c - h2) + smaller(h1, h2 - c))
    # The nearest points of the lines: s0 on the first, clamped, then t on the second from there, then s again.
    s0 = select(skew, dot(k, cross(z2, r)), side_by_side) / select(skew, square, 1.0)
    t0 = b * clamped(s0, h1) + f
    t = clamped(t0, h2)
    s = clamped(b * t - c, h1)
    p, q = plus(c1, scaled(s, z1)), plus(c2, scaled(t, z2))
    way = minus(q, p)
    # Between inner points of both the normal is k, up to its sign; the way itself may be short, and rounded.
    inner = (square > _CROSSED) & (absolute(s0) < h1) & (absolute(t0) < h2)
    v = chosen(inner, scaled(select(dot(k, way) < 0.0, -1.0, 1.0), k), way)
    size = dot(v, v)
    touch = size < TOUCH * TOUCH
    if any_of(touch):
        v = chosen(touch, chosen(square > _CROSSED, k, across(z1)), v)
        size = dot(v, v)
    n = scaled(1.0 / sqrt(size), v)
    return dot(n, way), p, q, n
