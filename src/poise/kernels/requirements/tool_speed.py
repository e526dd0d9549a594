"""Speeds of tools: a step is shortened until no frame goes or turns faster than it may, anywhere on the way.

A step dq leads evenly from q to q + dq, so a frame has the velocity u(s) = J(q + s dq) dq, 0 <= s <= 1, in a step.
With l_a and t_a the linear and angular columns of J, theta = sum |t_a dq_a| and c = sum |l_a dq_a|, derivatives of u by
s are products of turns: |u'| <= 2 theta c and |u''| <= 3 theta^2 c, and likewise of its turn with theta in place of c.
So |u| is nowhere larger than at one of the two ends by more than 3/8 theta^2 c.
"""

import numpy as np

from poise.kernels.kinematics.forward import forward, jacobian_columns, tool_point
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.memory import CUTTING, UPDATES
from poise.kernels.machine.views import section
from poise.kernels.requirements.braking import NO_LIMIT
from poise.kernels.requirements.integrate import integrate_part
from poise.kernels.requirements.nearest_step import add_plane, cut_half

BETWEEN = 0.375
"""What a speed may rise by between both ends of a step, in theta^2 c."""
_SURE, _NEAR = 0.25, 2e-3
"""A step whose end was too fast is not looked at again where theta c is less than the first share of the speed, and
what is taken off to be sure less than the second."""
_ROUNDS = 8
"""It is looked at so often, at most."""
_BEYOND = 1.1
"""What a plane takes off a step that is too fast, in terms of what is beyond: the border bends."""
_ROUNDING = 1e-9
"""By this share closing loops may take a tool beyond its speed."""


@kernel
def keep_tools(p, w):
    """Shorten w.step, from w.begun, until no tool is too fast on the way; whether that changed it."""
    _look_at_start(p, w)
    fastest, _, _, _ = _fastest(p, w, w.step, w.tool_motion.start_columns, 0.0)
    changed = fastest > 1.0
    if changed:
        _shorten(w, fastest)
    for _ in range(_ROUNDS):
        _look_at_end(p, w)
        before, _, _, _ = _fastest(p, w, w.step, w.tool_motion.start_columns, BETWEEN)
        fastest, bend, _, _ = _fastest(p, w, w.step, w.tool_motion.columns, BETWEEN)
        fastest = max(fastest, before)
        if fastest <= 1.0:
            break
        # A share s of the step ends elsewhere: its columns differ by 2 theta c (1 - s), and 1 - s is less than twice
        # what is beyond where theta c is small.
        more, changed = 4.0 * (1.0 - 1.0 / fastest) * bend, True
        sure = bend < _SURE * fastest and more < _NEAR
        _shorten(w, fastest + more if sure else fastest)
        if sure:
            break
    return changed


@kernel
def tools_hold(p, w):
    """Whether no tool is too fast on the way of w.step; with CUTTING one that is adds a plane."""
    _look_at_start(p, w)
    _look_at_end(p, w)
    holds = True
    for end in range(2):
        columns = w.tool_motion.columns if end == 1 else w.tool_motion.start_columns
        fastest, _, k, part = _fastest(p, w, w.step, columns, BETWEEN)
        if fastest > 1.0 + _ROUNDING:
            holds = False
            if w.memory[CUTTING] > 0.5:
                _cut_across(p, w, columns, k, part)
    return holds


@kernel
def tools_rise(p, v, s):
    """Whether a tool may still become faster on the way to rest after a step v, whose change was s (n each): as long as
    a jerk has not yet taken back what makes a joint faster."""
    for a in range(len(v)):
        if p.rates[a].jerk < NO_LIMIT and v[a] * s[a] > 0.0:
            return True
    return False


@kernel
def tools_hold_braking(p, w, v, x):
    """Whether no tool is too fast at the end x (nq) of a step v (n) on the way to rest.

    With CUTTING one that is adds a plane half way to braking.
    """
    for i in range(len(x)):
        w.tool_motion.q[i] = x[i]
    _look(p, w, x)
    fastest, _, k, part = _fastest(p, w, v, w.tool_motion.columns, BETWEEN)
    if fastest <= 1.0 - _NEAR:
        return True
    if w.memory[CUTTING] > 0.5:
        _put_slope(w, v, w.tool_motion.columns, k, part)
        cut_half(w)
    return False


