"""Shapes are kept apart: inequalities of an update, and a check of where it led.

A pair whose distance is d may change it in an update by no more than share (d - d_s) towards d_s, the least that is
asked: the velocity damper of Faverjon and Tournassoud 1987.  Every pair has its inequality that both can reach within
an update, at the speeds that they are allowed.  A step is looked at where it ends, and, where it is `continuous`, on
its way where it is swift and brings something near; one that goes farther than was looked ahead, as that of a free base
may, is looked at anew, so none crosses another unseen.  `braking_apart` beside this looks at its way to rest.  A pair
that was too near before may not get nearer, and is taken apart.
"""

import functools

import numpy as np

from poise.kernels.algebra.working_set import NONE, along
from poise.kernels.collision.corners import CORNERS, corner_is_near, has_corners
from poise.kernels.collision.near import (
    DISTANCE,
    FIRST,
    NORMAL,
    SECOND,
    distance_row,
    ease,
    find_near,
    max_displacement,
    place_movers,
    shared_columns,
    sweep,
)
from poise.kernels.collision.nearest import nearest_pair
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import CALL, MAX_COLLISION_ROWS, NEAR
from poise.kernels.machine.memory import (
    CERTIFIED,
    COLLISION_COUNT,
    CUTTING,
    INVERSE_RADIUS,
    IS_CLEAR,
    TOO_NEAR,
    TURNED,
)
from poise.kernels.machine.views import entry_at, narrow, problem_at, section
from poise.kernels.requirements.integrate import integrate_part
from poise.kernels.requirements.nearest_step import SEEN_MORE, cut
from poise.kernels.requirements.stopping import way_to_rest_within
from poise.kernels.requirements.trust_radius import STILL, widen_trust_radius
from poise.kernels.rows.rounding import ROUNDING

_LOOKS = 256
"""Looks along the way of an update, at most; a step that would need more and goes beyond `lookahead` is refused, or
shortened to where it was seen.  A fast arm that slides along a body at a millimetre takes a hundred."""
_BESIDE = 0.02
"""A look lists the pairs that are nearer than they may be by this [m]; all others may go as far without another."""
_FIXED = 1e-6
"""A pair whose distance no joint changes faster asks for nothing [m per rad or m]."""
BUILT_NEAR_RESERVE = 1e-4
"""What is kept beyond the least distance of links that are built near [m]: what the curvature of a step takes back."""
_UNSEEN, _FINEST = 5e-3, 1e-3
"""How much between two looks a distance may fall below what is asked, unseen [m]: the way between looks is chosen by
it, and half of it is the slack of a look on the way.  The end of a step has no slack.

Where less is asked, that is the way between looks, but no less than the second, and half of it the slack: so nothing
that is to be more than the second apart touches on the way."""
_SOON, _CLOSE = 4.0, 1e-3
"""Corners of a pair are looked for where it may come nearer by less than this many times what it did, or than this [m]:
that takes them in before its inequality is met, and of pairs that are merely in reach it asks for nothing."""


@routine
def collision_rows(p, w, address):
    """w.constraints.collision_rows and w.constraints.collision_bounds: rows dq <= bounds of the pairs that are near,
    for the update from w.q.

    One row for each pair of x.proximity.near, in that order, then one for each corner that is near (`corner_is_near`).
    w.clearance[0] = the least distance of these pairs [m].
    """
    request = entry_at(address, CALL)
    s = problem_at(request.scene)
    x = narrow(s, request.scene_work, request.routines)
    moved = moved_to(x, w.q)
    if x.proximity.near[0] < 0.0:  # the first look, or the first since shapes of the world were moved
        moved, w.memory[CERTIFIED] = True, 0.0
    if x.proximity.stirred[0] > STILL:  # shapes of the world were moved: a step may be long again
        widen_trust_radius(w, x.proximity.stirred[0])
        x.proximity.stirred[0] = 0.0
    if moved:
        look_ahead(p, s, x, w.motion.displacement)
    count = np.int64(x.proximity.near[0])
    rows, w.memory[TOO_NEAR], w.clearance[0] = count, 0.0, NONE
    for k in range(count):
        pair = section(x.proximity.near, 1 + NEAR * k, NEAR)
        w.clearance[0] = min(w.clearance[0], pair[DISTANCE])
        _state(p, w, s, x, pair, k)
    for k in range(count):
        pair = section(x.proximity.near, 1 + NEAR * k, NEAR)
        for side in range(2 if _comes_near(p, w, k) else 0):
            if has_corners(s.shapes[np.int64(pair[FIRST + side])]):
                for number in range(CORNERS):
                    if rows < MAX_COLLISION_ROWS and corner_is_near(s, x, pair, side == 1, number):
                        _state(p, w, s, x, x.proximity.pair, rows)
                        rows += 1
    _find_rows_before(w, x, rows)
    for i in range(1 + NEAR * count):
        x.proximity.near_before[i] = x.proximity.near[i]
    w.memory[COLLISION_COUNT] = float(rows)


