"""Whether all shapes of a scene stay apart on a straight way in the joints: looks at its middle, then at its halves.

Two shapes that are d apart stay so for as much of the way as takes both together by less than d, and as long as a plane
parts them that they do not come to.  So after a look most pairs are clear of all of the part at hand, and the next
looks, in the middles of its halves, are at those alone that are not (Schwarzer, Saha and Latombe 2005, "Adaptive
Dynamic Collision Checking", doi:10.1109/TRO.2004.838012; the planes are those of `motion_bound`).  Parts are halved
until no pair can lose more than RESERVE within, which both must have beyond what is asked.

`buffer` begins with the numbers of the head; then come the step (nv), the bend of each shape that moves on the part at
hand [m], the last normal of each pair (3), the parts, the pairs that they are looked at for, and the balls of
`near_on_way`.
"""

import numpy as np

from poise.kernels.algebra.vectors import dot, vector
from poise.kernels.collision.gjk import bounds_between
from poise.kernels.collision.motion_bound import FAR, gap_along, gaps_at_ends, put_pair, way_and_bend
from poise.kernels.collision.near import (
    DISTANCE,
    NORMAL,
    distance_between,
    ease,
    may_be_within,
    place_movers,
    shared_columns,
    spheres_within,
)
from poise.kernels.collision.near_on_way import balls_size, bound_accelerations, list_near, put_still
from poise.kernels.kinematics.joint_rows import difference, move, put
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.layout import BOX, CYLINDER, HALF_SPACE, HEIGHTS, HULL
from poise.kernels.machine.views import flat, section

LEAST, LOOKS, BLOCKER, SEED, DRAWN, CUTS, COUNT = range(7)
"""Numbers of the head: the least distance that is asked for [m], looks that are left, the pair that was in the way
last, the seed, how many random numbers were drawn, how often a cut is tried, and how many configurations either tree
has."""
_PACKED = COUNT + 2
"""Another one: 1 where the balls tell of what stands still."""
HEAD = 9
"""How many there are."""
PARTS, LISTED = 512, 16384
"""Parts of a way that are looked at, and pairs in the lists of all that come before the last, at most: a way that needs
more counts as blocked."""
_PART, _SIDES = 5, 4
"""Numbers of a part: where its middle is, half its length, where its pairs are listed, and on which side of the look
before it is; of a pair that is listed, how many words there are for its open sides."""
_FIRST, _MOST = 0.5, 256
"""Length of the first parts of a way, at most [rad and m], and how many there are, at most."""
RESERVE = 5e-4
"""What may be lost between two looks [m]."""
_ROUNDING = 1e-12
"""A part along which two shapes lose no more than this brings them no nearer [m]."""
_CLEAR, _BEFORE, _AFTER, _EITHER, _CLOSE, _SHORT, _BLOCKED = range(7)
"""What a look says of a pair: it is apart on all of the part, it is so at the look but perhaps not before it, after it,
or on either side, it is apart on all of the part or at the look while it lacks some of the reserve, it is too near."""


def buffer_size(nv: int, movers: int, count: int) -> int:
    """How many numbers `buffer` has."""
    return HEAD + nv + (1 + 3 * count) * movers + _PART * PARTS + LISTED + movers * count + balls_size(movers, count)


@kernel
def step_size(x):
    """nv, how many numbers a step has."""
    return len(x.proximity.row)


