"""The way out of a height map for a core that is in it: straight up, to a side, or slanting between these.

The columns reach down without end, so what is lifted is in none that it was not in before: its way along any direction
that does not lead down is no longer then.  The shortest of the ways along 17 fixed directions is told, upwards and to
the eight sides, level and as steep as they go.  Each is free at its end, so none is shorter than the least of all, and
what goes along the one that is told gets out by as much as it goes.

How far a core must go along a direction is found from cell to cell.  Of those that it is in, the one that it leaves
last is looked for in the pyramid; then its point that leaves that one last is followed on, cell after cell, into the
air, and what else it is in there looked for again.
"""

import numpy as np

from poise.kernels.algebra.vectors import minus, plus, scaled, vector
from poise.kernels.collision.cloud import GAPS, NOTHING, STACK, put
from poise.kernels.collision.columns import (
    COLUMNS,
    child,
    column_at,
    height_of,
    pack_at,
    place_columns,
    place_of,
    see_from,
)
from poise.kernels.collision.directions import absolute, smaller
from poise.kernels.collision.gjk import SECOND, support
from poise.kernels.collision.leaving import way_along
from poise.kernels.collision.placing import ORIGIN
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load_pack, select, sqrt, store_pack
from poise.kernels.machine.layout import WIDTH
from poise.kernels.machine.views import rows_at

UP = (0.0, 0.0, 1.0)
_BY_ROUNDING = 1e-10
"""What a core goes at its end out of what it has left by then [m]."""
_SEAM = 1e-9
"""By so much columns reach over each other [m], or what is flat would come out between two."""


@kernel
def way_out(shape, heights, vertices, numbers, frame, enough):
    """How deep a core is in a height map [m], its point that comes out last, and the unit vector that leads it out.

    The search ends where the depth is no more than `enough`.
    """
    tree = rows_at(heights.first_pack, heights.last_pack)
    around = _box_around(shape, vertices, numbers, frame)
    best, deepest = _farthest(shape, heights, vertices, numbers, frame, around, UP, NOTHING)
    bottom, way = deepest, UP
    for k in range(16):
        if not best > enough:
            break
        v = _slanting(k)
        t, p = 0.0, bottom
        while True:
            t = _in_air_from(tree, p, v, t, best)
            if not t < best:
                break
            moved = plus(frame[0], scaled(t, v)), frame[1], frame[2], frame[3]
            more, q = _farthest(shape, heights, vertices, numbers, moved, around, v, best - t)
            if not more > _BY_ROUNDING:
                best, deepest, way = t, p, v
                break
            t, p = t + more, minus(q, scaled(t, v))
    return best, deepest, way


@kernel
def _slanting(k):
    """The unit vector of number k, of 16, that leads to one of eight sides, level or up."""
    side, rise = k // 2, float(k % 2)
    x = 1.0 if side < 3 else -1.0 if side < 6 else 0.0
    y = 1.0 if side % 3 == 0 else -1.0 if side % 3 == 1 else 0.0
    return scaled(1.0 / sqrt(x * x + y * y + rise), (x, y, rise))


@kernel
def _in_air_from(tree, p, v, t, most):
    """From where on, after t [m] along v, a point is in no cell; or `most`, if it is in one until there."""
    edge, rows, columns = tree[3], tree[1], tree[2]
    x, y = p[0] + t * v[0], p[1] + t * v[1]
    row, column = int(np.floor(y / edge + 0.5 * rows)), int(np.floor(x / edge + 0.5 * columns))
    while t < most:
        height = height_of(tree, row, column)
        if not p[2] + t * v[2] < height:
            return t
        across = _leaves(p[0], v[0], column - 0.5 * columns, edge)
        along = _leaves(p[1], v[1], row - 0.5 * rows, edge)
        above = (height - p[2]) / v[2] if v[2] > 0.0 else NOTHING
        t = max(t, min(above, min(across, along)))
        if across <= along:
            column += 1 if v[0] > 0.0 else -1
        else:
            row += 1 if v[1] > 0.0 else -1
        if above <= min(across, along):
            return t
    return most


