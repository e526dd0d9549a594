"""The columns of a height map: cells and blocks of these, solid from below up to a height, in a pyramid.

A pyramid is an array of packs of eight numbers.  The first begins with how many levels, rows and columns of cells there
are and with the edge of a cell [m], then for blocks of 2 x 4 and of 4 x 2 the rows and the columns of eight children.
From LEVELS on each level has a pack: the first pack of its greatest heights [m], how many packs are in a row of these,
and how many rows and columns of cells a block has.  On level 0 a block is a cell; on the last there is one block, all
of the map.  A pack is eight neighbours, 2 x 4 of them on even levels and 4 x 2 on odd ones, and one block of the next
level.  A NaN is nothing.
"""

from poise.kernels.algebra.vectors import minus
from poise.kernels.collision.cloud import CLOUD_BUFFER
from poise.kernels.collision.directions import absolute, smaller
from poise.kernels.collision.gjk import COLUMN, SECOND
from poise.kernels.collision.placing import ORIGIN
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, store_pack
from poise.kernels.machine.layout import WIDTH

LEVELS = 5
"""The pack of level 0."""
MOST_ROWS = 1 << 16
"""Fewer than so many rows and columns: then no more packs wait than there is room for."""
COLUMNS = CLOUD_BUFFER
"""Where the middles, x and y, of eight columns are in the room, half their edges, and their heights."""
HEIGHTS_BUFFER = COLUMNS + 5 * WIDTH
"""Numbers that are worked in."""
NO_HEIGHT = -1e300
"""The height of a cell in which nothing is."""


@kernel
def place_of(level, i, j):
    """The number of a pack, by its level, row and column."""
    return float((level * MOST_ROWS + i) * MOST_ROWS + j)


@kernel
def pack_at(place):
    """Level, row and column of a pack."""
    return place // (MOST_ROWS * MOST_ROWS), place // MOST_ROWS % MOST_ROWS, place % MOST_ROWS


@kernel
def child(level, i, j, k):
    """The row and the column of block k of a pack, and so of the pack below that has its children."""
    return (i * 2 + k // 4, j * 4 + k % 4) if level % 2 == 0 else (i * 4 + k // 2, j * 2 + k % 2)


@kernel
def place_columns(tree, numbers, level, i, j):
    """Write where the eight columns of a pack are that is in row i and column j of the packs of its level."""
    rows, columns, edge = tree[1], tree[2], tree[3]
    packs, across = int(tree[WIDTH * (LEVELS + level)]), int(tree[WIDTH * (LEVELS + level) + 1])
    high, wide = tree[WIDTH * (LEVELS + level) + 2] * edge, tree[WIDTH * (LEVELS + level) + 3] * edge
    odd = level % 2
    y, x = load_pack(tree, 1 + 2 * odd), load_pack(tree, 2 + 2 * odd)
    y, x = (y + float(i * (2 + 2 * odd))) * high, (x + float(j * (4 - 2 * odd))) * wide
    # A block ends where the map does.
    top, right = smaller(y + high, rows * edge), smaller(x + wide, columns * edge)
    at = COLUMNS // WIDTH
    store_pack(numbers, at, 0.5 * (x + right) - 0.5 * columns * edge)
    store_pack(numbers, at + 1, 0.5 * (y + top) - 0.5 * rows * edge)
    store_pack(numbers, at + 2, 0.5 * (right - x)), store_pack(numbers, at + 3, 0.5 * (top - y))
    store_pack(numbers, at + 4, load_pack(tree, packs + i * across + j))


@kernel
def column_at(numbers, k):
    """The column of block k: its middle, x and y, half its edges, and its height."""
    at = COLUMNS + k
    return (
        numbers[at], numbers[at + WIDTH], numbers[at + 2 * WIDTH], numbers[at + 3 * WIDTH], numbers[at + 4 * WIDTH],
    )  # fmt: skip


@kernel
def height_of(tree, row, column):
    """The height of a cell [m]; that of none of a hole, and beside the map."""
    if row < 0 or column < 0 or not (row < tree[1] and column < tree[2]):
        return NO_HEIGHT
    packs, across = int(tree[WIDTH * LEVELS]), int(tree[WIDTH * LEVELS + 1])
    found = tree[WIDTH * (packs + row // 2 * across + column // 4) + row % 2 * 4 + column % 4]
    return found if found > NO_HEIGHT else NO_HEIGHT


@kernel
def seen_by(shape, o, column):
    """The place o of a shape as the middle of a column sees it, and half the column's edges.

    It reaches down so far that the way out of its lower end is never the shortest.
    """
    x, y, half_x, half_y, height = column
    deep = 2.0 * (shape.bound + absolute(o[2] - height))
    return (o[0] - x, o[1] - y, o[2] - height + deep), (half_x, half_y, deep)


@kernel
def see_from(shape, numbers, frame, column):
    """Write the column, and where the core is as its middle sees it."""
    o = frame[0]
    c, half = seen_by(shape, o, column)
    p = minus(o, minus(o, c))
    for i in range(3):
        numbers[SECOND + ORIGIN + i], numbers[COLUMN + i] = p[i], half[i]