@kernel
def _look_at_start(p, w):
    """w.tool_motion.start_columns at w.begun: those of the last look, if that was there."""
    count, looked = len(w.begun), w.tool_motion.start[len(w.begun)] > 0.5
    same, ended = looked, looked
    for i in range(count):
        same, ended = same and w.tool_motion.start[i] == w.begun[i], ended and w.tool_motion.q[i] == w.begun[i]
    if same:
        return
    if not ended:
        _look(p, w, w.begun)
    for i in range(count):
        w.tool_motion.start[i] = w.begun[i]
    w.tool_motion.start[count] = 1.0
    for i in range(len(w.tool_motion.columns)):
        w.tool_motion.start_columns[i] = w.tool_motion.columns[i]


@kernel
def _look_at_end(p, w):
    """w.tool_motion.columns where w.step leads from w.begun."""
    integrate_part(p, w, w.begun, w.step, 1.0, w.tool_motion.q)
    _look(p, w, w.tool_motion.q)


@kernel
def _look(p, w, q):
    """w.tool_motion.columns at q (nq): 3 n of a tool's linear and 3 n of its angular motion, one after the other."""
    size = 3 * len(w.step)
    forward(p.tool_units, p.tool_pieces, q, w.tool_motion.frames)
    for k in range(len(p.tools)):
        tool = p.tools[k]
        px, py, pz = tool_point(tool, w.tool_motion.frames)
        linear = section(w.tool_motion.columns, 2 * k * size, size)
        angular = section(w.tool_motion.columns, (2 * k + 1) * size, size)
        jacobian_columns(
            p.tool_columns, tool.first_column, tool.last_column, w.tool_motion.frames, px, py, pz, linear, angular
        )


@kernel
def _shorten(w, by):
    """Divide w.step by a number."""
    for a in range(len(w.step)):
        w.step[a] /= by


@kernel
def _fastest(p, w, step, columns, between):
    """The largest share of what it may be that the speed of a tool is at one end of a step (n), with so many theta^2 c
    for what is between; the largest theta c likewise; and whose: the tool, and 0 for its linear, 1 for its angular
    motion."""
    fastest, bend, whose, which = 0.0, 0.0, 0, 0
    for k in range(len(p.tools)):
        spin, _, _, _, theta = _motion(step, columns, 2 * k + 1)
        drift, _, _, _, c = _motion(step, columns, 2 * k)
        for part in range(2):
            size, way, most = (spin, theta, p.tools[k].angular) if part == 1 else (drift, c, p.tools[k].linear)
            per = 1.0 / (w.memory[UPDATES] * most)
            bent = theta * way * per
            share = size * per + between * theta * bent
            bend = max(bend, bent)
            if share > fastest:
                fastest, whose, which = share, k, part
    return fastest, bend, whose, which


@kernel
def _motion(step, columns, row):
    """Of 3 n columns from 3 n `row` on, J: the length of J step, its three numbers, and the sum of the lengths of all
    columns, each times its entry of the step (n)."""
    n = len(step)
    u0, u1, u2, way = 0.0, 0.0, 0.0, 0.0
    for a in range(n):
        at, x = 3 * (row * n + a), step[a]
        c0, c1, c2 = columns[at] * x, columns[at + 1] * x, columns[at + 2] * x
        u0, u1, u2, way = u0 + c0, u1 + c1, u2 + c2, way + np.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
    return np.sqrt(u0 * u0 + u1 * u1 + u2 * u2), u0, u1, u2, way


@kernel
def _cut_across(p, w, columns, k, part):
    """Add the plane across the velocity of a tool, which takes off what is beyond, and a little more."""
    size, theta, way = _put_slope(w, w.step, columns, k, part)
    most = w.memory[UPDATES] * (p.tools[k].angular if part == 1 else p.tools[k].linear)
    add_plane(w, size - _BEYOND * (size - most + BETWEEN * theta * theta * way))


@kernel
def _put_slope(w, step, columns, k, part):
    """w.constraints.slope becomes how the speed of a tool grows with a step (n), which moves it; the speed at that, and
    two sums of columns: theta, and that of its own."""
    n, row = len(step), 2 * k + part
    size, u0, u1, u2, way = _motion(step, columns, row)
    _, _, _, _, theta = _motion(step, columns, 2 * k + 1)
    for c in range(len(w.constraints.slope)):
        w.constraints.slope[c] = 0.0
    for a in range(n):
        at = 3 * (row * n + a)
        w.constraints.slope[a] = (columns[at] * u0 + columns[at + 1] * u1 + columns[at + 2] * u2) / size
    return size, theta, way
