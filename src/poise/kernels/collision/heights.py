"""How far shapes are from a height map: a pyramid of columns, branch and bound.

Each cell is a column, solid from below up to its height.  The column of a block of cells up to the greatest of their
heights holds all of theirs, so nothing in it is nearer than it is; eight blocks, the children of one, are measured side
by side.  A cell alone would let out sideways what is deep in it, into the next cell.  So the column of a cell in which
a core is grows, on the side where that would leave it, over neighbours that are solid too, as long as it is then no
less deep: what it holds the map holds, so the map is no less deep than it says.

A pyramid is an array of packs of eight numbers.  The first begins with how many levels, rows and columns of cells there
are and with the edge of a cell [m], then for blocks of 2 x 4 and of 4 x 2 the rows and the columns of eight children.
From LEVELS on each level has a pack: the first pack of its greatest heights [m], how many packs are in a row of these,
and how many rows and columns of cells a block has.  On level 0 a block is a cell; on the last there is one block, all
of the map.  A pack is eight neighbours, 2 x 4 of them on even levels and 4 x 2 on odd ones, and one block of the next
level.  A NaN is nothing.
"""

from poise.kernels.algebra.vectors import minus, opposite, plus, scaled
from poise.kernels.collision.boxes import point_box, segment_box
from poise.kernels.collision.cloud import CLOUD_ROOM, GAPS, NOTHING, ROUNDING, STACK, as_seen, put, searched
from poise.kernels.collision.directions import absolute, smaller
from poise.kernels.collision.gjk import COLUMN
from poise.kernels.collision.placing import out_of
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load_pack, select, store_pack
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
_SLANT = 1e-6
"""A way out that leads less far to a side leads up."""


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
        _place_columns(tree, numbers, level, i, j)
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
            if shape.core >= BOX or level == 0:
                exact = _from_core(shape, heights, vertices, numbers, frame, column)[0]
                gap = exact if exact > 0.0 or level == 0 else gap
            a, b = (i * 2 + k // 4, j * 4 + k % 4) if level % 2 == 0 else (i * 4 + k // 2, j * 2 + k % 2)
            if level > 0 and gap < best:
                waiting = put(numbers, first, waiting, float(((level - 1) * MOST_ROWS + a) * MOST_ROWS + b), gap)
            elif level == 0:
                # What the deepest column holds has grown with it.
                held = abs(column[0] - nearest[0]) < nearest[2] and abs(column[1] - nearest[1]) < nearest[3]
                if gap <= 0.0 and not held:
                    gap, column = _grown(shape, heights, vertices, numbers, frame, (a, b))
                if gap < best:
                    best, nearest = gap, column
    return best if best < begun else NOTHING, nearest


@kernel
def _grown(shape, heights, vertices, numbers, frame, cell):
    """The distance of the core to the column of a cell in which it is, grown over its neighbours, and that column."""
    tree = rows_at(heights.first_pack, heights.last_pack)
    block = cell[0], cell[0], cell[1], cell[1]
    height = _lowest(tree, block)
    column = _column(tree, block, height)
    distance, _, n = _from_core(shape, heights, vertices, numbers, frame, column)
    while abs(n[0]) > _SLANT or abs(n[1]) > _SLANT:
        block, beside = _grown_against(block, n)
        top = _lowest(tree, beside)
        if not top > -NOTHING:
            break
        height = top if top < height else height
        wider = _column(tree, block, height)
        deeper, _, n = _from_core(shape, heights, vertices, numbers, frame, wider)
        if not deeper <= distance:
            break
        distance, column = deeper, wider
    return distance, column


@kernel
def _grown_against(block, n):
    """The block with the row or column of cells beside it that lies most against n, and those cells alone."""
    a, b, c, d = block
    if abs(n[0]) > abs(n[1]):
        if n[0] > 0.0:
            return (a, b, c - 1, d), (a, b, c - 1, c - 1)
        return (a, b, c, d + 1), (a, b, d + 1, d + 1)
    if n[1] > 0.0:
        return (a - 1, b, c, d), (a - 1, a - 1, c, d)
    return (a, b + 1, c, d), (b + 1, b + 1, c, d)


@kernel
def _lowest(tree, block):
    """The least height of a block of cells, from and to a row, from and to a column; -NOTHING where one is a hole."""
    a, b, c, d = block
    if a < 0 or c < 0 or not (b < tree[1] and d < tree[2]):
        return -NOTHING
    packs, across = int(tree[WIDTH * LEVELS]), int(tree[WIDTH * LEVELS + 1])
    least = NOTHING
    for i in range(a, b + 1):
        for j in range(c, d + 1):
            height = tree[WIDTH * (packs + i // 2 * across + j // 4) + i % 2 * 4 + j % 4]
            if height != height:
                return -NOTHING
            least = height if height < least else least
    return least


@kernel
def _column(tree, block, height):
    """The column of a block of cells: the middle, x and y, half the edges, and the height."""
    a, b, c, d = block
    edge = tree[3]
    return (
        0.5 * (c + d + 1 - tree[2]) * edge,
        0.5 * (a + b + 1 - tree[1]) * edge,
        0.5 * (d + 1 - c) * edge,
        0.5 * (b + 1 - a) * edge,
        height,
    )


@kernel
def _place_columns(tree, numbers, level, i, j):
    """Write where the eight columns of a pack are that is in row i and column j of the packs of its level."""
    rows, columns, edge = tree[1], tree[2], tree[3]
    packs, across = int(tree[WIDTH * (LEVELS + level)]), int(tree[WIDTH * (LEVELS + level) + 1])
    high, wide = tree[WIDTH * (LEVELS + level) + 2] * edge, tree[WIDTH * (LEVELS + level) + 3] * edge
    odd = level % 2
    y, x = load_pack(tree, 1 + 2 * odd), load_pack(tree, 2 + 2 * odd)
    y, x = (y + float(i * (2 + 2 * odd))) * high, (x + float(j * (4 - 2 * odd))) * wide
    # A block ends where the map does.
    top, right = smaller(y + high, rows * edge), smaller(x + wide, columns * edge)
    at = _COLUMNS // WIDTH
    store_pack(numbers, at, 0.5 * (x + right) - 0.5 * columns * edge)
    store_pack(numbers, at + 1, 0.5 * (y + top) - 0.5 * rows * edge)
    store_pack(numbers, at + 2, 0.5 * (right - x)), store_pack(numbers, at + 3, 0.5 * (top - y))
    store_pack(numbers, at + 4, load_pack(tree, packs + i * across + j))


@kernel
def _not_below(shape, numbers, frame):
    """What the distances of a core to what cells of eight columns grow to are not below [m].

    Of a point or a segment outside of a column it is exact; a core that may be in one is no deeper than from its lowest
    point up to the height.
    """
    at = _COLUMNS // WIDTH
    x, y, height = load_pack(numbers, at), load_pack(numbers, at + 1), load_pack(numbers, at + 4)
    c, half = _seen(shape, frame[0], (x, y, load_pack(numbers, at + 2), load_pack(numbers, at + 3), height))
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
