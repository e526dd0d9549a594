"""What keeps a path free of obstacles."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.collision import queries
from poise.kernels.machine.jit import prepare
from poise.model.model import Model
from poise.model.proximity import nearest_in, nearest_of_many, slopes_of_many
from poise.model.scene import Scene
from poise.solving.arguments.lru_cache import cached
from poise.solving.path.constraints import Linearisation, least_on_steps
from poise.solving.requirements.collision import CollisionLimit
from poise.solving.requirements.status import Status

_NUDGE: Final = 1e-6
"""By how much a joint is moved to see how the clearance changes [rad or m]."""
_NEAR: Final = 0.05
"""What is not farther away than this, beyond what is asked, counts in a change [m]."""
_MARGIN: Final = 5e-3
"""What is kept beyond that, as the ways of links are not straight [m]."""


@final
class Clearance:
    """The least distance of configurations from all obstacles, and how much of it is asked for: a `PathConstraint`."""

    status = Status.COLLISION

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
        return cls._of_scene(model, limit, limit.scene(model))

    @classmethod
    @contextmanager
    def borrowed(cls, model: Model, limit: CollisionLimit | None) -> "Iterator[Clearance | None]":
        """`of`, within the block, after which what was packed is kept for the next; None without a limit."""
        if limit is None:
            yield None
            return
        idle = cached(model, (Clearance, limit), list[Scene])
        try:
            scene = idle.pop()
            scene.sync()
            scene.forget()
        except IndexError:
            scene = limit.scene(model)
        try:
            yield cls._of_scene(model, limit, scene)
        finally:
            idle.append(scene)

    @classmethod
    def _of_scene(cls, model: Model, limit: CollisionLimit, scene: Scene) -> "Clearance":
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
        slack = float(self(q[None])[0])
        return f"shapes are {slack + self.least:.3g} m from each other, and {self.least:.3g} m is asked for."

    def __call__(self, q: Array) -> Array:
        """(n,) by how much configurations q (n, nq) are farther away than asked [m]; negative where too near."""
        return np.asarray(self._distances(q), dtype=np.float64) - self.least

    def linearise(self, q: Array, velocities: npt.NDArray[np.intp]) -> list[Linearisation]:
        """See `PathConstraint`."""
        slack = self(q)
        near: npt.NDArray[np.intp] = np.flatnonzero(slack < _NEAR)
        rows = np.zeros((len(q), len(velocities)))
        if len(near):
            rows[near] = self._gradients(q[near], slack[near], velocities)
        return [Linearisation(rows, slack, _MARGIN)]

    def _gradients(self, q: Array, slack: Array, velocities: npt.NDArray[np.intp]) -> Array:
        """(n, k) how the clearance, `slack` (n,) at q (n, nq), changes with each of k velocities [m per rad or m]."""
        if self._slopes is not None:
            return self._slopes(q)[:, velocities]
        n, k = len(q), len(velocities)
        moves = np.zeros((k, self.model.nv))
        moves[np.arange(k), velocities] = _NUDGE
        moved = self.model.integrate(q[:, None], moves[None]).reshape(-1, self.model.nq)
        return (self(moved).reshape(n, k) - slack[:, None]) / _NUDGE

    def on_steps(self, q: Array) -> Array:
        """(n - 1,) the least of what `self` says on the way from each configuration of q (n, nq) to the next."""
        return least_on_steps(self.model, self, q)

    def beyond(self, far: float) -> str:
        """See `PathConstraint`."""
        return f"shapes come {far:.3g} m nearer than asked"
