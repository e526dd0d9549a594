"""Forward kinematics over the units of a tree (see `poise.model.tree`)."""

from poise.kernels.algebra.scalar import sincos
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, store
from poise.kernels.machine.layout import BALL_AXES, BALL_TURN, BY_FUNCTION, FRAME, HELICAL, PRISMATIC, REVOLUTE


@kernel
def forward(units, pieces, q, frames):
    """Frames of all units at q, in the world: rows FRAME * unit of `frames`.

    `units` and `pieces` are of `poise.model.tree.unit_arrays`.  The x and y axes are written only for the units marked
    to be kept; the frame of the unit before stays in registers.
    """
    one, o = splat(q, 1.0), splat(q, 0.0)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, px, py, pz = one, o, o, o, one, o, o, o, one, o, o, o
    for i in range(len(units)):
        u = units[i]
        parent, kind, iq, placement = u.parent, u.kind, u.q_index, u.placement
        if parent != i - 1:
            if parent < 0:
                r0, r1, r2, r3, r4, r5, r6, r7, r8, px, py, pz = one, o, o, o, one, o, o, o, one, o, o, o
            else:
                at = FRAME * parent
                px, py, pz = load(frames, at), load(frames, at + 1), load(frames, at + 2)
                r2, r5, r8 = load(frames, at + 3), load(frames, at + 4), load(frames, at + 5)
                r0, r3, r6 = load(frames, at + 6), load(frames, at + 7), load(frames, at + 8)
                r1, r4, r7 = load(frames, at + 9), load(frames, at + 10), load(frames, at + 11)
        slide, lift = splat(q, 0.0), 0.0
        if u.common_normal:
            # Slide a along x, turn alpha about x; the slide d along z comes after the joint's own turn, or before it.
            a, ca, sa, lift = placement[0], placement[1], placement[2], placement[3]
            px, py, pz = px + r0 * a, py + r3 * a, pz + r6 * a
            r1, r2 = ca * r1 + sa * r2, ca * r2 - sa * r1
            r4, r5 = ca * r4 + sa * r5, ca * r5 - sa * r4
            r7, r8 = ca * r7 + sa * r8, ca * r8 - sa * r7
        else:
            f0, f1, f2 = placement[9], placement[10], placement[11]
            px = px + r0 * f0 + r1 * f1 + r2 * f2
            py = py + r3 * f0 + r4 * f1 + r5 * f2
            pz = pz + r6 * f0 + r7 * f1 + r8 * f2
            if kind != BALL_TURN:
                a0, a1, a2 = placement[0], placement[1], placement[2]
                a3, a4, a5 = placement[3], placement[4], placement[5]
                a6, a7, a8 = placement[6], placement[7], placement[8]
                r0, r1, r2 = r0 * a0 + r1 * a3 + r2 * a6, r0 * a1 + r1 * a4 + r2 * a7, r0 * a2 + r1 * a5 + r2 * a8
                r3, r4, r5 = r3 * a0 + r4 * a3 + r5 * a6, r3 * a1 + r4 * a4 + r5 * a7, r3 * a2 + r4 * a5 + r5 * a8
                r6, r7, r8 = r6 * a0 + r7 * a3 + r8 * a6, r6 * a1 + r7 * a4 + r8 * a7, r6 * a2 + r7 * a5 + r8 * a8
        if kind == BALL_TURN:
            n0, n1, n2, n3, n4, n5, n6, n7, n8 = _turned(q, iq)
            r0, r1, r2 = r0 * n0 + r1 * n3 + r2 * n6, r0 * n1 + r1 * n4 + r2 * n7, r0 * n2 + r1 * n5 + r2 * n8
            r3, r4, r5 = r3 * n0 + r4 * n3 + r5 * n6, r3 * n1 + r4 * n4 + r5 * n7, r3 * n2 + r4 * n5 + r5 * n8
            r6, r7, r8 = r6 * n0 + r7 * n3 + r8 * n6, r6 * n1 + r7 * n4 + r8 * n7, r6 * n2 + r7 * n5 + r8 * n8
        elif kind < BALL_AXES:
            position = load(q, iq) * u.multiplier + u.offset
            if kind != REVOLUTE:
                slide = load(q, iq) * u.multiplier * u.pitch + u.slide
            if kind != PRISMATIC:
                s, c = sincos(position)
                r0, r1 = c * r0 + s * r1, c * r1 - s * r0
                r3, r4 = c * r3 + s * r4, c * r4 - s * r3
                r6, r7 = c * r6 + s * r7, c * r7 - s * r6
            if kind != REVOLUTE or u.common_normal:
                slide = slide + lift
                px, py, pz = px + r2 * slide, py + r5 * slide, pz + r8 * slide
        elif kind >= BY_FUNCTION:
            position, slope, curvature = follow(pieces, u.function, load(q, iq))
            if kind != BY_FUNCTION + REVOLUTE:
                slide = position * u.pitch
                px, py, pz = px + r2 * slide, py + r5 * slide, pz + r8 * slide
            if kind != BY_FUNCTION + PRISMATIC:
                s, c = sincos(position)
                r0, r1 = c * r0 + s * r1, c * r1 - s * r0
                r3, r4 = c * r3 + s * r4, c * r4 - s * r3
                r6, r7 = c * r6 + s * r7, c * r7 - s * r6
            # Kept in rows until the frame is written, so that other units carry them in no register.
            store(frames, FRAME * i + 9, slope), store(frames, FRAME * i + 10, curvature)
        at = FRAME * i
        store(frames, at, px), store(frames, at + 1, py), store(frames, at + 2, pz)
        store(frames, at + 3, r2), store(frames, at + 4, r5), store(frames, at + 5, r8)
        if u.whole_frame:
            if kind >= BY_FUNCTION:
                per = 1.0 / u.multiplier
                slope, curvature = load(frames, at + 9) * per, load(frames, at + 10) * per
                store(frames, at + 3, slope * r2), store(frames, at + 4, slope * r5), store(frames, at + 5, slope * r8)
                store(frames, at + 6, curvature * r2)
                store(frames, at + 7, curvature * r5)
                store(frames, at + 8, curvature * r8)
            else:
                store(frames, at + 6, r0), store(frames, at + 7, r3), store(frames, at + 8, r6)
                store(frames, at + 9, r1), store(frames, at + 10, r4), store(frames, at + 11, r7)


