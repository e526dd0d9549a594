"""How near a model's links are to one another and to a world, and which of them need no look."""

import math
import warnings
import weakref
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import refuse_masked, yes_or_no
from poise.common.errors import ModelWarning, ShapeError
from poise.geometry.enclosing import Ellipsoid
from poise.geometry.world import World, a_world
from poise.kernels.collision.near import DISTANCE, FIRST, NORMAL, POINTS, SECOND
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import NEAR
from poise.model.fitting import has_meshes, measured
from poise.model.frame import WORLD
from poise.model.scene import Scene

if TYPE_CHECKING:
    from poise.model.model import Model

_NO_PAIR: Final = 1e300
"""A distance that kernels give where no two shapes may meet."""
_SAMPLES: Final = 2048
"""Random configurations at which pairs of links are looked at where no file says which of them may meet."""
_FIRST: Final = 256
"""The first of them, after which most pairs are known to be looked at."""
_ALWAYS: Final = 0.95
"""Links that meet at more than this share of them are built to."""
_AROUND: Final = 1.0
"""Links whose ellipsoids are farther apart than this are not looked at for how far [m]."""
_NEVER: Final = 0.05
"""Links that come no nearer than this share of the robot's size are taken to never meet."""


@final
class Proximity:
    """The two shapes that are nearest to each other."""

    __slots__ = ("_names", "_near", "distance")
    distance: float
    """[m] between them; negative, how deep they are in each other: the least way that would part them.  Infinite where
    no two shapes may meet."""

    def __init__(self, distance: float, near: Array, names: tuple[str, ...]) -> None:
        self.distance, self._near, self._names = distance, near, names

    @property
    def pair(self) -> tuple[str, str]:
        """The links, or the names of shapes of the world; empty where no two may meet."""
        if self.distance == math.inf:
            return "", ""
        return self._names[int(self._near[FIRST])], self._names[int(self._near[SECOND])]

    @property
    def points(self) -> Array:
        """(2, 3) the nearest, or deepest, point of each in the world [m]; NaN where no two may meet."""
        found = self._near[POINTS:NORMAL].reshape(2, 3)
        return found if self.distance < math.inf else np.full((2, 3), math.nan)

    @property
    def normal(self) -> Array:
        """(3,) the unit vector in which the second gets away from the first; NaN where no two may meet."""
        return self._near[NORMAL:] if self.distance < math.inf else np.full(3, math.nan)

    def __float__(self) -> float:
        return self.distance

    def __repr__(self) -> str:
        one, other = self.pair
        return f"Proximity({self.distance:.6g} m, {one!r} and {other!r})" if one else "Proximity(nothing may meet)"


@final
class Proximities:
    """The two nearest shapes at each of n configurations; see `Proximity`."""

    __slots__ = ("_names", "_near", "distance")
    distance: Array
    """(n,) [m]"""

    def __init__(self, near: Array, names: tuple[str, ...]) -> None:
        self._near, self._names, self.distance = near, names, near[:, DISTANCE]
        self.distance[self.distance >= _NO_PAIR] = math.inf

    @property
    def pair(self) -> npt.NDArray[np.str_]:
        """(n, 2) links, or names of shapes of the world."""
        return np.array([self[i].pair for i in range(len(self))], dtype=str).reshape(-1, 2)

    @property
    def points(self) -> Array:
        """(n, 2, 3) [m]"""
        return np.array([self[i].points for i in range(len(self))]).reshape(-1, 2, 3)

    @property
    def normal(self) -> Array:
        """(n, 3)"""
        return np.array([self[i].normal for i in range(len(self))]).reshape(-1, 3)

    def __len__(self) -> int:
        return len(self.distance)

    def __getitem__(self, i: int) -> Proximity:
        return Proximity(float(self.distance[i]), self._near[i], self._names)

    def __repr__(self) -> str:
        least = f", {self.distance.min():.6g} m at least" if len(self) else ""
        return f"Proximities({len(self):,} configurations{least})"


_Pool = list[Scene]


@final
class ScenePools:
    """Scenes of a model that nobody uses at the moment, by world: with that they go."""

    def __init__(self) -> None:
        self.alone: _Pool = []
        self.worlds: weakref.WeakKeyDictionary[World, _Pool] = weakref.WeakKeyDictionary()

    def of(self, world: World | None) -> _Pool:
        """Those with this world."""
        if world is None:
            return self.alone
        found = self.worlds.get(world)
        return self.worlds.setdefault(world, []) if found is None else found


_POOLS: Final = {True: "scenes of a model", False: "scenes of a model, without its links against one another"}
_UNMET: Final = "pairs of links that do not meet"
_AT_HOME: Final = "distances of links at home"


