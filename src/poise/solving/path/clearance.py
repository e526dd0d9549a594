"""What keeps a path free of obstacles: the one place where a path asks for distances."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.kernels.collision import queries
from poise.kernels.machine.jit import prepare
from poise.model.model import Model
from poise.model.proximity import nearest_in, nearest_of_many, slopes_of_many
from poise.model.scene import Scene
from poise.solving.collision import CollisionLimit
from poise.solving.prepared import keep, recall
from poise.spatial import Array

_NUDGE: Final = 1e-6
"""By how much a joint is moved to see how the clearance changes [rad or m]."""
_FINE: Final = 0.02
"""Largest change of a coordinate between two configurations that are looked at on a step [rad or m]."""
_LEVER: Final = 1.0
"""How far shapes come nearer to each other, at most, with a change of one coordinate by 1 [m per rad or m]."""
RESERVE: Final = 5e-4
"""What may be lost between two configurations that are looked at, where they are near something [m]."""


@final
class Clearance:
    """The least distance of configurations from all obstacles, and how much of it is asked for."""

    def __init__(
        self,
        model: Model,
        distances: Callable[[Array], Array],
        least: float = 0.0,
        *,
        slopes: Callable[[Array], Array] | None = None,
        words: Callable[[Array], str] | None = None,
    ) -> None:
        """`distances` gives (n,) signed distances [m] at q (n, nq); `least` is what they must be [m].

        `slopes` gives (n, nv) how they change with velocities; without, differences do.  `words` says what is too
        near at q (nq,).
        """
        self.model, self._distances, self.least = model, distances, least
        self._slopes, self._words = slopes, words

    @classmethod
    def of(cls, model: Model, limit: CollisionLimit) -> "Clearance":
        """What a limit asks for, with the shapes as they are now."""
        return cls._seen(model, limit, limit.scene(model))

    @classmethod
    @contextmanager
    def lent(cls, model: Model, limit: CollisionLimit | None) -> "Iterator[Clearance | None]":
        """`of`, within the block, after which what was packed is kept for the next; None without a limit."""
        if limit is None:
            yield None
            return
        key = (Clearance, limit)
        idle: list[Scene] | None = recall(model, key)
        if idle is None:
            idle = []
            keep(model, key, idle)
        try:
            scene = idle.pop()
            scene.sync()
            scene.forget()
        except IndexError:
            scene = limit.scene(model)
        try:
            yield cls._seen(model, limit, scene)
        finally:
            idle.append(scene)

    @classmethod
    def _seen(cls, model: Model, limit: CollisionLimit, scene: Scene) -> "Clearance":
        """What a limit asks for of the shapes of a scene."""
        for query in (queries.nearest_of_many, queries.slopes_of_many):
            prepare(query)

        @lru_cache(maxsize=16)
        def advice(pair: tuple[str, str], version: int) -> str:
            return limit.unparted(model, pair)

        def words(q: Array) -> str:
            near = nearest_in(scene, q)
            one, other = near.pair
            least = limit.least(model, one, other)
            return (
                f"{one!r} and {other!r} are {near.distance:.3g} m from each other, and {least:.3g} m is asked for."
                f"{advice(near.pair, 0 if limit.world is None else limit.world.version)}"
            )

        def distances(q: Array) -> Array:
            return nearest_of_many(scene, np.ascontiguousarray(q)).distance

        def slopes(q: Array) -> Array:
            return slopes_of_many(scene, np.ascontiguousarray(q))

        return cls(model, distances, limit.min_distance, slopes=slopes, words=words)

    def words(self, q: Array) -> str:
        """What is too near at q (nq,), as a sentence."""
        if self._words is not None:
            return self._words(q)
        room = float(self(q[None])[0])
        return f"shapes are {room + self.least:.3g} m from each other, and {self.least:.3g} m is asked for."

    def __call__(self, q: Array) -> Array:
        """(n,) by how much configurations q (n, nq) are farther away than asked [m]; negative where too near."""
        return np.asarray(self._distances(q), dtype=np.float64) - self.least

    def gradients(self, q: Array, room: Array, velocities: npt.NDArray[np.intp]) -> Array:
        """(n, k) how the clearance, `room` (n,) at q (n, nq), changes with each of k velocities [m per rad or m]."""
        if self._slopes is not None:
            return self._slopes(q)[:, velocities]
        n, k = len(q), len(velocities)
        moves = np.zeros((k, self.model.nv))
        moves[np.arange(k), velocities] = _NUDGE
        moved = self.model.integrate(q[:, None], moves[None]).reshape(-1, self.model.nq)
        return (self(moved).reshape(n, k) - room[:, None]) / _NUDGE

    def on_steps(self, q: Array) -> Array:
        """(n - 1,) the least of what `self` says on the way from each configuration of q (n, nq) to the next.

        It looks the closer the nearer something is.  Where shapes come nearer by no more than `_LEVER` for each change
        of a coordinate, what is free at all looks is nowhere between them inside by more than `RESERVE`.
        """
        steps = self.model.difference(q[:-1], q[1:])
        ways = _LEVER * np.abs(steps).sum(axis=1)
        looks = 2 + np.floor(np.abs(steps).max(axis=1, initial=0.0) / _FINE).astype(np.int64)
        first = np.append(0, np.cumsum(looks)[:-1])
        step = np.repeat(np.arange(len(steps)), looks)
        share = (np.arange(len(step)) - first[step]) / (looks - 1)[step]
        room = self(self.model.integrate(q[step], share[:, None] * steps[step]))
        least = np.asarray(np.minimum.reduceat(room, first), dtype=np.float64)
        while True:
            # From one look to the next the clearance falls by no more than half of what it can change.
            change = ways[step[1:]] * np.diff(share)
            unsure = (step[1:] == step[:-1]) & (change > 2.0 * RESERVE) & (room[1:] + room[:-1] < change)
            after = np.flatnonzero(unsure & (least[step[1:]] >= 0.0))
            if not len(after):
                return least
            middle, on = 0.5 * (share[after] + share[after + 1]), step[after]
            found = self(self.model.integrate(q[on], middle[:, None] * steps[on]))
            np.minimum.at(least, on, found)
            step, share, room = (
                np.insert(old, after + 1, new) for old, new in ((step, on), (share, middle), (room, found))
            )

    def on_way(self, q0: Array, q1: Array) -> float:
        """The least of what `self` says on the straight way from q0 to q1 (nq,)."""
        return float(self.on_steps(np.stack([q0, q1]))[0])
