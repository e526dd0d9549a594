"""Speeds of tools: a step is shortened until no frame goes or turns faster than it may, anywhere on the way.

A step dq leads evenly from q to q + dq, so a frame has the velocity u(s) = J(q + s dq) dq, 0 <= s <= 1, in a step.
With l_a and t_a the linear and angular columns of J, theta = sum |t_a dq_a| and c = sum |l_a dq_a|, derivatives of u by
s are products of turns: |u'| <= 2 theta c and |u''| <= 3 theta^2 c, and likewise of its turn with theta in place of c.
So |u| is nowhere larger than at one of the two ends by more than 3/8 theta^2 c.

Most steps are far from any limit, and need no look.  The longest columns that there are bound u wherever a step begins.
Else those of the last look do, with what they may have changed since then.  So do they on a way to rest: the velocities
of joints that brake are known in advance, and at a few instants of it J dq is summed up; between two of these each
velocity is near its chord.
"""

import numpy as np

from poise.kernels.kinematics.forward import forward, jacobian_columns, tool_point
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.memory import CUTTING, UPDATES
from poise.kernels.machine.views import section
from poise.kernels.requirements.braking import BELOW, NO_LIMIT, braking_curve, speed_on_curve
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
_SMALL, _GROWTH = 0.5, 2.5
"""Up to this much turning on a way [rad] columns change by less than the first order times 1 + _GROWTH times that."""
_ROUNDING = 1e-9
"""By this share closing loops may take a tool beyond its speed."""
NO, MAYBE, SURE = range(3)
"""What a look tells of places that are near it."""
INSTANTS = 3
"""Velocities are summed up at so many instants of a way to rest."""
_TIMES = (0.0, 0.2, 0.5, 1.0)
"""These, in terms of all of its time, and its end: joints are fast, and bend, most at the beginning."""


@kernel
def keep_tools(p, w):
    """Shorten w.step, from w.begun, until no tool is too fast on the way; whether that changed it."""
    if _slow(p, w):
        return False
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
    if _slow(p, w):
        return True
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
def tools_hold_braking(p, w, v, x):
    """Whether no tool is too fast on the way of a step v (n) of braking, which led from w.braking.start to x (nq).

    Joints that become slower may well make a tool faster, where the motion of one took back that of another.  With
    CUTTING a tool that is too fast adds a plane half way to braking.
    """
    if _slow_from(p, w, w.braking.start, v):
        return True
    for end in range(2):
        _look_where(p, w, x if end == 1 else w.braking.start)
        fastest, _, k, part = _fastest(p, w, v, w.tool_motion.columns, BETWEEN)
        if fastest > 1.0 - _NEAR:
            if w.memory[CUTTING] > 0.5:
                _put_slope(w, v, w.tool_motion.columns, k, part)
                cut_half(w)
            return False
    return True


@kernel
def tools_hold_to_rest(p, w, v, s, x, each):
    """Whether surely no tool is too fast in a step v (n) to x (nq), whose change was s (n), nor on the way to rest from
    there.

    `each`: joints brake by themselves.  What the last look does not show is looked at half way.
    """
    for a in range(len(v)):
        w.tool_motion.most[a] = max(abs(v[a]), w.braking.speeds[a])
    if _never_fast(p, w, w.tool_motion.most):
        return True
    _put_way_to_rest(p, w, v, s, x, each)
    _put_instants(p, w, v, s)
    sure = _slow_within(p, w, INSTANTS) if _reach(p, w, x) else MAYBE
    if sure != MAYBE:
        return sure == SURE
    for i in range(len(x)):
        w.tool_motion.q[i] = x[i]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        w.tool_motion.q[c.q] += 0.5 * (w.tool_motion.ahead[c.v] + w.tool_motion.behind[c.v])
    _look(p, w, w.tool_motion.q)
    return _reach(p, w, x) and _slow_within(p, w, INSTANTS) == SURE


@kernel
def _put_way_to_rest(p, w, v, s, x, each):
    """w.tool_motion.behind, ahead and aside (n) of a step v to x (nq), whose change was s (n), and of the way to rest.

    A joint that brakes by itself, `each`, goes along its curve and does not turn back, if it is not near a limit and
    its deceleration does not last longer than its velocity.  Of others no more than their distance is known.
    """
    ahead, aside, distances = w.tool_motion.ahead, w.tool_motion.aside, w.braking.distances
    for a in range(len(v)):
        onward, jerk = _onward(v[a], s[a]), p.rates[a].jerk
        rise = onward * s[a]
        stops = jerk >= NO_LIMIT or rise >= 0.0 or abs(v[a]) >= 0.5 * rise * (rise / jerk - 1.0)
        ahead[a], aside[a] = (onward * distances[a], 0.0) if each and stops else (0.0, distances[a])
        w.tool_motion.behind[a] = -v[a]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        if not c.lower + distances[c.v] <= x[c.q] <= c.upper - distances[c.v]:
            ahead[c.v], aside[c.v] = 0.0, distances[c.v]


