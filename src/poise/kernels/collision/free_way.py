"""Whether all shapes of a scene stay apart on a straight way in the joints: looks at its middle, then at its halves.

Two shapes that are d apart stay so for as much of the way as takes both together by less than d.  So after a look most
pairs are clear of all of the part at hand, and the next looks, in the middles of its halves, are at those alone that
are not (Schwarzer, Saha and Latombe 2005, "Adaptive Dynamic Collision Checking", doi:10.1109/TRO.2004.838012).  Parts
are halved until no pair can lose more than RESERVE within, which both must have beyond what is asked.

`buffer` begins with the numbers of the head; then come the step (nv), how far two shapes that move may come to each
other on the whole way, and on the diagonal one by itself (movers x movers) [m], the last normal of each pair (3), the
parts, and the pairs that they are looked at for.
"""

import numpy as np

from poise.kernels.algebra.vectors import dot, minus, opposite, vector
from poise.kernels.collision.boxes import beyond
from poise.kernels.collision.gjk import FIRST, SECOND, bounds_between, support
from poise.kernels.collision.near import (
    DISTANCE,
    distance_between,
    ease,
    looked_at,
    max_displacement,
    may_be_within,
    place_movers,
    shared_columns,
    spheres_within,
    ways_between,
)
from poise.kernels.collision.placing import ORIGIN, along_axes, part
from poise.kernels.kinematics.joint_rows import difference, move, put
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load_pack, packs, sqrt, store_pack
from poise.kernels.machine.layout import BOX, CYLINDER, FRAME, HULL, PRISMATIC, REVOLUTE, WIDTH
from poise.kernels.machine.views import flat, section

LEAST, LOOKS, BLOCKER, SEED, DRAWN, CUTS, COUNT = range(7)
"""Numbers of the head: the least distance that is asked for [m], looks that are left, the pair that was in the way
last, the seed, how many random numbers were drawn, how often a cut is tried, and how many configurations either tree
has."""
HEAD = 8
"""How many there are."""
PARTS, LISTED = 512, 16384
"""Parts of a way that are looked at, and pairs in all of their lists, at most: a way that needs more counts as
blocked."""
_PART = 4
"""Numbers of a part: where its middle is, half its length, and where its pairs are listed."""
_FIRST, _MOST = 0.5, 256
"""Length of the first parts of a way, at most [rad and m], and how many there are, at most."""
RESERVE = 5e-4
"""What may be lost between two looks [m]."""
_ROUNDING = 1e-12
"""A part along which two shapes lose no more than this brings them no nearer [m]."""
_CLEAR, _OPEN, _CLOSE, _SHORT, _BLOCKED = range(5)
"""What a look says of a pair: it is apart on all of the part, it is apart at the look, either while it lacks some of
the reserve, it is too near."""


def buffer_size(nv: int, movers: int, count: int) -> int:
    """How many numbers `buffer` has."""
    return HEAD + nv + (movers + 3 * count) * movers + _PART * PARTS + LISTED


@kernel
def step_size(x):
    """nv, how many numbers a step has."""
    return len(x.proximity.row)


