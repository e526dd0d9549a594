"""Shapes are kept apart: inequalities for an update, and the look at where it led.

A pair whose distance is d may change it in an update by no more than share (d - d_s) towards d_s, the least that is
asked: the velocity damper of Faverjon and Tournassoud 1987.  Every pair has its inequality that both can reach within
an update, at the speeds that they are allowed, so none crosses another unseen.  An update is taken as far as distances
at its end, and on its way where it is swift, say that no pair is nearer than asked; one that was too near before may
not get nearer.
"""

import functools

import numpy as np

from poise.kernels.algebra.rotations import quaternion_step
from poise.kernels.algebra.swing_twist import within
from poise.kernels.algebra.working_set import NONE
from poise.kernels.collision.near import (
    DISTANCE,
    FIRST,
    NORMAL,
    SECOND,
    distance_between,
    distance_row,
    ease,
    find_near,
    place_all,
    place_movers,
    shared_columns,
    sweep,
    travel,
)
from poise.kernels.collision.nearest import nearest_pair
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import CALL, MOST_NEAR, NEAR
from poise.kernels.machine.views import entry_at, narrow, problem_at, section
from poise.kernels.methods.balls import turned_within
from poise.kernels.methods.memory import CURB, GUARDED, GUARDS_NEW, TURNED
from poise.kernels.methods.update import length_of

_HALVINGS = 12
"""An update is halved so often before some joints are left out of it, and before it is not taken."""
_LOOKS, _STOPS = 64, 16
"""Looks along the way of an update, and along that on which it could brake, at most."""
_SWEEPS, _ROUNDS = 16, 32
"""Through all inequalities, for a retreat, and through all joints, for the step that breaks them least."""
_STRETCHES = 3
"""A retreat is doubled so often where it does not suffice."""
_FIXED = 1e-6
"""A pair whose distance no joint changes faster asks for nothing [m per rad or m]."""
BUILT_NEAR_RESERVE = 1e-4
"""What is kept beyond the least distance of links that are built near [m]: what the curvature of a step takes back."""
_ROUNDING = 1e-12
"""What counts as no change of a distance [m]: a pair that no joint moves must not hold up the others."""
_UNSEEN = 5e-3
"""A pair of which both come so far in an update is near enough to what was seen [m]."""


@routine
def watch(p, w, address):
    """w.guard_rows and w.guard_most: what the pairs that are near ask of the update from w.q."""
    told = entry_at(address, CALL)
    s = problem_at(told.scene)
    x = narrow(s, told.scene_work, told.routines)
    moved = moved_to(x, w.q)
    if told.scene_changed or x.near[0] < 0.0:
        place_all(s, x)
        moved = True
    if moved:
        look_ahead(p, s, x, w.travel)
    n, guard = len(w.step), p.guard[0]
    row, count = pitch(w.guard_rows, n), np.int64(x.near[0])
    same = w.memory[GUARDED] == float(count)
    for k in range(count):
        pair, old = section(x.near, 1 + NEAR * k, NEAR), section(x.near_before, 1 + NEAR * k, 2)
        same = same and pair[FIRST] == old[FIRST] and pair[SECOND] == old[SECOND]
        distance_row(s, x, pair)
        largest = 0.0
        for a in range(n):
            largest = max(largest, abs(x.row[p.velocities[a]]))
        asks = largest > _FIXED
        for a in range(row):
            w.guard_rows[k * row + a] = -x.row[p.velocities[a]] if asks and a < n else 0.0
        brake = 0.0
        for a in range(len(p.paces)):
            brake += abs(w.guard_rows[k * row + a]) * p.paces[a].change
        # Links that are as near as they are built are not to be pushed apart.
        built_near = ease(s, np.int64(pair[FIRST]), np.int64(pair[SECOND])) != 0.0
        reserve = BUILT_NEAR_RESERVE if built_near else guard.reserve
        drift, brake = drifted(x, pair), brake if len(p.paces) > 0 else np.inf
        w.guard_most[k] = may_approach(guard, pair[DISTANCE], reserve, drift, brake)
        if not asks:
            w.guard_most[k] = NONE
        if w.guard_most[k] < 0.0:
            # What brings the arm to rest at its targets must not hold it where something comes near.
            w.memory[CURB], w.memory[TURNED] = 0.0, 0.0
    for i in range(1 + NEAR * count):
        x.near_before[i] = x.near[i]
    w.memory[GUARDED], w.memory[GUARDS_NEW] = float(count), 0.0 if same else 1.0


