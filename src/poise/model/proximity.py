"""How near a model's links are to one another and to a world, and which of them need no look."""

import math
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import numpy as np
import numpy.typing as npt

from poise.geometry.shapes import Shape
from poise.geometry.world import World
from poise.kernels.collision import queries
from poise.kernels.collision.near import DISTANCE, NORMAL, POINTS
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import NEAR
from poise.model.scene import Scene
from poise.spatial import Array

if TYPE_CHECKING:
    from poise.model.model import Model

_SAMPLES: Final = 2048
"""Random configurations at which pairs of links are looked at where no file says which of them may meet."""
_ALWAYS: Final = 0.95
"""Links that meet at more than this share of them are built to."""
_NEVER: Final = 0.05
"""Links that come no nearer than this share of the robot's size are taken to never meet."""


@final
@dataclass(frozen=True, slots=True)
class Proximity:
    """The two shapes that are nearest to each other."""

    distance: float
    """[m] between them; negative, how deep they are in each other: the least way that would part them."""
    pair: tuple[str, str]
    """The links, or the names of shapes of the world."""
    points: Array
    """(2, 3) the nearest, or deepest, point of each in the world [m]."""
    normal: Array
    """(3,) the unit vector in which the second gets away from the first."""

    def __float__(self) -> float:
        return self.distance


@final
@dataclass(frozen=True, slots=True)
class Proximities:
    """The two nearest shapes at each of n configurations; see `Proximity`."""

    distance: Array
    """(n,) [m]"""
    pair: npt.NDArray[np.str_]
    """(n, 2) links, or names of shapes of the world."""
    points: Array
    """(n, 2, 3) [m]"""
    normal: Array
    """(n, 3)"""

    def __len__(self) -> int:
        return len(self.distance)

    def __getitem__(self, i: int) -> Proximity:
        one, other = self.pair[i]
        return Proximity(float(self.distance[i]), (str(one), str(other)), self.points[i], self.normal[i])


_Pool = list[Scene]


@final
class _Pools:
    """Scenes of a model that nobody uses at the moment, by world."""

    def __init__(self) -> None:
        self.alone: dict[bool, _Pool] = {True: [], False: []}
        self.worlds: weakref.WeakKeyDictionary[World, dict[bool, _Pool]] = weakref.WeakKeyDictionary()

    def of(self, world: World | None, *, own: bool) -> _Pool:
        """Those with this world, and with pairs of links or without."""
        some = self.alone if world is None else self.worlds.setdefault(world, {True: [], False: []})
        return some[own]


@contextmanager
def scene_of(model: "Model", world: World | None, *, own: bool = True) -> Iterator[Scene]:
    """A scene of a model and a world that nobody else uses within the block, as the world is now."""
    pools: _Pools = model.queries.get(_POOLS) or model.queries.setdefault(_POOLS, _Pools())
    pool = pools.of(world, own=own)
    try:
        scene = pool.pop()
        scene.sync()
    except IndexError:
        scene = Scene(model, model.collision_shapes, world, apart=unmet(model) if own else None)
    try:
        yield scene
    finally:
        pool.append(scene)


_POOLS: Final = "scenes of a model"
_UNMET: Final = "pairs of links that do not meet"


def nearest(model: "Model", q: Array, world: World | None, *, own: bool = True) -> Proximity | Proximities:
    """The nearest two shapes at q (nq,), or at each of q (n, nq); `own`: links are measured against links too."""
    with scene_of(model, world, own=own) as scene:
        if q.ndim == 1:
            prepare(queries.nearest_at)
            scene.rows("q")[:] = q
            distance = queries.nearest_at(*scene.addresses)
            return _one(scene, scene.rows("near")[1 : 1 + NEAR].copy(), distance)
        found = np.empty((len(q), NEAR))
        if len(q):
            prepare(queries.nearest_of_many)
            queries.nearest_of_many(*scene.lanes, np.ascontiguousarray(q).reshape(-1), found.reshape(-1), len(q))
        names = np.array([*scene.names, ""])
        distance = found[:, DISTANCE]
        nowhere = distance >= 1e300
        found[nowhere] = [-1, -1, math.inf, *[math.nan] * 9]
        pair = names[found[:, :2].astype(np.int64)]
        return Proximities(distance, pair, found[:, POINTS:NORMAL].reshape(-1, 2, 3), found[:, NORMAL:])


def _one(scene: Scene, near: Array, distance: float) -> Proximity:
    if distance >= 1e300:
        return Proximity(math.inf, ("", ""), np.full((2, 3), math.nan), np.full(3, math.nan))
    pair = scene.names[int(near[0])], scene.names[int(near[1])]
    return Proximity(distance, pair, near[POINTS:NORMAL].reshape(2, 3), near[NORMAL:])


def unmet(model: "Model") -> frozenset[frozenset[str]]:
    """The pairs of links that need no look: what the model says, else what random configurations show.

    Where no SRDF or the like says which: links that are fixed to each other or joined by a joint, those that meet at
    the model's home or nearly always, for they are built so, and those that never come near each other.
    """
    found: frozenset[frozenset[str]] | None = model.queries.get(_UNMET)
    if found is None:
        found = model.disabled or _sampled(model, model.collision_shapes)
        model.queries[_UNMET] = found
    return found


def _sampled(model: "Model", shapes: Mapping[str, Sequence[Shape]]) -> frozenset[frozenset[str]]:
    """The pairs of links that need no look, as random configurations show."""
    links = tuple(shapes)
    joined = _joined(model, links)
    scene = Scene(model, shapes, apart=joined)
    count = len(scene.groups)
    places = [model.pose(link, model.home).xyz for link in shapes]
    margin = np.array([_NEVER * float(np.ptp(places, axis=0).max())]) if places else np.zeros(1)
    home, _ = _meetings(scene, model.home[None], margin)
    hits, least = _meetings(scene, model.sample(_SAMPLES, seed=0), margin)
    unmet = (home > 0.0) | (hits > _ALWAYS * _SAMPLES) | (least > margin[0])
    pairs = (frozenset((scene.groups[i], scene.groups[j])) for i in range(1, count) for j in range(1, i) if unmet[i, j])
    return joined | frozenset(pairs)


def _meetings(scene: Scene, q: Array, margin: Array) -> tuple[Array, Array]:
    """(groups, groups) how often two groups meet at q (n, nq), and how near they come; symmetric."""
    count = len(scene.groups)
    hits, last, least = np.zeros((count, count)), np.zeros(count**2), np.full((count, count), math.inf)
    prepare(queries.meetings)
    queries.meetings(*scene.addresses, np.array(q).ravel(), margin, hits.reshape(-1), last, least.reshape(-1), len(q))
    return hits + hits.T, np.minimum(least, least.T)


def _joined(model: "Model", links: Sequence[str]) -> frozenset[frozenset[str]]:
    """The pairs of these links that are fixed to each other or joined by a joint."""
    tree = model.tree
    carriers = {unit for unit, _ in tree.links.values()}
    above = {-1: -2}
    for i, unit in enumerate(tree.units):
        above[i] = unit.parent if unit.parent in carriers else above[unit.parent]
    pairs = ((a, b, tree.links[a][0], tree.links[b][0]) for i, a in enumerate(links) for b in links[:i])
    return frozenset(frozenset((a, b)) for a, b, u, v in pairs if u == v or above[u] == v or above[v] == u)