@kernel
def _find_rows_before(w, x, rows):
    """w.constraints.collision_before: by its pair, which row each of so many was in the last update, so that the active
    set begins as that one ended; of corners only where all rows are those of before."""
    count, same = np.int64(x.proximity.near[0]), rows == np.int64(w.memory[COLLISION_COUNT])
    for k in range(count):
        pair, last = section(x.proximity.near, 1 + NEAR * k, 2), -1
        for b in range(np.int64(x.proximity.near_before[0])):
            old = section(x.proximity.near_before, 1 + NEAR * b, 2)
            if pair[FIRST] == old[FIRST] and pair[SECOND] == old[SECOND]:
                last = b
        w.constraints.collision_before[k], same = float(last), same and last == k
    for k in range(count, rows):
        w.constraints.collision_before[k] = float(k) if same else -1.0


@kernel
def _state(p, w, s, x, pair, k):
    """Row k of w.constraints.collision_rows, -d distance / dq, and its bound, for a pair or a corner of one (NEAR
    rows)."""
    n, limit = len(w.step), p.collision[0]
    row = pitch(w.constraints.collision_rows, n)
    distance_row(s, x, pair)
    largest = 0.0
    for a in range(n):
        largest = max(largest, abs(x.proximity.row[p.velocities[a]]))
    asks = largest > _FIXED  # else no step changes the distance, and a negative bound could never be met
    for a in range(row):
        w.constraints.collision_rows[k * row + a] = -x.proximity.row[p.velocities[a]] if asks and a < n else 0.0
    # How much less the approach can be an update later: J |change|.
    brake = 0.0
    for a in range(len(p.rates)):
        brake += abs(w.constraints.collision_rows[k * row + a]) * p.rates[a].change
    # Links that are as near as they are built are not to be pushed apart.
    built_near = ease(s, np.int64(pair[FIRST]), np.int64(pair[SECOND])) != 0.0
    reserve = BUILT_NEAR_RESERVE if built_near else limit.reserve
    drift, brake = drifted(x, pair), brake if len(p.rates) > 0 else np.inf
    w.constraints.collision_bounds[k] = may_approach(limit, pair[DISTANCE], reserve, drift, brake) if asks else NONE
    if asks and pair[DISTANCE] < limit.distance - ROUNDING:
        w.memory[TOO_NEAR] = 1.0
    if w.constraints.collision_bounds[k] < 0.0 and (drift != 0.0 or pair[DISTANCE] < limit.distance):
        # What brings the arm to rest at its targets must not hold it where something comes near.
        w.memory[INVERSE_RADIUS], w.memory[TURNED] = 0.0, 0.0


@kernel
def retreats(w):
    """Whether w.step takes apart, to first order, what its rows ask to be taken apart, where a pair is too near."""
    enough = True
    for k in range(np.int64(w.memory[COLLISION_COUNT]) if w.memory[TOO_NEAR] > 0.0 else 0):
        most = w.constraints.collision_bounds[k]
        parted = most >= 0.0 or along(len(w.step), w.constraints.collision_rows, k, w.step) <= most + ROUNDING
        enough = enough and parted
    return enough


@kernel
def _comes_near(p, w, k):
    """Whether a step like the last one would come to the bound of row k within _SOON updates, or _CLOSE."""
    n, way = len(w.step), 0.0
    row = pitch(w.constraints.collision_rows, n)
    for a in range(n):
        way += w.constraints.collision_rows[k * row + a] * w.step[a]
    return w.constraints.collision_bounds[k] < _SOON * abs(way) + _CLOSE


@kernel
def may_approach(limit, distance, reserve, drift, brake):
    """How much nearer joints may bring a pair in an update [m]; negative where they must take it apart.

    With m = distance - drift - least - reserve it is min(share m, sqrt(brake m)), no less than -retreat, plus drift.
    `distance` is that with shapes of the world where they are going to be, `drift` what their going there adds to it;
    `reserve` is what is to be kept beyond the least; `brake` [m] is by how much less it may be an update later, where
    accelerations are limited: a stop from v takes about v^2 / (2 brake), half of m.
    """
    margin = distance - drift - limit.distance - reserve
    left = limit.share * margin
    if margin > 0.0:
        left = min(left, np.sqrt(brake * margin))
    return max(left, -limit.retreat) + drift


