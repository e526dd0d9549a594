"""Distances of shapes to a height map: a pyramid of columns, branch and bound.

Each cell is a column, solid from below up to its height.  The column of a block of cells up to the greatest of their
heights holds all of theirs, so nothing in it is nearer than it is; eight blocks, the children of one, are measured side
by side.  What is in a column is measured by the way out of all of them, see `out_of_heights`.
"""

from poise.kernels.algebra.vectors import minus, opposite, plus, scaled, vector
from poise.kernels.collision.boxes import point_box, segment_box
from poise.kernels.collision.cloud import GAPS, STACK, as_seen, put, write_frames
from poise.kernels.collision.columns import (
    COLUMNS,
    child,
    column_at,
    pack_at,
    place_columns,
    place_of,
    see_from,
    seen_by,
)
from poise.kernels.collision.directions import NOTHING, ROUNDING, TOUCH
from poise.kernels.collision.gjk import SECOND
from poise.kernels.collision.leaving import way_along
from poise.kernels.collision.one_by_one import NEARLY, nearest_cores
from poise.kernels.collision.out_of_heights import UP, way_out
from poise.kernels.collision.placing import ORIGIN, out_of
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load_pack, select, store_pack
from poise.kernels.machine.layout import BOX, POINT, SEGMENT, WIDTH
from poise.kernels.machine.views import rows_at


@kernel
def to_heights(shape, heights, vertices, numbers, below):
    """Distance [m] of the core of `shape`, nearest or deepest points and unit vector from it to the height map.

    `numbers` begin with the frames of both.  NOTHING where the distance of the shapes is not `below` that.
    """
    origin, axes, frame = as_seen(numbers)
    write_frames(numbers, frame)
    limit = below + shape.radius + ROUNDING
    distance, column = _nearest(shape, heights, vertices, numbers, frame, limit)
    if distance <= 0.0:
        depth, p, way = way_out(shape, heights, vertices, numbers, frame, -limit)
        distance, n = -depth if -depth < limit else NOTHING, opposite(way)
    elif distance < NOTHING:
        distance, p, n = _separation(shape, heights, vertices, numbers, frame, column)
    if not distance < NOTHING:
        return distance, origin, origin, (0.0, 0.0, 1.0)
    q = plus(p, scaled(distance, n))
    return distance, plus(origin, out_of(axes, p)), plus(origin, out_of(axes, q)), out_of(axes, n)


@kernel
def _nearest(shape, heights, vertices, numbers, frame, limit):
    """The least distance of the core to columns, and that column, all seen from the pose of the height map.

    0 where it is in one or touches it, NOTHING where it is not below the limit.
    """
    tree = rows_at(heights.first_pack, heights.last_pack)
    best, nearest, waiting = limit if limit < NOTHING else NOTHING, (0.0, 0.0, 0.0, 0.0, 0.0), 1
    begun, o = best, frame[0]
    if not o[0] * o[0] + o[1] * o[1] + o[2] * o[2] < NOTHING:  # no place
        return o[0] - o[0], nearest
    numbers[STACK], numbers[STACK + 1] = place_of(int(tree[0]) - 1, 0, 0), -NOTHING
    while waiting > 0:
        waiting -= 1
        place, least = int(numbers[STACK + 2 * waiting]), numbers[STACK + 2 * waiting + 1]
        if not least < best:
            continue
        level, i, j = pack_at(place)
        place_columns(tree, numbers, level, i, j)
        gaps = _not_below(shape, numbers, frame)
        if not any_of(gaps < best):
            continue
        store_pack(numbers, GAPS // WIDTH, gaps)
        first = waiting
        for k in range(WIDTH):
            gap = numbers[GAPS + k]
            if not gap < best:
                continue
            column = column_at(numbers, k)
            if shape.core >= BOX or level == 0:  # a search only for what the bound leaves open
                exact = _separation(shape, heights, vertices, numbers, frame, column)[0]
                if level == 0 and not exact > TOUCH:
                    return 0.0, column
                gap = exact if exact > 0.0 else gap
            if gap < best and level > 0:
                a, b = child(level, i, j, k)
                waiting = put(numbers, first, waiting, place_of(level - 1, a, b), gap)
            elif gap < best:
                best, nearest = gap, column
    return best if best < begun else NOTHING, nearest


@kernel
def _not_below(shape, numbers, frame):
    """Lower bounds of the signed distances of a core to the cells in eight columns [m].

    Of a point or a segment outside of a column it is the distance; a core that may be in one is no deeper than from its
    lowest point up to the height.
    """
    at = COLUMNS // WIDTH
    x, y, height = load_pack(numbers, at), load_pack(numbers, at + 1), load_pack(numbers, at + 4)
    c, half = seen_by(shape, frame[0], (x, y, load_pack(numbers, at + 2), load_pack(numbers, at + 3), height))
    if shape.core == BOX:  # by the box around it that is as upright as columns are
        extents = _extents(shape.half, frame)
        gap, reach = point_box(c, plus(half, extents))[0], extents[2]
    elif shape.core == POINT:
        gap, reach = point_box(c, half)[0], 0.0
    else:
        o, round_about = 0.0 * x, shape.girth - shape.radius
        z = o + frame[3][0], o + frame[3][1], o + frame[3][2]
        gap = segment_box(c, z, shape.half[2], half)[0] - round_about
        reach = shape.half[2] * abs(frame[3][2]) + round_about
    return select(gap > 0.0, gap, frame[0][2] - reach - height)


@kernel
def _extents(half, frame):
    """How far a box reaches along x, y and z from its place [m]."""
    _, x, y, z = frame
    return (
        half[0] * abs(x[0]) + half[1] * abs(y[0]) + half[2] * abs(z[0]),
        half[0] * abs(x[1]) + half[1] * abs(y[1]) + half[2] * abs(z[1]),
        half[0] * abs(x[2]) + half[1] * abs(y[2]) + half[2] * abs(z[2]),
    )


@kernel
def _separation(shape, heights, vertices, numbers, frame, column):
    """The distance of a core to a column [m], the nearest point of the core, the unit vector from there.

    The distance is 0 where the core is in the column.
    """
    c, half = seen_by(shape, frame[0], column)
    if shape.core == POINT:
        distance, p, n = point_box(c, half)
    elif shape.core == SEGMENT:
        distance, p, n = segment_box(c, frame[3], shape.half[2], half)
    else:
        see_from(shape, numbers, frame, column)
        distance, _, p, n = nearest_cores(heights, shape, vertices, numbers, vector(numbers, SECOND + ORIGIN), NOTHING)
        if distance <= NEARLY and way_along(heights, shape, vertices, numbers, UP)[0] > 0.0:
            distance = 0.0
    return max(distance, 0.0), plus(minus(frame[0], c), p), opposite(n)
