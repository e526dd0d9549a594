"""mink's limit of geoms that stay apart."""

from collections.abc import Sequence
from itertools import product
from typing import Any, Final, final

import mujoco
import numpy as np

from poise.extending import Array
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.frames import number_of
from poise_compat.mink.limits.limit import Constraint, Limit

Pairs = Sequence[tuple[Sequence[str | int], Sequence[str | int]]]
_REACH: Final = 0.05
"""How much farther than they may come geoms are looked at [m]."""
_MANY: Final = 30
"""So many distances take longer than to ask first which boxes are near."""
_ROUNDING: Final = 1e-9
_SLACK: Final = 1e-4
"""What a step leaves free for what is not linear [m]."""


@final
class CollisionAvoidanceLimit(Limit):
    """Geoms, by name or number, that stay apart: each of a pair's first group and each of its second.

    They are `minimum_distance_from_collisions` [m] apart where a step leads, and no nearer where they begin nearer.
    Geoms of one body, of bodies next to each other, and that MuJoCo does not let meet are left out, as by the original.
    Raises InvalidFrame for a geom that the model does not have.
    """

    def __init__(
        self, model: Any, geom_pairs: Pairs, gain: float = 0.85, minimum_distance_from_collisions: float = 0.005,
        collision_detection_distance: float = 0.01, bound_relaxation: float = 0.0, broadphase: bool = True,
    ) -> None:  # fmt: skip
        self.model, self.gain, self.bound_relaxation = model, gain, bound_relaxation
        self.minimum_distance_from_collisions = minimum_distance_from_collisions
        self.collision_detection_distance = collision_detection_distance
        groups = ([[number_of(model, g, "geom") for g in group] for group in pair] for pair in geom_pairs)
        found = {(min(a, b), max(a, b)) for first, second in groups for a, b in product(first, second)}
        self.geom_id_pairs = sorted(pair for pair in found if self._may_meet(*pair))
        self._pairs = np.array(self.geom_id_pairs, dtype=np.int64).reshape(-1, 2)
        self._middles, self._sizes = np.split(model.geom_aabb, 2, axis=1)
        radii = np.where(model.geom_rbound > 0.0, model.geom_rbound, np.inf)[self._pairs]  # a plane has no end
        self._radii = radii.sum(axis=1)
        self._there = mujoco.MjData(model)

    def compute_qp_inequalities(self, configuration: Configuration, dt: float) -> Constraint:
        """How much nearer each pair may come, to first order."""
        m, data, fromto = self.model, configuration.data, np.zeros(6)
        rows, most, jac = list[Any](), list[float](), np.zeros((2, 3, m.nv))
        least = self.minimum_distance_from_collisions
        far = max(self.collision_detection_distance, least + _REACH)
        for pair in self._near(data, far):
            distance = mujoco.mj_geomDistance(m, data, *pair, far, fromto)
            if distance >= far:
                continue
            for geom, rows_of, point in zip(pair, jac, (fromto[:3], fromto[3:]), strict=True):
                mujoco.mj_jac(m, data, rows_of, None, point, m.geom_bodyid[geom])
            way = fromto[3:] - fromto[:3]
            way *= np.sign(distance) / max(float(np.linalg.norm(way)), 1e-12)
            rows.append(-way @ (jac[1] - jac[0]))
            most.append(self.gain * (distance - least - _SLACK) + self.bound_relaxation)
        return Constraint(np.array(rows), np.array(most)) if rows else Constraint()

    def satisfied(self, configuration: Configuration, q: Array) -> bool:
        """Whether all are as far apart at a qpos as they shall be, or as they are now."""
        m, now, there, least = self.model, configuration.data, self._there, self.minimum_distance_from_collisions
        there.qpos, there.mocap_pos, there.mocap_quat = q, now.mocap_pos, now.mocap_quat
        mujoco.mj_kinematics(m, there)
        for pair in self._near(there, least):
            distance = mujoco.mj_geomDistance(m, there, *pair, least + _SLACK, None)
            if distance < least - _ROUNDING and distance < mujoco.mj_geomDistance(m, now, *pair, least, None):
                return False
        return True

    def _near(self, data: Any, far: float) -> Array:
        """Pairs of which neither spheres nor, along the line of their middles, boxes around them are farther apart."""
        way, far = data.geom_xpos[self._pairs[:, 0]] - data.geom_xpos[self._pairs[:, 1]], max(far, 0.0)
        near = (way * way).sum(axis=1) <= (self._radii + far) ** 2
        pairs = self._pairs[near]
        if len(pairs) < _MANY:
            return pairs
        turns = data.geom_xmat[pairs].reshape(-1, 2, 3, 3)
        middles = data.geom_xpos[pairs] + (turns @ self._middles[pairs][..., None])[..., 0]
        way = middles[:, 0] - middles[:, 1]
        along = np.abs(way[:, None, None, :] @ turns)[:, :, 0] * self._sizes[pairs]
        square = (way * way).sum(axis=1)
        return pairs[np.isinf(self._radii[near]) | (square - along.sum(axis=(1, 2)) <= far * np.sqrt(square))]

    def _may_meet(self, first: int, second: int) -> bool:
        m = self.model
        a, b = (m.body_weldid[m.geom_bodyid[g]] for g in (first, second))
        above = [m.body_weldid[m.body_parentid[body]] for body in (a, b)]
        types, meets = m.geom_contype, m.geom_conaffinity
        return bool(
            a != b
            and a != above[1]
            and b != above[0]
            and (types[first] & meets[second] or types[second] & meets[first])
        )