@kernel
def drifted(x, pair):
    """What the motion of shapes of the world, x.proximity.drift, adds to the distance of a pair in this step [m]."""
    drift, i, j = 0.0, np.int64(pair[FIRST]), np.int64(pair[SECOND])
    for r in range(3):
        drift += pair[NORMAL + r] * (x.proximity.drift[3 * j + r] - x.proximity.drift[3 * i + r])
    return drift


@kernel
def moved_to(x, q):
    """Copy q into x.q; whether that changed it, so that frames of shapes are stale."""
    moved = False
    for i in range(len(q)):
        moved = moved or x.q[i] != q[i]
        x.q[i] = q[i]
    return moved


@kernel
def look_ahead(p, s, x, last):
    """x.proximity.near are the pairs that the update from x.q, after the step `last`, can bring too near.

    Where accelerations are limited, so can the way to rest after that.
    """
    for v in range(len(x.proximity.row)):
        x.proximity.row[v] = 0.0
    for a in range(len(p.speeds)):
        x.proximity.row[p.velocities[a]] = way_ahead(p, a, last)
    find_ahead(p, s, x)


@kernel
def way_ahead(p, a, last):
    """A bound of how far a velocity goes in the update after the step `last`, and on the way to rest from there."""
    way = p.speeds[a]
    if len(p.rates) > 0:
        way = min(way, abs(last[a]) + p.rates[a].change)
        way = way + way_to_rest_within(p.rates[a], way, p.rates[a].change)
    return way


@kernel
def find_ahead(p, s, x):
    """x.proximity.near become the pairs that can come too near from x.q where velocity v goes by up to
    x.proximity.row[v]."""
    place_movers(s, x)
    for i in range(s.scene[0].movers):
        # Within a step alone, what it costs to know more is more than what it saves.
        ways = x.proximity.row
        way = sweep(s, x, i, 0, ways, ways)[0] if len(p.rates) > 0 else max_displacement(s, i, 0, ways)
        x.proximity.advance[i] = way if len(p.rates) > 0 and way < NONE else min(way, p.collision[0].lookahead)
    find_near(s, x, p.collision[0].distance + p.collision[0].reserve, True)


@routine
def stays_clear(p, w, address):
    """IS_CLEAR: 1 where no pair is nearer than asked at w.q, nor, if steps are looked at so, on the way there.

    x.proximity.near is then of w.q.  With CUTTING, each pair that is too near cuts the next step.
    """
    request = entry_at(address, CALL)
    s = problem_at(request.scene)
    x = narrow(s, request.scene_work, request.routines)
    w.memory[IS_CLEAR] = 0.0
    if p.collision[0].continuous > 0 and not _clear_on_the_way(p, w, s, x):
        return
    moved_to(x, w.q)
    look_ahead(p, s, x, w.step)
    if _all_clear(p, w, s, x, 0.0, 1.0 if w.memory[CUTTING] > 0.5 else 0.0):
        w.memory[IS_CLEAR] = 1.0


@kernel
def _clear_on_the_way(p, w, s, x):
    """Whether no pair is nearer than asked on the way of w.step by more than the slack of a look.

    A distance changes by no more than the way T that its two shapes make, so between two looks at d and d' it is at
    least (d + d' - T) / 2; a pair with d - T above the least needs no look.  With CUTTING, a step that is too long to
    be looked at is to be shorter.
    """
    limit, farthest = p.collision[0], 0.0
    slack = 0.5 * min(limit.distance, _UNSEEN)
    cutting = w.memory[CUTTING] > 0.5
    put_velocities(p, w.step, x.proximity.row)
    for i in range(s.scene[0].movers if limit.lookahead < np.inf and not _seen_ahead(p, w) else 0):
        farthest = max(farthest, max_displacement(s, i, 0, x.proximity.row))
    seen, longest = x.proximity.near_before, 0.0
    # Pairs were sought as far as `lookahead`; a step that takes a point farther may bring others near.
    too_far = farthest > limit.lookahead * (1.0 + 1e-9)
    if too_far:
        _look_as_far(p, w, s, x)
        seen = x.proximity.near
    for k in range(np.int64(seen[0])):
        longest = max(longest, _way(s, x, section(seen, 1 + NEAR * k, NEAR)))
    at = _next_look(limit, s, x, seen, slack, 0.0, NONE)
    for k in range(1, _LOOKS + 1):
        if not too_far:
            at = max(at, k / _LOOKS)
        if not at < 1.0:
            break
        integrate_part(p, w, w.begun, w.step, at, x.q)
        place_movers(s, x)
        find_near(s, x, limit.distance + _BESIDE, False)
        if not _all_clear(p, w, s, x, slack, at if cutting else 0.0):
            return False
        at = _next_look(limit, s, x, x.proximity.near, slack, at, at + _BESIDE / longest)
    if at < 1.0 and cutting:  # the same way, less far
        for a in range(len(w.step)):
            w.constraints.candidate_steps[a] = at * w.step[a]
        w.memory[CUTTING] = SEEN_MORE
    return not at < 1.0


