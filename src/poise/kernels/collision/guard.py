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
from poise.kernels.collision.near import (
    DISTANCE,
    FIRST,
    NORMAL,
    SECOND,
    distance_row,
    find_near,
    nearest_pair,
    place_all,
    shared_columns,
    travel,
)
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import CALL, NEAR
from poise.kernels.machine.views import entry_at, narrow, problem_at, section
from poise.kernels.methods.memory import GUARDED, GUARDS_NEW

_HALVINGS = 12
"""An update is halved so often before it is not taken."""
_LOOKS = 64
"""Looks along the way of an update, at most."""
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
        _tell_travel(p, s, x)
        moved = True
    if moved:
        find_near(s, x, p.guard[0].distance + p.guard[0].reserve)
    n, guard = len(w.step), p.guard[0]
    row, count = pitch(w.guard_rows, n), np.int64(x.near[0])
    same = w.memory[GUARDED] == float(count)
    for k in range(count):
        pair, old = section(x.near, 1 + NEAR * k, NEAR), section(x.near_before, 1 + NEAR * k, 2)
        same = same and pair[FIRST] == old[FIRST] and pair[SECOND] == old[SECOND]
        distance_row(s, x, pair)
        for a in range(row):
            w.guard_rows[k * row + a] = -x.row[p.velocities[a]] if a < n else 0.0
        w.guard_most[k] = may_approach(guard, pair[DISTANCE], drifted(x, pair))
    for i in range(1 + NEAR * count):
        x.near_before[i] = x.near[i]
    w.memory[GUARDED], w.memory[GUARDS_NEW] = float(count), 0.0 if same else 1.0


@kernel
def may_approach(guard, distance, drift):
    """How much nearer joints may bring a pair in an update [m]; negative where they must take it apart.

    `distance` is that with shapes of the world where they are going to be, `drift` what their going there adds to it.
    """
    left = guard.share * (distance - drift - guard.distance - guard.reserve)
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


@functools.partial(kernel, inline=True)
def _tell_travel(p, s, x):
    """x.travel and x.reach: how far each shape that moves can come in an update."""
    for v in range(len(x.row)):
        x.row[v] = 0.0
    for a in range(len(p.speeds)):
        x.row[p.velocities[a]] = p.speeds[a]
    for i in range(s.scene[0].bounded):
        x.reach[i] = s.shapes[i].bound
        if i < s.scene[0].movers:
            x.travel[i] = min(travel(s, i, 0, x.row), p.guard[0].travel)
            x.reach[i] = x.reach[i] + x.travel[i]


@routine
def certify(p, w, address):
    """Take the update from w.before to w.q as far as it keeps shapes apart: w.q and w.step are what was gone."""
    told = entry_at(address, CALL)
    s = problem_at(told.scene)
    x = narrow(s, told.scene_work, told.routines)
    guard, n = p.guard[0], len(w.step)
    for v in range(len(x.row)):
        x.row[v] = 0.0
    for a in range(n):
        x.row[p.velocities[a]] = w.step[a]
    farthest = 0.0
    for i in range(s.scene[0].movers):
        farthest = max(farthest, travel(s, i, 0, x.row))
    share = guard.travel / farthest if farthest > guard.travel else 1.0
    for _ in range(_HALVINGS):
        if share < 1.0:
            go_to(p, w, share, w.q)
        if _apart_along(p, w, s, x, share):
            break
        share = 0.5 * share
    else:
        share = 0.0
        for i in range(len(w.q)):
            w.q[i] = w.before[i]
        moved_to(x, w.q)
        find_near(s, x, guard.distance + guard.reserve)
    if share < 1.0:
        for a in range(n):
            w.step[a] = share * w.step[a]


@kernel
def go_to(p, w, share, q):
    """q = where that share of w.step leads from w.before."""
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        q[c.q] = min(max(w.before[c.q] + share * w.step[c.v], c.lower), c.upper)
    for b in range(len(p.balls)):
        i, a = p.balls[b].q, p.balls[b].v
        q[i], q[i + 1], q[i + 2], q[i + 3] = quaternion_step(
            w.before[i], w.before[i + 1], w.before[i + 2], w.before[i + 3],
            share * w.step[a], share * w.step[a + 1], share * w.step[a + 2],
        )  # fmt: skip


@kernel
def _apart_along(p, w, s, x, share):
    """Whether no pair is nearer at w.q than asked, nor on the way there by more than half of _UNSEEN; x.near is of w.q.

    Between two looks a pair whose shapes come T has a distance of at least (d + d' - T) / 2.
    """
    guard = p.guard[0]
    looks = 1
    for k in range(np.int64(x.near_before[0])):
        pair = section(x.near_before, 1 + NEAR * k, NEAR)
        i, j = np.int64(pair[FIRST]), np.int64(pair[SECOND])
        _put_step(p, w, x, share)
        shared = shared_columns(s, i, j)
        way = travel(s, i, shared, x.row) + travel(s, j, shared, x.row)
        near = max(2.0 * min(pair[DISTANCE], guard.distance), _UNSEEN)
        if way > near:
            looks = max(looks, np.int64(min(np.ceil(way / near), float(_LOOKS))))
    for k in range(1, looks):
        go_to(p, w, share * k / looks, x.q)
        for b in range(len(p.idle)):
            x.q[p.idle[b].q] = w.q[p.idle[b].q]
        find_near(s, x, guard.distance)
        if not _apart(x, guard, 0.5 * _UNSEEN):
            return False
    moved_to(x, w.q)
    find_near(s, x, guard.distance + guard.reserve)
    return _apart(x, guard, 0.0)


@functools.partial(kernel, inline=True)
def _put_step(p, w, x, share):
    """x.row is that share of w.step, by the model's velocities."""
    for v in range(len(x.row)):
        x.row[v] = 0.0
    for a in range(len(w.step)):
        x.row[p.velocities[a]] = share * w.step[a]


@kernel
def _apart(x, guard, slack):
    """Whether every pair of x.near is as far apart as asked, or as before."""
    for k in range(np.int64(x.near[0])):
        pair = section(x.near, 1 + NEAR * k, NEAR)
        if not pair[DISTANCE] >= guard.distance - slack:
            least = guard.distance
            for b in range(np.int64(x.near_before[0])):
                old = section(x.near_before, 1 + NEAR * b, NEAR)
                if old[FIRST] == pair[FIRST] and old[SECOND] == pair[SECOND]:
                    least = min(least, old[DISTANCE])
            if not pair[DISTANCE] >= least - slack:
                return False
    return True


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
