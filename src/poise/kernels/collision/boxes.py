"""Distances from points and segments to boxes, in the box's own frame: its centre is 0, half its edges are `half`.

Each kernel gives the distance [m], negative within, the point of the first that is nearest to the box or deepest in it,
and the unit vector away from the box.
"""

import functools

from poise.kernels.algebra.vectors import dot, plus, scaled
from poise.kernels.collision.directions import LOST, TOUCH, absolute, alike, chosen, clamped, larger, sign, smaller
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, select, sqrt

_NEAR = 1e-12
"""Squared distance [m^2] below which the way between two edges says less of its direction than the edges do."""
_PARALLEL = 1e-24
"""Squared sine of the angle between two edges up to which they are parallel."""
_LEVEL = 1e-30
"""A component of a unit vector that is not divided by."""
_BESIDE = 1e-14
"""A line that passes a face outside by no more than this [m] does so by rounding."""
_FAR = 1e300
_WORSE = 1e-13
"""By this [m] a way out across two edges must be shorter than one through a face, or rounding would choose."""


@functools.partial(kernel, inline=True)
def point_box(p, half):
    """From the point p: by the nearest point of the box, or from within through the nearest face."""
    u = beyond(p, half)
    square = dot(u, u)
    a, b, c = absolute(p[0]) - half[0], absolute(p[1]) - half[1], absolute(p[2]) - half[2]
    most = larger(larger(a, b), c)
    first, second = a >= most, b >= most
    within = square < LOST * LOST
    face = (
        select(first, sign(p[0]), 0.0),
        select(first, 0.0, select(second, sign(p[1]), 0.0)),
        select(first, 0.0, select(second, 0.0, sign(p[2]))),
    )
    root = sqrt(square)
    n = chosen(within, face, scaled(1.0 / select(within, 1.0, root), u))
    return select(within, most, root), p, n


@functools.partial(kernel, inline=True)
def segment_box(c, z, h, half):
    """From the segment from c - h z to c + h z: by the nearest points, or from within by the shortest way out."""
    middle = _nearest(c, z, half)
    t = clamped(middle, h)
    p = plus(c, scaled(t, z))
    u = beyond(p, half)
    square = dot(u, u)
    # So near, u is a rounded difference: between two edges the direction across both is known better.
    if any_of(square < _NEAR):
        u = chosen((square < _NEAR) & (absolute(middle) < h), _across_edges(u, z), u)
    size = dot(u, u)
    within = square < TOUCH * TOUCH
    n = scaled(1.0 / sqrt(select(within, 1.0, size)), u)
    distance = dot(n, beyond(p, half))
    if any_of(within):
        depth, deepest, out = _way_out(c, z, h, half)
        distance, p, n = select(within, depth, distance), chosen(within, deepest, p), chosen(within, out, n)
    return distance, p, n


@kernel
def beyond(p, half):
    """The way to p from the nearest point of the box; 0 within."""
    return p[0] - clamped(p[0], half[0]), p[1] - clamped(p[1], half[1]), p[2] - clamped(p[2], half[2])


@functools.partial(kernel, inline=True)
def _nearest(c, z, half):
    """Where on the line through c along z the squared distance to the box is least, as a multiple of z.

    Along the line the derivative is piecewise linear and never falls.  It bends where the line crosses the plane of a
    face, and its zero is between two bends: the last where it is not positive, and the first where it is.
    """
    least, most = alike(c[0], -_FAR), alike(c[0], _FAR)
    low, below, high, above = least, least, most, most
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        per = _inverse(z[i])
        for side in range(2):
            t = (half[i] - c[i]) * per if side else (-half[i] - c[i]) * per
            # Half the derivative; within the plane it is that of the other two.
            u, v = c[j] + t * z[j], c[k] + t * z[k]
            slope = z[j] * (u - clamped(u, half[j])) + z[k] * (v - clamped(v, half[k]))
            falls = slope <= 0.0
            low, below = larger(low, select(falls, t, least)), larger(below, select(falls, slope, least))
            high, above = smaller(high, select(falls, most, t)), smaller(above, select(falls, most, slope))
    # From the bend that is nearer, for a line along a face meets the planes beside it far away.
    per = (high - low) / (above - below)
    return select(above < -below, high - above * per, low - below * per)


@kernel
def _inverse(x):
    """1 / x, or a large number."""
    return 1.0 / select(absolute(x) < _LEVEL, _LEVEL, x)


@kernel
def _across_edges(u, z):
    """The vector across z and the edge of the box from which u leads, on the side of u; u if it is from no edge."""
    first = (absolute(u[0]) <= 0.0) & (absolute(u[1] * u[2]) > 0.0)
    second = (absolute(u[1]) <= 0.0) & (absolute(u[2] * u[0]) > 0.0)
    third = (absolute(u[2]) <= 0.0) & (absolute(u[0] * u[1]) > 0.0)
    v = chosen(first, (0.0, -z[2], z[1]), chosen(second, (z[2], 0.0, -z[0]), (-z[1], z[0], 0.0)))
    v = scaled(sign(dot(v, u)), v)
    return chosen((first | second | third) & (dot(v, v) > _NEAR), v, u)


@kernel
def _way_out(c, z, h, half):
    """The shortest way out of the box for a segment: its length, negative, the deepest point, and the way.

    All differences of points of the box and of the segment are a zonotope, whose faces lie across an axis of the box,
    or across an edge and the segment.
    """
    zero = alike(c[0], 0.0)
    best, t, n = alike(c[0], -_FAR), zero, (zero, zero, zero)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        reach = absolute(c[i]) - half[i] - h * absolute(z[i])
        side = sign(c[i])
        # The end that is deeper, or, of a segment along the face, a point that is above it.
        low_j, high_j = _span(c[j], z[j], half[j])
        low_k, high_k = _span(c[k], z[k], half[k])
        end = clamped(smaller(larger(-h * sign(z[i] * side), larger(low_j, low_k)), smaller(high_j, high_k)), h)
        more = reach > best
        best, t = select(more, reach, best), select(more, end, t)
        n = chosen(more, _on(i, side), n)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        square = z[j] * z[j] + z[k] * z[k]
        skew = square > _PARALLEL
        per = 1.0 / sqrt(select(skew, square, 1.0))
        v, w = -z[k] * per, z[j] * per
        across = v * c[j] + w * c[k]
        side = sign(across)
        v, w = side * v, side * w
        reach = absolute(across) - half[j] * absolute(v) - half[k] * absolute(w)
        # Seen along the edge, where the segment is nearest to it.
        foot = (z[j] * (sign(v) * half[j] - c[j]) + z[k] * (sign(w) * half[k] - c[k])) * per * per
        first, last = _span(c[i], z[i], half[i])
        foot = smaller(larger(foot, first), last)
        more = skew & (reach > best + _WORSE)
        best, t = select(more, reach, best), select(more, clamped(foot, h), t)
        n = chosen(more, plus(_on(j, v), _on(k, w)), n)
    return best, plus(c, scaled(t, z)), n


@kernel
def _span(c, z, half):
    """Where c + t z comes within -half to half, and where it leaves."""
    per = _inverse(z)
    middle, reach = -c * per, (half + _BESIDE) * absolute(per)
    return middle - reach, middle + reach


@kernel
def _on(i, x):
    """x times the unit vector of axis i."""
    o = alike(x, 0.0)
    return x if i == 0 else o, x if i == 1 else o, x if i == 2 else o
