"""A free way through a roadmap of random configurations, then cut short.

Edges are looked at only where the shortest way leads (Bohlin and Kavraki 2000, "Path planning using lazy PRM",
doi:10.1109/ROBOT.2000.844107).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, final

import numpy as np

import poise as pz
from poise.extending import Array, PathRows
from poise_carts.arcs import moved
from poise_carts.leg import FAR, Leg, along, free, on_way, rows_of, size_of
from poise_carts.steering import Steering
from poise_carts.words import wrapped

_OFF: Final = 5e-4
"""How far the steps that are looked at may leave their arcs [m]."""
_NODES: Final = (40, 80, 160, 320)
"""Random configurations of the roadmaps, one after the other."""
_WAYS, _ENOUGH = 3, 1.1
"""Ways of which the shortest is taken; and a way that is no longer than the shortest without obstacles by this factor
is short enough."""
_SIZES: Final = (0.01, 2.0)
"""How long the arcs, lines and turns are that lead from an end to others, between which [m]."""
_TRIES: Final = 8
"""How many of them are tried at once."""
_SHARES: Final = np.arange(1, 9)[:, None] / 8
"""Where on them they are looked at."""
_METRIC: Final = np.array([1.0, 1.0, 0.25])
"""What the squares of differences of x, y and angle count where the nearest pose is chosen [1/m^2, 1/rad^2]."""
_AROUND: Final = 2.0
"""How far beyond both ends the others are drawn [m]; as far again in each next roadmap."""
_LOOKS: Final = (0.5, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875)
"""Shares of all edges at which they are looked at together, before any is looked at closely."""
_EDGES: Final = 600
"""Edges of a roadmap that are looked at, at most."""
_CUTS, _BEST, _IDLE = 32, 12, 8
"""Random cuts of a way that are compared at once, the best of them that are looked at, and times that none of these is
free after which the way is left."""
_GAIN: Final = 1e-3
"""A cut makes a part of a way shorter by this share of it at least."""


@final
class Roadmap:
    """Ways of a cart with an arm among what must hold of its rows."""

    def __init__(self, model: pz.Model, base: slice, steering: Steering, rows: PathRows, seed: int) -> None:
        self._model, self._base, self._steering, self._rows = model, base, steering, rows
        self._rng = np.random.default_rng(seed)

    def legs(self, start: Array, ends: Array) -> list[Leg]:
        """The shortest legs from a configuration (nq,) to others (n, nq)."""
        parts = zip(*self._steering.between(start[None, self._base], ends[:, self._base]), strict=True)
        return [self._leg(start, end, *some) for end, some in zip(ends, parts, strict=True)]

    def _leg(self, start: Array, end: Array, lengths: Array, turns: Array) -> Leg:
        """The leg of these parts, to the end as its angle is counted there."""
        steering, angle, end = self._steering, self._base.stop - 1, end.copy()
        turn = end[angle] - start[angle]
        end[angle] = start[angle] + (wrapped(turn) if steering.straight else turns.sum())
        sizes = steering.sizes(lengths, turns)
        return Leg(start, end, lengths, turns, sizes, self._base, steering.straight)

    def free(self, way: Sequence[Leg]) -> bool:
        """Whether all holds on legs, and they are not too long."""
        return size_of(way) <= FAR and free(self._rows, rows_of(self._model, way, _OFF)[0])

    def way(self, at_once: Sequence[Leg]) -> list[Leg] | None:
        """The legs from where some legs begin to where one of them ends; None where no way was found."""
        for leg in sorted(at_once, key=lambda leg: leg.size):
            if self.free([leg]):
                return [leg]
        start, goals, ways = at_once[0].start, np.stack([leg.end for leg in at_once]), list[list[Leg]]()
        for turn, count in enumerate(_NODES):
            if self._rows.late or len(ways) == _WAYS:
                break
            found = self._through(start, goals, count, _AROUND * (1 + turn))
            if found is not None:
                ways.append(self._shortened(found))
                if size_of(ways[-1]) <= _ENOUGH * min(leg.size for leg in at_once):
                    break
        return min(ways, key=size_of, default=None)

    def _through(self, start: Array, goals: Array, count: int, around: float) -> list[Leg] | None:
        """The shortest way through so many configurations with the arm as at the start.  To each goal leads one in
        which the base is there already, and the arm not yet."""
        parked, drawn = self._placed(start, goals[:, self._base]), self._drawn(start, goals, count, around)
        nodes = np.concatenate([start[None], goals, parked, drawn])
        open_ = np.append([True], self._rows.slack(nodes[1:]) >= 0.0)
        lengths, turns = self._edges(nodes)
        costs = self._costs(nodes, lengths, turns)
        costs[:, ~open_] = np.inf
        costs[1 : 1 + len(goals)] = np.inf  # nothing leads on from a goal
        looked = np.zeros(costs.shape, dtype=np.bool_)
        for _ in range(_EDGES):
            route = _shortest(costs, range(1, 1 + len(goals)))
            if route is None or self._rows.late:
                return None
            for i, j in pairwise(route):
                leg = self._leg(nodes[i], nodes[j], lengths[i, j], turns[i, j])
                looked[i, j] = looked[i, j] or self.free([leg])
                if not looked[i, j]:
                    costs[i, j] = np.inf
                    break
            else:
                return [self._leg(nodes[i], nodes[j], lengths[i, j], turns[i, j]) for i, j in pairwise(route)]
        return None

    def _placed(self, start: Array, poses: Array) -> Array:
        """(..., nq) the start with the base at poses (..., 3)."""
        q = np.array(np.broadcast_to(start, (*poses.shape[:-1], len(start))))
        q[..., self._base] = poses
        return q

    def _drawn(self, start: Array, goals: Array, count: int, around: float) -> Array:
        """(n, nq) free configurations of so many with the base around both ends: half of them anywhere, a quarter where
        the start leads, and a quarter that lead to goals."""
        ends = np.concatenate([start[None], goals])[:, self._base]
        low = np.append(ends[:, :2].min(axis=0) - around, -np.pi)
        high = np.append(ends[:, :2].max(axis=0) + around, np.pi)
        poses = self._rng.uniform(low, high, (count // 2 + 2 * count, 3))
        anywhere, begun, ended = np.split(poses, [count // 2, count // 2 + count])
        near = [self._grown(start, ends[:1], begun, 1.0), self._grown(start, ends[1:], ended, -1.0)]
        drawn = self._placed(start, anywhere)
        return np.concatenate([drawn[self._rows.slack(drawn) >= 0.0], self._placed(start, np.concatenate(near))])

    def _grown(self, start: Array, ends: Array, aims: Array, direction: float) -> Array:
        """(n, 3) free poses, a quarter of as many as there are `aims` (m, 3): to each leads one arc, line or turn, long
        or short, from what is nearest to an aim of `ends` (k, 3) and these poses, so that a cart gets out of a corner
        little by little (LaValle and Kuffner 2001, "Randomized kinodynamic planning",
        doi:10.1177/02783640122067453)."""
        found = ends[:0]
        for some in np.array_split(aims, len(aims) // _TRIES):
            known = np.concatenate([ends, found])
            nearest = known[((some[:, None] - known) ** 2 @ _METRIC).argmin(axis=1)]
            sizes = _SIZES[0] * (_SIZES[1] / _SIZES[0]) ** self._rng.uniform(size=len(some))
            lengths, turns = (part[:, None, None] for part in self._steering.drawn(sizes, direction, self._rng))
            poses = moved(nearest[:, None], _SHARES * lengths, _SHARES * turns)
            slack = self._rows.slack(self._placed(start, poses.reshape(-1, 3)))
            found = np.concatenate([found, poses[slack.reshape(len(some), -1).min(axis=1) >= 0.0, -1]])
            if 4 * len(found) >= len(aims):
                break
        return found

    def _edges(self, nodes: Array) -> tuple[Array, Array]:
        """(n, n, 5) lengths and turns of the parts of the ways from each node to each."""
        n, poses = len(nodes), nodes[:, self._base]
        lengths, turns = self._steering.between(np.repeat(poses, n, axis=0), np.tile(poses, (n, 1)))
        return lengths.reshape(n, n, 5), turns.reshape(n, n, 5)

    def _costs(self, nodes: Array, lengths: Array, turns: Array) -> Array:
        """(n, n) how long edges are; infinite where they are blocked at first sight."""
        sizes = self._steering.sizes(lengths, turns)
        costs = sizes.sum(axis=2)
        np.fill_diagonal(costs, np.inf)
        costs[costs > FAR] = np.inf
        for share in _LOOKS:
            i, j = np.nonzero(np.isfinite(costs))
            first, last, angle = nodes[i], nodes[j], self._base.stop - 1
            last[:, angle] = first[:, angle] + wrapped(last[:, angle] - first[:, angle])
            q = self._model.interpolate(first, last, share)
            if not self._steering.straight:
                shares = np.full(len(q), share)
                q[:, self._base] = along(first[:, self._base], lengths[i, j], turns[i, j], sizes[i, j], shares)
            outside = self._rows.slack(q) < 0.0
            costs[i[outside], j[outside]] = np.inf
        return costs

    def _shortened(self, way: list[Leg]) -> list[Leg]:
        """The way, of which parts are replaced by single legs where these are shorter and free."""
        idle = 0
        while idle < _IDLE and not self._rows.late:
            shorter = self._cut(way)
            way, idle = (way, idle + 1) if shorter is None else (shorter, 0)
        return way

    def _cut(self, way: list[Leg]) -> list[Leg] | None:
        """The way with the best of several random cuts; None where none is shorter and free."""
        ends = np.cumsum([leg.size for leg in way])
        # Parts of all sizes: long ones go round less, short ones round the corners.
        gone = ends[-1] * self._rng.uniform(size=_CUTS) ** 0.5
        begins = self._rng.uniform(0.0, ends[-1] - gone)
        places = np.stack([begins, begins + gone])
        at = np.minimum(np.searchsorted(ends, places), len(way) - 1)
        sizes = np.array([leg.size for leg in way])
        shares = np.clip(1.0 - (ends[at] - places) / np.maximum(sizes[at], 1e-300), 0.0, 1.0)
        first, last = (on_way(self._model, way, *where) for where in zip(at, shares, strict=True))
        lengths, turns = self._steering.between(first[:, self._base], last[:, self._base])
        gains = 1.0 - self._steering.sizes(lengths, turns).sum(axis=1) / np.maximum(gone, 1e-300)
        for k in np.argsort(-gains, kind="stable")[:_BEST]:
            if gains[k] < _GAIN:
                break
            between = self._leg(first[k], last[k], lengths[k], turns[k])
            if self.free([between]):
                a, b = at[:, k]
                before = way[a].part(self._model, 0.0, shares[0, k])
                after = way[b].part(self._model, shares[1, k], 1.0)
                made = [leg for leg in (before, between, after) if leg.moves]
                return [*way[:a], *made, *way[b + 1 :]]
        return None


def _shortest(costs: Array, goals: range) -> list[int] | None:
    """The nodes of the shortest way from node 0 to one of the goals (Dijkstra); None where there is none."""
    far, before = np.full(len(costs), np.inf), np.zeros(len(costs), dtype=np.int64)
    far[0], left = 0.0, np.zeros(len(costs))
    while True:
        node = int(np.argmin(far + left))
        if not np.isfinite(far[node] + left[node]):
            return None
        if node in goals:
            break
        left[node] = np.inf
        through = far[node] + costs[node]
        better = through < far
        far[better], before[better] = through[better], node
    route = [node]
    while route[-1]:
        route.append(int(before[route[-1]]))
    return route[::-1]
