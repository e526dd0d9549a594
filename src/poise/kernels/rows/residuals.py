"""Residuals of tasks and their Jacobians, in blocks of three rows.

Every residual is `target - current` and is a number, or a rotation or a displacement along the world's axes, so that
the gradient of half its square is exactly `-J^T e` with the geometric Jacobian J:

- position: the displacement to the target [m];
- orientation: the rotation vector that takes the frame to the target [rad];
- aim: the rotation vector of the shortest turn that takes an axis of the frame to a direction [rad];
- distance: what the distance to a point lacks [m], in the first row;
- mass: the displacement of the centre of mass to the target [m];
- coupling: what a sum of coordinates lacks, in the first row [rad or m].

A frame that is led relative to a base is seen from there: its rows are along the base's axes, and its Jacobian is of
the motion against the base, so that what moves both alike has no part in it.

Block b has the residual rows 3b..3b+2 of `e`; its Jacobian is stored by columns from row `blocks[b]` of `jacobian`.
"""

import functools

from poise.kernels.kinematics.forward import FRAME, columns
from poise.kernels.kinematics.mass import mass_columns, mass_moments
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, section, select, splat, sqrt, store

GOAL = 30
"""Rows of an effector's target in the workspace: rotation 9, place 3, two 3 x 3 weight matrices."""
POSE, POSITION, ORIENTATION, AXIS, LOOK_AT, DISTANCE, MASS, COUPLING = range(8)
TOOL, BODY = 28, 5
"""Real numbers of an effector, and of a body (see `poise.solving.problem`)."""


@kernel
def half_angle_ratio(c):
    """arccos(c) / sqrt(1 - c^2) on [0, 1], to 6e-10: half an angle over its sine, from its cosine."""
    u = 1.0 - c
    return 0.99999999972341244 + u * (
        0.33333341285613359
        + u
        * (
            0.13332957498623748
            + u
            * (
                0.057211907885685728
                + u
                * (
                    0.024746922870720807
                    + u
                    * (
                        0.015116314108640301
                        + u
                        * (
                            -0.0069569347556014541
                            + u
                            * (
                                0.029797453221689957
                                + u
                                * (
                                    -0.0382547053810137
                                    + u
                                    * (0.036507088698214037 + u * (-0.018817364088836139 + u * 0.0047826561308236532))
                                )
                            )
                        )
                    )
                )
            )
        )
    )


@kernel
def rotation_error(g0, g1, g2, g3, g4, g5, g6, g7, g8, r0, r1, r2, r3, r4, r5, r6, r7, r8):
    """Rotation vector [rad] of E = G R^T, which takes the rotation R to G; both row by row."""
    v0 = (g6 * r3 + g7 * r4 + g8 * r5) - (g3 * r6 + g4 * r7 + g5 * r8)
    v1 = (g0 * r6 + g1 * r7 + g2 * r8) - (g6 * r0 + g7 * r1 + g8 * r2)
    v2 = (g3 * r0 + g4 * r1 + g5 * r2) - (g0 * r3 + g1 * r4 + g2 * r5)
    d0 = g0 * r0 + g1 * r1 + g2 * r2
    d1 = g3 * r3 + g4 * r4 + g5 * r5
    d2 = g6 * r6 + g7 * r7 + g8 * r8
    four_cc = 1.0 + d0 + d1 + d2  # 4 cos^2(angle / 2); v is 4 sin(angle / 2) cos(angle / 2) * axis
    near = four_cc < 1e-6
    root = sqrt(select(near, 1e-6, four_cc))
    ratio = half_angle_ratio(0.5 * root)
    scale = ratio / root
    e0, e1, e2 = v0 * scale, v1 * scale, v2 * scale
    if any_of(near):
        # At a half turn v vanishes; the symmetric part E + E^T still holds the axis: it is 2 (1 - cos) a a^T + 2 cos I.
        s0 = (g6 * r3 + g7 * r4 + g8 * r5) + (g3 * r6 + g4 * r7 + g5 * r8)
        s1 = (g0 * r6 + g1 * r7 + g2 * r8) + (g6 * r0 + g7 * r1 + g8 * r2)
        s2 = (g3 * r0 + g4 * r1 + g5 * r2) + (g0 * r3 + g1 * r4 + g2 * r5)
        first = (d0 >= d1) & (d0 >= d2)
        second = d1 >= d2
        cosine = 0.5 * (d0 + d1 + d2 - 1.0)
        a0 = select(first, 2.0 * (d0 - cosine), select(second, s2, s1))
        a1 = select(first, s2, select(second, 2.0 * (d1 - cosine), s0))
        a2 = select(first, s1, select(second, s0, 2.0 * (d2 - cosine)))
        forward = a0 * v0 + a1 * v1 + a2 * v2 >= 0.0
        length = sqrt(a0 * a0 + a1 * a1 + a2 * a2)
        angle = 3.141592653589793 - sqrt(select(four_cc > 0.0, four_cc, 0.0))
        turn = select(forward, angle, -angle) / length
        e0 = select(near, a0 * turn, e0)
        e1 = select(near, a1 * turn, e1)
        e2 = select(near, a2 * turn, e2)
    return e0, e1, e2


