"""Shapes are kept apart on the way to rest: up to which step of braking all pairs surely are."""

import numpy as np

from poise.kernels.algebra.working_set import NONE
from poise.kernels.collision.near import DISTANCE, FIRST, SECOND, distance_between, place_movers, shared_columns, sweep
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.layout import CALL, MOST_NEAR, NEAR
from poise.kernels.machine.memory import BRAKING_STEP, CLEAR_STEPS, CUTTING
from poise.kernels.machine.views import entry_at, narrow, problem_at, section
from poise.kernels.requirements.collision import (
    find_ahead,
    least_asked,
    look_ahead,
    moved_to,
    put_velocities,
    slope_of,
    way_ahead,
)
from poise.kernels.requirements.nearest_step import cut_half
from poise.kernels.requirements.stopping import UNKNOWN


@routine
def stoppable(p, w, address):
    """CLEAR_STEPS: up to which step of braking all pairs surely stay apart, seen from step BRAKING_STEP.

    NONE: to the end; negative: a pair is too near at BRAKING_STEP.  Of the way to rest are left w.braking.distances, in
    steps of at most w.braking.speeds; its q is that of w.braking.state.  x.proximity.until holds the answer of each
    pair, which is measured again only when that step has come.
    """
    request = entry_at(address, CALL)
    s = problem_at(request.scene)
    x = narrow(s, request.scene_work, request.routines)
    n, at = len(w.step), w.memory[BRAKING_STEP]
    if at == 0.0:
        if moved_to(x, w.q):  # another way of braking was looked at, and led elsewhere
            look_ahead(p, s, x, w.step)
        _find_near_on_braking_way(p, w, s, x)
    put_velocities(p, w.braking.speeds, x.proximity.rate)
    put_velocities(p, w.braking.distances, x.proximity.row)
    # Nothing is known of pairs outside of a full list, nor of those near a way that was bent: both are sought anew.
    full = np.int64(x.proximity.near[0]) == MOST_NEAR or (at > 0.0 and w.braking.speeds[0] == UNKNOWN)
    if at > 0.0:
        moved_to(x, section(w.braking.state, 2 * n, len(w.q)))
        if full:  # there may be others now
            find_ahead(p, s, x)
        else:
            place_movers(s, x)
    anew, soonest = at == 0.0 or full, NONE
    for k in range(np.int64(x.proximity.near[0])):
        if anew or x.proximity.until[k] <= at:
            pair = section(x.proximity.near, 1 + NEAR * k, NEAR)
            distance = pair[DISTANCE]
            if not anew:
                distance = distance_between(s, x, np.int64(pair[FIRST]), np.int64(pair[SECOND]), NONE)
                pair = x.proximity.pair
            least = p.collision[0].distance
            if at > 0.0 and not distance >= least and not distance >= least_asked(x, pair, least):
                if w.memory[CUTTING] > 0.5:
                    slope_of(p, w, s, x, pair)
                    cut_half(w)
                soonest = -1.0
                break
            x.proximity.until[k] = _safe_until(p.collision[0], s, x, pair, distance, at)
        soonest = min(soonest, x.proximity.until[k])
    if np.int64(x.proximity.near[0]) == MOST_NEAR:
        soonest = min(soonest, _unlisted_until(p.collision[0], s, x, at))
    if at > 0.0 and not full:
        moved_to(x, w.q)
        place_movers(s, x)
    w.memory[CLEAR_STEPS] = soonest


@kernel
def _unlisted_until(limit, s, x, at):
    """Up to which step of braking the pairs stay apart for which a full x.proximity.near has no room.

    All are farther apart than the farthest in it; two shapes come nearer by at most twice the longest way of one.
    """
    farthest, way, rate = 0.0, 0.0, 0.0
    for k in range(MOST_NEAR):
        farthest = max(farthest, x.proximity.near[1 + NEAR * k + DISTANCE])
    for i in range(s.scene[0].movers):
        one_way, one_rate = sweep(s, x, i, 0, x.proximity.row, x.proximity.rate)
        way, rate = max(way, one_way), max(rate, one_rate)
    spare = farthest - limit.distance
    return NONE if spare >= 2.0 * way else at + max(np.floor(spare / (2.0 * rate)), 1.0)


@kernel
def _find_near_on_braking_way(p, w, s, x):
    """Seek x.proximity.near, of w.q, anew where w.braking.distances are longer than the way ahead that pairs were
    sought for."""
    longer = False
    for a in range(len(w.step)):
        longer = longer or w.braking.distances[a] > way_ahead(p, a, w.step)
    if longer:
        for v in range(len(x.proximity.row)):
            x.proximity.row[v] = 0.0
        for a in range(len(w.step)):
            x.proximity.row[p.velocities[a]] = max(way_ahead(p, a, w.step), w.braking.distances[a])
        find_ahead(p, s, x)


@kernel
def _safe_until(limit, s, x, pair, distance, at):
    """Up to which step of braking a pair stays apart whose distance after `at` steps is this, whichever way it goes."""
    spare = distance - limit.distance
    if not spare > 0.0:
        return at + 1.0
    i, j = np.int64(pair[FIRST]), np.int64(pair[SECOND])
    shared = shared_columns(s, i, j)
    way, rate = sweep(s, x, i, shared, x.proximity.row, x.proximity.rate)
    other_way, other_rate = sweep(s, x, j, shared, x.proximity.row, x.proximity.rate)
    return NONE if spare >= way + other_way else at + max(np.floor(spare / (rate + other_rate)), 1.0)
