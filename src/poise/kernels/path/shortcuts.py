"""Parts of a way are replaced by straight ones where these are free."""

from poise.kernels.algebra.scalar import uniform
from poise.kernels.collision.free_way import CUTS, DRAWN, SEED, step_size
from poise.kernels.kinematics.joint_rows import difference, move, put, square_between
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.views import section
from poise.kernels.path.holding import corners_found, corners_in, holds

_IDLE = 40
"""Cuts in a row that something is in the way of, after which a way is left."""
_LESS, _WORTH = 1e-3, 3e-4
"""A cut makes a part of a way shorter by the first share of that at least, and by the second one of all of the way."""
_SAME = 1e-9
"""Corners no farther apart are one [rad and m]."""


@kernel
def shorten(s, x, joints, buffer, scratch, way, count):
    """Try as often as the buffer says to cut a way of `count` corners short; how many it has then."""
    nq, nv, idle, seed = len(x.q), step_size(x), 0, int(buffer[SEED])
    first, last, step = section(scratch, 0, nq), section(scratch, nq, nq), section(scratch, 2 * nq, nv)
    put(section(way, 0, nq), first), put(first, last)
    for _ in range(int(buffer[CUTS])):
        if count < 3 or idle == _IDLE:
            break
        whole = _length_to(joints, way, nq, count - 1)
        # Parts of all sizes: long ones go round less, short ones round the corners.
        drawn = int(buffer[DRAWN])
        size = whole * uniform(seed, drawn) ** 2
        begin = (whole - size) * uniform(seed, drawn + 1)
        buffer[DRAWN] += 2.0
        a = _point_at(joints, way, nq, count, begin, step, first)
        b = _point_at(joints, way, nq, count, begin + size, step, last)
        if drawn % 8 == 0:  # from corner to corner, which leaves out all between
            put(section(way, a * nq, nq), first), put(section(way, (b + 1) * nq, nq), last)
            size = _length_to(joints, way, nq, b + 1) - _length_to(joints, way, nq, a)
        if a == b or sqrt(square_between(joints, first, last)) > size - max(_LESS * size, _WORTH * whole):
            continue
        idle += 1
        if holds(s, x, joints, buffer, scratch, first, last) and (count + corners_found(scratch)) * nq <= len(way):
            count, idle = _replace(way, nq, count, a, b, corners_in(scratch), corners_found(scratch)), 0
    return _without_twins(joints, way, nq, count)


@kernel
def _length_to(joints, way, nq, corner):
    """Of a way up to a corner [rad and m]."""
    length = 0.0
    for k in range(corner):
        length += _length(joints, way, nq, k)
    return length


@kernel
def _length(joints, way, nq, k):
    """Of the part of a way from its corner k on [rad and m]."""
    return sqrt(square_between(joints, section(way, k * nq, nq), section(way, (k + 1) * nq, nq)))


@kernel
def _point_at(joints, way, nq, count, at, step, q):
    """q (nq) is the point of a way so far along it, on the part that is returned."""
    k, length = 0, _length(joints, way, nq, 0)
    while at > length and k < count - 2:
        at, k = at - length, k + 1
        length = _length(joints, way, nq, k)
    corner = section(way, k * nq, nq)
    difference(joints, corner, section(way, (k + 1) * nq, nq), step)
    move(joints, corner, step, min(max(at / max(length, 1e-300), 0.0), 1.0), q)
    return k


@kernel
def _replace(way, nq, count, a, b, corners, more):
    """Put so many corners more in the place of those between parts a and b; how many there are then."""
    shift = a + 1 + more - (b + 1)
    if shift > 0:
        for k in range(count - 1, b, -1):
            put(section(way, k * nq, nq), section(way, (k + shift) * nq, nq))
    else:
        for k in range(b + 1, count):
            put(section(way, k * nq, nq), section(way, (k + shift) * nq, nq))
    put(section(corners, 0, more * nq), section(way, (a + 1) * nq, more * nq))
    return count + shift


@kernel
def _without_twins(joints, way, nq, count):
    """Leave out corners that are the same as those before them; how many stay."""
    kept = 1
    for k in range(1, count):
        corner = section(way, k * nq, nq)
        if k == count - 1 or square_between(joints, section(way, (kept - 1) * nq, nq), corner) > _SAME * _SAME:
            put(corner, section(way, kept * nq, nq))
            kept += 1
    return kept