@kernel
def follow(pieces, first, x):
    """What the functions whose pieces begin at `first` make of x, one after the other: value, slope and curvature."""
    slope, curvature = x * 0.0 + 1.0, x * 0.0
    at, more = first, 1
    while more > 0:
        head = pieces[at]
        count, more = head.count, head.more
        zero = x * 0.0
        o, c0, c1 = zero + head.origin, zero + head.c[0], zero + head.c[1]
        c2, c3, c4 = zero + head.c[2], zero + head.c[3], zero + head.c[4]
        for k in range(at + 1, at + count):
            piece = pieces[k]
            past = x >= piece.start
            if not any_of(past):
                break
            o, c0, c1 = select(past, piece.origin, o), select(past, piece.c[0], c0), select(past, piece.c[1], c1)
            c2, c3, c4 = select(past, piece.c[2], c2), select(past, piece.c[3], c3), select(past, piece.c[4], c4)
        t = x - o
        first_derivative = c1 + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4)))
        second = 2.0 * c2 + t * (6.0 * c3 + t * (12.0 * c4))
        curvature = second * slope * slope + first_derivative * curvature
        slope = first_derivative * slope
        x = c0 + t * (c1 + t * (c2 + t * (c3 + t * c4)))
        at += count
    return x, slope, curvature