@kernel
def aim_error(a0, a1, a2, d0, d1, d2):
    """Rotation vector [rad] of the shortest turn that takes the unit vector a to d."""
    v0, v1, v2 = a1 * d2 - a2 * d1, a2 * d0 - a0 * d2, a0 * d1 - a1 * d0
    two_cc = 1.0 + a0 * d0 + a1 * d1 + a2 * d2  # 2 cos^2(angle / 2); v is 2 sin(angle / 2) cos(angle / 2) * axis
    near = two_cc < 1e-6
    c = sqrt(0.5 * select(near, 1e-6, two_cc))
    scale = half_angle_ratio(c) / c
    e0, e1, e2 = v0 * scale, v1 * scale, v2 * scale
    if any_of(near):
        # Any turn about an axis normal to a will do; the world axis least along a makes a sound one.
        q0, q1, q2 = a0 * a0, a1 * a1, a2 * a2
        first = (q0 <= q1) & (q0 <= q2)
        second = q1 <= q2
        n0 = select(first, 0.0, select(second, a2, -a1))
        n1 = select(first, -a2, select(second, 0.0, a0))
        n2 = select(first, a1, select(second, -a0, 0.0))
        turn = 3.141592653589793 / sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        e0 = select(near, n0 * turn, e0)
        e1 = select(near, n1 * turn, e1)
        e2 = select(near, n2 * turn, e2)
    return e0, e1, e2


@kernel
def in_metres(effectors, k, b):
    """Whether the rows of block b of effector k are metres, not radians."""
    return b == effectors[k, 4] and effectors[k, 1] in (POSE, POSITION, DISTANCE, MASS)


@kernel
def residuals(effectors, units, raw, scales, tools, bodies, shapes, blocks, q, frames, target, scratch, e, jacobian):
    """Fill `e` and `jacobian`; return the sum of squares and the largest (error / tolerance)^2 of all blocks."""
    cost, score = splat(e, 0.0), splat(e, 0.0)
    for k in range(effectors.shape[0]):
        kind, block, base = effectors[k, 1], effectors[k, 4], effectors[k, 9]
        start, stop = effectors[k, 2], effectors[k, 3]
        count = 3 * effectors[k, 6]
        goal, first = GOAL * k, blocks[block]
        if kind == MASS:
            mass_moments(units, bodies, frames, scratch)
            for i in range(3):
                store(e, 3 * block + i, load(target, goal + 9 + i) - load(scratch, 3 * units.shape[0] + i))
            mass_columns(start, stop, raw, scales, bodies, frames, scratch, section(jacobian, first, count))
        elif kind == COUPLING:
            out = section(jacobian, first, count)
            _coupling_row(start, stop, raw, scales, tools[k], q, load(target, goal + 9), e, 3 * block, out)
        else:
            _frame_rows(
                k, kind, base, start, stop, block, count, goal, first, effectors, raw, scales, tools, blocks, frames,
                target, scratch, e, jacobian,
            )  # fmt: skip
        for b in range(block, effectors[k, 5]):
            i = 3 * b
            e0, e1, e2 = load(e, i), load(e, i + 1), load(e, i + 2)
            if effectors[k, 7]:
                w = goal + 12 + 9 * (b - block)
                e0, e1, e2 = _weigh(e0, e1, e2, target, w)
                store(e, i, e0), store(e, i + 1, e1), store(e, i + 2, e2)
                c = blocks[b]
                for j in range(c, c + count, 3):
                    c0, c1, c2 = _weigh(load(jacobian, j), load(jacobian, j + 1), load(jacobian, j + 2), target, w)
                    store(jacobian, j, c0), store(jacobian, j + 1, c1), store(jacobian, j + 2, c2)
                u0, u1, u2 = e0 * shapes[b, 3], e1 * shapes[b, 4], e2 * shapes[b, 5]
                cost = cost + (e0 * e0 + e1 * e1 + e2 * e2)
                ratio = (u0 * u0 + u1 * u1 + u2 * u2) * shapes[b, 6]
            else:
                square = e0 * e0 + e1 * e1 + e2 * e2
                cost = cost + square
                ratio = square * shapes[b, 6]
            score = select(ratio > score, ratio, score)
    return cost, select(cost < 1e300, score, 1e300)  # an error that is no number is within no tolerance