@kernel
def may_approach(guard, distance, reserve, drift, brake):
    """How much nearer joints may bring a pair in an update [m]; negative where they must take it apart.

    `distance` is that with shapes of the world where they are going to be, `drift` what their going there adds to it;
    `reserve` is what is to be kept beyond the least; `brake` is by how much less it may be an update later, where
    accelerations are limited: v^2 / 2 of it stop v.
    """
    room = distance - drift - guard.distance - reserve
    left = guard.share * room
    if room > 0.0:
        left = min(left, np.sqrt(brake * room))
    return max(left, -guard.retreat) + drift


@kernel
def drifted(x, pair):
    """What the way that shapes of the world go of themselves adds to the distance of a pair [m]."""
    drift, i, j = 0.0, np.int64(pair[FIRST]), np.int64(pair[SECOND])
    for r in range(3):
        drift += pair[NORMAL + r] * (x.drift[3 * j + r] - x.drift[3 * i + r])
    return drift


@kernel
def moved_to(x, q):
    """Let x.q be q; whether it was not."""
    moved = False
    for i in range(len(q)):
        moved = moved or x.q[i] != q[i]
        x.q[i] = q[i]
    return moved


@kernel
def look_ahead(p, s, x, last):
    """x.near are the pairs that the update from x.q, after the step `last`, can bring too near.

    Where accelerations are limited, so can the way to rest after that.
    """
    for v in range(len(x.row)):
        x.row[v] = 0.0
    for a in range(len(p.speeds)):
        way = p.speeds[a]
        if len(p.paces) > 0:
            way = min(way, abs(last[a]) + p.paces[a].change)
            way = way + _until_rest(way, p.paces[a].change, np.inf)
        x.row[p.velocities[a]] = way
    place_movers(s, x)
    for i in range(s.scene[0].movers):
        # Within a step alone, what it costs to know more is more than what it saves.
        way = sweep(s, x, i, 0, x.row, x.row)[0] if len(p.paces) > 0 else travel(s, i, 0, x.row)
        x.advance[i] = min(way, p.guard[0].travel)
    find_near(s, x, p.guard[0].distance + p.guard[0].reserve, True)


@routine
def certify(p, w, address):
    """Take the step w.step from w.before as far as it keeps shapes apart: w.q and w.step are what was gone.

    What is taken back is that which the step is more than the retreat, the least step that the pairs ask for: none at
    all, unless something comes towards the arm or is too near.  Where accelerations are limited, it is first that which
    the step is more than braking, and a step must leave a way to brake to rest: then braking is always open, for the
    way to rest was looked at a step before, but for shapes that move.
    """
    told = entry_at(address, CALL)
    s = problem_at(told.scene)
    x = narrow(s, told.scene_work, told.routines)
    guard, n, paced = p.guard[0], len(w.step), len(p.paces) > 0
    farthest = 0.0
    _put(p, x, w.step)
    for i in range(s.scene[0].movers):
        farthest = max(farthest, travel(s, i, 0, x.row))
    share = min(1.0, guard.travel / farthest) if farthest > 0.0 else 1.0
    for a in range(n):
        w.asked[a], w.braking[a] = share * w.step[a], 0.0
        if paced:
            slower = max(abs(w.travel[a] - w.surge[a]) - p.paces[a].change, 0.0)
            w.braking[a] = slower if w.travel[a] - w.surge[a] > 0.0 else -slower
    if _fits(p, w, s, x, 1.0, paced):
        return
    _retreat(p, w)
    for a in range(n if not paced else 0):
        w.braking[a] = w.retreat[a]
    for k in range(1, _HALVINGS):
        if _fits(p, w, s, x, 0.5**k, paced):
            return
    still = True
    for a in range(n):
        still = still and w.braking[a] == 0.0
    if still:
        _leave_out(p, w, s, x)
    for k in range(_HALVINGS if still else 0):
        if _fits(p, w, s, x, 0.5**k, paced):
            return
    # Braking alone, and less of it.
    for a in range(n):
        w.asked[a] = w.braking[a]
    for k in range(_HALVINGS):
        _go_between(w, w.retreat, 0.5**k if k < _HALVINGS - 2 else 0.0)
        if _goes(p, w, s, x):
            return
    for a in range(n):
        w.step[a] = 0.0
    if _goes(p, w, s, x):
        return
    # Something comes near quickly: get away from it by more than what seemed enough.
    for k in range(_STRETCHES):
        for a in range(n):
            w.step[a] = 2.0 ** (k + 1) * w.retreat[a]
        _shorten(p, w, w.step)
        if _goes(p, w, s, x):
            return
    # Nothing that was tried is free: what is too near gets as little nearer as can be.
    _break_least(p, w)
    for a in range(n):
        w.step[a] = w.retreat[a]
    _goes(p, w, s, x)


