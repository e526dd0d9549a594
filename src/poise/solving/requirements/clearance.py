"""What a CollisionLimit says of a path: the least distance of all shapes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.rows.rounding import ROUNDING
from poise.model.model import Model
from poise.model.proximity import ScenePools, least_in, nearest_in, nearest_of_many, slopes_of_many
from poise.model.scene import Scene
from poise.solving.arguments.lru_cache import cached
from poise.solving.requirements.collision import CollisionLimit
from poise.solving.requirements.path_constraint import Linearisation, OnTheWay
from poise.solving.requirements.status import Status

_NEAR: Final = 0.05
"""What is not farther away than this, beyond what is asked, counts in a change [m]."""
_MARGIN: Final = 5e-3
"""What is kept beyond that, as the ways of links are not straight [m]."""


class Clearance(OnTheWay):
    """The least distance of configurations from all obstacles, and how much of it is asked for: a `PathConstraint`."""

    status = Status.COLLISION

    def __init__(self, model: Model, limit: CollisionLimit, scene: Scene | None = None) -> None:
        """What a limit asks for, with the shapes of its scene, without one as they are now."""
        self._model, self._limit = model, limit
        self.least = limit.min_distance - ROUNDING
        """What is asked, but for rounding [m]."""
        self.scene = limit.scene(model) if scene is None else scene

    @staticmethod
    @contextmanager
    def borrowed(model: Model, limit: CollisionLimit | None) -> "Iterator[Clearance | None]":
        """It within the block, after which what was packed is kept for the next that asks the same of the same world;
        None without a limit."""
        if limit is None:
            yield None
            return
        allowed = frozenset(map(frozenset, limit.allowed))
        key = Clearance, limit.self_collision, limit.min_distance, allowed
        idle = cached(model, key, ScenePools).of(limit.world)
        try:
            scene: Scene | None = idle.pop()
        except IndexError:  # another thread may have been faster than a look at the length
            scene = None
        if scene is None:
            scene = limit.scene(model)
        else:
            scene.sync()
            scene.forget()
        try:
            yield Clearance(model, limit, scene)
        finally:
            idle.append(scene)

    def distances(self, q: Array) -> Array:
        """(n,) how far shapes are from each other at q (n, nq) [m]."""
        if len(q) == 1:  # eight lanes take three times as long
            return np.array([least_in(self.scene, q[0])])
        return nearest_of_many(self.scene, np.ascontiguousarray(q)).distance

    def later(self, q: Array) -> Callable[[], Array]:
        """The same, of the shapes as they are in the scene, measured when it is called."""
        model, limit, world = self._model, self._limit, copy(self._limit.world)
        if world is not None and world.version != self.scene.version:
            known = self.distances(q)
            return lambda: known
        return lambda: Clearance(model, replace(limit, world=world)).distances(np.array(q))

    def slopes(self, q: Array) -> Array:
        """(n, nv) how that changes with velocities [m per rad or m]."""
        return slopes_of_many(self.scene, np.ascontiguousarray(q))

    def __call__(self, q: Array) -> Array:
        """(n,) by how much configurations q (n, nq) are farther away than asked [m]; negative where too near."""
        return self.distances(q) - self.least

    def linearise(self, q: Array, velocities: npt.NDArray[np.intp]) -> list[Linearisation]:
        """See `PathConstraint`."""
        slack = self(q)
        near: npt.NDArray[np.intp] = np.flatnonzero(slack < _NEAR)
        rows = np.zeros((len(q), len(velocities)))
        if len(near):
            rows[near] = self.slopes(q[near])[:, velocities]
        return [Linearisation(rows, slack, _MARGIN)]

    def words(self, q: Array) -> str:
        """See `PathConstraint`."""
        model, limit, near = self._model, self._limit, nearest_in(self.scene, q)
        (one, other), far = near.pair, near.distance
        key = (Clearance, limit, near.pair, 0 if limit.world is None else limit.world.version)
        advice = cached(model, key, lambda: limit.unparted(model, near.pair))
        least = limit.least(model, one, other)
        return f"{one!r} and {other!r} are {far:.3g} m from each other, and {least:.3g} m is asked for.{advice}"

    def beyond(self, far: float) -> str:
        """See `PathConstraint`."""
        return f"shapes come {far:.3g} m nearer than asked"