def nearest(model: "Model", q: ArrayLike, world: World | None, self_collision: bool = True) -> Proximity | Proximities:
    """The nearest two shapes at q (nq,), or at each of q (n, nq); links against one another if `self_collision`.

    Raises ShapeError, and ValueError for numbers that are not finite.
    """
    yes_or_no("self_collision", self_collision)
    if world is not None:
        a_world(world)
    key = _POOLS[self_collision]
    pools = model.queries.get(key)
    if pools is None:
        pools = model.queries.setdefault(key, ScenePools())
    pool: _Pool = pools.of(world)
    try:
        scene = pool.pop()
        scene.sync()
    except IndexError:
        scene = Scene(model, model.fitted_shapes, world, excluded=excluded_pairs(model) if self_collision else None)
    try:
        try:
            refuse_masked("q", q)
            scene.q_view[:] = q
            distance = prepare("collision.queries.nearest_at")(*scene.addresses)
        except (TypeError, ValueError):  # no doubles, or not as many
            distance = math.nan
        if distance == distance:
            return Proximity(distance, scene.near.copy(), scene.names)
        checked = model.check_q(q)
        if checked.ndim == 1:
            return nearest_in(scene, checked)
        if checked.ndim > 2:
            raise ShapeError(f"q must have shape ({model.nq},) or (n, {model.nq}), got {checked.shape}")
        return nearest_of_many(scene, np.array(checked, order="C"))
    finally:
        pool.append(scene)


def nearest_in(scene: Scene, q: Array) -> Proximity:
    """The nearest two shapes of a scene at q (nq,), eased pairs by their eased distance; it tells the true one."""
    distance, near = least_in(scene, q), scene.near.copy()
    if scene.eases.any() and distance < math.inf:
        distance = near[DISTANCE] = distance - scene.eases[int(near[FIRST]), int(near[SECOND])]
    return Proximity(distance, near, scene.names)


def least_in(scene: Scene, q: Array) -> float:
    """The least distance of a scene at q (nq,), eased as the scene has it, infinite where nothing may meet."""
    scene.q[:] = q
    return float(prepare("collision.queries.nearest_at")(*scene.addresses))


def nearest_of_many(scene: Scene, q: Array) -> Proximities:
    """The nearest two shapes at each of q (n, nq); distances are eased, as the scene has it."""
    found = np.empty((len(q), NEAR))
    if len(q):
        prepare("collision.queries.nearest_of_many")(*scene.lanes, q.reshape(-1), found.reshape(-1), len(q))
    return Proximities(found, scene.names)


def slopes_of_many(scene: Scene, q: Array) -> Array:
    """(n, nv) how fast each velocity lets the least distance grow at each of q (n, nq) [m per rad or m]."""
    slopes = np.empty((len(q), len(scene.rows("proximity.row"))))
    if len(q):
        prepare("collision.queries.slopes_of_many")(*scene.addresses, q.reshape(-1), slopes.reshape(-1), len(q))
    return slopes


def excluded_pairs(model: "Model") -> frozenset[frozenset[str]]:
    """The pairs of links that need no look: what the model says, else what random configurations show.

    Where no SRDF or the like says which: links that are fixed to each other or joined by a joint, those that meet at
    the model's home or nearly always, for they are built so, and those that never come near each other.  What a file
    has put into the world is no link, and always looked at.

    What is fitted around meshes is larger than they are.  Where that alone lets links meet at the model's home, they
    are left out too, with a ModelWarning.  Ellipsoids meet where they do themselves, and not the shapes around them.
    """
    found: frozenset[frozenset[str]] | None = model.queries.get(_UNMET)
    if found is None:
        found = model.disabled or _sampled(model)
        if has_meshes(model):
            found = found | _left_out(model, found)
        model.queries[_UNMET] = found
    return found


def at_home(model: "Model", margin: float) -> Mapping[frozenset[str], float]:
    """The distances at the model's home [m] of the links that are nearer there than `margin`, and looked at."""
    cached: dict[float, Mapping[frozenset[str], float]] = model.queries.setdefault(_AT_HOME, {})
    if margin not in cached:
        scene = Scene(model, model.fitted_shapes, excluded=excluded_pairs(model))
        _, least = meetings(scene, model.home[None], np.array([margin]))
        names = [name for _, name in scene.groups]
        pairs = ((names[j], names[i], float(least[i, j])) for i in range(len(names)) for j in range(i))
        found = {frozenset((a, b)): d for a, b, d in pairs if d < margin and WORLD not in (a, b)}
        cached[margin] = MappingProxyType(found)
    return cached[margin]


def left_alone_at_home(model: "Model") -> list[tuple[str, str]]:
    """The pairs of links that are not kept apart because they meet at home, though neither a joint nor the model's
    `disabled` says so."""
    if model.disabled:
        return []
    met = _met_at_home(model, _joined(model, tuple(model.fitted_shapes)))
    return [pair for pair in met if frozenset(pair) in excluded_pairs(model)]


