"""The null-space velocity phi: minus the gradients of the criteria, see `poise.methods.criteria`.

`p.criteria` is of `poise.solving.methods.repulsion`: the number of points that obstacles push, each unit's velocity, -1
where it has none, each point's unit, then the number of spheres.  In `p.criteria_reals` are where each point lies along
its unit's x, y and z axes [m] (3), then the spheres, centre and radius (4), then the other obstacles, boxes with
rounded edges as of `poise.geometry.shapes` (16).
"""

import functools

from poise.kernels.algebra.rotations import turn_since
from poise.kernels.kinematics.forward import column_change, is_curved, tool_point
from poise.kernels.machine.jit import call, kernel
from poise.kernels.machine.lanes import load, pitch, select, splat, sqrt, store
from poise.kernels.machine.layout import BALL_AXES, BY_FUNCTION, FRAME, GRADIENT, PRISMATIC, REVOLUTE
from poise.kernels.machine.memory import FRESH
from poise.kernels.machine.views import as_array, section

_NEARER = 0.5
"""The share by which a step comes nearer to a posture that stands still.  The whole way overshoots where the tasks pull
farther from the posture than their circles are wide, and goes round in a cycle; half of it, from three times as far."""
_FARTHEST = 0.05
"""The most that a step comes nearer to such a posture, of the method's longest step.  What the tasks then take away is
as long again, or longer by far where heavy joints are to do it and limbs are stretched: the step must stay where the
linear model holds."""
RANK = 1e-9
"""Against the largest, a singular value below which a direction belongs to the null space."""
_TOUCH = 1e-4
"""The repulsion grows no more nearer than this [m]."""
_WITHIN = 1e-12
"""A point this near to the core of a box with rounded edges [m] is in it."""
_EDGE = 1e-9
"""Against the square of its range, the least product of a joint's distances from its limits that is divided by."""


@functools.partial(kernel, inline=True)
def null_space_velocity(p, w):
    """w.phi is the sum of all terms but the manipulability's: see `add_manipulability`."""
    n, count = len(w.step), len(p.coordinates)
    gains, posture = p.common[0], p.posture
    for a in range(n):
        store(w.phi, a, splat(w.e, 0.0))
    for c in range(count):
        i, a = p.coordinates[c].q, p.coordinates[c].v
        low, high = p.coordinates[c].lower, p.coordinates[c].upper
        x = load(w.q, i)
        phi = (posture[i] - x) * gains.rest_gain
        half, middle = 0.5 * (high - low), 0.5 * (low + high)
        # Minus the gradients of sum ((x - middle) / half)^2 / n, and of sum half^2 / ((high - x) (x - low)).
        if 0.0 < half < 1e300:
            phi = phi + (middle - x) * (2.0 * gains.centre_gain / (count * half * half))
            if gains.limit_gain != 0.0:
                slack, least = (high - x) * (x - low), _EDGE * half * half
                slack = select(slack > least, slack, least)
                away = (middle - x) * (2.0 * gains.limit_gain * half * half) / (slack * slack)
                away = select(away > gains.limit_longest, gains.limit_longest, away)
                phi = phi + select(away < -gains.limit_longest, -gains.limit_longest, away)
        store(w.phi, a, load(w.phi, a) + phi)
    if len(p.posture_mask) > 0:
        pull(p, w)
    if gains.clearance_gain != 0.0:
        repel(p, w)
    if gains.potential_gain != 0.0:
        descend(p, w)
    for a in range(n):
        store(w.phi, a, load(w.phi, a) * load(w.free, a))


