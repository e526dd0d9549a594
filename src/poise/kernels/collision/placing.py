"""Where shapes are in the world, and how a kernel reads it."""

from poise.kernels.algebra.vectors import dot, plus, scaled
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, splat, store
from poise.kernels.machine.layout import FRAME, HALF_SPACE, POINT, SEGMENT

ORIGIN, Z, X, Y = 0, 3, 6, 9
"""Rows of a frame."""


@kernel
def part(frames, k, row):
    """The origin or an axis of frame k."""
    at = FRAME * k + row
    return load(frames, at), load(frames, at + 1), load(frames, at + 2)


@kernel
def combined(frames, k, x, y, z):
    """x X + y Y + z Z of the axes of frame k."""
    return plus(plus(scaled(x, part(frames, k, X)), scaled(y, part(frames, k, Y))), scaled(z, part(frames, k, Z)))


@kernel
def along_axes(frames, k, v):
    """A vector of the world along the x, y and z axes of frame k."""
    return dot(part(frames, k, X), v), dot(part(frames, k, Y), v), dot(part(frames, k, Z), v)


@kernel
def seen_along(axes, v):
    """A vector of the world along these axes."""
    return dot(axes[0], v), dot(axes[1], v), dot(axes[2], v)


@kernel
def out_of(axes, v):
    """A vector along these axes in the world."""
    return plus(plus(scaled(v[0], axes[0]), scaled(v[1], axes[1])), scaled(v[2], axes[2]))


@kernel
def place_shapes(p, first, last, unit_frames, shape_frames):
    """The frames of shapes `first` to `last` in the world, rows FRAME * shape: their poses on those of their units.

    Reads whole frames of units, rows FRAME * unit.  Of a point only the origin is written, of a segment and a
    half-space the z axis too.
    """
    for k in range(first, last):
        shape, pose = p.shapes[k], p.shapes[k].pose
        unit, core, at = shape.unit, shape.core, FRAME * k
        _put(shape_frames, at + ORIGIN, plus(_origin(unit_frames, unit), _seen(unit_frames, unit, pose, 9, 1)))
        if core != POINT:
            _put(shape_frames, at + Z, _seen(unit_frames, unit, pose, 2, 3))
        if core != POINT and core != SEGMENT and core != HALF_SPACE:
            _put(shape_frames, at + X, _seen(unit_frames, unit, pose, 0, 3))
            _put(shape_frames, at + Y, _seen(unit_frames, unit, pose, 1, 3))


@kernel
def _origin(frames, unit):
    """The origin of a unit; -1 is the world."""
    if unit < 0:
        return splat(frames, 0.0), splat(frames, 0.0), splat(frames, 0.0)
    return part(frames, unit, ORIGIN)


@kernel
def _seen(frames, unit, numbers, i, step):
    """The vector whose numbers are those at i, i + step and i + 2 step, from a unit into the world."""
    x, y, z = numbers[i], numbers[i + step], numbers[i + 2 * step]
    if unit < 0:
        return splat(frames, x), splat(frames, y), splat(frames, z)
    return combined(frames, unit, x, y, z)


@kernel
def _put(rows, at, v):
    store(rows, at, v[0]), store(rows, at + 1, v[1]), store(rows, at + 2, v[2])
