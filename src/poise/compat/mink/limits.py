"""mink's limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np

from poise.geometry.enclosing import enclosed
from poise.io.geoms import part
from poise.model.model import Model
from poise.solving.collision import CollisionLimit
from poise.solving.inequalities import VelocityLimit as SpeedLimit
from poise.spatial import SE3, ArrayLike

Pairs = Sequence[tuple[Sequence[str | int], Sequence[str | int]]]


@final
@dataclass(frozen=True, eq=False)
class ConfigurationLimit:
    """The ranges of the joints, less `min_distance_from_limits`; they are kept whatever the gain."""

    model: Any
    gain: float = 0.95
    min_distance_from_limits: float = 0.0

    def narrowed(self, model: Model) -> Model:
        """The model with them."""
        off = self.min_distance_from_limits
        ranges = {j.name: (j.lower[0] + off, j.upper[0] - off) for j in model.joints if j.nq == 1}
        return model if off == 0.0 else model.with_limits({n: r for n, r in ranges.items() if np.isfinite(r).any()})


@final
@dataclass(frozen=True, eq=False)
class VelocityLimit:
    """Largest speeds by joint [rad/s or m/s], one number or one a velocity of the joint."""

    model: Any
    velocities: Mapping[str, ArrayLike]

    def limit(self) -> SpeedLimit:
        """As poise has it."""
        return SpeedLimit({name: np.atleast_1d(np.asarray(v, float)).tolist() for name, v in self.velocities.items()})


@final
@dataclass(frozen=True, eq=False)
class CollisionAvoidanceLimit:
    """Geoms, by name or number, that stay apart: each of a pair's first group and each of its second."""

    model: Any
    geom_pairs: Pairs
    gain: float = 0.85
    minimum_distance_from_collisions: float = 0.005
    collision_detection_distance: float = 0.01
    bound_relaxation: float = 0.0
    broadphase: bool = True

    def shaped(self, model: Model) -> Model:
        """The model with these geoms as its shapes, of which no other bodies than theirs are looked at together."""
        m = self.model
        pairs = [tuple(self._bodies(group) for group in pair) for pair in self.geom_pairs]
        geoms = sorted({g for pair in self.geom_pairs for group in pair for g in map(self._geom, group)})
        shapes: dict[str, list[Any]] = {}
        for g in geoms:
            found = part(m, g, SE3.from_xyz_wxyz(m.geom_pos[g], m.geom_quat[g]), m.geom_size[g])
            if found is not None:
                shapes.setdefault(self._name(int(m.geom_bodyid[g])), []).append(found)
        together = {frozenset(two) for first, second in pairs for two in product(first, second) if len(set(two)) == 2}
        apart = [(a, b) for a in shapes for b in shapes if a < b and frozenset((a, b)) not in together]
        return model.with_shapes({name: enclosed(some) for name, some in shapes.items()}, apart)

    def limit(self) -> CollisionLimit:
        """As poise has it."""
        return CollisionLimit(min_distance=max(self.minimum_distance_from_collisions, 0.0))

    def _geom(self, geom: str | int) -> int:
        return int(self.model.geom(geom).id)

    def _bodies(self, group: Sequence[str | int]) -> set[str]:
        return {self._name(int(self.model.geom_bodyid[self._geom(g)])) for g in group}

    def _name(self, body: int) -> str:
        return (self.model.body(body).name or f"body{body}") if body else "world"
