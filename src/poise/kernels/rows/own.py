"""Rows of a task with a residual of the user's own, a function of the poses of frames that is to be zero.

With r(frames) the residual, e = -r, and the Jacobian is dr/dq: the derivatives of r by the twist of each frame, times
the columns of its motion.  Without derivatives of the user's they are central differences.  Of a range, r shall be at
most 0: where it is less, both are 0, and each row is a side.
"""

import numpy as np

from poise.kernels.kinematics.forward import jacobian_columns
from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.lanes import load, packs, pitch, select, splat, sqrt, store
from poise.kernels.machine.layout import FRAME, GOAL, PLACE, RESIDUAL, SLOPES, WIDTH
from poise.kernels.machine.views import as_array, as_matrix, flat, section
from poise.kernels.rows.frame import hung

STEP = 2.0**-17
"""Half the way of a difference quotient [m or rad], about the cube root of a double's rounding."""
_COSINE, _SINE = 0.9999999999708962, 7.629394531175985e-06
"""Of the angle STEP."""


def own_buffer_size(frames, numbers, rows, columns):
    """Rows of scratch that `own_rows` works in."""
    slopes = 6 * frames * rows
    return 6 * columns + 12 * frames + numbers + 2 * rows + slopes + 12 * frames + numbers + max(rows, slopes)


@routine
def own_rows(p, w, k):
    """Residual and Jacobian of effector k, whose functions stand behind this routine in the table."""
    _write(p, w, k)