@kernel
def is_curved(p, c):
    """Whether COLUMN c is of a unit that follows by a function, so that it changes with its own q."""
    return p.units[c.place // FRAME].kind >= BY_FUNCTION


@kernel
def column_change(c, frames, px, py, pz):
    """How the COLUMN c of such a unit, for the point (px, py, pz) [m], changes with its own q: 3 linear, 3 angular.

    It is the column with the curvature of the function in place of its slope.
    """
    axis, place, scale = c.axis + 3, c.place, c.scale
    z0, z1, z2 = load(frames, axis) * scale, load(frames, axis + 1) * scale, load(frames, axis + 2) * scale
    if c.kind == PRISMATIC:
        o = splat(frames, 0.0)
        return z0, z1, z2, o, o, o
    d0, d1, d2 = px - load(frames, place), py - load(frames, place + 1), pz - load(frames, place + 2)
    pitch = c.pitch
    l0, l1, l2 = z1 * d2 - z2 * d1 + pitch * z0, z2 * d0 - z0 * d2 + pitch * z1, z0 * d1 - z1 * d0 + pitch * z2
    return l0, l1, l2, z0, z1, z2


@kernel
def _turned(q, iq):
    """Rotation matrix, row by row, of the unit quaternion at row iq of q."""
    w, x, y, z = load(q, iq), load(q, iq + 1), load(q, iq + 2), load(q, iq + 3)
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@kernel
def tool_point(effector, frames):
    """Where in the world the frame of an effector is [m]."""
    at, tool = FRAME * effector.tip, effector.tool
    t0, t1, t2 = tool[9], tool[10], tool[11]
    return (
        load(frames, at) + load(frames, at + 6) * t0 + load(frames, at + 9) * t1 + load(frames, at + 3) * t2,
        load(frames, at + 1) + load(frames, at + 7) * t0 + load(frames, at + 10) * t1 + load(frames, at + 4) * t2,
        load(frames, at + 2) + load(frames, at + 8) * t0 + load(frames, at + 11) * t1 + load(frames, at + 5) * t2,
    )


@kernel
def jacobian_columns(columns, start, stop, frames, px, py, pz, linear, angular):
    """Jacobian columns of the point (px, py, pz) [m]: rows 3 * column of `linear` and `angular`.

    Source: Buss 2004, section 2; the screw column is v x (s - p) + pitch * v.
    """
    for k in range(start, stop):
        c = columns[k]
        axis, place, kind, column, scale = c.axis, c.place, c.kind, c.column, c.scale
        z0, z1, z2 = load(frames, axis), load(frames, axis + 1), load(frames, axis + 2)
        if scale != 1.0:
            z0, z1, z2 = z0 * scale, z1 * scale, z2 * scale
        if kind == PRISMATIC:
            o = splat(frames, 0.0)
            l0, l1, l2, w0, w1, w2 = z0, z1, z2, o, o, o
        else:
            d0, d1, d2 = px - load(frames, place), py - load(frames, place + 1), pz - load(frames, place + 2)
            l0, l1, l2 = z1 * d2 - z2 * d1, z2 * d0 - z0 * d2, z0 * d1 - z1 * d0
            if kind == HELICAL:
                pitch = c.pitch
                l0, l1, l2 = l0 + pitch * z0, l1 + pitch * z1, l2 + pitch * z2
            w0, w1, w2 = z0, z1, z2
        if column < 0:
            column = -1 - column
            l0, l1, l2 = (
                l0 + load(linear, 3 * column),
                l1 + load(linear, 3 * column + 1),
                l2 + load(linear, 3 * column + 2),
            )
            w0, w1, w2 = (
                w0 + load(angular, 3 * column),
                w1 + load(angular, 3 * column + 1),
                w2 + load(angular, 3 * column + 2),
            )
        store(linear, 3 * column, l0), store(linear, 3 * column + 1, l1), store(linear, 3 * column + 2, l2)
        store(angular, 3 * column, w0), store(angular, 3 * column + 1, w1), store(angular, 3 * column + 2, w2)