@kernel
def is_free(s, x, joints, buffer, q0, q1):
    """Whether all shapes stay apart on the way from q0 to q1 (nq)."""
    movers, total, nv = s.scene[0].movers, s.scene[0].count, len(x.proximity.row)
    step, at = section(buffer, HEAD, nv), HEAD + nv + (movers + 3 * total) * movers
    parts, pairs = section(buffer, at, _PART * PARTS), section(buffer, at + _PART * PARTS, LISTED)
    difference(joints, q0, q1, step)
    put(q0, x.q)
    made, listed, looked = _begin(s, x, buffer, step, parts), 0, 0
    while looked < made:
        at = _PART * looked
        middle, half, begin, end = parts[at], parts[at + 1], int(parts[at + 2]), int(parts[at + 3])
        move(joints, q0, step, middle, x.q)
        place_movers(s, x)
        for i in range(movers):
            x.proximity.advance[i] = -1.0
        buffer[LOOKS] -= 1.0
        if listed + movers * total > LISTED or made + 2 > PARTS:
            return False
        if end < 0:
            begin, end = listed, _near_enough(s, x, buffer, half, pairs, listed)
            listed = end
        looked, first = looked + 1, listed
        for k in range(begin, end):
            pair = int(pairs[k])
            said = _look(s, x, buffer, pair // total, pair % total, half)
            short = _CLOSE <= said <= _SHORT
            if short and _gives_way(s, x, joints, buffer, q0, q1, pair // total, pair % total):
                said = _CLEAR if said == _CLOSE else _OPEN
                move(joints, q0, step, middle, x.q)
                place_movers(s, x)
            if said >= _CLOSE:
                buffer[BLOCKER] = pairs[k]
                return False
            if said == _OPEN:
                pairs[listed] = pairs[k]
                listed += 1
        if listed > first:
            for side in range(-1, 2, 2):
                made = _add_part(parts, made, middle + 0.5 * side * half, 0.5 * half, first, listed)
    return True


@kernel
def _begin(s, x, buffer, step, parts):
    """The first parts of a way, none longer than _FIRST, so that what is far away is seen to be; how many.

    They come in the order in which halves of halves would: the more of a way lies between two looks that come one after
    the other, the sooner something in the way is met.
    """
    movers, nv, whole = s.scene[0].movers, len(x.proximity.row), 0.0
    for v in range(nv):
        x.proximity.row[v] = abs(step[v])
        whole += abs(step[v])
    for i in range(movers):
        for j in range(i, movers):
            shared = shared_columns(s, i, j) if j > i else 0
            way = max_displacement(s, i, shared, x.proximity.row)
            if j > i:
                way += max_displacement(s, j, shared, x.proximity.row)
            buffer[HEAD + nv + movers * i + j] = way
    count, made = 1, 0
    while whole > _FIRST * count and count < _MOST:
        count *= 2
    for k in range(count):
        place, bit, left = 0, count // 2, k
        while left > 0:  # the digits of k, the last first
            place, bit, left = place + bit * (left % 2), bit // 2, left // 2
        made = _add_part(parts, made, (place + 0.5) / count, 0.5 / count, 0, -1)
    return made


@kernel
def _add_part(parts, made, middle, half, begin, end):
    """Add a part to those that are to be looked at; how many there are then."""
    at = _PART * made
    parts[at], parts[at + 1], parts[at + 2], parts[at + 3] = middle, half, float(begin), float(end)
    return made + 1


@kernel
def _near_enough(s, x, buffer, half, pairs, listed):
    """List the pairs whose bounding spheres may meet on this part, that which was in the way last first; how many."""
    movers, bounded, total = s.scene[0].movers, s.scene[0].bounded, s.scene[0].count
    count, last, ways = packs(x.proximity.centres, bounded), int(buffer[BLOCKER]), HEAD + len(x.proximity.row)
    if last >= 0:
        pairs[listed] = buffer[BLOCKER]
        listed += 1
    longest = 0.0
    for i in range(movers):
        longest = max(longest, half * buffer[ways + (movers + 1) * i])
    for i in range(movers - 1, -1, -1):  # the hand is more often in the way than what carries it
        own, least = half * buffer[ways + (movers + 1) * i], s.shapes[i].bound + buffer[LEAST]
        for c in range((i + 1) // WIDTH, count):
            way = ways_between(x, count, i, c)
            square = dot(way, way)
            far = load_pack(x.proximity.reach, count * i + c) + (least + own + (longest if WIDTH * c < movers else 0.0))
            if any_of((far > 0.0) & (square < far * far)):
                store_pack(x.proximity.squares, count * i + c, square)
                for j in range(max(i + 1, WIDTH * c), min(bounded, WIDTH * (c + 1))):
                    at = WIDTH * count * i + j
                    far_j = (
                        x.proximity.reach[at] + least + (half * buffer[ways + movers * i + j] if j < movers else own)
                    )
                    if far_j > 0.0 and x.proximity.squares[at] < far_j * far_j and i * total + j != last:
                        pairs[listed] = float(i * total + j)
                        listed += 1
        for j in range(bounded, total):
            if looked_at(s, i, j) and i * total + j != last:
                pairs[listed] = float(i * total + j)
                listed += 1
    return listed


@kernel
def _look(s, x, buffer, i, j, half):
    """What shapes i and j are on a part of a way: from cheap to dear, until that is known."""
    least, movers, nv = buffer[LEAST], s.scene[0].movers, len(x.proximity.row)
    if j < movers:  # what moves both alike brings neither nearer
        shared = shared_columns(s, i, j)
        far = _way(s, x, i, shared, half) + _way(s, x, j, shared, half)
    else:
        far = _advance(s, x, i, half)
    if not spheres_within(s, x, i, j, least + far) or _beside_box(s, x, i, j, least + far):
        return _CLEAR
    if not may_be_within(s, x, i, j, least + far):
        return _CLEAR
    first, second, normal = s.shapes[i], s.shapes[j], HEAD + nv + movers * movers + 3 * (i * s.scene[0].count + j)
    if j < s.scene[0].bounded and (_is_searched(first) or _is_searched(second)):
        numbers, girths = flat(x.room), first.radius + second.radius - ease(s, i, j)
        for r in range(FRAME):
            numbers[FIRST + r] = x.proximity.shape_frames[FRAME * i + r]
            numbers[SECOND + r] = x.proximity.shape_frames[FRAME * j + r]
        n, low, high = vector(buffer, normal), least + RESERVE + girths, least + max(far, RESERVE) + girths
        if _gap_along(s, i, j, numbers, n) > high:
            return _CLEAR
        lower, upper, n = bounds_between(first, second, s.vertices, numbers, n, low, high)
        buffer[normal], buffer[normal + 1], buffer[normal + 2] = n[0], n[1], n[2]
        if not upper > least + girths:
            return _BLOCKED
        if lower >= low:
            return _OPEN if lower < least + far + girths and far > RESERVE else _CLEAR
    distance = distance_between(s, x, i, j, least + max(far, RESERVE))
    if not distance >= least:
        return _BLOCKED
    if not distance >= least + RESERVE:
        return _CLOSE if far <= max(distance - least, _ROUNDING) else _SHORT
    return _OPEN if distance < least + far and far > RESERVE else _CLEAR


@kernel
def _is_searched(shape):
    """Whether the distance of a shape takes a search."""
    return shape.core == HULL or shape.core == CYLINDER


@kernel
def _beside_box(s, x, i, j, gap):
    """Whether shape j is a box, and the ball around shape i farther from it: around a wall a ball says little."""
    if s.shapes[j].core != BOX:
        return False
    frames, far = x.proximity.shape_frames, s.shapes[i].bound + s.shapes[j].radius + gap
    way = beyond(along_axes(frames, j, minus(part(frames, i, ORIGIN), part(frames, j, ORIGIN))), s.shapes[j].half)
    return far < 0.0 or dot(way, way) > far * far


@kernel
def _gives_way(s, x, joints, buffer, q0, q1, i, j):
    """Whether shapes i and j, which lack some of their reserve at the look, have no more of it at an end either."""
    distance, most = x.proximity.pair[DISTANCE], np.inf
    for end in range(2):
        put(q0 if end == 0 else q1, x.q)
        place_movers(s, x)
        most = min(most, distance_between(s, x, i, j, buffer[LEAST] + RESERVE))
    put(q0, x.q)
    return distance >= most


@kernel
def _gap_along(s, i, j, numbers, n):
    """How far the cores of shapes i and j are apart along n, a lower bound of their distance; none without n."""
    if dot(n, n) < 0.5:
        return -np.inf
    p = support(s.shapes[i], s.vertices, numbers, FIRST, n)
    q = support(s.shapes[j], s.vertices, numbers, SECOND, opposite(n))
    return dot(n, minus(q, p))


@kernel
def _advance(s, x, i, half):
    """How far shape i may come on half of a part [m]."""
    if x.proximity.advance[i] < 0.0:
        x.proximity.advance[i] = _way(s, x, i, 0, half)
    return x.proximity.advance[i]


@kernel
def _way(s, x, i, shared, share):
    """How far a point of shape i may come with a share of x.proximity.row, without its first columns [m].

    From the shape to the root: an axis takes it no farther than its lever, which is no longer than now and what the
    joints between can add.
    """
    chain, way, p = s.chains[i], 0.0, part(x.proximity.shape_frames, i, ORIGIN)
    lever = chain.first_lever - chain.first_column
    for k in range(chain.last_column - 1, chain.first_column + shared - 1, -1):
        c = s.columns[k]
        turn = share * x.proximity.row[c.column]
        if turn > 0.0:
            arm = s.levers[lever + k]
            if c.kind != PRISMATIC:
                d = minus(p, vector(x.frames, c.place))
                square = dot(d, d)
                # Across the axis alone, unless other axes of a ball turn about the same place and not this one with it.
                if c.kind == REVOLUTE and (k == chain.first_column or s.columns[k - 1].place != c.place):
                    along = dot(d, vector(x.frames, c.axis))
                    square = max(square - along * along, 0.0) if c.axis == c.place + 3 else square
                arm = min(arm, abs(c.scale) * (sqrt(square) + s.shapes[i].bound + abs(c.pitch) + way))
            way += turn * arm
    return way