@functools.partial(kernel, inline=True)
def _frame_rows(
    k, kind, base, start, stop, block, count, goal, first, effectors, raw, scales, tools, blocks, frames, target,
    scratch, e, jacobian,
):  # fmt: skip
    """Residual and Jacobian of a task about a frame; `base` is 2 more than the base's unit (-1: the world), or 0."""
    at = FRAME * effectors[k, 0]
    px, py, pz = load(frames, at), load(frames, at + 1), load(frames, at + 2)
    r2, r5, r8 = load(frames, at + 3), load(frames, at + 4), load(frames, at + 5)
    r0, r3, r6 = load(frames, at + 6), load(frames, at + 7), load(frames, at + 8)
    r1, r4, r7 = load(frames, at + 9), load(frames, at + 10), load(frames, at + 11)
    t0, t1, t2 = tools[k, 9], tools[k, 10], tools[k, 11]
    px = px + r0 * t0 + r1 * t1 + r2 * t2
    py = py + r3 * t0 + r4 * t1 + r5 * t2
    pz = pz + r6 * t0 + r7 * t1 + r8 * t2
    if kind == POSE:
        linear, angular = section(jacobian, first, count), section(jacobian, blocks[block + 1], count)
    elif kind in (POSITION, DISTANCE):
        linear, angular = section(jacobian, first, count), section(scratch, 0, count)
    else:
        linear, angular = section(scratch, 0, count), section(jacobian, first, count)
    columns(raw, scales, start, stop, frames, px, py, pz, linear, angular)
    if base > 0:
        b0, b1, b2, b3, b4, b5, b6, b7, b8, o0, o1, o2 = _base(base - 2, tools[k], frames)
        px, py, pz = _seen(b0, b1, b2, b3, b4, b5, b6, b7, b8, px - o0, py - o1, pz - o2)
        r0, r3, r6 = _seen(b0, b1, b2, b3, b4, b5, b6, b7, b8, r0, r3, r6)
        r1, r4, r7 = _seen(b0, b1, b2, b3, b4, b5, b6, b7, b8, r1, r4, r7)
        r2, r5, r8 = _seen(b0, b1, b2, b3, b4, b5, b6, b7, b8, r2, r5, r8)
        for j in range(0, count, 3):
            _turn_column(linear, j, b0, b1, b2, b3, b4, b5, b6, b7, b8)
            _turn_column(angular, j, b0, b1, b2, b3, b4, b5, b6, b7, b8)
    row = 3 * block
    if kind <= POSITION:
        store(e, row, load(target, goal + 9) - px)
        store(e, row + 1, load(target, goal + 10) - py)
        store(e, row + 2, load(target, goal + 11) - pz)
        row = row + 3
    if kind in (POSE, ORIENTATION):
        e0, e1, e2 = rotation_error(
            load(target, goal),
            load(target, goal + 1),
            load(target, goal + 2),
            load(target, goal + 3),
            load(target, goal + 4),
            load(target, goal + 5),
            load(target, goal + 6),
            load(target, goal + 7),
            load(target, goal + 8),
            r0, r1, r2, r3, r4, r5, r6, r7, r8,
        )  # fmt: skip
        store(e, row, e0), store(e, row + 1, e1), store(e, row + 2, e2)
    elif kind == DISTANCE:
        x, y, z = load(target, goal + 9) - px, load(target, goal + 10) - py, load(target, goal + 11) - pz
        _distance_row(count, linear, load(target, goal), x, y, z, e, row)
    elif kind in (AXIS, LOOK_AT):
        x0, x1, x2 = tools[k, 12], tools[k, 13], tools[k, 14]
        a0 = r0 * x0 + r1 * x1 + r2 * x2
        a1 = r3 * x0 + r4 * x1 + r5 * x2
        a2 = r6 * x0 + r7 * x1 + r8 * x2
        d0, d1, d2 = load(target, goal + 9), load(target, goal + 10), load(target, goal + 11)
        inverse = splat(e, 0.0)
        if kind == LOOK_AT:
            d0, d1, d2 = d0 - px, d1 - py, d2 - pz
            square = d0 * d0 + d1 * d1 + d2 * d2
            inverse = 1.0 / sqrt(select(square > 1e-24, square, 1e-24))
            d0, d1, d2 = d0 * inverse, d1 * inverse, d2 * inverse
        e0, e1, e2 = aim_error(a0, a1, a2, d0, d1, d2)
        store(e, row, e0), store(e, row + 1, e1), store(e, row + 2, e2)
        _aim_columns(count, linear, angular, d0, d1, d2, inverse)