@functools.partial(kernel, inline=True)
def _goes(p, w, s, x):
    """Let w.q be where w.step leads; whether the way there and the place are free."""
    go_to(p, w, w.before, w.step, 1.0, w.q)
    return _apart_along(p, w, s, x)


@kernel
def _fits(p, w, s, x, share, paced):
    """Go that share of the way from braking to what was asked; whether it is free, and leaves a free way to brake."""
    _go_between(w, w.braking, share)
    return _goes(p, w, s, x) and (not paced or _can_stop(p, w, s, x))


@functools.partial(kernel, inline=True)
def _go_between(w, base, share):
    """w.step is that share of the way from the step `base` to what was asked."""
    for a in range(len(w.step)):
        w.step[a] = base[a] + share * (w.asked[a] - base[a])


@kernel
def _leave_out(p, w, s, x):
    """Let w.asked be braking for each joint that by itself brings a pair too near.

    A distance has an edge where the nearest point changes, as that of a capsule along a wall: its slope there says
    nothing of what either side does, and one joint would hold up all.
    """
    n = len(w.step)
    for a in range(n):
        for b in range(n):
            w.step[b] = w.asked[b] if b == a else w.braking[b]
        if not _goes(p, w, s, x):
            w.asked[a] = w.braking[a]


@kernel
def _retreat(p, w):
    """w.retreat (n) is all but the least step that keeps the inequalities of the pairs, at the speeds that joints have.

    By projections onto each inequality in turn, from no step at all (Kaczmarz).
    """
    n, row = len(w.step), pitch(w.guard_rows, len(w.step))
    for a in range(n):
        w.retreat[a] = 0.0
    for _ in range(_SWEEPS):
        kept = True
        for k in range(np.int64(w.memory[GUARDED])):
            over, square = -w.guard_most[k], 0.0
            for a in range(n):
                over += w.guard_rows[k * row + a] * w.retreat[a]
                square += w.guard_rows[k * row + a] ** 2
            if over > 0.0 and square > 0.0:
                kept = False
                for a in range(n):
                    w.retreat[a] = w.retreat[a] - over / square * w.guard_rows[k * row + a]
                _shorten(p, w, w.retreat)
        if kept:
            return


@kernel
def _break_least(p, w):
    """w.retreat (n) breaks the inequalities of the pairs by all but the least sum of squares.

    By a step of Newton's for one joint after the other, from no step at all (Gauss and Seidel).  w.beyond is by how
    much it breaks each; it is told anew in each round, for a twist may have shortened several joints.
    """
    n, row, count = len(w.step), pitch(w.guard_rows, len(w.step)), np.int64(w.memory[GUARDED])
    for a in range(n):
        w.retreat[a] = 0.0
    for _ in range(_ROUNDS):
        for k in range(count):
            w.beyond[k] = -w.guard_most[k]
            for a in range(n):
                w.beyond[k] = w.beyond[k] + w.guard_rows[k * row + a] * w.retreat[a]
        for a in range(n):
            slope, curve = 0.0, 0.0
            for k in range(count):
                if w.beyond[k] > 0.0:
                    slope += w.guard_rows[k * row + a] * w.beyond[k]
                    curve += w.guard_rows[k * row + a] ** 2
            if curve > 0.0:
                before = w.retreat[a]
                w.retreat[a] = before - slope / curve
                _shorten(p, w, w.retreat)
                for k in range(count):
                    w.beyond[k] = w.beyond[k] + w.guard_rows[k * row + a] * (w.retreat[a] - before)


