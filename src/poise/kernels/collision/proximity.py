"""Signed distance, nearest points and normal of two shapes of any kinds."""

import functools

from poise.kernels.algebra.vectors import minus, opposite, plus, scaled
from poise.kernels.collision.boxes import point_box, segment_box
from poise.kernels.collision.cloud import to_cloud
from poise.kernels.collision.columns import HEIGHTS_BUFFER
from poise.kernels.collision.cylinders import point_cylinder, segment_cylinder
from poise.kernels.collision.directions import TOUCH, chosen
from poise.kernels.collision.gjk import FIRST, SECOND
from poise.kernels.collision.half_spaces import to_half_space
from poise.kernels.collision.heights import to_heights
from poise.kernels.collision.one_by_one import BOX_BUFFER, HULL_BUFFER, polytopes
from poise.kernels.collision.placing import ORIGIN, Z, along_axes, combined, part
from poise.kernels.collision.segments import point_point, point_segment, segment_segment
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, packs, select, store
from poise.kernels.machine.layout import (
    BOX,
    CLOUD,
    CYLINDER,
    FRAME,
    HALF_SPACE,
    HEIGHTS,
    POINT,
    PROXIMITY,
    SEGMENT,
    WIDTH,
)
from poise.kernels.machine.views import flat, section

__all__ = ["BOX_BUFFER", "HEIGHTS_BUFFER", "HULL_BUFFER", "signed_distance"]


@functools.partial(kernel, inline=True)
def signed_distance(shapes, a, b, vertices, frames, buffer, out):
    """PROXIMITY rows of `out`: distance [m], points and normal of shapes a and b.

    `frames` are the shapes' in the world, rows FRAME * shape, as of `place_shapes`.  `buffer` has HULL_BUFFER rows
    where a hull meets anything but a half-space, HEIGHTS_BUFFER where one is a cloud or a height map, BOX_BUFFER where
    boxes meet, else none.  Not both may be half-spaces, clouds or height maps.  Row 0 of `out` is on entry the bound
    below which the distance is asked for: else it may be a large number, and the rest nothing.  NaN where a frame is
    NaN.
    """
    # The second is a half-space, or the one with the higher core.
    swapped = shapes[a].core == HALF_SPACE or (shapes[b].core != HALF_SPACE and shapes[a].core > shapes[b].core)
    if swapped:
        a, b = b, a
    first, second = shapes[a], shapes[b]
    if second.core == HALF_SPACE:
        distance, p, q, n = to_half_space(first, vertices, frames, a, b)
    elif second.core == POINT:
        distance, p, q, n = point_point(part(frames, a, ORIGIN), part(frames, b, ORIGIN))
    elif second.core == SEGMENT and first.core == POINT:
        distance, p, q, n = point_segment(
            part(frames, a, ORIGIN), part(frames, b, ORIGIN), part(frames, b, Z), second.half[2]
        )
    elif second.core == SEGMENT:
        distance, p, q, n = segment_segment(
            part(frames, a, ORIGIN), part(frames, a, Z), first.half[2],
            part(frames, b, ORIGIN), part(frames, b, Z), second.half[2],
        )  # fmt: skip
    elif second.core == BOX and first.core != BOX:
        distance, p, q, n = _to_box(first, second, frames, a, b)
    elif second.core == CYLINDER and (first.core == POINT or first.core == SEGMENT):
        distance, p, q, n = _to_cylinder(first, second, vertices, frames, a, b, buffer, out)
    else:
        distance, p, q, n = _one_by_one(first, second, vertices, frames, a, b, buffer, out)
    distance = distance - (first.radius + second.radius)
    p, q = plus(p, scaled(first.radius, n)), minus(q, scaled(second.radius, n))
    if swapped:
        p, q, n = q, p, opposite(n)
    store(out, 0, distance)
    for i in range(3):
        store(out, 1 + i, p[i]), store(out, 4 + i, q[i]), store(out, 7 + i, n[i])


@functools.partial(kernel, inline=True)
def _to_box(first, second, frames, a, b):
    """From a point or a segment, at frame a, to a box, at frame b."""
    c = along_axes(frames, b, minus(part(frames, a, ORIGIN), part(frames, b, ORIGIN)))
    if first.core == POINT:
        distance, p, n = point_box(c, second.half)
    else:
        distance, p, n = segment_box(c, along_axes(frames, b, part(frames, a, Z)), first.half[2], second.half)
    n = combined(frames, b, -n[0], -n[1], -n[2])
    p = plus(part(frames, b, ORIGIN), combined(frames, b, p[0], p[1], p[2]))
    return distance, p, plus(p, scaled(distance, n)), n


@functools.partial(kernel, inline=True)
def _to_cylinder(first, second, vertices, frames, a, b, buffer, out):
    """From a point or a segment, at frame a, to a cylinder, at frame b."""
    c = along_axes(frames, b, minus(part(frames, a, ORIGIN), part(frames, b, ORIGIN)))
    if first.core == POINT:
        distance, p, n = point_cylinder(c, second.half)
    else:
        distance, p, n = segment_cylinder(c, along_axes(frames, b, part(frames, a, Z)), first.half[2], second.half)
    n = combined(frames, b, -n[0], -n[1], -n[2])
    p = plus(part(frames, b, ORIGIN), combined(frames, b, p[0], p[1], p[2]))
    q = plus(p, scaled(distance, n))
    if first.core == SEGMENT:
        within = distance < TOUCH
        if any_of(within):
            depth, deepest, other, way = _one_by_one(first, second, vertices, frames, a, b, buffer, out)
            distance, n = select(within, depth, distance), chosen(within, way, n)
            p, q = chosen(within, deepest, p), chosen(within, other, q)
    return distance, p, q, n


@kernel
def _one_by_one(first, second, vertices, frames, a, b, buffer, out):
    """Distance, points and normal by a search, of two polytopes or to a cloud or a height map: each lane by itself."""
    lanes = packs(frames, WIDTH)
    numbers, poses, found = flat(buffer), flat(section(frames, 0, len(frames))), flat(section(out, 0, PROXIMITY))
    for lane in range(lanes):
        for i in range(FRAME):
            numbers[FIRST + i] = poses[(FRAME * a + i) * lanes + lane]
            numbers[SECOND + i] = poses[(FRAME * b + i) * lanes + lane]
        if second.core == CLOUD:
            distance, p, q, n = to_cloud(first, second, vertices, numbers, found[lane])
        elif second.core == HEIGHTS:
            distance, p, q, n = to_heights(first, second, vertices, numbers, found[lane])
        else:
            below = found[lane] + (first.radius + second.radius)
            distance, p, q, n = polytopes(first, second, vertices, numbers, below)
        found[lane] = distance
        for i in range(3):
            found[(1 + i) * lanes + lane] = p[i]
            found[(4 + i) * lanes + lane] = q[i]
            found[(7 + i) * lanes + lane] = n[i]
    return (
        load(out, 0),
        (load(out, 1), load(out, 2), load(out, 3)),
        (load(out, 4), load(out, 5), load(out, 6)),
        (load(out, 7), load(out, 8), load(out, 9)),
    )
