"""An index of stored configurations by the goals that they fulfil, to look up a start that is near to a goal.

An index is an array of numbers: the fields of `INDEX`, then the weights of each effector's place and turn, the places
in q that a configuration sets, the splits of a balanced k-d tree, level by level, and its leaves.  A leaf is the
features of `size` configurations, feature by feature, then their coordinates, one configuration after the other.  Only
the leaf of the goal is looked at, eight configurations at a time: to look further costs more than a nearer start saves.

Features of a goal are its place or direction (3) and the x and z axes of its rotation (6), weighted so that lengths and
turns compare; where the robot's root is free, as seen from the caller's root.  A last feature, which no goal has, says
how near a configuration is to its limits: from there fewer descents arrive.
"""

import numpy as np

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load_pack, select, sqrt, store_pack, zeros
from poise.kernels.machine.layout import DIRECTION, FEATURES, GOAL_NUMBERS, PLACE, TURN, WIDTH
from poise.kernels.machine.record import Record
from poise.kernels.machine.views import entry_at, rows_at, section

INDEX = Record("Index", "levels size features coordinates root", "usual")
"""`levels` of splits above the leaves; `size` configurations a leaf, a multiple of 8; numbers of features and of
coordinates of each; `root`: where in q the free root begins (place, then quaternion), -1: none; `usual`: the sum of
squares [m^2, rad^2] that is left at the nearest of a leaf in the median."""
HEAD = INDEX.words
"""Words of an INDEX, which come before the numbers."""
SPLIT = Record("Split", "feature", "value")
"""A goal whose `feature` is at least `value` goes to the second half of a cell."""
SPLIT_WORDS = SPLIT.words
_NEARBY = 0.1
"""What the square of a joint's way from q0 [rad^2 or m^2] weighs against the square of a feature."""


@kernel
def splits_at(p, index):
    """Where in an index its splits begin, and its leaves."""
    splits = HEAD + 2 * len(p.effectors) + index.coordinates
    return splits, splits + SPLIT_WORDS * ((1 << index.levels) - 1)


@kernel
def query(p, address, goal, q0, out):
    """Write the features (FEATURES an effector, and one) of a goal (GOAL_NUMBERS an effector), seen from q0 (nq)."""
    index = entry_at(address, INDEX)
    weights = rows_at(address, HEAD + 2 * len(p.effectors))
    at = index.root
    out[FEATURES * len(p.effectors)] = 0.0
    for k in range(len(p.effectors)):
        effector, g, f = p.effectors[k], GOAL_NUMBERS * k, FEATURES * k
        place, turn = weights[HEAD + 2 * k], weights[HEAD + 2 * k + 1]
        for i in range(FEATURES):
            out[f + i] = 0.0
        free = at >= 0 and effector.base == 0
        if effector.goal & (PLACE | DIRECTION):
            x, y, z = goal[g], goal[g + 1], goal[g + 2]
            if effector.goal & DIRECTION:
                scale = 1.0 / sqrt(x * x + y * y + z * z)
                x, y, z = x * scale, y * scale, z * scale
            elif free:
                x, y, z = x - q0[at], y - q0[at + 1], z - q0[at + 2]
            if free:
                x, y, z = turned_back(q0, at + 3, x, y, z)
            out[f], out[f + 1], out[f + 2] = place * x, place * y, place * z
        if effector.goal & TURN:
            w, x, y, z = goal[g + 3], goal[g + 4], goal[g + 5], goal[g + 6]
            s = 2.0 / (w * w + x * x + y * y + z * z)
            x0, x1, x2 = 1.0 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y)
            z0, z1, z2 = s * (x * z + w * y), s * (y * z - w * x), 1.0 - s * (x * x + y * y)
            if free:
                x0, x1, x2 = turned_back(q0, at + 3, x0, x1, x2)
                z0, z1, z2 = turned_back(q0, at + 3, z0, z1, z2)
            out[f + 3], out[f + 4], out[f + 5] = turn * x0, turn * x1, turn * x2
            out[f + 6], out[f + 7], out[f + 8] = turn * z0, turn * z1, turn * z2


@kernel
def turned_back(q, i, x, y, z):
    """A vector as the frame sees it that is turned by the unit quaternion at q[i]."""
    w, a, b, c = q[i], -q[i + 1], -q[i + 2], -q[i + 3]
    u, v, t = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return x + w * u + (b * t - c * v), y + w * v + (c * u - a * t), z + w * t + (a * v - b * u)


@kernel
def nearest_stored(p, address, q0, near, beyond, query):
    """Of the leaf of a query, the configuration of the least measure above `beyond`: (its measure, its place).

    The measure is the squared distance of the features; with `near` that of the configuration from q0 is added,
    weighted.  The place is that of its first coordinate in the index.  The measure is infinite where there is none.
    With `beyond` the measure of the last start, this gives the next nearest.
    """
    index = entry_at(address, INDEX)
    size, features, coordinates = index.size, index.features, index.coordinates
    splits, leaves = splits_at(p, index)
    cell = 0
    for level in range(index.levels):
        split = entry_at(address + 8 * (splits + SPLIT_WORDS * ((1 << level) - 1 + cell)), SPLIT)
        cell = 2 * cell + (1 if query[split.feature] >= split.value else 0)
    first = leaves + cell * size * (features + coordinates)
    rows = rows_at(address, first + size * (features + coordinates))
    leaf, configurations = section(rows, first, size * features), first + size * features
    packs, places = size // WIDTH, HEAD + 2 * len(p.effectors)
    best, which = section(query, features, WIDTH), section(query, features + WIDTH, WIDTH)
    least, found = zeros(rows) + np.inf, zeros(rows)
    for k in range(packs):
        measure = zeros(rows)
        for f in range(features):
            d = load_pack(leaf, f * packs + k) - query[f]
            measure = measure + d * d
        if near:
            store_pack(best, 0, measure)
            for i in range(WIDTH):
                at, way = configurations + (WIDTH * k + i) * coordinates, 0.0
                for c in range(coordinates):
                    d = rows[at + c] - q0[np.int64(rows[places + c])]
                    way += d * d
                best[i] += _NEARBY * way
            measure = load_pack(best, 0)
        better = (measure > beyond) & (measure < least)
        least = select(better, measure, least)
        found = select(better, zeros(rows) + k, found)
    store_pack(best, 0, least), store_pack(which, 0, found)
    lane = 0
    for i in range(1, WIDTH):
        lane = i if best[i] < best[lane] else lane
    return best[lane], configurations + (np.int64(which[lane]) * WIDTH + lane) * coordinates


@kernel
def put_stored(p, address, place, q, lane):
    """Write the coordinates of a stored configuration into a lane of q."""
    coordinates, places = entry_at(address, INDEX).coordinates, HEAD + 2 * len(p.effectors)
    rows = rows_at(address, place + coordinates)
    for c in range(coordinates):
        q[np.int64(rows[places + c]), lane] = rows[place + c]