@kernel
def _shorten(p, w, step):
    """Bring each entry of a step from w.before within its speed, and within its limits or to where it is.

    What a free base does together is then made as short as its twist has to be, along the same way.
    """
    for a in range(len(step)):
        step[a] = min(max(step[a], -p.speeds[a]), p.speeds[a])
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        below, above = min(c.lower - w.before[c.q], 0.0), max(c.upper - w.before[c.q], 0.0)
        step[c.v] = min(max(step[c.v], below), above)
    for k in range(len(p.twists)):
        twist = p.twists[k]
        longer = max(length_of(twist, step) / twist.most, 1.0)
        for a in range(twist.first, twist.first + twist.count):
            step[a] = step[a] / longer


@kernel
def go_to(p, w, start, step, share, q):
    """q = where that share of a step leads from `start`."""
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        q[c.q] = start[c.q] + share * step[c.v]
        if c.lower <= start[c.q] <= c.upper:
            q[c.q] = min(max(q[c.q], c.lower), c.upper)
    for b in range(len(p.balls)):
        i, a = p.balls[b].q, p.balls[b].v
        w0, x0, y0, z0 = start[i], start[i + 1], start[i + 2], start[i + 3]
        w1, x1, y1, z1 = quaternion_step(w0, x0, y0, z0, share * step[a], share * step[a + 1], share * step[a + 2])
        if p.balls[b].limited and within(p.balls[b], w0, x0, y0, z0):
            w1, x1, y1, z1, _, _, _ = turned_within(
                p.balls[b], w0, x0, y0, z0, share * step[a], share * step[a + 1], share * step[a + 2],
                p.speeds[a], p.speeds[a + 1], p.speeds[a + 2],
            )  # fmt: skip
        q[i], q[i + 1], q[i + 2], q[i + 3] = w1, x1, y1, z1


@functools.partial(kernel, inline=True)
def _put(p, x, step):
    """x.row is a step, by the model's velocities."""
    for v in range(len(x.row)):
        x.row[v] = 0.0
    for a in range(len(step)):
        x.row[p.velocities[a]] = step[a]


@kernel
def _apart_along(p, w, s, x):
    """Whether no pair is nearer at w.q than asked, nor on the way there by more than half of _UNSEEN; x.near is of w.q.

    Between two looks a pair whose shapes come T has a distance of at least (d + d' - T) / 2.
    """
    guard = p.guard[0]
    looks = 1
    _put(p, x, w.step)
    for k in range(np.int64(x.near_before[0])):
        pair = section(x.near_before, 1 + NEAR * k, NEAR)
        near = max(2.0 * min(pair[DISTANCE], guard.distance), _UNSEEN)
        looks = max(looks, np.int64(min(np.ceil(_way(s, x, pair) / near), float(_LOOKS))))
    for k in range(1, looks):
        go_to(p, w, w.before, w.step, k / looks, x.q)
        place_movers(s, x)
        find_near(s, x, guard.distance, False)
        if not _apart(x, guard, 0.5 * _UNSEEN):
            return False
    moved_to(x, w.q)
    look_ahead(p, s, x, w.step)
    return _apart(x, guard, 0.0)


@kernel
def _can_stop(p, w, s, x):
    """Whether braking from w.q, where w.step led, keeps all pairs apart; x.near is of w.q.

    A pair is measured again only where what it had to spare may be used up.  Where x.near is full it may lack a pair
    that comes near on that way, and all are looked at.
    """
    steps, full = 0.0, np.int64(x.near[0]) == MOST_NEAR
    for a in range(len(w.step)):
        steps = max(steps, np.floor(abs(w.step[a]) / p.paces[a].change))
    _slow(p, w, x, 0.0)
    soonest, looks = np.inf, np.int64(min(steps, float(_STOPS)))
    for k in range(np.int64(x.near[0])):
        pair = section(x.near, 1 + NEAR * k, NEAR)
        x.until[k] = _safe_until(p.guard[0], s, x, pair, pair[DISTANCE], 0.0)
        soonest = min(soonest, x.until[k])
    if full:
        soonest = 0.0
    clear, moved = True, False
    for look in range(1, looks + 1):
        at = np.ceil(steps * look / looks)
        if clear and soonest < at:
            for a in range(len(w.step)):
                way = _until_rest(abs(w.step[a]), p.paces[a].change, at)
                w.along_stop[a] = way if w.step[a] > 0.0 else -way
            go_to(p, w, w.q, w.along_stop, 1.0, x.q)
            place_movers(s, x)
            moved = True
            if full:
                find_near(s, x, p.guard[0].distance, False)
                clear = _apart(x, p.guard[0], 0.0)
            else:
                _slow(p, w, x, at)
                soonest = _still_apart(p.guard[0], s, x, at)
                clear = soonest > 0.0
    if moved:
        moved_to(x, w.q)
        place_movers(s, x)
        if full:
            look_ahead(p, s, x, w.step)
    return clear