@kernel
def _write(p, w, k):
    linear, angular, frames, out, slopes = _seen(p, w, k)
    effector = p.effectors[k]
    count, rows, width = len(frames) // FRAME, len(out), len(linear)
    for r in range(3 * (effector.last_block - effector.first_block)):
        start = p.blocks[effector.first_block + r // 3].start + r % 3
        store(w.e, 3 * effector.first_block + r, -load(out, r) if r < rows else splat(w.scratch, 0.0))
        for j in range(0, width, 3):
            store(w.jacobian, start + j, splat(w.scratch, 0.0))
    for f in range(count):
        _columns(p, w, effector.first_frame + f, frames, FRAME * f, linear, angular)
        for r in range(rows):
            start, g = p.blocks[effector.first_block + r // 3].start + r % 3, 6 * (count * r + f)
            for j in range(0, width, 3):
                store(w.jacobian, start + j, load(w.jacobian, start + j) + _along(slopes, g, linear, angular, j))


@routine
def own_range_rows(p, w, k):
    """`own_rows` of a range: what r is beyond 0, and 0 within."""
    _write(p, w, k)
    effector = p.effectors[k]
    for r in range(effector.residual_rows):
        start, i = p.blocks[effector.first_block + r // 3].start + r % 3, 3 * effector.first_block + r
        e = load(w.e, i)
        store(w.e, i, select(e >= 0.0, splat(w.scratch, 0.0), e))  # NaN stays
        for j in range(0, 3 * effector.columns, 3):
            store(w.jacobian, start + j, select(e >= 0.0, splat(w.scratch, 0.0), load(w.jacobian, start + j)))


@routine
def own_sides(p, w, b):
    """h_i of each side of a range of the user's own: its residual; -inf, no side, where a weight is 0.

    w.sides.column_norms: a row changes by a column no faster than the lengths of its derivatives by each frame's place
    and turn, times those of the column.
    """
    task_range = p.ranges[b]
    linear, angular, frames, out, slopes = _seen(p, w, task_range.effector)
    effector, row = p.effectors[task_range.effector], pitch(w.sides.jacobian, len(w.step))
    count = len(frames) // FRAME
    for r in range(len(out)):
        weighted = p.blocks[effector.first_block + r // 3].weight[r % 3] > 0.0
        w.sides.residual[task_range.first + r] = load(out, r) if weighted else -np.inf
        for a in range(row):
            w.sides.jacobian[(task_range.first + r) * row + a] = 0.0
            w.sides.column_norms[(task_range.first + r) * row + a] = 0.0
    for f in range(count):
        _columns(p, w, effector.first_frame + f, frames, FRAME * f, linear, angular)
        for r in range(len(out)):
            g = 6 * (count * r + f)
            straight, turning = _length(slopes, g), _length(slopes, g + 3)
            weighted = p.blocks[effector.first_block + r // 3].weight[r % 3] > 0.0
            for c in range(effector.columns if weighted else 0):
                j, at = 3 * c, (task_range.first + r) * row + p.slots[effector.first_slot + c]
                w.sides.jacobian[at] += _along(slopes, g, linear, angular, j)
                w.sides.column_norms[at] += straight * _length(linear, j) + turning * _length(angular, j)


@kernel
def _columns(p, w, f, frames, at, linear, angular):
    """Write what each column of a task does to frame f, whose pose is in `frames`: 3 numbers, linear and angular."""
    frame = p.task_frames[f]
    for j in range(len(linear)):
        store(linear, j, splat(w.scratch, 0.0)), store(angular, j, splat(w.scratch, 0.0))
    px, py, pz = load(frames, at), load(frames, at + 1), load(frames, at + 2)
    jacobian_columns(p.columns, frame.first_column, frame.last_column, w.frames, px, py, pz, linear, angular)


@kernel
def _length(rows, i):
    """The length of three numbers."""
    x, y, z = load(rows, i), load(rows, i + 1), load(rows, i + 2)
    return sqrt(x * x + y * y + z * z)


@kernel
def _along(slopes, g, linear, angular, j):
    """The derivative of a row by a column: its six by a frame's twist, times what the column does to the frame."""
    along = load(slopes, g) * load(linear, j) + load(slopes, g + 1) * load(linear, j + 1)
    about = load(slopes, g + 3) * load(angular, j) + load(slopes, g + 4) * load(angular, j + 1)
    along = along + load(slopes, g + 2) * load(linear, j + 2)
    return along + (about + load(slopes, g + 5) * load(angular, j + 2))


@kernel
def _seen(p, w, k):
    """Of effector k room for columns, linear and angular, the frames as they stand, the residual, and its derivatives.

    All are sections of w.scratch: two of 3 numbers a column, 12 a frame, one a row, and 6 a frame and row.
    """
    effector = p.effectors[k]
    count, rows = effector.last_frame - effector.first_frame, effector.residual_rows
    own, width = effector.last_number - effector.first_number, 3 * effector.columns
    total = own + (7 if effector.goal & PLACE else 0)
    s, at = w.scratch, 2 * width
    linear, angular = section(s, 0, width), section(s, width, width)
    frames, numbers = section(s, at, FRAME * count), section(s, at + FRAME * count, total)
    at = at + FRAME * count + total
    out, other, slopes = section(s, at, rows), section(s, at + rows, rows), section(s, at + 2 * rows, 6 * count * rows)
    at = at + 2 * rows + 6 * count * rows
    plain = section(s, at, len(s) - at)
    for f in range(count):
        _put_frame(p, w, effector.first_frame + f, frames, FRAME * f)
    for i in range(own):
        store(numbers, i, splat(s, p.numbers[effector.first_number + i]))
    if total > own:
        for i in range(3):
            store(numbers, own + i, load(w.target, GOAL * k + 9 + i))
        for i in range(4):
            store(numbers, own + 3 + i, load(w.target, GOAL * k + i))

    if effector.sloped:
        _slopes(w, effector, frames, numbers, slopes, plain)
    else:
        _differences(p, w, effector, frames, numbers, (out, other), slopes, plain)
    _residual(w, effector, frames, numbers, out, plain)
    return linear, angular, frames, out, slopes


@kernel
def _put_frame(p, w, f, frames, at):
    """Write the pose of frame f from row `at` of `frames` on: place, then rotation row by row."""
    frame = p.task_frames[f]
    r0, r1, r2, r3, r4, r5, r6, r7, r8, px, py, pz = hung(frame.unit, frame.tool, w.frames)
    store(frames, at, px), store(frames, at + 1, py), store(frames, at + 2, pz)
    store(frames, at + 3, r0), store(frames, at + 4, r1), store(frames, at + 5, r2)
    store(frames, at + 6, r3), store(frames, at + 7, r4), store(frames, at + 8, r5)
    store(frames, at + 9, r6), store(frames, at + 10, r7), store(frames, at + 11, r8)


@kernel
def _residual(w, effector, frames, numbers, out, plain):
    """Write the user's residual to `out`: at once, or lane by lane."""
    place = w.routines[effector.rows + RESIDUAL]
    if effector.lanes:
        call(place, frames, numbers, out)
        return
    f, n = section(plain, 0, len(frames)), section(plain, len(frames), len(numbers))
    o = as_array(section(plain, len(frames) + len(numbers), len(out)))
    for lane in range(packs(out, WIDTH)):
        _gather_lane(frames, lane, as_array(f))
        _gather_lane(numbers, lane, as_array(n))
        call(place, as_matrix(f, len(frames) // FRAME, FRAME), as_array(n), o)
        _scatter_lane(o, out, lane)


@kernel
def _slopes(w, effector, frames, numbers, out, plain):
    """Write the user's derivatives to `out`, row by row: at once, or lane by lane."""
    place = w.routines[effector.rows + SLOPES]
    if effector.lanes:
        call(place, frames, numbers, out)
        return
    f, n = section(plain, 0, len(frames)), section(plain, len(frames), len(numbers))
    o = section(plain, len(frames) + len(numbers), len(out))
    rows, count = effector.residual_rows, len(frames) // FRAME
    for lane in range(packs(out, WIDTH)):
        _gather_lane(frames, lane, as_array(f))
        _gather_lane(numbers, lane, as_array(n))
        call(place, as_matrix(f, count, FRAME), as_array(n), as_matrix(o, rows, 6 * count))
        _scatter_lane(as_array(o), out, lane)


@kernel
def _gather_lane(rows, lane, out):
    """One lane of rows, as plain numbers."""
    numbers, width = flat(rows), packs(rows, WIDTH)
    for i in range(len(out)):
        out[i] = numbers[width * i + lane]


@kernel
def _scatter_lane(found, rows, lane):
    """Plain numbers, as one lane of rows."""
    numbers, width = flat(rows), packs(rows, WIDTH)
    for i in range(len(found)):
        numbers[width * i + lane] = found[i]


@kernel
def _differences(p, w, effector, frames, numbers, residuals, slopes, plain):
    """Write the derivatives of the residual by each frame's twist: half the difference over STEP both ways."""
    count, (ahead, backward) = len(frames) // FRAME, residuals
    for f in range(count):
        for axis in range(6):
            _nudge(frames, FRAME * f, axis, 1.0)
            _residual(w, effector, frames, numbers, ahead, plain)
            _put_frame(p, w, effector.first_frame + f, frames, FRAME * f)
            _nudge(frames, FRAME * f, axis, -1.0)
            _residual(w, effector, frames, numbers, backward, plain)
            _put_frame(p, w, effector.first_frame + f, frames, FRAME * f)
            for r in range(len(ahead)):
                store(slopes, 6 * (count * r + f) + axis, (load(ahead, r) - load(backward, r)) * (0.5 / STEP))


@kernel
def _nudge(frames, at, axis, sign):
    """Move a frame by STEP along an axis of the world (0 to 2), or turn it by STEP about one (3 to 5)."""
    if axis < 3:
        store(frames, at + axis, load(frames, at + axis) + sign * STEP)
        return
    b, c, s = at + 3 + 3 * ((axis - 2) % 3), at + 3 + 3 * ((axis - 1) % 3), sign * _SINE
    for i in range(3):
        y, z = load(frames, b + i), load(frames, c + i)
        store(frames, b + i, _COSINE * y - s * z), store(frames, c + i, s * y + _COSINE * z)
