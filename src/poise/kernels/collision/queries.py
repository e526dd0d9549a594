"""Distances of a scene's shapes at one configuration and at many; see `near` and `nearest` beside this."""

import numpy as np

from poise.kernels.collision.directions import NOTHING
from poise.kernels.collision.near import (
    distance_between,
    distance_row,
    looked_at,
    place_all,
    spheres_within,
)
from poise.kernels.collision.nearest import nearest_pair, nearest_pairs
from poise.kernels.machine.jit import entry_point
from poise.kernels.machine.kinds import REALS, WHOLE
from poise.kernels.machine.layout import LARGEST, NEAR, WIDTH
from poise.kernels.machine.views import narrow, problem_at, section, wide


@entry_point(WHOLE, WHOLE, WHOLE)
def place(scene, work, routines):
    """Put all shapes where x.q has them: those that stand still stay there."""
    s = problem_at(scene)
    place_all(s, narrow(s, work, routines))


@entry_point(WHOLE, WHOLE, WHOLE)
def place_in_lanes(scene, work, routines):
    """`place` in eight lanes."""
    s = problem_at(scene)
    place_all(s, wide(s, work, routines))


@entry_point(WHOLE, WHOLE, WHOLE)
def nearest_at(scene, work, routines):
    """x.proximity.near holds the pair with the least distance at x.q; that distance [m], infinite where no pair may
    meet.

    NaN where a number of x.q is none, or too large to compute with.
    """
    s = problem_at(scene)
    x = narrow(s, work, routines)
    for i in range(len(x.q)):
        if not abs(x.q[i]) <= LARGEST:
            return np.nan
    best = nearest_pair(s, x)
    return best if best < 1e300 else np.inf


@entry_point(WHOLE, WHOLE, WHOLE, REALS, REALS, WHOLE)
def nearest_of_many(scene, work, routines, q, out, count):
    """out (count x NEAR): the same pair at each q (count x nq); its distance is 1e300 where no pair may meet."""
    s = problem_at(scene)
    x = wide(s, work, routines)
    nq = len(q) // count
    for first in range(0, count, WIDTH):
        for lane in range(WIDTH):
            k = min(first + lane, count - 1)
            for i in range(nq):
                x.q[i, lane] = q[k * nq + i]
        nearest_pairs(s, x)
        for lane in range(min(WIDTH, count - first)):
            for r in range(NEAR):
                out[(first + lane) * NEAR + r] = x.proximity.near[1 + r, lane]


@entry_point(WHOLE, WHOLE, WHOLE, REALS, REALS, WHOLE)
def slopes_of_many(scene, work, routines, q, out, count):
    """out (count x nv): how fast each velocity lets the least distance grow at each q (count x nq) [m per rad or m].

    It is 0 where no pair may meet.
    """
    s = problem_at(scene)
    x = narrow(s, work, routines)
    nq, nv = len(q) // count, len(x.proximity.row)
    for k in range(count):
        for i in range(nq):
            x.q[i] = q[k * nq + i]
        found = nearest_pair(s, x) < 1e300
        if found:
            distance_row(s, x, section(x.proximity.near, 1, NEAR))
        for v in range(nv):
            out[k * nv + v] = x.proximity.row[v] if found else 0.0


@entry_point(WHOLE, WHOLE, WHOLE, REALS, REALS, REALS, REALS, WHOLE)
def meetings(scene, work, routines, q, margin, hits, least, count):
    """How often each pair of groups meets at q (count x nq), and how near it comes [m].

    `least` is (groups x groups), and so is each half of `hits`, the second being where they met last, from 1 on.
    Shapes farther apart than margin[0] are not looked at closely.
    """
    s = problem_at(scene)
    x = narrow(s, work, routines)
    nq, total, groups = len(q) // count, s.scene[0].count, s.scene[0].groups
    for k in range(count):
        for i in range(nq):
            x.q[i] = q[k * nq + i]
        place_all(s, x)
        for i in range(s.scene[0].movers):
            for j in range(i + 1, total):
                if looked_at(s, i, j) and spheres_within(s, x, i, j, margin[0]):
                    distance = distance_between(s, x, i, j, NOTHING)
                    at = s.chains[i].group * groups + s.chains[j].group
                    least[at] = min(least[at], distance)
                    last = groups * groups + at
                    if distance < 0.0 and hits[last] != k + 1.0:
                        hits[at], hits[last] = hits[at] + 1.0, k + 1.0