@kernel
def _base(unit, tool, frames):
    """Rotation, row by row, and origin of the frame that hangs at `tool` on a unit; unit -1 is the world."""
    h0, h1, h2, h3, h4, h5, h6, h7, h8 = (
        tool[16], tool[17], tool[18], tool[19], tool[20], tool[21], tool[22], tool[23], tool[24],
    )  # fmt: skip
    h9, h10, h11 = tool[25], tool[26], tool[27]
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
def _seen(b0, b1, b2, b3, b4, b5, b6, b7, b8, x, y, z):
    """A vector of the world along the axes of a rotation, which is given row by row."""
    return b0 * x + b3 * y + b6 * z, b1 * x + b4 * y + b7 * z, b2 * x + b5 * y + b8 * z


@kernel
def _turn_column(columns, j, b0, b1, b2, b3, b4, b5, b6, b7, b8):
    """Let the three rows at j of `columns` be seen along the axes of a rotation."""
    x, y, z = _seen(b0, b1, b2, b3, b4, b5, b6, b7, b8, load(columns, j), load(columns, j + 1), load(columns, j + 2))
    store(columns, j, x), store(columns, j + 1, y), store(columns, j + 2, z)


@kernel
def _distance_row(count, linear, wanted, x, y, z, e, row):
    """What the distance to a point lacks, the point being at (x, y, z) from the frame; `linear` becomes its row."""
    square = x * x + y * y + z * z
    far = square > 1e-24  # at the point itself any direction leads away
    distance = sqrt(select(far, square, 1.0))
    u0, u1, u2 = select(far, -x / distance, 1.0), select(far, -y / distance, 0.0), select(far, -z / distance, 0.0)
    o = splat(e, 0.0)
    store(e, row, wanted - select(far, distance, 0.0)), store(e, row + 1, o), store(e, row + 2, o)
    for j in range(0, count, 3):
        along = u0 * load(linear, j) + u1 * load(linear, j + 1) + u2 * load(linear, j + 2)
        store(linear, j, along), store(linear, j + 1, o), store(linear, j + 2, o)


@kernel
def _coupling_row(start, stop, raw, scales, tool, q, wanted, e, row, out):
    """What tool[9] + sum scale q lacks; row c of `raw` names the place in q."""
    o = splat(e, 0.0)
    lacking = wanted - tool[9]
    for c in range(start, stop):
        lacking = lacking - scales[c, 0] * load(q, raw[c, 0])
        j = 3 * (c - start)
        store(out, j, splat(e, scales[c, 0])), store(out, j + 1, o), store(out, j + 2, o)
    store(e, row, lacking), store(e, row + 1, o), store(e, row + 2, o)


@kernel
def _weigh(x0, x1, x2, target, at):
    """The 3 x 3 matrix at row `at` of `target`, times x."""
    return (
        load(target, at) * x0 + load(target, at + 1) * x1 + load(target, at + 2) * x2,
        load(target, at + 3) * x0 + load(target, at + 4) * x1 + load(target, at + 5) * x2,
        load(target, at + 6) * x0 + load(target, at + 7) * x1 + load(target, at + 8) * x2,
    )


@kernel
def _aim_columns(count, linear, angular, d0, d1, d2, inverse):
    """Turn the columns into those of an aim along d, at the distance 1 / inverse.

    A displacement v of the frame turns the direction by -d x v / distance, so the axis turns by w + d x v / distance
    relative to it; the spin about d is free and left out.
    """
    for j in range(0, count, 3):
        v0, v1, v2 = load(linear, j), load(linear, j + 1), load(linear, j + 2)
        w0 = load(angular, j) + (d1 * v2 - d2 * v1) * inverse
        w1 = load(angular, j + 1) + (d2 * v0 - d0 * v2) * inverse
        w2 = load(angular, j + 2) + (d0 * v1 - d1 * v0) * inverse
        spin = d0 * w0 + d1 * w1 + d2 * w2
        store(angular, j, w0 - spin * d0), store(angular, j + 1, w1 - spin * d1), store(angular, j + 2, w2 - spin * d2)
