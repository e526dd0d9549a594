"""Distances of shapes to a cloud of points: a tree of balls, branch and bound.

The signed distance of a shape to a point changes by no more than the point moves.  So no point in a ball is nearer than
the ball's centre is, less the ball's radius.  Eight balls, the children of one, are measured side by side.

A tree is an array: first how many packs have children and how many points there are, from HEAD on the number of the
first child of each of these packs, and from the next whole pack on the packs, root first, each eight x, eight y, eight
z and eight radii [m].  Child k of a pack is what its ball k is around; NaN fills up.  Packs without children come last
and hold the points themselves, without radii, of which the last fills up; what is a NaN there is no point.
"""

import functools

from poise.kernels.algebra.vectors import dot, minus, opposite, plus, scaled, vector
from poise.kernels.collision.boxes import point_box
from poise.kernels.collision.cylinders import point_cylinder
from poise.kernels.collision.directions import NOTHING, ROUNDING, clamped
from poise.kernels.collision.epa import EPA_BUFFER
from poise.kernels.collision.gjk import FIRST, SECOND
from poise.kernels.collision.one_by_one import polytopes
from poise.kernels.collision.placing import ORIGIN, X, Y, Z, out_of, seen_along
from poise.kernels.collision.segments import point_point, point_segment
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load_pack, sqrt, store_pack
from poise.kernels.machine.layout import BOX, CYLINDER, FRAME, HULL, POINT, SEGMENT, WIDTH
from poise.kernels.machine.views import rows_at

