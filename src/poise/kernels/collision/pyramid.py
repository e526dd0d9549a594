"""The pyramid over the cells of a height map, see `heights`: the greatest and the least of blocks, by levels."""

import numpy as np

from poise.kernels.collision.heights import LEVELS
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import FROZEN, REALS, WHOLE
from poise.kernels.machine.layout import LARGEST, WIDTH


@entry_point(FROZEN, REALS, WHOLE)
def raise_pyramid(heights, tree, columns):
    """Write the heights (rows x columns), and the greatest and the least of blocks, into a tree that has all else.

    -1; the number of a height that is too large to compute with.
    """
    rows, last = len(heights) // columns, len(heights)
    for k in range(last):
        if abs(heights[k]) > LARGEST:
            return k
    high, low, child_rows, child_columns = 0, 0, 0, 0
    for level in range(int(tree[0])):
        at, tall, wide = WIDTH * (LEVELS + level), 2 + 2 * (level % 2), 4 - 2 * (level % 2)
        child_high, child_low = high, low
        high, low, across = WIDTH * int(tree[at]), WIDTH * int(tree[at + 1]), int(tree[at + 2])
        for row in range((rows + tall - 1) // tall * tall):
            for column in range(wide * across):
                k = WIDTH * (row // tall * across + column // wide) + row % tall * wide + column % wide
                if row >= rows or column >= columns:
                    tree[high + k], tree[low + k] = np.nan, np.nan
                elif level == 0:
                    tree[high + k] = heights[row * columns + column]
                else:
                    child = WIDTH * (row * columns + column)
                    left, below = child_columns - tall * column, child_rows - wide * row
                    tree[high + k] = _greatest(tree, child_high + child)
                    tree[low + k] = _least(tree, child_low + child, below, left, tall)
        child_rows, child_columns = rows, columns
        rows, columns = (rows + tall - 1) // tall, across
    return -1


@kernel
def _greatest(tree, at):
    """The greatest of eight heights; a NaN is passed over, and the answer where there is nothing else."""
    most = -np.inf
    for k in range(at, at + WIDTH):
        most = tree[k] if tree[k] > most else most
    return most if most > -np.inf else np.nan


@kernel
def _least(tree, at, rows, columns, wide):
    """The least of those of eight heights that are in so many rows and columns, of which a row has `wide`; or a NaN."""
    least = np.inf
    for k in range(WIDTH):
        if k // wide < rows and k % wide < columns and least == least and not tree[at + k] >= least:
            least = tree[at + k]
    return least