@kernel
def _put_instants(p, w, v, s):
    """w.tool_motion.velocities, bends and most on the way to rest after a step v and its change s (n)."""
    n, curve, aside, most, end = len(v), w.tool_motion.curve, w.tool_motion.aside, w.tool_motion.most, 0.0
    for a in range(n):
        peak, begun, top, last = braking_curve(
            abs(v[a]), _onward(v[a], s[a]) * s[a], p.rates[a].change, p.rates[a].jerk
        )
        curve[4 * a], curve[4 * a + 1], curve[4 * a + 2], curve[4 * a + 3] = peak, begun, top, last
        end = max(end, 0.0 if aside[a] > 0.0 else last - begun)
    velocities, bends = w.tool_motion.velocities, w.tool_motion.bends
    for a in range(n):
        change, jerk, onward, loose = p.rates[a].change, p.rates[a].jerk, _onward(v[a], s[a]), aside[a] > 0.0
        peak, begun, top, last = curve[4 * a], curve[4 * a + 1], curve[4 * a + 2], curve[4 * a + 3]
        before, bent = speed_on_curve(peak, begun, top, last, change, jerk, 0.0), 0.0
        most[a] = max(abs(v[a]), w.braking.speeds[a]) if loose else (peak if begun < 0.0 else before)
        below = min(BELOW * jerk, most[a]) if jerk < NO_LIMIT else 0.0
        for i in range(INSTANTS):
            gap, highest = (_TIMES[i + 1] - _TIMES[i]) * end, peak if begun + _TIMES[i] * end < 0.0 else before
            after = speed_on_curve(peak, begun, top, last, change, jerk, _TIMES[i + 1] * end)
            if jerk < NO_LIMIT:
                bend = min(0.125 * jerk * gap * gap, highest - min(before, after))
                bend += 0.5 * below if i < INSTANTS - 1 else below  # the last chord ends at rest
            else:  # straight, but where it comes to rest
                bend = max(min(before, change * gap - before, 0.25 * change * gap), 0.0)
            velocities[i * n + a] = 0.0 if loose else onward * (before - 0.5 * below)
            bends[i * n + a] = most[a] if loose else max(bend, bent)
            before, bent = after, bend


@kernel
def _onward(v, s):
    """The sign of a velocity, or if it is none of its change."""
    return 1.0 if v > 0.0 or (v == 0.0 and s > 0.0) else -1.0


@kernel
def _never_fast(p, w, v):
    """Whether no tool is too fast in a step v (n), wherever that begins: even with the longest columns, all in line."""
    n, share = len(v), (1.0 - _NEAR) * w.memory[UPDATES]
    for k in range(len(p.tools)):
        linear, angular = 0.0, 0.0
        for a in range(n):
            linear += p.tool_bounds[2 * k * n + a] * abs(v[a])
            angular += p.tool_bounds[(2 * k + 1) * n + a] * abs(v[a])
        if not (linear <= share * p.tools[k].linear and angular <= share * p.tools[k].angular):
            return False
    return True


@kernel
def _slow(p, w):
    """Whether w.step, from w.begun, is surely slow enough for all tools, by what is known without another look."""
    return _never_fast(p, w, w.step) or _slow_from(p, w, w.begun, w.step)


@kernel
def _slow_from(p, w, q, step):
    """Whether the last look shows that a step (n) from q (nq) is slow enough for all tools."""
    for a in range(len(step)):
        w.tool_motion.behind[a], w.tool_motion.ahead[a], w.tool_motion.aside[a] = 0.0, step[a], 0.0
        w.tool_motion.most[a] = abs(step[a])
        w.tool_motion.velocities[a], w.tool_motion.bends[a] = step[a], 0.0
    return _reach(p, w, q) and _slow_within(p, w, 1) == SURE


@kernel
def _reach(p, w, q):
    """w.tool_motion.reach (n): how far from the last look q (nq) is at most, and what is behind it, ahead and aside;
    whether that is known."""
    behind, ahead, aside, reach = w.tool_motion.behind, w.tool_motion.ahead, w.tool_motion.aside, w.tool_motion.reach
    others = 0  # numbers that differ from those there, but for coordinates
    for a in range(len(w.step)):
        reach[a] = max(abs(behind[a]), abs(ahead[a])) + aside[a]
    for i in range(len(q)):
        others += 1 if q[i] != w.tool_motion.q[i] else 0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        gone = q[c.q] - w.tool_motion.q[c.q]
        others -= 1 if gone != 0.0 else 0
        reach[c.v] = max(abs(gone + behind[c.v]), abs(gone + ahead[c.v])) + aside[c.v]
    return others == 0 and w.tool_motion.q[len(q)] > 0.5


