"""The pyramid over the cells of a height map, see `heights`: the greatest and the least of blocks, by levels."""

import numpy as np

from poise.kernels.collision.heights import LEVELS
from poise.kernels.machine.jit import entry_point
from poise.kernels.machine.kinds import REALS, WHOLE
from poise.kernels.machine.layout import LARGEST, WIDTH


@entry_point(REALS, REALS, WHOLE)
def raise_pyramid(heights, tree, columns):
    """Write the heights (rows x columns), and the greatest and the least of blocks, into a tree that has all else.

    -1; the number of a height that is too large to compute with.
    """
    for k in range(len(heights)):
        if abs(heights[k]) > LARGEST:
            return k
    rows, last = len(heights) // columns, int(tree[0]) - 1
    for level in range(last + 1):
        at, tall, wide = WIDTH * (LEVELS + level), 2 + 2 * (level % 2), 4 - 2 * (level % 2)
        high, low, across = WIDTH * int(tree[at]), WIDTH * int(tree[at + 1]), int(tree[at + 2])
        above = at + WIDTH if level < last else at
        above_high, above_low, above_across = (
            WIDTH * int(tree[above]),
            WIDTH * int(tree[above + 1]),
            int(tree[above + 2]),
        )
        for i in range((rows + tall - 1) // tall):
            for j in range(across):
                most, least, pack = -np.inf, np.inf, WIDTH * (i * across + j)
                for r in range(min(tall, rows - tall * i)):
                    for c in range(min(wide, columns - wide * j)):
                        k = pack + r * wide + c
                        if level == 0:
                            tree[high + k] = heights[(tall * i + r) * columns + wide * j + c]
                        most = tree[high + k] if tree[high + k] > most else most
                        # A block of which not all is known holds no column.
                        least = tree[low + k] if least == least and not tree[low + k] >= least else least
                if level < last:
                    k = WIDTH * (i // wide * above_across + j // tall) + i % wide * tall + j % tall
                    tree[above_high + k], tree[above_low + k] = most if most > -np.inf else np.nan, least
        rows, columns = (rows + tall - 1) // tall, across
    return -1
