"""The first path that can be followed: a few strands at a time, until one meets every waypoint and keeps all limits.

Strands begin at free solutions of the first waypoint, then of the last, then of some between, from where they are led
both ways.  Each is looked at in coarse steps first, for most that come too near to something do so there.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.layout import WIDTH
from poise.solving.path.candidates import Candidates, distinct
from poise.solving.path.jumps import FACTOR, LEAST

_STARTS: Final = 8 * WIDTH
"""Starts at a waypoint."""
_STRANDS: Final = 2 * WIDTH
"""Strands from there, at most."""
_PLACES: Final = (0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875)
"""Where along the path strands begin, one place after the other."""
_COARSE: Final = 8
"""Of so many waypoints one is looked at first."""
_OFFERED: Final = 3
"""Paths that are offered from one place, at most."""


def first_paths(candidates: Candidates) -> Iterator[Array]:
    """Paths (n, nq) that meet all waypoints, free of obstacles there and without a jump, a few of each place."""
    route, last = candidates.route, len(candidates.route) - 1
    for waypoint in dict.fromkeys([0] if candidates.fixed else [round(place * last) for place in _PLACES]):
        if route.clock.late:
            return
        starts = _solutions(candidates, waypoint)
        if not len(starts):
            continue
        q, met = route.both_ways(starts, waypoint)
        q = q[met.all(axis=1)]
        if candidates.closed:
            q[:, -1] = q[:, 0]
        steps = route.model.difference(q[:, :-1], q[:, 1:])[..., route.active]
        smooth = np.flatnonzero(_smooth(steps, candidates.cap))
        good = smooth[_free(candidates, q[smooth])]
        costs = ((route.costs * steps[good]) ** 2).sum(axis=(1, 2)) + route.start_cost(q[good, 0], candidates.q0)
        yield from q[good[np.argsort(costs, kind="stable")[:_OFFERED]]]


def _solutions(candidates: Candidates, waypoint: int) -> Array:
    """(k, nq) free solutions of a waypoint."""
    if candidates.fixed:
        return candidates.q0[None]
    found = candidates.route.solutions(waypoint, candidates.spread(waypoint, _STARTS))
    return distinct(found[_free(candidates, found[:, None])], _STRANDS)


def _smooth(steps: Array, cap: Array) -> npt.NDArray[np.bool_]:
    """(k,) in which strands no one of the steps (k, n - 1, active velocities) is a jump or beyond its cap."""
    sizes = np.abs(steps).max(axis=2, initial=0.0)
    usual = FACTOR * np.median(sizes, axis=1) if sizes.shape[1] else 0.0
    within_caps = (np.abs(steps) <= cap).all(axis=(1, 2))
    return np.asarray(within_caps & (sizes.max(axis=1, initial=0.0) <= np.maximum(LEAST, usual)), dtype=np.bool_)


def _free(candidates: Candidates, q: Array) -> npt.NDArray[np.bool_]:
    """(k,) which strands q (k, m, nq) keep their distance from obstacles at all of their waypoints."""
    free = np.ones(len(q), dtype=np.bool_)
    if not candidates.feasibility:
        return free
    for some in (slice(None, None, _COARSE), slice(None)):
        rows = q[free, some]
        slack = candidates.feasibility(rows.reshape(-1, q.shape[-1])).reshape(rows.shape[:2])
        free[free] = (slack >= 0.0).all(axis=1)
    return free
