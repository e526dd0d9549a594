"""pink's barrier of shapes of the same robot."""

from typing import Any, final

import numpy as np
import pinocchio as pin

from poise.extending import Array, ArrayLike
from poise_compat.pink.barriers.barrier import Barrier
from poise_compat.pink.configuration import Configuration
from poise_compat.pink.exceptions import InvalidCollisionPairs, NegativeMinimumDistance


@final
class SelfCollisionBarrier(Barrier):
    """The `n_collision_pairs` nearest pairs of a collision model stay `d_min` apart [m]."""

    def __init__(
        self, n_collision_pairs: int, gain: ArrayLike = 1.0, safe_displacement_gain: float = 1.0, d_min: float = 0.02
    ) -> None:
        if not d_min >= 0.0:
            raise NegativeMinimumDistance(f"d_min is {d_min!r}; it must be 0 or more")
        if n_collision_pairs < 0:
            raise InvalidCollisionPairs(f"n_collision_pairs is {n_collision_pairs}; it must be 0 or more")
        super().__init__(n_collision_pairs, gain, safe_displacement_gain=safe_displacement_gain)
        self.d_min = d_min

    def compute_barrier(self, configuration: Configuration) -> Array:
        """(dim,) the smallest distances, less `d_min` [m]."""
        return self._distances(configuration)[self._nearest(configuration)] - self.d_min

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(dim, nv) their derivatives."""
        shapes, results = configuration.collision_model, configuration.collision_data.distanceResults
        rows = np.zeros((self.dim, configuration.model.nv))
        for row, k in zip(rows, self._nearest(configuration), strict=True):
            pair, found = shapes.collisionPairs[int(k)], results[int(k)]
            first, second = np.array(found.getNearestPoint1()), np.array(found.getNearestPoint2())
            length = float(np.linalg.norm(first - second))
            if length > 0.0:
                way = np.sign(found.min_distance) * (first - second) / length
                moved = self._moved(configuration, shapes, pair.first, first)
                row[:] = way @ (moved - self._moved(configuration, shapes, pair.second, second))
        return rows

    def _moved(self, configuration: Configuration, shapes: Any, shape: int, point: Array) -> Array:
        joint, axes = shapes.geometryObjects[shape].parentJoint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        if joint == 0:
            return np.zeros((3, configuration.model.nv))
        rows = np.array(pin.getJointJacobian(configuration.model, configuration.data, joint, axes)).reshape(6, -1)
        return np.asarray(rows[:3] - pin.skew(point - configuration.data.oMi[joint].translation) @ rows[3:])

    def _distances(self, configuration: Configuration) -> Array:
        shapes = configuration.collision_model
        count = 0 if shapes is None else len(shapes.collisionPairs)
        if count < self.dim:
            raise InvalidCollisionPairs(
                f"the collision model has {count} pairs, of which {self.dim} were to be looked at"
            )
        return np.array([configuration.collision_data.distanceResults[k].min_distance for k in range(count)])

    def _nearest(self, configuration: Configuration) -> Any:
        return np.argsort(self._distances(configuration), kind="stable")[: self.dim]