@kernel
def _slow(p, w, x, steps):
    """x.pace and x.row are what is left of the step w.step after so many of braking, and the way from there to rest."""
    for v in range(len(x.row)):
        x.pace[v], x.row[v] = 0.0, 0.0
    for a in range(len(w.step)):
        left = max(abs(w.step[a]) - steps * p.paces[a].change, 0.0)
        x.pace[p.velocities[a]], x.row[p.velocities[a]] = left, _until_rest(left, p.paces[a].change, np.inf)


@kernel
def _still_apart(guard, s, x, at):
    """Until when all pairs of x.near are apart, as is seen at x.q after so many steps of braking; 0 if one is not."""
    soonest = np.inf
    for k in range(np.int64(x.near[0])):
        if x.until[k] < at:
            pair = section(x.near, 1 + NEAR * k, NEAR)
            distance = distance_between(s, x, np.int64(pair[FIRST]), np.int64(pair[SECOND]))
            if not distance >= guard.distance and not distance >= _least(x, guard, pair):
                return 0.0
            x.until[k] = _safe_until(guard, s, x, pair, distance, at)
        soonest = min(soonest, x.until[k])
    return soonest


@kernel
def _safe_until(guard, s, x, pair, distance, at):
    """For how many steps of braking a pair stays apart of which that is the distance after `at`, whatever its way."""
    spare = distance - guard.distance
    if not spare > 0.0:
        return at
    i, j = np.int64(pair[FIRST]), np.int64(pair[SECOND])
    shared = shared_columns(s, i, j)
    way, pace = sweep(s, x, i, shared, x.row, x.pace)
    other_way, other_pace = sweep(s, x, j, shared, x.row, x.pace)
    return np.inf if spare >= way + other_way else at + spare / (pace + other_pace)


@kernel
def _until_rest(speed, change, steps):
    """How far a velocity [a step] still goes in so many steps that each take `change` from it."""
    k = min(np.floor(speed / change), steps)
    return k * speed - 0.5 * change * k * (k + 1.0)


@functools.partial(kernel, inline=True)
def _way(s, x, pair):
    """How far the shapes of a pair can come towards each other in the step that x.row holds [m]."""
    i, j = np.int64(pair[FIRST]), np.int64(pair[SECOND])
    shared = shared_columns(s, i, j)
    return travel(s, i, shared, x.row) + travel(s, j, shared, x.row)


@kernel
def _apart(x, guard, slack):
    """Whether every pair of x.near is as far apart as asked."""
    for k in range(np.int64(x.near[0])):
        pair = section(x.near, 1 + NEAR * k, NEAR)
        if not pair[DISTANCE] >= guard.distance - slack and not pair[DISTANCE] >= _least(x, guard, pair) - slack:
            return False
    return True


@kernel
def _least(x, guard, pair):
    """What is asked of a pair [m]: of one that was nearer, what it was before shapes of the world moved."""
    least = guard.distance
    for b in range(np.int64(x.near_before[0])):
        old = section(x.near_before, 1 + NEAR * b, NEAR)
        if old[FIRST] == pair[FIRST] and old[SECOND] == pair[SECOND]:
            least = min(least, old[DISTANCE] - drifted(x, old))
    return least - _ROUNDING


@routine
def clear(p, w, address):
    """w.clearance[0] = the least distance of all pairs at w.q [m]."""
    told = entry_at(address, CALL)
    s = problem_at(told.scene)
    x = narrow(s, told.scene_work, told.routines)
    if told.scene_changed:
        place_all(s, x)
    moved_to(x, w.q)
    w.clearance[0] = nearest_pair(s, x)
