"""Gradient and Hessian of weighted squares of how far points and frames on a tree are off, by moments on each unit.

f = 1/2 sum_k w_k |r_k|^2, r_k = m_k - p_k, m_k the point and p_k where it was measured.  An axis i moves all that its
unit carries as one body, m' = v_i + w_i x m.  So what it needs of the points are the sums over its subtree

    W = sum w,  M = sum w m,  S = sum w m m^T,  F = sum w r,  G = sum w m r^T

which are gathered from the tips inwards.  With f_i = W v_i + w_i x M and n_i = M x v_i + (tr S) w_i - S w_i, for an
axis j on the way from the world to i, and N = sum w m x r, the antisymmetric part of G:

    gradient       v_i . F + w_i . N
    Gauss-Newton   v_j . f_i + w_j . n_i
    curvature      w_j . (v_i x F + G w_i - (tr G) w_i)

the last one because moving j turns the way that i moves a point.  It is the composite rigid body algorithm (Walker and
Orin 1982) with points for masses; the cost is that of pairs of axes, whatever the number of points.

A frame that was measured adds w |t|^2 / 2, t = log(R P^T), R its rotation and P the measured one.  It has the gradient
w_i . t and the second derivatives w_j . A w_i + w_j . (w_i x t) / 2, each times its weight, where A = 1 + s [t]^2 is
the symmetric part of the inverse of the Jacobian of SO(3) (Sola et al. 2018, arXiv:1812.01537, equation 146), with s as
of `square_share`.  That is the form above, of a body without mass whose S is tr(A) / 2 - A, and whose G is
antisymmetric with N = t.
"""

from poise.kernels.algebra.rotations import rotation_error, square_share
from poise.kernels.algebra.vectors import cross, dot, minus, scaled, vector
from poise.kernels.kinematics.forward import forward, tool_point
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.layout import FRAME, PRISMATIC
from poise.kernels.machine.views import section
from poise.kernels.rows.frame import hung

POINTS, MEASURED, FIRST, AXES, HEAD = range(5)
"""Places in the problem's `plan`: how many of the effectors are points, and how many are these or frames that turn,
loops being the others; where in the scratch they have room; how many axes there are; then AXIS numbers an axis, parents
first."""
ROW, OF_UNIT, KIND, VELOCITY, BEFORE, CURVED, AXIS = range(7)
"""The rows of its direction, its unit, how it moves, which active velocity moves it, the axis before it on the way from
the world, -1 without one, and whether how it moves changes with its own q."""
SCALES: int = 2
"""Of each axis, in the problem's `settings` behind the weights: its multiplier and its pitch."""
MOMENTS: int = 22
"""Of each unit: W, M 3, S 6 (xx, xy, xz, yy, yz, zz), F 3, G 9 row by row."""
TWIST: int = 6
"""Of each axis: v, then w."""
PLACE, TURN = 3, 9
"""Numbers of a measured point [m], and of a measured rotation, row by row."""
_BOUND = 1e100


@kernel
def measured(p, goals, k):
    """What was measured of effector k: PLACE or TURN numbers."""
    points = p.plan[POINTS]
    if k < points:
        return section(goals, PLACE * k, PLACE)
    return section(goals, PLACE * points + TURN * (k - points), TURN)


@kernel
def is_there(goal):
    """Whether it was measured: the first three numbers say it."""
    return (abs(goal[0]) < _BOUND) & (abs(goal[1]) < _BOUND) & (abs(goal[2]) < _BOUND)


@kernel
def weight_of_all(p, goals):
    """The sum of weights of all that was measured."""
    total = 0.0
    for k in range(p.plan[MEASURED]):
        if is_there(measured(p, goals, k)):
            total += p.settings[k]
    return total


