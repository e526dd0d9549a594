"""Two trees that grow towards each other, and what is cut short of their way, wherever anything may have to hold.

Kuffner and LaValle 2000, "RRT-Connect: An Efficient Approach to Single-Query Path Planning",
doi:10.1109/ROBOT.2000.844730.  Where distances of shapes are all that is asked for, kernels do the same: `kernel_walk`.
"""

from itertools import pairwise
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.layout import WIDTH
from poise.model.model import Model
from poise.solving.path.clock import Clock
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.ways import aims_between, ways_between

_REACH: Final = 1.0
"""Length of a branch [rad and m]."""
_SHARES: Final = (1.0, 0.3)
"""Of a branch, tried one after the other: near to what is in the way a shorter one goes on."""
_NODES: Final = 4000
"""Configurations of a tree, at most."""
_IDLE: Final = 60
"""Times without a cut after which a way is left."""
_SHIFT: Final = 0.15
"""How far the tip of the arm is moved from where a node has it [m]: what is deep in something comes out as it is pulled
out, which the directions of joints hit seldom."""
_FLAT: Final = 1e-2
"""Singular values below this share of the largest move it no further."""
_LESS: Final = 1.0 - 1e-3
"""A cut makes a part of a way shorter by this factor at least."""


@final
class Walk:
    """Ways from q0 to q1 (nq,) along which all holds that must; numbers of q that are not `moved` (nq,) stay.

    A step of work is a look at eight configurations, or at a straight way.
    """

    first: Final = 1_000
    """Steps of work of the first pair of trees; of each second one after it twice as many."""
    more: Final = 200
    """Steps that each more may take, once there is a way, at least; else half of those that the first took."""

    def __init__(
        self, model: Model, feasibility: PathFeasibility, q0: Array, q1: Array, moved: npt.NDArray[np.bool_]
    ) -> None:
        self._model, self._feasibility, self._q0, self._q1, self._moved = model, feasibility, q0, q1, moved
        self._rng = np.random.default_rng()

    def seed(self, numbers: list[int]) -> None:
        """What is drawn from here on depends on these."""
        self._rng = np.random.default_rng(numbers)

    def straight(self) -> Array | None:
        """(k, nq) corners of the straight way; None if it is not free."""
        return self._feasibility.straight(self._model, self._q0, self._q1)

    def grown(self, best: Array | None, most: int, clock: Clock) -> tuple[Array | None, int]:
        """(k, nq) corners of a way as two trees have it, one that may be shorter than the `best`, None if they do not
        meet in `most` steps of work; and how many these took."""
        model, feasibility, work = self._model, self._feasibility, _Work(most, clock)
        aims = _Aims(model, self._q0, self._q1, self._moved, self._rng, best)
        nodes = _grown(model, feasibility, self._q0, self._q1, aims, work)
        way = None if nodes is None else _cornered(model, feasibility, nodes)
        return way, most - max(work.left, 0)

    def shortened(self, way: Array, cuts: int, clock: Clock) -> Array:
        """The way (k, nq), of which parts are replaced by straight ones, tried so many times."""
        return _shortened(self._model, self._feasibility, way, self._rng, cuts, clock)


@final
class _Work:
    """What is left to do."""

    def __init__(self, most: int, clock: Clock) -> None:
        self.left, self._clock = most, clock

    @property
    def spent(self) -> bool:
        """Whether it is done, or the time is spent."""
        return self.left <= 0 or self._clock.late


@final
class _Tree:
    """Configurations, each with the one that it was reached from."""

    def __init__(self, root: Array) -> None:
        self.q: Array = np.empty((_NODES, len(root)))
        self.q[0], self.parents, self.count = root, [0], 1

    @property
    def full(self) -> bool:
        """Whether it takes no more."""
        return self.count >= _NODES

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


@final
class _Aims:
    """What is aimed at: configurations around both ends, and where there is a way, those by which a shorter one can
    pass; and from time to time where the tip is elsewhere than a node has it."""

    def __init__(
        self, model: Model, q0: Array, q1: Array, moved: npt.NDArray[np.bool_], rng: np.random.Generator,
        best: Array | None,
    ) -> None:  # fmt: skip
        self._model, self._q0, self._moved, self._rng = model, q0, moved, rng
        self._plain = _plain(model)  # a rotation is drawn as the model does
        self._low, self._high = aims_between(model, q0, q1, self._plain, best)

    def sample(self) -> Array:
        """(8, nq)"""
        aims = self._model.sample(WIDTH, seed=self._rng)
        aims[:, self._plain] = self._rng.uniform(self._low, self._high, (WIDTH, len(self._low)))
        return np.where(self._moved, aims, self._q0)

    def shifted(self, q: Array) -> Array:
        """(nq,) where the tip is moved away from where q (nq,) has it, in some direction, and not turned."""
        model, way = self._model, self._rng.standard_normal(3)
        shift = np.append(_SHIFT * way / np.linalg.norm(way), np.zeros(3))
        step = np.linalg.pinv(model.jacobian(model.tip, q), rcond=_FLAT) @ shift
        return np.where(self._moved, model.clip(model.integrate(q, step)), self._q0)

    def node(self, count: int) -> int:
        """One of so many, any."""
        return int(self._rng.integers(count))


def _plain(model: Model) -> npt.NDArray[np.bool_]:
    """(nq,) which numbers of q are no part of a rotation's quaternion."""
    plain = np.ones(model.nq, dtype=np.bool_)
    for joint in model.joints:
        if joint.nq and joint.quaternion_at is not None:
            first = model.index(joint.name).start + joint.quaternion_at
            plain[first : first + 4] = False
    return plain


