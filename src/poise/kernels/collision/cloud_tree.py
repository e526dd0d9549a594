"""A tree of balls over points, see `cloud`: sorted along Morton's curve (1966), then enclosed eight by eight, level by
level."""

import numpy as np

from poise.kernels.collision.cloud import HEAD, PACK
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, WHOLES
from poise.kernels.machine.lanes import load_pack, sqrt, store_pack
from poise.kernels.machine.layout import LARGEST, WIDTH

_BITS = 7
"""Bits of a cell along each axis: 128 cells along the longest."""
DIGITS = 2048
"""Counters of a digit; a key has two."""
_LOW = DIGITS - 1
_ROUNDING = 1e-12
"""Of the size of a ball and of the numbers of its centre, what rounding may add to its radius."""


@entry_point(REALS, WHOLES, WHOLES, WHOLES)
def sort_points(points, keys, aside, counts):
    """The order of points (3 n) along the curve: `keys` (n) end with their numbers; how many there are.

    Points with a NaN are left out.  A point that is too far away to compute with gives -1 less its number.  `aside` (n)
    and `counts` (2 * DIGITS) are worked in.
    """
    low0, low1, low2 = np.inf, np.inf, np.inf
    high0, high1, high2 = -np.inf, -np.inf, -np.inf
    n = 0
    for i in range(len(keys)):
        x, y, z = points[3 * i], points[3 * i + 1], points[3 * i + 2]
        if abs(x) > LARGEST or abs(y) > LARGEST or abs(z) > LARGEST:
            return -1 - i
        if x == x and y == y and z == z:
            low0, low1, low2 = x if x < low0 else low0, y if y < low1 else low1, z if z < low2 else low2
            high0, high1, high2 = x if x > high0 else high0, y if y > high1 else high1, z if z > high2 else high2
            aside[n] = i
            n += 1
    size = max(high0 - low0, max(high1 - low1, high2 - low2))
    per = ((1 << _BITS) - 0.5) / size if size > 1e-300 else 0.0
    for i in range(len(counts)):
        counts[i] = 0
    for k in range(n):
        i = aside[k]
        x, y, z = points[3 * i], points[3 * i + 1], points[3 * i + 2]
        key = _spread(int((x - low0) * per)) | _spread(int((y - low1) * per)) << 1 | _spread(int((z - low2) * per)) << 2
        counts[key & _LOW] += 1
        counts[DIGITS + (key >> 11)] += 1
        keys[k] = key << 32 | i
    _add_up(counts, 0)
    _add_up(counts, DIGITS)
    for k in range(n):
        digit = keys[k] >> 32 & _LOW
        aside[counts[digit]] = keys[k]
        counts[digit] += 1
    for k in range(n):
        digit = DIGITS + (aside[k] >> 43)
        keys[counts[digit]] = aside[k] & 0xFFFFFFFF
        counts[digit] += 1
    return n


@kernel
def _spread(cell):
    """The bits of a cell's number, three places apart."""
    cell = (cell | cell << 8) & 0x0700F
    cell = (cell | cell << 4) & 0x430C3
    return (cell | cell << 2) & 0x49249


@kernel
def _add_up(counts, start):
    """Where each digit begins, in place of how often it is."""
    total = 0
    for i in range(start, start + DIGITS):
        total, counts[i] = total + counts[i], total


@entry_point(REALS, WHOLES, WHOLES, REALS, REALS)
def grow(points, keys, levels, tree, reach):
    """The tree over the points whose numbers are `keys`; `levels` are the first pack of each level, and the end.

    `reach` (8) is worked in.
    """
    last = len(levels) - 2
    inner = levels[last]
    tree[0] = float(inner)
    packs = HEAD + (inner + WIDTH - 1) // WIDTH * WIDTH
    at = packs + PACK * levels[last]
    for k in range(WIDTH * (levels[last + 1] - levels[last])):
        place = at + (k >> 3) * PACK + (k & 7)
        if k < len(keys):
            i = 3 * keys[k]
            for r in range(3):
                tree[place + WIDTH * r] = points[i + r]
            tree[place + 3 * WIDTH] = 0.0
        else:
            _leave_empty(tree, place)
    for level in range(last - 1, -1, -1):
        for pack in range(levels[level], levels[level + 1]):
            child = levels[level + 1] + WIDTH * (pack - levels[level])
            tree[HEAD + pack] = float(child)
            for k in range(WIDTH):
                place = packs + PACK * pack + k
                if child + k < levels[level + 2]:
                    _enclose(tree, packs + PACK * (child + k), place, reach)
                else:
                    _leave_empty(tree, place)


@kernel
def _leave_empty(tree, place):
    """No ball is there."""
    for r in range(4):
        tree[place + WIDTH * r] = np.nan


@kernel
def _enclose(tree, at, place, reach):
    """Write at `place` a ball around the eight of the pack at `at`: around the middle of the box that holds them.

    `reach` (8) is worked in.
    """
    most = 0.0
    for r in range(3):
        low, high = np.inf, -np.inf
        for k in range(WIDTH):
            x, size = tree[at + WIDTH * r + k], tree[at + 3 * WIDTH + k]
            low, high = x - size if x - size < low else low, x + size if x + size > high else high
        tree[place + WIDTH * r] = 0.5 * low + 0.5 * high
        most = max(most, max(abs(low), abs(high)))
    pack, radius = at // WIDTH, 0.0
    x = load_pack(tree, pack) - tree[place]
    y = load_pack(tree, pack + 1) - tree[place + WIDTH]
    z = load_pack(tree, pack + 2) - tree[place + 2 * WIDTH]
    store_pack(reach, 0, sqrt(x * x + y * y + z * z) + load_pack(tree, pack + 3))
    for k in range(WIDTH):
        radius = reach[k] if reach[k] > radius else radius
    tree[place + 3 * WIDTH] = radius + _ROUNDING * (radius + most)
