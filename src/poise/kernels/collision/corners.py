"""Where two shapes would be nearest if one were tilted a little: corners of faces and edges that are all but parallel.

Two shapes have one nearest point each.  Where one lies flat along the other it leaps from corner to corner at a touch,
and who keeps that point alone away tilts to and fro.  Each corner is a part of its shape, so its own distance, with its
own normal, says nothing that is not so.
"""

import numpy as np

from poise.kernels.algebra.vectors import cross, dot, minus, plus, scaled, vector
from poise.kernels.collision.gjk import FIRST as BUFFER
from poise.kernels.collision.gjk import support
from poise.kernels.collision.near import DISTANCE, FIRST, NORMAL, POINTS, SECOND, distance_between, ease
from poise.kernels.collision.placing import X, Z, part
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import CYLINDER, FRAME, HALF_SPACE, HEIGHTS, POINT, SEGMENT
from poise.kernels.machine.views import flat

CORNERS = 4
"""Corners of a shape that are looked for: four tilts find all of a rectangle, whose normal cones are a quarter turn
wide."""
_TILT = 0.1
"""The slope up to which faces and edges count as parallel [rad]; more than joints turn a shape by in a step."""
_COSINE, _SINE = 0.9800665778412416, 0.19866933079506122
"""Of 0.2 rad, by which tilts are turned from a shape's own axes: along an edge there is no farthest corner.  Segments
and lying cylinders are tilted along their axis alone, for across it no other point comes nearer."""
_ALONG = 0.7
"""The cosine from which an axis is too near to the normal to tell a direction across it."""
_ALIKE = 1e-12
"""The square of how near points are that are one [m^2]."""


@kernel
def has_corners(shape):
    """Whether a shape has edges or faces that can lie along others, and may be one of a body."""
    return shape.core != POINT and shape.core != HALF_SPACE and shape.core < HEIGHTS


@kernel
def place_corner(s, x, k, n, number):
    """Put the scene's spare point at the support point of shape k along n, tilted by _TILT in way `number` of CORNERS.

    Whether the shape has that way.
    """
    numbers, frames, shape = flat(x.room), x.proximity.shape_frames, s.shapes[k]
    axis = part(frames, k, Z)
    lying = abs(dot(axis, n)) < _ALONG
    if shape.core == SEGMENT or (shape.core == CYLINDER and lying):
        if not lying or number % 2 == 1:
            return False
        a, b = 1.0, 0.0
    else:
        a, b = (_COSINE, _SINE) if number % 2 == 0 else (-_SINE, _COSINE)
    for i in range(FRAME):
        numbers[BUFFER + i] = frames[FRAME * k + i]
    if not lying:
        axis = part(frames, k, X)
    t = minus(axis, scaled(dot(axis, n), n))
    t = scaled(1.0 / sqrt(dot(t, t)), t)
    u, tilt = cross(n, t), -_TILT if number >= 2 else _TILT
    point = support(shape, s.vertices, numbers, BUFFER, plus(n, plus(scaled(tilt * a, t), scaled(tilt * b, u))))
    for i in range(3):
        frames[FRAME * s.scene[0].count + i] = point[i]
    return True


@kernel
def corner_is_near(s, x, pair, turned, number):
    """Measure corner `number` of the first shape of a pair (NEAR rows), with `turned` of the second, into
    x.proximity.pair.

    Whether there is one, other than the pair's own point, and so near to the other shape that it could lie along it.
    """
    k, other, sign = np.int64(pair[FIRST]), np.int64(pair[SECOND]), 1.0
    if turned:
        k, other, sign = other, k, -1.0
    shape, probe = s.shapes[k], s.scene[0].count
    own = vector(pair, POINTS + 3) if turned else vector(pair, POINTS)
    n = scaled(sign, vector(pair, NORMAL))
    if not place_corner(s, x, k, n, number):
        return False
    corner = vector(x.proximity.shape_frames, FRAME * probe)
    within = minus(own, plus(corner, scaled(shape.radius, n)))
    if dot(within, within) < _ALIKE:
        return False
    below = pair[DISTANCE] + 2.0 * _TILT * shape.bound
    aside = minus(vector(x.proximity.shape_frames, FRAME * other), corner)
    reach = s.shapes[other].bound + shape.radius + below
    if reach < 1e300 and dot(aside, aside) > reach * reach:
        return False
    from_core = distance_between(s, x, probe, other, below + shape.radius)
    distance = from_core + ease(s, k, other) - shape.radius
    if not distance < below:
        return False
    m = vector(x.proximity.pair, NORMAL)
    if not from_core > 0.0:  # the way out is that of the shape, not of its corner
        distance, m = pair[DISTANCE] + dot(n, within), n
    x.proximity.pair[FIRST], x.proximity.pair[SECOND], x.proximity.pair[DISTANCE] = float(k), float(other), distance
    for i in range(3):
        x.proximity.pair[POINTS + i] = corner[i] + shape.radius * m[i]
        x.proximity.pair[NORMAL + i] = m[i]
    return True