@kernel
def _next_look(limit, s, x, near, slack, at, unlisted):
    """Up to which share of the step the pairs `near`, seen at the share `at`, need no look; no more than `unlisted`.

    What a pair is farther apart than it may be seen is way that it may go without a look.
    """
    until, least = unlisted, limit.distance - slack
    for k in range(np.int64(near[0])):
        pair = section(near, 1 + NEAR * k, NEAR)
        way, distance = _way(s, x, pair), pair[DISTANCE]
        if distance - (1.0 - at) * way < least:
            until = min(until, at + (max(distance - least, 0.0) + _between_looks(limit, distance)) / way)
    return until


@functools.partial(kernel, inline=True)
def _between_looks(limit, distance):
    """How far the shapes of a pair at this distance may come towards each other between two looks [m], beside that."""
    if limit.distance < _UNSEEN:
        return max(limit.distance, _FINEST)
    return max(2.0 * min(distance, limit.distance), _UNSEEN)


@kernel
def _look_as_far(p, w, s, x):
    """x.proximity.near become the pairs that the step x.proximity.row from w.begun can bring too near, without a bound
    of its length."""
    moved_to(x, w.begun)
    place_movers(s, x)
    for i in range(s.scene[0].movers):
        x.proximity.advance[i] = max_displacement(s, i, 0, x.proximity.row)
    find_near(s, x, p.collision[0].distance, True)


@functools.partial(kernel, inline=True)
def put_velocities(p, numbers, out):
    """out (nv) becomes these numbers (n), spread over the velocities of the model."""
    for v in range(len(out)):
        out[v] = 0.0
    for a in range(len(numbers)):
        out[p.velocities[a]] = numbers[a]


@kernel
def _all_clear(p, w, s, x, slack, share):
    """Whether every pair of x.proximity.near is as far apart as asked, less `slack`, at x.q, which is that share along
    w.step.

    A pair that is not adds a cutting plane for the next step, unless the share is 0.
    """
    limit, all_clear = p.collision[0], True
    for k in range(np.int64(x.proximity.near[0])):
        pair = section(x.proximity.near, 1 + NEAR * k, NEAR)
        least = limit.distance
        if not pair[DISTANCE] >= least - slack:
            least = least_asked(x, pair, limit.distance)  # looked up only here, for the search takes time
            if not pair[DISTANCE] >= least - slack:
                all_clear = False
                if share > 0.0:
                    # A little more, but not more than it had before.
                    over = min(limit.distance + 0.5 * limit.reserve, least_asked(x, pair, NONE)) - pair[DISTANCE]
                    slope_of(p, w, s, x, pair)
                    cut(w, (over - slack) / share)
    return all_clear


@kernel
def slope_of(p, w, s, x, pair):
    """w.constraints.slope is how much nearer each velocity brings a pair."""
    distance_row(s, x, pair)
    for c in range(len(w.constraints.slope)):
        w.constraints.slope[c] = -x.proximity.row[p.velocities[c]] if c < len(w.step) else 0.0


@kernel
def _seen_ahead(p, w):
    """Whether every velocity has a bound of its way, so that pairs were sought as far ahead as the step can lead."""
    for a in range(len(w.step)):
        if not way_ahead(p, a, w.step) < NONE:
            return False
    return True


@functools.partial(kernel, inline=True)
def _way(s, x, pair):
    """How far the shapes of a pair can come towards each other in the step that x.proximity.row holds [m]."""
    i, j = np.int64(pair[FIRST]), np.int64(pair[SECOND])
    shared = shared_columns(s, i, j)
    return max_displacement(s, i, shared, x.proximity.row) + max_displacement(s, j, shared, x.proximity.row)


@kernel
def least_asked(x, pair, least):
    """The distance that is asked of a pair [m]: `least`, or that before the update if it was nearer already.

    From the latter the share is taken that shapes of the world came nearer of themselves.
    """
    for b in range(np.int64(x.proximity.near_before[0])):
        old = section(x.proximity.near_before, 1 + NEAR * b, NEAR)
        if old[FIRST] == pair[FIRST] and old[SECOND] == pair[SECOND]:
            least = min(least, old[DISTANCE] - drifted(x, old))
    return least - ROUNDING


@routine
def clearance(p, w, address):
    """w.clearance[0] = the least distance of all pairs at w.q [m]."""
    request = entry_at(address, CALL)
    s = problem_at(request.scene)
    x = narrow(s, request.scene_work, request.routines)
    moved_to(x, w.q)
    w.clearance[0] = nearest_pair(s, x)
    x.proximity.near[0] = -1.0  # it holds that pair alone: rows for a step from here look for all anew