@functools.partial(kernel, inline=True)
def pull(p, w):
    """phi += M ((guide - last_guide) + share (last_guide - q)), M being p.posture_mask: towards a Tracker's posture.

    The first part goes along with a posture that moves.  `share` is _NEARER, less where the longest entry would be more
    than _FARTHEST lets it be, and 1 in the first step.  Coordinates are pulled no farther than their limits.
    """
    begun = load(w.memory, FRESH) > 0.5
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, to, last = load(w.q, c.q), load(w.guide, c.q), load(w.last_guide, c.q)
        to = select(to < c.lower, c.lower, select(to > c.upper, c.upper, to))
        last = select(last < c.lower, c.lower, select(last > c.upper, c.upper, last))
        store(w.phi, c.v, load(w.phi, c.v) + p.posture_mask[c.v] * (to - last))
        store(w.other, c.v, p.posture_mask[c.v] * (last - x))
    for b in range(len(p.balls)):
        i, a = p.balls[b].q, p.balls[b].v
        square = splat(w.e, 0.0)
        for k in range(i, i + 4):
            square = square + load(w.guide, k) * load(w.guide, k)
        inverse = 1.0 / sqrt(square)
        for k in range(i, i + 4):
            store(w.guide, k, load(w.guide, k) * inverse)
        u0, u1, u2 = turn_since(w.q, w.guide, i)
        v0, v1, v2 = turn_since(w.q, w.last_guide, i)
        store(w.phi, a, load(w.phi, a) + p.posture_mask[a] * (u0 - v0)), store(w.other, a, p.posture_mask[a] * v0)
        (
            store(w.phi, a + 1, load(w.phi, a + 1) + p.posture_mask[a + 1] * (u1 - v1)),
            store(w.other, a + 1, p.posture_mask[a + 1] * v1),
        )
        (
            store(w.phi, a + 2, load(w.phi, a + 2) + p.posture_mask[a + 2] * (u2 - v2)),
            store(w.other, a + 2, p.posture_mask[a + 2] * v2),
        )
    longest = splat(w.e, 1e-300)
    for a in range(len(w.step)):
        x = load(w.other, a)
        x = select(x < 0.0, -x, x)
        longest = select(x > longest, x, longest)
    share = _FARTHEST * p.common[0].max_step / longest
    share = select(begun, select(share < _NEARER, share, _NEARER), 1.0)
    for a in range(len(w.step)):
        store(w.phi, a, load(w.phi, a) + share * load(w.other, a))
    for i in range(len(w.guide)):
        store(w.last_guide, i, load(w.guide, i))


@functools.partial(kernel, inline=True)
def descend(p, w):
    """phi -= gain grad g, g the user's, whose gradient is by all velocities.  Runs in workspaces of one problem only.

    The gradient is the end of w.room, so that what methods remember at its beginning stays.
    """
    n = len(w.step)
    nv = p.velocities[n]
    slopes = section(w.room, len(w.room) - nv, nv)
    call(w.routines[GRADIENT], as_array(w.q), as_array(slopes))
    for a in range(n):
        store(w.phi, a, load(w.phi, a) - p.common[0].potential_gain * load(slopes, p.velocities[a]))


@kernel
def forces_at(p, w):
    """Where in w.room the forces and moments at the units begin (6 each): at its end, before a user's derivatives.

    So what methods remember at its beginning stays.
    """
    end = len(w.room) - 6 * len(p.units)
    if p.common[0].potential_gain != 0.0:
        nv = p.velocities[len(w.step)]
        end = end - nv * (1 + nv)
    return end


@functools.partial(kernel, inline=True)
def repel(p, w):
    """phi += gain sum_j J_j^T f_j: on point j the force f_j = sum n / d, d [m] and n the way from an obstacle to it.

    Forces and their moments about the world's origin are summed from the tips to the bases, so each joint reads its
    torque once.
    """
    units, points, reals = len(p.units), p.criteria[0], p.criteria_reals
    spheres = p.criteria[1 + units + points]
    first = 3 * points + 4 * spheres
    boxes = (len(reals) - first) // 16
    zero, gain = splat(w.e, 0.0), p.common[0].clearance_gain
    forces = section(w.room, forces_at(p, w), 6 * units)
    for i in range(6 * units):
        store(forces, i, zero)
    for j in range(points):
        at, to = FRAME * p.criteria[1 + units + j], 6 * p.criteria[1 + units + j]
        p0, p1, p2 = _place(w.frames, at, reals[3 * j], reals[3 * j + 1], reals[3 * j + 2])
        f0, f1, f2 = zero, zero, zero
        for i in range(spheres):
            o = 3 * points + 4 * i
            x, y, z = p0 - reals[o], p1 - reals[o + 1], p2 - reals[o + 2]
            size = sqrt(x * x + y * y + z * z)
            slack = size - reals[o + 3]
            slack = select(slack > _TOUCH, slack, _TOUCH)
            scale = gain / (select(size > _TOUCH, size, _TOUCH) * slack)
            f0, f1, f2 = f0 + scale * x, f1 + scale * y, f2 + scale * z
        for i in range(boxes):
            n0, n1, n2, slack = _outward(reals, first + 16 * i, p0, p1, p2)
            scale = gain / select(slack > _TOUCH, slack, _TOUCH)
            f0, f1, f2 = f0 + scale * n0, f1 + scale * n1, f2 + scale * n2
        _gather(forces, to, f0, f1, f2, p1 * f2 - p2 * f1, p2 * f0 - p0 * f2, p0 * f1 - p1 * f0)
    # From the tips on: the moment about the joint's own place, along its axis, is the torque.
    for k in range(units):
        u = units - 1 - k
        kind, parent, a = p.units[u].kind, p.units[u].parent, p.criteria[1 + u]
        f0, f1, f2 = load(forces, 6 * u), load(forces, 6 * u + 1), load(forces, 6 * u + 2)
        m0, m1, m2 = load(forces, 6 * u + 3), load(forces, 6 * u + 4), load(forces, 6 * u + 5)
        if parent >= 0:
            _gather(forces, 6 * parent, f0, f1, f2, m0, m1, m2)
        if a >= 0:
            at = FRAME * u
            p0, p1, p2 = load(w.frames, at), load(w.frames, at + 1), load(w.frames, at + 2)
            m0, m1, m2 = m0 - (p1 * f2 - p2 * f1), m1 - (p2 * f0 - p0 * f2), m2 - (p0 * f1 - p1 * f0)
            if kind == BALL_AXES:
                store(w.phi, a, load(w.phi, a) + _along(w.frames, at + 6, m0, m1, m2))
                store(w.phi, a + 1, load(w.phi, a + 1) + _along(w.frames, at + 9, m0, m1, m2))
                store(w.phi, a + 2, load(w.phi, a + 2) + _along(w.frames, at + 3, m0, m1, m2))
            else:
                kind = kind if kind < BY_FUNCTION else kind - BY_FUNCTION
                torque = zero
                if kind != PRISMATIC:
                    torque = _along(w.frames, at + 3, m0, m1, m2)
                if kind != REVOLUTE:  # the pitch of a slide is 1
                    torque = torque + p.units[u].pitch * _along(w.frames, at + 3, f0, f1, f2)
                store(w.phi, a, load(w.phi, a) + p.units[u].multiplier * torque)