@kernel
def squares(p, w, goals, share, found):
    """`share` times f at w.q; `found` gets 3 numbers each, the points' places and the t of frames."""
    forward(p.units, p.pieces, w.q, w.frames)
    total = 0.0
    for k in range(p.plan[MEASURED]):
        effector, goal, at = p.effectors[k], measured(p, goals, k), 3 * k
        there = is_there(goal)
        if k < p.plan[POINTS]:
            x = tool_point(effector, w.frames)
            r = minus(x, vector(goal, 0))
        else:
            x = (0.0, 0.0, 0.0)
            if there:
                x = _turn_from(goal, hung(effector.tip, effector.tool, w.frames))
            r = x
        found[at], found[at + 1], found[at + 2] = x
        if there:
            total += p.settings[k] * dot(r, r)
    return 0.5 * share * total


@kernel
def _turn_from(goal, frame):
    """The rotation vector [rad] that takes a measured rotation to that of a frame, which is as `hung` has it."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8, _, _, _ = frame
    g = (goal[0], goal[1], goal[2], goal[3], goal[4], goal[5], goal[6], goal[7], goal[8])
    return rotation_error((r0, r1, r2, r3, r4, r5, r6, r7, r8), g)


@kernel
def expand(p, w, goals, share, found, moments, twists, bend):
    """Add gradient and Hessian (lower triangle, in w.room) of `share` times f, from the frames and `found` at w.q.

    `bend` is 1 for all of the Hessian, 0 for Gauss and Newton's, without curvature, which is never negative.
    """
    units = len(p.units)
    for i in range(MOMENTS * units):
        moments[i] = 0.0
    centre = (0.0, 0.0, 0.0)
    if p.plan[POINTS] > 0:
        centre = vector(found, 0)  # lengths are from here, or digits are lost far from the world's origin
    for k in range(p.plan[MEASURED]):
        weight, goal = share * p.settings[k], measured(p, goals, k)
        if weight > 0.0 and is_there(goal):
            x, at = vector(found, 3 * k), MOMENTS * p.effectors[k].tip
            if k < p.plan[POINTS]:
                _add(moments, at, weight, minus(x, centre), minus(x, vector(goal, 0)))
            else:
                _add_turn(moments, at, weight, x)
    for i in range(units):
        u = units - 1 - i
        parent = p.units[u].parent
        if parent >= 0 and _carries(moments, MOMENTS * u):
            for j in range(MOMENTS):
                moments[MOMENTS * parent + j] += moments[MOMENTS * u + j]
    for i in range(p.plan[AXES]):
        _add_axis(p, w, i, centre, moments, twists, bend)


@kernel
def _carries(moments, at):
    """Whether anything is on a unit; S of frames has a positive trace."""
    return moments[at] + moments[at + 4] + moments[at + 7] + moments[at + 9] > 0.0


@kernel
def _add(moments, at, weight, m, r):
    """Add a point at m, r from where it was measured."""
    moments[at] += weight
    m0, m1, m2 = m
    x, y, z = scaled(weight, m)
    f0, f1, f2 = r
    moments[at + 1] += x
    moments[at + 2] += y
    moments[at + 3] += z
    moments[at + 4] += x * m0
    moments[at + 5] += x * m1
    moments[at + 6] += x * m2
    moments[at + 7] += y * m1
    moments[at + 8] += y * m2
    moments[at + 9] += z * m2
    moments[at + 10] += weight * f0
    moments[at + 11] += weight * f1
    moments[at + 12] += weight * f2
    moments[at + 13] += x * f0
    moments[at + 14] += x * f1
    moments[at + 15] += x * f2
    moments[at + 16] += y * f0
    moments[at + 17] += y * f1
    moments[at + 18] += y * f2
    moments[at + 19] += z * f0
    moments[at + 20] += z * f1
    moments[at + 21] += z * f2


@kernel
def _add_turn(moments, at, weight, t):
    """Add a frame that is turned by t from where it was measured."""
    t0, t1, t2 = t
    share = square_share(t0, t1, t2)
    moments[at + 4] += weight * (0.5 - share * t0 * t0)
    moments[at + 5] -= weight * share * t0 * t1
    moments[at + 6] -= weight * share * t0 * t2
    moments[at + 7] += weight * (0.5 - share * t1 * t1)
    moments[at + 8] -= weight * share * t1 * t2
    moments[at + 9] += weight * (0.5 - share * t2 * t2)
    half = 0.5 * weight
    moments[at + 14] += half * t2
    moments[at + 15] -= half * t1
    moments[at + 16] -= half * t2
    moments[at + 18] += half * t0
    moments[at + 19] += half * t1
    moments[at + 20] -= half * t0


@kernel
def _add_axis(p, w, i, centre, moments, twists, bend):
    """The column of an axis in gradient and Hessian, from its subtree's moments and the axes before it."""
    n, plan = len(w.step), p.plan
    at, scale = HEAD + AXIS * i, plan[MEASURED] + n + SCALES * i
    row, u, kind, a = plan[at + ROW], plan[at + OF_UNIT], plan[at + KIND], plan[at + VELOCITY]
    turns, multiplier, pitch = kind != PRISMATIC, p.settings[scale], p.settings[scale + 1]
    place = minus(vector(w.frames, FRAME * u), centre)
    v, x = _twist(scaled(multiplier, vector(w.frames, row)), place, turns, pitch)
    t = TWIST * i
    twists[t], twists[t + 1], twists[t + 2] = v
    twists[t + 3], twists[t + 4], twists[t + 5] = x
    s = MOMENTS * u
    if not _carries(moments, s):
        return
    weight, first, force = moments[s], vector(moments, s + 1), vector(moments, s + 10)
    g0, g1, g2 = vector(moments, s + 13), vector(moments, s + 16), vector(moments, s + 19)
    turning = (g1[2] - g2[1], g2[0] - g0[2], g0[1] - g1[0])
    w.gradient[a] += dot(v, force) + dot(x, turning)
    xx, xy, xz = moments[s + 4], moments[s + 5], moments[s + 6]
    yy, yz, zz = moments[s + 7], moments[s + 8], moments[s + 9]
    x0, x1, x2 = x
    d0, d1, d2 = cross(x, first)
    v0, v1, v2 = v
    push = (weight * v0 + d0, weight * v1 + d1, weight * v2 + d2)
    d0, d1, d2 = cross(first, v)
    c0, c1, c2 = cross(v, force)
    trace = g0[0] + g1[1] + g2[2]
    twist = (
        d0 + (yy + zz) * x0 - xy * x1 - xz * x2 + bend * (c0 + dot(g0, x) - trace * x0),
        d1 + (xx + zz) * x1 - xy * x0 - yz * x2 + bend * (c1 + dot(g1, x) - trace * x1),
        d2 + (xx + yy) * x2 - xz * x0 - yz * x1 + bend * (c2 + dot(g2, x) - trace * x2),
    )
    j = i
    while j >= 0:
        t, b = TWIST * j, plan[HEAD + AXIS * j + VELOCITY]
        h = dot(vector(twists, t), push) + dot(vector(twists, t + 3), twist)
        w.room[a * n + b if a > b else b * n + a] += 2.0 * h if a == b and j < i else h
        j = plan[HEAD + AXIS * j + BEFORE]
    if bend > 0.0 and plan[at + CURVED] > 0:
        v, x = _twist(scaled(multiplier, vector(w.frames, row + 3)), place, turns, pitch)
        w.room[a * n + a] += dot(v, force) + dot(x, turning)


@kernel
def _twist(axis, place, turns, pitch):
    """How an axis at a place moves what it carries: v and w."""
    if not turns:
        return axis, (0.0, 0.0, 0.0)
    v0, v1, v2 = cross(place, axis)
    z0, z1, z2 = axis
    return (v0 + pitch * z0, v1 + pitch * z1, v2 + pitch * z2), axis