HEAD = WIDTH
"""Numbers before those of the first children."""
BALLS, POINTS = 4 * WIDTH, 3 * WIDTH
"""Numbers of a pack of balls, and of one of points."""
GAPS = -(-EPA_BUFFER // WIDTH) * WIDTH
"""Where the distances of eight balls are in the room."""
STACK = GAPS + WIDTH
_MOST = 80
"""Where the packs are that wait, each with the distance that its points are not below, and how many there can be: seven
for each level but one, and levels grow with the logarithm of the points."""
CLOUD_BUFFER = STACK + 2 * _MOST
"""Numbers that are worked in."""


@kernel
def to_cloud(shape, cloud, vertices, numbers, below):
    """Distance [m] of the core of `shape`, nearest or deepest points and unit vector from it to a point of the cloud.

    `numbers` begin with the frames of both.  NOTHING where the distance of the shapes is not `below` that.
    """
    origin, axes, frame = as_seen(numbers)
    distance, point = _nearest(shape, cloud, vertices, numbers, frame, below + shape.radius + cloud.radius)
    if not distance < NOTHING:
        return distance, origin, origin, (0.0, 0.0, 1.0)
    distance, p, n = from_core(shape, cloud, vertices, numbers, frame, point)
    return distance, plus(origin, out_of(axes, p)), plus(origin, out_of(axes, point)), out_of(axes, n)


@kernel
def as_seen(numbers):
    """The place and the axes of the second frame, and place and axes of the first as that one sees them."""
    origin = vector(numbers, SECOND + ORIGIN)
    axes = vector(numbers, SECOND + X), vector(numbers, SECOND + Y), vector(numbers, SECOND + Z)
    o = seen_along(axes, minus(vector(numbers, FIRST + ORIGIN), origin))
    x, y, z = (
        seen_along(axes, vector(numbers, FIRST + X)),
        seen_along(axes, vector(numbers, FIRST + Y)),
        seen_along(axes, vector(numbers, FIRST + Z)),
    )
    return origin, axes, (o, x, y, z)


@kernel
def _nearest(shape, cloud, vertices, numbers, frame, below):
    """The least distance of the core to points of the cloud, and that point, all seen from the cloud's pose.

    NOTHING where it is not `below` that.
    """
    tree = rows_at(cloud.first_pack, cloud.last_pack)
    inner = int(tree[0])
    packs = 1 + (inner + WIDTH - 1) // WIDTH
    limit = below + ROUNDING
    best, nearest, waiting = limit if limit < NOTHING else NOTHING, frame[0], 1
    begun = best
    if not dot(frame[0], frame[0]) < NOTHING:  # no place
        return frame[0][0] - frame[0][0], nearest
    # Depth first, the nearest child first: so `best` falls soon, and most packs that wait are dropped unseen.
    numbers[STACK], numbers[STACK + 1] = 0.0, -NOTHING
    while waiting > 0:
        waiting -= 1
        pack, least = int(numbers[STACK + 2 * waiting]), numbers[STACK + 2 * waiting + 1]
        if not least < best:
            continue
        at = packs + 4 * pack - max(pack - inner, 0)
        gaps = not_below(shape, frame, (load_pack(tree, at), load_pack(tree, at + 1), load_pack(tree, at + 2)))
        if pack < inner:
            gaps = gaps - load_pack(tree, at + 3)
        if not any_of(gaps < best):
            continue
        store_pack(numbers, GAPS // WIDTH, gaps)
        first = waiting
        for k in range(WIDTH):
            gap = numbers[GAPS + k]
            if not gap < best:
                continue
            place = WIDTH * at + k
            point = tree[place], tree[place + WIDTH], tree[place + 2 * WIDTH]
            if shape.core == HULL:  # its bound was that of its spine: a search only for what that leaves open
                gap = from_core(shape, cloud, vertices, numbers, frame, point)[0]
                gap = gap - tree[place + 3 * WIDTH] if pack < inner else gap
            if gap < best and pack < inner:
                waiting = put(numbers, first, waiting, tree[HEAD + pack] + k, gap)
            elif gap < best:
                best, nearest = gap, point
    return best if best < begun else NOTHING, nearest


@kernel
def put(numbers, first, waiting, pack, gap):
    """Push a pack on the stack, sorted into the entries from `first` on so that the nearest is last; its new size."""
    at = waiting
    while at > first and numbers[STACK + 2 * at - 1] < gap:
        numbers[STACK + 2 * at], numbers[STACK + 2 * at + 1] = (
            numbers[STACK + 2 * at - 2],
            numbers[STACK + 2 * at - 1],
        )
        at -= 1
    numbers[STACK + 2 * at], numbers[STACK + 2 * at + 1] = pack, gap
    return waiting + 1


@functools.partial(kernel, inline=True)
def not_below(shape, frame, points):
    """Lower bounds of the distances of a core to eight points [m]; the distances themselves unless it is a hull."""
    o, x, y, z = frame
    way = minus(points, o)
    if shape.core == BOX:
        return point_box((dot(x, way), dot(y, way), dot(z, way)), shape.half)[0]
    if shape.core == CYLINDER:
        return point_cylinder((dot(x, way), dot(y, way), dot(z, way)), shape.half)[0]
    if shape.core != POINT:
        way = minus(way, scaled(clamped(dot(z, way), shape.half[2]), z))
    return sqrt(dot(way, way)) - (shape.girth - shape.radius)


@kernel
def from_core(shape, cloud, vertices, numbers, frame, point):
    """The distance of a core to a point [m], the nearest or deepest point of the core, the unit vector from there."""
    o, x, y, z = frame
    if shape.core == BOX or shape.core == CYLINDER:
        way = minus(point, o)
        seen = dot(x, way), dot(y, way), dot(z, way)
        distance, _, n = point_box(seen, shape.half) if shape.core == BOX else point_cylinder(seen, shape.half)
        n = plus(plus(scaled(n[0], x), scaled(n[1], y)), scaled(n[2], z))
        return distance, minus(point, scaled(distance, n)), n
    if shape.core == POINT:
        distance, p, _, n = point_point(o, point)
        return distance, p, n
    if shape.core == SEGMENT:
        distance, _, p, n = point_segment(point, o, z, shape.half[2])
        return distance, p, opposite(n)
    return searched(shape, cloud, vertices, numbers, frame, point)


@kernel
def searched(shape, cloud, vertices, numbers, frame, point):
    """`from_core` by a search, of a hull."""
    write_frames(numbers, frame)
    for i in range(3):
        numbers[FIRST + ORIGIN + i] = point[i]
    distance, _, p, n = polytopes(cloud, shape, vertices, numbers, NOTHING)
    return distance, p, opposite(n)


@kernel
def write_frames(numbers, frame):
    """Write the frames of a search: the first's is the identity at the origin, the second's is `frame`."""
    o, x, y, z = frame
    for i in range(FRAME):
        numbers[FIRST + i] = 0.0
    numbers[FIRST + X], numbers[FIRST + Y + 1], numbers[FIRST + Z + 2] = 1.0, 1.0, 1.0
    for i in range(3):
        numbers[SECOND + ORIGIN + i], numbers[SECOND + Z + i] = o[i], z[i]
        numbers[SECOND + X + i], numbers[SECOND + Y + i] = x[i], y[i]
