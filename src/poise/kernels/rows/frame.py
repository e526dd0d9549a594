"""A task's frame as its base sees it, and the columns of its motion: what the rows of most tasks begin with."""

from collections import namedtuple

from poise.kernels.kinematics.forward import jacobian_columns, tool_point
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, splat, store
from poise.kernels.machine.layout import FRAME, GOAL
from poise.kernels.machine.views import section

Seen = namedtuple("Seen", "r0 r1 r2 r3 r4 r5 r6 r7 r8 px py pz linear angular target e")
"""A frame: its rotation row by row and its place [m], columns (3 rows each) of its linear and angular motion, the
target's rows, and those of the residual."""


@kernel
def seen_frame(p, w, k):
    """The frame of effector k, seen from its base; the columns of its motion are written where its Jacobian has them.

    A frame that is led relative to a base is seen from there: all is along the base's axes, and the columns are of the
    motion against the base, so that what moves both alike has no part in it.
    """
    effector = p.effectors[k]
    count = 3 * effector.columns
    px, py, pz = tool_point(effector, w.frames)
    linear, angular = _rows_of(w, effector.linear, count), _rows_of(w, effector.angular, count)
    jacobian_columns(p.columns, effector.first_column, effector.last_column, w.frames, px, py, pz, linear, angular)
    # The rotation of the unit itself: the target's was turned back by the tool's when it was read.
    at = FRAME * effector.tip
    r2, r5, r8 = load(w.frames, at + 3), load(w.frames, at + 4), load(w.frames, at + 5)
    r0, r3, r6 = load(w.frames, at + 6), load(w.frames, at + 7), load(w.frames, at + 8)
    r1, r4, r7 = load(w.frames, at + 9), load(w.frames, at + 10), load(w.frames, at + 11)
    if effector.base > 0:
        b0, b1, b2, b3, b4, b5, b6, b7, b8, o0, o1, o2 = hung(effector.base - 2, effector.base_tool, w.frames)
        base = b0, b1, b2, b3, b4, b5, b6, b7, b8
        px, py, pz = seen_along(base, px - o0, py - o1, pz - o2)
        r0, r3, r6 = seen_along(base, r0, r3, r6)
        r1, r4, r7 = seen_along(base, r1, r4, r7)
        r2, r5, r8 = seen_along(base, r2, r5, r8)
        for j in range(0, count, 3):
            _turn_column(linear, j, base)
            _turn_column(angular, j, base)
    return Seen(
        r0, r1, r2, r3, r4, r5, r6, r7, r8, px, py, pz, linear, angular,
        section(w.target, GOAL * k, GOAL), section(w.e, 3 * effector.first_block, 6),
    )  # fmt: skip


@kernel
def _rows_of(w, start, rows):
    """Where columns go: to the Jacobian from row `start` on, or to the scratch for -1."""
    return section(w.jacobian, start, rows) if start >= 0 else section(w.scratch, 0, rows)


@kernel
def hung(unit, tool, frames):
    """Rotation, row by row, and origin of the frame that hangs at `tool` on a unit; unit -1 is the world."""
    h0, h1, h2, h3, h4, h5, h6, h7, h8 = (
        tool[0], tool[1], tool[2], tool[3], tool[4], tool[5], tool[6], tool[7], tool[8],
    )  # fmt: skip
    h9, h10, h11 = tool[9], tool[10], tool[11]
    one, o = splat(frames, 1.0), splat(frames, 0.0)
    px, py, pz, r0, r1, r2, r3, r4, r5, r6, r7, r8 = o, o, o, one, o, o, o, one, o, o, o, one
    if unit >= 0:
        at = FRAME * unit
        px, py, pz = load(frames, at), load(frames, at + 1), load(frames, at + 2)
        r2, r5, r8 = load(frames, at + 3), load(frames, at + 4), load(frames, at + 5)
        r0, r3, r6 = load(frames, at + 6), load(frames, at + 7), load(frames, at + 8)
        r1, r4, r7 = load(frames, at + 9), load(frames, at + 10), load(frames, at + 11)
    return (
        r0 * h0 + r1 * h3 + r2 * h6, r0 * h1 + r1 * h4 + r2 * h7, r0 * h2 + r1 * h5 + r2 * h8,
        r3 * h0 + r4 * h3 + r5 * h6, r3 * h1 + r4 * h4 + r5 * h7, r3 * h2 + r4 * h5 + r5 * h8,
        r6 * h0 + r7 * h3 + r8 * h6, r6 * h1 + r7 * h4 + r8 * h7, r6 * h2 + r7 * h5 + r8 * h8,
        px + r0 * h9 + r1 * h10 + r2 * h11, py + r3 * h9 + r4 * h10 + r5 * h11, pz + r6 * h9 + r7 * h10 + r8 * h11,
    )  # fmt: skip


@kernel
def seen_along(rotation, x, y, z):
    """A vector of the world along the axes of a rotation (9,), row by row."""
    b0, b1, b2, b3, b4, b5, b6, b7, b8 = rotation
    return b0 * x + b3 * y + b6 * z, b1 * x + b4 * y + b7 * z, b2 * x + b5 * y + b8 * z


@kernel
def _turn_column(columns, j, rotation):
    """Let the three rows at j of `columns` be seen along the axes of a rotation."""
    x, y, z = seen_along(rotation, load(columns, j), load(columns, j + 1), load(columns, j + 2))
    store(columns, j, x), store(columns, j + 1, y), store(columns, j + 2, z)
