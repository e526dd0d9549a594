"""How far shapes are from a height map: a pyramid of columns, branch and bound.

Each cell is a column, solid from below up to its height.  The column of a block of cells up to the greatest of their
heights holds all of theirs, so nothing in it is nearer than it is.  That up to the least is held by them, so the map is
no farther than it is: it says how deep a shape is in level ground, which cells alone, with others beside them, do not.
Eight blocks, the children of one, are measured side by side.

A pyramid is an array of packs of eight numbers.  The first begins with how many levels, rows and columns of cells there
are and with the edge of a cell [m], then for blocks of 2 x 4 and of 4 x 2 the rows and the columns of eight children.
From LEVELS on each level has a pack: the first packs of its greatest and of its least heights [m], how many packs are
in a row of these, and how many rows and columns of cells a block has.  Level 0 is the cells, whose greatest and least
heights are the same packs; on the last there is one block, all of the map.  A pack is eight neighbours, 2 x 4 of them
on even levels and 4 x 2 on odd ones, and one block of the next level.  A NaN is nothing.
"""

from poise.kernels.algebra.vectors import minus, opposite, plus, scaled
from poise.kernels.collision.boxes import point_box, segment_box
from poise.kernels.collision.cloud import CLOUD_ROOM, GAPS, NOTHING, ROUNDING, STACK, as_seen, put, searched
from poise.kernels.collision.directions import absolute, smaller
from poise.kernels.collision.gjk import COLUMN
from poise.kernels.collision.placing import out_of
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load_pack, store_pack
from poise.kernels.machine.layout import BOX, POINT, SEGMENT, WIDTH
from poise.kernels.machine.views import rows_at

LEVELS = 5
"""The pack of level 0."""
MOST_ROWS = 1 << 16
"""Fewer than so many rows and columns: then no more packs wait than there is room for."""
_COLUMNS = CLOUD_ROOM
"""Where the middles, x and y, of eight columns are in the room, half their edges, and their heights."""
HEIGHTS_ROOM = _COLUMNS + 5 * WIDTH
"""Numbers that are worked in."""


@kernel
def to_heights(shape, heights, vertices, numbers, below):
    """Distance [m] of the core of `shape`, nearest or deepest points and unit vector from it to the height map.

    `numbers` begin with the frames of both.  NOTHING where the distance of the shapes is not `below` that.
    """
    origin, axes, frame = as_seen(numbers)
    distance, column = _nearest(shape, heights, vertices, numbers, frame, below + shape.radius)
    if not distance < NOTHING:
        return distance, origin, origin, (0.0, 0.0, 1.0)
    distance, p, n = _from_core(shape, heights, vertices, numbers, frame, column)
    q = plus(p, scaled(distance, n))
    return distance, plus(origin, out_of(axes, p)), plus(origin, out_of(axes, q)), out_of(axes, n)