@kernel
def _slow_within(p, w, instants):
    """SURE if all tools are slow enough at so many instants and between them, no farther than w.tool_motion.reach (n)
    from where w.tool_motion.columns are; MAYBE if a nearer look might tell so, else NO.

    w.tool_motion.velocities and bends (n an instant): those at it, and how far those before and after it are from their
    chords at most; w.tool_motion.most (n): the fastest.  With r the reach, the changes of all l_a v_a and t_a v_a come
    to sum_ab |t_b| |l_a| (v_a r_b + r_a v_b) and sum_ab |t_b| |t_a| v_a r_b at most, the first to first order.  In a
    chain of joints b is one of those that carry a, or in the first term a itself: l_a and l_b change by t_b x l_a.
    """
    n, columns, lengths, found = len(w.step), w.tool_motion.columns, w.tool_motion.lengths, SURE
    for k in range(len(p.tools)):
        theta, c, turns, drifts, spins = 0.0, 0.0, 0.0, 0.0, 0.0
        for a in range(n):
            turn = p.tool_bounds[(2 * k + 1) * n + a]
            theta, turns = theta + turn * w.tool_motion.most[a], turns + turn * w.tool_motion.reach[a]
        chain = p.tool_bounds[2 * n * len(p.tools) + k] > 0.0
        fast, far = (0.0, 0.0) if chain else (theta, turns)  # how fast, and how far, what carries a joint turns
        for a in range(n):
            length, turn = lengths[k * n + a], p.tool_bounds[(2 * k + 1) * n + a]
            most, reach = w.tool_motion.most[a], w.tool_motion.reach[a]
            c, spins = c + length * most, spins + turn * most * far
            far += turn * reach if chain else 0.0
            drifts += length * (most * far + reach * fast)
            fast += turn * most if chain else 0.0
        bent, share = BETWEEN * theta * theta, (1.0 - _NEAR) * w.memory[UPDATES]
        linear, angular = share * p.tools[k].linear, share * p.tools[k].angular
        drifts = (1.0 + _GROWTH * turns) * (drifts + bent * c)
        spins += bent * theta
        for i in range(instants):
            u0, u1, u2, s0, s1, s2, drift, spin = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for a in range(n):
                v, bend = w.tool_motion.velocities[i * n + a], w.tool_motion.bends[i * n + a]
                at, on = 3 * (2 * k * n + a), 3 * ((2 * k + 1) * n + a)
                u0, u1, u2 = u0 + columns[at] * v, u1 + columns[at + 1] * v, u2 + columns[at + 2] * v
                s0, s1, s2 = s0 + columns[on] * v, s1 + columns[on + 1] * v, s2 + columns[on + 2] * v
                drift, spin = drift + lengths[k * n + a] * bend, spin + p.tool_bounds[(2 * k + 1) * n + a] * bend
            drift, spin = drift + np.sqrt(u0 * u0 + u1 * u1 + u2 * u2), spin + np.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
            if not (turns <= _SMALL and drift + drifts <= linear and spin + spins <= angular):
                if turns <= _SMALL and (drift > linear or spin > angular):
                    return NO
                found = MAYBE
    return found


@kernel
def _look_at_start(p, w):
    """w.tool_motion.start_columns at w.begun: those of the last look, if that was there."""
    count = len(w.begun)
    same = w.tool_motion.start[count] > 0.5
    for i in range(count):
        same = same and w.tool_motion.start[i] == w.begun[i]
    if same:
        return
    _look_where(p, w, w.begun)
    for i in range(count):
        w.tool_motion.start[i] = w.begun[i]
    w.tool_motion.start[count] = 1.0
    for i in range(len(w.tool_motion.columns)):
        w.tool_motion.start_columns[i] = w.tool_motion.columns[i]


@kernel
def _look_where(p, w, q):
    """w.tool_motion.columns at q (nq), if they are not those already."""
    same = w.tool_motion.q[len(q)] > 0.5
    for i in range(len(q)):
        same = same and w.tool_motion.q[i] == q[i]
        w.tool_motion.q[i] = q[i]
    if not same:
        _look(p, w, q)


@kernel
def _look_at_end(p, w):
    """w.tool_motion.columns where w.step leads from w.begun."""
    integrate_part(p, w, w.begun, w.step, 1.0, w.tool_motion.q)
    _look(p, w, w.tool_motion.q)


@kernel
def _look(p, w, q):
    """w.tool_motion.columns at q (nq): 3 n of a tool's linear and 3 n of its angular motion, one after the other; and
    the lengths of the first (n)."""
    size = 3 * len(w.step)
    w.tool_motion.q[len(w.begun)] = 1.0
    forward(p.tool_units, p.tool_pieces, q, w.tool_motion.frames)
    for k in range(len(p.tools)):
        tool = p.tools[k]
        px, py, pz = tool_point(tool, w.tool_motion.frames)
        linear = section(w.tool_motion.columns, 2 * k * size, size)
        angular = section(w.tool_motion.columns, (2 * k + 1) * size, size)
        jacobian_columns(
            p.tool_columns, tool.first_column, tool.last_column, w.tool_motion.frames, px, py, pz, linear, angular
        )
        for a in range(len(w.step)):
            l0, l1, l2 = linear[3 * a], linear[3 * a + 1], linear[3 * a + 2]
            w.tool_motion.lengths[k * len(w.step) + a] = np.sqrt(l0 * l0 + l1 * l1 + l2 * l2)


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
