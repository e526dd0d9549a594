"""How an arm with accelerations comes to rest after a step: the way on which it brakes, and whether all holds there.

A step is allowed if one of two ways of braking from where it leads keeps everything: each joint as fast as it can, or
all by the same share, abreast, which leads on along a wall on which a hand slides.  The next step can always be the
first of that way, which was looked at a step before: so there is always one that is allowed.
"""

import numpy as np

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.memory import ABREAST
from poise.kernels.machine.views import section
from poise.kernels.requirements.braking import NO_LIMIT, allowed_anywhere, fastest, way_to_stand
from poise.kernels.requirements.integrate import integrate
from poise.kernels.requirements.limits import allowed_from
from poise.kernels.requirements.loops import project_to_loops
from poise.kernels.requirements.ranges import range_violation, ranges_hold
from poise.kernels.rows.sums import sums_hold
from poise.kernels.solver.limits import limited_balls

STOPS, _RESTING = 4096, 1e-9
"""Braking is followed for so many steps, four seconds at 1 kHz, or until a step and its change are so small
[rad or m]."""
_EASED = 0.6
"""The share of what accelerations and jerks leave that joints which brake together use, for what the bend of loops and
borders takes of it."""
ROUNDED = 1e-14
"""By how much rounding may take a step beyond a bound [rad or m]."""
_BENDS = 2
"""A step of braking is bent so often: the second time for what is left of the first, or for another border."""
UNKNOWN = 1e9
"""In w.braking.distances and w.braking.speeds: no bound is known, for a bent step can lead farther than one of braking
straight on [rad or m]."""
_MORE = 1e-3
"""Share that is added to the S-curve's way, so that rounding does not take braking in steps beyond its bound."""


@kernel
def after_step(p, w, v, s, x):
    """Begin braking after w.step: v (n) is that step, s (n) its change from the last one, x (nq) where it led."""
    for a in range(len(v)):
        v[a] = w.step[a]
        s[a] = v[a] - w.motion.displacement[a]
    for i in range(len(x)):
        x[i] = w.q[i]


@kernel
def brake_on(p, w, v, s, x):
    """One step of braking: v, s (n each) and x (nq), a step, its change and where it led, become those of the next one.

    False where what ties joints together, loops, borders of balls or limits A q <= b, lets no such step be.
    """
    n = len(v)
    low, high, last = section(w.braking.box, 0, n), section(w.braking.box, n, n), section(w.braking.box, 2 * n, n)
    for a in range(n):
        last[a] = v[a]
    for r in range(len(p.coordinates)):
        c, rate, a = p.coordinates[r], p.rates[p.coordinates[r].v], p.coordinates[r].v
        way = way_to_rest_within(rate, abs(v[a]), abs(s[a]))
        # Farther from its limits than its way to rest a joint needs no look at them, unless it brakes with others:
        # then it may brake later than it could.
        if _group(p, w, a) == 0 and c.lower + way <= x[c.q] <= c.upper - way:
            low[a], high[a] = allowed_anywhere(v[a], s[a], rate.speed, rate.change, rate.jerk)
        else:
            low[a], high[a] = allowed_from(rate, c, x[c.q], v[a], s[a])
    for b in range(len(p.balls)):
        for k in range(3):
            a = p.balls[b].v + k
            rate = p.rates[a]
            low[a], high[a] = allowed_anywhere(v[a], s[a], rate.speed, rate.change, rate.jerk)
    groups = 0
    for a in range(n):
        if p.rates[a].jerk < NO_LIMIT:  # to come to rest with no acceleration left: -v is the room of the velocity
            if v[a] <= 0.0:
                high[a] = max(low[a], min(high[a], v[a] + fastest(-v[a], p.rates[a].jerk)))
            if v[a] >= 0.0:
                low[a] = min(high[a], max(low[a], v[a] - fastest(v[a], p.rates[a].jerk)))
        groups = max(groups, _group(p, w, a))
        if _group(p, w, a) == 0:
            v[a] = min(max(0.0, low[a]), high[a])
    for g in range(1, groups + 1):
        _brake_together(p, w, g, low, high, v, s)
    for i in range(len(x)):
        w.braking.start[i] = x[i]
    allowed = True
    if len(p.loops) > 0:
        allowed = project_to_loops(p, w, w.braking.start, v, low, high, x)
    else:
        integrate(p, w, w.braking.start, v, x)
    for a in range(n):
        allowed = allowed and low[a] - ROUNDED <= v[a] <= high[a] + ROUNDED
        s[a] = v[a] - last[a]
    return allowed and sums_hold(p, w, x)


@kernel
def _group(p, w, a):
    """The number of the group of velocities that brake by one share to which a belongs; 0 where it brakes alone."""
    return 1 if w.memory[ABREAST] > 0.5 else p.braking_group[a]


