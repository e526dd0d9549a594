"""A tree of balls over points, see `cloud`: sorted by cells along a curve, then enclosed eight by eight, by levels.

The box around all points is halved time and again, always across its longest edge.  On which side of each halving a
point is are the digits of its cell, so that neighbours along the curve of all cells are neighbours in space: Morton's
curve (1966), where the box is a cube.
"""

import functools

import numpy as np

from poise.kernels.algebra.vectors import dot
from poise.kernels.collision.cloud import BALLS, HEAD, POINTS
from poise.kernels.collision.directions import larger, smaller
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, WHOLES
from poise.kernels.machine.lanes import load_pack, sqrt, store_pack, zeros
from poise.kernels.machine.layout import LARGEST, WIDTH

SLICES = 1024
"""An edge is halved into no more."""
ROW = SLICES + WIDTH
"""Numbers from the slices along one edge to those along the next; the one after the last is for a NaN."""
GRID = 6 * WIDTH
"""Numbers that begin with the lowest corner of the box (3), the highest (3), and slices per metre (3)."""
_LOW, _HIGH, _PER = 0, 3, 6
_NOWHERE = 1 << 40
"""More than any cell."""
_RANK = 1 << 32
"""A point is told by its cell times this, and how many came before it there."""
_ROUNDING = 1e-12
"""Of the size of a ball and of the numbers of its centre, what rounding may add to its radius."""


