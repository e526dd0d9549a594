"""The pair of a scene's shapes with the least distance: bounds first, then the distances that these leave open.

All of a shape is within its girth of its spine, and within its bounding sphere: so the distance from the spine of one
to the centre of the other bounds the distance of both from below.  From above it is bounded by balls inside the shapes.
"""

import functools

import numpy as np

from poise.kernels.algebra.vectors import dot, minus, scaled
from poise.kernels.collision.directions import ROUNDING, absolute, clamped, smaller
from poise.kernels.collision.near import (
    DISTANCE,
    FIRST,
    SECOND,
    distance_between,
    ease,
    looked_at,
    may_be_within,
    place_movers,
    spine_of,
    ways_between,
)
from poise.kernels.collision.placing import ORIGIN, Z, part
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, load_pack, packs, select, splat, sqrt, store, store_pack, zeros
from poise.kernels.machine.layout import CYLINDER, HULL, NEAR, WIDTH


@kernel
def nearest_pair(s, x):
    """x.proximity.near = the one pair with the least distance at x.q, which is returned; 1e300 where no pair may meet.

    One configuration.  The pair that is likely the nearest is measured first, so that its distance rules out most of
    the others.  Of equal ones the first in order is kept, whatever was measured first.
    """
    place_movers(s, x)
    movers, bounded = s.scene[0].movers, s.scene[0].bounded
    count, best = packs(x.proximity.centres, bounded), 1e300
    likely = _likely(s, x, count)
    if likely >= 0:
        best = _keep_nearest(s, x, likely // bounded, likely % bounded, best, True)
    for i in range(movers):
        _, outer = spine_of(s.shapes[i])
        for c in range((i + 1) // WIDTH, count):
            far = load_pack(x.proximity.reach, count * i + c) + (outer + ROUNDING + best)
            if any_of((far > 0.0) & (load_pack(x.proximity.squares, count * i + c) < far * far)):
                for j in range(max(i + 1, WIDTH * c), min(bounded, WIDTH * (c + 1))):
                    at = WIDTH * count * i + j
                    far_j = x.proximity.reach[at] + outer + ROUNDING + best
                    if far_j > 0.0 and x.proximity.squares[at] < far_j * far_j and i * bounded + j != likely:
                        last = x.proximity.near[1 + FIRST] * bounded + x.proximity.near[1 + SECOND]
                        best = _keep_nearest(s, x, i, j, best, i * bounded + j < last)
    for i in range(movers):
        for j in range(bounded, s.scene[0].count):
            if looked_at(s, i, j):
                best = _keep_nearest(s, x, i, j, best, False)
    x.proximity.near[0] = 1.0 if best < 1e300 else 0.0
    return best


@functools.partial(kernel, inline=True)
def _inner(shape):
    """The radius of a ball around any point of its spine that is part of the shape [m].

    A hull may not hold its spine, but is no farther from it than its girth: hence negative.  A cylinder's spine ends in
    the middle of a flat end: 0.
    """
    inner_radius = shape.radius + min(shape.half[0], min(shape.half[1], shape.half[2]))
    return -shape.girth if shape.core == HULL else 0.0 if shape.core == CYLINDER else inner_radius


@functools.partial(kernel, inline=True)
def _likely(s, x, count):
    """The pair whose bound is least, as first shape * bounded + second; -1: there is none.

    x.proximity.squares become the squared distances from the spines of shapes that move to the centres of bounding
    spheres [m^2], in a packed row each.  square - far |far| has the sign of the bound and needs no root.
    """
    least, at = zeros(x.proximity.centres) + 1e300, zeros(x.proximity.centres) - 1.0
    for i in range(s.scene[0].movers):
        z, (h, outer) = part(x.proximity.shape_frames, i, Z), spine_of(s.shapes[i])
        for c in range((i + 1) // WIDTH, count):
            way = ways_between(x, count, i, c)
            way = minus(way, scaled(clamped(dot(way, z), h), z))
            square, far = dot(way, way), load_pack(x.proximity.reach, count * i + c) + outer
            store_pack(x.proximity.squares, count * i + c, square)
            power = square - far * absolute(far)
            nearer = power < least
            least, at = select(nearer, power, least), select(nearer, float(count * i + c), at)
    store_pack(x.proximity.guess, 0, least), store_pack(x.proximity.guess, 1, at)
    best, found = 1e300, -1
    for k in range(WIDTH):
        if x.proximity.guess[k] < best:
            place = np.int64(x.proximity.guess[WIDTH + k])
            best, found = x.proximity.guess[k], place // count * s.scene[0].bounded + place % count * WIDTH + k
    return found


@kernel
def _keep_nearest(s, x, i, j, best, before):
    """Put shapes i and j into x.proximity.near if nearer than `best`, or as near and `before` in order; the least
    distance."""
    if not may_be_within(s, x, i, j, best + ROUNDING):
        return best
    distance = distance_between(s, x, i, j, best)
    if not (distance < best or (before and distance <= best)):
        return best
    for r in range(NEAR):
        x.proximity.near[1 + r] = x.proximity.pair[r]
    return distance


@kernel
def nearest_pairs(s, x):
    """`nearest_pair` of eight configurations, one a lane.

    The bounds of all pairs first, from those of the pairs that were nearest before; then only pairs are measured whose
    lower bound is not above the least upper bound, in any lane.
    """
    place_movers(s, x)
    least = splat(x.proximity.pair, 1e300)
    for lane in range(WIDTH):
        i, j = np.int64(x.proximity.near[1 + FIRST, lane]), np.int64(x.proximity.near[1 + SECOND, lane])
        if i < j < s.scene[0].bounded:  # they were the nearest before, and both hold their places
            _, least = _bounds(s, x, i, j, least)
    count, least = _candidates(s, x, least)
    best = splat(x.proximity.pair, 1e300)
    store(x.proximity.near, 1 + DISTANCE, best)
    for k in range(count):
        if any_of(load(x.proximity.lower, k) <= least):
            i, j = np.int64(x.proximity.candidates[k, 0]), np.int64(x.proximity.candidates[k, 1])
            best = _keep_nearer(s, x, i, j, best)
            least = smaller(least, best)
    for i in range(s.scene[0].movers):
        for j in range(s.scene[0].bounded, s.scene[0].count):
            if looked_at(s, i, j):
                best = _keep_nearer(s, x, i, j, best)
    return best


@kernel
def _candidates(s, x, least):
    """x.proximity.candidates = the pairs that may have the least distance in a lane, two numbers a row;
    x.proximity.lower = their bounds.

    How many, and an upper bound of the least distance, `least` or lower.
    """
    count = 0
    for i in range(s.scene[0].movers):
        first, p, reach = count, part(x.proximity.shape_frames, i, ORIGIN), least + s.shapes[i].bound
        for j in range(i + 1, s.scene[0].bounded):
            if looked_at(s, i, j):
                way, far = minus(part(x.proximity.shape_frames, j, ORIGIN), p), reach + s.shapes[j].bound
                x.proximity.candidates[count, 0], x.proximity.candidates[count, 1] = float(i), float(j)
                count += 1 if any_of(dot(way, way) < far * far) else 0
        for k in range(first, count):
            lower, least = _bounds(s, x, i, np.int64(x.proximity.candidates[k, 1]), least)
            store(x.proximity.lower, k, lower)
    return count, least


@functools.partial(kernel, inline=True)
def _bounds(s, x, i, j, least):
    """A lower bound of the distance of shapes i and j [m], and the less of `least` and their upper bound.

    Both by the gap between the spine of the longer one and the centre of the other.
    """
    if spine_of(s.shapes[j])[0] > spine_of(s.shapes[i])[0]:
        i, j = j, i
    (h, outer), z = spine_of(s.shapes[i]), part(x.proximity.shape_frames, i, Z)
    way = minus(part(x.proximity.shape_frames, j, ORIGIN), part(x.proximity.shape_frames, i, ORIGIN))
    way = minus(way, scaled(clamped(dot(z, way), h), z))
    gap = sqrt(dot(way, way))
    above = gap - (_inner(s.shapes[i]) + _inner(s.shapes[j]) - ROUNDING - ease(s, i, j))
    return gap - (outer + s.shapes[j].bound), smaller(least, above)


@functools.partial(kernel, inline=True)
def _keep_nearer(s, x, i, j, best):
    """Put shapes i and j into x.proximity.near in the lanes where they are nearer than `best`; the least distance."""
    distance = distance_between(s, x, i, j, best)
    nearer = distance < best
    for r in range(NEAR):
        store(x.proximity.near, 1 + r, select(nearer, load(x.proximity.pair, r), load(x.proximity.near, 1 + r)))
    return select(nearer, distance, best)