@kernel
def _brake_together(p, w, group, low, high, v, s):
    """Scale the velocities of a group by one share, the least that low <= v <= high lets all of them have.

    So the group goes on along the direction that it has, as a closed loop must.  s (n) is its last change.  Where the
    bounds leave no share to all, each is clipped to its own.
    """
    least, most = 0.0, np.inf
    for a in range(len(v)):
        if _group(p, w, a) == group and v[a] != 0.0:
            # slow <= |v| <= fast, of which braking uses _EASED.
            slow, fast = (low[a], high[a]) if v[a] > 0.0 else (-high[a], -low[a])
            size = abs(v[a])
            if p.rates[a].jerk < NO_LIMIT:
                onward = size + s[a] if v[a] > 0.0 else size - s[a]  # as the acceleration is
                slow = onward - _EASED * (onward - slow) if slow < onward else slow
                slow = max(slow, size - _EASED * p.rates[a].change)
            elif slow < size:
                slow = size - _EASED * (size - slow)
            least, most = max(least, slow / size), min(most, fast / size)
    share = min(least, most)
    for a in range(len(v)):
        if _group(p, w, a) == group:
            v[a] = min(max(share * v[a], low[a]), high[a])


@kernel
def steer(p, w, v, s, x):
    """Bend a step of braking, v, s (n each) and x (nq) of `brake_on`, back within the ranges that it leaves.

    A range may curve away from a straight step.  Whether x is within all of them then.  The way to rest is no longer
    known: w.braking.distances and w.braking.speeds become UNKNOWN.
    """
    n = len(v)
    low, high, last = section(w.braking.box, 0, n), section(w.braking.box, n, n), section(w.braking.box, 2 * n, n)
    row = pitch(w.sides.jacobian, n)
    for _ in range(_BENDS):
        if ranges_hold(p, w, x, False, False):
            return True
        for b in range(len(p.ranges)):
            for i in range(p.ranges[b].first, p.ranges[b].last):
                over, square = range_violation(w, i), 0.0
                for a in range(n):
                    square += w.sides.jacobian[i * row + a] ** 2
                if over > 0.0 and square > 0.0:
                    # The shortest change of v that takes side i back, by half of its reserve more: v -= J_i^T share.
                    share = (over + 0.5 * p.ranges[b].reserve) / square
                    for a in range(n):
                        v[a] = min(max(v[a] - share * w.sides.jacobian[i * row + a], low[a]), high[a])
        integrate(p, w, w.braking.start, v, x)
        for a in range(n):
            s[a] = v[a] - last[a]
            w.braking.distances[a], w.braking.speeds[a] = UNKNOWN, UNKNOWN
    return ranges_hold(p, w, x, False, False) and sums_hold(p, w, x)


@kernel
def follow_braking(p, w, v, s, x):
    """The number of steps of braking after w.step, which led to w.q, at most; -1 where one of them breaks a tie.

    w.braking.distances (n) and w.braking.speeds (n): how far each velocity goes on the way to rest, and its longest
    step there.  Afterwards v, s (n each) and x (nq) are again those of w.step, from which braking can be followed.
    """
    n, steps = len(v), STOPS
    after_step(p, w, v, s, x)
    # A joint that brakes alone keeps its own limits anyway: bounds in closed form are enough.
    if brakes_each(p, w):
        bound_braking(p, w, v, s)
        return steps
    for a in range(n):
        w.braking.distances[a], w.braking.speeds[a] = 0.0, 0.0
    for k in range(STOPS):
        if not brake_on(p, w, v, s, x):
            return -1
        for a in range(n):
            size = abs(v[a])
            w.braking.distances[a], w.braking.speeds[a] = w.braking.distances[a] + size, max(w.braking.speeds[a], size)
        if rests(v, s):
            steps = k
            break
    after_step(p, w, v, s, x)
    return steps


@kernel
def rests(v, s):
    """Whether a step and its change (n each) are below _RESTING."""
    for a in range(len(v)):
        if max(abs(v[a]), abs(s[a])) >= _RESTING:
            return False
    return True


@kernel
def bound_braking(p, w, v, s):
    """Bound the way to rest after a step v, whose change was s (n each): w.braking.distances and w.braking.speeds (n).

    The speed still rises while a jerk takes an acceleration away: by rise (rise / jerk + 1) / 2 in whole steps.
    """
    for a in range(len(v)):
        rate, speed, rise = p.rates[a], abs(v[a]), abs(s[a])
        w.braking.distances[a] = way_to_rest_within(rate, speed, rise)
        if rate.jerk < NO_LIMIT:
            w.braking.speeds[a] = speed + 0.5 * rise * (rise / rate.jerk + 1.0)
        else:
            w.braking.speeds[a] = max(speed - rate.change, 0.0)


@kernel
def way_to_rest_within(rate, speed, rise):
    """A bound of how far braking leads after a step of `speed`, whose change was `rise` [rad or m].

    With acceleration alone it is exact: k speed - a k (k + 1) / 2, k = floor(speed / a).
    """
    if rate.jerk < NO_LIMIT:
        return (1.0 + _MORE) * way_to_stand(speed, rise, rate.change, rate.jerk) + _MORE * speed
    k = np.floor(speed / rate.change)
    return k * speed - 0.5 * rate.change * k * (k + 1.0)


@kernel
def brakes_each(p, w):
    """Whether each joint brakes by itself: nothing ties joints together, and this is not the way abreast."""
    tied = len(p.loops) > 0 or len(p.inequalities) > 0 or limited_balls(p) > 0
    return not tied and w.memory[ABREAST] < 0.5