@kernel
def _place(frames, at, x, y, z):
    """The point at (x, y, z) of the frame at `at`.  The axes of frames that nothing reads are zeros, and so x and y."""
    p0, p1, p2 = load(frames, at), load(frames, at + 1), load(frames, at + 2)
    p0 = p0 + x * load(frames, at + 6) + y * load(frames, at + 9) + z * load(frames, at + 3)
    p1 = p1 + x * load(frames, at + 7) + y * load(frames, at + 10) + z * load(frames, at + 4)
    p2 = p2 + x * load(frames, at + 8) + y * load(frames, at + 11) + z * load(frames, at + 5)
    return p0, p1, p2


@kernel
def _outward(shapes, o, p0, p1, p2):
    """The unit vector away from the box with rounded edges at `o`, and how far the point is from it, inside negative.

    In the box's own frame the point's way from the core, the box without its edges' radius, is what a clip to half the
    edges leaves.  Within the core it is the way to the nearest face.
    """
    x, y, z = p0 - shapes[o + 9], p1 - shapes[o + 10], p2 - shapes[o + 11]
    a = shapes[o] * x + shapes[o + 3] * y + shapes[o + 6] * z
    b = shapes[o + 1] * x + shapes[o + 4] * y + shapes[o + 7] * z
    c = shapes[o + 2] * x + shapes[o + 5] * y + shapes[o + 8] * z
    i, j, k = select(a < 0.0, -1.0, 1.0), select(b < 0.0, -1.0, 1.0), select(c < 0.0, -1.0, 1.0)
    # How far the point is beyond each pair of faces.
    a, b, c = a * i - shapes[o + 12], b * j - shapes[o + 13], c * k - shapes[o + 14]
    u, v, w = select(a > 0.0, a, 0.0), select(b > 0.0, b, 0.0), select(c > 0.0, c, 0.0)
    size = sqrt(u * u + v * v + w * w)
    outside = size > _WITHIN
    least = select(a > b, a, b)
    least = select(c > least, c, least)
    by_a, by_b = a >= least, b >= least
    per = 1.0 / select(outside, size, 1.0)
    u = i * select(outside, u * per, select(by_a, 1.0, 0.0))
    v = j * select(outside, v * per, select(by_a, 0.0, select(by_b, 1.0, 0.0)))
    w = k * select(outside, w * per, select(by_a, 0.0, select(by_b, 0.0, 1.0)))
    return (
        shapes[o] * u + shapes[o + 1] * v + shapes[o + 2] * w,
        shapes[o + 3] * u + shapes[o + 4] * v + shapes[o + 5] * w,
        shapes[o + 6] * u + shapes[o + 7] * v + shapes[o + 8] * w,
        select(outside, size, least) - shapes[o + 15],
    )


@kernel
def _gather(sums, at, f0, f1, f2, m0, m1, m2):
    store(sums, at, load(sums, at) + f0)
    store(sums, at + 1, load(sums, at + 1) + f1)
    store(sums, at + 2, load(sums, at + 2) + f2)
    store(sums, at + 3, load(sums, at + 3) + m0)
    store(sums, at + 4, load(sums, at + 4) + m1)
    store(sums, at + 5, load(sums, at + 5) + m2)


@kernel
def _along(frames, axis, x, y, z):
    return load(frames, axis) * x + load(frames, axis + 1) * y + load(frames, axis + 2) * z