def _grown(
    model: Model, feasibility: PathFeasibility, q0: Array, q1: Array, aims: _Aims, work: _Work
) -> list[Array] | None:
    """A free way from q0 to q1, as two trees have it; None where the work is done before they meet."""
    one, other = _Tree(q0), _Tree(q1)
    while not (one.full or other.full or work.spent):
        new = _grow(model, feasibility, one, aims, work)
        if new:
            nearest = [_away(model, other.q[: other.count], one.q[node]).min() for node in new]
            node = new[int(np.argmin(nearest))]
            met = _reach(model, feasibility, other, one.q[node], work)
            if met is not None:
                way = one.way(node) + other.way(met)[::-1][1:]
                return way if (way[0] == q0).all() else way[::-1]
        if one.count > other.count:
            one, other = other, one
    return None


def _away(model: Model, q: Array, aim: Array) -> Array:
    """(n,) the squares of the ways from q (n, nq) to `aim` (nq,)."""
    return np.asarray((ways_between(model, q, aim) ** 2).sum(axis=1))


def _grow(model: Model, feasibility: PathFeasibility, tree: _Tree, aims: _Aims, work: _Work) -> list[int]:
    """Add a branch towards each of eight aims, a shorter one where an obstacle is in the way; the new nodes."""
    to = aims.sample()
    near = [int(_away(model, tree.q[: tree.count], aim).argmin()) for aim in to]
    near[0] = aims.node(tree.count)
    to[0] = aims.shifted(tree.q[near[0]])
    lengths = np.linalg.norm(ways_between(model, tree.q[near], to), axis=1)
    left, new = [k for k in range(len(to)) if lengths[k] > 0.0], list[int]()
    for share in _SHARES:
        if not left:
            break
        ends = np.stack(
            [_towards(model, feasibility, tree.q[near[k]], to[k], min(1.0, share * _REACH / lengths[k])) for k in left]
        )
        work.left -= 1
        blocked = list[int]()
        for k, end, clear in zip(left, ends, feasibility(ends) >= 0.0, strict=True):
            way = None
            if clear and not tree.full:
                work.left -= 1
                way = feasibility.straight(model, tree.q[near[k]], end)
            if way is None:
                blocked.append(k)
            else:
                new.append(tree.add(way[-1], near[k]))
        left = blocked
    return new


def _reach(model: Model, feasibility: PathFeasibility, tree: _Tree, aim: Array, work: _Work) -> int | None:
    """Grow towards `aim` until it is there; its node, None if an obstacle is in the way or the work is done."""
    near = int(_away(model, tree.q[: tree.count], aim).argmin())
    while not (tree.full or work.spent):
        length = float(np.linalg.norm(ways_between(model, tree.q[near], aim)))
        if not length > 0.0:
            return near
        q = aim if length <= _REACH else _towards(model, feasibility, tree.q[near], aim, _REACH / length)
        if q is not aim and not float(np.linalg.norm(ways_between(model, q, aim))) < length:
            return None
        work.left -= 1
        if feasibility.straight(model, tree.q[near], q) is None:
            return None
        near = tree.add(q, near)
        if q is aim:
            return near
    return None


def _towards(model: Model, feasibility: PathFeasibility, q0: Array, q1: Array, share: float) -> Array:
    """(nq,) a share of the way from q0 to q1 (nq,), with loops closed, or q0 where they cannot be."""
    q = model.interpolate(q0, q1, share)
    if feasibility.loops is None:
        return q
    closed, found = feasibility.loops.all_closed(q[None])
    return closed[0] if found[0] else q0


# Ways --------------------------------------------------------------------------------------------------------------


def _cornered(model: Model, feasibility: PathFeasibility, way: list[Array]) -> Array:
    """(k, nq) configurations one after the other, with the corners between them along which loops are closed."""
    if feasibility.loops is None:
        return np.array(way)
    parts = [part for a, b in pairwise(way) if (part := feasibility.straight(model, a, b)) is not None]
    return np.concatenate([way[0][None], *(part[1:] for part in parts)])


def _shortened(
    model: Model, feasibility: PathFeasibility, way: Array, rng: np.random.Generator, cuts: int, clock: Clock
) -> Array:
    """The way (k, nq), of which parts are replaced by straight ones where these are free, until few are."""
    idle = 0
    for _ in range(cuts):
        moves = np.linalg.norm(ways_between(model, way[:-1], way[1:]), axis=1)
        if len(way) < 3 or idle == _IDLE or clock.late:
            break
        at = np.append(0.0, np.cumsum(moves))
        # Parts of all sizes: long ones go round less, short ones round the corners.
        size, idle = at[-1] * rng.uniform() ** 2, idle + 1
        begin = rng.uniform(0.0, at[-1] - size)
        a, b = (
            int(np.clip(np.searchsorted(at, s, side="right") - 1, 0, len(moves) - 1)) for s in (begin, begin + size)
        )
        if a == b:
            continue
        first, last = (
            _towards(
                model, feasibility, way[k], way[k + 1], float(np.clip((s - at[k]) / max(moves[k], 1e-300), 0.0, 1.0))
            )
            for k, s in ((a, begin), (b, begin + size))
        )
        if float(np.linalg.norm(ways_between(model, first, last))) > _LESS * size:
            continue
        cut = feasibility.straight(model, first, last)
        if cut is not None:
            way, idle = np.concatenate([way[: a + 1], cut, way[b + 1 :]]), 0
    keep = [0]
    moves = np.linalg.norm(ways_between(model, way[:-1], way[1:]), axis=1)
    keep += [i for i in range(1, len(way)) if moves[i - 1] > 1e-9 or i == len(way) - 1]
    return way[keep]
