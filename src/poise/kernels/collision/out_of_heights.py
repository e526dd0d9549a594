"""The penetration depth of a core in a height map, and the way out.

To come out of a cell that it is in, a core goes over another, or up where it is: sideways until it has left the column
and come so many cells on, and up until its lowest point over its own cell is above the height there.  The shortest of
these ways is how deep it is in that cell, and it is as deep in the map as in the cell where it is deepest: no less than
in any column by itself, and no more than what lifts it out.  What is lifted leaves each column sooner, so it is never
deeper for it; and what moves a little to a side is deeper by as little, for the way back is among the others.
"""

from poise.kernels.algebra.vectors import minus, plus, scaled, vector
from poise.kernels.collision.cloud import GAPS, STACK, put
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
from poise.kernels.collision.directions import NOTHING, absolute
from poise.kernels.collision.gjk import SECOND, support
from poise.kernels.collision.leaving import way_along
from poise.kernels.collision.placing import ORIGIN
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load_pack, select, sqrt, store_pack
from poise.kernels.machine.layout import WIDTH
from poise.kernels.machine.views import rows_at

LEFT, RIGHT = (-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)
BACK, AHEAD = (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)
DOWN, UP = (0.0, 0.0, -1.0), (0.0, 0.0, 1.0)
_SEAM = 1e-9
"""By this columns overlap [m], or what is flat would come out between two."""


@kernel
def way_out(shape, heights, vertices, numbers, frame, least):
    """How deep a core is in a height map [m], its point that comes out last, and the unit vector that leads it out.

    The depth is `least` where it is no more than that.
    """
    tree = rows_at(heights.first_pack, heights.last_pack)
    middle, half = _box_around(shape, vertices, numbers, frame)
    most, p, out, waiting = max(least, 0.0), frame[0], UP, 1
    numbers[STACK], numbers[STACK + 1] = place_of(int(tree[0]) - 1, 0, 0), -NOTHING
    while waiting > 0:
        waiting -= 1
        place, bound = int(numbers[STACK + 2 * waiting]), -numbers[STACK + 2 * waiting + 1]
        if not bound > most:
            continue
        level, i, j = pack_at(place)
        place_columns(tree, numbers, level, i, j)
        rises = _not_above(numbers, middle, half)
        if not any_of(rises > most):
            continue
        store_pack(numbers, GAPS // WIDTH, rises)
        first = waiting
        # The way up out of a block's column bounds the depth in each of its cells from above.
        for k in range(WIDTH):
            if not numbers[GAPS + k] > most:
                continue
            a, b = child(level, i, j, k)
            x, y, across, along, height = column_at(numbers, k)
            see_from(shape, numbers, frame, (x, y, across + _SEAM, along + _SEAM, height))
            up, lowest = way_along(heights, shape, vertices, numbers, UP)
            if up > most and level > 0:
                waiting = put(numbers, first, waiting, place_of(level - 1, a, b), -up)
            elif up > most:
                depth, q, way = _out_of_cell(shape, heights, vertices, numbers, (a, b), height, (up, lowest), most)
                if depth > most:
                    most, p, out = depth, plus(minus(frame[0], vector(numbers, SECOND + ORIGIN)), q), way
    return most, p, out


@kernel
def _out_of_cell(shape, heights, vertices, numbers, cell, height, rise, enough):
    """How deep a core is in the cell that it is seen from [m], its point that comes out last, and the unit vector.

    `rise` is how far it must go up to leave the column, and its point that leaves last.  A depth that is no more than
    `enough` may be less than that.
    """
    tree = rows_at(heights.first_pack, heights.last_pack)
    up, lowest = rise
    left, a = way_along(heights, shape, vertices, numbers, LEFT)
    right, b = way_along(heights, shape, vertices, numbers, RIGHT)
    back, c = way_along(heights, shape, vertices, numbers, BACK)
    ahead, d = way_along(heights, shape, vertices, numbers, AHEAD)
    way = _shortest(tree, cell, height - up, (left, right, back, ahead), up, enough)
    depth = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    p = lowest
    if abs(way[0]) > way[2] and abs(way[0]) >= abs(way[1]):
        p = a if way[0] < 0.0 else b
    elif abs(way[1]) > way[2]:
        p = c if way[1] < 0.0 else d
    return depth, p, scaled(1.0 / depth if depth > 0.0 else 0.0, way)


@kernel
def _shortest(tree, cell, low, sides, up, enough):
    """The shortest way out of a cell for a core whose lowest point over it is at `low` [m], over whichever cell.

    `sides` are how far it must go to the left, to the right, back and ahead to leave the column, and `up` is how far
    up.  The search ends with a way that is no longer than `enough`.
    """
    edge = tree[3]
    best, way = up, (0.0, 0.0, up)
    for turn in range(4):  # the quarters around the cell
        row, step = -(turn // 2), 1 - 2 * (turn // 2)
        while True:
            y = _beside(row, sides[2], sides[3], edge)
            if not abs(y) < best:
                break
            column, on = -(turn % 2), 1 - 2 * (turn % 2)
            while True:
                x = _beside(column, sides[0], sides[1], edge)
                beside = x * x + y * y
                if not beside < best * best:
                    break
                rise = max(height_of(tree, cell[0] + row, cell[1] + column) - low, 0.0)
                square = beside + rise * rise
                if square < best * best:
                    best, way = sqrt(square), (x, y, rise)
                    if not best > enough:
                        return way
                if not rise > 0.0:  # what is farther is no nearer
                    break
                column += on
            row += step
    return way


@kernel
def _beside(k, back, ahead, edge):
    """The way to the side [m] that leads k cells on; 0 where k is."""
    return ahead + (k - 1) * edge if k > 0 else (k + 1) * edge - back if k < 0 else 0.0


@kernel
def _box_around(shape, vertices, numbers, frame):
    """The middle of the upright box around a core, and half its edges."""
    for i in range(3):
        numbers[SECOND + ORIGIN + i] = 0.0
    left, right = (
        support(shape, vertices, numbers, SECOND, LEFT)[0],
        support(shape, vertices, numbers, SECOND, RIGHT)[0],
    )
    back, ahead = (
        support(shape, vertices, numbers, SECOND, BACK)[1],
        support(shape, vertices, numbers, SECOND, AHEAD)[1],
    )
    bottom, top = support(shape, vertices, numbers, SECOND, DOWN)[2], support(shape, vertices, numbers, SECOND, UP)[2]
    middle = plus(frame[0], (0.5 * (left + right), 0.5 * (back + ahead), 0.5 * (bottom + top)))
    return middle, (0.5 * (right - left), 0.5 * (ahead - back), 0.5 * (top - bottom))


@kernel
def _not_above(numbers, middle, half):
    """Upper bounds of how far up a core in an upright box must go to leave eight columns [m]; 0 where it is in none."""
    at = COLUMNS // WIDTH
    x, y = load_pack(numbers, at) - middle[0], load_pack(numbers, at + 1) - middle[1]
    across, along = load_pack(numbers, at + 2) + (half[0] + _SEAM), load_pack(numbers, at + 3) + (half[1] + _SEAM)
    rise = load_pack(numbers, at + 4) - (middle[2] - half[2])
    return select((absolute(x) < across) & (absolute(y) < along) & (rise > 0.0), rise, 0.0)