@entry_point(REALS, REALS, WHOLES, WHOLES, WHOLES, WHOLES)
def sort_points(points, grid, slices, counts, places, order):
    """The numbers of points (3 n) along the curve, the first of `order` (n); how many there are.

    Points with a NaN are left out.  A point that is too far away to compute with gives -1 less its number.  `grid`
    (GRID), `slices` (3 ROW), `counts`, one for each cell, and `places` (n) are worked in.
    """
    _surround(points, grid)
    for r in range(3):
        if grid[_LOW + r] < -LARGEST or grid[_HIGH + r] > LARGEST:
            for i in range(len(points)):
                if abs(points[i]) > LARGEST:
                    return -1 - i // 3
    _halve(grid, slices, len(counts))
    for cell in range(len(counts)):
        counts[cell] = 0
    _count(points, grid, slices, counts, places)
    found = 0
    for cell in range(len(counts)):
        found, counts[cell] = found + counts[cell], found
    for k in range(len(places)):
        if places[k] >= 0:
            order[counts[places[k] // _RANK] + places[k] % _RANK] = k
    return found


@kernel
def _surround(points, grid):
    """The corners of the box around points; a NaN is passed over."""
    whole = len(points) // (3 * WIDTH)
    low = zeros(points) + np.inf, zeros(points) + np.inf, zeros(points) + np.inf
    high = zeros(points) - np.inf, zeros(points) - np.inf, zeros(points) - np.inf
    for k in range(0, 3 * whole, 3):  # x y z x y z x y, z x y z x y z x, y z x y z x y z
        a, b, c = load_pack(points, k), load_pack(points, k + 1), load_pack(points, k + 2)
        low = smaller(a, low[0]), smaller(b, low[1]), smaller(c, low[2])
        high = larger(a, high[0]), larger(b, high[1]), larger(c, high[2])
    for r in range(3):
        store_pack(grid, r, low[r]), store_pack(grid, 3 + r, high[r])
    least, most = (np.inf, np.inf, np.inf), (-np.inf, -np.inf, -np.inf)
    for i in range(0, 3 * WIDTH, 3):
        at = 3 * WIDTH + i
        least = smaller(grid[i], least[0]), smaller(grid[i + 1], least[1]), smaller(grid[i + 2], least[2])
        most = larger(grid[at], most[0]), larger(grid[at + 1], most[1]), larger(grid[at + 2], most[2])
    for i in range(3 * WIDTH * whole, len(points), 3):
        x, y, z = points[i], points[i + 1], points[i + 2]
        least = smaller(x, least[0]), smaller(y, least[1]), smaller(z, least[2])
        most = larger(x, most[0]), larger(y, most[1]), larger(z, most[2])
    for r in range(3):
        grid[_LOW + r], grid[_HIGH + r] = least[r], most[r]


@kernel
def _halve(grid, slices, cells):
    """The digits of slice k along axis r of the box, `slices` ROW * r + k, with so many cells in all, and `grid`."""
    a, b, c = grid[_HIGH] - grid[_LOW], grid[_HIGH + 1] - grid[_LOW + 1], grid[_HIGH + 2] - grid[_LOW + 2]
    for r in range(3):
        slices[ROW * r], slices[ROW * r + SLICES], grid[_PER + r] = 0, _NOWHERE, 1.0
    digit = cells // 2
    while digit > 0:
        axis = 0 if a >= b and a >= c else 1 if b >= c else 2
        count, first = int(grid[_PER + axis]), ROW * axis
        if count == SLICES:
            break
        for k in range(count - 1, -1, -1):
            slices[first + 2 * k], slices[first + 2 * k + 1] = slices[first + k], slices[first + k] + digit
        grid[_PER + axis] = 2.0 * count
        a, b, c = a * (0.5 if axis == 0 else 1.0), b * (0.5 if axis == 1 else 1.0), c * (0.5 if axis == 2 else 1.0)
        digit //= 2
    for r in range(3):
        size = grid[_HIGH + r] - grid[_LOW + r]
        # The last point is in the last slice.
        grid[_PER + r] = (1.0 - 1e-9) * grid[_PER + r] / size if size > 1e-300 else 0.0


@kernel
def _count(points, grid, slices, counts, places):
    """The place of each point, -1 of one with a NaN, and how many are in each cell.

    Eight points are three packs, x y z x y z x y, z x y z x y z x and y z x y z x y z.
    """
    low, per = (grid[_LOW], grid[_LOW + 1], grid[_LOW + 2]), (grid[_PER], grid[_PER + 1], grid[_PER + 2])
    for i in range(3 * WIDTH):
        grid[i], grid[3 * WIDTH + i] = low[i % 3], per[i % 3]
    lows = load_pack(grid, 0), load_pack(grid, 1), load_pack(grid, 2)
    pers = load_pack(grid, 3), load_pack(grid, 4), load_pack(grid, 5)
    whole = len(places) // WIDTH
    for block in range(whole):
        for r in range(3):
            along = (load_pack(points, 3 * block + r) - lows[r]) * pers[r]
            store_pack(grid, r, smaller(along, float(SLICES)))
        for k in range(WIDTH):
            places[WIDTH * block + k] = _placed(slices, counts, grid[3 * k], grid[3 * k + 1], grid[3 * k + 2])
    for k in range(WIDTH * whole, len(places)):
        for r in range(3):
            grid[r] = smaller((points[3 * k + r] - low[r]) * per[r], float(SLICES))
        places[k] = _placed(slices, counts, grid[0], grid[1], grid[2])


@functools.partial(kernel, inline=True)
def _placed(slices, counts, x, y, z):
    """The place of a point that lies in these slices, or -1, and it counts."""
    cell = slices[int(x)] + slices[ROW + int(y)] + slices[2 * ROW + int(z)]
    if cell >= _NOWHERE:
        return -1
    rank = counts[cell]
    counts[cell] = rank + 1
    return cell * _RANK + rank


@entry_point(REALS, WHOLES, WHOLES, REALS, REALS)
def grow(points, order, levels, tree, reach):
    """The tree over the points in this order; `levels` are the first pack of each level, and the end.

    `reach` (8) is worked in.
    """
    last = len(levels) - 2
    inner = levels[last]
    tree[0], tree[1] = float(inner), float(len(order))
    balls = HEAD + (inner + WIDTH - 1) // WIDTH * WIDTH
    leaves = balls + BALLS * inner
    for k in range(HEAD + inner, leaves if len(order) > 0 else len(tree)):
        tree[k] = np.nan
    for level in range(last):
        for pack in range(levels[level], levels[level + 1]):
            tree[HEAD + pack] = float(levels[level + 1] + WIDTH * (pack - levels[level]))
    for k in range(levels[last + 1] - inner if len(order) > 0 else 0):
        middle, far = _put(points, order, WIDTH * k, tree, leaves + POINTS * k, reach)
        if last > 0:
            _enclose(tree, balls + BALLS * (levels[last - 1] + k // WIDTH) + k % WIDTH, middle, far)
    for level in range(last - 1, 0, -1):
        for k in range(levels[level + 1] - levels[level]):
            middle, far = _around(tree, balls + BALLS * (levels[level] + k), reach)
            _enclose(tree, balls + BALLS * (levels[level - 1] + k // WIDTH) + k % WIDTH, middle, far)


@functools.partial(kernel, inline=True)
def _put(points, order, first, tree, at, reach):
    """Write eight points into the pack at `at`; the middle of the box around them, and how far they are from there.

    The last point fills up.
    """
    low, high = (np.inf, np.inf, np.inf), (-np.inf, -np.inf, -np.inf)
    for k in range(WIDTH):
        i = 3 * order[min(first + k, len(order) - 1)]
        x, y, z = points[i], points[i + 1], points[i + 2]
        tree[at + k], tree[at + WIDTH + k], tree[at + 2 * WIDTH + k] = x, y, z
        low = smaller(x, low[0]), smaller(y, low[1]), smaller(z, low[2])
        high = larger(x, high[0]), larger(y, high[1]), larger(z, high[2])
    middle = _halfway(low, high)
    way = _from(tree, at, middle)
    store_pack(reach, 0, dot(way, way))
    return middle, sqrt(_largest(reach))


@functools.partial(kernel, inline=True)
def _around(tree, at, reach):
    """The middle of the box around the eight balls of the pack at `at`, and how far they reach from there."""
    low, high = (np.inf, np.inf, np.inf), (-np.inf, -np.inf, -np.inf)
    for k in range(at, at + WIDTH):
        x, y, z, radius = tree[k], tree[k + WIDTH], tree[k + 2 * WIDTH], tree[k + 3 * WIDTH]
        low = smaller(x - radius, low[0]), smaller(y - radius, low[1]), smaller(z - radius, low[2])
        high = larger(x + radius, high[0]), larger(y + radius, high[1]), larger(z + radius, high[2])
    middle = _halfway(low, high)
    way = _from(tree, at, middle)
    store_pack(reach, 0, sqrt(dot(way, way)) + load_pack(tree, at // WIDTH + 3))
    return middle, _largest(reach)


@kernel
def _halfway(p, q):
    return 0.5 * p[0] + 0.5 * q[0], 0.5 * p[1] + 0.5 * q[1], 0.5 * p[2] + 0.5 * q[2]


@kernel
def _from(tree, at, middle):
    """The ways from there to the eight places of the pack at `at`."""
    pack = at // WIDTH
    return (
        load_pack(tree, pack) - middle[0],
        load_pack(tree, pack + 1) - middle[1],
        load_pack(tree, pack + 2) - middle[2],
    )


@kernel
def _largest(reach):
    """The largest of eight; a NaN is passed over."""
    a, b = larger(reach[1], larger(reach[0], 0.0)), larger(reach[3], larger(reach[2], 0.0))
    c, d = larger(reach[5], larger(reach[4], 0.0)), larger(reach[7], larger(reach[6], 0.0))
    return max(max(a, b), max(c, d))


@kernel
def _enclose(tree, place, middle, far):
    """Write at `place` a ball around there that reaches so far."""
    most = max(abs(middle[0]), max(abs(middle[1]), abs(middle[2])))
    for r in range(3):
        tree[place + WIDTH * r] = middle[r]
    tree[place + 3 * WIDTH] = far + _ROUNDING * (far + most)
