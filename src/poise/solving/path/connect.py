"""A free way between two configurations: two trees that grow towards each other, and what is cut short of their way.

Kuffner and LaValle 2000, "RRT-Connect: An Efficient Approach to Single-Query Path Planning",
doi:10.1109/ROBOT.2000.844730.
"""

from itertools import pairwise
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.model.model import Model
from poise.solving.path.clock import Clock
from poise.solving.path.room import Room
from poise.spatial import Array

_REACH: Final = 0.3
"""Length of a branch [rad and m]."""
_NODES: Final = 4000
"""Configurations of a tree, at most."""
_ASIDE: Final = 2.0 * np.pi
"""How far beyond both ends the trees may reach, where limits let them [rad or m]: a turn, or about six metres."""
_CUTS: Final = 150
"""Times that a way is tried to be cut short."""


@final
class _Tree:
    """Configurations, each with the one that it was reached from."""

    def __init__(self, root: Array) -> None:
        self.q: Array = np.empty((_NODES, len(root)))
        self.q[0], self.parents, self.count = root, [0], 1

    def add(self, q: Array, parent: int) -> int:
        self.q[self.count] = q
        self.parents.append(parent)
        self.count += 1
        return self.count - 1

    def way(self, node: int) -> list[Array]:
        """From the root to a node."""
        out = [self.q[node]]
        while node:
            node = self.parents[node]
            out.append(self.q[node])
        return out[::-1]


def connect(
    model: Model, room: Room, q0: Array, q1: Array, moved: npt.NDArray[np.bool_], *, seed: int, clock: Clock
) -> Array | None:
    """(k, nq) corners of a free way from q0 to q1, both among them; None where none was found until the time is spent.

    Numbers of q that are not `moved` (nq,) stay as in q0.  The same seed gives the same way.
    """
    at_once = room.straight(model, q0, q1)
    if at_once is not None:
        return at_once
    rng = np.random.default_rng(seed)
    # Around both ends, as limits may be a million turns away; a rotation is drawn as the model does.
    plain = _plain(model)
    low = np.maximum(np.minimum(q0, q1) - _ASIDE, model.lower)[plain]
    high = np.minimum(np.maximum(q0, q1) + _ASIDE, model.upper)[plain]
    low, high = np.minimum(low, high), np.maximum(low, high)
    one, other = _Tree(q0), _Tree(q1)
    while one.count < _NODES and other.count < _NODES and not clock.late:
        aim = model.sample(seed=rng)
        aim[plain] = rng.uniform(low, high)
        node = _grow(model, room, one, np.where(moved, aim, q0))
        if node is not None:
            met = _reach(model, room, other, one.q[node], clock)
            if met is not None:
                way = one.way(node) + other.way(met)[::-1][1:]
                if (way[0] == q1).all() and not (q0 == q1).all():
                    way = way[::-1]
                return _shortened(model, room, _cornered(model, room, way), rng, clock)
        if one.count > other.count:
            one, other = other, one
    return None


def in_steps(model: Model, way: Array, step: float) -> Array:
    """(k, nq) a way with corners (m, nq) in steps of at most `step` [rad or m], but for its first configuration."""
    rows = []
    for a, b in pairwise(way):
        pieces = max(1, int(np.ceil(np.abs(model.difference(a, b)).max(initial=0.0) / step)))
        rows += [model.interpolate(a, b, np.arange(1, pieces) / pieces), b[None]]
    return np.concatenate([way[:0], *rows])


def _plain(model: Model) -> npt.NDArray[np.bool_]:
    """(nq,) which numbers of q are no part of a rotation's quaternion."""
    plain = np.ones(model.nq, dtype=np.bool_)
    for joint in model.joints:
        if joint.nq and joint.quaternion_at is not None:
            first = model.index(joint.name).start + joint.quaternion_at
            plain[first : first + 4] = False
    return plain


def _nearest(model: Model, tree: _Tree, q: Array) -> int:
    away = model.difference(tree.q[: tree.count], q)
    return int((away**2).sum(axis=1).argmin())


def _grow(model: Model, room: Room, tree: _Tree, aim: Array) -> int | None:
    """Add one branch towards `aim`; the new node, None if an obstacle is in the way."""
    near = _nearest(model, tree, aim)
    length = float(np.linalg.norm(model.difference(tree.q[near], aim)))
    if not length > 0.0 or tree.count >= _NODES:
        return None
    way = room.straight(model, tree.q[near], _towards(model, room, tree.q[near], aim, min(1.0, _REACH / length)))
    return None if way is None else tree.add(way[-1], near)


def _reach(model: Model, room: Room, tree: _Tree, aim: Array, clock: Clock) -> int | None:
    """Grow towards `aim` until it is there; its node, None if an obstacle is in the way or the time is spent."""
    near = _nearest(model, tree, aim)
    while tree.count < _NODES and not clock.late:
        length = float(np.linalg.norm(model.difference(tree.q[near], aim)))
        if not length > 0.0:
            return near
        q = aim if length <= _REACH else _towards(model, room, tree.q[near], aim, _REACH / length)
        if q is not aim and not float(np.linalg.norm(model.difference(q, aim))) < length:
            return None
        if room.straight(model, tree.q[near], q) is None:
            return None
        near = tree.add(q, near)
        if q is aim:
            return near
    return None


def _towards(model: Model, room: Room, q0: Array, q1: Array, share: float) -> Array:
    """(nq,) a share of the way from q0 to q1 (nq,), with loops closed, or q0 where they cannot be."""
    q = model.interpolate(q0, q1, share)
    if room.loops is None:
        return q
    closed, found = room.loops.all_closed(q[None])
    return closed[0] if found[0] else q0


def _cornered(model: Model, room: Room, way: list[Array]) -> Array:
    """(k, nq) configurations one after the other, with the corners between them along which loops are closed."""
    if room.loops is None:
        return np.array(way)
    parts = [part for a, b in pairwise(way) if (part := room.straight(model, a, b)) is not None]
    return np.concatenate([way[0][None], *(part[1:] for part in parts)])


def _shortened(model: Model, room: Room, way: Array, rng: np.random.Generator, clock: Clock) -> Array:
    """The way (k, nq), of which parts are replaced by straight ones where these are free."""
    for _ in range(_CUTS):
        if len(way) < 3 or clock.late:
            break
        i, j = sorted(rng.uniform(0.0, len(way) - 1.0, 2))
        a, b = int(i), int(j)
        if a == b:
            continue
        first = _towards(model, room, way[a], way[a + 1], i - a)
        last = way[b] if j == b else _towards(model, room, way[b], way[b + 1], j - b)
        cut = room.straight(model, first, last)
        if cut is not None:
            way = np.concatenate([way[: a + 1], cut, way[b + 1 :]])
    keep = [0]
    moves = np.linalg.norm(model.difference(way[:-1], way[1:]), axis=1)
    keep += [i for i in range(1, len(way)) if moves[i - 1] > 1e-9 or i == len(way) - 1]
    return way[keep]