@kernel
def _nearest(shape, heights, vertices, numbers, frame, below):
    """The least distance of the core to columns, and that column, all seen from the pose of the height map.

    NOTHING where it is not `below` that.
    """
    tree = rows_at(heights.first_pack, heights.last_pack)
    limit = below + ROUNDING
    best, nearest, waiting = limit if limit < NOTHING else NOTHING, (0.0, 0.0, 0.0, 0.0, 0.0), 1
    begun, o = best, frame[0]
    if not o[0] * o[0] + o[1] * o[1] + o[2] * o[2] < NOTHING:  # no place
        return o[0] - o[0], nearest
    numbers[STACK], numbers[STACK + 1] = float((int(tree[0]) - 1) * MOST_ROWS * MOST_ROWS), -NOTHING
    while waiting > 0:
        waiting -= 1
        place, least = int(numbers[STACK + 2 * waiting]), numbers[STACK + 2 * waiting + 1]
        if not least < best:
            continue
        level, i, j = place // (MOST_ROWS * MOST_ROWS), place // MOST_ROWS % MOST_ROWS, place % MOST_ROWS
        pack = i * int(tree[WIDTH * (LEVELS + level) + 2]) + j
        _place_columns(tree, numbers, level, i, j)
        for bound in range(2 if level > 0 else 1):
            first_pack = int(tree[WIDTH * (LEVELS + level) + 1 - bound])
            store_pack(numbers, _COLUMNS // WIDTH + 4, load_pack(tree, first_pack + pack))
            gaps = _not_below(shape, numbers, frame)
            if not any_of(gaps < best):
                continue
            store_pack(numbers, GAPS // WIDTH, gaps)
            first = waiting
            for k in range(WIDTH):
                gap = numbers[GAPS + k]
                if not gap < best:
                    continue
                at = _COLUMNS + k
                column = (
                    numbers[at], numbers[at + WIDTH], numbers[at + 2 * WIDTH], numbers[at + 3 * WIDTH],
                    numbers[at + 4 * WIDTH],
                )  # fmt: skip
                if shape.core >= BOX:
                    gap = _from_core(shape, heights, vertices, numbers, frame, column)[0]
                if gap < best and bound:
                    a, b = (i * 2 + k // 4, j * 4 + k % 4) if level % 2 == 0 else (i * 4 + k // 2, j * 2 + k % 2)
                    child = float(((level - 1) * MOST_ROWS + a) * MOST_ROWS + b)
                    waiting = put(numbers, first, waiting, child, gap)
                elif gap < best:
                    best, nearest = gap, column
    return best if best < begun else NOTHING, nearest


@kernel
def _place_columns(tree, numbers, level, i, j):
    """Write where the eight columns of a pack are that is in row i and column j of the packs of its level."""
    rows, columns, edge = tree[1], tree[2], tree[3]
    high, wide = tree[WIDTH * (LEVELS + level) + 3] * edge, tree[WIDTH * (LEVELS + level) + 4] * edge
    odd = level % 2
    y, x = load_pack(tree, 1 + 2 * odd), load_pack(tree, 2 + 2 * odd)
    y, x = (y + float(i * (2 + 2 * odd))) * high, (x + float(j * (4 - 2 * odd))) * wide
    # A block ends where the map does.
    top, right = smaller(y + high, rows * edge), smaller(x + wide, columns * edge)
    at = _COLUMNS // WIDTH
    store_pack(numbers, at, 0.5 * (x + right) - 0.5 * columns * edge)
    store_pack(numbers, at + 1, 0.5 * (y + top) - 0.5 * rows * edge)
    store_pack(numbers, at + 2, 0.5 * (right - x)), store_pack(numbers, at + 3, 0.5 * (top - y))


@kernel
def _not_below(shape, numbers, frame):
    """What the distances of a core to eight columns are not below; of a point or a segment exactly these [m]."""
    at = _COLUMNS // WIDTH
    x, y, height = load_pack(numbers, at), load_pack(numbers, at + 1), load_pack(numbers, at + 4)
    c, half = _seen(shape, frame[0], (x, y, load_pack(numbers, at + 2), load_pack(numbers, at + 3), height))
    if shape.core == BOX:  # by the box around it that is as upright as columns are
        return point_box(c, plus(half, _extents(shape.half, frame)))[0]
    if shape.core == POINT:
        return point_box(c, half)[0]
    o = 0.0 * x
    z = o + frame[3][0], o + frame[3][1], o + frame[3][2]
    return segment_box(c, z, shape.half[2], half)[0] - (shape.girth - shape.radius)


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
def _seen(shape, o, column):
    """The place o of a shape as the middle of a column sees it, and half the column's edges.

    It reaches down so far that the way out of its lower end is never the shortest.
    """
    x, y, half_x, half_y, height = column
    deep = 2.0 * (shape.bound + absolute(o[2] - height))
    return (o[0] - x, o[1] - y, o[2] - height + deep), (half_x, half_y, deep)


@kernel
def _from_core(shape, heights, vertices, numbers, frame, column):
    """The distance of a core to a column [m], the nearest or deepest point of the core, the unit vector from there."""
    o, z = frame[0], frame[3]
    c, half = _seen(shape, o, column)
    if shape.core == POINT:
        distance, p, n = point_box(c, half)
    elif shape.core == SEGMENT:
        distance, p, n = segment_box(c, z, shape.half[2], half)
    else:
        numbers[COLUMN], numbers[COLUMN + 1], numbers[COLUMN + 2] = half
        return searched(shape, heights, vertices, numbers, frame, minus(o, c))
    return distance, plus(minus(o, c), p), opposite(n)