def around_at_home(model: "Model") -> Mapping[frozenset[str], float]:
    """How far at most the pairs of links are apart [m] whose shapes around ellipsoids meet at home, and what is within
    these does not."""
    near = at_home(model, 0.0)
    if not near or not _has_ellipsoids(model):
        return {}
    scene = Scene(model, measured(model, within=True), excluded=excluded_pairs(model))
    _, least = meetings(scene, model.home[None], np.array([_AROUND]))
    names = [name for _, name in scene.groups]
    pairs = ((frozenset((names[j], names[i])), float(least[i, j])) for i in range(len(names)) for j in range(i))
    return {pair: gap for pair, gap in pairs if pair in near and gap > 0.0}


def _has_ellipsoids(model: "Model") -> bool:
    return any(isinstance(shape, Ellipsoid) for shapes in model.shapes.values() for shape in shapes)


def _met_at_home(model: "Model", excluded: frozenset[frozenset[str]]) -> list[tuple[str, str]]:
    """The pairs of links that meet at home."""
    scene = Scene(model, measured(model, within=True), excluded=excluded)
    hits, _ = meetings(scene, model.home[None], np.zeros(1))
    names = [name for _, name in scene.groups]
    found = sorted((names[j], names[i]) for i in range(len(names)) for j in range(i) if hits[i, j] > 0.0)
    return [pair for pair in found if WORLD not in pair]


def _left_out(model: "Model", excluded: frozenset[frozenset[str]]) -> frozenset[frozenset[str]]:
    """The pairs of links that meet at home, which a warning names."""
    pairs = _met_at_home(model, excluded)
    if pairs:
        shown = ", ".join(f"{a!r} and {b!r}" for a, b in pairs[:4]) + (", ..." if len(pairs) > 4 else "")
        warnings.warn(
            f"{model.name}: what is fitted around the meshes of {shown} meets at home, so these links are not kept "
            "apart; give them shapes of your own with model.with_shapes",
            ModelWarning,
            stacklevel=4,
        )
    return frozenset(map(frozenset, pairs))


def _sampled(model: "Model") -> frozenset[frozenset[str]]:
    """The pairs of links that need no look, as random configurations show.

    How near they come the shapes around ellipsoids tell, and whether they meet what is within these.
    """
    shapes = model.fitted_shapes
    links = tuple(shapes)
    joined = _joined(model, links)
    scene = Scene(model, shapes, excluded=joined)
    count = len(scene.groups)
    places = [model.pose(link, model.home).xyz for link in shapes]
    margin = np.array([_NEVER * float(np.ptp(places, axis=0).max())]) if places else np.zeros(1)
    some = model.sample(_SAMPLES, seed=0)
    hits, least = meetings(scene, some[:_FIRST], margin)
    names = [name for _, name in scene.groups]
    known = (least <= margin[0]) & (_FIRST - hits >= (1.0 - _ALWAYS) * _SAMPLES)
    looked_at = frozenset(frozenset((names[i], names[j])) for i, j in zip(*np.nonzero(known), strict=True) if i != j)
    more, nearer = meetings(Scene(model, shapes, excluded=joined | looked_at), some[_FIRST:], margin)
    hits, least = hits + more, np.minimum(least, nearer)
    if _has_ellipsoids(model):
        scene = Scene(model, measured(model, within=True), excluded=joined)
        hits, _ = meetings(scene, some, margin)
    home, _ = meetings(scene, model.home[None], margin)
    excluded_pairs = (home > 0.0) | (hits > _ALWAYS * _SAMPLES) | (least > margin[0])
    pairs = (frozenset((names[i], names[j])) for i in range(count) for j in range(i) if excluded_pairs[i, j])
    return joined | frozenset(pair for pair in pairs if WORLD not in pair)


def meetings(scene: Scene, q: Array, margin: Array) -> tuple[Array, Array]:
    """(groups, groups) how often two groups meet at q (n, nq), and how near they come; symmetric."""
    count = len(scene.groups)
    hits, least = np.zeros((2, count, count)), np.full((count, count), math.inf)
    prepare("collision.queries.meetings")(
        *scene.addresses, np.array(q).ravel(), margin, hits.reshape(-1), least.reshape(-1), len(q)
    )
    return hits[0] + hits[0].T, np.minimum(least, least.T)


def _joined(model: "Model", links: Sequence[str]) -> frozenset[frozenset[str]]:
    """The pairs of these links that are fixed to each other or joined by a joint."""
    tree = model.tree
    carriers = {unit for unit, _ in tree.links.values()}
    above = {-1: -2}
    for i, unit in enumerate(tree.units):
        above[i] = unit.parent if unit.parent in carriers else above[unit.parent]
    own = [link for link in links if link != WORLD]
    pairs = ((a, b, tree.links[a][0], tree.links[b][0]) for i, a in enumerate(own) for b in own[:i])
    return frozenset(frozenset((a, b)) for a, b, u, v in pairs if u == v or above[u] == v or above[v] == u)