@kernel
def is_free(s, x, joints, buffer, q0, q1):
    """Whether all shapes stay apart on the way from q0 to q1 (nq)."""
    movers, total, nv = s.scene[0].movers, s.scene[0].count, len(x.proximity.row)
    step, at = section(buffer, HEAD, nv), HEAD + nv + (1 + 3 * total) * movers
    parts, at = section(buffer, at, _PART * PARTS), at + _PART * PARTS
    pairs, at = section(buffer, at, LISTED + movers * total), at + LISTED + movers * total
    balls = section(buffer, at, len(buffer) - at)
    if not buffer[_PACKED] > 0.0:
        put_still(s, x, balls)
        buffer[_PACKED] = 1.0
    difference(joints, q0, q1, step)
    put(q0, x.q)
    made, listed, looked = _begin(s, x, balls, step, parts), 0, 0
    while looked < made:
        at = _PART * looked
        middle, half, begin, end = parts[at], parts[at + 1], int(parts[at + 2]), int(parts[at + 3])
        side, sides = int(parts[at + 4]), 0
        move(joints, q0, step, middle, x.q)
        place_movers(s, x)
        for i in range(movers):
            x.proximity.advance[i] = -1.0
        buffer[LOOKS] -= 1.0
        if listed > LISTED or made + 2 > PARTS:
            return False
        if end < 0:
            begin, end = listed, _list_first(s, x, buffer, balls, half, pairs, listed)
            listed = end
        looked, first = looked + 1, listed
        for k in range(begin, end):
            pair = int(pairs[k]) // _SIDES
            if int(pairs[k]) % _SIDES & side == 0:
                continue
            said = _look(s, x, buffer, pair // total, pair % total, half)
            short = _CLOSE <= said <= _SHORT
            if short and _gives_way(s, x, joints, buffer, q0, q1, pair // total, pair % total):
                said = _CLEAR if said == _CLOSE else _EITHER
                move(joints, q0, step, middle, x.q)
                place_movers(s, x)
            if said >= _CLOSE:
                buffer[BLOCKER] = float(pair)
                return False
            if said != _CLEAR:
                pairs[listed] = float(_SIDES * pair + said)
                listed, sides = listed + 1, sides | said
        if sides & _BEFORE:
            made = _add_part(parts, made, middle - 0.5 * half, 0.5 * half, first, listed, _BEFORE)
        if sides & _AFTER:
            made = _add_part(parts, made, middle + 0.5 * half, 0.5 * half, first, listed, _AFTER)
    return True


@kernel
def _begin(s, x, balls, step, parts):
    """The first parts of a way, none longer than _FIRST, so that what is far away is seen to be; how many.

    They come in the order in which halves of halves would, from the end of the way on: the more of it lies between two
    looks that come one after the other, and between the first and where a tree already is, the sooner something in the
    way is met.
    """
    whole = 0.0
    for v in range(len(step)):
        x.proximity.row[v] = abs(step[v])
        whole += abs(step[v])
    bound_accelerations(s, x, balls)
    count, made = 1, 0
    while whole > _FIRST * count and count < _MOST:
        count *= 2
    for k in range(count):
        place, bit, left = count - 1, count // 2, k
        while left > 0:  # the digits of k, the last first
            place, bit, left = place - bit * (left % 2), bit // 2, left // 2
        made = _add_part(parts, made, (place + 0.5) / count, 0.5 / count, 0, -1, _EITHER)
    return made


@kernel
def _add_part(parts, made, middle, half, begin, end, side):
    """Add a part to those that are to be looked at; how many there are then."""
    at = _PART * made
    parts[at], parts[at + 1], parts[at + 2], parts[at + 3] = middle, half, float(begin), float(end)
    parts[at + 4] = float(side)
    return made + 1


@kernel
def _list_first(s, x, buffer, balls, half, pairs, listed):
    """List the pairs that may meet on a first part, that which was in the way last before the others; how many."""
    begin = listed
    listed = list_near(s, x, balls, section(buffer, HEAD, step_size(x)), half, buffer[LEAST], pairs, listed)
    for k in range(begin, listed):
        if pairs[k] == buffer[BLOCKER]:
            pairs[k], pairs[begin] = pairs[begin], pairs[k]
    for k in range(begin, listed):
        pairs[k] = _SIDES * pairs[k] + float(_EITHER)
    return listed


@kernel
def _look(s, x, buffer, i, j, half):
    """What shapes i and j are on a part of a way: from cheap to dear, until that is known."""
    least, movers, nv = buffer[LEAST], s.scene[0].movers, len(x.proximity.row)
    shared, bend = 0, 0.0
    if j < movers:  # what moves both alike brings neither nearer
        shared = shared_columns(s, i, j)
        far, bend = way_and_bend(s, x, i, shared, half)
        other, more = way_and_bend(s, x, j, shared, half)
        far, bend = far + other, bend + more
    else:
        if x.proximity.advance[i] < 0.0:
            x.proximity.advance[i], buffer[HEAD + nv + i] = way_and_bend(s, x, i, 0, half)
        far, bend = x.proximity.advance[i], buffer[HEAD + nv + i]
    if not spheres_within(s, x, i, j, least + far) or not may_be_within(s, x, i, j, least + far):
        return _CLEAR
    first, second, normal = s.shapes[i], s.shapes[j], HEAD + nv + movers + 3 * (i * s.scene[0].count + j)
    step, girths = section(buffer, HEAD, nv), first.radius + second.radius - ease(s, i, j)
    low = least + RESERVE + girths
    if _is_searched(first, second) and least + girths >= 0.0:
        put_pair(s, x, i, j)
        numbers, n = flat(x.room), vector(buffer, normal)
        enough = min(least + max(far, RESERVE) + girths, low + 0.5 * bend)
        gap = gap_along(s, x, i, j, n) if dot(n, n) > 0.5 else -np.inf
        if gap >= enough and _open(s, x, (i, j, shared), step, half, n, (gap, least + girths, far, bend)) == _CLEAR:
            return _CLEAR
        lower, upper, n = bounds_between(first, second, s.vertices, numbers, n, enough, enough)
        if lower < low and upper >= low:
            lower, upper, n = bounds_between(first, second, s.vertices, numbers, n, low, low)
        buffer[normal], buffer[normal + 1], buffer[normal + 2] = n[0], n[1], n[2]
        if not upper > least + girths:
            return _BLOCKED
        if lower >= low:
            return _open(s, x, (i, j, shared), step, half, n, (lower, least + girths, far, bend))
    distance = distance_between(s, x, i, j, least + max(far, RESERVE))
    if not distance >= least:
        return _BLOCKED
    if not distance >= least + RESERVE:
        return _CLOSE if far <= max(distance - least, _ROUNDING) else _SHORT
    if second.core >= HEIGHTS:
        return _EITHER if distance < least + far and far > RESERVE else _CLEAR
    put_pair(s, x, i, j)
    n = vector(x.proximity.pair, NORMAL)
    return _open(s, x, (i, j, shared), step, half, n, (distance + girths, least + girths, far, bend))


@kernel
def _open(s, x, pair, step, half, n, known):
    """On which sides of the look the two shapes of a pair, which share columns, may be nearer than asked.

    Of their cores the gap along n is known, the least of it, how far both may come, and their bend.
    """
    (i, j, shared), (gap, least, far, bend) = pair, known
    if gap >= least + far or far <= RESERVE:
        return _CLEAR
    if not bend < FAR:
        return _EITHER
    before, after = gaps_at_ends(s, x, i, j, shared, step, half, n)
    least = least + 0.5 * bend
    return (0 if before >= least else _BEFORE) + (0 if after >= least else _AFTER)


@kernel
def _is_searched(first, second):
    """Whether the distance of two shapes takes a search that bounds can end."""
    if second.core == HALF_SPACE or second.core >= HEIGHTS:
        return False
    either = first.core == HULL or first.core == CYLINDER or second.core == HULL or second.core == CYLINDER
    return either or (first.core == BOX and second.core == BOX)


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
