"""The pyramid over the cells of a height map, see `columns`: the greatest of blocks, by levels."""

import numpy as np

from poise.kernels.collision.columns import LEVELS
from poise.kernels.machine.jit import entry_point
from poise.kernels.machine.kinds import REALS, WHOLE
from poise.kernels.machine.layout import LARGEST, WIDTH


@entry_point(REALS, REALS, WHOLE)
def raise_pyramid(heights, tree, columns):
    """Write the heights (rows x columns), and the greatest of blocks, into a tree that has all else.

    -1; the number of a height that is too large to compute with.
    """
    for k in range(len(heights)):
        if abs(heights[k]) > LARGEST:
            return k
    rows, last = len(heights) // columns, int(tree[0]) - 1
    for level in range(last + 1):
        at, tall, wide = WIDTH * (LEVELS + level), 2 + 2 * (level % 2), 4 - 2 * (level % 2)
        high, across = WIDTH * int(tree[at]), int(tree[at + 1])
        above = at + WIDTH if level < last else at
        above_high, above_across = WIDTH * int(tree[above]), int(tree[above + 1])
        for i in range((rows + tall - 1) // tall):
            for j in range(across):
                most, pack = np.nan, high + WIDTH * (i * across + j)
                for r in range(min(tall, rows - tall * i)):
                    for c in range(min(wide, columns - wide * j)):
                        k = pack + r * wide + c
                        if level == 0:
                            tree[k] = heights[(tall * i + r) * columns + wide * j + c]
                        most = most if tree[k] <= most or tree[k] != tree[k] else tree[k]
                if level < last:
                    k = WIDTH * (i // wide * above_across + j // tall) + i % wide * tall + j % tall
                    tree[above_high + k] = most
        rows, columns = (rows + tall - 1) // tall, across
    return -1