@functools.partial(kernel, inline=True)
def add_manipulability(p, w, top):
    """phi += gain grad w, w the product of the singular values: dw/dq_k = w <J^+T, dJ/dq_k> (Yoshikawa 1985).

    dJ/dq_k turns the columns of the joints beyond k about its axis, and k's own about those of the joints before it;
    the three axes of a ball turn as one.  `top` is the largest singular value; w.room (m x n) becomes J^+T.
    """
    m, n = len(w.e), len(w.step)
    row, side = pitch(w.rows, n), pitch(w.turn, m)
    volume = splat(w.e, p.common[0].manipulability_gain)
    for i in range(m * n):
        store(w.room, i, splat(w.e, 0.0))
    for i in range(m):
        sigma = load(w.sigma, i)
        real = sigma > RANK * top
        volume = volume * select(real, sigma, 1.0)
        inverse = select(real, 1.0 / select(real, sigma * sigma, 1.0), 0.0)
        for k in range(m):
            u = load(w.turn, i * side + k) * inverse
            for a in range(n):
                store(w.room, k * n + a, load(w.room, k * n + a) + u * load(w.rows, i * row + a))
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        if (effector.position < 0 and effector.rotation < 0) or effector.weighing:
            continue
        slot0, stop = effector.first_slot, effector.last_column
        px, py, pz = tool_point(effector, w.frames)
        zero = splat(w.e, 0.0)
        # Sums of (column of J^+T) x axis of the joints up to this one, and of columns of J x J^+T of those beyond.
        b0, b1, b2, c0, c1, c2 = zero, zero, zero, zero, zero, zero
        d0, d1, d2, e0, e1, e2 = zero, zero, zero, zero, zero, zero
        # First from base to tip, which leaves b as the sum over all joints; then back, taking off what is beyond k.
        for way in range(2):
            for step in range(p.effectors[k].first_column, stop):
                r = step if way == 0 else p.effectors[k].first_column + stop - 1 - step
                axis, place, joint, column = (
                    p.columns[r].axis,
                    p.columns[r].place,
                    p.columns[r].kind,
                    p.columns[r].column,
                )
                if column < 0:
                    column = -1 - column
                a = p.slots[slot0 + column]
                scale, lift = p.columns[r].scale, 1.0 if joint == 1 else p.columns[r].pitch
                z0 = load(w.frames, axis) * scale
                z1 = load(w.frames, axis + 1) * scale
                z2 = load(w.frames, axis + 2) * scale
                l0, l1, l2 = z0 * lift, z1 * lift, z2 * lift
                if joint == 1:
                    z0, z1, z2 = zero, zero, zero
                else:
                    r0, r1 = px - load(w.frames, place), py - load(w.frames, place + 1)
                    r2 = pz - load(w.frames, place + 2)
                    l0, l1, l2 = l0 + z1 * r2 - z2 * r1, l1 + z2 * r0 - z0 * r2, l2 + z0 * r1 - z1 * r0
                g0, g1, g2, h0, h1, h2 = zero, zero, zero, zero, zero, zero
                block = p.effectors[k].first_block
                if effector.position >= 0:
                    to = 3 * block * n + a
                    g0, g1, g2 = load(w.room, to), load(w.room, to + n), load(w.room, to + 2 * n)
                if effector.rotation >= 0:
                    to = 3 * (p.effectors[k].last_block - 1) * n + a
                    h0, h1, h2 = load(w.room, to), load(w.room, to + n), load(w.room, to + 2 * n)
                n0, n1, n2 = g1 * z2 - g2 * z1, g2 * z0 - g0 * z2, g0 * z1 - g1 * z0
                if way == 0:
                    b0, b1, b2 = b0 + n0, b1 + n1, b2 + n2
                else:
                    if axis - place == 3:  # all axes but the first two of a ball
                        b0, b1, b2 = b0 - d0, b1 - d1, b2 - d2
                        c0, c1, c2 = c0 + e0, c1 + e1, c2 + e2
                        d0, d1, d2, e0, e1, e2 = zero, zero, zero, zero, zero, zero
                    slope = l0 * b0 + l1 * b1 + l2 * b2 + z0 * c0 + z1 * c1 + z2 * c2
                    if is_curved(p, p.columns[r]):
                        x0, x1, x2, y0, y1, y2 = column_change(p.columns[r], w.frames, px, py, pz)
                        slope = slope + x0 * g0 + x1 * g1 + x2 * g2 + y0 * h0 + y1 * h1 + y2 * h2
                    store(w.phi, a, load(w.phi, a) + volume * load(w.free, a) * slope)
                    d0, d1, d2 = d0 + n0, d1 + n1, d2 + n2
                    e0 = e0 + l1 * g2 - l2 * g1 + z1 * h2 - z2 * h1
                    e1 = e1 + l2 * g0 - l0 * g2 + z2 * h0 - z0 * h2
                    e2 = e2 + l0 * g1 - l1 * g0 + z0 * h1 - z1 * h0