@kernel
def _leaves(p, v, first, edge):
    """After which multiple of v a coordinate leaves the cell that begins at so many edges."""
    return ((first + 1.0) * edge - p) / v if v > 0.0 else (first * edge - p) / v if v < 0.0 else NOTHING


@kernel
def _farthest(shape, heights, vertices, numbers, frame, around, v, enough):
    """How far along v a core must go out of the one of the columns of cells it is in that it leaves last, and its point
    that leaves last; 0 if it is in none.

    The search ends where that is not less than `enough`.
    """
    tree = rows_at(heights.first_pack, heights.last_pack)
    most, p, waiting = 0.0, frame[0], 1
    numbers[STACK], numbers[STACK + 1] = place_of(int(tree[0]) - 1, 0, 0), -NOTHING
    while waiting > 0:
        waiting -= 1
        place, least = int(numbers[STACK + 2 * waiting]), numbers[STACK + 2 * waiting + 1]
        if not -least > most:
            continue
        level, i, j = pack_at(place)
        place_columns(tree, numbers, level, i, j)
        ways = _not_above(numbers, plus(frame[0], around[0]), around[1], v)
        if not any_of(ways > most):
            continue
        store_pack(numbers, GAPS // WIDTH, ways)
        first = waiting
        for k in range(WIDTH):
            if not numbers[GAPS + k] > most:
                continue
            x, y, across, along, height = column_at(numbers, k)
            see_from(shape, numbers, frame, (x, y, across + _SEAM, along + _SEAM, height))
            way, q = way_along(heights, shape, vertices, numbers, UP)
            if way > 0.0 and v[2] < 1.0:
                way, q = way_along(heights, shape, vertices, numbers, v)
            if way > most and level > 0:
                a, b = child(level, i, j, k)
                waiting = put(numbers, first, waiting, place_of(level - 1, a, b), -way)
            elif way > most:
                most, p = way, plus(minus(frame[0], vector(numbers, SECOND + ORIGIN)), q)
                if not most < enough:
                    return most, p
    return most, p


@kernel
def _box_around(shape, vertices, numbers, frame):
    """The upright box around a core: its middle, seen from the place, and half its edges."""
    for i in range(3):
        numbers[SECOND + ORIGIN + i] = 0.0
    right = support(shape, vertices, numbers, SECOND, (1.0, 0.0, 0.0))[0]
    left = support(shape, vertices, numbers, SECOND, (-1.0, 0.0, 0.0))[0]
    ahead = support(shape, vertices, numbers, SECOND, (0.0, 1.0, 0.0))[1]
    back = support(shape, vertices, numbers, SECOND, (0.0, -1.0, 0.0))[1]
    top = support(shape, vertices, numbers, SECOND, UP)[2]
    bottom = support(shape, vertices, numbers, SECOND, (0.0, 0.0, -1.0))[2]
    middle = 0.5 * (left + right), 0.5 * (back + ahead), 0.5 * (bottom + top)
    return middle, (0.5 * (right - left), 0.5 * (ahead - back), 0.5 * (top - bottom))


@kernel
def _not_above(numbers, middle, half, v):
    """What the ways along v out of eight columns are not above, of all that is in an upright box [m]; 0 if none is."""
    at = COLUMNS // WIDTH
    x, y = load_pack(numbers, at) - middle[0], load_pack(numbers, at + 1) - middle[1]
    across, along = load_pack(numbers, at + 2) + (half[0] + _SEAM), load_pack(numbers, at + 3) + (half[1] + _SEAM)
    above = load_pack(numbers, at + 4) - (middle[2] - half[2])
    within = (absolute(x) < across) & (absolute(y) < along) & (above > 0.0)
    way = _until(0.0 * x + NOTHING, across + x, across - x, v[0])
    way = _until(way, along + y, along - y, v[1])
    return select(within, _until(way, above, above, v[2]), 0.0)


@kernel
def _until(way, ahead, back, v):
    """The less of a way and of that which brings a coordinate so far ahead, or back, at the rate v."""
    if v > 0.0:
        return smaller(way, (1.0 / v) * ahead)
    if v < 0.0:
        return smaller(way, (-1.0 / v) * back)
    return way
