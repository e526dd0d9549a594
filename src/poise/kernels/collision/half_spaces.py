"""Distances to a half-space, all that is below the plane through o across the unit vector z.

Each kernel gives the distance [m], negative below the plane, the deepest point of the core, its foot on the plane and
the unit vector from the core to the half-space.
"""

import functools

import numpy as np

from poise.kernels.algebra.vectors import dot, minus, opposite, plus, scaled
from poise.kernels.collision.cylinders import farthest_of_cylinder
from poise.kernels.collision.directions import TOUCH, absolute, alike
from poise.kernels.collision.placing import ORIGIN, X, Y, Z, along_axes, combined, part
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import select
from poise.kernels.machine.layout import BOX, CYLINDER, HULL, SEGMENT, WIDTH


@functools.partial(kernel, inline=True)
def to_half_space(shape, vertices, frames, a, b):
    """From the core of `shape`, at frame a, to the half-space at frame b."""
    p, z = part(frames, a, ORIGIN), part(frames, b, Z)
    if shape.core == SEGMENT:
        axis = part(frames, a, Z)
        p = plus(p, scaled(_lowest(dot(axis, z), shape.half[2]), axis))
    elif shape.core == BOX:
        half = shape.half
        i = _lowest(dot(part(frames, a, X), z), half[0])
        j = _lowest(dot(part(frames, a, Y), z), half[1])
        k = _lowest(dot(part(frames, a, Z), z), half[2])
        p = plus(p, combined(frames, a, i, j, k))
    elif shape.core == CYLINDER:
        i, j, k = farthest_of_cylinder(opposite(along_axes(frames, a, z)), shape.half)
        p = plus(p, combined(frames, a, i, j, k))
    elif shape.core == HULL:
        i, j, k = farthest(shape, vertices, opposite(along_axes(frames, a, z)))
        p = plus(p, combined(frames, a, i, j, k))
    distance = dot(z, minus(p, part(frames, b, ORIGIN)))
    return distance, p, minus(p, scaled(distance, z)), opposite(z)


@kernel
def _lowest(slope, half):
    """Where from -half to half an edge that rises so is lowest; its middle where it is level."""
    return select(absolute(slope) < TOUCH, 0.0, select(slope < 0.0, half, -half))


@kernel
def farthest(shape, vertices, v):
    """The vertex of a hull that lies farthest along v, both seen from its pose."""
    x = y = z = most = alike(v[0], -np.inf)
    for pack in range(3 * shape.first_pack, 3 * shape.last_pack, 3):
        for at in range(WIDTH * pack, WIDTH * pack + WIDTH):
            a, b, c = vertices[at], vertices[at + WIDTH], vertices[at + 2 * WIDTH]
            along = a * v[0] + b * v[1] + c * v[2]
            more = along > most
            most, x, y, z = select(more, along, most), select(more, a, x), select(more, b, y), select(more, c, z)
    return x, y, z
